/* What `tarn show` prints of a log file of a Hudi table: a line a block, then the fields of their
 * schemas. */
#include "show_log.h"

#include <stdio.h>
#include <string.h>

#define BLOCKS_SHOWN 40
#define FIELDS_SHOWN 30

static void note_text(char *note, size_t size, const char *format, const char *text)
{
    size_t len = strlen(note);

    if (len > 0 && len + 2 < size) {
        memcpy(note + len, ", ", 3);
        len += 2;
    }
    snprintf(note + len, size - len, format, text);
}

/* What there is to say of a block beyond the columns that all have. */
static void note_of(const tarn_inspect_block *block, char *note, size_t size)
{
    struct out_word word;

    note[0] = '\0';
    if (block->rollback)
        note_text(note, size, "takes %s back", block->target != NULL ? block->target : "nothing");
    if (block->partial)
        note_text(note, size, "%s", "a part of the columns");
    if (block->compacted != NULL)
        note_text(note, size, "stands for %s", block->compacted);
    if (block->positions >= 0) {
        note_text(note, size, "%s", out_many(&word, (uint64_t)block->positions, "position", NULL));
        if (block->base_instant != NULL && strlen(note) + 4 < size)
            snprintf(note + strlen(note), size - strlen(note), " in %s", block->base_instant);
    }
    if (block->problem != NULL)
        note_text(note, size, "%s", block->problem);
    if (note[0] == '\0')
        note_text(note, size, "%s", "-");
}

static void print_fields(struct out *out, const tarn_inspect_log *log, size_t shown, bool full)
{
    const char *const *before = NULL;

    for (size_t i = 0; i < shown; i++) {
        const tarn_inspect_block *block = &log->blocks[i];
        size_t count =
            full || block->field_count <= FIELDS_SHOWN + 1 ? block->field_count : FIELDS_SHOWN;
        struct out_word word;

        if (block->field_count == 0 || block->fields == before)
            continue;
        before = block->fields;
        out_text(out, "\nFIELDS from block %zu on: ", i);
        for (size_t k = 0; k < count; k++) {
            out_text(out, "%s", k > 0 ? ", " : "");
            out_name(out, block->fields[k], strlen(block->fields[k]));
        }
        if (count < block->field_count)
            out_text(out, " … %s more; --full shows all",
                     out_count(&word, block->field_count - count));
        out_text(out, "\n");
    }
}

void show_log_blocks(struct cmd_call *call, const tarn_inspect_log *log, bool full)
{
    static const struct out_column titles[] = {
        {"BLOCK", true}, {"KIND", false}, {"INSTANT", false}, {"RECORDS", true},
        {"SIZE", true},  {"AT", true},    {"NOTES", false}};
    struct out *out = call->out;
    size_t count = full || log->block_count <= BLOCKS_SHOWN + 1 ? log->block_count : BLOCKS_SHOWN;
    struct out_table *table;
    struct out_word a, b;

    out_name(out, log->path, strlen(log->path));
    out_text(out, "\nlog of a Hudi table, %s, %s\n\n", out_size(&a, log->file_bytes),
             out_many(&b, log->block_count, "block", NULL));
    table = out_table_open(out, titles, sizeof titles / sizeof titles[0]);
    for (size_t i = 0; i < count; i++) {
        const tarn_inspect_block *block = &log->blocks[i];
        char note[512];

        out_cell(table, "%zu", i);
        out_cell(table, "%s", block->kind);
        if (block->instant != NULL)
            out_cell_name(table, block->instant, strlen(block->instant));
        else
            out_cell(table, "-");
        if (block->records >= 0)
            out_cell_count(table, (uint64_t)block->records);
        else
            out_cell(table, "-");
        out_cell_size(table, block->bytes);
        out_cell(table, "%llu", (unsigned long long)block->offset);
        note_of(block, note, sizeof note);
        out_cell_name(table, note, strlen(note));
    }
    out_table_close(table);
    if (count < log->block_count)
        out_text(out, "… %s more blocks; --full shows all\n",
                 out_count(&a, log->block_count - count));
    print_fields(out, log, count, full);
}

static void json_count(struct out_json *json, const char *key, int64_t count)
{
    if (count >= 0)
        out_json_i64(json, key, count);
    else
        out_json_null(json, key);
}

void show_log_json(struct cmd_call *call, const tarn_inspect_log *log)
{
    struct out_json json = out_json_open(call->out, "show.log", 1);

    out_json_name(&json, "path", log->path, strlen(log->path));
    out_json_u64(&json, "file_bytes", log->file_bytes);
    out_json_array(&json, "blocks");
    for (size_t i = 0; i < log->block_count; i++) {
        const tarn_inspect_block *block = &log->blocks[i];

        out_json_object(&json, NULL);
        out_json_text(&json, "kind", block->kind);
        out_json_u64(&json, "offset", block->offset);
        out_json_u64(&json, "bytes", block->bytes);
        out_json_u64(&json, "content_bytes", block->content_bytes);
        out_json_text(&json, "instant", block->instant);
        out_json_text(&json, "target", block->target);
        out_json_bool(&json, "rollback", block->rollback);
        out_json_bool(&json, "partial", block->partial);
        out_json_text(&json, "compacted", block->compacted);
        json_count(&json, "records", block->records);
        json_count(&json, "positions", block->positions);
        out_json_text(&json, "base_instant", block->base_instant);
        out_json_array(&json, "fields");
        for (size_t k = 0; k < block->field_count; k++)
            out_json_text(&json, NULL, block->fields[k]);
        out_json_array_end(&json);
        out_json_text(&json, "problem", block->problem);
        out_json_object_end(&json);
    }
    out_json_array_end(&json);
    out_json_close(&json);
}

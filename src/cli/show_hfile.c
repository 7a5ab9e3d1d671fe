/* What `tarn show` prints of an HFile. */
#include "show_hfile.h"

#include <string.h>

#include "show_print.h"

static void print_key(struct out *out, const char *title, const tarn_inspect_key *key)
{
    out_text(out, "  %-10s ", title);
    out_name(out, key->value, key->value_bytes);
    out_text(out, "\n");
}

void show_hfile_print(struct cmd_call *call, const tarn_inspect_hfile *file, bool full)
{
    struct out *out = call->out;
    struct out_word a, b, c, d;

    out_name(out, file->path, strlen(file->path));
    out_text(out, "\nHFile version 3 by %s, %s, %s in %s, %s\n", file->writer,
             out_size(&a, file->file_bytes), out_many(&b, file->entries, "entry", "entries"),
             out_many(&c, file->blocks, "block", NULL), file->codec);
    if (file->levels > 1)
        out_text(out, "an index of %s\n", out_many(&a, file->levels, "level", NULL));
    if (file->meta_blocks != 0)
        out_text(out, "%s", out_many(&a, file->meta_blocks, "meta block", NULL));
    if (file->filter_bytes != 0)
        out_text(out, ", a key filter of %s among them", out_size(&d, file->filter_bytes));
    if (file->meta_blocks != 0)
        out_text(out, "\n");
    if (file->record != NULL)
        out_text(out, "records of %s\n", file->record);
    if (file->first_key.value != NULL) {
        out_text(out, "\n");
        print_key(out, "first key", &file->first_key);
        print_key(out, "last key", &file->last_key);
    }
    out_text(out, "\nFILE INFO\n");
    for (size_t i = 0; i < file->key_count; i++) {
        out_text(out, "  ");
        show_print_key(out, &file->keys[i], full);
    }
    if (full && file->schema != NULL) {
        out_text(out, "\nSCHEMA\n");
        out_json_pretty(out, file->schema, 0);
    }
}

static void json_key(struct out_json *json, const char *name, const tarn_inspect_key *key)
{
    if (key->value != NULL)
        out_json_name(json, name, key->value, key->value_bytes);
    else
        out_json_null(json, name);
}

void show_hfile_print_json(struct cmd_call *call, const tarn_inspect_hfile *file)
{
    struct out_json json = out_json_open(call->out, "show.hfile", 1);

    out_json_name(&json, "path", file->path, strlen(file->path));
    out_json_text(&json, "writer", file->writer);
    out_json_u64(&json, "file_bytes", file->file_bytes);
    out_json_u64(&json, "entries", file->entries);
    out_json_u64(&json, "blocks", file->blocks);
    out_json_u64(&json, "meta_blocks", file->meta_blocks);
    out_json_u64(&json, "levels", file->levels);
    out_json_text(&json, "codec", file->codec);
    out_json_u64(&json, "filter_bytes", file->filter_bytes);
    json_key(&json, "first_key", &file->first_key);
    json_key(&json, "last_key", &file->last_key);
    out_json_text(&json, "record", file->record);
    if (file->schema != NULL)
        out_json_raw(&json, "schema", file->schema);
    else
        out_json_null(&json, "schema");
    show_print_keys_json(&json, file->keys, file->key_count);
    out_json_close(&json);
}

/* Archived timelines of layout 1: ".commits_.archive.<n>_<token>", Hudi log files whose Avro blocks
 * hold one HoodieArchivedMetaEntry for each file that an instant had.
 *
 * I1: an entry is read by the schema of its block, and asked by name.
 * I2: a file that merging has not finished (mergeArchivePlan names it) is skipped where it is
 *     damaged: what it would hold is in the others still. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "codec/log/log.h"
#include "table/archive_parts.h"

#define TN_ARCHIVE_LOG_PREFIX TN_STR(".commits_.archive.")

typedef struct visiting {
    tn_archive_visit *visit;
    void *arg;
    tn_str file;
} visiting;

static int visit_entry(tarn_cx *cx, const visiting *v, const tn_avro_type *type, tn_str datum)
{
    tn_avro_value entry;
    tn_archive_row row = {.file = v->file, .record = &entry};
    tn_arena arena = {0};
    tn_str state;
    size_t used;
    int rc = TARN_OK;

    TN_TRY(tn_avro_decode(cx, type, datum, &arena, &used, &entry));
    state = tn_avro_text(tn_avro_member(&entry, "actionState"));
    row.time = tn_avro_text(tn_avro_member(&entry, "commitTime"));
    row.action = tn_avro_text(tn_avro_member(&entry, "actionType"));
    row.completion = tn_avro_text(tn_avro_member(&entry, "stateTransitionTime"));
    /* Very old entries have no state: only completed instants were archived. */
    row.completed = state.len == 0 || tn_str_is(state, "COMPLETED");
    TN_TRY(v->visit(cx, v->arg, &row));
done:
    tn_arena_clear(&arena);
    return rc;
}

static int visit_block(tarn_cx *cx, const visiting *v, const tn_log *log, const tn_log_block *block,
                       tn_buf *content)
{
    tn_avro_schema schema = {0};
    tn_log_records records = {0};
    tn_arena texts = {0};
    tn_str where, datum;
    bool more = true;
    int rc = TARN_OK;

    TN_TRY(tn_arena_print(cx, &texts, &where, "%.*s at byte %llu", TN_STR_ARG(log->path),
                          (unsigned long long)block->offset));
    TN_TRY(tn_log_content(cx, log, block, content));
    TN_TRY(tn_avro_schema_parse(cx, block->schema, where.ptr, &schema));
    TN_TRY(tn_log_records_open(cx, tn_buf_view(content), where, &records));
    while (more) {
        TN_TRY(tn_cx_check(cx));
        TN_TRY(tn_log_records_next(cx, &records, &more, &datum));
        if (more)
            TN_TRY(visit_entry(cx, v, schema.root, datum));
    }
done:
    tn_avro_schema_clear(&schema);
    tn_arena_clear(&texts);
    return rc;
}

static int visit_file(tarn_cx *cx, tn_store *store, tn_str directory, const visiting *v)
{
    tn_arena arena = {0};
    tn_buf content = {0};
    tn_log log = {0};
    tn_str path;
    int rc = TARN_OK;

    TN_TRY(tn_path_join(cx, &arena, directory, v->file, &path));
    TN_TRY(tn_log_open(cx, store, path, &log));
    for (size_t i = 0; i < log.block_count; i++)
        if (log.blocks[i].kind == TN_LOG_AVRO)
            TN_TRY(visit_block(cx, v, &log, &log.blocks[i], &content));
done:
    tn_log_close(&log);
    tn_buf_clear(&content);
    tn_arena_clear(&arena);
    return rc;
}

/* I2. */
static bool is_unfinished(tarn_cx *cx, tn_store *store, tn_str directory, tn_str file)
{
    tn_avro_file plan = {0};
    tn_arena arena = {0};
    tn_buf bytes = {0};
    bool named = false;
    tn_str path;

    if (tn_path_join(cx, &arena, directory, TN_STR("mergeArchivePlan"), &path) == TARN_OK &&
        tn_store_get(cx, store, path, TN_HUDI_INSTANT_BYTES_MAX, &bytes) == TARN_OK &&
        tn_avro_file_read(cx, tn_buf_view(&bytes), path, &plan) == TARN_OK &&
        plan.record_count == 1) {
        tn_str merged = tn_avro_text(tn_avro_member(&plan.records[0], "mergedArchiveFileName"));

        named = tn_str_equal(tn_path_name(merged), file);
    }
    tn_avro_file_clear(&plan);
    tn_buf_clear(&bytes);
    tn_arena_clear(&arena);
    return named;
}

static int visit_or_skip(tarn_cx *cx, tn_store *store, tn_str directory, const visiting *v)
{
    char text[TN_ERROR_TEXT_MAX];
    int rc = visit_file(cx, store, directory, v);

    if (rc != TARN_E_CORRUPT && rc != TARN_E_NOTFOUND)
        return rc;
    snprintf(text, sizeof text, "%s", tarn_cx_error(cx));
    tn_cx_forget(cx);
    if (rc == TARN_E_NOTFOUND || is_unfinished(cx, store, directory, v->file)) {
        tn_cx_forget(cx);
        return TARN_OK;
    }
    return tn_fail(cx, TARN_E_CORRUPT, "%s: the archived timeline cannot be read", text);
}

int tn_archive_logs_each(tarn_cx *cx, tn_store *store, tn_str directory, tn_str only,
                         tn_archive_visit *visit, void *arg)
{
    visiting v = {visit, arg, {NULL, 0}};
    tn_entry *entries = NULL;
    tn_arena arena = {0};
    size_t count = 0, files = 0;
    int rc;

    assert(visit != NULL);
    TN_TRY(tn_store_list_or_none(cx, store, directory, &arena, &entries, &count));
    for (size_t i = 0; i < count; i++) {
        v.file = entries[i].name;
        if (entries[i].stat.kind != TN_ENTRY_FILE ||
            !tn_str_starts(v.file, TN_ARCHIVE_LOG_PREFIX) || tn_str_ends(v.file, TN_STR(".crc")) ||
            (only.len != 0 && !tn_str_equal(only, v.file)))
            continue;
        if (++files > TN_ARCHIVE_FILES_MAX)
            TN_FAIL(TARN_E_LIMIT, "%.*s: more than %d files of an archived timeline",
                    TN_STR_ARG(directory), TN_ARCHIVE_FILES_MAX);
        TN_TRY(visit_or_skip(cx, store, directory, &v));
    }
done:
    tn_arena_clear(&arena);
    return rc;
}

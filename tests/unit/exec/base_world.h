/* A base file and the model of what it is to hold, for tests of the base writer. */
#ifndef TN_TEST_BASE_WORLD_H
#define TN_TEST_BASE_WORLD_H

#include "base/map.h"
#include "exec/base_keys.h"
#include "unit/exec/base_rows.h"

#define BASE_T1        "20260101000000001"
#define BASE_T2        "20260101000000002"
#define BASE_T3        "20260101000000003"
#define BASE_PARTITION "dt=2026-01-01"
#define BASE_FILE_ID   "0a1b2c3d-0000-0000-0000-000000000000-0"

typedef struct base_world {
    tarn_cx *cx;
    tn_store *memory;
    tn_arena arena;
    struct ArrowSchema schema;
    tn_base_job job;
    int marks, merges, instants;
    uint32_t ordering[1];
    base_row *rows; /* the model: what the file is to hold, in order */
    int64_t count;
    tn_base_file file;
} base_world;

static inline int base_world_mark(tarn_cx *cx, void *arg, tn_str partition, tn_str name, bool merge)
{
    base_world *w = arg;

    assert_true(tn_str_is(partition, BASE_PARTITION));
    assert_true(tn_str_starts(name, TN_STR(BASE_FILE_ID)));
    w->marks++;
    w->merges += merge;
    return tn_store_make_dirs(cx, w->job.store, TN_STR("/t/" BASE_PARTITION));
}

static inline void base_world_open(base_world *w)
{
    *w = (base_world){.ordering = {BASE_TS}};
    w->cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    assert_ok(w->cx, tn_store_memory_open(w->cx, &w->memory));
    base_schema(w->cx, &w->schema);
    w->job = (tn_base_job){.store = w->memory,
                           .root = TN_STR("/t"),
                           .instant = TN_STR(BASE_T1),
                           .schema = &w->schema,
                           .avro_schema = TN_STR("{\"type\":\"record\"}"),
                           .meta_fields = true,
                           .filter_kind = TN_KEY_FILTER_DYNAMIC,
                           .filter_fpp = 1e-9,
                           .filter_keys_max = 100000,
                           .codec = TN_CODEC_ZSTD,
                           .merge_mode = TN_MERGE_COMMIT_TIME,
                           .mark = base_world_mark,
                           .mark_arg = w};
}

static inline void base_world_close(base_world *w)
{
    free(w->rows);
    tn_field_release(&w->schema);
    tn_arena_clear(&w->arena);
    tn_store_close(w->memory);
    tarn_cx_close(w->cx);
}

static inline void base_world_base(base_world *w, const tn_write_stat *stat)
{
    w->file = (tn_base_file){.partition_path = TN_STR(BASE_PARTITION),
                             .file_id = stat->file_id,
                             .instant = w->job.instant,
                             .size_bytes = stat->bytes,
                             .rows = stat->writes};
    assert_ok(w->cx,
              tn_arena_print(w->cx, &w->arena, &w->file.path, "/t/%.*s", TN_STR_ARG(stat->path)));
    w->file.name = tn_path_name(w->file.path);
}

/* One change of a row of the file. */
typedef struct base_change {
    int64_t position;
    bool drop;
    base_row row;
} base_change;

/* Writes a file that follows the world's (NULL path: none): changes in batches of `step` rows, then
 * new rows. */
static inline int base_world_write(base_world *w, const base_change *changes, int64_t change_count,
                                   const base_row *added, int64_t added_count, int64_t step,
                                   tn_write_stat *stat, tn_base_counts *counts)
{
    tn_base_place place = {.partition = TN_STR(BASE_PARTITION),
                           .file_id = TN_STR(BASE_FILE_ID),
                           .before = w->file.path.len != 0 ? &w->file : NULL,
                           .number = 7};
    tn_base_writer *writer = NULL;
    struct ArrowArray batch = {0};
    base_row *rows = calloc((size_t)step, sizeof *rows);
    int64_t *positions = calloc((size_t)step, sizeof *positions);
    uint8_t *deletes = calloc(1, (size_t)step);
    int rc = TARN_OK;
    tarn_cx *cx = w->cx;

    TN_TRY(tn_base_writer_open(cx, &w->job, &place, &writer));
    for (int64_t at = 0, n; at < change_count; at += n) {
        for (n = 0; n < step && at + n < change_count; n++) {
            rows[n] = changes[at + n].row;
            positions[n] = changes[at + n].position;
            deletes[n] = changes[at + n].drop;
        }
        base_batch(cx, rows, n, BASE_PARTITION, &batch);
        TN_TRY(tn_base_writer_change(cx, writer, &batch, positions, deletes));
        tn_array_release(&batch);
    }
    for (int64_t at = 0, n; at < added_count; at += n) {
        n = added_count - at < step ? added_count - at : step;
        base_batch(cx, added + at, n, BASE_PARTITION, &batch);
        TN_TRY(tn_base_writer_add(cx, writer, &batch));
        tn_array_release(&batch);
    }
    TN_TRY(tn_base_writer_finish(cx, writer, &w->arena, stat, counts));
done:
    tn_array_release(&batch);
    tn_base_writer_close(cx, writer);
    free(rows);
    free(positions);
    free(deletes);
    return rc;
}

/* The model after a write: `count` changes that win, then new rows. */
static inline void base_world_model(base_world *w, const base_change *changes, int64_t change_count,
                                    const base_row *added, int64_t added_count, const char *commit)
{
    base_row *rows = calloc((size_t)(w->count + added_count) + 1, sizeof *rows);
    int64_t n = 0, c = 0;

    for (int64_t i = 0; i < w->count; i++) {
        rows[n++] = w->rows[i];
        if (c == change_count || changes[c].position != i)
            continue;
        rows[n - 1] = changes[c].row;
        rows[n - 1].commit = commit;
        n -= changes[c++].drop;
    }
    for (int64_t i = 0; i < added_count; i++) {
        rows[n] = added[i];
        rows[n++].commit = commit;
    }
    free(w->rows);
    w->rows = rows;
    w->count = n;
}

static inline tn_parquet base_world_file(base_world *w)
{
    tn_parquet file;

    assert_ok(w->cx, tn_parquet_open(w->cx, w->memory, w->file.path, &file));
    return file;
}

/* Keys of the footer: every key is in the filter and the range, and the rest stands there. */
static inline void base_world_check_footer(base_world *w, const tn_parquet *file)
{
    tn_str text = tn_parquet_key_value(file, "org.apache.hudi.bloomfilter");
    tn_str min = tn_parquet_key_value(file, "hoodie_min_record_key");
    tn_str max = tn_parquet_key_value(file, "hoodie_max_record_key");
    tn_key_filter *filter;
    char key[64];

    assert_true(
        tn_str_is(tn_parquet_key_value(file, "parquet.avro.schema"), "{\"type\":\"record\"}"));
    assert_true(tn_str_is(tn_parquet_key_value(file, "writer.model.name"), "avro"));
    assert_true(
        tn_str_is(tn_parquet_key_value(file, "hoodie_bloom_filter_type_code"), "DYNAMIC_V0"));
    assert_int_equal(tn_parquet_key_value(file, "ARROW:schema").len, 0);
    assert_ok(w->cx,
              tn_key_filter_parse(w->cx, text, TN_KEY_FILTER_DYNAMIC, TN_STR("test"), &filter));
    for (int64_t i = 0; i < w->count; i++) {
        tn_str of = {key, base_key(w->rows[i].key, key)};

        assert_true(tn_key_filter_has(filter, of));
        assert_true(tn_str_compare(min, of) <= 0 && tn_str_compare(max, of) >= 0);
    }
    tn_key_filter_close(filter);
}

/* Sequence numbers are "<commit time>_7_<n>", and none is there twice. */
static inline void base_world_check_sequences(base_world *w, const struct ArrowArray *rows,
                                              tn_arena *arena, tn_map *seen)
{
    for (int64_t i = 0; i < rows->length; i++) {
        const struct ArrowArray *column = rows->children[1];
        const int32_t *ends = (const int32_t *)column->buffers[1] + column->offset + i;
        tn_str text = {(const char *)column->buffers[2] + ends[0], (size_t)(ends[1] - ends[0])};
        char commit[18];
        bool added;

        assert_true(text.len > 20 && memcmp(text.ptr + 17, "_7_", 3) == 0);
        memcpy(commit, text.ptr, 17);
        commit[17] = '\0';
        base_same_text(rows->children[0], i, commit);
        assert_ok(w->cx, tn_arena_keep(w->cx, arena, &text));
        assert_non_null(tn_map_add(w->cx, seen, text, &added));
        assert_true(added);
    }
}

static inline void base_world_check(base_world *w)
{
    tn_parquet file = base_world_file(w);
    tn_parquet_scan_options options = {.batch_rows = 1000};
    tn_parquet_scan *scan;
    struct ArrowArray batch;
    int64_t first, at = 0;
    tn_arena arena = {0};
    tn_map seen = {0};

    assert_int_equal(file.footer.rows, w->count);
    if (w->job.meta_fields)
        base_world_check_footer(w, &file);
    assert_ok(w->cx, tn_parquet_scan_open(w->cx, &file, &options, &scan));
    for (;;) {
        assert_ok(w->cx, tn_parquet_scan_next(w->cx, scan, &batch, &first));
        if (batch.length == 0)
            break;
        for (int64_t i = 0; i < batch.length; i++, at++) {
            char name[256];

            base_same_row(&batch, i, &w->rows[at]);
            base_same_text(batch.children[0], i, w->rows[at].commit);
            base_same_text(batch.children[3], i, BASE_PARTITION);
            snprintf(name, sizeof name, "%.*s", TN_STR_ARG(w->file.name));
            base_same_text(batch.children[4], i, name);
        }
        base_world_check_sequences(w, &batch, &arena, &seen);
        tn_array_release(&batch);
    }
    tn_array_release(&batch);
    assert_int_equal(at, w->count);
    tn_parquet_scan_close(scan);
    tn_parquet_close(&file);
    tn_map_clear(&seen);
    tn_arena_clear(&arena);
}

static inline base_row *base_make_rows(int64_t first, int64_t count, int64_t version)
{
    base_row *rows = calloc((size_t)count + 1, sizeof *rows);

    for (int64_t i = 0; i < count; i++)
        rows[i] = (base_row){first + i, version, 100, NULL};
    return rows;
}

/* Writes and checks. */
static inline void base_world_step(base_world *w, const char *instant, const base_change *changes,
                                   int64_t change_count, const base_row *added, int64_t added_count,
                                   tn_base_counts *counts)
{
    tn_write_stat stat;

    w->job.instant = tn_str_of(instant);
    assert_ok(w->cx,
              base_world_write(w, changes, change_count, added, added_count, 777, &stat, counts));
    base_world_model(w, changes, change_count, added, added_count, instant);
    assert_int_equal(stat.writes, w->count);
    assert_int_equal(stat.inserts, added_count);
    base_world_base(w, &stat);
    base_world_check(w);
}

/* Every `every`-th row of the file, as a change to `version`; each third of them a delete. */
static inline base_change *base_world_changes(const base_world *w, int64_t from, int64_t every,
                                              int64_t version, bool drops, int64_t *count)
{
    base_change *changes = calloc((size_t)w->count + 1, sizeof *changes);
    int64_t n = 0;

    for (int64_t i = from; i < w->count; i += every, n++)
        changes[n] = (base_change){i, drops && n % 3 == 2, {w->rows[i].key, version, 100, NULL}};
    *count = n;
    return changes;
}

/* The next one. */
static inline const char *base_world_instant(base_world *w)
{
    tn_str text;

    assert_ok(w->cx, tn_arena_print(w->cx, &w->arena, &text, "202602%011d", ++w->instants));
    return text.ptr;
}

static inline size_t base_world_groups(base_world *w)
{
    tn_parquet file = base_world_file(w);
    size_t count = file.footer.group_count;

    tn_parquet_close(&file);
    return count;
}

#endif

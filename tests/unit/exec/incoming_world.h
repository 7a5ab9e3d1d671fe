/* A table and rows for it, for tests of incoming rows: every value follows from a number.
 *
 *   _hoodie_record_key utf8, ts (int64, or utf8 of it), id int64, txt utf8? */
#ifndef TN_TEST_INCOMING_WORLD_H
#define TN_TEST_INCOMING_WORLD_H

#include "base/pool.h"
#include "exec/incoming.h"
#include "io/store_memory.h"
#include "unit/exec/rows.h"

typedef struct iw_row {
    uint32_t key, partition;
    int64_t ts;
    bool deletes;
} iw_row;

typedef struct iw {
    tarn_cx *cx;
    tn_store *store;
    tn_arena arena;
    struct ArrowSchema schema;
    bool text_order;
    tn_base_file *files[64];
    size_t file_count;
} iw;

#define IW_STAGING     "/t/.hoodie/.temp/incoming"

#define IW_KEY_PRIVATE 3999999999u /* begins with U+E000 */
#define IW_KEY_BEYOND  4000000000u /* from here on: with U+1F600 */

/* Keys of one length sort as their numbers. */
static inline size_t iw_key(uint32_t key, char *out)
{
    if (key >= IW_KEY_PRIVATE)
        return (size_t)sprintf(out, "%s-%u",
                               key == IW_KEY_PRIVATE ? "\xee\x80\x80" : "\xf0\x9f\x98\x80", key);
    return (size_t)sprintf(out, "key-%08u", key);
}

static inline void iw_open(iw *w, uint64_t memory_bytes, unsigned jobs, bool text_order)
{
    *w = (iw){.text_order = text_order};
    w->cx =
        tarn_cx_open(&(tarn_cx_options){.jobs = jobs, .memory_bytes = memory_bytes, .seed = 11});
    assert_ok(w->cx, tn_store_memory_open(w->cx, &w->store));
    assert_ok(w->cx, tn_store_make_dirs(w->cx, w->store, TN_STR("/t/.hoodie/.temp")));
    assert_ok(w->cx, tn_field_init(w->cx, &w->schema, "+s", TN_STR(""), false, 4));
    rows_field(w->cx, &w->schema, 0, "_hoodie_record_key", "u", true, 0);
    rows_field(w->cx, &w->schema, 1, "ts", text_order ? "u" : "l", true, 0);
    rows_field(w->cx, &w->schema, 2, "id", "l", false, 0);
    rows_field(w->cx, &w->schema, 3, "txt", "u", true, 0);
}

static inline void iw_close(iw *w)
{
    tn_field_release(&w->schema);
    tn_arena_clear(&w->arena);
    tn_store_close(w->store);
    tarn_cx_close(w->cx);
}

/* Rows as a batch; ids begin at `id`. */
static inline void iw_batch(iw *w, const iw_row *rows, int64_t count, int64_t id,
                            struct ArrowArray *out)
{
    char **keys = calloc((size_t)count + 1, sizeof *keys);
    char **texts = calloc((size_t)count + 1, sizeof *texts);
    char **times = calloc((size_t)count + 1, sizeof *times);
    char *room = malloc((size_t)count * 96 + 1), *at = room;
    int64_t *ids = calloc((size_t)count + 1, sizeof *ids);
    int64_t *ts = calloc((size_t)count + 1, sizeof *ts);

    for (int64_t i = 0; i < count; i++) {
        ids[i] = id + i;
        ts[i] = rows[i].ts;
        keys[i] = at;
        at += iw_key(rows[i].key, at) + 1;
        times[i] = at;
        at += sprintf(at, "t%lld", (long long)rows[i].ts) + 1;
        texts[i] = (id + i) % 7 == 0 ? NULL : at;
        at += rows_text(id + i, at) + 1;
    }
    assert_ok(w->cx, tn_array_init(w->cx, out, count, 1, 4));
    rows_text_column(w->cx, out->children[0], keys, count, 0);
    if (w->text_order)
        rows_text_column(w->cx, out->children[1], times, count, 0);
    else
        rows_fixed(w->cx, out->children[1], ts, 8, count);
    rows_fixed(w->cx, out->children[2], ids, 8, count);
    rows_text_column(w->cx, out->children[3], texts, count, 0);
    free(keys);
    free(texts);
    free(times);
    free(room);
    free(ids);
    free(ts);
}

/* A base file with these rows. */
static inline void iw_file_as(iw *w, uint32_t partition, const iw_row *rows, int64_t count,
                              const tn_parquet_sink_options *options)
{
    tn_base_file *file = tn_arena_take(w->cx, &w->arena, sizeof *file);
    struct ArrowArray batch = {0};
    tn_parquet_sink *sink;
    tn_sink *bytes;
    tn_stat stat;

    file->partition = partition;
    assert_ok(w->cx,
              tn_arena_print(w->cx, &w->arena, &file->path, "/t/f%zu.parquet", w->file_count));
    assert_ok(w->cx, tn_store_create(w->cx, w->store, file->path, &bytes));
    assert_ok(w->cx, tn_parquet_sink_open(w->cx, bytes, &w->schema, options, &sink));
    iw_batch(w, rows, count, 1000000, &batch);
    assert_ok(w->cx, tn_parquet_sink_add(w->cx, sink, &batch));
    tn_array_release(&batch);
    assert_ok(w->cx, tn_parquet_sink_finish(w->cx, sink));
    tn_parquet_sink_close(sink);
    assert_ok(w->cx, tn_store_finish(w->cx, bytes));
    tn_store_close_sink(bytes);
    assert_ok(w->cx, tn_store_stat(w->cx, w->store, file->path, &stat));
    file->size_bytes = stat.size_bytes;
    file->rows = count;
    w->files[w->file_count++] = file;
}

/* The same, in groups of `group_rows`. */
static inline void iw_file(iw *w, uint32_t partition, const iw_row *rows, int64_t count,
                           int64_t group_rows)
{
    iw_file_as(w, partition, rows, count, &(tn_parquet_sink_options){.group_rows = group_rows});
}

/* Adds rows in batches of `batch_rows`. */
static inline int iw_add(iw *w, tarn_cx *cx, tn_incoming *in, const iw_row *rows, int64_t count,
                         int64_t batch_rows)
{
    int rc = TARN_OK;

    for (int64_t at = 0; rc == TARN_OK && at < count; at += batch_rows) {
        int64_t n = count - at < batch_rows ? count - at : batch_rows;
        uint32_t *partitions = calloc((size_t)n, sizeof *partitions);
        uint8_t *deletes = calloc((size_t)n, 1);
        struct ArrowArray batch = {0};
        bool any = false;

        for (int64_t i = 0; i < n; i++) {
            partitions[i] = rows[at + i].partition;
            deletes[i] = rows[at + i].deletes;
            any = any || rows[at + i].deletes;
        }
        iw_batch(w, rows + at, n, at, &batch);
        rc = tn_incoming_add(cx, in, &batch, partitions, any ? deletes : NULL);
        free(partitions);
        free(deletes);
    }
    return rc;
}

#endif

/* A Hudi table on a store, and its rows as readers see them, for the tests of op/. */
#ifndef TN_TEST_HUDI_WORLD_H
#define TN_TEST_HUDI_WORLD_H

#include "codec/parquet/arrow.h"
#include "op/hudi_write.h"
#include "table/hudi_slices.h"
#include "unit/batch/table.h"

#define WORLD_ROWS_MAX 64

/* A row: key, partition, ordering value, value, and whether it is a delete. */
typedef struct world_row {
    const char *key, *part;
    int64_t ts;
    const char *value;
    bool gone;
} world_row;

typedef struct world_stream {
    tarn_cx *cx;
    const world_row *rows;
    size_t count, next, batch;
    struct ArrowSchema schema;
} world_stream;

static int world_schema(struct ArrowArrayStream *self, struct ArrowSchema *out)
{
    world_stream *s = self->private_data;

    memset(out, 0, sizeof *out);
    return tn_field_copy(s->cx, &s->schema, out) == TARN_OK ? 0 : 12;
}

static int world_text(tarn_cx *cx, const world_row *rows, size_t count, size_t member,
                      struct ArrowArray *out)
{
    tn_block offsets = {0}, data = {0};
    int rc = TARN_OK;

    TN_TRY(tn_array_init(cx, out, (int64_t)count, 3, 0));
    TN_TRY(tn_block_reserve(cx, &offsets, 4 * (count + 1)));
    memset(offsets.data, 0, 4);
    offsets.len = 4 * (count + 1);
    for (size_t i = 0; i < count; i++) {
        const char *text;
        int32_t end;

        memcpy(&text, (const char *)&rows[i] + member, sizeof text);
        TN_TRY(tn_block_reserve(cx, &data, strlen(text) + 1));
        memcpy(data.data + data.len, text, strlen(text));
        data.len += strlen(text);
        end = (int32_t)data.len;
        memcpy(offsets.data + 4 * (i + 1), &end, 4);
    }
    TN_TRY(tn_array_take_block(cx, out, 1, &offsets));
    TN_TRY(tn_array_take_block(cx, out, 2, &data));
done:
    tn_block_clear(&offsets);
    tn_block_clear(&data);
    return rc;
}

static int world_numbers(tarn_cx *cx, const world_row *rows, size_t count, struct ArrowArray *ts,
                         struct ArrowArray *gone)
{
    tn_block values = {0}, bits = {0};
    int rc = TARN_OK;

    TN_TRY(tn_array_init(cx, ts, (int64_t)count, 2, 0));
    TN_TRY(tn_array_init(cx, gone, (int64_t)count, 2, 0));
    TN_TRY(tn_block_reserve(cx, &values, 8 * count + 1));
    TN_TRY(tn_block_reserve(cx, &bits, count / 8 + 1));
    values.len = 8 * count;
    bits.len = count / 8 + 1;
    memset(bits.data, 0, bits.len);
    for (size_t i = 0; i < count; i++) {
        memcpy(values.data + 8 * i, &rows[i].ts, 8);
        if (rows[i].gone)
            tn_bit_set(bits.data, (int64_t)i);
    }
    TN_TRY(tn_array_take_block(cx, ts, 1, &values));
    TN_TRY(tn_array_take_block(cx, gone, 1, &bits));
done:
    tn_block_clear(&values);
    tn_block_clear(&bits);
    return rc;
}

static int world_batch(tarn_cx *cx, const world_row *rows, size_t count, struct ArrowArray *out)
{
    struct ArrowArray made = {0};
    int rc = TARN_OK;

    TN_TRY(tn_array_init(cx, &made, (int64_t)count, 1, 5));
    TN_TRY(world_text(cx, rows, count, offsetof(world_row, key), made.children[0]));
    TN_TRY(world_text(cx, rows, count, offsetof(world_row, part), made.children[1]));
    TN_TRY(world_numbers(cx, rows, count, made.children[2], made.children[4]));
    TN_TRY(world_text(cx, rows, count, offsetof(world_row, value), made.children[3]));
    tn_array_move(&made, out);
done:
    tn_array_release(&made);
    return rc;
}

static int world_next(struct ArrowArrayStream *self, struct ArrowArray *out)
{
    world_stream *s = self->private_data;
    size_t count = s->count - s->next < s->batch ? s->count - s->next : s->batch;
    int rc;

    memset(out, 0, sizeof *out);
    if (count == 0)
        return 0;
    rc = world_batch(s->cx, s->rows + s->next, count, out);
    s->next += count;
    return rc == TARN_OK ? 0 : 12;
}

static const char *world_error(struct ArrowArrayStream *self)
{
    (void)self;
    return NULL;
}

static void world_release(struct ArrowArrayStream *self)
{
    world_stream *s = self->private_data;

    tn_field_release(&s->schema);
    self->release = NULL;
}

static int world_columns(tarn_cx *cx, struct ArrowSchema *out)
{
    static const char *const names[] = {"id", "pt", "ts", "v", "_hoodie_is_deleted"};
    static const char *const formats[] = {"u", "u", "l", "u", "b"};
    struct ArrowSchema made = {0};
    int rc = TARN_OK;

    TN_TRY(tn_field_init(cx, &made, "+s", TN_STR(""), false, 5));
    for (size_t i = 0; i < 5; i++)
        TN_TRY(tn_field_init(cx, made.children[i], formats[i], tn_str_of(names[i]), true, 0));
    tn_field_move(&made, out);
done:
    tn_field_release(&made);
    return rc;
}

static const char *const world_key[] = {"id"}, *const world_part[] = {"pt"},
                         *const world_ts[] = {"ts"};

static inline tarn_table_write_options world_options(enum tarn_operation op, int version,
                                                     bool parts)
{
    return (tarn_table_write_options){.op = op,
                                      .table = {.keys = world_key,
                                                .key_count = 1,
                                                .partition_by = world_part,
                                                .partition_by_count = parts ? 1 : 0,
                                                .ordering = world_ts,
                                                .ordering_count = 1,
                                                .version = version}};
}

/* Writes the rows, three to a batch. */
static inline int world_write(tarn_cx *cx, tn_store *store, const char *root, const world_row *rows,
                              size_t count, const tarn_table_write_options *options,
                              tarn_table_report **report)
{
    world_stream s = {.cx = cx, .rows = rows, .count = count, .batch = 3};
    struct ArrowArrayStream stream = {world_schema, world_next, world_error, world_release, &s};
    int rc = TARN_OK;

    TN_TRY(world_columns(cx, &s.schema));
    rc = tn_hudi_write_rows_into(cx, store, tn_str_of(root), &stream, options, report);
    stream.release(&stream);
done:
    return rc;
}

/* The visible rows as "key/partition/value", sorted, one a line. */
typedef struct world_view {
    char lines[WORLD_ROWS_MAX][128];
    size_t count;
} world_view;

static inline int world_by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

static inline void world_read_file(tarn_cx *cx, tn_store *store, const tn_base_file *base,
                                   world_view *view)
{
    tn_type text = {.kind = TN_TYPE_UTF8};
    tn_parquet_scan_options options = {0};
    tn_parquet_scan *scan = NULL;
    struct ArrowArray batch = {0};
    tn_parquet file = {0};
    int64_t first;

    assert_ok(cx, tn_parquet_open(cx, store, base->path, &file));
    assert_ok(cx, tn_parquet_scan_open(cx, &file, &options, &scan));
    for (;;) {
        assert_ok(cx, tn_parquet_scan_next(cx, scan, &batch, &first));
        if (batch.length == 0)
            break;
        for (int64_t i = 0; i < batch.length; i++) {
            tn_str parts[4];
            static const int columns[4] = {2, 3, 4, 8};

            for (size_t k = 0; k < 4; k++)
                parts[k] = tn_rows_bytes(&text, batch.children[columns[k]],
                                         batch.children[columns[k]]->offset + i);
            assert_true(view->count < WORLD_ROWS_MAX);
            assert_true(tn_str_equal(parts[2], base->name));
            assert_true(tn_str_equal(parts[1], base->partition_path));
            snprintf(view->lines[view->count++], sizeof view->lines[0], "%.*s/%.*s/%.*s",
                     TN_STR_ARG(parts[0]), TN_STR_ARG(parts[1]), TN_STR_ARG(parts[3]));
        }
        tn_array_release(&batch);
    }
    tn_array_release(&batch);
    tn_parquet_scan_close(scan);
    tn_parquet_close(&file);
}

/* As a reader that has nothing to do with the writer's state sees it; a missing table has none. */
static inline void world_read(tn_store *store, const char *root, world_view *view)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    tn_arena arena = {0};
    tn_hudi_config config;
    tn_timeline timeline;
    tn_slices slices = {0};
    tn_slices_options options = {0};
    int rc = tn_hudi_config_load(cx, store, tn_str_of(root), &arena, &config);

    view->count = 0;
    if (rc != TARN_E_NOTFOUND) {
        assert_ok(cx, rc);
        assert_ok(cx, tn_timeline_load(cx, store, tn_str_of(root), &config, &arena, &timeline));
        assert_ok(cx, tn_slices_load(cx, store, tn_str_of(root), &config, &timeline, &options,
                                     &arena, &slices));
        for (size_t i = 0; i < slices.slice_count; i++)
            world_read_file(cx, store, &slices.slices[i].base, view);
        if (view->count != 0)
            qsort(view->lines, view->count, sizeof view->lines[0], world_by_text);
    }
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

/* All lines, "\n" between them. */
static inline void world_join(const world_view *view, char *out, size_t cap)
{
    size_t at = 0;

    out[0] = '\0';
    for (size_t i = 0; i < view->count; i++)
        at += (size_t)snprintf(out + at, cap - at, "%s%s", i != 0 ? "\n" : "", view->lines[i]);
}

static inline void world_expect(tn_store *store, const char *root, const char *want)
{
    static world_view view;
    char text[WORLD_ROWS_MAX * 128];

    world_read(store, root, &view);
    world_join(&view, text, sizeof text);
    assert_string_equal(text, want);
}

#endif

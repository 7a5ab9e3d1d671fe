#include "unit/exec/incoming_world.h"

#define PARTITIONS 4

typedef struct stored {
    uint32_t file;
    int64_t position;
    iw_row row;
} stored;

typedef struct scene {
    const char *name;
    int64_t rows;
    uint32_t keys; /* rows have keys below it */
    uint32_t partitions;
    uint32_t deletes_every; /* 0: none */
    int64_t times;          /* ordering values below it */
    size_t files;
    int64_t file_rows, group_rows;
    uint32_t stored_keys;
    bool global, dedup, by_arrival, duplicates_all, move, event_time, sort, filters;
} scene;

static uint64_t next_random(uint64_t *seed)
{
    *seed += 0x9E3779B97F4A7C15u;
    return (*seed ^ *seed >> 31) * 0xBF58476D1CE4E5B9u >> 20;
}

static void make_rows(const scene *s, iw_row *rows)
{
    uint64_t seed = 5;

    for (int64_t i = 0; i < s->rows; i++) {
        rows[i].key = (uint32_t)(next_random(&seed) % s->keys);
        rows[i].partition = (uint32_t)(next_random(&seed) % s->partitions);
        rows[i].ts = (int64_t)(next_random(&seed) % (uint64_t)s->times);
        rows[i].deletes = s->deletes_every != 0 && next_random(&seed) % s->deletes_every == 0;
    }
}

static void make_files(iw *w, const scene *s, stored *table)
{
    iw_row *rows = calloc((size_t)s->file_rows + 1, sizeof *rows);
    uint64_t seed = 9;

    for (size_t f = 0; f < s->files; f++) {
        uint32_t partition = (uint32_t)(f % s->partitions);

        for (int64_t i = 0; i < s->file_rows; i++) {
            rows[i] = (iw_row){.key = (uint32_t)(next_random(&seed) % s->stored_keys),
                               .partition = partition,
                               .ts = (int64_t)(next_random(&seed) % (uint64_t)s->times)};
            *table++ = (stored){(uint32_t)f, i, rows[i]};
        }
        iw_file(w, partition, rows, s->file_rows, s->group_rows);
    }
    free(rows);
}

/* --- what is to come out, told the slow way --- */

typedef struct out_row {
    size_t stream;
    int64_t position, id;
    bool deletes;
    uint32_t key;
} out_row;

typedef struct model {
    const scene *scene;
    const iw_row *rows;
    const stored *table;
    size_t table_count;
    uint8_t *dropped;
    int64_t drops, found, moved;
    int64_t inserts[PARTITIONS], lost[PARTITIONS], updates[64];
    out_row *out;
    size_t out_count;
} model;

static bool same_key(const scene *s, const iw_row *a, const iw_row *b)
{
    return a->key == b->key && (s->global || a->partition == b->partition);
}

/* Ordering values as text compare as text: "t9" is greater than "t10". */
static int compare_times(bool text, int64_t a, int64_t b)
{
    char x[32], y[32];

    if (!text)
        return a < b ? -1 : a > b;
    sprintf(x, "%lld", (long long)a);
    sprintf(y, "%lld", (long long)b);
    return strcmp(x, y);
}

static void model_dedup(model *m, bool text)
{
    const scene *s = m->scene;

    for (int64_t i = 0; s->dedup && i < s->rows; i++)
        for (int64_t k = 0; k < s->rows && !m->dropped[i]; k++) {
            int order;

            if (k == i || !same_key(s, &m->rows[i], &m->rows[k]))
                continue;
            order = s->by_arrival ? 0 : compare_times(text, m->rows[k].ts, m->rows[i].ts);
            if (order > 0 || (order == 0 && k > i)) {
                m->dropped[i] = 1;
                m->drops++;
            }
        }
}

/* Streams are numbered by file here, then by partition. */
static void put(model *m, size_t stream, int64_t position, int64_t row, bool deletes)
{
    m->out[m->out_count++] = (out_row){stream, position, row, deletes, m->rows[row].key};
    if (position >= 0)
        m->updates[stream]++;
}

static void model_row(model *m, int64_t i, bool text)
{
    const scene *s = m->scene;
    const iw_row *row = &m->rows[i];
    const stored *places[256];
    size_t count = 0;
    bool moves = s->move && !row->deletes, gone = false, home = false;

    for (size_t t = 0; t < m->table_count && count < 256; t++)
        if (same_key(s, row, &m->table[t].row) && (s->duplicates_all || count == 0))
            places[count++] = &m->table[t];
    m->found += count != 0;
    for (size_t p = 0; p < count; p++)
        if (places[p]->row.partition != row->partition && s->event_time &&
            compare_times(text, row->ts, places[p]->row.ts) < 0)
            moves = false;
    for (size_t p = 0; p < count; p++) {
        bool away = places[p]->row.partition != row->partition;

        put(m, places[p]->file, places[p]->position, i, row->deletes || (away && moves));
        gone = gone || (away && moves);
        home = home || !(away && moves);
    }
    m->moved += gone;
    if (home)
        return;
    if (row->deletes) {
        m->lost[row->partition]++;
        return;
    }
    m->inserts[row->partition]++;
    put(m, 64 + row->partition, -1, i, false);
}

static bool model_sorts;

static int compare_out(const void *a, const void *b)
{
    const out_row *x = a, *y = b;

    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    if (x->position < 0 && model_sorts && x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static void model_run(model *m, bool text)
{
    model_dedup(m, text);
    for (int64_t i = 0; i < m->scene->rows; i++)
        if (!m->dropped[i])
            model_row(m, i, text);
    model_sorts = m->scene->sort;
    qsort(m->out, m->out_count, sizeof *m->out, compare_out);
}

/* --- what comes out --- */

static void make_plan(iw *w, const tn_incoming_summary *sum, tn_upsert_plan *plan, uint32_t *files)
{
    plan->buckets = tn_arena_array(w->cx, &w->arena, sum->file_count, sizeof *plan->buckets);
    plan->partitions =
        tn_arena_array(w->cx, &w->arena, sum->partition_count, sizeof *plan->partitions);
    for (size_t f = 0; f < sum->file_count; f++)
        if (sum->updates[f] != 0) {
            files[plan->bucket_count] = (uint32_t)f;
            plan->buckets[plan->bucket_count++] =
                (tn_bucket){.base = w->files[f], .updates = sum->updates[f]};
        }
    plan->partition_count = sum->partition_count;
    for (size_t p = 0; p < sum->partition_count; p++)
        plan->partitions[p] =
            (tn_upsert_partition){.number = (uint32_t)p, .inserts = sum->inserts[p]};
}

/* A row's values are those of its number. */
static void check_row(const iw *w, const iw_row *rows, const struct ArrowArray *batch, int64_t i,
                      int64_t id)
{
    const struct ArrowArray *key = batch->children[0], *ts = batch->children[1];
    const struct ArrowArray *txt = batch->children[3];
    const int32_t *offsets = (const int32_t *)key->buffers[1] + key->offset + i;
    char want[64];
    size_t len = iw_key(rows[id].key, want);

    assert_int_equal(offsets[1] - offsets[0], len);
    assert_memory_equal((const char *)key->buffers[2] + offsets[0], want, len);
    if (!w->text_order)
        assert_int_equal(((const int64_t *)ts->buffers[1])[ts->offset + i], rows[id].ts);
    assert_int_equal(tn_rows_is_null(txt, txt->offset + i), id % 7 == 0);
    if (id % 7 == 0)
        return;
    len = rows_text(id, want);
    offsets = (const int32_t *)txt->buffers[1] + txt->offset + i;
    assert_int_equal(offsets[1] - offsets[0], len);
    assert_memory_equal((const char *)txt->buffers[2] + offsets[0], want, len);
}

static size_t read_stream(iw *w, tn_incoming *in, size_t stream, int64_t rows_max,
                          const iw_row *rows, out_row *out)
{
    tn_incoming_reader *reader;
    const tn_incoming_batch *batch;
    size_t n = 0;

    assert_ok(w->cx, tn_incoming_reader_open(w->cx, in, stream, &reader));
    for (;;) {
        const struct ArrowArray *ids;

        assert_ok(w->cx, tn_incoming_reader_next(w->cx, reader, rows_max, &batch));
        if (batch->rows.length == 0)
            break;
        assert_true(rows_max == 0 || batch->rows.length <= rows_max);
        assert_int_equal(batch->rows.offset, 0);
        ids = batch->rows.children[2];
        for (int64_t i = 0; i < batch->rows.length; i++) {
            int64_t id = ((const int64_t *)ids->buffers[1])[ids->offset + i];

            check_row(w, rows, &batch->rows, i, id);
            out[n++] = (out_row){stream, batch->positions[i], id,
                                 batch->deletes != NULL && batch->deletes[i], rows[id].key};
        }
    }
    tn_incoming_reader_close(w->cx, reader);
    assert_int_equal(n, tn_incoming_stream_rows(in, stream));
    return n;
}

static tn_incoming *open_incoming(iw *w, const scene *s)
{
    static const uint32_t ordering[] = {1};
    tn_incoming_options options = {.staging = TN_STR(IW_STAGING),
                                   .key_column = 0,
                                   .global = s->global,
                                   .ordering = ordering,
                                   .ordering_count = 1};
    tn_incoming *in = NULL;

    assert_ok(w->cx, tn_incoming_open(w->cx, w->store, &w->schema, &options, &in));
    return in;
}

typedef struct variant {
    unsigned jobs;
    uint64_t memory_bytes;
    int64_t batch_rows, rows_max;
    bool text_order, spills;
} variant;

static void check_streams(iw *w, tn_incoming *in, const tn_upsert_plan *plan, const uint32_t *files,
                          const model *m, const variant *v)
{
    out_row *got = calloc(m->out_count + 1, sizeof *got);
    size_t n = 0, streams = plan->bucket_count + plan->partition_count;

    for (size_t stream = 0; stream < streams; stream++) {
        size_t from = n;

        n += read_stream(w, in, stream, v->rows_max, m->rows, got + n);
        for (size_t i = from; i < n; i++)
            got[i].stream =
                stream < plan->bucket_count ? files[stream] : 64 + stream - plan->bucket_count;
    }
    assert_int_equal(n, m->out_count);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(got[i].stream, m->out[i].stream);
        assert_int_equal(got[i].position, m->out[i].position);
        assert_int_equal(got[i].id, m->out[i].id);
        assert_int_equal(got[i].deletes, m->out[i].deletes);
    }
    free(got);
}

static void check_summary(const model *m, const tn_incoming_summary *sum)
{
    for (size_t p = 0; p < sum->partition_count; p++) {
        assert_int_equal(sum->inserts[p], m->inserts[p]);
        assert_int_equal(sum->lost_deletes[p], m->lost[p]);
    }
    for (size_t f = 0; f < sum->file_count; f++)
        assert_int_equal(sum->updates[f], m->updates[f]);
}

static void run(const scene *s, const variant *v)
{
    size_t table_count = s->files * (size_t)s->file_rows;
    iw_row *rows = calloc((size_t)s->rows + 1, sizeof *rows);
    stored *table = calloc(table_count + 1, sizeof *table);
    model m = {.scene = s, .rows = rows, .table = table, .table_count = table_count};
    tn_tag_options tag = {.duplicates_all = s->duplicates_all, .use_filters = s->filters};
    tn_tag_counts counts = {0};
    tn_incoming_summary sum;
    tn_upsert_plan plan = {0};
    uint32_t files[64];
    int64_t dropped = 0, moved = 0;
    tn_incoming *in;
    bool there;
    iw w;

    m.dropped = calloc(1, (size_t)s->rows + 1);
    m.out = calloc((size_t)s->rows * 16 + 1, sizeof *m.out);
    iw_open(&w, v->memory_bytes, v->jobs, v->text_order);
    make_rows(s, rows);
    make_files(&w, s, table);
    model_run(&m, v->text_order);
    in = open_incoming(&w, s);
    assert_ok(w.cx, iw_add(&w, w.cx, in, rows, s->rows, v->batch_rows));
    assert_int_equal(tn_incoming_rows(in), s->rows);
    if (s->dedup)
        assert_ok(w.cx, tn_incoming_dedup(w.cx, in, s->by_arrival, &dropped));
    assert_int_equal(dropped, m.drops);
    tag.files = (const tn_base_file *const *)w.files;
    tag.file_count = w.file_count;
    assert_ok(w.cx, tn_incoming_tag(w.cx, in, &tag, &counts));
    assert_int_equal(counts.found, m.found);
    if (s->global)
        assert_ok(w.cx, tn_incoming_settle_global(w.cx, in, s->move, s->event_time, &moved));
    assert_int_equal(moved, m.moved);
    assert_ok(w.cx, tn_incoming_summarise(w.cx, in, &w.arena, &sum));
    check_summary(&m, &sum);
    make_plan(&w, &sum, &plan, files);
    assert_ok(w.cx,
              tn_incoming_place(w.cx, in, &(tn_place_options){.plan = &plan, .sort = s->sort}));
    check_streams(&w, in, &plan, files, &m, v);
    if (v->spills && s->rows >= 600)
        assert_true(tn_incoming_spilled_bytes(in) > 0);
    tn_incoming_close(w.cx, in);
    assert_ok(w.cx, tn_store_exists(w.cx, w.store, TN_STR(IW_STAGING), &there));
    assert_false(there);
    iw_close(&w);
    free(m.dropped);
    free(m.out);
    free(rows);
    free(table);
}

static const variant variants[] = {
    {1, 0, 100000, 0, false, false},   {4, 0, 100000, 0, false, false},
    {4, 0, 97, 0, false, false},       {1, 0, 1, 7, false, false},
    {2, 0, 5000, 1000, true, false},   {4, 0, 333, 1, true, false},
    {4, 200000, 50, 13, false, false}, {1, 150000, 97, 0, false, false},
    {2, 100000, 31, 0, true, false},   {1, 60000, 41, 5, true, true},
    {4, 60000, 13, 0, false, true},    {2, 60000, 300, 1000, false, true},
};

static const scene scenes[] = {
    {.name = "inserts alone", .rows = 600, .keys = 1u << 20, .partitions = 1, .times = 10},
    {.name = "inserts of some partitions",
     .rows = 900,
     .keys = 1u << 20,
     .partitions = 4,
     .times = 10,
     .deletes_every = 9},
    {.name = "no rows",
     .rows = 0,
     .keys = 1,
     .partitions = 1,
     .times = 1,
     .files = 2,
     .file_rows = 10,
     .group_rows = 4,
     .stored_keys = 10},
    {.name = "sorted inserts",
     .rows = 800,
     .keys = 300,
     .partitions = 3,
     .times = 10,
     .sort = true},
    {.name = "one row per key",
     .rows = 900,
     .keys = 200,
     .partitions = 3,
     .times = 5,
     .dedup = true},
    {.name = "one row per key, the last",
     .rows = 900,
     .keys = 200,
     .partitions = 3,
     .times = 5,
     .dedup = true,
     .by_arrival = true},
    {.name = "one row per key of the table",
     .rows = 900,
     .keys = 200,
     .partitions = 3,
     .times = 5,
     .dedup = true,
     .global = true},
    {.name = "upsert",
     .rows = 700,
     .keys = 900,
     .partitions = 4,
     .deletes_every = 5,
     .times = 20,
     .files = 9,
     .file_rows = 130,
     .group_rows = 37,
     .stored_keys = 900,
     .dedup = true},
    {.name = "upsert of keys that come twice",
     .rows = 700,
     .keys = 300,
     .partitions = 2,
     .deletes_every = 5,
     .times = 20,
     .files = 5,
     .file_rows = 100,
     .group_rows = 1000,
     .stored_keys = 300},
    {.name = "keys that the table has several times",
     .rows = 400,
     .keys = 200,
     .partitions = 2,
     .times = 20,
     .files = 7,
     .file_rows = 90,
     .group_rows = 30,
     .stored_keys = 200,
     .dedup = true,
     .duplicates_all = true},
    {.name = "global, in place",
     .rows = 400,
     .keys = 400,
     .partitions = 4,
     .deletes_every = 6,
     .times = 20,
     .files = 6,
     .file_rows = 60,
     .group_rows = 25,
     .stored_keys = 400,
     .dedup = true,
     .global = true},
    {.name = "global, moved",
     .rows = 400,
     .keys = 400,
     .partitions = 4,
     .deletes_every = 6,
     .times = 20,
     .files = 6,
     .file_rows = 60,
     .group_rows = 25,
     .stored_keys = 400,
     .dedup = true,
     .global = true,
     .move = true},
    {.name = "global, moved unless older",
     .rows = 400,
     .keys = 400,
     .partitions = 4,
     .deletes_every = 6,
     .times = 20,
     .files = 6,
     .file_rows = 60,
     .group_rows = 25,
     .stored_keys = 400,
     .dedup = true,
     .global = true,
     .move = true,
     .event_time = true},
    {.name = "global, moved from several places",
     .rows = 300,
     .keys = 90,
     .partitions = 3,
     .deletes_every = 6,
     .times = 20,
     .files = 6,
     .file_rows = 50,
     .group_rows = 25,
     .stored_keys = 90,
     .dedup = true,
     .global = true,
     .duplicates_all = true,
     .move = true,
     .event_time = true},
};

static void run_scene(size_t i)
{
    for (size_t v = 0; v < sizeof variants / sizeof variants[0]; v++)
        run(&scenes[i], &variants[v]);
}

static void test_incoming__inserts(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++)
        run_scene(i);
}

static void test_incoming__dedup(void **state)
{
    (void)state;
    for (size_t i = 4; i < 7; i++)
        run_scene(i);
}

static void test_incoming__upserts(void **state)
{
    (void)state;
    for (size_t i = 7; i < 10; i++)
        run_scene(i);
}

static void test_incoming__global(void **state)
{
    (void)state;
    for (size_t i = 10; i < sizeof scenes / sizeof scenes[0]; i++)
        run_scene(i);
}

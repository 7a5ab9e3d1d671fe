/* A Hudi table in memory, written to by the real operation and read back through its slices, beside
 * a model: a map from key to row. Keys are numbers below KEYS; the partition of a key follows from
 * it, so that a key is in one. */
#ifndef TN_TEST_HUDI_WORLD_H
#define TN_TEST_HUDI_WORLD_H

#include "unit/test.h"

#include <inttypes.h>

#include "batch/array.h"
#include "batch/field.h"
#include "io/store_fault.h"
#include "io/store_memory.h"
#include "op/hudi_write.h"
#include "op/op_read.h"
#include "commit/commit_hudi.h"
#include "task/data_name.h"

#define HUDI_ROOT  "/lake/t"
#define KEYS       48
#define PARTITIONS 3
#define BATCH_MAX  24

struct model_row {
    bool here;
    int64_t ts, val;
};
struct model {
    bool table; /* there is one */
    struct model_row rows[KEYS];
};

struct batch_row {
    int key;
    int64_t ts, val;
};

/* One write: what it does and with which rows. */
struct step {
    enum tarn_operation op;
    struct batch_row rows[BATCH_MAX];
    int count;
    int partition; /* of delete_partition */
};

struct hudi_world {
    tarn_cx *cx, *look; /* of the operation under test; of setting up and reading */
    tn_store *memory;
    int64_t now_ms;
    uint64_t random;
    int32_t version;
    bool parts;   /* partitioned by dt */
    bool ordered; /* by ts */
    bool made;    /* the table is there: nothing says how to make one */
    char warned[2000];
};

static inline uint64_t world_random(struct hudi_world *w, uint64_t below)
{
    uint64_t z = (w->random += 0x9E3779B97F4A7C15u);

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (z ^ (z >> 31)) % below;
}

static inline int64_t world_now(void *arg)
{
    return ((struct hudi_world *)arg)->now_ms;
}

static inline void world_warn(void *arg, const char *text)
{
    struct hudi_world *w = arg;
    size_t used = strlen(w->warned);

    snprintf(w->warned + used, sizeof w->warned - used, "%s\n", text);
}

static inline void world_open_on(struct hudi_world *w, uint64_t seed, tn_store *store)
{
    static const int32_t versions[] = {6, 8, 9};

    *w = (struct hudi_world){.now_ms = 1800000000000, .random = seed * 77 + 5};
    w->version = versions[world_random(w, 3)];
    w->parts = world_random(w, 4) != 0;
    w->ordered = world_random(w, 3) != 0;
    w->cx = tarn_cx_open(
        &(tarn_cx_options){.jobs = 1, .now_ms = world_now, .now_arg = w, .seed = seed * 2 + 1});
    w->look = tarn_cx_open(
        &(tarn_cx_options){.jobs = 1, .now_ms = world_now, .now_arg = w, .seed = seed * 2 + 2});
    assert_non_null(w->cx);
    assert_non_null(w->look);
    w->memory = store;
    if (store == NULL) {
        assert_ok(w->look, tn_store_memory_open(w->look, &w->memory));
        assert_ok(w->look, tn_store_make_dirs(w->look, w->memory, TN_STR("/lake")));
        assert_ok(w->look, tn_store_sync_all(w->look, w->memory, TN_STR("/")));
    }
}

static inline void world_close(struct hudi_world *w)
{
    tn_store_close(w->memory);
    tarn_cx_close(w->look);
    tarn_cx_close(w->cx);
}

/* ---- rows as an Arrow stream: id, ts, dt, val */

struct source {
    tarn_cx *cx;
    const struct step *step;
    bool given;
    struct ArrowArrayStream stream;
};

static inline int key_partition(int key)
{
    return key % PARTITIONS;
}

static inline void fill_texts(tarn_cx *cx, struct ArrowArray *column, char (*texts)[12], int count)
{
    tn_block offsets = {0}, data = {0};
    int32_t at = 0;

    assert_ok(cx, tn_array_init(cx, column, count, 3, 0));
    assert_ok(cx, tn_block_reserve(cx, &offsets, ((size_t)count + 1) * 4));
    assert_ok(cx, tn_block_reserve(cx, &data, (size_t)count * 12));
    for (int i = 0; i <= count; i++) {
        memcpy(offsets.data + 4 * i, &at, 4);
        if (i < count) {
            memcpy(data.data + at, texts[i], strlen(texts[i]));
            at += (int32_t)strlen(texts[i]);
        }
    }
    offsets.len = ((size_t)count + 1) * 4;
    data.len = (size_t)at;
    assert_ok(cx, tn_array_take_block(cx, column, 1, &offsets));
    assert_ok(cx, tn_array_take_block(cx, column, 2, &data));
}

static inline void fill_longs(tarn_cx *cx, struct ArrowArray *column, const int64_t *values,
                              int count)
{
    tn_block data = {0};

    assert_ok(cx, tn_array_init(cx, column, count, 2, 0));
    assert_ok(cx, tn_block_reserve(cx, &data, (size_t)count * 8));
    memcpy(data.data, values, (size_t)count * 8);
    data.len = (size_t)count * 8;
    assert_ok(cx, tn_array_take_block(cx, column, 1, &data));
}

static inline int source_schema(struct ArrowArrayStream *self, struct ArrowSchema *out)
{
    static const char *const names[] = {"id", "ts", "dt", "val"}, *const formats[] = {"u", "l", "u",
                                                                                      "l"};
    struct source *s = self->private_data;

    assert_ok(s->cx, tn_field_init(s->cx, out, "+s", TN_STR(""), false, 4));
    for (int i = 0; i < 4; i++)
        assert_ok(s->cx,
                  tn_field_init(s->cx, out->children[i], formats[i], tn_str_of(names[i]), true, 0));
    return 0;
}

static inline int source_next(struct ArrowArrayStream *self, struct ArrowArray *out)
{
    struct source *s = self->private_data;
    char ids[BATCH_MAX][12], parts[BATCH_MAX][12];
    int64_t ts[BATCH_MAX], vals[BATCH_MAX];
    int count = s->step->count;

    memset(out, 0, sizeof *out);
    if (s->given || count == 0)
        return 0;
    s->given = true;
    for (int i = 0; i < count; i++) {
        const struct batch_row *row = &s->step->rows[i];

        snprintf(ids[i], sizeof ids[i], "k%d", row->key);
        snprintf(parts[i], sizeof parts[i], "p%d", key_partition(row->key));
        ts[i] = row->ts;
        vals[i] = row->val;
    }
    assert_ok(s->cx, tn_array_init(s->cx, out, count, 1, 4));
    fill_texts(s->cx, out->children[0], ids, count);
    fill_longs(s->cx, out->children[1], ts, count);
    fill_texts(s->cx, out->children[2], parts, count);
    fill_longs(s->cx, out->children[3], vals, count);
    return 0;
}

static inline const char *source_error(struct ArrowArrayStream *self)
{
    (void)self;
    return NULL;
}

static inline void source_release(struct ArrowArrayStream *self)
{
    self->release = NULL;
}

/* ---- the operation */

static inline int world_write(struct hudi_world *w, tarn_cx *cx, tn_store *store,
                              const struct step *step, bool *committed)
{
    static const char *const keys[] = {"id"}, *const by[] = {"dt"}, *const ordering[] = {"ts"};
    struct source source = {.cx = w->look, .step = step};
    tarn_table_write_options options = {.op = step->op, .warn = world_warn, .arg = w};
    tarn_table_report *report = NULL;
    const char *paths[1];
    char path[12];
    int rc;

    source.stream = (struct ArrowArrayStream){source_schema, source_next, source_error,
                                              source_release, &source};
    if (!w->made)
        options.table = (tarn_table_options){.keys = keys, .key_count = 1, .version = w->version};
    if (w->parts && !w->made) {
        options.table.partition_by = by;
        options.table.partition_by_count = 1;
    }
    if (w->ordered && !w->made) {
        options.table.ordering = ordering;
        options.table.ordering_count = 1;
    }
    if (step->op == TARN_OP_DELETE_PARTITION) {
        snprintf(path, sizeof path, "p%d", step->partition);
        paths[0] = path;
        options.partitions = paths;
        options.partition_count = 1;
    }
    rc = tn_hudi_write_rows_into(cx, store, TN_STR(HUDI_ROOT), &source.stream, &options, &report);
    if (committed != NULL)
        *committed = rc == TARN_OK && report->instant != NULL;
    tarn_table_report_close(report);
    return rc;
}

/* ---- the model */

static inline void model_put(const struct hudi_world *w, struct model *m,
                             const struct batch_row *row, bool merge)
{
    struct model_row *at = &m->rows[row->key];

    if (merge && w->ordered && at->here && at->ts > row->ts)
        return;
    *at = (struct model_row){true, row->ts, row->val};
}

static inline void model_apply(const struct hudi_world *w, struct model *m, const struct step *step)
{
    bool touched[PARTITIONS] = {false};

    if (!m->table && (step->op == TARN_OP_DELETE || step->op == TARN_OP_DELETE_PARTITION))
        return;
    m->table = true;
    for (int i = 0; i < step->count; i++)
        touched[w->parts ? key_partition(step->rows[i].key) : 0] = true;
    if (step->op == TARN_OP_DELETE_PARTITION)
        touched[step->partition] = true;
    if (step->op == TARN_OP_INSERT_OVERWRITE || step->op == TARN_OP_DELETE_PARTITION)
        for (int key = 0; key < KEYS; key++)
            if (touched[w->parts ? key_partition(key) : 0])
                m->rows[key].here = false;
    if (step->op == TARN_OP_INSERT_OVERWRITE_TABLE)
        for (int key = 0; key < KEYS; key++)
            m->rows[key].here = false;
    for (int i = 0; i < step->count && step->op != TARN_OP_DELETE_PARTITION; i++)
        if (step->op == TARN_OP_DELETE)
            m->rows[step->rows[i].key].here = false;
        else
            model_put(w, m, &step->rows[i], step->op == TARN_OP_UPSERT);
}

static inline bool model_same(const struct model *a, const struct model *b)
{
    for (int key = 0; key < KEYS; key++)
        if (a->rows[key].here != b->rows[key].here ||
            (a->rows[key].here &&
             (a->rows[key].ts != b->rows[key].ts || a->rows[key].val != b->rows[key].val)))
            return false;
    return true;
}

/* ---- the reader */

static inline void read_file(struct hudi_world *w, tn_str path, struct model *out)
{
    static const char *const columns[] = {"id", "ts", "val", "_hoodie_record_key"};
    const tarn_read_options options = {.columns = columns, .column_count = 4};
    struct ArrowArrayStream rows = {0};
    tn_store *store;

    /* The reader closes what it was given. */
    assert_ok(w->look, tn_store_fault_open(w->look, w->memory, &(tn_fault_plan){0}, &store));
    assert_ok(w->look, tn_read_open_in(w->look, store, path, &options, &rows));
    for (;;) {
        struct ArrowArray batch = {0};

        if (rows.get_next(&rows, &batch) != 0)
            fail_msg("%.*s: %s", TN_STR_ARG(path), tarn_cx_error(w->look));
        if (batch.release == NULL)
            break;
        for (int64_t i = 0; i < batch.length; i++) {
            const struct ArrowArray *id = batch.children[0], *key = batch.children[3];
            const int32_t *at = (const int32_t *)id->buffers[1] + id->offset + i;
            const int32_t *key_at = (const int32_t *)key->buffers[1] + key->offset + i;
            const char *text = (const char *)id->buffers[2] + at[0];
            int number = 0;

            assert_int_equal(text[0], 'k');
            for (int32_t k = 1; k < at[1] - at[0]; k++)
                number = 10 * number + (text[k] - '0');
            assert_in_range(number, 0, KEYS - 1);
            assert_int_equal(at[1] - at[0], key_at[1] - key_at[0]);
            assert_memory_equal(text, (const char *)key->buffers[2] + key_at[0],
                                (size_t)(at[1] - at[0]));
            if (out->rows[number].here)
                fail_msg("key %d is there twice", number);
            out->rows[number] = (struct model_row){
                true,
                ((const int64_t *)batch.children[1]->buffers[1])[batch.children[1]->offset + i],
                ((const int64_t *)batch.children[2]->buffers[1])[batch.children[2]->offset + i]};
        }
        tn_array_release(&batch);
    }
    rows.release(&rows);
}

static inline bool world_exists(struct hudi_world *w)
{
    bool main_there, spare_there;

    assert_ok(w->look,
              tn_store_exists(w->look, w->memory, TN_STR(HUDI_ROOT "/.hoodie/hoodie.properties"),
                              &main_there));
    assert_ok(w->look,
              tn_store_exists(w->look, w->memory,
                              TN_STR(HUDI_ROOT "/.hoodie/hoodie.properties.backup"), &spare_there));
    return main_there || spare_there;
}

static inline void world_load(struct hudi_world *w, tn_arena *arena, tn_hudi_config *config,
                              tn_timeline *timeline)
{
    assert_ok(w->look, tn_hudi_config_load(w->look, w->memory, TN_STR(HUDI_ROOT), arena, config));
    assert_ok(w->look,
              tn_timeline_load(w->look, w->memory, TN_STR(HUDI_ROOT), config, arena, timeline));
}

static inline void world_read(struct hudi_world *w, struct model *out)
{
    tn_arena arena = {0};
    tn_slices slices;
    tn_hudi_config config;
    tn_timeline timeline;

    memset(out, 0, sizeof *out);
    out->table = world_exists(w);
    if (!out->table)
        return;
    world_load(w, &arena, &config, &timeline);
    assert_ok(w->look, tn_slices_load(w->look, w->memory, TN_STR(HUDI_ROOT), &config, &timeline,
                                      &(tn_slices_options){0}, &arena, &slices));
    for (size_t i = 0; i < slices.slice_count; i++)
        read_file(w, slices.slices[i].base.path, out);
    tn_arena_clear(&arena);
}

/* The latest completed instant that wrote data; empty: none. In the arena. */
static inline tn_str world_latest(struct hudi_world *w, tn_arena *arena)
{
    tn_hudi_config config;
    tn_timeline timeline;
    tn_str latest = {0};

    if (!world_exists(w))
        return latest;
    world_load(w, arena, &config, &timeline);
    for (size_t i = 0; i < timeline.count; i++)
        if (timeline.instants[i].state == TN_STATE_COMPLETED &&
            (timeline.instants[i].action == TN_ACTION_COMMIT ||
             timeline.instants[i].action == TN_ACTION_REPLACE))
            latest = timeline.instants[i].time;
    return latest;
}

/* ---- nothing is left but what belongs to a table */

static inline void clean_files(struct hudi_world *w, tn_arena *arena, const tn_timeline *timeline,
                               tn_str directory, const char *label)
{
    tn_entry *entries;
    size_t count;

    assert_ok(w->look, tn_store_list(w->look, w->memory, directory, arena, &entries, &count));
    for (size_t i = 0; i < count; i++) {
        tn_data_name name;
        tn_str path;

        assert_ok(w->look, tn_path_join(w->look, arena, directory, entries[i].name, &path));
        if (entries[i].stat.kind == TN_ENTRY_DIR) {
            if (!tn_str_is(entries[i].name, ".hoodie"))
                clean_files(w, arena, timeline, path, label);
            continue;
        }
        if (tn_str_is(entries[i].name, ".hoodie_partition_metadata"))
            continue;
        if (!tn_data_name_parse(entries[i].name, &name) ||
            !tn_timeline_shows(timeline, name.instant))
            fail_msg("%s: left over: %.*s", label, TN_STR_ARG(path));
    }
}

static inline void clean_folder(struct hudi_world *w, const char *folder, const char *label)
{
    tn_arena arena = {0};
    tn_entry *entries;
    size_t count;
    tn_str path = tn_str_of(folder);
    int rc = tn_store_list(w->look, w->memory, path, &arena, &entries, &count);

    if (rc == TARN_OK)
        for (size_t i = 0; i < count; i++)
            if (!tn_str_is(entries[i].name, ".bootstrap"))
                fail_msg("%s: left over: %s/%.*s", label, folder, TN_STR_ARG(entries[i].name));
    tn_cx_forget(w->look);
    tn_arena_clear(&arena);
}

static inline void world_assert_clean(struct hudi_world *w, const char *label)
{
    tn_arena arena = {0};
    tn_hudi_config config;
    tn_timeline timeline;

    if (!world_exists(w))
        return;
    world_load(w, &arena, &config, &timeline);
    for (size_t i = 0; i < timeline.count; i++)
        if (timeline.instants[i].state != TN_STATE_COMPLETED)
            fail_msg("%s: pending: %.*s", label, TN_STR_ARG(timeline.instants[i].name));
    clean_files(w, &arena, &timeline, TN_STR(HUDI_ROOT), label);
    clean_folder(w, HUDI_ROOT "/.hoodie/.temp", label);
    clean_folder(w, HUDI_ROOT "/.hoodie/.heartbeat", label);
    clean_folder(w, HUDI_ROOT "/.hoodie/.aux", label);
    tn_arena_clear(&arena);
}

#endif

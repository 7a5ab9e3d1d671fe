/* A Hudi table in memory for tests of commits alone: data files are made of text, a reader lists
 * them as Hudi would. */
#ifndef TN_TEST_COMMIT_WORLD_H
#define TN_TEST_COMMIT_WORLD_H

#include "unit/test.h"

#include <inttypes.h>

#include "commit/commit_hudi.h"
#include "io/store_fault.h"
#include "io/store_memory.h"
#include "task/data_name.h"

#define LAKE_ROOT   "/lake/t"
#define LAKE_GROUPS 16
#define LAKE_TEXT   256
#define LAKE_WARN   4000
#define LAKE_WORDS  32

/* What a reader sees: per file group a word, sorted, as one text. */
struct lake_view {
    char text[LAKE_TEXT];
};

struct lake {
    tarn_cx *cx;
    tn_store *memory, *store; /* store: what is under test, perhaps with faults */
    tn_str root;
    tn_arena arena;
    int32_t version;
    int64_t now_ms;
    int tokens;
    char warned[LAKE_WARN];
    tn_hudi_commit_options options;
};

/* What one write does. */
struct lake_write {
    enum tn_operation operation;
    const char *partitions[4]; /* a new group in each, up to NULL */
    const char *rewrite[4];    /* partitions whose first group is rewritten */
    const char *replace;       /* partition whose groups are replaced */
    const char *word;          /* the text of the files */
    bool spare;                /* a file more, that no result names */
};

static inline int64_t lake_now(void *arg)
{
    return ((struct lake *)arg)->now_ms;
}

static inline void lake_warn(void *arg, const char *text)
{
    struct lake *l = arg;
    size_t used = strlen(l->warned);

    snprintf(l->warned + used, sizeof l->warned - used, "%s\n", text);
}

static inline tn_str lake_path(struct lake *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static inline tn_str lake_path(struct lake *l, const char *format, ...)
{
    char text[1024];
    va_list args;
    tn_str path;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    assert_ok(l->cx, tn_arena_print(l->cx, &l->arena, &path, "%.*s/%s", TN_STR_ARG(l->root), text));
    return path;
}

static inline bool lake_has(struct lake *l, const char *path)
{
    bool there = false;

    assert_ok(l->cx, tn_store_exists(l->cx, l->memory, lake_path(l, "%s", path), &there));
    return there;
}

static inline void lake_put(struct lake *l, const char *path, const char *text)
{
    tn_str full = lake_path(l, "%s", path);

    assert_ok(l->cx, tn_store_make_dirs(l->cx, l->memory, tn_path_parent(full)));
    assert_ok(l->cx, tn_store_put(l->cx, l->memory, full, tn_str_of(text)));
}

static inline void lake_open_on(struct lake *l, int32_t version, tn_store *store, tn_str root)
{
    *l = (struct lake){.version = version, .now_ms = 1800000000123, .root = root};
    l->cx =
        tarn_cx_open(&(tarn_cx_options){.jobs = 1, .now_ms = lake_now, .now_arg = l, .seed = 7});
    assert_non_null(l->cx);
    l->memory = store;
    if (store == NULL)
        assert_ok(l->cx, tn_store_memory_open(l->cx, &l->memory));
    l->store = l->memory;
    l->options.warn = lake_warn;
    l->options.warn_arg = l;
}

static inline void lake_open(struct lake *l, int32_t version)
{
    lake_open_on(l, version, NULL, TN_STR(LAKE_ROOT));
    assert_ok(l->cx, tn_store_make_dirs(l->cx, l->memory, TN_STR("/lake")));
    assert_ok(l->cx, tn_store_sync_dir(l->cx, l->memory, TN_STR("/")));
}

static inline void lake_close(struct lake *l)
{
    tn_store_close(l->memory);
    tn_arena_clear(&l->arena);
    tarn_cx_close(l->cx);
}

static inline int lake_create(struct lake *l)
{
    static const tn_str keys[] = {{"id", 2}}, partitions[] = {{"dt", 2}}, ordering[] = {{"ts", 2}};
    tn_hudi_new made = {.version = l->version,
                        .name = TN_STR("t"),
                        .keys = keys,
                        .key_count = 1,
                        .partitions = partitions,
                        .partition_count = 1,
                        .ordering = ordering,
                        .ordering_count = 1,
                        .hive_style = true};

    return tn_hudi_create(l->cx, l->store, l->root, &made, NULL);
}

/* ---- the reader */

struct lake_file {
    tn_str partition, name;
    tn_data_name parsed;
};

struct lake_files {
    struct lake_file items[256];
    size_t count;
};

static inline void lake_list(struct lake *l, tn_arena *arena, tn_str directory, tn_str below,
                             struct lake_files *out)
{
    tn_entry *entries;
    size_t count;

    assert_ok(l->cx, tn_store_list(l->cx, l->memory, directory, arena, &entries, &count));
    for (size_t i = 0; i < count; i++) {
        tn_str path = entries[i].name, place;
        struct lake_file *file = &out->items[out->count];

        if (entries[i].stat.kind == TN_ENTRY_FILE) {
            if (tn_data_name_parse(entries[i].name, &file->parsed)) {
                file->partition = below;
                file->name = entries[i].name;
                assert_true(++out->count < 256);
            }
        } else if (!tn_str_is(entries[i].name, ".hoodie")) {
            if (below.len != 0)
                assert_ok(l->cx, tn_path_join(l->cx, arena, below, entries[i].name, &path));
            assert_ok(l->cx, tn_path_join(l->cx, arena, directory, entries[i].name, &place));
            lake_list(l, arena, place, path, out);
        }
    }
}

static inline bool lake_replaced(struct lake *l, tn_arena *arena, const tn_timeline *timeline,
                                 const struct lake_file *file)
{
    for (size_t i = 0; i < timeline->count; i++) {
        const tn_instant *instant = &timeline->instants[i];
        tn_commit_metadata metadata;

        if (instant->action != TN_ACTION_REPLACE || instant->state != TN_STATE_COMPLETED)
            continue;
        assert_ok(l->cx, tn_timeline_commit(l->cx, l->memory, timeline, instant, arena, &metadata));
        for (size_t k = 0; k < metadata.replaced_count; k++)
            for (size_t n = 0; n < metadata.replaced[k].file_id_count; n++)
                if (tn_str_equal(metadata.replaced[k].partition, file->partition) &&
                    tn_str_equal(metadata.replaced[k].file_ids[n], file->parsed.file_id) &&
                    tn_str_compare(instant->time, file->parsed.instant) > 0)
                    return true;
    }
    return false;
}

/* The latest visible file of each group. */
static inline size_t lake_latest(struct lake *l, tn_arena *arena, struct lake_file *out)
{
    static _Thread_local struct lake_files files;
    tn_hudi_config config;
    tn_timeline timeline;
    size_t count = 0;

    files.count = 0;
    assert_ok(l->cx, tn_hudi_config_load(l->cx, l->memory, l->root, arena, &config));
    assert_ok(l->cx, tn_timeline_load(l->cx, l->memory, l->root, &config, arena, &timeline));
    lake_list(l, arena, l->root, (tn_str){0}, &files);
    for (size_t i = 0; i < files.count; i++) {
        struct lake_file *file = &files.items[i];
        size_t k = 0;

        if (!tn_timeline_shows(&timeline, file->parsed.instant) ||
            lake_replaced(l, arena, &timeline, file))
            continue;
        while (k < count && !(tn_str_equal(out[k].partition, file->partition) &&
                              tn_str_equal(out[k].parsed.file_id, file->parsed.file_id)))
            k++;
        if (k == count)
            count++;
        else if (tn_str_compare(out[k].parsed.instant, file->parsed.instant) >= 0)
            continue;
        assert_true(count <= LAKE_GROUPS);
        out[k] = *file;
    }
    return count;
}

static inline int lake_by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* "dt=a:one dt=b:one", sorted; "" where there is no table. */
static inline struct lake_view lake_see(struct lake *l)
{
    struct lake_file latest[LAKE_GROUPS + 1];
    char words[LAKE_GROUPS][LAKE_WORDS] = {""};
    struct lake_view view = {""};
    tn_arena arena = {0};
    size_t count;

    if (!lake_has(l, ".hoodie/hoodie.properties") &&
        !lake_has(l, ".hoodie/hoodie.properties.backup"))
        return view;
    count = lake_latest(l, &arena, latest);
    for (size_t i = 0; i < count; i++) {
        tn_buf text = {0};
        tn_str path;

        assert_ok(l->cx,
                  tn_arena_print(l->cx, &arena, &path, "%.*s/%.*s/%.*s", TN_STR_ARG(l->root),
                                 TN_STR_ARG(latest[i].partition), TN_STR_ARG(latest[i].name)));
        assert_ok(l->cx, tn_store_get(l->cx, l->memory, path, 1000, &text));
        snprintf(words[i], LAKE_WORDS, "%.*s:%.*s", TN_STR_ARG(latest[i].partition),
                 TN_STR_ARG(tn_buf_view(&text)));
        tn_buf_clear(&text);
    }
    qsort(words, count, LAKE_WORDS, lake_by_text);
    for (size_t i = 0; i < count; i++)
        snprintf(view.text + strlen(view.text), LAKE_TEXT - strlen(view.text), "%s%s",
                 i != 0 ? " " : "", words[i]);
    tn_arena_clear(&arena);
    return view;
}

/* ---- the writer */

static inline int lake_put_data(struct lake *l, tn_str path, const char *word)
{
    tarn_cx *cx = l->cx;
    tn_sink *sink = NULL;
    int rc;

    TN_TRY(tn_store_create(cx, l->store, path, &sink));
    TN_TRY(tn_store_write(cx, sink, word, strlen(word)));
    TN_TRY(tn_store_finish(cx, sink));
done:
    tn_store_close_sink(sink);
    return rc;
}

static inline int lake_file(struct lake *l, tn_hudi_commit *commit, tn_str instant,
                            const char *partition, tn_str file_id, tn_str prev, const char *word,
                            tn_write_stat *stat)
{
    tarn_cx *cx = l->cx;
    tn_str token, name, path;
    int rc;

    TN_TRY(tn_data_name_token(cx, &l->arena, (uint32_t)l->tokens++, &token));
    if (file_id.len == 0)
        TN_TRY(tn_data_name_new_id(cx, &l->arena, &file_id));
    TN_TRY(tn_data_name_print(cx, &l->arena, file_id, token, instant, &name));
    TN_TRY(tn_hudi_commit_mark(cx, commit, tn_str_of(partition), name, prev.len != 0));
    TN_TRY(tn_arena_print(cx, &l->arena, &path, "%s/%.*s", partition, TN_STR_ARG(name)));
    TN_TRY(lake_put_data(l, lake_path(l, "%.*s", TN_STR_ARG(path)), word));
    *stat = (tn_write_stat){.partition = tn_str_of(partition),
                            .file_id = file_id,
                            .path = path,
                            .prev_instant = prev,
                            .writes = 1,
                            .inserts = prev.len == 0,
                            .updates = prev.len != 0,
                            .bytes = strlen(word)};
done:
    return rc;
}

static inline int lake_files_of(struct lake *l, tn_hudi_commit *commit,
                                const struct lake_write *write, tn_str instant,
                                const struct lake_file *latest, size_t latest_count,
                                tn_commit_metadata *metadata)
{
    tarn_cx *cx = l->cx;
    tn_write_stat *stats = tn_arena_array(cx, &l->arena, 16, sizeof *stats), spare;
    size_t n = 0;
    int rc = TARN_OK;

    assert_non_null(stats);
    for (int i = 0; i < 4 && write->partitions[i] != NULL; i++)
        TN_TRY(lake_file(l, commit, instant, write->partitions[i], (tn_str){0}, (tn_str){0},
                         write->word, &stats[n++]));
    for (int i = 0; i < 4 && write->rewrite[i] != NULL; i++)
        for (size_t k = 0; k < latest_count; k++)
            if (tn_str_is(latest[k].partition, write->rewrite[i])) {
                TN_TRY(lake_file(l, commit, instant, write->rewrite[i], latest[k].parsed.file_id,
                                 latest[k].parsed.instant, write->word, &stats[n++]));
                break;
            }
    if (write->spare)
        TN_TRY(lake_file(l, commit, instant, "dt=a", (tn_str){0}, (tn_str){0}, "spare", &spare));
    metadata->stats = stats;
    metadata->stat_count = n;
done:
    return rc;
}

static inline void lake_replace(struct lake *l, const char *partition,
                                const struct lake_file *latest, size_t count,
                                tn_commit_metadata *metadata)
{
    tn_replaced *replaced = tn_arena_array(l->cx, &l->arena, 1, sizeof *replaced);

    assert_non_null(replaced);
    replaced->partition = tn_str_of(partition);
    replaced->file_ids = tn_arena_array(l->cx, &l->arena, count + 1, sizeof(tn_str));
    assert_non_null(replaced->file_ids);
    for (size_t i = 0; i < count; i++)
        if (tn_str_is(latest[i].partition, partition))
            replaced->file_ids[replaced->file_id_count++] = latest[i].parsed.file_id;
    metadata->replaced = replaced;
    metadata->replaced_count = 1;
}

/* What is behind the table is looked at without faults: it is the reader's side. */
static inline int lake_run(struct lake *l, const struct lake_write *write, bool finish)
{
    tarn_cx *cx = l->cx;
    bool replace = write->replace != NULL;
    tn_hudi_commit *commit = NULL;
    tn_commit_metadata metadata = {.operation = tn_str_of(tn_operation_name(write->operation)),
                                   .replace = replace};
    struct lake_file latest[LAKE_GROUPS + 1];
    size_t latest_count;
    tn_str instant, completion;
    tn_write_stat profile[1] = {{.partition = {"dt=a", 4}, .inserts = 1}};
    int rc;

    TN_TRY(tn_hudi_commit_open(cx, l->store, l->root, &l->options, &commit));
    latest_count = lake_latest(l, &l->arena, latest);
    TN_TRY(tn_hudi_commit_begin(cx, commit, replace ? TN_ACTION_REPLACE : TN_ACTION_COMMIT,
                                write->operation, &instant));
    TN_TRY(tn_hudi_commit_inflight(cx, commit, profile, 1));
    TN_TRY(lake_files_of(l, commit, write, instant, latest, latest_count, &metadata));
    if (replace)
        lake_replace(l, write->replace, latest, latest_count, &metadata);
    if (finish)
        TN_TRY(tn_hudi_commit_finish(cx, commit, &metadata, &completion));
done:
    tn_hudi_commit_close(cx, commit);
    return rc;
}

static inline int lake_write(struct lake *l, const struct lake_write *write)
{
    return lake_run(l, write, true);
}

/* ---- what must hold when no writer is at work and the last one ended well */

static inline void lake_clean_folder(struct lake *l, const char *folder)
{
    tn_arena arena = {0};
    tn_entry *entries;
    size_t count;
    tn_str path = lake_path(l, "%s", folder);
    int rc = tn_store_list(l->cx, l->memory, path, &arena, &entries, &count);

    if (rc != TARN_E_NOTFOUND) {
        assert_ok(l->cx, rc);
        for (size_t i = 0; i < count; i++)
            fail_msg("%s: left over: %.*s", folder, TN_STR_ARG(entries[i].name));
    }
    tn_cx_forget(l->cx);
    tn_arena_clear(&arena);
}

static inline void lake_assert_clean(struct lake *l, const char *label)
{
    static _Thread_local struct lake_files files;
    tn_arena arena = {0};
    tn_hudi_config config;
    tn_timeline timeline;

    assert_ok(l->cx, tn_hudi_config_load(l->cx, l->memory, l->root, &arena, &config));
    assert_ok(l->cx, tn_timeline_load(l->cx, l->memory, l->root, &config, &arena, &timeline));
    for (size_t i = 0; i < timeline.count; i++)
        if (timeline.instants[i].state != TN_STATE_COMPLETED)
            fail_msg("%s: pending: %.*s", label, TN_STR_ARG(timeline.instants[i].name));
    files.count = 0;
    lake_list(l, &arena, l->root, (tn_str){0}, &files);
    for (size_t i = 0; i < files.count; i++)
        if (!tn_timeline_shows(&timeline, files.items[i].parsed.instant))
            fail_msg("%s: data file of no instant: %.*s", label, TN_STR_ARG(files.items[i].name));
    lake_clean_folder(l, ".hoodie/.temp");
    lake_clean_folder(l, ".hoodie/.heartbeat");
    if (lake_has(l, ".hoodie/hoodie.properties.backup") || lake_has(l, ".hoodie/.aux/tarn.lock") ||
        lake_has(l, ".hoodie/lock"))
        fail_msg("%s: a backup or a lock is left", label);
    tn_arena_clear(&arena);
}

#endif

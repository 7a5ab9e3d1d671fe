/* Runs tests/plan/upsert/ * .json: commits, files and rows in, a plan out, compared with what the
 * case expects. The format, by example; of a bucket only what a case names is compared:
 *
 *   {"why": "…",
 *    "options": {"operation": "upsert", "sizing": "hudi", "table_version": 9, "max": 125829120,
 *                "small": 104857600, "record_bytes": 150},
 *    "commits": [{"action": "commit", "files": [[210000000, 1400000]]}],      newest first
 *    "partitions": [{"path": "dt=1", "inserts": 1000, "updates": [["A", 10]],
 *                    "files": [{"id": "A", "size": 900, "rows": 5, "filter": 400}]}],
 *    "expect": {"record_bytes": 150, "record_bytes_why": "part of its text",
 *               "partitions": [{"buckets": [{"file": "A", "updates": 10}, {"new": true}],
 *                               "order": [0, 1], "until": [0.99, 1], "routes": [["k", -5, 0]]}],
 *               "fails": ["INVALID", "part of its text"]}}
 *
 * `order` says which buckets take inserts, by their place in the partition; a route is a key
 * ("?": any), its hash, computed by another program, and the bucket it goes to. "record_bytes"
 * among the options is what the plan is made with, instead of what the commits and files say. */
#include <dirent.h>
#include <math.h>

#include "base/json.h"
#include "batch/record_key.h"
#include "plan/plan_upsert.h"
#include "task/upsert_route.h"
#include "unit/test.h"

typedef struct world {
    const char *where;
    tarn_cx *cx;
    tn_arena arena;
    tn_upsert_options options;
    tn_upsert_in *in;
    size_t count;
    const tn_base_file **files; /* of all partitions */
    size_t file_count;
    tn_commit_size *commits;
    size_t commit_count;
} world;

static int64_t integer(const json_t *object, const char *key, int64_t otherwise)
{
    const json_t *value = json_object_get(object, key);

    return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

static double number(const json_t *object, const char *key, double otherwise)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : otherwise;
}

static const char *text(const json_t *object, const char *key, const char *otherwise)
{
    const json_t *value = json_object_get(object, key);

    return json_is_string(value) ? json_string_value(value) : otherwise;
}

static bool truth(const json_t *object, const char *key, bool otherwise)
{
    const json_t *value = json_object_get(object, key);

    return json_is_boolean(value) ? json_is_true(value) : otherwise;
}

static enum tn_operation operation_of(const world *w, const char *name)
{
    static const char *const names[] = {"upsert",           "insert",
                                        "bulk_insert",      "delete",
                                        "insert_overwrite", "insert_overwrite_table",
                                        "delete_partition"};

    for (int i = 0; i < 7; i++)
        if (strcmp(names[i], name) == 0)
            return (enum tn_operation)i;
    fail_msg("%s: unknown operation %s", w->where, name);
    return TN_OP_UPSERT;
}

/* A key that the test does not know would be a case that checks nothing. */
static void check_keys(const world *w, const json_t *object, const char *const *known)
{
    const char *key;
    const json_t *value;

    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        size_t i = 0;

        while (known[i] != NULL && strcmp(known[i], key) != 0)
            i++;
        if (known[i] == NULL)
            fail_msg("%s: unknown key %s", w->where, key);
    }
}

static void read_options(world *w, const json_t *spec)
{
    static const char *const known[] = {"operation",
                                        "sizing",
                                        "table_version",
                                        "release",
                                        "max",
                                        "small",
                                        "record_estimate",
                                        "threshold",
                                        "auto_split",
                                        "split_rows",
                                        "commits_max",
                                        "metadata_bytes",
                                        "record_bytes",
                                        "has_commit",
                                        "index_buckets",
                                        "input_record_bytes",
                                        "merge_on_read",
                                        "index_sees_logs",
                                        "candidates",
                                        "log_ratio",
                                        NULL};
    tn_sizing *sizing = &w->options.sizing;

    check_keys(w, spec, known);
    tn_sizing_defaults(sizing);
    w->options.operation = operation_of(w, text(spec, "operation", "upsert"));
    sizing->exact = strcmp(text(spec, "sizing", "real"), "hudi") == 0;
    sizing->release = (int32_t)integer(spec, "release", 0);
    sizing->max_file_bytes = (uint64_t)integer(spec, "max", (int64_t)sizing->max_file_bytes);
    sizing->small_file_bytes = integer(spec, "small", sizing->small_file_bytes);
    sizing->record_bytes = integer(spec, "record_estimate", sizing->record_bytes);
    sizing->estimate_threshold = number(spec, "threshold", sizing->estimate_threshold);
    sizing->auto_split = truth(spec, "auto_split", sizing->auto_split);
    sizing->split_rows = integer(spec, "split_rows", sizing->split_rows);
    sizing->commits_max = integer(spec, "commits_max", sizing->commits_max);
    sizing->metadata_bytes = integer(spec, "metadata_bytes", sizing->metadata_bytes);
    w->options.has_commit = truth(spec, "has_commit", true);
    w->options.merge_on_read = truth(spec, "merge_on_read", false);
    w->options.index_sees_logs = truth(spec, "index_sees_logs", false);
    w->options.candidates_max = (uint64_t)integer(spec, "candidates", 1);
    w->options.log_ratio = number(spec, "log_ratio", 0.35);
    w->options.index_buckets = (uint32_t)integer(spec, "index_buckets", 0);
}

static void read_commits(world *w, const json_t *spec)
{
    w->commit_count = json_array_size(spec);
    w->commits = tn_arena_array(w->cx, &w->arena, w->commit_count, sizeof *w->commits);
    for (size_t i = 0; i < w->commit_count; i++) {
        const json_t *from = json_array_get(spec, i), *files = json_object_get(from, "files");
        const char *action = text(from, "action", "commit");
        tn_commit_size *commit = &w->commits[i];
        tn_write_stat *stats =
            tn_arena_array(w->cx, &w->arena, json_array_size(files), sizeof *stats);

        commit->instant = tn_str_of(text(from, "instant", ""));
        commit->delta = strcmp(action, "deltacommit") == 0;
        commit->replace = strcmp(action, "replacecommit") == 0;
        commit->stats = stats;
        commit->stat_count = json_array_size(files);
        for (size_t k = 0; k < commit->stat_count; k++) {
            const json_t *file = json_array_get(files, k);

            stats[k].bytes = (uint64_t)json_integer_value(json_array_get(file, 0));
            stats[k].writes = json_integer_value(json_array_get(file, 1));
        }
    }
}

static const tn_base_file *file_named(const world *w, const tn_upsert_in *in, const char *id)
{
    for (size_t i = 0; i < in->file_count; i++)
        if (tn_str_is(in->files[i]->file_id, id))
            return in->files[i];
    fail_msg("%s: no file %s", w->where, id);
    return NULL;
}

static void read_partition(world *w, const json_t *spec, uint32_t numbered, tn_upsert_in *in)
{
    const json_t *files = json_object_get(spec, "files"),
                 *updates = json_object_get(spec, "updates");
    size_t file_count = json_array_size(files), updated = json_array_size(updates);
    const tn_base_file **list = tn_arena_array(w->cx, &w->arena, file_count, sizeof(void *)),
                       **touched = tn_arena_array(w->cx, &w->arena, updated, sizeof(void *));
    int64_t *counts = tn_arena_array(w->cx, &w->arena, updated, sizeof *counts);
    uint64_t *logs = tn_arena_array(w->cx, &w->arena, file_count, sizeof *logs);

    for (size_t i = 0; i < file_count; i++) {
        const json_t *from = json_array_get(files, i);
        tn_base_file *file = tn_arena_take(w->cx, &w->arena, sizeof *file);

        *file = (tn_base_file){.partition = numbered,
                               .file_id = tn_str_of(text(from, "id", NULL)),
                               .size_bytes = (uint64_t)integer(from, "size", 0),
                               .rows = integer(from, "rows", -1),
                               .filter_bytes = (uint64_t)integer(from, "filter", 0)};
        list[i] = file;
        logs[i] = (uint64_t)integer(from, "logs", 0);
        assert_true(w->file_count < 1024);
        w->files[w->file_count++] = file;
    }
    *in = (tn_upsert_in){.path = tn_str_of(text(spec, "path", "")),
                         .number = numbered,
                         .inserts = integer(spec, "inserts", 0),
                         .files = list,
                         .file_count = file_count,
                         .log_bytes = logs,
                         .updated = touched,
                         .update_counts = counts,
                         .updated_count = updated};
    for (size_t i = 0; i < updated; i++) {
        const json_t *pair = json_array_get(updates, i);

        touched[i] = file_named(w, in, json_string_value(json_array_get(pair, 0)));
        counts[i] = json_integer_value(json_array_get(pair, 1));
    }
}

static void read_partitions(world *w, const json_t *spec)
{
    w->count = json_array_size(spec);
    w->in = tn_arena_array(w->cx, &w->arena, w->count, sizeof *w->in);
    w->files = tn_arena_array(w->cx, &w->arena, 1024, sizeof(void *));
    for (size_t i = 0; i < w->count; i++)
        read_partition(w, json_array_get(spec, i), (uint32_t)(i + 7), &w->in[i]);
}

static void check_integer(const world *w, const json_t *want, const char *key, int64_t got)
{
    if (json_object_get(want, key) != NULL && integer(want, key, 0) != got)
        fail_msg("%s: %s is %lld, want %lld", w->where, key, (long long)got,
                 (long long)integer(want, key, 0));
}

static void check_text(const world *w, const json_t *want, const char *key, tn_str got)
{
    const char *part = text(want, key, NULL);

    if (part != NULL && strstr(got.ptr, part) == NULL)
        fail_msg("%s: %s is \"%.*s\", want \"%s\" in it", w->where, key, TN_STR_ARG(got), part);
}

static void check_bucket(const world *w, const tn_bucket *bucket, const json_t *want)
{
    static const char *const known[] = {"file",   "new", "updates", "inserts",
                                        "target", "why", "id",      NULL};
    const char *file = text(want, "file", NULL);

    check_keys(w, want, known);
    assert_true((file != NULL) != truth(want, "new", false));
    if (file != NULL && (bucket->base == NULL || !tn_str_is(bucket->base->file_id, file)))
        fail_msg("%s: a bucket is not of file %s", w->where, file);
    if (file == NULL) {
        if (bucket->base != NULL)
            fail_msg("%s: file %.*s is rewritten, want a new one", w->where,
                     TN_STR_ARG(bucket->base->file_id));
        /* uuid, "-0" */
        assert_int_equal(bucket->file_id.len, 38);
        assert_true(tn_str_ends(bucket->file_id, TN_STR("-0")));
    }
    if (text(want, "id", NULL) != NULL)
        assert_true(tn_str_starts(bucket->file_id, tn_str_of(text(want, "id", NULL))));
    check_integer(w, want, "updates", bucket->updates);
    check_integer(w, want, "inserts", bucket->inserts);
    check_integer(w, want, "target", (int64_t)bucket->target_bytes);
    check_text(w, want, "why", bucket->why);
    assert_true(bucket->why.len != 0);
}

static void check_routes(const world *w, const tn_upsert_plan *plan, size_t number,
                         const json_t *routes)
{
    const tn_upsert_partition *p = &plan->partitions[number];

    for (size_t i = 0; i < json_array_size(routes); i++) {
        const json_t *route = json_array_get(routes, i);
        int64_t hash = json_integer_value(json_array_get(route, 1));
        const char *key = json_string_value(json_array_get(route, 0));
        size_t got = tn_upsert_route(plan, number, hash) - p->first_bucket;

        if (strcmp(key, "?") != 0 && tn_record_key_md5(tn_str_of(key)) != hash)
            fail_msg("%s: %s has another hash", w->where, key);

        if (got != (size_t)json_integer_value(json_array_get(route, 2)))
            fail_msg("%s: %s goes to bucket %zu, want %lld", w->where,
                     json_string_value(json_array_get(route, 0)), got,
                     (long long)json_integer_value(json_array_get(route, 2)));
    }
}

static void check_partition(const world *w, const tn_upsert_plan *plan, size_t number,
                            const json_t *want)
{
    static const char *const known[] = {"buckets", "order", "until", "routes", NULL};
    const tn_upsert_partition *p = &plan->partitions[number];
    const json_t *buckets = json_object_get(want, "buckets"),
                 *order = json_object_get(want, "order"), *until = json_object_get(want, "until");

    check_keys(w, want, known);
    assert_true(tn_str_equal(p->path, w->in[number].path));
    assert_int_equal(p->number, w->in[number].number);
    assert_int_equal(p->inserts, w->in[number].inserts);
    if (p->bucket_count != json_array_size(buckets))
        fail_msg("%s: partition %zu has %zu buckets, want %zu", w->where, number, p->bucket_count,
                 json_array_size(buckets));
    for (size_t i = 0; i < p->bucket_count; i++) {
        assert_int_equal(plan->buckets[p->first_bucket + i].partition, number);
        check_bucket(w, &plan->buckets[p->first_bucket + i], json_array_get(buckets, i));
    }
    if (p->insert_bucket_count != json_array_size(order))
        fail_msg("%s: %zu buckets take inserts, want %zu", w->where, p->insert_bucket_count,
                 json_array_size(order));
    for (size_t i = 0; i < p->insert_bucket_count; i++) {
        uint32_t at = plan->insert_buckets[p->first_insert + i];

        assert_int_equal(at - p->first_bucket, json_integer_value(json_array_get(order, i)));
        if (until != NULL &&
            fabs(plan->buckets[at].until - json_number_value(json_array_get(until, i))) > 1e-9)
            fail_msg("%s: bucket %u ends at %.17g", w->where, at, plan->buckets[at].until);
    }
    check_routes(w, plan, number, json_object_get(want, "routes"));
}

/* Inserts are all planned once, and buckets of partitions lie one behind the other. */
static void check_sums(const world *w, const tn_upsert_plan *plan)
{
    size_t next = 0;

    for (size_t i = 0; i < plan->partition_count; i++) {
        const tn_upsert_partition *p = &plan->partitions[i];
        int64_t inserts = 0;

        assert_int_equal(p->first_bucket, next);
        for (size_t k = 0; k < p->bucket_count; k++)
            inserts += plan->buckets[next + k].inserts;
        next += p->bucket_count;
        if (p->inserts >= 0 && inserts != p->inserts)
            fail_msg("%s: %lld inserts are planned, want %lld", w->where, (long long)inserts,
                     (long long)p->inserts);
    }
    assert_int_equal(next, plan->bucket_count);
}

/* The same context's seed gives the same plan, file ids included. */
static void check_repeats(const world *w, const tn_upsert_plan *plan)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .seed = 42});
    tn_arena arena = {0};
    tn_upsert_plan again;

    assert_ok(cx, tn_plan_upsert(cx, &w->options, w->in, w->count, &arena, &again));
    assert_int_equal(plan->bucket_count, again.bucket_count);
    for (size_t i = 0; i < plan->bucket_count; i++)
        assert_true(tn_str_equal(plan->buckets[i].file_id, again.buckets[i].file_id));
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

static int record_bytes(world *w, const json_t *options, const json_t *expect)
{
    double bytes = 0;
    tn_str why = {0};
    int rc = tn_plan_record_bytes(
        w->cx, &w->options.sizing, (int32_t)integer(options, "table_version", 9), w->commits,
        w->commit_count, w->files, w->file_count, number(options, "input_record_bytes", 0),
        &w->arena, &bytes, &why);

    if (rc != TARN_OK)
        return rc;
    if (json_object_get(expect, "record_bytes") != NULL &&
        fabs(bytes - number(expect, "record_bytes", 0)) > 1e-9)
        fail_msg("%s: a record has %.17g bytes, want %.17g (%.*s)", w->where, bytes,
                 number(expect, "record_bytes", 0), TN_STR_ARG(why));
    check_text(w, expect, "record_bytes_why", why);
    w->options.record_bytes = number(options, "record_bytes", bytes);
    w->options.record_bytes_why = why;
    return TARN_OK;
}

static void check_fails(const world *w, const json_t *fails, int rc)
{
    const char *status = json_string_value(json_array_get(fails, 0)),
               *part = json_string_value(json_array_get(fails, 1));

    if (strcmp(tarn_status_name(rc), status) != 0 || strstr(tarn_cx_error(w->cx), part) == NULL)
        fail_msg("%s: %s: %s", w->where, tarn_status_name(rc), tarn_cx_error(w->cx));
}

static void run_case(const char *path)
{
    static const char *const known[] = {"why", "options", "commits", "partitions", "expect", NULL},
                             *const wanted[] = {"record_bytes", "record_bytes_why",
                                                "exact",        "partitions",
                                                "fails",        NULL};
    json_error_t error;
    json_t *spec = json_load_file(path, 0, &error);
    world w = {.where = strrchr(path, '/') + 1,
               .cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .seed = 42})};
    const json_t *expect, *partitions, *fails;
    tn_upsert_plan plan;
    int rc;

    if (spec == NULL)
        fail_msg("%s:%d: %s", path, error.line, error.text);
    expect = json_object_get(spec, "expect");
    partitions = json_object_get(expect, "partitions");
    fails = json_object_get(expect, "fails");
    check_keys(&w, spec, known);
    check_keys(&w, expect, wanted);
    read_options(&w, json_object_get(spec, "options"));
    read_commits(&w, json_object_get(spec, "commits"));
    read_partitions(&w, json_object_get(spec, "partitions"));
    rc = record_bytes(&w, json_object_get(spec, "options"), expect);
    if (rc == TARN_OK)
        rc = tn_plan_upsert(w.cx, &w.options, w.in, w.count, &w.arena, &plan);
    if (fails != NULL)
        check_fails(&w, fails, rc);
    else {
        if (rc != TARN_OK)
            fail_msg("%s: %s", w.where, tarn_cx_error(w.cx));
        assert_int_equal(plan.exact, truth(expect, "exact", w.options.sizing.exact));
        assert_int_equal(plan.partition_count, w.count);
        assert_int_equal(json_array_size(partitions), w.count);
        for (size_t i = 0; i < w.count; i++)
            check_partition(&w, &plan, i, json_array_get(partitions, i));
        check_sums(&w, &plan);
        check_repeats(&w, &plan);
    }
    json_decref(spec);
    tn_arena_clear(&w.arena);
    tarn_cx_close(w.cx);
}

static void test_plan_upsert__cases(void **state)
{
    const char *folder = TARN_SOURCE_DIR "/tests/plan/upsert";
    DIR *dir = opendir(folder);
    struct dirent *entry;
    int cases = 0;

    (void)state;
    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        char path[1024];

        if (strstr(entry->d_name, ".json") == NULL)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        run_case(path);
        cases++;
    }
    closedir(dir);
    assert_true(cases >= 25);
}

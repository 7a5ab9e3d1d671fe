/* Runs tests/plan/merge/ * .json: a snapshot and options in, a plan out, compared with what the
 * case expects. Only what a case names is compared. The format, by example:
 *
 *   {"why": "…", "options": {"target": 1000, "jobs": 8},
 *    "partitions": [{"path": "dt=1", "files": [{"name": "f%03d.parquet", "repeat": 10, "size": 90,
 *                    "rows": 5, "columns": ["a int64", "b string"]}], "others": ["_SUCCESS"]}],
 *    "expect": {"partitions": [{"path": "dt=1", "inputs": 10, "outputs": 1, "rows": [50]}],
 *               "notes": [["skipped", "dt=1", "part of its text"]]}} */
#include <dirent.h>

#include "base/json.h"
#include "plan/plan_merge.h"
#include "unit/test.h"

typedef struct world {
    tarn_cx *cx;
    tn_arena arena;
    tn_dir dir;
    size_t schema_cap, key_cap;
} world;

static int64_t integer(const json_t *object, const char *key, int64_t otherwise)
{
    const json_t *value = json_object_get(object, key);

    return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

static const char *text(const json_t *object, const char *key, const char *otherwise)
{
    const json_t *value = json_object_get(object, key);

    return json_is_string(value) ? json_string_value(value) : otherwise;
}

/* "name type[?]": int32, int64, float, double, string, date, int96, null; required without "?". */
static tn_element element_of(world *w, const char *spec)
{
    static const struct {
        const char *name;
        enum tn_physical physical;
        int32_t logical;
    } types[] = {{"int32", TN_INT32, 0},       {"int64", TN_INT64, 0},
                 {"float", TN_FLOAT, 0},       {"double", TN_DOUBLE, 0},
                 {"string", TN_BYTE_ARRAY, 1}, {"date", TN_INT32, TN_LOGICAL_DATE},
                 {"int96", TN_INT96, 0},       {"null", TN_INT32, TN_LOGICAL_UNKNOWN}};
    const char *space = strchr(spec, ' ');
    tn_element e = {.converted = TN_CONVERTED_NONE};
    size_t len;

    assert_non_null(space);
    e.name = (tn_str){spec, (size_t)(space - spec)};
    assert_ok(w->cx, tn_arena_keep(w->cx, &w->arena, &e.name));
    len = strlen(space + 1);
    if (space[len] == '?') {
        e.repetition = TN_OPTIONAL;
        len--;
    }
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strlen(types[i].name) == len && memcmp(types[i].name, space + 1, len) == 0) {
            e.physical = types[i].physical;
            e.logical = types[i].logical;
            return e;
        }
    fail_msg("unknown type in \"%s\"", spec);
    return e;
}

static uint32_t schema_of(world *w, const json_t *columns)
{
    size_t count = columns != NULL ? json_array_size(columns) : 1;
    tn_element *elements = tn_arena_array(w->cx, &w->arena, count + 1, sizeof *elements);
    tn_footer footer = {.elements = elements, .element_count = count + 1};
    tn_buf bytes = {0};
    tn_str kept;

    elements[0] = (tn_element){.name = TN_STR("schema"),
                               .group = true,
                               .children = (int32_t)count,
                               .converted = TN_CONVERTED_NONE};
    for (size_t i = 0; i < count; i++)
        elements[i + 1] = element_of(
            w, columns != NULL ? json_string_value(json_array_get(columns, i)) : "id int64");
    tn_footer_encode(&bytes, &footer);
    kept = tn_buf_view(&bytes);
    for (uint32_t i = 0; i < w->dir.schema_count; i++)
        if (tn_str_equal(w->dir.schemas[i].bytes, kept)) {
            tn_buf_clear(&bytes);
            return i;
        }
    assert_ok(w->cx, tn_arena_keep(w->cx, &w->arena, &kept));
    tn_buf_clear(&bytes);
    assert_true(w->dir.schema_count < 64);
    w->dir.schemas[w->dir.schema_count] = (tn_dir_schema){elements, count + 1, kept};
    return (uint32_t)w->dir.schema_count++;
}

static uint32_t keys_of(world *w, json_t *keys)
{
    tn_dir_keys *set = &w->dir.key_sets[w->dir.key_set_count];
    const char *key;
    json_t *value;

    assert_true(w->dir.key_set_count < 256);
    set->values = tn_arena_array(w->cx, &w->arena, json_object_size(keys), sizeof *set->values);
    json_object_foreach(keys, key, value)
    {
        tn_key_value *pair = &set->values[set->count++];

        *pair = (tn_key_value){tn_str_of(key), tn_str_of(json_string_value(value)), true};
        assert_ok(w->cx, tn_arena_keep(w->cx, &w->arena, &pair->key));
        assert_ok(w->cx, tn_arena_keep(w->cx, &w->arena, &pair->value));
    }
    return (uint32_t)w->dir.key_set_count++;
}

static enum tn_file_state state_of(const char *name)
{
    static const char *const names[] = {"good",      "other",    "damaged",
                                        "encrypted", "bucketed", "symlink"};

    for (int i = 0; i < 6; i++)
        if (strcmp(names[i], name) == 0)
            return (enum tn_file_state)i;
    fail_msg("unknown state %s", name);
    return TN_FILE_GOOD;
}

static int32_t codec_of(const char *name)
{
    return strcmp(name, "none") == 0      ? TN_CODEC_NONE
           : strcmp(name, "snappy") == 0  ? TN_CODEC_SNAPPY
           : strcmp(name, "gzip") == 0    ? TN_CODEC_GZIP
           : strcmp(name, "lz4") == 0     ? TN_CODEC_LZ4
           : strcmp(name, "lz4_raw") == 0 ? TN_CODEC_LZ4_RAW
           : strcmp(name, "lzo") == 0     ? TN_CODEC_LZO
                                          : TN_CODEC_ZSTD;
}

static void add_file(world *w, tn_dir_partition *partition, const json_t *spec, int number,
                     uint32_t schema, uint32_t keys)
{
    tn_dir_file *file = &partition->files[partition->file_count++];
    int64_t groups = integer(spec, "groups", 1), rows = integer(spec, "rows", 10);
    char name[256];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(name, sizeof name, text(spec, "name", "f%05d.parquet"), number);
#pragma GCC diagnostic pop
    file->name = tn_str_of(name);
    assert_ok(w->cx, tn_arena_keep(w->cx, &w->arena, &file->name));
    file->stat = (tn_stat){.size_bytes = (uint64_t)integer(spec, "size", 100),
                           .mtime_ns = integer(spec, "mtime_ms", 1000) * 1000000,
                           .mount = 1,
                           .inode = (uint64_t)(100 + number)};
    file->state = state_of(text(spec, "state", "good"));
    file->problem = tn_str_of("its end is missing");
    file->footer_seen = file->state != TN_FILE_DAMAGED;
    file->rows = rows;
    file->group_count = rows != 0 ? (uint32_t)groups : 0;
    file->groups = tn_arena_array(w->cx, &w->arena, (size_t)groups, sizeof *file->groups);
    for (int64_t g = 0; g < groups; g++) {
        file->groups[g].rows = rows / groups + (g < rows % groups);
        file->groups[g].first_byte = 4 + g * (integer(spec, "size", 100) / groups);
        file->groups[g].compressed_bytes = integer(spec, "size", 100) / groups;
    }
    file->schema = schema;
    file->keys = keys;
    file->created_by = tn_str_of(text(spec, "by", "parquet-mr version 1.12"));
    file->codecs = 1u << codec_of(text(spec, "codec", "zstd"));
    file->has_crc_file = json_is_true(json_object_get(spec, "crc_file"));
}

static void add_partition(world *w, const json_t *spec)
{
    tn_dir_partition *partition = &w->dir.partitions[w->dir.partition_count++];
    const json_t *files = json_object_get(spec, "files"), *others = json_object_get(spec, "others");
    size_t count = 0;

    for (size_t i = 0; i < json_array_size(files); i++)
        count += (size_t)integer(json_array_get(files, i), "repeat", 1);
    partition->files = tn_arena_array(w->cx, &w->arena, count, sizeof *partition->files);
    partition->others =
        tn_arena_array(w->cx, &w->arena, json_array_size(others), sizeof *partition->others);
    partition->path = tn_str_of(text(spec, "path", ""));
    partition->directory = tn_str_of("/t");
    if (partition->path.len != 0)
        assert_ok(w->cx, tn_path_join(w->cx, &w->arena, TN_STR("/t"), partition->path,
                                      &partition->directory));
    partition->stat = (tn_stat){.kind = TN_ENTRY_DIR,
                                .mtime_ns = integer(spec, "mtime_ms", 1000) * 1000000,
                                .mount = (uint64_t)integer(spec, "mount", 1)};
    partition->has_subdirs = json_is_true(json_object_get(spec, "subdirs"));
    partition->symlinked = json_is_true(json_object_get(spec, "symlinked"));
    partition->busy = tn_str_of(text(spec, "busy", ""));
    partition->problem = tn_str_of(text(spec, "problem", ""));
    for (size_t i = 0; i < json_array_size(others); i++)
        partition->others[partition->other_count++] =
            (tn_dir_other){.name = tn_str_of(json_string_value(json_array_get(others, i)))};
    for (size_t i = 0; i < json_array_size(files); i++) {
        const json_t *file = json_array_get(files, i);
        uint32_t schema = schema_of(w, json_object_get(file, "columns"));
        uint32_t keys = keys_of(w, json_object_get(file, "keys"));

        for (int k = 0; k < integer(file, "repeat", 1); k++)
            add_file(w, partition, file, k, schema, keys);
    }
}

static void build(world *w, const json_t *spec)
{
    const json_t *partitions = json_object_get(spec, "partitions");

    w->dir.root = TN_STR("/t");
    w->dir.work = TN_STR("/.t.tarn");
    w->dir.mount = 1;
    w->dir.exchange = !json_is_false(json_object_get(spec, "exchange"));
    w->dir.work_inside = json_is_true(json_object_get(spec, "work_inside"));
    w->dir.schemas = tn_arena_array(w->cx, &w->arena, 64, sizeof *w->dir.schemas);
    w->dir.key_sets = tn_arena_array(w->cx, &w->arena, 256, sizeof *w->dir.key_sets);
    w->dir.partitions =
        tn_arena_array(w->cx, &w->arena, json_array_size(partitions), sizeof *w->dir.partitions);
    for (size_t i = 0; i < json_array_size(partitions); i++)
        add_partition(w, json_array_get(partitions, i));
}

static void expect_i64(const char *where, const char *what, const json_t *expect, int64_t got)
{
    const json_t *value = json_object_get(expect, what);

    if (value != NULL && json_integer_value(value) != got)
        fail_msg("%s: %s is %lld, want %lld", where, what, (long long)got,
                 (long long)json_integer_value(value));
}

static void expect_list(const char *where, const char *what, const json_t *expect,
                        const int64_t *got, size_t count)
{
    const json_t *list = json_object_get(expect, what);

    if (list == NULL)
        return;
    if (json_array_size(list) != count)
        fail_msg("%s: %zu %s, want %zu", where, count, what, json_array_size(list));
    for (size_t i = 0; i < count; i++)
        if (json_integer_value(json_array_get(list, i)) != got[i])
            fail_msg("%s: %s[%zu] is %lld, want %lld", where, what, i, (long long)got[i],
                     (long long)json_integer_value(json_array_get(list, i)));
}

static void check_partition(const char *where, const tn_merge_plan *plan,
                            const tn_merge_partition *got, const json_t *expect)
{
    static int64_t rows[100000], inputs[100000], groups[100000], leaves[100000];
    const json_t *stale = json_object_get(expect, "stale");

    if (!tn_str_is(got->path, text(expect, "path", "")))
        fail_msg("%s: partition %.*s, want %s", where, TN_STR_ARG(got->path),
                 text(expect, "path", ""));
    expect_i64(where, "inputs", expect, (int64_t)got->input_count);
    expect_i64(where, "outputs", expect, (int64_t)got->output_count);
    expect_i64(where, "bytes", expect, (int64_t)got->bytes);
    for (size_t i = 0; i < got->output_count; i++) {
        const tn_task_rewrite *task = &plan->tasks[got->outputs[i].task].rewrite;
        int64_t sum = 0;

        rows[i] = got->outputs[i].rows;
        inputs[i] = (int64_t)task->input_count;
        groups[i] = (int64_t)task->group_count;
        leaves[i] = (int64_t)task->leaf_count;
        for (size_t g = 0; g < task->group_count; g++) {
            sum += task->groups[g].rows;
            assert_true(task->groups[g].rows <= task->group_rows);
        }
        assert_int_equal(sum, rows[i]);
        assert_true(tn_str_ends(got->outputs[i].name, TN_STR(".parquet")));
        assert_false(tn_str_ends(got->outputs[i].staged, TN_STR(".parquet")));
        assert_false(tn_dir_hidden_name(got->outputs[i].name));
        assert_false(tn_dir_bucketed_name(got->outputs[i].name));
        expect_i64(where, "codec", expect, task->codec);
    }
    expect_list(where, "rows", expect, rows, got->output_count);
    expect_list(where, "files_read", expect, inputs, got->output_count);
    expect_list(where, "row_groups", expect, groups, got->output_count);
    expect_list(where, "leaves", expect, leaves, got->output_count);
    if (json_object_get(expect, "swap") != NULL)
        assert_int_equal(got->swap, strcmp(text(expect, "swap", ""), "exchange") == 0
                                        ? TN_SWAP_EXCHANGE
                                        : TN_SWAP_JOURNAL);
    if (stale != NULL) {
        assert_int_equal(got->stale_count, json_array_size(stale));
        for (size_t i = 0; i < got->stale_count; i++)
            assert_true(tn_str_is(got->stale[i], json_string_value(json_array_get(stale, i))));
    }
}

static void check_notes(const char *where, const tn_merge_plan *plan, const json_t *notes)
{
    static const char *const kinds[] = {"", "skipped", "problem", "kept", "apart", "changed"};

    if (notes == NULL)
        return;
    if (json_array_size(notes) != plan->note_count)
        fail_msg("%s: %zu notes, want %zu; the first says: %s", where, plan->note_count,
                 json_array_size(notes), plan->note_count != 0 ? plan->notes[0].text.ptr : "");
    for (size_t i = 0; i < plan->note_count; i++) {
        const json_t *want = json_array_get(notes, i);
        const tn_merge_note *got = &plan->notes[i];

        if (strcmp(kinds[got->kind], json_string_value(json_array_get(want, 0))) != 0 ||
            !tn_str_is(got->path, json_string_value(json_array_get(want, 1))) ||
            strstr(got->text.ptr, json_string_value(json_array_get(want, 2))) == NULL)
            fail_msg("%s: note %zu: %s: %.*s: %.*s", where, i, kinds[got->kind],
                     TN_STR_ARG(got->path), TN_STR_ARG(got->text));
    }
}

/* Sums over the plan: what is read, what goes from task to task (nothing: a task reads its inputs
 * itself), and how many of the jobs find a column chunk to work on. */
static void check_sums(const char *where, const tn_merge_plan *plan, const json_t *expect,
                       int64_t jobs)
{
    int64_t bytes = 0, chunks = 0, outputs = 0, largest = 0, smallest = INT64_MAX;

    for (size_t i = 0; i < plan->partition_count; i++) {
        bytes += (int64_t)plan->partitions[i].bytes;
        outputs += (int64_t)plan->partitions[i].output_count;
    }
    for (size_t i = 0; i < plan->task_count; i++) {
        int64_t rows = 0;

        chunks += (int64_t)(plan->tasks[i].rewrite.group_count * plan->tasks[i].rewrite.leaf_count);
        for (size_t g = 0; g < plan->tasks[i].rewrite.group_count; g++)
            rows += plan->tasks[i].rewrite.groups[g].rows;
        largest = rows > largest ? rows : largest;
        smallest = rows < smallest ? rows : smallest;
    }
    expect_i64(where, "outputs", expect, outputs);
    expect_i64(where, "bytes_read", expect, bytes);
    expect_i64(where, "bytes_shuffled", expect, 0);
    expect_i64(where, "concurrency", expect, chunks < jobs ? chunks : jobs);
    expect_i64(where, "rows_max", expect, largest);
    expect_i64(where, "rows_min", expect, smallest);
}

static void check_wire(world *w, const tn_merge_plan *plan)
{
    tn_buf first = {0}, second = {0};
    tn_merge_plan again;

    assert_ok(w->cx, tn_merge_plan_write(w->cx, plan, &first));
    assert_ok(w->cx, tn_merge_plan_parse(w->cx, tn_buf_view(&first), &w->arena, &again));
    assert_ok(w->cx, tn_merge_plan_write(w->cx, &again, &second));
    assert_int_equal(first.len, second.len);
    assert_memory_equal(first.data, second.data, first.len);
    tn_buf_clear(&first);
    tn_buf_clear(&second);
}

static tn_dir_partition *partition_of(world *w, tn_str path)
{
    for (size_t i = 0; i < w->dir.partition_count; i++)
        if (tn_str_equal(w->dir.partitions[i].path, path))
            return &w->dir.partitions[i];
    fail_msg("no partition %.*s", TN_STR_ARG(path));
    return NULL;
}

/* The merged file of a task, `percent` of the size of what it was made of. */
static tn_dir_file merged_file(world *w, const tn_merge_partition *did, const tn_merge_output *out,
                               const tn_task_rewrite *task, uint64_t percent)
{
    tn_dir_keys *keys = &w->dir.key_sets[w->dir.key_set_count];
    tn_dir_file file = {.name = out->name, .footer_seen = true, .rows = out->rows};
    tn_footer footer;
    uint32_t schema = 0;

    assert_true(w->dir.key_set_count < 256);
    keys->values = tn_arena_array(w->cx, &w->arena, task->key_count, sizeof *keys->values);
    for (size_t i = 0; i < task->key_count; i++)
        keys->values[keys->count++] = (tn_key_value){task->key_names[i], task->key_values[i], true};
    file.keys = (uint32_t)w->dir.key_set_count++;
    while (schema < w->dir.schema_count &&
           !tn_str_equal(w->dir.schemas[schema].bytes, task->schema))
        schema++;
    if (schema == w->dir.schema_count) {
        assert_true(w->dir.schema_count < 64);
        assert_ok(w->cx, tn_footer_decode(w->cx, task->schema, &w->arena, &footer));
        w->dir.schemas[w->dir.schema_count++] =
            (tn_dir_schema){footer.elements, footer.element_count, task->schema};
    }
    file.schema = schema;
    file.stat = (tn_stat){.size_bytes = did->bytes / did->output_count * percent / 100 + 1,
                          .mtime_ns = 1000000000,
                          .mount = 1,
                          .inode = 1};
    file.created_by = TN_STR("tarn");
    file.codecs = 1u << task->codec;
    file.group_count = file.rows != 0;
    file.groups = tn_arena_array(w->cx, &w->arena, 1, sizeof *file.groups);
    file.groups[0].rows = file.rows;
    file.groups[0].compressed_bytes = (int64_t)file.stat.size_bytes;
    return file;
}

/* Makes the snapshot what the plan would leave. */
static void carry_out(world *w, const tn_merge_plan *plan, uint64_t percent)
{
    for (size_t p = 0; p < plan->partition_count; p++) {
        const tn_merge_partition *did = &plan->partitions[p];
        tn_dir_partition *partition = partition_of(w, did->path);
        tn_dir_file *files = tn_arena_array(
            w->cx, &w->arena, partition->file_count + did->output_count + 1, sizeof *files);
        size_t n = 0;

        for (size_t i = 0; i < partition->file_count; i++) {
            size_t k = 0;

            while (k < did->input_count &&
                   !tn_str_equal(did->inputs[k].path, partition->files[i].name))
                k++;
            if (k == did->input_count)
                files[n++] = partition->files[i];
        }
        for (size_t i = 0; i < did->output_count; i++)
            files[n++] = merged_file(w, did, &did->outputs[i],
                                     &plan->tasks[did->outputs[i].task].rewrite, percent);
        partition->files = files;
        partition->file_count = n;
        partition->other_count = 0;
    }
}

/* A second run finds nothing to do where the first one was, however small its files came out. */
static void check_second_run(const char *where, world *w, const tn_merge_options *options,
                             const tn_merge_plan *plan, uint64_t percent)
{
    tn_merge_plan again;

    if (plan->task_count > 50)
        return;
    carry_out(w, plan, percent);
    assert_ok(w->cx, tn_plan_merge(w->cx, &w->dir, options, &w->arena, &again));
    for (size_t i = 0; i < again.partition_count; i++)
        for (size_t k = 0; k < plan->partition_count; k++)
            if (tn_str_equal(again.partitions[i].path, plan->partitions[k].path))
                fail_msg("%s: a second run would merge %.*s again (files at %u %%)", where,
                         TN_STR_ARG(plan->partitions[k].path), (unsigned)percent);
}

static void run_case(const char *path, uint64_t percent)
{
    const char *where = strrchr(path, '/') + 1;
    json_error_t error;
    json_t *spec = json_load_file(path, 0, &error);
    world w = {.cx = tarn_cx_open(NULL)};
    const json_t *options, *expect, *partitions;
    tn_merge_options merge;
    tn_merge_plan plan;

    if (spec == NULL)
        fail_msg("%s:%d: %s", path, error.line, error.text);
    options = json_object_get(spec, "options");
    expect = json_object_get(spec, "expect");
    partitions = json_object_get(expect, "partitions");
    build(&w, spec);
    merge = (tn_merge_options){
        .id = TN_STR("1"),
        .now_ms = integer(options, "now_ms", 100000000),
        .target_bytes = (uint64_t)integer(options, "target", 0),
        .small_bytes = (uint64_t)integer(options, "small", 0),
        .min_files = (uint64_t)integer(options, "min_files", 0),
        .file_count = (uint64_t)integer(options, "file_count", 0),
        .bytes_max = (uint64_t)integer(options, "bytes_max", 0),
        .quiet_ms = integer(options, "quiet_ms", 0),
        .group_rows = integer(options, "group_rows", 0),
        .group_bytes = (uint64_t)integer(options, "group_bytes", 0),
        .codec = TN_CODEC_KEEP,
        .widen = json_is_true(json_object_get(options, "widen")),
        .hive = strcmp(text(options, "rule", ""), "hive") == 0,
        .hive_rule = {integer(options, "avg", TN_HIVE_AVG_BYTES),
                      integer(options, "per_task", TN_HIVE_PER_TASK_BYTES)},
    };
    assert_ok(w.cx, tn_plan_merge(w.cx, &w.dir, &merge, &w.arena, &plan));
    if (partitions != NULL && json_array_size(partitions) != plan.partition_count)
        fail_msg("%s: %zu partitions, want %zu", where, plan.partition_count,
                 json_array_size(partitions));
    for (size_t i = 0; i < json_array_size(partitions); i++)
        check_partition(where, &plan, &plan.partitions[i], json_array_get(partitions, i));
    check_notes(where, &plan, json_object_get(expect, "notes"));
    check_sums(where, &plan, expect, integer(options, "jobs", 1));
    if (plan.task_count < 100)
        check_wire(&w, &plan);
    check_second_run(where, &w, &merge, &plan, percent);
    json_decref(spec);
    tn_arena_clear(&w.arena);
    tarn_cx_close(w.cx);
}

static void test_plan_merge__cases(void **state)
{
    const char *folder = TARN_SOURCE_DIR "/tests/plan/merge";
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
        run_case(path, 100);
        run_case(path, 70);
        run_case(path, 5);
        cases++;
    }
    closedir(dir);
    assert_true(cases >= 25);
}

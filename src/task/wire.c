/* Tasks and results as JSON lines.
 * I1: what is written parses back equal; what does not parse is INVALID and names the key.
 * I2: every index a task holds has been checked against what it points into before it is given out.
 */
#include "task/place.h"
#include "task/wire.h"

#include <inttypes.h>

/* 2: a task says how each leaf is to be made, a result how it was. What version 1 said is not
 * enough to hold exec to a plan, so it is refused: planning again costs little. */
#define TN_WIRE_VERSION 2

int tn_wire_open(tarn_cx *cx, tn_str line, const char *kind, json_t **out)
{
    json_t *object = NULL;
    tn_arena arena = {0};
    tn_str found;
    int64_t version;
    int rc = TARN_OK;

    if (line.len > TN_TASK_LINE_BYTES_MAX)
        TN_FAIL(TARN_E_LIMIT, "%s: a line of %zu bytes, more than %u", kind, line.len,
                TN_TASK_LINE_BYTES_MAX);
    TN_TRY(tn_json_parse(cx, line, kind, &object));
    TN_TRY(tn_json_get_text(cx, &arena, object, "kind", &found));
    if (!tn_str_is(found, kind))
        TN_FAIL(TARN_E_CORRUPT, "a line of kind \"%.*s\" where \"%s\" is wanted", TN_STR_ARG(found),
                kind);
    TN_TRY(tn_json_get_i64(cx, object, "version", &version));
    if (version != TN_WIRE_VERSION)
        TN_FAIL(TARN_E_UNSUPPORTED,
                "%s of version %" PRId64 "; this tarn knows version %d: plan again with it", kind,
                version, TN_WIRE_VERSION);
    *out = object;
    object = NULL;
done:
    json_decref(object);
    tn_arena_clear(&arena);
    return rc;
}

void tn_wire_kind(tn_json *json, const char *kind)
{
    tn_json_put_text(json, "kind", tn_str_of(kind));
    tn_json_put_i64(json, "version", TN_WIRE_VERSION);
}

int tn_wire_count(tarn_cx *cx, const json_t *object, const char *key, int64_t min, int64_t max,
                  int64_t *out)
{
    int64_t value;
    int rc = TARN_OK;

    TN_TRY(tn_json_get_i64(cx, object, key, &value));
    if (value < min || value > max)
        TN_FAIL(TARN_E_CORRUPT, "\"%s\": %" PRId64 " is not within %" PRId64 " and %" PRId64, key,
                value, min, max);
    *out = value;
done:
    return rc;
}

void tn_wire_file_write(tn_json *json, const tn_file_seen *file)
{
    tn_json_put_bytes(json, "path", file->path);
    tn_json_put_u64(json, "size_bytes", file->size_bytes);
    tn_json_put_i64(json, "mtime_ns", file->mtime_ns);
    tn_json_put_i64(json, "inode", (int64_t)file->inode);
}

int tn_wire_file_parse(tarn_cx *cx, tn_arena *arena, const json_t *object, tn_file_seen *out)
{
    int64_t size, inode;
    int rc = TARN_OK;

    TN_TRY(tn_json_get_bytes(cx, arena, object, "path", &out->path));
    TN_TRY(tn_wire_count(cx, object, "size_bytes", 0, INT64_MAX, &size));
    TN_TRY(tn_json_get_i64(cx, object, "mtime_ns", &out->mtime_ns));
    TN_TRY(tn_json_get_i64(cx, object, "inode", &inode));
    out->size_bytes = (uint64_t)size;
    out->inode = (uint64_t)inode;
done:
    return rc;
}

static void write_source(tn_json *json, const tn_leaf_source *source)
{
    tn_json_array(json);
    tn_json_i64(json, source->leaf);
    tn_json_i64(json, source->donor);
    tn_json_i64(json, source->donor_def);
    tn_json_i64(json, source->donor_rep);
    tn_json_i64(json, source->cast);
    for (uint32_t i = 0; i < source->def_map_count; i++)
        tn_json_i64(json, source->def_map[i]);
    tn_json_array_end(json);
}

static void write_mappings(tn_json *json, const tn_task_rewrite *task)
{
    tn_json_key(json, "mappings");
    tn_json_array(json);
    for (size_t m = 0; m < task->mapping_count; m++) {
        tn_json_array(json);
        for (size_t l = 0; l < task->leaf_count; l++)
            write_source(json, &task->mappings[m][l]);
        tn_json_array_end(json);
    }
    tn_json_array_end(json);
}

static void write_groups(tn_json *json, const tn_task_rewrite *task)
{
    tn_json_key(json, "groups");
    tn_json_array(json);
    for (size_t g = 0; g < task->group_count; g++) {
        tn_json_array(json);
        for (size_t s = 0; s < task->groups[g].segment_count; s++) {
            const tn_segment *segment = &task->groups[g].segments[s];

            tn_json_array(json);
            tn_json_i64(json, segment->input);
            tn_json_i64(json, segment->group);
            tn_json_i64(json, segment->first_row);
            tn_json_i64(json, segment->rows);
            tn_json_array_end(json);
        }
        tn_json_array_end(json);
    }
    tn_json_array_end(json);
}

static void write_inputs(tn_json *json, const tn_task_rewrite *task)
{
    tn_json_key(json, "inputs");
    tn_json_array(json);
    for (size_t i = 0; i < task->input_count; i++) {
        tn_json_object(json);
        tn_wire_file_write(json, &task->inputs[i].file);
        tn_json_put_i64(json, "mapping", task->inputs[i].mapping);
        tn_json_put_i64(json, "rows", task->inputs[i].rows);
        tn_json_object_end(json);
    }
    tn_json_array_end(json);
}

static void write_keys(tn_json *json, const tn_task_rewrite *task)
{
    tn_json_key(json, "keys");
    tn_json_array(json);
    for (size_t i = 0; i < task->key_count; i++) {
        tn_json_array(json);
        tn_json_bytes(json, task->key_names[i]);
        if (task->key_values[i].ptr != NULL)
            tn_json_bytes(json, task->key_values[i]);
        else
            tn_json_null(json);
        tn_json_array_end(json);
    }
    tn_json_array_end(json);
}

static void write_sort(tn_json *json, const tn_task_rewrite *task)
{
    tn_json_key(json, "sort");
    tn_json_array(json);
    for (size_t i = 0; i < task->sort_count; i++) {
        tn_json_object(json);
        tn_json_put_bytes(json, "column", task->sort[i].column);
        tn_json_put_bool(json, "descending", task->sort[i].descending);
        tn_json_put_bool(json, "nulls_last", task->sort[i].nulls_last);
        tn_json_object_end(json);
    }
    tn_json_array_end(json);
}

static void write_bloom(tn_json *json, const tn_task_rewrite *task)
{
    tn_json_key(json, "bloom_leaves");
    tn_json_array(json);
    for (size_t i = 0; task->bloom_leaf != NULL && i < task->leaf_count; i++)
        if (task->bloom_leaf[i])
            tn_json_u64(json, i);
    tn_json_array_end(json);
}

int tn_task_write(tarn_cx *cx, const tn_task *task, tn_buf *out)
{
    tn_json json = tn_json_to(out);
    const tn_task_rewrite *rewrite = &task->rewrite;

    tn_json_object(&json);
    tn_wire_kind(&json, TN_WIRE_TASK);
    tn_json_put_i64(&json, "number", task->number);
    tn_json_put_text(&json, "plan", task->plan_id);
    tn_json_put_text(&json, "does", TN_STR("rewrite"));
    tn_json_put_bytes(&json, "output", rewrite->output);
    tn_json_put_i64(&json, "leaf_count", (int64_t)rewrite->leaf_count);
    tn_json_key(&json, "schema");
    tn_json_base64(&json, rewrite->schema);
    write_inputs(&json, rewrite);
    write_mappings(&json, rewrite);
    write_groups(&json, rewrite);
    write_keys(&json, rewrite);
    tn_json_put_text(&json, "created_by", rewrite->created_by);
    tn_json_put_i64(&json, "codec", rewrite->codec);
    tn_json_put_i64(&json, "level", rewrite->level);
    tn_json_put_i64(&json, "group_bytes", rewrite->group_bytes);
    tn_json_put_i64(&json, "group_rows", rewrite->group_rows);
    write_sort(&json, rewrite);
    write_bloom(&json, rewrite);
    tn_json_put_bool(&json, "hash", rewrite->hash);
    tn_json_put_bool(&json, "crc", rewrite->crc);
    tn_json_put_bool(&json, "index", rewrite->index);
    tn_json_key(&json, "columns");
    tn_way_intents_write(&json, rewrite->intents, rewrite->leaf_count);
    tn_json_object_end(&json);
    return tn_buf_check(cx, out);
}

static int integer_at(tarn_cx *cx, const json_t *array, size_t i, int64_t min, int64_t max,
                      int64_t *out)
{
    const json_t *value = json_array_get(array, i);

    if (!json_is_integer(value) || json_integer_value(value) < min ||
        json_integer_value(value) > max)
        return tn_fail(cx, TARN_E_CORRUPT,
                       "task: element %zu of an array is no number within bounds", i);
    *out = json_integer_value(value);
    return TARN_OK;
}

static int parse_source(tarn_cx *cx, tn_arena *arena, const json_t *array, tn_leaf_source *out)
{
    int64_t leaf, donor, def, rep, cast, level;
    size_t maps = json_array_size(array) >= 5 ? json_array_size(array) - 5 : 0;
    int rc = TARN_OK;

    TN_TRY(integer_at(cx, array, 0, -1, TN_PARQUET_LEAVES_MAX, &leaf));
    TN_TRY(integer_at(cx, array, 1, -1, TN_PARQUET_LEAVES_MAX, &donor));
    TN_TRY(integer_at(cx, array, 2, 0, TN_PARQUET_DEPTH_MAX, &def));
    TN_TRY(integer_at(cx, array, 3, 0, TN_PARQUET_DEPTH_MAX, &rep));
    TN_TRY(integer_at(cx, array, 4, TN_CAST_NONE, TN_CAST_MILLIS_MICROS, &cast));
    *out = (tn_leaf_source){
        (int32_t)leaf, (int32_t)donor, (int32_t)def, (int32_t)rep, (int32_t)cast, NULL, 0};
    if (maps == 0)
        return TARN_OK;
    if (maps > TN_PARQUET_DEPTH_MAX + 1)
        TN_FAIL(TARN_E_CORRUPT, "task: a map of %zu definition levels", maps);
    out->def_map = tn_arena_array(cx, arena, maps, sizeof *out->def_map);
    if (out->def_map == NULL)
        return TARN_E_NOMEM;
    out->def_map_count = (uint32_t)maps;
    for (size_t i = 0; i < maps; i++) {
        TN_TRY(integer_at(cx, array, 5 + i, 0, TN_PARQUET_DEPTH_MAX, &level));
        out->def_map[i] = (uint16_t)level;
    }
done:
    return rc;
}

static int parse_mappings(tarn_cx *cx, tn_arena *arena, const json_t *object, tn_task_rewrite *out)
{
    json_t *mappings;
    int rc = TARN_OK;

    TN_TRY(tn_json_get_items(cx, arena, object, "mappings", sizeof(tn_leaf_source *), &mappings,
                             &out->mappings, &out->mapping_count));
    for (size_t m = 0; m < out->mapping_count; m++) {
        const json_t *leaves = json_array_get(mappings, m);

        if (json_array_size(leaves) != out->leaf_count)
            TN_FAIL(TARN_E_CORRUPT, "task: mapping %zu has %zu leaves, not %zu", m,
                    json_array_size(leaves), out->leaf_count);
        out->mappings[m] = tn_arena_array(cx, arena, out->leaf_count, sizeof(tn_leaf_source));
        if (out->mappings[m] == NULL)
            return TARN_E_NOMEM;
        for (size_t l = 0; l < out->leaf_count; l++)
            TN_TRY(parse_source(cx, arena, json_array_get(leaves, l), &out->mappings[m][l]));
    }
done:
    return rc;
}

static int parse_inputs(tarn_cx *cx, tn_arena *arena, const json_t *object, tn_task_rewrite *out)
{
    json_t *inputs;
    int rc = TARN_OK;

    TN_TRY(tn_json_get_items(cx, arena, object, "inputs", sizeof *out->inputs, &inputs,
                             &out->inputs, &out->input_count));
    for (size_t i = 0; i < out->input_count; i++) {
        const json_t *input = json_array_get(inputs, i);
        int64_t mapping;

        TN_TRY(tn_wire_file_parse(cx, arena, input, &out->inputs[i].file));
        TN_TRY(tn_wire_count(cx, input, "mapping", 0, (int64_t)out->mapping_count - 1, &mapping));
        TN_TRY(tn_wire_count(cx, input, "rows", 0, INT64_MAX, &out->inputs[i].rows));
        out->inputs[i].mapping = (uint32_t)mapping;
    }
done:
    return rc;
}

static int parse_segment(tarn_cx *cx, const json_t *array, const tn_task_rewrite *task,
                         tn_segment *out)
{
    int64_t input, group;
    int rc = TARN_OK;

    TN_TRY(integer_at(cx, array, 0, 0, (int64_t)task->input_count - 1, &input));
    TN_TRY(integer_at(cx, array, 1, 0, TN_PARQUET_ROW_GROUPS_MAX, &group));
    TN_TRY(integer_at(cx, array, 2, 0, INT64_MAX / 2, &out->first_row));
    TN_TRY(integer_at(cx, array, 3, 0, INT64_MAX / 2, &out->rows));
    out->input = (uint32_t)input;
    out->group = (uint32_t)group;
done:
    return rc;
}

static int parse_groups(tarn_cx *cx, tn_arena *arena, const json_t *object, tn_task_rewrite *out)
{
    json_t *groups;
    int rc = TARN_OK;

    TN_TRY(tn_json_get_items(cx, arena, object, "groups", sizeof *out->groups, &groups,
                             &out->groups, &out->group_count));
    for (size_t g = 0; g < out->group_count; g++) {
        const json_t *segments = json_array_get(groups, g);
        tn_output_group *group = &out->groups[g];

        group->segment_count = json_array_size(segments);
        group->segments = tn_arena_array(cx, arena, group->segment_count, sizeof *group->segments);
        if (group->segments == NULL)
            return TARN_E_NOMEM;
        for (size_t s = 0; s < group->segment_count; s++) {
            TN_TRY(parse_segment(cx, json_array_get(segments, s), out, &group->segments[s]));
            if (__builtin_add_overflow(group->rows, group->segments[s].rows, &group->rows))
                TN_FAIL(TARN_E_CORRUPT, "task: row group %zu has more rows than can be", g);
        }
    }
done:
    return rc;
}

static int parse_keys(tarn_cx *cx, tn_arena *arena, const json_t *object, tn_task_rewrite *out)
{
    json_t *keys;
    int rc = TARN_OK;

    TN_TRY(tn_json_get_items(cx, arena, object, "keys", sizeof(tn_str), &keys, &out->key_names,
                             &out->key_count));
    out->key_values = tn_arena_array(cx, arena, out->key_count, sizeof(tn_str));
    if (out->key_values == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < out->key_count; i++) {
        const json_t *pair = json_array_get(keys, i), *value = json_array_get(pair, 1);

        TN_TRY(tn_json_bytes_of(cx, arena, json_array_get(pair, 0), &out->key_names[i]));
        if (!json_is_null(value))
            TN_TRY(tn_json_bytes_of(cx, arena, value, &out->key_values[i]));
    }
done:
    return rc;
}

static int parse_sort(tarn_cx *cx, tn_arena *arena, const json_t *object, tn_task_rewrite *out)
{
    json_t *sort;
    int rc = TARN_OK;

    TN_TRY(tn_json_get_items(cx, arena, object, "sort", sizeof *out->sort, &sort, &out->sort,
                             &out->sort_count));
    for (size_t i = 0; i < out->sort_count; i++) {
        const json_t *key = json_array_get(sort, i);

        TN_TRY(tn_json_get_bytes(cx, arena, key, "column", &out->sort[i].column));
        TN_TRY(tn_json_get_bool(cx, key, "descending", &out->sort[i].descending));
        TN_TRY(tn_json_get_bool(cx, key, "nulls_last", &out->sort[i].nulls_last));
    }
done:
    return rc;
}

static int parse_bloom(tarn_cx *cx, tn_arena *arena, const json_t *object, tn_task_rewrite *out)
{
    json_t *leaves;
    int rc = TARN_OK;

    TN_TRY(tn_json_get_array(cx, object, "bloom_leaves", &leaves));
    out->bloom_leaves_any = json_array_size(leaves) != 0;
    if (!out->bloom_leaves_any)
        return TARN_OK;
    out->bloom_leaf = tn_arena_array(cx, arena, out->leaf_count, sizeof *out->bloom_leaf);
    if (out->bloom_leaf == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < json_array_size(leaves); i++) {
        int64_t leaf;

        TN_TRY(integer_at(cx, leaves, i, 0, (int64_t)out->leaf_count - 1, &leaf));
        out->bloom_leaf[leaf] = true;
    }
done:
    return rc;
}

static int parse_rewrite(tarn_cx *cx, tn_arena *arena, const json_t *object, tn_task_rewrite *out)
{
    int64_t leaves, codec, level;
    json_t *columns;
    int rc = TARN_OK;

    TN_TRY(tn_json_get_bytes(cx, arena, object, "output", &out->output));
    TN_TRY(tn_wire_count(cx, object, "leaf_count", 0, TN_PARQUET_LEAVES_MAX, &leaves));
    out->leaf_count = (size_t)leaves;
    TN_TRY(tn_json_get_base64(cx, arena, object, "schema", &out->schema));
    TN_TRY(parse_mappings(cx, arena, object, out));
    TN_TRY(parse_inputs(cx, arena, object, out));
    TN_TRY(parse_groups(cx, arena, object, out));
    TN_TRY(parse_keys(cx, arena, object, out));
    TN_TRY(tn_json_get_text(cx, arena, object, "created_by", &out->created_by));
    TN_TRY(tn_wire_count(cx, object, "codec", 0, 7, &codec));
    TN_TRY(tn_wire_count(cx, object, "level", -100, 100, &level));
    out->codec = (int32_t)codec;
    out->level = (int32_t)level;
    TN_TRY(tn_wire_count(cx, object, "group_bytes", 0, INT64_MAX, &out->group_bytes));
    TN_TRY(tn_wire_count(cx, object, "group_rows", 0, INT64_MAX, &out->group_rows));
    TN_TRY(parse_sort(cx, arena, object, out));
    TN_TRY(parse_bloom(cx, arena, object, out));
    TN_TRY(tn_json_get_bool(cx, object, "hash", &out->hash));
    TN_TRY(tn_json_get_bool(cx, object, "crc", &out->crc));
    TN_TRY(tn_json_get_bool(cx, object, "index", &out->index));
    TN_TRY(tn_json_get_array(cx, object, "columns", &columns));
    TN_TRY(tn_way_intents_parse(cx, arena, columns, out->leaf_count, &out->intents));
done:
    return rc;
}

int tn_task_parse(tarn_cx *cx, tn_str line, tn_arena *arena, tn_task *out)
{
    json_t *object = NULL;
    tn_task task = {.kind = TN_TASK_REWRITE};
    int64_t number;
    tn_str does;
    int rc = TARN_OK;

    TN_TRY(tn_wire_open(cx, line, TN_WIRE_TASK, &object));
    TN_TRY(tn_wire_count(cx, object, "number", 0, UINT32_MAX, &number));
    task.number = (uint32_t)number;
    TN_TRY(tn_json_get_text(cx, arena, object, "plan", &task.plan_id));
    TN_TRY(tn_json_get_text(cx, arena, object, "does", &does));
    if (!tn_str_is(does, "rewrite"))
        TN_FAIL(TARN_E_UNSUPPORTED, "task %u does \"%.*s\", which this tarn does not know",
                task.number, TN_STR_ARG(does));
    TN_TRY(parse_rewrite(cx, arena, object, &task.rewrite));
    TN_TRY(tn_task_place_check(cx, &task));
    *out = task;
done:
    json_decref(object);
    return rc;
}

int tn_result_write(tarn_cx *cx, const tn_result *result, tn_buf *out)
{
    tn_json json = tn_json_to(out);

    tn_json_object(&json);
    tn_wire_kind(&json, TN_WIRE_RESULT);
    tn_json_put_i64(&json, "number", result->number);
    tn_json_put_text(&json, "plan", result->plan_id);
    tn_json_put_i64(&json, "status", result->status);
    tn_json_put_text(&json, "text", result->text);
    tn_json_put_bytes(&json, "output", result->output);
    tn_json_put_u64(&json, "output_bytes", result->output_bytes);
    tn_json_put_i64(&json, "rows_in", result->rows_in);
    tn_json_put_i64(&json, "rows_out", result->rows_out);
    tn_json_put_bool(&json, "hashed", result->hashed);
    tn_json_put_i64(&json, "hash_in", (int64_t)result->hash_in);
    tn_json_put_i64(&json, "hash_out", (int64_t)result->hash_out);
    tn_json_put_u64(&json, "read_bytes", result->read_bytes);
    tn_json_put_i64(&json, "row_groups", result->row_groups);
    tn_json_key(&json, "columns");
    tn_way_done_write(&json, result->leaves, result->leaf_count);
    tn_json_put_text(&json, "notes", result->notes);
    tn_json_object_end(&json);
    return tn_buf_check(cx, out);
}

int tn_result_parse(tarn_cx *cx, tn_str line, tn_arena *arena, tn_result *out)
{
    json_t *object = NULL;
    tn_result result = {0};
    int64_t number, status, output_bytes, hash_in, hash_out, read_bytes, groups;
    json_t *columns;
    int rc = TARN_OK;

    TN_TRY(tn_wire_open(cx, line, TN_WIRE_RESULT, &object));
    TN_TRY(tn_wire_count(cx, object, "number", 0, UINT32_MAX, &number));
    TN_TRY(tn_json_get_text(cx, arena, object, "plan", &result.plan_id));
    TN_TRY(tn_wire_count(cx, object, "status", 0, TARN_E_CANCELLED, &status));
    TN_TRY(tn_json_get_text(cx, arena, object, "text", &result.text));
    TN_TRY(tn_json_get_bytes(cx, arena, object, "output", &result.output));
    TN_TRY(tn_wire_count(cx, object, "output_bytes", 0, INT64_MAX, &output_bytes));
    TN_TRY(tn_wire_count(cx, object, "rows_in", 0, INT64_MAX, &result.rows_in));
    TN_TRY(tn_wire_count(cx, object, "rows_out", 0, INT64_MAX, &result.rows_out));
    TN_TRY(tn_json_get_bool(cx, object, "hashed", &result.hashed));
    TN_TRY(tn_json_get_i64(cx, object, "hash_in", &hash_in));
    TN_TRY(tn_json_get_i64(cx, object, "hash_out", &hash_out));
    TN_TRY(tn_wire_count(cx, object, "read_bytes", 0, INT64_MAX, &read_bytes));
    TN_TRY(tn_wire_count(cx, object, "row_groups", 0, UINT32_MAX, &groups));
    TN_TRY(tn_json_get_array(cx, object, "columns", &columns));
    TN_TRY(tn_way_done_parse(cx, arena, columns, &result.leaves, &result.leaf_count));
    TN_TRY(tn_json_get_text(cx, arena, object, "notes", &result.notes));
    result.number = (uint32_t)number;
    result.status = (int)status;
    result.output_bytes = (uint64_t)output_bytes;
    result.hash_in = (uint64_t)hash_in;
    result.hash_out = (uint64_t)hash_out;
    result.read_bytes = (uint64_t)read_bytes;
    result.row_groups = (uint32_t)groups;
    *out = result;
done:
    json_decref(object);
    return rc;
}

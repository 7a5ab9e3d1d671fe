/* Every vector of tests/plan/vectors/combine-splits.json through the planner: splits, chunks and
 * locations in order, errors to the word. They were made by the real classes (README there). */
#include "base/json.h"
#include "plan/plan_split.h"
#include "unit/test.h"

typedef struct world {
    tarn_cx *cx;
    tn_arena arena;
} world;

static void *world_open(void)
{
    world *w = calloc(1, sizeof *w);

    w->cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    return w;
}

static void world_close(world *w)
{
    tn_arena_clear(&w->arena);
    tarn_cx_close(w->cx);
    free(w);
}

static json_t *load(const char *name)
{
    char path[1024];
    json_error_t error;
    json_t *root;

    snprintf(path, sizeof path, TARN_SOURCE_DIR "/tests/plan/vectors/%s", name);
    root = json_load_file(path, 0, &error);
    if (root == NULL)
        fail_msg("%s: %s", path, error.text);
    return root;
}

/* Locations of the old API over several blocks come in no order that can be foretold. */
static bool ordered(const json_t *vector, const json_t *split)
{
    const json_t *chunk = json_array_get(json_object_get(split, "chunks"), 0), *file, *block;
    json_int_t from = json_integer_value(json_array_get(chunk, 1));
    json_int_t to = from + json_integer_value(json_array_get(chunk, 2));
    size_t i, k, met = 0;

    if (strcmp(json_string_value(json_object_get(vector, "api")), "file-old") != 0)
        return true;
    json_array_foreach(json_object_get(vector, "files"), i, file)
    {
        if (!json_equal(json_object_get(file, "path"), json_array_get(chunk, 0)))
            continue;
        json_array_foreach(json_object_get(file, "blocks"), k, block)
        {
            json_int_t at = json_integer_value(json_object_get(block, "offset"));
            json_int_t end = at + json_integer_value(json_object_get(block, "len"));

            met += at < to && end > from;
        }
    }
    return met < 2;
}

static bool has(const tarn_split_part *part, const char *host)
{
    for (size_t i = 0; i < part->location_count; i++)
        if (strcmp(part->locations[i], host) == 0)
            return true;
    return false;
}

static void compare_split(const char *id, size_t number, const json_t *vector, const json_t *want,
                          const tarn_split_part *got)
{
    const json_t *chunks = json_object_get(want, "chunks"),
                 *locations = json_object_get(want, "locations");

    if (got->len != json_integer_value(json_object_get(want, "len")) ||
        got->chunk_count != json_array_size(chunks) ||
        got->location_count != json_array_size(locations))
        fail_msg("%s: split %zu: %lld bytes, %zu chunks, %zu locations", id, number,
                 (long long)got->len, got->chunk_count, got->location_count);
    for (size_t i = 0; i < got->chunk_count; i++) {
        const json_t *chunk = json_array_get(chunks, i);

        if (strcmp(got->chunks[i].path, json_string_value(json_array_get(chunk, 0))) != 0 ||
            got->chunks[i].offset != json_integer_value(json_array_get(chunk, 1)) ||
            got->chunks[i].len != json_integer_value(json_array_get(chunk, 2)))
            fail_msg("%s: split %zu: chunk %zu is %s at %lld, %lld bytes", id, number, i,
                     got->chunks[i].path, (long long)got->chunks[i].offset,
                     (long long)got->chunks[i].len);
    }
    for (size_t i = 0; i < got->location_count; i++) {
        const char *host = json_string_value(json_array_get(locations, i));

        if (ordered(vector, want) ? strcmp(got->locations[i], host) != 0 : !has(got, host))
            fail_msg("%s: split %zu: location %zu is %s, not %s", id, number, i, got->locations[i],
                     host);
    }
}

static void run_vector(const json_t *vector)
{
    world *w = world_open();
    const char *id = json_string_value(json_object_get(vector, "id"));
    const json_t *expect = json_object_get(vector, "expect"),
                 *splits = json_object_get(expect, "splits"),
                 *error = json_object_get(expect, "error");
    char *text = json_dumps(vector, 0);
    tn_split_input input;
    tarn_split_plan plan;
    int rc;

    assert_ok(w->cx, tn_split_locations(w->cx, tn_str_of(text), id, &w->arena, &input));
    rc = tn_plan_split(w->cx, &input, &w->arena, &plan);
    if (error != NULL) {
        assert_int_equal(rc, TARN_E_INVALID);
        assert_string_equal(tarn_cx_error(w->cx), json_string_value(error));
    } else {
        if (rc != TARN_OK)
            fail_msg("%s: %s", id, tarn_cx_error(w->cx));
        if (plan.split_count != json_array_size(splits))
            fail_msg("%s: %zu splits, not %zu", id, plan.split_count, json_array_size(splits));
        for (size_t i = 0; i < plan.split_count; i++)
            compare_split(id, i, vector, json_array_get(splits, i), &plan.splits[i]);
    }
    world_close(w);
    free(text);
}

static void test_plan_split__every_vector(void **state)
{
    json_t *root = load("combine-splits.json");
    const json_t *vector;
    size_t i;

    (void)state;
    assert_int_equal(json_array_size(json_object_get(root, "vectors")), 76);
    json_array_foreach(json_object_get(root, "vectors"), i, vector) run_vector(vector);
    json_decref(root);
}

/* The input of a plan of splits as JSON, as one vector of tests/plan/vectors/combine-splits.json:
 *
 *   {"api": "combine", "config": {"max": 134217728, "min_node": 1, "min_rack": 1},
 *    "pools": [["/in/p=1", "/in/q"], ["/in/p=2"]],
 *    "files": [{"path": "/in/p=1/a", "len": 10, "block_size": 134217728, "splittable": true,
 *               "blocks": [{"offset": 0, "len": 10, "hosts": ["h1"], "racks": ["/r1"]}]},
 *              {"path": "/in/sub", "dir": true}]}
 *
 * I1: members that are not known here are refused in a config, a file and a block, where a slip
 *     would change the answer; beside "files" they are what a vector carries for its readers.
 * I2: a path may come twice: it then is two files, as in Hadoop. */
#include <assert.h>
#include <inttypes.h>

#include "plan/plan_split.h"

typedef struct reader {
    tn_arena *arena;
    const char *name;
    size_t replicas, blocks, prefixes;
} reader;

static tn_str text_of(const json_t *value)
{
    return (tn_str){json_string_value(value), json_string_length(value)};
}

static int only_known(tarn_cx *cx, const reader *r, json_t *object, const char *what,
                      const char *const *known)
{
    const char *key;
    json_t *value;

    json_object_foreach(object, key, value)
    {
        size_t i = 0;

        while (known[i] != NULL && strcmp(known[i], key) != 0)
            i++;
        if (known[i] == NULL)
            return tn_fail(cx, TARN_E_INVALID, "%s: %s has a member \"%s\" that means nothing here",
                           r->name, what, key);
    }
    return TARN_OK;
}

/* A whole number from 0 on; *out stays when there is none. */
static int size_of(tarn_cx *cx, const reader *r, const json_t *object, const char *key,
                   const char *what, int64_t *out, bool *given)
{
    const json_t *value = json_object_get(object, key);

    *given = value != NULL;
    if (value == NULL)
        return TARN_OK;
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return tn_fail(cx, TARN_E_INVALID, "%s: %s: \"%s\" is not a whole number from 0 on",
                       r->name, what, key);
    *out = json_integer_value(value);
    return TARN_OK;
}

static int flag_of(tarn_cx *cx, const reader *r, const json_t *object, const char *key,
                   const char *what, bool *out)
{
    const json_t *value = json_object_get(object, key);

    if (value == NULL)
        return TARN_OK;
    if (!json_is_boolean(value))
        return tn_fail(cx, TARN_E_INVALID, "%s: %s: \"%s\" is not true or false", r->name, what,
                       key);
    *out = json_is_true(value);
    return TARN_OK;
}

/* An array of texts; `accept` says what each must be. */
static int texts_of(tarn_cx *cx, const reader *r, const json_t *array, const char *what,
                    bool (*accept)(tn_str), const char *must, const tn_str **out, size_t *count)
{
    size_t n = json_array_size(array);
    tn_str *texts;
    int rc = TARN_OK;

    if (!json_is_array(array))
        TN_FAIL(TARN_E_INVALID, "%s: %s are not an array", r->name, what);
    texts = tn_arena_array(cx, r->arena, n, sizeof *texts);
    TN_TRY(texts != NULL ? TARN_OK : TARN_E_NOMEM);
    for (size_t i = 0; i < n; i++) {
        const json_t *value = json_array_get(array, i);

        if (!json_is_string(value) || !accept(text_of(value)))
            TN_FAIL(TARN_E_INVALID, "%s: %s: number %zu is not %s", r->name, what, i, must);
        texts[i] = text_of(value);
    }
    *out = texts;
    *count = n;
done:
    return rc;
}

static bool is_host(tn_str text)
{
    return text.len != 0 && tn_str_find(text, '/') == text.len;
}

static bool is_rack(tn_str text)
{
    return text.len != 0 && text.ptr[0] == '/';
}

static bool is_text(tn_str text)
{
    (void)text;
    return true;
}

static int read_block(tarn_cx *cx, reader *r, json_t *object, const char *what, tn_split_block *out)
{
    static const char *const known[] = {"offset", "len", "hosts", "racks", NULL};
    json_t *hosts = json_object_get(object, "hosts"), *racks = json_object_get(object, "racks");
    size_t rack_count;
    bool offset, len;
    int rc = TARN_OK;

    if (!json_is_object(object))
        TN_FAIL(TARN_E_INVALID, "%s: %s: a block is not an object", r->name, what);
    TN_TRY(only_known(cx, r, object, what, known));
    TN_TRY(size_of(cx, r, object, "offset", what, &out->offset, &offset));
    TN_TRY(size_of(cx, r, object, "len", what, &out->len, &len));
    if (!offset || !len)
        TN_FAIL(TARN_E_INVALID, "%s: %s: a block needs \"offset\" and \"len\"", r->name, what);
    if (hosts != NULL)
        TN_TRY(texts_of(cx, r, hosts, what, is_host,
                        "a host: a name that is not empty and has no \"/\"", &out->hosts,
                        &out->host_count));
    if (racks != NULL) {
        TN_TRY(texts_of(cx, r, racks, what, is_rack, "a rack: a path that begins with \"/\"",
                        &out->racks, &rack_count));
        if (rack_count != out->host_count)
            TN_FAIL(TARN_E_INVALID,
                    "%s: %s: a block has %zu hosts but %zu racks; give one for each, or none",
                    r->name, what, out->host_count, rack_count);
        if (rack_count == 0)
            out->racks = NULL;
    }
    r->replicas += out->host_count;
    if (r->replicas > TN_SPLIT_REPLICAS_MAX)
        TN_FAIL(TARN_E_LIMIT, "%s: more than %u hosts of blocks in all", r->name,
                TN_SPLIT_REPLICAS_MAX);
done:
    return rc;
}

static int read_blocks(tarn_cx *cx, reader *r, const json_t *array, const char *what,
                       tn_split_file *file)
{
    size_t count = json_array_size(array);
    tn_split_block *blocks;
    int rc = TARN_OK;

    if (!json_is_array(array))
        TN_FAIL(TARN_E_INVALID, "%s: %s: \"blocks\" are not an array", r->name, what);
    r->blocks += count;
    if (r->blocks > TN_SPLIT_CHUNKS_MAX)
        TN_FAIL(TARN_E_LIMIT, "%s: more than %u blocks in all", r->name, TN_SPLIT_CHUNKS_MAX);
    blocks = tn_arena_array(cx, r->arena, count, sizeof *blocks);
    TN_TRY(blocks != NULL ? TARN_OK : TARN_E_NOMEM);
    for (size_t i = 0; i < count; i++)
        TN_TRY(read_block(cx, r, json_array_get(array, i), what, &blocks[i]));
    file->blocks = blocks;
    file->block_count = count;
done:
    return rc;
}

static int read_file(tarn_cx *cx, reader *r, json_t *object, size_t number, tn_split_file *out)
{
    static const char *const known[] = {"path", "len",    "block_size", "splittable",
                                        "dir",  "blocks", NULL};
    const json_t *path = json_object_get(object, "path"), *blocks;
    char what[160];
    bool len, block_size;
    int rc = TARN_OK;

    if (!json_is_string(path) || json_string_length(path) == 0)
        TN_FAIL(TARN_E_INVALID, "%s: file %zu: not an object with a \"path\"", r->name, number);
    snprintf(what, sizeof what, "file %zu (%.100s)", number, json_string_value(path));
    TN_TRY(only_known(cx, r, object, what, known));
    *out = (tn_split_file){.path = text_of(path), .splittable = true};
    TN_TRY(size_of(cx, r, object, "len", what, &out->len, &len));
    TN_TRY(size_of(cx, r, object, "block_size", what, &out->block_size, &block_size));
    TN_TRY(flag_of(cx, r, object, "splittable", what, &out->splittable));
    TN_TRY(flag_of(cx, r, object, "dir", what, &out->dir));
    if (!out->dir && !len)
        TN_FAIL(TARN_E_INVALID, "%s: %s: a file needs a \"len\"", r->name, what);
    if (out->dir && out->len != 0)
        TN_FAIL(TARN_E_INVALID, "%s: %s: a directory has no bytes", r->name, what);
    if (!block_size) /* what dfs.blocksize is by default */
        out->block_size = 128 << 20;
    blocks = json_object_get(object, "blocks");
    if (blocks != NULL)
        TN_TRY(read_blocks(cx, r, blocks, what, out));
done:
    return rc;
}

static int read_files(tarn_cx *cx, reader *r, const json_t *root, tn_split_input *out)
{
    const json_t *files = json_object_get(root, "files");
    size_t count = json_array_size(files);
    int rc = TARN_OK;

    if (!json_is_array(files))
        TN_FAIL(TARN_E_INVALID, "%s: %s", r->name,
                json_object_get(root, "vectors") != NULL
                    ? "a whole set of vectors; give one of them"
                    : "there is no array \"files\" in it");
    if (count > TN_SPLIT_FILES_MAX)
        TN_FAIL(TARN_E_LIMIT, "%s: %zu files, more than %u", r->name, count, TN_SPLIT_FILES_MAX);
    out->files = tn_arena_array(cx, r->arena, count, sizeof *out->files);
    TN_TRY(out->files != NULL ? TARN_OK : TARN_E_NOMEM);
    for (size_t i = 0; i < count; i++)
        TN_TRY(read_file(cx, r, json_array_get(files, i), i, &out->files[i]));
    out->file_count = count;
done:
    return rc;
}

static int read_pools(tarn_cx *cx, reader *r, const json_t *pools, tn_split_input *out)
{
    size_t count = json_array_size(pools);
    int rc = TARN_OK;

    if (pools == NULL)
        return TARN_OK;
    if (!json_is_array(pools))
        TN_FAIL(TARN_E_INVALID, "%s: \"pools\" is not an array of arrays of prefixes", r->name);
    if (count > TN_SPLIT_POOLS_MAX)
        TN_FAIL(TARN_E_LIMIT, "%s: %zu pools, more than %d", r->name, count, TN_SPLIT_POOLS_MAX);
    out->pools = tn_arena_array(cx, r->arena, count, sizeof *out->pools);
    TN_TRY(out->pools != NULL ? TARN_OK : TARN_E_NOMEM);
    for (size_t i = 0; i < count; i++) {
        tn_split_pool *pool = &out->pools[i];

        TN_TRY(texts_of(cx, r, json_array_get(pools, i), "the prefixes of a pool", is_text, "text",
                        &pool->prefixes, &pool->prefix_count));
        r->prefixes += pool->prefix_count;
        if (r->prefixes > TN_SPLIT_POOLS_MAX)
            TN_FAIL(TARN_E_LIMIT, "%s: more than %d prefixes of pools", r->name,
                    TN_SPLIT_POOLS_MAX);
    }
    out->pool_count = count;
done:
    return rc;
}

static int read_config(tarn_cx *cx, const reader *r, json_t *config, tn_split_config *out)
{
    static const char *const known[] = {
        "max", "min", "min_node", "min_rack", "num_splits", "ignore_subdirs", NULL};
    struct {
        const char *key;
        tn_split_size *into;
    } sizes[] = {{"max", &out->max},
                 {"min", &out->min},
                 {"min_node", &out->min_node},
                 {"min_rack", &out->min_rack}};
    int64_t wanted = TN_SPLIT_COUNT_DEFAULT;
    bool given;
    int rc = TARN_OK;

    out->split_count = TN_SPLIT_COUNT_DEFAULT;
    if (config == NULL)
        return TARN_OK;
    if (!json_is_object(config))
        TN_FAIL(TARN_E_INVALID, "%s: \"config\" is not an object", r->name);
    TN_TRY(only_known(cx, r, config, "\"config\"", known));
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        TN_TRY(size_of(cx, r, config, sizes[i].key, "\"config\"", &sizes[i].into->bytes,
                       &sizes[i].into->given));
    TN_TRY(size_of(cx, r, config, "num_splits", "\"config\"", &wanted, &given));
    if (wanted > INT32_MAX)
        TN_FAIL(TARN_E_INVALID, "%s: \"config\": \"num_splits\" is more than %d", r->name,
                INT32_MAX);
    out->split_count = (int32_t)wanted;
    TN_TRY(flag_of(cx, r, config, "ignore_subdirs", "\"config\"", &out->ignore_subdirs));
done:
    return rc;
}

static int read_api(tarn_cx *cx, const reader *r, const json_t *value, enum tarn_split_api *out)
{
    static const struct {
        const char *name;
        enum tarn_split_api api;
    } apis[] = {{"combine", TARN_SPLIT_COMBINE},
                {"hive-shim", TARN_SPLIT_HIVE_SHIM},
                {"file-new", TARN_SPLIT_FILE_NEW},
                {"file-old", TARN_SPLIT_FILE_OLD}};

    *out = TARN_SPLIT_COMBINE;
    if (value == NULL)
        return TARN_OK;
    for (size_t i = 0; json_is_string(value) && i < sizeof apis / sizeof apis[0]; i++)
        if (strcmp(json_string_value(value), apis[i].name) == 0) {
            *out = apis[i].api;
            return TARN_OK;
        }
    return tn_fail(cx, TARN_E_INVALID,
                   "%s: \"api\" is not one of combine, hive-shim, file-new, file-old", r->name);
}

int tn_split_locations(tarn_cx *cx, tn_str text, const char *name, tn_arena *arena, json_t **json,
                       tn_split_input *out)
{
    reader r = {.arena = arena, .name = name};
    /* Hadoop names files with their file system; the one of the vectors is called so. */
    tn_split_input made = {.scheme = TN_STR("fake:")};
    json_t *root = NULL;
    int rc = TARN_OK;

    assert(name != NULL);
    if (text.len > TN_SPLIT_JSON_BYTES_MAX)
        TN_FAIL(TARN_E_LIMIT, "%s: %zu bytes, more than %u", name, text.len,
                TN_SPLIT_JSON_BYTES_MAX);
    TN_TRY(tn_json_parse(cx, text, name, &root));
    if (!json_is_object(root))
        TN_FAIL(TARN_E_INVALID, "%s: not an object with \"files\"", name);
    TN_TRY(read_api(cx, &r, json_object_get(root, "api"), &made.api));
    TN_TRY(read_config(cx, &r, json_object_get(root, "config"), &made.config));
    TN_TRY(read_pools(cx, &r, json_object_get(root, "pools"), &made));
    TN_TRY(read_files(cx, &r, root, &made));
    *json = root;
    root = NULL;
    *out = made;
done:
    json_decref(root);
    return rc;
}

/* The input of a plan of splits as JSON, as one vector of tests/plan/vectors/combine-splits.json:
 *
 *   {"api": "combine", "config": {"max": 134217728, "min_node": 1, "min_rack": 1},
 *    "pools": [["/in/p=1", "/in/q"], ["/in/p=2"]],
 *    "files": [{"path": "/in/p=1/a", "len": 10, "block_size": 134217728, "splittable": true,
 *               "blocks": [{"offset": 0, "len": 10, "hosts": ["h1"], "racks": ["/r1"]}]},
 *              {"path": "/in/sub", "dir": true}]}
 *
 * I1: members that are not known are refused in a config, a file and a block, where a slip would
 *     change the answer; beside "files" they are what a vector carries for its readers.
 * I2: no member comes twice. A path may: it then is two files, as in Hadoop.
 * I3: memory follows the files, not the text: names of hosts and racks are kept once each. */
#include <assert.h>
#include <inttypes.h>

#include "base/json_read.h"
#include "plan/plan_split.h"

typedef struct reader {
    tn_json_reader json;
    tn_split_block *blocks; /* of the file under work */
    tn_str *texts;          /* of the array under work */
    size_t block_cap, text_cap;
    size_t file_cap, pool_cap;
    size_t replicas, block_count, prefixes; /* in all */
} reader;

/* The place of a key in a list of them, marked in `seen`; -1: it is not there. */
static int member(tarn_cx *cx, const reader *r, tn_str key, const char *const *known,
                  unsigned *seen, int *out)
{
    for (int i = 0; known[i] != NULL; i++) {
        if (!tn_str_is(key, known[i]))
            continue;
        if (*seen & 1u << i)
            return tn_json_read_fail(cx, &r->json, "\"%s\" for the second time", known[i]);
        *seen |= 1u << i;
        *out = i;
        return TARN_OK;
    }
    *out = -1;
    return TARN_OK;
}

static int unknown(tarn_cx *cx, const reader *r, tn_str key, const char *what)
{
    return tn_json_read_fail(cx, &r->json,
                             "\"%.*s\" means nothing in %s; leave it out, or see "
                             "docs/splits.md",
                             TN_STR_ARG(key), what);
}

static int read_size(tarn_cx *cx, reader *r, int64_t *out)
{
    int64_t value;
    int rc = TARN_OK;

    TN_TRY(tn_json_read_i64(cx, &r->json, &value));
    if (value < 0)
        TN_TRY(tn_json_read_fail(cx, &r->json, "a size must not be negative"));
    *out = value;
done:
    return rc;
}

/* An array of texts; `accept` says what each must be. */
static int read_texts(tarn_cx *cx, reader *r, bool (*accept)(tn_str), const char *must,
                      const tn_str **out, size_t *count)
{
    tn_str *texts;
    size_t n = 0;
    bool more;
    int rc = TARN_OK;

    TN_TRY(tn_json_read_open(cx, &r->json, '['));
    for (;;) {
        TN_TRY(tn_json_read_element(cx, &r->json, &more));
        if (!more)
            break;
        TN_TRY(tn_arena_grow(cx, r->json.arena, &r->texts, n, &r->text_cap, sizeof *r->texts));
        TN_TRY(tn_json_read_shared(cx, &r->json, &r->texts[n]));
        if (!accept(r->texts[n]))
            TN_TRY(tn_json_read_fail(cx, &r->json, "%s", must));
        if (++n > TN_SPLIT_REPLICAS_MAX)
            TN_FAIL(TARN_E_LIMIT, "%s: more than %u hosts of a block", r->json.name,
                    TN_SPLIT_REPLICAS_MAX);
    }
    texts = tn_arena_array(cx, r->json.arena, n, sizeof *texts);
    TN_TRY(texts != NULL ? TARN_OK : TARN_E_NOMEM);
    if (n != 0)
        memcpy(texts, r->texts, n * sizeof *texts);
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

/* ---- files */

static int read_block_members(tarn_cx *cx, reader *r, tn_split_block *out, unsigned *seen,
                              size_t *rack_count)
{
    static const char *const known[] = {"offset", "len", "hosts", "racks", NULL};
    tn_str key;
    bool more;
    int at, rc = TARN_OK;

    TN_TRY(tn_json_read_open(cx, &r->json, '{'));
    for (;;) {
        TN_TRY(tn_json_read_member(cx, &r->json, &key, &more));
        if (!more)
            break;
        TN_TRY(member(cx, r, key, known, seen, &at));
        switch (at) {
        case 0:
            TN_TRY(read_size(cx, r, &out->offset));
            break;
        case 1:
            TN_TRY(read_size(cx, r, &out->len));
            break;
        case 2:
            TN_TRY(read_texts(cx, r, is_host, "a host is a name that is not empty and has no \"/\"",
                              &out->hosts, &out->host_count));
            break;
        case 3:
            TN_TRY(read_texts(cx, r, is_rack, "a rack is a path that begins with \"/\"",
                              &out->racks, rack_count));
            break;
        default:
            TN_TRY(unknown(cx, r, key, "a block"));
        }
    }
done:
    return rc;
}

static int read_block(tarn_cx *cx, reader *r, tn_split_block *out)
{
    tn_split_block block = {0};
    size_t rack_count = 0;
    unsigned seen = 0;
    int rc = TARN_OK;

    TN_TRY(read_block_members(cx, r, &block, &seen, &rack_count));
    if ((seen & 3) != 3)
        TN_TRY(tn_json_read_fail(cx, &r->json, "a block needs \"offset\" and \"len\""));
    if (rack_count == 0 && block.host_count == 0)
        block.racks = NULL;
    if (block.racks != NULL && rack_count != block.host_count)
        TN_TRY(tn_json_read_fail(cx, &r->json,
                                 "a block has %zu hosts but %zu racks; give one for each, or leave "
                                 "racks out",
                                 block.host_count, rack_count));
    r->replicas += block.host_count;
    if (r->replicas > TN_SPLIT_REPLICAS_MAX)
        TN_FAIL(TARN_E_LIMIT, "%s: more than %u hosts of blocks in all", r->json.name,
                TN_SPLIT_REPLICAS_MAX);
    *out = block;
done:
    return rc;
}

static int read_blocks(tarn_cx *cx, reader *r, tn_split_file *file)
{
    tn_split_block *blocks;
    size_t n = 0;
    bool more;
    int rc = TARN_OK;

    TN_TRY(tn_json_read_open(cx, &r->json, '['));
    for (;;) {
        TN_TRY(tn_json_read_element(cx, &r->json, &more));
        if (!more)
            break;
        TN_TRY(tn_arena_grow(cx, r->json.arena, &r->blocks, n, &r->block_cap, sizeof *r->blocks));
        TN_TRY(read_block(cx, r, &r->blocks[n++]));
        if (++r->block_count > TN_SPLIT_CHUNKS_MAX)
            TN_FAIL(TARN_E_LIMIT, "%s: more than %u blocks in all", r->json.name,
                    TN_SPLIT_CHUNKS_MAX);
    }
    blocks = tn_arena_array(cx, r->json.arena, n, sizeof *blocks);
    TN_TRY(blocks != NULL ? TARN_OK : TARN_E_NOMEM);
    if (n != 0)
        memcpy(blocks, r->blocks, n * sizeof *blocks);
    file->blocks = blocks;
    file->block_count = n;
done:
    return rc;
}

static int read_file_members(tarn_cx *cx, reader *r, tn_split_file *out, unsigned *seen)
{
    static const char *const known[] = {"path",       "len", "blocks", "block_size",
                                        "splittable", "dir", NULL};
    tn_str key;
    bool more;
    int at, rc = TARN_OK;

    TN_TRY(tn_json_read_open(cx, &r->json, '{'));
    for (;;) {
        TN_TRY(tn_json_read_member(cx, &r->json, &key, &more));
        if (!more)
            break;
        TN_TRY(member(cx, r, key, known, seen, &at));
        switch (at) {
        case 0:
            TN_TRY(tn_json_read_text(cx, &r->json, &out->path));
            break;
        case 1:
            TN_TRY(read_size(cx, r, &out->len));
            break;
        case 2:
            TN_TRY(read_blocks(cx, r, out));
            break;
        case 3:
            TN_TRY(read_size(cx, r, &out->block_size));
            break;
        case 4:
            TN_TRY(tn_json_read_bool(cx, &r->json, &out->splittable));
            break;
        case 5:
            TN_TRY(tn_json_read_bool(cx, &r->json, &out->dir));
            break;
        default:
            TN_TRY(unknown(cx, r, key, "a file"));
        }
    }
done:
    return rc;
}

static int read_file(tarn_cx *cx, reader *r, tn_split_file *out)
{
    /* Where no block size is told, it is what dfs.blocksize is by default. */
    tn_split_file file = {.splittable = true, .block_size = 128 << 20};
    unsigned seen = 0;
    int rc = TARN_OK;

    TN_TRY(read_file_members(cx, r, &file, &seen));
    if (file.path.len == 0)
        TN_TRY(tn_json_read_fail(cx, &r->json, "a file needs a \"path\" that is not empty"));
    if (!file.dir && (seen & 2) == 0)
        TN_TRY(tn_json_read_fail(cx, &r->json, "a file needs a \"len\""));
    if (file.dir && file.len != 0)
        TN_TRY(tn_json_read_fail(cx, &r->json, "a directory has no bytes"));
    *out = file;
done:
    return rc;
}

static int read_files(tarn_cx *cx, reader *r, tn_split_input *out)
{
    bool more;
    int rc = TARN_OK;

    TN_TRY(tn_json_read_open(cx, &r->json, '['));
    for (;;) {
        TN_TRY(tn_json_read_element(cx, &r->json, &more));
        if (!more)
            break;
        if ((out->file_count & 0xFFF) == 0)
            TN_TRY(tn_cx_check(cx));
        if (out->file_count >= TN_SPLIT_FILES_MAX)
            TN_FAIL(TARN_E_LIMIT, "%s: more than %u files", r->json.name, TN_SPLIT_FILES_MAX);
        TN_TRY(tn_arena_grow(cx, r->json.arena, &out->files, out->file_count, &r->file_cap,
                             sizeof *out->files));
        TN_TRY(read_file(cx, r, &out->files[out->file_count]));
        out->file_count++;
    }
done:
    return rc;
}

/* ---- the rest */

static int read_pools(tarn_cx *cx, reader *r, tn_split_input *out)
{
    bool more;
    int rc = TARN_OK;

    TN_TRY(tn_json_read_open(cx, &r->json, '['));
    for (;;) {
        tn_split_pool pool;

        TN_TRY(tn_json_read_element(cx, &r->json, &more));
        if (!more)
            break;
        TN_TRY(read_texts(cx, r, is_text, "", &pool.prefixes, &pool.prefix_count));
        r->prefixes += pool.prefix_count;
        if (out->pool_count >= TN_SPLIT_POOLS_MAX || r->prefixes > TN_SPLIT_POOLS_MAX)
            TN_FAIL(TARN_E_LIMIT, "%s: more than %d pools, or prefixes of pools", r->json.name,
                    TN_SPLIT_POOLS_MAX);
        TN_TRY(tn_arena_grow(cx, r->json.arena, &out->pools, out->pool_count, &r->pool_cap,
                             sizeof *out->pools));
        out->pools[out->pool_count++] = pool;
    }
done:
    return rc;
}

static int read_config(tarn_cx *cx, reader *r, tn_split_config *out)
{
    static const char *const known[] = {
        "max", "min", "min_node", "min_rack", "num_splits", "ignore_subdirs", NULL};
    tn_split_size *const sizes[] = {&out->max, &out->min, &out->min_node, &out->min_rack};
    unsigned seen = 0;
    int64_t wanted;
    tn_str key;
    bool more;
    int at, rc = TARN_OK;

    TN_TRY(tn_json_read_open(cx, &r->json, '{'));
    for (;;) {
        TN_TRY(tn_json_read_member(cx, &r->json, &key, &more));
        if (!more)
            break;
        TN_TRY(member(cx, r, key, known, &seen, &at));
        if (at >= 0 && at < 4) {
            TN_TRY(read_size(cx, r, &sizes[at]->bytes));
            sizes[at]->given = true;
        } else if (at == 4) {
            TN_TRY(read_size(cx, r, &wanted));
            if (wanted > INT32_MAX)
                TN_TRY(tn_json_read_fail(cx, &r->json, "num_splits is more than %d", INT32_MAX));
            out->split_count = (int32_t)wanted;
        } else if (at == 5) {
            TN_TRY(tn_json_read_bool(cx, &r->json, &out->ignore_subdirs));
        } else {
            TN_TRY(unknown(cx, r, key, "a config"));
        }
    }
done:
    return rc;
}

static int read_api(tarn_cx *cx, reader *r, enum tarn_split_api *out)
{
    static const struct {
        const char *name;
        enum tarn_split_api api;
    } apis[] = {{"combine", TARN_SPLIT_COMBINE},
                {"hive-shim", TARN_SPLIT_HIVE_SHIM},
                {"file-new", TARN_SPLIT_FILE_NEW},
                {"file-old", TARN_SPLIT_FILE_OLD}};
    tn_str name;
    int rc = TARN_OK;

    TN_TRY(tn_json_read_text(cx, &r->json, &name));
    for (size_t i = 0; i < sizeof apis / sizeof apis[0]; i++)
        if (tn_str_is(name, apis[i].name)) {
            *out = apis[i].api;
            goto done;
        }
    TN_TRY(tn_json_read_fail(cx, &r->json,
                             "\"api\" is one of combine, hive-shim, file-new, file-old"));
done:
    return rc;
}

static int read_all(tarn_cx *cx, reader *r, tn_split_input *out)
{
    static const char *const known[] = {"files", "pools", "config", "api", "vectors", NULL};
    unsigned seen = 0;
    tn_str key;
    bool more;
    int at, rc = TARN_OK;

    TN_TRY(tn_json_read_open(cx, &r->json, '{'));
    for (;;) {
        TN_TRY(tn_json_read_member(cx, &r->json, &key, &more));
        if (!more)
            break;
        TN_TRY(member(cx, r, key, known, &seen, &at));
        if (at == 0)
            TN_TRY(read_files(cx, r, out));
        else if (at == 1)
            TN_TRY(read_pools(cx, r, out));
        else if (at == 2)
            TN_TRY(read_config(cx, r, &out->config));
        else if (at == 3)
            TN_TRY(read_api(cx, r, &out->api));
        else
            TN_TRY(tn_json_read_skip(cx, &r->json));
    }
    TN_TRY(tn_json_read_end(cx, &r->json));
    if ((seen & 1) == 0)
        TN_FAIL(TARN_E_CORRUPT, "%s: %s", r->json.name,
                (seen & 16) != 0 ? "a whole set of vectors; give one of them"
                                 : "there is no array \"files\" in it");
done:
    return rc;
}

int tn_split_locations(tarn_cx *cx, tn_str text, const char *name, tn_arena *arena,
                       tn_split_input *out)
{
    reader r = {.json = tn_json_reader_of(text, name, arena)};
    /* Hadoop names files with their file system; the one of the vectors is called so. */
    tn_split_input made = {.api = TARN_SPLIT_COMBINE,
                           .config.split_count = TN_SPLIT_COUNT_DEFAULT,
                           .scheme = TN_STR("fake:")};
    tn_map shared = {0};
    int rc = TARN_OK;

    assert(name != NULL);
    r.json.shared = &shared;
    if (text.len > TN_SPLIT_JSON_BYTES_MAX)
        TN_FAIL(TARN_E_LIMIT, "%s: %zu bytes, more than %u", name, text.len,
                TN_SPLIT_JSON_BYTES_MAX);
    TN_TRY(read_all(cx, &r, &made));
    *out = made;
done:
    tn_map_clear(&shared);
    return rc;
}

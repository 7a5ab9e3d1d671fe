/* Splits of directories that are here, or of files that JSON describes: the input, then the plan.
 * I1: nothing is written, and no data file is opened.
 * I2: what the caller gave wins over what the JSON says.
 * I3: a Hudi table stands for the files of its latest snapshot, whatever lies beside them; a
 *     directory inside of one, which cannot tell old files from new ones, is refused. */
#include <assert.h>
#include <stdlib.h>

#include "op/hudi_view.h"
#include "plan/plan_split.h"

/* What the FILE apis cut local files at, unless told: the block size of a new HDFS. */
#define BLOCK_BYTES (128 << 20)

typedef struct made {
    tarn_split_plan plan; /* first: the public handle points here */
    tn_arena arena;
} made;

void tarn_split_close(tarn_split_plan *plan)
{
    made *m = (made *)plan;

    if (m == NULL)
        return;
    tn_arena_clear(&m->arena);
    free(m);
}

/* ---- options */

static int set_size(tarn_cx *cx, const uint64_t *from, const char *name, tn_split_size *into)
{
    if (from == NULL)
        return TARN_OK;
    if (*from > INT64_MAX)
        return tn_fail(cx, TARN_E_INVALID, "%s: more than 2^63 - 1 bytes", name);
    *into = (tn_split_size){true, (int64_t)*from};
    return TARN_OK;
}

static int set_pools(tarn_cx *cx, const tarn_split_options *options, tn_arena *arena,
                     tn_split_input *input)
{
    tn_split_pool *pools = tn_arena_array(cx, arena, options->pool_count, sizeof *pools);
    size_t prefixes = 0;
    int rc = TARN_OK;

    TN_TRY(pools != NULL ? TARN_OK : TARN_E_NOMEM);
    for (size_t i = 0; i < options->pool_count; i++) {
        const tarn_split_pool *pool = &options->pools[i];
        tn_str *texts = tn_arena_array(cx, arena, pool->prefix_count, sizeof *texts);

        TN_TRY(texts != NULL ? TARN_OK : TARN_E_NOMEM);
        for (size_t k = 0; k < pool->prefix_count; k++)
            texts[k] = tn_str_of(pool->prefixes[k]);
        pools[i] = (tn_split_pool){texts, pool->prefix_count};
        prefixes += pool->prefix_count;
        if (i >= TN_SPLIT_POOLS_MAX || prefixes > TN_SPLIT_POOLS_MAX)
            TN_FAIL(TARN_E_LIMIT, "more than %d pools, or prefixes of pools", TN_SPLIT_POOLS_MAX);
    }
    input->pools = pools;
    input->pool_count = options->pool_count;
done:
    return rc;
}

static int set_options(tarn_cx *cx, const tarn_split_options *options, tn_arena *arena,
                       tn_split_input *input)
{
    tn_split_config *config = &input->config;
    int rc = TARN_OK;

    TN_TRY(set_size(cx, options->max_bytes, "max-size", &config->max));
    TN_TRY(set_size(cx, options->min_bytes, "min-size", &config->min));
    TN_TRY(set_size(cx, options->min_node_bytes, "min-size-node", &config->min_node));
    TN_TRY(set_size(cx, options->min_rack_bytes, "min-size-rack", &config->min_rack));
    if (options->split_count != NULL) {
        if (*options->split_count > INT32_MAX)
            TN_FAIL(TARN_E_INVALID, "num-splits: more than %d", INT32_MAX);
        config->split_count = (int32_t)*options->split_count;
    }
    if (options->ignore_subdirs != NULL)
        config->ignore_subdirs = *options->ignore_subdirs;
    if (options->api != 0)
        input->api = options->api;
    if (input->api < TARN_SPLIT_COMBINE || input->api > TARN_SPLIT_FILE_OLD)
        TN_FAIL(TARN_E_INVALID, "api: %d is none", (int)input->api);
    if (options->pool_count != 0)
        TN_TRY(set_pools(cx, options, arena, input));
done:
    return rc;
}

/* ---- the local listing */

typedef struct listing {
    tn_arena *arena;
    tn_split_input *input;
    size_t cap;
    uint64_t block_bytes; /* 0: a file is one block */
    bool recursive;
} listing;

static bool hidden(tn_str name)
{
    return name.len != 0 && (name.ptr[0] == '_' || name.ptr[0] == '.');
}

/* As Hadoop's codecs claim names: all but bzip2's can only be read from the start. */
static bool can_split(tn_str name)
{
    static const char *const whole[] = {".gz",  ".snappy",  ".lz4",
                                        ".zst", ".deflate", ".passthrough"};

    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
        if (tn_str_ends(name, tn_str_of(whole[i])))
            return false;
    return true;
}

static int add_blocks(tarn_cx *cx, listing *l, tn_split_file *file)
{
    static const tn_str here[] = {{"localhost", 9}};
    int64_t size = l->block_bytes != 0 ? (int64_t)l->block_bytes : file->len, left = file->len;
    size_t count = left != 0 ? (size_t)((left - 1) / size + 1) : 0;
    tn_split_block *blocks;
    int rc = TARN_OK;

    if (count > TN_SPLIT_CHUNKS_MAX)
        TN_FAIL(TARN_E_LIMIT, "%.*s: more than %u blocks; give a larger --block-size",
                TN_STR_ARG(file->path), TN_SPLIT_CHUNKS_MAX);
    blocks = tn_arena_array(cx, l->arena, count, sizeof *blocks);
    TN_TRY(blocks != NULL ? TARN_OK : TARN_E_NOMEM);
    for (size_t i = 0; i < count; i++) {
        blocks[i] = (tn_split_block){
            .offset = (int64_t)i * size, .len = left < size ? left : size, .hosts = here};
        blocks[i].host_count = 1;
        left -= blocks[i].len;
    }
    file->blocks = blocks;
    file->block_count = count;
done:
    return rc;
}

static int add_input(tarn_cx *cx, listing *l, tn_str path, size_t below, const tn_stat *stat)
{
    tn_split_file file = {.path = path, .below = below, .dir = stat->kind == TN_ENTRY_DIR};
    int rc = TARN_OK;

    if (l->input->file_count >= TN_SPLIT_FILES_MAX)
        TN_FAIL(TARN_E_LIMIT, "%.*s: more than %u files in all; plan fewer at once",
                TN_STR_ARG(path), TN_SPLIT_FILES_MAX);
    file.block_size = l->block_bytes != 0 ? (int64_t)l->block_bytes : BLOCK_BYTES;
    if (!file.dir) {
        file.splittable = can_split(tn_path_name(path));
        file.len = (int64_t)stat->size_bytes;
        TN_TRY(add_blocks(cx, l, &file));
    }
    TN_TRY(
        tn_arena_grow(cx, l->arena, &l->input->files, l->input->file_count, &l->cap, sizeof file));
    l->input->files[l->input->file_count++] = file;
done:
    return rc;
}

static int list(tarn_cx *cx, tn_store *store, listing *l, tn_str directory, size_t below, int depth)
{
    tn_arena entries_arena = {0};
    tn_entry *entries;
    size_t count;
    int rc = TARN_OK;

    TN_TRY(tn_cx_check(cx));
    if (depth > TN_DIR_DEPTH_MAX)
        TN_FAIL(TARN_E_LIMIT, "%.*s: more than %d directories deep", TN_STR_ARG(directory),
                TN_DIR_DEPTH_MAX);
    TN_TRY(tn_store_list(cx, store, directory, &entries_arena, &entries, &count));
    for (size_t i = 0; i < count; i++) {
        tn_str path;

        /* Sockets, devices, and links that lead nowhere are nothing to read. */
        if (hidden(entries[i].name) || entries[i].stat.kind == TN_ENTRY_OTHER)
            continue;
        TN_TRY(tn_path_join(cx, l->arena, directory, entries[i].name, &path));
        if (entries[i].stat.kind == TN_ENTRY_DIR && l->recursive)
            TN_TRY(list(cx, store, l, path, below, depth + 1));
        else
            TN_TRY(add_input(cx, l, path, below, &entries[i].stat));
    }
done:
    tn_arena_clear(&entries_arena);
    return rc;
}

/* The files of a Hudi table that a reader of its snapshot opens. */
static int list_table(tarn_cx *cx, listing *l, const char *name, bool *hudi)
{
    static const tn_slices_options latest = {0};
    tn_hudi_view view = {0};
    tn_slices slices;
    int rc = TARN_OK;

    TN_TRY(tn_hudi_view_open(cx, name, hudi, &view));
    if (!*hudi)
        goto done;
    TN_TRY(tn_slices_load(cx, view.store, view.root, &view.config, &view.timeline, &latest,
                          &view.arena, &slices));
    for (size_t i = 0; i < slices.slice_count; i++) {
        const tn_slice *slice = &slices.slices[i];
        tn_str path = slice->base.path;
        tn_stat stat;

        if (slice->log_count != 0)
            TN_FAIL(TARN_E_UNSUPPORTED,
                    "%.*s: file group %.*s has logs that are not compacted, and splits are of base "
                    "files alone: compact the table first",
                    TN_STR_ARG(view.root), TN_STR_ARG(slice->base.file_id));
        if (slice->base.name.len == 0)
            continue;
        TN_TRY(tn_arena_keep(cx, l->arena, &path));
        TN_TRY(tn_store_stat(cx, view.store, path, &stat));
        TN_TRY(add_input(cx, l, path, view.root.len + (view.root.len > 1), &stat));
    }
done:
    tn_hudi_view_clear(&view);
    return rc;
}

/* I3: no directory above is a Hudi table. */
static int check_above(tarn_cx *cx, tn_store *store, tn_str path)
{
    tn_arena arena = {0};
    tn_str at = path;
    int rc = TARN_OK;

    while (at.len > 1) {
        tn_str hoodie;
        bool there;

        at = tn_path_parent(at);
        TN_TRY(tn_path_join(cx, &arena, at, TN_STR(".hoodie"), &hoodie));
        TN_TRY(tn_store_exists(cx, store, hoodie, &there));
        if (there)
            TN_FAIL(TARN_E_UNSUPPORTED,
                    "%.*s: lies in a Hudi table (.hoodie) at %.*s, and holds old versions of its "
                    "files as well as new ones: plan the splits of the table",
                    TN_STR_ARG(path), TN_STR_ARG(at));
    }
done:
    tn_arena_clear(&arena);
    return rc;
}

/* A path as it was named: a directory stands for what is in it, a file for itself. */
static int add_named(tarn_cx *cx, listing *l, const char *name)
{
    tn_store *store = NULL;
    tn_str path;
    tn_stat stat;
    bool hudi = false;
    int rc = TARN_OK;

    TN_TRY(tn_store_locate(cx, tn_str_of(name), l->arena, &store, &path));
    rc = tn_store_stat(cx, store, path, &stat);
    if (rc == TARN_E_NOTFOUND)
        TN_FAIL(TARN_E_NOTFOUND, "Input path does not exist: %.*s%.*s",
                TN_STR_ARG(l->input->scheme), TN_STR_ARG(path));
    TN_TRY(rc);
    if (stat.kind == TN_ENTRY_DIR)
        TN_TRY(list_table(cx, l, name, &hudi));
    if (hudi)
        goto done;
    if (stat.kind == TN_ENTRY_DIR)
        TN_TRY(check_above(cx, store, path));
    if (stat.kind == TN_ENTRY_DIR)
        TN_TRY(list(cx, store, l, path, path.len + (path.ptr[path.len - 1] != '/'), 0));
    else if (stat.kind == TN_ENTRY_FILE)
        TN_TRY(add_input(cx, l, path, path.len - tn_path_name(path).len, &stat));
    else
        TN_FAIL(TARN_E_INVALID, "%.*s: neither a file nor a directory", TN_STR_ARG(path));
done:
    tn_store_close(store);
    return rc;
}

/* ---- the operation */

static int plan(tarn_cx *cx, made *m, const tarn_split_options *options, tn_split_input *input,
                bool text_paths)
{
    int rc = TARN_OK;

    TN_TRY(set_options(cx, options, &m->arena, input));
    TN_TRY(tn_plan_split(cx, input, &m->arena, &m->plan));
    m->plan.text_paths = text_paths;
done:
    return rc;
}

int tarn_split(tarn_cx *cx, const char *const *paths, size_t path_count,
               const tarn_split_options *options, tarn_split_plan **out)
{
    static const tarn_split_options plain = {0};
    tn_split_input input = {.api = TARN_SPLIT_COMBINE, .scheme = TN_STR("file:")};
    listing l = {.input = &input};
    made *m = tn_calloc(cx, 1, sizeof *m);
    int rc = TARN_OK;

    assert(out != NULL);
    TN_TRY(m != NULL ? TARN_OK : TARN_E_NOMEM);
    if (options == NULL)
        options = &plain;
    input.config.split_count = TN_SPLIT_COUNT_DEFAULT;
    l.arena = &m->arena;
    l.recursive = options->recursive;
    if (options->block_bytes != NULL) {
        if (*options->block_bytes == 0 || *options->block_bytes > INT64_MAX)
            TN_FAIL(TARN_E_INVALID, "block-size: it must be more than 0, and below 2^63");
        l.block_bytes = *options->block_bytes;
    }
    for (size_t i = 0; i < path_count; i++)
        TN_TRY(add_named(cx, &l, paths[i]));
    TN_TRY(plan(cx, m, options, &input, false));
    *out = &m->plan;
    m = NULL;
done:
    tarn_split_close(m != NULL ? &m->plan : NULL);
    return rc;
}

int tarn_split_locations(tarn_cx *cx, const char *json, size_t len, const char *name,
                         const tarn_split_options *options, tarn_split_plan **out)
{
    static const tarn_split_options plain = {0};
    tn_split_input input;
    made *m = tn_calloc(cx, 1, sizeof *m);
    int rc = TARN_OK;

    assert(out != NULL);
    TN_TRY(m != NULL ? TARN_OK : TARN_E_NOMEM);
    if (options == NULL)
        options = &plain;
    if (options->block_bytes != NULL || options->recursive)
        TN_FAIL(TARN_E_INVALID,
                "%s: block sizes and directories are as it says; give neither "
                "block-size nor recursive with it",
                name);
    TN_TRY(tn_split_locations(cx, (tn_str){json, len}, name, &m->arena, &input));
    TN_TRY(plan(cx, m, options, &input, true));
    *out = &m->plan;
    m = NULL;
done:
    tarn_split_close(m != NULL ? &m->plan : NULL);
    return rc;
}

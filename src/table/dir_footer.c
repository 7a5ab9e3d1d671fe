/* Reads the footers of a directory's files, in parallel, and keeps of each what a plan needs.
 * I1: schemas and footer keys are interned by their bytes; their numbers follow the order of files,
 *     not of threads.
 * I2: no file fails the load: what cannot be read is DAMAGED and says why. */
#include <pthread.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/pool.h"
#include "codec/parquet/file.h"
#include "codec/parquet/writer.h"
#include "table/dir_parts.h"

#define TN_FOOTER_RUN 32 /* files per job */

typedef struct file_at {
    const tn_dir_partition *partition;
    tn_dir_file *file;
} file_at;

/* Byte strings by number, as met; guarded by the load's lock. */
typedef struct interned {
    tn_map map;
    tn_str *values;
    size_t count, cap;
} interned;

typedef struct load {
    tn_store *store;
    const tn_dir_options *options;
    file_at *files;
    size_t file_count;
    tn_arena *arenas; /* one per job */
    pthread_mutex_t lock;
    tn_arena arena; /* of interned bytes; guarded */
    interned schemas, keys, writers, encodings;
} load;

static int intern_locked(tarn_cx *cx, load *l, interned *set, tn_str bytes, uint32_t *number)
{
    size_t *place = tn_map_find(&set->map, bytes);
    bool added;

    if (place != NULL) {
        *number = (uint32_t)*place;
        return TARN_OK;
    }
    if (tn_grow(cx, &set->values, set->count, &set->cap, sizeof *set->values) != TARN_OK)
        return TARN_E_NOMEM;
    if (tn_arena_keep(cx, &l->arena, &bytes) != TARN_OK)
        return TARN_E_NOMEM;
    place = tn_map_add(cx, &set->map, bytes, &added);
    if (place == NULL)
        return TARN_E_NOMEM;
    *place = set->count;
    *number = (uint32_t)set->count;
    set->values[set->count++] = bytes;
    return TARN_OK;
}

static int intern(tarn_cx *cx, load *l, interned *set, tn_str bytes, uint32_t *number)
{
    int rc;

    if (bytes.ptr == NULL)
        bytes = TN_STR("");
    pthread_mutex_lock(&l->lock);
    rc = intern_locked(cx, l, set, bytes, number);
    pthread_mutex_unlock(&l->lock);
    return rc;
}

/* The array of values may move while others add; the bytes do not. */
static tn_str interned_value(load *l, const interned *set, uint32_t number)
{
    tn_str value;

    pthread_mutex_lock(&l->lock);
    value = set->values[number];
    pthread_mutex_unlock(&l->lock);
    return value;
}

static void interned_clear(interned *set)
{
    tn_map_clear(&set->map);
    free(set->values);
}

/* Footer keys as one string: the footer that holds nothing but them. */
static int intern_footer(tarn_cx *cx, load *l, const tn_footer *footer, tn_buf *scratch,
                         tn_dir_file *file)
{
    tn_footer schema = {.elements = footer->elements, .element_count = footer->element_count};
    tn_footer keys = {.elements = footer->elements,
                      .element_count = 1,
                      .key_values = footer->key_values,
                      .key_value_count = footer->key_value_count};
    tn_element root = {.name = TN_STR("keys"), .group = true, .converted = TN_CONVERTED_NONE};
    uint32_t writer;
    int rc = TARN_OK;

    tn_buf_reset(scratch);
    tn_footer_encode(scratch, &schema);
    TN_TRY(tn_buf_check(cx, scratch));
    TN_TRY(intern(cx, l, &l->schemas, tn_buf_view(scratch), &file->schema));
    keys.elements = &root;
    tn_buf_reset(scratch);
    tn_footer_encode(scratch, &keys);
    TN_TRY(tn_buf_check(cx, scratch));
    TN_TRY(intern(cx, l, &l->keys, tn_buf_view(scratch), &file->keys));
    TN_TRY(intern(cx, l, &l->writers, footer->created_by, &writer));
    file->created_by = interned_value(l, &l->writers, writer);
done:
    return rc;
}

/* Levels have encodings, too: RLE and BIT_PACKED of a leaf with levels say nothing of its values,
 * and do no harm. */
static int intern_encodings(tarn_cx *cx, load *l, const tn_parquet *parquet, tn_buf *scratch,
                            tn_dir_file *file)
{
    const tn_footer *footer = &parquet->footer;
    size_t leaves = parquet->schema.leaf_count;
    uint32_t number;
    uint8_t *bits;
    int rc = TARN_OK;

    tn_buf_reset(scratch);
    bits = tn_buf_extend(scratch, leaves * 2);
    TN_TRY(tn_buf_check(cx, scratch));
    if (leaves == 0)
        goto done;
    memset(bits, 0, leaves * 2);
    for (size_t g = 0; g < footer->group_count; g++)
        for (size_t c = 0; c < footer->groups[g].column_count && c < leaves; c++) {
            const tn_chunk_meta *chunk = &footer->groups[g].columns[c];

            for (size_t i = 0; i < chunk->encoding_count; i++)
                if (chunk->encodings[i] >= 0 && chunk->encodings[i] < 16)
                    bits[2 * c + (size_t)chunk->encodings[i] / 8] |=
                        (uint8_t)(1u << chunk->encodings[i] % 8);
        }
    TN_TRY(intern(cx, l, &l->encodings, tn_buf_view(scratch), &number));
    file->encodings = interned_value(l, &l->encodings, number);
done:
    return rc;
}

/* A dictionary page that claims to lie behind the data is no start, as parquet-java has it. */
static int64_t first_byte(const tn_chunk_meta *chunk)
{
    if (chunk->has_dictionary_page_offset && chunk->dictionary_page_offset > 0 &&
        chunk->dictionary_page_offset < chunk->data_page_offset)
        return chunk->dictionary_page_offset;
    return chunk->data_page_offset;
}

static int keep_chunk(tarn_cx *cx, tn_arena *arena, const tn_chunk_meta *chunk, size_t leaf,
                      size_t leaf_count, tn_dir_file *file)
{
    if (chunk->codec >= 0 && chunk->codec < 32)
        file->codecs |= 1u << chunk->codec;
    if (chunk->offset_index_offset != 0)
        file->has_index = true;
    if (!chunk->has_bloom)
        return TARN_OK;
    file->has_bloom = true;
    if (chunk->bloom_bytes > 0)
        file->bloom_bytes += (uint64_t)chunk->bloom_bytes;
    if (file->bloom_leaves == NULL) {
        file->bloom_leaves = tn_arena_take(cx, arena, (leaf_count + 7) / 8);
        if (file->bloom_leaves == NULL)
            return TARN_E_NOMEM;
    }
    file->bloom_leaves[leaf / 8] |= (uint8_t)(1u << (leaf % 8));
    return TARN_OK;
}

static int keep_footer(tarn_cx *cx, load *l, tn_arena *arena, const tn_parquet *parquet,
                       tn_buf *scratch, tn_dir_file *file)
{
    const tn_footer *footer = &parquet->footer;
    int rc = TARN_OK;

    file->rows = footer->rows;
    file->group_count = (uint32_t)footer->group_count;
    file->groups = tn_arena_array(cx, arena, footer->group_count, sizeof *file->groups);
    if (file->groups == NULL)
        return TARN_E_NOMEM;
    for (size_t g = 0; g < footer->group_count; g++) {
        const tn_row_group_meta *meta = &footer->groups[g];

        file->groups[g].rows = meta->rows;
        if (meta->column_count != 0)
            file->groups[g].first_byte = first_byte(&meta->columns[0]);
        for (size_t c = 0; c < meta->column_count; c++) {
            file->groups[g].compressed_bytes += meta->columns[c].compressed_bytes;
            file->groups[g].uncompressed_bytes += meta->columns[c].uncompressed_bytes;
            TN_TRY(keep_chunk(cx, arena, &meta->columns[c], c, meta->column_count, file));
        }
    }
    TN_TRY(intern_footer(cx, l, footer, scratch, file));
    TN_TRY(intern_encodings(cx, l, parquet, scratch, file));
    file->faulty_deltas = tn_writer_faulty_deltas(footer->created_by);
    file->footer_seen = true;
done:
    return rc;
}

/* The first and last four bytes, as far as the file has them. */
static void read_magic(tarn_cx *cx, tn_store *store, tn_str path, char magic[8])
{
    tn_file *file = NULL;

    memset(magic, 0, 8);
    if (tn_store_open_file(cx, store, path, &file) == TARN_OK && file->stat.size_bytes >= 4 &&
        tn_store_read(cx, file, 0, magic, 4) == TARN_OK &&
        tn_store_read(cx, file, file->stat.size_bytes - 4, magic + 4, 4) != TARN_OK)
        memset(magic, 0, 8);
    tn_store_close_file(file);
    tn_cx_forget(cx);
}

static bool parquet_name(tn_str name)
{
    return tn_str_ends(name, TN_STR(".parquet")) || tn_str_ends(name, TN_STR(".parq"));
}

/* What a file is that could not be opened: another format, a damaged or an encrypted one. */
static int judge(tarn_cx *cx, load *l, tn_arena *arena, tn_str path, int status, tn_dir_file *file)
{
    tn_str problem = tn_str_of(tarn_cx_error(cx));
    bool plain_encrypted = status == TARN_E_UNSUPPORTED && strstr(problem.ptr, "crypt") != NULL;
    char magic[8];
    int rc = TARN_OK;

    TN_TRY(tn_arena_keep(cx, arena, &problem));
    file->problem = problem;
    read_magic(cx, l->store, path, magic);
    if (memcmp(magic + 4, "PARE", 4) == 0 || memcmp(magic, "PARE", 4) == 0 || plain_encrypted)
        file->state = TN_FILE_ENCRYPTED;
    else if (memcmp(magic, "PAR1", 4) == 0 || memcmp(magic + 4, "PAR1", 4) == 0 ||
             parquet_name(file->name) || status == TARN_E_IO)
        file->state = TN_FILE_DAMAGED;
    else
        file->state = TN_FILE_NOT_PARQUET;
done:
    return rc;
}

static int read_file(tarn_cx *cx, load *l, tn_arena *arena, const file_at *at, tn_buf *scratch)
{
    tn_dir_file *file = at->file;
    tn_parquet parquet = {0};
    tn_arena names = {0};
    tn_str path;
    int opened, rc = TARN_OK;

    TN_TRY(tn_path_join(cx, &names, at->partition->directory, file->name, &path));
    opened = tn_parquet_open(cx, l->store, path, &parquet);
    if (opened == TARN_E_NOMEM || opened == TARN_E_CANCELLED)
        TN_TRY(opened);
    if (opened != TARN_OK) {
        TN_TRY(judge(cx, l, arena, path, opened, file));
        tn_cx_forget(cx);
        goto done;
    }
    TN_TRY(keep_footer(cx, l, arena, &parquet, scratch, file));
    if (file->stat.link)
        file->state = TN_FILE_SYMLINK;
    else if (tn_dir_bucketed_name(file->name))
        file->state = TN_FILE_BUCKETED;
done:
    tn_parquet_close(&parquet);
    tn_arena_clear(&names);
    return rc;
}

static int read_run(tarn_cx *cx, size_t job, void *arg)
{
    load *l = arg;
    tn_buf scratch = {0};
    int rc = TARN_OK;

    for (size_t i = job * TN_FOOTER_RUN; i < l->file_count && i < (job + 1) * TN_FOOTER_RUN; i++) {
        TN_TRY(tn_cx_check(cx));
        TN_TRY(read_file(cx, l, &l->arenas[job], &l->files[i], &scratch));
    }
done:
    tn_buf_clear(&scratch);
    return rc;
}

/* Numbers by first appearance in file order (I1): order[number as met] is the final number. */
static int renumber(tarn_cx *cx, load *l, const interned *set, bool keys, tn_arena *arena,
                    tn_str **bytes, size_t *count)
{
    size_t *order = tn_calloc(cx, set->count, sizeof *order);
    tn_str *out = tn_arena_array(cx, arena, set->count, sizeof *out);
    size_t n = 0;

    if (order == NULL || out == NULL) {
        free(order);
        return TARN_E_NOMEM;
    }
    for (size_t i = 0; i < l->file_count; i++) {
        tn_dir_file *file = l->files[i].file;
        uint32_t *number = keys ? &file->keys : &file->schema;

        if (!file->footer_seen)
            continue;
        if (order[*number] == 0) {
            out[n++] = set->values[*number];
            order[*number] = n;
        }
        *number = (uint32_t)(order[*number] - 1);
    }
    free(order);
    *bytes = out;
    *count = n;
    return TARN_OK;
}

static int publish(tarn_cx *cx, load *l, tn_dir *dir)
{
    tn_str *schemas, *keys;
    tn_footer footer;
    int rc = TARN_OK;

    TN_TRY(renumber(cx, l, &l->schemas, false, &dir->arena, &schemas, &dir->schema_count));
    TN_TRY(renumber(cx, l, &l->keys, true, &dir->arena, &keys, &dir->key_set_count));
    dir->schemas = tn_arena_array(cx, &dir->arena, dir->schema_count, sizeof *dir->schemas);
    dir->key_sets = tn_arena_array(cx, &dir->arena, dir->key_set_count, sizeof *dir->key_sets);
    if (dir->schemas == NULL || dir->key_sets == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < dir->schema_count; i++) {
        TN_TRY(tn_footer_decode(cx, schemas[i], &dir->arena, &footer));
        dir->schemas[i] = (tn_dir_schema){footer.elements, footer.element_count, schemas[i]};
    }
    for (size_t i = 0; i < dir->key_set_count; i++) {
        TN_TRY(tn_footer_decode(cx, keys[i], &dir->arena, &footer));
        dir->key_sets[i] = (tn_dir_keys){footer.key_values, footer.key_value_count};
    }
done:
    return rc;
}

static int collect(tarn_cx *cx, load *l, tn_dir *dir)
{
    size_t count = 0;
    uint64_t below = l->options->footers_below_bytes;

    for (size_t p = 0; p < dir->partition_count; p++)
        count += dir->partitions[p].file_count;
    l->files = tn_calloc(cx, count, sizeof *l->files);
    if (l->files == NULL)
        return TARN_E_NOMEM;
    for (size_t p = 0; p < dir->partition_count; p++) {
        for (size_t f = 0; f < dir->partitions[p].file_count; f++) {
            tn_dir_file *file = &dir->partitions[p].files[f];

            if (below == 0 || file->stat.size_bytes < below)
                l->files[l->file_count++] = (file_at){&dir->partitions[p], file};
            else if (tn_dir_bucketed_name(file->name))
                file->state = TN_FILE_BUCKETED;
        }
    }
    return TARN_OK;
}

int tn_dir_read_footers(tarn_cx *cx, tn_store *store, const tn_dir_options *options, tn_dir *dir)
{
    load l = {.store = store, .options = options};
    size_t jobs;
    tn_arena *parts;
    int rc = TARN_OK;

    pthread_mutex_init(&l.lock, NULL);
    TN_TRY(collect(cx, &l, dir));
    jobs = (l.file_count + TN_FOOTER_RUN - 1) / TN_FOOTER_RUN;
    parts = tn_realloc(cx, dir->parts, dir->part_count + jobs + 1, sizeof *parts);
    if (parts == NULL)
        TN_TRY(TARN_E_NOMEM);
    memset(parts + dir->part_count, 0, (jobs + 1) * sizeof *parts);
    dir->parts = parts;
    l.arenas = parts + dir->part_count;
    dir->part_count += jobs + 1;
    TN_TRY(tn_parallel(cx, jobs, read_run, &l));
    TN_TRY(publish(cx, &l, dir));
done:
    /* Interned bytes live as long as the directory, also after a failure half-way. */
    if (l.arenas != NULL)
        dir->parts[dir->part_count - 1] = l.arena;
    else
        tn_arena_clear(&l.arena);
    interned_clear(&l.schemas);
    interned_clear(&l.keys);
    interned_clear(&l.writers);
    interned_clear(&l.encodings);
    free(l.files);
    pthread_mutex_destroy(&l.lock);
    return rc;
}

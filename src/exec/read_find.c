/* Looks a few record keys up in the key column of a file.
 *   rows to look among ── cut where pages begin ──> pieces, on all threads ──> rows that hit
 *
 * I1: every row that has one of the keys is found, also where a key is there more than once.
 * I2: nothing but the key column is read, and of that only pages with rows to look among. */
#include "exec/read_find.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/map.h"
#include "base/pool.h"
#include "codec/parquet/leaf_read.h"

#define KEY_COLUMN   "_hoodie_record_key"
#define PIECE_BYTES  (1ll << 20) /* of pages; less is not worth a reader of its own */
#define WINDOW_BYTES (256ull << 10)
#define BATCH_ROWS   8192
#define KEYS_FEW     4 /* are compared one by one */

/* Rows of a group that one thread looks through. */
typedef struct piece {
    uint32_t group;
    int64_t first, rows;
    tn_buf hits; /* of int64_t: rows within the group */
} piece;

typedef struct search {
    const tn_parquet *file;
    const tn_leaf *leaf;
    bool skip_crc;
    const tn_str *keys;
    size_t key_count;
    tn_map known;           /* the keys, where they are many */
    tn_offset_index *pages; /* of each group; without pages: the group has no index, or no rows */
    piece *pieces;
    size_t count, cap;
} search;

/* ---- one piece ---- */

static bool is_wanted(const search *s, tn_view value)
{
    tn_str key = {(const char *)value.ptr, value.len};

    if (s->key_count > KEYS_FEW)
        return tn_map_find(&s->known, key) != NULL;
    for (size_t i = 0; i < s->key_count; i++)
        if (s->keys[i].len == key.len && memcmp(s->keys[i].ptr, key.ptr, key.len) == 0)
            return true;
    return false;
}

/* Which values of a dictionary are wanted; kept while batches have the same one. */
typedef struct dictionary {
    uint64_t id;
    uint8_t *wanted;
} dictionary;

static int know_dictionary(tarn_cx *cx, const search *s, const tn_leaf_batch *batch, dictionary *d)
{
    const tn_view *values = batch->dictionary.data;

    if (d->wanted != NULL && d->id == batch->dictionary_id)
        return TARN_OK;
    free(d->wanted);
    d->wanted = tn_alloc(cx, (size_t)batch->dictionary.count + 1);
    if (d->wanted == NULL)
        return TARN_E_NOMEM;
    for (int64_t i = 0; i < batch->dictionary.count; i++)
        d->wanted[i] = is_wanted(s, values[i]);
    d->id = batch->dictionary_id;
    return TARN_OK;
}

static int look_batch(tarn_cx *cx, const search *s, const tn_leaf_batch *batch, int64_t first,
                      dictionary *d, tn_buf *hits)
{
    const tn_view *values = batch->values.data;
    int64_t v = 0;
    int rc = TARN_OK;

    if (batch->indices != NULL)
        TN_TRY(know_dictionary(cx, s, batch, d));
    for (int64_t i = 0; i < batch->entries; i++) {
        int64_t row = first + i;

        if (!batch->all_present && batch->def[i] != s->leaf->max_def)
            continue;
        if (batch->indices != NULL ? d->wanted[batch->indices[v]] != 0 : is_wanted(s, values[v]))
            tn_buf_add(hits, &row, sizeof row);
        v++;
    }
    TN_TRY(tn_buf_check(cx, hits));
done:
    return rc;
}

static int look(tarn_cx *cx, size_t i, void *arg)
{
    const search *s = arg;
    piece *p = &s->pieces[i];
    const tn_offset_index *pages = &s->pages[p->group];
    tn_leaf_read_options options = {.skip_crc = s->skip_crc, .keep_dictionary = true};
    tn_leaf_reader *reader = NULL;
    tn_source source = {0};
    tn_file *bytes = NULL;
    dictionary d = {0};
    uint64_t charged = 0;
    tn_leaf_batch batch;
    int rc = TARN_OK;

    options.pages = pages->pages != 0 ? pages : NULL;
    if (s->file->memory != NULL) {
        source = tn_source_memory(s->file->memory, s->file->size_bytes, 0);
    } else {
        TN_TRY(tn_budget_take(cx, WINDOW_BYTES, "looking for keys"));
        charged = WINDOW_BYTES;
        TN_TRY(tn_store_open_file(cx, s->file->store, s->file->path, &bytes));
        source = tn_source_file(bytes, WINDOW_BYTES);
    }
    TN_TRY(tn_leaf_reader_open(cx, s->file, p->group, s->leaf->index, &source, &options, &reader));
    if (p->first != 0)
        TN_TRY(tn_leaf_reader_skip(cx, reader, p->first));
    for (int64_t at = 0; at < p->rows; at += batch.rows) {
        int64_t left = p->rows - at;

        TN_TRY(tn_cx_check(cx));
        TN_TRY(tn_leaf_reader_next(cx, reader, left < BATCH_ROWS ? left : BATCH_ROWS, &batch));
        if (batch.rows <= 0)
            TN_FAIL(TARN_E_CORRUPT,
                    "%.*s: column \"" KEY_COLUMN "\" has fewer rows than row group %u says",
                    TN_STR_ARG(s->file->path), p->group);
        TN_TRY(look_batch(cx, s, &batch, p->first + at, &d, &p->hits));
    }
done:
    tn_leaf_reader_close(reader);
    tn_source_clear(&source);
    if (bytes != NULL)
        tn_store_close_file(bytes);
    free(d.wanted);
    tn_budget_give(cx, charged);
    return rc;
}

/* ---- pieces ---- */

static int add_piece(tarn_cx *cx, search *s, uint32_t group, int64_t first, int64_t end)
{
    int rc = TARN_OK;

    TN_TRY(tn_grow(cx, &s->pieces, s->count, &s->cap, sizeof *s->pieces));
    s->pieces[s->count++] = (piece){.group = group, .first = first, .rows = end - first};
done:
    return rc;
}

static int cut_range(tarn_cx *cx, search *s, tn_row_range range, tn_arena *arena)
{
    tn_offset_index *pages = &s->pages[range.group];
    int64_t first = range.first, end = range.first + range.rows, bytes = 0;
    bool present;
    int rc = TARN_OK;

    if (range.rows == 0)
        return TARN_OK;
    if (pages->pages == 0) {
        TN_TRY(tn_parquet_offset_index(cx, s->file, range.group, s->leaf->index, arena, &present,
                                       pages));
        if (!present)
            *pages = (tn_offset_index){0};
    }
    for (size_t i = 0; i < pages->pages && pages->locations[i].first_row < end; i++) {
        int64_t at = pages->locations[i].first_row;

        if (at > first && bytes >= PIECE_BYTES) {
            TN_TRY(add_piece(cx, s, range.group, first, at));
            first = at;
            bytes = 0;
        }
        if (at >= first)
            bytes += pages->locations[i].bytes;
    }
    TN_TRY(add_piece(cx, s, range.group, first, end));
done:
    return rc;
}

static int cut(tarn_cx *cx, search *s, const tn_row_range *ranges, size_t range_count,
               tn_arena *arena)
{
    const tn_footer *footer = &s->file->footer;
    size_t n = ranges != NULL ? range_count : footer->group_count;
    int rc = TARN_OK;

    s->pages = tn_arena_array(cx, arena, footer->group_count + 1, sizeof *s->pages);
    if (s->pages == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        TN_TRY(cut_range(cx, s,
                         ranges != NULL ? ranges[i]
                                        : (tn_row_range){(uint32_t)i, 0, footer->groups[i].rows},
                         arena));
done:
    return rc;
}

/* ---- what was found ---- */

static int join_hits(tarn_cx *cx, const search *s, tn_arena *arena, tn_row_range **out,
                     size_t *count)
{
    tn_row_range *made = NULL;
    size_t n = 0, cap = 0;
    int rc = TARN_OK;

    for (size_t i = 0; i < s->count; i++) {
        const int64_t *rows = (const void *)s->pieces[i].hits.data;

        for (size_t k = 0; k < s->pieces[i].hits.len / sizeof *rows; k++) {
            if (n != 0 && made[n - 1].group == s->pieces[i].group &&
                made[n - 1].first + made[n - 1].rows == rows[k]) {
                made[n - 1].rows++;
                continue;
            }
            TN_TRY(tn_arena_grow(cx, arena, &made, n, &cap, sizeof *made));
            made[n++] = (tn_row_range){s->pieces[i].group, rows[k], 1};
        }
    }
    *out = made;
    *count = n;
done:
    return rc;
}

static int know_keys(tarn_cx *cx, search *s)
{
    for (size_t i = 0; s->key_count > KEYS_FEW && i < s->key_count; i++)
        if (tn_map_add(cx, &s->known, s->keys[i], &(bool){false}) == NULL)
            return TARN_E_NOMEM;
    return TARN_OK;
}

int tn_read_find(tarn_cx *cx, const tn_parquet *file, bool skip_crc, const tn_str *keys,
                 size_t count, const tn_row_range *ranges, size_t range_count, tn_arena *arena,
                 bool *found, tn_row_range **out, size_t *out_count)
{
    static const tn_str path[] = {{KEY_COLUMN, sizeof KEY_COLUMN - 1}};
    search s = {.file = file, .skip_crc = skip_crc, .keys = keys, .key_count = count};
    int rc = TARN_OK;

    assert(found != NULL && out != NULL && out_count != NULL);
    s.leaf = tn_schema_leaf(&file->schema, path, 1);
    *found = s.leaf != NULL && s.leaf->max_rep == 0 && s.leaf->physical == TN_BYTE_ARRAY;
    if (!*found)
        return TARN_OK;
    TN_TRY(know_keys(cx, &s));
    TN_TRY(cut(cx, &s, ranges, range_count, arena));
    TN_TRY(tn_parallel(cx, s.count, look, &s));
    TN_TRY(join_hits(cx, &s, arena, out, out_count));
done:
    for (size_t i = 0; i < s.count; i++)
        tn_buf_clear(&s.pieces[i].hits);
    free(s.pieces);
    tn_map_clear(&s.known);
    return rc;
}

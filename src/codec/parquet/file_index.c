/* The parts of a file that the footer points to besides pages: indexes and bloom filters.
 *
 * I1: they are hints. One that lies outside of the file, does not decode or contradicts itself or
 *     the footer is given as absent, never as an error, and nothing is ever concluded from it; only
 *     a failing store or memory is a failure. */
#include "codec/parquet/file.h"

#define BLOOM_HEADER_BYTES_MAX 64

/* `bytes` bytes at `offset`, borrowed from memory or in the arena. */
static int load(tarn_cx *cx, const tn_parquet *file, uint64_t offset, size_t bytes, tn_arena *arena,
                tn_str *out)
{
    tn_file *handle = NULL;
    char *into;
    int rc = TARN_OK;

    if (file->memory != NULL) {
        *out = (tn_str){(const char *)file->memory + offset, bytes};
        return TARN_OK;
    }
    into = tn_arena_take(cx, arena, bytes);
    if (into == NULL)
        return TARN_E_NOMEM;
    TN_TRY(tn_store_open_file(cx, file->store, file->path, &handle));
    TN_TRY(tn_store_read(cx, handle, offset, into, bytes));
    *out = (tn_str){into, bytes};
done:
    tn_store_close_file(handle);
    return rc;
}

static bool inside(const tn_parquet *file, int64_t offset, int64_t bytes)
{
    return offset >= 4 && bytes > 0 && (uint64_t)offset <= file->footer_offset &&
           (uint64_t)bytes <= file->footer_offset - (uint64_t)offset;
}

/* A decoder's CORRUPT means that the part is as good as absent. */
static int forgive(tarn_cx *cx, int rc, bool *present)
{
    *present = rc == TARN_OK;
    if (rc != TARN_E_CORRUPT && rc != TARN_E_UNSUPPORTED)
        return rc;
    tn_cx_forget(cx);
    return TARN_OK;
}

static bool column_index_sound(const tn_chunk_meta *chunk, const tn_column_index *index)
{
    int64_t nulls = 0;

    for (size_t i = 0; i < index->pages && index->null_counts != NULL; i++) {
        int64_t count = index->null_counts[i];

        /* A page of nulls only has one at least: R183, an index that called a page of values so. */
        if (count < 0 || (index->null_pages[i] && count == 0) ||
            __builtin_add_overflow(nulls, count, &nulls))
            return false;
    }
    if (index->null_counts == NULL)
        return true;
    if (nulls > chunk->values)
        return false;
    return !chunk->has_statistics || !chunk->statistics.has_null_count ||
           chunk->statistics.null_count == nulls;
}

int tn_parquet_column_index(tarn_cx *cx, const tn_parquet *file, size_t group, size_t leaf,
                            tn_arena *arena, bool *present, tn_column_index *out)
{
    const tn_chunk_meta *chunk = &file->footer.groups[group].columns[leaf];
    tn_column_index index;
    tn_str bytes;
    int rc = TARN_OK;

    *present = false;
    if (!inside(file, chunk->column_index_offset, chunk->column_index_bytes))
        return TARN_OK;
    TN_TRY(load(cx, file, (uint64_t)chunk->column_index_offset, (size_t)chunk->column_index_bytes,
                arena, &bytes));
    TN_TRY(forgive(cx, tn_column_index_decode(cx, bytes, arena, &index), present));
    if (*present && !column_index_sound(chunk, &index))
        *present = false;
    if (*present)
        *out = index;
done:
    return rc;
}

/* Pages in order, inside the chunk, the first with row 0, all rows within the group. */
static bool offset_index_sound(const tn_offset_index *index, int64_t rows, uint64_t offset,
                               uint64_t bytes)
{
    uint64_t at = offset;
    int64_t row = -1;

    if (index->pages == 0)
        return rows == 0;
    if (index->locations[0].first_row != 0)
        return false;
    for (size_t i = 0; i < index->pages; i++) {
        const tn_page_location *page = &index->locations[i];

        if ((uint64_t)page->offset < at || (uint64_t)page->offset > offset + bytes ||
            (uint64_t)page->bytes > offset + bytes - (uint64_t)page->offset)
            return false;
        if (page->first_row <= row || page->first_row >= rows)
            return false;
        at = (uint64_t)page->offset + (uint64_t)page->bytes;
        row = page->first_row;
    }
    return true;
}

int tn_parquet_offset_index(tarn_cx *cx, const tn_parquet *file, size_t group, size_t leaf,
                            tn_arena *arena, bool *present, tn_offset_index *out)
{
    const tn_row_group_meta *meta = &file->footer.groups[group];
    const tn_chunk_meta *chunk = &meta->columns[leaf];
    tn_offset_index index;
    uint64_t offset, bytes;
    tn_str raw;
    int rc = TARN_OK;

    *present = false;
    if (!inside(file, chunk->offset_index_offset, chunk->offset_index_bytes))
        return TARN_OK;
    TN_TRY(load(cx, file, (uint64_t)chunk->offset_index_offset, (size_t)chunk->offset_index_bytes,
                arena, &raw));
    TN_TRY(forgive(cx, tn_offset_index_decode(cx, raw, arena, &index), present));
    if (!*present)
        goto done;
    TN_TRY(tn_parquet_chunk_span(cx, file, group, leaf, &offset, &bytes));
    *present = offset_index_sound(&index, meta->rows, offset, bytes);
    if (*present)
        *out = index;
done:
    return rc;
}

int tn_parquet_bloom(tarn_cx *cx, const tn_parquet *file, size_t group, size_t leaf,
                     tn_arena *arena, bool *present, tn_str *blocks)
{
    const tn_chunk_meta *chunk = &file->footer.groups[group].columns[leaf];
    uint64_t offset = (uint64_t)chunk->bloom_offset;
    size_t ahead = BLOOM_HEADER_BYTES_MAX;
    size_t header_bytes;
    int32_t bytes;
    tn_str raw;
    int rc = TARN_OK;

    *present = false;
    if (!chunk->has_bloom || !inside(file, chunk->bloom_offset, 1))
        return TARN_OK;
    if (chunk->bloom_bytes > 0 && (uint32_t)chunk->bloom_bytes <= TN_PARQUET_BLOOM_BYTES_MAX)
        ahead = (size_t)chunk->bloom_bytes;
    if (ahead > file->footer_offset - offset)
        ahead = (size_t)(file->footer_offset - offset);
    TN_TRY(load(cx, file, offset, ahead, arena, &raw));
    TN_TRY(forgive(cx, tn_bloom_header_decode(cx, raw, &header_bytes, &bytes), present));
    if (!*present)
        goto done;
    *present = bytes > 0 && bytes % 32 == 0 && (uint32_t)bytes <= TN_PARQUET_BLOOM_BYTES_MAX &&
               inside(file, (int64_t)(offset + header_bytes), bytes);
    if (!*present)
        goto done;
    if (raw.len >= header_bytes + (size_t)bytes)
        *blocks = (tn_str){raw.ptr + header_bytes, (size_t)bytes};
    else
        TN_TRY(load(cx, file, offset + header_bytes, (size_t)bytes, arena, blocks));
done:
    if (rc != TARN_OK)
        *present = false;
    return rc;
}

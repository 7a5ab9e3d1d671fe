/* Bytes of a file for decoders.
 *
 * I1: a view lies wholly inside the file or is refused before anything is read or allocated.
 * I2: the window holds the bytes of the file from window_offset on. */
#include "codec/parquet/source.h"

tn_source tn_source_memory(const void *bytes, uint64_t len, uint64_t file_offset)
{
    return (tn_source){.memory = bytes, .memory_offset = file_offset, .memory_bytes = len};
}

tn_source tn_source_file(tn_file *file, size_t ahead_bytes)
{
    return (tn_source){.file = file, .ahead_bytes = ahead_bytes};
}

void tn_source_clear(tn_source *source)
{
    tn_buf_clear(&source->window);
    *source = (tn_source){0};
}

static int view_memory(tarn_cx *cx, const tn_source *source, uint64_t offset, size_t len,
                       const uint8_t **out)
{
    uint64_t at = offset - source->memory_offset;

    if (offset < source->memory_offset || at > source->memory_bytes ||
        len > source->memory_bytes - at)
        return tn_fail(cx, TARN_E_CORRUPT,
                       "%zu bytes at byte %llu lie outside of the bytes %llu to %llu there are",
                       len, (unsigned long long)offset, (unsigned long long)source->memory_offset,
                       (unsigned long long)(source->memory_offset + source->memory_bytes));
    *out = source->memory + at;
    return TARN_OK;
}

int tn_source_view(tarn_cx *cx, tn_source *source, uint64_t offset, size_t len, const uint8_t **out)
{
    uint64_t size, at;
    size_t want;
    int rc = TARN_OK;

    if (source->file == NULL)
        return view_memory(cx, source, offset, len, out);
    at = offset - source->window_offset;
    if (offset >= source->window_offset && at <= source->window.len &&
        len <= source->window.len - at && source->window.data != NULL) {
        *out = source->window.data + at;
        return TARN_OK;
    }
    size = source->file->stat.size_bytes;
    if (offset > size || len > size - offset)
        TN_FAIL(TARN_E_CORRUPT, "%zu bytes at byte %llu reach past the end of the file at %llu",
                len, (unsigned long long)offset, (unsigned long long)size);
    want = len > source->ahead_bytes ? len : source->ahead_bytes;
    want = want > size - offset ? (size_t)(size - offset) : want;
    tn_buf_reset(&source->window);
    if (tn_buf_extend(&source->window, want) == NULL) {
        source->window.failed = false;
        return tn_fail_memory(cx);
    }
    source->window_offset = offset;
    source->window.len = 0;
    TN_TRY(tn_store_read(cx, source->file, offset, source->window.data, want));
    source->window.len = want;
    *out = source->window.data;
done:
    return rc;
}

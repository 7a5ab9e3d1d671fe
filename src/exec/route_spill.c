/* Spilled rows.
 *
 * A piece is an array, field by field from the top, in the byte order of the machine:
 *   int64 length, int64 null count
 *   per buffer: uint64 length in bytes (all ones: there is none), padding to 64 bytes of the piece,
 *   bytes
 * A piece begins at a multiple of 64 bytes of memory when it is read, and so do its buffers.
 *
 * I1: a piece is used only when its checksum is the one that was written; its contents are then our
 *     own and need no further checks. */
#include "exec/route_spill.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "batch/array.h"
#include "batch/type.h"

#define ALIGN     64u
#define NO_BUFFER UINT64_MAX

uint64_t tn_spill_checksum(tn_str bytes)
{
    return XXH3_64bits(bytes.ptr, bytes.len);
}

/* --- packing --- */

static bool is_large(enum tn_type_kind kind)
{
    return kind == TN_TYPE_LARGE_UTF8 || kind == TN_TYPE_LARGE_BINARY || kind == TN_TYPE_LARGE_LIST;
}

static uint64_t buffer_bytes(const tn_type *type, const struct ArrowArray *array, int64_t i)
{
    uint64_t rows = (uint64_t)array->length;

    if (i == 0 || type->kind == TN_TYPE_BOOL)
        return (rows + 7) / 8;
    if (i == 2)
        return is_large(type->kind) ? (uint64_t)((const int64_t *)array->buffers[1])[rows]
                                    : (uint64_t)((const int32_t *)array->buffers[1])[rows];
    switch (type->kind) {
    case TN_TYPE_UTF8:
    case TN_TYPE_BINARY:
    case TN_TYPE_LIST:
    case TN_TYPE_MAP:
        return (rows + 1) * 4;
    case TN_TYPE_LARGE_UTF8:
    case TN_TYPE_LARGE_BINARY:
    case TN_TYPE_LARGE_LIST:
        return (rows + 1) * 8;
    default:
        return rows * type->width;
    }
}

static void pad(tn_buf *out, size_t start)
{
    static const uint8_t zeros[ALIGN];

    tn_buf_add(out, zeros, (ALIGN - (out->len - start) % ALIGN) % ALIGN);
}

static int pack_field(tarn_cx *cx, const struct ArrowSchema *schema, const struct ArrowArray *array,
                      size_t start, tn_buf *out)
{
    tn_type type;
    int rc = TARN_OK;

    assert(array->offset == 0 && schema->dictionary == NULL);
    TN_TRY(tn_type_of(cx, schema, &type));
    tn_buf_add(out, &array->length, sizeof array->length);
    tn_buf_add(out, &array->null_count, sizeof array->null_count);
    for (int64_t i = 0; i < array->n_buffers; i++) {
        uint64_t bytes = array->buffers[i] != NULL ? buffer_bytes(&type, array, i) : NO_BUFFER;

        tn_buf_add(out, &bytes, sizeof bytes);
        pad(out, start);
        if (array->buffers[i] != NULL)
            tn_buf_add(out, array->buffers[i], bytes);
        pad(out, start);
    }
    for (int64_t c = 0; c < array->n_children; c++)
        TN_TRY(pack_field(cx, schema->children[c], array->children[c], start, out));
done:
    return rc;
}

int tn_spill_pack(tarn_cx *cx, const struct ArrowSchema *schema, const struct ArrowArray *array,
                  tn_buf *out)
{
    size_t start = out->len;
    int rc = pack_field(cx, schema, array, start, out);

    if (rc != TARN_OK)
        return rc;
    pad(out, start);
    return tn_buf_check(cx, out);
}

/* --- the file --- */

int tn_spill_write(tarn_cx *cx, tn_spill *spill, tn_str bytes)
{
    int rc = TARN_OK;

    if (spill->sink == NULL) {
        TN_TRY(tn_store_create(cx, spill->store, spill->path, &spill->sink));
        spill->sink->scratch = true;
        spill->made = true;
    }
    TN_TRY(tn_store_write(cx, spill->sink, bytes.ptr, bytes.len));
    spill->bytes += bytes.len;
done:
    return rc;
}

int tn_spill_finish(tarn_cx *cx, tn_spill *spill)
{
    int rc = spill->sink != NULL ? tn_store_finish(cx, spill->sink) : TARN_OK;

    tn_store_close_sink(spill->sink);
    spill->sink = NULL;
    return rc;
}

void tn_spill_clear(tarn_cx *cx, tn_spill *spill)
{
    tn_store_close_sink(spill->sink);
    spill->sink = NULL;
    if (spill->made)
        (void)tn_store_remove(cx, spill->store, spill->path);
    spill->made = false;
}

/* --- reading back --- */

typedef struct unpack {
    const uint8_t *data;
    size_t at;
} unpack;

static void release_child(struct ArrowArray *array)
{
    array->release = NULL;
}

static void free_field(struct ArrowArray *array)
{
    for (int64_t c = 0; c < array->n_children; c++) {
        free_field(array->children[c]);
        free(array->children[c]);
    }
    free(array->children);
    free((void *)(uintptr_t)array->buffers);
}

static void release_piece(struct ArrowArray *array)
{
    void *block = array->private_data;

    free_field(array);
    free(block);
    array->release = NULL;
}

static size_t buffers_of(enum tn_type_kind kind)
{
    switch (kind) {
    case TN_TYPE_NULL:
        return 0;
    case TN_TYPE_STRUCT:
    case TN_TYPE_FIXED_LIST:
        return 1;
    case TN_TYPE_UTF8:
    case TN_TYPE_LARGE_UTF8:
    case TN_TYPE_BINARY:
    case TN_TYPE_LARGE_BINARY:
        return 3;
    default:
        return 2;
    }
}

static size_t aligned(size_t at)
{
    return (at + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

/* Fills *out, which is zeroed; what it has got is freed by free_field whatever the outcome. */
static int unpack_field(tarn_cx *cx, unpack *u, const struct ArrowSchema *schema,
                        struct ArrowArray *out)
{
    tn_type type;
    size_t buffers;
    int rc = TARN_OK;

    TN_TRY(tn_type_of(cx, schema, &type));
    buffers = buffers_of(type.kind);
    memcpy(&out->length, u->data + u->at, sizeof out->length);
    memcpy(&out->null_count, u->data + u->at + 8, sizeof out->null_count);
    u->at += 16;
    out->release = release_child;
    out->buffers = tn_calloc(cx, buffers, sizeof out->buffers[0]);
    out->children = tn_calloc(cx, (size_t)schema->n_children, sizeof out->children[0]);
    if (out->buffers == NULL || out->children == NULL)
        TN_TRY(TARN_E_NOMEM);
    out->n_buffers = (int64_t)buffers;
    for (size_t i = 0; i < buffers; i++) {
        uint64_t bytes;

        memcpy(&bytes, u->data + u->at, sizeof bytes);
        u->at = aligned(u->at + sizeof bytes);
        if (bytes == NO_BUFFER)
            continue;
        out->buffers[i] = u->data + u->at;
        u->at = aligned(u->at + bytes);
    }
    for (int64_t c = 0; c < schema->n_children; c++) {
        out->children[c] = tn_calloc(cx, 1, sizeof *out->children[c]);
        if (out->children[c] == NULL)
            TN_TRY(TARN_E_NOMEM);
        out->n_children++;
        TN_TRY(unpack_field(cx, u, schema->children[c], out->children[c]));
    }
done:
    return rc;
}

int tn_spill_read(tarn_cx *cx, const tn_spill *spill, tn_file *file,
                  const struct ArrowSchema *schema, const tn_spill_piece *piece,
                  struct ArrowArray *out)
{
    struct ArrowArray made = {0};
    uint8_t *block = aligned_alloc(ALIGN, aligned(piece->bytes));
    unpack u = {block, 0};
    int rc = TARN_OK;

    if (block == NULL)
        return tn_fail_memory(cx);
    TN_TRY(tn_store_read(cx, file, piece->offset, block, piece->bytes));
    if (tn_spill_checksum((tn_str){(const char *)block, piece->bytes}) != piece->checksum)
        TN_FAIL(TARN_E_CORRUPT,
                "%.*s: rows put aside are not what was written; the disk or another program has "
                "changed them, so write again",
                TN_STR_ARG(spill->path));
    rc = unpack_field(cx, &u, schema, &made);
    if (rc != TARN_OK) {
        free_field(&made);
        goto done;
    }
    made.release = release_piece;
    made.private_data = block;
    block = NULL;
    *out = made;
done:
    free(block);
    return rc;
}

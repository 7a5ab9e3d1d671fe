/* Avro object container files:
 *
 *   0    4   "Obj" and 1
 *
 *   4        the header: a map of bytes, as Avro encodes it: "avro.schema", perhaps "avro.codec"
 *
 *   …    16  the sync mark
 *
 *   then blocks to the end of the file: a long, the records; a long, the bytes; the records,
 *   packed by the codec; the sync mark again
 *
 *   4F 62 6A 01 | 02 | 16 "avro.schema" | 0C "\"long\"" | 00 | sync | 02 02 | 54 | sync
 *
 * I1: records and what they point to live as long as the file value: in `bytes`, or unpacked in the
 *     arena.
 * I2: bytes unpacked, records without bytes and values are bounded over all blocks of the file, so
 *     memory does not follow what a small file claims. */
#include "codec/avro/avro_file.h"

#include <assert.h>

#include "base/cursor.h"
#include "codec/zip/zip.h"

#define SYNC_BYTES 16

enum codec { CODEC_NULL, CODEC_DEFLATE };

typedef struct reader {
    tarn_cx *cx;
    tn_str name;
    tn_cursor in;
    tn_avro_file *file;
    enum codec codec;
    tn_str schema;
    const uint8_t *sync;
    size_t record_cap;
    size_t unpacked; /* bytes, of all blocks so far */
    int64_t empty;   /* records that took no bytes */
    uint64_t values; /* of all records */
} reader;

static int corrupt(reader *r, const char *text)
{
    return tn_fail(r->cx, TARN_E_CORRUPT, "%.*s: byte %zu: %s", TN_STR_ARG(r->name), r->in.at,
                   text);
}

static int take_long(reader *r, int64_t *out)
{
    *out = tn_zigzag(tn_cursor_varint(&r->in));
    return r->in.failed ? corrupt(r, "the file is cut off") : TARN_OK;
}

static int take_bytes(reader *r, tn_str *out)
{
    int64_t len;
    int rc = TARN_OK;

    TN_TRY(take_long(r, &len));
    if (len < 0 || (uint64_t)len > tn_cursor_left(&r->in))
        TN_TRY(corrupt(r, "a length beyond the end of the file: it is cut off"));
    *out = tn_cursor_take(&r->in, (size_t)len);
done:
    return rc;
}

static int take_key(reader *r)
{
    tn_str key, value;
    int rc = TARN_OK;

    TN_TRY(take_bytes(r, &key));
    TN_TRY(take_bytes(r, &value));
    if (tn_str_is(key, "avro.schema"))
        r->schema = value;
    if (!tn_str_is(key, "avro.codec"))
        goto done;
    if (tn_str_is(value, "deflate"))
        r->codec = CODEC_DEFLATE;
    else if (!tn_str_is(value, "null"))
        rc = tn_fail(r->cx, TARN_E_UNSUPPORTED,
                     "%.*s: packed by the Avro codec \"%.*s\", which tarn does not read; it reads "
                     "null and deflate",
                     TN_STR_ARG(r->name), TN_STR_ARG(value));
done:
    return rc;
}

static int read_header(reader *r)
{
    const uint8_t *magic = tn_cursor_bytes(&r->in, 4);
    int64_t count, bytes, keys = 0;
    int rc = TARN_OK;

    if (magic == NULL || memcmp(magic, "Obj\x01", 4) != 0) {
        r->in.at = 0;
        TN_TRY(corrupt(r, "not an Avro file"));
    }
    do {
        TN_TRY(take_long(r, &count));
        if (count < 0) {
            TN_TRY(take_long(r, &bytes));
            count = count == INT64_MIN ? INT64_MAX : -count;
        }
        if (count > TN_AVRO_HEADER_KEYS_MAX - keys)
            TN_TRY(corrupt(r, "more than 1,000 keys in the header"));
        for (int64_t i = 0; i < count; i++)
            TN_TRY(take_key(r));
        keys += count;
    } while (count != 0);
    r->sync = tn_cursor_bytes(&r->in, SYNC_BYTES);
    if (r->sync == NULL)
        TN_TRY(corrupt(r, "the file is cut off"));
    if (r->schema.ptr == NULL)
        TN_TRY(corrupt(r, "a header without avro.schema"));
done:
    return rc;
}

static int read_schema(reader *r)
{
    tn_str what;
    int rc = TARN_OK;

    TN_TRY(tn_arena_print(r->cx, &r->file->arena, &what, "%.*s", TN_STR_ARG(r->name)));
    rc = tn_avro_schema_parse(r->cx, r->schema, what.ptr, &r->file->schema);
    if (rc == TARN_E_CORRUPT)
        rc = tn_fail_within(r->cx, TARN_E_CORRUPT, "damaged header");
done:
    return rc;
}

/* The bytes of a block as they were before packing. */
static int unpack(reader *r, tn_str *data)
{
    tn_avro_file *file = r->file;
    tn_zip *zip;
    int rc = TARN_OK;

    if (r->codec == CODEC_NULL)
        goto done;
    zip = tn_zip_of(r->cx);
    if (zip == NULL)
        TN_TRY(TARN_E_NOMEM);
    tn_buf_reset(&file->unpacked);
    rc = tn_zip_inflate(r->cx, zip, *data, TN_AVRO_UNPACKED_BYTES_MAX - r->unpacked,
                        &file->unpacked);
    if (rc != TARN_OK)
        TN_TRY(tn_fail_within(r->cx, rc, "%.*s: a block that ends at byte %zu", TN_STR_ARG(r->name),
                              r->in.at - SYNC_BYTES));
    *data = tn_buf_view(&file->unpacked);
    r->unpacked += data->len;
    TN_TRY(tn_arena_keep(r->cx, &file->arena, data));
done:
    return rc;
}

static int read_records(reader *r, int64_t count, tn_str data, size_t base)
{
    tn_avro_file *file = r->file;
    size_t used;
    int rc = TARN_OK;

    for (int64_t i = 0; i < count; i++) {
        TN_TRY(tn_arena_grow(r->cx, &file->arena, &file->records, file->record_count,
                             &r->record_cap, sizeof file->records[0]));
        rc = tn_avro_decode_next(r->cx, file->schema.root, data, &file->arena, &r->values, &used,
                                 &file->records[file->record_count]);
        if (rc != TARN_OK)
            return tn_fail_within(r->cx, rc, "%.*s: record %zu, in the block at byte %zu",
                                  TN_STR_ARG(r->name), file->record_count, base);
        data = tn_str_from(data, used);
        file->record_count++;
    }
    if (data.len != 0)
        TN_TRY(corrupt(r, "a block with bytes behind its last record"));
done:
    return rc;
}

static int read_block(reader *r)
{
    uint64_t least = r->file->schema.root->least_bytes;
    int64_t count;
    tn_str data;
    const uint8_t *sync;
    size_t at;
    int rc = TARN_OK;

    TN_TRY(take_long(r, &count));
    TN_TRY(take_bytes(r, &data));
    at = r->in.at - data.len;
    sync = tn_cursor_bytes(&r->in, SYNC_BYTES);
    if (sync == NULL)
        TN_TRY(corrupt(r, "the file is cut off"));
    if (memcmp(sync, r->sync, SYNC_BYTES) != 0)
        TN_TRY(corrupt(r, "a block that does not end with the file's mark"));
    TN_TRY(unpack(r, &data));
    if (count < 0 || (least != 0 && (uint64_t)count > data.len / least))
        TN_TRY(corrupt(r, "a block with more records than bytes"));
    if (least == 0) {
        if (count > TN_AVRO_EMPTY_MAX - r->empty)
            TN_TRY(tn_fail(r->cx, TARN_E_LIMIT, "%.*s: more than 65,536 records that take no bytes",
                           TN_STR_ARG(r->name)));
        r->empty += count;
    }
    TN_TRY(read_records(r, count, data, at));
done:
    return rc;
}

int tn_avro_file_read(tarn_cx *cx, tn_str bytes, tn_str name, tn_avro_file *out)
{
    tn_avro_file file = {0};
    reader r = {.cx = cx, .name = name, .in = tn_cursor_of(bytes.ptr, bytes.len), .file = &file};
    int rc = TARN_OK;

    if (bytes.len == 0)
        TN_FAIL(TARN_E_CORRUPT, "%.*s: the file is empty", TN_STR_ARG(name));
    TN_TRY(read_header(&r));
    TN_TRY(read_schema(&r));
    while (tn_cursor_left(&r.in) != 0)
        TN_TRY(read_block(&r));
    *out = file;
    file = (tn_avro_file){0};
done:
    tn_avro_file_clear(&file);
    return rc;
}

void tn_avro_file_clear(tn_avro_file *file)
{
    tn_avro_schema_clear(&file->schema);
    tn_arena_clear(&file->arena);
    tn_buf_clear(&file->unpacked);
    *file = (tn_avro_file){0};
}

static void add_long(tn_buf *out, uint64_t value)
{
    tn_buf_varint(out, tn_unzigzag((int64_t)value));
}

static void add_text(tn_buf *out, tn_str text)
{
    add_long(out, text.len);
    tn_buf_str(out, text);
}

int tn_avro_file_write(tarn_cx *cx, tn_str schema_text, const tn_avro_type *type,
                       const tn_avro_value *record, tn_buf *out)
{
    uint64_t sync[SYNC_BYTES / 8] = {tn_cx_random(cx), tn_cx_random(cx)};
    tn_buf data = {0};
    size_t start = out->len;
    int rc = TARN_OK;

    assert(schema_text.len > 0);
    TN_TRY(tn_avro_encode(cx, type, record, &data));
    tn_buf_text(out, "Obj\x01");
    add_long(out, 1);
    add_text(out, TN_STR("avro.schema"));
    add_text(out, schema_text);
    add_long(out, 0);
    tn_buf_add(out, sync, SYNC_BYTES);
    add_long(out, 1);
    add_text(out, tn_buf_view(&data));
    tn_buf_add(out, sync, SYNC_BYTES);
    TN_TRY(tn_buf_check(cx, out));
done:
    if (rc != TARN_OK)
        out->len = start;
    tn_buf_clear(&data);
    return rc;
}

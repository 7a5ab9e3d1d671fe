/* Avro's binary encoding, one datum as a tree:
 *
 *   null             nothing
 *   boolean          1 byte, 0 or 1
 *   int, long        zigzag, then 7 bits a byte, low groups first; the top bit says "more"
 *   float, double    4 or 8 bytes, little-endian IEEE
 *   bytes, string    a long, the length, and the bytes
 *   fixed            the bytes
 *   enum             an int, the index of the symbol
 *   record           its fields in their order
 *   array, map       blocks: a long count and the items (of a map: a string, the key, and a value);
 *                    a negative count is followed by a long, the bytes of the block; 0 ends
 *   union            a long, the index of the branch, and its value
 *
 *   02 06 61 62 63 02 54 00    record {["null","string"] "abc", array<int> [42]}: branch 1, length
 *                              3, "abc"; a block of 1 item, 42; no more blocks
 *
 * I1: no count is believed before its items would fit into the bytes left; items that take no bytes
 *     are bounded by TN_AVRO_EMPTY_MAX, all values by TN_AVRO_ITEMS_MAX.
 * I2: recursion follows the schema, whose depth is bounded where it is parsed. */
#include "codec/avro/avro_value.h"

#include <assert.h>

#include "base/cursor.h"
#include "codec/avro/avro_place.h"

typedef struct decoder {
    tarn_cx *cx;
    tn_arena *arena;
    tn_cursor in;
    uint64_t values; /* made so far */
} decoder;

static int corrupt(decoder *d, const tn_avro_place *at, const char *text)
{
    int rc = tn_avro_place_fail(d->cx, TARN_E_CORRUPT, at, "field", text);

    return tn_fail_within(d->cx, rc, "Avro: byte %zu", d->in.at);
}

/* ---- decoding */

static int decode(decoder *d, const tn_avro_type *type, const tn_avro_place *at,
                  tn_avro_value *out);

static int decode_long(decoder *d, const tn_avro_place *at, int64_t *out)
{
    *out = tn_zigzag(tn_cursor_varint(&d->in));
    return d->in.failed ? corrupt(d, at, "a number that is cut off, or longer than 10 bytes")
                        : TARN_OK;
}

static int decode_bytes(decoder *d, const tn_avro_place *at, tn_str *out)
{
    int64_t len;
    int rc = TARN_OK;

    TN_TRY(decode_long(d, at, &len));
    if (len < 0 || (uint64_t)len > tn_cursor_left(&d->in))
        TN_TRY(corrupt(d, at, "a length beyond the end of the data"));
    *out = tn_cursor_take(&d->in, (size_t)len);
done:
    return rc;
}

static int charge(decoder *d, uint64_t values, const tn_avro_place *at)
{
    d->values += values;
    if (d->values > TN_AVRO_ITEMS_MAX)
        return tn_avro_place_fail(d->cx, TARN_E_LIMIT, at, "field",
                                  "more values than tarn reads (16,777,216)");
    return TARN_OK;
}

static int decode_record(decoder *d, const tn_avro_type *type, const tn_avro_place *at,
                         tn_avro_value *out)
{
    size_t count = type->field_count;
    int rc = TARN_OK;

    TN_TRY(charge(d, count, at));
    out->as.many.names = type->field_names;
    out->as.many.items = tn_arena_array(d->cx, d->arena, count, sizeof *out);
    out->as.many.count = count;
    if (out->as.many.items == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < count; i++)
        TN_TRY(decode(d, type->fields[i].type, &(tn_avro_place){at, type->fields[i].name},
                      &out->as.many.items[i]));
done:
    return rc;
}

/* The count of the next block; 0 ends. */
static int decode_block(decoder *d, uint64_t least_bytes, const tn_avro_place *at, uint64_t *out)
{
    int64_t count, bytes;
    int rc = TARN_OK;

    TN_TRY(decode_long(d, at, &count));
    if (count < 0) {
        TN_TRY(decode_long(d, at, &bytes));
        if (count == INT64_MIN)
            TN_TRY(corrupt(d, at, "a count beyond the end of the data"));
        count = -count;
    }
    if (least_bytes != 0 && (uint64_t)count > tn_cursor_left(&d->in) / least_bytes)
        TN_TRY(corrupt(d, at, "a count beyond the end of the data"));
    if (least_bytes == 0 && count > TN_AVRO_EMPTY_MAX)
        TN_TRY(
            tn_avro_place_fail(d->cx, TARN_E_LIMIT, at, "field", "more than 65,536 empty items"));
    *out = (uint64_t)count;
done:
    return rc;
}

/* Arrays and maps: `keys` is NULL of an array. What is kept of one block grows with the next. */
static int decode_many(decoder *d, const tn_avro_type *type, const tn_avro_place *at,
                       tn_avro_value *out)
{
    const tn_avro_type *item = type->branches[0];
    bool keyed = type->kind == TN_AVRO_MAP;
    tn_avro_value *items = NULL;
    tn_str *names = NULL;
    size_t count = 0, item_cap = 0, name_cap = 0;
    uint64_t more, empty = 0;
    int rc = TARN_OK;

    do {
        TN_TRY(decode_block(d, item->least_bytes + keyed, at, &more));
        TN_TRY(charge(d, more, at));
        empty += item->least_bytes + keyed == 0 ? more : 0;
        if (empty > TN_AVRO_EMPTY_MAX)
            TN_TRY(tn_avro_place_fail(d->cx, TARN_E_LIMIT, at, "field",
                                      "more than 65,536 empty items"));
        for (uint64_t i = 0; i < more; i++) {
            tn_avro_place here = {at, TN_STR("[]")};

            TN_TRY(tn_arena_grow(d->cx, d->arena, &items, count, &item_cap, sizeof items[0]));
            if (keyed) {
                TN_TRY(tn_arena_grow(d->cx, d->arena, &names, count, &name_cap, sizeof names[0]));
                TN_TRY(decode_bytes(d, at, &names[count]));
                here.name = names[count];
            }
            TN_TRY(decode(d, item, &here, &items[count]));
            count++;
        }
    } while (more != 0);
    out->as.many.names = names;
    out->as.many.items = items;
    out->as.many.count = count;
done:
    return rc;
}

static int decode_union(decoder *d, const tn_avro_type *type, const tn_avro_place *at,
                        tn_avro_value *out)
{
    int64_t branch;
    int rc = TARN_OK;

    TN_TRY(decode_long(d, at, &branch));
    if (branch < 0 || (uint64_t)branch >= type->branch_count)
        TN_TRY(corrupt(d, at, "a branch that the union has not"));
    TN_TRY(decode(d, type->branches[branch], at, out));
    out->branch = (uint32_t)branch;
done:
    return rc;
}

static int decode_int(decoder *d, const tn_avro_type *type, const tn_avro_place *at,
                      tn_avro_value *out)
{
    int rc = TARN_OK;

    TN_TRY(decode_long(d, at, &out->as.i));
    if (type->kind == TN_AVRO_ENUM && (out->as.i < 0 || (uint64_t)out->as.i >= type->symbol_count))
        TN_TRY(corrupt(d, at, "a symbol that the enum has not"));
    if (type->kind == TN_AVRO_INT && out->as.i != (int32_t)out->as.i)
        TN_TRY(corrupt(d, at, "an int of more than 32 bits"));
done:
    return rc;
}

static double decode_real(decoder *d, const tn_avro_type *type)
{
    uint32_t bits32;
    uint64_t bits64;
    float narrow;
    double wide;

    if (type->kind == TN_AVRO_FLOAT) {
        bits32 = tn_cursor_u32le(&d->in);
        memcpy(&narrow, &bits32, sizeof narrow);
        return narrow;
    }
    bits64 = tn_cursor_u64le(&d->in);
    memcpy(&wide, &bits64, sizeof wide);
    return wide;
}

static int decode(decoder *d, const tn_avro_type *type, const tn_avro_place *at, tn_avro_value *out)
{
    tn_avro_value value = {.kind = type->kind};
    int rc = TARN_OK;

    switch (type->kind) {
    case TN_AVRO_NULL:
        break;
    case TN_AVRO_BOOLEAN:
        value.as.truth = tn_cursor_u8(&d->in) != 0;
        break;
    case TN_AVRO_INT:
    case TN_AVRO_LONG:
    case TN_AVRO_ENUM:
        TN_TRY(decode_int(d, type, at, &value));
        break;
    case TN_AVRO_FLOAT:
    case TN_AVRO_DOUBLE:
        value.as.d = decode_real(d, type);
        break;
    case TN_AVRO_BYTES:
    case TN_AVRO_STRING:
        TN_TRY(decode_bytes(d, at, &value.as.text));
        break;
    case TN_AVRO_FIXED:
        value.as.text = tn_cursor_take(&d->in, type->size);
        break;
    case TN_AVRO_RECORD:
        TN_TRY(decode_record(d, type, at, &value));
        break;
    case TN_AVRO_ARRAY:
    case TN_AVRO_MAP:
        TN_TRY(decode_many(d, type, at, &value));
        break;
    case TN_AVRO_UNION:
        TN_TRY(decode_union(d, type, at, &value));
        break;
    }
    if (d->in.failed)
        TN_TRY(corrupt(d, at, "the data ends within the value"));
    *out = value;
done:
    return rc;
}

int tn_avro_decode_next(tarn_cx *cx, const tn_avro_type *type, tn_str bytes, tn_arena *arena,
                        uint64_t *values, size_t *used, tn_avro_value *out)
{
    decoder d = {
        .cx = cx, .arena = arena, .in = tn_cursor_of(bytes.ptr, bytes.len), .values = *values};
    tn_avro_value value;
    int rc = TARN_OK;

    TN_TRY(charge(&d, 1, NULL));
    TN_TRY(decode(&d, type, NULL, &value));
    *values = d.values;
    *used = d.in.at;
    *out = value;
done:
    return rc;
}

int tn_avro_decode(tarn_cx *cx, const tn_avro_type *type, tn_str bytes, tn_arena *arena,
                   size_t *used, tn_avro_value *out)
{
    uint64_t values = 0;

    return tn_avro_decode_next(cx, type, bytes, arena, &values, used, out);
}

/* ---- asking */

const tn_avro_value *tn_avro_member(const tn_avro_value *value, const char *name)
{
    if (value == NULL || (value->kind != TN_AVRO_RECORD && value->kind != TN_AVRO_MAP))
        return NULL;
    for (size_t i = 0; i < value->as.many.count; i++)
        if (tn_str_is(value->as.many.names[i], name))
            return value->as.many.items[i].kind != TN_AVRO_NULL ? &value->as.many.items[i] : NULL;
    return NULL;
}

int64_t tn_avro_i64(const tn_avro_value *value, int64_t fallback)
{
    return value != NULL && (value->kind == TN_AVRO_INT || value->kind == TN_AVRO_LONG)
               ? value->as.i
               : fallback;
}

tn_str tn_avro_text(const tn_avro_value *value)
{
    return value != NULL && (value->kind == TN_AVRO_STRING || value->kind == TN_AVRO_BYTES)
               ? value->as.text
               : (tn_str){NULL, 0};
}

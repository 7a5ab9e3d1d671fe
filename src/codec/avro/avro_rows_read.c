/* One Avro datum, step by step, into columns (the encoding: avro_value.c).
 * I1: a value is written only where its column has room: the root makes it for a record, an array
 *     or map for the items of a block.
 * I2: every step appends exactly one value to its column, or fails. */
#include <assert.h>
#include <string.h>

#include "codec/avro/avro_rows_parts.h"

typedef const tn_avro_step step_of;

static int read_step(tn_avro_rows *r, step_of *step);
static int read_record(tn_avro_rows *r, step_of *step);

static __attribute__((noinline, cold)) int fail(tn_avro_rows *r, step_of *step, int status,
                                                const char *text)
{
    tn_buf place = {0};
    int rc;

    tn_avro_step_print(&place, step);
    if (place.len != 0)
        rc = tn_fail(r->cx, status, "Avro: byte %zu: field \"%.*s\": %s",
                     (size_t)(r->at - r->start), TN_STR_ARG(tn_buf_view(&place)), text);
    else
        rc = tn_fail(r->cx, status, "Avro: byte %zu: %s", (size_t)(r->at - r->start), text);
    tn_buf_clear(&place);
    return rc;
}

static __attribute__((noinline, cold)) int corrupt(tn_avro_rows *r, step_of *step, const char *text)
{
    return fail(r, step, TARN_E_CORRUPT, text);
}

static __attribute__((noinline, cold)) int cut_off(tn_avro_rows *r, step_of *step)
{
    return corrupt(r, step, "the data ends within the value");
}

/* ---- numbers */

static inline size_t left(const tn_avro_rows *r)
{
    return (size_t)(r->end - r->at);
}

/* Numbers of more than two bytes. */
static __attribute__((noinline)) bool take_varint(tn_avro_rows *r, uint64_t *out)
{
    uint64_t value = 0;
    const uint8_t *at = r->at;

    if (left(r) >= sizeof value) {
        uint64_t word, ends;

        memcpy(&word, at, sizeof word);
        ends = ~word & 0x8080808080808080u;
        if (ends != 0) {
            /* The bytes up to the first that ends; then their groups of seven moved together. */
            word &= (ends & (0 - ends)) - 1;
            word &= 0x7F7F7F7F7F7F7F7Fu;
            word = (word & 0x007F007F007F007Fu) | (word & 0x7F007F007F007F00u) >> 1;
            word = (word & 0x00003FFF00003FFFu) | (word & 0x3FFF00003FFF0000u) >> 2;
            *out = (word & 0x000000000FFFFFFFu) | (word & 0x0FFFFFFF00000000u) >> 4;
            r->at = at + (__builtin_ctzll(ends) >> 3) + 1;
            return true;
        }
    }
    for (unsigned shift = 0; shift < 70 && at < r->end; shift += 7) {
        uint8_t byte = *at++;

        if (shift == 63 && byte > 1)
            return false;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            r->at = at;
            *out = value;
            return true;
        }
    }
    return false;
}

/* False where the number is cut off, or longer than 10 bytes. */
static inline bool take_long(tn_avro_rows *r, int64_t *out)
{
    uint64_t value;

    if (left(r) >= 2 && r->at[0] < 0x80) {
        value = *r->at++;
    } else if (left(r) >= 2 && r->at[1] < 0x80) {
        value = (uint64_t)(r->at[0] & 0x7F) | (uint64_t)r->at[1] << 7;
        r->at += 2;
    } else if (!take_varint(r, &value)) {
        return false;
    }
    *out = (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
    return true;
}

static int bad_number(tn_avro_rows *r, step_of *step)
{
    return corrupt(r, step, "a number that is cut off, or longer than 10 bytes");
}

/* A length of bytes that are there. */
static inline int take_length(tn_avro_rows *r, step_of *step, size_t *out)
{
    int64_t len;

    if (!take_long(r, &len))
        return bad_number(r, step);
    if ((uint64_t)len > left(r))
        return corrupt(r, step, "a length beyond the end of the data");
    *out = (size_t)len;
    return TARN_OK;
}

/* ---- blocks of arrays and maps */

/* The count of the next block, 0 ends; *bytes is what the block says it takes, or -1. */
static int take_block_count(tn_avro_rows *r, step_of *step, uint64_t least, uint64_t *count,
                            int64_t *bytes)
{
    int64_t n;

    *bytes = -1;
    if (!take_long(r, &n))
        return bad_number(r, step);
    if (n < 0) {
        if (!take_long(r, bytes))
            return bad_number(r, step);
        if (n == INT64_MIN)
            return corrupt(r, step, "a count beyond the end of the data");
        if (*bytes < 0 || (uint64_t)*bytes > left(r))
            return corrupt(r, step, "a block beyond the end of the data");
        n = -n;
    }
    if (least != 0 && (uint64_t)n > left(r) / least)
        return corrupt(r, step, "a count beyond the end of the data");
    if (least == 0) {
        if ((uint64_t)n > TN_AVRO_EMPTY_MAX - r->empty)
            return fail(r, step, TARN_E_LIMIT, "more than 65,536 empty items");
        if (r->empty_all + (uint64_t)n > TN_AVRO_ITEMS_MAX)
            return fail(r, step, TARN_E_LIMIT, "more empty items than tarn reads (16,777,216)");
        r->empty += (uint64_t)n;
        r->empty_all += (uint64_t)n;
    }
    *count = (uint64_t)n;
    return TARN_OK;
}

/* ---- skipping */

static int skip(tn_avro_rows *r, step_of *step, const tn_avro_type *type);

static int skip_bytes(tn_avro_rows *r, step_of *step, uint64_t bytes)
{
    if (bytes > left(r))
        return cut_off(r, step);
    r->at += bytes;
    return TARN_OK;
}

static int skip_many(tn_avro_rows *r, step_of *step, const tn_avro_type *type)
{
    const tn_avro_type *item = type->branches[0];
    bool keyed = type->kind == TN_AVRO_MAP;
    uint64_t count;
    int64_t bytes;
    size_t len = 0;
    int rc = TARN_OK;

    do {
        TN_TRY(take_block_count(r, step, item->least_bytes + keyed, &count, &bytes));
        if (bytes >= 0) {
            r->at += bytes;
            continue;
        }
        if (item->least_bytes + keyed == 0) /* then none takes any */
            continue;
        for (uint64_t i = 0; i < count; i++) {
            if (keyed) {
                TN_TRY(take_length(r, step, &len));
                r->at += len;
            }
            TN_TRY(skip(r, step, item));
        }
    } while (count != 0);
done:
    return rc;
}

/* Takes the branch of a union; *type becomes what stands there. */
static inline int take_branch(tn_avro_rows *r, step_of *step, const tn_avro_type **type)
{
    int64_t branch;

    if (!take_long(r, &branch))
        return bad_number(r, step);
    if ((uint64_t)branch >= (*type)->branch_count)
        return corrupt(r, step, "a branch that the union has not");
    *type = (*type)->branches[branch];
    return TARN_OK;
}

/* Fields that take no bytes cost time that the data does not pay for: they are counted. */
static int skip_record(tn_avro_rows *r, step_of *step, const tn_avro_type *type)
{
    int rc = TARN_OK;

    if (type->least_bytes == 0)
        return TARN_OK;
    if (type->field_count > type->least_bytes) {
        r->idle += type->field_count - type->least_bytes;
        if (r->idle > TN_AVRO_ITEMS_MAX)
            return fail(r, step, TARN_E_LIMIT, "more empty fields than tarn reads (16,777,216)");
    }
    for (size_t i = 0; i < type->field_count; i++)
        TN_TRY(skip(r, step, type->fields[i].type));
done:
    return rc;
}

static int skip(tn_avro_rows *r, step_of *step, const tn_avro_type *type)
{
    int64_t number;
    size_t len = 0;
    int rc = TARN_OK;

    if (type->kind == TN_AVRO_UNION)
        TN_TRY(take_branch(r, step, &type)); /* which is none */
    switch (type->kind) {
    case TN_AVRO_NULL:
    case TN_AVRO_UNION:
        return TARN_OK;
    case TN_AVRO_BOOLEAN:
        return skip_bytes(r, step, 1);
    case TN_AVRO_INT:
    case TN_AVRO_LONG:
    case TN_AVRO_ENUM:
        return take_long(r, &number) ? TARN_OK : bad_number(r, step);
    case TN_AVRO_FLOAT:
        return skip_bytes(r, step, 4);
    case TN_AVRO_DOUBLE:
        return skip_bytes(r, step, 8);
    case TN_AVRO_FIXED:
        return skip_bytes(r, step, type->size);
    case TN_AVRO_BYTES:
    case TN_AVRO_STRING:
        TN_TRY(take_length(r, step, &len));
        r->at += len;
        break;
    case TN_AVRO_RECORD:
        return skip_record(r, step, type);
    case TN_AVRO_ARRAY:
    case TN_AVRO_MAP:
        return skip_many(r, step, type);
    }
done:
    return rc;
}

/* ---- appending */

static inline int32_t *offsets_of(const tn_avro_column *c)
{
    return (int32_t *)(void *)c->data.data;
}

/* A value that counts for nothing: a null, or below one. */
static void add_null(tn_avro_column *c)
{
    int64_t at = c->length++;

    assert(at < c->room);
    if (c->shape == TN_SHAPE_MISSING)
        return;
    c->valid.data[at] = 0;
    switch (c->shape) {
    case TN_SHAPE_BITS:
        c->data.data[at] = 0;
        break;
    case TN_SHAPE_FIXED:
        if (c->width != 0)
            memset(c->data.data + (size_t)at * c->width, 0, c->width);
        break;
    case TN_SHAPE_BYTES:
    case TN_SHAPE_LIST:
        offsets_of(c)[at + 1] = offsets_of(c)[at];
        break;
    default:
        for (size_t i = 0; i < c->child_count; i++)
            add_null(&c->children[i]);
        break;
    }
}

static int add_null_to(tn_avro_rows *r, step_of *step, tn_avro_column *c)
{
    if (!c->nullable && c->shape != TN_SHAPE_MISSING)
        return corrupt(r, step, "null, where the column allows none");
    add_null(c);
    return TARN_OK;
}

#define SHORT_BYTES 32

static inline int add_bytes(tn_avro_rows *r, step_of *step, const uint8_t *bytes, size_t len)
{
    tn_avro_column *c = step->to;
    size_t used = c->bytes.len, room = c->bytes.cap - used;

    if (len > (size_t)INT32_MAX - used)
        return fail(r, step, TARN_E_LIMIT, "more than 2 GiB of text in one batch");
    if (room < len || c->bytes.data == NULL) {
        int rc = tn_block_reserve(r->cx, &c->bytes, len);

        if (rc != TARN_OK)
            return rc;
        room = c->bytes.cap - used;
    }
    /* Short texts are copied with what stands behind them: a length that is known is faster. */
    if (len <= SHORT_BYTES && room >= SHORT_BYTES && (size_t)(r->end - bytes) >= SHORT_BYTES &&
        bytes == r->at)
        memcpy(c->bytes.data + used, bytes, SHORT_BYTES);
    else if (len != 0)
        memcpy(c->bytes.data + used, bytes, len);
    c->bytes.len = used + len;
    offsets_of(c)[++c->length] = (int32_t)c->bytes.len;
    return TARN_OK;
}

/* Big-endian two's complement of any length as `width` little-endian bytes. */
static int add_decimal(tn_avro_rows *r, step_of *step, size_t len)
{
    tn_avro_column *c = step->to;
    size_t width = c->width;
    uint8_t *out = c->data.data + (size_t)c->length * width;
    const uint8_t *from = r->at;
    uint8_t sign = len > 0 && (from[0] & 0x80) != 0 ? 0xFF : 0;

    for (; len > width; len--, from++)
        if (from[0] != sign || ((from[1] ^ sign) & 0x80) != 0)
            return corrupt(r, step, "a decimal of more digits than its type has");
    if (len <= sizeof(uint64_t) && width == 2 * sizeof(uint64_t)) {
        uint64_t high = sign != 0 ? UINT64_MAX : 0, low = high;

        for (size_t i = 0; i < len; i++)
            low = low << 8 | from[i];
        memcpy(out, &low, sizeof low);
        memcpy(out + sizeof low, &high, sizeof high);
    } else {
        for (size_t i = 0; i < len; i++)
            out[i] = from[len - 1 - i];
        memset(out + len, sign, width - len);
    }
    r->at = from + len;
    c->length++;
    return TARN_OK;
}

/* ---- steps */

static int read_many(tn_avro_rows *r, step_of *step)
{
    bool keyed = step->op == TN_OP_MAP;
    uint64_t least = step->type->branches[0]->least_bytes + keyed, count, items = 0;
    tn_avro_column *c = step->to;
    int64_t first = c->children[0].length, bytes;
    int rc = TARN_OK;

    do {
        const uint8_t *begin;

        TN_TRY(take_block_count(r, step, least, &count, &bytes));
        begin = r->at;
        items += count;
        if (items > (uint64_t)(INT32_MAX - first))
            TN_TRY(fail(r, step, TARN_E_LIMIT, "more than 2,147,483,647 items in one batch"));
        for (size_t i = 0; i < c->child_count; i++)
            TN_TRY(tn_avro_column_reserve(r->cx, &c->children[i], (int64_t)count));
        for (uint64_t i = 0; i < count; i++)
            for (size_t j = 0; j < step->item_count; j++)
                TN_TRY(read_step(r, &step->items[j]));
        if (bytes >= 0 && r->at - begin != bytes)
            TN_TRY(corrupt(r, step, "a block of another size than it says"));
    } while (count != 0);
    offsets_of(c)[++c->length] = (int32_t)c->children[0].length;
done:
    return rc;
}

static int read_branch(tn_avro_rows *r, step_of *step)
{
    tn_avro_column *c = step->to;
    int64_t branch, at = c->length;
    step_of *item;
    int rc = TARN_OK;

    if (!take_long(r, &branch))
        return bad_number(r, step);
    if ((uint64_t)branch >= step->item_count)
        return corrupt(r, step, "a branch that the union has not");
    item = &step->items[branch];
    if (item->op == TN_OP_NULL)
        return add_null_to(r, step, c);
    TN_TRY(read_step(r, item));
    if (step->op == TN_OP_UNION)
        goto done;
    for (size_t i = 0; i < c->child_count; i++)
        if (c->children[i].length == at)
            add_null(&c->children[i]);
    c->length++;
done:
    return rc;
}

static int read_enum(tn_avro_rows *r, step_of *step)
{
    int64_t symbol;

    if (!take_long(r, &symbol))
        return bad_number(r, step);
    if ((uint64_t)symbol >= step->type->symbol_count)
        return corrupt(r, step, "a symbol that the enum has not");
    return add_bytes(r, step, (const uint8_t *)step->type->symbols[symbol].ptr,
                     step->type->symbols[symbol].len);
}

/* `width` bytes as they are. */
static inline int read_plain(tn_avro_rows *r, step_of *step, size_t width)
{
    tn_avro_column *c = step->to;

    if (left(r) < width)
        return cut_off(r, step);
    memcpy(c->data.data + (size_t)c->length++ * width, r->at, width);
    r->at += width;
    return TARN_OK;
}

static int read_float_as_double(tn_avro_rows *r, step_of *step)
{
    tn_avro_column *c = step->to;
    float narrow;
    double wide;

    if (left(r) < sizeof narrow)
        return cut_off(r, step);
    memcpy(&narrow, r->at, sizeof narrow);
    wide = (double)narrow;
    memcpy(c->data.data + (size_t)c->length++ * sizeof wide, &wide, sizeof wide);
    r->at += sizeof narrow;
    return TARN_OK;
}

static inline int read_long(tn_avro_rows *r, step_of *step)
{
    tn_avro_column *c = step->to;
    int64_t value;

    if (!take_long(r, &value))
        return bad_number(r, step);
    if (step->op == TN_OP_INT || step->op == TN_OP_INT_AS_LONG) {
        int32_t narrow = (int32_t)value;

        if (narrow != value)
            return corrupt(r, step, "an int of more than 32 bits");
        if (step->op == TN_OP_INT) {
            memcpy(c->data.data + (size_t)c->length++ * sizeof narrow, &narrow, sizeof narrow);
            return TARN_OK;
        }
    }
    memcpy(c->data.data + (size_t)c->length++ * sizeof value, &value, sizeof value);
    return TARN_OK;
}

static int read_fixed(tn_avro_rows *r, step_of *step)
{
    tn_avro_column *c = step->to;

    if (left(r) < step->size)
        return cut_off(r, step);
    if (step->op == TN_OP_FIXED_AS_BYTES) {
        int rc = add_bytes(r, step, r->at, step->size);

        r->at += rc == TARN_OK ? step->size : 0;
        return rc;
    }
    if (step->op == TN_OP_DECIMAL_FIXED)
        return add_decimal(r, step, step->size);
    if (step->size != 0)
        memcpy(c->data.data + (size_t)c->length * step->size, r->at, step->size);
    c->length++;
    r->at += step->size;
    return TARN_OK;
}

static inline int read_bytes(tn_avro_rows *r, step_of *step)
{
    size_t len = 0;
    int rc = TARN_OK;

    TN_TRY(take_length(r, step, &len));
    if (step->op == TN_OP_DECIMAL)
        return add_decimal(r, step, len);
    TN_TRY(add_bytes(r, step, r->at, len));
    r->at += len;
done:
    return rc;
}

/* Reads the branch of a union with null, or of one type; *null says that it was null, which has
 * been added. */
static inline __attribute__((always_inline)) int read_null_branch(tn_avro_rows *r, step_of *step,
                                                                  bool *null)
{
    int64_t branch;

    if (r->at < r->end && r->at[0] == 2 * (1 - step->null_branch)) {
        r->at++; /* the value of a union of two, as nearly always */
        return TARN_OK;
    }
    if (!take_long(r, &branch))
        return bad_number(r, step);
    if ((uint64_t)branch >= (step->null_branch == TN_AVRO_NO_NULL ? 1u : 2u))
        return corrupt(r, step, "a branch that the union has not");
    *null = branch == step->null_branch;
    return *null ? add_null_to(r, step, step->to) : TARN_OK;
}

/* What is rarer, or holds other steps. */
static __attribute__((noinline)) int read_other(tn_avro_rows *r, step_of *step)
{
    switch (step->op) {
    case TN_OP_SKIP:
        return skip(r, step, step->type);
    case TN_OP_NULL:
        return add_null_to(r, step, step->to);
    case TN_OP_FLOAT_AS_DOUBLE:
        return read_float_as_double(r, step);
    case TN_OP_FIXED:
    case TN_OP_FIXED_AS_BYTES:
    case TN_OP_DECIMAL_FIXED:
        return read_fixed(r, step);
    case TN_OP_ENUM:
        return read_enum(r, step);
    case TN_OP_RECORD:
        return read_record(r, step);
    case TN_OP_ARRAY:
    case TN_OP_MAP:
        return read_many(r, step);
    case TN_OP_MEMBERS:
        step->to->valid.data[step->to->length] = 1;
        return read_branch(r, step);
    default:
        return read_branch(r, step);
    }
}

static inline __attribute__((always_inline)) int read_any(tn_avro_rows *r, step_of *step)
{
    bool null = false;

    if (step->null_branch != TN_AVRO_NO_UNION) {
        int rc = read_null_branch(r, step, &null);

        if (rc != TARN_OK || null)
            return rc;
    }
    if (step->op > TN_OP_NULL && step->op < TN_OP_UNION)
        step->to->valid.data[step->to->length] = 1;
    switch (step->op) {
    case TN_OP_SKIP_BYTES:
        return skip_bytes(r, step, step->size);
    case TN_OP_BOOLEAN:
        if (left(r) < 1)
            return cut_off(r, step);
        step->to->data.data[step->to->length++] = *r->at++ != 0;
        return TARN_OK;
    case TN_OP_INT:
    case TN_OP_LONG:
    case TN_OP_INT_AS_LONG:
        return read_long(r, step);
    case TN_OP_FLOAT:
        return read_plain(r, step, 4);
    case TN_OP_DOUBLE:
        return read_plain(r, step, 8);
    case TN_OP_BYTES:
    case TN_OP_DECIMAL:
        return read_bytes(r, step);
    default:
        return read_other(r, step);
    }
}

static int read_step(tn_avro_rows *r, step_of *step)
{
    return read_any(r, step);
}

static int read_record(tn_avro_rows *r, step_of *step)
{
    tn_avro_column *c = step->to;
    int64_t length = c->length + 1;
    int rc = TARN_OK;

    for (size_t i = 0; i < step->item_count; i++)
        TN_TRY(read_any(r, &step->items[i]));
    for (size_t i = 0; i < c->child_count; i++)
        if (c->children[i].length < length)
            add_null(&c->children[i]); /* the writer lacks it */
    c->length = length;
done:
    return rc;
}

int tn_avro_rows_read(tn_avro_rows *rows)
{
    return read_step(rows, &rows->root);
}

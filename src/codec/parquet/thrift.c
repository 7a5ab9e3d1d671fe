/* Thrift's compact protocol.
 *
 *   field header  1 byte: id delta (high 4 bits, 1..15) and type (low 4); delta 0: a zigzag varint
 *                 id follows. Type 0 ends the struct.
 *   integers      zigzag varints (I8: one byte); double: 8 bytes little-endian
 *   binary        varint length, bytes
 *   list, set     1 byte: count (high 4 bits, 0..14; 15: a varint count follows), element type
 *   map           varint count; when not 0: 1 byte of key type and value type
 *
 * Example: "15 02 25 00" is a struct of field 1, I32 1, and field 3, I32 0 with its value "00",
 * when "00" ends it: 15 = delta 1 type 5, 02 = zigzag 1, 25 = delta 2 type 5, 00 = 0.
 *
 * I1: no loop runs more often than there are bytes left; a list of N elements needs N bytes.
 * I2: recursion ends at TN_THRIFT_DEPTH_MAX.
 * I3: after a fault every read gives zero and every loop over fields ends. */
#include "codec/parquet/thrift.h"

tn_thrift tn_thrift_over(tarn_cx *cx, tn_str bytes, tn_arena *arena)
{
    return (tn_thrift){.c = tn_cursor_of(bytes.ptr, bytes.len), .cx = cx, .arena = arena};
}

void tn_thrift_fault(tn_thrift *t, const char *why)
{
    if (t->why != NULL)
        return;
    t->why = why;
    t->why_at = t->c.at;
    t->c.failed = true;
}

static void fault_short(tn_thrift *t)
{
    if (t->why == NULL)
        t->short_input = true;
    tn_thrift_fault(t, "the bytes end inside a value");
}

int tn_thrift_check(tarn_cx *cx, const tn_thrift *t, const char *what)
{
    if (t->no_memory)
        return tn_fail_memory(cx);
    if (t->why != NULL)
        return tn_fail(cx, TARN_E_CORRUPT, "%s: byte %zu: %s", what, t->why_at, t->why);
    return TARN_OK;
}

void *tn_thrift_array(tn_thrift *t, size_t count, size_t size)
{
    void *out;

    if (t->why != NULL)
        return NULL;
    out = tn_arena_array(t->cx, t->arena, count, size);
    if (out == NULL) {
        t->no_memory = true;
        tn_thrift_fault(t, "out of memory");
    }
    return out;
}

static uint8_t read_u8(tn_thrift *t)
{
    uint8_t value;

    if (t->why != NULL)
        return 0;
    if (t->c.at == t->c.len) {
        fault_short(t);
        return 0;
    }
    value = t->c.data[t->c.at++];
    return value;
}

static uint64_t read_varint(tn_thrift *t)
{
    uint64_t value = read_u8(t);

    if (value < 0x80)
        return value;
    value &= 0x7F;
    for (unsigned shift = 7; shift < 70; shift += 7) {
        uint8_t byte = read_u8(t);

        if (shift == 63 && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80)
            return t->why != NULL ? 0 : value;
    }
    tn_thrift_fault(t, "a number of more than 64 bits");
    return 0;
}

int64_t tn_thrift_i64(tn_thrift *t)
{
    return tn_zigzag(read_varint(t));
}

int32_t tn_thrift_i32(tn_thrift *t)
{
    int64_t value = tn_zigzag(read_varint(t));

    if (value < INT32_MIN || value > INT32_MAX) {
        tn_thrift_fault(t, "a 32-bit number out of range");
        return 0;
    }
    return (int32_t)value;
}

bool tn_thrift_bool(tn_thrift *t)
{
    return read_u8(t) == TN_THRIFT_TRUE;
}

/* Length of what follows, no longer than the bytes left. */
static size_t read_length(tn_thrift *t)
{
    uint64_t length = read_varint(t);

    if (t->why == NULL && length > t->c.len - t->c.at) {
        fault_short(t);
        return 0;
    }
    return (size_t)length;
}

tn_str tn_thrift_binary(tn_thrift *t)
{
    size_t length = read_length(t);
    tn_str out;

    if (t->why != NULL)
        return (tn_str){NULL, 0};
    out = tn_cursor_take(&t->c, length);
    if (t->keep && tn_arena_keep(t->cx, t->arena, &out) != TARN_OK) {
        t->no_memory = true;
        tn_thrift_fault(t, "out of memory");
        return (tn_str){NULL, 0};
    }
    return out;
}

bool tn_thrift_next(tn_thrift *t, tn_thrift_field *field)
{
    uint8_t head = read_u8(t);
    int64_t id;

    if (t->why != NULL || head == TN_THRIFT_STOP)
        return false;
    id = head >> 4 != 0 ? (int64_t)field->id + (head >> 4) : tn_thrift_i64(t);
    field->type = head & 15;
    if (id < INT16_MIN || id > INT16_MAX || field->type == TN_THRIFT_STOP ||
        field->type > TN_THRIFT_UUID)
        tn_thrift_fault(t, "not a Thrift field");
    field->id = (int32_t)id;
    return t->why == NULL;
}

/* Count and element type of a list or set. */
static size_t list_head(tn_thrift *t, size_t bytes_min, uint8_t *element)
{
    uint8_t head = read_u8(t);
    uint64_t count = head >> 4 != 15 ? head >> 4 : read_varint(t);

    *element = head & 15;
    if (t->why == NULL && count > (t->c.len - t->c.at) / bytes_min) {
        fault_short(t);
        return 0;
    }
    return t->why != NULL ? 0 : (size_t)count;
}

static void skip_bytes(tn_thrift *t, size_t n)
{
    if (t->why == NULL && tn_cursor_bytes(&t->c, n) == NULL) {
        t->c.failed = false;
        fault_short(t);
    }
}

static void skip_value(tn_thrift *t, uint8_t type, unsigned depth, bool element);

static void skip_struct(tn_thrift *t, unsigned depth)
{
    tn_thrift_field field = {0};

    while (tn_thrift_next(t, &field))
        skip_value(t, field.type, depth + 1, false);
}

static void skip_list(tn_thrift *t, unsigned depth)
{
    uint8_t element;
    size_t count = list_head(t, 1, &element);

    for (size_t i = 0; i < count && t->why == NULL; i++)
        skip_value(t, element, depth + 1, true);
}

static void skip_map(tn_thrift *t, unsigned depth)
{
    uint64_t count = read_varint(t);
    uint8_t types;

    if (count == 0)
        return;
    types = read_u8(t);
    if (t->why == NULL && count > (t->c.len - t->c.at) / 2)
        fault_short(t);
    for (uint64_t i = 0; i < count && t->why == NULL; i++) {
        skip_value(t, types >> 4, depth + 1, true);
        skip_value(t, types & 15, depth + 1, true);
    }
}

/* A boolean of a field has no bytes of its own; one in a list has one. */
static void skip_value(tn_thrift *t, uint8_t type, unsigned depth, bool element)
{
    if (depth > TN_THRIFT_DEPTH_MAX) {
        tn_thrift_fault(t, "nested deeper than 64 levels");
        return;
    }
    switch (type) {
    case TN_THRIFT_TRUE:
    case TN_THRIFT_FALSE:
        skip_bytes(t, element ? 1 : 0);
        break;
    case TN_THRIFT_I8:
        skip_bytes(t, 1);
        break;
    case TN_THRIFT_I16:
    case TN_THRIFT_I32:
    case TN_THRIFT_I64:
        read_varint(t);
        break;
    case TN_THRIFT_DOUBLE:
        skip_bytes(t, 8);
        break;
    case TN_THRIFT_BINARY:
        skip_bytes(t, read_length(t));
        break;
    case TN_THRIFT_LIST:
    case TN_THRIFT_SET:
        skip_list(t, depth);
        break;
    case TN_THRIFT_MAP:
        skip_map(t, depth);
        break;
    case TN_THRIFT_STRUCT:
        skip_struct(t, depth);
        break;
    case TN_THRIFT_UUID:
        skip_bytes(t, 16);
        break;
    default:
        tn_thrift_fault(t, "not a Thrift type");
    }
}

void tn_thrift_skip(tn_thrift *t, const tn_thrift_field *field)
{
    skip_value(t, field->type, 1, false);
}

/* True when the field has the type; else its value is passed over. */
static bool expect(tn_thrift *t, const tn_thrift_field *field, uint8_t type)
{
    if (field->type == type)
        return t->why == NULL;
    tn_thrift_skip(t, field);
    return false;
}

bool tn_thrift_take_bool(tn_thrift *t, const tn_thrift_field *field, bool *out)
{
    if (field->type != TN_THRIFT_TRUE && field->type != TN_THRIFT_FALSE) {
        tn_thrift_skip(t, field);
        return false;
    }
    *out = field->type == TN_THRIFT_TRUE;
    return true;
}

bool tn_thrift_take_i8(tn_thrift *t, const tn_thrift_field *field, int32_t *out)
{
    if (!expect(t, field, TN_THRIFT_I8))
        return false;
    *out = (int8_t)read_u8(t);
    return t->why == NULL;
}

bool tn_thrift_take_i32(tn_thrift *t, const tn_thrift_field *field, int32_t *out)
{
    int32_t value;

    if (field->type != TN_THRIFT_I16 && !expect(t, field, TN_THRIFT_I32))
        return false;
    value = tn_thrift_i32(t);
    if (t->why != NULL)
        return false;
    *out = value;
    return true;
}

bool tn_thrift_take_i64(tn_thrift *t, const tn_thrift_field *field, int64_t *out)
{
    int64_t value;

    if (!expect(t, field, TN_THRIFT_I64))
        return false;
    value = tn_thrift_i64(t);
    if (t->why != NULL)
        return false;
    *out = value;
    return true;
}

bool tn_thrift_take_binary(tn_thrift *t, const tn_thrift_field *field, tn_str *out)
{
    tn_str value;

    if (!expect(t, field, TN_THRIFT_BINARY))
        return false;
    value = tn_thrift_binary(t);
    if (t->why != NULL)
        return false;
    *out = value;
    return true;
}

bool tn_thrift_take_struct(tn_thrift *t, const tn_thrift_field *field)
{
    return expect(t, field, TN_THRIFT_STRUCT);
}

bool tn_thrift_take_list(tn_thrift *t, const tn_thrift_field *field, uint8_t element,
                         size_t bytes_min, size_t *count)
{
    uint8_t found;
    size_t n;

    if (field->type != TN_THRIFT_SET && !expect(t, field, TN_THRIFT_LIST))
        return false;
    n = list_head(t, bytes_min, &found);
    if (t->why != NULL)
        return false;
    /* Both codes of a boolean stand for the type; an empty list may have any type. */
    if (n != 0 && found != element && !(element == TN_THRIFT_TRUE && found == TN_THRIFT_FALSE)) {
        tn_thrift_fault(t, "a list of another type than the format's");
        return false;
    }
    *count = n;
    return true;
}

void tn_thrift_put_field(tn_buf *out, int32_t *last, int32_t id, uint8_t type)
{
    int32_t delta = id - *last;

    if (delta > 0 && delta < 16) {
        tn_buf_u8(out, (uint8_t)(delta << 4 | type));
    } else {
        tn_buf_u8(out, type);
        tn_buf_varint(out, tn_unzigzag(id));
    }
    *last = id;
}

void tn_thrift_put_bool(tn_buf *out, int32_t *last, int32_t id, bool value)
{
    tn_thrift_put_field(out, last, id, value ? TN_THRIFT_TRUE : TN_THRIFT_FALSE);
}

void tn_thrift_put_i8(tn_buf *out, int32_t *last, int32_t id, int32_t value)
{
    tn_thrift_put_field(out, last, id, TN_THRIFT_I8);
    tn_buf_u8(out, (uint8_t)value);
}

void tn_thrift_put_i16(tn_buf *out, int32_t *last, int32_t id, int32_t value)
{
    tn_thrift_put_field(out, last, id, TN_THRIFT_I16);
    tn_thrift_add_i64(out, value);
}

void tn_thrift_put_i32(tn_buf *out, int32_t *last, int32_t id, int32_t value)
{
    tn_thrift_put_field(out, last, id, TN_THRIFT_I32);
    tn_thrift_add_i64(out, value);
}

void tn_thrift_put_i64(tn_buf *out, int32_t *last, int32_t id, int64_t value)
{
    tn_thrift_put_field(out, last, id, TN_THRIFT_I64);
    tn_thrift_add_i64(out, value);
}

void tn_thrift_add_binary(tn_buf *out, tn_str value)
{
    tn_buf_varint(out, value.len);
    tn_buf_str(out, value);
}

void tn_thrift_put_binary(tn_buf *out, int32_t *last, int32_t id, tn_str value)
{
    tn_thrift_put_field(out, last, id, TN_THRIFT_BINARY);
    tn_thrift_add_binary(out, value);
}

void tn_thrift_put_list(tn_buf *out, int32_t *last, int32_t id, uint8_t element, size_t count)
{
    tn_thrift_put_field(out, last, id, TN_THRIFT_LIST);
    if (count < 15) {
        tn_buf_u8(out, (uint8_t)(count << 4 | element));
    } else {
        tn_buf_u8(out, (uint8_t)(0xF0 | element));
        tn_buf_varint(out, count);
    }
}

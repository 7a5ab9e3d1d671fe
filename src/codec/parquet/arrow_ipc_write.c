/* Writes an Arrow schema as an IPC message.
 * I1: tables, vectors and strings stand after what refers to them, so that every reference is a
 *     positive distance, patched when its target is written; a vtable stands before its table.
 * I2: positions count from the first FlatBuffers byte; tables begin at multiples of 8. */
#include "codec/parquet/arrow_ipc.h"

#include <assert.h>
#include <string.h>

#include "base/limits.h"
#include "batch/field.h"
#include "batch/format.h"

enum { FB_SLOTS_MAX = 7, IPC_VERSION_5 = 4, IPC_HEADER_SCHEMA = 1 };

/* One field of a table. A reference has size 4 and is patched later. */
typedef struct fb_slot {
    uint8_t size; /* 0: absent; 1, 2, 4, 8 */
    int64_t value;
    size_t at; /* out: position of the value */
} fb_slot;

typedef struct fb_writer {
    tarn_cx *cx;
    tn_buf *out;
    size_t start; /* of the FlatBuffers bytes in `out` */
    int64_t dictionary_id;
} fb_writer;

static size_t fb_at(const fb_writer *w)
{
    return w->out->len - w->start;
}

static void fb_align(fb_writer *w, size_t align, size_t offset)
{
    while ((fb_at(w) + offset) % align != 0 && !w->out->failed)
        tn_buf_u8(w->out, 0);
}

static void fb_patch(fb_writer *w, size_t at)
{
    uint32_t distance = (uint32_t)(fb_at(w) - at);

    if (!w->out->failed)
        memcpy(w->out->data + w->start + at, &distance, sizeof distance);
}

/* Writes vtable and table; the slots learn their positions. */
static void fb_table(fb_writer *w, fb_slot *slots, size_t count)
{
    uint16_t vtable[2 + FB_SLOTS_MAX] = {0};
    uint8_t table[8 * (FB_SLOTS_MAX + 1)] = {0};
    size_t len = 4, vtable_bytes = 4 + 2 * count;
    int32_t back = (int32_t)vtable_bytes;

    assert(count <= FB_SLOTS_MAX);
    memcpy(table, &back, sizeof back);
    for (size_t i = 0; i < count; i++) {
        if (slots[i].size == 0)
            continue;
        len = (len + slots[i].size - 1) & ~(size_t)(slots[i].size - 1);
        vtable[2 + i] = (uint16_t)len;
        memcpy(table + len, &slots[i].value, slots[i].size);
        slots[i].at = len;
        len += slots[i].size;
    }
    vtable[0] = (uint16_t)vtable_bytes;
    vtable[1] = (uint16_t)len;
    fb_align(w, 8, vtable_bytes);
    tn_buf_add(w->out, vtable, vtable_bytes);
    for (size_t i = 0; i < count; i++)
        slots[i].at += fb_at(w);
    tn_buf_add(w->out, table, len);
}

/* A table that the reference at `from` leads to. */
static void fb_table_at(fb_writer *w, size_t from, fb_slot *slots, size_t count)
{
    fb_align(w, 8, 4 + 2 * count);
    if (!w->out->failed) {
        uint32_t distance = (uint32_t)(fb_at(w) + 4 + 2 * count - from);

        memcpy(w->out->data + w->start + from, &distance, sizeof distance);
    }
    fb_table(w, slots, count);
}

static void fb_string(fb_writer *w, size_t from, tn_str text)
{
    fb_align(w, 4, 0);
    fb_patch(w, from);
    tn_buf_u32le(w->out, (uint32_t)text.len);
    tn_buf_str(w->out, text);
    tn_buf_u8(w->out, 0);
}

/* A vector of `count` references; gives the position of the first. */
static size_t fb_vector(fb_writer *w, size_t from, size_t count)
{
    size_t first;

    fb_align(w, 4, 0);
    fb_patch(w, from);
    tn_buf_u32le(w->out, (uint32_t)count);
    first = fb_at(w);
    for (size_t i = 0; i < count; i++)
        tn_buf_u32le(w->out, 0);
    return first;
}

static int16_t unit_number(char unit)
{
    return unit == 's' ? 0 : unit == 'm' ? 1 : unit == 'u' ? 2 : 3;
}

static const struct {
    enum tn_format_kind kind;
    uint8_t number; /* in the union Type */
    uint8_t bits;
    bool is_signed;
} types[] = {
    {TN_FORMAT_NULL, 1, 0, false},
    {TN_FORMAT_INT8, 2, 8, true},
    {TN_FORMAT_UINT8, 2, 8, false},
    {TN_FORMAT_INT16, 2, 16, true},
    {TN_FORMAT_UINT16, 2, 16, false},
    {TN_FORMAT_INT32, 2, 32, true},
    {TN_FORMAT_UINT32, 2, 32, false},
    {TN_FORMAT_INT64, 2, 64, true},
    {TN_FORMAT_UINT64, 2, 64, false},
    {TN_FORMAT_HALF, 3, 0, false},
    {TN_FORMAT_FLOAT, 3, 1, false},
    {TN_FORMAT_DOUBLE, 3, 2, false},
    {TN_FORMAT_BINARY, 4, 0, false},
    {TN_FORMAT_UTF8, 5, 0, false},
    {TN_FORMAT_BOOL, 6, 0, false},
    {TN_FORMAT_DECIMAL, 7, 0, false},
    {TN_FORMAT_DATE32, 8, 0, false},
    {TN_FORMAT_DATE64, 8, 1, false},
    {TN_FORMAT_TIME32, 9, 32, false},
    {TN_FORMAT_TIME64, 9, 64, false},
    {TN_FORMAT_TIMESTAMP, 10, 0, false},
    {TN_FORMAT_MONTHS, 11, 0, false},
    {TN_FORMAT_DAY_TIME, 11, 1, false},
    {TN_FORMAT_MONTH_DAY_NANO, 11, 2, false},
    {TN_FORMAT_LIST, 12, 0, false},
    {TN_FORMAT_STRUCT, 13, 0, false},
    {TN_FORMAT_FIXED_BINARY, 15, 0, false},
    {TN_FORMAT_FIXED_LIST, 16, 0, false},
    {TN_FORMAT_MAP, 17, 0, false},
    {TN_FORMAT_DURATION, 18, 0, false},
    {TN_FORMAT_LARGE_BINARY, 19, 0, false},
    {TN_FORMAT_LARGE_UTF8, 20, 0, false},
    {TN_FORMAT_LARGE_LIST, 21, 0, false},
    {TN_FORMAT_BINARY_VIEW, 23, 0, false},
    {TN_FORMAT_UTF8_VIEW, 24, 0, false},
    {TN_FORMAT_LIST_VIEW, 25, 0, false},
    {TN_FORMAT_LARGE_LIST_VIEW, 26, 0, false},
};

static int type_place(fb_writer *w, const struct ArrowSchema *schema, const tn_format *format)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].kind == format->kind)
            return (int)i;
    tn_fail(w->cx, TARN_E_UNSUPPORTED, "field \"%.200s\" of type %s has no place in ARROW:schema",
            schema->name, tn_format_name(format->kind));
    return -1;
}

static void write_int(fb_writer *w, size_t from, int place)
{
    fb_slot slots[2] = {{4, types[place].bits, 0}, {1, types[place].is_signed, 0}};

    fb_table_at(w, from, slots, 2);
}

static void write_type(fb_writer *w, size_t from, int place, const tn_format *format, int64_t flags)
{
    fb_slot slots[3] = {{0}};
    size_t count = 1;

    switch (types[place].number) {
    case 2: /* Int */
        write_int(w, from, place);
        return;
    case 3:  /* FloatingPoint */
    case 8:  /* Date */
    case 11: /* Interval */
        slots[0] = (fb_slot){2, types[place].bits, 0};
        break;
    case 7: /* Decimal */
        slots[0] = (fb_slot){4, format->precision, 0};
        slots[1] = (fb_slot){4, format->scale, 0};
        slots[2] = (fb_slot){4, format->bit_width, 0};
        count = 3;
        break;
    case 9: /* Time */
        slots[0] = (fb_slot){2, unit_number(format->unit), 0};
        slots[1] = (fb_slot){4, types[place].bits, 0};
        count = 2;
        break;
    case 10: /* Timestamp */
        slots[0] = (fb_slot){2, unit_number(format->unit), 0};
        slots[1] = (fb_slot){format->zone.len != 0 ? 4 : 0, 0, 0};
        fb_table_at(w, from, slots, 2);
        if (format->zone.len != 0)
            fb_string(w, slots[1].at, format->zone);
        return;
    case 15: /* FixedSizeBinary */
    case 16: /* FixedSizeList */
        slots[0] = (fb_slot){4, format->size, 0};
        break;
    case 17: /* Map */
        slots[0] = (fb_slot){1, (flags & ARROW_FLAG_MAP_KEYS_SORTED) != 0, 0};
        break;
    case 18: /* Duration */
        slots[0] = (fb_slot){2, unit_number(format->unit), 0};
        break;
    default:
        count = 0;
        break;
    }
    fb_table_at(w, from, slots, count);
}

static void write_metadata(fb_writer *w, size_t from, const char *metadata, int32_t count)
{
    size_t places = fb_vector(w, from, (size_t)count);
    tn_str key, value;

    for (int32_t i = 0; tn_metadata_at(metadata, i, &key, &value); i++) {
        fb_slot slots[2] = {{4, 0, 0}, {4, 0, 0}};

        fb_table_at(w, places + 4 * (size_t)i, slots, 2);
        fb_string(w, slots[0].at, key);
        fb_string(w, slots[1].at, value);
    }
}

static int32_t metadata_count(const char *metadata)
{
    int32_t count = 0;

    if (metadata != NULL)
        memcpy(&count, metadata, sizeof count);
    return count > 0 ? count : 0;
}

static int write_dictionary(fb_writer *w, size_t from, const struct ArrowSchema *schema)
{
    fb_slot slots[3] = {{8, w->dictionary_id++, 0},
                        {4, 0, 0},
                        {1, (schema->flags & ARROW_FLAG_DICTIONARY_ORDERED) != 0, 0}};
    tn_format format;
    int place, rc = tn_format_parse(w->cx, schema->format, &format);

    if (rc != TARN_OK)
        return rc;
    place = type_place(w, schema, &format);
    if (place < 0 || types[place].number != 2)
        return tn_fail(w->cx, TARN_E_INVALID, "field \"%.200s\" has a dictionary without integers",
                       schema->name);
    fb_table_at(w, from, slots, 3);
    write_int(w, slots[1].at, place);
    return TARN_OK;
}

static int write_field(fb_writer *w, size_t from, const struct ArrowSchema *schema, int depth)
{
    const struct ArrowSchema *value = schema->dictionary != NULL ? schema->dictionary : schema;
    int32_t pairs = metadata_count(schema->metadata);
    fb_slot slots[7] = {{4, 0, 0},
                        {1, tn_field_nullable(schema), 0},
                        {1, 0, 0},
                        {4, 0, 0},
                        {schema->dictionary != NULL ? 4 : 0, 0, 0},
                        {4, 0, 0},
                        {pairs != 0 ? 4 : 0, 0, 0}};
    tn_format format;
    size_t places;
    int place, rc = TARN_OK;

    if (depth > TN_PARQUET_DEPTH_MAX)
        return tn_fail(w->cx, TARN_E_LIMIT, "the Arrow schema is deeper than %d levels",
                       TN_PARQUET_DEPTH_MAX);
    TN_TRY(tn_format_parse(w->cx, value->format, &format));
    place = type_place(w, schema, &format);
    if (place < 0)
        return TARN_E_UNSUPPORTED;
    slots[2].value = types[place].number;
    fb_table_at(w, from, slots, 7);
    fb_string(w, slots[0].at, tn_str_of(schema->name != NULL ? schema->name : ""));
    write_type(w, slots[3].at, place, &format, value->flags);
    if (schema->dictionary != NULL)
        TN_TRY(write_dictionary(w, slots[4].at, schema));
    places = fb_vector(w, slots[5].at, (size_t)value->n_children);
    for (int64_t i = 0; i < value->n_children; i++)
        TN_TRY(write_field(w, places + 4 * (size_t)i, value->children[i], depth + 1));
    if (pairs != 0)
        write_metadata(w, slots[6].at, schema->metadata, pairs);
done:
    return rc;
}

int tn_arrow_ipc_write(tarn_cx *cx, const struct ArrowSchema *schema, tn_buf *out)
{
    size_t begin = out->len, places;
    fb_writer w = {cx, out, begin + 8, 0};
    fb_slot message[4] = {{2, IPC_VERSION_5, 0}, {1, IPC_HEADER_SCHEMA, 0}, {4, 0, 0}, {8, 0, 0}};
    int32_t pairs = metadata_count(schema->metadata);
    fb_slot header[3] = {{2, 0, 0}, {4, 0, 0}, {pairs != 0 ? 4 : 0, 0, 0}};
    uint32_t bytes;
    int rc = TARN_OK;

    tn_buf_u32le(out, 0xFFFFFFFFu);
    tn_buf_u32le(out, 0);
    tn_buf_u32le(out, 0); /* the reference to the root table */
    fb_table_at(&w, 0, message, 4);
    fb_table_at(&w, message[2].at, header, 3);
    places = fb_vector(&w, header[1].at, (size_t)schema->n_children);
    for (int64_t i = 0; i < schema->n_children; i++)
        TN_TRY(write_field(&w, places + 4 * (size_t)i, schema->children[i], 1));
    if (pairs != 0)
        write_metadata(&w, header[2].at, schema->metadata, pairs);
    fb_align(&w, 8, 0);
    TN_TRY(tn_buf_check(cx, out));
    bytes = (uint32_t)fb_at(&w);
    memcpy(out->data + begin + 4, &bytes, sizeof bytes);
done:
    return rc;
}

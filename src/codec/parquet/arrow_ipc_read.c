/* Reads an Arrow schema from an IPC message that nobody vouches for.
 * I1: every position is checked against the bytes before it is read.
 * I2: FlatBuffers may share parts, so a small message could unfold without end: the number of
 * fields is bound by the message's size, and their depth by TN_PARQUET_DEPTH_MAX. */
#include "codec/parquet/arrow_ipc.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "batch/field.h"

typedef struct fb_reader {
    tarn_cx *cx;
    const uint8_t *data;
    size_t len;
    size_t fields_left, text_left; /* I2 */
} fb_reader;

/* A table: where it begins, and its vtable. Absent tables have `at` 0. */
typedef struct fb_table {
    size_t at, vtable;
    uint16_t vtable_bytes, bytes;
} fb_table;

static int malformed(fb_reader *r)
{
    return tn_fail(r->cx, TARN_E_CORRUPT, "ARROW:schema is no Arrow schema message");
}

static uint64_t load(const fb_reader *r, size_t at, size_t size)
{
    uint64_t value = 0;

    if (at <= r->len && size <= r->len - at)
        memcpy(&value, r->data + at, size);
    return value;
}

static bool table_at(const fb_reader *r, size_t at, fb_table *out)
{
    int64_t vtable;
    fb_table table = {.at = at};

    if (at < 4 || at > r->len || r->len - at < 4)
        return false;
    vtable = (int64_t)at - (int32_t)load(r, at, 4);
    if (vtable < 0 || vtable > (int64_t)r->len - 4)
        return false;
    table.vtable = (size_t)vtable;
    table.vtable_bytes = (uint16_t)load(r, table.vtable, 2);
    table.bytes = (uint16_t)load(r, table.vtable + 2, 2);
    if (table.vtable_bytes < 4 || table.vtable_bytes > r->len - table.vtable || table.bytes < 4 ||
        table.bytes > r->len - at)
        return false;
    *out = table;
    return true;
}

/* Position of a slot of `size` bytes; 0: absent. */
static size_t slot_at(const fb_reader *r, const fb_table *table, unsigned slot, size_t size)
{
    size_t place = 4 + 2 * (size_t)slot, offset;

    if (table->at == 0 || place + 2 > table->vtable_bytes)
        return 0;
    offset = (size_t)load(r, table->vtable + place, 2);
    if (offset < 4 || offset + size > table->bytes)
        return 0;
    return table->at + offset;
}

static int64_t slot_number(const fb_reader *r, const fb_table *table, unsigned slot, size_t size,
                           int64_t missing)
{
    size_t at = slot_at(r, table, slot, size);

    if (at == 0)
        return missing;
    if (size == 4)
        return (int32_t)load(r, at, 4);
    return (int64_t)load(r, at, size);
}

/* Where a reference leads; 0: absent or outside. */
static size_t slot_target(const fb_reader *r, const fb_table *table, unsigned slot)
{
    size_t at = slot_at(r, table, slot, 4);
    size_t target = at != 0 ? at + (size_t)load(r, at, 4) : 0;

    return target >= r->len ? 0 : target;
}

static bool slot_table(const fb_reader *r, const fb_table *table, unsigned slot, fb_table *out)
{
    size_t target = slot_target(r, table, slot);

    *out = (fb_table){0};
    return target != 0 && table_at(r, target, out);
}

static tn_str slot_text(const fb_reader *r, const fb_table *table, unsigned slot)
{
    size_t at = slot_target(r, table, slot), len;

    if (at == 0 || r->len - at < 4)
        return (tn_str){"", 0};
    len = (size_t)load(r, at, 4);
    if (len > r->len - at - 4)
        return (tn_str){"", 0};
    return (tn_str){(const char *)r->data + at + 4, len};
}

/* A vector of references: position of the first, and how many (bound by the bytes left). */
static size_t slot_vector(const fb_reader *r, const fb_table *table, unsigned slot, size_t *count)
{
    size_t at = slot_target(r, table, slot);

    *count = 0;
    if (at == 0 || r->len - at < 4)
        return 0;
    *count = (size_t)load(r, at, 4);
    if (*count > (r->len - at - 4) / 4) {
        *count = 0;
        return 0;
    }
    return at + 4;
}

static bool vector_table(const fb_reader *r, size_t first, size_t i, fb_table *out)
{
    size_t at = first + 4 * i;
    size_t target = at + (size_t)load(r, at, 4);

    return target < r->len && table_at(r, target, out);
}

static char unit_letter(int64_t number)
{
    return number >= 0 && number <= 3 ? "smun"[number] : '?';
}

static void int_format(char *text, const fb_reader *r, const fb_table *type)
{
    int64_t bits = slot_number(r, type, 0, 4, 0);
    bool is_signed = slot_number(r, type, 1, 1, 0) != 0;

    switch (bits) {
    case 8:
        strcpy(text, is_signed ? "c" : "C");
        break;
    case 16:
        strcpy(text, is_signed ? "s" : "S");
        break;
    case 32:
        strcpy(text, is_signed ? "i" : "I");
        break;
    case 64:
        strcpy(text, is_signed ? "l" : "L");
        break;
    default:
        break;
    }
}

static void decimal_format(char *text, size_t cap, const fb_reader *r, const fb_table *type)
{
    int64_t bits = slot_number(r, type, 2, 4, 128);
    int precision = (int)slot_number(r, type, 0, 4, 0), scale = (int)slot_number(r, type, 1, 4, 0);

    if (bits == 128)
        snprintf(text, cap, "d:%d,%d", precision, scale);
    else
        snprintf(text, cap, "d:%d,%d,%d", precision, scale, (int)bits);
}

/* The format of the member `number` of the union Type; "" for one not known. */
static void type_format(char *text, size_t cap, const fb_reader *r, int64_t number,
                        const fb_table *type)
{
    static const char *const fixed[27] = {
        [1] = "n",   [4] = "z",   [5] = "u",   [6] = "b",    [12] = "+l",
        [13] = "+s", [17] = "+m", [19] = "Z",  [20] = "U",   [21] = "+L",
        [22] = "+r", [23] = "vz", [24] = "vu", [25] = "+vl", [26] = "+vL"};
    int64_t unit = slot_number(r, type, 0, 2, number == 10 ? 0 : 1);
    tn_str zone;

    text[0] = '\0';
    switch (number) {
    case 2:
        int_format(text, r, type);
        break;
    case 3:
        unit = slot_number(r, type, 0, 2, 0);
        strcpy(text, unit == 0 ? "e" : unit == 1 ? "f" : "g");
        break;
    case 7:
        decimal_format(text, cap, r, type);
        break;
    case 8:
        strcpy(text, unit == 0 ? "tdD" : "tdm");
        break;
    case 9:
        snprintf(text, cap, "tt%c", unit_letter(unit));
        break;
    case 10:
        zone = slot_text(r, type, 1);
        snprintf(text, cap, "ts%c:%.*s", unit_letter(unit), (int)(zone.len > 200 ? 0 : zone.len),
                 zone.ptr);
        break;
    case 11:
        unit = slot_number(r, type, 0, 2, 0);
        strcpy(text, unit == 0 ? "tiM" : unit == 1 ? "tiD" : "tin");
        break;
    case 15:
        snprintf(text, cap, "w:%d", (int)slot_number(r, type, 0, 4, 0));
        break;
    case 16:
        snprintf(text, cap, "+w:%d", (int)slot_number(r, type, 0, 4, 0));
        break;
    case 18:
        snprintf(text, cap, "tD%c", unit_letter(unit));
        break;
    default:
        if (number > 0 && number < 27 && fixed[number] != NULL)
            strcpy(text, fixed[number]);
        break;
    }
}

static int read_metadata(fb_reader *r, const fb_table *table, unsigned slot,
                         struct ArrowSchema *schema)
{
    tn_buf metadata = {0};
    size_t count, first = slot_vector(r, table, slot, &count);
    int rc = TARN_OK;

    for (size_t i = 0; i < count; i++) {
        tarn_cx *cx = r->cx;
        fb_table pair;
        tn_str key, value;

        if (!vector_table(r, first, i, &pair))
            TN_TRY(malformed(r));
        key = slot_text(r, &pair, 0);
        value = slot_text(r, &pair, 1);
        if (key.len + value.len + 8 > r->text_left)
            TN_FAIL(TARN_E_LIMIT, "ARROW:schema unfolds beyond its size");
        r->text_left -= key.len + value.len + 8;
        tn_metadata_add(&metadata, key, value);
    }
    TN_TRY(tn_field_set_metadata(r->cx, schema, &metadata));
done:
    tn_buf_clear(&metadata);
    return rc;
}

static int read_children(fb_reader *r, size_t first, size_t count, struct ArrowSchema *schema,
                         int depth);

static int read_field(fb_reader *r, const fb_table *field, struct ArrowSchema *out, int depth)
{
    struct ArrowSchema schema = {0}, *value = &schema;
    tarn_cx *cx = r->cx;
    fb_table type, dictionary, index;
    char format[256], index_format[8] = "i";
    bool nullable = slot_number(r, field, 1, 1, 0) != 0;
    tn_str name = slot_text(r, field, 0);
    int64_t number = slot_number(r, field, 2, 1, 0);
    size_t count, first = slot_vector(r, field, 5, &count);
    int rc = TARN_OK;

    if (depth > TN_PARQUET_DEPTH_MAX || count > r->fields_left || name.len > r->text_left)
        TN_FAIL(TARN_E_LIMIT, "ARROW:schema unfolds beyond its size");
    r->fields_left -= count;
    r->text_left -= name.len;
    slot_table(r, field, 3, &type);
    type_format(format, sizeof format, r, number, &type);
    if (slot_table(r, field, 4, &dictionary)) {
        if (slot_table(r, &dictionary, 1, &index))
            int_format(index_format, r, &index);
        TN_TRY(tn_field_init(cx, &schema, index_format, name, nullable, 0));
        if (slot_number(r, &dictionary, 2, 1, 0) != 0)
            schema.flags |= ARROW_FLAG_DICTIONARY_ORDERED;
        TN_TRY(tn_field_make_dictionary(cx, &schema));
        value = schema.dictionary;
        name = TN_STR("");
        nullable = true;
    }
    TN_TRY(tn_field_init(cx, value, format, name, nullable, count));
    if (number == 17 && slot_number(r, &type, 0, 1, 0) != 0)
        value->flags |= ARROW_FLAG_MAP_KEYS_SORTED;
    TN_TRY(read_children(r, first, count, value, depth + 1));
    TN_TRY(read_metadata(r, field, 6, &schema));
    tn_field_move(&schema, out);
done:
    tn_field_release(&schema);
    return rc;
}

static int read_children(fb_reader *r, size_t first, size_t count, struct ArrowSchema *schema,
                         int depth)
{
    for (size_t i = 0; i < count; i++) {
        fb_table field;
        int rc;

        if (!vector_table(r, first, i, &field))
            return malformed(r);
        rc = read_field(r, &field, schema->children[i], depth);
        if (rc != TARN_OK)
            return rc;
    }
    return TARN_OK;
}

/* Passes the frame: the continuation mark where there is one, and the length. */
static bool open_message(fb_reader *r, tn_str message)
{
    const uint8_t *data = (const uint8_t *)message.ptr;
    size_t at = 0;
    uint32_t word;

    if (message.len < 8)
        return false;
    memcpy(&word, data, 4);
    if (word == 0xFFFFFFFFu) {
        at = 4;
        memcpy(&word, data + 4, 4);
    }
    at += 4;
    if (word < 8 || word > message.len - at)
        return false;
    r->data = data + at;
    r->len = word;
    r->fields_left = r->len / 8;
    r->text_left = 2 * r->len;
    return true;
}

int tn_arrow_ipc_read(tarn_cx *cx, tn_str message, struct ArrowSchema *out)
{
    fb_reader r = {.cx = cx};
    struct ArrowSchema schema = {0};
    fb_table root, header;
    size_t count, first;
    int rc = TARN_OK;

    if (!open_message(&r, message) || !table_at(&r, (size_t)load(&r, 0, 4), &root) ||
        slot_number(&r, &root, 1, 1, 0) != 1 || !slot_table(&r, &root, 2, &header))
        TN_TRY(malformed(&r));
    first = slot_vector(&r, &header, 1, &count);
    if (count > r.fields_left)
        TN_TRY(malformed(&r));
    r.fields_left -= count;
    TN_TRY(tn_field_init(cx, &schema, "+s", TN_STR(""), false, count));
    TN_TRY(read_children(&r, first, count, &schema, 1));
    TN_TRY(read_metadata(&r, &header, 2, &schema));
    tn_field_move(&schema, out);
done:
    tn_field_release(&schema);
    return rc;
}

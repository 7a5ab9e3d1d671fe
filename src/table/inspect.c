/* One Parquet file as a value.
 * I1: a column's bounds over all groups are given only when every group with values has them.
 * I2: bounds of dates and times count in today's calendar, as the rows that are read do. */
#include "tarn/inspect.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "batch/digits.h"
#include "batch/moment.h"
#include "batch/number.h"
#include "codec/parquet/calendar.h"
#include "codec/parquet/order.h"
#include "io/store.h"

#define BOUND_BYTES_MAX 64

typedef struct inspection {
    tarn_inspect face; /* first: the public pointer is this one */
    tn_arena arena;
    tn_store *store;
    tn_parquet file;
} inspection;

static const char *keep(tarn_cx *cx, tn_arena *arena, tn_str text)
{
    return tn_arena_keep(cx, arena, &text) == TARN_OK ? text.ptr : NULL;
}

static const char *unit_name(int32_t unit)
{
    return unit == TN_MILLIS ? "ms" : unit == TN_MICROS ? "us" : "ns";
}

static void print_logical(tn_buf *out, const tn_element *e)
{
    switch (e->logical) {
    case TN_LOGICAL_NONE:
        if (e->converted == TN_DECIMAL)
            tn_buf_print(out, "DECIMAL(%d,%d)", (int)e->precision, (int)e->scale);
        else if (e->converted != TN_CONVERTED_NONE)
            tn_buf_text(out, tn_converted_name(e->converted));
        break;
    case TN_LOGICAL_DECIMAL:
        tn_buf_print(out, "DECIMAL(%d,%d)", (int)e->precision, (int)e->scale);
        break;
    case TN_LOGICAL_TIME:
    case TN_LOGICAL_TIMESTAMP:
        tn_buf_print(out, "%s(%s%s)", tn_logical_name(e->logical), unit_name(e->unit),
                     e->adjusted_to_utc ? ", UTC" : "");
        break;
    case TN_LOGICAL_INTEGER:
        tn_buf_print(out, "%s%d", e->is_signed ? "INT" : "UINT", (int)e->bit_width);
        break;
    default:
        tn_buf_text(out, tn_logical_name(e->logical));
    }
}

/* Digits below the second of a time, or -1. */
static int time_digits(const tn_element *e)
{
    if (e->logical == TN_LOGICAL_TIME || e->logical == TN_LOGICAL_TIMESTAMP)
        return e->unit == TN_MILLIS ? 3 : e->unit == TN_MICROS ? 6 : 9;
    if (e->logical != TN_LOGICAL_NONE)
        return -1;
    switch (e->converted) {
    case TN_TIME_MILLIS:
    case TN_TIMESTAMP_MILLIS:
        return 3;
    case TN_TIME_MICROS:
    case TN_TIMESTAMP_MICROS:
        return 6;
    default:
        return -1;
    }
}

static bool is_timestamp(const tn_element *e)
{
    return e->logical == TN_LOGICAL_TIMESTAMP ||
           (e->logical == TN_LOGICAL_NONE &&
            (e->converted == TN_TIMESTAMP_MILLIS || e->converted == TN_TIMESTAMP_MICROS));
}

static bool is_date(const tn_element *e)
{
    return e->logical == TN_LOGICAL_DATE ||
           (e->logical == TN_LOGICAL_NONE && e->converted == TN_DATE);
}

static void print_signed(tn_buf *out, const tn_element *e, int64_t value)
{
    bool utc = e->logical == TN_LOGICAL_TIMESTAMP ? e->adjusted_to_utc : true;
    int digits = time_digits(e);
    char text[64];
    size_t len;

    if (is_date(e))
        len = tn_moment_write_date(value, text);
    else if (digits >= 0 && is_timestamp(e))
        len = tn_moment_write(value, digits, utc, text);
    else if (digits >= 0)
        len = tn_moment_write_time(value, digits, text);
    else
        len = tn_digits_i64(text, value);
    tn_buf_add(out, text, len);
}

static bool is_text(const tn_element *e)
{
    return e->logical == TN_LOGICAL_STRING || e->logical == TN_LOGICAL_ENUM ||
           e->logical == TN_LOGICAL_JSON ||
           (e->logical == TN_LOGICAL_NONE &&
            (e->converted == TN_UTF8 || e->converted == TN_ENUM || e->converted == TN_JSON));
}

/* Text as it is, control characters as "?"; other bytes in hexadecimal. Long ones are cut. */
static void print_bytes(tn_buf *out, const tn_element *e, tn_str bytes)
{
    bool cut = bytes.len > BOUND_BYTES_MAX;

    if (is_text(e) && tn_str_utf8(bytes)) {
        size_t len = cut ? BOUND_BYTES_MAX : bytes.len;

        while (len > 0 && len < bytes.len && (bytes.ptr[len] & 0xC0) == 0x80)
            len--;
        for (size_t i = 0; i < len; i++)
            tn_buf_u8(out, (uint8_t)bytes.ptr[i] < 0x20 || bytes.ptr[i] == 0x7F
                               ? '?'
                               : (uint8_t)bytes.ptr[i]);
    } else {
        tn_buf_text(out, "0x");
        for (size_t i = 0; i < bytes.len && i < BOUND_BYTES_MAX / 2; i++)
            tn_buf_print(out, "%02x", (uint8_t)bytes.ptr[i]);
        cut = bytes.len > BOUND_BYTES_MAX / 2;
    }
    if (cut)
        tn_buf_text(out, "…");
}

static void print_value(tn_buf *out, const tn_leaf *leaf, const tn_filter_value *value)
{
    const tn_element *e = leaf->node->element_meta;
    char text[128];

    switch (tn_order_domain(leaf)) {
    case TN_DOMAIN_SIGNED:
        print_signed(out, e, value->i);
        break;
    case TN_DOMAIN_UNSIGNED:
        if (leaf->physical == TN_BOOLEAN)
            tn_buf_text(out, value->u != 0 ? "true" : "false");
        else
            tn_buf_add(out, text, tn_digits_u64(text, value->u));
        break;
    case TN_DOMAIN_FLOAT:
        if (isnan(value->d))
            tn_buf_text(out, "NaN");
        else if (isinf(value->d))
            tn_buf_text(out, value->d > 0 ? "Infinity" : "-Infinity");
        else
            tn_buf_add(out, text,
                       leaf->physical == TN_DOUBLE ? tn_digits_double(text, value->d)
                                                   : tn_digits_float(text, (float)value->d));
        break;
    case TN_DOMAIN_DECIMAL:
        tn_buf_add(out, text, tn_number_write(&value->decimal, e->scale, text));
        break;
    case TN_DOMAIN_BYTES:
        print_bytes(out, e, value->bytes);
        break;
    case TN_DOMAIN_NONE:
        break;
    }
}

/* Sums over chunks of one leaf. */
typedef struct sums {
    uint32_t encodings, codecs; /* bit sets */
    bool bounded, any;          /* every group with values has bounds; some group has values */
    bool nulls_known;
    tn_filter_value min, max;
} sums;

static void widen(enum tn_domain domain, sums *s, const tn_order_range *range)
{
    if (range->empty)
        return;
    if (!range->has_min || !range->has_max || range->contradict) {
        s->bounded = false;
        return;
    }
    if (!s->any || tn_filter_compare(domain, &range->min, &s->min) < 0)
        s->min = range->min;
    if (!s->any || tn_filter_compare(domain, &range->max, &s->max) > 0)
        s->max = range->max;
    s->any = true;
}

static void add_chunk(const tn_parquet *file, size_t group, const tn_leaf *leaf, sums *s,
                      tarn_inspect_column *out)
{
    const tn_chunk_meta *chunk = &file->footer.groups[group].columns[leaf->index];
    tn_order_range range = {0};

    for (size_t i = 0; i < chunk->encoding_count; i++)
        if (chunk->encodings[i] >= 0 && chunk->encodings[i] < 32)
            s->encodings |= 1u << chunk->encodings[i];
    if (chunk->codec >= 0 && chunk->codec < 32)
        s->codecs |= 1u << chunk->codec;
    out->compressed_bytes += (uint64_t)chunk->compressed_bytes;
    out->uncompressed_bytes += (uint64_t)chunk->uncompressed_bytes;
    out->values += chunk->values;
    out->statistics += chunk->has_statistics;
    out->column_indexes += chunk->column_index_offset > 0;
    out->offset_indexes += chunk->offset_index_offset > 0;
    out->blooms += chunk->has_bloom;
    if (chunk->has_statistics && chunk->statistics.has_null_count)
        out->nulls += chunk->statistics.null_count;
    else
        s->nulls_known = false;
    tn_order_chunk(file, group, leaf, &range);
    widen(tn_order_domain(leaf), s, &range);
}

static const char *print_set(tarn_cx *cx, tn_arena *arena, uint32_t set,
                             const char *(*name)(int32_t))
{
    tn_buf text = {0};
    const char *kept;

    for (int32_t i = 0; i < 32; i++)
        if ((set >> i & 1) != 0)
            tn_buf_print(&text, "%s%s", text.len > 0 ? " " : "", name(i));
    kept = keep(cx, arena, tn_buf_view(&text));
    tn_buf_clear(&text);
    return kept;
}

static const char *print_bound(tarn_cx *cx, tn_arena *arena, const tn_leaf *leaf,
                               const tn_filter_value *value)
{
    tn_buf text = {0};
    const char *kept;

    print_value(&text, leaf, value);
    kept = keep(cx, arena, tn_buf_view(&text));
    tn_buf_clear(&text);
    return kept;
}

static int name_column(tarn_cx *cx, tn_arena *arena, const tn_leaf *leaf, tarn_inspect_column *out)
{
    tn_buf text = {0};
    int rc = TARN_OK;

    out->name = keep(cx, arena, leaf->dotted);
    tn_buf_text(&text, tn_physical_name((int32_t)leaf->physical));
    if (leaf->physical == TN_FIXED)
        tn_buf_print(&text, "(%u)", (unsigned)leaf->type_length);
    out->physical = keep(cx, arena, tn_buf_view(&text));
    tn_buf_reset(&text);
    print_logical(&text, leaf->node->element_meta);
    out->logical = keep(cx, arena, tn_buf_view(&text));
    out->max_definition = leaf->max_def;
    out->max_repetition = leaf->max_rep;
    if (out->name == NULL || out->physical == NULL || out->logical == NULL)
        rc = TARN_E_NOMEM;
    tn_buf_clear(&text);
    return rc;
}

/* A bound that old Spark stored in the hybrid calendar, in today's. */
static void modernize(const tn_parquet *file, const tn_leaf *leaf, tn_filter_value *value)
{
    const tn_footer *footer = &file->footer;
    const tn_element *e = leaf->node->element_meta;
    int64_t units = 1;

    if ((!is_date(e) && !is_timestamp(e)) ||
        (e->logical == TN_LOGICAL_TIMESTAMP && !e->adjusted_to_utc) ||
        tn_calendar_of(footer->key_values, footer->key_value_count, footer->created_by).dates !=
            TN_CALENDAR_HYBRID)
        return;
    for (int i = 0; is_timestamp(e) && i < time_digits(e); i++)
        units *= 10;
    (void)tn_calendar_proleptic_time(value->i, is_date(e) ? 1 : 86400 * units, &value->i);
}

/* The leaf over groups [first, end). */
static int fill_column(tarn_cx *cx, const tn_parquet *file, size_t first, size_t end,
                       const tn_leaf *leaf, tn_arena *arena, tarn_inspect_column *out)
{
    sums s = {.bounded = tn_order_domain(leaf) != TN_DOMAIN_NONE, .nulls_known = true};
    int rc = TARN_OK;

    TN_TRY(name_column(cx, arena, leaf, out));
    for (size_t g = first; g < end; g++)
        add_chunk(file, g, leaf, &s, out);
    if (!s.nulls_known)
        out->nulls = -1;
    out->encodings = print_set(cx, arena, s.encodings, tn_encoding_name);
    out->codecs = print_set(cx, arena, s.codecs, tn_codec_name);
    if (out->encodings == NULL || out->codecs == NULL)
        TN_TRY(TARN_E_NOMEM);
    if (s.bounded && s.any) {
        modernize(file, leaf, &s.min);
        modernize(file, leaf, &s.max);
        out->min = print_bound(cx, arena, leaf, &s.min);
        out->max = print_bound(cx, arena, leaf, &s.max);
    }
done:
    return rc;
}

static int fill_groups(tarn_cx *cx, inspection *self)
{
    const tn_footer *footer = &self->file.footer;
    tarn_inspect_group *groups =
        tn_arena_array(cx, &self->arena, footer->group_count + 1, sizeof *groups);

    if (groups == NULL)
        return TARN_E_NOMEM;
    for (size_t g = 0; g < footer->group_count; g++) {
        const tn_row_group_meta *group = &footer->groups[g];

        groups[g].rows = group->rows;
        for (size_t c = 0; c < group->column_count; c++) {
            const tn_chunk_meta *chunk = &group->columns[c];
            uint64_t offset = (uint64_t)chunk->data_page_offset;

            if (chunk->has_dictionary_page_offset && chunk->dictionary_page_offset > 0 &&
                (uint64_t)chunk->dictionary_page_offset < offset)
                offset = (uint64_t)chunk->dictionary_page_offset;
            if (c == 0 || offset < groups[g].offset)
                groups[g].offset = offset;
            groups[g].compressed_bytes += (uint64_t)chunk->compressed_bytes;
            groups[g].uncompressed_bytes += (uint64_t)chunk->uncompressed_bytes;
        }
        self->face.compressed_bytes += groups[g].compressed_bytes;
        self->face.uncompressed_bytes += groups[g].uncompressed_bytes;
    }
    self->face.groups = groups;
    self->face.group_count = footer->group_count;
    return TARN_OK;
}

static int fill_keys(tarn_cx *cx, inspection *self)
{
    const tn_footer *footer = &self->file.footer;
    tarn_inspect_key *keys =
        tn_arena_array(cx, &self->arena, footer->key_value_count + 1, sizeof *keys);

    if (keys == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < footer->key_value_count; i++) {
        const tn_key_value *pair = &footer->key_values[i];

        keys[i].key = keep(cx, &self->arena, pair->key);
        if (keys[i].key == NULL)
            return TARN_E_NOMEM;
        if (!pair->has_value)
            continue;
        keys[i].value = keep(cx, &self->arena, pair->value);
        keys[i].value_bytes = pair->value.len;
        if (keys[i].value == NULL)
            return TARN_E_NOMEM;
    }
    self->face.keys = keys;
    self->face.key_count = footer->key_value_count;
    return TARN_OK;
}

/* The keys of the footer that Hudi's writers put there (HoodieBloomFilterWriteSupport). */
static int fill_hudi(tarn_cx *cx, inspection *self)
{
    tarn_inspect_hudi *hudi = tn_arena_take(cx, &self->arena, sizeof *hudi);
    bool any = false;

    if (hudi == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < self->face.key_count; i++) {
        const tarn_inspect_key *key = &self->face.keys[i];

        if (key->value == NULL)
            continue;
        if (strcmp(key->key, "org.apache.hudi.bloomfilter") == 0) {
            hudi->filter_bytes = key->value_bytes;
            if (hudi->filter == NULL)
                hudi->filter = "SIMPLE";
        } else if (strcmp(key->key, "hoodie_bloom_filter_type_code") == 0) {
            hudi->filter = key->value;
        } else if (strcmp(key->key, "hoodie_min_record_key") == 0) {
            hudi->min_key = key->value;
        } else if (strcmp(key->key, "hoodie_max_record_key") == 0) {
            hudi->max_key = key->value;
        } else {
            continue;
        }
        any = true;
    }
    if (any)
        self->face.hudi = hudi;
    return TARN_OK;
}

static int fill(tarn_cx *cx, inspection *self)
{
    const tn_parquet *file = &self->file;
    tarn_inspect_column *columns =
        tn_arena_array(cx, &self->arena, file->schema.leaf_count + 1, sizeof *columns);
    tn_buf text = {0};
    int rc = TARN_OK;

    if (columns == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < file->schema.leaf_count; i++)
        TN_TRY(fill_column(cx, file, 0, file->footer.group_count, &file->schema.leaves[i],
                           &self->arena, &columns[i]));
    self->face.columns = columns;
    self->face.column_count = file->schema.leaf_count;
    TN_TRY(fill_groups(cx, self));
    TN_TRY(fill_keys(cx, self));
    TN_TRY(fill_hudi(cx, self));
    tn_schema_print(&text, &file->schema);
    TN_TRY(tn_buf_check(cx, &text));
    self->face.path = keep(cx, &self->arena, file->path);
    self->face.created_by = keep(cx, &self->arena, file->footer.created_by);
    self->face.schema = keep(cx, &self->arena, tn_buf_view(&text));
    self->face.file_bytes = file->size_bytes;
    self->face.footer_bytes = file->footer_bytes;
    self->face.version = file->footer.version;
    self->face.rows = file->footer.rows;
    if (self->face.path == NULL || self->face.created_by == NULL || self->face.schema == NULL)
        TN_TRY(TARN_E_NOMEM);
done:
    tn_buf_clear(&text);
    return rc;
}

int tarn_inspect_open(tarn_cx *cx, const char *path, tarn_inspect **out)
{
    inspection *self = tn_calloc(cx, 1, sizeof *self);
    tn_str place;
    int rc = TARN_OK;

    assert(path != NULL && out != NULL);
    if (self == NULL)
        return TARN_E_NOMEM;
    TN_TRY(tn_store_locate(cx, tn_str_of(path), &self->arena, &self->store, &place));
    TN_TRY(tn_parquet_open(cx, self->store, place, &self->file));
    TN_TRY(fill(cx, self));
    *out = &self->face;
    self = NULL;
done:
    if (self != NULL)
        tarn_inspect_close(&self->face);
    return rc;
}

void tarn_inspect_close(tarn_inspect *inspect)
{
    inspection *self = (inspection *)inspect;

    if (self == NULL)
        return;
    tn_parquet_close(&self->file);
    tn_store_close(self->store);
    tn_arena_clear(&self->arena);
    free(self);
}

int tarn_inspect_chunk_at(tarn_cx *cx, const tarn_inspect *inspect, size_t group, size_t column,
                          tarn_inspect_chunk *out)
{
    const inspection *self = (const inspection *)inspect;
    const tn_chunk_meta *chunk;
    tn_arena *arena = out->memory;
    tarn_inspect_chunk made = {.dictionary_offset = -1};
    int rc = TARN_OK;

    assert(group < inspect->group_count && column < inspect->column_count);
    if (arena == NULL)
        arena = out->memory = tn_calloc(cx, 1, sizeof *arena);
    if (arena == NULL)
        return TARN_E_NOMEM;
    tn_arena_clear(arena);
    made.memory = arena;
    TN_TRY(fill_column(cx, &self->file, group, group + 1, &self->file.schema.leaves[column], arena,
                       &made.column));
    chunk = &self->file.footer.groups[group].columns[column];
    made.data_offset = chunk->data_page_offset;
    if (chunk->has_dictionary_page_offset && chunk->dictionary_page_offset > 0)
        made.dictionary_offset = chunk->dictionary_page_offset;
    *out = made;
done:
    return rc;
}

void tarn_inspect_chunk_clear(tarn_inspect_chunk *chunk)
{
    if (chunk->memory != NULL)
        tn_arena_clear(chunk->memory);
    free(chunk->memory);
    chunk->memory = NULL;
}

/* Moves dates and times before 1582-10-15 of old writers to the proleptic Gregorian calendar.
 *   DATE                   the same year, month and day
 *   TIMESTAMP, INT96       the same, in UTC; exact where the footer's zone is UTC. In another zone,
 *                          or an unknown one, times before 1900 may be off by that zone's old
 *                          offset: said once per file
 *   writer without a sign  as stored, which is what the format says; said once per file when there
 *                          is a value before 1582-10-15
 * Times without a zone (isAdjustedToUTC false) were never stored in the old calendar.
 * I1: Arrow leaves come in the order of the file's leaves, so the two are walked together. */
#include "exec/read_calendar.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "batch/array.h"
#include "codec/parquet/order.h"

#define DAY_SECONDS 86400ll
#define NAMES_MAX   5 /* columns named in a note */

enum doubt {
    DOUBT_ZONE = 1,  /* a time before 1900 of the hybrid calendar in a zone that is not UTC */
    DOUBT_WRITER = 2 /* a value before 1582-10-15 of a writer whose calendar is not known */
};

int tn_read_calendar_init(tarn_cx *cx, const tn_parquet *file, tn_arena *arena,
                          tn_read_calendar *out)
{
    const tn_footer *footer = &file->footer;
    tn_read_calendar made = {.file = file};

    made.calendars =
        tn_calendar_of(footer->key_values, footer->key_value_count, footer->created_by);
    made.utc = tn_calendar_zone_is_utc(made.calendars.zone);
    made.doubt = tn_arena_array(cx, arena, file->schema.leaf_count + 1, sizeof *made.doubt);
    if (made.doubt == NULL)
        return TARN_E_NOMEM;
    *out = made;
    return TARN_OK;
}

/* What a leaf's Arrow values are. */
typedef struct kind {
    bool date, time, wide; /* wide: 64 bits a value */
    int64_t day_units;
    enum tn_calendar calendar;
} kind;

static kind kind_of(const tn_read_calendar *self, const tn_leaf *leaf, const char *format)
{
    kind out = {.calendar = self->calendars.dates};

    if (strcmp(format, "tdD") == 0 || strcmp(format, "tdm") == 0) {
        out.date = true;
        out.wide = format[2] == 'm';
        out.day_units = out.wide ? DAY_SECONDS * 1000 : 1;
    } else if (strncmp(format, "ts", 2) == 0 && format[2] != '\0') {
        int64_t units = format[2] == 's'   ? 1
                        : format[2] == 'm' ? 1000
                        : format[2] == 'u' ? 1000000
                                           : 1000000000;

        out.time = out.wide = true;
        out.day_units = DAY_SECONDS * units;
        if (leaf->physical == TN_INT96)
            out.calendar = self->calendars.int96;
        else if (strlen(format) <= 4)
            out.calendar = TN_CALENDAR_PROLEPTIC;
    }
    return out;
}

/* Moves one value; what it cannot know it adds to *doubt. */
static bool move(const tn_read_calendar *self, const kind *k, int64_t value, int64_t *out,
                 uint8_t *doubt)
{
    *out = value;
    if (k->calendar == TN_CALENDAR_UNKNOWN) {
        if (value < TN_CALENDAR_GREGORIAN * k->day_units)
            *doubt |= DOUBT_WRITER;
        return true;
    }
    if (k->time && !self->utc && value < TN_CALENDAR_ZONES * k->day_units)
        *doubt |= DOUBT_ZONE;
    return tn_calendar_proleptic_time(value, k->day_units, out);
}

static int move_values(tarn_cx *cx, tn_read_calendar *self, uint32_t leaf, const kind *k,
                       struct ArrowArray *array)
{
    const tn_str name = self->file->schema.leaves[leaf].dotted;
    uint8_t *data = (uint8_t *)(uintptr_t)array->buffers[1];
    size_t width = k->wide ? 8 : 4;

    for (int64_t i = array->offset; i < array->offset + array->length; i++) {
        int64_t value, moved;
        int32_t day;

        if (k->wide) {
            memcpy(&value, data + (size_t)i * width, 8);
        } else {
            memcpy(&day, data + (size_t)i * width, 4);
            value = day;
        }
        /* Days of units: cheap for all but the few old values. */
        if (value >= TN_CALENDAR_ZONES * k->day_units)
            continue;
        if (array->null_count != 0 && !tn_bit(array->buffers[0], i))
            continue;
        if (!move(self, k, value, &moved, &self->doubt[leaf]) ||
            (!k->wide && (moved < INT32_MIN || moved > INT32_MAX)))
            return tn_fail(cx, TARN_E_UNSUPPORTED,
                           "column \"%.*s\": the value %lld of the old calendar has none in "
                           "today's that fits",
                           TN_STR_ARG(name), (long long)value);
        day = (int32_t)moved;
        memcpy(data + (size_t)i * width, k->wide ? (const void *)&moved : (const void *)&day,
               width);
    }
    return TARN_OK;
}

static int apply(tarn_cx *cx, tn_read_calendar *self, uint32_t *leaf,
                 const struct ArrowSchema *schema, struct ArrowArray *array)
{
    int rc = TARN_OK;

    if (schema->n_children > 0) {
        for (int64_t i = 0; i < schema->n_children; i++)
            TN_TRY(apply(cx, self, leaf, schema->children[i], array->children[i]));
    } else if (*leaf < self->file->schema.leaf_count) {
        kind k = kind_of(self, &self->file->schema.leaves[*leaf], schema->format);

        if ((k.date || k.time) && k.calendar != TN_CALENDAR_PROLEPTIC && array->dictionary == NULL)
            TN_TRY(move_values(cx, self, *leaf, &k, array));
        ++*leaf;
    }
done:
    return rc;
}

/* The node of a top-level column. */
static const tn_node *top(const tn_parquet *file, uint32_t column)
{
    const tn_node *node = &file->schema.nodes[file->schema.nodes[0].first_child];

    while (column-- > 0)
        node = &file->schema.nodes[node->next_sibling];
    return node;
}

int tn_read_calendar_apply(tarn_cx *cx, tn_read_calendar *self, uint32_t column,
                           const struct ArrowSchema *schema, struct ArrowArray *array)
{
    const tn_node *node;
    uint32_t leaf;

    if (self->calendars.dates == TN_CALENDAR_PROLEPTIC &&
        self->calendars.int96 == TN_CALENDAR_PROLEPTIC)
        return TARN_OK;
    assert(column < self->file->schema.nodes[0].child_count);
    node = top(self->file, column);
    leaf = node->first_leaf;
    return apply(cx, self, &leaf, schema, array);
}

static bool is_old(const tn_leaf *leaf)
{
    const tn_element *e = leaf->node->element_meta;

    return e->logical == TN_LOGICAL_DATE || e->logical == TN_LOGICAL_TIMESTAMP ||
           e->converted == TN_DATE || e->converted == TN_TIMESTAMP_MILLIS ||
           e->converted == TN_TIMESTAMP_MICROS;
}

static int64_t day_units_of(const tn_leaf *leaf)
{
    const tn_element *e = leaf->node->element_meta;

    if (e->logical == TN_LOGICAL_DATE || e->converted == TN_DATE)
        return 1;
    if (e->converted == TN_TIMESTAMP_MILLIS ||
        (e->logical == TN_LOGICAL_TIMESTAMP && e->unit == TN_MILLIS))
        return DAY_SECONDS * 1000;
    if (e->converted == TN_TIMESTAMP_MICROS || e->unit == TN_MICROS)
        return DAY_SECONDS * 1000000;
    return DAY_SECONDS * 1000000000;
}

bool tn_read_calendar_moves(const tn_read_calendar *self, uint32_t column)
{
    const tn_node *node = top(self->file, column);

    if (self->calendars.dates != TN_CALENDAR_HYBRID)
        return false;
    for (uint32_t i = 0; i < node->leaf_count; i++) {
        const tn_leaf *leaf = &self->file->schema.leaves[node->first_leaf + i];

        if (!is_old(leaf))
            continue;
        for (size_t g = 0; g < self->file->footer.group_count; g++) {
            tn_order_range range = {0};

            tn_order_chunk(self->file, g, leaf, &range);
            if (!range.empty &&
                (!range.has_min || range.min.i < TN_CALENDAR_GREGORIAN * day_units_of(leaf)))
                return true;
        }
    }
    return false;
}

/* The columns with that doubt, at most NAMES_MAX by name. */
static size_t name_columns(const tn_read_calendar *self, uint8_t doubt, tn_buf *out)
{
    size_t count = 0;

    for (size_t i = 0; i < self->file->schema.leaf_count; i++) {
        if ((self->doubt[i] & doubt) == 0)
            continue;
        if (count < NAMES_MAX)
            tn_buf_print(out, "%s\"%.*s\"", count > 0 ? ", " : "",
                         TN_STR_ARG(self->file->schema.leaves[i].dotted));
        count++;
    }
    if (count > NAMES_MAX)
        tn_buf_print(out, " and %zu more", count - NAMES_MAX);
    return count;
}

bool tn_read_calendar_note(const tn_read_calendar *self, char *text, size_t size)
{
    tn_str path = self->file != NULL ? self->file->path : TN_STR(""), zone = self->calendars.zone;
    tn_buf zones = {0}, writers = {0};
    size_t a, b;

    if (self->file == NULL)
        return false;
    a = name_columns(self, DOUBT_ZONE, &zones);
    b = name_columns(self, DOUBT_WRITER, &writers);
    if (a > 0)
        snprintf(text, size,
                 "%.*s: column%s %.*s: times before 1900 by an old Spark are shown as if its time "
                 "zone was UTC; the footer %s%.*s",
                 TN_STR_ARG(path), a > 1 ? "s" : "", TN_STR_ARG(tn_buf_view(&zones)),
                 zone.len != 0 ? "says " : "names none", TN_STR_ARG(zone));
    else if (b > 0)
        snprintf(text, size,
                 "%.*s: column%s %.*s: values before 1582-10-15 are shown as stored; the writer "
                 "does not say in which calendar, and old Spark and Hive shift them by days",
                 TN_STR_ARG(path), b > 1 ? "s" : "", TN_STR_ARG(tn_buf_view(&writers)));
    tn_buf_clear(&zones);
    tn_buf_clear(&writers);
    return a + b > 0;
}

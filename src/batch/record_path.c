/* Partition paths of rows (Hudi: KeyGenUtils.getRecordPartitionPath, getPartitionPath).
 * I1: a path never leads out of the table or into its .hoodie, and two different paths are two
 *     different directories: no level is empty, "." or "..". It is UTF-8: commits
 *     are JSON, and a reader of them would look for another directory.
 * I2: null and the empty text have the same level, that of Hive's default partition; a field of
 *     times has that of the number 1 for null instead. */
#include "batch/record_path.h"

#include <math.h>

#include "batch/key.h"
#include "batch/number.h"
#include "batch/text.h"

#define DEFAULT_PATH "__HIVE_DEFAULT_PARTITION__"
#define SHOWN_BYTES  60
#define LEVEL_BYTES  255
#define META_DIR     ".hoodie"
#define URL_ENCODE   "hoodie.datasource.write.partitionpath.urlencode"

static int check_time(tarn_cx *cx, const tn_record_path *path, const tn_record_field *field)
{
    bool text = tn_text_is_utf8(field->type.kind);
    int rc = TARN_OK;

    if (field->type.kind == TN_TYPE_NULL)
        goto done;
    if (text && !tn_path_time_takes_text(path->time))
        TN_FAIL(TARN_E_INVALID,
                "the partition field \"%.*s\" is text, and hoodie.keygen.timebased.timestamp.type "
                "is one of numbers; set it to DATE_STRING",
                TN_STR_ARG(field->name));
    if (!text && tn_path_time_takes_text(path->time))
        TN_FAIL(TARN_E_INVALID,
                "the partition field \"%.*s\" is no text, and "
                "hoodie.keygen.timebased.timestamp.type is DATE_STRING or MIXED",
                TN_STR_ARG(field->name));
    if (field->type.kind == TN_TYPE_BOOL)
        TN_FAIL(TARN_E_UNSUPPORTED,
                "the partition field \"%.*s\" is boolean, and no time is made of that",
                TN_STR_ARG(field->name));
done:
    return rc;
}

int tn_record_path_open(tarn_cx *cx, tn_arena *arena, const tn_record_key_options *options,
                        const struct ArrowSchema *schema, const tn_zone *zone, tn_record_path *out)
{
    size_t count = options->kind == TN_KEYGEN_NON_PARTITION ? 0 : options->partition_count;
    tn_record_path path = {.options = options, .count = count};
    bool any_time = options->kind == TN_KEYGEN_TIMESTAMP;
    int rc = TARN_OK;

    if ((options->kind == TN_KEYGEN_SIMPLE || options->kind == TN_KEYGEN_TIMESTAMP) && count != 1)
        TN_FAIL(TARN_E_INVALID,
                "the key generator of this table takes one partition field, not %zu", count);
    path.fields = tn_arena_array(cx, arena, count + 1, sizeof *path.fields);
    path.is_time = tn_arena_array(cx, arena, count + 1, sizeof *path.is_time);
    if (path.fields == NULL || path.is_time == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < count; i++) {
        path.is_time[i] = options->kind == TN_KEYGEN_TIMESTAMP ||
                          (options->kind == TN_KEYGEN_CUSTOM &&
                           options->partition_is_time != NULL && options->partition_is_time[i]);
        any_time |= path.is_time[i];
        TN_TRY(
            tn_record_field_bind(cx, schema, options->partitions[i], "partition", &path.fields[i]));
        path.fields[i].zone = zone;
    }
    if (any_time)
        TN_TRY(tn_path_time_open(cx, &options->timebased, options->zone, &path.time));
    for (size_t i = 0; i < count; i++)
        if (path.is_time[i])
            TN_TRY(check_time(cx, &path, &path.fields[i]));
    *out = path;
    path.time = NULL;
done:
    tn_path_time_close(path.time);
    return rc;
}

void tn_record_path_close(tn_record_path *path)
{
    tn_path_time_close(path->time);
    path->time = NULL;
}

void tn_record_path_load(tn_record_path *path, const struct ArrowArray *batch)
{
    for (size_t i = 0; i < path->count; i++)
        tn_record_field_load(&path->fields[i], batch);
}

/* Java's longValue of a decimal: digits before the point, in 64 bits. */
static int64_t decimal_long(const tn_record_field *field, const uint8_t *bytes)
{
    tn_int256 value = tn_int256_le(bytes, field->type.width);
    char text[128];
    size_t len = tn_number_write(&value, field->type.scale, text);
    uint64_t out = 0;

    for (size_t i = text[0] == '-'; i < len && text[i] != '.'; i++)
        out = out * 10 + (uint64_t)(text[i] - '0');
    return (int64_t)(text[0] == '-' ? 0 - out : out);
}

static int64_t real_long(double value)
{
    if (isnan(value))
        return 0;
    if (value >= 9223372036854775808.0)
        return INT64_MAX;
    return value <= -9223372036854775808.0 ? INT64_MIN : (int64_t)value;
}

static void print_number(const tn_record_path *path, const tn_record_field *field, int64_t row,
                         tn_buf *out)
{
    const struct ArrowArray *array = tn_record_field_array(field);
    int64_t at = tn_record_field_at(field, row), value;
    const void *data = array->buffers[1];

    switch (field->type.kind) {
    case TN_TYPE_FLOAT:
        value = real_long((double)((const float *)data)[at]);
        break;
    case TN_TYPE_DOUBLE:
        value = real_long(((const double *)data)[at]);
        break;
    case TN_TYPE_DECIMAL:
        value = decimal_long(field, (const uint8_t *)data + (size_t)at * field->type.width);
        break;
    case TN_TYPE_DATE64:
        value = ((const int64_t *)data)[at] / 86400000;
        break;
    default:
        value = tn_rows_integer(field->type.kind, array, at);
        break;
    }
    if (field->type.kind != TN_TYPE_TIMESTAMP) {
        tn_path_time_number(path->time, value, out);
        return;
    }
    /* A time by a clock is a number even where those adjusted to UTC are times. */
    if (field->type.unit_digits == 9)
        value /= 1000;
    else if (field->type.unit_digits == 0 &&
             __builtin_mul_overflow(value, (int64_t)1000000, &value))
        value = value < 0 ? INT64_MIN : INT64_MAX;
    if (field->zone != NULL && field->type.zone.len != 0)
        tn_path_time_millis(path->time, (field->type.unit_digits == 3 ? value : value / 1000), out);
    else
        tn_path_time_number(path->time, value, out);
}

/* The value of a field of times. */
static int print_time(tarn_cx *cx, const tn_record_path *path, size_t i, int64_t row, tn_buf *out)
{
    const tn_record_field *field = &path->fields[i];
    tn_str text;
    int rc = TARN_OK;

    if (tn_record_field_is_null(field, row)) {
        tn_path_time_null(path->time, out);
        goto done;
    }
    if (!tn_text_is_utf8(field->type.kind)) {
        print_number(path, field, row, out);
        goto done;
    }
    text =
        tn_rows_bytes(&field->type, tn_record_field_array(field), tn_record_field_at(field, row));
    if (!tn_path_time_text(path->time, text, out))
        TN_FAIL(TARN_E_DATA,
                "the partition field \"%.*s\" holds \"%.*s\", which no pattern of "
                "hoodie.keygen.timebased.input.dateformat (%.*s) reads",
                TN_STR_ARG(field->name), (int)(text.len > SHOWN_BYTES ? SHOWN_BYTES : text.len),
                text.ptr, TN_STR_ARG(path->options->timebased.input_format));
done:
    return rc;
}

static int print_level(tarn_cx *cx, const tn_record_path *path, size_t i, int64_t row, tn_buf *out)
{
    const tn_record_field *field = &path->fields[i];
    tn_buf value = {0};
    int rc = TARN_OK;

    if (path->is_time[i])
        TN_TRY(print_time(cx, path, i, row, &value));
    else if (!tn_record_field_is_null(field, row))
        tn_record_field_text(field, row, &value);
    if (path->options->hive_style) {
        tn_buf_str(out, field->name);
        tn_buf_u8(out, '=');
    }
    if (value.len == 0)
        tn_buf_text(out, DEFAULT_PATH);
    else if (path->options->url_encode)
        tn_key_escape(out, tn_buf_view(&value));
    else
        tn_buf_str(out, tn_buf_view(&value));
    TN_TRY(tn_buf_check(cx, &value));
done:
    tn_buf_clear(&value);
    return rc;
}

static bool is_dots(tn_str level)
{
    return tn_str_is(level, ".") || tn_str_is(level, "..");
}

/* NULL, or what is wrong with a path (I1). */
static const char *path_fault(tn_str path)
{
    for (tn_str rest = path; rest.len != 0 || rest.ptr == path.ptr;) {
        size_t end = tn_str_find(rest, '/');
        tn_str level = {rest.ptr, end};

        if (end == 0)
            return "has an empty level";
        if (is_dots(level))
            return "leads out of its place";
        if (rest.ptr == path.ptr && tn_str_is(level, META_DIR))
            return "is that of the table's own files";
        if (end > LEVEL_BYTES)
            return "has a level of more than 255 bytes";
        if (end < rest.len && end + 1 == rest.len)
            return "has an empty level";
        rest = tn_str_from(rest, end + 1);
    }
    if (tn_str_find(path, '\0') < path.len)
        return "has a zero byte";
    if (!tn_str_utf8(path))
        return "is not UTF-8";
    return path.len >= TN_PATH_BYTES_MAX ? "is too long" : NULL;
}

/* What there is to do about a bad path but to correct the row. A table keeps the way it spells its
 * paths, so it is a new one that can be made otherwise. Escaped are slashes and what is no text of
 * a path, but no dots; a name in front of a value makes any of them a level like others. */
static const char *advice(const tn_record_path *path, tn_str made)
{
    bool dots = tn_str_starts(made, TN_STR(META_DIR)) &&
                (made.len == strlen(META_DIR) || made.ptr[strlen(META_DIR)] == '/');
    size_t levels = 1, longest = 0;

    for (tn_str rest = made; rest.len != 0;) {
        size_t end = tn_str_find(rest, '/');

        longest = end > longest ? end : longest;
        dots |= is_dots((tn_str){rest.ptr, end});
        levels += end < rest.len;
        rest = tn_str_from(rest, end < rest.len ? end + 1 : end);
    }
    if (longest > LEVEL_BYTES || made.len >= TN_PATH_BYTES_MAX)
        return "";
    if (levels > path->count && !path->options->url_encode)
        return ", or make a new table with --url-encode (" URL_ENCODE "=true)";
    if (levels == path->count && dots && !path->options->hive_style)
        return ", or make a new table with --hive-style (paths like NAME=VALUE)";
    return "";
}

int tn_record_path_print(tarn_cx *cx, const tn_record_path *path, int64_t row, tn_buf *out)
{
    size_t from = out->len;
    const char *fault;
    tn_str made;
    int rc = TARN_OK;

    if (path->count == 0)
        goto done;
    for (size_t i = 0; i < path->count; i++) {
        if (i > 0)
            tn_buf_u8(out, '/');
        TN_TRY(print_level(cx, path, i, row, out));
    }
    TN_TRY(tn_buf_check(cx, out));
    for (size_t i = from; path->options->slash_dates && path->count == 1 && i < out->len; i++)
        if (out->data[i] == '-')
            out->data[i] = '/';
    made = tn_str_from(tn_buf_view(out), from);
    fault = path_fault(made);
    if (fault != NULL)
        TN_FAIL(TARN_E_DATA, "the partition path \"%.*s%s\" %s; correct the row%s",
                (int)(made.len > SHOWN_BYTES ? SHOWN_BYTES : made.len), made.ptr,
                made.len > SHOWN_BYTES ? "..." : "", fault, advice(path, made));
done:
    return rc;
}

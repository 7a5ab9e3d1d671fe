/* The Avro schema of a Hudi table, as text, from its Arrow columns.
 *
 * Names, as Hudi's Spark writer makes them: the record of the table is "<table>_record" in
 * "hoodie.<table>". Below a record of full name R the struct of column c is the record "c" in R,
 * and the fixed of a decimal column d is "fixed" in "R.d"; lists and maps add no name of their own.
 *
 * I1: the text goes by the stored types (tn_avro_arrow_stored), so whatever comes is written alike.
 */
#include <stdio.h>

#include "batch/field.h"
#include "batch/type.h"
#include "codec/avro/avro_arrow.h"
#include "codec/avro/avro_place.h"

static const char *const meta_names[] = {"_hoodie_commit_time", "_hoodie_commit_seqno",
                                         "_hoodie_record_key", "_hoodie_partition_path",
                                         "_hoodie_file_name"};

typedef struct writer {
    tarn_cx *cx;
    tn_json json;
} writer;

static int write_type(writer *w, const struct ArrowSchema *schema, tn_str space,
                      const tn_avro_place *at);

static bool is_name(tn_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
              (i > 0 && c >= '0' && c <= '9')))
            return false;
    }
    return text.len != 0;
}

/* HoodieAvroUtils.sanitizeName. */
static void add_clean(tn_buf *out, tn_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        if (((uint8_t)name.ptr[i] & 0xC0) == 0x80)
            continue; /* a character of several bytes counts once */
        if (is_name((tn_str){name.ptr + i, 1}) ||
            (i > 0 && name.ptr[i] >= '0' && name.ptr[i] <= '9'))
            tn_buf_u8(out, (uint8_t)name.ptr[i]);
        else
            tn_buf_text(out, "__");
    }
}

/* The fewest bytes that hold `precision` digits and a sign. */
static uint32_t decimal_bytes(int32_t precision)
{
    unsigned __int128 digits = 1, range = 128;
    uint32_t bytes = 1;

    for (int32_t i = 0; i < precision; i++)
        digits *= 10;
    for (; bytes < 16 && range < digits; bytes++)
        range <<= 8;
    return bytes;
}

static void write_logical(writer *w, const char *base, const char *logical)
{
    tn_json_object(&w->json);
    tn_json_put_text(&w->json, "type", tn_str_of(base));
    tn_json_put_text(&w->json, "logicalType", tn_str_of(logical));
    tn_json_object_end(&w->json);
}

static int write_decimal(writer *w, const tn_type *type, const char *name, tn_str space)
{
    tn_buf full = {0};
    int rc = TARN_OK;

    tn_buf_str(&full, space);
    tn_buf_u8(&full, '.');
    tn_buf_text(&full, name);
    TN_TRY(tn_buf_check(w->cx, &full));
    tn_json_object(&w->json);
    tn_json_put_text(&w->json, "type", TN_STR("fixed"));
    tn_json_put_text(&w->json, "name", TN_STR("fixed"));
    tn_json_put_text(&w->json, "namespace", tn_buf_view(&full));
    tn_json_put_u64(&w->json, "size", decimal_bytes(type->precision));
    tn_json_put_text(&w->json, "logicalType", TN_STR("decimal"));
    tn_json_put_i64(&w->json, "precision", type->precision);
    tn_json_put_i64(&w->json, "scale", type->scale);
    tn_json_object_end(&w->json);
done:
    tn_buf_clear(&full);
    return rc;
}

/* `name` is that of the column: its list items and map values have it too. */
static int write_plain(writer *w, const struct ArrowSchema *schema, const char *name, tn_str space)
{
    static const struct {
        const char *format, *base, *logical;
    } plain[] = {{"b", "boolean", NULL},
                 {"i", "int", NULL},
                 {"l", "long", NULL},
                 {"f", "float", NULL},
                 {"g", "double", NULL},
                 {"u", "string", NULL},
                 {"z", "bytes", NULL},
                 {"tdD", "int", "date"},
                 {"ttm", "int", "time-millis"},
                 {"ttu", "long", "time-micros"},
                 {"tsm:UTC", "long", "timestamp-millis"},
                 {"tsu:UTC", "long", "timestamp-micros"},
                 {"tsm:", "long", "local-timestamp-millis"},
                 {"tsu:", "long", "local-timestamp-micros"}};
    tn_type type;
    int rc = TARN_OK;

    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        if (strcmp(plain[i].format, schema->format) != 0)
            continue;
        if (plain[i].logical == NULL)
            tn_json_text(&w->json, tn_str_of(plain[i].base));
        else
            write_logical(w, plain[i].base, plain[i].logical);
        return TARN_OK;
    }
    TN_TRY(tn_type_of(w->cx, schema, &type));
    TN_TRY(write_decimal(w, &type, name, space));
done:
    return rc;
}

static int write_field(writer *w, const struct ArrowSchema *schema, tn_str space,
                       const tn_avro_place *up)
{
    tn_avro_place at = {up, tn_str_of(schema->name)};
    int rc = TARN_OK;

    if (!is_name(at.name))
        TN_TRY(tn_avro_place_fail(w->cx, TARN_E_INVALID, &at, "column",
                                  "a column of a Hudi table has letters, digits and _ in its name, "
                                  "and no digit first; rename it"));
    tn_json_object(&w->json);
    tn_json_put_text(&w->json, "name", at.name);
    tn_json_key(&w->json, "type");
    TN_TRY(write_type(w, schema, space, &at));
    if (tn_field_nullable(schema)) {
        tn_json_key(&w->json, "default");
        tn_json_null(&w->json);
    }
    tn_json_object_end(&w->json);
done:
    return rc;
}

static int write_record(writer *w, const struct ArrowSchema *schema, const char *name, tn_str space,
                        const tn_avro_place *at)
{
    tn_buf inner = {0};
    int rc = TARN_OK;

    tn_buf_str(&inner, space);
    tn_buf_u8(&inner, '.');
    tn_buf_text(&inner, name);
    TN_TRY(tn_buf_check(w->cx, &inner));
    tn_json_object(&w->json);
    tn_json_put_text(&w->json, "type", TN_STR("record"));
    tn_json_put_text(&w->json, "name", tn_str_of(name));
    tn_json_put_text(&w->json, "namespace", space);
    tn_json_key(&w->json, "fields");
    tn_json_array(&w->json);
    for (int64_t i = 0; i < schema->n_children; i++)
        TN_TRY(write_field(w, schema->children[i], tn_buf_view(&inner), at));
    tn_json_array_end(&w->json);
    tn_json_object_end(&w->json);
done:
    tn_buf_clear(&inner);
    return rc;
}

/* The type of a column, or of what is in its lists and maps; `at` ends with the column's name. */
static int write_type(writer *w, const struct ArrowSchema *schema, tn_str space,
                      const tn_avro_place *at)
{
    bool list = strcmp(schema->format, "+l") == 0;
    int rc = TARN_OK;

    if (tn_field_nullable(schema)) {
        tn_json_array(&w->json);
        tn_json_text(&w->json, TN_STR("null"));
    }
    if (strcmp(schema->format, "+s") == 0) {
        TN_TRY(write_record(w, schema, at->name.ptr, space, at));
    } else if (list || strcmp(schema->format, "+m") == 0) {
        tn_json_object(&w->json);
        tn_json_put_text(&w->json, "type", tn_str_of(list ? "array" : "map"));
        tn_json_key(&w->json, list ? "items" : "values");
        TN_TRY(write_type(w, list ? schema->children[0] : schema->children[0]->children[1], space,
                          at));
        tn_json_object_end(&w->json);
    } else {
        TN_TRY(write_plain(w, schema, at->name.ptr, space));
    }
    if (tn_field_nullable(schema))
        tn_json_array_end(&w->json);
done:
    return rc;
}

static void write_meta(writer *w)
{
    for (size_t i = 0; i < sizeof meta_names / sizeof meta_names[0]; i++) {
        tn_json_object(&w->json);
        tn_json_put_text(&w->json, "name", tn_str_of(meta_names[i]));
        tn_json_key(&w->json, "type");
        tn_json_array(&w->json);
        tn_json_text(&w->json, TN_STR("null"));
        tn_json_text(&w->json, TN_STR("string"));
        tn_json_array_end(&w->json);
        tn_json_put_text(&w->json, "doc", TN_STR(""));
        tn_json_key(&w->json, "default");
        tn_json_null(&w->json);
        tn_json_object_end(&w->json);
    }
}

int tn_avro_of_arrow(tarn_cx *cx, const struct ArrowSchema *schema, tn_str table, bool meta,
                     tn_buf *out)
{
    struct ArrowSchema stored = {0};
    writer w = {cx, tn_json_to(out)};
    tn_buf name = {0}, space = {0}, inner = {0};
    size_t start = out->len;
    int rc = TARN_OK;

    TN_TRY(tn_avro_arrow_stored(cx, schema, &stored));
    add_clean(&name, table);
    tn_buf_text(&name, "_record");
    tn_buf_text(&space, "hoodie.");
    add_clean(&space, table);
    tn_buf_str(&inner, tn_buf_view(&space));
    tn_buf_u8(&inner, '.');
    tn_buf_str(&inner, tn_buf_view(&name));
    TN_TRY(tn_buf_check(cx, &name));
    TN_TRY(tn_buf_check(cx, &inner));
    tn_json_object(&w.json);
    tn_json_put_text(&w.json, "type", TN_STR("record"));
    tn_json_put_text(&w.json, "name", tn_buf_view(&name));
    tn_json_put_text(&w.json, "namespace", tn_buf_view(&space));
    tn_json_key(&w.json, "fields");
    tn_json_array(&w.json);
    if (meta)
        write_meta(&w);
    for (int64_t i = 0; i < stored.n_children; i++)
        TN_TRY(write_field(&w, stored.children[i], tn_buf_view(&inner), NULL));
    tn_json_array_end(&w.json);
    tn_json_object_end(&w.json);
    TN_TRY(tn_buf_check(cx, out));
done:
    if (rc != TARN_OK)
        out->len = start;
    tn_field_release(&stored);
    tn_buf_clear(&name);
    tn_buf_clear(&space);
    tn_buf_clear(&inner);
    return rc;
}

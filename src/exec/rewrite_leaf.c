/* One leaf of one segment, batch by batch.
 * I1: a batch given on has the levels of the output's leaf, and as many values as entries at its
 *     highest definition level.
 * I2: a value that the output's type cannot hold is an error naming column and value; never a
 *     silent change. */
#include "exec/rewrite_leaf.h"

#include <assert.h>
#include <inttypes.h>

#define TN_REWRITE_BATCH_ROWS 65536
#define TN_REWRITE_AHEAD      (1u << 20)

void tn_leaf_map_clear(tn_leaf_map *map)
{
    tn_buf_clear(&map->def);
    tn_buf_clear(&map->rep);
    tn_buf_clear(&map->values);
    tn_buf_clear(&map->cells);
    tn_buf_clear(&map->dictionary);
    tn_buf_clear(&map->dictionary_cells);
    *map = (tn_leaf_map){0};
}

typedef struct segment {
    tn_store *store;
    tn_leaf_map *map;
    const tn_leaf_source *source;
    const tn_loaded *loaded;
    const tn_leaf *in; /* NULL: none is read */
    tn_leaf_take take;
    void *arg;
} segment;

static int fits(tarn_cx *cx, const segment *s, bool ok)
{
    if (ok)
        return TARN_OK;
    return tn_fail(cx, TARN_E_CORRUPT,
                   "%.*s: column \"%.*s\": a decimal does not fit the merged column; leave this "
                   "file out of the directory or give its column a wider type",
                   TN_STR_ARG(s->loaded->input->file.path), TN_STR_ARG(s->in->dotted));
}

/* A decimal of any physical form as big-endian bytes without a length of its own. */
static tn_view decimal_bytes(const tn_leaf *leaf, const void *data, int64_t i, uint8_t cell[8])
{
    if (leaf->physical == TN_BYTE_ARRAY)
        return ((const tn_view *)data)[i];
    if (leaf->physical == TN_FIXED)
        return (tn_view){(const uint8_t *)data + (size_t)i * leaf->type_length, leaf->type_length};
    {
        int64_t value =
            leaf->physical == TN_INT32 ? ((const int32_t *)data)[i] : ((const int64_t *)data)[i];

        for (int b = 0; b < 8; b++)
            cell[b] = (uint8_t)((uint64_t)value >> (56 - 8 * b));
        return (tn_view){cell, 8};
    }
}

/* Writes `in` sign-extended or cut to `len` bytes; false when digits would be lost. */
static bool fit_decimal(tn_view in, uint8_t *out, uint32_t len)
{
    uint8_t sign = in.len != 0 && (in.ptr[0] & 0x80) ? 0xff : 0;

    for (uint32_t i = 0; i + len < in.len; i++)
        if (in.ptr[i] != sign)
            return false;
    for (uint32_t i = 0; i < len; i++)
        out[i] = i + in.len < len ? sign : in.ptr[i + in.len - len];
    return in.len <= len || len == 0 || ((out[0] & 0x80) != 0) == (sign != 0);
}

static int64_t integer_of(const uint8_t *bytes, uint32_t len)
{
    uint64_t value = len != 0 && (bytes[0] & 0x80) ? UINT64_MAX : 0;

    for (uint32_t i = 0; i < len; i++)
        value = value << 8 | bytes[i];
    return (int64_t)value;
}

/* `count` decimals in the output's form into `out`; variable ones keep their bytes in `cells`. */
static int cast_decimals(tarn_cx *cx, const segment *s, const tn_values *in, tn_buf *out,
                         tn_buf *cells)
{
    const tn_leaf *to = s->map->out;
    uint32_t len = to->physical == TN_FIXED ? to->type_length : to->physical == TN_INT32 ? 4 : 8;
    uint8_t scratch[8], fixed[8];
    int rc = TARN_OK;

    for (int64_t i = 0; i < in->count; i++) {
        tn_view value = decimal_bytes(s->in, in->data, i, scratch);

        if (to->physical == TN_BYTE_ARRAY) {
            /* The shortest form, as a variable decimal has it. */
            while (value.len > 1 && ((value.ptr[0] == 0 && !(value.ptr[1] & 0x80)) ||
                                     (value.ptr[0] == 0xff && (value.ptr[1] & 0x80))))
                value.ptr++, value.len--;
            tn_buf_u32le(cells, value.len);
            tn_buf_add(cells, value.ptr, value.len);
        } else if (to->physical == TN_FIXED) {
            uint8_t *cell = tn_buf_extend(out, len);

            if (cell == NULL)
                return tn_fail_memory(cx);
            TN_TRY(fits(cx, s, fit_decimal(value, cell, len)));
        } else {
            int64_t whole;
            int32_t half;

            TN_TRY(fits(cx, s, fit_decimal(value, fixed, len)));
            whole = integer_of(fixed, len);
            half = (int32_t)whole;
            tn_buf_add(out, len == 4 ? (const void *)&half : (const void *)&whole, len);
        }
    }
    if (to->physical == TN_BYTE_ARRAY && tn_buf_check(cx, cells) == TARN_OK) {
        size_t at = 0;

        for (int64_t i = 0; i < in->count; i++) {
            tn_view view = {cells->data + at + 4, 0};

            memcpy(&view.len, cells->data + at, 4);
            tn_buf_add(out, &view, sizeof view);
            at += 4 + view.len;
        }
    }
done:
    return rc;
}

static int cast_values(tarn_cx *cx, const segment *s, const tn_values *in, tn_buf *out,
                       tn_buf *cells)
{
    int rc = TARN_OK;

    tn_buf_reset(out);
    tn_buf_reset(cells);
    if (!tn_buf_reserve(out, (size_t)in->count * tn_leaf_width(s->map->out)))
        return tn_fail_memory(cx);
    switch (s->source->cast) {
    case TN_CAST_INT32_INT64:
        for (int64_t i = 0; i < in->count; i++)
            tn_buf_u64le(out, (uint64_t)(int64_t)((const int32_t *)in->data)[i]);
        break;
    case TN_CAST_UINT32_INT64:
        for (int64_t i = 0; i < in->count; i++)
            tn_buf_u64le(out, ((const uint32_t *)in->data)[i]);
        break;
    case TN_CAST_MILLIS_MICROS:
        for (int64_t i = 0; i < in->count; i++) {
            int64_t millis = ((const int64_t *)in->data)[i], micros;

            if (__builtin_mul_overflow(millis, (int64_t)1000, &micros))
                return tn_fail(cx, TARN_E_CORRUPT,
                               "%.*s: column \"%.*s\": a timestamp of %" PRId64
                               " ms is beyond those in microseconds; merge without --widen",
                               TN_STR_ARG(s->loaded->input->file.path), TN_STR_ARG(s->in->dotted),
                               millis);
            tn_buf_u64le(out, (uint64_t)micros);
        }
        break;
    case TN_CAST_INT32_DOUBLE:
        for (int64_t i = 0; i < in->count; i++) {
            double value = ((const int32_t *)in->data)[i];

            tn_buf_add(out, &value, sizeof value);
        }
        break;
    case TN_CAST_FLOAT_DOUBLE:
        for (int64_t i = 0; i < in->count; i++) {
            double value = (double)((const float *)in->data)[i];

            tn_buf_add(out, &value, sizeof value);
        }
        break;
    case TN_CAST_DECIMAL:
        TN_TRY(cast_decimals(cx, s, in, out, cells));
        break;
    default:
        return tn_fail(cx, TARN_E_CORRUPT, "task: cast %d is unknown", s->source->cast);
    }
    TN_TRY(tn_buf_check(cx, out));
    rc = tn_buf_check(cx, cells);
done:
    return rc;
}

static int map_def(tarn_cx *cx, segment *s, tn_leaf_batch *batch)
{
    const tn_leaf_source *source = s->source;
    uint16_t *def;

    if (source->def_map == NULL || batch->all_present || batch->def == NULL)
        return TARN_OK;
    tn_buf_reset(&s->map->def);
    def = (uint16_t *)(void *)tn_buf_extend(&s->map->def, (size_t)batch->entries * sizeof *def);
    if (def == NULL)
        return tn_fail_memory(cx);
    for (int64_t i = 0; i < batch->entries; i++)
        def[i] = source->def_map[batch->def[i]];
    batch->def = def;
    return TARN_OK;
}

/* The reader's batch as one of the output leaf. */
static int map_batch(tarn_cx *cx, segment *s, tn_leaf_batch *batch)
{
    tn_leaf_map *map = s->map;
    bool new_dictionary = false;
    int rc = TARN_OK;

    if (s->source->cast == TN_CAST_NULL && batch->values.count != 0)
        TN_FAIL(TARN_E_CORRUPT, "%.*s: column \"%.*s\": annotated as always null, but has a value",
                TN_STR_ARG(s->loaded->input->file.path), TN_STR_ARG(s->in->dotted));
    TN_TRY(map_def(cx, s, batch));
    if (batch->def == NULL && map->out->max_def != 0)
        batch->all_present = true;
    if (s->source->cast == TN_CAST_NULL) {
        batch->indices = NULL;
        batch->values = (tn_values){0};
        batch->dictionary_id = 0;
        goto done;
    }
    if (batch->indices != NULL) {
        new_dictionary = batch->dictionary_id != map->reader_dictionary;
        map->reader_dictionary = batch->dictionary_id;
        map->dictionary_id += new_dictionary;
        batch->dictionary_id = map->dictionary_id;
    }
    if (s->source->cast == TN_CAST_NONE)
        goto done;
    if (batch->indices != NULL) {
        if (new_dictionary)
            TN_TRY(
                cast_values(cx, s, &batch->dictionary, &map->dictionary, &map->dictionary_cells));
        batch->dictionary.data = map->dictionary.data;
    } else {
        TN_TRY(cast_values(cx, s, &batch->values, &map->values, &map->cells));
        batch->values.data = map->values.data;
    }
done:
    return rc;
}

/* Keeps, of the donor's entries, those that start a new instance of the deepest shared node. */
static int donor_batch(tarn_cx *cx, segment *s, const tn_leaf_batch *in, tn_leaf_batch *out)
{
    const tn_leaf_source *source = s->source;
    uint16_t *def, *rep;
    int64_t n = 0;

    tn_buf_reset(&s->map->def);
    tn_buf_reset(&s->map->rep);
    def = (uint16_t *)(void *)tn_buf_extend(&s->map->def, (size_t)in->entries * sizeof *def);
    rep = (uint16_t *)(void *)tn_buf_extend(&s->map->rep, (size_t)in->entries * sizeof *rep);
    if (def == NULL || rep == NULL)
        return tn_fail_memory(cx);
    for (int64_t i = 0; i < in->entries; i++) {
        uint16_t r = in->rep != NULL ? in->rep[i] : 0;
        int32_t d = in->def != NULL && !in->all_present ? in->def[i] : s->in->max_def;

        if (r > source->donor_rep)
            continue;
        d = d < source->donor_def ? d : source->donor_def;
        def[n] = source->def_map != NULL ? source->def_map[d] : (uint16_t)d;
        rep[n++] = r;
    }
    *out = (tn_leaf_batch){.rows = in->rows, .entries = n, .def = def};
    out->rep = s->map->out->max_rep != 0 ? rep : NULL;
    return TARN_OK;
}

static int read_rows(tarn_cx *cx, segment *s, tn_leaf_reader *reader, int64_t rows)
{
    int rc = TARN_OK;

    while (rows > 0) {
        tn_leaf_batch in = {0}, out = {0};

        TN_TRY(tn_leaf_reader_next(
            cx, reader, rows < TN_REWRITE_BATCH_ROWS ? rows : TN_REWRITE_BATCH_ROWS, &in));
        if (in.rows == 0)
            TN_FAIL(TARN_E_CORRUPT,
                    "%.*s: column \"%.*s\": ends %" PRId64 " rows before its row group does",
                    TN_STR_ARG(s->loaded->input->file.path), TN_STR_ARG(s->in->dotted), rows);
        rows -= in.rows;
        if (s->source->leaf < 0) {
            TN_TRY(donor_batch(cx, s, &in, &out));
        } else {
            out = in;
            TN_TRY(map_batch(cx, s, &out));
        }
        TN_TRY(s->take(cx, s->arg, &out));
    }
done:
    return rc;
}

/* Rows of nulls: the column is missing at the top. */
static int give_nulls(tarn_cx *cx, segment *s, int64_t rows)
{
    size_t batch_rows = rows < TN_REWRITE_BATCH_ROWS ? (size_t)rows : TN_REWRITE_BATCH_ROWS;
    const uint16_t *zeros;
    int rc = TARN_OK;

    tn_buf_reset(&s->map->def);
    if (tn_buf_extend(&s->map->def, batch_rows * sizeof *zeros) == NULL)
        return tn_fail_memory(cx);
    memset(s->map->def.data, 0, s->map->def.len);
    zeros = (const uint16_t *)(const void *)s->map->def.data;
    while (rows > 0) {
        int64_t n = rows < TN_REWRITE_BATCH_ROWS ? rows : TN_REWRITE_BATCH_ROWS;
        tn_leaf_batch batch = {.rows = n, .entries = n, .def = zeros};

        batch.rep = s->map->out->max_rep != 0 ? zeros : NULL;
        TN_TRY(s->take(cx, s->arg, &batch));
        rows -= n;
    }
done:
    return rc;
}

/* Does the task's mapping hold together with the file as it is? (A task comes from outside.) */
static int check_source(tarn_cx *cx, const segment *s)
{
    const tn_leaf_source *source = s->source;
    const tn_leaf *in = s->in, *out = s->map->out;
    uint32_t levels = source->leaf >= 0 ? in->max_def + 1u : (uint32_t)source->donor_def + 1u;
    bool ok;

    if (in == NULL)
        return out->max_def > 0
                   ? TARN_OK
                   : tn_fail(cx, TARN_E_CORRUPT, "task: a missing column cannot be required");
    ok = source->donor_def <= in->max_def && source->donor_rep <= in->max_rep;
    ok = ok && (source->def_map == NULL ? true : source->def_map_count == levels);
    for (uint32_t i = 0; source->def_map != NULL && i < source->def_map_count; i++)
        ok = ok && source->def_map[i] <= out->max_def;
    if (source->leaf >= 0) {
        ok = ok && in->max_rep == out->max_rep &&
             (source->def_map != NULL || in->max_def == out->max_def);
        ok = ok && (source->def_map == NULL || source->def_map[in->max_def] == out->max_def);
    } else {
        ok = ok && source->donor_rep <= out->max_rep &&
             (source->def_map == NULL ? source->donor_def : source->def_map[source->donor_def]) <
                 out->max_def;
    }
    switch (source->leaf >= 0 ? source->cast : TN_CAST_NULL) {
    case TN_CAST_NONE:
        ok = ok && in->physical == out->physical &&
             (in->physical != TN_FIXED || in->type_length == out->type_length);
        break;
    case TN_CAST_MILLIS_MICROS:
        ok = ok && in->physical == TN_INT64 && out->physical == TN_INT64;
        break;
    case TN_CAST_UINT32_INT64:
    case TN_CAST_INT32_INT64:
        ok = ok && in->physical == TN_INT32 && out->physical == TN_INT64;
        break;
    case TN_CAST_INT32_DOUBLE:
        ok = ok && in->physical == TN_INT32 && out->physical == TN_DOUBLE;
        break;
    case TN_CAST_FLOAT_DOUBLE:
        ok = ok && in->physical == TN_FLOAT && out->physical == TN_DOUBLE;
        break;
    case TN_CAST_DECIMAL:
        ok = ok && in->physical != TN_BOOLEAN && in->physical != TN_INT96 &&
             in->physical != TN_FLOAT && in->physical != TN_DOUBLE && out->physical != TN_BOOLEAN &&
             out->physical != TN_INT96 && out->physical != TN_FLOAT && out->physical != TN_DOUBLE;
        break;
    default:
        break;
    }
    return ok ? TARN_OK
              : tn_fail(cx, TARN_E_CONFLICT,
                        "%.*s: column \"%.*s\" is not as the plan saw it; plan again",
                        TN_STR_ARG(s->loaded->input->file.path), TN_STR_ARG(out->dotted));
}

static int read_segment(tarn_cx *cx, segment *s, int32_t leaf, const tn_segment *rows)
{
    const tn_loaded *loaded = s->loaded;
    const tn_leaf_read_options options = {.keep_dictionary = true};
    tn_file *file = NULL;
    tn_source source = {0};
    tn_leaf_reader *reader = NULL;
    int rc = TARN_OK;

    if (loaded->stream) {
        TN_TRY(tn_store_open_file(cx, s->store, loaded->input->file.path, &file));
        source = tn_source_file(file, TN_REWRITE_AHEAD);
    } else {
        source = tn_loaded_source(loaded, (size_t)leaf);
    }
    TN_TRY(tn_leaf_reader_open(cx, &loaded->parquet, rows->group, (size_t)leaf, &source, &options,
                               &reader));
    s->map->reader_dictionary = 0;
    if (rows->first_row != 0)
        TN_TRY(tn_leaf_reader_skip(cx, reader, rows->first_row));
    TN_TRY(read_rows(cx, s, reader, rows->rows));
done:
    tn_leaf_reader_close(reader);
    tn_source_clear(&source);
    tn_store_close_file(file);
    return rc;
}

static int32_t leaf_read(const tn_leaf_source *source)
{
    return source->leaf >= 0 ? source->leaf : source->donor;
}

int tn_leaf_map_check(tarn_cx *cx, const tn_leaf_map *map, const tn_leaf_source *source,
                      const tn_loaded *loaded, const tn_segment *rows)
{
    const tn_schema *schema = &loaded->parquet.schema;
    int32_t leaf = leaf_read(source);
    segment s = {.map = (tn_leaf_map *)map, .source = source, .loaded = loaded};

    if (rows->group >= loaded->parquet.footer.group_count ||
        (leaf >= 0 && (size_t)leaf >= schema->leaf_count) ||
        rows->first_row + rows->rows > loaded->parquet.footer.groups[rows->group].rows)
        return tn_fail(cx, TARN_E_CONFLICT, "%.*s: lacks what the plan saw in it; plan again",
                       TN_STR_ARG(loaded->input->file.path));
    s.in = leaf >= 0 ? &schema->leaves[leaf] : NULL;
    return check_source(cx, &s);
}

int tn_leaf_map_segment(tarn_cx *cx, tn_store *store, tn_leaf_map *map,
                        const tn_leaf_source *source, const tn_loaded *loaded,
                        const tn_segment *rows, tn_leaf_take take, void *arg)
{
    int32_t leaf = leaf_read(source);
    segment s = {
        .store = store, .map = map, .source = source, .loaded = loaded, .take = take, .arg = arg};
    int rc = TARN_OK;

    TN_TRY(tn_leaf_map_check(cx, map, source, loaded, rows));
    s.in = leaf >= 0 ? &loaded->parquet.schema.leaves[leaf] : NULL;
    if (s.in == NULL)
        TN_TRY(give_nulls(cx, &s, rows->rows));
    else
        TN_TRY(read_segment(cx, &s, leaf, rows));
done:
    return rc;
}

/* Rows of change data: (op, ts_ms, before, after), and the JSON in them.
 *
 *   {"_hoodie_commit_time":…, …,"_hoodie_file_name":"f",  "id":"k1","amount":1.25}
 *    └ part META ────────────┘ └ part FILE ───────────┘  └ part REST ───────────┘
 *
 * I1: dates are days, times and timestamps counts of their unit, as Hudi prints them; decimals are
 *     numbers, binary values base64.
 * I2: a batch is handed out before its text reaches what 32-bit offsets hold. */
#include "exec/cdc_out.h"

#include <assert.h>
#include <string.h>

#include "batch/array.h"
#include "batch/field.h"
#include "batch/type.h"

#define ROWS_FULL     4096
#define BYTES_FULL    (8u << 20)
#define ROW_BYTES_MAX (1u << 30)

/* ---- images */

/* Dates and times become the integers below them: formats of our own copy, made shorter. */
static int plain_times(tarn_cx *cx, struct ArrowSchema *schema)
{
    char *format = (char *)(uintptr_t)schema->format;
    tn_type type;
    int rc = TARN_OK;

    if (schema->dictionary != NULL)
        return plain_times(cx, schema->dictionary);
    TN_TRY(tn_type_of(cx, schema, &type));
    if (type.kind == TN_TYPE_DATE32 || type.kind == TN_TYPE_TIME32)
        memcpy(format, "i", 2);
    else if (type.kind == TN_TYPE_DATE64 || type.kind == TN_TYPE_TIME64 ||
             type.kind == TN_TYPE_TIMESTAMP || type.kind == TN_TYPE_DURATION)
        memcpy(format, "l", 2);
    for (int64_t i = 0; i < schema->n_children; i++)
        TN_TRY(plain_times(cx, schema->children[i]));
done:
    return rc;
}

static int open_part(tarn_cx *cx, const struct ArrowSchema *columns, tn_cdc_image *image, int part)
{
    struct ArrowSchema *own = &image->columns[part];
    size_t first = image->first[part], count = image->first[part + 1] - first;
    int rc = TARN_OK;

    TN_TRY(tn_field_init(cx, own, "+s", TN_STR(""), false, count));
    for (size_t i = 0; i < count; i++) {
        TN_TRY(tn_field_copy(cx, columns->children[first + i], own->children[i]));
        TN_TRY(plain_times(cx, own->children[i]));
    }
    TN_TRY(tn_ndjson_writer_open(cx, own, &image->writers[part]));
done:
    return rc;
}

int tn_cdc_image_open(tarn_cx *cx, const struct ArrowSchema *columns, bool meta, tn_cdc_image *out)
{
    size_t count = (size_t)columns->n_children;
    int rc = TARN_OK;

    assert(!meta || count >= TN_CDC_META_COLUMNS);
    out->first[TN_CDC_META] = 0;
    out->first[TN_CDC_FILE] = meta ? TN_CDC_FILE_COLUMN : 0;
    out->first[TN_CDC_REST] = meta ? TN_CDC_META_COLUMNS : 0;
    out->first[TN_CDC_PARTS] = count;
    for (int part = 0; part < TN_CDC_PARTS; part++)
        TN_TRY(open_part(cx, columns, out, part));
done:
    return rc;
}

void tn_cdc_image_clear(tn_cdc_image *image)
{
    for (int part = 0; part < TN_CDC_PARTS; part++) {
        tn_ndjson_writer_close(image->writers[part]);
        tn_field_release(&image->columns[part]);
    }
    *image = (tn_cdc_image){0};
}

/* Appends the members of a part: "{…}\n" without its frame. */
static int print_part(tarn_cx *cx, const tn_cdc_image *image, const struct ArrowArray *batch,
                      int64_t at, int part, tn_buf *out)
{
    size_t first = image->first[part], count = image->first[part + 1] - first, start = out->len;
    struct ArrowArray view = *batch;
    int rc = TARN_OK;

    if (count == 0)
        return TARN_OK;
    view.children += first;
    view.n_children = (int64_t)count;
    TN_TRY(tn_ndjson_writer_rows(cx, image->writers[part], &view, at, 1, out));
    TN_TRY(tn_buf_check(cx, out));
    out->data[start] = start > 0 && out->data[start - 1] != '{' ? ',' : '{';
    if (out->data[start] == '{' && start > 0) {
        memmove(out->data + start, out->data + start + 1, out->len - start - 1);
        out->len--;
    }
    out->len -= 2;
done:
    return rc;
}

int tn_cdc_image_print(tarn_cx *cx, const tn_cdc_image *image, const struct ArrowArray *batch,
                       int64_t at, tn_cdc_text *out)
{
    int rc = TARN_OK;

    tn_buf_reset(&out->text);
    tn_buf_u8(&out->text, '{');
    for (int part = 0; part < TN_CDC_PARTS; part++) {
        TN_TRY(print_part(cx, image, batch, at, part, &out->text));
        out->ends[part] = out->text.len;
    }
    tn_buf_u8(&out->text, '}');
    TN_TRY(tn_buf_check(cx, &out->text));
    if (out->text.len > ROW_BYTES_MAX)
        TN_FAIL(TARN_E_LIMIT, "a row whose image is larger than 1 GiB");
done:
    return rc;
}

static tn_str part_of(const tn_cdc_text *text, size_t from, size_t to)
{
    return (tn_str){(const char *)text->text.data + from, to - from};
}

bool tn_cdc_text_equal(const tn_cdc_text *a, const tn_cdc_text *b)
{
    return tn_str_equal(part_of(a, 0, a->ends[TN_CDC_META]), part_of(b, 0, b->ends[TN_CDC_META])) &&
           tn_str_equal(part_of(a, a->ends[TN_CDC_FILE], a->text.len),
                        part_of(b, b->ends[TN_CDC_FILE], b->text.len));
}

void tn_cdc_text_clear(tn_cdc_text *text)
{
    tn_buf_clear(&text->text);
}

/* ---- rows */

static void add_image(tn_cdc_out *out, int which, const tn_cdc_text *image, bool bare)
{
    tn_buf *to = &out->images[which];
    int32_t end;

    if (image != NULL && bare && image->ends[TN_CDC_FILE] > 1) {
        tn_buf_u8(to, '{');
        if (image->ends[TN_CDC_REST] > image->ends[TN_CDC_FILE])
            tn_buf_str(to, part_of(image, image->ends[TN_CDC_FILE] + 1, image->text.len));
        else
            tn_buf_u8(to, '}');
    } else if (image != NULL) {
        tn_buf_str(to, tn_buf_view(&image->text));
    }
    end = (int32_t)to->len;
    tn_buf_add(&out->offsets[which], &end, sizeof end);
    tn_buf_u8(&out->valid[which], image != NULL);
}

int tn_cdc_out_add(tarn_cx *cx, tn_cdc_out *out, tn_str op, const tn_cdc_text *before,
                   const tn_cdc_text *after)
{
    const tn_cdc_text *images[2] = {before, after};
    int32_t start = 0;
    int rc = TARN_OK;

    if (op.len != 1 || strchr("iud", op.ptr[0]) == NULL)
        TN_FAIL(TARN_E_CORRUPT, "a change that is called \"%.*s\", not i, u or d", TN_STR_ARG(op));
    for (int i = 0; i < 2; i++) {
        if (out->rows == 0)
            tn_buf_add(&out->offsets[i], &start, sizeof start);
        add_image(out, i, images[i], i == 0 && out->bare_before);
        TN_TRY(tn_buf_check(cx, &out->images[i]));
        TN_TRY(tn_buf_check(cx, &out->offsets[i]));
        TN_TRY(tn_buf_check(cx, &out->valid[i]));
    }
    tn_buf_str(&out->ops, op);
    TN_TRY(tn_buf_check(cx, &out->ops));
    out->rows++;
done:
    return rc;
}

bool tn_cdc_out_full(const tn_cdc_out *out)
{
    return out->rows >= ROWS_FULL || out->images[0].len + out->images[1].len >= BYTES_FULL;
}

/* A column of texts of one length. */
static int take_fixed(tarn_cx *cx, int64_t rows, tn_str text, bool repeat, struct ArrowArray *out)
{
    size_t each = repeat ? text.len : 1;
    int32_t *offsets;
    char *data;
    int rc = TARN_OK;

    TN_TRY(tn_array_init(cx, out, rows, 3, 0));
    TN_TRY(tn_array_make_buffer(cx, out, 1, ((size_t)rows + 1) * 4, &offsets));
    TN_TRY(tn_array_make_buffer(cx, out, 2, (size_t)rows * each, &data));
    for (int64_t i = 0; i <= rows; i++)
        offsets[i] = (int32_t)((size_t)i * each);
    for (int64_t i = 0; i < rows && each > 0; i++)
        memcpy(data + (size_t)i * each, text.ptr + (repeat ? 0 : i), each);
done:
    return rc;
}

static int take_images(tarn_cx *cx, tn_cdc_out *from, int which, struct ArrowArray *out)
{
    const tn_buf *images = &from->images[which], *valid = &from->valid[which];
    void *offsets, *data;
    uint8_t *bits;
    int rc = TARN_OK;

    TN_TRY(tn_array_init(cx, out, from->rows, 3, 0));
    TN_TRY(tn_array_make_buffer(cx, out, 0, ((size_t)from->rows + 7) / 8, &bits));
    TN_TRY(tn_array_make_buffer(cx, out, 1, from->offsets[which].len, &offsets));
    TN_TRY(tn_array_make_buffer(cx, out, 2, images->len, &data));
    tn_bits_pack(bits, 0, valid->data, from->rows);
    out->null_count = from->rows - tn_bits_count(bits, 0, from->rows);
    memcpy(offsets, from->offsets[which].data, from->offsets[which].len);
    if (images->len > 0)
        memcpy(data, images->data, images->len);
done:
    return rc;
}

int tn_cdc_out_take(tarn_cx *cx, tn_cdc_out *out, struct ArrowArray *batch)
{
    struct ArrowArray made = {0};
    int rc = TARN_OK;

    TN_TRY(tn_array_init(cx, &made, out->rows, 1, 4));
    if (out->rows > 0) {
        TN_TRY(take_fixed(cx, out->rows, tn_buf_view(&out->ops), false, made.children[0]));
        TN_TRY(take_fixed(cx, out->rows, out->instant, true, made.children[1]));
        TN_TRY(take_images(cx, out, 0, made.children[2]));
        TN_TRY(take_images(cx, out, 1, made.children[3]));
    }
    out->rows = 0;
    tn_buf_reset(&out->ops);
    for (int i = 0; i < 2; i++) {
        tn_buf_reset(&out->images[i]);
        tn_buf_reset(&out->offsets[i]);
        tn_buf_reset(&out->valid[i]);
    }
    tn_array_move(&made, batch);
done:
    tn_array_release(&made);
    return rc;
}

void tn_cdc_out_clear(tn_cdc_out *out)
{
    tn_buf_clear(&out->ops);
    for (int i = 0; i < 2; i++) {
        tn_buf_clear(&out->images[i]);
        tn_buf_clear(&out->offsets[i]);
        tn_buf_clear(&out->valid[i]);
    }
}

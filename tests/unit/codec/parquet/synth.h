/* Test helper: elements of a schema in short, and Parquet files made of a footer alone. */
#ifndef TN_TEST_SYNTH_H
#define TN_TEST_SYNTH_H

#include "unit/test.h"

#include "codec/parquet/file.h"

static inline tn_element synth_group(const char *name, enum tn_repetition repetition,
                                     int32_t children, int32_t converted)
{
    return (tn_element){.name = tn_str_of(name),
                        .group = true,
                        .repetition = repetition,
                        .children = children,
                        .converted = converted};
}

static inline tn_element synth_leaf(const char *name, enum tn_repetition repetition,
                                    enum tn_physical physical)
{
    return (tn_element){.name = tn_str_of(name),
                        .physical = physical,
                        .repetition = repetition,
                        .converted = TN_CONVERTED_NONE};
}

/* Ends what `out` holds (it begins with the magic) with the footer. */
static inline void synth_finish(tn_buf *out, const tn_footer *footer)
{
    size_t start = out->len;

    tn_footer_encode(out, footer);
    tn_buf_u32le(out, (uint32_t)(out->len - start));
    tn_buf_text(out, "PAR1");
    assert_false(out->failed);
}

/* One optional leaf "v" below the root, in groups of `rows` rows each whose pages are 10 bytes at
 * byte 4; the caller sets more. Up to 8 groups. */
typedef struct synth_file {
    tn_element elements[2];
    tn_row_group_meta groups[8];
    tn_chunk_meta chunks[8];
    tn_str path[1];
    int32_t orders[1];
    tn_footer footer;
    tn_buf bytes;
} synth_file;

static inline void synth_init(synth_file *s, tn_element leaf, size_t groups, int64_t rows)
{
    *s = (synth_file){.footer = {.version = 1}};
    s->elements[0] = synth_group("root", TN_REQUIRED, 1, TN_CONVERTED_NONE);
    s->elements[1] = leaf;
    s->path[0] = leaf.name;
    s->orders[0] = 1;
    for (size_t i = 0; i < groups; i++) {
        s->chunks[i] = (tn_chunk_meta){.has_meta = true,
                                       .physical = (int32_t)leaf.physical,
                                       .path = s->path,
                                       .path_count = 1,
                                       .values = rows,
                                       .compressed_bytes = 10,
                                       .uncompressed_bytes = 10,
                                       .data_page_offset = 4};
        s->groups[i] = (tn_row_group_meta){
            .columns = &s->chunks[i], .column_count = 1, .rows = rows, .ordinal = -1};
    }
    s->footer.elements = s->elements;
    s->footer.element_count = 2;
    s->footer.groups = s->groups;
    s->footer.group_count = groups;
    s->footer.rows = rows * (int64_t)groups;
    s->footer.column_orders = s->orders;
    s->footer.column_order_count = 1;
    tn_buf_text(&s->bytes, "PAR10123456789");
}

/* Appends bytes before the footer; their offset. */
static inline int64_t synth_put(synth_file *s, const void *bytes, size_t len)
{
    int64_t at = (int64_t)s->bytes.len;

    tn_buf_add(&s->bytes, bytes, len);
    return at;
}

static inline void synth_open(tarn_cx *cx, synth_file *s, tn_parquet *out)
{
    synth_finish(&s->bytes, &s->footer);
    assert_ok(cx, tn_parquet_open_memory(cx, s->bytes.data, s->bytes.len, TN_STR("synth"), out));
}

#endif

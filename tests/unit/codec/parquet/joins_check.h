/* Test helper: rows of any shape and taste for joins.h, and whether a chunk that came of a join
 * holds what it should and says of it what is true. */
#ifndef TN_TEST_JOINS_CHECK_H
#define TN_TEST_JOINS_CHECK_H

#include "codec/parquet/order.h"
#include "unit/codec/parquet/joins.h"

static inline uint64_t joins_below(uint64_t *seed, uint64_t n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (*seed >> 33) % n;
}

/* ---- values ---- */

enum joins_taste { FEW, MANY, RISING };

static inline void joins_add_random(joins_column *c, const tn_leaf *leaf, enum joins_taste taste,
                                    uint64_t *seed)
{
    uint64_t v = taste == FEW      ? joins_below(seed, 5) * 11
                 : taste == RISING ? (uint64_t)c->values * 3 + 1000
                                   : joins_below(seed, 1u << 30) << 20;
    uint8_t bytes[40] = {0};
    double real = v % 7 == 0 ? (double)NAN : v % 5 == 0 ? -0.0 : (double)v / 8;
    float half = (float)real;
    size_t len = tn_leaf_width(leaf);

    if (leaf->physical == TN_BYTE_ARRAY)
        len = (size_t)snprintf((char *)bytes, sizeof bytes, v % 13 == 0 ? "" : "value %llu",
                               (unsigned long long)v);
    else if (leaf->physical == TN_BOOLEAN)
        bytes[0] = v & 1;
    else if (leaf->physical == TN_DOUBLE)
        memcpy(bytes, &real, 8);
    else if (leaf->physical == TN_FLOAT)
        memcpy(bytes, &half, 4);
    else
        memcpy(bytes, &v, len < 8 ? len : 8);
    joins_value(c, bytes, (uint32_t)len);
}

/* Rows of any shape: an entry is a value, or ends at a lower level. */
static inline void joins_add_rows(joins_column *c, const tn_leaf *leaf, int64_t rows,
                                  enum joins_taste taste, unsigned nulls_of_8, uint64_t *seed)
{
    for (int64_t i = 0; i < rows; i++) {
        uint16_t rep = 0;

        do {
            uint16_t def = leaf->max_def;

            if (leaf->max_def > 0 && joins_below(seed, 8) < nulls_of_8)
                def = (uint16_t)joins_below(seed, leaf->max_def);
            /* What goes on with the list at level r is present down to it. */
            if (rep > 0 && def < rep * 2u)
                def = leaf->max_def;
            joins_level(c, rep, def);
            if (def == leaf->max_def)
                joins_add_random(c, leaf, taste, seed);
            if (leaf->max_rep == 0 || def < leaf->max_rep * 2u)
                break;
            rep = (uint16_t)(1 + joins_below(seed, leaf->max_rep));
        } while (joins_below(seed, 3) != 0);
    }
}

static inline void joins_append(joins_column *to, const joins_column *from)
{
    tn_buf_str(&to->rep, tn_buf_view(&from->rep));
    tn_buf_str(&to->def, tn_buf_view(&from->def));
    tn_buf_str(&to->lengths, tn_buf_view(&from->lengths));
    tn_buf_str(&to->bytes, tn_buf_view(&from->bytes));
    to->rows += from->rows;
    to->entries += from->entries;
    to->values += from->values;
}

/* ---- what a reader is told ---- */

static inline void joins_check_range(const tn_leaf *leaf, const tn_order_range *range,
                                     const joins_column *c, int64_t from, int64_t to)
{
    const uint32_t *len = (const uint32_t *)(const void *)c->lengths.data;
    enum tn_domain domain = tn_order_domain(leaf);
    size_t at = 0;

    assert_false(range->contradict);
    for (int64_t i = 0; i < to; at += len[i++]) {
        tn_str plain = {(const char *)c->bytes.data + at, len[i]};
        tn_filter_value value;

        if (i < from || !tn_order_decode(leaf, plain, &value))
            continue;
        assert_false(range->empty);
        if (domain == TN_DOMAIN_FLOAT && isnan(value.d)) {
            assert_false(range->nan_free);
            continue;
        }
        assert_true(!range->has_min || tn_filter_compare(domain, &range->min, &value) <= 0);
        assert_true(!range->has_max || tn_filter_compare(domain, &value, &range->max) <= 0);
    }
}

static inline void joins_check_sizes(const tn_leaf *leaf, const tn_size_statistics *s,
                                     const joins_column *c)
{
    int64_t sum = 0;

    if (s->has_unencoded)
        assert_int_equal(s->unencoded_bytes, c->bytes.len);
    for (size_t level = 0; level < s->def_count; level++) {
        int64_t n = 0;

        for (int64_t i = 0; i < c->entries; i++)
            n += joins_levels(&c->def)[i] == level;
        assert_int_equal(s->def_histogram[level], n);
        sum += n;
    }
    assert_true(s->def_count == 0 || sum == c->entries);
    for (size_t level = 0; level < s->rep_count; level++) {
        int64_t n = 0;

        for (int64_t i = 0; i < c->entries; i++)
            n += joins_levels(&c->rep)[i] == level;
        assert_int_equal(s->rep_histogram[level], n);
    }
    assert_true(s->def_count == 0 || s->def_count == leaf->max_def + 1u);
}

/* The rows [from, to) of a column: where their entries and values begin and end. */
static inline void joins_find(const tn_leaf *leaf, const joins_column *c, int64_t row,
                              int64_t *entry, int64_t *value)
{
    int64_t rows = 0;

    *value = 0;
    for (*entry = 0; *entry < c->entries; ++*entry) {
        if (joins_levels(&c->rep)[*entry] == 0 && rows++ == row)
            return;
        *value += joins_levels(&c->def)[*entry] == leaf->max_def;
    }
}

static inline void joins_check_indexes(tarn_cx *cx, const tn_parquet *file, const joins_column *c)
{
    const tn_leaf *leaf = &file->schema.leaves[0];
    tn_arena arena = {0};
    tn_column_index index;
    tn_offset_index pages;
    bool bounds, places;

    assert_ok(cx, tn_parquet_offset_index(cx, file, 0, 0, &arena, &places, &pages));
    assert_true(places);
    assert_ok(cx, tn_parquet_column_index(cx, file, 0, 0, &arena, &bounds, &index));
    for (size_t i = 0; bounds && i < pages.pages; i++) {
        int64_t end = i + 1 < pages.pages ? pages.locations[i + 1].first_row : c->rows;
        int64_t entry, value, entry_end, value_end;
        tn_order_range range;

        joins_find(leaf, c, pages.locations[i].first_row, &entry, &value);
        joins_find(leaf, c, end, &entry_end, &value_end);
        assert_int_equal(index.null_pages[i], value == value_end);
        if (index.null_counts != NULL)
            assert_int_equal(index.null_counts[i], entry_end - entry - (value_end - value));
        tn_order_page(file, leaf, &index, i, entry_end - entry, &range);
        joins_check_range(leaf, &range, c, value, value_end);
    }
    tn_arena_clear(&arena);
}

/* Statistics that say what they are exact about, and encodings. */
static inline void joins_check_meta(const tn_parquet *file, const joins_column *c)
{
    const tn_chunk_meta *meta = &file->footer.groups[0].columns[0];
    const tn_leaf *leaf = &file->schema.leaves[0];
    const tn_statistics *s = &meta->statistics;
    tn_order_range range;

    assert_int_equal(meta->values, c->entries);
    tn_order_chunk(file, 0, leaf, &range);
    joins_check_range(leaf, &range, c, 0, c->values);
    if (s->has_null_count)
        assert_int_equal(s->null_count, c->entries - c->values);
    if (s->has_distinct_count)
        assert_true(s->distinct_count <= c->values);
    joins_check_sizes(leaf, &meta->size_statistics, c);
}

/* No page by dictionary follows one without: Spark's reader errs there. Flat pages of nulls do not
 * count. */
static inline void joins_check_order(tarn_cx *cx, const tn_leaf *leaf,
                                     const tn_encoded_chunk *chunk)
{
    bool plain = false;
    size_t page = 0;

    for (size_t i = 0; i < chunk->piece_count; i++) {
        tn_arena arena = {0};
        tn_page_header header;
        bool coded, short_input;

        assert_ok(cx, tn_page_header_decode(cx, tn_buf_view(&chunk->pieces[i]), &arena, &header,
                                            &short_input));
        coded =
            header.encoding == TN_ENC_RLE_DICTIONARY || header.encoding == TN_ENC_PLAIN_DICTIONARY;
        if (header.type != TN_PAGE_DICTIONARY) {
            bool nulls = leaf->max_rep == 0 && chunk->has_column_index &&
                         chunk->column_index.null_pages[page];

            assert_false(coded && plain);
            plain |= !coded && !nulls;
            page++;
        }
        tn_arena_clear(&arena);
    }
}

/* The chunk that the join gives holds `want`, and what its file says of it is true. */
static inline void joins_check_joined(tarn_cx *cx, const joins_schema *schema, tn_chunk_join *join,
                                      const joins_column *want, tn_join_counts *counts)
{
    tn_encoded_chunk chunk = {0};
    joins_column got = {0};
    joins_file file;

    memset(counts, 0, sizeof *counts);
    assert_ok(cx, tn_chunk_join_finish(cx, join, &chunk, counts));
    tn_chunk_join_close(join);
    joins_check_order(cx, schema->leaf, &chunk);
    assert_int_equal(chunk.rows, want->rows);
    if (want->rows != 0) {
        joins_file_open(cx, &schema->schema, &chunk, want->rows, &file);
        assert_ok(cx, joins_read(cx, &file.file, 0, 0, NULL, &got));
        assert_true(joins_same(&got, want));
        joins_check_meta(&file.file, want);
        joins_check_indexes(cx, &file.file, want);
        joins_file_close(&file);
    }
    joins_column_clear(&got);
    tn_encoded_chunk_clear(&chunk);
}

#endif

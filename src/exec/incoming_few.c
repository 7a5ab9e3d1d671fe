/* Few keys against what files say of theirs, so that most of a table is not read for them.
 *
 * I1: what is ruled out holds none of the keys for certain: Hudi's key range and filter in a
 *     footer, the minimum and maximum of a row group or page where they may be believed. */
#include <assert.h>
#include <stdlib.h>

#include "base/budget.h"
#include "codec/bloom/key_filter.h"
#include "codec/parquet/order.h"
#include "exec/incoming_tag.h"

/* Sorting more keys than this costs more than reading some row groups. */
#define FEW_MAX 16384

static int compare_few(const void *a, const void *b)
{
    const tn_few_key *x = a, *y = b;

    if (x->partition != y->partition)
        return x->partition < y->partition ? -1 : 1;
    return tn_str_compare(x->key, y->key);
}

/* Hudi's key ranges are in the order of UTF-16, which differs from that of bytes where characters
 * beyond U+FFFF meet those from U+E000 on. Texts without the former compare alike in both. */
static bool is_beyond_bmp(tn_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((uint8_t)text.ptr[i] >= 0xf0)
            return true;
    return false;
}

int tn_few_init(tarn_cx *cx, const tn_incoming *in, tn_few *out)
{
    tn_few few = {0};
    int rc = TARN_OK;

    if (in->rows - in->dropped > FEW_MAX)
        return TARN_OK;
    TN_TRY(tn_incoming_charge(cx, (uint64_t)(in->rows - in->dropped) * sizeof *few.keys,
                              "the keys to look for", &few.charged));
    few.keys = tn_calloc(cx, (size_t)(in->rows - in->dropped), sizeof *few.keys);
    if (few.keys == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (int64_t i = 0; i < in->rows; i++)
        if (!(in->facts.flags[i] & TN_ROW_DROPPED))
            few.keys[few.count++] = (tn_few_key){in->options.global ? 0 : in->facts.partitions[i],
                                                 tn_incoming_key(in, i)};
    for (size_t i = 0; i < few.count && !few.beyond_bmp; i++)
        few.beyond_bmp = is_beyond_bmp(few.keys[i].key);
    qsort(few.keys, few.count, sizeof *few.keys, compare_few);
    *out = few;
    few = (tn_few){0};
done:
    tn_few_clear(cx, &few);
    return rc;
}

void tn_few_clear(tarn_cx *cx, tn_few *few)
{
    free(few->keys);
    tn_budget_give(cx, few->charged);
    *few = (tn_few){0};
}

/* The first key that is not below (partition, text); not below or equal with `past`. */
static size_t bound(const tn_few *few, uint32_t partition, tn_str text, bool past)
{
    tn_few_key wanted = {partition, text};
    size_t low = 0, high = few->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_few(&few->keys[middle], &wanted);

        if (order < 0 || (past && order == 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void tn_few_range(const tn_few *few, uint32_t partition, tn_str min, tn_str max, size_t *first,
                  size_t *end)
{
    *first = bound(few, partition, min, false);
    *end = bound(few, partition, max, true);
    *end = *end < *first ? *first : *end;
}

/* All keys of a partition. */
static void whole_range(const tn_few *few, uint32_t partition, size_t *first, size_t *end)
{
    *first = bound(few, partition, (tn_str){"", 0}, false);
    *end = partition == UINT32_MAX ? few->count : bound(few, partition + 1, (tn_str){"", 0}, false);
}

/* --- by the footer --- */

static bool is_dynamic(const tn_parquet *file)
{
    return tn_str_is(tn_parquet_key_value(file, "hoodie_bloom_filter_type_code"), "DYNAMIC_V0");
}

int tn_few_file(tarn_cx *cx, const tn_few *few, uint32_t partition, const tn_candidate *candidate,
                bool ranges, bool *may)
{
    const tn_parquet *file = &candidate->file;
    tn_str min = tn_parquet_key_value(file, "hoodie_min_record_key");
    tn_str max = tn_parquet_key_value(file, "hoodie_max_record_key");
    tn_str text = tn_parquet_key_value(file, "org.apache.hudi.bloomfilter");
    tn_key_filter *filter = NULL;
    size_t first, end;
    int rc = TARN_OK;

    whole_range(few, partition, &first, &end);
    if (ranges && min.ptr != NULL && max.ptr != NULL && tn_str_compare(min, max) <= 0 &&
        !few->beyond_bmp && !is_beyond_bmp(min) && !is_beyond_bmp(max))
        tn_few_range(few, partition, min, max, &first, &end);
    *may = first < end;
    /* The filter is unpacked when that costs less than the keys of the file. */
    if (!*may || text.len == 0 || (uint64_t)file->footer.rows * 16 < text.len ||
        (int64_t)(end - first) > file->footer.rows)
        goto done;
    TN_TRY(tn_key_filter_parse(cx, text,
                               is_dynamic(file) ? TN_KEY_FILTER_DYNAMIC : TN_KEY_FILTER_SIMPLE,
                               file->path, &filter));
    *may = false;
    for (size_t i = first; i < end && !*may; i++)
        *may = tn_key_filter_has(filter, few->keys[i].key);
done:
    if (filter != NULL)
        tn_key_filter_close(filter);
    return rc;
}

/* --- by statistics --- */

static bool may_hold(const tn_few *few, uint32_t partition, const tn_order_range *range)
{
    size_t first, end;

    if (range->entries < 0 || range->contradict)
        return true;
    if (range->empty)
        return false;
    whole_range(few, partition, &first, &end);
    if (range->has_min)
        first = bound(few, partition, range->min.bytes, false);
    if (range->has_max)
        end = bound(few, partition, range->max.bytes, true);
    return first < end;
}

bool tn_few_group(const tn_few *few, uint32_t partition, const tn_candidate *candidate,
                  size_t group)
{
    const tn_leaf *leaf = &candidate->file.schema.leaves[candidate->leaf];
    tn_order_range range;

    if (tn_order_domain(leaf) != TN_DOMAIN_BYTES)
        return true;
    tn_order_chunk(&candidate->file, group, leaf, &range);
    return may_hold(few, partition, &range);
}

/* Whether both indexes of the column are there and agree with the group. */
static int read_indexes(tarn_cx *cx, const tn_candidate *candidate, size_t group, tn_arena *arena,
                        tn_column_index *bounds, tn_offset_index *pages, bool *there)
{
    int64_t rows = candidate->file.footer.groups[group].rows;
    int rc = TARN_OK;

    TN_TRY(
        tn_parquet_offset_index(cx, &candidate->file, group, candidate->leaf, arena, there, pages));
    if (!*there || pages->pages < 2)
        goto done;
    TN_TRY(tn_parquet_column_index(cx, &candidate->file, group, candidate->leaf, arena, there,
                                   bounds));
    if (*there)
        *there = bounds->pages == pages->pages && pages->locations[0].first_row == 0 &&
                 pages->locations[pages->pages - 1].first_row < rows;
done:
    if (rc == TARN_OK && pages->pages < 2)
        *there = false;
    return rc;
}

int tn_few_pages(tarn_cx *cx, const tn_few *few, uint32_t partition, const tn_candidate *candidate,
                 size_t group, tn_arena *arena, tn_offset_index *index, tn_few_rows **ranges,
                 size_t *count)
{
    const tn_leaf *leaf = &candidate->file.schema.leaves[candidate->leaf];
    int64_t rows = candidate->file.footer.groups[group].rows;
    tn_column_index bounds = {0};
    tn_offset_index pages = {0};
    tn_few_rows *made;
    size_t n = 0;
    bool there = false;
    int rc = TARN_OK;

    *index = (tn_offset_index){0};
    *count = 0;
    if (tn_order_domain(leaf) != TN_DOMAIN_BYTES)
        return TARN_OK;
    TN_TRY(read_indexes(cx, candidate, group, arena, &bounds, &pages, &there));
    if (!there)
        goto done;
    made = tn_arena_array(cx, arena, pages.pages, sizeof *made);
    if (made == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t p = 0; p < pages.pages; p++) {
        int64_t first = pages.locations[p].first_row;
        int64_t end = p + 1 < pages.pages ? pages.locations[p + 1].first_row : rows;
        tn_order_range range;

        /* A page that contradicts itself makes the whole index void. */
        tn_order_page(&candidate->file, leaf, &bounds, p, end - first, &range);
        if (range.contradict || end < first)
            goto done;
        if (!may_hold(few, partition, &range))
            continue;
        if (n != 0 && made[n - 1].first + made[n - 1].rows == first)
            made[n - 1].rows += end - first;
        else
            made[n++] = (tn_few_rows){first, end - first};
    }
    *index = pages;
    *ranges = made;
    *count = n;
done:
    return rc;
}

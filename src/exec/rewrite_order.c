/* I1: an order is claimed only where every part claims it, and the bounds of the parts' first
 * column show that they follow each other in it. I2: further columns count only where no value of
 * the first stands on both sides of a seam. I3: nulls, and floats with their NaNs and zeros, end
 * the claim: bounds do not tell where they are.
 */
#include "exec/rewrite_order.h"

void tn_rewrite_order_clear(tn_rewrite_order *order)
{
    tn_buf_clear(&order->bytes);
    *order = (tn_rewrite_order){0};
}

/* The output's leaf that an input's leaf becomes unchanged; -1: none. */
static int32_t leaf_of(const tn_leaf_source *mapping, size_t leaf_count, int32_t leaf)
{
    for (size_t l = 0; l < leaf_count; l++)
        if (mapping[l].leaf == leaf && mapping[l].cast == TN_CAST_NONE)
            return (int32_t)l;
    return -1;
}

/* The columns that the row group claims to be sorted by, as far as the output has them. */
static size_t claim_of(const tn_leaf_source *mapping, size_t leaf_count,
                       const tn_row_group_meta *group, tn_sorting_column *out)
{
    size_t n = 0;

    while (n < group->sorting_count && n < TN_ORDER_COLUMNS_MAX) {
        out[n] = group->sorting[n];
        out[n].column = leaf_of(mapping, leaf_count, group->sorting[n].column);
        if (out[n].column < 0)
            break;
        n++;
    }
    return n;
}

static bool same(const tn_sorting_column *a, const tn_sorting_column *b)
{
    return a->column == b->column && a->descending == b->descending &&
           a->nulls_first == b->nulls_first;
}

static bool known(const tn_order_range *range, enum tn_domain domain)
{
    return range->has_min && range->has_max && range->has_nulls && range->nulls == 0 &&
           !range->contradict && domain != TN_DOMAIN_NONE && domain != TN_DOMAIN_FLOAT;
}

static int keep_last(tarn_cx *cx, tn_rewrite_order *order, const tn_filter_value *last)
{
    order->last = *last;
    if (order->domain != TN_DOMAIN_BYTES)
        return TARN_OK;
    tn_buf_reset(&order->bytes);
    tn_buf_str(&order->bytes, last->bytes);
    order->last.bytes = tn_buf_view(&order->bytes);
    return tn_buf_check(cx, &order->bytes);
}

/* Cuts the claim to what the next part claims, too. */
static void join_claims(tn_rewrite_order *order, const tn_sorting_column *columns, size_t count)
{
    size_t n = 0;

    while (n < count && n < order->count && same(&order->columns[n], &columns[n]))
        n++;
    order->count = n;
}

int tn_rewrite_order_add(tarn_cx *cx, tn_rewrite_order *order, const tn_leaf_source *mapping,
                         size_t leaf_count, const tn_loaded *loaded, const tn_segment *segment)
{
    const tn_row_group_meta *group = &loaded->parquet.footer.groups[segment->group];
    tn_sorting_column columns[TN_ORDER_COLUMNS_MAX];
    size_t count;
    const tn_leaf *leaf;
    tn_order_range range;
    int seam = -1;
    int rc = TARN_OK;

    if (order->lost || segment->rows == 0)
        goto done;
    count = claim_of(mapping, leaf_count, group, columns);
    order->lost = count == 0 || mapping[columns[0].column].leaf < 0;
    if (order->lost)
        goto done;
    leaf = &loaded->parquet.schema.leaves[mapping[columns[0].column].leaf];
    tn_order_chunk(&loaded->parquet, segment->group, leaf, &range);
    if (!order->any) {
        order->domain = tn_order_domain(leaf);
        order->count = count;
        memcpy(order->columns, columns, count * sizeof *columns);
    } else {
        join_claims(order, columns, count);
    }
    order->lost = order->count == 0 || leaf->max_rep != 0 ||
                  tn_order_domain(leaf) != order->domain || !known(&range, order->domain);
    if (order->lost)
        goto done;
    if (order->any)
        seam = tn_filter_compare(order->domain, &order->last,
                                 columns[0].descending ? &range.max : &range.min);
    seam = columns[0].descending && order->any ? -seam : seam;
    order->lost = seam > 0;
    order->equal |= seam == 0;
    order->any = true;
    TN_TRY(keep_last(cx, order, columns[0].descending ? &range.min : &range.max));
done:
    return rc;
}

size_t tn_rewrite_order_columns(const tn_rewrite_order *order)
{
    if (!order->any || order->lost)
        return 0;
    return order->equal && order->count > 1 ? 1 : order->count;
}

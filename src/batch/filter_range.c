/* Whether a filter may be true where ranges of values are known.
 *
 * I1: a leaf of the filter is answered "never true" only from a range that is known, and the order
 * of comparison there is the filter's own (tn_filter_compare). I2: AND drops where one side drops,
 * OR where all do.
 *
 * NaN: filters hold NaN greater than all else and equal to itself, statistics leave it out. So
 * `max` answers =, <, <= and IN for literals other than NaN, and the rest only where a range is
 * free of NaN. `min` stands either way, where there is a value besides NaN. */
#include "batch/filter_range.h"

#include <math.h>

static bool is_nan(enum tn_domain domain, const tn_filter_value *value)
{
    return domain == TN_DOMAIN_FLOAT && isnan(value->d);
}

bool tn_filter_range_equal(enum tn_domain domain, const tn_filter_range *range,
                           const tn_filter_value *value)
{
    if (is_nan(domain, value))
        return !range->nan_free;
    if (range->has_min && tn_filter_compare(domain, value, &range->min) < 0)
        return false;
    return !range->has_max || tn_filter_compare(domain, value, &range->max) <= 0;
}

/* Are all values of the range equal to one another, and to `value`? */
static bool is_only(enum tn_domain domain, const tn_filter_range *range,
                    const tn_filter_value *value)
{
    return range->nan_free && range->has_min && range->has_max &&
           tn_filter_compare(domain, &range->min, value) == 0 &&
           tn_filter_compare(domain, &range->max, value) == 0;
}

static bool may_compare(enum tn_domain domain, const tn_filter_range *range, enum tn_compare op,
                        const tn_filter_value *value)
{
    bool nan = is_nan(domain, value);
    bool has_max = range->has_max && range->nan_free;

    switch (op) {
    case TN_EQ:
        return tn_filter_range_equal(domain, range, value);
    case TN_NE:
        return !is_only(domain, range, value);
    case TN_LT:
        return nan || !range->has_min || tn_filter_compare(domain, &range->min, value) < 0;
    case TN_LE:
        return nan || !range->has_min || tn_filter_compare(domain, &range->min, value) <= 0;
    case TN_GT:
        return !has_max || tn_filter_compare(domain, &range->max, value) > 0;
    case TN_GE:
        return !has_max || tn_filter_compare(domain, &range->max, value) >= 0;
    case TN_ALWAYS:
        return true;
    case TN_NEVER:
        return false;
    }
    return true;
}

static bool may_in(enum tn_domain domain, const tn_filter_range *range, const tn_filter_node *node)
{
    if (node->negated && node->with_null)
        return false;
    for (size_t i = 0; i < node->value_count; i++) {
        if (!node->negated && tn_filter_range_equal(domain, range, &node->values[i]))
            return true;
        if (node->negated && is_only(domain, range, &node->values[i]))
            return false;
    }
    return node->negated;
}

/* Matches of a pattern begin with its prefix, so they lie between it and what follows it. */
static bool may_like(const tn_filter_range *range, const tn_filter_node *node)
{
    tn_str prefix = node->prefix;
    tn_str head;

    if (node->negated || prefix.len == 0)
        return true;
    if (range->has_max && tn_str_compare(range->max.bytes, prefix) < 0)
        return false;
    if (!range->has_min)
        return true;
    head = range->min.bytes;
    head.len = head.len < prefix.len ? head.len : prefix.len;
    return tn_str_compare(head, prefix) <= 0;
}

/* May the leaf of the filter be true for an entry of the range? */
bool tn_filter_range_leaf(const tn_filter *filter, const tn_filter_node *node,
                          const tn_filter_range *range)
{
    enum tn_domain domain = filter->columns[node->column].domain;

    if (range->entries < 0 || range->contradict)
        return true;
    if (node->kind == TN_FILTER_IS_NULL)
        return node->negated ? !range->empty : !range->has_nulls || range->nulls != 0;
    if (range->empty)
        return false;
    switch (node->kind) {
    case TN_FILTER_COMPARE:
        return may_compare(domain, range, node->op, &node->values[0]);
    case TN_FILTER_IN:
        return may_in(domain, range, node);
    case TN_FILTER_LIKE:
        return domain != TN_DOMAIN_BYTES || may_like(range, node);
    default:
        return true;
    }
}

static bool may_sets(const tn_filter *filter, const tn_filter_node *node,
                     const tn_filter_range *ranges, size_t sets)
{
    for (size_t i = 0; i < sets; i++)
        if (tn_filter_range_leaf(filter, node, &ranges[i * filter->column_count + node->column]))
            return true;
    return false;
}

/* Recursion: a filter is no deeper than TN_PREDICATE_DEPTH_MAX. */
static bool may_node(const tn_filter *filter, const tn_filter_node *node,
                     const tn_filter_range *ranges, size_t sets)
{
    switch (node->kind) {
    case TN_FILTER_CONST:
        return node->truth == TN_TRUE;
    case TN_FILTER_AND:
        for (size_t i = 0; i < node->child_count; i++) {
            if (!may_node(filter, node->children[i], ranges, sets))
                return false;
        }
        return true;
    case TN_FILTER_OR:
        for (size_t i = 0; i < node->child_count; i++) {
            if (may_node(filter, node->children[i], ranges, sets))
                return true;
        }
        return false;
    default:
        return may_sets(filter, node, ranges, sets);
    }
}

bool tn_filter_range_node(const tn_filter *filter, const tn_filter_node *node,
                          const tn_filter_range *ranges)
{
    return may_node(filter, node, ranges, 1);
}

bool tn_filter_range_may(const tn_filter *filter, const tn_filter_range *ranges, size_t sets)
{
    return may_node(filter, filter->root, ranges, sets);
}

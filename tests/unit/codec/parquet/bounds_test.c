/* Bounds as writers make them, against what readers make of bounds: one truth about orders. */
#include "unit/codec/parquet/encoders.h"
#include "unit/codec/parquet/synth.h"

#include <math.h>

#include "codec/parquet/bounds.h"
#include "codec/parquet/order.h"

#define VALUES 24

typedef struct made_values {
    uint8_t bytes[VALUES * 16]; /* packed as in tn_values, but byte arrays */
    tn_view views[VALUES];
} made_values;

/* Random bytes, and now and then all zeros or all ones. */
static tn_values make(test_rng *rng, const tn_leaf *leaf, made_values *made)
{
    size_t width = leaf->physical == TN_BYTE_ARRAY ? 9 : tn_leaf_width(leaf);

    for (size_t i = 0; i < VALUES; i++) {
        uint8_t *at = made->bytes + i * width;
        size_t kind = test_below(rng, 6);

        for (size_t j = 0; j < width; j++)
            at[j] = kind == 0 ? 0 : kind == 1 ? 0xFF : (uint8_t)test_random(rng);
        if (leaf->physical == TN_BOOLEAN)
            at[0] &= 1;
        made->views[i] = (tn_view){at, 1 + (uint32_t)test_below(rng, 9)};
    }
    return (tn_values){leaf->physical == TN_BYTE_ARRAY ? (void *)made->views : (void *)made->bytes,
                       VALUES};
}

static tn_str plain_of(const tn_leaf *leaf, tn_values values, size_t i)
{
    size_t width = tn_leaf_width(leaf);

    if (leaf->physical == TN_BYTE_ARRAY) {
        tn_view view = ((const tn_view *)values.data)[i];

        return (tn_str){(const char *)view.ptr, view.len};
    }
    return (tn_str){(const char *)values.data + i * width, width};
}

/* Every value lies within the bounds as the reader decodes and compares them; NaN apart, which is
 * counted. */
static void check_cover(const tn_leaf *leaf, tn_values values, const tn_bounds *bounds)
{
    enum tn_domain domain = tn_order_domain(leaf);
    tn_filter_value min, max, value;
    int64_t nans = 0;

    if (bounds->any) {
        assert_true(tn_order_decode(leaf, tn_buf_view(&bounds->min), &min));
        assert_true(tn_order_decode(leaf, tn_buf_view(&bounds->max), &max));
    }
    for (size_t i = 0; i < VALUES; i++) {
        assert_true(tn_order_decode(leaf, plain_of(leaf, values, i), &value));
        if (domain == TN_DOMAIN_FLOAT && isnan(value.d)) {
            nans++;
            continue;
        }
        assert_true(bounds->any);
        assert_true(tn_filter_compare(domain, &min, &value) <= 0);
        assert_true(tn_filter_compare(domain, &value, &max) <= 0);
    }
    assert_int_equal(bounds->nans, nans);
}

static void check_leaf(const tn_leaf *leaf, test_rng *rng)
{
    enum tn_bounds_order order = tn_bounds_order_of(leaf);
    made_values made;
    tn_values values = make(rng, leaf, &made);
    tn_bounds bounds = {0};

    assert_int_equal(order == TN_BOUNDS_NONE, tn_order_domain(leaf) == TN_DOMAIN_NONE);
    assert_int_equal(tn_bounds_real(order), tn_order_domain(leaf) == TN_DOMAIN_FLOAT);
    tn_bounds_of(leaf, order, values, &bounds);
    if (order == TN_BOUNDS_NONE)
        assert_false(bounds.any);
    else
        check_cover(leaf, values, &bounds);
    tn_bounds_clear(&bounds);
}

static void test_bounds__writers_and_readers_agree_on_every_type(void **state)
{
    test_rng rng = {1};
    size_t ordered = 0;

    (void)state;
    for (int physical = TN_BOOLEAN; physical <= TN_FIXED; physical++) {
        for (int logical = -1; logical <= 20; logical++) {
            for (int converted = -1; converted <= 22; converted++) {
                for (int sign = 0; sign < 2; sign++) {
                    tn_element e = synth_leaf("v", TN_OPTIONAL, (enum tn_physical)physical);
                    tn_node node = {.element_meta = &e};
                    tn_leaf leaf = {
                        .node = &node, .physical = e.physical, .type_length = sign != 0 ? 2 : 16};

                    e.type_length = (int32_t)leaf.type_length;
                    e.logical = logical;
                    e.converted = converted;
                    e.is_signed = sign != 0;
                    check_leaf(&leaf, &rng);
                    ordered += tn_bounds_order_of(&leaf) != TN_BOUNDS_NONE;
                }
            }
        }
    }
    assert_true(ordered > 500);
}

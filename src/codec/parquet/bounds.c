/* Bounds of values.
 *
 * I1: A bound is never narrower than the values it covers: shortening lowers a minimum and raises a
 *     maximum, or gives up.
 * I2: Only byte arrays in unsigned byte order are shortened; a shorter number is another number.
 * I3: NaN never becomes a bound; zeros are widened to -0.0 and +0.0, since the format lets -0.0
 *     equal 0.0 and readers differ in which comes first. */
#include "codec/parquet/bounds.h"

#include <math.h>

#include "codec/parquet/order.h"

/* The order of a number that is wide or narrow. */
static enum tn_bounds_order by_width(const tn_leaf *leaf, enum tn_bounds_order narrow,
                                     enum tn_bounds_order wide)
{
    return tn_leaf_width(leaf) == 8 ? wide : narrow;
}

enum tn_bounds_order tn_bounds_order_of(const tn_leaf *leaf)
{
    bool bytes = leaf->physical == TN_BYTE_ARRAY || leaf->physical == TN_FIXED;

    if (leaf->physical == TN_FIXED && leaf->type_length == 0)
        return TN_BOUNDS_NONE;
    switch (tn_order_domain(leaf)) {
    case TN_DOMAIN_SIGNED:
        return by_width(leaf, TN_BOUNDS_I32, TN_BOUNDS_I64);
    case TN_DOMAIN_UNSIGNED:
        return leaf->physical == TN_BOOLEAN ? TN_BOUNDS_BOOL
                                            : by_width(leaf, TN_BOUNDS_U32, TN_BOUNDS_U64);
    case TN_DOMAIN_FLOAT:
        return bytes ? TN_BOUNDS_F16 : by_width(leaf, TN_BOUNDS_F32, TN_BOUNDS_F64);
    case TN_DOMAIN_DECIMAL:
        return bytes ? TN_BOUNDS_DECIMAL : by_width(leaf, TN_BOUNDS_I32, TN_BOUNDS_I64);
    case TN_DOMAIN_BYTES:
        return TN_BOUNDS_BYTES;
    case TN_DOMAIN_NONE:
        break;
    }
    return TN_BOUNDS_NONE;
}

bool tn_bounds_real(enum tn_bounds_order order)
{
    return order == TN_BOUNDS_F32 || order == TN_BOUNDS_F64 || order == TN_BOUNDS_F16;
}

bool tn_bounds_text(const tn_leaf *leaf)
{
    const tn_element *meta = leaf->node->element_meta;

    return meta->logical == TN_LOGICAL_STRING || meta->logical == TN_LOGICAL_ENUM ||
           meta->logical == TN_LOGICAL_JSON ||
           (meta->logical == TN_LOGICAL_NONE &&
            (meta->converted == TN_UTF8 || meta->converted == TN_ENUM ||
             meta->converted == TN_JSON));
}

bool tn_bounds_signed(enum tn_bounds_order order)
{
    return order == TN_BOUNDS_BOOL || order == TN_BOUNDS_I32 || order == TN_BOUNDS_I64 ||
           order == TN_BOUNDS_F32 || order == TN_BOUNDS_F64;
}

void tn_bounds_clear(tn_bounds *bounds)
{
    tn_buf_clear(&bounds->min);
    tn_buf_clear(&bounds->max);
    bounds->any = false;
    bounds->nans = 0;
}

static void set(tn_bounds *out, const void *min, size_t min_len, const void *max, size_t max_len)
{
    out->any = true;
    tn_buf_reset(&out->min);
    tn_buf_reset(&out->max);
    tn_buf_add(&out->min, min, min_len);
    tn_buf_add(&out->max, max, max_len);
}

#define INTEGERS(name, type)                                                                       \
    static void name(const type *v, size_t n, tn_bounds *out)                                      \
    {                                                                                              \
        type min = v[0], max = v[0];                                                               \
                                                                                                   \
        for (size_t i = 1; i < n; i++) {                                                           \
            min = v[i] < min ? v[i] : min;                                                         \
            max = v[i] > max ? v[i] : max;                                                         \
        }                                                                                          \
        set(out, &min, sizeof min, &max, sizeof max);                                              \
    }
INTEGERS(of_u8, uint8_t)
INTEGERS(of_i32, int32_t)
INTEGERS(of_u32, uint32_t)
INTEGERS(of_i64, int64_t)
INTEGERS(of_u64, uint64_t)

/* Comparisons with NaN are false, so NaN never replaces a bound. */
#define REALS(name, type)                                                                          \
    static void name(const type *v, size_t n, tn_bounds *out)                                      \
    {                                                                                              \
        type min = (type)INFINITY, max = -(type)INFINITY;                                          \
        size_t nans = 0;                                                                           \
                                                                                                   \
        for (size_t i = 0; i < n; i++) {                                                           \
            min = v[i] < min ? v[i] : min;                                                         \
            max = v[i] > max ? v[i] : max;                                                         \
            nans += v[i] != v[i];                                                                  \
        }                                                                                          \
        min = min == 0 ? -(type)0 : min;                                                           \
        max = max == 0 ? (type)0 : max;                                                            \
        out->nans = (int64_t)nans;                                                                 \
        if (nans < n)                                                                              \
            set(out, &min, sizeof min, &max, sizeof max);                                          \
    }
REALS(of_f32, float)
REALS(of_f64, double)

/* Half floats as integers in their numeric order; NaN by its exponent. */
static bool half_nan(uint16_t bits)
{
    return (bits & 0x7FFF) > 0x7C00;
}

static int32_t half_rank(uint16_t bits)
{
    return bits & 0x8000 ? -(int32_t)(bits & 0x7FFF) : (int32_t)bits;
}

static void of_f16(const uint8_t *v, size_t n, tn_bounds *out)
{
    uint16_t min = 0, max = 0;
    bool any = false;

    for (size_t i = 0; i < n; i++) {
        uint16_t bits;

        memcpy(&bits, v + i * 2, 2);
        if (half_nan(bits)) {
            out->nans++;
            continue;
        }
        if (!any || half_rank(bits) < half_rank(min))
            min = bits;
        if (!any || half_rank(bits) > half_rank(max))
            max = bits;
        any = true;
    }
    min = half_rank(min) == 0 ? 0x8000 : min;
    max = half_rank(max) == 0 ? 0 : max;
    if (any)
        set(out, &min, 2, &max, 2);
}

bool tn_bounds_nan(enum tn_bounds_order order, const void *value)
{
    uint16_t half;
    float single;
    double twice;

    switch (order) {
    case TN_BOUNDS_F16:
        memcpy(&half, value, sizeof half);
        return half_nan(half);
    case TN_BOUNDS_F32:
        memcpy(&single, value, sizeof single);
        return isnan(single);
    case TN_BOUNDS_F64:
        memcpy(&twice, value, sizeof twice);
        return isnan(twice);
    default:
        return false;
    }
}

static int compare_bytes(tn_view a, tn_view b)
{
    return tn_str_compare((tn_str){(const char *)a.ptr, a.len},
                          (tn_str){(const char *)b.ptr, b.len});
}

/* The first eight bytes as a number in byte order; shorter values are padded with zeros, so equal
 * keys still need a full comparison. */
static inline uint64_t key_of(tn_view view)
{
    uint64_t key = 0;

    if (view.len >= 8)
        memcpy(&key, view.ptr, 8);
    else if (view.len != 0)
        memcpy(&key, view.ptr, view.len);
    return __builtin_bswap64(key);
}

static void of_views(const tn_view *v, size_t n, tn_bounds *out)
{
    tn_view min = v[0], max = v[0];
    uint64_t least = key_of(min), most = least;

    for (size_t i = 1; i < n; i++) {
        uint64_t key = key_of(v[i]);

        if (key < least || (key == least && compare_bytes(v[i], min) < 0)) {
            min = v[i];
            least = key;
        }
        if (key > most || (key == most && compare_bytes(v[i], max) > 0)) {
            max = v[i];
            most = key;
        }
    }
    set(out, min.ptr, min.len, max.ptr, max.len);
}

static int compare_decimal(tn_str a, tn_str b)
{
    bool a_negative = a.len != 0 && (uint8_t)a.ptr[0] >= 0x80;
    bool b_negative = b.len != 0 && (uint8_t)b.ptr[0] >= 0x80;
    size_t n = a.len > b.len ? a.len : b.len;

    if (a_negative != b_negative)
        return a_negative ? -1 : 1;
    for (size_t i = 0; i < n; i++) {
        uint8_t fill = a_negative ? 0xFF : 0;
        uint8_t x = i + a.len >= n ? (uint8_t)a.ptr[i + a.len - n] : fill;
        uint8_t y = i + b.len >= n ? (uint8_t)b.ptr[i + b.len - n] : fill;

        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

/* Fixed values in byte order, and decimals of either kind. */
static void of_any(const tn_leaf *leaf, enum tn_bounds_order order, tn_values values,
                   tn_bounds *out)
{
    const tn_view *views = leaf->physical == TN_BYTE_ARRAY ? values.data : NULL;
    const char *fixed = values.data;
    tn_str min = {0}, max = {0};

    for (int64_t i = 0; i < values.count; i++) {
        tn_str value = views != NULL
                           ? (tn_str){(const char *)views[i].ptr, views[i].len}
                           : (tn_str){fixed + (size_t)i * leaf->type_length, leaf->type_length};

        if (i == 0 || tn_bounds_compare(order, value, min) < 0)
            min = value;
        if (i == 0 || tn_bounds_compare(order, value, max) > 0)
            max = value;
    }
    set(out, min.ptr, min.len, max.ptr, max.len);
}

void tn_bounds_of(const tn_leaf *leaf, enum tn_bounds_order order, tn_values values, tn_bounds *out)
{
    size_t n = (size_t)values.count;

    out->any = false;
    out->nans = 0;
    if (n == 0)
        return;
    switch (order) {
    case TN_BOUNDS_NONE:
        return;
    case TN_BOUNDS_BOOL:
        of_u8(values.data, n, out);
        return;
    case TN_BOUNDS_I32:
        of_i32(values.data, n, out);
        return;
    case TN_BOUNDS_U32:
        of_u32(values.data, n, out);
        return;
    case TN_BOUNDS_I64:
        of_i64(values.data, n, out);
        return;
    case TN_BOUNDS_U64:
        of_u64(values.data, n, out);
        return;
    case TN_BOUNDS_F32:
        of_f32(values.data, n, out);
        return;
    case TN_BOUNDS_F64:
        of_f64(values.data, n, out);
        return;
    case TN_BOUNDS_F16:
        of_f16(values.data, n, out);
        return;
    case TN_BOUNDS_BYTES:
        if (leaf->physical == TN_BYTE_ARRAY) {
            of_views(values.data, n, out);
            return;
        }
        break;
    case TN_BOUNDS_DECIMAL:
        break;
    }
    of_any(leaf, order, values, out);
}

#define COMPARE(type)                                                                              \
    do {                                                                                           \
        type x, y;                                                                                 \
                                                                                                   \
        if (a.len != sizeof x || b.len != sizeof y)                                                \
            return 0;                                                                              \
        memcpy(&x, a.ptr, sizeof x);                                                               \
        memcpy(&y, b.ptr, sizeof y);                                                               \
        return x < y ? -1 : x > y;                                                                 \
    } while (0)

int tn_bounds_compare(enum tn_bounds_order order, tn_str a, tn_str b)
{
    switch (order) {
    case TN_BOUNDS_NONE:
        return 0;
    case TN_BOUNDS_BOOL:
        COMPARE(uint8_t);
    case TN_BOUNDS_I32:
        COMPARE(int32_t);
    case TN_BOUNDS_U32:
        COMPARE(uint32_t);
    case TN_BOUNDS_I64:
        COMPARE(int64_t);
    case TN_BOUNDS_U64:
        COMPARE(uint64_t);
    case TN_BOUNDS_F32:
        COMPARE(float);
    case TN_BOUNDS_F64:
        COMPARE(double);
    case TN_BOUNDS_F16: {
        uint16_t x, y;

        if (a.len != 2 || b.len != 2)
            return 0;
        memcpy(&x, a.ptr, 2);
        memcpy(&y, b.ptr, 2);
        return half_rank(x) < half_rank(y) ? -1 : half_rank(x) > half_rank(y);
    }
    case TN_BOUNDS_BYTES:
        return tn_str_compare(a, b);
    case TN_BOUNDS_DECIMAL:
        return compare_decimal(a, b);
    }
    return 0;
}

void tn_bounds_widen(tn_bounds *into, enum tn_bounds_order order, tn_str min, tn_str max)
{
    if (!into->any || tn_bounds_compare(order, min, tn_buf_view(&into->min)) < 0) {
        tn_buf_reset(&into->min);
        tn_buf_str(&into->min, min);
    }
    if (!into->any || tn_bounds_compare(order, max, tn_buf_view(&into->max)) > 0) {
        tn_buf_reset(&into->max);
        tn_buf_str(&into->max, max);
    }
    into->any = true;
}

/* The longest prefix of at most bytes_max bytes that ends between characters. */
static size_t text_prefix(tn_str text, size_t bytes_max)
{
    size_t n = bytes_max;

    while (n > 0 && ((uint8_t)text.ptr[n] & 0xC0) == 0x80)
        n--;
    return n;
}

void tn_bounds_lower(tn_buf *out, tn_str min, bool text, size_t bytes_max, bool *exact)
{
    *exact = min.len <= bytes_max;
    if (!*exact)
        min.len = text && tn_str_utf8(min) ? text_prefix(min, bytes_max) : bytes_max;
    tn_buf_str(out, min);
}

static size_t put_character(uint8_t *to, uint32_t point)
{
    if (point < 0x80) {
        to[0] = (uint8_t)point;
        return 1;
    }
    if (point < 0x800) {
        to[0] = (uint8_t)(0xC0 | point >> 6);
        to[1] = (uint8_t)(0x80 | (point & 0x3F));
        return 2;
    }
    if (point < 0x10000) {
        to[0] = (uint8_t)(0xE0 | point >> 12);
        to[1] = (uint8_t)(0x80 | (point >> 6 & 0x3F));
        to[2] = (uint8_t)(0x80 | (point & 0x3F));
        return 3;
    }
    to[0] = (uint8_t)(0xF0 | point >> 18);
    to[1] = (uint8_t)(0x80 | (point >> 12 & 0x3F));
    to[2] = (uint8_t)(0x80 | (point >> 6 & 0x3F));
    to[3] = (uint8_t)(0x80 | (point & 0x3F));
    return 4;
}

static uint32_t get_character(const uint8_t *at, size_t len)
{
    uint32_t point = len == 1   ? at[0]
                     : len == 2 ? at[0] & 0x1F
                     : len == 3 ? at[0] & 0x0F
                                : at[0] & 7;

    for (size_t i = 1; i < len; i++)
        point = point << 6 | (at[i] & 0x3F);
    return point;
}

/* Characters in code point order are in byte order too, so the next larger text of this length
 * ends in the next code point; a character that has none is dropped. */
static bool raise_text(tn_buf *out, tn_str prefix)
{
    while (prefix.len > 0) {
        size_t at = prefix.len - 1;
        uint8_t next[4];
        uint32_t point;

        while (at > 0 && ((uint8_t)prefix.ptr[at] & 0xC0) == 0x80)
            at--;
        point = get_character((const uint8_t *)prefix.ptr + at, prefix.len - at) + 1;
        prefix.len = at;
        if (point > 0x10FFFF)
            continue;
        point = point >= 0xD800 && point <= 0xDFFF ? 0xE000 : point;
        tn_buf_str(out, prefix);
        tn_buf_add(out, next, put_character(next, point));
        return true;
    }
    return false;
}

static bool raise_bytes(tn_buf *out, tn_str prefix)
{
    while (prefix.len > 0 && (uint8_t)prefix.ptr[prefix.len - 1] == 0xFF)
        prefix.len--;
    if (prefix.len == 0)
        return false;
    tn_buf_add(out, prefix.ptr, prefix.len - 1);
    tn_buf_u8(out, (uint8_t)(prefix.ptr[prefix.len - 1] + 1));
    return true;
}

bool tn_bounds_upper(tn_buf *out, tn_str max, bool text, size_t bytes_max, bool *exact)
{
    *exact = max.len <= bytes_max;
    if (*exact) {
        tn_buf_str(out, max);
        return true;
    }
    if (text && tn_str_utf8(max)) {
        max.len = text_prefix(max, bytes_max);
        return raise_text(out, max);
    }
    max.len = bytes_max;
    return raise_bytes(out, max);
}

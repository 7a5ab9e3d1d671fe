/* Decimal text as floating point numbers, correctly rounded, whatever the locale of the process. */
#ifndef TN_BATCH_REAL_H
#define TN_BATCH_REAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* Longer texts are no numbers here. */
#define TN_REAL_BYTES_MAX 1024

/* "1", "-1.5", "+.5", "1.", "1e-7"; and "NaN", "Infinity", "inf" with or without a sign, in any
 * case. False when the text is none of these, or finite but larger than the type holds. */
bool tn_real_double(tn_str text, double *out);

/* The same of most numbers, at once: at most 15 digits, perhaps with a minus and a point. False for
 * all others. Both parts of the quotient are exact, so it is rounded once. */
static inline bool tn_real_short(tn_str text, double *out)
{
    static const double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    bool negative = text.len > 0 && text.ptr[0] == '-';
    size_t at = negative, point = text.len;
    uint64_t value = 0;
    double number;

    if (text.len > 15 || text.len <= at + 1)
        return false;
    for (; at < text.len; at++) {
        unsigned digit = (unsigned)(uint8_t)text.ptr[at] - '0';

        if (digit <= 9)
            value = value * 10 + digit;
        else if (text.ptr[at] == '.' && point == text.len)
            point = at;
        else
            return false;
    }
    number = (double)value;
    if (point < text.len)
        number /= powers[text.len - 1 - point];
    *out = negative ? -number : number;
    return true;
}
bool tn_real_float(tn_str text, float *out);
/* The bits of an IEEE 754 binary16. */
bool tn_real_half(tn_str text, uint16_t *out);

#endif

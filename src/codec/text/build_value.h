/* One value of a type of fixed width from text. */
#ifndef TN_TEXT_BUILD_VALUE_H
#define TN_TEXT_BUILD_VALUE_H

#include "base/str.h"
#include "batch/format.h"

enum tn_value_fit {
    TN_VALUE_FITS,
    TN_VALUE_NONE,     /* the text is none of the type, or beyond what it holds */
    TN_VALUE_FRACTION, /* digits below its scale or unit */
    TN_VALUE_ZONE,     /* a zone where the type has none */
    TN_VALUE_NO_ZONE,  /* none where the type needs one */
    TN_VALUE_TIME      /* a time of day in a date */
};

/* Most integers: at most 18 digits, perhaps with a minus, which never overflow. */
static inline bool tn_value_short(tn_str text, int64_t *out)
{
    bool negative = text.len > 0 && text.ptr[0] == '-';
    size_t at = negative;
    uint64_t value = 0;

    if (at == text.len || text.len > 18)
        return false;
    for (; at < text.len; at++) {
        unsigned digit = (unsigned)(uint8_t)text.ptr[at] - '0';

        if (digit > 9)
            return false;
        value = value * 10 + digit;
    }
    *out = negative ? -(int64_t)value : (int64_t)value;
    return true;
}

/* Spaces and tabs around it dropped. */
tn_str tn_value_trim(tn_str text);
/* Writes type->width bytes (FIXED_BINARY of 16: a UUID; BOOL: one byte, 0 or 1). Spaces around the
 * text are passed over. `type` has a fixed width or is BOOL; FIXED_BINARY is for UUIDs alone. */
enum tn_value_fit tn_value_parse(const tn_format *type, tn_str text, void *out);
/* "number", "date as in 2024-05-12": what tn_value_parse wanted, for messages. */
const char *tn_value_wanted(const tn_format *type);

#endif

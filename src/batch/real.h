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
bool tn_real_float(tn_str text, float *out);
/* The bits of an IEEE 754 binary16. */
bool tn_real_half(tn_str text, uint16_t *out);

#endif

/* Numbers as the fewest digits that read back equal. The writers give the bytes written, without a
 * NUL. */
#ifndef TN_BATCH_DIGITS_H
#define TN_BATCH_DIGITS_H

#include <stddef.h>
#include <stdint.h>

/* At most 20 bytes. */
size_t tn_digits_u64(char *out, uint64_t value);
size_t tn_digits_i64(char *out, int64_t value);
/* "1.5", "0.1", "2.0", "1e300", "1.5e-7": at most 26 bytes. Exponents below -4 and from 16 on; a
 * point or an exponent always. The value is finite. */
size_t tn_digits_double(char *out, double value);
size_t tn_digits_float(char *out, float value);

/* See digits_power.c. */
extern const uint64_t tn_digits_power[617][2];

#endif

/* Exact numbers: decimal text against 256-bit integers. */
#ifndef TN_BATCH_NUMBER_H
#define TN_BATCH_NUMBER_H

#include "batch/filter.h"

/* floor(text * 10^scale) for a decimal number ("-12.5e3"), and whether that is exact. `beyond` is
 * -1 or 1 when it lies outside 77 digits (the result is then not to be used), else 0. False when
 * the text is no number. */
bool tn_number_floor(tn_str text, int32_t scale, tn_int256 *out, bool *exact, int *beyond);
void tn_number_negate(tn_int256 *value);
/* Divides a value that is not negative by ten; the remainder is returned. */
uint32_t tn_number_divide10(tn_int256 *value);
/* The digits of an unscaled value with its point: "-1.50". At most 90 bytes, without a NUL. */
size_t tn_number_write(const tn_int256 *value, int32_t scale, char *out);

#endif

/* Numbers and moments as Java's toString prints them. The writers give the bytes written, without a
 * NUL. */
#ifndef TN_BATCH_JAVA_TEXT_H
#define TN_BATCH_JAVA_TEXT_H

#include "batch/filter.h"

/* No text is longer. */
#define TN_JAVA_TEXT_BYTES_MAX 128

/* Float.toString, Double.toString: "1.0", "1.0E10", "1.0E-5", "NaN", "-Infinity". The digits are
 * the fewest that read back equal, as Java prints them since release 19; earlier ones print a digit
 * more of some numbers (2.0E-3 is the same in all, 2^-44 is not). */
size_t tn_java_text_double(double value, char *out);
size_t tn_java_text_float(float value, char *out);
/* BigDecimal.toString: "1.50", "1E-7", "0E-10". */
size_t tn_java_text_decimal(const tn_int256 *value, int32_t scale, char *out);
/* LocalDate.toString. */
size_t tn_java_text_date(int64_t days, char *out);
/* java.sql.Timestamp.toString of milliseconds by the clock: "2016-12-29 09:54:00.0". */
size_t tn_java_text_timestamp(int64_t millis, char *out);

#endif

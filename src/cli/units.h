/* Sizes and durations as people write them. */
#ifndef CLI_UNITS_H
#define CLI_UNITS_H

#include <stdbool.h>
#include <stdint.h>

/* "128M" and "128MiB" are 2^20 each, "256MB" is 10^6; K, G and T alike; "1.5G"; a number alone is
 * bytes. On failure `*why` says what is wrong. */
bool units_size(const char *text, uint64_t *bytes, const char **why);
/* "30s", "10m", "1h", "2d", "1.5h", "250ms"; "0" and "0s" are none. */
bool units_duration(const char *text, int64_t *ms, const char **why);
/* Digits only. */
bool units_count(const char *text, uint64_t *count, const char **why);

#endif

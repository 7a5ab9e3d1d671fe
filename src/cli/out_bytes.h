/* Escaping of bytes from outside, a piece at a time. */
#ifndef CLI_OUT_BYTES_H
#define CLI_OUT_BYTES_H

#include <stddef.h>
#include <stdint.h>

#define OUT_BYTES_PIECE 8

/* Length of the well-formed UTF-8 character at `at`; 0 when the bytes there are none. */
size_t out_bytes_utf8(const char *bytes, size_t len, size_t at);
/* Each writes the next piece into `piece` (not ended by NUL), moves *at on, and gives its length.
 * name: for people, control characters and what is not UTF-8 as %XX; a "%" stays, so that the names
 * of partitions read as they stand on disk. json: as the string of a JSON text, broken UTF-8 as
 * U+FFFD. json_name: "%" and what is not UTF-8 as %XX, so that every name can be had back. */
size_t out_bytes_name(const char *bytes, size_t len, size_t *at, char *piece);
size_t out_bytes_json(const char *bytes, size_t len, size_t *at, char *piece);
size_t out_bytes_json_name(const char *bytes, size_t len, size_t *at, char *piece);

#endif

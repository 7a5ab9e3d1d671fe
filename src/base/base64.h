/* Base64 (RFC 4648, with padding). */
#ifndef TN_BASE_BASE64_H
#define TN_BASE_BASE64_H

#include "base/buf.h"
#include "base/str.h"

/* Appends; sticky through the buffer. */
void tn_base64_encode(tn_buf *out, tn_str bytes);
/* Appends; false when `text` is no base64 (padding may be missing) or memory is short. */
bool tn_base64_decode(tn_buf *out, tn_str text);

#endif

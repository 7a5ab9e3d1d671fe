/* MD5 (RFC 1321), for peers that place things by it; not for anything that has to be secret. */
#ifndef TN_BASE_MD5_H
#define TN_BASE_MD5_H

#include <stdint.h>

#include "base/str.h"

void tn_md5(tn_str bytes, uint8_t digest[16]);

#endif

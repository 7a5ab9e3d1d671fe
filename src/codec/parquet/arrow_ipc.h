/* An Arrow schema as the bytes of Arrow's IPC schema message: what "ARROW:schema" holds in base64.
 *
 *   offset  size  what
 *   0       4     FF FF FF FF (missing in messages by Arrow before 0.15)
 *   4       4     length of what follows, little-endian, a multiple of 8
 *   8       ..    FlatBuffers table Message { version, header type 1, Schema, body length 0 }
 *
 * (Specification: Arrow columnar format, "Encapsulated message format", Schema.fbs, Message.fbs;
 * FlatBuffers "internals".) */
#ifndef TN_PARQUET_ARROW_IPC_H
#define TN_PARQUET_ARROW_IPC_H

#include "base/buf.h"
#include "base/context.h"
#include "base/str.h"
#include "tarn/batch.h"

/* Appends the message. The top of `schema` is the struct whose children are the fields.
 * UNSUPPORTED for unions and run-end encoding. */
int tn_arrow_ipc_write(tarn_cx *cx, const struct ArrowSchema *schema, tn_buf *out);
/* CORRUPT for bytes that are no schema message, LIMIT for one that would unfold beyond its size.
 * Types this reader does not know become format "". *out is the caller's to release. */
int tn_arrow_ipc_read(tarn_cx *cx, tn_str message, struct ArrowSchema *out);

#endif

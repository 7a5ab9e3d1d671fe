/* The Statistics structure, which stands in column metadata and in page headers. */
#ifndef TN_PARQUET_STATISTICS_H
#define TN_PARQUET_STATISTICS_H

#include "codec/parquet/meta.h"
#include "codec/parquet/thrift.h"

/* The fields up to the end of the structure. */
void tn_statistics_read(tn_thrift *t, tn_statistics *out);
void tn_statistics_put(tn_buf *out, const tn_statistics *s);

#endif

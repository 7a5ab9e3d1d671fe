/* The pages of one column chunk, in the order of the file: headers, checksums, decompression.
 *
 *   page := header (Thrift compact PageHeader), body of compressed_page_size bytes
 *   data page v1 body, all of it compressed: [repetition levels] [definition levels] values
 *   data page v2 body: repetition levels, definition levels (plain), values (compressed if
 *     is_compressed)
 *   The CRC-32 of a header is over the body as it stands in the file. */
#ifndef TN_PARQUET_PAGE_READ_H
#define TN_PARQUET_PAGE_READ_H

#include "codec/parquet/file.h"
#include "codec/parquet/lease.h"

typedef struct tn_page_reader {
    const tn_parquet *file;
    size_t group, leaf;
    const tn_chunk_meta *meta;
    tn_source *source;
    bool skip_crc;
    uint64_t from, end; /* the chunk in the file */
    uint64_t at;        /* of the next header; when `ready`, of this one */
    int64_t number; /* of that page, counted from 0 with the dictionary; -1: unknown after a jump */
    bool ready;     /* `header` was read, its body not passed yet */
    tn_page_header header;
    tn_arena arena; /* of what `header` points to */
} tn_page_reader;

/* A body in plain form. */
typedef struct tn_page {
    tn_page_header header; /* its statistics are not kept */
    uint64_t at;           /* of the header in the file */
    int64_t number;
    const uint8_t *body; /* in `plain` or in the source's memory */
    size_t len;
    tn_lease plain;
} tn_page;

/* Borrows all; the source serves the chunk's bytes. */
int tn_page_reader_init(tarn_cx *cx, tn_page_reader *reader, const tn_parquet *file, size_t group,
                        size_t leaf, tn_source *source, bool skip_crc);
void tn_page_reader_clear(tn_page_reader *reader);
/* Makes `header` ready and checks its counts and sizes; *ended true at the end of the chunk. */
int tn_page_reader_header(tarn_cx *cx, tn_page_reader *reader, bool *ended);
/* Reads the body of the page whose header is ready, and moves on. */
int tn_page_reader_body(tarn_cx *cx, tn_page_reader *reader, tn_page *page);
/* The body of the page whose header is ready, as it stands in the file, once its checksum held
 * (when there is one). Valid until the next call on the source; does not move on. */
int tn_page_reader_raw(tarn_cx *cx, tn_page_reader *reader, tn_str *body);
/* Stands again at a page met before: its header, place and number as they were. */
void tn_page_reader_stand(tn_page_reader *reader, const tn_page_header *header, uint64_t at,
                          int64_t number);
/* Moves on without reading the body. */
void tn_page_reader_pass(tn_page_reader *reader);
/* Moves to a page header elsewhere in the chunk; false when the place is not in it. */
bool tn_page_reader_jump(tn_page_reader *reader, uint64_t at);
/* Puts file, column, row group, page and byte before the failure just met. */
int tn_page_fail(tarn_cx *cx, int status, const tn_page_reader *reader, int64_t number,
                 uint64_t at);

#endif

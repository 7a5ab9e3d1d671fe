/* Reads one file slice as rows: base file and logs merged as Hudi does (log.md 5, 6;
 * BufferedRecordMerger). The base file is streamed; what logs say is kept by record key. Rows come
 * in this order: those that the base file has and no log changes, as they stand there, and among
 * them, batch by batch, those that are made of both; then those of the logs, in the order in which
 * they were written. Where the logs hold more than the memory budget allows, the slice is read
 * several times over, each time for a part of its keys, and so are its rows. */
#ifndef TN_EXEC_SLICE_READ_H
#define TN_EXEC_SLICE_READ_H

#include "exec/exec_read.h"
#include "task/slice.h"

typedef struct tn_slice_read tn_slice_read;

/* `task->slice` is the slice; `task->path` empty: it has no base file. Filter, project and columns
 * are those of any scan (exec_read.h): the filter sees merged rows only. UNSUPPORTED by name for a
 * merger that is not understood. Borrowed until close. */
int tn_slice_read_open(tarn_cx *cx, tn_store *store, const tn_scan_task *task, tn_slice_read **out);
int tn_slice_read_next(tarn_cx *cx, tn_slice_read *reader, struct ArrowArray *out);
void tn_slice_read_counts(const tn_slice_read *reader, tn_scan_counts *out);
/* As tn_exec_read_note. */
bool tn_slice_read_note(const tn_slice_read *reader, char *text, size_t size);
void tn_slice_read_close(tn_slice_read *reader);

#endif

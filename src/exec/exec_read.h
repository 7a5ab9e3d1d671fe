/* Reads one file as rows: prunes, decodes, casts to the common schema, adds partition values,
 * filters, projects. */
#ifndef TN_EXEC_READ_H
#define TN_EXEC_READ_H

#include "io/store.h"
#include "task/scan.h"
#include "tarn/batch.h"

typedef struct tn_exec_read tn_exec_read;

/* How times stored as INT96, which say nothing of a zone, are read; without a flag in nanoseconds.
 */
enum tn_int96_flags { TN_INT96_MICROS = 1, TN_INT96_UTC = 2 };

/* The Arrow schema of a file's rows, which is the caller's to release. */
int tn_exec_read_schema(tarn_cx *cx, tn_store *store, tn_str path, unsigned int96,
                        struct ArrowSchema *out);
/* The task is borrowed until close. */
int tn_exec_read_open(tarn_cx *cx, tn_store *store, const tn_scan_task *task, tn_exec_read **out);
/* The same of a file in memory, which must outlive the reader; task->path is its name. */
int tn_exec_read_open_memory(tarn_cx *cx, tn_str bytes, const tn_scan_task *task,
                             tn_exec_read **out);
/* The next batch of task->result, not empty; length 0 at the end. *out is the caller's. */
int tn_exec_read_next(tarn_cx *cx, tn_exec_read *reader, struct ArrowArray *out);
void tn_exec_read_counts(const tn_exec_read *reader, tn_scan_counts *out);
/* What the reader of the rows so far should know: begins with the path; false when nothing. */
bool tn_exec_read_note(const tn_exec_read *reader, char *text, size_t size);
void tn_exec_read_close(tn_exec_read *reader);

#endif

/* How the report of a merge is printed; shared by merge and commit. */
#ifndef CLI_MERGE_PRINT_H
#define CLI_MERGE_PRINT_H

#include "cmd.h"
#include "tarn/op.h"

/* Prints it for people, or as one JSON document, and gives the exit code. `explain`: people, too,
 * are told how each column was made. */
int merge_print_report(struct cmd_call *call, const tarn_merge_report *report, const char *verb,
                       bool explain);
/* The whole of a file, or of standard input for "-"; the caller's to free. NULL after a message. */
char *merge_print_read(struct cmd_call *call, const char *path, size_t *len);

#endif

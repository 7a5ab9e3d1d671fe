/* The report of a write, for people and as JSON. */
#ifndef CLI_WRITE_PRINT_H
#define CLI_WRITE_PRINT_H

#include "cmd.h"
#include "tarn/write.h"

void write_print_report(struct cmd_call *call, const tarn_write_report *report);

#endif

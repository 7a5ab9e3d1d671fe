/* Reports of what was done to a Hudi table, for people and as JSON. */
#ifndef CLI_TABLE_PRINT_H
#define CLI_TABLE_PRINT_H

#include "cmd.h"
#include "tarn/table.h"

void table_print_made(struct cmd_call *call, const tarn_table_report *report);
void table_print_report(struct cmd_call *call, const tarn_table_report *report);
void table_print_rollback(struct cmd_call *call, const tarn_rollback_report *report);

#endif

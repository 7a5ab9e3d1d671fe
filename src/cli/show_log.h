/* What `tarn show` prints of a log file of a Hudi table. */
#ifndef CLI_SHOW_LOG_H
#define CLI_SHOW_LOG_H

#include "cmd.h"
#include "tarn/inspect.h"

void show_log_blocks(struct cmd_call *call, const tarn_inspect_log *log, bool full);
void show_log_json(struct cmd_call *call, const tarn_inspect_log *log);

#endif

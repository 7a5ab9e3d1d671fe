/* What `tarn show` prints of an HFile, for people and as JSON. */
#ifndef TN_CLI_SHOW_HFILE_H
#define TN_CLI_SHOW_HFILE_H

#include "cmd.h"
#include "tarn/inspect.h"

void show_hfile_print(struct cmd_call *call, const tarn_inspect_hfile *file, bool full);
void show_hfile_print_json(struct cmd_call *call, const tarn_inspect_hfile *file);

#endif

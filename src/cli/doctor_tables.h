/* tarn doctor of a directory that holds Hudi tables: each by name. */
#ifndef CLI_DOCTOR_TABLES_H
#define CLI_DOCTOR_TABLES_H

#include "cmd.h"

/* After a plain directory was refused for what it holds: the exit code. Where there are no Hudi
 * tables at or below the path, it says why the directory was refused. */
int doctor_tables_run(struct cmd_call *call);

#endif

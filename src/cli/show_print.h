/* What `tarn show` prints of a Hudi table, and of files that are no Parquet. */
#ifndef CLI_SHOW_PRINT_H
#define CLI_SHOW_PRINT_H

#include "cmd.h"
#include "tarn/inspect.h"
#include "tarn/timeline.h"

/* Some partitions, and `rest` that says how to see the others; NULL: all of them. */
void show_print_table(struct cmd_call *call, const tarn_overview *table, const char *rest);
void show_print_table_json(struct cmd_call *call, const tarn_overview *table, const char *kind);
/* Its findings as warnings, a line each. */
void show_print_warnings(struct cmd_call *call, const tarn_overview *table);
/* How many findings are no notes. */
size_t show_print_ailing(const tarn_finding *findings, size_t count);
/* Findings in full; and as the member "findings". */
void show_print_findings(struct out *out, const tarn_finding *findings, size_t count);
void show_print_findings_json(struct out_json *json, const tarn_finding *findings, size_t count);
/* A text without what would break the line. */
void show_print_line(struct out *out, const char *text);
void show_print_text(struct cmd_call *call, const tarn_inspect_text *text, bool full);
void show_print_text_json(struct cmd_call *call, const tarn_inspect_text *text);
/* "key = value", the value cut unless `full`; and all keys as the member "keys". */
void show_print_key(struct out *out, const tarn_inspect_key *key, bool full);
void show_print_keys_json(struct out_json *json, const tarn_inspect_key *keys, size_t count);

#endif

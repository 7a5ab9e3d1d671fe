/* Names of data files: "<file id>_<write token>_<instant>.parquet" and
 * ".<file id>_<instant>.log.<version>_<token>" (org.apache.hudi.common.fs.FSUtils; format/files.md
 * 1).
 */
#ifndef TN_TASK_DATA_NAME_H
#define TN_TASK_DATA_NAME_H

#include "base/arena.h"

typedef struct tn_data_name {
    tn_str file_id, token, instant, ending; /* ending: "parquet", "orc", "lance", "log" */
    bool log, cdc;
    uint32_t version; /* of a log */
} tn_data_name;

/* False when it is no data file's name. The parts point into `name`. */
bool tn_data_name_parse(tn_str name, tn_data_name *out);
/* The order of logs of a group as Hudi has it, and of base files: by instant, version, token. */
int tn_data_name_order(const tn_data_name *a, const tn_data_name *b);
/* A base file's name, in the arena. */
int tn_data_name_print(tarn_cx *cx, tn_arena *arena, tn_str file_id, tn_str token, tn_str instant,
                       tn_str *out);
/* A new random file id "<uuid>-0", from cx's random numbers; the next one of a group of files that
 * roll over has the number behind the last "-" one higher. */
int tn_data_name_new_id(tarn_cx *cx, tn_arena *arena, tn_str *out);
int tn_data_name_next_id(tarn_cx *cx, tn_arena *arena, tn_str file_id, uint32_t number,
                         tn_str *out);
/* "<number>-0-<number + 1>": unique for each file of one run. */
int tn_data_name_token(tarn_cx *cx, tn_arena *arena, uint32_t number, tn_str *out);

#endif

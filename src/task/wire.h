/* The wire form of tasks, shared by the files of task/. */
#ifndef TN_TASK_WIRE_H
#define TN_TASK_WIRE_H

#include "task/task.h"

#define TN_WIRE_TASK   "merge.task"
#define TN_WIRE_RESULT "merge.result"
#define TN_WIRE_PLAN   "merge.plan"

/* Parses a line and checks its kind and version; *out is the caller's, to json_decref. */
int tn_wire_open(tarn_cx *cx, tn_str line, const char *kind, json_t **out);
void tn_wire_kind(tn_json *json, const char *kind);
/* A whole number within bounds; CORRUPT naming the key. */
int tn_wire_count(tarn_cx *cx, const json_t *object, const char *key, int64_t min, int64_t max,
                  int64_t *out);
void tn_wire_file_write(tn_json *json, const tn_file_seen *file);
int tn_wire_file_parse(tarn_cx *cx, tn_arena *arena, const json_t *object, tn_file_seen *out);

#endif

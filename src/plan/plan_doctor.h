/* Diagnoses a directory: a function of the snapshot, of what a merge would do, and of probes. */
#ifndef TN_PLAN_DOCTOR_H
#define TN_PLAN_DOCTOR_H

#include "table/dir.h"
#include "tarn/doctor.h"
#include "task/merge_plan.h"

/* A file whose pages do not read, found by reading it whole. */
typedef struct tn_doctor_probe {
    tn_str path, problem;
} tn_doctor_probe;

typedef struct tn_doctor_input {
    const tn_dir *dir;
    const tn_merge_plan *merge; /* what a merge would do with it now */
    uint64_t small_bytes;       /* the limit it goes by */
    tn_str shown;               /* the directory as the user named it */
    int64_t now_ms;
    const tn_doctor_probe *probes;
    size_t probe_count;
    const tn_str *temporary; /* leftover temporary directories of writers, below the root */
    size_t temporary_count;
    const tn_str *leftovers; /* of dir, but for what a merge keeps for --undo */
    size_t leftover_count;
    size_t kept_count; /* partitions whose old files are kept */
    tn_str merging;    /* who merges it right now: what lies in its work place is no leftover */
} tn_doctor_input;

/* What the report points to lives in `arena`. */
int tn_plan_doctor(tarn_cx *cx, const tn_doctor_input *input, tn_arena *arena,
                   tarn_doctor_report *out);

/* In what the schemas differ, as sentences; "" where they do not. */
typedef struct tn_doctor_drift {
    tn_str columns; /* columns that some files lack: nothing to cure */
    tn_str widened; /* types that `merge --widen` makes one */
    tn_str types;   /* types that would still differ after it */
} tn_doctor_drift;

/* doctor_schema.c. `merge` is what `merge --widen` would do. */
int tn_doctor_find_drift(tarn_cx *cx, const tn_dir *dir, const tn_merge_plan *merge,
                         tn_arena *arena, tn_doctor_drift *out);

/* True for names of directories that writers make and should have removed. */
bool tn_doctor_temporary_name(tn_str name);

#endif

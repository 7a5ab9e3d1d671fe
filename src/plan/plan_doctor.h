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
} tn_doctor_input;

/* What the report points to lives in `arena`. */
int tn_plan_doctor(tarn_cx *cx, const tn_doctor_input *input, tn_arena *arena,
                   tarn_doctor_report *out);

/* doctor_schema.c: in what the schemas differ, as a sentence; *schemas counts those that matter. */
int tn_doctor_drift(tarn_cx *cx, const tn_dir *dir, tn_arena *arena, tn_str *evidence,
                    bool *conflict);

/* True for names of directories that writers make and should have removed. */
bool tn_doctor_temporary_name(tn_str name);

#endif

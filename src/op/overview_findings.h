/* What is found when a Hudi table is looked at: evidence, cause and cure. */
#ifndef TN_OP_OVERVIEW_FINDINGS_H
#define TN_OP_OVERVIEW_FINDINGS_H

#include "op/overview_probe.h"
#include "tarn/timeline.h"

typedef struct tn_findings {
    tarn_finding *items;
    size_t count, cap;
} tn_findings;

/* Adds one; kind and cause are constants or live in the view's arena, cure and evidence are copied.
 * Cause and cure may be NULL. */
int __attribute__((format(printf, 5, 6)))
tn_findings_add(tarn_cx *cx, tn_hudi_view *view, tn_findings *list, const tarn_finding *what,
                const char *evidence, ...);
/* The failure just met, as an error of that kind; it is forgotten. */
int tn_findings_failure(tarn_cx *cx, tn_hudi_view *view, tn_findings *list, const char *kind);

/* All that is found, added to what is there, errors first. `probe` NULL: what meets the eye: the
 * timeline, what piles up, what keeps tarn from writing. A function of its arguments alone. */
int tn_findings_judge(tarn_cx *cx, tn_hudi_view *view, const tarn_overview *face,
                      const tn_overview_probe *probe, tn_findings *list);

#endif

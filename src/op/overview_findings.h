/* What is found when a Hudi table is looked at: evidence, cause and cure. */
#ifndef TN_OP_OVERVIEW_FINDINGS_H
#define TN_OP_OVERVIEW_FINDINGS_H

#include "op/hudi_view.h"
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

/* What the filled `face` tells: the timeline, what piles up, what keeps tarn from writing. */
int tn_findings_seen(tarn_cx *cx, tn_hudi_view *view, const tarn_overview *face, tn_findings *list);
/* What a closer look tells. `slices` NULL: they could not be loaded. */
int tn_findings_close(tarn_cx *cx, tn_hudi_view *view, const tarn_overview *face,
                      const tn_slices *slices, tn_findings *list);
/* Errors first, then warnings, then notes, each as they came. */
void tn_findings_sort(tn_findings *list);

#endif

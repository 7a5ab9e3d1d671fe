/* What a closer look at a Hudi table adds to its overview: facts alone, which overview_findings.h
 * judges. */
#ifndef TN_OP_OVERVIEW_PROBE_H
#define TN_OP_OVERVIEW_PROBE_H

#include "op/hudi_view.h"
#include "table/metadata.h"

typedef struct tn_overview_probe {
    int64_t now_ms;
    tn_str *alive; /* instants whose writers have given a sign of life of late; sorted */
    size_t alive_count;
    tn_str moved; /* tn_slices_warning; empty: none */
    /* Of the metadata table, where the properties list one. */
    const char *listing_problem; /* it lags behind, or cannot be read; NULL: neither */
    tn_metadata_difference *differences;
    size_t difference_count;
} tn_overview_probe;

/* `slices` NULL: they could not be loaded. What it points to lives in the view's arena. */
int tn_overview_probe_run(tarn_cx *cx, tn_hudi_view *view, const tn_slices *slices,
                          tn_overview_probe *out);

#endif

/* What an overview of a table says of logs, services that are planned, and its metadata table. */
#ifndef TN_OP_OVERVIEW_LOGS_H
#define TN_OP_OVERVIEW_LOGS_H

#include "op/hudi_view.h"

/* Each fills its part of `face`; texts live in the view's arena. */
int tn_overview_logs(tarn_cx *cx, tn_hudi_view *view, const tn_slices *slices, tarn_overview *face);
/* A plan that cannot be read has a problem instead of a number of groups. */
int tn_overview_services(tarn_cx *cx, tn_hudi_view *view, tarn_overview *face);
/* Whether it is, of the services that were found, a compaction or clustering that is planned or
 * going on. */
bool tn_overview_is_service(const tarn_overview *face, const tn_instant *instant);
int tn_overview_metadata(tarn_cx *cx, tn_hudi_view *view, tarn_overview *face);

#endif

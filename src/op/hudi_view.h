/* A Hudi table opened to be looked at. */
#ifndef TN_OP_HUDI_VIEW_H
#define TN_OP_HUDI_VIEW_H

#include "table/archive.h"
#include "table/hudi_slices.h"
#include "tarn/timeline.h"

typedef struct tn_hudi_view {
    tn_arena arena;
    tn_store *store;
    tn_str root;
    tn_hudi_config config;
    tn_timeline timeline;
} tn_hudi_view;

/* *hudi false: the path is no Hudi table; store and root are there nevertheless. `hudi` NULL:
 * NOTFOUND then. The view is the caller's to clear, after a failure, too. */
int tn_hudi_view_open(tarn_cx *cx, const char *path, bool *hudi, tn_hudi_view *view);
void tn_hudi_view_clear(tn_hudi_view *view);

/* A text of its own in the view's arena, ended by NUL; NULL with NOMEM. */
const char *tn_hudi_view_text(tarn_cx *cx, tn_hudi_view *view, tn_str text);
/* The same into *out; *out NULL where the text is empty. */
int tn_hudi_view_keep(tarn_cx *cx, tn_hudi_view *view, tn_str text, const char **out);

/* An instant as it is shown. With `counts` a completed commit is read; one that cannot be read gets
 * a problem instead. */
int tn_hudi_view_instant(tarn_cx *cx, tn_hudi_view *view, const tn_instant *instant, bool counts,
                         tarn_instant *out);
/* The same of an archived one; `contents` NULL: without counts. */
int tn_hudi_view_archived(tarn_cx *cx, tn_hudi_view *view, const tn_instant *instant,
                          const tn_archive_contents *contents, tarn_instant *out);
/* INVALID where it is no instant's time. */
int tn_hudi_view_check_time(tarn_cx *cx, const char *time);
/* What was typed after --as-of, as `tarn read` takes it; NULL: *out becomes empty. */
int tn_hudi_view_as_of(tarn_cx *cx, tn_hudi_view *view, const char *typed, tn_str *out);

#endif

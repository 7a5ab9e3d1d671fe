/* A Hudi table on one screen, as a value.
 *
 * I1: what cannot be read becomes a finding; only a table whose properties cannot be read fails. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "op/overview_findings.h"
#include "op/overview_logs.h"
#include "table/hudi_buckets.h"

#define TN_LAST_COMMITS        5
#define TN_SMALL_DEFAULT_BYTES 104857600ull /* hoodie.parquet.small.file.limit */

typedef struct state {
    tarn_overview face; /* first: the public pointer is this one */
    tn_hudi_view view;
    tn_findings findings;
} state;

static bool may_pass(int rc)
{
    return rc == TARN_E_CORRUPT || rc == TARN_E_INVALID || rc == TARN_E_UNSUPPORTED ||
           rc == TARN_E_NOTFOUND || rc == TARN_E_LIMIT;
}

static int keep_names(tarn_cx *cx, state *self, const tn_str *names, size_t count,
                      const char *const **out)
{
    const char **made = tn_arena_array(cx, &self->view.arena, count, sizeof *made);
    int rc = TARN_OK;

    if (made == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        made[i] = tn_hudi_view_text(cx, &self->view, names[i]);
        if (made[i] == NULL)
            TN_TRY(TARN_E_NOMEM);
    }
    *out = made;
done:
    return rc;
}

static const char *keygen_name(const tn_hudi_config *config)
{
    switch (config->keygen) {
    case TN_KEYGEN_SIMPLE:
        return "SIMPLE";
    case TN_KEYGEN_COMPLEX:
        return "COMPLEX";
    case TN_KEYGEN_NON_PARTITION:
        return "NON_PARTITION";
    case TN_KEYGEN_TIMESTAMP:
        return "TIMESTAMP";
    case TN_KEYGEN_CUSTOM:
        return "CUSTOM";
    }
    return NULL;
}

static int fill_config(tarn_cx *cx, state *self)
{
    const tn_hudi_config *config = &self->view.config;
    tarn_overview *face = &self->face;
    int rc = TARN_OK;

    TN_TRY(tn_hudi_view_keep(cx, &self->view, self->view.root, &face->path));
    TN_TRY(tn_hudi_view_keep(cx, &self->view, config->name, &face->name));
    TN_TRY(tn_hudi_view_keep(cx, &self->view, config->database, &face->database));
    TN_TRY(tn_hudi_view_keep(cx, &self->view, config->base_format, &face->base_format));
    face->type = config->mor ? "MERGE_ON_READ" : "COPY_ON_WRITE";
    face->table_version = config->version;
    face->timeline_layout = config->layout;
    face->keygen = keygen_name(config);
    if (!config->keygen_known)
        TN_TRY(tn_hudi_view_keep(cx, &self->view, config->keygen_class, &face->keygen));
    TN_TRY(keep_names(cx, self, config->keys, config->key_count, &face->keys));
    TN_TRY(
        keep_names(cx, self, config->partitions, config->partition_count, &face->partition_fields));
    TN_TRY(keep_names(cx, self, config->ordering, config->ordering_count, &face->ordering));
    face->key_count = config->key_count;
    face->partition_field_count = config->partition_count;
    face->ordering_count = config->ordering_count;
    face->merge_mode = config->merge_mode == TN_MERGE_COMMIT_TIME  ? "COMMIT_TIME_ORDERING"
                       : config->merge_mode == TN_MERGE_EVENT_TIME ? "EVENT_TIME_ORDERING"
                                                                   : "CUSTOM";
    face->hive_style = config->hive_style;
    face->url_encode = config->url_encode;
    face->meta_fields = config->meta_fields;
    face->utc = config->utc;
    face->metadata_table = config->metadata_table;
    face->cdc = config->cdc;
    face->small_bytes = TN_SMALL_DEFAULT_BYTES;
    TN_TRY(tn_overview_metadata(cx, &self->view, face));
done:
    return rc;
}

/* The newest commits, which are read; the others are only looked at by size. */
static int fill_last(tarn_cx *cx, state *self)
{
    const tn_timeline *timeline = &self->view.timeline;
    tarn_instant *last = tn_arena_array(cx, &self->view.arena, TN_LAST_COMMITS, sizeof *last);
    tarn_instant one;
    int rc = TARN_OK;

    if (last == NULL)
        return TARN_E_NOMEM;
    for (size_t i = timeline->count; i-- != 0;) {
        const tn_instant *instant = &timeline->instants[i];
        bool shown = self->face.last_count < TN_LAST_COMMITS;

        if (!tn_instant_writes_data(instant) || instant->state != TN_STATE_COMPLETED ||
            (!shown && instant->size_bytes != 0))
            continue;
        TN_TRY(tn_hudi_view_instant(cx, &self->view, instant, true, &one));
        if (one.problem != NULL)
            TN_TRY(tn_findings_add(
                cx, &self->view, &self->findings,
                &(tarn_finding){.kind = "damaged-commits", .severity = TARN_SEVERITY_ERROR}, "%s",
                one.problem));
        if (shown)
            last[self->face.last_count++] = one;
    }
    self->face.last = last;
    self->face.instants = timeline->count;
    for (size_t i = 0; i < timeline->count; i++)
        self->face.pending += timeline->instants[i].state != TN_STATE_COMPLETED;
done:
    return rc;
}

/* A bucket index is stored nowhere but in the names of file groups. A bucket without rows has none,
 * so there may be more of them than the greatest number tells. */
static uint64_t count_buckets(const tn_slices *slices)
{
    uint64_t most = 0;

    for (size_t i = 0; i < slices->slice_count; i++) {
        uint32_t number;

        if (!tn_hudi_bucket_of(slices->slices[i].base.file_id, &number))
            return 0;
        if (number >= most)
            most = (uint64_t)number + 1;
    }
    return most;
}

/* The worst first. */
static int by_small(const void *a, const void *b)
{
    const tarn_overview_partition *x = a, *y = b;

    if (x->small != y->small)
        return x->small < y->small ? 1 : -1;
    return strcmp(x->path, y->path);
}

static int fill_slices(tarn_cx *cx, state *self, const tn_slices *slices, bool closely)
{
    tarn_overview_partition *made =
        tn_arena_array(cx, &self->view.arena, slices->partition_count, sizeof *made);
    int rc = TARN_OK;

    if (made == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < slices->partition_count; i++) {
        made[i].path = tn_hudi_view_text(cx, &self->view, slices->partitions[i]);
        if (made[i].path == NULL)
            TN_TRY(TARN_E_NOMEM);
    }
    for (size_t i = 0; i < slices->slice_count; i++) {
        const tn_base_file *base = &slices->slices[i].base;
        tarn_overview_partition *to = &made[base->partition];
        bool small = base->name.len != 0 && base->size_bytes < self->face.small_bytes;

        to->groups++;
        to->bytes += base->size_bytes;
        to->small += small;
        to->small_bytes += small ? base->size_bytes : 0;
        to->rows += base->name.len != 0 && base->rows > 0 ? base->rows : 0;
        self->face.bytes += base->size_bytes;
        self->face.small += small;
        self->face.rows += base->name.len != 0 && base->rows > 0 ? base->rows : 0;
    }
    TN_TRY(tn_overview_logs(cx, &self->view, slices, &self->face));
    self->face.files_known = true;
    self->face.buckets = count_buckets(slices);
    self->face.groups = slices->slice_count;
    self->face.older = slices->older;
    self->face.older_bytes = slices->older_bytes;
    self->face.uncommitted = slices->invisible;
    self->face.uncommitted_bytes = slices->invisible_bytes;
    if (closely && slices->partition_count != 0)
        qsort(made, slices->partition_count, sizeof *made, by_small);
    self->face.partitions = made;
    self->face.partition_count = slices->partition_count;
done:
    return rc;
}

/* Slices, and with `closely` all that is found. */
static int look(tarn_cx *cx, state *self, bool closely)
{
    const tn_slices_options options = {.footers = true};
    tn_overview_probe probe;
    tn_slices slices = {0};
    int rc = tn_slices_load(cx, self->view.store, self->view.root, &self->view.config,
                            &self->view.timeline, &options, &self->view.arena, &slices);

    if (rc != TARN_OK && !may_pass(rc))
        return rc;
    if (rc != TARN_OK)
        TN_TRY(tn_findings_failure(cx, &self->view, &self->findings, "unreadable-files"));
    else
        TN_TRY(fill_slices(cx, self, &slices, closely));
    if (closely)
        TN_TRY(tn_overview_probe_run(cx, &self->view, self->face.files_known ? &slices : NULL,
                                     &probe));
    TN_TRY(
        tn_findings_judge(cx, &self->view, &self->face, closely ? &probe : NULL, &self->findings));
done:
    return rc;
}

static int open_overview(tarn_cx *cx, const char *path, bool closely, tarn_overview **out)
{
    state *self = tn_calloc(cx, 1, sizeof *self);
    int rc = TARN_OK;

    assert(path != NULL && out != NULL);
    if (self == NULL)
        return TARN_E_NOMEM;
    TN_TRY(tn_hudi_view_open(cx, path, NULL, &self->view));
    TN_TRY(fill_config(cx, self));
    TN_TRY(fill_last(cx, self));
    TN_TRY(tn_overview_services(cx, &self->view, &self->face));
    TN_TRY(look(cx, self, closely));
    self->face.findings = self->findings.items;
    self->face.finding_count = self->findings.count;
    *out = &self->face;
    self = NULL;
done:
    if (self != NULL)
        tarn_overview_close(&self->face);
    return rc;
}

int tarn_overview_open(tarn_cx *cx, const char *path, tarn_overview **out)
{
    return open_overview(cx, path, false, out);
}

int tarn_overview_diagnose(tarn_cx *cx, const char *path, tarn_overview **out)
{
    return open_overview(cx, path, true, out);
}

void tarn_overview_close(tarn_overview *overview)
{
    state *self = (state *)overview;

    if (self == NULL)
        return;
    tn_hudi_view_clear(&self->view);
    free(self);
}

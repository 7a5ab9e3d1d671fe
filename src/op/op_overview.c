/* A Hudi table on one screen, as a value.
 *
 * I1: what cannot be read becomes a warning; only a table whose properties cannot be read fails. */
#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "op/overview_logs.h"
#include "table/hudi_buckets.h"

#define TN_LAST_COMMITS        5
#define TN_SMALL_DEFAULT_BYTES 104857600ull /* hoodie.parquet.small.file.limit */

/* Hudi's defaults: hoodie.cleaner.commits.retained, hoodie.keep.min.commits, …max.commits. */
#define TN_CLEAN_RETAINS 10
#define TN_ARCHIVE_MIN   20
#define TN_ARCHIVE_MAX   30

typedef struct state {
    tarn_overview face; /* first: the public pointer is this one */
    tn_hudi_view view;
    const char **warnings;
    size_t warning_cap;
} state;

static int __attribute__((format(printf, 3, 4)))
warn(tarn_cx *cx, state *self, const char *format, ...)
{
    char text[TN_ERROR_TEXT_MAX];
    va_list args;
    int rc = TARN_OK;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    TN_TRY(tn_arena_grow(cx, &self->view.arena, &self->warnings, self->face.warning_count,
                         &self->warning_cap, sizeof *self->warnings));
    TN_TRY(tn_hudi_view_keep(cx, &self->view, tn_str_of(text),
                             &self->warnings[self->face.warning_count]));
    self->face.warning_count++;
done:
    return rc;
}

/* The failure just met, as a warning. */
static int warn_failure(tarn_cx *cx, state *self)
{
    char text[TN_ERROR_TEXT_MAX];

    snprintf(text, sizeof text, "%s", tarn_cx_error(cx));
    tn_cx_forget(cx);
    return warn(cx, self, "%s", text);
}

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
            TN_TRY(warn(cx, self, "%s", one.problem));
        if (shown)
            last[self->face.last_count++] = one;
    }
    self->face.last = last;
    self->face.instants = timeline->count;
done:
    return rc;
}

static int warn_timeline(tarn_cx *cx, state *self)
{
    const tn_timeline *timeline = &self->view.timeline;
    const tn_instant *oldest = NULL;
    int rc = TARN_OK;

    for (size_t i = timeline->count; i-- != 0;)
        if (timeline->instants[i].state != TN_STATE_COMPLETED) {
            oldest = &timeline->instants[i];
            self->face.pending++;
        }
    if (oldest != NULL)
        TN_TRY(warn(cx, self,
                    "%" PRIu64
                    " %s pending, the oldest is %.*s (%.*s): a writer is at work, or one "
                    "died and the next write rolls it back; `tarn timeline --pending` lists them",
                    self->face.pending, self->face.pending == 1 ? "instant is" : "instants are",
                    TN_STR_ARG(oldest->time), TN_STR_ARG(oldest->word)));
    if (timeline->strange_count != 0)
        TN_TRY(warn(cx, self, "%zu names on the timeline are no instants' files, as %.*s",
                    timeline->strange_count, TN_STR_ARG(timeline->strange[0])));
done:
    return rc;
}

/* What keeps tarn from writing to the table. The text is that of a write that was refused. */
static int warn_refusal(tarn_cx *cx, state *self)
{
    tn_str text = tn_str_of(tarn_cx_error(cx)), end = TN_STR("; nothing was written");
    char kept[TN_ERROR_TEXT_MAX];

    if (tn_str_ends(text, end))
        text.len -= end.len;
    snprintf(kept, sizeof kept, "%.*s", TN_STR_ARG(text));
    tn_cx_forget(cx);
    return warn(cx, self, "tarn does not write to it: %s", kept);
}

static int warn_config(tarn_cx *cx, state *self)
{
    int rc = tn_hudi_config_writable(cx, &self->view.config);

    if (rc == TARN_E_UNSUPPORTED || rc == TARN_E_INVALID)
        return warn_refusal(cx, self);
    if (rc == TARN_OK && self->view.config.metadata_table)
        rc = warn(cx, self,
                  "the table has a metadata table, which tarn does not keep: it writes to the "
                  "table only with --drop-metadata-table");
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

static int fill_slices(tarn_cx *cx, state *self, const tn_slices *slices)
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
    self->face.uncommitted = slices->invisible;
    self->face.partitions = made;
    self->face.partition_count = slices->partition_count;
    if (slices->invisible != 0)
        TN_TRY(warn(cx, self,
                    "%" PRIu64 " %s to no completed instant, so no reader sees what is there; "
                    "`tarn files --all` lists what there is",
                    slices->invisible, slices->invisible == 1 ? "file belongs" : "files belong"));
done:
    return rc;
}

/* What piles up where nobody cleans and archives: tarn does neither, and Hudi's writers do both. */
static int warn_piles(tarn_cx *cx, state *self)
{
    const tn_timeline *timeline = &self->view.timeline;
    const char *name = self->face.name != NULL ? self->face.name : "NAME";
    uint64_t commits = 0;
    int rc = TARN_OK;

    for (size_t i = 0; i < timeline->count; i++)
        commits += timeline->instants[i].state == TN_STATE_COMPLETED &&
                   tn_instant_writes_data(&timeline->instants[i]);
    if (commits > TN_CLEAN_RETAINS && self->face.older > self->face.groups)
        TN_TRY(warn(cx, self,
                    "%" PRIu64 " files of earlier slices lie beside %" PRIu64
                    " file group%s, and nobody cleans: in Spark SQL, CALL run_clean(table => '%s', "
                    "retain_commits => %d)",
                    self->face.older, self->face.groups, self->face.groups == 1 ? "" : "s", name,
                    TN_CLEAN_RETAINS));
    if (commits > TN_ARCHIVE_MAX)
        TN_TRY(warn(cx, self,
                    "%" PRIu64
                    " commits are on the active timeline, and Hudi archives beyond %d: in "
                    "Spark SQL, CALL archive_commits(table => '%s', min_commits => %d, max_commits "
                    "=> %d), once the table is cleaned",
                    commits, TN_ARCHIVE_MAX, name, TN_ARCHIVE_MIN, TN_ARCHIVE_MAX));
done:
    return rc;
}

static int load_slices(tarn_cx *cx, state *self)
{
    tn_slices slices = {0};
    int rc = tn_slices_load(cx, self->view.store, self->view.root, &self->view.config,
                            &self->view.timeline, &(tn_slices_options){.footers = true},
                            &self->view.arena, &slices);

    if (rc != TARN_OK)
        return may_pass(rc) ? warn_failure(cx, self) : rc;
    return fill_slices(cx, self, &slices);
}

int tarn_overview_open(tarn_cx *cx, const char *path, tarn_overview **out)
{
    state *self = tn_calloc(cx, 1, sizeof *self);
    int rc = TARN_OK;

    assert(path != NULL && out != NULL);
    if (self == NULL)
        return TARN_E_NOMEM;
    TN_TRY(tn_hudi_view_open(cx, path, NULL, &self->view));
    TN_TRY(fill_config(cx, self));
    TN_TRY(fill_last(cx, self));
    TN_TRY(warn_timeline(cx, self));
    TN_TRY(tn_overview_services(cx, &self->view, &self->face));
    TN_TRY(load_slices(cx, self));
    TN_TRY(warn_piles(cx, self));
    TN_TRY(warn_config(cx, self));
    self->face.warnings = self->warnings;
    *out = &self->face;
    self = NULL;
done:
    if (self != NULL)
        tarn_overview_close(&self->face);
    return rc;
}

void tarn_overview_close(tarn_overview *overview)
{
    state *self = (state *)overview;

    if (self == NULL)
        return;
    tn_hudi_view_clear(&self->view);
    free(self);
}

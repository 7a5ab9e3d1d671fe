/* One instant as a value: what each of its files says. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "op/hudi_view.h"
#include "table/timeline_json.h"

typedef struct state {
    tarn_instant_detail face; /* first: the public pointer is this one */
    tn_hudi_view view;
} state;

static int no_such(tarn_cx *cx, const state *self, const char *time, const char *action)
{
    const tn_timeline *timeline = &self->view.timeline;
    tn_str first, last;

    if (timeline->count == 0)
        return tn_fail(cx, TARN_E_NOTFOUND, "%.*s: no instant %s: the timeline is empty",
                       TN_STR_ARG(self->view.root), time);
    first = timeline->instants[0].time;
    last = timeline->instants[timeline->count - 1].time;
    if (strlen(time) >= first.len && tn_str_compare(tn_str_of(time), first) < 0)
        return tn_fail(
            cx, TARN_E_NOTFOUND,
            "%.*s: no instant %s: the active timeline begins with %.*s, and the archived "
            "one does not have it",
            TN_STR_ARG(self->view.root), time, TN_STR_ARG(first));
    return tn_fail(cx, TARN_E_NOTFOUND,
                   "%.*s: no instant %s%s%s; `tarn timeline` lists them, the newest is %.*s",
                   TN_STR_ARG(self->view.root), time, action != NULL ? " with the action " : "",
                   action != NULL ? action : "", TN_STR_ARG(last));
}

/* The instant of that time, or the only one whose time begins so; NULL: none. */
static int find_in(tarn_cx *cx, const tn_timeline *timeline, const char *time, const char *action,
                   const tn_instant **out)
{
    tn_str wanted = tn_str_of(time);
    const tn_instant *found = NULL;

    for (size_t i = 0; i < timeline->count; i++) {
        const tn_instant *at = &timeline->instants[i];

        if (!tn_str_starts(at->time, wanted) || (action != NULL && !tn_str_is(at->word, action)))
            continue;
        if (found != NULL && !tn_str_equal(found->time, at->time))
            return tn_fail(cx, TARN_E_INVALID,
                           "%s: several instants begin so, %.*s and %.*s among them: give more "
                           "digits",
                           time, TN_STR_ARG(found->time), TN_STR_ARG(at->time));
        if (found == NULL)
            found = at;
    }
    *out = found;
    return TARN_OK;
}

/* On the active timeline, else in the archive. */
static int find(tarn_cx *cx, state *self, const char *time, const char *action, bool *archived,
                const tn_instant **out)
{
    tn_timeline archive;
    int rc = TARN_OK;

    *archived = false;
    TN_TRY(find_in(cx, &self->view.timeline, time, action, out));
    if (*out != NULL)
        goto done;
    TN_TRY(tn_archive_load(cx, self->view.store, self->view.root, &self->view.config,
                           &self->view.arena, &archive));
    TN_TRY(find_in(cx, &archive, time, action, out));
    if (*out == NULL)
        TN_TRY(no_such(cx, self, time, action));
    *archived = true;
done:
    return rc;
}

/* Puts the instant and the way out behind the text of the failure just met. */
static int unreadable(tarn_cx *cx, int status, const tn_instant *instant)
{
    char text[TN_ERROR_TEXT_MAX / 2];

    if (status != TARN_E_CORRUPT)
        return status;
    snprintf(text, sizeof text, "%s", tarn_cx_error(cx));
    return tn_fail(cx, TARN_E_CORRUPT,
                   "%s: a file of instant %.*s cannot be read: restore it from a copy, or remove "
                   "the instant's files and let Hudi %.*s again",
                   text, TN_STR_ARG(instant->time), TN_STR_ARG(instant->word));
}

static int fill_file(tarn_cx *cx, state *self, const tn_instant *instant, tn_str name,
                     const char *state_name, tarn_instant_file *out)
{
    tn_str path, contents = {NULL, 0};
    tn_stat stat;
    int rc = TARN_OK;

    TN_TRY(tn_path_join(cx, &self->view.arena, self->view.timeline.directory, name, &path));
    TN_TRY(tn_store_stat(cx, self->view.store, path, &stat));
    rc = tn_timeline_json(cx, self->view.store, &self->view.timeline, name, &self->view.arena,
                          &contents);
    if (rc != TARN_OK)
        TN_TRY(unreadable(cx, rc, instant));
    TN_TRY(tn_hudi_view_keep(cx, &self->view, name, &out->name));
    out->state = state_name;
    out->bytes = stat.size_bytes;
    out->contents = contents.ptr;
done:
    return rc;
}

static int fill_files(tarn_cx *cx, state *self, const tn_instant *instant)
{
    tarn_instant_file *files = tn_arena_array(cx, &self->view.arena, 3, sizeof *files);
    size_t n = 0;
    int rc = TARN_OK;

    if (files == NULL)
        return TARN_E_NOMEM;
    if (instant->requested_name.len != 0)
        TN_TRY(fill_file(cx, self, instant, instant->requested_name, "REQUESTED", &files[n++]));
    if (instant->inflight_name.len != 0)
        TN_TRY(fill_file(cx, self, instant, instant->inflight_name, "INFLIGHT", &files[n++]));
    if (instant->state == TN_STATE_COMPLETED)
        TN_TRY(fill_file(cx, self, instant, instant->name, "COMPLETED", &files[n++]));
    self->face.files = files;
    self->face.file_count = n;
done:
    return rc;
}

static int fill_stats(tarn_cx *cx, state *self, const tn_commit_metadata *commit)
{
    tarn_instant_stat *stats =
        tn_arena_array(cx, &self->view.arena, commit->stat_count, sizeof *stats);
    int rc = TARN_OK;

    if (stats == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < commit->stat_count; i++) {
        const tn_write_stat *from = &commit->stats[i];
        tarn_instant_stat *to = &stats[i];

        to->partition = tn_hudi_view_text(cx, &self->view, from->partition);
        to->file_id = tn_hudi_view_text(cx, &self->view, from->file_id);
        if (to->partition == NULL || to->file_id == NULL)
            TN_TRY(TARN_E_NOMEM);
        TN_TRY(tn_hudi_view_keep(cx, &self->view, from->path, &to->path));
        TN_TRY(tn_hudi_view_keep(cx, &self->view, from->prev_instant, &to->previous));
        to->rows = from->writes;
        to->inserted = from->inserts;
        to->updated = from->updates;
        to->deleted = from->deletes;
        to->errors = from->errors;
        to->bytes = from->bytes;
    }
    self->face.stats = stats;
    self->face.stat_count = commit->stat_count;
done:
    return rc;
}

static int fill_replaced(tarn_cx *cx, state *self, const tn_commit_metadata *commit)
{
    tarn_instant_replaced *made;
    size_t count = 0;
    int rc = TARN_OK;

    for (size_t i = 0; i < commit->replaced_count; i++)
        count += commit->replaced[i].file_id_count;
    made = tn_arena_array(cx, &self->view.arena, count, sizeof *made);
    if (made == NULL)
        return TARN_E_NOMEM;
    count = 0;
    for (size_t i = 0; i < commit->replaced_count; i++) {
        const tn_replaced *from = &commit->replaced[i];

        for (size_t k = 0; k < from->file_id_count; k++, count++) {
            made[count].partition = tn_hudi_view_text(cx, &self->view, from->partition);
            made[count].file_id = tn_hudi_view_text(cx, &self->view, from->file_ids[k]);
            if (made[count].partition == NULL || made[count].file_id == NULL)
                TN_TRY(TARN_E_NOMEM);
        }
    }
    self->face.replaced = made;
    self->face.replaced_count = count;
done:
    return rc;
}

static int fill_extra(tarn_cx *cx, state *self, const tn_commit_metadata *commit)
{
    tarn_instant_extra *extra =
        tn_arena_array(cx, &self->view.arena, commit->extra_count, sizeof *extra);
    int rc = TARN_OK;

    if (extra == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < commit->extra_count; i++) {
        extra[i].key = tn_hudi_view_text(cx, &self->view, commit->extra[i].key);
        extra[i].value = tn_hudi_view_text(cx, &self->view, commit->extra[i].value);
        if (extra[i].key == NULL || extra[i].value == NULL)
            TN_TRY(TARN_E_NOMEM);
    }
    self->face.extra = extra;
    self->face.extra_count = commit->extra_count;
done:
    return rc;
}

/* A completed file must say something: only a savepoint's and a clean's are ever empty, after a
 * crash, and Hudi then does them again. */
static int check_completed(tarn_cx *cx, const state *self, const tn_instant *instant)
{
    if (instant->state != TN_STATE_COMPLETED || instant->size_bytes != 0 ||
        tn_instant_writes_data(instant))
        return TARN_OK;
    return tn_fail(cx, TARN_E_CORRUPT,
                   "%.*s/%.*s: the file of the completed instant %.*s is empty: remove it, and "
                   "let Hudi %.*s again",
                   TN_STR_ARG(self->view.timeline.directory), TN_STR_ARG(instant->name),
                   TN_STR_ARG(instant->time), TN_STR_ARG(instant->word));
}

static int fill(tarn_cx *cx, state *self, const tn_instant *instant)
{
    bool commit = tn_instant_writes_data(instant) && instant->state == TN_STATE_COMPLETED;
    tn_commit_metadata metadata = {0};
    tn_arena arena = {0};
    int rc = TARN_OK;

    TN_TRY(tn_hudi_view_keep(cx, &self->view, self->view.root, &self->face.path));
    TN_TRY(check_completed(cx, self, instant));
    if (commit) {
        TN_TRY(tn_timeline_commit(cx, self->view.store, &self->view.timeline, instant, &arena,
                                  &metadata));
        TN_TRY(fill_stats(cx, self, &metadata));
        TN_TRY(fill_replaced(cx, self, &metadata));
        TN_TRY(fill_extra(cx, self, &metadata));
    }
    TN_TRY(tn_hudi_view_instant(cx, &self->view, instant, true, &self->face.instant));
    TN_TRY(fill_files(cx, self, instant));
done:
    tn_arena_clear(&arena);
    return rc;
}

/* What the archive has of an instant: the plan, and what was done. */
static int fill_archived(tarn_cx *cx, state *self, const tn_instant *instant)
{
    tarn_instant_file *files = tn_arena_array(cx, &self->view.arena, 2, sizeof *files);
    tn_archive_contents contents;
    size_t n = 0;
    int rc = TARN_OK;

    if (files == NULL)
        return TARN_E_NOMEM;
    TN_TRY(tn_hudi_view_keep(cx, &self->view, self->view.root, &self->face.path));
    TN_TRY(tn_archive_read(cx, self->view.store, self->view.root, &self->view.config, instant,
                           &self->view.arena, &contents));
    if (contents.is_commit) {
        TN_TRY(fill_stats(cx, self, &contents.commit));
        TN_TRY(fill_replaced(cx, self, &contents.commit));
        TN_TRY(fill_extra(cx, self, &contents.commit));
    }
    TN_TRY(tn_hudi_view_archived(cx, &self->view, instant, &contents, &self->face.instant));
    if (contents.plan.len != 0)
        files[n++] = (tarn_instant_file){
            .name = self->face.instant.file, .state = "REQUESTED", .contents = contents.plan.ptr};
    files[n++] = (tarn_instant_file){
        .name = self->face.instant.file, .state = "COMPLETED", .contents = contents.metadata.ptr};
    self->face.files = files;
    self->face.file_count = n;
done:
    return rc;
}

int tarn_instant_open(tarn_cx *cx, const char *path, const char *time, const char *action,
                      tarn_instant_detail **out)
{
    state *self = tn_calloc(cx, 1, sizeof *self);
    const tn_instant *instant = NULL;
    bool archived;
    int rc = TARN_OK;

    assert(path != NULL && time != NULL && out != NULL);
    if (self == NULL)
        return TARN_E_NOMEM;
    TN_TRY(tn_hudi_view_check_time(cx, time));
    TN_TRY(tn_hudi_view_open(cx, path, NULL, &self->view));
    TN_TRY(find(cx, self, time, action, &archived, &instant));
    if (archived)
        TN_TRY(fill_archived(cx, self, instant));
    else
        TN_TRY(fill(cx, self, instant));
    *out = &self->face;
    self = NULL;
done:
    if (self != NULL)
        tarn_instant_close(&self->face);
    return rc;
}

void tarn_instant_close(tarn_instant_detail *detail)
{
    state *self = (state *)detail;

    if (self == NULL)
        return;
    tn_hudi_view_clear(&self->view);
    free(self);
}

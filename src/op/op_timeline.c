/* The timeline of a table as a value.
 *
 * I1: without counts no file is opened but hoodie.properties, and commits that are empty; the
 *     archive only where it is asked for. */
#include <assert.h>
#include <stdlib.h>

#include "op/hudi_view.h"

typedef struct state {
    tarn_timeline face; /* first: the public pointer is this one */
    tn_hudi_view view;
} state;

/* Words that an action goes by: that of its name, and the one it is compared as. */
static const struct {
    const char *word;
    enum tn_action action;
} actions[] = {{"commit", TN_ACTION_COMMIT},      {"compaction", TN_ACTION_COMMIT},
               {"deltacommit", TN_ACTION_DELTA},  {"logcompaction", TN_ACTION_DELTA},
               {"clustering", TN_ACTION_REPLACE}, {"replacecommit", TN_ACTION_REPLACE},
               {"clean", TN_ACTION_CLEAN},        {"rollback", TN_ACTION_ROLLBACK},
               {"restore", TN_ACTION_RESTORE},    {"savepoint", TN_ACTION_SAVEPOINT},
               {"indexing", TN_ACTION_INDEXING},  {"schemacommit", TN_ACTION_SCHEMA}};

static int check_actions(tarn_cx *cx, const tarn_timeline_options *options)
{
    for (size_t i = 0; i < options->action_count; i++) {
        size_t k = 0, count = sizeof actions / sizeof actions[0];

        while (k < count && strcmp(options->actions[i], actions[k].word) != 0)
            k++;
        if (k == count)
            return tn_fail(cx, TARN_E_INVALID,
                           "%s: no action of a timeline; there are commit, deltacommit, "
                           "replacecommit, clustering, compaction, logcompaction, clean, rollback, "
                           "restore, savepoint, indexing and schemacommit",
                           options->actions[i]);
    }
    return TARN_OK;
}

static bool wanted(const tarn_timeline_options *options, const tn_instant *instant)
{
    if (options->pending && instant->state == TN_STATE_COMPLETED)
        return false;
    for (size_t i = 0; i < options->action_count; i++)
        if (tn_str_is(instant->word, options->actions[i]))
            return true;
    return options->action_count == 0;
}

typedef struct chosen_instant {
    const tn_instant *instant;
    bool archived;
} chosen_instant;

static int by_time(const void *a, const void *b)
{
    const tn_instant *x = ((const chosen_instant *)a)->instant;
    const tn_instant *y = ((const chosen_instant *)b)->instant;
    int order = tn_str_compare(x->time, y->time);

    return order != 0 ? order : (int)x->action - (int)y->action;
}

/* The instants asked for, by time; an archived one that is still active is that one. */
static size_t choose(const state *self, const tarn_timeline_options *options,
                     const tn_timeline *archive, chosen_instant *chosen)
{
    const tn_timeline *timeline = &self->view.timeline;
    size_t count = 0;

    for (size_t i = 0; i < archive->count; i++)
        if (wanted(options, &archive->instants[i]) &&
            tn_timeline_find(timeline, archive->instants[i].time, archive->instants[i].action) ==
                NULL)
            chosen[count++] = (chosen_instant){&archive->instants[i], true};
    for (size_t i = 0; i < timeline->count; i++)
        if (wanted(options, &timeline->instants[i]))
            chosen[count++] = (chosen_instant){&timeline->instants[i], false};
    if (archive->count != 0 && count != 0)
        qsort(chosen, count, sizeof *chosen, by_time);
    return count;
}

static int fill_instants(tarn_cx *cx, state *self, const tarn_timeline_options *options)
{
    const tn_timeline *timeline = &self->view.timeline;
    tn_timeline archive = {0};
    chosen_instant *chosen;
    tarn_instant *made;
    size_t count, first;
    int rc = TARN_OK;

    if (options->archived)
        TN_TRY(tn_archive_load(cx, self->view.store, self->view.root, &self->view.config,
                               &self->view.arena, &archive));
    chosen = tn_arena_array(cx, &self->view.arena, timeline->count + archive.count, sizeof *chosen);
    if (chosen == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < timeline->count; i++)
        self->face.pending += timeline->instants[i].state != TN_STATE_COMPLETED;
    count = choose(self, options, &archive, chosen);
    first = options->limit != 0 && options->limit < count ? count - (size_t)options->limit : 0;
    made = tn_arena_array(cx, &self->view.arena, count - first, sizeof *made);
    if (made == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = first; i < count; i++) {
        size_t to = options->descending ? count - 1 - i : i - first;

        TN_TRY(tn_cx_check(cx));
        if (chosen[i].archived)
            TN_TRY(tn_hudi_view_archived(cx, &self->view, chosen[i].instant, NULL, &made[to]));
        else
            TN_TRY(tn_hudi_view_instant(cx, &self->view, chosen[i].instant, options->counts,
                                        &made[to]));
    }
    self->face.instants = made;
    self->face.instant_count = count - first;
    self->face.active = timeline->count;
    self->face.archived = archive.count;
done:
    return rc;
}

static int fill(tarn_cx *cx, state *self)
{
    const tn_timeline *timeline = &self->view.timeline;
    const tn_hudi_config *config = &self->view.config;
    const char **strange =
        tn_arena_array(cx, &self->view.arena, timeline->strange_count, sizeof *strange);
    int rc = TARN_OK;

    if (strange == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < timeline->strange_count; i++)
        TN_TRY(tn_hudi_view_keep(cx, &self->view, timeline->strange[i], &strange[i]));
    self->face.strange = strange;
    self->face.strange_count = timeline->strange_count;
    TN_TRY(tn_hudi_view_keep(cx, &self->view, self->view.root, &self->face.path));
    TN_TRY(tn_hudi_view_keep(cx, &self->view, timeline->directory, &self->face.directory));
    TN_TRY(tn_hudi_view_keep(cx, &self->view, config->name, &self->face.name));
    self->face.type = config->mor ? "MERGE_ON_READ" : "COPY_ON_WRITE";
    self->face.table_version = config->version;
    self->face.utc = timeline->utc;
done:
    return rc;
}

int tarn_timeline_open(tarn_cx *cx, const char *path, const tarn_timeline_options *options,
                       tarn_timeline **out)
{
    static const tarn_timeline_options usual = {0};
    state *self = tn_calloc(cx, 1, sizeof *self);
    int rc = TARN_OK;

    assert(path != NULL && out != NULL);
    if (self == NULL)
        return TARN_E_NOMEM;
    if (options == NULL)
        options = &usual;
    TN_TRY(check_actions(cx, options));
    TN_TRY(tn_hudi_view_open(cx, path, NULL, &self->view));
    TN_TRY(fill(cx, self));
    TN_TRY(fill_instants(cx, self, options));
    *out = &self->face;
    self = NULL;
done:
    if (self != NULL)
        tarn_timeline_close(&self->face);
    return rc;
}

void tarn_timeline_close(tarn_timeline *timeline)
{
    state *self = (state *)timeline;

    if (self == NULL)
        return;
    tn_hudi_view_clear(&self->view);
    free(self);
}

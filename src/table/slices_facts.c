/* What the instants of a timeline say of file groups: which were replaced, and which are in a
 * pending compaction or clustering.
 *
 * I1: completed replacecommits of the active timeline are read, up to `as_of`, and the plans that
 *     are pending; no other commit. What is archived has said nothing that still matters: its
 *     replaced groups were cleaned.
 * I2: of a group replaced twice the later instant counts. */
#include <assert.h>
#include <stdlib.h>

#include "table/slices_parts.h"

void tn_slices_facts_clear(tn_slices_facts *facts)
{
    tn_arena_clear(&facts->arena);
    tn_map_clear(&facts->map);
    free(facts->groups);
    tn_buf_clear(&facts->key);
    *facts = (tn_slices_facts){0};
}

static bool make_key(tn_buf *key, tn_str partition, tn_str file_id)
{
    tn_buf_reset(key);
    tn_buf_str(key, partition);
    tn_buf_u8(key, 0);
    tn_buf_str(key, file_id);
    return !key->failed;
}

static tn_slices_group *find_group(tn_slices_facts *facts, tn_str partition, tn_str file_id)
{
    size_t *place;

    if (!make_key(&facts->key, partition, file_id))
        return NULL;
    place = tn_map_find(&facts->map, tn_buf_view(&facts->key));
    return place != NULL ? &facts->groups[*place] : NULL;
}

const tn_slices_group *tn_slices_facts_find(tn_slices_facts *facts, tn_str partition,
                                            tn_str file_id)
{
    return find_group(facts, partition, file_id);
}

/* The group's place, made where it is new; valid until the next one is added. */
static int take_group(tarn_cx *cx, tn_slices_facts *facts, tn_str partition, tn_str file_id,
                      tn_slices_group **out)
{
    tn_slices_group *found = find_group(facts, partition, file_id);
    tn_slices_group group = {0};
    tn_str key;
    size_t *place;
    bool added;
    int rc = TARN_OK;

    *out = found;
    if (found != NULL)
        goto done;
    TN_TRY(tn_buf_check(cx, &facts->key));
    key = tn_buf_view(&facts->key);
    TN_TRY(tn_arena_keep(cx, &facts->arena, &key));
    TN_TRY(tn_grow(cx, &facts->groups, facts->count, &facts->cap, sizeof *facts->groups));
    place = tn_map_add(cx, &facts->map, key, &added);
    if (place == NULL)
        TN_TRY(TARN_E_NOMEM);
    *place = facts->count;
    facts->groups[facts->count] = group;
    *out = &facts->groups[facts->count++];
done:
    return rc;
}

static int take_replaced(tarn_cx *cx, tn_slices_facts *facts, const tn_instant *instant,
                         const tn_commit_metadata *commit)
{
    tn_slices_group *group;
    int rc = TARN_OK;

    for (size_t i = 0; i < commit->replaced_count; i++)
        for (size_t k = 0; k < commit->replaced[i].file_id_count; k++) {
            TN_TRY(take_group(cx, facts, commit->replaced[i].partition,
                              commit->replaced[i].file_ids[k], &group));
            group->replaced = instant->time;
        }
done:
    return rc;
}

static int read_replaced(tarn_cx *cx, tn_store *store, const tn_timeline *timeline, tn_str as_of,
                         tn_slices_facts *facts)
{
    const tn_instant **instants = tn_calloc(cx, timeline->count + 1, sizeof *instants);
    tn_slices_commits commits = {0};
    size_t count = 0;
    int rc = TARN_OK;

    if (instants == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < timeline->count; i++) {
        const tn_instant *instant = &timeline->instants[i];

        if (instant->action == TN_ACTION_REPLACE && instant->state == TN_STATE_COMPLETED &&
            (as_of.len == 0 || tn_str_compare(instant->time, as_of) <= 0))
            instants[count++] = instant;
    }
    TN_TRY(tn_slices_commits_read(cx, store, timeline, instants, count, &commits));
    for (size_t i = 0; i < commits.count; i++)
        TN_TRY(take_replaced(cx, facts, commits.instants[i], &commits.commits[i]));
done:
    tn_slices_commits_clear(&commits);
    return rc;
}

/* A slice of a clustering plan, or an operation of a compaction plan: both name their group alike.
 */
static int note_pending(tarn_cx *cx, tn_slices_facts *facts, const tn_avro_value *value,
                        tn_str compaction)
{
    tn_str partition = tn_avro_text(tn_avro_member(value, "partitionPath"));
    tn_str file_id = tn_avro_text(tn_avro_member(value, "fileId"));
    tn_slices_group *group;
    int rc = TARN_OK;

    if (file_id.len == 0)
        goto done;
    TN_TRY(take_group(cx, facts, partition, file_id, &group));
    group->pending = true;
    if (compaction.len != 0)
        group->compaction = compaction;
done:
    return rc;
}

static size_t item_count(const tn_avro_value *value)
{
    return value != NULL && value->kind == TN_AVRO_ARRAY ? value->as.many.count : 0;
}

/* The plan of a pending compaction or clustering, from its requested file. */
static int take_plan(tarn_cx *cx, tn_store *store, const tn_timeline *timeline,
                     const tn_instant *instant, tn_slices_facts *facts)
{
    const tn_avro_value *groups, *operations;
    tn_arena arena = {0};
    tn_avro_value plan;
    bool empty, compaction;
    int rc = TARN_OK;

    TN_TRY(tn_timeline_value(cx, store, timeline, instant->requested_name, &arena, &empty, &plan));
    if (empty)
        goto done;
    compaction = tn_str_is(instant->word, "compaction");
    operations = tn_avro_member(&plan, "operations");
    for (size_t i = 0; i < item_count(operations); i++)
        TN_TRY(note_pending(cx, facts, &operations->as.many.items[i],
                            compaction ? instant->time : (tn_str){0}));
    groups = tn_avro_member(tn_avro_member(&plan, "clusteringPlan"), "inputGroups");
    for (size_t i = 0; i < item_count(groups); i++) {
        const tn_avro_value *slices = tn_avro_member(&groups->as.many.items[i], "slices");

        for (size_t k = 0; k < item_count(slices); k++)
            TN_TRY(note_pending(cx, facts, &slices->as.many.items[k], (tn_str){0}));
    }
done:
    tn_arena_clear(&arena);
    return rc;
}

int tn_slices_facts_load(tarn_cx *cx, tn_store *store, const tn_timeline *timeline,
                         const tn_slices_options *options, tn_slices_facts *facts)
{
    int rc = TARN_OK;

    assert(facts->count == 0);
    TN_TRY(read_replaced(cx, store, timeline, options->as_of, facts));
    for (size_t i = 0; i < timeline->count; i++) {
        const tn_instant *instant = &timeline->instants[i];
        bool planned = tn_str_is(instant->word, "compaction") ||
                       tn_str_is(instant->word, "logcompaction") ||
                       instant->action == TN_ACTION_REPLACE;

        if (planned && instant->state != TN_STATE_COMPLETED && instant->requested_name.len != 0)
            TN_TRY(take_plan(cx, store, timeline, instant, facts));
    }
done:
    return rc;
}

/* Logs, pending services and the metadata table of a table, for its overview.
 *
 * I1: of slices with equally many logs the one with more bytes of them is heavier, then the one
 * that stands first. */
#include "op/overview_logs.h"

#include <assert.h>
#include <string.h>

#define HEAVY_MAX 5
/* hoodie.compact.inline.max.delta.commits; and logs that outweigh their base file, tiny ones apart.
 */
#define DUE_LOGS  5
#define DUE_BYTES (16ull << 20)

static uint64_t log_bytes(const tn_slice *slice)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < slice->log_count; i++)
        bytes += slice->logs[i].size_bytes;
    return bytes;
}

static void count_due(const tn_slice *slice, tarn_overview *face)
{
    uint64_t bytes = log_bytes(slice);
    bool many = slice->log_count > DUE_LOGS;
    bool big = bytes > DUE_BYTES && bytes > slice->base.size_bytes;

    face->log_many += many;
    face->log_big += big;
    face->log_due += many || big;
}

/* I1. */
static bool is_heavier(const tn_slice *a, const tn_slice *b)
{
    if (a->log_count != b->log_count)
        return a->log_count > b->log_count;
    return log_bytes(a) > log_bytes(b);
}

/* Puts a slice where it belongs among the heaviest seen. */
static void note_heavy(const tn_slice **heavy, size_t *count, const tn_slice *slice)
{
    size_t at = *count;

    while (at > 0 && is_heavier(slice, heavy[at - 1]))
        at--;
    if (at == HEAVY_MAX)
        return;
    if (*count < HEAVY_MAX)
        (*count)++;
    memmove(&heavy[at + 1], &heavy[at], (*count - at - 1) * sizeof *heavy);
    heavy[at] = slice;
}

static int show_slice(tarn_cx *cx, tn_hudi_view *view, const tn_slice *slice,
                      tarn_overview_slice *out)
{
    const tn_base_file *base = &slice->base;
    int rc = TARN_OK;

    *out = (tarn_overview_slice){.base_bytes = base->name.len != 0 ? base->size_bytes : 0,
                                 .logs = slice->log_count,
                                 .log_bytes = log_bytes(slice),
                                 .pending = slice->pending};
    out->partition = tn_hudi_view_text(cx, view, base->partition_path);
    out->file_id = tn_hudi_view_text(cx, view, base->file_id);
    if (out->partition == NULL || out->file_id == NULL)
        return TARN_E_NOMEM;
    if (base->name.len != 0)
        TN_TRY(tn_hudi_view_keep(cx, view, base->instant, &out->instant));
done:
    return rc;
}

int tn_overview_logs(tarn_cx *cx, tn_hudi_view *view, const tn_slices *slices, tarn_overview *face)
{
    const tn_slice *heavy[HEAVY_MAX + 1];
    tarn_overview_slice *made = tn_arena_array(cx, &view->arena, HEAVY_MAX, sizeof *made);
    size_t count = 0;
    int rc = TARN_OK;

    assert(slices != NULL && face != NULL);
    if (made == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < slices->slice_count; i++) {
        const tn_slice *slice = &slices->slices[i];

        face->log_only += slice->base.name.len == 0;
        if (slice->log_count == 0)
            continue;
        face->log_groups++;
        count_due(slice, face);
        face->logs += slice->log_count;
        face->log_bytes += log_bytes(slice);
        note_heavy(heavy, &count, slice);
    }
    for (size_t i = 0; i < count; i++)
        TN_TRY(show_slice(cx, view, heavy[i], &made[i]));
    face->heavy = made;
    face->heavy_count = count;
done:
    return rc;
}

/* ---- services */

/* In the first layout a clustering is a replacement whose request holds a plan. */
static bool may_be_service(const tn_instant *instant)
{
    return instant->state != TN_STATE_COMPLETED &&
           (tn_str_is(instant->word, "compaction") || tn_str_is(instant->word, "logcompaction") ||
            tn_str_is(instant->word, "clustering") || instant->action == TN_ACTION_REPLACE);
}

bool tn_overview_is_service(const tarn_overview *face, const tn_instant *instant)
{
    for (size_t i = 0; may_be_service(instant) && i < face->service_count; i++)
        if (tn_str_is(instant->time, face->services[i].time))
            return true;
    return false;
}

/* File groups of a plan: the operations of a compaction, the slices of a clustering's groups. */
static uint64_t count_groups(const tn_avro_value *plan)
{
    const tn_avro_value *list = tn_avro_member(plan, "operations"), *slices;
    uint64_t count = 0;

    if (list != NULL && list->kind == TN_AVRO_ARRAY)
        return list->as.many.count;
    list = tn_avro_member(tn_avro_member(plan, "clusteringPlan"), "inputGroups");
    for (size_t i = 0; list != NULL && list->kind == TN_AVRO_ARRAY && i < list->as.many.count;
         i++) {
        slices = tn_avro_member(&list->as.many.items[i], "slices");
        count += slices != NULL && slices->kind == TN_AVRO_ARRAY ? slices->as.many.count : 0;
    }
    return count;
}

/* *is false: a replacement that is a write. */
static int show_service(tarn_cx *cx, tn_hudi_view *view, const tn_instant *instant,
                        tarn_overview_service *out, bool *is)
{
    tn_avro_value plan;
    bool empty = true, replace = tn_str_is(instant->word, "replacecommit");
    int rc = TARN_OK;

    *is = !replace;
    *out = (tarn_overview_service){.state = instant->state == TN_STATE_REQUESTED ? "REQUESTED"
                                                                                 : "INFLIGHT"};
    TN_TRY(tn_hudi_view_keep(cx, view, instant->time, &out->time));
    TN_TRY(
        tn_hudi_view_keep(cx, view, replace ? TN_STR("clustering") : instant->word, &out->action));
    if (instant->requested_name.len == 0)
        goto done;
    rc = tn_timeline_value(cx, view->store, &view->timeline, instant->requested_name, &view->arena,
                           &empty, &plan);
    if (rc == TARN_E_CORRUPT || rc == TARN_E_CONFLICT) {
        rc = tn_hudi_view_keep(cx, view, tn_str_of(tarn_cx_error(cx)), &out->problem);
        tn_cx_forget(cx);
    } else if (rc == TARN_OK && !empty) {
        *is = !replace || tn_avro_member(&plan, "clusteringPlan") != NULL;
        out->groups = count_groups(&plan);
    }
done:
    return rc;
}

int tn_overview_services(tarn_cx *cx, tn_hudi_view *view, tarn_overview *face)
{
    const tn_timeline *timeline = &view->timeline;
    tarn_overview_service *made = NULL;
    size_t cap = 0;
    bool is = false;
    int rc = TARN_OK;

    for (size_t i = 0; i < timeline->count; i++) {
        if (!may_be_service(&timeline->instants[i]))
            continue;
        TN_TRY(tn_arena_grow(cx, &view->arena, &made, face->service_count, &cap, sizeof *made));
        TN_TRY(show_service(cx, view, &timeline->instants[i], &made[face->service_count], &is));
        face->service_count += is;
    }
    face->services = made;
done:
    return rc;
}

/* ---- the metadata table */

int tn_overview_metadata(tarn_cx *cx, tn_hudi_view *view, tarn_overview *face)
{
    tn_str rest = tn_properties_get(&view->config.all, "hoodie.table.metadata.partitions");
    const char **made = NULL;
    size_t cap = 0;
    int rc = TARN_OK;

    while (rest.len != 0) {
        size_t end = tn_str_find(rest, ',');
        tn_str name = {rest.ptr, end};

        rest = tn_str_from(rest, end + 1);
        if (name.len == 0)
            continue;
        TN_TRY(tn_arena_grow(cx, &view->arena, &made, face->metadata_partition_count, &cap,
                             sizeof *made));
        TN_TRY(tn_hudi_view_keep(cx, view, name, &made[face->metadata_partition_count]));
        face->metadata_partition_count++;
    }
    face->metadata_partitions = made;
done:
    return rc;
}

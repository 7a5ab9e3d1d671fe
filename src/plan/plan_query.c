/* Ranges of incremental and change queries.
 *
 * I1: ranges are open at the begin and closed at the end, in 1.2.0 and here, for all versions.
 * I2: layout 2: a commit is inside by its completion time; its rows are told by its requested time,
 *     which is what rows carry, from a set, not from bounds: a commit requested early and completed
 *     late is of the later range.
 * I3: layout 1: a commit is inside by its requested time. A commit that is not completed, with
 *     later ones that are, would be missed by the reader that goes on behind those: it is refused,
 *     as Hudi does by default. A range that begins before the timeline reads what the active
 *     commits wrote; rows of archived commits come along where they lie in such files.
 * I4: nothing is asked of the archive but requested and completion times of data commits.
 * I5: digits are an instant where they are a time of the calendar of 14 or 17 digits, or 8 for a
 *     date; else where the table's timeline has them, or where they begin with 0, which is before
 *     all. Others, such as milliseconds since 1970, would silently be before or after everything.
 */
#include "plan/plan_query.h"

#include <assert.h>
#include <string.h>

#include "batch/moment.h"

static bool digits_only(tn_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
    return text.len != 0;
}

static bool on_timeline(const tn_timeline *timeline, tn_str time)
{
    for (size_t i = 0; timeline != NULL && i < timeline->count; i++)
        if (tn_str_equal(timeline->instants[i].time, time) ||
            tn_str_equal(timeline->instants[i].completion, time))
            return true;
    return false;
}

/* Digits as an instant: I5. False where they are none. */
static int take_digits(tarn_cx *cx, const tn_timeline *timeline, tn_str typed, tn_arena *arena,
                       bool *taken, tn_str *out)
{
    tn_str kept = typed;
    int64_t ms;
    int rc = TARN_OK;

    *taken = true;
    if (typed.ptr[0] == '0' || on_timeline(timeline, typed) ||
        (typed.len == 17 && tn_instant_to_ms(typed, true, &ms))) {
        TN_TRY(tn_arena_keep(cx, arena, &kept));
        *out = kept;
        goto done;
    }
    if (typed.len == 14 && tn_instant_to_ms(typed, true, &ms))
        return tn_arena_print(cx, arena, out, "%.*s999", TN_STR_ARG(typed));
    if (typed.len == 8) {
        TN_TRY(tn_arena_print(cx, arena, &kept, "%.*s000000000", TN_STR_ARG(typed)));
        *taken = tn_instant_to_ms(kept, true, &ms);
        if (*taken)
            *out = kept;
        goto done;
    }
    *taken = false;
done:
    return rc;
}

int tn_query_instant(tarn_cx *cx, const tn_hudi_config *config, const tn_timeline *timeline,
                     const char *text, tn_arena *arena, tn_str *out)
{
    tn_str typed = tn_str_of(text);
    tn_moment moment;
    bool taken = false;
    int64_t ms;
    int rc = TARN_OK;

    if (digits_only(typed))
        TN_TRY(take_digits(cx, timeline, typed, arena, &taken, out));
    if (taken)
        goto done;
    if (digits_only(typed) || !tn_moment_parse(typed, &moment))
        TN_FAIL(TARN_E_INVALID,
                "\"%.*s\": neither an instant (20240512100000000, 20240512100000) nor a time "
                "(20240512, 2024-05-12, \"2024-05-12 10:00:00\", 2024-05-12T10:00:00.250Z)",
                TN_STR_ARG(typed));
    ms = moment.seconds * 1000 + moment.nanos / 1000000;
    /* Without a fraction the whole second is meant, as by an instant of seconds. */
    if (moment.has_time && memchr(typed.ptr, '.', typed.len) == NULL)
        ms += 999;
    TN_TRY(tn_instant_of_ms(cx, arena, ms, moment.has_zone ? config->utc : true, out));
done:
    return rc;
}

static bool is_data(const tn_instant *instant)
{
    return tn_instant_writes_data(instant) && instant->state == TN_STATE_COMPLETED;
}

/* The first completed data commit; {NULL, 0}: none. */
static tn_str first_commit(const tn_timeline *timeline)
{
    for (size_t i = 0; i < timeline->count; i++)
        if (is_data(&timeline->instants[i]))
            return timeline->instants[i].time;
    return (tn_str){NULL, 0};
}

bool tn_query_range_needs(const tn_timeline *timeline, tn_str since, tn_str until)
{
    tn_str first = timeline->start;
    int64_t since_ms, first_ms;

    if (first.len == 0)
        return false;
    if (since.len == 0)
        return until.len != 0;
    if (tn_str_compare(since, first) < 0)
        return true;
    /* An archived commit may have been completed after the first active one was requested; like
     * Hudi, no commit is taken to last longer than a day. */
    return tn_instant_to_ms(since, true, &since_ms) && tn_instant_to_ms(first, true, &first_ms) &&
           since_ms - first_ms < 24 * 3600 * INT64_C(1000);
}

static bool inside(tn_str time, tn_str since, tn_str until)
{
    return tn_str_compare(time, since) > 0 && (until.len == 0 || tn_str_compare(time, until) <= 0);
}

static size_t distinct(tn_str *times, size_t count)
{
    size_t kept = 0;

    tn_str_sort(times, count);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || !tn_str_equal(times[kept - 1], times[i]))
            times[kept++] = times[i];
    return kept;
}

/* Appends requested times of the data commits of a timeline that are inside; *before: one is not
 * after `since`. */
static size_t collect(const tn_timeline *timeline, bool completion, tn_str since, tn_str until,
                      tn_str *times, size_t count, bool *before)
{
    for (size_t i = 0; i < timeline->count; i++) {
        const tn_instant *instant = &timeline->instants[i];
        tn_str time = completion ? instant->completion : instant->time;

        if (!is_data(instant))
            continue;
        *before |= tn_str_compare(time, since) <= 0;
        if (inside(time, since, until))
            times[count++] = instant->time;
    }
    return count;
}

/* Whether a commit is on the active timeline as well: archiving writes first and removes then. */
static bool is_active(const tn_timeline *timeline, const tn_instant *instant)
{
    const tn_instant *found = tn_timeline_find(timeline, instant->time, instant->action);

    return found != NULL && found->state == TN_STATE_COMPLETED;
}

static bool has_archived(const tn_timeline *timeline, const tn_timeline *archive, bool completion,
                         tn_str since, tn_str until)
{
    for (size_t i = 0; archive != NULL && i < archive->count; i++) {
        const tn_instant *instant = &archive->instants[i];

        if (is_data(instant) && !is_active(timeline, instant) &&
            inside(completion ? instant->completion : instant->time, since, until))
            return true;
    }
    return false;
}

static int check(tarn_cx *cx, const tn_hudi_config *config, tn_str since, tn_str until)
{
    if (!config->meta_fields)
        return tn_fail(cx, TARN_E_UNSUPPORTED,
                       "table %.*s: its rows do not say which commit wrote them "
                       "(hoodie.populate.meta.fields=false): incremental and change queries need "
                       "that",
                       TN_STR_ARG(config->name));
    if (until.len != 0 && tn_str_compare(since, until) > 0)
        return tn_fail(cx, TARN_E_INVALID, "since %.*s until %.*s: the range ends before it begins",
                       TN_STR_ARG(since), TN_STR_ARG(until));
    return TARN_OK;
}

/* The instants of a range, by completion or requested time, into *out. */
static int fill(tarn_cx *cx, const tn_timeline *timeline, const tn_timeline *archive,
                bool completion, tn_str since, tn_str until, tn_arena *arena, tn_query_range *out)
{
    size_t room = timeline->count + (archive != NULL ? archive->count : 0);
    tn_str *active = tn_arena_array(cx, arena, timeline->count, sizeof *active);
    tn_str *all = tn_arena_array(cx, arena, room, sizeof *all);
    bool before = false;
    size_t count;

    if (active == NULL || all == NULL)
        return TARN_E_NOMEM;
    count = collect(timeline, completion, since, until, active, 0, &before);
    out->active_count = distinct(active, count);
    if (count != 0)
        memcpy(all, active, out->active_count * sizeof *all);
    count = out->active_count;
    if (archive != NULL)
        count = collect(archive, completion, since, until, all, count, &before);
    out->instant_count = distinct(all, count);
    out->active = active;
    out->instants = all;
    out->archived = has_archived(timeline, archive, completion, since, until);
    out->empty = out->instant_count == 0;
    if (!out->empty)
        out->until = all[out->instant_count - 1];
    /* All that there is: no row is left out, not even of instants that nobody knows any more. */
    out->from_start = !out->empty && !before && until.len == 0;
    return TARN_OK;
}

/* ---- layout 1 ---- */

/* Whether a pending instant is one that rows are waited for: no compaction, no clustering, whose
 * inflight file is empty, unlike that of an overwrite. */
static bool is_hollow(const tn_instant *instant)
{
    if (!tn_instant_writes_data(instant) || instant->state == TN_STATE_COMPLETED ||
        tn_str_is(instant->word, "compaction") || tn_str_is(instant->word, "logcompaction"))
        return false;
    return instant->action != TN_ACTION_REPLACE ||
           (instant->state == TN_STATE_INFLIGHT && instant->size_bytes != 0);
}

/* A pending commit with completed ones after it. */
static const tn_instant *hollow(const tn_timeline *timeline)
{
    tn_str last = tn_timeline_last_commit(timeline);

    for (size_t i = 0; i < timeline->count; i++) {
        const tn_instant *instant = &timeline->instants[i];

        if (is_hollow(instant))
            return tn_str_compare(instant->time, last) < 0 ? instant : NULL;
    }
    return NULL;
}

static int find_requested(tarn_cx *cx, const tn_timeline *timeline, const tn_timeline *archive,
                          tn_str since, tn_str until, tn_arena *arena, tn_query_range *out)
{
    const tn_instant *pending = hollow(timeline);
    tn_str first = first_commit(timeline);
    bool begins_before = tn_str_compare(since, first) < 0;
    bool ends_before = until.len != 0 && tn_str_compare(until, first) < 0;
    int rc = TARN_OK;

    if (pending != NULL && inside(pending->time, since, until))
        TN_FAIL(TARN_E_CONFLICT,
                "hollow commit %.*s: it is not completed, commits after it are, and who reads on "
                "behind those would miss its rows: wait for it or roll it back, or end the range "
                "before it (--until)",
                TN_STR_ARG(pending->time));
    TN_TRY(fill(cx, timeline, NULL, false, since,
                begins_before && ends_before ? (tn_str){0} : until, arena, out));
    if (out->empty)
        goto done;
    out->by_bounds = true;
    out->rows_after = since;
    out->rows_until = ends_before ? until : out->until;
    out->from_start = since.len == 0 && until.len == 0;
    if (!out->from_start && begins_before && archive != NULL && archive->count != 0)
        TN_TRY(
            tn_arena_print(cx, arena, &out->note,
                           "the range begins before the active timeline (%.*s): like Hudi 1.2.0 "
                           "on tables of version 6, only files that were written since are read; "
                           "leave --since out for every row",
                           TN_STR_ARG(first)));
done:
    return rc;
}

int tn_query_range_find(tarn_cx *cx, const tn_hudi_config *config, const tn_timeline *timeline,
                        const tn_timeline *archive, tn_str since, tn_str until, tn_arena *arena,
                        tn_query_range *out)
{
    tn_query_range made = {0};
    int rc = TARN_OK;

    assert(out != NULL);
    TN_TRY(check(cx, config, since, until));
    if (timeline->layout == 1)
        TN_TRY(find_requested(cx, timeline, archive, since, until, arena, &made));
    else
        TN_TRY(fill(cx, timeline, archive, true, since, until, arena, &made));
    *out = made;
done:
    return rc;
}

int tn_query_changes_find(tarn_cx *cx, const tn_hudi_config *config, const tn_timeline *timeline,
                          const tn_timeline *archive, tn_str since, tn_str until, tn_arena *arena,
                          tn_query_range *out)
{
    tn_query_range made = {0};
    int rc = TARN_OK;

    assert(out != NULL);
    TN_TRY(check(cx, config, since, until));
    if (has_archived(timeline, archive, false, since, (tn_str){0}))
        TN_FAIL(TARN_E_INVALID,
                "change data since \"%.*s\": the range has to begin in the active timeline, which "
                "begins with %.*s: what is older is archived; give a later --since",
                TN_STR_ARG(since), TN_STR_ARG(first_commit(timeline)));
    TN_TRY(fill(cx, timeline, NULL, false, since, until, arena, &made));
    made.from_start = false;
    *out = made;
done:
    return rc;
}

/* ---- what is read ---- */

void tn_query_range_slices(const tn_query_range *range, tn_slices_options *options)
{
    assert(!range->empty);
    if (range->from_start || range->archived)
        return;
    options->as_of = range->until;
    options->written_by = range->active;
    options->written_by_count = range->active_count;
}

int tn_query_range_instants(tarn_cx *cx, const tn_timeline *timeline, const tn_query_range *range,
                            bool whole, tn_arena *arena, tn_slice_instants *out)
{
    tn_slice_instants made = {
        .instants = range->active, .count = range->active_count, .until = range->until};

    assert(!range->empty);
    if (whole || range->from_start || range->archived)
        return tn_slices_instants(cx, timeline, (tn_str){0}, arena, out);
    /* Blocks of archived commits lie in files that active ones appended to (I3). */
    made.exact = !range->by_bounds || timeline->start.len == 0 ||
                 tn_str_compare(range->rows_after, timeline->start) >= 0;
    if (!made.exact)
        made.start = timeline->start;
    *out = made;
    return TARN_OK;
}

/* One file group: which slices it has, which logs are whose, and which slice readers see
 * (HoodieFileGroup, CompletionTimeQueryView, AbstractTableFileSystemView of 1.2.0).
 *
 * I1: a slice is keyed by the instant of its base file, by the instant of a pending compaction, or,
 *     where there was none for it, by the instant of its first log.
 * I2: a log joins the slice with the greatest key not greater than the completion time of the
 *     log's instant: the delta commit that wrote it; below version 8, where names have the base
 *     instant, that one, completed when its file was last modified. Logs are placed in Hudi's
 *     order, all of them whatever time is asked for, so that a log of a later slice is never seen
 *     in an earlier one.
 * I3: what is not completed makes no slice, but for a pending compaction. (Hudi lets the base file
 *     of a failed write make one, and then hides the rows of later, completed logs that join it,
 *     until the write is rolled back: committed rows are given here.)
 * I4: the slice of a pending compaction has no base file yet, whatever lies there; it is read
 *     together with the slice before. */
#include <assert.h>
#include <stdlib.h>

#include "table/slices_parts.h"

#define TN_SLICES_TEST_DIGITS 10 /* shorter instants are those of tests: they are counters */

/* The keys of a group's slices, ascending. */
typedef struct slice_key {
    tn_str instant;
    const tn_slices_file *base;
} slice_key;

typedef struct placing {
    const tn_slices_rule *rule;
    tn_str compaction;
    slice_key *keys;
    size_t count, cap;
} placing;

int tn_slices_file_order(const void *a, const void *b)
{
    const tn_data_name *x = &((const tn_slices_file *)a)->parts;
    const tn_data_name *y = &((const tn_slices_file *)b)->parts;
    int order = tn_str_compare(x->file_id, y->file_id);

    if (order == 0)
        order = (int)x->log - (int)y->log;
    return order != 0 ? order : tn_data_name_order(x, y);
}

static bool up_to(const tn_slices_rule *rule, tn_str instant)
{
    return rule->as_of.len == 0 || tn_str_compare(instant, rule->as_of) <= 0;
}

/* The number of keys not greater than `instant`. */
static size_t keys_up_to(const placing *p, tn_str instant)
{
    size_t low = 0, high = p->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (tn_str_compare(p->keys[middle].instant, instant) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int add_key(tarn_cx *cx, placing *p, tn_str instant, const tn_slices_file *base)
{
    size_t at = keys_up_to(p, instant);
    int rc = TARN_OK;

    if (at != 0 && tn_str_equal(p->keys[at - 1].instant, instant))
        return TARN_OK;
    TN_TRY(tn_grow(cx, &p->keys, p->count, &p->cap, sizeof *p->keys));
    memmove(p->keys + at + 1, p->keys + at, (p->count - at) * sizeof *p->keys);
    p->keys[at] = (slice_key){instant, base};
    p->count++;
done:
    return rc;
}

/* When the log's instant was completed; empty: it is not, or it is not known. */
static int completion_of(tarn_cx *cx, const placing *p, tn_str instant, tn_str *out)
{
    const tn_timeline *timeline = p->rule->timeline;
    tn_str newest = p->keys[p->count - 1].instant, found = {NULL, 0};
    bool archived;
    int rc = TARN_OK;

    if (timeline->layout == 1 && instant.len < TN_SLICES_TEST_DIGITS) {
        *out = instant;
        return TARN_OK;
    }
    found = tn_timeline_completion(timeline, instant);
    archived =
        found.len == 0 && timeline->start.len != 0 && tn_str_compare(instant, timeline->start) < 0;
    /* Of an archived instant layout 1 keeps no completion time; of layout 2 the archive is asked
     * where the answer matters. */
    if (archived && timeline->layout == 2 && p->rule->archived != NULL &&
        tn_str_compare(newest, instant) > 0)
        TN_TRY(p->rule->archived(cx, p->rule->arg, instant, &found));
    if (archived && found.len == 0)
        found = instant;
    /* Times of tests do not compare with clocks; Hudi looks at the lengths, too. */
    if (found.len != 0 && found.len != newest.len)
        found = instant;
    *out = found;
done:
    return rc;
}

/* I2. */
static int place_log(tarn_cx *cx, placing *p, tn_slices_file *log)
{
    tn_str own = log->parts.instant, completion;
    bool by_name = p->rule->timeline->layout == 1 && p->rule->v6_slices == TN_V6_SLICES_INSTANT;
    size_t n;
    int rc = TARN_OK;

    log->slice = own;
    if (p->count == 0 || by_name)
        return add_key(cx, p, own, NULL);
    TN_TRY(completion_of(cx, p, own, &completion));
    n = completion.len != 0 ? keys_up_to(p, completion) : p->count;
    if (n == 0)
        TN_TRY(add_key(cx, p, own, NULL));
    else
        log->slice = p->keys[n - 1].instant;
done:
    return rc;
}

static bool is_compaction(const placing *p, const slice_key *key)
{
    return p->compaction.len != 0 && tn_str_equal(key->instant, p->compaction);
}

static bool visible(const placing *p, const slice_key *key)
{
    return key->base != NULL || is_compaction(p, key) ||
           tn_timeline_shows(p->rule->timeline, key->instant);
}

/* The last visible key before number `end`; NULL: none. */
static const slice_key *last_visible(const placing *p, size_t end)
{
    while (end-- != 0)
        if (visible(p, &p->keys[end]))
            return &p->keys[end];
    return NULL;
}

static void pick(const placing *p, tn_slices_made *out)
{
    size_t end = p->rule->as_of.len != 0 ? keys_up_to(p, p->rule->as_of) : p->count;
    const slice_key *key = last_visible(p, end), *before = NULL;

    if (key == NULL)
        return;
    out->any = true;
    out->from = key->instant;
    out->base = key->base;
    if (is_compaction(p, key))
        before = last_visible(p, (size_t)(key - p->keys));
    if (before == NULL)
        return;
    out->before = before->instant;
    out->base = before->base;
}

int tn_slices_group_make(tarn_cx *cx, const tn_slices_rule *rule, tn_slices_file *files,
                         size_t count, const tn_slices_group *group, tn_slices_made *out)
{
    placing p = {.rule = rule};
    tn_slices_made made = {0};
    int rc = TARN_OK;

    if (group != NULL)
        p.compaction = group->compaction;
    for (size_t i = 0; i < count && !files[i].parts.log; i++)
        if (tn_timeline_shows(rule->timeline, files[i].parts.instant))
            TN_TRY(add_key(cx, &p, files[i].parts.instant, &files[i]));
    if (p.compaction.len != 0)
        TN_TRY(add_key(cx, &p, p.compaction, NULL));
    for (size_t i = 0; i < count; i++) {
        if (!files[i].parts.log)
            continue;
        TN_TRY(place_log(cx, &p, &files[i]));
        if (tn_str_equal(files[i].slice, files[i].parts.instant) || rule->timeline->layout == 2)
            continue;
        made.moved_log = made.moved++ == 0 ? &files[i] : made.moved_log;
    }
    pick(&p, &made);
    *out = made;
done:
    free(p.keys);
    return rc;
}

bool tn_slices_made_has(const tn_slices_rule *rule, const tn_slices_made *made,
                        const tn_slices_file *log)
{
    assert(log->parts.log);
    if (!made->any || (rule->timeline->layout == 2 && !up_to(rule, log->parts.instant)))
        return false;
    return tn_str_equal(log->slice, made->from) ||
           (made->before.len != 0 && tn_str_equal(log->slice, made->before));
}

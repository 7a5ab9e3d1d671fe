/* Which slices count as small: for Hudi's partitioners (format/writes.md 2.3.2a and 2.4), and by
 * real bytes.
 * I1: the snapshot's order is kept, but for merge-on-read tables whose index does not see logs:
 *     there the smallest come first, and few are taken.
 * I2: with that index no slice that has logs is a candidate: it would be rewritten without them.
 * I3: by real bytes the smallest comes first, and a file has room only when a sixteenth of the
 *     target is missing in it. What was cut at the target comes out a little above or below, and is
 *     not rewritten for that, whatever the limit. */
#include <stdlib.h>

#include "plan/upsert_parts.h"

#define ROOM_SHARE 16 /* I3 */

static uint64_t log_bytes_of(const tn_upsert_in *in, size_t file)
{
    return in->log_bytes != NULL ? in->log_bytes[file] : 0;
}

/* What a slice counts for: its base file, and what its logs would take as Parquet. */
static uint64_t bytes_of(const tn_upsert_options *options, const tn_upsert_in *in, size_t file)
{
    double logs = (double)log_bytes_of(in, file) * options->log_ratio;
    uint64_t bytes = in->files[file]->size_bytes;

    if (!options->merge_on_read || logs <= 0)
        return bytes;
    if (logs >= 0x1p62)
        return UINT64_MAX;
    return bytes + (uint64_t)logs;
}

static bool is_candidate(const tn_upsert_options *options, const tn_upsert_in *in, size_t file,
                         uint64_t bytes)
{
    if (!options->merge_on_read || !options->index_sees_logs)
        return bytes < (uint64_t)options->sizing.small_file_bytes &&
               (!options->merge_on_read || log_bytes_of(in, file) == 0); /* I2 */
    return bytes < options->sizing.max_file_bytes;
}

static int by_size(const void *a, const void *b)
{
    const tn_upsert_candidate *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

int tn_upsert_candidates(tarn_cx *cx, const tn_upsert_planning *p, const tn_upsert_in *in,
                         tn_upsert_candidate **out, size_t *count)
{
    const tn_upsert_options *o = p->options;
    tn_upsert_candidate *list = tn_arena_array(cx, p->arena, in->file_count, sizeof *list);
    size_t n = 0;

    if (list == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; o->sizing.small_file_bytes > 0 && i < in->file_count; i++) {
        uint64_t bytes = bytes_of(o, in, i);

        if (is_candidate(o, in, i, bytes))
            list[n++] = (tn_upsert_candidate){in->files[i], bytes, i};
    }
    if (o->merge_on_read && !o->index_sees_logs) { /* I1 */
        qsort(list, n, sizeof *list, by_size);
        if (n > o->candidates_max)
            n = o->candidates_max;
    }
    *out = list;
    *count = n;
    return TARN_OK;
}

static bool is_small(const tn_sizing *sizing, uint64_t bytes)
{
    uint64_t target = sizing->max_file_bytes;

    return sizing->small_file_bytes > 0 && bytes < (uint64_t)sizing->small_file_bytes &&
           bytes < target - target / ROOM_SHARE;
}

int tn_upsert_candidates_real(tarn_cx *cx, const tn_upsert_planning *p, const tn_upsert_in *in,
                              tn_upsert_candidate **out, size_t *count)
{
    tn_upsert_candidate *list = tn_arena_array(cx, p->arena, in->file_count, sizeof *list);
    size_t n = 0;

    if (list == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < in->file_count; i++) {
        uint64_t bytes = tn_upsert_file_bytes(in->files[i]);

        if (is_small(&p->options->sizing, bytes) && log_bytes_of(in, i) == 0 /* I2 */)
            list[n++] = (tn_upsert_candidate){in->files[i], bytes, i};
    }
    qsort(list, n, sizeof *list, by_size);
    *out = list;
    *count = n;
    return TARN_OK;
}

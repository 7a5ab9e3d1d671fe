/* How many files come out: a matter of size alone.
 * I1: a group is only rewritten when the number of its files drops.
 * I2: what one earlier merge wrote of one group is left alone unless something came to it since: a
 *     new fragment, or what a merge wrote of another group that can join it now (--widen). */
#include "plan/merge_parts.h"

static size_t by_size(const tn_merge_planning *p, const tn_merge_group *group)
{
    /* ceil(total / 1.2 target) in whole numbers */
    unsigned __int128 total = (unsigned __int128)group->bytes * 10, each = p->target;
    unsigned __int128 files;

    each *= 12;
    files = (total + each - 1) / each;
    if (group->file_count < p->min_files || !group->fresh)
        return 0;
    if (files == 0)
        files = 1;
    return files < group->file_count ? (size_t)files : 0;
}

/* Spreads `file_count` over the groups by bytes, at least one each. */
static void by_count(const tn_merge_planning *p, tn_merge_group *groups, size_t count)
{
    size_t files = 0, left = p->options->file_count, spare;
    uint64_t bytes = 0;

    for (size_t i = 0; i < count; i++) {
        files += groups[i].file_count;
        bytes += groups[i].bytes;
    }
    if (files <= left)
        return;
    spare = left > count ? left - count : 0;
    for (size_t i = 0; i < count; i++) {
        size_t more = bytes != 0 ? (size_t)((unsigned __int128)spare * groups[i].bytes / bytes) : 0;

        groups[i].outputs = 1 + more;
    }
    /* What rounding left goes to the first group that can use it. */
    for (size_t i = 0, used = 0; i < count; i++) {
        if (i == 0)
            for (size_t k = 0; k < count; k++)
                used += groups[k].outputs;
        while (used < left && groups[i].outputs < groups[i].file_count)
            groups[i].outputs++, used++;
    }
    for (size_t i = 0; i < count; i++)
        if (groups[i].outputs >= groups[i].file_count)
            groups[i].outputs = 0;
}

int tn_merge_count_outputs(tarn_cx *cx, const tn_merge_planning *p, tn_merge_group *groups,
                           size_t count)
{
    (void)cx;
    if (p->options->file_count != 0)
        by_count(p, groups, count);
    else
        for (size_t i = 0; i < count; i++)
            groups[i].outputs = by_size(p, &groups[i]);
    return TARN_OK;
}

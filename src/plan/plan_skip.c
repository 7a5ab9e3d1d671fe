/* Which slices of a table a filter need not read.
 *
 * I1: a slice is dropped only when for all of its files, base and logs, there are statistics that
 *     rule the filter out; what has none is read.
 * I2: a row that is merged may take its columns from several files, so each test of the filter is
 *     asked of all files of a slice, and only then are the answers joined. */
#include "plan/plan_skip.h"

#include <assert.h>
#include <stdlib.h>

#include "base/map.h"

typedef struct skip {
    const tn_filter *filter;
    const tn_skip_column *columns;
    const tn_slices *slices;
    const tn_str *hashes;
    bool logs;
    tn_map *files; /* of each column: "<hash of partition>/<name>" -> number of its record */
    tn_arena arena;
    tn_buf key;
    tn_filter_range *ranges; /* of a slice: a set per file */
    size_t cap;
} skip;

bool tn_plan_skip_column(const tn_filter_column *column)
{
    static const char meta[] = "_hoodie_";

    return column->path_count != 0 && !column->type.dictionary &&
           !tn_str_starts(column->path[0], (tn_str){meta, sizeof meta - 1});
}

static tn_str file_key(skip *s, tn_str hash, tn_str name)
{
    tn_buf_reset(&s->key);
    tn_buf_str(&s->key, hash);
    tn_buf_u8(&s->key, '/');
    tn_buf_str(&s->key, name);
    return tn_buf_view(&s->key);
}

/* Of two records of one name none counts: which of them is right is not known. */
static int add_key(tarn_cx *cx, skip *s, tn_map *map, tn_str key, size_t number)
{
    size_t *place;
    bool added;
    int rc = TARN_OK;

    TN_TRY(tn_buf_check(cx, &s->key));
    place = tn_map_find(map, key);
    if (place != NULL) {
        *place = SIZE_MAX;
        goto done;
    }
    TN_TRY(tn_arena_keep(cx, &s->arena, &key));
    place = tn_map_add(cx, map, key, &added);
    if (place == NULL)
        TN_TRY(TARN_E_NOMEM);
    *place = number;
done:
    return rc;
}

static int index_column(tarn_cx *cx, skip *s, size_t c)
{
    const tn_skip_column *column = &s->columns[c];
    int rc = TARN_OK;

    for (size_t i = 0; column->usable && i < column->count; i++)
        TN_TRY(add_key(cx, s, &s->files[c],
                       file_key(s, column->stats[i].partition_hash, column->stats[i].file), i));
done:
    return rc;
}

static void range_of(const skip *s, size_t c, tn_str key, tn_filter_range *out)
{
    const size_t *place = tn_map_find(&s->files[c], key);

    *out = (tn_filter_range){.entries = -1};
    if (place != NULL && *place != SIZE_MAX)
        tn_plan_skip_range(&s->filter->columns[c], &s->columns[c].stats[*place], out);
}

/* The ranges of one file, as set number `set`. */
static void fill_set(skip *s, size_t set, tn_str hash, tn_str name)
{
    size_t count = s->filter->column_count;

    for (size_t c = 0; c < count; c++) {
        tn_filter_range *out = &s->ranges[set * count + c];

        *out = (tn_filter_range){.entries = -1};
        if (tn_plan_skip_column(&s->filter->columns[c]) && s->columns[c].usable)
            range_of(s, c, file_key(s, hash, name), out);
    }
}

static int need_sets(tarn_cx *cx, skip *s, size_t sets)
{
    size_t want = sets * s->filter->column_count + 1;
    tn_filter_range *made;

    if (want <= s->cap)
        return TARN_OK;
    made = tn_realloc(cx, s->ranges, want, sizeof *made);
    if (made == NULL)
        return TARN_E_NOMEM;
    s->ranges = made;
    s->cap = want;
    return TARN_OK;
}

static int judge(tarn_cx *cx, skip *s, const tn_slice *slice, bool *may)
{
    tn_str hash = s->hashes[slice->base.partition];
    size_t sets = 0;
    int rc = TARN_OK;

    *may = true;
    TN_TRY(need_sets(cx, s, slice->log_count + 1));
    if (slice->base.name.len != 0)
        fill_set(s, sets++, hash, slice->base.name);
    if (slice->log_count != 0 && !s->logs)
        goto done;
    for (size_t i = 0; i < slice->log_count; i++)
        fill_set(s, sets++, hash, slice->logs[i].name);
    TN_TRY(tn_buf_check(cx, &s->key));
    *may = sets == 0 || tn_filter_range_may(s->filter, s->ranges, sets);
done:
    return rc;
}

int tn_plan_skip_slices(tarn_cx *cx, const tn_filter *filter, const tn_skip_column *columns,
                        const tn_slices *slices, const tn_str *hashes, bool logs, uint8_t *keep,
                        size_t *dropped)
{
    skip s = {
        .filter = filter, .columns = columns, .slices = slices, .hashes = hashes, .logs = logs};
    size_t n = 0;
    bool may;
    int rc = TARN_OK;

    assert(filter != NULL && keep != NULL && dropped != NULL);
    s.files = tn_calloc(cx, filter->column_count + 1, sizeof *s.files);
    if (s.files == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t c = 0; c < filter->column_count; c++)
        TN_TRY(index_column(cx, &s, c));
    for (size_t i = 0; i < slices->slice_count; i++) {
        if (keep[i] == 0)
            continue;
        TN_TRY(judge(cx, &s, &slices->slices[i], &may));
        if (may)
            continue;
        keep[i] = 0;
        n++;
    }
    *dropped = n;
done:
    for (size_t c = 0; s.files != NULL && c < filter->column_count; c++)
        tn_map_clear(&s.files[c]);
    free(s.files);
    free(s.ranges);
    tn_buf_clear(&s.key);
    tn_arena_clear(&s.arena);
    return rc;
}

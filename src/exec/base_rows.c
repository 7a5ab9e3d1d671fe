/* Kept rows and rows that come in, put together in the order of the file.
 *
 * I1: long runs go into the file as they are; short ones are gathered into one batch first, column
 *     by column. The file's bytes follow from the rows, not from which way was taken.
 * I2: columns that are made here are touched on neither side. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/pool.h"
#include "batch/array.h"
#include "batch/gather.h"
#include "exec/base_state.h"

#define LONG_RUN_ROWS 1024

static struct ArrowArray slice(const struct ArrowArray *rows, int64_t first, int64_t count)
{
    struct ArrowArray part = *rows;

    part.offset += first;
    part.length = count;
    part.null_count = 0;
    return part;
}

static int put_apart(tarn_cx *cx, tn_base_writer *w, const struct ArrowArray *held,
                     const struct ArrowArray *incoming, const tn_base_run *runs, size_t count)
{
    int rc = TARN_OK;

    for (size_t i = 0; i < count; i++) {
        struct ArrowArray part =
            slice(runs[i].incoming ? incoming : held, runs[i].first, runs[i].count);

        if (runs[i].incoming)
            TN_TRY(tn_base_put_new(cx, w, &part));
        else
            TN_TRY(tn_base_put_kept(cx, w, &part));
    }
done:
    return rc;
}

/* --- gathered --- */

typedef struct mixture {
    tn_base_writer *w;
    const struct ArrowArray *held, *incoming;
    struct ArrowArray times, sequences; /* of the rows that come in, in their order */
    const tn_base_run *runs;
    size_t count;
    struct ArrowArray *out;
} mixture;

/* `count` texts as a utf8 array: `text`, and behind it numbers from `first` on where that is not
 * negative. */
static int spell(tarn_cx *cx, tn_str text, int64_t first, int64_t count, struct ArrowArray *out)
{
    tn_block offsets = {0}, data = {0};
    int32_t *end;
    int rc = TARN_OK;

    TN_TRY(tn_array_init(cx, out, count, 3, 0));
    TN_TRY(tn_block_reserve(cx, &offsets, ((size_t)count + 1) * 4));
    TN_TRY(tn_block_reserve(cx, &data, (size_t)count * (text.len + 20)));
    offsets.len = ((size_t)count + 1) * 4;
    end = (int32_t *)(void *)offsets.data;
    *end = 0;
    for (int64_t i = 0; i < count; i++) {
        char digits[24];
        size_t len = 0;

        if (first >= 0)
            len = (size_t)snprintf(digits, sizeof digits, "%" PRId64, first + i);
        memcpy(data.data + data.len, text.ptr, text.len);
        memcpy(data.data + data.len + text.len, digits, len);
        data.len += text.len + len;
        *++end = (int32_t)data.len;
    }
    TN_TRY(tn_array_take_block(cx, out, 1, &offsets));
    TN_TRY(tn_array_take_block(cx, out, 2, &data));
done:
    tn_block_clear(&offsets);
    tn_block_clear(&data);
    return rc;
}

static int gather_column(tarn_cx *cx, size_t column, void *arg)
{
    const mixture *m = arg;
    const tn_base_job *job = m->w->job;
    tn_gather_part *parts = NULL;
    int64_t numbered = 0;
    int rc = TARN_OK;

    if (tn_base_is_made(job, (int64_t)column)) /* I2 */
        return TARN_OK;
    parts = tn_calloc(cx, m->count, sizeof *parts);
    if (parts == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < m->count; i++) {
        const tn_base_run *run = &m->runs[i];
        const struct ArrowArray *rows = run->incoming ? m->incoming : m->held;
        bool own = run->incoming && (column == TN_META_COMMIT_TIME || column == TN_META_SEQUENCE);

        parts[i] = (tn_gather_part){.array = rows->children[column], .count = run->count};
        parts[i].first = rows->offset + rows->children[column]->offset + run->first;
        if (own) {
            parts[i].array = column == TN_META_COMMIT_TIME ? &m->times : &m->sequences;
            parts[i].first = numbered;
        }
        numbered += run->incoming ? run->count : 0;
    }
    TN_TRY(tn_gather(cx, job->schema->children[column], parts, m->count, m->out->children[column]));
done:
    free(parts);
    return rc;
}

int tn_base_mix_runs(tarn_cx *cx, tn_base_writer *w, const struct ArrowArray *held,
                     const struct ArrowArray *incoming, const tn_base_run *runs, size_t count,
                     struct ArrowArray *out)
{
    struct ArrowArray rows = {0};
    mixture m = {.w = w, .held = held, .incoming = incoming, .runs = runs, .count = count};
    int64_t all = 0, numbered = 0;
    int rc = TARN_OK;

    for (size_t i = 0; i < count; i++) {
        all += runs[i].count;
        numbered += runs[i].incoming ? runs[i].count : 0;
    }
    m.out = &rows;
    TN_TRY(spell(cx, w->job->instant, -1, numbered, &m.times));
    TN_TRY(spell(cx, w->sequence, w->next, numbered, &m.sequences));
    TN_TRY(tn_array_init(cx, &rows, all, 1, (size_t)w->job->schema->n_children));
    TN_TRY(tn_parallel(cx, (size_t)w->job->schema->n_children, gather_column, &m));
    w->next += numbered;
    tn_array_move(&rows, out);
done:
    tn_array_release(&m.times);
    tn_array_release(&m.sequences);
    tn_array_release(&rows);
    return rc;
}

static int put_mixed(tarn_cx *cx, tn_base_writer *w, const struct ArrowArray *held,
                     const struct ArrowArray *incoming, const tn_base_run *runs, size_t count)
{
    struct ArrowArray rows = {0};
    int rc = TARN_OK;

    TN_TRY(tn_base_mix_runs(cx, w, held, incoming, runs, count, &rows));
    TN_TRY(tn_base_put_kept(cx, w, &rows));
done:
    tn_array_release(&rows);
    return rc;
}

int tn_base_put_runs(tarn_cx *cx, tn_base_writer *w, const struct ArrowArray *held,
                     const struct ArrowArray *incoming, const tn_base_run *runs, size_t count)
{
    int64_t rows = 0;

    for (size_t i = 0; i < count; i++)
        rows += runs[i].count;
    if (count <= 1 || rows / (int64_t)count >= LONG_RUN_ROWS)
        return put_apart(cx, w, held, incoming, runs, count);
    return put_mixed(cx, w, held, incoming, runs, count);
}

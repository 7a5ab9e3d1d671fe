/* The dictionaries of a join.
 *
 * I1: that indices run 0, 1, 2 … is seen, never assumed.
 * I2: one look-up per value of a dictionary, none per row.
 * I3: what a part brought is taken out of the output's dictionary again when the part does not go
 *     by it. */
#include "codec/parquet/chunk_join_state.h"

#include "codec/parquet/leaf_dictionary.h"

enum {
    WINDOW = 65536,
    /* Beyond these a page that holds all would be too large. */
    SEQUENCE_ENTRIES_MAX = 1 << 20,
    SEQUENCE_BYTES_MAX = 8 << 20,
    /* So many values tell whether a dictionary pays; fewer do not. */
    TRIAL_VALUES = 20000,
    TRIAL_VALUES_MAX = 200000
};

/* ---- values that stand for themselves ---- */

static bool may_run(const tn_chunk_join *join)
{
    const tn_page_header *h = &join->dictionary_page.header;

    return join->has_dictionary && join->coded_count == join->page_count && join->nulls >= 0 &&
           h->values > 0 && h->values == join->entries - join->nulls &&
           join->entries <= SEQUENCE_ENTRIES_MAX && h->uncompressed_bytes <= SEQUENCE_BYTES_MAX &&
           (h->encoding == TN_ENC_PLAIN || h->encoding == TN_ENC_PLAIN_DICTIONARY);
}

static bool runs_from(const uint32_t *indices, size_t n, uint32_t first)
{
    uint32_t wrong = 0;

    for (size_t i = 0; i < n; i++)
        wrong |= indices[i] ^ (first + (uint32_t)i);
    return wrong == 0;
}

/* Page i, as long as its indices go on from *next. */
static int run_on(tarn_cx *cx, tn_chunk_join *join, size_t i, uint32_t *next, bool *runs)
{
    tn_join_page *page = tn_join_page_at(join, i);
    tn_values any = {"", join->dictionary_page.header.values};
    int rc = TARN_OK;

    tn_page_reader_stand(&join->pages, &page->header, page->at, page->number);
    TN_TRY(tn_leaf_page_open(cx, &join->pages, &any, &join->slot));
    while (*runs && tn_leaf_page_left(&join->slot) != 0) {
        tn_leaf_batch batch = {0};
        const uint32_t *indices;
        size_t n;

        TN_TRY(tn_join_fail(cx, tn_join_take_levels(cx, join, WINDOW, &batch), join, page));
        n = (size_t)batch.values.count;
        TN_TRY(tn_join_fail(
            cx, tn_decode_value_indices(cx, &join->slot.values, &join->indices, n, &indices), join,
            page));
        *runs = runs_from(indices, n, *next);
        *next += (uint32_t)n;
        TN_TRY(tn_join_gather(cx, join, &batch));
    }
    join->gathered.rows += *runs ? page->rows : 0;
done:
    return rc;
}

int tn_join_runs(tarn_cx *cx, tn_chunk_join *join, bool *runs)
{
    tn_pending *to = &join->gathered;
    uint32_t next = 0;
    int rc = TARN_OK;

    to->rows = to->entries = to->values = 0;
    to->leveled = false;
    tn_buf_reset(&to->def);
    tn_buf_reset(&to->rep);
    *runs = may_run(join);
    for (size_t i = 0; i < join->page_count && *runs; i++)
        TN_TRY(run_on(cx, join, i, &next, runs));
    *runs = *runs && to->values == join->dictionary_page.header.values;
done:
    return rc;
}

/* ---- the union ---- */

int tn_join_dictionary(tarn_cx *cx, tn_chunk_join *join)
{
    const tn_join_page *page = &join->dictionary_page;
    int rc = TARN_OK;

    if (join->values.data != NULL)
        return TARN_OK;
    tn_page_reader_stand(&join->pages, &page->header, page->at, page->number);
    TN_TRY(tn_page_reader_body(cx, &join->pages, &join->dictionary));
    rc = tn_join_fail(cx,
                      tn_leaf_dictionary_decode(cx, join->from, &join->dictionary,
                                                &join->dictionary_room, &join->values,
                                                &join->dictionary_id),
                      join, page);
done:
    return rc;
}

static bool all_same(const uint32_t *table, size_t n)
{
    return runs_from(table, n, 0);
}

/* The table from the part's dictionary to the output's; *all false when values did not fit. */
static int fill_table(tarn_cx *cx, tn_chunk_join *join, bool *all)
{
    tn_chunk_writer *w = join->writer;
    size_t n = (size_t)join->values.count, added = 0;
    uint64_t bytes_max = join->closed ? 0 : w->options.dictionary_bytes_max;
    uint32_t *table;
    int rc = TARN_OK;

    w->remap_id = 0;
    tn_buf_reset(&w->remap);
    table = (uint32_t *)(void *)tn_buf_extend(&w->remap, n * sizeof *table);
    TN_TRY(tn_buf_check(cx, &w->remap));
    if (n != 0 && !join->closed && w->dict.count == 0)
        TN_TRY(tn_dict_expect(cx, &w->dict, n));
    if (n != 0)
        TN_TRY(tn_dict_add(cx, &w->dict, join->values.data, n, bytes_max, table, &added));
    *all = added == n;
    join->same_indices = *all && all_same(table, n);
done:
    return rc;
}

/* Few values in the trial say nothing; many that hardly repeat say that a dictionary does not pay.
 */
static bool pays(const tn_chunk_join *join)
{
    const tn_chunk_writer *w = join->writer;
    int64_t seen = join->seen + (join->entries - (join->nulls >= 0 ? join->nulls : 0));

    if (join->splices || seen < TRIAL_VALUES / 4 || seen > TRIAL_VALUES_MAX || w->dict.count == 0)
        return true;
    return !tn_choice_outgrows(w, seen);
}

int tn_join_map(tarn_cx *cx, tn_chunk_join *join, bool *mapped)
{
    tn_chunk_writer *w = join->writer;
    uint32_t before = w->dict.count;
    bool all, keeps;
    int rc = TARN_OK;

    *mapped = false;
    if (w->options.no_dictionary || w->options.force_encoding || w->ready_dictionary)
        goto done;
    TN_TRY(tn_join_dictionary(cx, join));
    TN_TRY(fill_table(cx, join, &all));
    keeps = all && (join->closed || pays(join));
    if (!keeps) {
        /* A dictionary that is more than half full takes in no other of its kind. */
        join->closed |= all || w->dict.plain.len > w->options.dictionary_bytes_max / 2;
        w->remap_id = 0;
        if (before < w->dict.count)
            TN_TRY(tn_dict_truncate(cx, &w->dict, before));
        goto done;
    }
    w->remap_id = join->dictionary_id;
    w->dict_spare = true;
    join->seen += join->entries - (join->nulls >= 0 ? join->nulls : 0);
    *mapped = true;
done:
    return rc;
}

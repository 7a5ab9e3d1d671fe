/* Joins chunks: chooses a way for each part, and page by page.
 *
 *   part -> list its pages -> a reason against moving them?       yes: ENCODE, row by row
 *        -> by dictionary: do its values stand for themselves?    SEQUENCE, or REPACK when few
 *                          else are they in the output's (now)?   COPY where indices stay, else
 * REMAP else                                   ENCODE, values by index
 *        -> other pages:   tiny and PLAIN?                        REPACK
 *                          tiny otherwise?                        ENCODE, row by row
 *                          else                                   COPY; REPACK for another codec
 *
 * Tiny pages become rows of pages of normal size: by index in pages under the output's dictionary,
 * by PLAIN bytes in others, which the writer encodes as it finds best.
 *
 * I1: rows leave in the order in which their parts were added, and a part is added whole or the
 *     join is of no use any more.
 * I2: counts are added to the caller's at the end only.
 * I3: nothing is pending when pages that go by the output's dictionary are moved, so that the
 *     writer cannot give that dictionary up meanwhile. */
#include <inttypes.h>
#include <stdlib.h>

#include "codec/parquet/chunk_join_state.h"
#include "codec/parquet/leaf_read.h"

enum {
    BATCH_ROWS = 65536,
    /* A page costs a reader a header and a call of the codec: what a thousand values cost. */
    TINY_VALUES = 1024,
    SMALL_VALUES = 4096,
    SMALL_BYTES = 8192,
    /* The first page of rows by dictionary tells whether that pays (leaf_write_choice.c). */
    TRIAL_VALUES = 20000
};

static const char *const cut = "pages too small to be worth one each";

int tn_chunk_join_open(tarn_cx *cx, const tn_leaf *leaf, const tn_chunk_options *options,
                       enum tn_join_way cheapest, tn_chunk_join **out)
{
    tn_chunk_join *join = tn_calloc(cx, 1, sizeof *join);
    int rc = TARN_OK;

    if (join == NULL)
        return TARN_E_NOMEM;
    join->leaf = leaf;
    join->cheapest = cheapest;
    TN_TRY(tn_chunk_writer_open(cx, leaf, options, &join->writer));
    *out = join;
    join = NULL;
done:
    tn_chunk_join_close(join);
    return rc;
}

void tn_join_end(tn_chunk_join *join)
{
    tn_page_reader_clear(&join->pages);
    tn_arena_clear(&join->arena);
    join->part = NULL;
    join->page_count = join->coded_count = 0;
    join->has_dictionary = join->dictionary_bounded = join->same_indices = false;
    join->indexed = false;
    join->values = (tn_values){0};
    join->way = TN_JOIN_COPY;
}

void tn_chunk_join_close(tn_chunk_join *join)
{
    if (join == NULL)
        return;
    tn_join_end(join);
    tn_chunk_writer_close(join->writer);
    tn_lease_clear(&join->list);
    tn_lease_clear(&join->histograms);
    tn_lease_clear(&join->dictionary.plain);
    tn_lease_clear(&join->dictionary_room);
    tn_lease_clear(&join->indices);
    tn_bounds_clear(&join->dictionary_bounds);
    tn_leaf_page_clear(&join->slot);
    tn_buf_clear(&join->gathered.def);
    tn_buf_clear(&join->gathered.rep);
    tn_buf_clear(&join->def);
    tn_buf_clear(&join->levels);
    tn_buf_clear(&join->out_histogram);
    free(join);
}

/* ---- counts ---- */

void tn_join_went(tn_chunk_join *join, enum tn_join_way way, uint64_t bytes, const char *why)
{
    join->counts.bytes[way] += bytes;
    join->way = way > join->way ? way : join->way;
    if (join->counts.why[way] == NULL && way != TN_JOIN_COPY)
        join->counts.why[way] = why;
}

static uint64_t bytes_of_all(const tn_chunk_join *join)
{
    uint64_t bytes = join->has_dictionary ? tn_join_bytes_of(&join->dictionary_page) : 0;

    for (size_t i = 0; i < join->page_count; i++)
        bytes += tn_join_bytes_of(tn_join_page_at(join, i));
    return bytes;
}

/* ---- how the writer takes rows ---- */

int tn_join_turn(tarn_cx *cx, tn_chunk_join *join, bool by_index)
{
    tn_chunk_writer *w = join->writer;
    int rc = TARN_OK;

    if (w->dictionary != by_index)
        TN_TRY(tn_chunk_writer_flush(cx, w));
    w->dictionary = by_index;
done:
    return rc;
}

bool tn_join_past_dictionary(const tn_chunk_join *join)
{
    const tn_chunk_writer *w = join->writer;
    const tn_written_page *notes = (const tn_written_page *)(const void *)w->notes.data;
    size_t pages = tn_write_page_count(w);

    if (w->page.entries > 0 && !w->dictionary)
        return true;
    while (pages > 0 && notes[pages - 1].null_page && join->leaf->max_rep == 0)
        pages--;
    return pages > 0 && notes[pages - 1].encoding != TN_ENC_RLE_DICTIONARY &&
           notes[pages - 1].encoding != TN_ENC_PLAIN_DICTIONARY;
}

/* The writer has found that a dictionary does not pay. */
static void see_given_up(tn_chunk_join *join)
{
    tn_chunk_writer *w = join->writer;

    if (join->seen != 0 && !w->dictionary && w->dict_written == 0 && w->dict.count == 0)
        join->closed = true;
}

/* ---- row by row ---- */

static int map_levels(tarn_cx *cx, tn_chunk_join *join, const uint16_t *map, tn_leaf_batch *batch)
{
    uint16_t *def;

    batch->all_present = batch->all_present || batch->def == NULL;
    if (map == NULL || batch->all_present)
        return TARN_OK;
    tn_buf_reset(&join->def);
    def = (uint16_t *)(void *)tn_buf_extend(&join->def, (size_t)batch->entries * sizeof *def);
    if (def == NULL)
        return tn_buf_check(cx, &join->def);
    for (int64_t i = 0; i < batch->entries; i++)
        def[i] = map[batch->def[i]];
    batch->def = def;
    return TARN_OK;
}

static int encode_part(tarn_cx *cx, tn_chunk_join *join, const char *why)
{
    const tn_join_part *part = join->part;
    tn_leaf_read_options options = {.keep_dictionary = true};
    tn_leaf_reader *reader = NULL;
    tn_leaf_batch batch;
    int rc = TARN_OK;

    /* A dictionary that stands, or that may still come, goes on. */
    if (join->closed || tn_join_past_dictionary(join))
        TN_TRY(tn_join_turn(cx, join, false));
    TN_TRY(tn_leaf_reader_open(cx, part->file, part->group, part->leaf, part->source, &options,
                               &reader));
    for (;;) {
        TN_TRY(tn_leaf_reader_next(cx, reader, BATCH_ROWS, &batch));
        if (batch.rows == 0)
            break;
        TN_TRY(map_levels(cx, join, part->def_map, &batch));
        TN_TRY(tn_chunk_writer_add(cx, join->writer, &batch));
    }
    tn_join_went(join, TN_JOIN_ENCODE, (uint64_t)join->meta->compressed_bytes, why);
done:
    tn_leaf_reader_close(reader);
    return rc;
}

/* ---- page by page ---- */

static bool allowed(const tn_chunk_join *join, enum tn_join_way way)
{
    return way >= join->cheapest;
}

/* What is few of, for this join: a page as full as the output's own pages is never too small. */
static int64_t few(const tn_chunk_join *join, int64_t values)
{
    int64_t full = join->writer->options.page_rows;

    return values < full ? values : full;
}

static uint64_t little(const tn_chunk_join *join)
{
    uint64_t full = join->writer->options.page_bytes / 2;

    return SMALL_BYTES < full ? SMALL_BYTES : full;
}

/* On average the data pages are not worth a page of their own. */
static bool pages_tiny(const tn_chunk_join *join)
{
    int64_t pages = (int64_t)join->page_count;
    uint64_t bytes = 0;

    for (size_t i = 0; i < join->page_count; i++)
        bytes += tn_join_bytes_of(tn_join_page_at(join, i));
    if (join->coded_count == join->page_count)
        return join->entries < few(join, SMALL_VALUES) * pages;
    return join->entries < few(join, TINY_VALUES) * pages ||
           (join->entries < few(join, SMALL_VALUES) * pages &&
            bytes < little(join) * join->page_count);
}

static bool dictionary_tiny(const tn_chunk_join *join)
{
    const tn_page_header *h = &join->dictionary_page.header;

    return join->entries < few(join, TINY_VALUES) || (join->entries < few(join, SMALL_VALUES) &&
                                                      (uint64_t)h->compressed_bytes < little(join));
}

/* Values that stand for themselves may still be those of other parts, too: a dictionary that is in
 * use, or on trial, is asked first. */
static bool may_share(const tn_chunk_join *join)
{
    const tn_chunk_writer *w = join->writer;

    if (join->closed || tn_join_past_dictionary(join) || !allowed(join, TN_JOIN_REMAP))
        return false;
    return w->dict_written > 0 ||
           (dictionary_tiny(join) && w->dictionary && join->seen < TRIAL_VALUES);
}

static int add_sequence(tarn_cx *cx, tn_chunk_join *join, bool *taken)
{
    bool tiny = dictionary_tiny(join), runs;
    const char *why = "a dictionary whose values stand for themselves";
    int rc = TARN_OK;

    *taken = false;
    if (!allowed(join, tiny ? TN_JOIN_REPACK : TN_JOIN_SEQUENCE))
        goto done;
    TN_TRY(tn_join_runs(cx, join, &runs));
    if (!runs)
        goto done;
    if (tiny) {
        TN_TRY(tn_join_turn(cx, join, false));
        TN_TRY(tn_join_append_dictionary(cx, join));
        tn_join_went(join, TN_JOIN_REPACK, bytes_of_all(join), cut);
    } else {
        TN_TRY(tn_join_sequence(cx, join));
        tn_join_went(join,
                     tn_join_same_codec(join, &join->dictionary_page.header) ? TN_JOIN_SEQUENCE
                                                                             : TN_JOIN_REPACK,
                     bytes_of_all(join), why);
    }
    *taken = true;
done:
    return rc;
}

/* Page i, which is by dictionary. */
static int add_coded(tarn_cx *cx, tn_chunk_join *join, size_t i, bool mapped, bool tiny)
{
    const tn_join_page *page = tn_join_page_at(join, i);
    bool codec = tn_join_same_codec(join, &page->header);
    enum tn_join_way way = codec ? TN_JOIN_COPY : TN_JOIN_REPACK;
    int rc = TARN_OK;

    if (mapped && join->same_indices && !tiny && join->values.count > 0 && allowed(join, way)) {
        TN_TRY(tn_chunk_writer_flush(cx, join->writer));
        TN_TRY(tn_join_copy(cx, join, i));
        tn_join_went(join, way, tn_join_bytes_of(page), "pages under another codec");
        goto done;
    }
    TN_TRY(tn_join_turn(cx, join, mapped));
    TN_TRY(tn_join_rows(cx, join, i));
    if (mapped)
        tn_join_went(join, TN_JOIN_REMAP, tn_join_bytes_of(page),
                     tiny ? cut : "dictionaries that differ from file to file");
    else
        tn_join_went(join, TN_JOIN_ENCODE, tn_join_bytes_of(page),
                     "a dictionary that does not fit into the output's");
done:
    return rc;
}

/* Page i, which is not by dictionary. */
static int add_other(tarn_cx *cx, tn_chunk_join *join, size_t i, bool tiny)
{
    const tn_join_page *page = tn_join_page_at(join, i);
    bool codec = tn_join_same_codec(join, &page->header);
    int rc = TARN_OK;

    if (tiny && page->header.encoding == TN_ENC_PLAIN && join->from->physical != TN_BOOLEAN) {
        TN_TRY(tn_join_turn(cx, join, false));
        TN_TRY(tn_join_append(cx, join, i));
        tn_join_went(join, TN_JOIN_REPACK, tn_join_bytes_of(page), cut);
        goto done;
    }
    TN_TRY(tn_join_copy(cx, join, i));
    tn_join_went(join, codec ? TN_JOIN_COPY : TN_JOIN_REPACK, tn_join_bytes_of(page),
                 "pages under another codec");
done:
    return rc;
}

/* The pages of the list; *why is set when they must be encoded row by row after all, before any was
 * moved. `shared`: whether their values stand for themselves was not looked at. */
static int add_pages(tarn_cx *cx, tn_chunk_join *join, bool shared, const char **why)
{
    bool tiny = pages_tiny(join), mapped = false, taken = false;
    int rc = TARN_OK;

    for (size_t i = 0; i < join->page_count && *why == NULL; i++) {
        const tn_join_page *page = tn_join_page_at(join, i);
        bool plain = page->header.encoding == TN_ENC_PLAIN && join->from->physical != TN_BOOLEAN;
        bool codec = tn_join_same_codec(join, &page->header);

        if (!page->coded && tiny && !plain)
            *why = "pages too small to be worth one each, in an encoding that cannot be appended";
        else if (!page->coded && !tiny && !allowed(join, codec ? TN_JOIN_COPY : TN_JOIN_REPACK))
            *why = "the plan does not let pages be copied";
    }
    if (*why != NULL)
        goto done;
    if (join->coded_count > 0) {
        if (!tiny)
            TN_TRY(tn_chunk_writer_flush(cx, join->writer));
        see_given_up(join);
        if (allowed(join, TN_JOIN_REMAP) && !tn_join_past_dictionary(join))
            TN_TRY(tn_join_map(cx, join, &mapped));
        if (!mapped && shared)
            TN_TRY(add_sequence(cx, join, &taken));
        if (taken)
            goto done;
        if (!mapped)
            TN_TRY(tn_join_dictionary(cx, join));
        else if (!tiny)
            join->writer->dict_kept = true;
    }
    for (size_t i = 0; i < join->page_count; i++) {
        if (tn_join_page_at(join, i)->coded)
            TN_TRY(add_coded(cx, join, i, mapped && !tn_join_past_dictionary(join), tiny));
        else
            TN_TRY(add_other(cx, join, i, tiny));
    }
    if (join->has_dictionary)
        join->counts.bytes[join->way] += tn_join_bytes_of(&join->dictionary_page);
done:
    return rc;
}

static int add_part(tarn_cx *cx, tn_chunk_join *join)
{
    const char *why = NULL;
    bool taken = false, shared;
    int rc = TARN_OK;

    if (!allowed(join, TN_JOIN_REPACK) || join->writer->options.force_encoding)
        return encode_part(cx, join, "the plan asks for it");
    TN_TRY(tn_join_list(cx, join, &why));
    if (why == NULL && join->page_count != 0) {
        tn_join_bounds_of_chunk(join);
        shared = may_share(join);
        if (!shared)
            TN_TRY(add_sequence(cx, join, &taken));
        if (!taken)
            TN_TRY(add_pages(cx, join, shared, &why));
    }
    if (why != NULL)
        TN_TRY(encode_part(cx, join, why));
done:
    return rc;
}

/* Levels of the input lead to levels of the output, the highest, where values are, to the highest
 * alone. */
static bool levels_fit(const tn_leaf *from, const tn_leaf *to, const uint16_t *map)
{
    if (map == NULL)
        return from->max_def == to->max_def;
    for (size_t i = 0; i <= from->max_def; i++)
        if (map[i] > to->max_def || (i == from->max_def) != (map[i] == to->max_def))
            return false;
    return true;
}

int tn_join_begin(tarn_cx *cx, tn_chunk_join *join, const tn_join_part *part)
{
    const tn_leaf *leaf = &part->file->schema.leaves[part->leaf];
    const tn_row_group_meta *group = &part->file->footer.groups[part->group];
    int rc = TARN_OK;

    TN_TRY(tn_cx_check(cx));
    if (leaf->physical != join->leaf->physical || leaf->type_length != join->leaf->type_length ||
        leaf->max_rep != join->leaf->max_rep)
        TN_FAIL(TARN_E_INVALID,
                "%.*s: column %.*s: its chunks are of another type than the output's",
                TN_STR_ARG(part->file->path), TN_STR_ARG(leaf->dotted));
    if (!levels_fit(leaf, join->leaf, part->def_map))
        TN_FAIL(TARN_E_INVALID,
                "%.*s: column %.*s: its definition levels do not lead to the output's",
                TN_STR_ARG(part->file->path), TN_STR_ARG(leaf->dotted));
    join->part = part;
    join->from = leaf;
    join->meta = &group->columns[part->leaf];
    if (leaf->max_rep == 0 && join->meta->values != group->rows)
        TN_FAIL(TARN_E_CORRUPT,
                "%.*s: column %.*s: row group %zu: %" PRId64 " values in %" PRId64 " rows",
                TN_STR_ARG(part->file->path), TN_STR_ARG(leaf->dotted), part->group,
                join->meta->values, group->rows);
done:
    return rc;
}

int tn_chunk_join_add(tarn_cx *cx, tn_chunk_join *join, const tn_join_part *part)
{
    int rc = TARN_OK;

    TN_TRY(tn_join_begin(cx, join, part));
    TN_TRY(add_part(cx, join));
    join->counts.chunks[join->way]++;
    join->in_batches = false;
done:
    tn_join_end(join);
    return rc;
}

int tn_chunk_join_add_batch(tarn_cx *cx, tn_chunk_join *join, const tn_leaf_batch *batch,
                            const char *why)
{
    uint64_t before = tn_chunk_writer_bytes(join->writer), after;
    int rc = TARN_OK;

    if (tn_join_past_dictionary(join))
        TN_TRY(tn_join_turn(cx, join, false));
    if (!join->in_batches)
        join->writer->remap_id = 0; /* the ids of batches are the caller's own */
    TN_TRY(tn_chunk_writer_add(cx, join->writer, batch));
    after = tn_chunk_writer_bytes(join->writer);
    /* Batches in a row count as one chunk. */
    if (!join->in_batches) {
        join->counts.chunks[TN_JOIN_ENCODE]++;
        if (join->counts.why[TN_JOIN_ENCODE] == NULL)
            join->counts.why[TN_JOIN_ENCODE] = why;
    }
    join->counts.bytes[TN_JOIN_ENCODE] += after > before ? after - before : 0;
    join->in_batches = true;
done:
    return rc;
}

int tn_chunk_join_finish(tarn_cx *cx, tn_chunk_join *join, tn_encoded_chunk *out,
                         tn_join_counts *counts)
{
    int rc = TARN_OK;

    TN_TRY(tn_chunk_writer_finish(cx, join->writer, out));
    for (int way = 0; way < TN_JOIN_WAYS; way++) {
        counts->chunks[way] += join->counts.chunks[way];
        counts->bytes[way] += join->counts.bytes[way];
        if (counts->why[way] == NULL)
            counts->why[way] = join->counts.why[way];
    }
done:
    return rc;
}

/* Takes a chunk over with some of its rows changed.
 *
 *   pages without a change   copied as they are, where their dictionary still means the same
 *   pages with one           decoded, their rows put together with those that come in, encoded
 *
 *   the dictionary           that of the part; values that are new come behind it, so that indices
 *                            of pages that are copied stay right
 *
 * I1: rows leave in their order; a changed row stands where the stored one stood.
 * I2: pages do not crumble: a chunk whose pages have become small is encoded anew as a whole, and a
 *     page that grew past its size a little stays one.
 * I3: pages by dictionary come before all others, also where a value that is new no longer fits
 *     into the dictionary: the pages by dictionary that are left are then encoded anew. */
#include <assert.h>
#include <inttypes.h>

#include "codec/parquet/chunk_join_state.h"
#include "codec/parquet/leaf_read.h"

enum { BATCH_ROWS = 65536 };

static const char *const changed = "pages with rows that change";

typedef struct splicing {
    tn_chunk_join *join;
    const tn_splice *splice;
    size_t next;           /* change */
    bool mapped;           /* the part's dictionary is the beginning of the output's */
    int64_t row;           /* that the page at hand begins with */
    tn_source source;      /* the reader's own: the pages are looked at in between */
    tn_offset_index pages; /* as they were listed */
    tn_leaf_reader *reader;
    int64_t at; /* row at which it stands */
} splicing;

/* ---- rows ---- */

static int stand_at(tarn_cx *cx, splicing *s, int64_t row)
{
    const tn_join_part *part = s->join->part;
    tn_leaf_read_options options = {.keep_dictionary = true, .pages = &s->pages};
    int rc = TARN_OK;

    if (s->reader == NULL)
        TN_TRY(tn_leaf_reader_open(cx, part->file, part->group, part->leaf, &s->source, &options,
                                   &s->reader));
    if (s->at < row)
        TN_TRY(tn_leaf_reader_skip(cx, s->reader, row - s->at));
    s->at = row;
done:
    return rc;
}

/* Reads stored rows up to `end`, and adds them or not. To read what is not wanted costs little, and
 * asks no header how many rows a page has. */
static int read_rows(tarn_cx *cx, splicing *s, int64_t end, bool wanted)
{
    tn_leaf_batch batch;
    int rc = TARN_OK;

    while (s->at < end) {
        int64_t left = end - s->at;

        TN_TRY(tn_leaf_reader_next(cx, s->reader, left < BATCH_ROWS ? left : BATCH_ROWS, &batch));
        if (wanted)
            TN_TRY(tn_chunk_writer_add(cx, s->join->writer, &batch));
        s->at += batch.rows;
    }
done:
    return rc;
}

/* How many changes from the next one on are neighbours, before and after. */
static size_t run_of_changes(const splicing *s, int64_t end)
{
    const tn_splice_row *first = &s->splice->rows[s->next];
    size_t n = 1;

    while (s->next + n < s->splice->count && first[n].row < end &&
           first[n].row == first->row + (int64_t)n &&
           first[n].with == (first->with < 0 ? -1 : first->with + (int64_t)n))
        n++;
    return n;
}

/* Rows that come in; a batch may be large, and what is given is one. */
static int put_changes(tarn_cx *cx, splicing *s, size_t n)
{
    const tn_splice_row *first = &s->splice->rows[s->next];
    tn_leaf_batch batch;
    int rc = TARN_OK;

    if (first->with >= 0) {
        TN_TRY(s->splice->give(cx, s->splice->arg, first->with, (int64_t)n, &batch));
        TN_TRY(tn_chunk_writer_add(cx, s->join->writer, &batch));
    }
    s->next += n;
done:
    return rc;
}

/* Rows [first, end) of the part, with their changes. */
static int encode_rows(tarn_cx *cx, splicing *s, int64_t first, int64_t end)
{
    const tn_splice *splice = s->splice;
    int rc = TARN_OK;

    TN_TRY(stand_at(cx, s, first));
    for (;;) {
        bool more = s->next < splice->count && splice->rows[s->next].row < end;
        size_t n;

        TN_TRY(read_rows(cx, s, more ? splice->rows[s->next].row : end, true));
        if (!more)
            break;
        n = run_of_changes(s, end);
        TN_TRY(read_rows(cx, s, s->at + (int64_t)n, false));
        TN_TRY(put_changes(cx, s, n));
    }
done:
    return rc;
}

/* ---- pages ---- */

static bool is_half(const tn_chunk_writer *w)
{
    return w->page.rows >= w->options.page_rows / 2 ||
           w->page.plain.len >= w->options.page_bytes / 2;
}

/* Values of a page go on in its encoding, which was chosen with more to look at. What is pending in
 * another is written first. */
static int go_on_in(tarn_cx *cx, tn_chunk_join *join, const tn_join_page *page)
{
    tn_chunk_writer *w = join->writer;
    int32_t encoding = page->header.encoding;
    int rc = TARN_OK;

    if (page->coded || page->nulls == page->header.values ||
        (encoding == TN_ENC_BYTE_STREAM_SPLIT && !w->options.byte_stream_split))
        goto done;
    if (w->encoding_chosen && w->encoding != encoding)
        TN_TRY(tn_chunk_writer_flush(cx, w));
    w->encoding = encoding;
    w->encoding_chosen = true;
done:
    return rc;
}

/* Page i, of which rows change. One that has become small waits for a neighbour that changes, too
 * (I2). */
static int encode_page(tarn_cx *cx, splicing *s, size_t i)
{
    const tn_join_page *page = tn_join_page_at(s->join, i);
    tn_chunk_join *join = s->join;
    int rc = TARN_OK;

    TN_TRY(tn_join_turn(cx, join, page->coded && s->mapped && !tn_join_past_dictionary(join)));
    TN_TRY(go_on_in(cx, join, page));
    TN_TRY(encode_rows(cx, s, s->row, s->row + page->rows));
    if (is_half(join->writer))
        TN_TRY(tn_chunk_writer_flush(cx, join->writer));
    tn_join_went(join, TN_JOIN_ENCODE, tn_join_bytes_of(page), changed);
done:
    return rc;
}

static int copy_page(tarn_cx *cx, splicing *s, size_t i)
{
    const tn_join_page *page = tn_join_page_at(s->join, i);
    tn_chunk_join *join = s->join;
    bool codec = tn_join_same_codec(join, &page->header);
    int rc = TARN_OK;

    TN_TRY(tn_chunk_writer_flush(cx, join->writer));
    if (page->coded && tn_join_past_dictionary(join)) { /* I3 */
        TN_TRY(tn_join_turn(cx, join, false));
        TN_TRY(tn_join_rows(cx, join, i));
        tn_join_went(join, TN_JOIN_ENCODE, tn_join_bytes_of(page),
                     "a dictionary that does not fit into the output's");
        goto done;
    }
    TN_TRY(tn_join_copy(cx, join, i));
    tn_join_went(join, codec ? TN_JOIN_COPY : TN_JOIN_REPACK, tn_join_bytes_of(page),
                 "pages under another codec");
done:
    return rc;
}

static int splice_pages(tarn_cx *cx, splicing *s)
{
    const tn_splice *splice = s->splice;
    tn_chunk_join *join = s->join;
    int rc = TARN_OK;

    for (size_t i = 0; i < join->page_count; i++) {
        int64_t rows = tn_join_page_at(join, i)->rows;

        TN_TRY(tn_cx_check(cx));
        if (s->next < splice->count && splice->rows[s->next].row < s->row + rows)
            TN_TRY(encode_page(cx, s, i));
        else
            TN_TRY(copy_page(cx, s, i));
        s->row += rows;
    }
done:
    return rc;
}

/* I2: the pages are on average less than half of what they should be. */
static bool crumbled(const tn_chunk_join *join)
{
    const tn_chunk_options *options = &join->writer->options;
    int64_t rows = join->part->file->footer.groups[join->part->group].rows;
    int64_t pages = (int64_t)join->page_count;

    return pages > 2 && rows / pages < options->page_rows / 2 &&
           (uint64_t)join->meta->uncompressed_bytes / join->page_count < options->page_bytes / 2;
}

/* Where the reader finds pages: an index of the file's own might be wrong. */
static int index_pages(tarn_cx *cx, splicing *s)
{
    tn_chunk_join *join = s->join;
    int64_t row = 0;

    s->pages.locations =
        tn_arena_array(cx, &join->arena, join->page_count + 1, sizeof *s->pages.locations);
    if (s->pages.locations == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < join->page_count; i++) {
        const tn_join_page *page = tn_join_page_at(join, i);

        s->pages.locations[i] = (tn_page_location){.offset = (int64_t)page->at,
                                                   .bytes = (int32_t)tn_join_bytes_of(page),
                                                   .first_row = row};
        row += page->rows;
    }
    s->pages.pages = join->page_count;
    return TARN_OK;
}

/* Pages of nested columns are passed over by what their headers say of rows. */
static bool contradict(const tn_chunk_join *join)
{
    for (size_t i = 0; join->from->max_rep > 0 && i < join->page_count; i++) {
        const tn_join_page *page = tn_join_page_at(join, i);

        if (page->header.type == TN_PAGE_DATA_V2 && page->header.rows != page->rows)
            return true;
    }
    return false;
}

/* Whether pages can be moved: *why not, else NULL. */
static int prepare(tarn_cx *cx, splicing *s, const char **why)
{
    tn_chunk_join *join = s->join;
    int rc = TARN_OK;

    TN_TRY(tn_join_list(cx, join, why));
    if (*why != NULL)
        goto done;
    TN_TRY(index_pages(cx, s));
    tn_join_bounds_of_chunk(join);
    if (contradict(join))
        *why = "headers that state other numbers of rows than there are";
    else if (crumbled(join))
        *why = "pages that have become small";
    if (*why != NULL)
        goto done;
    if (join->coded_count == 0)
        goto done;
    TN_TRY(tn_join_map(cx, join, &s->mapped));
    s->mapped = s->mapped && join->same_indices && join->values.count > 0;
    join->writer->dict_kept = s->mapped;
    if (!s->mapped)
        *why = "a dictionary that cannot be gone on with";
done:
    return rc;
}

/* The writer as it was opened, but for the dictionary that was to be gone on with. */
static int forget_dictionary(tarn_cx *cx, tn_chunk_join *join)
{
    tn_chunk_writer *w = join->writer;

    w->remap_id = 0;
    w->dict_spare = false;
    return w->dict.count != 0 ? tn_dict_truncate(cx, &w->dict, 0) : TARN_OK;
}

static int splice_part(tarn_cx *cx, splicing *s)
{
    tn_chunk_join *join = s->join;
    int64_t rows = join->part->file->footer.groups[join->part->group].rows;
    const char *why = NULL;
    int rc = TARN_OK;

    TN_TRY(prepare(cx, s, &why));
    if (why == NULL) {
        join->writer->level_judged = true; /* few pages do not earn the trial back */
        return splice_pages(cx, s);
    }
    if (!s->mapped)
        TN_TRY(forget_dictionary(cx, join));
    TN_TRY(encode_rows(cx, s, 0, rows));
    tn_join_went(join, TN_JOIN_ENCODE, (uint64_t)join->meta->compressed_bytes, why);
done:
    return rc;
}

int tn_chunk_join_splice(tarn_cx *cx, tn_chunk_join *join, const tn_join_part *part,
                         const tn_splice *splice)
{
    splicing s = {.join = join, .splice = splice, .source = *part->source};
    tn_chunk_options *options = &join->writer->options;
    int64_t rows = part->file->footer.groups[part->group].rows;
    int rc = TARN_OK;

    assert(part->source->memory != NULL && part->def_map == NULL);
    TN_TRY(tn_join_begin(cx, join, part));
    if (splice->count != 0 &&
        (splice->rows[0].row < 0 || splice->rows[splice->count - 1].row >= rows))
        TN_FAIL(TARN_E_INVALID, "%.*s: a change of row %" PRId64 " in a row group of %" PRId64,
                TN_STR_ARG(part->file->path), splice->rows[splice->count - 1].row, rows);
    join->splices = true;
    /* I2 */
    options->page_rows += options->page_rows / 4;
    options->page_bytes += options->page_bytes / 4;
    TN_TRY(splice_part(cx, &s));
    join->counts.chunks[join->way]++;
done:
    tn_leaf_reader_close(s.reader);
    tn_join_end(join);
    return rc;
}

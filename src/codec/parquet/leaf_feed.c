/* Gives the data pages of a chunk in order.
 *
 * I1: a page is not given when it has more entries than the chunk has left, nor, after a jump, when
 *     it has other rows than the index says.
 * I2: the dictionary is decoded once, before the first data page, and lives as long as the feed. */
#include "codec/parquet/leaf_feed.h"

#include <inttypes.h>

#include "codec/parquet/leaf_dictionary.h"

int tn_leaf_feed_init(tarn_cx *cx, tn_leaf_feed *feed, const tn_parquet *file, size_t group,
                      size_t leaf, tn_source *source, const tn_leaf_read_options *options)
{
    const tn_leaf *column = &file->schema.leaves[leaf];
    int64_t rows = file->footer.groups[group].rows;
    int64_t entries = file->footer.groups[group].columns[leaf].values;
    int rc = TARN_OK;

    if (column->physical == TN_FIXED && column->type_length == 0)
        TN_FAIL(TARN_E_CORRUPT, "%.*s: column %.*s: values of 0 bytes", TN_STR_ARG(file->path),
                TN_STR_ARG(column->dotted));
    if (column->max_rep == 0 && entries != rows)
        TN_FAIL(TARN_E_CORRUPT,
                "%.*s: column %.*s: row group %zu: %" PRId64 " values in %" PRId64 " rows",
                TN_STR_ARG(file->path), TN_STR_ARG(column->dotted), group, entries, rows);
    TN_TRY(tn_page_reader_init(cx, &feed->pages, file, group, leaf, source, options->skip_crc));
    feed->leaf = column;
    feed->index = options->pages;
    feed->group_rows = rows;
    feed->chunk_entries = entries;
done:
    return rc;
}

void tn_leaf_feed_clear(tn_leaf_feed *feed)
{
    tn_lease_clear(&feed->dictionary_page.plain);
    tn_lease_clear(&feed->dictionary_values);
    tn_page_reader_clear(&feed->pages);
    *feed = (tn_leaf_feed){0};
}

/* For failures about the page at the reader's place. */
static int fail_at(tarn_cx *cx, int status, const tn_leaf_feed *f)
{
    return tn_page_fail(cx, status, &f->pages, f->pages.number, f->pages.at);
}

static int load_dictionary(tarn_cx *cx, tn_leaf_feed *f)
{
    int rc = TARN_OK;

    if (f->dictionary.data != NULL)
        return fail_at(cx, tn_fail(cx, TARN_E_CORRUPT, "a second dictionary"), f);
    TN_TRY(tn_page_reader_body(cx, &f->pages, &f->dictionary_page));
    rc = tn_page_fail(cx,
                      tn_leaf_dictionary_decode(cx, f->leaf, &f->dictionary_page,
                                                &f->dictionary_values, &f->dictionary,
                                                &f->dictionary_id),
                      &f->pages, f->dictionary_page.number, f->dictionary_page.at);
done:
    return rc;
}

/* True when the pages met hold all entries of the chunk. */
static bool all_seen(const tn_leaf_feed *f)
{
    if (f->entries_seen >= 0)
        return f->entries_seen >= f->chunk_entries;
    return f->data_page >= f->index->pages;
}

/* Counts the page whose header is ready. */
static void count_page(tn_leaf_feed *f)
{
    if (f->entries_seen >= 0)
        f->entries_seen += f->pages.header.values;
    f->data_page++;
}

/* Rows that the offset index gives to the next data page. */
static int64_t indexed_rows(const tn_leaf_feed *f)
{
    const tn_page_location *page = &f->index->locations[f->data_page];
    bool last = f->data_page + 1 == f->index->pages;

    return (last ? f->group_rows : page[1].first_row) - page->first_row;
}

/* A page must not hold more entries than the chunk has left, nor other rows than the index says. */
static int check_counts(tarn_cx *cx, const tn_leaf_feed *f)
{
    const tn_page_header *h = &f->pages.header;

    if (f->entries_seen >= 0 && h->values > f->chunk_entries - f->entries_seen)
        return tn_fail(cx, TARN_E_CORRUPT, "%" PRId32 " values, but the chunk has %" PRId64 " left",
                       h->values, f->chunk_entries - f->entries_seen);
    if (f->jumped && f->leaf->max_rep == 0 && f->data_page < f->index->pages &&
        h->values != indexed_rows(f))
        return tn_fail(cx, TARN_E_CORRUPT, "%" PRId32 " rows, but the offset index says %" PRId64,
                       h->values, indexed_rows(f));
    return TARN_OK;
}

static int fail_short(tarn_cx *cx, const tn_leaf_feed *f)
{
    int rc =
        f->entries_seen >= 0
            ? tn_fail(cx, TARN_E_CORRUPT,
                      "the chunk ends, but only %" PRId64 " of its %" PRId64 " values were met",
                      f->entries_seen, f->chunk_entries)
            : tn_fail(cx, TARN_E_CORRUPT, "the chunk ends before the pages of its index");

    return fail_at(cx, rc, f);
}

/* Stands at the next data page that has entries: loads the dictionary, passes over all else. */
int tn_leaf_feed_header(tarn_cx *cx, tn_leaf_feed *f, bool *ended)
{
    const tn_page_header *h = &f->pages.header;
    int rc = TARN_OK;

    *ended = true;
    while (!all_seen(f)) {
        bool short_chunk;

        TN_TRY(tn_page_reader_header(cx, &f->pages, &short_chunk));
        if (short_chunk) {
            rc = fail_short(cx, f);
            break;
        }
        if (h->type == TN_PAGE_DICTIONARY) {
            TN_TRY(load_dictionary(cx, f));
        } else if (h->type != TN_PAGE_DATA && h->type != TN_PAGE_DATA_V2) {
            tn_page_reader_pass(&f->pages);
        } else if (h->values == 0) {
            count_page(f);
            tn_page_reader_pass(&f->pages);
        } else {
            rc = fail_at(cx, check_counts(cx, f), f);
            *ended = false;
            break;
        }
    }
done:
    return rc;
}

/* The next data page into a slot. */
int tn_leaf_feed_load(tarn_cx *cx, tn_leaf_feed *f, tn_leaf_page *slot, bool *ended)
{
    int rc = TARN_OK;

    TN_TRY(tn_leaf_feed_header(cx, f, ended));
    if (*ended)
        goto done;
    count_page(f);
    TN_TRY(
        tn_leaf_page_open(cx, &f->pages, f->dictionary.data != NULL ? &f->dictionary : NULL, slot));
done:
    return rc;
}

void tn_leaf_feed_pass(tn_leaf_feed *feed)
{
    count_page(feed);
    tn_page_reader_pass(&feed->pages);
}

/* The last indexed page that begins at or before `row`. */
static size_t indexed_page(const tn_offset_index *pages, int64_t row)
{
    size_t low = 0, high = pages->pages;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (pages->locations[middle].first_row <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

bool tn_leaf_feed_jump(tn_leaf_feed *f, int64_t row, int64_t target, int64_t *landed)
{
    const tn_page_location *to;
    size_t page;

    if (f->index == NULL || f->index->pages == 0)
        return false;
    page = indexed_page(f->index, target);
    to = &f->index->locations[page];
    if (page <= f->data_page || to->first_row <= row || to->first_row > target || to->offset <= 0 ||
        (uint64_t)to->offset <= f->pages.at ||
        !tn_page_reader_jump(&f->pages, (uint64_t)to->offset))
        return false;
    f->jumped = true;
    f->data_page = page;
    f->entries_seen = f->leaf->max_rep == 0 ? to->first_row : -1;
    *landed = to->first_row;
    return true;
}

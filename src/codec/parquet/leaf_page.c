/* Opens data pages and decodes their levels by windows, so that a page of many entries costs memory
 * for the entries wanted only.
 *
 * I1: at <= len; the window holds levels of both kinds that the leaf has, entry for entry.
 * I2: entries taken, in the window and undecoded add up to the header's count. */
#include "codec/parquet/leaf_page.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

void tn_leaf_page_clear(tn_leaf_page *page)
{
    tn_lease_clear(&page->page.plain);
    tn_lease_clear(&page->rep_levels);
    tn_lease_clear(&page->def_levels);
    tn_decode_value_clear(&page->values);
    *page = (tn_leaf_page){0};
}

/* Finds the levels; *at is then where the values begin. */
static int open_levels(tarn_cx *cx, tn_leaf_page *p, size_t *at)
{
    const tn_page_header *h = &p->page.header;
    const uint8_t *body = p->page.body;
    size_t len = p->page.len;
    int rc = TARN_OK;

    if (h->type == TN_PAGE_DATA_V2) {
        size_t rep = (size_t)h->rep_bytes, def = (size_t)h->def_bytes;

        tn_decode_level_init_v2(&p->rep, p->max_rep, body, rep, 0);
        tn_decode_level_init_v2(&p->def, p->max_def, body + rep, def, rep);
        *at = rep + def;
        goto done;
    }
    *at = 0;
    if (p->max_rep != 0)
        TN_TRY(tn_decode_level_init_v1(cx, &p->rep, h->rep_encoding, p->max_rep, h->values, body,
                                       len, at));
    if (p->max_def != 0)
        TN_TRY(tn_decode_level_init_v1(cx, &p->def, h->def_encoding, p->max_def, h->values, body,
                                       len, at));
done:
    return rc;
}

int tn_leaf_page_open(tarn_cx *cx, tn_page_reader *reader, const tn_values *dictionary,
                      tn_leaf_page *page)
{
    const tn_leaf *leaf = &reader->file->schema.leaves[reader->leaf];
    size_t at;
    int rc = TARN_OK;

    page->at = page->len = 0;
    page->undecoded = 0;
    rc = tn_page_reader_body(cx, reader, &page->page);
    if (rc != TARN_OK)
        return rc;
    page->max_def = leaf->max_def;
    page->max_rep = leaf->max_rep;
    TN_TRY(open_levels(cx, page, &at));
    tn_decode_value_begin(&page->values, leaf, page->page.header.encoding, page->page.body + at,
                          page->page.len - at, at, dictionary);
    page->undecoded = page->page.header.values;
done:
    return tn_page_fail(cx, rc, reader, page->page.number, page->page.at);
}

int64_t tn_leaf_page_left(const tn_leaf_page *page)
{
    return page->undecoded + (int64_t)(page->len - page->at);
}

/* Moves the window to the front of room for `want` entries. */
static int make_room(tarn_cx *cx, tn_leaf_page *p, tn_lease *lease, size_t want)
{
    uint16_t *levels = (uint16_t *)(void *)lease->data;

    if (levels != NULL && p->at != 0)
        memmove(levels, levels + p->at, (p->len - p->at) * sizeof *levels);
    return tn_lease_grow(cx, lease, want * sizeof *levels, (p->len - p->at) * sizeof *levels,
                         "levels of a page");
}

int tn_leaf_page_fill(tarn_cx *cx, tn_leaf_page *page, size_t want)
{
    size_t have = page->len - page->at, more;
    int rc = TARN_OK;

    if (have >= want || page->undecoded == 0)
        return TARN_OK;
    more = want - have;
    if ((int64_t)more > page->undecoded)
        more = (size_t)page->undecoded;
    /* Both windows move before `at` does; a failure in between ends the reader. */
    if (page->max_rep != 0)
        TN_TRY(make_room(cx, page, &page->rep_levels, have + more));
    if (page->max_def != 0)
        TN_TRY(make_room(cx, page, &page->def_levels, have + more));
    page->at = 0;
    page->len = have;
    if (page->max_rep != 0)
        TN_TRY(tn_decode_level_read(cx, &page->rep,
                                    (uint16_t *)(void *)page->rep_levels.data + have, more));
    if (page->max_def != 0)
        TN_TRY(tn_decode_level_read(cx, &page->def,
                                    (uint16_t *)(void *)page->def_levels.data + have, more));
    page->len += more;
    page->undecoded -= (int64_t)more;
done:
    return rc;
}

int tn_leaf_page_all_present(tarn_cx *cx, tn_leaf_page *page, size_t n, bool *all)
{
    bool same = page->max_def == 0;
    int rc = TARN_OK;

    assert(page->max_rep == 0 && (int64_t)n <= tn_leaf_page_left(page));
    if (!same && page->at == page->len)
        TN_TRY(tn_decode_level_all_max(cx, &page->def, n, &same));
    if (same)
        page->undecoded -= (int64_t)n;
    *all = same;
done:
    return rc;
}

int tn_leaf_page_give_back(tarn_cx *cx, tn_leaf_page *page, size_t n)
{
    uint16_t *levels;
    int rc = TARN_OK;

    assert(page->at == page->len);
    if (page->max_def == 0) {
        page->undecoded += (int64_t)n;
        goto done;
    }
    TN_TRY(tn_lease_grow(cx, &page->def_levels, n * sizeof *levels, 0, "levels of a page"));
    levels = (uint16_t *)(void *)page->def_levels.data;
    for (size_t i = 0; i < n; i++)
        levels[i] = page->max_def;
    page->at = 0;
    page->len = n;
done:
    return rc;
}

size_t tn_leaf_page_present(const tn_leaf_page *page, size_t n)
{
    const uint16_t *def = tn_leaf_page_def(page);
    size_t present = 0;

    if (def == NULL)
        return n;
    /* Sums of 16 bits, so that eight levels are compared and counted at once. */
    for (size_t at = 0; at < n;) {
        size_t end = n - at < 32768 ? n : at + 32768;
        uint16_t some = 0;

        for (; at < end; at++)
            some = (uint16_t)(some + (def[at] == page->max_def));
        present += some;
    }
    return present;
}

/* A window on the bytes of a feed.
 * I1: the same bytes are in the window after a fill however the feed cuts them. */
#include "codec/csv/csv_window.h"

#include <string.h>

#include "codec/csv/csv_scan.h"

void tn_csv_window_clear(tn_csv_window *window)
{
    tn_lease_clear(&window->room);
}

static int take_more(tarn_cx *cx, tn_csv_window *w)
{
    size_t room = w->room.cap - TN_CSV_PAD - w->len;
    int rc = TARN_OK;

    if (w->pending_len == 0) {
        TN_TRY(tn_feed_next(cx, w->feed, &w->pending, &w->pending_len));
        w->ended = w->pending_len == 0;
        w->taken += w->pending_len;
    }
    if (w->pending_len != 0) {
        size_t n = room < w->pending_len ? room : w->pending_len;

        memcpy(w->room.data + w->len, w->pending, n);
        w->len += n;
        w->pending += n;
        w->pending_len -= n;
    }
done:
    return rc;
}

int tn_csv_window_fill(tarn_cx *cx, tn_csv_window *w, size_t want)
{
    int rc = TARN_OK;

    if (w->ended || w->len - w->at >= want)
        return TARN_OK;
    if (w->at != 0)
        memmove(w->room.data, w->room.data + w->at, w->len - w->at);
    w->len -= w->at;
    w->at = 0;
    TN_TRY(tn_lease_grow(cx, &w->room, want + TN_CSV_PAD, w->len, "the text of a CSV file"));
    while (!w->ended && w->len + TN_CSV_PAD < w->room.cap)
        TN_TRY(take_more(cx, w));
    memset(w->room.data + w->len, 0, TN_CSV_PAD);
done:
    return rc;
}

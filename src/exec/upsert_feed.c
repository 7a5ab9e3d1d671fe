/* Rows taken part by part. I1: the batch at hand stays until all of it is taken. */
#include "exec/upsert_feed.h"

#include <assert.h>

#include "batch/array.h"
#include "batch/stream.h"

int tn_upsert_feed_open(tarn_cx *cx, tn_incoming *in, size_t stream, tn_upsert_feed *out)
{
    *out = (tn_upsert_feed){0};
    return tn_incoming_reader_open(cx, in, stream, &out->reader);
}

void tn_upsert_feed_close(tarn_cx *cx, tn_upsert_feed *feed)
{
    if (feed->rows != NULL)
        tn_array_release(&feed->batch);
    if (feed->reader != NULL)
        tn_incoming_reader_close(cx, feed->reader);
    *feed = (tn_upsert_feed){0};
}

static int fill_from_stream(tarn_cx *cx, tn_upsert_feed *feed)
{
    int rc = TARN_OK;

    tn_array_release(&feed->batch);
    TN_TRY(tn_stream_status(cx, feed->rows, feed->rows->get_next(feed->rows, &feed->batch)));
    feed->ended = feed->batch.release == NULL;
    feed->left = feed->ended ? 0 : feed->batch.length;
done:
    return rc;
}

static int fill_from_reader(tarn_cx *cx, tn_upsert_feed *feed)
{
    const tn_incoming_batch *batch;
    int rc = TARN_OK;

    TN_TRY(tn_incoming_reader_next(cx, feed->reader, 0, &batch));
    feed->batch = batch->rows;
    feed->positions = batch->positions;
    feed->deletes = batch->deletes;
    feed->left = batch->rows.length;
    feed->ended = feed->left == 0;
done:
    return rc;
}

int tn_upsert_feed_fill(tarn_cx *cx, tn_upsert_feed *feed)
{
    int rc = TARN_OK;

    while (feed->left == 0 && !feed->ended) {
        if (feed->rows != NULL)
            TN_TRY(fill_from_stream(cx, feed));
        else
            TN_TRY(fill_from_reader(cx, feed));
    }
done:
    return rc;
}

struct ArrowArray tn_upsert_feed_part(const tn_upsert_feed *feed, int64_t rows)
{
    struct ArrowArray part = feed->batch;

    assert(rows <= feed->left);
    part.offset += feed->batch.length - feed->left;
    part.length = rows;
    part.null_count = 0;
    return part;
}

void tn_upsert_feed_take(tn_upsert_feed *feed, int64_t rows)
{
    assert(rows <= feed->left);
    feed->left -= rows;
    if (feed->positions != NULL)
        feed->positions += rows;
    if (feed->deletes != NULL)
        feed->deletes += rows;
}

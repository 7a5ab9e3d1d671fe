/* Hudi logs: any bytes are a row of blocks that lie one behind the other, or a status with text;
 * and of each block the content is what its kind says, or a status with text. */
#include <stdlib.h>
#include <string.h>

#include "codec/log/log.h"
#include "io/store_memory.h"

#define POSITIONS_MAX 100000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static __attribute__((noinline)) void fail(void)
{
    abort();
}

static int check_records(tarn_cx *cx, tn_str content)
{
    const char *end = content.ptr + content.len;
    tn_log_records records;
    uint32_t seen = 0;
    bool more = true;
    int rc = TARN_OK;

    TN_TRY(tn_log_records_open(cx, content, TN_STR("input"), &records));
    while (more) {
        tn_str datum;

        TN_TRY(tn_log_records_next(cx, &records, &more, &datum));
        if (more && (datum.ptr < content.ptr || datum.len > (size_t)(end - datum.ptr)))
            fail();
        seen += more;
    }
    if (seen != records.count)
        fail();
done:
    return rc;
}

static int check_deletes(tarn_cx *cx, tn_str content)
{
    tn_log_deletes deletes = {0};
    tn_arena arena = {0};
    int rc = tn_log_deletes_parse(cx, content, TN_STR("input"), &arena, &deletes);
    uint64_t sum = 0;

    if (rc == TARN_OK && deletes.count > content.len / 3)
        fail();
    for (size_t i = 0; i < deletes.count; i++) {
        for (size_t n = 0; n < deletes.keys[i].len; n++)
            sum += (uint8_t)deletes.keys[i].ptr[n];
        sum += tn_log_order_always(&deletes.orders[i]) + deletes.orders[i].item_count;
        for (size_t n = 0; n < deletes.orders[i].item_count; n++)
            if (deletes.orders[i].items[n].kind == TN_LOG_ORDER_LIST)
                fail();
    }
    if (sum == UINT64_MAX)
        fail();
    tn_arena_clear(&arena);
    return rc;
}

static int check_positions(tarn_cx *cx, tn_str text)
{
    tn_arena arena = {0};
    int64_t *at = NULL, before = -1;
    size_t count = 0;
    int rc = tn_log_positions_parse(cx, text, TN_STR("input"), POSITIONS_MAX, &arena, &at, &count);

    if (count > POSITIONS_MAX)
        fail();
    for (size_t i = 0; i < count; before = at[i++])
        if (at[i] <= before)
            fail();
    tn_arena_clear(&arena);
    return rc;
}

static void check_block(tarn_cx *cx, const tn_log *log, const tn_log_block *block)
{
    tn_buf content = {0};
    int rc = tn_log_content(cx, log, block, &content);

    if (rc == TARN_OK && content.len != block->content_bytes)
        fail();
    if (rc == TARN_OK && (block->kind == TN_LOG_AVRO || block->kind == TN_LOG_CDC))
        rc = check_records(cx, tn_buf_view(&content));
    else if (rc == TARN_OK && block->kind == TN_LOG_DELETE)
        rc = check_deletes(cx, tn_buf_view(&content));
    if (rc == TARN_OK && block->positions.len > 0)
        rc = check_positions(cx, block->positions);
    if (rc != TARN_OK && tarn_cx_error(cx)[0] == '\0')
        fail();
    tn_buf_clear(&content);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .seed = 1});
    tn_store *store = NULL;
    tn_log log = {0};
    uint64_t at = 0;
    int rc = TARN_OK;

    TN_TRY(tn_store_memory_open(cx, &store));
    TN_TRY(tn_store_put(cx, store, TN_STR("/log"), (tn_str){(const char *)data, size}));
    rc = tn_log_open(cx, store, TN_STR("/log"), &log);
    if (rc != TARN_OK && tarn_cx_error(cx)[0] == '\0')
        fail();
    for (size_t i = 0; i < log.block_count; at += log.blocks[i++].bytes) {
        if (log.blocks[i].offset != at || log.blocks[i].bytes > size - at)
            fail();
        check_block(cx, &log, &log.blocks[i]);
    }
    if (rc == TARN_OK && size - at >= 6)
        fail();
done:
    tn_log_close(&log);
    tn_store_close(store);
    tarn_cx_close(cx);
    return 0;
}

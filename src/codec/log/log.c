/* The frames of a log file:
 *
 *   0    6   "#HUDI#"
 *   6    8   S: the bytes that follow, to the end of the block
 *   14   4   version of the format: 1
 *   18   4   kind of block
 *   22       header: an int32, its entries; of each an int32, the key; an int32, the length; text
 *        8   length of the content
 *            content
 *            footer: like the header, always without entries
 *        8   T = S + 6
 *
 * All integers are big-endian.
 *
 *   23 48 55 44 49 23 | 00 00 00 00 00 00 00 5b | 00 00 00 01 | 00 00 00 00 | …
 *
 * A block is torn when the file ends before T, when T is not S + 6, or when neither the end of the
 * file nor another magic follows it. It then reaches to the next magic, wherever that is, or to the
 * end of the file: what a writer left that died, and what others wrote behind it.
 *
 * I1: contents are not read: a file is read at its head and around the ends of its blocks.
 * I2: blocks lie in the file one behind the other; fewer than six bytes behind the last of them
 *     are nobody's. */
#define _GNU_SOURCE /* memmem */
#include "codec/log/log.h"

#include <assert.h>
#include <stdlib.h>

#include "base/cursor.h"

#define MAGIC       "#HUDI#"
#define MAGIC_BYTES 6
#define LEAD_BYTES  14 /* magic and S */
#define TRAIL_BYTES 12 /* a footer without entries, and T */
/* Of one read: the whole of a small file, or the end of a block with the next one's header. */
#define WINDOW_BYTES     (64u << 10)
#define SCAN_FIRST_BYTES 4096u
#define SCAN_BYTES       (1u << 20)

enum header_key { /* the ordinals of HeaderMetadataType */
                  KEY_INSTANT = 0,
                  KEY_TARGET,
                  KEY_SCHEMA,
                  KEY_COMMAND,
                  KEY_COMPACTED,
                  KEY_POSITIONS,
                  KEY_IDENTIFIER,
                  KEY_PARTIAL,
                  KEY_BASE_INSTANT,
                  KEYS
};

typedef struct window {
    tn_buf bytes;
    uint64_t at;
} window;

typedef struct reader {
    tarn_cx *cx;
    tn_log *log;
    uint64_t size;
    window head, tail; /* around the start of the block; around its end */
    uint64_t header_bytes;
    size_t block_cap, torn;
} reader;

static bool covers(const window *w, uint64_t at, size_t n)
{
    return at >= w->at && n <= w->bytes.len && at - w->at <= w->bytes.len - n;
}

static int fill(reader *r, window *w, uint64_t at, size_t n)
{
    uint64_t left = r->size - at;
    size_t want = n > WINDOW_BYTES ? n : WINDOW_BYTES;
    uint8_t *room;
    int rc = TARN_OK;

    if (want > left)
        want = (size_t)left;
    tn_buf_reset(&w->bytes);
    w->at = at;
    room = tn_buf_extend(&w->bytes, want);
    if (room == NULL)
        return tn_fail_memory(r->cx);
    rc = tn_store_read(r->cx, r->log->file, at, room, want);
    if (rc != TARN_OK)
        tn_buf_reset(&w->bytes);
    return rc;
}

/* `n` bytes of the file, which has them; valid until the next call for the same window. */
static int look(reader *r, window *w, uint64_t at, size_t n, const uint8_t **out)
{
    int rc = TARN_OK;

    assert(at <= r->size && n <= r->size - at);
    if (!covers(w, at, n) && covers(&r->head, at, n))
        w = &r->head;
    if (!covers(w, at, n))
        TN_TRY(fill(r, w, at, n));
    *out = w->bytes.data + (at - w->at);
done:
    return rc;
}

static int damaged(reader *r, uint64_t at, const char *text)
{
    return tn_fail(r->cx, TARN_E_CORRUPT, "%.*s: byte %llu: %s", TN_STR_ARG(r->log->path),
                   (unsigned long long)at, text);
}

/* ---- torn blocks */

/* Whether a block of `span` bytes behind S lies at `at`, up to its end. */
static int is_whole(reader *r, uint64_t at, uint64_t span, bool *whole)
{
    uint64_t end = at + LEAD_BYTES + span, before;
    const uint8_t *bytes;
    size_t n;
    tn_cursor in;
    int rc = TARN_OK;

    *whole = false;
    if (span < TRAIL_BYTES || span > r->size - at - LEAD_BYTES)
        goto done;
    before = end - TRAIL_BYTES;
    n = TRAIL_BYTES + (r->size - end < MAGIC_BYTES ? (size_t)(r->size - end) : MAGIC_BYTES);
    TN_TRY(look(r, &r->tail, before, n, &bytes));
    in = tn_cursor_of(bytes + 4, 8);
    *whole = tn_cursor_u64be(&in) == span + MAGIC_BYTES &&
             (n < TRAIL_BYTES + MAGIC_BYTES || memcmp(bytes + TRAIL_BYTES, MAGIC, 6) == 0);
done:
    return rc;
}

/* Where the next magic is from `at` on; the end of the file when there is none. It is mostly near,
 * so what is read at once grows. */
static int next_magic(reader *r, uint64_t at, uint64_t *out)
{
    size_t step = SCAN_FIRST_BYTES;
    tn_buf part = {0};
    int rc = TARN_OK;

    for (;; step = step < SCAN_BYTES ? 4 * step : step) {
        size_t n = r->size - at < step ? (size_t)(r->size - at) : step;
        uint8_t *bytes, *hit;

        TN_TRY(tn_cx_check(r->cx));
        tn_buf_reset(&part);
        bytes = tn_buf_extend(&part, n);
        if (bytes == NULL && n > 0)
            TN_TRY(tn_fail_memory(r->cx));
        if (n > 0)
            TN_TRY(tn_store_read(r->cx, r->log->file, at, bytes, n));
        hit = n > 0 ? memmem(bytes, n, MAGIC, MAGIC_BYTES) : NULL;
        if (hit != NULL || at + n == r->size) {
            *out = hit != NULL ? at + (uint64_t)(hit - bytes) : r->size;
            break;
        }
        at += n - (MAGIC_BYTES - 1);
    }
done:
    tn_buf_clear(&part);
    return rc;
}

/* ---- headers */

static int read_u32(reader *r, uint64_t *at, uint64_t end, uint32_t *out)
{
    const uint8_t *bytes;
    tn_cursor in;
    int rc = TARN_OK;

    if (end - *at < 4)
        TN_TRY(damaged(r, *at, "a header that does not fit into its block"));
    TN_TRY(look(r, &r->head, *at, 4, &bytes));
    in = tn_cursor_of(bytes, 4);
    *out = tn_cursor_u32be(&in);
    *at += 4;
done:
    return rc;
}

/* The schema of the block before is mostly this block's, too: then they share the text. */
static int keep_schema(reader *r, tn_str *text)
{
    const tn_log *log = r->log;
    int rc = TARN_OK;

    for (size_t i = log->block_count; i > 0; i--)
        if (log->blocks[i - 1].schema.len > 0) {
            if (!tn_str_equal(log->blocks[i - 1].schema, *text))
                break;
            *text = log->blocks[i - 1].schema;
            return TARN_OK;
        }
    r->header_bytes += text->len;
    rc = tn_arena_keep(r->cx, &r->log->arena, text);
    return rc;
}

static int keep_value(reader *r, uint32_t key, tn_str text, tn_log_block *block)
{
    tn_str *const places[KEYS] = {[KEY_INSTANT] = &block->instant,
                                  [KEY_TARGET] = &block->target,
                                  [KEY_COMPACTED] = &block->compacted,
                                  [KEY_POSITIONS] = &block->positions,
                                  [KEY_BASE_INSTANT] = &block->base_instant};

    if (key == KEY_SCHEMA) {
        block->schema = text;
        return keep_schema(r, &block->schema);
    }
    if (key == KEY_COMMAND)
        block->rollback = tn_str_is(text, "0");
    if (key == KEY_PARTIAL)
        block->partial = tn_str_is(text, "true");
    if (places[key] == NULL)
        return TARN_OK;
    *places[key] = text;
    r->header_bytes += text.len;
    return tn_arena_keep(r->cx, &r->log->arena, places[key]);
}

static int read_entry(reader *r, uint64_t *at, uint64_t end, tn_log_block *block)
{
    const uint8_t *bytes;
    uint32_t key, len;
    int rc = TARN_OK;

    TN_TRY(read_u32(r, at, end, &key));
    if (key >= KEYS)
        TN_TRY(tn_fail(r->cx, TARN_E_UNSUPPORTED,
                       "%.*s: byte %llu: the header of a block has the key %u, which tarn does not "
                       "know: a newer Hudi wrote it",
                       TN_STR_ARG(r->log->path), (unsigned long long)*at - 4, key));
    TN_TRY(read_u32(r, at, end, &len));
    if (len > end - *at)
        TN_TRY(damaged(r, *at, "a text of a header that does not fit into its block"));
    if (len > TN_LOG_HEADER_VALUE_BYTES_MAX ||
        r->header_bytes > TN_LOG_HEADERS_BYTES_MAX - TN_LOG_HEADER_VALUE_BYTES_MAX)
        TN_TRY(tn_fail(r->cx, TARN_E_LIMIT, "%.*s: byte %llu: headers of more than %u MiB",
                       TN_STR_ARG(r->log->path), (unsigned long long)*at,
                       len > TN_LOG_HEADER_VALUE_BYTES_MAX ? TN_LOG_HEADER_VALUE_BYTES_MAX >> 20
                                                           : TN_LOG_HEADERS_BYTES_MAX >> 20));
    TN_TRY(look(r, &r->head, *at, len, &bytes));
    TN_TRY(keep_value(r, key, (tn_str){(const char *)bytes, len}, block));
    *at += len;
done:
    return rc;
}

static int read_header(reader *r, uint64_t *at, uint64_t end, tn_log_block *block)
{
    uint32_t count;
    int rc = TARN_OK;

    TN_TRY(read_u32(r, at, end, &count));
    if (count > TN_LOG_HEADER_KEYS_MAX)
        TN_TRY(damaged(r, *at - 4, "a header of more than 64 entries"));
    for (uint32_t i = 0; i < count; i++)
        TN_TRY(read_entry(r, at, end, block));
done:
    return rc;
}

/* ---- blocks */

static int read_kind(reader *r, uint64_t *at, uint64_t end, tn_log_block *block)
{
    uint32_t version, kind;
    int rc = TARN_OK;

    TN_TRY(read_u32(r, at, end, &version));
    if (version != 1)
        TN_TRY(tn_fail(r->cx, TARN_E_UNSUPPORTED,
                       "%.*s: byte %llu: a block of log format version %u; tarn reads version 1",
                       TN_STR_ARG(r->log->path), (unsigned long long)*at - 4, version));
    TN_TRY(read_u32(r, at, end, &kind));
    if (kind > TN_LOG_CDC || kind == TN_LOG_CORRUPT)
        TN_TRY(tn_fail(r->cx, TARN_E_UNSUPPORTED,
                       "%.*s: byte %llu: a block of kind %u, which tarn does not know: a newer "
                       "Hudi wrote it, or the file is damaged",
                       TN_STR_ARG(r->log->path), (unsigned long long)*at - 4, kind));
    block->kind = (enum tn_log_kind)kind;
done:
    return rc;
}

/* Version to content length; `end` is where T begins. */
static int read_frame(reader *r, uint64_t end, tn_log_block *block)
{
    uint64_t at = block->offset + LEAD_BYTES;
    uint32_t high, low;
    const uint8_t *bytes;
    int rc = TARN_OK;

    TN_TRY(read_kind(r, &at, end, block));
    TN_TRY(read_header(r, &at, end, block));
    TN_TRY(read_u32(r, &at, end, &high));
    TN_TRY(read_u32(r, &at, end, &low));
    block->content_offset = at;
    block->content_bytes = (uint64_t)high << 32 | low;
    if (end - at < 4 || block->content_bytes != end - at - 4)
        TN_TRY(damaged(r, at - 8, "the length of a block's content and that of the block differ"));
    TN_TRY(look(r, &r->tail, end - 4, 4, &bytes));
    if (memcmp(bytes, "\0\0\0", 4) != 0)
        TN_TRY(damaged(r, end - 4, "a block with a footer, which no Hudi writes"));
done:
    return rc;
}

static int read_torn(reader *r, tn_log_block *block)
{
    uint64_t end = 0;
    int rc = TARN_OK;

    if (r->torn++ == TN_LOG_TORN_MAX)
        TN_TRY(tn_fail(r->cx, TARN_E_LIMIT, "%.*s: more than %u torn blocks",
                       TN_STR_ARG(r->log->path), TN_LOG_TORN_MAX));
    block->kind = TN_LOG_CORRUPT;
    block->content_offset = block->offset + MAGIC_BYTES;
    TN_TRY(next_magic(r, block->content_offset, &end));
    block->bytes = end - block->offset;
    block->content_bytes = end - block->content_offset;
done:
    return rc;
}

static int read_block(reader *r, uint64_t at, tn_log_block *block)
{
    uint64_t left = r->size - at, span = 0;
    const uint8_t *bytes;
    tn_cursor in;
    bool whole = false;
    int rc = TARN_OK;

    TN_TRY(look(r, &r->head, at, left < LEAD_BYTES ? (size_t)left : LEAD_BYTES, &bytes));
    if (memcmp(bytes, MAGIC, MAGIC_BYTES) != 0)
        TN_TRY(damaged(r, at, "no block of a Hudi log begins here"));
    block->offset = at;
    if (left >= LEAD_BYTES) {
        in = tn_cursor_of(bytes + MAGIC_BYTES, 8);
        span = tn_cursor_u64be(&in);
        TN_TRY(is_whole(r, at, span, &whole));
    }
    block->bytes = LEAD_BYTES + span;
    TN_TRY(whole ? read_frame(r, at + block->bytes - 8, block) : read_torn(r, block));
done:
    return rc;
}

static int read_blocks(reader *r)
{
    tn_log *log = r->log;
    uint64_t at = 0;
    int rc = TARN_OK;

    while (r->size - at >= MAGIC_BYTES) {
        tn_log_block block = {0};

        TN_TRY(tn_cx_check(r->cx));
        if (log->block_count == TN_LOG_BLOCKS_MAX)
            TN_TRY(tn_fail(r->cx, TARN_E_LIMIT, "%.*s: more than 1,000,000 blocks",
                           TN_STR_ARG(log->path)));
        if (!covers(&r->head, at, MAGIC_BYTES) && covers(&r->tail, at, MAGIC_BYTES)) {
            window head = r->head;

            r->head = r->tail;
            r->tail = head;
        }
        TN_TRY(read_block(r, at, &block));
        TN_TRY(tn_arena_grow(r->cx, &log->arena, &log->blocks, log->block_count, &r->block_cap,
                             sizeof block));
        log->blocks[log->block_count++] = block;
        at += block.bytes;
    }
done:
    return rc;
}

int tn_log_open(tarn_cx *cx, tn_store *store, tn_str path, tn_log *out)
{
    reader r = {.cx = cx, .log = out};
    int rc = TARN_OK;

    assert(out != NULL && out->file == NULL);
    out->path = path;
    TN_TRY(tn_arena_keep(cx, &out->arena, &out->path));
    TN_TRY(tn_store_open_file(cx, store, path, &out->file));
    r.size = out->file->stat.size_bytes;
    TN_TRY(read_blocks(&r));
done:
    tn_buf_clear(&r.head.bytes);
    tn_buf_clear(&r.tail.bytes);
    return rc;
}

void tn_log_close(tn_log *log)
{
    tn_store_close_file(log->file);
    tn_arena_clear(&log->arena);
    *log = (tn_log){0};
}

int tn_log_content(tarn_cx *cx, const tn_log *log, const tn_log_block *block, tn_buf *into)
{
    uint8_t *room;
    int rc = TARN_OK;

    tn_buf_reset(into);
    if (block->content_bytes > TN_LOG_CONTENT_MAX)
        TN_FAIL(TARN_E_LIMIT, "%.*s: byte %llu: a block of %llu bytes, beyond the 2 GiB of Hudi",
                TN_STR_ARG(log->path), (unsigned long long)block->offset,
                (unsigned long long)block->content_bytes);
    room = tn_buf_extend(into, (size_t)block->content_bytes);
    if (room == NULL && block->content_bytes > 0)
        TN_TRY(tn_fail_memory(cx));
    if (block->content_bytes > 0)
        TN_TRY(tn_store_read(cx, log->file, block->content_offset, room,
                             (size_t)block->content_bytes));
done:
    return rc;
}

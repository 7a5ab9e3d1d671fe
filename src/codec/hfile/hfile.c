/* An HFile of version 3 as it is opened: trailer, index, file info. From its end:
 *
 *   4096  trailer: "TRABLK\"$", a varint, the length of a protobuf message, the message, zeros, and
 *         4 bytes: minor version, and major (3, in three bytes). Of the message: 1 offset of the
 *         file info, 2 of the root index, 5 entries of the root, 6 meta blocks, 7 entries of the
 *         file, 8 levels of the index, 12 codec (1 gzip, 2 none; absent: none), 13 encryption key
 *
 *   before it, from "2 of the root index" on: root index, meta index, file info
 *
 * The file info: "PBUF", a varint, the length of a message whose fields 1 are pairs of bytes 1 and
 * bytes 2.
 *
 *   54 52 41 42 4c 4b 22 24  4b  08 d0 02  10 c5 01 … 28 01 30 00 38 02 40 01 … 60 01   a message
 *   of 75 bytes: file info at 336, index at 197, 1 block, no meta block, 2 entries, 1 level, gzip
 *
 * I1: up to SMALL_BYTES the file is read at once; of a larger one the end, and more only where the
 *     index needs it.
 * I2: what follows the values of entries is known before any is read: a file with tags or
 *     transactions of HBase is refused. */
#include "codec/hfile/hfile.h"

#include <assert.h>
#include <stdlib.h>

#include "base/cursor.h"
#include "codec/hfile/hfile_parts.h"

#define TRAILER_BYTES 4096
#define SMALL_BYTES   (1u << 20)
#define END_BYTES     (64u << 10)

static int corrupt(tarn_cx *cx, const tn_hfile *file, uint64_t offset, const char *what)
{
    return tn_fail(cx, TARN_E_CORRUPT, "%.*s: byte %llu: %s", TN_STR_ARG(file->path),
                   (unsigned long long)(file->base + offset), what);
}

/* ---- protobuf ---- */

typedef struct field {
    uint32_t tag;
    uint64_t number; /* of a varint */
    tn_str bytes;
} field;

/* False at the end; a message that is none poisons the cursor. */
static bool next_field(tn_cursor *in, field *out)
{
    uint64_t head;

    *out = (field){0};
    if (in->failed || tn_cursor_left(in) == 0)
        return false;
    head = tn_cursor_varint(in);
    out->tag = head >> 3 <= UINT32_MAX ? (uint32_t)(head >> 3) : 0;
    switch (head & 7) {
    case 0:
        out->number = tn_cursor_varint(in);
        break;
    case 1:
        (void)tn_cursor_take(in, 8);
        break;
    case 2:
        out->bytes = tn_cursor_take(in, tn_cursor_varint(in));
        break;
    case 5:
        (void)tn_cursor_take(in, 4);
        break;
    default:
        in->failed = true;
    }
    return !in->failed;
}

/* A message behind its length. */
static tn_cursor message_of(tn_cursor *in)
{
    tn_str bytes = tn_cursor_take(in, tn_cursor_varint(in));

    return (tn_cursor){(const uint8_t *)bytes.ptr, bytes.len, 0, in->failed};
}

/* ---- the trailer ---- */

static int check_version(tarn_cx *cx, const tn_hfile *file, tn_str trailer)
{
    const uint8_t *at = (const uint8_t *)trailer.ptr + TRAILER_BYTES - 4;
    uint32_t major = (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];

    if (memcmp(trailer.ptr, "TRABLK\"$", 8) != 0)
        return corrupt(cx, file, file->trailer_at,
                       "no trailer of an HFile: the file is cut off, "
                       "damaged, or no HFile");
    if (major != 3)
        return tn_fail(cx, TARN_E_UNSUPPORTED,
                       "%.*s: an HFile of version %u: version 3 alone is read",
                       TN_STR_ARG(file->path), (unsigned)major);
    return TARN_OK;
}

static int check_trailer(tarn_cx *cx, const tn_hfile *file)
{
    static const char *const codecs[] = {"LZO", "GZ", "NONE", "SNAPPY", "LZ4", "BZIP2", "ZSTD"};

    if (file->codec != TN_HFILE_GZIP && file->codec != TN_HFILE_NONE)
        return tn_fail(cx, TARN_E_UNSUPPORTED,
                       "%.*s: an HFile packed with codec %lld (%s): gzip and none are "
                       "read, as in Hudi's own reader",
                       TN_STR_ARG(file->path), (long long)file->codec,
                       file->codec >= 0 && file->codec <= 6 ? codecs[file->codec] : "unknown");
    if (file->load_at > file->trailer_at || file->info_at > file->trailer_at)
        return corrupt(cx, file, file->trailer_at, "the trailer points outside of the file");
    if (file->levels > TN_HFILE_LEVELS_MAX)
        return tn_fail(cx, TARN_E_LIMIT, "%.*s: an index of %llu levels, more than %d",
                       TN_STR_ARG(file->path), (unsigned long long)file->levels,
                       TN_HFILE_LEVELS_MAX);
    if (file->meta_count > TN_HFILE_INFO_MAX || file->index_count > TN_HFILE_BLOCKS_MAX)
        return tn_fail(cx, TARN_E_LIMIT, "%.*s: an index of more entries than tarn reads",
                       TN_STR_ARG(file->path));
    return TARN_OK;
}

static int read_trailer(tarn_cx *cx, tn_hfile *file, tn_str trailer)
{
    tn_cursor in = tn_cursor_of(trailer.ptr + 8, TRAILER_BYTES - 12), message;
    bool encrypted = false;
    field f;
    int rc = TARN_OK;

    TN_TRY(check_version(cx, file, trailer));
    file->minor = (uint8_t)trailer.ptr[TRAILER_BYTES - 4];
    message = message_of(&in);
    file->codec = TN_HFILE_NONE;
    file->levels = 1;
    while (next_field(&message, &f)) {
        switch (f.tag) {
        case 1:
            file->info_at = f.number;
            break;
        case 2:
            file->load_at = f.number;
            break;
        case 5:
            file->index_count = f.number;
            break;
        case 6:
            file->meta_count = f.number;
            break;
        case 7:
            file->entries = f.number;
            break;
        case 8:
            file->levels = f.number;
            break;
        case 12:
            file->codec = (int64_t)f.number;
            break;
        case 13:
            encrypted = true;
            break;
        default:
            break;
        }
    }
    if (message.failed)
        TN_TRY(corrupt(cx, file, file->trailer_at, "the trailer's message does not add up"));
    if (encrypted)
        TN_FAIL(TARN_E_UNSUPPORTED, "%.*s: an encrypted HFile, which is not read",
                TN_STR_ARG(file->path));
    TN_TRY(check_trailer(cx, file));
done:
    return rc;
}

/* ---- the file info ---- */

static int add_pair(tarn_cx *cx, tn_hfile *file, tn_str message, size_t *cap)
{
    tn_cursor in = tn_cursor_of(message.ptr, message.len);
    tn_hfile_pair pair = {0};
    field f;
    int rc = TARN_OK;

    while (next_field(&in, &f)) {
        if (f.tag == 1)
            pair.key = f.bytes;
        else if (f.tag == 2)
            pair.value = f.bytes;
    }
    if (in.failed)
        TN_TRY(corrupt(cx, file, file->info_at, "a pair of the file info does not add up"));
    if (file->info_count == TN_HFILE_INFO_MAX)
        TN_FAIL(TARN_E_LIMIT, "%.*s: a file info of more than %d pairs", TN_STR_ARG(file->path),
                TN_HFILE_INFO_MAX);
    TN_TRY(tn_arena_keep(cx, &file->arena, &pair.key));
    TN_TRY(tn_arena_keep(cx, &file->arena, &pair.value));
    TN_TRY(tn_arena_grow(cx, &file->arena, &file->info, file->info_count, cap, sizeof pair));
    file->info[file->info_count++] = pair;
done:
    return rc;
}

static uint64_t info_number(const tn_hfile *file, const char *key)
{
    tn_str value = tn_hfile_info(file, key);
    tn_cursor in = tn_cursor_of(value.ptr, value.len);

    return value.len == 8 ? tn_cursor_u64be(&in) : value.len == 4 ? tn_cursor_u32be(&in) : 0;
}

/* I2 */
static int check_info(tarn_cx *cx, tn_hfile *file)
{
    if (tn_hfile_info(file, "hfile.MAX_TAGS_LEN").ptr != NULL)
        return tn_fail(cx, TARN_E_UNSUPPORTED, "%.*s: an HFile with HBase's tags: Hudi writes none",
                       TN_STR_ARG(file->path));
    file->has_mvcc = info_number(file, "KEY_VALUE_VERSION") == 1;
    return TARN_OK;
}

static int load_info(tarn_cx *cx, tn_hfile *file)
{
    tn_hfile_block block = {0};
    tn_cursor in, message;
    size_t cap = 0;
    tn_str magic;
    field f;
    int rc = TARN_OK;

    TN_TRY(tn_hfile_block_read(cx, file, file->info_at, file->trailer_at, 0, "FILEINF2", &block));
    in = tn_cursor_of(block.content.ptr, block.content.len);
    magic = tn_cursor_take(&in, 4);
    if (!tn_str_is(magic, "PBUF"))
        TN_TRY(corrupt(cx, file, file->info_at, "the file info is no protobuf message"));
    message = message_of(&in);
    while (next_field(&message, &f))
        if (f.tag == 1)
            TN_TRY(add_pair(cx, file, f.bytes, &cap));
    if (message.failed)
        TN_TRY(corrupt(cx, file, file->info_at, "the file info does not add up"));
    TN_TRY(check_info(cx, file));
done:
    tn_hfile_block_clear(&block);
    return rc;
}

/* ---- open ---- */

/* Holds the file from `at` on. */
static int hold(tarn_cx *cx, tn_hfile *file, uint64_t at)
{
    uint8_t *into;

    tn_buf_clear(&file->tail);
    file->held = (tn_str){NULL, 0};
    into = tn_buf_extend(&file->tail, (size_t)(file->size - at));
    if (into == NULL)
        return tn_buf_check(cx, &file->tail);
    file->held_at = at;
    file->held = tn_buf_view(&file->tail);
    return tn_store_read(cx, file->file, file->base + at, into, (size_t)(file->size - at));
}

/* `file` has its bytes' place; the rest follows from them. */
static int load(tarn_cx *cx, tn_hfile *file)
{
    tn_buf bytes = {0};
    tn_str trailer;
    int rc = TARN_OK;

    TN_TRY(tn_arena_keep(cx, &file->arena, &file->path));
    if (file->size < TRAILER_BYTES)
        TN_TRY(corrupt(cx, file, file->size, "too short to be an HFile: it is cut off, or none"));
    file->trailer_at = file->size - TRAILER_BYTES;
    if (file->file != NULL)
        TN_TRY(hold(cx, file, file->size <= SMALL_BYTES ? 0 : file->size - END_BYTES));
    TN_TRY(tn_hfile_block_bytes(cx, file, file->trailer_at, TRAILER_BYTES, &bytes, &trailer));
    TN_TRY(read_trailer(cx, file, trailer));
    if (file->load_at < file->held_at && file->size - file->load_at <= TN_HFILE_BLOCK_BYTES_MAX)
        TN_TRY(hold(cx, file, file->load_at));
    TN_TRY(load_info(cx, file));
    TN_TRY(tn_hfile_index_load(cx, file));
done:
    tn_buf_clear(&bytes);
    return rc;
}

int tn_hfile_open(tarn_cx *cx, tn_store *store, tn_str path, uint64_t offset, uint64_t bytes,
                  tn_hfile **out)
{
    tn_hfile *file = tn_calloc(cx, 1, sizeof *file);
    int rc = TARN_OK;

    assert(store != NULL && out != NULL);
    if (file == NULL)
        return TARN_E_NOMEM;
    file->path = path;
    TN_TRY(tn_store_open_file(cx, store, path, &file->file));
    if (offset > file->file->stat.size_bytes || bytes > file->file->stat.size_bytes - offset)
        TN_FAIL(TARN_E_CORRUPT, "%.*s: ends at byte %llu, within an HFile that begins at byte %llu",
                TN_STR_ARG(path), (unsigned long long)file->file->stat.size_bytes,
                (unsigned long long)offset);
    file->base = offset;
    file->size = bytes;
    TN_TRY(load(cx, file));
    *out = file;
    file = NULL;
done:
    tn_hfile_close(file);
    return rc;
}

int tn_hfile_open_memory(tarn_cx *cx, tn_str bytes, tn_str path, tn_hfile **out)
{
    tn_hfile *file = tn_calloc(cx, 1, sizeof *file);
    int rc = TARN_OK;

    assert(out != NULL);
    if (file == NULL)
        return TARN_E_NOMEM;
    file->path = path;
    file->size = bytes.len;
    file->held = bytes;
    TN_TRY(load(cx, file));
    *out = file;
    file = NULL;
done:
    tn_hfile_close(file);
    return rc;
}

void tn_hfile_close(tn_hfile *file)
{
    if (file == NULL)
        return;
    tn_store_close_file(file->file);
    tn_buf_clear(&file->tail);
    tn_arena_clear(&file->arena);
    free(file);
}

/* ---- asking ---- */

uint64_t tn_hfile_count(const tn_hfile *file)
{
    return file->entries;
}

tn_hfile_traits tn_hfile_traits_of(const tn_hfile *file)
{
    return (tn_hfile_traits){.codec = file->codec == TN_HFILE_GZIP ? "gzip" : "none",
                             .blocks = file->place_count,
                             .meta_blocks = file->meta_places,
                             .levels = file->levels,
                             .minor = file->minor};
}

size_t tn_hfile_info_count(const tn_hfile *file)
{
    return file->info_count;
}

tn_hfile_pair tn_hfile_info_at(const tn_hfile *file, size_t i)
{
    assert(i < file->info_count);
    return file->info[i];
}

tn_str tn_hfile_info(const tn_hfile *file, const char *key)
{
    for (size_t i = 0; i < file->info_count; i++)
        if (tn_str_is(file->info[i].key, key))
            return file->info[i].value;
    return (tn_str){NULL, 0};
}

int tn_hfile_meta(tarn_cx *cx, tn_hfile *file, const char *name, bool *present, tn_buf *out)
{
    tn_hfile_block block = {0};
    int rc = TARN_OK;

    *present = false;
    tn_buf_reset(out);
    for (size_t i = 0; i < file->meta_places; i++) {
        if (!tn_str_is(file->metas[i].key, name))
            continue;
        TN_TRY(tn_hfile_block_read(cx, file, file->metas[i].offset, file->trailer_at,
                                   file->metas[i].bytes, "METABLKc", &block));
        tn_buf_str(out, block.content);
        TN_TRY(tn_buf_check(cx, out));
        *present = true;
        break;
    }
done:
    tn_hfile_block_clear(&block);
    return rc;
}

/* A Parquet file opened for reading.
 *
 *   offset      bytes
 *   0           "PAR1"
 *   4           pages, indexes, bloom filters
 *   size-8-n    the footer: n Thrift bytes (FileMetaData)
 *   size-8      n, 4 bytes little-endian
 *   size-4      "PAR1" ("PARE": the footer is encrypted)
 *
 * After open these hold, and later code relies on them:
 * I1: every row group has one chunk per leaf, in order, with metadata, of the leaf's physical type
 *     and path, in this file and not encrypted.
 * I2: every chunk's span lies between byte 4 and the footer, or is empty.
 * I3: row counts are not negative and those of the groups add up to the file's.
 * I4: a chunk of a leaf without repetition has as many values as its group has rows.
 * I5: column_orders is absent or has one entry per leaf; sorting columns are leaves. */
#include "codec/parquet/file.h"

#include <stdio.h>

#include "codec/parquet/writer.h"

/* What is read at once from the end of a file: a part of it, since a footer grows with what it
 * describes and small files are read whole again by those that want their pages. */
#define TAIL_BYTES_MIN 8192
#define TAIL_BYTES_MAX 65536
#define TAIL_PART      32
#define FILE_BYTES_MIN 12
/* What parquet-mr before 1.2.9 may have left out of a chunk's size: the dictionary page's header.
 * (PARQUET-816, IMPALA-694; other readers allow for the same 100 bytes.) */
#define DICTIONARY_SLACK_MAX 100

void tn_parquet_close(tn_parquet *file)
{
    tn_arena_clear(&file->arena);
    *file = (tn_parquet){0};
}

/* What a file without Parquet's magic looks like. */
static const char *guess_kind(const uint8_t *head, size_t len)
{
    size_t text = 0;

    if (len >= 3 && memcmp(head, "ORC", 3) == 0)
        return "an ORC file";
    if (len >= 4 && memcmp(head, "Obj\1", 4) == 0)
        return "an Avro file";
    if (len >= 2 && head[0] == 0x1F && head[1] == 0x8B)
        return "a gzip file";
    if (len >= 4 && memcmp(head, "\x28\xB5\x2F\xFD", 4) == 0)
        return "a zstd file";
    if (len >= 4 && memcmp(head, "PK\3\4", 4) == 0)
        return "a zip archive";
    while (text < len &&
           (head[text] >= 0x20 || head[text] == '\n' || head[text] == '\r' || head[text] == '\t'))
        text++;
    if (text == len && len != 0)
        return head[0] == '{' || head[0] == '[' ? "JSON text" : "text (CSV?)";
    return "something else";
}

/* The first bytes as text that is safe in a message. */
static void print_head(char *into, size_t size, const uint8_t *head, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len && i < 16 && n + 5 < size; i++) {
        if (head[i] >= 0x20 && head[i] < 0x7F)
            into[n++] = (char)head[i];
        else
            n += (size_t)snprintf(into + n, size - n, "\\x%02X", head[i]);
    }
    into[n] = '\0';
}

static int fail_short(tarn_cx *cx, const tn_parquet *file, const uint8_t *head)
{
    unsigned long long size = file->size_bytes;

    if (size == 0)
        return tn_fail(cx, TARN_E_CORRUPT,
                       "empty (0 bytes), so not a Parquet file; its writer failed before the first "
                       "byte: set it aside and write it again");
    if (size >= 4 && memcmp(head, "PAR1", 4) == 0)
        return tn_fail(cx, TARN_E_CORRUPT,
                       "ends at byte %llu, right after the magic PAR1; its writer did not finish: "
                       "set it aside and write it again",
                       size);
    return tn_fail(cx, TARN_E_CORRUPT,
                   "has only %llu bytes, too few for a Parquet file (12); set it aside", size);
}

/* Both ends' magic; `head` and `tail` are the first and the last 4 bytes. */
static int check_magic(tarn_cx *cx, const tn_parquet *file, const uint8_t *head, size_t head_len,
                       const uint8_t *tail)
{
    unsigned long long end = file->size_bytes - 4;
    bool begins = memcmp(head, "PAR1", 4) == 0;
    char text[96];

    if (memcmp(tail, "PARE", 4) == 0 || memcmp(head, "PARE", 4) == 0)
        return tn_fail(
            cx, TARN_E_UNSUPPORTED,
            "encrypted Parquet (magic PARE), which tarn does not read; use a reader that "
            "has the keys");
    if (memcmp(tail, "PAR1", 4) == 0 && begins)
        return TARN_OK;
    if (begins)
        return tn_fail(cx, TARN_E_CORRUPT,
                       "begins as Parquet, but the last 4 bytes (at byte %llu) are not the magic "
                       "PAR1: cut off, or its writer did not finish; get a whole copy",
                       end);
    print_head(text, sizeof text, head, head_len);
    if (memcmp(tail, "PAR1", 4) == 0)
        return tn_fail(cx, TARN_E_CORRUPT,
                       "ends as Parquet, but byte 0 begins \"%s\" instead of PAR1: its head was "
                       "overwritten; get a whole copy",
                       text);
    return tn_fail(cx, TARN_E_CORRUPT,
                   "not a Parquet file but %s: byte 0 begins \"%s\" instead of PAR1; name or place "
                   "it as what it is",
                   guess_kind(head, head_len), text);
}

/* Places the footer by its length. */
static int find_footer(tarn_cx *cx, tn_parquet *file, const uint8_t *last8)
{
    uint32_t length;

    memcpy(&length, last8, 4);
    if (length == 0 || length > file->size_bytes - FILE_BYTES_MIN)
        return tn_fail(cx, TARN_E_CORRUPT,
                       "footer length %u at byte %llu does not fit a file of %llu bytes; get a "
                       "whole copy",
                       length, (unsigned long long)file->size_bytes - 8,
                       (unsigned long long)file->size_bytes);
    if (length > TN_PARQUET_FOOTER_BYTES_MAX)
        return tn_fail(cx, TARN_E_LIMIT, "footer of %u bytes; tarn reads up to %u", length,
                       TN_PARQUET_FOOTER_BYTES_MAX);
    file->footer_bytes = length;
    file->footer_offset = file->size_bytes - 8 - length;
    return TARN_OK;
}

static void span_of(const tn_parquet *file, const tn_chunk_meta *chunk, const tn_writer *writer,
                    uint64_t *offset, uint64_t *bytes)
{
    uint64_t start = (uint64_t)chunk->data_page_offset;
    uint64_t length = (uint64_t)chunk->compressed_bytes;
    uint64_t room;

    /* A dictionary lies before the data. An offset of 0, or one behind the data, is a writer's way
     * to say that there is none, or that data_page_offset leads to it. A data_page_offset of 0 is
     * one to say that there are no data pages. */
    if (chunk->has_dictionary_page_offset && chunk->dictionary_page_offset >= 4 &&
        (chunk->dictionary_page_offset < chunk->data_page_offset || chunk->data_page_offset < 4))
        start = (uint64_t)chunk->dictionary_page_offset;
    if (length != 0 && tn_writer_before(writer, "parquet-mr", 1, 2, 9) &&
        start <= file->footer_offset && length <= file->footer_offset - start) {
        room = file->footer_offset - start - length;
        length += room < DICTIONARY_SLACK_MAX ? room : DICTIONARY_SLACK_MAX;
    }
    *offset = start;
    *bytes = length;
}

int tn_parquet_chunk_span(tarn_cx *cx, const tn_parquet *file, size_t group, size_t leaf,
                          uint64_t *offset, uint64_t *bytes)
{
    tn_writer writer = tn_writer_of(file->footer.created_by);

    (void)cx;
    span_of(file, &file->footer.groups[group].columns[leaf], &writer, offset, bytes);
    return TARN_OK;
}

static bool path_equal(const tn_chunk_meta *chunk, const tn_leaf *leaf)
{
    if (chunk->path_count != leaf->path_count)
        return false;
    for (size_t i = 0; i < chunk->path_count; i++) {
        if (!tn_str_equal(chunk->path[i], leaf->path[i]))
            return false;
    }
    return true;
}

static int check_chunk(tarn_cx *cx, const tn_parquet *file, size_t group, const tn_leaf *leaf,
                       const tn_writer *writer)
{
    const tn_chunk_meta *chunk = &file->footer.groups[group].columns[leaf->index];
    uint64_t offset, bytes;
    int rc = TARN_OK;

    if (chunk->encrypted)
        TN_FAIL(TARN_E_UNSUPPORTED,
                "row group %zu, column %.*s: encrypted, which tarn does not read; use a reader "
                "that has the keys",
                group, TN_STR_ARG(leaf->dotted));
    if (chunk->file_path.len != 0)
        TN_FAIL(TARN_E_UNSUPPORTED,
                "row group %zu, column %.*s: its data lies in another file (%.*s): a summary such "
                "as _metadata; read the files it names",
                group, TN_STR_ARG(leaf->dotted), TN_STR_ARG(chunk->file_path));
    if (chunk->physical != (int32_t)leaf->physical)
        TN_FAIL(TARN_E_CORRUPT, "row group %zu, column %.*s: chunk of type %s, schema of type %s",
                group, TN_STR_ARG(leaf->dotted), tn_physical_name(chunk->physical),
                tn_physical_name(leaf->physical));
    if (chunk->path_count != 0 && !path_equal(chunk, leaf))
        TN_FAIL(TARN_E_CORRUPT,
                "row group %zu: chunk %u is of column %.*s…, but the schema has %.*s there", group,
                leaf->index, TN_STR_ARG(chunk->path[0]), TN_STR_ARG(leaf->dotted));
    if (leaf->max_rep == 0 && chunk->values != file->footer.groups[group].rows)
        TN_FAIL(TARN_E_CORRUPT, "row group %zu, column %.*s: %lld values for %lld rows", group,
                TN_STR_ARG(leaf->dotted), (long long)chunk->values,
                (long long)file->footer.groups[group].rows);
    span_of(file, chunk, writer, &offset, &bytes);
    if (bytes == 0 && chunk->values == 0)
        return TARN_OK;
    if (offset < 4 || offset > file->footer_offset || bytes > file->footer_offset - offset)
        TN_FAIL(TARN_E_CORRUPT,
                "row group %zu, column %.*s: pages of %llu bytes at byte %llu do not lie between "
                "the magic and the footer at byte %llu",
                group, TN_STR_ARG(leaf->dotted), (unsigned long long)bytes,
                (unsigned long long)offset, (unsigned long long)file->footer_offset);
done:
    return rc;
}

static int check_group(tarn_cx *cx, tn_parquet *file, size_t group, const tn_writer *writer)
{
    tn_row_group_meta *meta = &file->footer.groups[group];
    int64_t bytes = 0;
    int rc = TARN_OK;

    if (meta->column_count != file->schema.leaf_count)
        TN_FAIL(TARN_E_CORRUPT, "row group %zu: %zu column chunks, but the schema has %zu columns",
                group, meta->column_count, file->schema.leaf_count);
    for (size_t i = 0; i < meta->column_count; i++) {
        TN_TRY(check_chunk(cx, file, group, &file->schema.leaves[i], writer));
        if (__builtin_add_overflow(bytes, meta->columns[i].uncompressed_bytes, &bytes))
            TN_FAIL(TARN_E_CORRUPT, "row group %zu: uncompressed sizes beyond 64 bits", group);
    }
    if (meta->total_bytes <= 0)
        meta->total_bytes = bytes;
    for (size_t i = 0; i < meta->sorting_count; i++) {
        if ((size_t)meta->sorting[i].column >= file->schema.leaf_count)
            meta->sorting_count = 0;
    }
done:
    return rc;
}

static int check_footer(tarn_cx *cx, tn_parquet *file)
{
    tn_writer writer = tn_writer_of(file->footer.created_by);
    int64_t rows = 0;
    int rc = TARN_OK;

    for (size_t i = 0; i < file->footer.group_count; i++) {
        TN_TRY(check_group(cx, file, i, &writer));
        if (__builtin_add_overflow(rows, file->footer.groups[i].rows, &rows))
            TN_FAIL(TARN_E_CORRUPT, "row group %zu: row counts beyond 64 bits", i);
    }
    /* parquet-rs 0.3.0 left the file's count at 0; readers go by the groups. */
    if (file->footer.rows == 0)
        file->footer.rows = rows;
    if (rows != file->footer.rows)
        TN_FAIL(TARN_E_CORRUPT, "the footer counts %lld rows, its %zu row groups %lld",
                (long long)file->footer.rows, file->footer.group_count, (long long)rows);
    if (file->footer.column_order_count != file->schema.leaf_count)
        file->footer.column_order_count = 0;
done:
    return rc;
}

/* Footer, schema and checks, from footer bytes that live in the file's arena. */
static int parse(tarn_cx *cx, tn_parquet *file, tn_str bytes)
{
    int rc;

    rc = tn_footer_decode_kept(cx, bytes, &file->arena, &file->footer);
    if (rc != TARN_OK)
        return tn_fail_within(cx, rc, "%.*s: from byte %llu", TN_STR_ARG(file->path),
                              (unsigned long long)file->footer_offset);
    rc = tn_schema_build(cx, file->footer.elements, file->footer.element_count, &file->arena,
                         &file->schema);
    if (rc == TARN_OK)
        rc = check_footer(cx, file);
    return rc == TARN_OK ? rc : tn_fail_within(cx, rc, "%.*s", TN_STR_ARG(file->path));
}

/* What can be told from both ends. `tail` ends with the file. */
static int check_ends(tarn_cx *cx, tn_parquet *file, const uint8_t *head, size_t head_len,
                      const uint8_t *tail, size_t tail_len)
{
    int rc = TARN_OK;

    if (file->size_bytes < FILE_BYTES_MIN)
        rc = fail_short(cx, file, head);
    if (rc == TARN_OK)
        rc = check_magic(cx, file, head, head_len, tail + tail_len - 4);
    if (rc == TARN_OK)
        rc = find_footer(cx, file, tail + tail_len - 8);
    return rc == TARN_OK ? rc : tn_fail_within(cx, rc, "%.*s", TN_STR_ARG(file->path));
}

int tn_parquet_open_memory(tarn_cx *cx, const void *bytes, size_t len, tn_str path, tn_parquet *out)
{
    tn_parquet file = {.path = path, .size_bytes = len, .memory = bytes};
    tn_str footer;
    int rc = TARN_OK;

    *out = (tn_parquet){0};
    TN_TRY(tn_arena_keep(cx, &file.arena, &file.path));
    TN_TRY(check_ends(cx, &file, bytes, len < 64 ? len : 64, bytes, len));
    footer = (tn_str){(const char *)bytes + file.footer_offset, (size_t)file.footer_bytes};
    TN_TRY(parse(cx, &file, footer));
    *out = file;
    file = (tn_parquet){0};
done:
    tn_parquet_close(&file);
    return rc;
}

/* The footer in the arena: out of the tail already read, or read on its own. */
static int load_footer(tarn_cx *cx, tn_parquet *file, tn_file *handle, const tn_buf *tail,
                       tn_str *footer)
{
    uint64_t tail_offset = file->size_bytes - tail->len;
    char *bytes = tn_arena_take(cx, &file->arena, (size_t)file->footer_bytes);

    if (bytes == NULL)
        return TARN_E_NOMEM;
    *footer = (tn_str){bytes, (size_t)file->footer_bytes};
    if (file->footer_offset < tail_offset)
        return tn_store_read(cx, handle, file->footer_offset, bytes, (size_t)file->footer_bytes);
    memcpy(bytes, tail->data + (file->footer_offset - tail_offset), (size_t)file->footer_bytes);
    return TARN_OK;
}

static size_t tail_bytes(uint64_t size)
{
    uint64_t want = size / TAIL_PART;

    want = want < TAIL_BYTES_MIN ? TAIL_BYTES_MIN : want > TAIL_BYTES_MAX ? TAIL_BYTES_MAX : want;
    return (size_t)(want < size ? want : size);
}

int tn_parquet_open(tarn_cx *cx, tn_store *store, tn_str path, tn_parquet *out)
{
    tn_parquet file = {.path = path, .store = store};
    tn_file *handle = NULL;
    tn_buf tail = {0};
    uint8_t head_bytes[64];
    const uint8_t *head;
    size_t want, head_len;
    tn_str footer;
    int rc = TARN_OK;

    *out = (tn_parquet){0};
    TN_TRY(tn_arena_keep(cx, &file.arena, &file.path));
    TN_TRY(tn_store_open_file(cx, store, path, &handle));
    file.size_bytes = handle->stat.size_bytes;
    want = tail_bytes(file.size_bytes);
    head_len = want < sizeof head_bytes ? want : sizeof head_bytes;
    if (tn_buf_extend(&tail, want) == NULL)
        TN_TRY(tn_fail_memory(cx));
    TN_TRY(tn_store_read(cx, handle, file.size_bytes - want, tail.data, want));
    head = tail.data;
    if (file.size_bytes > want) {
        TN_TRY(tn_store_read(cx, handle, 0, head_bytes, head_len));
        head = head_bytes;
    }
    TN_TRY(check_ends(cx, &file, head, head_len, tail.data, tail.len));
    TN_TRY(load_footer(cx, &file, handle, &tail, &footer));
    TN_TRY(parse(cx, &file, footer));
    *out = file;
    file = (tn_parquet){0};
done:
    tn_store_close_file(handle);
    tn_buf_clear(&tail);
    tn_parquet_close(&file);
    return rc;
}

tn_str tn_parquet_key_value(const tn_parquet *file, const char *key)
{
    for (size_t i = 0; i < file->footer.key_value_count; i++) {
        if (tn_str_is(file->footer.key_values[i].key, key))
            return file->footer.key_values[i].value;
    }
    return (tn_str){NULL, 0};
}

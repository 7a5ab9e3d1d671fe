/* Joins all row groups of Parquet files of one schema into one row group, chunk by chunk, as
 * chunk_join.h does it.
 *
 *     interop_join_chunks OUT [name=value…] FILE…
 *
 * Options: codec (default: that of the first chunk of each column), level, v2, crc, cheapest (a
 * number of enum tn_join_way), page_rows, page_bytes, dictionary_bytes, no_dictionary, copies (the
 * files that many times), time (say how long the joining took). One JSON line per column on stdout:
 * the chunks and bytes of each way, and why. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "codec/parquet/chunk_join.h"
#include "codec/parquet/file_write.h"

typedef struct option {
    const char *name;
    int64_t value;
} option;

static option options[] = {
    {"codec", -1},        {"level", 0},     {"v2", 0},         {"crc", 0},
    {"cheapest", 0},      {"page_rows", 0}, {"page_bytes", 0}, {"dictionary_bytes", 0},
    {"no_dictionary", 0}, {"copies", 1},    {"time", 0}};

static int64_t opt(const char *name)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strcmp(options[i].name, name) == 0)
            return options[i].value;
    abort();
}

static bool set_option(const char *text)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        size_t n = strlen(options[i].name);

        if (strncmp(text, options[i].name, n) == 0 && text[n] == '=') {
            options[i].value = strtoll(text + n + 1, NULL, 10);
            return true;
        }
    }
    return false;
}

typedef struct input {
    tn_buf bytes;
    tn_parquet file;
} input;

static int load(tarn_cx *cx, const char *name, input *in)
{
    tn_arena arena = {0};
    tn_store *store = NULL;
    tn_str path;
    int rc = TARN_OK;

    TN_TRY(tn_store_locate(cx, tn_str_of(name), &arena, &store, &path));
    TN_TRY(tn_store_get(cx, store, path, 1ull << 32, &in->bytes));
    TN_TRY(tn_parquet_open_memory(cx, in->bytes.data, in->bytes.len, tn_str_of(name), &in->file));
done:
    tn_store_close(store);
    tn_arena_clear(&arena);
    return rc;
}

static void say(const tn_leaf *leaf, const tn_join_counts *counts)
{
    static const char *const names[] = {"copy", "sequence", "remap", "repack", "encode"};

    printf("{\"column\":\"%.*s\"", TN_STR_ARG(leaf->dotted));
    for (int way = 0; way < TN_JOIN_WAYS; way++)
        printf(",\"%s\":[%llu,%llu,\"%s\"]", names[way], (unsigned long long)counts->chunks[way],
               (unsigned long long)counts->bytes[way],
               counts->why[way] != NULL ? counts->why[way] : "");
    printf("}\n");
}

static int join_leaf(tarn_cx *cx, input *inputs, size_t n, size_t leaf, tn_encoded_chunk *out)
{
    const tn_parquet *first = &inputs[0].file;
    const tn_leaf *to = &first->schema.leaves[leaf];
    tn_chunk_options chunk = {.codec = opt("codec") >= 0 || first->footer.group_count == 0
                                           ? (int32_t)opt("codec")
                                           : first->footer.groups[0].columns[leaf].codec,
                              .level = (int)opt("level"),
                              .page_v2 = opt("v2") != 0,
                              .crc = opt("crc") != 0,
                              .page_rows = opt("page_rows"),
                              .page_bytes = (uint64_t)opt("page_bytes"),
                              .dictionary_bytes_max = (uint64_t)opt("dictionary_bytes"),
                              .no_dictionary = opt("no_dictionary") != 0};
    tn_join_counts counts = {0};
    tn_chunk_join *join = NULL;
    int rc = TARN_OK;

    chunk.codec = chunk.codec < 0 ? 0 : chunk.codec;
    TN_TRY(tn_chunk_join_open(cx, to, &chunk, (enum tn_join_way)opt("cheapest"), &join));
    for (int64_t c = 0; c < opt("copies"); c++)
        for (size_t i = 0; i < n; i++)
            for (size_t g = 0; g < inputs[i].file.footer.group_count; g++) {
                tn_source source = tn_source_memory(inputs[i].bytes.data, inputs[i].bytes.len, 0);
                tn_join_part part = {
                    .file = &inputs[i].file, .group = g, .leaf = leaf, .source = &source};

                TN_TRY(tn_chunk_join_add(cx, join, &part));
            }
    TN_TRY(tn_chunk_join_finish(cx, join, out, &counts));
    say(to, &counts);
done:
    tn_chunk_join_close(join);
    return rc;
}

static int join_all(tarn_cx *cx, input *inputs, size_t n, tn_parquet_writer *writer)
{
    size_t leaves = inputs[0].file.schema.leaf_count;
    tn_encoded_chunk *chunks = tn_calloc(cx, leaves, sizeof *chunks);
    int64_t rows = 0;
    clock_t begin = clock();
    int rc = TARN_OK;

    if (chunks == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        if (inputs[i].file.schema.leaf_count != leaves)
            TN_FAIL(TARN_E_INVALID, "the files have different schemas");
        rows += inputs[i].file.footer.rows * opt("copies");
    }
    for (size_t i = 0; i < leaves; i++)
        TN_TRY(join_leaf(cx, inputs, n, i, &chunks[i]));
    if (opt("time"))
        fprintf(stderr, "joined in %.3f s\n", (double)(clock() - begin) / CLOCKS_PER_SEC);
    TN_TRY(tn_parquet_writer_row_group(cx, writer, chunks, rows, NULL, 0));
    TN_TRY(tn_parquet_writer_finish(cx, writer));
done:
    for (size_t i = 0; i < leaves; i++)
        tn_encoded_chunk_clear(&chunks[i]);
    free(chunks);
    return rc;
}

static int run(tarn_cx *cx, const char *to, char **names, size_t n)
{
    input *inputs = tn_calloc(cx, n, sizeof *inputs);
    tn_parquet_write_options write = {0};
    tn_parquet_writer *writer = NULL;
    tn_arena arena = {0};
    tn_store *store = NULL;
    tn_sink *sink = NULL;
    tn_str path;
    int rc = TARN_OK;

    if (inputs == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        TN_TRY(load(cx, names[i], &inputs[i]));
    TN_TRY(tn_store_locate(cx, tn_str_of(to), &arena, &store, &path));
    TN_TRY(tn_store_create(cx, store, path, &sink));
    write.key_values = inputs[0].file.footer.key_values;
    write.key_value_count = inputs[0].file.footer.key_value_count;
    TN_TRY(tn_parquet_writer_open(cx, sink, &inputs[0].file.schema, &write, &writer));
    TN_TRY(join_all(cx, inputs, n, writer));
    TN_TRY(tn_store_finish(cx, sink));
done:
    tn_parquet_writer_close(writer);
    tn_store_close_sink(sink);
    tn_store_close(store);
    tn_arena_clear(&arena);
    for (size_t i = 0; i < n; i++) {
        tn_parquet_close(&inputs[i].file);
        tn_buf_clear(&inputs[i].bytes);
    }
    free(inputs);
    return rc;
}

int main(int argc, char **argv)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .memory_bytes = 1ull << 32});
    int at = 2, rc;

    while (at < argc && set_option(argv[at]))
        at++;
    if (at >= argc || cx == NULL)
        return 2;
    rc = run(cx, argv[1], argv + at, (size_t)(argc - at));
    if (rc != TARN_OK)
        fprintf(stderr, "%s\n", tarn_cx_error(cx));
    tarn_cx_close(cx);
    return rc == TARN_OK ? 0 : 1;
}

/* decode_bench FILE [ROUNDS [dictionary]]: reads every leaf of a Parquet file in memory, one
 * thread, and prints the best time of each: "leaf<TAB>milliseconds<TAB>values". With "dictionary"
 * pages of indices are not looked up. See decode_bench.py, which compares with pyarrow. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "codec/parquet/leaf_read.h"

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int load(const char *path, uint8_t **bytes, size_t *len)
{
    FILE *in = fopen(path, "rb");
    long size;

    if (in == NULL)
        return 1;
    fseek(in, 0, SEEK_END);
    size = ftell(in);
    rewind(in);
    *bytes = malloc((size_t)size);
    *len = *bytes != NULL ? fread(*bytes, 1, (size_t)size, in) : 0;
    fclose(in);
    return *len != (size_t)size;
}

static int read_leaf(tarn_cx *cx, const tn_parquet *file, size_t leaf, bool dictionary,
                     int64_t *values)
{
    tn_leaf_read_options options = {.keep_dictionary = dictionary};
    int rc = TARN_OK;

    *values = 0;
    for (size_t group = 0; group < file->footer.group_count; group++) {
        tn_source source = tn_source_memory(file->memory, file->size_bytes, 0);
        tn_leaf_reader *reader = NULL;
        tn_leaf_batch batch = {0};

        rc = tn_leaf_reader_open(cx, file, group, leaf, &source, &options, &reader);
        while (rc == TARN_OK) {
            rc = tn_leaf_reader_next(cx, reader, 65536, &batch);
            if (rc != TARN_OK || batch.rows == 0)
                break;
            *values += batch.values.count;
        }
        tn_leaf_reader_close(reader);
        if (rc != TARN_OK)
            break;
    }
    return rc;
}

int main(int argc, char **argv)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    int rounds = argc > 2 ? atoi(argv[2]) : 5;
    bool dictionary = argc > 3 && strcmp(argv[3], "dictionary") == 0;
    tn_parquet file = {0};
    uint8_t *bytes = NULL;
    size_t len = 0;
    int rc = TARN_OK;

    if (argc < 2 || cx == NULL || load(argv[1], &bytes, &len) != 0) {
        fprintf(stderr, "usage: decode_bench FILE [ROUNDS [dictionary]]\n");
        return 2;
    }
    rc = tn_parquet_open_memory(cx, bytes, len, tn_str_of(argv[1]), &file);
    for (size_t leaf = 0; rc == TARN_OK && leaf < file.schema.leaf_count; leaf++) {
        double best = 1e18;
        int64_t values = 0;

        for (int i = 0; i < rounds && rc == TARN_OK; i++) {
            double start = now_ms(), took;

            rc = read_leaf(cx, &file, leaf, dictionary, &values);
            took = now_ms() - start;
            best = took < best ? took : best;
        }
        if (rc == TARN_OK)
            printf("%.*s\t%.3f\t%lld\n", TN_STR_ARG(file.schema.leaves[leaf].dotted), best,
                   (long long)values);
    }
    if (rc != TARN_OK)
        fprintf(stderr, "%s\n", tarn_cx_error(cx));
    tn_parquet_close(&file);
    free(bytes);
    tarn_cx_close(cx);
    return rc == TARN_OK ? 0 : 1;
}

/* Leaves of files by other writers (TARN_SHARED, or ../shared beside the checkout): good ones are
 * read to the end with the rows of the inventory, damaged ones end in a status that names file
 * and column. */
#include "unit/codec/parquet/leaves.h"

static const char *shared(void)
{
    const char *dir = getenv("TARN_SHARED");

    return dir != NULL && dir[0] != '\0' ? dir : TARN_SOURCE_DIR "/../shared";
}

static int read_file(tarn_cx *cx, const char *path, const leaves_options *options, int64_t *rows)
{
    size_t len;
    uint8_t *bytes = leaves_load(path, &len);
    tn_parquet file = {0};
    int rc = TARN_OK;

    TN_TRY(tn_parquet_open_memory(cx, bytes, len, tn_str_of(path), &file));
    TN_TRY(leaves_read_all(cx, &file, options, rows));
done:
    tn_parquet_close(&file);
    free(bytes);
    return rc;
}

static const leaves_options ways[] = {
    {.rows_max = 1 << 20},
    {.rows_max = 7, .keep_dictionary = true},
    {.rows_max = 1},
};

static void read_good(tarn_cx *cx, const char *path, const char *name, int64_t want)
{
    leaves_options options;

    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        int64_t rows;

        options = ways[i];
        options.skip_crc = strstr(name, "corrupt-checksum") != NULL;
        assert_ok(cx, read_file(cx, path, &options, &rows));
        if (rows != want)
            fail_msg("%s: %lld rows, want %lld", name, (long long)rows, (long long)want);
    }
    if (options.skip_crc) {
        options.skip_crc = false;
        assert_fails(cx, TARN_E_CORRUPT, "checksum", read_file(cx, path, &options, &want));
    }
}

static void read_bad(tarn_cx *cx, const char *path, const char *name)
{
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        int64_t rows;
        int rc = read_file(cx, path, &ways[i], &rows);

        if (rc == TARN_OK)
            fail_msg("%s: read without a failure", name);
        assert_non_null(strstr(tarn_cx_error(cx), path));
    }
    print_message("%s: %s\n", name, tarn_cx_error(cx));
}

static void test_shared__files_of_all_writers(void **state)
{
    char path[4096], line[4096];
    const char *dir = shared();
    tarn_cx *cx;
    FILE *in;
    size_t good = 0, bad = 0;

    (void)state;
    snprintf(path, sizeof path, "%s/parquet/inventory.tsv", dir);
    in = fopen(path, "r");
    if (in == NULL)
        skip();
    cx = tarn_cx_open(NULL);
    assert_non_null(fgets(line, sizeof line, in));
    while (fgets(line, sizeof line, in) != NULL) {
        char *rest = line, *name = strsep(&rest, "\t"), *field = NULL;

        snprintf(path, sizeof path, "%s/parquet/%s", dir, name);
        if (strncmp(name, "bad_data", 8) == 0) {
            read_bad(cx, path, name);
            bad++;
            continue;
        }
        /* field 8: what pyarrow made of it; where it refuses the schema, the rows are DuckDB's */
        for (int i = 0; i < 8; i++)
            field = strsep(&rest, "\t");
        if (strncmp(field, "ok ", 3) != 0)
            field = strsep(&rest, "\t");
        read_good(cx, path, name, atoll(field + 3));
        good++;
    }
    fclose(in);
    tarn_cx_close(cx);
    print_message("%zu good, %zu bad\n", good, bad);
    assert_true(good > 100 && bad >= 6);
}

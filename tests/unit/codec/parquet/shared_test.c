/* Every file of many writers, where that collection lies beside the repository (TARN_SHARED, or
 * ../shared): opened, and its counts compared with the inventory. */
#include "unit/test.h"

#include "base/buf.h"
#include "codec/parquet/file.h"

static bool read_whole(const char *path, tn_buf *out)
{
    FILE *in = fopen(path, "rb");
    size_t n;

    if (in == NULL)
        return false;
    while (tn_buf_reserve(out, 65536) && (n = fread(out->data + out->len, 1, 65536, in)) > 0)
        out->len += n;
    fclose(in);
    return true;
}

static const char *shared_dir(void)
{
    const char *dir = getenv("TARN_SHARED");

    return dir != NULL ? dir : TARN_SOURCE_DIR "/../shared";
}

/* The inventory's line: file, bytes, rows, row groups, leaf columns, … */
static int split_line(char *line, char *fields[], int count)
{
    int n = 0;

    for (char *at = line; at != NULL && n < count; n++) {
        fields[n] = at;
        at = strchr(at, '\t');
        if (at != NULL)
            *at++ = '\0';
    }
    return n;
}

static void check_file(tarn_cx *cx, const char *name, const char *fields[])
{
    char path[4096];
    tn_buf bytes = {0};
    tn_parquet file;
    int rc;

    snprintf(path, sizeof path, "%s/parquet/%s", shared_dir(), name);
    assert_true(read_whole(path, &bytes));
    rc = tn_parquet_open_memory(cx, bytes.data, bytes.len, tn_str_of(name), &file);
    if (rc != TARN_OK && strncmp(name, "bad_data/", 9) != 0)
        fail_msg("%s: %s", name, tarn_cx_error(cx));
    if (rc != TARN_OK) {
        assert_true(strstr(tarn_cx_error(cx), name) != NULL);
        printf("           %s\n", tarn_cx_error(cx));
    } else if (fields[2][0] != '\0') {
        /* The footer of this one counts 0 rows, and so does the inventory; its groups hold 6. */
        bool uncounted = strcmp(name, "data/repeated_no_annotation.parquet") == 0;

        assert_int_equal(file.footer.rows, uncounted ? 6 : strtoll(fields[2], NULL, 10));
        assert_int_equal(file.footer.group_count, strtoll(fields[3], NULL, 10));
        assert_int_equal(file.schema.leaf_count, strtoll(fields[4], NULL, 10));
    }
    tn_parquet_close(&file);
    tn_buf_clear(&bytes);
}

static void test_shared__open_and_count(void **state)
{
    char path[4096];
    tn_buf text = {0};
    tarn_cx *cx = tarn_cx_open(NULL);
    char *line;

    (void)state;
    snprintf(path, sizeof path, "%s/parquet/inventory.tsv", shared_dir());
    if (!read_whole(path, &text)) {
        print_message("SKIPPED: no %s\n", path);
        tarn_cx_close(cx);
        skip();
    }
    tn_buf_u8(&text, '\0');
    line = strchr((char *)text.data, '\n');
    while (line != NULL && line[1] != '\0') {
        char *fields[5] = {0};
        char *next = strchr(line + 1, '\n');

        if (next != NULL)
            *next = '\0';
        assert_int_equal(split_line(line + 1, fields, 5), 5);
        check_file(cx, fields[0], (const char **)fields);
        line = next;
    }
    tn_buf_clear(&text);
    tarn_cx_close(cx);
}

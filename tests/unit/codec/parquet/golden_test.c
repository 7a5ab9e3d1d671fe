/* Levels and values of every leaf of tests/golden/parquet equal what its maker expected, however
 * the file is read; damaged copies end in a status. */
#include "unit/codec/parquet/leaves.h"

#include <dirent.h>

#define GOLDEN TARN_SOURCE_DIR "/tests/golden/parquet"

/* Each file by name without its ending. */
static size_t each_file(void (*visit)(tarn_cx *cx, const char *name, const char *path))
{
    DIR *dir = opendir(GOLDEN);
    struct dirent *entry;
    size_t count = 0;

    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        char path[4096], name[256];
        char *dot;
        tarn_cx *cx;

        snprintf(name, sizeof name, "%s", entry->d_name);
        dot = strrchr(name, '.');
        if (dot == NULL || strcmp(dot, ".parquet") != 0)
            continue;
        *dot = '\0';
        snprintf(path, sizeof path, GOLDEN "/%s", entry->d_name);
        cx = tarn_cx_open(NULL);
        visit(cx, name, path);
        tarn_cx_close(cx);
        count++;
    }
    closedir(dir);
    return count;
}

static char *load_text(const char *name)
{
    char path[4096];
    size_t len;
    char *text;

    snprintf(path, sizeof path, GOLDEN "/%s.txt", name);
    text = (char *)leaves_load(path, &len);
    text = realloc(text, len + 1);
    text[len] = '\0';
    return text;
}

/* The line at *at, and *at moved past it. */
static tn_str take_line(const char **at)
{
    const char *end = strchr(*at, '\n');
    tn_str line = {*at, end != NULL ? (size_t)(end - *at) : strlen(*at)};

    *at += line.len + (end != NULL);
    return line;
}

/* Moves *want from row *row to row `to` of its leaf; a row starts where the line starts with "0 ".
 */
static void pass_rows(const char **want, long long *row, long long to)
{
    while (*row < to || (strncmp(*want, "0 ", 2) != 0 && strncmp(*want, "leaf", 4) != 0)) {
        tn_str line;

        if (**want == '\0')
            break;
        line = take_line(want);
        if (tn_str_starts((tn_str){*want, 2}, TN_STR("0 ")) || line.len == 0)
            (*row)++;
    }
}

/* `got` has "@row" marks: what follows one equals the lines of `want` from that row on. */
static void compare(const char *name, const char *got, const char *want)
{
    long long row = 0;

    while (*got != '\0') {
        tn_str line = take_line(&got), expected;

        if (line.ptr[0] == '@') {
            pass_rows(&want, &row, atoll(line.ptr + 1));
            continue;
        }
        if (tn_str_starts(line, TN_STR("leaf"))) {
            while (strncmp(want, "leaf", 4) != 0 && *want != '\0')
                take_line(&want);
            row = 0;
        }
        expected = take_line(&want);
        if (!tn_str_equal(line, expected))
            fail_msg("%s: row %lld: got \"%.*s\", want \"%.*s\"", name, row, TN_STR_ARG(line),
                     TN_STR_ARG(expected));
        if (strncmp(want, "0 ", 2) == 0 && strncmp(line.ptr, "leaf", 4) != 0)
            row++;
    }
}

static const leaves_options ways[] = {
    {.rows_max = 1 << 20},
    {.rows_max = 1 << 20, .keep_dictionary = true},
    {.rows_max = 1},
    {.rows_max = 7, .keep_dictionary = true},
    {.rows_max = 3, .skip = 1, .skip_between = 1},
    {.rows_max = 5, .skip = 33, .skip_between = 17, .use_index = true},
    {.rows_max = 5, .skip = 33, .skip_between = 17, .keep_dictionary = true},
    {.rows_max = 2, .skip = 101, .skip_between = 111, .use_index = true},
    {.rows_max = 2, .skip = 101, .skip_between = 111},
    {.rows_max = 9, .skip = 140, .skip_between = 400, .use_index = true},
};

static void check_values(tarn_cx *cx, const char *name, const char *path)
{
    size_t len;
    uint8_t *bytes = leaves_load(path, &len);
    tn_parquet file;

    assert_ok(cx, tn_parquet_open_memory(cx, bytes, len, tn_str_of(path), &file));
    for (size_t i = 0; file.footer.rows != 0 && i < sizeof ways / sizeof ways[0]; i++) {
        leaves_options options = ways[i];
        char *want = load_text(name);
        tn_buf got = {0};
        int64_t rows;

        options.text = &got;
        options.mark = options.skip != 0;
        assert_ok(cx, leaves_read_all(cx, &file, &options, &rows));
        tn_buf_u8(&got, 0);
        if (options.mark)
            compare(name, (char *)got.data, want);
        else
            assert_string_equal((char *)got.data, want);
        tn_buf_clear(&got);
        free(want);
    }
    tn_parquet_close(&file);
    free(bytes);
}

/* Through a window of the store, as small as it may be, and larger. */
static void check_window(tarn_cx *cx, const char *name, const char *path)
{
    size_t len;
    uint8_t *bytes = leaves_load(path, &len);
    tn_store *store = NULL;
    tn_parquet file;

    assert_ok(cx, tn_store_local_open(cx, &store));
    assert_ok(cx, tn_parquet_open_memory(cx, bytes, len, tn_str_of(path), &file));
    for (size_t ahead = 0; file.footer.rows != 0 && ahead <= 8192; ahead += 4096) {
        char *want = load_text(name);
        tn_buf got = {0};
        leaves_options options = {.store = store, .ahead_bytes = ahead, .text = &got};
        int64_t rows;

        assert_ok(cx, leaves_read_all(cx, &file, &options, &rows));
        tn_buf_u8(&got, 0);
        assert_string_equal((char *)got.data, want);
        tn_buf_clear(&got);
        free(want);
    }
    tn_parquet_close(&file);
    tn_store_close(store);
    free(bytes);
}

static void test_golden__the_same_through_a_store(void **state)
{
    (void)state;
    assert_true(each_file(check_window) >= 12);
}

static void test_golden__values_are_those_expected(void **state)
{
    (void)state;
    assert_true(each_file(check_values) >= 12);
}

/* Damage in the pages: the footer stays whole. */
static void check_damage(tarn_cx *cx, const char *name, const char *path)
{
    size_t len, ok = 0, failed = 0;
    uint8_t *bytes = leaves_load(path, &len);

    (void)name;
    for (size_t i = 4; i < len && i < 2000; i += i < 200 ? 1 : 7) {
        tn_parquet file;
        uint8_t before = bytes[i];
        leaves_options options = {.rows_max = 64, .keep_dictionary = i % 2 != 0};
        int64_t rows;

        bytes[i] = (uint8_t)(i % 3 == 0 ? before ^ (1u << i % 8) : i % 3 == 1 ? 0xff : before + 1);
        if (tn_parquet_open_memory(cx, bytes, len, TN_STR("damaged"), &file) == TARN_OK) {
            if (leaves_read_all(cx, &file, &options, &rows) == TARN_OK)
                ok++;
            else if (strstr(tarn_cx_error(cx), "damaged: column ") != NULL)
                failed++;
            else
                fail_msg("a text without file and column: %s", tarn_cx_error(cx));
        }
        tn_parquet_close(&file);
        bytes[i] = before;
    }
    assert_true(failed > 0 || len < 300);
    free(bytes);
}

static void test_golden__damage_ends_in_a_status(void **state)
{
    (void)state;
    assert_true(each_file(check_damage) >= 12);
}

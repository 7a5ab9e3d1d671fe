/* Inputs that overlap with the directory written to. */
#include "unit/temp_dir.h"
#include "unit/test.h"

#include <sys/stat.h>

#include "op/write_op.h"

static void touch(const char *base, const char *name, bool directory)
{
    char path[4200];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", base, name);
    if (directory) {
        assert_int_equal(mkdir(path, 0777), 0);
        return;
    }
    file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
}

static void test_write_input__overlaps(void **state)
{
    static const struct {
        const char *input; /* below the base */
        bool overlaps;     /* for an append */
        bool itself;       /* may be read for an overwrite */
    } cases[] = {
        {"lake", true, true},
        {"lake/", true, true},
        {"lake/../lake", true, true},
        {"link", true, true},
        {"lake/dt=1", true, false},
        {"lake/dt=1/a.parquet", true, false},
        {"lake/*/a.parquet", true, false},
        {"lake/none-*.csv", true, false},
        {".", true, false},
        {"*", true, false},
        {"la?e", true, false},
        {"l*/dt=1/*.parquet", true, false},
        {"**/*.parquet", true, false},
        {"lake2", false, false},
        {"lake2/*.csv", false, false},
        {"in.csv", false, false},
        {"*.csv", false, false},
        {"lake[0-9]", false, false},
        {"other/**", false, false},
        {"[x].csv", false, false}, /* a name that exists is no glob */
        {"missing.csv", false, false},
    };
    tarn_write_options append = {0}, overwrite = {.mode = TARN_WRITE_OVERWRITE};
    tarn_cx *cx = tarn_cx_open(NULL);
    char base[1024], root[2048], link[2048];

    (void)state;
    temp_dir_make(base, sizeof base);
    touch(base, "lake", true);
    touch(base, "lake/dt=1", true);
    touch(base, "lake/dt=1/a.parquet", false);
    touch(base, "lake2", true);
    touch(base, "other", true);
    touch(base, "in.csv", false);
    touch(base, "[x].csv", false);
    snprintf(root, sizeof root, "%s/lake", base);
    snprintf(link, sizeof link, "%s/link", base);
    assert_int_equal(symlink(root, link), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[2048];
        const char *inputs[] = {path, "-"};
        bool itself = false;

        snprintf(path, sizeof path, "%s/%s", base, cases[i].input);
        if (cases[i].overlaps)
            assert_fails(cx, TARN_E_INVALID, "overlaps",
                         tn_write_input_check(cx, tn_str_of(root), inputs, 2, &append, &itself));
        else
            assert_ok(cx, tn_write_input_check(cx, tn_str_of(root), inputs, 2, &append, &itself));
        if (cases[i].overlaps && !cases[i].itself)
            assert_fails(cx, TARN_E_INVALID, "overlaps",
                         tn_write_input_check(cx, tn_str_of(root), inputs, 2, &overwrite, &itself));
        else
            assert_ok(cx,
                      tn_write_input_check(cx, tn_str_of(root), inputs, 2, &overwrite, &itself));
        if (itself != cases[i].itself)
            fail_msg("%s: itself %d", cases[i].input, itself);
    }
    {
        const char *twice[] = {root, link};
        bool itself;

        assert_fails(cx, TARN_E_INVALID, "given twice",
                     tn_write_input_check(cx, tn_str_of(root), twice, 2, &overwrite, &itself));
    }
    unlink(link);
    temp_dir_remove(base);
    tarn_cx_close(cx);
}

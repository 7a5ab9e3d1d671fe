/* Slices that a read does not open, by the metadata tables that real Hudi wrote: as many as can be,
 * and never one with a row that is asked for. Skipped where there are none. */
#include "tarn/read.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/temp_dir.h"
#include "unit/test.h"

typedef struct fixture {
    tarn_cx *cx;
    char temp[4096], root[8192];
} fixture;

/* False: there are no fixtures here. */
static bool fixture_open(fixture *f, const char *name)
{
    const char *shared = getenv("TARN_SHARED");
    char zip[4096], command[9000], probe[9000];
    struct dirent *entry;
    struct stat stat_;
    DIR *dir;

    *f = (fixture){0};
    snprintf(zip, sizeof zip, "%s/fixtures/%s.zip",
             shared != NULL && shared[0] != '\0' ? shared : TARN_SOURCE_DIR "/../shared", name);
    if (access(zip, R_OK) != 0)
        return false;
    f->cx = tarn_cx_open(NULL);
    temp_dir_make(f->temp, sizeof f->temp);
    snprintf(command, sizeof command, "cd '%s' && unzip -qo '%s'", f->temp, zip);
    if (system(command) != 0)
        fail_msg("%s could not be unpacked", zip);
    dir = opendir(f->temp);
    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        snprintf(probe, sizeof probe, "%s/%s/.hoodie", f->temp, entry->d_name);
        if (entry->d_name[0] != '.' && stat(probe, &stat_) == 0)
            snprintf(f->root, sizeof f->root, "%s/%s", f->temp, entry->d_name);
    }
    closedir(dir);
    assert_true(f->root[0] != '\0');
    return true;
}

static void fixture_close(fixture *f)
{
    if (f->cx == NULL)
        return;
    temp_dir_remove(f->temp);
    tarn_cx_close(f->cx);
}

static void warned(void *arg, const char *text)
{
    (void)arg;
    fail_msg("a warning: %s", text);
}

static int64_t read_all(fixture *f, const char *key, const char *where, tarn_read_counts *counts)
{
    tarn_read_options options = {.key = key, .where = where, .counts = counts, .warn = warned};
    struct ArrowArrayStream stream = {0};
    int64_t rows = 0;

    assert_ok(f->cx, tarn_read_open(f->cx, f->root, &options, &stream));
    for (;;) {
        struct ArrowArray batch = {0};

        if (stream.get_next(&stream, &batch) != 0)
            fail_msg("%s", stream.get_last_error(&stream));
        if (batch.release == NULL)
            break;
        rows += batch.length;
        batch.release(&batch);
    }
    stream.release(&stream);
    return rows;
}

static void test_read_skip__fixtures(void **state)
{
    static const struct {
        const char *table, *key, *where;
        int64_t rows;
        uint64_t slices, read;
    } cases[] = {
        {"mor_avro_v9_txns_simple_meta", NULL, NULL, 12, 5, 5},
        {"mor_avro_v9_txns_simple_meta", "TXN-001", NULL, 1, 5, 1},
        {"mor_avro_v9_txns_simple_meta", "TXN-999", NULL, 0, 5, 0},
        {"mor_avro_v9_txns_simple_meta", "TXN-001", "amount < 0", 0, 5, 1},
        {"mor_avro_v9_txns_simple_meta", NULL, "amount > 100000000", 0, 5, 0},
        {"mor_avro_v9_txns_simple_meta", NULL, "txn_date < DATE '2000-01-01'", 0, 5, 0},
        {"mor_avro_v9_txns_simple_meta", NULL, "amount IS NULL", 0, 5, 0},
        {"cow_v9_txns_simple_meta", "TXN-001", NULL, 1, 5, 1},
        {"cow_v9_txns_simple_meta", NULL, "currency = 'XXX'", 0, 5, 0},
        {"trips_mor_avro_v8_trips_8i3u1d", "nothing", NULL, 0, 3, 0},
        /* without a metadata table all are read */
        {"cow_v9_txns_nonpart_nometa", "TXN-999", NULL, 0, 2, 2},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tarn_read_counts counts = {0};
        int64_t rows;
        fixture f;

        if (!fixture_open(&f, cases[i].table))
            skip();
        rows = read_all(&f, cases[i].key, cases[i].where, &counts);
        if (rows != cases[i].rows || counts.slices != cases[i].slices ||
            counts.slices_read != cases[i].read)
            fail_msg("case %zu: %lld rows, %llu of %llu slices", i, (long long)rows,
                     (unsigned long long)counts.slices_read, (unsigned long long)counts.slices);
        fixture_close(&f);
    }
}

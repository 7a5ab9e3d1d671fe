/* Files with random damage through `tarn read` and `tarn show`, as a whole and in this process:
 * each gives rows or a status with text, in bounded memory. The files are those of
 * tests/golden/parquet, and others of TARN_SHARED (or ../shared) where they are. TARN_FULL: many
 * more of each. */
#include "unit/temp_dir.h"

#include <sys/resource.h>

#include "tarn/inspect.h"
#include "tarn/read.h"

#define FILE_BYTES_MAX (1 << 20)
#define MEMORY_BYTES   (64u << 20)
/* The budget, what it does not count (compressors, the page cache of the sanitizer's quarantine),
 * and the text of rows. */
#define RSS_KIB_MAX (1400u << 10)

typedef struct hostile {
    tarn_cx *cx;
    char dir[64], path[96];
    uint64_t seed;
    uint8_t bytes[FILE_BYTES_MAX], damaged[FILE_BYTES_MAX];
    size_t len;
    size_t runs, failures, prints;
} hostile;

static size_t below(hostile *h, size_t n)
{
    uint64_t z = h->seed += 0x9E3779B97F4A7C15u;

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return n == 0 ? 0 : (size_t)((z ^ z >> 31) % n);
}

/* Half of the damage is in the footer, where a byte means most. */
static size_t damage(hostile *h)
{
    uint32_t footer;
    size_t len = h->len, hits = 1 + below(h, 8), first = 0;

    memcpy(h->damaged, h->bytes, len);
    memcpy(&footer, h->bytes + len - 8, 4);
    if (below(h, 2) == 0 && footer < len)
        first = len - 8 - footer;
    for (size_t i = 0; i < hits; i++) {
        size_t at = first + below(h, len - first);

        switch (below(h, 4)) {
        case 0:
            h->damaged[at] ^= (uint8_t)(1u << below(h, 8));
            break;
        case 1:
            h->damaged[at] = (uint8_t)below(h, 256);
            break;
        case 2:
            h->damaged[at] = below(h, 2) == 0 ? 0xFF : 0x7F;
            break;
        default: {
            size_t n = below(h, 9), from = below(h, len - 8);

            memmove(h->damaged + (at < len - 8 ? at : len - 8), h->damaged + from, n < 8 ? n : 8);
        }
        }
    }
    /* The magic and the length stay mostly, else nothing is read at all. */
    if (below(h, 20) != 0)
        memcpy(h->damaged + len - 8, h->bytes + len - 8, 8);
    return below(h, 12) == 0 ? below(h, len) : len;
}

static int swallow(void *arg, const void *bytes, size_t len)
{
    hostile *h = arg;

    (void)bytes;
    h->prints += len != 0;
    return TARN_OK;
}

static void expect_status(hostile *h, const char *name, size_t run, int rc)
{
    h->failures += rc != TARN_OK;
    if (rc == TARN_OK)
        return;
    if (rc != TARN_E_CORRUPT && rc != TARN_E_UNSUPPORTED && rc != TARN_E_LIMIT &&
        rc != TARN_E_DATA)
        fail_msg("%s, damage %zu: %s: %s", name, run, tarn_status_name(rc), tarn_cx_error(h->cx));
    if (strstr(tarn_cx_error(h->cx), h->path) == NULL)
        fail_msg("%s, damage %zu: the text does not name the file: %s", name, run,
                 tarn_cx_error(h->cx));
}

static int read_rows(hostile *h)
{
    tarn_read_options options = {.skip_crc = true, .has_limit = true, .limit = 5000};
    struct ArrowArrayStream rows = {0};
    int rc = tarn_read_open(h->cx, h->path, &options, &rows);

    if (rc == TARN_OK)
        rc = tarn_read_print(h->cx, &rows, TARN_ROWS_NDJSON, swallow, h);
    if (rows.release != NULL)
        rows.release(&rows);
    return rc;
}

static int show(hostile *h)
{
    tarn_inspect *inspect = NULL;
    int rc = tarn_inspect_open(h->cx, h->path, &inspect);

    for (size_t g = 0; rc == TARN_OK && g < inspect->group_count; g++) {
        for (size_t c = 0; rc == TARN_OK && c < inspect->column_count; c++) {
            tarn_inspect_chunk chunk = {0};

            rc = tarn_inspect_chunk_at(h->cx, inspect, g, c, &chunk);
            tarn_inspect_chunk_clear(&chunk);
        }
    }
    tarn_inspect_close(inspect);
    return rc;
}

static void run_once(hostile *h, const char *name, size_t run)
{
    size_t len = damage(h);
    FILE *out = fopen(h->path, "wb");

    assert_non_null(out);
    assert_int_equal(fwrite(h->damaged, 1, len, out), len);
    fclose(out);
    expect_status(h, name, run, read_rows(h));
    expect_status(h, name, run, show(h));
    h->runs++;
}

static void run_file(hostile *h, const char *path, const char *name, size_t runs)
{
    FILE *in = fopen(path, "rb");

    assert_non_null(in);
    h->len = fread(h->bytes, 1, sizeof h->bytes, in);
    fclose(in);
    if (h->len == sizeof h->bytes || h->len < 12)
        return;
    for (size_t i = 0; i < runs; i++)
        run_once(h, name, i);
}

static void run_directory(hostile *h, const char *dir, size_t runs)
{
    DIR *open = opendir(dir);
    struct dirent *entry;

    while (open != NULL && (entry = readdir(open)) != NULL) {
        size_t len = strlen(entry->d_name);
        char path[4096];

        if (len < 8 || strcmp(entry->d_name + len - 8, ".parquet") != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
        run_file(h, path, entry->d_name, runs);
    }
    if (open != NULL)
        closedir(open);
}

static void test_read_hostile__damage_ends_in_a_status(void **state)
{
    const char *full = getenv("TARN_FULL"), *shared = getenv("TARN_SHARED");
    hostile *h = calloc(1, sizeof *h);
    struct rusage usage;
    char dir[4096];
    size_t runs = full != NULL && full[0] != '\0' ? 1200 : 100;

    (void)state;
    assert_non_null(h);
    h->cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .memory_bytes = MEMORY_BYTES});
    h->seed = 1;
    temp_dir_make(h->dir, sizeof h->dir);
    snprintf(h->path, sizeof h->path, "%s/x.parquet", h->dir);
    run_directory(h, TARN_SOURCE_DIR "/tests/golden/parquet", runs);
    assert_true(h->runs >= 10 * runs);
    snprintf(dir, sizeof dir, "%s/parquet/data",
             shared != NULL && shared[0] != '\0' ? shared : TARN_SOURCE_DIR "/../shared");
    run_directory(h, dir, runs / 10);
    /* Damage that nobody notices is none; rows were read as well as refused. */
    assert_true(h->failures > h->runs / 10 && h->prints > 0);
    getrusage(RUSAGE_SELF, &usage);
    assert_true((uint64_t)usage.ru_maxrss < RSS_KIB_MAX);
    print_message("%zu files, %zu failures, %ld KiB\n", h->runs, h->failures, usage.ru_maxrss);
    temp_dir_remove(h->dir);
    tarn_cx_close(h->cx);
    free(h);
}

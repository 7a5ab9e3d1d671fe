/* ndjson_bench FILE [JOBS [ROUNDS]]: reads a text file, packed or not, into batches and throws them
 * away; prints the best times: "milliseconds<TAB>milliseconds of the processors<TAB>rows". See
 * ndjson_bench.py, which compares with peers. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "batch/array.h"
#include "exec/exec_input.h"

static double now_ms(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int read_file(tarn_cx *cx, tn_store *store, const char *path, int64_t *rows)
{
    struct ArrowArrayStream stream = {0};
    struct ArrowArray batch = {0};
    int rc = TARN_OK;

    TN_TRY(tn_exec_input_open(cx, store, tn_str_of(path), TN_INPUT_AUTO, NULL, &stream));
    for (*rows = 0;;) {
        if (stream.get_next(&stream, &batch) != 0)
            TN_TRY(tarn_cx_status(cx));
        if (batch.release == NULL)
            break;
        *rows += batch.length;
        tn_array_release(&batch);
    }
done:
    if (stream.release != NULL)
        stream.release(&stream);
    return rc;
}

int main(int argc, char **argv)
{
    tarn_cx_options options = {.jobs = argc > 2 ? (unsigned)atoi(argv[2]) : 1};
    int rounds = argc > 3 ? atoi(argv[3]) : 5;
    tarn_cx *cx = tarn_cx_open(&options);
    tn_store *store = NULL;
    double best = 1e18, best_cpu = 1e18;
    int64_t rows = 0;
    int rc = TARN_OK;

    if (argc < 2 || cx == NULL)
        return 2;
    TN_TRY(tn_store_local_open(cx, &store));
    for (int i = 0; i < rounds; i++) {
        double start = now_ms(CLOCK_MONOTONIC), cpu = now_ms(CLOCK_PROCESS_CPUTIME_ID);

        TN_TRY(read_file(cx, store, argv[1], &rows));
        start = now_ms(CLOCK_MONOTONIC) - start;
        cpu = now_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu;
        best = start < best ? start : best;
        best_cpu = cpu < best_cpu ? cpu : best_cpu;
    }
    printf("%.1f\t%.1f\t%lld\n", best, best_cpu, (long long)rows);
done:
    if (rc != TARN_OK)
        fprintf(stderr, "ndjson_bench: %s\n", tarn_cx_error(cx));
    tn_store_close(store);
    tarn_cx_close(cx);
    return rc != TARN_OK;
}

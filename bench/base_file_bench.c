/* Writes base files of a Hudi table, rows from memory, and prints the seconds that it took.
 *
 *   base_file_bench insert IN.parquet KEY_COLUMN DIR TARGET_BYTES [SCHEMA.avsc]
 *   base_file_bench change FILE.parquet DIR FIRST EVERY COUNT [SCHEMA.avsc]
 *
 * insert: the rows of a plain file as new files of DIR. change: COUNT rows of a base file, from
 * FIRST on every EVERYth one, are written again as they are; EVERY 0: COUNT rows are new. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "batch/array.h"
#include "batch/field.h"
#include "batch/gather.h"
#include "batch/rows.h"
#include "codec/parquet/arrow.h"
#include "exec/exec_upsert.h"

#define META 5

typedef struct bench {
    tarn_cx *cx;
    tn_store *store;
    tn_arena arena;
    struct ArrowSchema schema;
    struct ArrowArray *batches;
    size_t count, cap, next;
    tn_base_job job;
    tn_buf avro;
} bench;

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Of all threads: on a busy machine it says more. */
static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int mark(tarn_cx *cx, void *arg, tn_str partition, tn_str name, bool merge)
{
    (void)cx;
    (void)arg;
    (void)partition;
    (void)name;
    (void)merge;
    return TARN_OK;
}

/* The schema of the rows with the meta columns before it. */
static int make_schema(tarn_cx *cx, const struct ArrowSchema *plain, struct ArrowSchema *out)
{
    static const char *const names[META] = {"_hoodie_commit_time", "_hoodie_commit_seqno",
                                            "_hoodie_record_key", "_hoodie_partition_path",
                                            "_hoodie_file_name"};
    int rc = TARN_OK;

    TN_TRY(tn_field_init(cx, out, "+s", TN_STR(""), false, (size_t)plain->n_children + META));
    for (int64_t i = 0; i < META; i++)
        TN_TRY(tn_field_init(cx, out->children[i], "u", tn_str_of(names[i]), true, 0));
    for (int64_t i = 0; i < plain->n_children; i++)
        TN_TRY(tn_field_copy(cx, plain->children[i], out->children[META + i]));
done:
    return rc;
}

static int add_batch(bench *b, struct ArrowArray *rows, int64_t key)
{
    tarn_cx *cx = b->cx;
    struct ArrowArray *out;
    tn_gather_part part = {.count = rows->length};
    int rc = TARN_OK;

    TN_TRY(tn_grow(cx, &b->batches, b->count, &b->cap, sizeof *b->batches));
    out = &b->batches[b->count++];
    *out = (struct ArrowArray){0};
    if (key < 0) {
        tn_array_move(rows, out);
        goto done;
    }
    TN_TRY(tn_array_init(cx, out, rows->length, 1, (size_t)rows->n_children + META));
    for (int64_t i = 0; i < META; i++)
        if (i != 2)
            TN_TRY(tn_rows_nulls(cx, b->schema.children[i], rows->length, out->children[i]));
    part.array = rows->children[key];
    TN_TRY(tn_gather(cx, b->schema.children[2], &part, 1, out->children[2]));
    for (int64_t i = 0; i < rows->n_children; i++)
        tn_array_move(rows->children[i], out->children[META + i]);
done:
    tn_array_release(rows);
    return rc;
}

static int load(bench *b, const char *text, const char *key_name)
{
    tarn_cx *cx = b->cx;
    tn_parquet file = {0};
    tn_parquet_scan *scan = NULL;
    struct ArrowSchema plain = {0};
    struct ArrowArray batch = {0};
    tn_str path;
    int64_t first, key = -1;
    int rc = TARN_OK;

    TN_TRY(tn_store_locate(cx, tn_str_of(text), &b->arena, &b->store, &path));
    TN_TRY(tn_parquet_open(cx, b->store, path, &file));
    for (size_t i = 0; i < file.footer.key_value_count; i++)
        file.footer.key_values[i].key = (tn_str){0};
    TN_TRY(tn_parquet_scan_open(cx, &file, &(tn_parquet_scan_options){0}, &scan));
    TN_TRY(tn_parquet_scan_schema(cx, scan, &plain));
    for (int64_t i = 0; key_name != NULL && i < plain.n_children; i++)
        if (tn_str_is(tn_str_of(key_name), plain.children[i]->name))
            key = i;
    if (key_name == NULL)
        TN_TRY(tn_field_copy(cx, &plain, &b->schema));
    else if (key < 0)
        TN_FAIL(TARN_E_INVALID, "no such column");
    else
        TN_TRY(make_schema(cx, &plain, &b->schema));
    for (;;) {
        TN_TRY(tn_parquet_scan_next(cx, scan, &batch, &first));
        if (batch.length == 0)
            break;
        TN_TRY(add_batch(b, &batch, key));
    }
done:
    tn_array_release(&batch);
    tn_field_release(&plain);
    tn_parquet_scan_close(scan);
    tn_parquet_close(&file);
    return rc;
}

static int make_job(bench *b, const char *dir, const char *avro)
{
    tarn_cx *cx = b->cx;
    int rc = TARN_OK;

    b->job = (tn_base_job){.store = b->store,
                           .schema = &b->schema,
                           .meta_fields = true,
                           .filter_kind = TN_KEY_FILTER_DYNAMIC,
                           .filter_fpp = 1e-9,
                           .filter_keys_max = 100000,
                           .codec = TN_CODEC_ZSTD,
                           .merge_mode = TN_MERGE_COMMIT_TIME,
                           .mark = mark};
    b->job.root = tn_str_of(dir);
    TN_TRY(tn_arena_print(cx, &b->arena, &b->job.instant, "20260101%09" PRId64,
                          (int64_t)time(NULL) % 1000000000));
    if (avro != NULL)
        TN_TRY(tn_store_get(cx, b->store, tn_str_of(avro), 1 << 20, &b->avro));
    else
        tn_buf_text(&b->avro, "{}");
    b->job.avro_schema = tn_buf_view(&b->avro);
done:
    return rc;
}

static int stream_schema(struct ArrowArrayStream *s, struct ArrowSchema *out)
{
    bench *b = s->private_data;

    return tn_field_copy(b->cx, &b->schema, out) == TARN_OK ? 0 : 5;
}

static int stream_next(struct ArrowArrayStream *s, struct ArrowArray *out)
{
    bench *b = s->private_data;

    *out = (struct ArrowArray){0};
    if (b->next < b->count)
        tn_array_move(&b->batches[b->next++], out);
    return 0;
}

static const char *stream_error(struct ArrowArrayStream *s)
{
    (void)s;
    return NULL;
}

static int insert(bench *b, uint64_t target)
{
    tarn_cx *cx = b->cx;
    tn_bucket bucket = {.file_id = TN_STR("00000000-1111-2222-3333-444444444444-0"),
                        .target_bytes = target};
    uint32_t buckets[] = {0};
    tn_upsert_partition partition = {
        .path = TN_STR(""), .bucket_count = 1, .insert_bucket_count = 1};
    tn_upsert_plan plan = {.partitions = &partition,
                           .partition_count = 1,
                           .buckets = &bucket,
                           .bucket_count = 1,
                           .insert_buckets = buckets,
                           .record_bytes = 100};
    struct ArrowArrayStream stream = {stream_schema, stream_next, stream_error, NULL, b};
    tn_upsert_made made;
    double start = seconds(), cpu = cpu_seconds();
    int rc = TARN_OK;

    TN_TRY(tn_exec_upsert_stream(cx, &b->job, &plan, &stream, &b->arena, &made));
    printf("%.3f s, %.3f s of processor time\n", seconds() - start, cpu_seconds() - cpu);
    for (size_t i = 0; i < made.stat_count; i++)
        printf("%.*s %" PRId64 " rows %" PRIu64 " bytes\n", TN_STR_ARG(made.stats[i].path),
               made.stats[i].writes, made.stats[i].bytes);
done:
    return rc;
}

/* The rows wanted as one batch. */
static int choose(bench *b, int64_t from, int64_t every, int64_t count, struct ArrowArray *out,
                  int64_t **positions)
{
    tarn_cx *cx = b->cx;
    tn_gather_part *parts = tn_calloc(cx, (size_t)count, sizeof *parts);
    size_t batch = 0;
    int64_t first = 0;
    int rc = TARN_OK;

    *positions = tn_calloc(cx, (size_t)count, sizeof **positions);
    if (parts == NULL || *positions == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (int64_t i = 0; i < count; i++) {
        int64_t at = from + i * (every != 0 ? every : 1);

        while (batch < b->count && at >= first + b->batches[batch].length)
            first += b->batches[batch++].length;
        if (batch == b->count)
            TN_FAIL(TARN_E_INVALID, "the file has too few rows");
        parts[i] = (tn_gather_part){.array = &b->batches[batch], .first = at - first, .count = 1};
        (*positions)[i] = at;
    }
    TN_TRY(tn_gather(cx, &b->schema, parts, (size_t)count, out));
done:
    free(parts);
    return rc;
}

static int change(bench *b, const char *text, int64_t from, int64_t every, int64_t count)
{
    tarn_cx *cx = b->cx;
    tn_base_file file = {.file_id = TN_STR("00000000-1111-2222-3333-444444444444-0"),
                         .instant = TN_STR("1")};
    tn_base_place place = {.file_id = file.file_id, .before = &file, .number = 1};
    tn_base_writer *writer = NULL;
    struct ArrowArray rows = {0};
    int64_t *positions = NULL;
    tn_base_counts counts;
    tn_write_stat stat;
    double start, cpu;
    int rc = TARN_OK;

    file.path = tn_str_of(text);
    TN_TRY(choose(b, from, every, count, &rows, &positions));
    for (size_t i = 0; i < b->count; i++)
        tn_array_release(&b->batches[i]);
    start = seconds();
    cpu = cpu_seconds();
    TN_TRY(tn_base_writer_open(cx, &b->job, &place, &writer));
    if (every != 0)
        TN_TRY(tn_base_writer_change(cx, writer, &rows, positions, NULL));
    else
        TN_TRY(tn_base_writer_add(cx, writer, &rows));
    printf("%.3f s rows, ", seconds() - start);
    TN_TRY(tn_base_writer_finish(cx, writer, &b->arena, &stat, &counts));
    printf("%.3f s, %.3f s of processor time\n%.*s %" PRId64 " rows %" PRIu64 " bytes, %" PRIu64
           " of %" PRIu64 " groups carried\n",
           seconds() - start, cpu_seconds() - cpu, TN_STR_ARG(stat.path), stat.writes, stat.bytes,
           counts.groups_carried, counts.groups);
done:
    tn_base_writer_close(cx, writer);
    tn_array_release(&rows);
    free(positions);
    return rc;
}

static int run(bench *b, int argc, char **argv)
{
    int rc = TARN_E_INVALID;
    bool inserts = argc >= 6 && strcmp(argv[1], "insert") == 0;
    bool changes = argc >= 7 && strcmp(argv[1], "change") == 0;

    if (inserts) {
        TN_TRY(load(b, argv[2], argv[3]));
        TN_TRY(make_job(b, argv[4], argc > 6 ? argv[6] : NULL));
        TN_TRY(insert(b, strtoull(argv[5], NULL, 10)));
    } else if (changes) {
        TN_TRY(load(b, argv[2], NULL));
        TN_TRY(make_job(b, argv[3], argc > 7 ? argv[7] : NULL));
        TN_TRY(change(b, argv[2], atoll(argv[4]), atoll(argv[5]), atoll(argv[6])));
    }
done:
    return rc;
}

int main(int argc, char **argv)
{
    bench b = {.cx = tarn_cx_open(NULL)};
    int rc = b.cx != NULL ? run(&b, argc, argv) : TARN_E_NOMEM;

    if (rc != TARN_OK)
        fprintf(stderr, "base_file_bench: %s\n", b.cx != NULL ? tarn_cx_error(b.cx) : "memory");
    for (size_t i = 0; i < b.count; i++)
        tn_array_release(&b.batches[i]);
    free(b.batches);
    tn_field_release(&b.schema);
    tn_buf_clear(&b.avro);
    tn_store_close(b.store);
    tn_arena_clear(&b.arena);
    tarn_cx_close(b.cx);
    return rc == TARN_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* What commits say, as bytes: JSON for timelines of layout 1, Avro for layout 2.
 *
 * I1: a stat without a path is one of a planned profile: path and partition are null in it, as Hudi
 *     writes them.
 * I2: stats of a partition are consecutive (tn_commit_metadata), so that it is one member. */
#include <assert.h>

#include "table/commit_metadata.h"
#include "table/commit_schema.h"
#include "table/commit_tree.h"

/* The text Hudi has where there was no commit before. */
#define TN_NO_INSTANT TN_STR("null")

static tn_str prev_instant(const tn_write_stat *stat)
{
    return stat->prev_instant.len != 0 ? stat->prev_instant : TN_NO_INSTANT;
}

/* The stats from `first` on that are of its partition. */
static size_t same_partition(const tn_commit_metadata *metadata, size_t first)
{
    size_t end = first + 1;

    while (end < metadata->stat_count &&
           tn_str_equal(metadata->stats[end].partition, metadata->stats[first].partition))
        end++;
    return end;
}

static size_t partition_count(const tn_commit_metadata *metadata)
{
    size_t n = 0;

    for (size_t i = 0; i < metadata->stat_count; i = same_partition(metadata, i))
        n++;
    return n;
}

/* ---- JSON ---- */

static void put_some(tn_json *json, const char *key, tn_str text)
{
    tn_json_key(json, key);
    if (text.len != 0)
        tn_json_text(json, text);
    else
        tn_json_null(json);
}

static void put_nothing(tn_json *json, const char *key)
{
    tn_json_key(json, key);
    tn_json_null(json);
}

static void print_runtime(tn_json *json, const tn_write_stat *stat)
{
    tn_json_key(json, "runtimeStats");
    if (stat->path.len == 0) {
        tn_json_null(json);
        return;
    }
    tn_json_object(json);
    tn_json_put_i64(json, "totalScanTime", 0);
    tn_json_put_i64(json, "totalUpsertTime", 0);
    tn_json_put_i64(json, "totalCreateTime", 0);
    tn_json_object_end(json);
}

static void print_stat(tn_json *json, const tn_write_stat *stat)
{
    tn_json_object(json);
    tn_json_put_text(json, "fileId", stat->file_id);
    put_some(json, "path", stat->path);
    put_nothing(json, "cdcStats");
    tn_json_put_text(json, "prevCommit", prev_instant(stat));
    tn_json_put_i64(json, "numWrites", stat->writes);
    tn_json_put_i64(json, "numDeletes", stat->deletes);
    tn_json_put_i64(json, "numUpdateWrites", stat->updates);
    tn_json_put_i64(json, "numInserts", stat->inserts);
    tn_json_put_u64(json, "totalWriteBytes", stat->bytes);
    tn_json_put_i64(json, "totalWriteErrors", stat->errors);
    put_nothing(json, "tempPath");
    tn_json_key(json, "partitionPath");
    if (stat->path.len != 0)
        tn_json_text(json, stat->partition);
    else
        tn_json_null(json);
    tn_json_put_i64(json, "totalLogRecords", 0);
    tn_json_put_i64(json, "totalLogFilesCompacted", 0);
    tn_json_put_i64(json, "totalLogSizeCompacted", 0);
    tn_json_put_i64(json, "totalUpdatedRecordsCompacted", 0);
    tn_json_put_i64(json, "totalLogBlocks", 0);
    tn_json_put_i64(json, "totalCorruptLogBlock", 0);
    tn_json_put_i64(json, "totalRollbackBlocks", 0);
    tn_json_put_u64(json, "fileSizeInBytes", stat->bytes);
    put_nothing(json, "minEventTime");
    put_nothing(json, "maxEventTime");
    print_runtime(json, stat);
    tn_json_object_end(json);
}

static void key_of(tn_json *json, tn_str key, tn_buf *scratch)
{
    tn_buf_reset(scratch);
    tn_buf_str(scratch, key);
    tn_buf_u8(scratch, 0);
    tn_json_key(json, scratch->failed ? "" : (const char *)scratch->data);
}

static void print_stats(tn_json *json, const tn_commit_metadata *metadata, tn_buf *scratch)
{
    tn_json_key(json, "partitionToWriteStats");
    tn_json_object(json);
    for (size_t i = 0; i < metadata->stat_count;) {
        size_t end = same_partition(metadata, i);

        key_of(json, metadata->stats[i].partition, scratch);
        tn_json_array(json);
        for (; i < end; i++)
            print_stat(json, &metadata->stats[i]);
        tn_json_array_end(json);
    }
    tn_json_object_end(json);
}

static void print_replaced(tn_json *json, const tn_commit_metadata *metadata, tn_buf *scratch)
{
    tn_json_key(json, "partitionToReplaceFileIds");
    tn_json_object(json);
    for (size_t i = 0; i < metadata->replaced_count; i++) {
        const tn_replaced *replaced = &metadata->replaced[i];

        key_of(json, replaced->partition, scratch);
        tn_json_array(json);
        for (size_t k = 0; k < replaced->file_id_count; k++)
            tn_json_text(json, replaced->file_ids[k]);
        tn_json_array_end(json);
    }
    tn_json_object_end(json);
}

static int print_json(tarn_cx *cx, const tn_commit_metadata *metadata, tn_buf *out)
{
    tn_json json = tn_json_to(out);
    tn_buf scratch = {0};
    int rc = TARN_OK;

    tn_json_object(&json);
    print_stats(&json, metadata, &scratch);
    tn_json_put_bool(&json, "compacted", metadata->compacted);
    tn_json_key(&json, "extraMetadata");
    tn_json_object(&json);
    for (size_t i = 0; i < metadata->extra_count; i++) {
        key_of(&json, metadata->extra[i].key, &scratch);
        tn_json_text(&json, metadata->extra[i].value);
    }
    tn_json_object_end(&json);
    put_some(&json, "operationType", metadata->operation);
    if (metadata->replace)
        print_replaced(&json, metadata, &scratch);
    tn_json_object_end(&json);
    TN_TRY(tn_buf_check(cx, &scratch));
    TN_TRY(tn_buf_check(cx, out));
done:
    tn_buf_clear(&scratch);
    return rc;
}

/* ---- Avro ---- */

#define PUT(many, name, value) tn_commit_tree_put(&(many), TN_STR(name), (value))

static tn_avro_value runtime_tree(tn_commit_tree *tree)
{
    tn_avro_value runtime = tn_commit_tree_many(tree, TN_AVRO_RECORD, 3);

    PUT(runtime, "totalScanTime", tn_commit_tree_long(0));
    PUT(runtime, "totalCreateTime", tn_commit_tree_long(0));
    PUT(runtime, "totalUpsertTime", tn_commit_tree_long(0));
    return runtime;
}

static tn_avro_value stat_tree(tn_commit_tree *tree, const tn_write_stat *stat)
{
    static const tn_str zero[] = {{"totalLogRecords", 15},     {"totalUpdatedRecordsCompacted", 28},
                                  {"totalLogBlocks", 14},      {"totalCorruptLogBlock", 20},
                                  {"totalRollbackBlocks", 19}, {"totalLogFilesCompacted", 22},
                                  {"totalLogReadTimeMs", 18},  {"totalLogSizeCompacted", 21},
                                  {"numUpdates", 10}};
    enum { ZEROS = sizeof zero / sizeof zero[0] };
    tn_avro_value record = tn_commit_tree_many(tree, TN_AVRO_RECORD, 12 + ZEROS);
    bool planned = stat->path.len == 0;

    PUT(record, "fileId", tn_commit_tree_text(stat->file_id));
    PUT(record, "path", tn_commit_tree_some(stat->path));
    PUT(record, "prevCommit", tn_commit_tree_text(prev_instant(stat)));
    PUT(record, "numWrites", tn_commit_tree_long(stat->writes));
    PUT(record, "numDeletes", tn_commit_tree_long(stat->deletes));
    PUT(record, "numUpdateWrites", tn_commit_tree_long(stat->updates));
    PUT(record, "totalWriteBytes", tn_commit_tree_long((int64_t)stat->bytes));
    PUT(record, "totalWriteErrors", tn_commit_tree_long(stat->errors));
    PUT(record, "partitionPath",
        planned ? tn_commit_tree_null() : tn_commit_tree_text(stat->partition));
    PUT(record, "numInserts", tn_commit_tree_long(stat->inserts));
    PUT(record, "fileSizeInBytes", tn_commit_tree_long((int64_t)stat->bytes));
    PUT(record, "runtimeStats", planned ? tn_commit_tree_null() : runtime_tree(tree));
    for (size_t i = 0; i < ZEROS; i++)
        tn_commit_tree_put(&record, zero[i], tn_commit_tree_long(0));
    return record;
}

static tn_avro_value stats_tree(tn_commit_tree *tree, const tn_commit_metadata *metadata)
{
    tn_avro_value map = tn_commit_tree_many(tree, TN_AVRO_MAP, partition_count(metadata));

    for (size_t i = 0; i < metadata->stat_count;) {
        size_t end = same_partition(metadata, i);
        tn_avro_value stats = tn_commit_tree_many(tree, TN_AVRO_ARRAY, end - i);
        tn_str partition = metadata->stats[i].partition;

        for (; i < end; i++)
            tn_commit_tree_put(&stats, (tn_str){0}, stat_tree(tree, &metadata->stats[i]));
        tn_commit_tree_put(&map, partition, stats);
    }
    return map;
}

static tn_avro_value replaced_tree(tn_commit_tree *tree, const tn_commit_metadata *metadata)
{
    tn_avro_value map = tn_commit_tree_many(tree, TN_AVRO_MAP, metadata->replaced_count);

    for (size_t i = 0; i < metadata->replaced_count; i++) {
        const tn_replaced *replaced = &metadata->replaced[i];
        tn_avro_value ids = tn_commit_tree_many(tree, TN_AVRO_ARRAY, replaced->file_id_count);

        for (size_t k = 0; k < replaced->file_id_count; k++)
            tn_commit_tree_put(&ids, (tn_str){0}, tn_commit_tree_text(replaced->file_ids[k]));
        tn_commit_tree_put(&map, replaced->partition, ids);
    }
    return map;
}

static int print_avro(tarn_cx *cx, const tn_commit_metadata *metadata, tn_buf *out)
{
    tn_commit_tree tree = {.cx = cx};
    tn_avro_value root = tn_commit_tree_many(&tree, TN_AVRO_RECORD, 6);
    tn_avro_value extra = tn_commit_tree_many(&tree, TN_AVRO_MAP, metadata->extra_count);

    for (size_t i = 0; i < metadata->extra_count; i++)
        tn_commit_tree_put(&extra, metadata->extra[i].key,
                           tn_commit_tree_text(metadata->extra[i].value));
    PUT(root, "partitionToWriteStats", stats_tree(&tree, metadata));
    PUT(root, "compacted", tn_commit_tree_bool(metadata->compacted));
    PUT(root, "extraMetadata", extra);
    /* The JVM writes null here, not the default of 1. */
    PUT(root, "version", tn_commit_tree_null());
    PUT(root, "operationType", tn_commit_tree_some(metadata->operation));
    if (metadata->replace)
        PUT(root, "partitionToReplaceFileIds", replaced_tree(&tree, metadata));
    return tn_commit_tree_write(
        &tree, metadata->replace ? tn_commit_schema_replace : tn_commit_schema_commit, &root, out);
}

int tn_commit_metadata_print(tarn_cx *cx, const tn_commit_metadata *metadata, int32_t layout,
                             tn_buf *out)
{
    assert(layout == 1 || layout == 2);
    assert(metadata->replace || metadata->replaced_count == 0);
    return layout == 1 ? print_json(cx, metadata, out) : print_avro(cx, metadata, out);
}

int tn_requested_replace_print(tarn_cx *cx, tn_str operation, tn_buf *out)
{
    tn_commit_tree tree = {.cx = cx};
    tn_avro_value root = tn_commit_tree_many(&tree, TN_AVRO_RECORD, 2);

    PUT(root, "operationType", tn_commit_tree_some(operation));
    PUT(root, "version", tn_commit_tree_null());
    return tn_commit_tree_write(&tree, tn_commit_schema_requested_replace, &root, out);
}

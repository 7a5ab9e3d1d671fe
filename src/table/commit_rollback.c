/* Plans of rollbacks and what they did, in Avro whatever the timeline's layout.
 *
 * I1: as in the plans Hudi makes from markers, a request of a file group has the instant that is
 *     rolled back as its latest base instant, and no log blocks.
 * I2: files are absolute paths without a scheme. */
#include <assert.h>

#include "table/commit_metadata.h"
#include "table/commit_schema.h"
#include "table/commit_tree.h"

#define PUT(many, name, value) tn_commit_tree_put(&(many), TN_STR(name), (value))

static int keep_text(tarn_cx *cx, tn_arena *arena, const tn_avro_value *value, tn_str *out)
{
    *out = tn_avro_text(value);
    return out->ptr != NULL ? tn_arena_keep(cx, arena, out) : TARN_OK;
}

static int parse_request(tarn_cx *cx, const tn_avro_value *value, tn_arena *arena,
                         tn_rollback_request *out)
{
    const tn_avro_value *files = tn_avro_member(value, "filesToBeDeleted");
    int rc = TARN_OK;

    TN_TRY(keep_text(cx, arena, tn_avro_member(value, "partitionPath"), &out->partition));
    TN_TRY(keep_text(cx, arena, tn_avro_member(value, "fileId"), &out->file_id));
    if (files == NULL || files->kind != TN_AVRO_ARRAY)
        goto done;
    out->file_count = files->as.many.count;
    out->files = tn_arena_array(cx, arena, out->file_count, sizeof *out->files);
    if (out->files == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < out->file_count; i++)
        TN_TRY(keep_text(cx, arena, &files->as.many.items[i], &out->files[i]));
done:
    return rc;
}

int tn_rollback_plan_parse(tarn_cx *cx, tn_str bytes, tn_str path, tn_arena *arena,
                           tn_rollback_plan *out)
{
    const tn_avro_value *target, *requests;
    tn_rollback_plan plan = {0};
    tn_avro_file file = {0};
    int rc = TARN_OK;

    assert(arena != NULL && out != NULL);
    TN_TRY(tn_avro_file_read(cx, bytes, path, &file));
    if (file.record_count != 1 || file.records[0].kind != TN_AVRO_RECORD)
        TN_FAIL(TARN_E_CORRUPT, "%.*s: it holds %zu records, not the one of a rollback plan",
                TN_STR_ARG(path), file.record_count);
    target = tn_avro_member(&file.records[0], "instantToRollback");
    TN_TRY(keep_text(cx, arena, tn_avro_member(target, "commitTime"), &plan.instant));
    TN_TRY(keep_text(cx, arena, tn_avro_member(target, "action"), &plan.action));
    if (plan.instant.len == 0)
        TN_FAIL(TARN_E_CORRUPT, "%.*s: the plan names no instant to roll back", TN_STR_ARG(path));
    requests = tn_avro_member(&file.records[0], "RollbackRequests");
    if (requests != NULL && requests->kind == TN_AVRO_ARRAY) {
        plan.request_count = requests->as.many.count;
        plan.requests = tn_arena_array(cx, arena, plan.request_count, sizeof *plan.requests);
        if (plan.requests == NULL)
            TN_TRY(TARN_E_NOMEM);
    }
    for (size_t i = 0; i < plan.request_count; i++)
        TN_TRY(parse_request(cx, &requests->as.many.items[i], arena, &plan.requests[i]));
    *out = plan;
done:
    tn_avro_file_clear(&file);
    return rc;
}

static tn_avro_value texts_tree(tn_commit_tree *tree, const tn_str *texts, size_t count)
{
    tn_avro_value array = tn_commit_tree_many(tree, TN_AVRO_ARRAY, count);

    for (size_t i = 0; i < count; i++)
        tn_commit_tree_put(&array, (tn_str){0}, tn_commit_tree_text(texts[i]));
    return array;
}

static tn_avro_value instant_tree(tn_commit_tree *tree, const tn_rollback_plan *plan)
{
    tn_avro_value info = tn_commit_tree_many(tree, TN_AVRO_RECORD, 2);

    PUT(info, "commitTime", tn_commit_tree_text(plan->instant));
    PUT(info, "action", tn_commit_tree_text(plan->action));
    return info;
}

static tn_avro_value request_tree(tn_commit_tree *tree, const tn_rollback_plan *plan,
                                  const tn_rollback_request *request)
{
    tn_avro_value record = tn_commit_tree_many(tree, TN_AVRO_RECORD, 5);

    PUT(record, "partitionPath", tn_commit_tree_text(request->partition));
    PUT(record, "fileId", tn_commit_tree_text(request->file_id));
    PUT(record, "latestBaseInstant",
        tn_commit_tree_text(request->file_id.len != 0 ? plan->instant : (tn_str){0}));
    PUT(record, "filesToBeDeleted", texts_tree(tree, request->files, request->file_count));
    PUT(record, "logBlocksToBeDeleted", tn_commit_tree_many(tree, TN_AVRO_MAP, 0));
    return record;
}

int tn_rollback_plan_print(tarn_cx *cx, const tn_rollback_plan *plan, tn_buf *out)
{
    tn_commit_tree tree = {.cx = cx};
    tn_avro_value root = tn_commit_tree_many(&tree, TN_AVRO_RECORD, 3);
    tn_avro_value requests = tn_commit_tree_many(&tree, TN_AVRO_ARRAY, plan->request_count);

    assert(plan->instant.len != 0 && plan->action.len != 0);
    for (size_t i = 0; i < plan->request_count; i++)
        tn_commit_tree_put(&requests, (tn_str){0}, request_tree(&tree, plan, &plan->requests[i]));
    PUT(root, "instantToRollback", instant_tree(&tree, plan));
    PUT(root, "RollbackRequests", requests);
    PUT(root, "version", tn_commit_tree_int(1));
    return tn_commit_tree_write(&tree, tn_commit_schema_rollback_plan, &root, out);
}

/* True when an earlier request is of the same partition. */
static bool met_before(const tn_rollback_plan *plan, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (tn_str_equal(plan->requests[k].partition, plan->requests[i].partition))
            return true;
    return false;
}

/* What was done in the partition of request `first`: of all requests, since a partition is one
 * member of the map. */
static tn_avro_value partition_tree(tn_commit_tree *tree, const tn_rollback_plan *plan,
                                    size_t first, size_t *deleted)
{
    tn_avro_value record = tn_commit_tree_many(tree, TN_AVRO_RECORD, 5), files;
    tn_str partition = plan->requests[first].partition;
    size_t count = 0;

    for (size_t i = first; i < plan->request_count; i++)
        if (tn_str_equal(plan->requests[i].partition, partition))
            count += plan->requests[i].file_count;
    files = tn_commit_tree_many(tree, TN_AVRO_ARRAY, count);
    for (size_t i = first; i < plan->request_count; i++)
        for (size_t k = 0; k < plan->requests[i].file_count; k++)
            if (tn_str_equal(plan->requests[i].partition, partition))
                tn_commit_tree_put(&files, (tn_str){0},
                                   tn_commit_tree_text(plan->requests[i].files[k]));
    PUT(record, "partitionPath", tn_commit_tree_text(partition));
    PUT(record, "successDeleteFiles", files);
    PUT(record, "failedDeleteFiles", tn_commit_tree_many(tree, TN_AVRO_ARRAY, 0));
    PUT(record, "rollbackLogFiles", tn_commit_tree_many(tree, TN_AVRO_MAP, 0));
    PUT(record, "logFilesFromFailedCommit", tn_commit_tree_many(tree, TN_AVRO_MAP, 0));
    *deleted += count;
    return record;
}

int tn_rollback_metadata_print(tarn_cx *cx, tn_str rollback_time, int64_t took_ms,
                               const tn_rollback_plan *plan, tn_buf *out)
{
    tn_commit_tree tree = {.cx = cx};
    tn_avro_value root = tn_commit_tree_many(&tree, TN_AVRO_RECORD, 7);
    tn_avro_value partitions = tn_commit_tree_many(&tree, TN_AVRO_MAP, plan->request_count);
    tn_avro_value instants = tn_commit_tree_many(&tree, TN_AVRO_ARRAY, 1);
    size_t deleted = 0;

    for (size_t i = 0; i < plan->request_count; i++)
        if (!met_before(plan, i))
            tn_commit_tree_put(&partitions, plan->requests[i].partition,
                               partition_tree(&tree, plan, i, &deleted));
    tn_commit_tree_put(&instants, (tn_str){0}, instant_tree(&tree, plan));
    PUT(root, "startRollbackTime", tn_commit_tree_text(rollback_time));
    PUT(root, "timeTakenInMillis", tn_commit_tree_long(took_ms));
    PUT(root, "totalFilesDeleted", tn_commit_tree_int((int64_t)deleted));
    PUT(root, "commitsRollback", texts_tree(&tree, &plan->instant, 1));
    PUT(root, "partitionMetadata", partitions);
    PUT(root, "version", tn_commit_tree_int(1));
    PUT(root, "instantsRollback", instants);
    return tn_commit_tree_write(&tree, tn_commit_schema_rollback, &root, out);
}

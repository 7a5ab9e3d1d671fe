/* The table that a write goes to: found, checked, held, or made.
 *
 * I1: nothing is changed in a table, not even by rolling back what a crash left, before it is known
 *     that tarn may write to it and that the options agree with it.
 * I2: a dry run takes no lock and changes nothing. */
#include <stdlib.h>
#include <string.h>

#include "op/hudi_op.h"

void tn_hudi_write_warn(const tn_hudi_write *w, const char *text)
{
    if (w->given->warn != NULL)
        w->given->warn(w->given->arg, text);
}

static bool deletes_partitions(const tn_hudi_write *w)
{
    return w->op == TARN_OP_DELETE_PARTITION;
}

/* Options that one operation has and others do not. */
static int check_given(tarn_cx *cx, tn_hudi_write *w)
{
    const tarn_table_write_options *o = w->given;
    int rc = TARN_OK;

    if (tarn_operation_word(o->op) == NULL)
        TN_FAIL(TARN_E_INVALID, "op: %d is none", (int)o->op);
    w->op = o->op;
    if (w->options.operation >= 0) {
        if (o->op != TARN_OP_UPSERT && (int)o->op != w->options.operation)
            TN_FAIL(TARN_E_INVALID,
                    "op %s: hoodie.datasource.write.operation says %s; leave one out",
                    tarn_operation_word(o->op),
                    tarn_operation_word((enum tarn_operation)w->options.operation));
        w->op = (enum tarn_operation)w->options.operation;
    }
    if (o->partition_count != 0 && w->op != TARN_OP_DELETE_PARTITION &&
        w->op != TARN_OP_INSERT_OVERWRITE)
        TN_FAIL(TARN_E_INVALID,
                "op %s: --partitions goes with insert_overwrite and "
                "delete_partition",
                tarn_operation_word(w->op));
    if (o->group_bytes != 0)
        w->options.group_bytes = o->group_bytes;
    if (o->target_bytes != 0)
        w->options.sizing.max_file_bytes = o->target_bytes;
    if (w->options.sizing.max_file_bytes == 0 ||
        w->options.sizing.max_file_bytes > INT64_MAX / 16 ||
        w->options.group_bytes > INT64_MAX / 16)
        TN_FAIL(TARN_E_INVALID, "the size of files and row groups is more than 0, and less than "
                                "what a file can have");
    w->options.sizing.exact = o->exact_sizing;
    for (size_t i = 0; i < o->extra_count; i++) {
        tn_property extra;

        TN_TRY(tn_hudi_options_pair(cx, o->extra[i], &extra));
        if (tn_str_is(extra.key, "schema"))
            TN_FAIL(TARN_E_INVALID, "extra metadata schema=…: the table's schema stands there");
    }
    if (w->options.index == TN_INDEX_BUCKET && w->options.buckets == 0)
        TN_FAIL(TARN_E_INVALID,
                "hoodie.index.type=BUCKET: the table does not say how many buckets it has; give "
                "--set hoodie.bucket.index.num.buckets=…, the same each time");
done:
    return rc;
}

/* Whether rows of one key meet, in the input or in the table. */
static bool merges_of(const tn_hudi_write *w)
{
    const tn_hudi_options *o = &w->options;

    switch (w->op) {
    case TARN_OP_UPSERT:
        return true;
    case TARN_OP_INSERT:
        return o->combine_insert == 1 || o->duplicate_inserts == 0;
    case TARN_OP_BULK_INSERT:
    case TARN_OP_INSERT_OVERWRITE:
    case TARN_OP_INSERT_OVERWRITE_TABLE:
        return o->combine_insert == 1;
    default:
        return false;
    }
}

static int no_table(tarn_cx *cx, const tn_hudi_write *w)
{
    if (w->op == TARN_OP_DELETE || deletes_partitions(w))
        return tn_fail(cx, TARN_E_NOTFOUND, "%.*s: there is no Hudi table to delete from",
                       TN_STR_ARG(w->root));
    return tn_fail(cx, TARN_E_INVALID,
                   "%.*s: there is no Hudi table; to make one name its key (--key), or write a "
                   "plain directory with --as hive",
                   TN_STR_ARG(w->root));
}

/* Completed commits, newest first, are what a schema is looked for in. */
static int load_schema(tarn_cx *cx, tn_hudi_write *w)
{
    tn_slices none = {0};
    tn_str avro;
    int rc = TARN_OK;

    TN_TRY(tn_hudi_schema_load(cx, w->store, w->config, w->timeline, &none, (tn_str){0}, &w->arena,
                               &w->schema_known, &avro, &w->schema));
    if (w->schema_known || w->timeline->count == 0)
        goto done;
    TN_TRY(tn_hudi_open_slices(cx, w));
    if (w->slices.slice_count != 0)
        TN_TRY(tn_hudi_schema_load(cx, w->store, w->config, w->timeline, &w->slices, (tn_str){0},
                                   &w->arena, &w->schema_known, &avro, &w->schema));
done:
    return rc;
}

static int load_without_lock(tarn_cx *cx, tn_hudi_write *w)
{
    int rc = TARN_OK;

    if (w->own_config.metadata_table && !w->given->drop_metadata_table)
        TN_FAIL(TARN_E_UNSUPPORTED,
                "%.*s: the table has a metadata table, which tarn does not maintain yet; "
                "--drop-metadata-table disables it",
                TN_STR_ARG(w->root));
    if (w->own_config.metadata_table)
        TN_TRY(tn_hudi_log_note(cx, w->log,
                                TN_STR("the metadata table would be disabled and removed first")));
    TN_TRY(tn_timeline_load(cx, w->store, w->root, &w->own_config, &w->arena, &w->own_timeline));
    w->config = &w->own_config;
    w->timeline = &w->own_timeline;
done:
    return rc;
}

static void commit_warn(void *arg, const char *text)
{
    tn_hudi_write_warn(arg, text);
}

/* Takes the lock; what a crash left is rolled back. */
static int hold(tarn_cx *cx, tn_hudi_write *w)
{
    tn_hudi_commit_options options = {.drop_metadata_table = w->given->drop_metadata_table,
                                      .lazy = w->options.clean == TN_CLEAN_LAZY,
                                      .heartbeat_ms = w->options.heartbeat_ms,
                                      .heartbeat_misses = w->options.heartbeat_misses,
                                      .lock_wait_ms = w->options.lock_wait_ms,
                                      .warn = commit_warn,
                                      .warn_arg = w};
    const tn_str *instants;
    size_t count;
    int rc = TARN_OK;

    TN_TRY(tn_hudi_commit_open(cx, w->store, w->root, &options, &w->commit));
    w->config = tn_hudi_commit_config(w->commit);
    w->timeline = tn_hudi_commit_timeline(w->commit);
    TN_TRY(tn_hudi_table_check(cx, w->root, w->config, w->merges));
    TN_TRY(tn_hudi_table_agree(cx, w->root, &w->options, w->config));
    w->own_config = *w->config;
    w->own_config.merge_mode = tn_hudi_table_rule(&w->options, w->config);
    w->config = &w->own_config;
    count = tn_hudi_commit_rolled_back(w->commit, &instants);
    for (size_t i = 0; i < count; i++) {
        tn_str text;

        TN_TRY(tn_arena_print(cx, &w->arena, &text, "rolled back the failed write %.*s",
                              TN_STR_ARG(instants[i])));
        TN_TRY(tn_hudi_log_note(cx, w->log, text));
    }
done:
    return rc;
}

static int find(tarn_cx *cx, tn_hudi_write *w)
{
    int rc = tn_hudi_config_load(cx, w->store, w->root, &w->arena, &w->own_config);

    w->exists = rc == TARN_OK;
    if (rc == TARN_OK) {
        TN_TRY(tn_hudi_table_check(cx, w->root, &w->own_config, w->merges));
        TN_TRY(tn_hudi_table_agree(cx, w->root, &w->options, &w->own_config));
        w->own_config.merge_mode = tn_hudi_table_rule(&w->options, &w->own_config);
        goto done;
    }
    if (rc != TARN_E_NOTFOUND)
        goto done;
    tn_cx_forget(cx);
    rc = TARN_OK;
    if (w->options.keys.count == 0 || w->op == TARN_OP_DELETE || deletes_partitions(w))
        TN_TRY(no_table(cx, w));
    TN_TRY(tn_hudi_table_new(cx, &w->arena, w->root, &w->options, &w->made));
    TN_TRY(tn_hudi_table_imagine(cx, &w->arena, &w->made, &w->own_config));
    TN_TRY(tn_hudi_table_check(cx, w->root, &w->own_config, w->merges));
    w->config = &w->own_config;
    w->timeline = &w->own_timeline;
done:
    return rc;
}

int tn_hudi_open(tarn_cx *cx, tn_hudi_write *w)
{
    int rc = TARN_OK;

    TN_TRY(tn_hudi_log_open(cx, w->root, &w->log));
    TN_TRY(tn_hudi_options_read(cx, &w->given->table, &w->arena, w->given->warn, w->given->arg,
                                &w->options));
    TN_TRY(tn_hudi_table_given(cx, &w->arena, &w->given->table, &w->options));
    TN_TRY(check_given(cx, w));
    TN_TRY(tn_hudi_make_codec(cx, w));
    w->merges = merges_of(w);
    w->all_deletes = w->op == TARN_OP_DELETE;
    TN_TRY(find(cx, w));
    if (w->exists) {
        if (w->given->dry_run)
            TN_TRY(load_without_lock(cx, w));
        else
            TN_TRY(hold(cx, w));
        TN_TRY(load_schema(cx, w));
    }
    w->log->report.op = w->op;
    w->log->report.dry_run = w->given->dry_run;
    w->log->report.table_made = !w->exists;
    w->log->report.table_version = w->config->version;
done:
    return rc;
}

int tn_hudi_open_new(tarn_cx *cx, tn_hudi_write *w)
{
    int rc = TARN_OK;

    if (w->exists || w->given->dry_run)
        return TARN_OK;
    TN_TRY(tn_hudi_create(cx, w->store, w->root, &w->made, &w->made_now));
    TN_TRY(hold(cx, w));
done:
    return rc;
}

int tn_hudi_open_slices(tarn_cx *cx, tn_hudi_write *w)
{
    static const tn_slices_options everything = {0};
    int rc = TARN_OK;

    if (w->slices_all || (!w->exists && w->commit == NULL))
        return TARN_OK;
    TN_TRY(tn_slices_load(cx, w->store, w->root, w->config, w->timeline, &everything, &w->arena,
                          &w->slices));
    w->slices_all = true;
done:
    return rc;
}

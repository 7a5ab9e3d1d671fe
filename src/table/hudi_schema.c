/* The schema of a table, from where Hudi keeps it (TableSchemaResolver).
 *
 * I1: the newest completed commit that may change the schema and carries one decides; services
 *     (clustering, compaction, indexing) do not.
 * I2: without such a commit a base file's footer does, and for a table without files what its
 *     creator said.
 * I3: the five meta columns, and the sixth of change logs, are never among the columns.
 * I4: schemas with a history of their own (schema on read: columns by number) are refused where
 *     columns are taken by name: a renamed one would be null. */
#include "table/hudi_schema.h"

#include <assert.h>
#include <stdlib.h>

#include "batch/field.h"
#include "codec/avro/avro_arrow.h"
#include "codec/parquet/arrow.h"

#define TN_OPERATION_COLUMN "_hoodie_operation"

const char *const tn_hudi_meta_names[5] = {"_hoodie_commit_time", "_hoodie_commit_seqno",
                                           "_hoodie_record_key", "_hoodie_partition_path",
                                           "_hoodie_file_name"};

typedef struct load {
    tn_store *store;
    const tn_hudi_config *config;
    const tn_timeline *timeline;
    const tn_slices *slices;
    tn_str as_of;
    tn_arena *arena;
    tn_str *numbered; /* NULL: schemas with a history are refused */
} load;

static bool is_meta(const char *name)
{
    for (size_t i = 0; i < 5; i++)
        if (strcmp(name, tn_hudi_meta_names[i]) == 0)
            return true;
    return strcmp(name, TN_OPERATION_COLUMN) == 0;
}

/* The columns of `from` that are no meta columns; *dropped: there were some. *out is the caller's.
 */
static int without_meta(tarn_cx *cx, const struct ArrowSchema *from, bool *dropped,
                        struct ArrowSchema *out)
{
    struct ArrowSchema plain = {0};
    int64_t n = 0;
    int rc = TARN_OK;

    for (int64_t i = 0; i < from->n_children; i++)
        n += !is_meta(from->children[i]->name);
    *dropped = n != from->n_children;
    TN_TRY(tn_field_init(cx, &plain, "+s", TN_STR(""), false, (size_t)n));
    n = 0;
    for (int64_t i = 0; i < from->n_children; i++)
        if (!is_meta(from->children[i]->name))
            TN_TRY(tn_field_copy(cx, from->children[i], plain.children[n++]));
    tn_field_move(&plain, out);
done:
    tn_field_release(&plain);
    return rc;
}

/* Operations whose commits copy the schema of others. */
static bool is_service(tn_str operation)
{
    return tn_str_is(operation, "CLUSTER") || tn_str_is(operation, "COMPACT") ||
           tn_str_is(operation, "INDEX") || tn_str_is(operation, "LOG_COMPACT");
}

static int newest_first(const void *a, const void *b)
{
    const tn_instant *x = *(const tn_instant *const *)a, *y = *(const tn_instant *const *)b;
    int order = tn_str_compare(y->completion, x->completion);

    return order != 0 ? order : tn_str_compare(y->time, x->time);
}

/* Completed commits, the newest first: by completion in layout 2, whose commits may overlap; by
 * request in layout 1, whose completion times are guesses. */
static int sorted_commits(tarn_cx *cx, const load *l, const tn_instant ***out, size_t *count)
{
    const tn_timeline *timeline = l->timeline;
    const tn_instant **commits = tn_arena_array(cx, l->arena, timeline->count, sizeof *commits);
    size_t n = 0;

    if (commits == NULL)
        return TARN_E_NOMEM;
    for (size_t i = timeline->count; i-- != 0;) {
        const tn_instant *instant = &timeline->instants[i];

        if (instant->state == TN_STATE_COMPLETED && tn_instant_writes_data(instant) &&
            (l->as_of.len == 0 || tn_str_compare(instant->time, l->as_of) <= 0))
            commits[n++] = instant;
    }
    if (timeline->layout == 2 && n != 0)
        qsort(commits, n, sizeof *commits, newest_first);
    *out = commits;
    *count = n;
    return TARN_OK;
}

/* I4. */
static int meet_history(tarn_cx *cx, const load *l, const tn_instant *instant,
                        const tn_commit_metadata *commit)
{
    tn_str text = tn_commit_metadata_extra(commit, "latest_schema");

    if (text.len == 0)
        return TARN_OK;
    if (l->numbered == NULL)
        return tn_fail(cx, TARN_E_UNSUPPORTED,
                       "table %.*s: instant %.*s keeps a history of the schema (schema on read), "
                       "whose renamed columns tarn does not follow when it writes: write the table "
                       "with Hudi",
                       TN_STR_ARG(l->config->name), TN_STR_ARG(instant->time));
    *l->numbered = text;
    return tn_arena_keep(cx, l->arena, l->numbered);
}

/* The schema text of the newest commit that has one; empty: none has. */
static int of_commits(tarn_cx *cx, const load *l, tn_str *avro)
{
    const tn_instant **commits;
    tn_arena arena = {0};
    size_t count;
    int rc = TARN_OK;

    *avro = (tn_str){NULL, 0};
    TN_TRY(sorted_commits(cx, l, &commits, &count));
    for (size_t i = 0; i < count && avro->len == 0; i++) {
        tn_commit_metadata commit;

        TN_TRY(tn_timeline_commit(cx, l->store, l->timeline, commits[i], &arena, &commit));
        if (!is_service(commit.operation)) {
            *avro = tn_commit_metadata_extra(&commit, "schema");
            TN_TRY(meet_history(cx, l, commits[i], &commit));
        }
        if (avro->len != 0)
            TN_TRY(tn_arena_keep(cx, l->arena, avro));
        tn_arena_clear(&arena);
    }
done:
    tn_arena_clear(&arena);
    return rc;
}

static int parse_text(tarn_cx *cx, const load *l, tn_str text, const char *what, tn_str *avro,
                      struct ArrowSchema *out)
{
    tn_avro_schema schema = {0};
    struct ArrowSchema arrow = {0}, plain = {0};
    bool dropped;
    tn_buf printed = {0};
    int rc = TARN_OK;

    TN_TRY(tn_avro_schema_parse(cx, text, what, &schema));
    if (schema.root->kind != TN_AVRO_RECORD)
        TN_FAIL(TARN_E_CORRUPT, "%s: it is no record", what);
    TN_TRY(tn_avro_arrow_of(cx, schema.root, &arrow));
    TN_TRY(without_meta(cx, &arrow, &dropped, &plain));
    *avro = text;
    if (dropped) {
        TN_TRY(tn_avro_of_arrow(cx, &plain, l->config->name, false, &printed));
        TN_TRY(tn_buf_check(cx, &printed));
        *avro = tn_buf_view(&printed);
    }
    TN_TRY(tn_arena_keep(cx, l->arena, avro));
    tn_field_move(&plain, out);
done:
    tn_avro_schema_clear(&schema);
    tn_field_release(&arrow);
    tn_field_release(&plain);
    tn_buf_clear(&printed);
    return rc;
}

/* What a base file's footer says: its Avro schema, or for Spark's row writer its columns. */
static int of_file(tarn_cx *cx, const load *l, const tn_base_file *base, tn_str *avro,
                   struct ArrowSchema *out)
{
    struct ArrowSchema arrow = {0}, plain = {0}, stored = {0};
    tn_parquet parquet = {0};
    tn_buf printed = {0};
    tn_str text;
    bool dropped;
    int rc = TARN_OK;

    TN_TRY(tn_parquet_open(cx, l->store, base->path, &parquet));
    text = tn_parquet_key_value(&parquet, "parquet.avro.schema");
    if (text.len != 0) {
        TN_TRY(parse_text(cx, l, text, "parquet.avro.schema of a base file", avro, out));
        goto done;
    }
    TN_TRY(tn_arrow_schema_of(cx, &parquet, NULL, 0, &arrow));
    TN_TRY(without_meta(cx, &arrow, &dropped, &plain));
    TN_TRY(tn_avro_arrow_stored(cx, &plain, &stored));
    TN_TRY(tn_avro_of_arrow(cx, &stored, l->config->name, false, &printed));
    TN_TRY(tn_buf_check(cx, &printed));
    *avro = tn_buf_view(&printed);
    TN_TRY(tn_arena_keep(cx, l->arena, avro));
    tn_field_move(&stored, out);
done:
    tn_parquet_close(&parquet);
    tn_field_release(&arrow);
    tn_field_release(&plain);
    tn_field_release(&stored);
    tn_buf_clear(&printed);
    return rc;
}

static const tn_base_file *newest_file(const load *l)
{
    const tn_base_file *newest = NULL;

    for (size_t i = 0; l->slices != NULL && i < l->slices->slice_count; i++) {
        const tn_base_file *base = &l->slices->slices[i].base;

        if (base->name.len != 0 &&
            (newest == NULL || tn_str_compare(base->instant, newest->instant) > 0))
            newest = base;
    }
    return newest;
}

static bool has_column(const struct ArrowSchema *schema, tn_str name)
{
    for (int64_t i = 0; i < schema->n_children; i++)
        if (tn_str_is(name, schema->children[i]->name))
            return true;
    return false;
}

/* Partition field `p` is a column that the schema lacks; one that is named twice counts once. */
static bool lacks_partition(const tn_hudi_config *config, const struct ArrowSchema *schema,
                            size_t p)
{
    for (size_t i = 0; i < p; i++)
        if (tn_str_equal(config->partitions[i], config->partitions[p]))
            return false;
    return !has_column(schema, config->partitions[p]);
}

/* Where files lack the partition columns, and so does a schema made of them, they are texts behind
 * the others (TableSchemaResolver.appendPartitionColumns). */
static int add_partition_columns(tarn_cx *cx, const load *l, struct ArrowSchema *schema,
                                 tn_str *avro)
{
    const tn_hudi_config *config = l->config;
    struct ArrowSchema wider = {0};
    tn_buf printed = {0};
    int64_t missing = 0, n = schema->n_children;
    int rc = TARN_OK;

    for (size_t p = 0; p < config->partition_count; p++)
        missing += lacks_partition(config, schema, p);
    if (!config->drop_partition_columns || missing == 0)
        return TARN_OK;
    TN_TRY(tn_field_init(cx, &wider, "+s", TN_STR(""), false, (size_t)(n + missing)));
    for (int64_t i = 0; i < n; i++)
        TN_TRY(tn_field_copy(cx, schema->children[i], wider.children[i]));
    for (size_t p = 0; p < config->partition_count; p++)
        if (lacks_partition(config, schema, p))
            TN_TRY(tn_field_init(cx, wider.children[n++], "u", config->partitions[p], true, 0));
    TN_TRY(tn_avro_of_arrow(cx, &wider, config->name, false, &printed));
    TN_TRY(tn_buf_check(cx, &printed));
    *avro = tn_buf_view(&printed);
    TN_TRY(tn_arena_keep(cx, l->arena, avro));
    tn_field_release(schema);
    tn_field_move(&wider, schema);
done:
    tn_field_release(&wider);
    tn_buf_clear(&printed);
    return rc;
}

static int load_schema(tarn_cx *cx, const load *l, bool *known, tn_str *avro,
                       struct ArrowSchema *out)
{
    const tn_base_file *base = newest_file(l);
    struct ArrowSchema schema = {0};
    tn_str text = {NULL, 0};
    bool found = true;
    int rc = TARN_OK;

    assert(known != NULL && avro != NULL && out != NULL);
    TN_TRY(of_commits(cx, l, &text));
    if (text.len != 0)
        TN_TRY(parse_text(cx, l, text, "schema of the newest commit", &text, &schema));
    else if (base != NULL)
        TN_TRY(of_file(cx, l, base, &text, &schema));
    else if (l->config->create_schema.len != 0)
        TN_TRY(parse_text(cx, l, l->config->create_schema, "hoodie.table.create.schema", &text,
                          &schema));
    else
        found = false;
    if (found)
        TN_TRY(add_partition_columns(cx, l, &schema, &text));
    *known = found;
    *avro = text;
    tn_field_move(&schema, out);
done:
    tn_field_release(&schema);
    return rc;
}

int tn_hudi_schema_load(tarn_cx *cx, tn_store *store, const tn_hudi_config *config,
                        const tn_timeline *timeline, const tn_slices *slices, tn_str as_of,
                        tn_arena *arena, bool *known, tn_str *avro, struct ArrowSchema *out)
{
    load l = {store, config, timeline, slices, as_of, arena, NULL};

    return load_schema(cx, &l, known, avro, out);
}

int tn_hudi_schema_read(tarn_cx *cx, tn_store *store, const tn_hudi_config *config,
                        const tn_timeline *timeline, const tn_slices *slices, tn_str as_of,
                        tn_arena *arena, bool *known, tn_str *avro, tn_str *numbered,
                        struct ArrowSchema *out)
{
    load l = {store, config, timeline, slices, as_of, arena, numbered};

    assert(numbered != NULL);
    *numbered = (tn_str){NULL, 0};
    return load_schema(cx, &l, known, avro, out);
}

int tn_hudi_schema_meta(tarn_cx *cx, const struct ArrowSchema *schema, struct ArrowSchema *out)
{
    struct ArrowSchema whole = {0};
    int rc = TARN_OK;

    TN_TRY(tn_field_init(cx, &whole, "+s", TN_STR(""), false, (size_t)schema->n_children + 5));
    for (size_t i = 0; i < 5; i++)
        TN_TRY(
            tn_field_init(cx, whole.children[i], "u", tn_str_of(tn_hudi_meta_names[i]), true, 0));
    for (int64_t i = 0; i < schema->n_children; i++)
        TN_TRY(tn_field_copy(cx, schema->children[i], whole.children[i + 5]));
    tn_field_move(&whole, out);
done:
    tn_field_release(&whole);
    return rc;
}

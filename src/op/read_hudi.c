/* Opens a Hudi table for reading: snapshot -> files, schema, condition.
 *   properties -> timeline -> slices -> schema -> partitions ruled out -> files
 *
 * I1: columns come from the table's schema, never from a file; a partition column comes from the
 *     file that has it, and from the path only where the table says that files lack it.
 * I2: rows that a log may have changed are never given as if they were current.
 * I3: with --key the condition holds the key, too: pruning only saves work. */
#include "op/op_read.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch/array.h"
#include "batch/moment.h"
#include "batch/predicate.h"
#include "plan/scan_hudi.h"
#include "table/hudi_schema.h"

#define TN_KEY_COLUMN    "_hoodie_record_key"
#define TN_READ_KEYS_MAX 1000 /* that files are looked through for */

typedef struct table {
    tn_read *read;
    const tarn_read_options *options;
    tn_hudi_config config;
    tn_timeline timeline;
    tn_slices slices;
    struct ArrowSchema columns; /* without meta columns */
    tn_scan_hudi scan;
    tn_str as_of;
} table;

/* ---- which snapshot ---- */

static bool digits_only(tn_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
    return text.len != 0;
}

/* An instant as it stands, one of seconds to the end of its second, or a time of the table's zone.
 */
static int find_as_of(tarn_cx *cx, table *t)
{
    tn_arena *arena = &t->read->arena;
    tn_str text = tn_str_of(t->options->as_of);
    tn_moment moment;
    int64_t ms;
    int rc = TARN_OK;

    if (t->options->as_of == NULL)
        goto done;
    if (digits_only(text)) {
        t->as_of = text;
        if (text.len == 14)
            TN_TRY(tn_arena_print(cx, arena, &t->as_of, "%.*s999", TN_STR_ARG(text)));
        goto done;
    }
    if (!tn_moment_parse(text, &moment))
        TN_FAIL(TARN_E_INVALID,
                "as of \"%.*s\": neither an instant (20240512100000000) nor a time "
                "(2024-05-12 10:00:00)",
                TN_STR_ARG(text));
    ms = moment.seconds * 1000 + moment.nanos / 1000000;
    TN_TRY(tn_instant_of_ms(cx, arena, ms, moment.has_zone ? t->config.utc : true, &t->as_of));
done:
    return rc;
}

static int check_mode(tarn_cx *cx, const tarn_read_options *options, bool *optimized)
{
    if (options->since != NULL || options->until != NULL)
        return tn_fail(cx, TARN_E_UNSUPPORTED,
                       "--since, --until: incremental reads are not there yet; leave them out");
    *optimized = options->mode != NULL && strcmp(options->mode, "read_optimized") == 0;
    if (options->mode == NULL || *optimized || strcmp(options->mode, "snapshot") == 0)
        return TARN_OK;
    return tn_fail(cx, TARN_E_UNSUPPORTED,
                   "mode \"%s\": incremental reads are not there yet; Hudi tables are read as "
                   "snapshot or read_optimized",
                   options->mode);
}

/* I2. */
static int check_logs(tarn_cx *cx, const table *t)
{
    size_t groups = 0;

    for (size_t i = 0; i < t->slices.slice_count; i++)
        groups += t->slices.slices[i].log_count != 0;
    if (groups == 0)
        return TARN_OK;
    return tn_fail(cx, TARN_E_UNSUPPORTED,
                   "%.*s: a merge-on-read table, and %zu of its %zu file groups have logs that are "
                   "not compacted, which tarn does not merge: compact it with Hudi, or read what "
                   "is compacted with --mode read_optimized",
                   TN_STR_ARG(t->read->root), groups, t->slices.slice_count);
}

static int load_table(tarn_cx *cx, table *t)
{
    tn_read *read = t->read;
    tn_slices_options options = {0};
    bool optimized, known;
    tn_str avro;
    int rc = TARN_OK;

    TN_TRY(check_mode(cx, t->options, &optimized));
    TN_TRY(tn_hudi_config_load(cx, read->store, read->root, &read->arena, &t->config));
    TN_TRY(find_as_of(cx, t));
    TN_TRY(tn_timeline_load(cx, read->store, read->root, &t->config, &read->arena, &t->timeline));
    options.as_of = t->as_of;
    TN_TRY(tn_slices_load(cx, read->store, read->root, &t->config, &t->timeline, &options,
                          &read->arena, &t->slices));
    if (t->slices.slice_count == 0)
        TN_TRY(tn_timeline_reaches(cx, &t->timeline, read->root, t->as_of));
    if (!optimized)
        TN_TRY(check_logs(cx, t));
    TN_TRY(tn_hudi_schema_load(cx, read->store, &t->config, &t->timeline, &t->slices, t->as_of,
                               &read->arena, &known, &avro, &t->columns));
    if (!known)
        TN_TRY(tn_field_init(cx, &t->columns, "+s", TN_STR(""), false, 0));
done:
    return rc;
}

/* ---- columns ---- */

static int64_t given_column(const table *t, const char *name)
{
    for (int64_t i = 0; i < t->scan.given_schema.n_children; i++)
        if (strcmp(t->scan.given_schema.children[i]->name, name) == 0)
            return i;
    return -1;
}

/* Meta columns and the table's; a column that the files lack has the type its paths give. */
static int make_columns(tarn_cx *cx, table *t, struct ArrowSchema *out)
{
    struct ArrowSchema whole = {0}, made = {0};
    int rc = TARN_OK;

    TN_TRY(tn_hudi_schema_meta(cx, &t->columns, &whole));
    TN_TRY(tn_field_init(cx, &made, "+s", TN_STR(""), false, (size_t)whole.n_children));
    for (int64_t i = 0; i < whole.n_children; i++) {
        int64_t given = given_column(t, whole.children[i]->name);

        TN_TRY(tn_field_copy(cx,
                             given >= 0 ? t->scan.given_schema.children[given] : whole.children[i],
                             made.children[i]));
    }
    tn_field_move(&made, out);
done:
    tn_field_release(&whole);
    tn_field_release(&made);
    return rc;
}

/* Without a wish: the table's own columns, with the meta columns in front where they are asked for.
 */
static int choose_columns(tarn_cx *cx, const table *t, tn_read_hudi *out)
{
    int64_t first = t->options->meta ? 0 : 5, n = out->all.n_children - first;
    const char **names;

    out->columns = t->options->columns;
    out->column_count = t->options->column_count;
    if (out->columns != NULL)
        return TARN_OK;
    names = tn_arena_array(cx, &t->read->arena, (size_t)n + 1, sizeof *names);
    if (names == NULL)
        return TARN_E_NOMEM;
    for (int64_t i = 0; i < n; i++) {
        tn_str name = tn_str_of(out->all.children[first + i]->name);

        if (tn_arena_keep(cx, &t->read->arena, &name) != TARN_OK)
            return TARN_E_NOMEM;
        names[i] = name.ptr;
    }
    out->columns = names;
    out->column_count = (size_t)n;
    return TARN_OK;
}

/* ---- the key ---- */

static void quote_text(tn_buf *out, tn_str text)
{
    tn_buf_u8(out, '\'');
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\'')
            tn_buf_u8(out, '\'');
        tn_buf_u8(out, (uint8_t)text.ptr[i]);
    }
    tn_buf_u8(out, '\'');
}

/* The condition and "the record key is that". */
static int add_key(tarn_cx *cx, const table *t, tn_read_hudi *out)
{
    const tarn_read_options *options = t->options;
    tn_buf text = {0};
    tn_str kept;
    int rc = TARN_OK;

    if (options->key == NULL)
        goto done;
    if (!t->config.meta_fields)
        TN_FAIL(TARN_E_UNSUPPORTED,
                "--key: the rows of %.*s have no record keys (hoodie.populate.meta.fields=false); "
                "name the key's columns with --where",
                TN_STR_ARG(t->read->root));
    if (options->where != NULL)
        tn_buf_print(&text, "(%s) AND ", options->where);
    tn_buf_text(&text, "`" TN_KEY_COLUMN "` = ");
    quote_text(&text, tn_str_of(options->key));
    TN_TRY(tn_buf_check(cx, &text));
    kept = tn_buf_view(&text);
    TN_TRY(tn_arena_keep(cx, &t->read->arena, &kept));
    TN_TRY(tn_predicate_parse(cx, kept, &t->read->arena, &out->where));
done:
    tn_buf_clear(&text);
    return rc;
}

/* The one field whose text is the record key. A complex generator's may be "field:value". */
static tn_str single_key(const tn_hudi_config *config)
{
    if (config->key_count != 1 || !config->keygen_known || config->keygen == TN_KEYGEN_COMPLEX ||
        config->keygen == TN_KEYGEN_CUSTOM)
        return (tn_str){NULL, 0};
    return config->keys[0];
}

/* ---- files ---- */

/* Which partitions the condition may be true in: keep[i] of each. */
static int prune_partitions(tarn_cx *cx, table *t, const tn_predicate *where, uint8_t *keep)
{
    size_t count = t->slices.partition_count;
    tarn_read_counts *counts = t->read->counts;
    tn_filter filter;
    int64_t kept;
    int rc = TARN_OK;

    memset(keep, 1, count);
    counts->partitions = counts->partitions_read = count;
    if (where == NULL || count == 0 || t->scan.schema.n_children == 0)
        return TARN_OK;
    TN_TRY(tn_predicate_bind_partial(cx, where, &t->scan.schema, &t->read->arena, &filter));
    TN_TRY(tn_filter_eval(cx, &filter, &t->scan.values, keep, &kept));
    counts->partitions_read = 0;
    for (size_t i = 0; i < count; i++) {
        keep[i] |= t->scan.unsure[i];
        counts->partitions_read += keep[i];
    }
done:
    return rc;
}

static int collect_files(tarn_cx *cx, table *t, const tn_predicate *where)
{
    tn_read *read = t->read;
    uint8_t *keep = tn_alloc(cx, t->slices.partition_count + 1);
    int rc = TARN_OK;

    read->files = tn_arena_array(cx, &read->arena, t->slices.slice_count + 1, sizeof *read->files);
    if (keep == NULL || read->files == NULL)
        TN_TRY(TARN_E_NOMEM);
    TN_TRY(prune_partitions(cx, t, where, keep));
    for (size_t i = 0; i < t->slices.slice_count; i++) {
        const tn_base_file *base = &t->slices.slices[i].base;

        if (base->name.len == 0 || keep[base->partition] == 0)
            continue;
        read->files[read->file_count++] = (tn_read_file){.path = base->path,
                                                         .partition = (int64_t)base->partition,
                                                         .bytes = base->size_bytes * 4,
                                                         .rows = -1};
    }
done:
    free(keep);
    return rc;
}

int tn_read_hudi_load(tarn_cx *cx, tn_read *read, const tarn_read_options *options,
                      const tn_predicate *where, tn_read_hudi *out)
{
    table t = {.read = read, .options = options};
    tn_read_hudi made = {.where = where};
    int rc = TARN_OK;

    assert(out != NULL);
    TN_TRY(load_table(cx, &t));
    TN_TRY(tn_scan_hudi_partitions(cx, &t.config, &t.slices, &t.columns, &read->arena, &t.scan));
    TN_TRY(make_columns(cx, &t, &made.all));
    TN_TRY(choose_columns(cx, &t, &made));
    TN_TRY(add_key(cx, &t, &made));
    TN_TRY(collect_files(cx, &t, made.where));
    tn_field_move(&t.scan.given_schema, &read->partition_schema);
    tn_array_move(&t.scan.given_values, &read->partition_values);
    made.stored_keys = t.config.meta_fields;
    made.key_field = single_key(&t.config);
    *out = made;
    made.all.release = NULL;
done:
    tn_field_release(&t.columns);
    tn_scan_hudi_clear(&t.scan);
    tn_field_release(&made.all);
    return rc;
}

/* ---- record keys that the condition leaves ---- */

static int print_key(tarn_cx *cx, tn_arena *arena, const tn_filter_column *column,
                     const tn_filter_value *value, tn_str *out)
{
    if (column->domain == TN_DOMAIN_BYTES) {
        *out = value->bytes;
        return TARN_OK;
    }
    return tn_arena_print(cx, arena, out, "%" PRId64, value->i);
}

/* True when values of the column are record keys, as text. */
static bool is_key_column(const tn_filter_column *column, const tn_read_hudi *hudi)
{
    if (column->path_count != 1)
        return false;
    if (tn_str_is(column->path[0], TN_KEY_COLUMN))
        return true;
    return hudi->key_field.len != 0 && tn_str_equal(column->path[0], hudi->key_field) &&
           (column->type.kind == TN_TYPE_UTF8 || column->type.kind == TN_TYPE_INT32 ||
            column->type.kind == TN_TYPE_INT64);
}

/* "key = …" or "key IN (…)", which the whole condition needs to be true; NULL: it has none. */
static const tn_filter_node *find_key_test(const tn_filter *filter, const tn_filter_node *node,
                                           const tn_read_hudi *hudi)
{
    const tn_filter_node *found = NULL;

    if (node->kind == TN_FILTER_AND)
        for (size_t i = 0; i < node->child_count && found == NULL; i++)
            found = find_key_test(filter, node->children[i], hudi);
    else if (((node->kind == TN_FILTER_COMPARE && node->op == TN_EQ) ||
              (node->kind == TN_FILTER_IN && !node->negated)) &&
             is_key_column(&filter->columns[node->column], hudi))
        found = node;
    return found;
}

int tn_read_hudi_keys(tarn_cx *cx, tn_read *read, const tn_read_hudi *hudi)
{
    const tn_filter *filter = read->task.filter;
    const tn_filter_node *test;
    size_t count;
    tn_str *keys;
    int rc = TARN_OK;

    if (filter == NULL || !hudi->stored_keys)
        return TARN_OK;
    test = find_key_test(filter, filter->root, hudi);
    if (test == NULL)
        return TARN_OK;
    count = test->kind == TN_FILTER_COMPARE ? 1 : test->value_count;
    if (count > TN_READ_KEYS_MAX)
        return TARN_OK;
    keys = tn_arena_array(cx, &read->arena, count, sizeof *keys);
    if (keys == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < count; i++)
        TN_TRY(print_key(cx, &read->arena, &filter->columns[test->column], &test->values[i],
                         &keys[i]));
    read->task.record_keys = keys;
    read->task.record_key_count = count;
done:
    return rc;
}

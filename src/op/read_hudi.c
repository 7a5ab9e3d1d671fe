/* Opens a Hudi table for reading: query -> files, schema, condition.
 *   properties -> timeline -> slices -> schema -> partitions ruled out -> files and logs
 *
 * I1: columns come from the table's schema, never from a file; a partition column comes from the
 *     file that has it, and from the path only where the table says that files lack it.
 * I2: rows that a log may have changed are never given as if they were current: a slice with logs
 * is read merged, but for read-optimized queries. I3: which rows a query gives follows from the
 * condition; what is ruled out before only saves work.
 */
#include "op/read_cdc.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch/array.h"
#include "batch/moment.h"
#include "batch/predicate.h"
#include "table/hudi_names.h"
#include "table/hudi_schema.h"

void tn_reading_say(const tn_reading *reading, const char *format, ...)
{
    char text[TN_ERROR_TEXT_MAX];
    va_list args;

    if (reading->read->warn == NULL)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    reading->read->warn(reading->read->warn_arg, text);
}

/* ---- which query ---- */

static int find_kind(tarn_cx *cx, tn_reading *r)
{
    static const struct {
        const char *mode;
        enum tn_query_kind kind;
    } kinds[] = {{"snapshot", TN_QUERY_SNAPSHOT},
                 {"read_optimized", TN_QUERY_OPTIMIZED},
                 {"incremental", TN_QUERY_INCREMENTAL},
                 {"cdc", TN_QUERY_CDC}};
    const tarn_read_options *options = r->options;
    bool ranged = options->since != NULL || options->until != NULL;

    r->kind = ranged ? TN_QUERY_INCREMENTAL : TN_QUERY_SNAPSHOT;
    if (options->mode != NULL) {
        size_t i = 0, n = sizeof kinds / sizeof kinds[0];

        while (i < n && strcmp(options->mode, kinds[i].mode) != 0)
            i++;
        if (i == n)
            return tn_fail(cx, TARN_E_INVALID,
                           "mode \"%s\": it is one of snapshot, read_optimized, incremental, cdc",
                           options->mode);
        r->kind = kinds[i].kind;
    }
    if (ranged && r->kind < TN_QUERY_INCREMENTAL)
        return tn_fail(cx, TARN_E_INVALID,
                       "--since and --until bound an incremental or cdc read; a %s is of one time: "
                       "give --as-of",
                       options->mode);
    if (options->as_of != NULL && r->kind >= TN_QUERY_INCREMENTAL)
        return tn_fail(cx, TARN_E_INVALID,
                       "--as-of is for snapshots; an incremental or cdc read ends at --until");
    if (options->meta && r->kind == TN_QUERY_CDC)
        return tn_fail(cx, TARN_E_INVALID,
                       "--meta is for rows; changes have the columns op, ts_ms, before and after");
    return TARN_OK;
}

/* ---- its files ---- */

/* What was typed after an option, as an instant; NULL: *out becomes empty. */
static int take_time(tarn_cx *cx, tn_reading *r, const char *option, const char *typed, tn_str *out)
{
    tn_read *read = r->read;
    tn_moment moment;
    size_t digits;
    int rc;

    *out = (tn_str){NULL, 0};
    if (typed == NULL)
        return TARN_OK;
    rc = tn_query_instant(cx, &r->config, NULL, typed, &read->arena, out);
    digits = strspn(typed, "0123456789");
    /* Digits of another form may be an instant that the table has. */
    if (rc == TARN_E_INVALID && digits != 0 && typed[digits] == '\0') {
        tn_timeline timeline;

        tn_cx_forget(cx);
        TN_TRY(tn_timeline_load(cx, read->store, read->root, &r->config, &read->arena, &timeline));
        rc = tn_query_instant(cx, &r->config, &timeline, typed, &read->arena, out);
    }
    if (rc == TARN_E_INVALID)
        rc = tn_fail_within(cx, rc, "%s", option);
    else if (rc == TARN_OK && !r->config.utc && tn_moment_parse(tn_str_of(typed), &moment) &&
             moment.has_zone)
        tn_reading_say(r,
                       "%s %s: instants of the table are of its writers' zone "
                       "(hoodie.table.timeline.timezone=LOCAL), which is not stored; the zone of "
                       "this process (TZ) was taken for it, so %.*s is meant",
                       option, typed, TN_STR_ARG(*out));
done:
    return rc;
}

static int take_options(tarn_cx *cx, tn_reading *r)
{
    const tarn_read_options *options = r->options;
    int rc = TARN_OK;

    TN_TRY(take_time(cx, r, "--as-of", options->as_of, &r->as_of));
    TN_TRY(take_time(cx, r, "--since", options->since, &r->since));
    TN_TRY(take_time(cx, r, "--until", options->until, &r->until));
    if (options->v6_slices == NULL || strcmp(options->v6_slices, "completion") == 0)
        r->v6_slices = TN_V6_SLICES_TIME;
    else if (strcmp(options->v6_slices, "instant") == 0)
        r->v6_slices = TN_V6_SLICES_INSTANT;
    else
        TN_FAIL(TARN_E_INVALID, "--v6-slices \"%s\": it is completion or instant",
                options->v6_slices);
done:
    return rc;
}

static int load_snapshot(tarn_cx *cx, tn_reading *r)
{
    tn_read *read = r->read;
    tn_slices_options options = {
        .as_of = r->as_of, .v6_slices = r->v6_slices, .listing = TN_SLICES_METADATA};
    int rc = TARN_OK;

    TN_TRY(tn_slices_snapshot(cx, read->store, read->root, &r->config, &options, &read->arena,
                              &r->timeline, &r->slices));
    if (r->slices.slice_count == 0)
        TN_TRY(tn_timeline_reaches(cx, &r->timeline, read->root, r->as_of));
    TN_TRY(tn_slices_instants(cx, &r->timeline, r->as_of, &read->arena, &r->instants));
done:
    return rc;
}

/* No rows are an answer of a table; that there never was a write is told beside it. */
static void say_empty(const tn_reading *r)
{
    if (r->slices.slice_count != 0 || r->as_of.len != 0)
        return;
    for (size_t i = 0; i < r->timeline.count; i++)
        if (tn_instant_writes_data(&r->timeline.instants[i]) &&
            r->timeline.instants[i].state == TN_STATE_COMPLETED)
            return;
    tn_reading_say(r, "%.*s: the table has no commit yet, so there are no rows",
                   TN_STR_ARG(r->read->root));
}

static int load_slices(tarn_cx *cx, tn_reading *r)
{
    tn_str warning;
    int rc = TARN_OK;

    TN_TRY(r->kind == TN_QUERY_INCREMENTAL ? tn_reading_range(cx, r) : load_snapshot(cx, r));
    if (r->kind == TN_QUERY_CDC)
        TN_TRY(tn_reading_changes(cx, r));
    TN_TRY(tn_slices_warning(cx, &r->slices, &r->read->arena, &warning));
    if (warning.len != 0 && r->kind != TN_QUERY_OPTIMIZED)
        tn_reading_say(r, "%.*s", TN_STR_ARG(warning));
    say_empty(r);
done:
    return rc;
}

/* I2: how logs are merged, where there are any. */
static int load_rules(tarn_cx *cx, tn_reading *r)
{
    size_t i = 0;
    int rc = TARN_OK;

    while (i < r->slices.slice_count && r->slices.slices[i].log_count == 0)
        i++;
    /* Changes may be of slices that are compacted since. */
    if (r->kind == TN_QUERY_CDC ? !r->config.mor
                                : i == r->slices.slice_count || r->kind == TN_QUERY_OPTIMIZED)
        return TARN_OK;
    TN_TRY(tn_reading_rules(cx, r));
done:
    return rc;
}

/* I1. */
static int load_schema(tarn_cx *cx, tn_reading *r)
{
    tn_read *read = r->read;
    tn_str numbered;
    bool known;
    int rc = TARN_OK;

    TN_TRY(tn_hudi_schema_read(cx, read->store, &r->config, &r->timeline, &r->slices, r->as_of,
                               &read->arena, &known, &r->avro, &numbered, &r->columns));
    if (!known)
        TN_TRY(tn_field_init(cx, &r->columns, "+s", TN_STR(""), false, 0));
    if (numbered.len != 0)
        TN_TRY(tn_hudi_names_load(cx, read->store, read->root, &r->timeline, numbered, r->as_of,
                                  &read->arena, &r->names));
    read->task.names = &r->names;
done:
    return rc;
}

static int load_table(tarn_cx *cx, tn_reading *r)
{
    int rc = TARN_OK;

    TN_TRY(find_kind(cx, r));
    TN_TRY(tn_hudi_config_load(cx, r->read->store, r->read->root, &r->read->arena, &r->config));
    TN_TRY(take_options(cx, r));
    TN_TRY(load_slices(cx, r));
    TN_TRY(load_rules(cx, r));
    TN_TRY(load_schema(cx, r));
done:
    return rc;
}

/* ---- columns ---- */

static int64_t given_column(const tn_reading *r, const char *name)
{
    for (int64_t i = 0; i < r->scan.given_schema.n_children; i++)
        if (strcmp(r->scan.given_schema.children[i]->name, name) == 0)
            return i;
    return -1;
}

/* Meta columns and the table's; a column that the files lack has the type its paths give. */
static int make_columns(tarn_cx *cx, tn_reading *r, struct ArrowSchema *out)
{
    struct ArrowSchema whole = {0}, made = {0};
    int rc = TARN_OK;

    TN_TRY(tn_hudi_schema_meta(cx, &r->columns, &whole));
    TN_TRY(tn_field_init(cx, &made, "+s", TN_STR(""), false, (size_t)whole.n_children));
    for (int64_t i = 0; i < whole.n_children; i++) {
        int64_t given = given_column(r, whole.children[i]->name);

        TN_TRY(tn_field_copy(cx,
                             given >= 0 ? r->scan.given_schema.children[given] : whole.children[i],
                             made.children[i]));
    }
    tn_field_move(&made, out);
done:
    tn_field_release(&whole);
    tn_field_release(&made);
    return rc;
}

static bool is_meta(const char *name)
{
    for (size_t i = 0; i < 5; i++)
        if (strcmp(name, tn_hudi_meta_names[i]) == 0)
            return true;
    return false;
}

/* The meta columns, and the chosen ones that are none behind them. */
static int put_meta_first(tarn_cx *cx, const tn_reading *r, tn_read_hudi *out)
{
    const tarn_read_options *options = r->options;
    const char **names =
        tn_arena_array(cx, &r->read->arena, options->column_count + 5, sizeof *names);
    size_t n = 0;

    if (names == NULL)
        return TARN_E_NOMEM;
    while (n < 5) {
        names[n] = tn_hudi_meta_names[n];
        n++;
    }
    for (size_t i = 0; i < options->column_count; i++)
        if (!is_meta(options->columns[i]))
            names[n++] = options->columns[i];
    out->columns = names;
    out->column_count = n;
    return TARN_OK;
}

/* Without a wish: the table's own columns. The meta columns come in front where they are asked for.
 */
static int choose_columns(tarn_cx *cx, const tn_reading *r, tn_read_hudi *out)
{
    bool changes = r->kind == TN_QUERY_CDC;
    int64_t first = r->options->meta || changes ? 0 : 5, n = out->all.n_children - first;
    const char **names;

    /* Those of a change query are of its changes (read_cdc.c). */
    out->columns = changes ? NULL : r->options->columns;
    out->column_count = r->options->column_count;
    if (out->columns != NULL)
        return r->options->meta ? put_meta_first(cx, r, out) : TARN_OK;
    names = tn_arena_array(cx, &r->read->arena, (size_t)n + 1, sizeof *names);
    if (names == NULL)
        return TARN_E_NOMEM;
    for (int64_t i = 0; i < n; i++) {
        tn_str name = tn_str_of(out->all.children[first + i]->name);

        if (tn_arena_keep(cx, &r->read->arena, &name) != TARN_OK)
            return TARN_E_NOMEM;
        names[i] = name.ptr;
    }
    out->columns = names;
    out->column_count = (size_t)n;
    return TARN_OK;
}

/* ---- the condition ---- */

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

/* I3: the condition asked for, the key, and the commits of the range. */
static int make_condition(tarn_cx *cx, const tn_reading *r, tn_read_hudi *out)
{
    const tarn_read_options *options = r->options;
    tn_buf text = {0};
    tn_str kept, keys[2];
    size_t count;
    int rc = TARN_OK;

    if (r->kind == TN_QUERY_CDC)
        out->where = NULL;
    if (options->key == NULL && r->in_range.len == 0)
        goto done;
    if (options->key != NULL && !r->config.meta_fields)
        TN_FAIL(TARN_E_UNSUPPORTED,
                "--key: the rows of %.*s have no record keys (hoodie.populate.meta.fields=false); "
                "name the key's columns with --where",
                TN_STR_ARG(r->read->root));
    if (options->where != NULL)
        tn_buf_print(&text, "(%s) AND ", options->where);
    if (options->key != NULL) {
        TN_TRY(tn_reading_spellings(cx, r, &r->read->arena, keys, &count));
        tn_buf_text(&text, "`_hoodie_record_key` IN (");
        for (size_t i = 0; i < count; i++) {
            tn_buf_text(&text, i > 0 ? ", " : "");
            quote_text(&text, keys[i]);
        }
        tn_buf_u8(&text, ')');
    }
    if (r->in_range.len != 0)
        tn_buf_print(&text, "%s%.*s", options->key != NULL ? " AND " : "", TN_STR_ARG(r->in_range));
    TN_TRY(tn_buf_check(cx, &text));
    kept = tn_buf_view(&text);
    TN_TRY(tn_arena_keep(cx, &r->read->arena, &kept));
    TN_TRY(tn_predicate_parse(cx, kept, &r->read->arena, &out->where));
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

/* ---- what is read ---- */

/* Which partitions the condition may be true in: keep[i] of each. */
static int prune_partitions(tarn_cx *cx, tn_reading *r, const tn_predicate *where, uint8_t *keep)
{
    size_t count = r->slices.partition_count;
    tarn_read_counts *counts = r->read->counts;
    tn_filter filter;
    int64_t kept;
    int rc = TARN_OK;

    memset(keep, 1, count);
    counts->partitions = counts->partitions_read = count;
    if (where == NULL || count == 0 || r->scan.schema.n_children == 0)
        return TARN_OK;
    TN_TRY(tn_predicate_bind_partial(cx, where, &r->scan.schema, &r->read->arena, &filter));
    TN_TRY(tn_filter_eval(cx, &filter, &r->scan.values, keep, &kept));
    counts->partitions_read = 0;
    for (size_t i = 0; i < count; i++) {
        keep[i] |= r->scan.unsure[i];
        counts->partitions_read += keep[i];
    }
done:
    return rc;
}

/* The logs of a slice, for the one that merges them. */
static void take_parts(const tn_reading *r, const tn_slice *slice, tn_slice_parts *out)
{
    *out = (tn_slice_parts){.base_instant =
                                slice->base.name.len != 0 ? slice->base.instant : (tn_str){NULL, 0},
                            .logs = slice->logs,
                            .log_count = slice->log_count,
                            .instants = &r->instants,
                            .rules = &r->rules,
                            .avro = r->avro};
}

static void add_slice(tn_reading *r, const tn_slice *slice, tn_slice_parts *parts)
{
    tn_read *read = r->read;
    uint64_t bytes = slice->base.name.len != 0 ? slice->base.size_bytes : 0;
    tn_read_file *file;
    bool merged = slice->log_count != 0 && r->kind != TN_QUERY_OPTIMIZED;

    if (slice->base.name.len == 0 && !merged)
        return;
    file = &read->files[read->file_count++];
    for (size_t i = 0; merged && i < slice->log_count; i++)
        bytes += slice->logs[i].size_bytes;
    *file = (tn_read_file){.path = slice->base.name.len != 0 ? slice->base.path : TN_STR(""),
                           .partition = (int64_t)slice->base.partition,
                           .bytes = bytes * 4,
                           .rows = -1};
    if (!merged)
        return;
    take_parts(r, slice, parts);
    file->slice = parts;
}

/* The slices that are to be read: keep[i] of each. */
static int choose_slices(tarn_cx *cx, tn_reading *r, const tn_read_hudi *asked, uint8_t *keep)
{
    tarn_read_counts *counts = r->read->counts;
    size_t count = r->slices.slice_count;
    uint8_t *partitions = tn_alloc(cx, r->slices.partition_count + 1);
    int rc = TARN_OK;

    if (partitions == NULL)
        return TARN_E_NOMEM;
    TN_TRY(prune_partitions(cx, r, asked->where, partitions));
    for (size_t i = 0; i < count; i++) {
        keep[i] = partitions[r->slices.slices[i].base.partition] != 0;
        counts->slices += keep[i];
    }
    TN_TRY(tn_reading_skip(cx, r, asked->where, &asked->all, keep));
    for (size_t i = 0; i < count; i++)
        counts->slices_read += keep[i];
done:
    free(partitions);
    return rc;
}

static int collect_files(tarn_cx *cx, tn_reading *r, const tn_read_hudi *asked)
{
    tn_read *read = r->read;
    size_t count = r->slices.slice_count;
    uint8_t *keep = tn_alloc(cx, count + 1);
    tn_slice_parts *parts = tn_arena_array(cx, &read->arena, count + 1, sizeof *parts);
    int rc = TARN_OK;

    read->files = tn_arena_array(cx, &read->arena, count + 1, sizeof *read->files);
    if (keep == NULL || parts == NULL || read->files == NULL)
        TN_TRY(TARN_E_NOMEM);
    TN_TRY(choose_slices(cx, r, asked, keep));
    for (size_t i = 0; i < count; i++)
        if (keep[i] != 0)
            add_slice(r, &r->slices.slices[i], &parts[i]);
done:
    free(keep);
    return rc;
}

int tn_read_hudi_gone(tarn_cx *cx, const tn_read *read, tn_str path)
{
    const tn_reading *r = read->hudi;

    return tn_slices_gone(cx, read->store, read->root, &r->config, &r->timeline, path);
}

int tn_read_hudi_load(tarn_cx *cx, tn_read *read, const tarn_read_options *options,
                      const tn_predicate *where, tn_read_hudi *out)
{
    tn_reading *r = tn_arena_take(cx, &read->arena, sizeof *r);
    tn_read_hudi made = {.where = where};
    int rc = TARN_OK;

    assert(out != NULL);
    if (r == NULL)
        return TARN_E_NOMEM;
    *r = (tn_reading){.read = read, .options = options};
    TN_TRY(load_table(cx, r));
    TN_TRY(
        tn_scan_hudi_partitions(cx, &r->config, &r->slices, &r->columns, &read->arena, &r->scan));
    TN_TRY(make_columns(cx, r, &made.all));
    TN_TRY(choose_columns(cx, r, &made));
    TN_TRY(make_condition(cx, r, &made));
    TN_TRY(collect_files(cx, r, &made));
    tn_field_move(&r->scan.given_schema, &read->partition_schema);
    tn_array_move(&r->scan.given_values, &read->partition_values);
    made.stored_keys = r->config.meta_fields;
    made.key_field = single_key(&r->config);
    read->hudi = r;
    *out = made;
    made.all.release = NULL;
done:
    tn_field_release(&r->columns);
    tn_scan_hudi_clear(&r->scan);
    tn_field_release(&made.all);
    return rc;
}

/* The columns of a merge, and what is asked of rows.
 *
 * I1: the columns of the task come first, in its order, so that a filter bound to them holds.
 * I2: what decides is a column's type of today: values of blocks and files are widened to it.
 * I3: a row without a value has the Integer 0 in Hudi: beside integers of 32 bits it counts as 0,
 *     beside others (where Hudi fails) as lowest; a delete with it goes by commit time. */
#include "exec/slice_columns.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "batch/field.h"
#include "batch/unify.h"
#include "codec/avro/avro_schema.h"

#define META_KEY       "_hoodie_record_key"
#define META_OPERATION "_hoodie_operation"
#define IS_DELETED     "_hoodie_is_deleted"
/* Java keeps one object for each of these, and Hudi compares objects. */
#define SHARED_NUMBER_MIN (-128)
#define SHARED_NUMBER_MAX 127

/* ---- which columns */

typedef struct picks {
    const struct ArrowSchema **fields;
    size_t count;
} picks;

static int64_t find_field(const struct ArrowSchema *schema, tn_str name)
{
    for (int64_t i = 0; i < schema->n_children; i++)
        if (tn_str_is(name, schema->children[i]->name))
            return i;
    return -1;
}

/* The top-level column that a name, dotted or not, lies in; -1: there is none. */
static int64_t find_top(const struct ArrowSchema *schema, tn_str name)
{
    int64_t whole = find_field(schema, name);

    return whole >= 0 ? whole : find_field(schema, (tn_str){name.ptr, tn_str_find(name, '.')});
}

/* Adds the column of `all` that holds `name` unless it is there. False: there is none. */
static bool pick(const tn_scan_task *task, picks *p, tn_str name)
{
    int64_t i = find_top(task->all, name);

    if (i < 0)
        return false;
    for (size_t k = 0; k < p->count; k++)
        if (strcmp(p->fields[k]->name, task->all->children[i]->name) == 0)
            return true;
    p->fields[p->count++] = task->all->children[i];
    return true;
}

static int pick_needed(tarn_cx *cx, const tn_scan_task *task, picks *p, tn_str name,
                       const char *what)
{
    if (pick(task, p, name))
        return TARN_OK;
    return tn_fail(cx, TARN_E_CORRUPT,
                   "the %s \"%.*s\" is not among the columns of the table, so that its logs cannot "
                   "be merged; check hoodie.properties",
                   what, TN_STR_ARG(name));
}

static int pick_all(tarn_cx *cx, tn_slice_columns *c, picks *p)
{
    const tn_scan_task *task = c->task;
    const tn_slice_rules *rules = c->rules;
    int rc = TARN_OK;

    for (int64_t i = 0; i < task->needed->n_children; i++)
        p->fields[p->count++] = task->needed->children[i];
    c->needed_count = (int64_t)p->count;
    for (size_t i = 0; c->by_order && i < rules->ordering_count; i++)
        TN_TRY(pick_needed(cx, task, p, rules->ordering[i], "ordering column"));
    c->placed_count = (int64_t)p->count;
    if (rules->meta_fields)
        TN_TRY(pick_needed(cx, task, p, TN_STR(META_KEY), "meta column"));
    for (size_t i = 0; !rules->meta_fields && i < rules->key_count; i++)
        TN_TRY(pick_needed(cx, task, p, rules->keys[i], "key column"));
    c->base_count = (int64_t)p->count;
    if (rules->delete_field.len != 0)
        TN_TRY(pick_needed(cx, task, p, rules->delete_field, "delete column"));
    (void)pick(task, p, TN_STR(IS_DELETED));
    (void)pick(task, p, TN_STR(META_OPERATION));
done:
    return rc;
}

static int make_work(tarn_cx *cx, tn_slice_columns *c)
{
    size_t most =
        (size_t)c->task->needed->n_children + c->rules->ordering_count + c->rules->key_count + 4;
    picks p = {.fields = tn_arena_array(cx, &c->arena, most, sizeof *p.fields)};
    int rc = TARN_OK;

    if (p.fields == NULL)
        return TARN_E_NOMEM;
    TN_TRY(pick_all(cx, c, &p));
    TN_TRY(tn_field_init(cx, &c->work, "+s", TN_STR(""), false, p.count));
    for (size_t i = 0; i < p.count; i++)
        TN_TRY(tn_field_copy(cx, p.fields[i], c->work.children[i]));
done:
    return rc;
}

/* ---- ordering */

/* Down by the parts of a dotted name. False: there is no such field. */
static bool find_path(const struct ArrowSchema *schema, tn_str name, tn_slice_path *out,
                      const struct ArrowSchema **field)
{
    *out = (tn_slice_path){.depth = 0};
    *field = schema;
    while (name.len != 0 && out->depth < TN_RECORD_FIELD_DEPTH_MAX) {
        int64_t whole = find_field(*field, name), i = find_top(*field, name);

        if (i < 0)
            return false;
        out->index[out->depth++] = (uint32_t)i;
        *field = (*field)->children[i];
        name = whole >= 0 ? (tn_str){NULL, 0} : tn_str_from(name, tn_str_find(name, '.') + 1);
    }
    return name.len == 0 && out->depth > 0;
}

static int bind_ordering(tarn_cx *cx, tn_slice_columns *c)
{
    size_t n = c->by_order ? c->rules->ordering_count : 0;
    uint32_t *indices = tn_arena_array(cx, &c->arena, n + 1, sizeof *indices);
    int rc = TARN_OK;

    c->order_count = n;
    c->order_paths = tn_arena_array(cx, &c->arena, n + 1, sizeof *c->order_paths);
    c->order_types = tn_arena_array(cx, &c->arena, n + 1, sizeof *c->order_types);
    if (indices == NULL || c->order_paths == NULL || c->order_types == NULL)
        return TARN_E_NOMEM;
    TN_TRY(tn_field_init(cx, &c->order_schema, "+s", TN_STR(""), false, n));
    for (size_t i = 0; i < n; i++) {
        const struct ArrowSchema *field;

        if (!find_path(&c->work, c->rules->ordering[i], &c->order_paths[i], &field))
            TN_FAIL(TARN_E_CORRUPT,
                    "the ordering column \"%.*s\" is not among the columns of the table",
                    TN_STR_ARG(c->rules->ordering[i]));
        TN_TRY(tn_field_copy(cx, field, c->order_schema.children[i]));
        TN_TRY(tn_type_of(cx, c->order_schema.children[i], &c->order_types[i]));
        indices[i] = (uint32_t)i;
    }
    TN_TRY(tn_ordering_open(cx, &c->order_schema, indices, n, &c->ordering));
done:
    return rc;
}

/* ---- keys and deletes */

static bool is_text(enum tn_type_kind kind)
{
    return kind == TN_TYPE_UTF8 || kind == TN_TYPE_LARGE_UTF8;
}

static int bind_keys(tarn_cx *cx, tn_slice_columns *c)
{
    struct ArrowSchema base = c->work;

    c->key = -1;
    if (c->rules->meta_fields) {
        c->key = find_field(&c->work, TN_STR(META_KEY));
        if (c->columns[c->key].type.kind != TN_TYPE_UTF8 || c->columns[c->key].type.dictionary)
            return tn_fail(cx, TARN_E_CORRUPT, "the column " META_KEY " is not text");
        return TARN_OK;
    }
    if (c->rules->key_count == 0)
        return tn_fail(cx, TARN_E_UNSUPPORTED,
                       "a table without meta columns and without key columns: its logs cannot be "
                       "merged");
    c->key_options = (tn_record_key_options){
        .kind = TN_KEYGEN_NON_PARTITION, .keys = c->rules->keys, .key_count = c->rules->key_count};
    /* Of base files, too, which have fewer columns: the first ones of all. */
    base.n_children = c->base_count;
    return tn_record_key_open(cx, &c->key_options, &base, &c->keys);
}

static int bind_deletes(tarn_cx *cx, tn_slice_columns *c)
{
    c->deleted = find_field(&c->work, TN_STR(IS_DELETED));
    if (c->deleted >= 0 && c->columns[c->deleted].type.kind != TN_TYPE_BOOL)
        return tn_fail(cx, TARN_E_UNSUPPORTED,
                       "the column " IS_DELETED " is not a boolean, as Hudi wants it");
    c->operation = find_field(&c->work, TN_STR(META_OPERATION));
    if (c->operation >= 0 && !is_text(c->columns[c->operation].type.kind))
        c->operation = -1;
    c->has_marker = c->rules->delete_field.len != 0 && c->rules->delete_marker.len != 0;
    if (!c->has_marker)
        return TARN_OK;
    return tn_record_field_bind(cx, &c->work, c->rules->delete_field, "delete", &c->marker);
}

/* ---- what stands for "as before" */

/* The default of a field as the number that the column holds; false: it is no such number. */
static bool default_number(const tn_avro_field *field, int64_t *out)
{
    json_int_t value;

    if (json_is_boolean(field->fallback)) {
        *out = json_is_true(field->fallback);
        return true;
    }
    value = json_integer_value(field->fallback);
    *out = value;
    return json_is_integer(field->fallback) && value >= SHARED_NUMBER_MIN &&
           value <= SHARED_NUMBER_MAX;
}

static bool is_number(const tn_type *type)
{
    return type->kind == TN_TYPE_BOOL || type->kind == TN_TYPE_INT32 ||
           type->kind == TN_TYPE_INT64 || type->kind == TN_TYPE_DATE32 ||
           type->kind == TN_TYPE_TIME32 || type->kind == TN_TYPE_TIME64 ||
           type->kind == TN_TYPE_TIMESTAMP;
}

static void set_default(tn_slice_column *column, const tn_avro_field *field)
{
    column->blank = TN_BLANK_NULL;
    if (field->fallback == NULL || json_is_null(field->fallback))
        return;
    column->blank = TN_BLANK_NEVER;
    if (is_number(&column->type) && default_number(field, &column->number))
        column->blank = TN_BLANK_NUMBER;
}

static int find_defaults(tarn_cx *cx, tn_slice_columns *c)
{
    tn_avro_schema schema = {0};
    int rc = TARN_OK;

    for (int64_t i = 0; i < c->work.n_children; i++)
        c->columns[i].blank = TN_BLANK_NULL;
    if (c->task->slice->avro.len == 0)
        return TARN_OK;
    TN_TRY(tn_avro_schema_parse(cx, c->task->slice->avro, "the schema of the table", &schema));
    for (size_t f = 0; schema.root->kind == TN_AVRO_RECORD && f < schema.root->field_count; f++) {
        int64_t i = find_field(&c->work, schema.root->fields[f].name);

        if (i >= 0)
            set_default(&c->columns[i], &schema.root->fields[f]);
    }
done:
    tn_avro_schema_clear(&schema);
    return rc;
}

/* Whether a meta column tells which write a row is of. */
static bool tells_write(tn_str name)
{
    return tn_str_is(name, "_hoodie_commit_time") || tn_str_is(name, "_hoodie_commit_seqno") ||
           tn_str_is(name, "_hoodie_file_name");
}

static int bind_columns(tarn_cx *cx, tn_slice_columns *c)
{
    const struct ArrowSchema *partitions = c->task->partition_schema;
    int rc = TARN_OK;

    c->columns = tn_arena_array(cx, &c->arena, (size_t)c->work.n_children + 1, sizeof *c->columns);
    if (c->columns == NULL)
        return TARN_E_NOMEM;
    for (int64_t i = 0; i < c->work.n_children; i++) {
        tn_slice_column *column = &c->columns[i];

        TN_TRY(tn_type_of(cx, c->work.children[i], &column->type));
        column->partition = -1;
        if (partitions != NULL && c->task->partition >= 0)
            column->partition =
                (int32_t)find_field(partitions, tn_str_of(c->work.children[i]->name));
        if (c->rules->partial == TN_PARTIAL_FILL_UNAVAILABLE && is_text(column->type.kind))
            column->blank = TN_BLANK_TEXT;
        if (c->rules->partial == TN_PARTIAL_IGNORE_NULLS) {
            column->blank = TN_BLANK_NULL;
            column->of_latest = tells_write(tn_str_of(c->work.children[i]->name));
        }
    }
    if (c->rules->partial == TN_PARTIAL_IGNORE_DEFAULTS)
        TN_TRY(find_defaults(cx, c));
done:
    return rc;
}

int tn_slice_columns_open(tarn_cx *cx, const tn_scan_task *task, tn_slice_columns *out)
{
    const tn_slice_rules *rules = task->slice->rules;
    int rc = TARN_OK;

    *out = (tn_slice_columns){.task = task, .rules = rules};
    if (rules->mode != TN_MERGE_COMMIT_TIME && rules->mode != TN_MERGE_EVENT_TIME)
        TN_FAIL(TARN_E_UNSUPPORTED,
                "the table merges versions of a row by a class of its own, which tarn cannot run");
    out->by_order = rules->mode == TN_MERGE_EVENT_TIME && rules->ordering_count > 0;
    TN_TRY(make_work(cx, out));
    TN_TRY(bind_columns(cx, out));
    TN_TRY(bind_ordering(cx, out));
    TN_TRY(bind_keys(cx, out));
    TN_TRY(bind_deletes(cx, out));
done:
    return rc;
}

void tn_slice_columns_close(tn_slice_columns *columns)
{
    tn_record_key_close(columns->keys);
    tn_ordering_close(columns->ordering);
    tn_field_release(&columns->order_schema);
    tn_field_release(&columns->work);
    tn_arena_clear(&columns->arena);
    *columns = (tn_slice_columns){0};
}

/* ---- asked of batches */

int tn_slice_columns_keys(tarn_cx *cx, tn_slice_columns *columns, const struct ArrowArray *batch,
                          const char *where, tn_slice_keys *out)
{
    const struct ArrowArray *array;
    tn_record_keys made;
    int rc = TARN_OK;

    assert(batch->offset == 0);
    if (columns->key < 0) {
        TN_TRY(tn_record_key_batch(cx, columns->keys, batch, 0, &made));
        *out = (tn_slice_keys){made.data, made.offsets, false};
        goto done;
    }
    array = batch->children[columns->key];
    if (array->null_count != 0 && array->buffers[0] != NULL &&
        tn_bits_count(array->buffers[0], array->offset, batch->length) != batch->length)
        TN_FAIL(TARN_E_CORRUPT, "%s: a row without a record key, so that logs cannot be merged",
                where);
    *out = (tn_slice_keys){array->buffers[2] != NULL ? array->buffers[2] : "",
                           (const int32_t *)array->buffers[1] + array->offset, true};
done:
    if (rc == TARN_E_DATA)
        rc = tn_fail_within(cx, TARN_E_CORRUPT, "%s", where);
    return rc;
}

static int compare_values(const void *a, const void *b)
{
    return tn_str_compare(((const tn_filter_value *)a)->bytes, ((const tn_filter_value *)b)->bytes);
}

int tn_slice_columns_key_filter(tarn_cx *cx, tn_slice_columns *columns, const tn_str *keys,
                                size_t count, tn_filter *out)
{
    tn_arena *arena = &columns->arena;
    tn_filter_value *values = tn_arena_array(cx, arena, count + 1, sizeof *values);
    tn_filter_node *node = tn_arena_take(cx, arena, sizeof *node);
    tn_filter_column *column = tn_arena_take(cx, arena, sizeof *column);
    uint32_t *index = tn_arena_take(cx, arena, sizeof *index);
    tn_str *name = tn_arena_take(cx, arena, sizeof *name);
    size_t n = 0;

    assert(columns->key >= 0 && count > 0);
    if (values == NULL || node == NULL || column == NULL || index == NULL || name == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < count; i++)
        values[i].bytes = keys[i];
    qsort(values, count, sizeof *values, compare_values);
    for (size_t i = 0; i < count; i++)
        if (n == 0 || !tn_str_equal(values[n - 1].bytes, values[i].bytes))
            values[n++] = values[i];
    *name = TN_STR(META_KEY);
    *index = (uint32_t)columns->key;
    *column = (tn_filter_column){.path = name,
                                 .path_count = 1,
                                 .index = index,
                                 .dotted = *name,
                                 .type = columns->columns[columns->key].type,
                                 .domain = TN_DOMAIN_BYTES};
    *node = (tn_filter_node){.kind = TN_FILTER_IN, .values = values, .value_count = n};
    *out = (tn_filter){.root = node, .columns = column, .column_count = 1};
    return TARN_OK;
}

/* Rows of the column at a path: a field below structs is null where one of them is. */
static int extract(tarn_cx *cx, const struct ArrowSchema *field, const tn_slice_path *path,
                   const struct ArrowArray *batch, struct ArrowArray *out)
{
    const struct ArrowArray *here = batch->children[path->index[0]];
    int64_t *take = tn_alloc(cx, (size_t)batch->length * sizeof *take);
    int rc = TARN_OK;

    if (take == NULL)
        return TARN_E_NOMEM;
    for (int64_t i = 0; i < batch->length; i++)
        take[i] = here->offset + i;
    for (size_t level = 1; level < path->depth; level++) {
        const struct ArrowArray *child = here->children[path->index[level]];

        for (int64_t i = 0; i < batch->length; i++)
            if (take[i] >= 0)
                take[i] = tn_rows_is_null(here, take[i]) ? -1 : take[i] + child->offset;
        here = child;
    }
    TN_TRY(tn_rows_take(cx, field, here, take, batch->length, out));
done:
    free(take);
    return rc;
}

void tn_slice_orders_clear(tn_slice_orders *orders)
{
    free(orders->numbers);
    free(orders->ends);
    free(orders->standings);
    tn_buf_clear(&orders->texts);
    *orders = (tn_slice_orders){0};
}

static bool is_short(const tn_type *type)
{
    return type->kind == TN_TYPE_INT32 || type->kind == TN_TYPE_DATE32;
}

/* I3: null as the Integer 0. */
static void lift_nulls(const struct ArrowArray *array, size_t count, uint64_t *numbers)
{
    if (array->null_count == 0 || array->buffers[0] == NULL)
        return;
    for (size_t i = 0; i < count; i++)
        if (tn_rows_is_null(array, array->offset + (int64_t)i))
            numbers[i] = (1ull << 63) + 1;
}

int tn_slice_orders_of(tarn_cx *cx, const tn_slice_columns *c, const struct ArrowArray *batch,
                       tn_slice_orders *out)
{
    size_t count = (size_t)batch->length;
    uint64_t **to = tn_ordering_is_u64(c->ordering) ? &out->numbers : &out->ends;
    uint64_t *room = tn_realloc(cx, *to, count + 1, sizeof **to);
    int rc = TARN_OK;

    if (room == NULL)
        return TARN_E_NOMEM;
    *to = room;
    out->count = count;
    if (tn_ordering_is_u64(c->ordering)) {
        TN_TRY(tn_ordering_u64(cx, c->ordering, batch, out->numbers));
        if (c->order_count == 1 && is_short(&c->order_types[0]))
            lift_nulls(batch->children[0], count, out->numbers);
        goto done;
    }
    tn_buf_reset(&out->texts);
    for (size_t i = 0; i < count; i++) {
        tn_ordering_bytes(c->ordering, batch, (int64_t)i, &out->texts);
        out->ends[i] = out->texts.len;
    }
    TN_TRY(tn_buf_check(cx, &out->texts));
done:
    return rc;
}

int tn_slice_columns_orders(tarn_cx *cx, const tn_slice_columns *columns,
                            const struct ArrowArray *batch, tn_slice_orders *out)
{
    size_t n = columns->order_count;
    struct ArrowArray *made = tn_calloc(cx, n, sizeof *made);
    struct ArrowArray **children = tn_calloc(cx, n, sizeof *children);
    const void *buffers[1] = {NULL};
    struct ArrowArray view = {.length = batch->length,
                              .n_buffers = 1,
                              .n_children = (int64_t)n,
                              .buffers = buffers,
                              .children = children};
    int rc = TARN_OK;

    if (made == NULL || children == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < n; i++) {
        const tn_slice_path *path = &columns->order_paths[i];

        children[i] = batch->children[path->index[0]];
        if (path->depth == 1)
            continue;
        TN_TRY(extract(cx, columns->order_schema.children[i], path, batch, &made[i]));
        children[i] = &made[i];
    }
    TN_TRY(tn_slice_orders_of(cx, columns, &view, out));
done:
    for (size_t i = 0; made != NULL && i < n; i++)
        tn_array_release(&made[i]);
    free(made);
    free(children);
    return rc;
}

/* ---- deletes among rows */

static void mark_deleted(const struct ArrowArray *array, int64_t rows, uint8_t *flags)
{
    for (int64_t i = 0; i < rows; i++)
        flags[i] |= !tn_rows_is_null(array, array->offset + i) &&
                    tn_bit(array->buffers[1], array->offset + i);
}

static void mark_operation(const tn_type *type, const struct ArrowArray *array, int64_t rows,
                           uint8_t *flags)
{
    for (int64_t i = 0; i < rows; i++) {
        tn_str text;

        if (tn_rows_is_null(array, array->offset + i))
            continue;
        text = tn_rows_bytes(type, array, array->offset + i);
        flags[i] |= tn_str_is(text, "D") || tn_str_is(text, "-U");
    }
}

static int mark_by_marker(tarn_cx *cx, tn_slice_columns *c, const struct ArrowArray *batch,
                          uint8_t *flags)
{
    tn_buf text = {0};
    int rc = TARN_OK;

    tn_record_field_load(&c->marker, batch);
    for (int64_t i = 0; i < batch->length; i++) {
        if (tn_record_field_is_null(&c->marker, i))
            continue;
        tn_buf_reset(&text);
        tn_record_field_text(&c->marker, i, &text);
        flags[i] |= tn_str_equal(tn_buf_view(&text), c->rules->delete_marker);
    }
    TN_TRY(tn_buf_check(cx, &text));
done:
    tn_buf_clear(&text);
    return rc;
}

/* I3: the Integer 0, or none at all. */
static bool is_default_order(const tn_type *type, const struct ArrowArray *array, int64_t at)
{
    if (tn_rows_is_null(array, at))
        return true;
    return is_short(type) && ((const int32_t *)array->buffers[1])[at] == 0;
}

static int mark_commit_time(tarn_cx *cx, const tn_slice_columns *c, const struct ArrowArray *batch,
                            uint8_t *flags)
{
    const tn_slice_path *path = c->order_paths;
    struct ArrowArray made = {0};
    const struct ArrowArray *array;
    int rc = TARN_OK;

    if (c->order_count > 1 && !c->rules->deletes_always)
        return TARN_OK;
    if (c->order_count == 0 || c->rules->deletes_always) {
        for (int64_t i = 0; i < batch->length; i++)
            flags[i] *= 2;
        return TARN_OK;
    }
    array = batch->children[path->index[0]];
    if (path->depth > 1) {
        TN_TRY(extract(cx, c->order_schema.children[0], path, batch, &made));
        array = &made;
    }
    for (int64_t i = 0; i < batch->length; i++)
        if (flags[i] != 0 && is_default_order(c->order_types, array, array->offset + i))
            flags[i] = 2;
done:
    tn_array_release(&made);
    return rc;
}

int tn_slice_columns_deletes(tarn_cx *cx, tn_slice_columns *columns, const struct ArrowArray *batch,
                             uint8_t *flags, bool *any)
{
    int rc = TARN_OK;

    *any = false;
    memset(flags, 0, (size_t)batch->length);
    if (columns->deleted < 0 && columns->operation < 0 && !columns->has_marker)
        return TARN_OK;
    if (columns->deleted >= 0)
        mark_deleted(batch->children[columns->deleted], batch->length, flags);
    if (columns->operation >= 0)
        mark_operation(&columns->columns[columns->operation].type,
                       batch->children[columns->operation], batch->length, flags);
    if (columns->has_marker)
        TN_TRY(mark_by_marker(cx, columns, batch, flags));
    *any = memchr(flags, 1, (size_t)batch->length) != NULL;
    if (*any)
        TN_TRY(mark_commit_time(cx, columns, batch, flags));
done:
    return rc;
}

/* ---- partition columns */

int tn_slice_columns_partition(tarn_cx *cx, const tn_slice_columns *columns,
                               struct ArrowArray *batch)
{
    const tn_scan_task *task = columns->task;
    int64_t *take = NULL;
    int rc = TARN_OK;

    for (int64_t i = 0; i < batch->n_children; i++) {
        int32_t from = columns->columns[i].partition;

        if (from < 0)
            continue;
        if (take == NULL) {
            take = tn_alloc(cx, (size_t)batch->length * sizeof *take);
            if (take == NULL)
                TN_TRY(TARN_E_NOMEM);
        }
        for (int64_t k = 0; k < batch->length; k++)
            take[k] = task->partition_values->children[from]->offset + task->partition;
        tn_array_release(batch->children[i]);
        TN_TRY(tn_rows_take(cx, task->partition_schema->children[from],
                            task->partition_values->children[from], take, batch->length,
                            batch->children[i]));
    }
done:
    free(take);
    return rc;
}

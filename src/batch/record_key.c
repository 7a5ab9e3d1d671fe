/* Record keys and partition numbers of batches.
 * I1: rows are worked on in pieces; the numbers of paths do not depend on how many there are:
 * pieces number the paths that they meet, and are brought together in order. I2: a key of one plain
 * text column is that column's own bytes, not copied. I3: in keys of several fields "__null__" and
 * "__empty__" stand for null and the empty text; a value that is one of these words is refused, for
 * it would be another row's key. I4: keys and paths
 * are UTF-8, whatever the bytes of the columns. */
#include "batch/record_key.h"

#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "batch/record_path.h"
#include "batch/text.h"

#define PIECE_ROWS    16384
#define DELETED_FIELD "_hoodie_is_deleted"
#define NULL_TEXT     TN_STR("__null__")
#define EMPTY_TEXT    TN_STR("__empty__")
#define FIELDS_MAX    1000

/* Rows [first, end) of a batch. */
typedef struct piece {
    int64_t first, end;
    tn_buf keys;
    tn_arena arena; /* of raw values and paths, for one batch */
    tn_map raw;     /* values of the partition fields -> number within the piece */
    tn_str *paths;
    uint32_t *numbers; /* within the piece -> over all batches */
    size_t count, cap;
} piece;

struct tn_record_key {
    const tn_record_key_options *options;
    tn_arena arena;
    tn_record_field *fields;
    size_t count;
    bool named;    /* keys are "field:value" */
    bool in_place; /* I2 */
    tn_zone *zone;
    tn_record_path path;
    bool has_deleted, has_marker;
    tn_record_field deleted, marker;
    piece *pieces;
    size_t piece_cap;
    tn_buf keys, offsets, partitions, deletes;
    tn_map path_map;
    tn_str *paths;
    size_t path_count, path_cap;
};

static int check_options(tarn_cx *cx, const tn_record_key_options *options)
{
    bool one = options->kind == TN_KEYGEN_SIMPLE || options->kind == TN_KEYGEN_TIMESTAMP;
    int rc = TARN_OK;

    if (options->key_count == 0)
        TN_FAIL(TARN_E_UNSUPPORTED, "the table has no record key field; tables that make up their "
                                    "keys are not written");
    if (one && options->key_count != 1)
        TN_FAIL(TARN_E_INVALID,
                "the key generator of this table takes one record key field, not "
                "%zu",
                options->key_count);
    if (options->key_count > FIELDS_MAX || options->partition_count > FIELDS_MAX)
        TN_FAIL(TARN_E_LIMIT, "a table has at most %d record key and %d partition fields",
                FIELDS_MAX, FIELDS_MAX);
done:
    return rc;
}

/* The column that marks rows as deletes, and the one that custom markers are in. */
static int bind_deletes(tarn_cx *cx, tn_record_key *key, const struct ArrowSchema *schema)
{
    const tn_record_key_options *options = key->options;
    int rc = TARN_OK;

    for (int64_t i = 0; i < schema->n_children; i++)
        key->has_deleted |= strcmp(schema->children[i]->name, DELETED_FIELD) == 0;
    if (key->has_deleted) {
        TN_TRY(tn_record_field_bind(cx, schema, TN_STR(DELETED_FIELD), "delete", &key->deleted));
        if (key->deleted.type.kind != TN_TYPE_BOOL && key->deleted.type.kind != TN_TYPE_NULL)
            TN_FAIL(TARN_E_INVALID, "the column " DELETED_FIELD " is not boolean, so no row of it "
                                    "would be deleted; make it boolean, or leave it out");
        key->has_deleted = key->deleted.type.kind == TN_TYPE_BOOL;
    }
    if (options->delete_field.len == 0)
        goto done;
    TN_TRY(tn_record_field_bind(cx, schema, options->delete_field, "delete marker", &key->marker));
    key->has_marker = true;
done:
    return rc;
}

static int bind_keys(tarn_cx *cx, tn_record_key *key, const struct ArrowSchema *schema)
{
    const tn_record_key_options *options = key->options;
    int rc = TARN_OK;

    key->count = options->key_count;
    key->fields = tn_arena_array(cx, &key->arena, key->count, sizeof *key->fields);
    if (key->fields == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < key->count; i++) {
        TN_TRY(tn_record_field_bind(cx, schema, options->keys[i], "record key", &key->fields[i]));
        key->fields[i].zone = key->zone;
    }
    key->named = key->count > 1 || (options->single_named && (options->kind == TN_KEYGEN_COMPLEX));
    key->in_place =
        !key->named && key->fields[0].depth == 1 && key->fields[0].type.kind == TN_TYPE_UTF8;
done:
    return rc;
}

int tn_record_key_open(tarn_cx *cx, const tn_record_key_options *options,
                       const struct ArrowSchema *schema, tn_record_key **out)
{
    tn_record_key *key = tn_calloc(cx, 1, sizeof *key);
    int rc = TARN_OK;

    if (key == NULL)
        TN_TRY(TARN_E_NOMEM);
    TN_TRY(check_options(cx, options));
    key->options = options;
    if (options->consistent_times)
        TN_TRY(
            tn_zone_open(cx, options->zone.len != 0 ? options->zone : TN_STR("UTC"), &key->zone));
    TN_TRY(bind_keys(cx, key, schema));
    TN_TRY(tn_record_path_open(cx, &key->arena, options, schema, key->zone, &key->path));
    TN_TRY(bind_deletes(cx, key, schema));
    *out = key;
    key = NULL;
done:
    tn_record_key_close(key);
    return rc;
}

static void piece_reset(piece *p)
{
    tn_map_clear(&p->raw);
    tn_arena_clear(&p->arena);
    tn_buf_reset(&p->keys);
    p->count = 0;
}

void tn_record_key_close(tn_record_key *key)
{
    if (key == NULL)
        return;
    for (size_t i = 0; i < key->piece_cap; i++) {
        piece_reset(&key->pieces[i]);
        tn_buf_clear(&key->pieces[i].keys);
        free(key->pieces[i].paths);
        free(key->pieces[i].numbers);
    }
    free(key->pieces);
    tn_record_path_close(&key->path);
    tn_zone_close(key->zone);
    tn_buf_clear(&key->keys);
    tn_buf_clear(&key->offsets);
    tn_buf_clear(&key->partitions);
    tn_buf_clear(&key->deletes);
    tn_map_clear(&key->path_map);
    free(key->paths);
    tn_arena_clear(&key->arena);
    free(key);
}

size_t tn_record_key_path_count(const tn_record_key *key)
{
    return key->path_count;
}

tn_str tn_record_key_path(const tn_record_key *key, size_t number)
{
    return key->paths[number];
}

int tn_record_key_path_add(tarn_cx *cx, tn_record_key *key, tn_str path, uint32_t *number)
{
    size_t *place = tn_map_find(&key->path_map, path);
    bool added;
    int rc = TARN_OK;

    if (place == NULL) {
        TN_TRY(tn_arena_keep(cx, &key->arena, &path));
        TN_TRY(tn_grow(cx, &key->paths, key->path_count, &key->path_cap, sizeof *key->paths));
        place = tn_map_add(cx, &key->path_map, path, &added);
        if (place == NULL)
            TN_TRY(TARN_E_NOMEM);
        *place = key->path_count;
        key->paths[key->path_count++] = path;
    }
    *number = (uint32_t)*place;
done:
    return rc;
}

/* What the jobs of one batch share. */
typedef struct work {
    tn_record_key *key;
    int64_t first_row;
    uint32_t whole; /* number of the one path of a table without partitions */
} work;

static int fail_null(tarn_cx *cx, const tn_record_key *key)
{
    int rc = TARN_OK;

    if (key->count == 1)
        TN_FAIL(TARN_E_DATA,
                "the record key field \"%.*s\" is null or empty; every row needs a key",
                TN_STR_ARG(key->fields[0].name));
    TN_FAIL(TARN_E_DATA,
            "all %zu record key fields, from \"%.*s\" on, are null or empty; every row needs a "
            "key",
            key->count, TN_STR_ARG(key->fields[0].name));
done:
    return rc;
}

/* What is wrong with one row says which it is. */
static int name_row(tarn_cx *cx, int rc, int64_t number)
{
    return rc == TARN_E_DATA ? tn_fail_within(cx, rc, "row %lld", (long long)number) : rc;
}

/* Keys stand in footers and in what readers make of them as text: one that is not would be met as
 * another one (I4). */
static int check_utf8(tarn_cx *cx, tn_str text)
{
    return tn_str_utf8(text)
               ? TARN_OK
               : tn_fail(cx, TARN_E_DATA, "the record key is not UTF-8; correct the row");
}

/* Checks a key that stays where it is. */
static int check_key(tarn_cx *cx, const tn_record_key *key, int64_t row)
{
    const tn_record_field *field = &key->fields[0];
    const struct ArrowArray *array = tn_record_field_array(field);
    const int32_t *ends = (const int32_t *)array->buffers[1] + tn_record_field_at(field, row);

    if (ends[0] == ends[1] || tn_record_field_is_null(field, row))
        return fail_null(cx, key);
    return check_utf8(
        cx, (tn_str){(const char *)array->buffers[2] + ends[0], (size_t)(ends[1] - ends[0])});
}

static int check_in_place(tarn_cx *cx, const tn_record_key *key, const piece *p, int64_t first_row)
{
    int rc = TARN_OK;

    for (int64_t row = p->first; row < p->end && rc == TARN_OK; row++)
        rc = name_row(cx, check_key(cx, key, row), first_row + row);
    return rc;
}

/* Appends "field:value" for one of several fields; *empty: it is null or empty. */
static int add_named(tarn_cx *cx, const tn_record_field *field, int64_t row, tn_buf *out,
                     bool *empty)
{
    size_t from;
    tn_str value;
    int rc = TARN_OK;

    *empty = true;
    tn_buf_str(out, field->name);
    tn_buf_u8(out, ':');
    from = out->len;
    if (tn_record_field_is_null(field, row)) {
        tn_buf_str(out, NULL_TEXT);
        goto done;
    }
    tn_record_field_text(field, row, out);
    if (out->len == from) {
        tn_buf_str(out, EMPTY_TEXT);
        goto done;
    }
    *empty = false;
    value = tn_str_from(tn_buf_view(out), from);
    if (tn_str_equal(value, NULL_TEXT) || tn_str_equal(value, EMPTY_TEXT))
        TN_FAIL(TARN_E_DATA,
                "the record key field \"%.*s\" holds the text \"%.*s\", which stands for %s in "
                "keys of several fields; change the value",
                TN_STR_ARG(field->name), TN_STR_ARG(value),
                tn_str_equal(value, NULL_TEXT) ? "null" : "the empty text");
done:
    return rc;
}

/* Appends the key of a row, checked. */
static int add_key(tarn_cx *cx, const tn_record_key *key, int64_t row, tn_buf *out)
{
    size_t from = out->len;
    bool all_empty = true, empty;
    int rc = TARN_OK;

    if (!key->named) {
        if (!tn_record_field_is_null(&key->fields[0], row))
            tn_record_field_text(&key->fields[0], row, out);
        all_empty = out->len == from && !out->failed;
    }
    for (size_t i = 0; key->named && i < key->count; i++) {
        if (i > 0)
            tn_buf_u8(out, ',');
        TN_TRY(add_named(cx, &key->fields[i], row, out, &empty));
        all_empty &= empty;
    }
    if (all_empty)
        TN_TRY(fail_null(cx, key));
    TN_TRY(tn_buf_check(cx, out));
    TN_TRY(check_utf8(cx, tn_str_from(tn_buf_view(out), from)));
done:
    return rc;
}

/* The lengths of the keys go where their offsets will be. */
static int make_keys(tarn_cx *cx, const tn_record_key *key, piece *p, int64_t first_row)
{
    int32_t *lengths = (int32_t *)(void *)key->offsets.data + 1;
    int rc = TARN_OK;

    for (int64_t row = p->first; row < p->end; row++) {
        size_t from = p->keys.len;

        TN_TRY(name_row(cx, add_key(cx, key, row, &p->keys), first_row + row));
        if (p->keys.len > INT32_MAX)
            TN_FAIL(TARN_E_LIMIT, "the record keys of one batch take more than 2 GiB");
        lengths[row] = (int32_t)(p->keys.len - from);
    }
    TN_TRY(tn_buf_check(cx, &p->keys));
done:
    return rc;
}

/* A number for the path of `row`, whose partition values are `raw`. */
static int piece_number(tarn_cx *cx, const tn_record_key *key, piece *p, tn_str raw, int64_t row,
                        int64_t number, uint32_t *out)
{
    size_t *place = tn_map_find(&p->raw, raw);
    tn_buf path = {0};
    size_t cap;
    tn_str text;
    bool added;
    int rc = TARN_OK;

    if (place != NULL) {
        *out = (uint32_t)*place;
        goto done;
    }
    TN_TRY(name_row(cx, tn_record_path_print(cx, &key->path, row, &path), number));
    text = tn_buf_view(&path);
    TN_TRY(tn_arena_keep(cx, &p->arena, &text));
    TN_TRY(tn_arena_keep(cx, &p->arena, &raw));
    cap = p->cap;
    TN_TRY(tn_grow(cx, &p->paths, p->count, &cap, sizeof *p->paths));
    TN_TRY(tn_grow(cx, &p->numbers, p->count, &p->cap, sizeof *p->numbers));
    place = tn_map_add(cx, &p->raw, raw, &added);
    if (place == NULL)
        TN_TRY(TARN_E_NOMEM);
    *place = p->count;
    p->paths[p->count] = text;
    *out = (uint32_t)p->count++;
done:
    tn_buf_clear(&path);
    return rc;
}

/* The values of the partition fields of a row, in `spare` where they are several or may be null. */
static tn_str raw_values(const tn_record_path *path, int64_t row, tn_buf *spare)
{
    uint8_t scratch;

    tn_buf_reset(spare);
    for (size_t i = 0; i < path->count; i++) {
        const tn_record_field *field = &path->fields[i];
        bool null = tn_record_field_is_null(field, row);
        tn_str value = null ? (tn_str){NULL, 0} : tn_record_field_raw(field, row, &scratch);

        tn_buf_u8(spare, null);
        tn_buf_add(spare, &value.len, sizeof value.len);
        tn_buf_str(spare, value);
    }
    return tn_buf_view(spare);
}

/* One field without nulls is compared where it is. */
static bool is_bare(const tn_record_path *path)
{
    return path->count == 1 && !path->fields[0].has_nulls &&
           path->fields[0].type.kind != TN_TYPE_NULL && path->fields[0].type.kind != TN_TYPE_BOOL;
}

static int make_partitions(tarn_cx *cx, const tn_record_key *key, piece *p, int64_t first_row)
{
    uint32_t *numbers = (uint32_t *)(void *)key->partitions.data;
    bool bare = is_bare(&key->path);
    tn_buf now = {0}, before = {0};
    tn_str last = {NULL, 0}, raw;
    uint32_t number = 0;
    int rc = TARN_OK;

    for (int64_t row = p->first; row < p->end; row++) {
        raw = bare ? tn_record_field_raw(&key->path.fields[0], row, NULL)
                   : raw_values(&key->path, row, &now);
        if (row == p->first || !tn_str_equal(raw, last)) {
            TN_TRY(tn_buf_check(cx, &now));
            TN_TRY(piece_number(cx, key, p, raw, row, first_row + row, &number));
            if (!bare) {
                tn_buf swap = before;

                before = now;
                now = swap;
            }
            last = raw;
        }
        numbers[row] = number;
    }
done:
    tn_buf_clear(&now);
    tn_buf_clear(&before);
    return rc;
}

static int make_deletes(tarn_cx *cx, const tn_record_key *key, const piece *p)
{
    uint8_t *deletes = key->deletes.data, scratch;
    tn_buf text = {0};
    int rc = TARN_OK;

    memset(deletes + p->first, 0, (size_t)(p->end - p->first));
    for (int64_t row = p->first; key->has_deleted && row < p->end; row++)
        deletes[row] = !tn_record_field_is_null(&key->deleted, row) &&
                       tn_record_field_raw(&key->deleted, row, &scratch).ptr[0] != 0;
    for (int64_t row = p->first; key->has_marker && row < p->end; row++) {
        if (tn_record_field_is_null(&key->marker, row))
            continue;
        tn_buf_reset(&text);
        tn_record_field_text(&key->marker, row, &text);
        deletes[row] |= tn_str_equal(tn_buf_view(&text), key->options->delete_marker);
    }
    TN_TRY(tn_buf_check(cx, &text));
done:
    tn_buf_clear(&text);
    return rc;
}

static int make_piece(tarn_cx *cx, size_t i, void *arg)
{
    const work *in = arg;
    tn_record_key *key = in->key;
    piece *p = &key->pieces[i];
    int rc = TARN_OK;

    TN_TRY(tn_cx_check(cx));
    if (key->in_place)
        TN_TRY(check_in_place(cx, key, p, in->first_row));
    else
        TN_TRY(make_keys(cx, key, p, in->first_row));
    if (key->path.count != 0)
        TN_TRY(make_partitions(cx, key, p, in->first_row));
    if (key->has_deleted || key->has_marker)
        TN_TRY(make_deletes(cx, key, p));
done:
    return rc;
}

/* Brings a piece into the whole: its keys to their place, its paths to their numbers. */
static int place_piece(tarn_cx *cx, size_t i, void *arg)
{
    const work *in = arg;
    tn_record_key *key = in->key;
    const piece *p = &key->pieces[i];
    uint32_t *numbers = (uint32_t *)(void *)key->partitions.data;

    if (!key->in_place && p->keys.len != 0)
        memcpy(key->keys.data + ((int32_t *)(void *)key->offsets.data)[p->first], p->keys.data,
               p->keys.len);
    for (int64_t row = p->first; row < p->end; row++)
        numbers[row] = key->path.count != 0 ? p->numbers[numbers[row]] : in->whole;
    return tn_cx_check(cx);
}

static int make_pieces(tarn_cx *cx, tn_record_key *key, int64_t rows, size_t *count)
{
    int64_t size = PIECE_ROWS;
    size_t want;
    int rc = TARN_OK;

    want = (size_t)((rows + size - 1) / size);
    if (want > key->piece_cap) {
        piece *more = tn_realloc(cx, key->pieces, want, sizeof *more);

        if (more == NULL)
            TN_TRY(TARN_E_NOMEM);
        memset(more + key->piece_cap, 0, (want - key->piece_cap) * sizeof *more);
        key->pieces = more;
        key->piece_cap = want;
    }
    for (size_t i = 0; i < want; i++) {
        piece *p = &key->pieces[i];

        piece_reset(p);
        p->first = (int64_t)i * size;
        p->end = p->first + size < rows ? p->first + size : rows;
    }
    *count = want;
done:
    return rc;
}

static int make_room(tarn_cx *cx, tn_record_key *key, int64_t rows)
{
    size_t n = (size_t)rows;
    int rc = TARN_OK;

    tn_buf_reset(&key->partitions);
    tn_buf_reset(&key->deletes);
    tn_buf_reset(&key->offsets);
    tn_buf_extend(&key->partitions, n * sizeof(uint32_t) + 1);
    tn_buf_extend(&key->deletes, n + 1);
    tn_buf_extend(&key->offsets, (n + 1) * sizeof(int32_t));
    TN_TRY(tn_buf_check(cx, &key->partitions));
    TN_TRY(tn_buf_check(cx, &key->deletes));
    TN_TRY(tn_buf_check(cx, &key->offsets));
done:
    return rc;
}

/* Lengths become offsets, and there is room for all keys. */
static int sum_offsets(tarn_cx *cx, tn_record_key *key, int64_t rows)
{
    int32_t *offsets = (int32_t *)(void *)key->offsets.data;
    int64_t at = 0;
    int rc = TARN_OK;

    offsets[0] = 0;
    for (int64_t row = 0; row < rows; row++) {
        at += offsets[row + 1];
        if (at > INT32_MAX)
            TN_FAIL(TARN_E_LIMIT, "the record keys of one batch take more than 2 GiB");
        offsets[row + 1] = (int32_t)at;
    }
    tn_buf_reset(&key->keys);
    tn_buf_extend(&key->keys, (size_t)at + 1);
    TN_TRY(tn_buf_check(cx, &key->keys));
done:
    return rc;
}

static int number_paths(tarn_cx *cx, work *in, size_t pieces, int64_t rows)
{
    tn_record_key *key = in->key;
    int rc = TARN_OK;

    if (key->path.count == 0 && rows > 0)
        TN_TRY(tn_record_key_path_add(cx, key, TN_STR(""), &in->whole));
    for (size_t i = 0; i < pieces; i++)
        for (size_t k = 0; k < key->pieces[i].count; k++)
            TN_TRY(tn_record_key_path_add(cx, key, key->pieces[i].paths[k],
                                          &key->pieces[i].numbers[k]));
done:
    return rc;
}

static void load(tn_record_key *key, const struct ArrowArray *batch)
{
    for (size_t i = 0; i < key->count; i++)
        tn_record_field_load(&key->fields[i], batch);
    tn_record_path_load(&key->path, batch);
    if (key->has_deleted)
        tn_record_field_load(&key->deleted, batch);
    if (key->has_marker)
        tn_record_field_load(&key->marker, batch);
}

int tn_record_key_row(tarn_cx *cx, const tn_record_key *key, int64_t row, tn_str *field)
{
    tn_buf text = {0};
    int rc = TARN_OK;

    *field = key->fields[0].name;
    if (key->in_place)
        TN_TRY(check_key(cx, key, row));
    else
        TN_TRY(add_key(cx, key, row, &text));
    tn_buf_reset(&text);
    *field = key->path.count == 1 ? key->path.fields[0].name : (tn_str){NULL, 0};
    TN_TRY(tn_record_path_print(cx, &key->path, row, &text));
done:
    tn_buf_clear(&text);
    return rc;
}

int tn_record_key_batch(tarn_cx *cx, tn_record_key *key, const struct ArrowArray *batch,
                        int64_t first_row, tn_record_keys *out)
{
    work in = {key, first_row, 0};
    size_t pieces = 0;
    int rc = TARN_OK;

    load(key, batch);
    TN_TRY(make_room(cx, key, batch->length));
    TN_TRY(make_pieces(cx, key, batch->length, &pieces));
    TN_TRY(tn_parallel(cx, pieces, make_piece, &in));
    if (!key->in_place)
        TN_TRY(sum_offsets(cx, key, batch->length));
    TN_TRY(number_paths(cx, &in, pieces, batch->length));
    TN_TRY(tn_parallel(cx, pieces, place_piece, &in));
    out->partitions = (const uint32_t *)(const void *)key->partitions.data;
    out->deletes = key->has_deleted || key->has_marker ? key->deletes.data : NULL;
    if (key->in_place) {
        const tn_record_field *field = &key->fields[0];

        out->data = tn_record_field_array(field)->buffers[2];
        out->offsets = (const int32_t *)tn_record_field_array(field)->buffers[1] +
                       tn_record_field_at(field, 0);
    } else {
        out->data = (const char *)key->keys.data;
        out->offsets = (const int32_t *)(const void *)key->offsets.data;
    }
done:
    return rc;
}

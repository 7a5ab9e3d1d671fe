/* What completed commits and planned ones say, taken out of JSON or Avro.
 *
 *     JSON   {"partitionToWriteStats": {"p": [{"fileId": …, "path": …, …}, …]}, "compacted": false,
 *             "extraMetadata": {"schema": …}, "operationType": "UPSERT",
 *             "partitionToReplaceFileIds": {"p": ["file id", …]}}
 *     Avro   an object container of one record with the same members ("Obj", 01, …)
 *
 * I1: both forms give the same value. Members that are not known are passed over, those missing or
 *     null are empty.
 * I2: the text "null", which stands for "no commit before", becomes empty.
 * I3: everything in *out lives in the arena, nothing points into the bytes. */
#include "table/commit_metadata.h"

#include <assert.h>

#include "base/json_read.h"

/* Texts of a stat while they are collected. */
typedef struct texts {
    tn_str *items;
    size_t count, cap;
} texts;

typedef struct building {
    tn_arena *arena;
    tn_commit_metadata metadata;
    texts cdc; /* of the stat at hand */
    size_t stat_cap, replaced_cap, extra_cap;
} building;

static int add_stat(tarn_cx *cx, building *b, const tn_write_stat *stat)
{
    tn_commit_metadata *m = &b->metadata;
    int rc = tn_arena_grow(cx, b->arena, &m->stats, m->stat_count, &b->stat_cap, sizeof *m->stats);

    if (rc == TARN_OK)
        m->stats[m->stat_count++] = *stat;
    return rc;
}

static int add_replaced(tarn_cx *cx, building *b, const tn_replaced *replaced)
{
    tn_commit_metadata *m = &b->metadata;
    int rc = tn_arena_grow(cx, b->arena, &m->replaced, m->replaced_count, &b->replaced_cap,
                           sizeof *m->replaced);

    if (rc == TARN_OK)
        m->replaced[m->replaced_count++] = *replaced;
    return rc;
}

static int add_extra(tarn_cx *cx, building *b, tn_str key, tn_str value)
{
    tn_commit_metadata *m = &b->metadata;
    int rc =
        tn_arena_grow(cx, b->arena, &m->extra, m->extra_count, &b->extra_cap, sizeof *m->extra);

    if (rc == TARN_OK)
        m->extra[m->extra_count++] = (tn_property){key, value};
    return rc;
}

static tn_str instant_or_none(tn_str text)
{
    return tn_str_is(text, "null") ? (tn_str){NULL, 0} : text;
}

/* The place in a stat of a member of numbers; NULL: the member is another one. */
static int64_t *stat_number(tn_write_stat *stat, tn_str key)
{
    if (tn_str_is(key, "numWrites"))
        return &stat->writes;
    if (tn_str_is(key, "numInserts"))
        return &stat->inserts;
    if (tn_str_is(key, "numUpdateWrites"))
        return &stat->updates;
    if (tn_str_is(key, "numDeletes"))
        return &stat->deletes;
    if (tn_str_is(key, "totalWriteErrors"))
        return &stat->errors;
    return NULL;
}

static tn_str *stat_text(tn_write_stat *stat, tn_str key)
{
    if (tn_str_is(key, "fileId"))
        return &stat->file_id;
    if (tn_str_is(key, "path"))
        return &stat->path;
    if (tn_str_is(key, "prevCommit"))
        return &stat->prev_instant;
    if (tn_str_is(key, "baseFile"))
        return &stat->base_file;
    return NULL;
}

static int add_text(tarn_cx *cx, building *b, texts *to, tn_str text)
{
    int rc = tn_arena_grow(cx, b->arena, &to->items, to->count, &to->cap, sizeof text);

    if (rc == TARN_OK)
        to->items[to->count++] = text;
    return rc;
}

static void set_texts(tn_write_stat *stat, const texts *logs, const texts *cdc)
{
    stat->log_files = logs->items;
    stat->log_file_count = logs->count;
    stat->cdc_files = cdc->items;
    stat->cdc_file_count = cdc->count;
}

/* ---- JSON ---- */

static int json_text(tarn_cx *cx, tn_json_reader *r, tn_str *out)
{
    return tn_json_read_peek(r) == 'n' ? tn_json_read_skip(cx, r) : tn_json_read_text(cx, r, out);
}

static int json_number(tarn_cx *cx, tn_json_reader *r, int64_t *out)
{
    return tn_json_read_peek(r) == 'n' ? tn_json_read_skip(cx, r) : tn_json_read_i64(cx, r, out);
}

static int json_texts(tarn_cx *cx, tn_json_reader *r, building *b, texts *out)
{
    bool more;
    tn_str text;
    int rc = TARN_OK;

    if (tn_json_read_peek(r) == 'n')
        return tn_json_read_skip(cx, r);
    TN_TRY(tn_json_read_open(cx, r, '['));
    for (;;) {
        TN_TRY(tn_json_read_element(cx, r, &more));
        if (!more)
            break;
        TN_TRY(tn_json_read_text(cx, r, &text));
        TN_TRY(add_text(cx, b, out, text));
    }
done:
    return rc;
}

/* Calls `each` for every member of an object; null counts as an empty one. */
static int json_members(tarn_cx *cx, tn_json_reader *r, building *b,
                        int (*each)(tarn_cx *, tn_json_reader *, tn_str, building *))
{
    bool more;
    tn_str key;
    int rc = TARN_OK;

    if (tn_json_read_peek(r) == 'n')
        return tn_json_read_skip(cx, r);
    TN_TRY(tn_json_read_open(cx, r, '{'));
    for (;;) {
        TN_TRY(tn_json_read_member(cx, r, &key, &more));
        if (!more)
            break;
        /* A key may point into the bytes. */
        TN_TRY(tn_arena_keep(cx, b->arena, &key));
        TN_TRY(each(cx, r, key, b));
    }
done:
    return rc;
}

/* A file of change data, with its size. */
static int json_cdc_file(tarn_cx *cx, tn_json_reader *r, tn_str key, building *b)
{
    int rc = TARN_OK;

    TN_TRY(add_text(cx, b, &b->cdc, key));
    TN_TRY(tn_json_read_skip(cx, r));
done:
    return rc;
}

static int json_stat(tarn_cx *cx, tn_json_reader *r, tn_str partition, building *b)
{
    tn_write_stat stat = {.partition = partition};
    texts logs = {0};
    int64_t bytes = 0;
    bool more;
    tn_str key;
    int rc = TARN_OK;

    b->cdc = (texts){0};
    TN_TRY(tn_json_read_open(cx, r, '{'));
    for (;;) {
        TN_TRY(tn_json_read_member(cx, r, &key, &more));
        if (!more)
            break;
        if (stat_number(&stat, key) != NULL)
            TN_TRY(json_number(cx, r, stat_number(&stat, key)));
        else if (stat_text(&stat, key) != NULL)
            TN_TRY(json_text(cx, r, stat_text(&stat, key)));
        else if (tn_str_is(key, "fileSizeInBytes"))
            TN_TRY(json_number(cx, r, &bytes));
        else if (tn_str_is(key, "logFiles"))
            TN_TRY(json_texts(cx, r, b, &logs));
        else if (tn_str_is(key, "cdcStats"))
            TN_TRY(json_members(cx, r, b, json_cdc_file));
        else
            TN_TRY(tn_json_read_skip(cx, r));
    }
    set_texts(&stat, &logs, &b->cdc);
    stat.bytes = bytes > 0 ? (uint64_t)bytes : 0;
    stat.prev_instant = instant_or_none(stat.prev_instant);
    TN_TRY(add_stat(cx, b, &stat));
done:
    return rc;
}

static int json_stats(tarn_cx *cx, tn_json_reader *r, tn_str partition, building *b)
{
    bool more;
    int rc = TARN_OK;

    TN_TRY(tn_json_read_open(cx, r, '['));
    for (;;) {
        TN_TRY(tn_json_read_element(cx, r, &more));
        if (!more)
            break;
        TN_TRY(json_stat(cx, r, partition, b));
    }
done:
    return rc;
}

static int json_replaced(tarn_cx *cx, tn_json_reader *r, tn_str partition, building *b)
{
    tn_replaced replaced = {.partition = partition};
    size_t cap = 0;
    bool more;
    int rc = TARN_OK;

    TN_TRY(tn_json_read_open(cx, r, '['));
    for (;;) {
        TN_TRY(tn_json_read_element(cx, r, &more));
        if (!more)
            break;
        TN_TRY(tn_arena_grow(cx, b->arena, &replaced.file_ids, replaced.file_id_count, &cap,
                             sizeof *replaced.file_ids));
        TN_TRY(tn_json_read_text(cx, r, &replaced.file_ids[replaced.file_id_count++]));
    }
    TN_TRY(add_replaced(cx, b, &replaced));
done:
    return rc;
}

static int json_extra(tarn_cx *cx, tn_json_reader *r, tn_str key, building *b)
{
    tn_str value = {"", 0};
    int rc = TARN_OK;

    TN_TRY(json_text(cx, r, &value));
    TN_TRY(add_extra(cx, b, key, value));
done:
    return rc;
}

static int json_member(tarn_cx *cx, tn_json_reader *r, tn_str key, building *b)
{
    if (tn_str_is(key, "partitionToWriteStats"))
        return json_members(cx, r, b, json_stats);
    if (tn_str_is(key, "partitionToReplaceFileIds")) {
        b->metadata.replace = true;
        return json_members(cx, r, b, json_replaced);
    }
    if (tn_str_is(key, "extraMetadata"))
        return json_members(cx, r, b, json_extra);
    if (tn_str_is(key, "operationType"))
        return json_text(cx, r, &b->metadata.operation);
    if (tn_str_is(key, "compacted") && tn_json_read_peek(r) != 'n')
        return tn_json_read_bool(cx, r, &b->metadata.compacted);
    return tn_json_read_skip(cx, r);
}

static int parse_json(tarn_cx *cx, tn_str bytes, tn_str path, building *b)
{
    tn_arena names = {0};
    tn_json_reader r;
    tn_str name;
    int rc = TARN_OK;

    TN_TRY(tn_arena_print(cx, &names, &name, "%.*s", TN_STR_ARG(path)));
    r = tn_json_reader_of(bytes, name.ptr, b->arena);
    if (tn_json_read_peek(&r) == 'n')
        TN_FAIL(TARN_E_CORRUPT, "%s: it says null, not what was committed", name.ptr);
    TN_TRY(json_members(cx, &r, b, json_member));
    TN_TRY(tn_json_read_end(cx, &r));
done:
    tn_arena_clear(&names);
    return rc;
}

/* ---- Avro ---- */

static int keep_text(tarn_cx *cx, building *b, const tn_avro_value *value, tn_str *out)
{
    *out = tn_avro_text(value);
    return out->ptr != NULL ? tn_arena_keep(cx, b->arena, out) : TARN_OK;
}

static bool is_many(const tn_avro_value *value, enum tn_avro_kind kind)
{
    return value != NULL && value->kind == kind;
}

/* The items of an array of texts; the names of a map's members. */
static int avro_texts(tarn_cx *cx, const tn_avro_value *many, building *b, texts *out)
{
    bool map = is_many(many, TN_AVRO_MAP);
    tn_str text;
    int rc = TARN_OK;

    if (!map && !is_many(many, TN_AVRO_ARRAY))
        return TARN_OK;
    for (size_t i = 0; i < many->as.many.count; i++) {
        text = map ? many->as.many.names[i] : tn_avro_text(&many->as.many.items[i]);
        if (text.ptr == NULL)
            continue;
        TN_TRY(tn_arena_keep(cx, b->arena, &text));
        TN_TRY(add_text(cx, b, out, text));
    }
done:
    return rc;
}

static int avro_stat(tarn_cx *cx, const tn_avro_value *value, tn_str partition, building *b)
{
    tn_write_stat stat = {.partition = partition};
    texts logs = {0}, cdc = {0};
    int64_t bytes = tn_avro_i64(tn_avro_member(value, "fileSizeInBytes"), 0);
    int rc = TARN_OK;

    if (!is_many(value, TN_AVRO_RECORD))
        return TARN_OK;
    for (size_t i = 0; i < value->as.many.count; i++) {
        tn_str name = value->as.many.names[i];

        if (stat_number(&stat, name) != NULL)
            *stat_number(&stat, name) = tn_avro_i64(&value->as.many.items[i], 0);
        else if (stat_text(&stat, name) != NULL)
            TN_TRY(keep_text(cx, b, &value->as.many.items[i], stat_text(&stat, name)));
    }
    TN_TRY(avro_texts(cx, tn_avro_member(value, "logFiles"), b, &logs));
    TN_TRY(avro_texts(cx, tn_avro_member(value, "cdcStats"), b, &cdc));
    set_texts(&stat, &logs, &cdc);
    stat.bytes = bytes > 0 ? (uint64_t)bytes : 0;
    stat.prev_instant = instant_or_none(stat.prev_instant);
    TN_TRY(add_stat(cx, b, &stat));
done:
    return rc;
}

static int avro_stats(tarn_cx *cx, const tn_avro_value *value, tn_str partition, building *b)
{
    int rc = TARN_OK;

    for (size_t i = 0; is_many(value, TN_AVRO_ARRAY) && i < value->as.many.count; i++)
        TN_TRY(avro_stat(cx, &value->as.many.items[i], partition, b));
done:
    return rc;
}

static int avro_replaced(tarn_cx *cx, const tn_avro_value *value, tn_str partition, building *b)
{
    tn_replaced replaced = {.partition = partition};
    int rc = TARN_OK;

    if (!is_many(value, TN_AVRO_ARRAY))
        return TARN_OK;
    replaced.file_id_count = value->as.many.count;
    replaced.file_ids =
        tn_arena_array(cx, b->arena, replaced.file_id_count, sizeof *replaced.file_ids);
    if (replaced.file_ids == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < replaced.file_id_count; i++)
        TN_TRY(keep_text(cx, b, &value->as.many.items[i], &replaced.file_ids[i]));
    TN_TRY(add_replaced(cx, b, &replaced));
done:
    return rc;
}

static int avro_extra(tarn_cx *cx, const tn_avro_value *value, tn_str key, building *b)
{
    tn_str text = {"", 0};
    int rc = TARN_OK;

    if (tn_avro_text(value).ptr != NULL)
        TN_TRY(keep_text(cx, b, value, &text));
    TN_TRY(add_extra(cx, b, key, text));
done:
    return rc;
}

static int avro_members(tarn_cx *cx, const tn_avro_value *map, building *b,
                        int (*each)(tarn_cx *, const tn_avro_value *, tn_str, building *))
{
    int rc = TARN_OK;

    for (size_t i = 0; is_many(map, TN_AVRO_MAP) && i < map->as.many.count; i++) {
        tn_str key = map->as.many.names[i];

        TN_TRY(tn_arena_keep(cx, b->arena, &key));
        TN_TRY(each(cx, &map->as.many.items[i], key, b));
    }
done:
    return rc;
}

static int take_avro(tarn_cx *cx, const tn_avro_value *record, building *b)
{
    const tn_avro_value *compacted = tn_avro_member(record, "compacted");
    int rc = TARN_OK;

    b->metadata.compacted =
        compacted != NULL && compacted->kind == TN_AVRO_BOOLEAN && compacted->as.truth;
    b->metadata.replace = tn_avro_member(record, "partitionToReplaceFileIds") != NULL;
    TN_TRY(keep_text(cx, b, tn_avro_member(record, "operationType"), &b->metadata.operation));
    TN_TRY(avro_members(cx, tn_avro_member(record, "partitionToWriteStats"), b, avro_stats));
    TN_TRY(avro_members(cx, tn_avro_member(record, "partitionToReplaceFileIds"), b, avro_replaced));
    TN_TRY(avro_members(cx, tn_avro_member(record, "extraMetadata"), b, avro_extra));
done:
    return rc;
}

static int parse_avro(tarn_cx *cx, tn_str bytes, tn_str path, building *b)
{
    tn_avro_file file = {0};
    int rc = TARN_OK;

    TN_TRY(tn_avro_file_read(cx, bytes, path, &file));
    if (file.record_count != 1 || file.records[0].kind != TN_AVRO_RECORD)
        TN_FAIL(TARN_E_CORRUPT, "%.*s: it holds %zu records, not the one of a commit",
                TN_STR_ARG(path), file.record_count);
    TN_TRY(take_avro(cx, &file.records[0], b));
    b->metadata.replace |= tn_str_is(file.schema.root->name, "HoodieReplaceCommitMetadata");
done:
    tn_avro_file_clear(&file);
    return rc;
}

int tn_commit_metadata_take(tarn_cx *cx, const tn_avro_value *record, tn_arena *arena,
                            tn_commit_metadata *out)
{
    building b = {.arena = arena};
    int rc = TARN_OK;

    assert(record != NULL && out != NULL);
    TN_TRY(take_avro(cx, record, &b));
    *out = b.metadata;
done:
    return rc;
}

int tn_commit_metadata_parse(tarn_cx *cx, tn_str bytes, tn_str path, tn_arena *arena,
                             tn_commit_metadata *out)
{
    building b = {.arena = arena};
    int rc = TARN_OK;

    assert(arena != NULL && out != NULL);
    if (tn_str_starts(bytes, (tn_str){"Obj\x01", 4}))
        TN_TRY(parse_avro(cx, bytes, path, &b));
    else
        TN_TRY(parse_json(cx, bytes, path, &b));
    *out = b.metadata;
done:
    return rc;
}

tn_str tn_commit_metadata_extra(const tn_commit_metadata *metadata, const char *key)
{
    for (size_t i = 0; i < metadata->extra_count; i++)
        if (tn_str_is(metadata->extra[i].key, key))
            return metadata->extra[i].value;
    return (tn_str){NULL, 0};
}

/* Records that do not fit their columns, as NDJSON lines:
 *     {"source":"a.csv","line":3,"column":"n","reason":"…","record":"1,x"}
 * A record that is no UTF-8 is in "record_base64". A row that was read and then turned out to have
 * no key or place has its values instead, and one of Parquet a number instead of a line:
 *     {"source":"a.parquet","row":3,"column":"id","reason":"…","values":{"id":null,"n":1}}
 * I1: the file appears under its name whole and durable, just before the rows of its run do.
 * I2: a write that fails leaves no file. */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "op/write_op.h"

#define REJECT_FLUSH_BYTES (64u << 10)

/* True when `path` is `root` or lies below it. */
static bool lies_in(tn_str path, tn_str root)
{
    return tn_str_starts(path, root) &&
           (path.len == root.len || root.len == 1 || path.ptr[root.len] == '/');
}

int tn_write_reject_open(tarn_cx *cx, const char *file, tn_str root, bool counts_alone,
                         tn_write_reject *out)
{
    tn_write_reject made = {.counts_alone = counts_alone};
    tn_stat stat;
    tn_str name;
    int rc = TARN_OK;

    TN_TRY(tn_store_locate(cx, tn_str_of(file), &made.arena, &made.store, &made.path));
    rc = tn_store_stat(cx, made.store, made.path, &stat);
    /* What takes everything keeps nothing: the records are counted alone. */
    if (rc == TARN_OK && tn_str_is(made.path, "/dev/null")) {
        made.counts_alone = true;
        *out = made;
        made = (tn_write_reject){0};
        goto done;
    }
    if (rc == TARN_OK)
        TN_FAIL(TARN_E_EXISTS,
                "%.*s: is there already, and rejected records replace nothing; give another name "
                "or remove it",
                TN_STR_ARG(made.path));
    if (rc != TARN_E_NOTFOUND)
        goto done;
    tn_cx_forget(cx);
    rc = TARN_OK;
    if (lies_in(made.path, root))
        TN_FAIL(TARN_E_INVALID,
                "%.*s: lies in the directory that is written to; put rejected records elsewhere",
                TN_STR_ARG(made.path));
    rc = tn_store_stat(cx, made.store, tn_path_parent(made.path), &stat);
    if (rc != TARN_OK)
        TN_FAIL(rc, "%.*s: its directory is not there; make it first", TN_STR_ARG(made.path));
    /* Hidden and of an ending that no reader takes for data. */
    TN_TRY(tn_arena_print(cx, &made.arena, &name, ".%.*s.%08" PRIx64 ".part",
                          TN_STR_ARG(tn_path_name(made.path)), tn_cx_random(cx) & 0xFFFFFFFFu));
    TN_TRY(tn_path_join(cx, &made.arena, tn_path_parent(made.path), name, &made.part));
    *out = made;
    made = (tn_write_reject){0};
done:
    tn_store_close(made.store);
    tn_arena_clear(&made.arena);
    return rc;
}

static int flush(tarn_cx *cx, tn_write_reject *reject)
{
    int rc = TARN_OK;

    TN_TRY(tn_buf_check(cx, &reject->line));
    TN_TRY(tn_store_write(cx, reject->sink, reject->line.data, reject->line.len));
    tn_buf_reset(&reject->line);
done:
    return rc;
}

static void put_record(tn_json *json, tn_str record)
{
    if (tn_str_utf8(record) && memchr(record.ptr, '\0', record.len) == NULL) {
        tn_json_put_text(json, "record", record);
    } else {
        tn_json_key(json, "record_base64");
        tn_json_base64(json, record);
    }
}

static void put_values(tn_json *json, tn_str values)
{
    tn_json_key(json, "values");
    tn_buf_str(json->out, values);
    json->comma = true;
}

int tn_write_reject_add(tarn_cx *cx, void *arg, const tn_text_bad *bad)
{
    tn_write_reject *reject = arg;
    tn_json json;
    int rc = TARN_OK;

    reject->count++;
    if (reject->counts_alone)
        return TARN_OK;
    if (reject->sink == NULL) {
        TN_TRY(tn_store_create(cx, reject->store, reject->part, &reject->sink));
        reject->made = true;
    }
    json = tn_json_to(&reject->line);
    tn_json_object(&json);
    tn_json_put_text(&json, "source", bad->source);
    tn_json_put_u64(&json, bad->row != 0 ? "row" : "line", bad->row != 0 ? bad->row : bad->line);
    tn_json_key(&json, "column");
    if (bad->column.len != 0)
        tn_json_text(&json, bad->column);
    else
        tn_json_null(&json);
    tn_json_put_text(&json, "reason", tn_str_of(bad->reason));
    if (bad->values.len != 0)
        put_values(&json, bad->values);
    else
        put_record(&json, bad->record);
    tn_json_object_end(&json);
    tn_buf_u8(&reject->line, '\n');
    if (reject->line.len >= REJECT_FLUSH_BYTES)
        TN_TRY(flush(cx, reject));
done:
    return rc;
}

int tn_write_reject_publish(tarn_cx *cx, tn_write_reject *reject)
{
    int rc = TARN_OK;

    if (reject->sink == NULL)
        return TARN_OK;
    TN_TRY(flush(cx, reject));
    rc = tn_store_finish(cx, reject->sink);
    tn_store_close_sink(reject->sink);
    reject->sink = NULL;
    TN_TRY(rc);
    rc = tn_store_rename(cx, reject->store, reject->part, reject->path, false);
    if (rc == TARN_E_EXISTS)
        TN_FAIL(rc, "%.*s: somebody has made it meanwhile; nothing was written",
                TN_STR_ARG(reject->path));
    TN_TRY(rc);
    reject->published = true;
    TN_TRY(tn_store_sync_dir(cx, reject->store, tn_path_parent(reject->path)));
done:
    return rc;
}

void tn_write_reject_close(tarn_cx *cx, tn_write_reject *reject, bool failed)
{
    tarn_cx child;

    tn_store_close_sink(reject->sink);
    if (reject->made && (failed || !reject->published)) {
        /* The failure that is to be reported is the first one. */
        tn_cx_child(&child, cx);
        tn_store_remove(&child, reject->store, reject->published ? reject->path : reject->part);
        tn_cx_child_clear(&child);
    }
    tn_buf_clear(&reject->line);
    tn_store_close(reject->store);
    tn_arena_clear(&reject->arena);
    *reject = (tn_write_reject){0};
}

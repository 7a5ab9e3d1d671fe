/* Rows into files and pipes.
 * I1: a file appears under its name only when it is whole and on stable storage. */
#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "exec/exec_print.h"
#include "io/sink_call.h"
#include "table/dir.h"
#include "tarn/read.h"

typedef struct pipe_arg {
    tarn_read_write write;
    void *arg;
    bool stopped;
} pipe_arg;

static int pipe_text(tarn_cx *cx, void *arg, const void *bytes, size_t len, bool *stop)
{
    pipe_arg *pipe = arg;

    (void)cx;
    *stop = len > 0 && pipe->write(pipe->arg, bytes, len) != 0;
    return TARN_OK;
}

static int pipe_bytes(tarn_cx *cx, void *arg, const void *bytes, size_t len)
{
    pipe_arg *pipe = arg;

    if (pipe->write(pipe->arg, bytes, len) == 0)
        return TARN_OK;
    pipe->stopped = true;
    return tn_fail(cx, TARN_E_CANCELLED, "the reader of the rows went away");
}

int tarn_read_print(tarn_cx *cx, struct ArrowArrayStream *rows, enum tarn_row_format format,
                    tarn_read_write write, void *arg)
{
    pipe_arg pipe = {write, arg, false};
    tn_sink *sink = NULL;
    int rc = TARN_OK;

    assert(rows != NULL && write != NULL);
    if (format != TARN_ROWS_PARQUET)
        return tn_exec_print(cx, rows, format == TARN_ROWS_CSV ? TN_PRINT_CSV : TN_PRINT_NDJSON,
                             pipe_text, &pipe, NULL);
    TN_TRY(tn_sink_call_open(cx, pipe_bytes, &pipe, &sink));
    TN_TRY(tn_exec_print_parquet(cx, rows, sink, (tn_str){0}, NULL));
done:
    tn_sink_call_close(sink);
    if (pipe.stopped) {
        tn_cx_forget(cx);
        return TARN_OK;
    }
    return rc;
}

static int sink_text(tarn_cx *cx, void *arg, const void *bytes, size_t len, bool *stop)
{
    *stop = false;
    return tn_store_write(cx, arg, bytes, len);
}

int tarn_read_format(tarn_cx *cx, const char *text, enum tarn_row_format *out)
{
    tn_str path = tn_str_of(text);
    static const struct {
        const char *ending;
        enum tarn_row_format format;
    } endings[] = {{".parquet", TARN_ROWS_PARQUET},
                   {".csv", TARN_ROWS_CSV},
                   {".ndjson", TARN_ROWS_NDJSON},
                   {".jsonl", TARN_ROWS_NDJSON},
                   {".json", TARN_ROWS_NDJSON}};

    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (tn_str_ends(path, tn_str_of(endings[i].ending))) {
            *out = endings[i].format;
            return TARN_OK;
        }
    return tn_fail(cx, TARN_E_INVALID,
                   "%.*s: the ending tells no format; end it in .parquet, .csv or .ndjson, or give "
                   "--format",
                   TN_STR_ARG(path));
}

/* The place of a file that is to be: its directory resolved, its name as given. */
static int locate_new(tarn_cx *cx, const char *text, tn_arena *arena, tn_store **store,
                      tn_str *path)
{
    tn_str whole = tn_str_of(text), name, parent;
    size_t slash = whole.len;
    tn_stat stat;
    int rc = TARN_OK;

    while (slash > 0 && whole.ptr[slash - 1] != '/')
        slash--;
    name = tn_str_from(whole, slash);
    parent = slash > 1 ? (tn_str){whole.ptr, slash - 1} : slash == 1 ? TN_STR("/") : TN_STR(".");
    if (name.len == 0 || tn_str_is(name, ".") || tn_str_is(name, ".."))
        TN_FAIL(TARN_E_INVALID, "%s: names no file", text);
    if (slash >= 3 && tn_str_ends((tn_str){whole.ptr, slash}, TN_STR("://")))
        TN_FAIL(TARN_E_INVALID, "%s: names no file", text);
    TN_TRY(tn_store_locate(cx, parent, arena, store, &parent));
    rc = tn_store_stat(cx, *store, parent, &stat);
    if (rc == TARN_E_NOTFOUND)
        TN_FAIL(rc, "%s: there is no directory %.*s to write it into; make it first", text,
                TN_STR_ARG(parent));
    TN_TRY(rc);
    TN_TRY(tn_path_join(cx, arena, parent, name, path));
done:
    return rc;
}

int tarn_read_save(tarn_cx *cx, struct ArrowArrayStream *rows, const char *text,
                   const tarn_save_options *options, uint64_t *row_count)
{
    enum tarn_row_format format = options != NULL ? options->format : TARN_ROWS_NDJSON;
    tn_arena arena = {0};
    tn_store *store = NULL;
    tn_sink *sink = NULL;
    tn_str path, name, part = {0};
    bool made = false;
    int rc = TARN_OK;

    assert(rows != NULL && text != NULL);
    if (options == NULL)
        TN_TRY(tarn_read_format(cx, text, &format));
    TN_TRY(locate_new(cx, text, &arena, &store, &path));
    /* There it would be a file that the table does not know, or the end of one that it does. */
    TN_TRY(tn_dir_check_parents(cx, store, path, false));
    /* Hidden and of an ending that no reader takes for data. */
    TN_TRY(tn_arena_print(cx, &arena, &name, ".%.*s.%08llx.part", TN_STR_ARG(tn_path_name(path)),
                          (unsigned long long)(tn_cx_random(cx) & 0xFFFFFFFFu)));
    TN_TRY(tn_path_join(cx, &arena, tn_path_parent(path), name, &part));
    TN_TRY(tn_store_create(cx, store, part, &sink));
    made = true;
    if (format == TARN_ROWS_PARQUET)
        TN_TRY(tn_exec_print_parquet(
            cx, rows, sink, tn_str_of(options != NULL ? options->codec : NULL), row_count));
    else
        TN_TRY(tn_exec_print(cx, rows, format == TARN_ROWS_CSV ? TN_PRINT_CSV : TN_PRINT_NDJSON,
                             sink_text, sink, row_count));
    rc = tn_store_finish(cx, sink);
    tn_store_close_sink(sink);
    sink = NULL;
    TN_TRY(rc);
    TN_TRY(tn_store_rename(cx, store, part, path, true));
    made = false;
    TN_TRY(tn_store_sync_dir(cx, store, tn_path_parent(path)));
done:
    tn_store_close_sink(sink);
    if (made) {
        /* The failure that is to be reported is the first one. */
        tarn_cx child;

        tn_cx_child(&child, cx);
        tn_store_remove(&child, store, part);
        tn_cx_child_clear(&child);
    }
    tn_store_close(store);
    tn_arena_clear(&arena);
    return rc;
}

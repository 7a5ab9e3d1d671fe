/* The logs of a file slice, merged: a byte that chooses the rules, then logs, each behind the four
 * bytes of its length. Any bytes end in a status with text, or in sound batches of rows, the same
 * whether keys are taken all at once or only some of them are asked for. */
#include <stdlib.h>
#include <string.h>

#include "batch/array.h"
#include "batch/field.h"
#include "exec/exec_read.h"
#include "io/store_memory.h"

enum { COLUMNS = 7, LOGS_MAX = 8, ROWS_MAX = 200000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[COLUMNS] = {
    "_hoodie_commit_time", "_hoodie_record_key", "ts", "txt", "n",
    "_hoodie_is_deleted",  "_hoodie_operation"};
static const char *const formats[COLUMNS] = {"u", "u", "l", "u", "i", "b", "u"};

typedef struct world {
    tarn_cx *cx;
    tn_store *store;
    tn_arena arena;
    struct ArrowSchema all;
    uint32_t indices[COLUMNS];
    tn_scan_project project[COLUMNS];
    tn_slice_log logs[LOGS_MAX];
    tn_slice_instants instants;
    tn_slice_rules rules;
    tn_slice_parts parts;
    tn_scan_task task;
} world;

static __attribute__((noinline)) void fail(void)
{
    abort();
}

/* Reads all rows; their number, or -1. */
static int64_t read_all(world *w)
{
    struct ArrowArray batch = {0};
    tn_exec_read *reader = NULL;
    int64_t rows = 0;
    tarn_cx *cx = w->cx;
    int rc = TARN_OK;

    TN_TRY(tn_exec_read_open(cx, w->store, &w->task, &reader));
    while (rows < ROWS_MAX) {
        TN_TRY(tn_exec_read_next(cx, reader, &batch));
        if (batch.length == 0)
            break;
        if (tn_array_check(cx, &w->all, &batch) != TARN_OK)
            fail();
        rows += batch.length;
        tn_array_release(&batch);
    }
done:
    if (rc != TARN_OK && tarn_cx_error(cx)[0] == '\0')
        fail();
    tn_array_release(&batch);
    tn_exec_read_close(reader);
    return rc == TARN_OK ? rows : -1;
}

static int make_columns(world *w)
{
    tarn_cx *cx = w->cx;
    int rc = TARN_OK;

    TN_TRY(tn_field_init(cx, &w->all, "+s", TN_STR(""), false, COLUMNS));
    for (uint32_t i = 0; i < COLUMNS; i++) {
        TN_TRY(tn_field_init(cx, w->all.children[i], formats[i], tn_str_of(names[i]), true, 0));
        w->indices[i] = i;
        w->project[i] = (tn_scan_project){&w->indices[i], 1};
    }
done:
    return rc;
}

static int make_logs(world *w, tn_str bytes)
{
    tarn_cx *cx = w->cx;
    int rc = TARN_OK;

    while (bytes.len >= 4 && w->parts.log_count < LOGS_MAX) {
        tn_slice_log *log = &w->logs[w->parts.log_count];
        uint32_t len;

        memcpy(&len, bytes.ptr, sizeof len);
        bytes = tn_str_from(bytes, 4);
        len = len < bytes.len ? len : (uint32_t)bytes.len;
        TN_TRY(tn_arena_print(cx, &w->arena, &log->path, "/log%zu", w->parts.log_count));
        TN_TRY(tn_store_put(cx, w->store, log->path, (tn_str){bytes.ptr, len}));
        bytes = tn_str_from(bytes, len);
        w->parts.log_count++;
    }
done:
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const tn_str ordering[2] = {{"ts", 2}, {"txt", 3}};
    static const tn_str keys[1] = {{"n", 1}};
    static const tn_str some[1] = {{"a", 1}};
    world w = {.cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .seed = 1})};

    if (w.cx == NULL || size == 0)
        goto done;
    if (tn_store_memory_open(w.cx, &w.store) != TARN_OK || make_columns(&w) != TARN_OK)
        goto done;
    w.instants.trusted = true;
    w.rules = (tn_slice_rules){.mode = data[0] & 1 ? TN_MERGE_EVENT_TIME : TN_MERGE_COMMIT_TIME,
                               .ordering = ordering,
                               .ordering_count = 1 + (data[0] >> 1 & 1),
                               .meta_fields = (data[0] & 4) == 0,
                               .keys = keys,
                               .key_count = 1,
                               .partial = (enum tn_partial_mode)(data[0] >> 3 & 3) % 3,
                               .unavailable = {"x", 1}};
    w.parts = (tn_slice_parts){.logs = w.logs, .instants = &w.instants, .rules = &w.rules};
    w.task = (tn_scan_task){.all = &w.all,
                            .needed = &w.all,
                            .result = &w.all,
                            .project = w.project,
                            .project_count = COLUMNS,
                            .partition = -1,
                            .slice = &w.parts};
    if (make_logs(&w, (tn_str){(const char *)data + 1, size - 1}) == TARN_OK) {
        int64_t rows = read_all(&w);

        /* Without a condition that says so, too, a question for one key gives at most its row. */
        w.task.record_keys = some;
        w.task.record_key_count = 1;
        if (rows >= 0 && rows < ROWS_MAX && w.rules.meta_fields && read_all(&w) > 1)
            fail();
    }
done:
    tn_field_release(&w.all);
    tn_arena_clear(&w.arena);
    tn_store_close(w.store);
    tarn_cx_close(w.cx);
    return 0;
}

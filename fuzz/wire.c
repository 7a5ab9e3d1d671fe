/* The wire forms of plans, tasks and results: what parses is written, parsed and written again, and
 * must come to the same bytes. */
#include <stdlib.h>
#include <string.h>

#include "task/merge_plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect_equal(const tn_buf *first, const tn_buf *second)
{
    if (first->len != second->len || memcmp(first->data, second->data, first->len) != 0)
        abort();
}

static void expect_ok(int rc)
{
    if (rc != TARN_OK)
        abort();
}

static void try_plan(tarn_cx *cx, tn_str text, tn_arena *arena)
{
    tn_buf first = {0}, second = {0};
    tn_merge_plan plan;

    if (tn_merge_plan_parse(cx, text, arena, &plan) != TARN_OK)
        return;
    expect_ok(tn_merge_plan_write(cx, &plan, &first));
    expect_ok(tn_merge_plan_parse(cx, tn_buf_view(&first), arena, &plan));
    expect_ok(tn_merge_plan_write(cx, &plan, &second));
    expect_equal(&first, &second);
    tn_buf_clear(&first);
    tn_buf_clear(&second);
}

static void try_task(tarn_cx *cx, tn_str text, tn_arena *arena)
{
    tn_buf first = {0}, second = {0};
    tn_task task;

    if (tn_task_parse(cx, text, arena, &task) != TARN_OK)
        return;
    expect_ok(tn_task_write(cx, &task, &first));
    expect_ok(tn_task_parse(cx, tn_buf_view(&first), arena, &task));
    expect_ok(tn_task_write(cx, &task, &second));
    expect_equal(&first, &second);
    tn_buf_clear(&first);
    tn_buf_clear(&second);
}

static void try_result(tarn_cx *cx, tn_str text, tn_arena *arena)
{
    tn_buf first = {0}, second = {0};
    tn_result result;

    if (tn_result_parse(cx, text, arena, &result) != TARN_OK)
        return;
    expect_ok(tn_result_write(cx, &result, &first));
    expect_ok(tn_result_parse(cx, tn_buf_view(&first), arena, &result));
    expect_ok(tn_result_write(cx, &result, &second));
    expect_equal(&first, &second);
    tn_buf_clear(&first);
    tn_buf_clear(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .seed = 1});
    tn_arena arena = {0};
    tn_str text = {(const char *)data, size};

    if (cx != NULL) {
        try_plan(cx, text, &arena);
        try_task(cx, text, &arena);
        try_result(cx, text, &arena);
    }
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
    return 0;
}

/* What instants' files hold: any bytes give a value or a status with text; what parses is printed
 * in both forms, and comes back from each with as many files, replaced groups and extras. */
#include <stdlib.h>
#include <string.h>

#include "table/commit_metadata.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
    if (!holds)
        abort();
}

/* One member per partition: stats of one partition that stand apart become two members of a map,
 * and JSON's text has no room for bytes that are no UTF-8. */
static bool prints_back(const tn_commit_metadata *m)
{
    for (size_t i = 0; i < m->stat_count; i++)
        if (!tn_str_utf8(m->stats[i].partition) ||
            memchr(m->stats[i].partition.ptr, 0, m->stats[i].partition.len) != NULL)
            return false;
    return true;
}

static void try_commit(tarn_cx *cx, tn_str bytes, tn_arena *arena)
{
    tn_commit_metadata metadata, again;

    if (tn_commit_metadata_parse(cx, bytes, TN_STR("f"), arena, &metadata) != TARN_OK) {
        expect(tarn_cx_error(cx)[0] != '\0');
        return;
    }
    for (int32_t layout = 1; layout <= 2 && prints_back(&metadata); layout++) {
        tn_buf out = {0};

        expect(tn_commit_metadata_print(cx, &metadata, layout, &out) == TARN_OK);
        if (tn_commit_metadata_parse(cx, tn_buf_view(&out), TN_STR("g"), arena, &again) ==
            TARN_OK) {
            expect(again.stat_count == metadata.stat_count);
            expect(again.replace == metadata.replace);
            expect(again.replaced_count == metadata.replaced_count);
            expect(again.extra_count == metadata.extra_count);
        }
        tn_buf_clear(&out);
    }
}

static void try_rollback(tarn_cx *cx, tn_str bytes, tn_arena *arena)
{
    tn_rollback_plan plan, again;
    tn_buf out = {0};

    if (tn_rollback_plan_parse(cx, bytes, TN_STR("f"), arena, &plan) != TARN_OK) {
        expect(tarn_cx_error(cx)[0] != '\0');
        return;
    }
    if (plan.action.len != 0 && tn_rollback_plan_print(cx, &plan, &out) == TARN_OK) {
        expect(tn_rollback_plan_parse(cx, tn_buf_view(&out), TN_STR("g"), arena, &again) ==
               TARN_OK);
        expect(again.request_count == plan.request_count);
    }
    tn_buf_clear(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .seed = 1});
    tn_str bytes = {(const char *)data, size};
    tn_arena arena = {0};

    if (cx != NULL) {
        try_commit(cx, bytes, &arena);
        tn_cx_forget(cx);
        try_rollback(cx, bytes, &arena);
    }
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
    return 0;
}

/* Names of data files and of instants: what parses has parts that lie in the name, and prints to a
 * name that parses to the same parts. */
#include <stdlib.h>
#include <string.h>

#include "table/instant.h"
#include "task/data_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static bool within(tn_str part, tn_str name)
{
    return part.len == 0 || (part.ptr >= name.ptr && part.ptr + part.len <= name.ptr + name.len);
}

static void try_data(tarn_cx *cx, tn_arena *arena, tn_str name)
{
    tn_data_name parts, again;
    tn_str printed;

    if (!tn_data_name_parse(name, &parts))
        return;
    expect(within(parts.file_id, name) && within(parts.token, name) &&
           within(parts.instant, name) && within(parts.ending, name));
    expect(parts.file_id.len != 0 && parts.instant.len != 0);
    if (parts.log || !tn_str_is(parts.ending, "parquet") || name.len > 4096)
        return;
    expect(tn_data_name_print(cx, arena, parts.file_id, parts.token, parts.instant, &printed) ==
           TARN_OK);
    expect(tn_str_equal(printed, name) && tn_data_name_parse(printed, &again));
}

static void try_instant(tarn_cx *cx, tn_arena *arena, tn_str name, int32_t layout)
{
    tn_str printed, next;
    tn_instant instant;
    int64_t ms;

    if (!tn_instant_parse(name, layout, &instant) || name.len > 4096)
        return;
    expect(within(instant.time, name) && within(instant.completion, name));
    expect(tn_instant_print(cx, arena, layout, instant.time, instant.word, instant.state,
                            instant.completion, &printed) == TARN_OK);
    /* "<T>.commit.inflight" is taken for a commit's, which has the shorter name. */
    expect(tn_str_equal(printed, name) || tn_str_ends(name, TN_STR(".commit.inflight")));
    expect(tn_instant_next(cx, arena, instant.time, &next) == TARN_OK);
    expect(tn_str_compare(next, instant.time) > 0);
    tn_instant_to_ms(instant.time, true, &ms);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .seed = 1});
    tn_str name = {(const char *)data, size};
    tn_arena arena = {0};

    if (cx != NULL) {
        try_data(cx, &arena, name);
        try_instant(cx, &arena, name, 1);
        try_instant(cx, &arena, name, 2);
    }
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
    return 0;
}

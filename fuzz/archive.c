/* Archived timelines: 'm' and a manifest, 'l' and a log of version 6. Any bytes give instants or a
 * status with text; instants are sorted, each once, and each can be asked for. */
#include <stdlib.h>

#include "io/store_memory.h"
#include "table/archive_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static void try_manifest(tarn_cx *cx, tn_str bytes, tn_arena *arena)
{
    tn_str *names;
    size_t count;

    if (tn_archive_manifest_parse(cx, bytes, TN_STR("m"), arena, &names, &count) != TARN_OK) {
        expect(tarn_cx_error(cx)[0] != '\0');
        return;
    }
    for (size_t i = 0; i < count; i++)
        expect(names[i].len != 0 && tn_str_find(names[i], '/') == names[i].len);
}

static void try_log(tarn_cx *cx, tn_str bytes, tn_arena *arena)
{
    tn_hudi_config config = {.version = 6, .layout = 1, .history_path = TN_STR("archived")};
    tn_archive_contents contents;
    tn_store *store = NULL;
    tn_timeline archive;

    if (tn_store_memory_open(cx, &store) != TARN_OK)
        return;
    expect(tn_store_make_dirs(cx, store, TN_STR("/t/.hoodie/archived")) == TARN_OK);
    expect(tn_store_put(cx, store, TN_STR("/t/.hoodie/archived/.commits_.archive.1_1-0-1"),
                        bytes) == TARN_OK);
    if (tn_archive_load(cx, store, TN_STR("/t"), &config, arena, &archive) != TARN_OK) {
        expect(tarn_cx_error(cx)[0] != '\0');
        archive.count = 0;
    }
    for (size_t i = 0; i < archive.count; i++) {
        expect(i == 0 ||
               tn_str_compare(archive.instants[i - 1].time, archive.instants[i].time) <= 0);
        if (i < 4)
            (void)tn_archive_read(cx, store, TN_STR("/t"), &config, &archive.instants[i], arena,
                                  &contents);
    }
    tn_store_close(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .seed = 1});
    tn_arena arena = {0};

    if (cx != NULL && size != 0) {
        tn_str bytes = {(const char *)data + 1, size - 1};

        if (data[0] == 'm')
            try_manifest(cx, bytes, &arena);
        else
            try_log(cx, bytes, &arena);
    }
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
    return 0;
}

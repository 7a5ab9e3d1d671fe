/* Locations of files as JSON, and the plan made of them by each api: whatever parses is planned,
 * and then every byte is in exactly one split. */
#include <stdlib.h>

#include "plan/plan_split.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
    if (!holds)
        abort();
}

/* Bytes that an api makes splits of: combine goes by the blocks, the others by the files. */
static int64_t bytes_of(const tn_split_input *input)
{
    int64_t bytes = 0;

    for (size_t i = 0; i < input->file_count; i++) {
        const tn_split_file *file = &input->files[i];

        if (file->dir || (input->api == TARN_SPLIT_HIVE_SHIM && file->len == 0))
            continue;
        if (input->api >= TARN_SPLIT_FILE_NEW || !file->splittable)
            bytes += file->len;
        else
            for (size_t k = 0; k < file->block_count; k++)
                bytes += file->blocks[k].len;
    }
    return bytes;
}

static void check_plan(const tn_split_input *input, const tarn_split_plan *plan)
{
    int64_t bytes = 0;
    uint64_t chunks = 0;

    for (size_t i = 0; i < plan->split_count; i++) {
        const tarn_split_part *part = &plan->splits[i];
        int64_t len = 0;

        expect(part->chunk_count != 0);
        for (size_t k = 0; k < part->chunk_count; k++) {
            expect(part->chunks[k].len >= 0 && part->chunks[k].offset >= 0);
            len += part->chunks[k].len;
        }
        for (size_t k = 0; k < part->location_count; k++)
            expect(part->locations[k] != NULL);
        expect(len == part->len);
        chunks += part->chunk_count;
        bytes += len;
    }
    expect(chunks == plan->chunk_count);
    expect(bytes == bytes_of(input));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .seed = 1});
    tn_arena arena = {0};
    tn_split_input input;
    tarn_split_plan plan;

    if (cx != NULL && tn_split_locations(cx, (tn_str){(const char *)data, size}, "input", &arena,
                                         &input) == TARN_OK) {
        for (int api = TARN_SPLIT_COMBINE; api <= TARN_SPLIT_FILE_OLD; api++) {
            input.api = (enum tarn_split_api)api;
            if (tn_plan_split(cx, &input, &arena, &plan) == TARN_OK)
                check_plan(&input, &plan);
        }
    }
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
    return 0;
}

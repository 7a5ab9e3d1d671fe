/* The history of a table's columns: any bytes give versions of names or a status with text. The
 * first line is what the columns are called today, the rest is the history. */
#include <stdlib.h>

#include "table/hudi_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .seed = 1});
    tn_str text = {(const char *)data, size};
    size_t line = tn_str_find(text, '\n');
    tn_scan_names names;
    tn_arena arena = {0};

    if (cx == NULL)
        return 0;
    if (tn_hudi_names_parse(cx, (tn_str){text.ptr, line}, tn_str_from(text, line), TN_STR("f"),
                            &arena, &names) == TARN_OK) {
        for (size_t v = 0; v < names.count; v++) {
            const tn_scan_version *version = &names.versions[v];

            expect(v == 0 || tn_str_compare(names.versions[v - 1].since, version->since) <= 0);
            for (size_t i = 0; i < version->count; i++)
                expect(version->renames[i].path.ptr != NULL &&
                       (i == 0 || tn_str_compare(version->renames[i - 1].path,
                                                 version->renames[i].path) <= 0));
        }
        (void)tn_scan_names_at(&names, TN_STR("20240101000000000"));
    } else {
        expect(tarn_cx_error(cx)[0] != '\0');
    }
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
    return 0;
}

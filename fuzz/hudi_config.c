/* hoodie.properties: any bytes give a table's properties or a status with text; paths of what is
 * read stay below .hoodie. */
#include <stdlib.h>
#include <string.h>

#include "table/hudi_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static void check_path(tn_str path)
{
    expect(path.len == 0 || (path.ptr[0] != '/' && path.ptr[path.len - 1] != '/'));
    while (path.len != 0) {
        size_t end = tn_str_find(path, '/');

        expect(!tn_str_is((tn_str){path.ptr, end}, "..") && end != 0);
        path = tn_str_from(path, end + 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .seed = 1});
    tn_record_key_options options;
    tn_hudi_config config;
    tn_arena arena = {0};

    if (cx == NULL)
        return 0;
    if (tn_hudi_config_parse(cx, (tn_str){(const char *)data, size}, TN_STR("f"), &arena,
                             &config) == TARN_OK) {
        expect(config.layout == (config.version < 8 ? 1 : 2) && config.name.len != 0);
        expect(config.merge_mode != 0 && config.keygen_known == (config.keygen != 0));
        check_path(config.timeline_path);
        check_path(config.history_path);
        tn_hudi_config_keys(&config, &options);
        if (tn_hudi_config_writable(cx, &config) != TARN_OK)
            expect(tarn_cx_error(cx)[0] != '\0');
    } else {
        expect(tarn_cx_error(cx)[0] != '\0');
    }
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
    return 0;
}

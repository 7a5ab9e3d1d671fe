/* Create: an empty Hudi table. */
#include <assert.h>

#include "op/hudi_op.h"
#include "table/hudi_stored.h"

/* The columns that were given, as the table's first schema. */
static int schema_of(tarn_cx *cx, const char *text, tn_arena *arena, tn_hudi_new *made)
{
    struct ArrowSchema given = {0}, stored = {0};
    tn_buf avro = {0};
    int rc = TARN_OK;

    if (text == NULL)
        return TARN_OK;
    TN_TRY(tn_write_schema_of(cx, text, &given));
    TN_TRY(tn_hudi_stored_schema(cx, &given, &stored));
    for (size_t i = 0; i < made->key_count + made->partition_count + made->ordering_count; i++) {
        tn_str name = i < made->key_count ? made->keys[i]
                      : i < made->key_count + made->partition_count
                          ? made->partitions[i - made->key_count]
                          : made->ordering[i - made->key_count - made->partition_count];
        tn_str top = {name.ptr, tn_str_find(name, '.')};

        if (tn_unify_child(&stored, top) < 0)
            TN_FAIL(TARN_E_INVALID, "column \"%.*s\": the schema lacks it", TN_STR_ARG(top));
    }
    TN_TRY(tn_hudi_stored_avro(cx, &stored, made->name, false, &avro));
    TN_TRY(tn_buf_check(cx, &avro));
    made->create_schema = tn_buf_view(&avro);
    TN_TRY(tn_arena_keep(cx, arena, &made->create_schema));
done:
    tn_buf_clear(&avro);
    tn_field_release(&given);
    tn_field_release(&stored);
    return rc;
}

int tn_hudi_create_at(tarn_cx *cx, tn_store *store, tn_str root, const tarn_table_options *options,
                      void (*warn)(void *arg, const char *text), void *arg,
                      tarn_table_report **report)
{
    int64_t started_ms = tn_cx_now_ms(cx);
    tn_arena arena = {0};
    tn_hudi_log *log = NULL;
    tn_hudi_options read;
    tn_hudi_config config;
    tn_hudi_new made;
    int rc = TARN_OK;

    assert(report != NULL);
    TN_TRY(tn_hudi_log_open(cx, root, &log));
    TN_TRY(tn_hudi_options_read(cx, options, &arena, warn, arg, &read));
    TN_TRY(tn_hudi_table_given(cx, &arena, options, &read));
    TN_TRY(tn_hudi_table_new(cx, &arena, root, &read, &made));
    TN_TRY(schema_of(cx, options->schema, &arena, &made));
    TN_TRY(tn_hudi_table_imagine(cx, &arena, &made, &config));
    TN_TRY(tn_hudi_table_check(cx, root, &config, false));
    log->report.table_version = config.version;
    log->report.table_made = true;
    if (!options->dry_run)
        TN_TRY(tn_hudi_create(cx, store, root, &made, NULL));
    log->report.dry_run = options->dry_run;
    log->report.ms = tn_cx_now_ms(cx) - started_ms;
    *report = &log->report;
    log = NULL;
done:
    tn_hudi_log_close(log);
    tn_arena_clear(&arena);
    return rc;
}

int tarn_table_create(tarn_cx *cx, const char *path, const tarn_table_options *options,
                      void (*warn)(void *arg, const char *text), void *arg,
                      tarn_table_report **report)
{
    tn_arena arena = {0};
    tn_store *store = NULL;
    tn_str root;
    int rc = TARN_OK;

    assert(path != NULL && options != NULL);
    TN_TRY(tn_store_locate(cx, tn_str_of(path), &arena, &store, &root));
    TN_TRY(tn_hudi_create_at(cx, store, root, options, warn, arg, report));
done:
    tn_store_close(store);
    tn_arena_clear(&arena);
    return rc;
}

/* Options of a writer, copied with all they point to: they live as long as it does. */
#include "op/hudi_writer.h"

static int keep(tarn_cx *cx, tn_arena *arena, const char **text)
{
    tn_str copy = tn_str_of(*text);
    int rc = TARN_OK;

    if (*text == NULL)
        return TARN_OK;
    TN_TRY(tn_arena_keep(cx, arena, &copy));
    *text = copy.ptr;
done:
    return rc;
}

static int keep_list(tarn_cx *cx, tn_arena *arena, const char *const **items, size_t count)
{
    const char **copy = tn_arena_array(cx, arena, count + 1, sizeof *copy);
    int rc = TARN_OK;

    if (copy == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        copy[i] = (*items)[i];
        TN_TRY(keep(cx, arena, &copy[i]));
    }
    *items = copy;
done:
    return rc;
}

static int keep_table(tarn_cx *cx, tn_arena *arena, tarn_table_options *t)
{
    const char **texts[] = {&t->type, &t->keygen,   &t->merge_mode, &t->payload, &t->timezone,
                            &t->name, &t->database, &t->schema,     &t->config};
    int rc = TARN_OK;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        TN_TRY(keep(cx, arena, texts[i]));
    TN_TRY(keep_list(cx, arena, &t->keys, t->key_count));
    TN_TRY(keep_list(cx, arena, &t->partition_by, t->partition_by_count));
    TN_TRY(keep_list(cx, arena, &t->ordering, t->ordering_count));
    TN_TRY(keep_list(cx, arena, &t->set, t->set_count));
done:
    return rc;
}

int tn_hudi_writer_options(tarn_cx *cx, tn_arena *arena, const tarn_writer_options *from,
                           tarn_writer_options *out)
{
    tarn_writer_options made = *from;
    tarn_table_write_options *w = &made.write;
    int rc = TARN_OK;

    if (w->dry_run)
        TN_FAIL(TARN_E_INVALID, "a writer has no dry run");
    if (w->where != NULL || w->columns != NULL || w->schema != NULL || w->reject != NULL)
        TN_FAIL(TARN_E_INVALID, "where, columns, schema and reject are of inputs; a writer takes "
                                "rows as they are");
    if (w->op == TARN_OP_DELETE_PARTITION)
        TN_FAIL(TARN_E_INVALID, "op delete_partition: it takes no rows");
    TN_TRY(keep_table(cx, arena, &w->table));
    TN_TRY(keep_list(cx, arena, &w->partitions, w->partition_count));
    TN_TRY(keep_list(cx, arena, &w->extra, w->extra_count));
    TN_TRY(keep(cx, arena, &w->codec));
    *out = made;
done:
    return rc;
}

/* Partitions under the names that the directory has for them.
 *
 * Writers escape differently: the value "a b" lies in "k=a b" for Hive and Spark, in "k=a%20b" for
 * pyarrow. All of them read both, as one value. So rows of a partition that is there already go to
 * where it is: under Hive's spelling they would lie beside those that they are to replace.
 *
 * I1: a partition that is there under Hive's spelling keeps it, whatever else is there.
 * I2: one that lies in several directories is not overwritten, for the rows in the others would
 *     survive: nothing is written then.
 *
 * An empty value is left alone: "k=" is null for some readers and a text for others. */
#include "batch/key.h"
#include "op/write_op.h"
#include "table/partition.h"

#define HIVE_NULL "__HIVE_DEFAULT_PARTITION__"

static bool has_empty_value(tn_str path)
{
    for (size_t i = 0; i < path.len; i++)
        if (path.ptr[i] == '=' && (i + 1 == path.len || path.ptr[i + 1] == '/'))
            return true;
    return false;
}

/* The path as Hive spells it, in the arena. */
static int spell(tarn_cx *cx, tn_arena *arena, tn_str path, tn_str *out)
{
    tn_partition_value *levels;
    tn_buf text = {0};
    size_t count;
    int rc = TARN_OK;

    TN_TRY(tn_partition_parse(cx, arena, path, &levels, &count));
    for (size_t i = 0; i < count; i++) {
        tn_buf_text(&text, i != 0 ? "/" : "");
        tn_key_escape(&text, levels[i].name);
        tn_buf_u8(&text, '=');
        if (levels[i].value.ptr == NULL)
            tn_buf_text(&text, HIVE_NULL);
        else
            tn_key_escape(&text, levels[i].value);
    }
    TN_TRY(tn_buf_check(cx, &text));
    *out = text.len != 0 ? tn_buf_view(&text) : TN_STR("");
    TN_TRY(tn_arena_keep(cx, arena, out));
done:
    tn_buf_clear(&text);
    return rc;
}

static int add_place(tarn_cx *cx, tn_write *w, tn_str spelled, size_t partition)
{
    const tn_dir_partition *partitions = w->dir.dir.partitions;
    size_t *place, *other;
    bool added;

    place = tn_map_add(cx, &w->places, spelled, &added);
    if (place == NULL)
        return TARN_E_NOMEM;
    if (!added) {
        other = tn_map_add(cx, &w->places_again, spelled, &added);
        if (other == NULL)
            return TARN_E_NOMEM;
        *other = partition;
        if (!tn_str_equal(partitions[partition].path, spelled))
            return TARN_OK;
        *other = *place; /* I1 */
    }
    *place = partition;
    return TARN_OK;
}

int tn_write_spell_open(tarn_cx *cx, tn_write *w)
{
    const tn_dir *dir = &w->dir.dir;
    int rc = TARN_OK;

    if (!w->dir.found || w->options->mode == TARN_WRITE_OVERWRITE ||
        w->plan.partition_column_count == 0)
        return TARN_OK;
    for (size_t i = 0; i < dir->partition_count; i++) {
        tn_str spelled;

        if (dir->partitions[i].file_count == 0 || has_empty_value(dir->partitions[i].path))
            continue;
        TN_TRY(spell(cx, &w->arena, dir->partitions[i].path, &spelled));
        TN_TRY(add_place(cx, w, spelled, i));
    }
done:
    return rc;
}

int tn_write_spelled(tarn_cx *cx, const tn_write *w, tn_str *path)
{
    const size_t *place = tn_map_find(&w->places, *path);
    const size_t *other = tn_map_find(&w->places_again, *path);
    const tn_dir_partition *partitions = w->dir.dir.partitions;
    int rc = TARN_OK;

    if (other != NULL && w->options->mode == TARN_WRITE_OVERWRITE_PARTITIONS)
        TN_FAIL(TARN_E_UNSUPPORTED,
                "%.*s: the partition that is to be replaced lies there twice, as \"%.*s\" and as "
                "\"%.*s\"; nothing was touched: move the files of one to the other first",
                TN_STR_ARG(w->root), TN_STR_ARG(partitions[*place].path),
                TN_STR_ARG(partitions[*other].path));
    if (place != NULL)
        *path = partitions[*place].path;
done:
    return rc;
}

void tn_write_spell_clear(tn_write *w)
{
    tn_map_clear(&w->places);
    tn_map_clear(&w->places_again);
}

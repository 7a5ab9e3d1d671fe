/* Which fragments can share a file.
 * I1: every candidate is in exactly one group; groups and files keep name order.
 * I2: files join a group only if all its schemas unify and their old dates are read alike. */
#include <stdlib.h>

#include "plan/merge_parts.h"

/* The target of the merge that wrote the file; 0: another writer did. */
static uint64_t merged_for(const tn_dir *dir, const tn_dir_file *file)
{
    const tn_dir_keys *keys = &dir->key_sets[file->keys];

    for (size_t i = 0; i < keys->count; i++)
        if (tn_str_is(keys->values[i].key, TN_UNIFY_MERGE_KEY) && keys->values[i].value.len < 24) {
            char text[24] = {0};

            memcpy(text, keys->values[i].value.ptr, keys->values[i].value.len);
            return strtoull(text, NULL, 10);
        }
    return 0;
}

static tn_calendars calendars_of(const tn_dir *dir, const tn_dir_file *file)
{
    return tn_unify_calendars(&dir->key_sets[file->keys], file->created_by);
}

static tn_str arrow_of(const tn_dir *dir, const tn_dir_file *file)
{
    return tn_unify_arrow_of(&dir->key_sets[file->keys]);
}

static bool same_calendars(const tn_calendars *a, const tn_calendars *b)
{
    return a->dates == b->dates && a->int96 == b->int96 && tn_str_equal(a->zone, b->zone);
}

/* True when the group has met a file just like this one as far as joining goes. */
static bool marked(const tn_dir *dir, const tn_merge_group *group, const tn_dir_file *file)
{
    tn_calendars mine = calendars_of(dir, file);

    for (size_t i = 0; i < group->mark_count; i++) {
        tn_calendars theirs = calendars_of(dir, group->marks[i]);

        if (group->marks[i]->schema == file->schema && same_calendars(&mine, &theirs) &&
            tn_str_equal(arrow_of(dir, group->marks[i]), arrow_of(dir, file)))
            return true;
    }
    return false;
}

static bool calendars_agree(const tn_dir *dir, const tn_merge_group *group, const tn_dir_file *file)
{
    tn_calendars mine = calendars_of(dir, file);

    for (size_t i = 0; i < group->mark_count; i++) {
        tn_calendars theirs = calendars_of(dir, group->marks[i]);

        if (!tn_unify_calendars_agree(&dir->schemas[file->schema], &mine, &theirs) ||
            !tn_unify_calendars_agree(&dir->schemas[group->marks[i]->schema], &mine, &theirs))
            return false;
    }
    return true;
}

static int arrow_agrees(tarn_cx *cx, const tn_dir *dir, const tn_merge_group *group,
                        const tn_dir_file *file, bool *agrees)
{
    int rc = TARN_OK;

    *agrees = true;
    for (size_t i = 0; i < group->mark_count && *agrees; i++)
        TN_TRY(
            tn_unify_arrow_agrees(cx, arrow_of(dir, group->marks[i]), arrow_of(dir, file), agrees));
done:
    return rc;
}

static bool has_schema(const tn_merge_group *group, uint32_t schema)
{
    for (size_t i = 0; i < group->schema_count; i++)
        if (group->schemas[i] == schema)
            return true;
    return false;
}

/* Can the file join? *why is empty if so. */
static int can_join(tarn_cx *cx, const tn_merge_planning *p, const tn_merge_group *group,
                    const tn_dir_file *file, tn_str *why)
{
    const tn_unify_options options = {.widen = p->options->widen};
    tn_arena scratch = {0};
    const tn_dir_schema **schemas;
    tn_unified unified;
    bool agrees;
    int rc = TARN_OK;

    *why = (tn_str){0};
    if (marked(p->dir, group, file))
        return TARN_OK;
    if (!calendars_agree(p->dir, group, file)) {
        *why = TN_STR("old dates or times are to be read by another calendar (footer keys of "
                      "Spark)");
        return TARN_OK;
    }
    TN_TRY(arrow_agrees(cx, p->dir, group, file, &agrees));
    if (!agrees) {
        *why = TN_STR("a duration has another unit, or is a plain number, by its ARROW:schema");
        goto done;
    }
    if (has_schema(group, file->schema))
        goto done;
    schemas = tn_arena_array(cx, &scratch, group->schema_count + 1, sizeof *schemas);
    if (schemas == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < group->schema_count; i++)
        schemas[i] = &p->dir->schemas[group->schemas[i]];
    schemas[group->schema_count] = &p->dir->schemas[file->schema];
    TN_TRY(tn_unify(cx, &scratch, schemas, group->schema_count + 1, &options, &unified, why));
    if (why->len != 0)
        TN_TRY(tn_arena_keep(cx, p->arena, why));
done:
    tn_arena_clear(&scratch);
    return rc;
}

static int join(tarn_cx *cx, const tn_merge_planning *p, tn_merge_group *group, size_t file_max,
                const tn_dir_file *file)
{
    if (group->files == NULL) {
        group->files = tn_arena_array(cx, p->arena, file_max, sizeof *group->files);
        group->marks = tn_arena_array(cx, p->arena, file_max, sizeof *group->marks);
        group->schemas = tn_arena_array(cx, p->arena, file_max, sizeof *group->schemas);
        if (group->files == NULL || group->marks == NULL || group->schemas == NULL)
            return TARN_E_NOMEM;
    }
    if (!marked(p->dir, group, file)) {
        group->marks[group->mark_count++] = file;
        /* One merge gives all outputs of a group one schema, calendar and Arrow schema: files that
         * differ in them did not come out of it together, and can now become one. */
        group->fresh |= group->mark_count > 1 && !p->options->hive;
    }
    if (!has_schema(group, file->schema))
        group->schemas[group->schema_count++] = file->schema;
    group->files[group->file_count++] = file;
    group->bytes += file->stat.size_bytes;
    group->fresh |= merged_for(p->dir, file) < p->target &&
                    (!p->options->hive || file->stat.size_bytes < p->target);
    return TARN_OK;
}

static bool candidate(const tn_merge_planning *p, const tn_dir_file *file)
{
    const uint32_t known = 1u << TN_CODEC_NONE | 1u << TN_CODEC_SNAPPY | 1u << TN_CODEC_GZIP |
                           1u << TN_CODEC_BROTLI | 1u << TN_CODEC_LZ4 | 1u << TN_CODEC_ZSTD |
                           1u << TN_CODEC_LZ4_RAW;

    return file->state == TN_FILE_GOOD && file->footer_seen && (file->codecs & ~known) == 0 &&
           (p->options->file_count != 0 || p->options->hive || file->stat.size_bytes < p->small);
}

int tn_merge_group_files(tarn_cx *cx, const tn_merge_planning *p, const tn_dir_partition *partition,
                         tn_merge_group **groups, size_t *count)
{
    tn_merge_group *out = NULL;
    size_t n = 0, cap = 0, candidates = 0;
    int rc = TARN_OK;

    for (size_t i = 0; i < partition->file_count; i++)
        candidates += candidate(p, &partition->files[i]);
    for (size_t i = 0; i < partition->file_count; i++) {
        const tn_dir_file *file = &partition->files[i];
        tn_str why = {0}, first_why = {0};
        size_t g = 0;

        if (!candidate(p, file))
            continue;
        for (; g < n; g++) {
            TN_TRY(can_join(cx, p, &out[g], file, &why));
            if (why.len == 0)
                break;
            if (g == 0)
                first_why = why;
        }
        if (g == n) {
            TN_TRY(tn_arena_grow(cx, p->arena, &out, n, &cap, sizeof *out));
            out[n++] = (tn_merge_group){.why = first_why};
        }
        TN_TRY(join(cx, p, &out[g], candidates, file));
    }
    *groups = out;
    *count = n;
done:
    return rc;
}

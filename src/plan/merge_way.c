/* How each leaf of a merge is to be made: what the footers rule out, and what they leave open.
 * I1: a way is intended only where nothing known stands against it for at least one input; inputs
 *     that need a dearer one are told in `why`, and exec finds them by itself. */
#include <inttypes.h>

#include "plan/merge_parts.h"

/* What the inputs say of one leaf, in files. */
typedef struct evidence {
    size_t cast, lacking, levels, faulty, dictionary, joined;
} evidence;

static uint32_t encodings_of(const tn_dir_file *file, int32_t leaf)
{
    const uint8_t *bits = (const uint8_t *)file->encodings.ptr;
    size_t at = 2 * (size_t)leaf;

    return at + 1 < file->encodings.len ? bits[at] | (uint32_t)bits[at + 1] << 8 : 0;
}

static void look(const tn_dir_file *file, const tn_leaf_source *source, evidence *out)
{
    const uint32_t dictionary = 1u << TN_ENC_PLAIN_DICTIONARY | 1u << TN_ENC_RLE_DICTIONARY;
    uint32_t encodings;

    if (file->rows == 0)
        return;
    if (source->leaf < 0) {
        out->lacking++;
    } else if (source->cast != TN_CAST_NONE) {
        out->cast++;
    } else {
        encodings = encodings_of(file, source->leaf);
        if (file->faulty_deltas && (encodings & 1u << TN_ENC_DELTA_BYTE_ARRAY) != 0) {
            out->faulty++;
            return;
        }
        out->joined++;
        out->levels += source->def_map != NULL;
        out->dictionary += (encodings & dictionary) != 0;
    }
}

static int add_reason(tarn_cx *cx, const tn_merge_planning *p, tn_str *why, size_t files,
                      const char *text)
{
    if (files == 0)
        return TARN_OK;
    return tn_arena_print(cx, p->arena, why, "%.*s%s%zu file%s %s", TN_STR_ARG(*why),
                          why->len != 0 ? "; " : "", files, files == 1 ? "" : "s", text);
}

static int reasons(tarn_cx *cx, const tn_merge_planning *p, const evidence *e, size_t recompressed,
                   tn_str *why)
{
    int rc = TARN_OK;

    *why = TN_STR("");
    TN_TRY(add_reason(cx, p, why, e->cast, "with values to be cast"));
    TN_TRY(add_reason(cx, p, why, e->lacking, "without the column"));
    TN_TRY(add_reason(cx, p, why, e->faulty, "of a writer whose delta pages readers distrust"));
    TN_TRY(add_reason(cx, p, why, e->levels, "with levels to be written again"));
    TN_TRY(add_reason(cx, p, why, e->dictionary,
                      "with dictionaries, whose indices are remapped where they differ"));
    if (e->joined != 0)
        TN_TRY(add_reason(cx, p, why, recompressed, "in another codec"));
done:
    return rc;
}

/* What rules out joining for all leaves; NULL: nothing. */
static const char *ruled_out(const tn_merge_options *options)
{
    return options->encode            ? "asked for (--encode)"
           : options->sort_count != 0 ? "rows are sorted"
           : options->level != 0      ? "a level of compression is asked for"
                                      : NULL;
}

static int name_leaves(tarn_cx *cx, const tn_merge_planning *p, const tn_unified *unified,
                       tn_leaf_intent *intents)
{
    tn_str path[TN_PARQUET_DEPTH_MAX];
    int32_t left[TN_PARQUET_DEPTH_MAX];
    size_t depth = 0, leaf = 0;
    int rc = TARN_OK;

    for (size_t i = 1; i < unified->element_count; i++) {
        const tn_element *e = &unified->elements[i];
        tn_str name = e->name;

        while (depth != 0 && left[depth - 1] == 0)
            depth--;
        if (depth != 0) {
            left[depth - 1]--;
            TN_TRY(tn_arena_print(cx, p->arena, &name, "%.*s.%.*s", TN_STR_ARG(path[depth - 1]),
                                  TN_STR_ARG(e->name)));
        }
        if (!e->group) {
            if (leaf < unified->leaf_count)
                intents[leaf++].column = name;
            continue;
        }
        if (depth == TN_PARQUET_DEPTH_MAX)
            TN_FAIL(TARN_E_LIMIT, "a schema deeper than %d groups", TN_PARQUET_DEPTH_MAX);
        path[depth] = name;
        left[depth++] = e->children;
    }
done:
    return rc;
}

int tn_merge_add_intents(tarn_cx *cx, tn_merge_planning *p, const tn_merge_group *group,
                         const tn_unified *unified, const uint32_t *mapping, tn_task_rewrite *task)
{
    tn_leaf_intent *intents =
        tn_arena_array(cx, p->arena, unified->leaf_count, sizeof *task->intents);
    evidence *found = tn_arena_array(cx, p->arena, unified->leaf_count, sizeof *found);
    const char *out = ruled_out(p->options);
    size_t recompressed = 0;
    int rc = TARN_OK;

    if (intents == NULL || found == NULL)
        return TARN_E_NOMEM;
    for (size_t f = 0; f < group->file_count; f++) {
        recompressed += (group->files[f]->codecs & ~(1u << task->codec)) != 0;
        for (size_t l = 0; out == NULL && l < unified->leaf_count; l++)
            look(group->files[f], &unified->mappings[mapping[f]][l], &found[l]);
    }
    TN_TRY(name_leaves(cx, p, unified, intents));
    for (size_t l = 0; l < unified->leaf_count; l++) {
        if (out != NULL) {
            intents[l].way = TN_WAY_ENCODE;
            intents[l].why = tn_str_of(out);
            continue;
        }
        intents[l].way = found[l].joined != 0 ? TN_WAY_COPY : TN_WAY_ENCODE;
        TN_TRY(reasons(cx, p, &found[l], recompressed, &intents[l].why));
    }
    task->intents = intents;
done:
    return rc;
}

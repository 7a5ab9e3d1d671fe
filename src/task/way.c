/* Ways on the wire: an intent is ["column", "way", "why"], what was done [["way", chunks, bytes,
 * "why"], …] with only the ways that were taken.
 * I1: a way, a count or a text from a line is within its bounds before it is given out. */
#include "task/way.h"

#include <string.h>

static const char *const names[TN_WAY_COUNT] = {"copy", "sequence", "remap", "repack", "encode"};

const char *tn_way_name(int32_t way)
{
    return way >= 0 && way < TN_WAY_COUNT ? names[way] : "";
}

static int way_of(tarn_cx *cx, const json_t *value, int32_t *out)
{
    const char *text = json_string_value(value);

    for (int32_t way = 0; text != NULL && way < TN_WAY_COUNT; way++)
        if (strcmp(text, names[way]) == 0) {
            *out = way;
            return TARN_OK;
        }
    return tn_fail(cx, TARN_E_CORRUPT,
                   "\"%.40s\" is no way to make a column chunk; there are copy, sequence, remap, "
                   "repack and encode",
                   text != NULL ? text : "");
}

static int why_of(tarn_cx *cx, tn_arena *arena, const json_t *value, tn_str *out)
{
    int rc = TARN_OK;

    if (!json_is_string(value) || json_string_length(value) > TN_WAY_WHY_BYTES_MAX)
        TN_FAIL(TARN_E_CORRUPT, "the reason for a way is no text of up to %d bytes",
                TN_WAY_WHY_BYTES_MAX);
    *out = (tn_str){json_string_value(value), json_string_length(value)};
    if (out->len == 0)
        *out = (tn_str){0};
    else
        TN_TRY(tn_arena_keep(cx, arena, out));
done:
    return rc;
}

static tn_str cut(tn_str why)
{
    /* A character cut in two grows by what stands for broken ones. */
    if (why.len > TN_WAY_WHY_BYTES_MAX - 16)
        why.len = TN_WAY_WHY_BYTES_MAX - 16;
    return why.ptr != NULL ? why : TN_STR("");
}

void tn_way_intents_write(tn_json *json, const tn_leaf_intent *intents, size_t count)
{
    tn_json_array(json);
    for (size_t l = 0; l < count; l++) {
        tn_json_array(json);
        tn_json_bytes(json, intents[l].column);
        tn_json_text(json, tn_str_of(tn_way_name(intents[l].way)));
        tn_json_text(json, cut(intents[l].why));
        tn_json_array_end(json);
    }
    tn_json_array_end(json);
}

int tn_way_intents_parse(tarn_cx *cx, tn_arena *arena, const json_t *array, size_t count,
                         tn_leaf_intent **out)
{
    tn_leaf_intent *made = tn_arena_array(cx, arena, count, sizeof *made);
    int rc = TARN_OK;

    if (made == NULL)
        return TARN_E_NOMEM;
    if (json_array_size(array) != count)
        TN_FAIL(TARN_E_CORRUPT, "task: ways for %zu leaves, not %zu", json_array_size(array),
                count);
    for (size_t l = 0; l < count; l++) {
        const json_t *one = json_array_get(array, l);

        TN_TRY(tn_json_bytes_of(cx, arena, json_array_get(one, 0), &made[l].column));
        TN_TRY(way_of(cx, json_array_get(one, 1), &made[l].way));
        TN_TRY(why_of(cx, arena, json_array_get(one, 2), &made[l].why));
    }
    *out = made;
done:
    return rc;
}

void tn_way_done_write(tn_json *json, const tn_leaf_done *done, size_t count)
{
    tn_json_array(json);
    for (size_t l = 0; l < count; l++) {
        tn_json_array(json);
        for (int32_t way = 0; way < TN_WAY_COUNT; way++) {
            if (done[l].chunks[way] == 0 && done[l].bytes[way] == 0)
                continue;
            tn_json_array(json);
            tn_json_text(json, tn_str_of(tn_way_name(way)));
            tn_json_u64(json, done[l].chunks[way]);
            tn_json_u64(json, done[l].bytes[way]);
            tn_json_text(json, cut(done[l].why[way]));
            tn_json_array_end(json);
        }
        tn_json_array_end(json);
    }
    tn_json_array_end(json);
}

static int count_of(tarn_cx *cx, const json_t *value, uint64_t *out)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return tn_fail(cx, TARN_E_CORRUPT, "result: a count of a way is no number from 0 on");
    *out = (uint64_t)json_integer_value(value);
    return TARN_OK;
}

static int leaf_parse(tarn_cx *cx, tn_arena *arena, const json_t *ways, tn_leaf_done *out)
{
    int rc = TARN_OK;

    if (!json_is_array(ways) || json_array_size(ways) > TN_WAY_COUNT)
        TN_FAIL(TARN_E_CORRUPT, "result: a leaf has no list of up to %d ways", TN_WAY_COUNT);
    for (size_t i = 0; i < json_array_size(ways); i++) {
        const json_t *one = json_array_get(ways, i);
        int32_t way;

        TN_TRY(way_of(cx, json_array_get(one, 0), &way));
        TN_TRY(count_of(cx, json_array_get(one, 1), &out->chunks[way]));
        TN_TRY(count_of(cx, json_array_get(one, 2), &out->bytes[way]));
        TN_TRY(why_of(cx, arena, json_array_get(one, 3), &out->why[way]));
    }
done:
    return rc;
}

int tn_way_done_parse(tarn_cx *cx, tn_arena *arena, const json_t *array, tn_leaf_done **out,
                      size_t *count)
{
    size_t leaves = json_array_size(array);
    tn_leaf_done *made;
    int rc = TARN_OK;

    if (leaves > TN_PARQUET_LEAVES_MAX)
        TN_FAIL(TARN_E_CORRUPT, "result: %zu leaves, more than %d", leaves, TN_PARQUET_LEAVES_MAX);
    made = tn_arena_array(cx, arena, leaves, sizeof *made);
    if (made == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t l = 0; l < leaves; l++)
        TN_TRY(leaf_parse(cx, arena, json_array_get(array, l), &made[l]));
    *out = made;
    *count = leaves;
done:
    return rc;
}

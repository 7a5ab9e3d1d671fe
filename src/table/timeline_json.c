/* Files of a timeline as JSON text. */
#include "table/timeline_json.h"

int tn_timeline_json(tarn_cx *cx, tn_store *store, const tn_timeline *timeline, tn_str file_name,
                     tn_arena *arena, tn_str *out)
{
    tn_arena values = {0};
    tn_avro_value value;
    tn_buf text = {0};
    tn_json json = tn_json_to(&text);
    tn_str kept = {NULL, 0};
    bool empty;
    int rc = TARN_OK;

    TN_TRY(tn_timeline_value(cx, store, timeline, file_name, &values, &empty, &value));
    if (!empty) {
        tn_avro_to_json(&json, &value);
        TN_TRY(tn_buf_check(cx, &text));
        kept = tn_buf_view(&text);
        TN_TRY(tn_arena_keep(cx, arena, &kept));
    }
    *out = kept;
done:
    tn_buf_clear(&text);
    tn_arena_clear(&values);
    return rc;
}

/* Places in schemas and values, for messages. */
#include "codec/avro/avro_place.h"

static void print(tn_buf *out, const tn_avro_place *at)
{
    if (at == NULL)
        return;
    print(out, at->up);
    if (out->len != 0)
        tn_buf_u8(out, '.');
    tn_buf_str(out, at->name);
}

int tn_avro_place_fail(tarn_cx *cx, int status, const tn_avro_place *at, const char *noun,
                       const char *text)
{
    tn_buf path = {0};
    int rc;

    if (at == NULL)
        return tn_fail(cx, status, "%s", text);
    print(&path, at);
    rc = tn_fail(cx, status, "%s \"%.*s\": %s", noun, TN_STR_ARG(tn_buf_view(&path)), text);
    tn_buf_clear(&path);
    return rc;
}

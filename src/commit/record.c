/* The form that the records of changes and of writes share. A record is put whole and read whole.
 * I1: what was torn, cut or changed in one byte is no record. */
#include "commit/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <xxhash.h>

int tn_record_seal(tarn_cx *cx, tn_buf *text)
{
    int rc;

    TN_TRY(tn_buf_check(cx, text));
    tn_buf_print(text, "\n%016" PRIx64 "\n", (uint64_t)XXH3_64bits(text->data, text->len));
    rc = tn_buf_check(cx, text);
done:
    return rc;
}

bool tn_record_unseal(tn_str text, tn_str *line)
{
    size_t end = tn_str_find(text, '\n');
    char want[20];

    *line = (tn_str){text.ptr, end};
    snprintf(want, sizeof want, "%016" PRIx64 "\n", (uint64_t)XXH3_64bits(text.ptr, end));
    return tn_str_is(tn_str_from(text, end + 1), want);
}

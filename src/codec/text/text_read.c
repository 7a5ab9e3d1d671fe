/* Records that do not fit: passed over or the end of the reading.
 * I1: the text names source, line, column, value and type, and what to do. */
#include "codec/text/text_read.h"

#include "base/buf.h"

int tn_text_bad_report(tarn_cx *cx, const tn_text_read_options *options, const tn_text_bad *bad)
{
    tn_buf text = {0};
    int rc = TARN_OK;

    if (options->reject != NULL)
        return options->reject(cx, options->reject_arg, bad);
    tn_buf_print(&text, "line %llu", (unsigned long long)bad->line);
    if (bad->column_number != 0)
        tn_buf_print(&text, ", column %llu", (unsigned long long)bad->column_number);
    if (bad->column.len != 0)
        tn_buf_print(&text, "%s \"%.*s\"", bad->column_number != 0 ? "" : ", column",
                     TN_STR_ARG(bad->column));
    tn_buf_print(&text, ": %s", bad->reason);
    if (bad->inferred_rows != 0)
        tn_buf_print(&text, " (the type is that of the first %llu row%s)",
                     (unsigned long long)bad->inferred_rows, bad->inferred_rows == 1 ? "" : "s");
    tn_buf_text(&text, bad->column.len != 0
                           ? "; fix it, give the column another type with --schema, or pass it "
                             "over with --reject FILE"
                           : "; fix it, or pass it over with --reject FILE");
    tn_buf_u8(&text, '\0');
    TN_TRY(tn_buf_check(cx, &text));
    TN_FAIL(TARN_E_DATA, "%.*s: %s", TN_STR_ARG(bad->source), (const char *)text.data);
done:
    tn_buf_clear(&text);
    return rc;
}

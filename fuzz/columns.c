/* Columns as people write them: any text ends in a schema or a status. What a schema prints as is
 * read as the same columns again. */
#include <stdlib.h>
#include <string.h>

#include "batch/field.h"
#include "batch/type.h"
#include "op/write_op.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* "`name` type, …"; false for a name that no quotes hold. */
static bool print(const struct ArrowSchema *schema, tn_buf *out)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        const struct ArrowSchema *column = schema->children[i];
        char quote = strchr(column->name, '`') == NULL ? '`' : '"';

        if (strchr(column->name, quote) != NULL || column->n_children != 0)
            return false; /* names inside of types are printed bare */
        tn_buf_print(out, "%s%c%s%c ", i > 0 ? ", " : "", quote, column->name, quote);
        tn_type_print(out, column);
        if (!tn_field_nullable(column))
            tn_buf_text(out, " not null");
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    struct ArrowSchema schema = {0}, again = {0};
    tn_buf text = {0};

    if (cx == NULL)
        abort();
    if (tn_write_schema_parse(cx, (tn_str){(const char *)data, size}, &schema) != TARN_OK) {
        if (schema.release != NULL || tarn_cx_error(cx)[0] == '\0')
            abort();
    } else if (print(&schema, &text)) {
        if (tn_write_schema_parse(cx, tn_buf_view(&text), &again) != TARN_OK ||
            again.n_children != schema.n_children)
            abort();
        for (int64_t i = 0; i < schema.n_children; i++)
            if (strcmp(schema.children[i]->name, again.children[i]->name) != 0 ||
                strcmp(schema.children[i]->format, again.children[i]->format) != 0 ||
                schema.children[i]->flags != again.children[i]->flags)
                abort();
    }
    tn_buf_clear(&text);
    tn_field_release(&schema);
    tn_field_release(&again);
    tarn_cx_close(cx);
    return 0;
}

/* Columns as Hudi tables store them: op/ sees no codec, so they come from here. */
#include "table/hudi_stored.h"

#include "codec/avro/avro_arrow.h"

int tn_hudi_stored_schema(tarn_cx *cx, const struct ArrowSchema *schema, struct ArrowSchema *out)
{
    return tn_avro_arrow_stored(cx, schema, out);
}

int tn_hudi_stored_avro(tarn_cx *cx, const struct ArrowSchema *schema, tn_str table_name, bool meta,
                        tn_buf *out)
{
    return tn_avro_of_arrow(cx, schema, table_name, meta, out);
}

/* The Statistics structure. A negative count says nothing, so it is read as absent. */
#include "codec/parquet/statistics.h"

void tn_statistics_read(tn_thrift *t, tn_statistics *out)
{
    tn_thrift_field f = {0};

    while (tn_thrift_next(t, &f)) {
        switch (f.id) {
        case 1:
            out->has_max = tn_thrift_take_binary(t, &f, &out->max);
            break;
        case 2:
            out->has_min = tn_thrift_take_binary(t, &f, &out->min);
            break;
        case 3:
            out->has_null_count = tn_thrift_take_i64(t, &f, &out->null_count);
            break;
        case 4:
            out->has_distinct_count = tn_thrift_take_i64(t, &f, &out->distinct_count);
            break;
        case 5:
            out->has_max_value = tn_thrift_take_binary(t, &f, &out->max_value);
            break;
        case 6:
            out->has_min_value = tn_thrift_take_binary(t, &f, &out->min_value);
            break;
        case 7:
            out->has_max_exact = tn_thrift_take_bool(t, &f, &out->max_exact);
            break;
        case 8:
            out->has_min_exact = tn_thrift_take_bool(t, &f, &out->min_exact);
            break;
        case 9:
            out->has_nan_count = tn_thrift_take_i64(t, &f, &out->nan_count);
            break;
        default:
            tn_thrift_skip(t, &f);
        }
    }
    /* A negative count says nothing: it is taken as absent, so that the file stays readable. */
    out->has_null_count &= out->null_count >= 0;
    out->has_distinct_count &= out->distinct_count >= 0;
    out->has_nan_count &= out->nan_count >= 0;
}

void tn_statistics_put(tn_buf *out, const tn_statistics *s)
{
    int32_t last = 0;

    if (s->has_max)
        tn_thrift_put_binary(out, &last, 1, s->max);
    if (s->has_min)
        tn_thrift_put_binary(out, &last, 2, s->min);
    if (s->has_null_count)
        tn_thrift_put_i64(out, &last, 3, s->null_count);
    if (s->has_distinct_count)
        tn_thrift_put_i64(out, &last, 4, s->distinct_count);
    if (s->has_max_value)
        tn_thrift_put_binary(out, &last, 5, s->max_value);
    if (s->has_min_value)
        tn_thrift_put_binary(out, &last, 6, s->min_value);
    if (s->has_max_exact)
        tn_thrift_put_bool(out, &last, 7, s->max_exact);
    if (s->has_min_exact)
        tn_thrift_put_bool(out, &last, 8, s->min_exact);
    if (s->has_nan_count)
        tn_thrift_put_i64(out, &last, 9, s->nan_count);
    tn_thrift_end(out);
}

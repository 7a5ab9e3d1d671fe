/* What is written as asked, but surprises readers or later writers: told, not refused. */
#include <string.h>

#include "batch/type.h"
#include "op/hudi_op.h"

#define LINE_MAX_BYTES 1024

static const struct ArrowSchema *column_named(const struct ArrowSchema *schema, const char *name)
{
    for (int64_t i = 0; schema->format != NULL && i < schema->n_children; i++)
        if (strcmp(schema->children[i]->name, name) == 0)
            return schema->children[i];
    return NULL;
}

/* A timestamp without zone at any depth ("tsu:"). */
static bool has_local_time(const struct ArrowSchema *field)
{
    if (strncmp(field->format, "ts", 2) == 0 && strlen(field->format) == 4)
        return true;
    for (int64_t i = 0; i < field->n_children; i++)
        if (has_local_time(field->children[i]))
            return true;
    return false;
}

void tn_hudi_warn_columns(const tn_hudi_write *w)
{
    char line[LINE_MAX_BYTES];

    for (int64_t i = 0; !w->all_deletes && i < w->fit.to.n_children; i++) {
        const struct ArrowSchema *is = w->fit.to.children[i];
        const struct ArrowSchema *was = w->schema_known ? column_named(&w->schema, is->name) : NULL;

        if (was == NULL && has_local_time(is)) {
            snprintf(line, sizeof line,
                     "column \"%s\": times without a zone cannot be read by Hudi before 1.0 and by "
                     "hudi-rs; with --schema it can be a timestamp[us,UTC]",
                     is->name);
            tn_hudi_write_warn(w, line);
        }
        if (was != NULL && strcmp(was->format, "l") == 0 &&
            (strcmp(is->format, "g") == 0 || strcmp(is->format, "f") == 0)) {
            snprintf(line, sizeof line,
                     "column \"%s\": int64 in the table, %s from now on; stored integers beyond "
                     "2^%d are read with fewer digits",
                     is->name, is->format[0] == 'g' ? "double" : "float",
                     is->format[0] == 'g' ? 53 : 24);
            tn_hudi_write_warn(w, line);
        }
    }
}

/* "00000012-…": how a bucket index names its file groups. */
static bool is_bucket_id(tn_str id)
{
    for (size_t i = 0; i < 8; i++)
        if (i >= id.len || id.ptr[i] < '0' || id.ptr[i] > '9')
            return false;
    return id.len > 8 && id.ptr[8] == '-' && id.ptr[0] == '0' && id.ptr[1] == '0';
}

void tn_hudi_warn_index(const tn_hudi_write *w)
{
    if (w->options.index == TN_INDEX_BUCKET || w->slices.slice_count == 0)
        return;
    for (size_t i = 0; i < w->slices.slice_count; i++)
        if (!is_bucket_id(w->slices.slices[i].base.file_id))
            return;
    tn_hudi_write_warn(
        w, "the table's file groups are those of a bucket index, and this write places rows "
           "without one: give --set hoodie.index.type=BUCKET and "
           "hoodie.bucket.index.num.buckets as its other writers do, or they find rows twice");
}

void tn_hudi_warn_paths(const tn_hudi_write *w)
{
    char line[LINE_MAX_BYTES];

    for (size_t i = 0; i < w->plan.partition_count; i++) {
        tn_str path = w->plan.partitions[i].path;
        tn_str level = {path.ptr, tn_str_find(path, '/')};

        if (tn_str_find(level, ':') == level.len)
            continue;
        snprintf(line, sizeof line,
                 "partition \"%.*s\": Hudi on Spark cannot read a table with a \":\" in a "
                 "directory right below it; tables made with --url-encode have none",
                 TN_STR_ARG(path));
        tn_hudi_write_warn(w, line);
        return;
    }
}

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

static bool is_new(const tn_hudi_write *w)
{
    for (size_t i = 0; w->timeline != NULL && i < w->timeline->count; i++)
        if (w->timeline->instants[i].state == TN_STATE_COMPLETED &&
            tn_instant_writes_data(&w->timeline->instants[i]))
            return false;
    return true;
}

/* Paths made of timestamps as they are stored: a directory for each of them. */
static void warn_time_paths(const tn_hudi_write *w)
{
    const tn_hudi_config *c = w->config;
    char line[LINE_MAX_BYTES];

    for (size_t i = 0; is_new(w) && i < c->partition_count; i++) {
        const struct ArrowSchema *column;
        char name[256];

        if (c->keygen == TN_KEYGEN_TIMESTAMP || c->partitions[i].len >= sizeof name ||
            (c->keygen == TN_KEYGEN_CUSTOM && c->partition_is_time != NULL &&
             c->partition_is_time[i]))
            continue;
        snprintf(name, sizeof name, "%.*s", TN_STR_ARG(c->partitions[i]));
        column = column_named(&w->fit.to, name);
        if (column == NULL || strncmp(column->format, "ts", 2) != 0)
            continue;
        snprintf(
            line, sizeof line,
            "partition column \"%s\" is a timestamp: paths are its numbers of microseconds, as "
            "with Hudi, a directory for each moment; for days take a date, or --partition "
            "%s:timestamp with hoodie.keygen.timebased.*",
            name, name);
        tn_hudi_write_warn(w, line);
    }
}

/* Numbers in text have another order than numbers: told once, when rows are first ordered by it. */
static void warn_text_ordering(const tn_hudi_write *w)
{
    char line[LINE_MAX_BYTES];

    for (size_t i = 0; i < w->ordering_count; i++) {
        const struct ArrowSchema *column = w->full.children[w->ordering[i]];

        if (strcmp(column->format, "u") != 0 ||
            (!is_new(w) && w->schema_known && column_named(&w->schema, column->name) != NULL))
            continue;
        snprintf(line, sizeof line,
                 "the ordering column \"%s\" is text: \"10\" is before \"9\" in it; with --schema "
                 "it can be a number or a time",
                 column->name);
        tn_hudi_write_warn(w, line);
    }
}

void tn_hudi_warn_columns(const tn_hudi_write *w)
{
    char line[LINE_MAX_BYTES];

    if (!w->all_deletes)
        warn_time_paths(w);
    warn_text_ordering(w);
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

static size_t count_digits(tn_str text)
{
    size_t n = 0;

    while (n < text.len && text.ptr[n] >= '0' && text.ptr[n] <= '9')
        n++;
    return n;
}

/* A path by a pattern that begins with the year, of a year beyond 3000: the numbers are of a finer
 * unit than the table was told. */
static bool is_far(tn_str path, tn_str pattern)
{
    size_t equals = tn_str_find(path, '='), letters = 0, digits;

    if (equals < path.len)
        path = tn_str_from(path, equals + 1);
    while (letters < pattern.len && strchr("yMdHmsS", pattern.ptr[letters]) != NULL)
        letters++;
    digits = count_digits(path);
    if (digits > letters)
        return true;
    return digits == letters && digits >= 4 && memcmp(path.ptr, "3000", 4) > 0;
}

static void warn_far_paths(const tn_hudi_write *w)
{
    const tn_keygen_timebased *t = &w->config->timebased;
    char line[LINE_MAX_BYTES];

    if (w->config->keygen != TN_KEYGEN_TIMESTAMP || t->type == TN_KEYGEN_DATE_STRING ||
        t->type == TN_KEYGEN_MIXED ||
        (!tn_str_starts(t->output_format, TN_STR("yyyy")) &&
         !tn_str_starts(t->output_format, TN_STR("YYYY"))))
        return;
    for (size_t i = 0; i < w->plan.partition_count; i++) {
        tn_str path = w->plan.partitions[i].path;

        if (!is_far(path, t->output_format))
            continue;
        snprintf(
            line, sizeof line,
            "partition \"%.*s\" is of a year beyond 3000: are the numbers of a finer unit than "
            "hoodie.keygen.timebased.timestamp.type says, microseconds for milliseconds?",
            (int)(path.len < 200 ? path.len : 200), path.ptr);
        tn_hudi_write_warn(w, line);
        return;
    }
}

void tn_hudi_warn_paths(const tn_hudi_write *w)
{
    char line[LINE_MAX_BYTES];

    warn_far_paths(w);
    if (w->config->url_encode)
        return;

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

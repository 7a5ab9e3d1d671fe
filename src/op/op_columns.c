/* The columns of a table, a directory or a Parquet file as a value. */
#include <assert.h>
#include <stdlib.h>

#include "batch/field.h"
#include "batch/type.h"
#include "op/hudi_view.h"
#include "table/hudi_schema.h"
#include "tarn/read.h"

typedef struct state {
    tarn_columns face; /* first: the public pointer is this one */
    tn_hudi_view view;
} state;

static bool among(const tn_str *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (tn_str_is(names[i], name))
            return true;
    return false;
}

static int fill_columns(tarn_cx *cx, state *self, const struct ArrowSchema *schema)
{
    const tn_hudi_config *config = &self->view.config;
    tarn_table_column *made =
        tn_arena_array(cx, &self->view.arena, (size_t)schema->n_children, sizeof *made);
    tn_buf text = {0};
    int rc = TARN_OK;

    if (made == NULL)
        return TARN_E_NOMEM;
    for (int64_t i = 0; i < schema->n_children; i++) {
        const struct ArrowSchema *from = schema->children[i];

        tn_buf_reset(&text);
        tn_type_print(&text, from);
        TN_TRY(tn_buf_check(cx, &text));
        made[i].name = tn_hudi_view_text(cx, &self->view, tn_str_of(from->name));
        made[i].type = tn_hudi_view_text(cx, &self->view, tn_buf_view(&text));
        if (made[i].name == NULL || made[i].type == NULL)
            TN_TRY(TARN_E_NOMEM);
        made[i].nullable = tn_field_nullable(from);
        for (size_t k = 0; k < 5 && self->face.hudi; k++)
            made[i].meta |= strcmp(from->name, tn_hudi_meta_names[k]) == 0;
        made[i].key = among(config->keys, config->key_count, from->name);
        made[i].partition = among(config->partitions, config->partition_count, from->name);
        made[i].ordering = among(config->ordering, config->ordering_count, from->name);
    }
    self->face.columns = made;
    self->face.column_count = (size_t)schema->n_children;
done:
    tn_buf_clear(&text);
    return rc;
}

/* Slices tell of columns only where no commit does, so a table whose files are not all there has
 * columns nevertheless. */
static int load_slices(tarn_cx *cx, state *self, tn_str as_of, tn_slices *out)
{
    const tn_slices_options options = {.as_of = as_of};
    int rc = tn_slices_load(cx, self->view.store, self->view.root, &self->view.config,
                            &self->view.timeline, &options, &self->view.arena, out);

    if (rc == TARN_E_CORRUPT || rc == TARN_E_INVALID || rc == TARN_E_UNSUPPORTED) {
        tn_cx_forget(cx);
        *out = (tn_slices){0};
        rc = TARN_OK;
    }
    return rc;
}

static int fill_hudi(tarn_cx *cx, state *self, const tarn_columns_options *options)
{
    struct ArrowSchema schema = {0}, whole = {0};
    tn_str avro = {NULL, 0}, numbered, as_of;
    tn_slices slices = {0};
    int rc = TARN_OK;

    self->face.hudi = true;
    TN_TRY(tn_hudi_view_as_of(cx, &self->view, options->as_of, &as_of));
    TN_TRY(load_slices(cx, self, as_of, &slices));
    TN_TRY(tn_hudi_schema_read(cx, self->view.store, &self->view.config, &self->view.timeline,
                               &slices, as_of, &self->view.arena, &self->face.known, &avro,
                               &numbered, &schema));
    if (slices.slice_count == 0)
        TN_TRY(tn_timeline_reaches(cx, &self->view.timeline, self->view.root, as_of));
    if (!self->face.known)
        goto done;
    TN_TRY(tn_hudi_view_keep(cx, &self->view, avro, &self->face.avro));
    if (options->meta) {
        TN_TRY(tn_hudi_schema_meta(cx, &schema, &whole));
        TN_TRY(fill_columns(cx, self, &whole));
    } else {
        TN_TRY(fill_columns(cx, self, &schema));
    }
done:
    tn_field_release(&schema);
    tn_field_release(&whole);
    return rc;
}

/* What a read of the file or directory gives. */
static int fill_plain(tarn_cx *cx, state *self, const char *path,
                      const tarn_columns_options *options)
{
    tarn_read_options read = {.skip_damaged = true};
    struct ArrowArrayStream rows = {0};
    struct ArrowSchema schema = {0};
    int rc = TARN_OK;

    if (options->as_of != NULL)
        TN_FAIL(TARN_E_INVALID, "%.*s: no Hudi table, so it has no instants: leave the option away",
                TN_STR_ARG(self->view.root));
    TN_TRY(tarn_read_open(cx, path, &read, &rows));
    if (rows.get_schema(&rows, &schema) != 0)
        TN_TRY(tarn_cx_status(cx));
    TN_TRY(fill_columns(cx, self, &schema));
    self->face.known = true;
done:
    tn_field_release(&schema);
    if (rows.release != NULL)
        rows.release(&rows);
    return rc;
}

int tarn_columns_open(tarn_cx *cx, const char *path, const tarn_columns_options *options,
                      tarn_columns **out)
{
    static const tarn_columns_options usual = {0};
    state *self = tn_calloc(cx, 1, sizeof *self);
    bool hudi = false;
    int rc = TARN_OK;

    assert(path != NULL && out != NULL);
    if (self == NULL)
        return TARN_E_NOMEM;
    if (options == NULL)
        options = &usual;
    TN_TRY(tn_hudi_view_open(cx, path, &hudi, &self->view));
    TN_TRY(tn_hudi_view_keep(cx, &self->view, self->view.root, &self->face.path));
    TN_TRY(hudi ? fill_hudi(cx, self, options) : fill_plain(cx, self, path, options));
    *out = &self->face;
    self = NULL;
done:
    if (self != NULL)
        tarn_columns_close(&self->face);
    return rc;
}

void tarn_columns_close(tarn_columns *columns)
{
    state *self = (state *)columns;

    if (self == NULL)
        return;
    tn_hudi_view_clear(&self->view);
    free(self);
}

/* The files of a change: the versions of a file group that a commit made one of the other.
 *
 * I1: files are looked for when the turn of their change comes; slices, when the first change of
 * their commit and partition does.
 * I2: a log of layout 2 is of one commit: the version before lacks it. In layout 1 it may have
 * blocks of many, which are told by their instants: both versions have all logs. */
#include "op/read_change.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "task/data_name.h"

static int find_partition(tarn_cx *cx, tn_read_change *c)
{
    const tn_reading *r = c->reading;
    const tn_slices *slices = &r->slices;
    tn_str path = c->of->partition;
    int rc = TARN_OK;

    c->partition = -1;
    for (size_t i = 0; i < slices->partition_count && c->partition < 0; i++)
        if (tn_str_equal(slices->partitions[i], path))
            c->partition = (int64_t)i;
    if (c->partition < 0 && r->read->partition_schema.n_children > 0)
        TN_FAIL(TARN_E_NOTFOUND, "%.*s: partition %.*s is gone", TN_STR_ARG(r->read->root),
                TN_STR_ARG(path));
    c->directory = r->read->root;
    if (path.len > 0)
        TN_TRY(tn_path_join(cx, &c->arena, r->read->root, path, &c->directory));
done:
    return rc;
}

static void set_base(tn_read_change *c, tn_read_version *v, tn_str path)
{
    v->scan = c->reading->read->task;
    v->scan.path = path;
    v->scan.partition = c->partition;
    v->there = true;
}

/* The base file that an instant wrote into the group. */
static int find_base(tarn_cx *cx, tn_read_change *c, tn_str instant, tn_read_version *out)
{
    tn_entry *entries;
    size_t count;
    tn_data_name name;
    tn_str path;
    int rc = TARN_OK;

    TN_TRY(tn_store_list(cx, c->reading->read->store, c->directory, &c->arena, &entries, &count));
    for (size_t i = 0; i < count; i++) {
        if (!tn_data_name_parse(entries[i].name, &name) || name.log ||
            !tn_str_equal(name.file_id, c->of->file_id) || !tn_str_equal(name.instant, instant))
            continue;
        TN_TRY(tn_path_join(cx, &c->arena, c->directory, entries[i].name, &path));
        set_base(c, out, path);
        goto done;
    }
    TN_FAIL(TARN_E_NOTFOUND, "%.*s: the file of group %.*s that instant %.*s wrote is gone",
            TN_STR_ARG(c->directory), TN_STR_ARG(c->of->file_id), TN_STR_ARG(instant));
done:
    return rc;
}

/* ---- slices ---- */

/* The text one below, of the digits of an instant. */
static int instant_before(tarn_cx *cx, tn_arena *arena, tn_str instant, tn_str *out)
{
    char *text;
    size_t i;

    *out = instant;
    if (tn_arena_keep(cx, arena, out) != TARN_OK)
        return TARN_E_NOMEM;
    text = (char *)(uintptr_t)out->ptr;
    for (i = out->len; i > 0 && text[i - 1] == '0'; i--)
        text[i - 1] = '9';
    if (i > 0)
        text[i - 1]--;
    return TARN_OK;
}

void tn_read_before_clear(tn_read_before *slices)
{
    tn_arena_clear(&slices->arena);
    *slices = (tn_read_before){0};
}

static int load_before(tarn_cx *cx, const tn_reading *r, const tn_cdc_change *of,
                       tn_read_before *before)
{
    tn_slices_options options = {
        .partitions = &of->partition, .partition_count = 1, .v6_slices = r->v6_slices};
    int rc = TARN_OK;

    if (before->loaded && tn_str_equal(before->instant, of->instant) &&
        tn_str_equal(before->partition, of->partition))
        return TARN_OK;
    tn_read_before_clear(before);
    TN_TRY(instant_before(cx, &before->arena, of->instant, &options.as_of));
    TN_TRY(tn_slices_load(cx, r->read->store, r->read->root, &r->config, &r->timeline, &options,
                          &before->arena, &before->slices));
    before->instant = of->instant;
    before->partition = of->partition;
    before->loaded = true;
done:
    return rc;
}

/* The group's slice as it was before the commit; *found false: there was none. */
static int slice_before(tarn_cx *cx, tn_read_change *c, bool *found, tn_slice *out)
{
    const tn_slices *slices = &c->slices->slices;
    int rc = TARN_OK;

    *found = false;
    TN_TRY(load_before(cx, c->reading, c->of, c->slices));
    for (size_t i = 0; i < slices->slice_count && !*found; i++)
        if (tn_str_equal(slices->slices[i].base.file_id, c->of->file_id)) {
            *out = slices->slices[i];
            *found = true;
        }
done:
    return rc;
}

static int compare_logs(const void *a, const void *b)
{
    tn_data_name x = {0}, y = {0};

    (void)tn_data_name_parse(((const tn_slice_log *)a)->name, &x);
    (void)tn_data_name_parse(((const tn_slice_log *)b)->name, &y);
    return tn_data_name_order(&x, &y);
}

static int add_log(tarn_cx *cx, tn_read_change *c, tn_str name, tn_slice_log *out)
{
    tn_data_name parts;
    tn_stat stat;
    int rc = TARN_OK;

    if (!tn_data_name_parse(name, &parts) || !parts.log)
        TN_FAIL(TARN_E_CORRUPT, "commit %.*s: \"%.*s\" is no name of a log",
                TN_STR_ARG(c->of->instant), TN_STR_ARG(name));
    *out = (tn_slice_log){.name = name, .instant = parts.instant};
    TN_TRY(tn_path_join(cx, &c->arena, c->directory, name, &out->path));
    TN_TRY(tn_store_stat(cx, c->reading->read->store, out->path, &stat));
    out->size_bytes = stat.size_bytes;
done:
    return rc;
}

/* A version out of a base file (path empty: none) and logs. */
static int set_slice(tarn_cx *cx, tn_read_change *c, tn_read_version *v, tn_str base,
                     tn_str base_instant, tn_slice_log *logs, size_t count, tn_str as_of)
{
    const tn_reading *r = c->reading;
    int rc = TARN_OK;

    if (base.len == 0 && count == 0)
        return TARN_OK;
    set_base(c, v, base);
    if (count == 0)
        return TARN_OK;
    qsort(logs, count, sizeof *logs, compare_logs);
    TN_TRY(tn_slices_instants(cx, &r->timeline, as_of, &c->arena, &v->instants));
    v->parts = (tn_slice_parts){.base_instant = base_instant,
                                .logs = logs,
                                .log_count = count,
                                .instants = &v->instants,
                                .rules = &r->rules,
                                .avro = r->avro};
    v->scan.slice = &v->parts;
done:
    return rc;
}

/* What the slice was before the logs came, as the commit says, or as the files do. */
static int slice_told(tarn_cx *cx, tn_read_change *c, tn_slice *out)
{
    const tn_cdc_change *of = c->of;
    tn_data_name name;
    bool found;
    int rc = TARN_OK;

    *out = (tn_slice){0};
    /* Tables without change data do not say: they name the commit itself as the one before, and no
     * files. And a slice that begins with a compaction has no base file while that is pending: then
     * the slice before it counts. */
    if (of->base_file.len == 0 &&
        (of->log_count == 0 ||
         (of->prev_instant.len > 0 && !tn_str_equal(of->prev_instant, of->instant)))) {
        TN_TRY(slice_before(cx, c, &found, out));
        goto done;
    }
    if (of->base_file.len > 0) {
        if (!tn_data_name_parse(of->base_file, &name))
            TN_FAIL(TARN_E_CORRUPT, "commit %.*s: \"%.*s\" is no name of a base file",
                    TN_STR_ARG(of->instant), TN_STR_ARG(of->base_file));
        out->base.name = of->base_file;
        out->base.instant = name.instant;
        TN_TRY(tn_path_join(cx, &c->arena, c->directory, of->base_file, &out->base.path));
    }
    out->logs = tn_arena_array(cx, &c->arena, of->log_count + 1, sizeof *out->logs);
    if (out->logs == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (; out->log_count < of->log_count; out->log_count++)
        TN_TRY(add_log(cx, c, of->logs[out->log_count], &out->logs[out->log_count]));
done:
    return rc;
}

/* I2. */
static int set_log_file(tarn_cx *cx, tn_read_change *c)
{
    const tn_cdc_change *of = c->of;
    tn_slice slice;
    tn_slice_log *logs, *both;
    tn_str as_of, path;
    size_t n, old;
    int rc = TARN_OK;

    TN_TRY(slice_told(cx, c, &slice));
    path = slice.base.name.len > 0 ? slice.base.path : TN_STR("");
    logs = tn_arena_array(cx, &c->arena, slice.log_count + of->file_count + 1, sizeof *logs);
    both = tn_arena_array(cx, &c->arena, slice.log_count + of->file_count + 1, sizeof *both);
    if (logs == NULL || both == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (n = 0; n < slice.log_count; n++)
        logs[n] = slice.logs[n];
    old = n;
    for (size_t i = 0; i < of->file_count; i++) {
        bool known = false;

        for (size_t k = 0; k < old && !known; k++)
            known = tn_str_equal(logs[k].name, of->files[i]);
        if (!known)
            TN_TRY(add_log(cx, c, of->files[i], &logs[n++]));
    }
    memcpy(both, logs, n * sizeof *logs);
    TN_TRY(instant_before(cx, &c->arena, of->instant, &as_of));
    if (c->reading->timeline.layout == 1) {
        TN_TRY(set_slice(cx, c, &c->before, path, slice.base.instant, both, n, as_of));
        TN_TRY(set_slice(cx, c, &c->after, path, slice.base.instant, logs, n, of->instant));
    } else {
        TN_TRY(set_slice(cx, c, &c->before, path, slice.base.instant, both, old, TN_STR("")));
        TN_TRY(set_slice(cx, c, &c->after, path, slice.base.instant, logs, n, TN_STR("")));
    }
done:
    return rc;
}

static int set_replaced(tarn_cx *cx, tn_read_change *c)
{
    tn_slice slice;
    bool found;
    tn_str as_of;
    int rc = TARN_OK;

    TN_TRY(slice_before(cx, c, &found, &slice));
    if (!found)
        goto done;
    TN_TRY(instant_before(cx, &c->arena, c->of->instant, &as_of));
    TN_TRY(set_slice(cx, c, &c->before, slice.base.name.len > 0 ? slice.base.path : TN_STR(""),
                     slice.base.instant, slice.logs, slice.log_count, as_of));
done:
    return rc;
}

static int set_logged(tarn_cx *cx, tn_read_change *c)
{
    int rc = TARN_OK;

    c->logged = tn_arena_array(cx, &c->arena, c->of->file_count, sizeof *c->logged);
    if (c->logged == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < c->of->file_count; i++)
        TN_TRY(tn_path_join(cx, &c->arena, c->reading->read->root, c->of->files[i], &c->logged[i]));
    c->task.logged = c->logged;
    c->task.logged_count = c->of->file_count;
done:
    return rc;
}

static int set_after(tarn_cx *cx, tn_read_change *c)
{
    tn_str path;
    int rc = TARN_OK;

    TN_TRY(tn_path_join(cx, &c->arena, c->reading->read->root, c->of->path, &path));
    set_base(c, &c->after, path);
done:
    return rc;
}

/* I1. */
int tn_read_change_open(tarn_cx *cx, const tn_reading *r, const tn_cdc_change *of,
                        tn_read_before *slices, tn_read_change *c)
{
    int rc = TARN_OK;

    *c = (tn_read_change){.reading = r, .of = of, .slices = slices};
    TN_TRY(find_partition(cx, c));
    switch (of->kind) {
    case TN_CDC_AS_IS:
        TN_TRY(set_logged(cx, c));
        break;
    case TN_CDC_BASE_FILE_INSERT:
        TN_TRY(set_after(cx, c));
        break;
    case TN_CDC_BASE_FILE_CHANGE:
        TN_TRY(set_after(cx, c));
        TN_TRY(find_base(cx, c, of->prev_instant, &c->before));
        break;
    case TN_CDC_BASE_FILE_DELETE:
        TN_TRY(find_base(cx, c, of->prev_instant, &c->before));
        break;
    case TN_CDC_LOG_FILE:
        TN_TRY(set_log_file(cx, c));
        break;
    case TN_CDC_REPLACE_COMMIT:
        TN_TRY(set_replaced(cx, c));
        break;
    }
    c->task.instant = of->instant;
    c->task.before = c->before.there ? &c->before.scan : NULL;
    c->task.after = c->after.there ? &c->after.scan : NULL;
    c->task.columns = &r->read->columns.result;
    c->task.bare_before = of->logged && tn_reading_cdc_mode(r, "data_before");
    if (!r->config.meta_fields) {
        c->task.keys = r->config.keys;
        c->task.key_count = r->config.key_count;
    }
done:
    return rc;
}

void tn_read_change_close(tn_read_change *c)
{
    tn_arena_clear(&c->arena);
    *c = (tn_read_change){0};
}

/* Whether the inputs of a write and the directory that it goes to are apart.
 * I1: a name that exists is never taken for a glob, here as where inputs are opened. */
#include <fnmatch.h>
#include <string.h>

#include "op/input_find.h"
#include "op/write_op.h"

static bool lies_in(tn_str path, tn_str root)
{
    return tn_str_starts(path, root) &&
           (path.len == root.len || root.len == 1 || path.ptr[root.len] == '/');
}

/* The first component of `rest`, which it is taken off. */
static tn_str take_component(tn_str *rest)
{
    size_t end;
    tn_str name;

    while (rest->len != 0 && rest->ptr[0] == '/')
        *rest = tn_str_from(*rest, 1);
    end = tn_str_find(*rest, '/');
    name = (tn_str){rest->ptr, end};
    *rest = tn_str_from(*rest, end);
    return name;
}

/* Whether a pattern may name `path` or something below it; both relative to the same place. */
static int may_reach(tarn_cx *cx, tn_arena *arena, tn_str pattern, tn_str path, bool *out)
{
    tn_str part, name;
    int rc = TARN_OK;

    *out = false;
    for (;;) {
        part = take_component(&pattern);
        name = take_component(&path);
        if (name.len == 0) {
            *out = true; /* what is left of the pattern goes on below */
            break;
        }
        if (part.len == 0)
            break; /* it names a directory above, or something else */
        if (tn_str_is(part, "**")) {
            *out = true;
            break;
        }
        TN_TRY(tn_arena_keep(cx, arena, &part));
        TN_TRY(tn_arena_keep(cx, arena, &name));
        if (fnmatch(part.ptr, name.ptr, FNM_NOESCAPE) != 0)
            break;
        if (pattern.len == 0) {
            *out = true; /* it names a directory on the way: all below is read */
            break;
        }
    }
done:
    return rc;
}

/* The directory before the first component with a glob character, and the rest. */
static void split_glob(tn_str text, tn_str *base, tn_str *pattern)
{
    size_t at = 0, slash = 0;

    while (at < text.len && strchr("*?[", text.ptr[at]) == NULL) {
        if (text.ptr[at] == '/')
            slash = at + 1;
        at++;
    }
    *base = slash > 1 ? (tn_str){text.ptr, slash - 1} : slash == 1 ? TN_STR("/") : TN_STR(".");
    *pattern = tn_str_from(text, slash);
}

/* Whether what `text` names overlaps with `root`; *same when it is the root itself. */
static int overlaps(tarn_cx *cx, tn_arena *arena, tn_str root, tn_str text, bool *out, bool *same)
{
    tn_store *store = NULL;
    tn_str path, base, pattern;
    tn_stat stat;
    int rc = TARN_OK;

    *out = *same = false;
    TN_TRY(tn_store_locate(cx, text, arena, &store, &path));
    rc = tn_store_stat(cx, store, path, &stat);
    if (rc == TARN_OK) {
        *same = tn_str_equal(path, root);
        *out = lies_in(path, root) || (stat.kind == TN_ENTRY_DIR && lies_in(root, path));
        goto done;
    }
    if (rc != TARN_E_NOTFOUND)
        goto done;
    tn_cx_forget(cx);
    rc = TARN_OK;
    split_glob(text, &base, &pattern);
    if (tn_str_equal(pattern, text) && memchr(text.ptr, '*', text.len) == NULL &&
        memchr(text.ptr, '?', text.len) == NULL && memchr(text.ptr, '[', text.len) == NULL)
        goto done; /* neither there nor a glob: opening it says so */
    tn_store_close(store);
    store = NULL;
    TN_TRY(tn_store_locate(cx, base, arena, &store, &path));
    if (lies_in(path, root))
        *out = true;
    else if (lies_in(root, path))
        TN_TRY(may_reach(cx, arena, pattern, tn_str_from(root, path.len), out));
done:
    tn_store_close(store);
    return rc;
}

/* A Hudi table is read by snapshots, but never into itself. */
static int refuse_table(tarn_cx *cx, const char *input, bool same)
{
    if (same)
        return tn_fail(cx, TARN_E_INVALID,
                       "%s: is the table that is written to, and cannot be its own input; name the "
                       "files to write, or take its rows out first: tarn read %s -o rows.parquet",
                       input, input);
    return tn_fail(
        cx, TARN_E_INVALID,
        "%s: overlaps with the table that is written to, whose files are no input of it; "
        "name files elsewhere",
        input);
}

int tn_write_input_check(tarn_cx *cx, tn_str root, const char *const *inputs, size_t count,
                         const tarn_write_options *options, bool *itself)
{
    tn_arena arena = {0};
    bool all_same = false;
    int rc = TARN_OK;

    for (size_t i = 0; i < count; i++) {
        bool out, same;

        if (strcmp(inputs[i], "-") == 0)
            continue;
        TN_TRY(overlaps(cx, &arena, root, tn_str_of(inputs[i]), &out, &same));
        if (!out)
            continue;
        if (options == NULL)
            TN_TRY(refuse_table(cx, inputs[i], same));
        if (!same || options->mode != TARN_WRITE_OVERWRITE)
            TN_FAIL(TARN_E_INVALID,
                    "%s: overlaps with the directory that is written to, so its rows would be "
                    "there twice or vanish; write to another directory%s",
                    inputs[i], same ? ", or rewrite all of this one with --op overwrite" : "");
        if (all_same)
            TN_FAIL(TARN_E_INVALID, "%s: is given twice, so its rows would be there twice",
                    inputs[i]);
        all_same = true;
    }
    *itself = all_same;
done:
    tn_arena_clear(&arena);
    return rc;
}

int tn_write_input_text(tarn_cx *cx, const tn_input_options *options, bool *text)
{
    tn_input_files files = {0};
    int rc = TARN_OK;

    TN_TRY(tn_input_find(cx, options, &files));
    *text = false;
    for (size_t i = 0; i < files.count; i++)
        *text = *text || (!files.items[i].directory && files.items[i].format != TN_INPUT_PARQUET);
done:
    tn_input_files_clear(&files);
    return rc;
}

/* The columns of text inputs: as given, else as those that are there already. Where all inputs are
 * Parquet, these have their own, and are fitted later. */
static int text_schema(tarn_cx *cx, const tarn_write_options *o, const struct ArrowSchema *there,
                       tn_str root, const tn_input_options *inputs, struct ArrowSchema *given,
                       tn_text_read_options *text)
{
    bool any_text = false;
    int rc = TARN_OK;

    if (o->schema != NULL) {
        TN_TRY(tn_write_schema_of(cx, o->schema, given));
        text->schema = given;
        goto done;
    }
    if (there != NULL)
        TN_TRY(tn_write_input_text(cx, inputs, &any_text));
    if (any_text) {
        if (o->no_header)
            TN_FAIL(TARN_E_INVALID,
                    "no header: which columns of %.*s the input has cannot be known; give them, "
                    "in their order, with --schema",
                    TN_STR_ARG(root));
        text->schema = there;
        text->schema_open = true;
    }
done:
    return rc;
}

int tn_write_input_options(tarn_cx *cx, const tarn_write_options *o,
                           const struct ArrowSchema *there, tn_str root, const char *const *inputs,
                           size_t count, struct ArrowSchema *given, tn_write_reject *reject,
                           tn_input_options *out)
{
    static const enum tn_input_format formats[] = {TN_INPUT_AUTO, TN_INPUT_PARQUET, TN_INPUT_CSV,
                                                   TN_INPUT_NDJSON};
    tn_input_options made = {.paths = inputs,
                             .path_count = count,
                             .where = o->where,
                             .columns = o->columns,
                             .column_count = o->column_count,
                             .int96_micros = true,
                             .int96_utc = true};
    int rc = TARN_OK;

    if ((unsigned)o->format > TARN_WRITE_NDJSON)
        TN_FAIL(TARN_E_INVALID, "format: %d is none", (int)o->format);
    for (size_t i = 0; i < o->column_count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(o->columns[i], o->columns[k]) == 0)
                TN_FAIL(TARN_E_INVALID, "--columns: \"%s\" is named twice; name each once",
                        o->columns[i]);
    made.format = formats[o->format];
    made.text.delimiter = o->delimiter;
    made.text.no_header = o->no_header;
    made.text.null = tn_str_of(o->null_text);
    made.text.sample_bytes = o->sample_bytes;
    made.text.warn = o->warn;
    made.text.warn_arg = o->arg;
    TN_TRY(text_schema(cx, o, there, root, &made, given, &made.text));
    if (o->reject != NULL) {
        TN_TRY(tn_write_reject_open(cx, o->reject, root, o->dry_run, reject));
        made.text.reject = tn_write_reject_add;
        made.text.reject_arg = reject;
    }
    *out = made;
done:
    return rc;
}

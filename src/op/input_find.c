/* Finds the inputs behind paths as typed.
 *
 *   "-"                    standard input, once
 *   a name that exists     that file or directory, whatever characters are in it
 *   * ? [a-z] [!a-z]       within one name; ** as a whole part: any number of directories
 *
 * A directory of Parquet files is one input, as `read` sees it. One with CSV or NDJSON files is all
 * of them, those of its sub-directories too.
 *
 * I1: what a glob or a directory gives is sorted by the bytes of its path.
 * I2: names that are no data ("_…" and ".…", see table/dir.h) come only when the part of the glob
 *     begins so as well. "**" does not follow symbolic links to directories: they may lead back.
 * I3: a path or glob with nothing behind it is NOTFOUND: it is never silently no rows. */
#include "op/input_find.h"

#include <assert.h>
#include <stdlib.h>

#include "table/dir.h"

typedef struct found {
    tn_str path;
    tn_stat stat;
} found;

typedef struct finding {
    const tn_input_options *options;
    tn_input_files *files;
    tn_store *store;
    tn_arena *arena;
    found *hits;
    size_t count, cap;
} finding;

void tn_input_files_clear(tn_input_files *files)
{
    for (size_t i = 0; files->stores != NULL && i < files->store_count; i++)
        tn_store_close(files->stores[i]);
    free(files->stores);
    free(files->items);
    tn_arena_clear(&files->arena);
    *files = (tn_input_files){0};
}

/* Bytes of the character at the start. */
static size_t character(tn_str text)
{
    size_t n = 1;

    while (n < text.len && ((uint8_t)text.ptr[n] & 0xC0) == 0x80)
        n++;
    return n;
}

/* The length of the set "[…]" at the start of a pattern, or 0 when its bracket is never closed. */
static size_t set_length(tn_str pattern)
{
    size_t at = 1;

    at += at < pattern.len && (pattern.ptr[at] == '!' || pattern.ptr[at] == '^');
    at += at < pattern.len && pattern.ptr[at] == ']';
    while (at < pattern.len && pattern.ptr[at] != ']')
        at++;
    return at < pattern.len ? at + 1 : 0;
}

static bool in_set(tn_str set, uint8_t c)
{
    bool negated = set.ptr[1] == '!' || set.ptr[1] == '^', hit = false;

    for (size_t i = 1 + negated; i + 1 < set.len; i++) {
        uint8_t low = (uint8_t)set.ptr[i], high = low;

        if (i + 3 < set.len && set.ptr[i + 1] == '-') {
            high = (uint8_t)set.ptr[i + 2];
            i += 2;
        }
        hit = hit || (c >= low && c <= high);
    }
    return hit != negated;
}

/* Takes one character of `name` by the first part of `pattern`; false when it does not fit. */
static bool take_one(tn_str *pattern, tn_str *name)
{
    size_t set = pattern->ptr[0] == '[' ? set_length(*pattern) : 0;
    size_t used = 1, taken = 1;

    if (name->len == 0)
        return false;
    if (set != 0) {
        if (!in_set((tn_str){pattern->ptr, set}, (uint8_t)name->ptr[0]))
            return false;
        used = set;
    } else if (pattern->ptr[0] == '?') {
        taken = character(*name);
    } else if (pattern->ptr[0] != name->ptr[0]) {
        return false;
    }
    *pattern = tn_str_from(*pattern, used);
    *name = tn_str_from(*name, taken);
    return true;
}

bool tn_input_match(tn_str pattern, tn_str name)
{
    tn_str star = {0}, from = {0};

    while (name.len > 0 || pattern.len > 0) {
        if (pattern.len > 0 && pattern.ptr[0] == '*') {
            /* The last star takes as little as will do. */
            pattern = tn_str_from(pattern, 1);
            star = pattern;
            from = name;
            continue;
        }
        if (pattern.len > 0 && take_one(&pattern, &name))
            continue;
        if (star.ptr == NULL || from.len == 0)
            return false;
        from = tn_str_from(from, 1);
        name = from;
        pattern = star;
    }
    return true;
}

static bool has_magic(tn_str part)
{
    for (size_t i = 0; i < part.len; i++)
        if (part.ptr[i] == '*' || part.ptr[i] == '?' ||
            (part.ptr[i] == '[' && set_length(tn_str_from(part, i)) != 0))
            return true;
    return false;
}

/* A hidden name needs its first byte in the pattern. */
static bool may_show(tn_str pattern, tn_str name)
{
    return !tn_dir_hidden_name(name) || (pattern.len > 0 && pattern.ptr[0] == name.ptr[0]);
}

static int add_hit(tarn_cx *cx, finding *f, tn_str path, const tn_stat *stat)
{
    if (f->count >= TN_DIR_ENTRIES_MAX)
        return tn_fail(cx, TARN_E_LIMIT, "more than %d inputs", TN_DIR_ENTRIES_MAX);
    if (tn_grow(cx, &f->hits, f->count, &f->cap, sizeof *f->hits) != TARN_OK)
        return TARN_E_NOMEM;
    f->hits[f->count++] = (found){path, *stat};
    return TARN_OK;
}

static int expand(tarn_cx *cx, finding *f, tn_str dir, tn_str parts, int depth);

/* One entry that the next part of the pattern lets through. */
static int meet(tarn_cx *cx, finding *f, tn_str dir, const tn_entry *entry, tn_str rest, int depth)
{
    tn_str path;
    int rc = TARN_OK;

    TN_TRY(tn_path_join(cx, f->arena, dir, entry->name, &path));
    if (rest.len == 0) {
        if (entry->stat.kind != TN_ENTRY_OTHER)
            TN_TRY(add_hit(cx, f, path, &entry->stat));
    } else if (entry->stat.kind == TN_ENTRY_DIR) {
        TN_TRY(expand(cx, f, path, rest, depth + 1));
    }
done:
    return rc;
}

/* "**": what follows it, here and in every directory below; at the end of a pattern all files. */
static int expand_deep(tarn_cx *cx, finding *f, tn_str dir, tn_str rest, int depth)
{
    tn_entry *entries = NULL;
    size_t count = 0;
    tn_str path;
    int rc = TARN_OK;

    if (rest.len != 0)
        TN_TRY(expand(cx, f, dir, rest, depth + 1));
    TN_TRY(tn_store_list(cx, f->store, dir, f->arena, &entries, &count));
    for (size_t i = 0; i < count; i++) {
        const tn_stat *stat = &entries[i].stat;

        if (tn_dir_hidden_name(entries[i].name))
            continue;
        TN_TRY(tn_path_join(cx, f->arena, dir, entries[i].name, &path));
        if (stat->kind == TN_ENTRY_DIR && !stat->link) {
            if (depth >= TN_DIR_DEPTH_MAX)
                TN_FAIL(TARN_E_LIMIT, "%.*s: deeper than %d levels", TN_STR_ARG(path),
                        TN_DIR_DEPTH_MAX);
            TN_TRY(expand_deep(cx, f, path, rest, depth + 1));
        } else if (stat->kind == TN_ENTRY_FILE && rest.len == 0) {
            TN_TRY(add_hit(cx, f, path, stat));
        }
    }
done:
    return rc;
}

/* The part without magic is looked up, so that directories that cannot be listed are passed. */
static int expand_literal(tarn_cx *cx, finding *f, tn_str dir, tn_str name, tn_str rest, int depth)
{
    tn_entry entry = {.name = name};
    tn_str path;
    int rc = TARN_OK;

    TN_TRY(tn_path_join(cx, f->arena, dir, name, &path));
    rc = tn_store_stat(cx, f->store, path, &entry.stat);
    if (rc == TARN_E_NOTFOUND) {
        tn_cx_forget(cx);
        return TARN_OK;
    }
    TN_TRY(rc);
    TN_TRY(meet(cx, f, dir, &entry, rest, depth));
done:
    return rc;
}

/* The names in `dir` that the first of `parts` matches, and on with the others. */
static int expand(tarn_cx *cx, finding *f, tn_str dir, tn_str parts, int depth)
{
    size_t end = tn_str_find(parts, '/');
    tn_str part = {parts.ptr, end}, rest = tn_str_from(parts, end + 1);
    tn_entry *entries = NULL;
    size_t count = 0;
    int rc = TARN_OK;

    TN_TRY(tn_cx_check(cx));
    if (depth > 2 * TN_DIR_DEPTH_MAX)
        TN_FAIL(TARN_E_LIMIT, "%.*s: deeper than %d levels", TN_STR_ARG(dir), TN_DIR_DEPTH_MAX);
    if (tn_str_is(part, "**"))
        return expand_deep(cx, f, dir, rest, depth);
    if (!has_magic(part))
        return expand_literal(cx, f, dir, part, rest, depth);
    TN_TRY(tn_store_list(cx, f->store, dir, f->arena, &entries, &count));
    for (size_t i = 0; i < count; i++)
        if (may_show(part, entries[i].name) && tn_input_match(part, entries[i].name))
            TN_TRY(meet(cx, f, dir, &entries[i], rest, depth));
done:
    return rc;
}

static int by_path(const void *a, const void *b)
{
    return tn_str_compare(((const found *)a)->path, ((const found *)b)->path);
}

/* Sorted, each once: two ways of "**" may lead to one file. */
static void settle(finding *f)
{
    size_t kept = 0;

    if (f->count > 1)
        qsort(f->hits, f->count, sizeof *f->hits, by_path);
    for (size_t i = 0; i < f->count; i++)
        if (kept == 0 || !tn_str_equal(f->hits[kept - 1].path, f->hits[i].path))
            f->hits[kept++] = f->hits[i];
    f->count = kept;
}

static int add_file(tarn_cx *cx, finding *f, tn_str path, enum tn_input_format format,
                    bool directory)
{
    tn_input_files *files = f->files;

    if (tn_grow(cx, &files->items, files->count, &files->cap, sizeof *files->items) != TARN_OK)
        return TARN_E_NOMEM;
    files->items[files->count++] = (tn_input_file){f->store, path, format, directory};
    return TARN_OK;
}

static enum tn_input_format format_of(const finding *f, tn_str path)
{
    return f->options->format != TN_INPUT_AUTO ? f->options->format : tn_exec_input_ending(path);
}

/* How many of the files are of text, and of Parquet; the others' names say nothing. */
static void count_formats(const finding *f, size_t *text, size_t *parquet, const found **other)
{
    *text = *parquet = 0;
    *other = NULL;
    for (size_t i = 0; i < f->count; i++) {
        enum tn_input_format format = format_of(f, f->hits[i].path);

        *text += format == TN_INPUT_CSV || format == TN_INPUT_NDJSON;
        *parquet += format == TN_INPUT_PARQUET;
        if (format == TN_INPUT_AUTO && *other == NULL)
            *other = &f->hits[i];
    }
}

/* A directory: of text files when it holds one, else of Parquet files. */
static int add_directory(tarn_cx *cx, const finding *parent, tn_str dir)
{
    finding f = *parent;
    size_t text, parquet;
    const found *other;
    int rc = TARN_OK;

    f.hits = NULL;
    f.count = f.cap = 0;
    TN_TRY(expand_deep(cx, &f, dir, (tn_str){0}, 0));
    settle(&f);
    count_formats(&f, &text, &parquet, &other);
    if (text == 0) {
        TN_TRY(add_file(cx, &f, dir, TN_INPUT_PARQUET, true));
        goto done;
    }
    if (parquet != 0)
        TN_FAIL(
            TARN_E_INVALID,
            "%.*s: holds Parquet files and text files; choose with a glob, as \"%.*s/**/*.csv\"",
            TN_STR_ARG(dir), TN_STR_ARG(dir));
    if (other != NULL)
        TN_FAIL(TARN_E_INVALID,
                "%.*s: its ending tells no format, and others in the directory are text; choose "
                "with a glob, or say --format csv or ndjson for all of them",
                TN_STR_ARG(other->path));
    for (size_t i = 0; i < f.count; i++)
        TN_TRY(add_file(cx, &f, f.hits[i].path, format_of(&f, f.hits[i].path), false));
done:
    free(f.hits);
    return rc;
}

static int add_hits(tarn_cx *cx, finding *f)
{
    int rc = TARN_OK;

    for (size_t i = 0; i < f->count; i++)
        if (f->hits[i].stat.kind == TN_ENTRY_DIR)
            TN_TRY(add_directory(cx, f, f->hits[i].path));
        else
            TN_TRY(add_file(cx, f, f->hits[i].path, format_of(f, f->hits[i].path), false));
done:
    return rc;
}

/* Splits a glob before its first part with magic, and finds what matches. */
static int expand_glob(tarn_cx *cx, finding *f, tn_str pattern)
{
    size_t at = 0, part_end = 0;
    tn_stat stat;
    tn_str dir;
    int rc = TARN_OK;

    assert(pattern.len > 0 && pattern.ptr[0] == '/');
    for (size_t i = 1; i <= pattern.len; i = part_end + 1) {
        part_end = i + tn_str_find(tn_str_from(pattern, i), '/');
        if (has_magic((tn_str){pattern.ptr + i, part_end - i}))
            break;
        at = part_end;
    }
    dir = at == 0 ? TN_STR("/") : (tn_str){pattern.ptr, at};
    rc = tn_store_stat(cx, f->store, dir, &stat);
    if (rc == TARN_E_NOTFOUND)
        tn_cx_forget(cx);
    else
        TN_TRY(rc);
    if (rc == TARN_OK && stat.kind == TN_ENTRY_DIR)
        TN_TRY(expand(cx, f, dir, tn_str_from(pattern, at + 1), 0));
    rc = TARN_OK;
    settle(f);
done:
    return rc;
}

static int find_path(tarn_cx *cx, finding *f, const char *typed)
{
    tn_str path;
    tn_stat stat;
    int rc = TARN_OK;

    TN_TRY(tn_store_locate(cx, tn_str_of(typed), f->arena, &f->store, &path));
    f->files->stores[f->files->store_count++] = f->store;
    rc = tn_store_stat(cx, f->store, path, &stat);
    if (rc == TARN_E_NOTFOUND && has_magic(path)) {
        tn_cx_forget(cx);
        TN_TRY(expand_glob(cx, f, path));
        if (f->count == 0)
            TN_FAIL(
                TARN_E_NOTFOUND,
                "%s: no file or directory matches; names that begin with _ or . are passed over",
                typed);
    } else {
        TN_TRY(rc);
        if (stat.kind == TN_ENTRY_OTHER)
            TN_FAIL(TARN_E_INVALID,
                    "%s: is a pipe, a socket or a device; give it as standard input: tarn … - < %s",
                    typed, typed);
        TN_TRY(add_hit(cx, f, path, &stat));
    }
    TN_TRY(add_hits(cx, f));
done:
    return rc;
}

static int find_input(tarn_cx *cx, finding *f, const char *typed, bool *standard)
{
    int rc = TARN_OK;

    if (strcmp(typed, "-") != 0)
        return find_path(cx, f, typed);
    if (*standard)
        TN_FAIL(TARN_E_INVALID, "-: standard input can be read once only");
    *standard = true;
    f->store = NULL;
    TN_TRY(add_file(cx, f, (tn_str){0}, f->options->format, false));
done:
    return rc;
}

int tn_input_find(tarn_cx *cx, const tn_input_options *options, tn_input_files *out)
{
    bool standard = false;
    int rc = TARN_OK;

    out->stores = tn_calloc(cx, options->path_count, sizeof *out->stores);
    if (out->stores == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < options->path_count && rc == TARN_OK; i++) {
        finding f = {.options = options, .files = out, .arena = &out->arena};

        rc = find_input(cx, &f, options->paths[i], &standard);
        free(f.hits);
    }
    return rc;
}

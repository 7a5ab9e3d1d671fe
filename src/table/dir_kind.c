/* Names that mean something in a lake: hidden ones, marks of writers at work, and the signs of
 * tables whose own metadata names their files.
 * I1: a directory that shows any such sign is refused for writing, whatever else it holds. */
#include "table/dir_parts.h"

#define HUDI_KIND "a Hudi table (.hoodie)"

bool tn_dir_hidden_name(tn_str name)
{
    if (name.len == 0)
        return true;
    if (tn_str_ends(name, TN_STR("._COPYING_")) || name.ptr[0] == '.')
        return true;
    /* "_year=2020" is a partition whose column begins with an underscore. */
    return name.ptr[0] == '_' && tn_str_find(name, '=') == name.len;
}

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t digits_at(tn_str text, size_t at)
{
    size_t n = 0;

    while (at + n < text.len && digit(text.ptr[at + n]))
        n++;
    return n;
}

bool tn_dir_bucketed_name(tn_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        size_t n;

        if (name.ptr[i] != '_' || (n = digits_at(name, i + 1)) < 5)
            continue;
        i += n;
        if (tn_str_starts(tn_str_from(name, i + 1), TN_STR(".c")) && digits_at(name, i + 3) >= 3)
            return true;
    }
    return false;
}

bool tn_dir_busy_name(tn_str name)
{
    return tn_str_is(name, "_temporary") || tn_str_starts(name, TN_STR(".hive-staging")) ||
           tn_str_starts(name, TN_STR(".spark-staging")) || tn_str_ends(name, TN_STR("._COPYING_"));
}

/* "base_0000012", "delta_0000001_0000002", "delete_delta_…", each perhaps with "_v0000003" or a
 * statement number: Hive's transactional directories. */
static bool acid_name(tn_str name)
{
    tn_str rest;
    size_t numbers = 0, want;

    if (tn_str_starts(name, TN_STR("delete_delta_")))
        rest = tn_str_from(name, 13), want = 2;
    else if (tn_str_starts(name, TN_STR("delta_")))
        rest = tn_str_from(name, 6), want = 2;
    else if (tn_str_starts(name, TN_STR("base_")))
        rest = tn_str_from(name, 5), want = 1;
    else
        return false;
    while (rest.len != 0) {
        size_t n;

        if (rest.ptr[0] == 'v')
            rest = tn_str_from(rest, 1);
        n = digits_at(rest, 0);
        if (n == 0 || (n < rest.len && rest.ptr[n] != '_') || n + 1 == rest.len)
            return false;
        numbers++;
        rest = tn_str_from(rest, n + 1);
    }
    return numbers >= want;
}

static tn_str kind_of_entry(const tn_entry *entry, bool in_metadata)
{
    bool dir = entry->stat.kind == TN_ENTRY_DIR;

    if (dir && tn_str_is(entry->name, "_delta_log"))
        return TN_STR("a Delta table (_delta_log)");
    if (dir && tn_str_is(entry->name, ".hoodie"))
        return TN_STR(HUDI_KIND);
    if (tn_str_is(entry->name, ".hoodie_partition_metadata") ||
        tn_str_starts(entry->name, TN_STR(".hoodie_partition_metadata.")))
        return TN_STR("a partition of a Hudi table (.hoodie_partition_metadata)");
    if (dir && acid_name(entry->name))
        return TN_STR("a Hive transactional table (base_*/delta_* directories)");
    if (in_metadata && !dir && tn_str_ends(entry->name, TN_STR(".metadata.json")))
        return TN_STR("an Iceberg table (metadata/*.metadata.json)");
    return (tn_str){0};
}

tn_str tn_dir_foreign_kind(tn_str directory, const tn_entry *entries, size_t count)
{
    bool in_metadata = tn_str_is(tn_path_name(directory), "metadata");

    for (size_t i = 0; i < count; i++) {
        tn_str kind = kind_of_entry(&entries[i], in_metadata);

        if (kind.len != 0)
            return kind;
    }
    return (tn_str){0};
}

/* What to do with a table of that kind instead. */
static const char *way_out(tn_str kind)
{
    return tn_str_is(kind, HUDI_KIND) ? "`tarn files`, `tarn read` and `tarn write` on that table"
                                      : "the maintenance commands of that table";
}

static const char *untouched(bool looks)
{
    return looks ? "" : "nothing was touched: ";
}

int tn_dir_refuse(tarn_cx *cx, tn_str root, tn_str where, tn_str kind, bool looks)
{
    bool below = where.len > root.len;
    tn_str place = below ? where : TN_STR("");

    return tn_fail(cx, TARN_E_UNSUPPORTED,
                   "%.*s: %s %.*s%s%.*s, whose own metadata names its files; %suse %s, or give "
                   "a plain directory",
                   TN_STR_ARG(root), below ? "holds" : "is", TN_STR_ARG(kind), below ? " at " : "",
                   TN_STR_ARG(place), untouched(looks), way_out(kind));
}

/* The sign, if any, that `directory` above the root is a table of another kind. Only names that can
 * be asked for are looked at: a parent may be large, or closed to listing. */
static int parent_kind(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_str directory, tn_str *out)
{
    static const struct {
        const char *name, *kind;
    } signs[] = {{"_delta_log", "a Delta table (_delta_log)"}, {".hoodie", HUDI_KIND}};
    tn_str metadata;
    tn_entry *entries;
    size_t count;
    int rc = TARN_OK;

    *out = (tn_str){0};
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        tn_stat stat;
        tn_str path;

        TN_TRY(tn_path_join(cx, arena, directory, tn_str_of(signs[i].name), &path));
        if (tn_store_stat(cx, store, path, &stat) == TARN_OK && stat.kind == TN_ENTRY_DIR) {
            *out = tn_str_of(signs[i].kind);
            return TARN_OK;
        }
        tn_cx_forget(cx);
    }
    TN_TRY(tn_path_join(cx, arena, directory, TN_STR("metadata"), &metadata));
    if (tn_store_list(cx, store, metadata, arena, &entries, &count) == TARN_OK)
        for (size_t i = 0; i < count && out->len == 0; i++)
            /* Iceberg's sign: of others the directory would be the table itself. */
            if (entries[i].stat.kind == TN_ENTRY_FILE)
                *out = kind_of_entry(&entries[i], true);
    tn_cx_forget(cx);
done:
    return rc;
}

int tn_dir_check_parents(tarn_cx *cx, tn_store *store, tn_str root, bool looks)
{
    tn_arena arena = {0};
    tn_str at = root;
    int rc = TARN_OK;

    for (unsigned depth = 0; depth < TN_DIR_DEPTH_MAX && at.len > 1; depth++) {
        tn_str kind;

        if (acid_name(tn_path_name(at)))
            TN_FAIL(TARN_E_UNSUPPORTED,
                    "%.*s: lies in a directory of a Hive transactional table (%.*s); %scompact it "
                    "with Hive",
                    TN_STR_ARG(root), TN_STR_ARG(at), untouched(looks));
        at = tn_path_parent(at);
        TN_TRY(parent_kind(cx, store, &arena, at, &kind));
        if (kind.len != 0)
            TN_FAIL(TARN_E_UNSUPPORTED,
                    "%.*s: lies in %.*s at %.*s, whose own metadata names its files; %suse %s",
                    TN_STR_ARG(root), TN_STR_ARG(kind), TN_STR_ARG(at), untouched(looks),
                    way_out(kind));
    }
done:
    tn_arena_clear(&arena);
    return rc;
}

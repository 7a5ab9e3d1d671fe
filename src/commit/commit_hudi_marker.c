/* Markers: which data files an instant may have begun (docs/format/hudi-commits.md).
 *
 *   .hoodie/.temp/<instant>/<partition>/<file>.marker.CREATE     one empty file each ("direct")
 *   .hoodie/.temp/<instant>/MARKERS.type, MARKERS0, MARKERS1 …   lists, by Hudi's timeline server
 *
 * M1: what a marker names is a data file of that very instant in a directory below the root; any
 *     other name is CORRUPT, for what it names may be deleted.
 * M2: a list's last line may be torn: its data file was not begun, so the line is left out.
 * M3: MARKERS.type with any other text than that of the timeline server is not understood. */
#include "commit/commit_hudi_parts.h"

#include <assert.h>

#include "table/dir.h"
#include "task/data_name.h"

#define FOLDER         ".temp"
#define MARK           ".marker."
#define TYPE_NAME      "MARKERS.type"
#define TYPE_SERVER    "TIMELINE_SERVER_BASED"
#define LIST_PREFIX    "MARKERS"
#define TYPE_BYTES_MAX 4096

/* One load under way. */
typedef struct loader {
    tarn_cx *cx;
    tn_store *store;
    tn_str instant, top; /* top: the directory of the markers, or the root */
    tn_arena *arena;
    tn_hudi_markers markers;
} loader;

bool tn_hudi_marker_partition_ok(tn_str partition)
{
    while (partition.len != 0) {
        size_t end = tn_str_find(partition, '/');
        tn_str part = {partition.ptr, end};

        if (part.len == 0 || tn_str_is(part, ".") || tn_str_is(part, "..") ||
            tn_str_is(part, ".hoodie") || memchr(part.ptr, '\0', part.len) != NULL ||
            end + 1 == partition.len)
            return false;
        partition = tn_str_from(partition, end + 1);
    }
    return true;
}

static int add(loader *l, tn_str partition, tn_str name)
{
    tarn_cx *cx = l->cx;
    tn_hudi_markers *m = &l->markers;
    int rc;

    if (m->count >= TN_HUDI_MARKERS_MAX)
        TN_FAIL(TARN_E_LIMIT, "%.*s: more than %d markers", TN_STR_ARG(l->top),
                TN_HUDI_MARKERS_MAX);
    TN_TRY(tn_arena_grow(cx, l->arena, &m->items, m->count, &m->cap, sizeof *m->items));
    TN_TRY(tn_arena_keep(cx, l->arena, &partition));
    TN_TRY(tn_arena_keep(cx, l->arena, &name));
    m->items[m->count++] = (tn_hudi_marker){partition, name};
done:
    return rc;
}

/* "<partition>/<file>.marker.<KIND>". */
static int add_marker(loader *l, tn_str path)
{
    tarn_cx *cx = l->cx;
    tn_str data = path, kind = {0}, name, partition;
    tn_data_name parsed;
    int rc;

    for (size_t at = path.len; at-- > 0 && kind.len == 0;)
        if (tn_str_starts(tn_str_from(path, at), TN_STR(MARK))) {
            kind = tn_str_from(path, at + sizeof MARK - 1);
            data.len = at;
        }
    if (tn_str_is(kind, "APPEND"))
        TN_FAIL(
            TARN_E_UNSUPPORTED,
            "%.*s: \"%.*s\": the failed write appended to a log of a merge-on-read table, which "
            "tarn does not roll back; let Hudi do it",
            TN_STR_ARG(l->top), TN_STR_ARG(path));
    name = data;
    partition = (tn_str){data.ptr, 0};
    for (size_t at = data.len; at-- > 0;)
        if (data.ptr[at] == '/') {
            name = tn_str_from(data, at + 1);
            partition.len = at;
            break;
        }
    if ((!tn_str_is(kind, "CREATE") && !tn_str_is(kind, "MERGE")) ||
        !tn_hudi_marker_partition_ok(partition) || !tn_data_name_parse(name, &parsed) ||
        !tn_str_equal(parsed.instant, l->instant))
        TN_FAIL(TARN_E_CORRUPT,
                "%.*s: \"%.*s\" is no marker of a data file of instant %.*s; nothing was removed: "
                "look at it, then remove it",
                TN_STR_ARG(l->top), TN_STR_ARG(path), TN_STR_ARG(l->instant));
    TN_TRY(add(l, partition, name));
done:
    return rc;
}

/* A server that was started anew joins the lines it finds by commas: a comma after a kind ends a
 * name. */
static size_t end_of_name(tn_str line)
{
    static const char *const ends[] = {MARK "CREATE,", MARK "MERGE,", MARK "APPEND,"};

    for (size_t at = 0; at < line.len; at++)
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
            if (line.ptr[at] == '.' && tn_str_starts(tn_str_from(line, at), tn_str_of(ends[i])))
                return at + strlen(ends[i]) - 1;
    return line.len;
}

static int load_list(loader *l, tn_str path)
{
    tarn_cx *cx = l->cx;
    tn_buf text = {0};
    tn_str rest;
    int rc;

    TN_TRY(tn_store_get(cx, l->store, path, TN_HUDI_MARKERS_BYTES_MAX, &text));
    rest = tn_buf_view(&text);
    while (rest.len != 0) {
        size_t end = tn_str_find(rest, '\n');
        tn_str line = {rest.ptr, end};
        bool torn = end == rest.len;

        rest = tn_str_from(rest, end + 1);
        while (line.len != 0 && !torn) {
            size_t stop = end_of_name(line);

            TN_TRY(add_marker(l, (tn_str){line.ptr, stop}));
            line = tn_str_from(line, stop + 1);
        }
    }
done:
    tn_buf_clear(&text);
    return rc;
}

static int check_type(loader *l, tn_str path)
{
    tarn_cx *cx = l->cx;
    tn_buf text = {0};
    tn_str type;
    int rc;

    TN_TRY(tn_store_get(cx, l->store, path, TYPE_BYTES_MAX, &text));
    type = tn_buf_view(&text);
    while (type.len != 0 && (unsigned char)type.ptr[type.len - 1] <= ' ')
        type.len--;
    if (!tn_str_is(type, TYPE_SERVER))
        TN_FAIL(TARN_E_UNSUPPORTED,
                "%.*s: markers of type \"%.*s\" are not understood; let Hudi roll back instant "
                "%.*s",
                TN_STR_ARG(path), TN_STR_ARG(type), TN_STR_ARG(l->instant));
done:
    tn_buf_clear(&text);
    return rc;
}

static bool is_crc(tn_str name)
{
    return name.len != 0 && name.ptr[0] == '.' && tn_str_ends(name, TN_STR(".crc"));
}

static int load_entry(loader *l, tn_str directory, tn_str below, const tn_entry *entry);

static int load_folder(loader *l, tn_str directory, tn_str below, unsigned depth)
{
    tarn_cx *cx = l->cx;
    tn_entry *entries;
    size_t count;
    int rc;

    if (depth > TN_DIR_DEPTH_MAX)
        TN_FAIL(TARN_E_LIMIT, "%.*s: directories deeper than %d", TN_STR_ARG(directory),
                TN_DIR_DEPTH_MAX);
    TN_TRY(tn_store_list(cx, l->store, directory, l->arena, &entries, &count));
    for (size_t i = 0; i < count; i++) {
        const tn_entry *entry = &entries[i];
        tn_str path = entry->name, place;

        if (is_crc(entry->name))
            continue;
        if (entry->stat.kind != TN_ENTRY_DIR) {
            TN_TRY(load_entry(l, directory, below, entry));
            continue;
        }
        if (below.len != 0)
            TN_TRY(tn_path_join(cx, l->arena, below, entry->name, &path));
        TN_TRY(tn_path_join(cx, l->arena, directory, entry->name, &place));
        TN_TRY(load_folder(l, place, path, depth + 1));
    }
done:
    return rc;
}

static int load_entry(loader *l, tn_str directory, tn_str below, const tn_entry *entry)
{
    tarn_cx *cx = l->cx;
    tn_str path = entry->name, place;
    int rc = TARN_OK;

    TN_TRY(tn_path_join(cx, l->arena, directory, entry->name, &place));
    if (below.len == 0 && tn_str_is(entry->name, TYPE_NAME)) {
        TN_TRY(check_type(l, place));
    } else if (below.len == 0 && tn_str_starts(entry->name, TN_STR(LIST_PREFIX)) &&
               entry->name.len > sizeof LIST_PREFIX - 1 &&
               entry->name.ptr[sizeof LIST_PREFIX - 1] <= '9' &&
               entry->name.ptr[sizeof LIST_PREFIX - 1] >= '0') {
        TN_TRY(load_list(l, place));
    } else {
        if (below.len != 0)
            TN_TRY(tn_path_join(cx, l->arena, below, entry->name, &path));
        TN_TRY(add_marker(l, path));
    }
done:
    return rc;
}

int tn_hudi_marker_load(tarn_cx *cx, tn_hudi_commit *commit, tn_str instant, tn_arena *arena,
                        tn_hudi_markers *out)
{
    loader l = {.cx = cx, .store = commit->store, .instant = instant, .arena = arena};
    tn_stat stat;
    int rc;

    TN_TRY(tn_hudi_commit_path(cx, commit, arena, FOLDER, instant, &l.top));
    rc = tn_store_stat(cx, commit->store, l.top, &stat);
    if (rc == TARN_E_NOTFOUND) {
        tn_cx_forget(cx);
        rc = TARN_OK;
    } else {
        TN_TRY(rc);
        l.markers.found = true;
        TN_TRY(load_folder(&l, l.top, (tn_str){0}, 0));
    }
    *out = l.markers;
done:
    return rc;
}

static int search(loader *l, tn_str directory, tn_str below, unsigned depth)
{
    tarn_cx *cx = l->cx;
    tn_entry *entries;
    size_t count;
    int rc;

    if (depth > TN_DIR_DEPTH_MAX)
        TN_FAIL(TARN_E_LIMIT, "%.*s: directories deeper than %d", TN_STR_ARG(directory),
                TN_DIR_DEPTH_MAX);
    TN_TRY(tn_store_list(cx, l->store, directory, l->arena, &entries, &count));
    for (size_t i = 0; i < count; i++) {
        tn_str name = entries[i].name, path = name, place;
        tn_data_name parsed;

        if (entries[i].stat.kind == TN_ENTRY_FILE && tn_data_name_parse(name, &parsed) &&
            tn_str_equal(parsed.instant, l->instant))
            TN_TRY(add(l, below, name));
        if (entries[i].stat.kind != TN_ENTRY_DIR || entries[i].stat.link ||
            tn_str_is(name, ".hoodie"))
            continue;
        if (below.len != 0)
            TN_TRY(tn_path_join(cx, l->arena, below, name, &path));
        TN_TRY(tn_path_join(cx, l->arena, directory, name, &place));
        TN_TRY(search(l, place, path, depth + 1));
    }
done:
    return rc;
}

int tn_hudi_marker_search(tarn_cx *cx, tn_hudi_commit *commit, tn_str instant, tn_arena *arena,
                          tn_hudi_markers *out)
{
    loader l = {
        .cx = cx, .store = commit->store, .instant = instant, .top = commit->root, .arena = arena};
    int rc;

    TN_TRY(search(&l, commit->root, (tn_str){0}, 0));
    *out = l.markers;
done:
    return rc;
}

int tn_hudi_marker_remove(tarn_cx *cx, tn_hudi_commit *commit, tn_str instant)
{
    tn_arena arena = {0};
    tn_str path;
    int rc;

    assert(instant.len != 0);
    TN_TRY(tn_hudi_commit_path(cx, commit, &arena, FOLDER, instant, &path));
    TN_TRY(tn_store_remove_tree(cx, commit->store, path));
done:
    tn_arena_clear(&arena);
    return rc;
}

/* The partition's directory and metadata file, once; the caller holds the mutex. */
static int make_partition(tarn_cx *cx, tn_hudi_commit *commit, tn_str partition)
{
    tn_arena arena = {0};
    tn_buf text = {0};
    tn_str directory = commit->root, path;
    bool there;
    int rc;

    if (partition.len != 0)
        TN_TRY(tn_path_join(cx, &arena, commit->root, partition, &directory));
    TN_TRY(tn_hudi_commit_folder(cx, commit->store, commit->root, partition));
    /* Hudi may have put it there in the base format; it is never overwritten. */
    TN_TRY(
        tn_path_join(cx, &arena, directory, TN_STR(".hoodie_partition_metadata.parquet"), &path));
    TN_TRY(tn_store_exists(cx, commit->store, path, &there));
    if (there)
        goto done;
    TN_TRY(tn_path_join(cx, &arena, directory, TN_STR(".hoodie_partition_metadata"), &path));
    TN_TRY(tn_store_exists(cx, commit->store, path, &there));
    if (there)
        goto done;
    TN_TRY(tn_hudi_partition_print(cx, commit->instant, partition, &text));
    TN_TRY(tn_hudi_config_drop_crc(cx, commit->store, path));
    rc = tn_store_put_absent(cx, commit->store, path, tn_buf_view(&text));
    if (rc == TARN_E_EXISTS) {
        tn_cx_forget(cx);
        rc = TARN_OK;
    }
done:
    tn_buf_clear(&text);
    tn_arena_clear(&arena);
    return rc;
}

/* The directory of a partition's markers and the partition itself, once. */
static int know_partition(tarn_cx *cx, tn_hudi_commit *commit, tn_str partition, tn_str markers)
{
    tn_str kept = partition;
    int rc = TARN_OK;

    pthread_mutex_lock(&commit->mutex);
    if (tn_map_find(&commit->partitions, partition) == NULL) {
        bool added;

        TN_TRY(tn_hudi_commit_folder(cx, commit->store, markers, partition));
        TN_TRY(tn_arena_keep(cx, &commit->mark_arena, &kept));
        commit->making = kept;
        TN_TRY(make_partition(cx, commit, partition));
        if (tn_map_add(cx, &commit->partitions, kept, &added) == NULL)
            rc = TARN_E_NOMEM;
    }
done:
    pthread_mutex_unlock(&commit->mutex);
    return rc;
}

/* An empty file. It need not be waited for: directories become stable in the order of their
 * changes, so no data file is there without its marker. */
static int put_marker(tarn_cx *cx, tn_store *store, tn_str path)
{
    tn_sink *sink = NULL;
    int rc;

    TN_TRY(tn_store_create(cx, store, path, &sink));
    sink->scratch = true;
    rc = tn_store_finish(cx, sink);
done:
    tn_store_close_sink(sink);
    return rc;
}

int tn_hudi_commit_mark(tarn_cx *cx, void *arg, tn_str partition, tn_str name, bool merge)
{
    tn_hudi_commit *commit = arg;
    tn_arena arena = {0};
    tn_data_name parsed;
    tn_str folder, path;
    int rc;

    assert(commit->state == TN_HUDI_BEGUN);
    if (!tn_hudi_marker_partition_ok(partition))
        TN_FAIL(TARN_E_INVALID,
                "\"%.*s\": no partition path: a part of it is empty, \".\", \"..\" or \".hoodie\"; "
                "write with hoodie.datasource.write.partitionpath.urlencode=true, or change the "
                "value",
                TN_STR_ARG(partition));
    if (!tn_data_name_parse(name, &parsed) || !tn_str_equal(parsed.instant, commit->instant))
        TN_FAIL(TARN_E_INVALID, "\"%.*s\": no data file of instant %.*s", TN_STR_ARG(name),
                TN_STR_ARG(commit->instant));
    TN_TRY(tn_hudi_commit_path(cx, commit, &arena, FOLDER, commit->instant, &folder));
    TN_TRY(know_partition(cx, commit, partition, folder));
    if (partition.len != 0)
        TN_TRY(tn_path_join(cx, &arena, folder, partition, &folder));
    TN_TRY(tn_arena_print(cx, &arena, &path, "%.*s/%.*s" MARK "%s", TN_STR_ARG(folder),
                          TN_STR_ARG(name), merge ? "MERGE" : "CREATE"));
    TN_TRY(put_marker(cx, commit->store, path));
    pthread_mutex_lock(&commit->mutex);
    rc = tn_hudi_heart_again(cx, commit);
    pthread_mutex_unlock(&commit->mutex);
done:
    tn_arena_clear(&arena);
    return rc;
}

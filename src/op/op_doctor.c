/* Doctor: snapshot, a merge's plan, probes, diagnosis.
 * I1: nothing is written: the directory is loaded without probing places. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "commit/work.h"
#include "exec/exec_probe.h"
#include "plan/plan_doctor.h"
#include "plan/plan_merge.h"

typedef struct session {
    tarn_doctor_report report; /* first: the public pointer is this one */
    tn_arena arena;
    tn_store *store;
    tn_dir dir;
    const tarn_doctor_options *options;
    /* probing */
    tn_str *paths;
    char **problems;
    size_t path_count;
    /* temporary directories */
    tn_str *temporary;
    size_t temporary_count, temporary_cap;
    /* what a merge left, but for what it keeps for --undo */
    tn_str *leftovers;
    size_t leftover_count, kept_count;
    tn_str merging; /* who does so right now */
} session;

static int probe_file(tarn_cx *cx, size_t i, void *arg)
{
    session *s = arg;
    int rc = tn_exec_probe(cx, s->store, s->paths[i]);

    if (rc == TARN_OK || rc == TARN_E_CANCELLED || rc == TARN_E_NOMEM)
        return rc;
    s->problems[i] = strdup(tarn_cx_error(cx));
    tn_cx_forget(cx);
    return s->problems[i] != NULL ? TARN_OK : tn_fail_memory(cx);
}

/* The files that can be read by their footers. */
static int list_paths(tarn_cx *cx, session *s)
{
    size_t count = 0;
    int rc = TARN_OK;

    for (size_t p = 0; p < s->dir.partition_count; p++)
        count += s->dir.partitions[p].file_count;
    s->paths = tn_arena_array(cx, &s->arena, count + 1, sizeof *s->paths);
    s->problems = tn_arena_array(cx, &s->arena, count + 1, sizeof *s->problems);
    if (s->paths == NULL || s->problems == NULL)
        return TARN_E_NOMEM;
    for (size_t p = 0; p < s->dir.partition_count; p++) {
        const tn_dir_partition *partition = &s->dir.partitions[p];

        for (size_t i = 0; i < partition->file_count; i++)
            if (partition->files[i].footer_seen)
                TN_TRY(tn_path_join(cx, &s->arena, partition->directory, partition->files[i].name,
                                    &s->paths[s->path_count++]));
    }
done:
    return rc;
}

/* Probes all files, a few at a time so that progress can be told. */
static int probe_all(tarn_cx *cx, session *s, tn_doctor_probe **out, size_t *count)
{
    tn_doctor_probe *probes;
    size_t n = 0, all;
    tn_str *paths;
    char **problems = NULL;
    int rc = TARN_OK;

    TN_TRY(list_paths(cx, s));
    all = s->path_count;
    paths = s->paths;
    problems = s->problems;
    for (size_t at = 0; at < all; at += 256) {
        s->paths = paths + at;
        s->problems = problems + at;
        TN_TRY(tn_parallel(cx, all - at < 256 ? all - at : 256, probe_file, s));
        if (s->options->on_progress != NULL)
            s->options->on_progress(s->options->progress_arg, at, all);
    }
    probes = tn_arena_array(cx, &s->arena, all + 1, sizeof *probes);
    if (probes == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < all; i++) {
        if (problems[i] == NULL)
            continue;
        probes[n] = (tn_doctor_probe){paths[i], tn_str_of(problems[i])};
        TN_TRY(tn_arena_keep(cx, &s->arena, &probes[n].problem));
        n++;
    }
    *out = probes;
    *count = n;
done:
    for (size_t i = 0; problems != NULL && i < s->path_count; i++)
        free(problems[i]);
    return rc;
}

static int add_temporary(tarn_cx *cx, session *s, tn_str parent, tn_str name)
{
    tn_str path = name;
    int rc = TARN_OK;

    if (parent.len != 0)
        TN_TRY(tn_path_join(cx, &s->arena, parent, name, &path));
    else
        TN_TRY(tn_arena_keep(cx, &s->arena, &path));
    TN_TRY(tn_arena_grow(cx, &s->arena, &s->temporary, s->temporary_count, &s->temporary_cap,
                         sizeof *s->temporary));
    s->temporary[s->temporary_count++] = path;
done:
    return rc;
}

/* Temporary directories lie in partitions that have sub-directories; those of a writer that is at
 * work are its own business. An empty one is no partition, so the directory is listed again. */
static int find_temporary(tarn_cx *cx, session *s)
{
    const int64_t hour_ns = 3600ll * 1000000000;
    tn_arena arena = {0};
    int rc = TARN_OK;

    for (size_t p = 0; p < s->dir.partition_count; p++) {
        const tn_dir_partition *partition = &s->dir.partitions[p];
        tn_entry *entries = NULL;
        size_t count = 0;

        if (!partition->has_subdirs || partition->problem.len != 0)
            continue;
        TN_TRY(tn_store_list(cx, s->store, partition->directory, &arena, &entries, &count));
        for (size_t i = 0; i < count; i++)
            if (entries[i].stat.kind == TN_ENTRY_DIR && tn_doctor_temporary_name(entries[i].name) &&
                (!tn_dir_busy_name(entries[i].name) ||
                 s->dir.seen_ms * 1000000 - entries[i].stat.mtime_ns > hour_ns))
                TN_TRY(add_temporary(cx, s, partition->path, entries[i].name));
    }
done:
    tn_arena_clear(&arena);
    return rc;
}

static bool lies_in(tn_str path, tn_str directory)
{
    return tn_str_equal(path, directory) ||
           (tn_str_starts(path, directory) && path.ptr[directory.len] == '/');
}

/* The changes of an undo folder; *count 0 when one of them cannot be read or its time is over: then
 * the next merge has something to clean up. */
static int load_kept(tarn_cx *cx, session *s, tn_str undo, tn_change **out, size_t *count)
{
    tn_change *changes;
    tn_str *paths = NULL;
    size_t n = 0;
    int rc = TARN_OK;

    TN_TRY(tn_work_records(cx, s->store, &s->arena, undo, &paths, &n));
    changes = tn_arena_array(cx, &s->arena, n + 1, sizeof *changes);
    if (changes == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < n; i++) {
        TN_TRY(tn_change_record_load(cx, s->store, paths[i], &s->arena, &changes[i]));
        if (changes[i].keep_until_ms <= tn_cx_now_ms(cx))
            return TARN_OK;
    }
    *out = changes;
    *count = n;
done:
    if (rc != TARN_OK && rc != TARN_E_NOMEM && rc != TARN_E_CANCELLED) {
        tn_cx_forget(cx);
        rc = TARN_OK;
    }
    return rc;
}

/* A plan whose commit is still to come; what cannot be looked at is none. */
static int waits(tarn_cx *cx, session *s, tn_str path, bool *out)
{
    tn_work work;
    int rc = TARN_OK;

    *out = false;
    if (tn_str_is(tn_path_name(path), "undo") || tn_str_is(tn_path_name(path), "changes"))
        return TARN_OK;
    TN_TRY(tn_work_at(cx, s->store, &s->arena, s->dir.root, tn_path_parent(path), &work));
    TN_TRY(tn_work_waits(cx, &work, &s->arena, path, out));
done:
    if (rc != TARN_OK && rc != TARN_E_NOMEM && rc != TARN_E_CANCELLED) {
        tn_cx_forget(cx);
        rc = TARN_OK;
    }
    return rc;
}

/* Parts what a merge keeps for --undo, and plans that wait for their commit, which are as they
 * should be, from what was left behind: doctor names what the next merge removes. */
static int part_leftovers(tarn_cx *cx, session *s)
{
    const tn_dir *dir = &s->dir;
    tn_change *kept = NULL;
    int rc = TARN_OK;

    s->leftovers = tn_arena_array(cx, &s->arena, dir->leftover_count + 1, sizeof *s->leftovers);
    if (s->leftovers == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < dir->leftover_count && kept == NULL; i++)
        if (tn_str_is(tn_path_name(dir->leftovers[i]), "undo"))
            TN_TRY(load_kept(cx, s, dir->leftovers[i], &kept, &s->kept_count));
    for (size_t i = 0; i < dir->leftover_count; i++) {
        bool there,
            wanted = s->kept_count > 0 && tn_str_is(tn_path_name(dir->leftovers[i]), "undo");

        for (size_t k = 0; !wanted && k < s->kept_count; k++)
            wanted = lies_in(kept[k].staging, dir->leftovers[i]);
        if (!wanted)
            TN_TRY(waits(cx, s, dir->leftovers[i], &wanted));
        if (wanted || s->merging.len > 0)
            continue;
        /* Of a merge that ended meanwhile nothing is left. */
        TN_TRY(tn_store_exists(cx, s->store, dir->leftovers[i], &there));
        if (there)
            s->leftovers[s->leftover_count++] = dir->leftovers[i];
    }
done:
    return rc;
}

/* Is a merge at work here? Where the lock cannot be looked at, none is known of. */
static int look_for_merge(tarn_cx *cx, session *s, tn_str root)
{
    tn_str holder = {0};
    bool running = false;
    int rc;

    if (s->merging.len > 0)
        return TARN_OK;
    rc = tn_work_running(cx, s->store, &s->arena, root, &running, &holder);
    if (rc == TARN_E_NOMEM || rc == TARN_E_CANCELLED)
        return rc;
    tn_cx_forget(cx);
    if (running)
        s->merging = holder.len > 0 ? holder : TN_STR("a process that has just begun");
    return TARN_OK;
}

static int load(tarn_cx *cx, session *s, const char *path)
{
    tn_dir_options load_options = {.for_write = true, .looks = true};
    tn_str *partitions;
    tn_str root;
    int rc = TARN_OK;

    TN_TRY(tn_store_locate(cx, tn_str_of(path), &s->arena, &s->store, &root));
    partitions = tn_arena_array(cx, &s->arena, s->options->partition_count + 1, sizeof *partitions);
    if (partitions == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < s->options->partition_count; i++)
        partitions[i] = tn_str_of(s->options->partitions[i]);
    load_options.partitions = s->options->partition_count > 0 ? partitions : NULL;
    load_options.partition_count = s->options->partition_count;
    /* Before and after: a merge may begin or end while the directory is looked through. */
    TN_TRY(look_for_merge(cx, s, root));
    TN_TRY(tn_dir_load(cx, s->store, root, &load_options, &s->dir));
    TN_TRY(look_for_merge(cx, s, root));
    TN_TRY(find_temporary(cx, s));
    TN_TRY(part_leftovers(cx, s));
done:
    return rc;
}

static int diagnose(tarn_cx *cx, session *s, const char *path)
{
    tn_merge_options merge_options = {.id = TN_STR("doctor"),
                                      .now_ms = s->dir.seen_ms,
                                      .target_bytes = s->options->target_bytes,
                                      .codec = TN_CODEC_KEEP,
                                      .widen = true};
    tn_merge_plan merge = {0};
    tn_doctor_probe *probes = NULL;
    tn_doctor_input input = {.dir = &s->dir,
                             .merge = &merge,
                             .small_bytes = tn_plan_merge_small(&merge_options),
                             .shown = tn_str_of(path),
                             .now_ms = s->dir.seen_ms,
                             .temporary = s->temporary,
                             .temporary_count = s->temporary_count,
                             .leftovers = s->leftovers,
                             .leftover_count = s->leftover_count,
                             .kept_count = s->kept_count,
                             .merging = s->merging};
    int rc = TARN_OK;

    TN_TRY(tn_plan_merge(cx, &s->dir, &merge_options, &s->arena, &merge));
    if (s->options->deep)
        TN_TRY(probe_all(cx, s, &probes, &input.probe_count));
    input.probes = probes;
    TN_TRY(tn_plan_doctor(cx, &input, &s->arena, &s->report));
    s->report.deep = s->options->deep;
done:
    return rc;
}

int tarn_doctor(tarn_cx *cx, const char *path, const tarn_doctor_options *options,
                tarn_doctor_report **report)
{
    static const tarn_doctor_options plain = {0};
    session *s = tn_calloc(cx, 1, sizeof *s);
    int rc = TARN_OK;

    assert(path != NULL && report != NULL);
    if (s == NULL)
        return TARN_E_NOMEM;
    s->options = options != NULL ? options : &plain;
    TN_TRY(load(cx, s, path));
    TN_TRY(diagnose(cx, s, path));
    s->options = NULL;
    *report = &s->report;
    s = NULL;
done:
    if (s != NULL)
        tarn_doctor_close(&s->report);
    return rc;
}

void tarn_doctor_close(tarn_doctor_report *report)
{
    session *s = (session *)report;

    if (s == NULL)
        return;
    tn_dir_clear(&s->dir);
    tn_store_close(s->store);
    tn_arena_clear(&s->arena);
    free(s);
}

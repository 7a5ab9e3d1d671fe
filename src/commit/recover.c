/* What crashed runs left: changes are settled, staging is swept, expired undo goes.
 * I1: all changes are settled before anything is swept; while one cannot be, or old files cannot be
 *     removed, nothing is swept, so that its staging stays.
 * I2: what was settled, and what was not, is noted for the user. */
#include "commit/commit_dir.h"
#include "commit/work.h"
#include "commit/write_run.h"
#include "table/dir.h"

int tn_work_records(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_str folder, tn_str **paths,
                    size_t *count)
{
    tn_entry *entries = NULL;
    size_t entry_count = 0, n = 0;
    tn_str *found;
    int rc = TARN_OK;

    TN_TRY(tn_store_list_or_none(cx, store, folder, arena, &entries, &entry_count));
    found = tn_arena_array(cx, arena, entry_count, sizeof *found);
    if (found == NULL)
        TN_FAIL(TARN_E_NOMEM, "out of memory");
    for (size_t i = 0; i < entry_count; i++)
        if (tn_str_ends(entries[i].name, TN_STR(".json")))
            TN_TRY(tn_path_join(cx, arena, folder, entries[i].name, &found[n++]));
    *paths = found;
    *count = n;
done:
    return rc;
}

/* The path of a record may have been made when the root lay elsewhere. */
int tn_work_check_place(tarn_cx *cx, tn_str root, tn_str work, const tn_change *change)
{
    tn_str directory = change->directory;

    if ((tn_str_equal(directory, root) || root.len == 1 ||
         (tn_str_starts(directory, root) && directory.ptr[root.len] == '/')) &&
        tn_work_owns(root, work, change->staging))
        return TARN_OK;
    return tn_fail(
        cx, TARN_E_CONFLICT,
        "%.*s: the record of a change of %.*s, which is not below %.*s: move the directory and "
        "its work directory back to where they were, run again, and move them then",
        TN_STR_ARG(change->record), TN_STR_ARG(directory), TN_STR_ARG(root));
}

void tn_recovery_clear(tn_recovery *recovery)
{
    tn_arena_clear(&recovery->arena);
    *recovery = (tn_recovery){0};
}

const tn_recovery_note *tn_recovery_open(const tn_recovery *recovery, tn_str path)
{
    for (size_t i = 0; i < recovery->note_count; i++)
        if (recovery->notes[i].kind == TN_RECOVERY_OPEN &&
            tn_str_equal(recovery->notes[i].path, path))
            return &recovery->notes[i];
    return NULL;
}

/* Adds a note; room doubles. */
static int note_add(tarn_cx *cx, tn_recovery *recovery, tn_str root, tn_str directory,
                    enum tn_recovery_kind kind, tn_str text)
{
    tn_recovery_note note = {.kind = kind, .path = {"", 0}, .text = text};
    int rc = TARN_OK;

    TN_TRY(tn_arena_grow(cx, &recovery->arena, &recovery->notes, recovery->note_count,
                         &recovery->note_cap, sizeof *recovery->notes));
    if (!tn_str_equal(directory, root))
        note.path = tn_str_from(directory, root.len == 1 ? 1 : root.len + 1);
    TN_TRY(tn_arena_keep(cx, &recovery->arena, &note.path));
    TN_TRY(tn_arena_keep(cx, &recovery->arena, &note.text));
    recovery->notes[recovery->note_count++] = note;
done:
    return rc;
}

static int note_settled(tarn_cx *cx, tn_recovery *recovery, tn_str root, const tn_change *change,
                        bool completed, tn_arena *arena)
{
    tn_str text;
    int rc;

    TN_TRY(tn_arena_print(cx, arena, &text, "an unfinished %s was %s%s%.*s",
                          change->undo ? "undo" : "swap", completed ? "completed" : "taken back",
                          change->note.len != 0 ? ": " : "", TN_STR_ARG(change->note)));
    TN_TRY(note_add(cx, recovery, root, change->directory, TN_RECOVERY_SETTLED, text));
done:
    return rc;
}

/* Takes the error of the context as the reason. */
static int note_unsettled(tarn_cx *cx, tn_recovery *recovery, tn_str root, const tn_change *change,
                          enum tn_recovery_kind kind, tn_arena *arena)
{
    tn_str text;
    int rc;

    TN_TRY(tn_arena_print(
        cx, arena, &text,
        kind == TN_RECOVERY_OPEN
            ? "an unfinished %s cannot be settled: %s; the directory is left alone, and the next "
              "run tries again"
            : "the old files of a finished %s cannot be removed: %s; the next run tries again",
        change->undo ? "undo" : "swap", tarn_cx_error(cx)));
    tn_cx_forget(cx);
    TN_TRY(note_add(cx, recovery, root, change->directory, kind, text));
done:
    return rc;
}

static int note_write(tarn_cx *cx, tn_recovery *recovery, const tn_write_record *record,
                      const tn_write_notes *notes, tn_arena *arena)
{
    uint64_t files = 0;
    tn_str text;
    int rc;

    for (size_t i = 0; i < record->step_count; i++)
        files += record->steps[i].entering_count;
    TN_TRY(tn_arena_print(cx, arena, &text, "an unfinished write of %llu file%s was completed",
                          (unsigned long long)files, files == 1 ? "" : "s"));
    TN_TRY(note_add(cx, recovery, record->root, record->root, TN_RECOVERY_SETTLED, text));
    for (size_t i = 0; i < notes->count; i++) {
        tn_str directory;

        TN_TRY(tn_path_join(cx, arena, record->root, notes->items[i].path, &directory));
        TN_TRY(note_add(cx, recovery, record->root, directory, TN_RECOVERY_SETTLED,
                        notes->items[i].text));
    }
done:
    return rc;
}

/* Takes the error of the context as the reason. While readers do not see all of it each of its
 * directories waits. */
static int note_write_waits(tarn_cx *cx, tn_recovery *recovery, const tn_write_record *record,
                            tn_arena *arena)
{
    bool done = record->state == TN_CHANGE_DONE;
    tn_str text;
    int rc = TARN_OK;

    TN_TRY(tn_arena_print(
        cx, arena, &text,
        done ? "the old files of a finished write cannot be removed: %s; the next run tries again"
             : "an unfinished write cannot be completed: %s; its directories are left alone, and "
               "the next run tries again",
        tarn_cx_error(cx)));
    tn_cx_forget(cx);
    if (done)
        TN_TRY(note_add(cx, recovery, record->root, record->root, TN_RECOVERY_RETAINED, text));
    for (size_t i = 0; i < record->step_count && !done; i++)
        TN_TRY(note_add(cx, recovery, record->root, record->steps[i].directory, TN_RECOVERY_OPEN,
                        text));
done:
    return rc;
}

static int settle_write(tarn_cx *cx, const tn_work *work, tn_arena *arena, tn_str path,
                        bool *retained, tn_recovery *out)
{
    tn_write_record record;
    tn_write_notes notes = {0};
    int rc;

    TN_TRY(tn_write_record_load(cx, work->store, path, work->root, work->path, arena, &record));
    rc = tn_write_run(cx, work->store, arena, &record, &notes);
    if (rc == TARN_E_NOMEM || rc == TARN_E_CANCELLED)
        TN_TRY(tn_fail_within(cx, rc, "%.*s: an unfinished write cannot be completed",
                              TN_STR_ARG(work->root)));
    if (rc != TARN_OK) {
        *retained = true;
        TN_TRY(note_write_waits(cx, out, &record, arena));
        goto done;
    }
    TN_TRY(note_write(cx, out, &record, &notes, arena));
    out->completed += record.step_count;
done:
    return rc;
}

/* *retained: something has to stay where it is. Either old files could not be removed (an immutable
 * one, say): the directory itself is right, so merging may go on. Or the change could not be
 * settled: its directory waits, the others go on. The record stays, and each run tries again. */
static int settle_all(tarn_cx *cx, const tn_work *work, tn_arena *arena, bool *retained,
                      tn_recovery *out)
{
    tn_str *records;
    size_t count;
    int rc;

    TN_TRY(tn_work_records(cx, work->store, arena, work->changes, &records, &count));
    for (size_t i = 0; i < count; i++) {
        tn_change change;
        bool completed;

        if (tn_write_record_named(records[i])) {
            TN_TRY(settle_write(cx, work, arena, records[i], retained, out));
            continue;
        }
        TN_TRY(tn_change_record_load(cx, work->store, records[i], arena, &change));
        TN_TRY(tn_work_check_place(cx, work->root, work->path, &change));
        rc = tn_change_settle(cx, work->store, arena, &change, work->undo, &completed);
        if (rc == TARN_E_NOMEM || rc == TARN_E_CANCELLED)
            TN_TRY(tn_fail_within(cx, rc, "%.*s: an unfinished change cannot be settled",
                                  TN_STR_ARG(change.directory)));
        if (rc != TARN_OK) {
            *retained = true;
            TN_TRY(note_unsettled(
                cx, out, work->root, &change,
                change.state == TN_CHANGE_DONE ? TN_RECOVERY_RETAINED : TN_RECOVERY_OPEN, arena));
            continue;
        }
        TN_TRY(note_settled(cx, out, work->root, &change, completed, arena));
        out->completed += completed;
        out->undone += !completed;
    }
done:
    return rc;
}

static int forget_expired(tarn_cx *cx, const tn_work *work, tn_arena *arena, tn_recovery *out)
{
    tn_str *manifests;
    size_t count;
    int rc;

    TN_TRY(tn_work_records(cx, work->store, arena, work->undo, &manifests, &count));
    for (size_t i = 0; i < count; i++) {
        tn_change change;

        rc = tn_change_record_load(cx, work->store, manifests[i], arena, &change);
        if (rc == TARN_E_CORRUPT) { /* it is a matter for undo, which names it */
            tn_cx_forget(cx);
            rc = TARN_OK;
            continue;
        }
        TN_TRY(rc);
        if (tn_work_check_place(cx, work->root, work->path, &change) != TARN_OK) {
            tn_cx_forget(cx); /* those files belong to another root now */
            continue;
        }
        if (change.keep_until_ms > tn_cx_now_ms(cx))
            continue;
        TN_TRY(tn_change_forget(cx, work->store, arena, &change));
        out->removed++;
    }
    tn_change_remove_empty(cx, work->store, work->undo);
done:
    return rc;
}

int tn_work_recover(tarn_cx *cx, const tn_work *work, tn_str own_id, tn_recovery *out)
{
    tn_arena arena = {0};
    bool retained = false;
    int rc;

    TN_TRY(settle_all(cx, work, &arena, &retained, out));
    if (!retained) /* I1 */
        TN_TRY(tn_work_sweep_run(cx, work, &arena, own_id, &out->removed));
    TN_TRY(forget_expired(cx, work, &arena, out));
    TN_TRY(tn_work_sweep_halves(cx, work, &arena));
    if (!retained)
        TN_TRY(tn_work_sweep_stray(cx, work, &arena, own_id, &out->removed));
done:
    tn_arena_clear(&arena);
    return rc;
}

int tn_dir_recover_except(tarn_cx *cx, tn_store *store, tn_str root, tn_str own_id,
                          tn_recovery *out)
{
    tn_arena arena = {0};
    tn_recovery recovery = {0};
    tn_str paths[2];
    tn_work work;
    bool found;
    tn_stat stat;
    int rc;

    TN_TRY(tn_dir_work_names(cx, &arena, root, &paths[0], &paths[1]));
    for (int i = 0; i < 2; i++) {
        TN_TRY(tn_change_find(cx, store, paths[i], &found, &stat));
        if (!found)
            continue;
        TN_TRY(tn_work_at(cx, store, &arena, root, paths[i], &work));
        TN_TRY(tn_work_recover(cx, &work, own_id, &recovery));
    }
    *out = recovery;
    recovery = (tn_recovery){0};
done:
    tn_recovery_clear(&recovery);
    tn_arena_clear(&arena);
    return rc;
}

int tn_dir_recover(tarn_cx *cx, tn_store *store, tn_str root, tn_recovery *out)
{
    return tn_dir_recover_except(cx, store, root, (tn_str){"", 0}, out);
}

/* A change of one directory, from its first look to the end of its record.
 *
 * I1: nothing is removed that the change does not name: its leaving files, the links it made, and
 *     its staged files.
 * I2: an old file goes only after the new state of the directory is on stable storage.
 * I3: a record is on stable storage before the first step that a reader could see, and stays until
 *     the last trace in staging is gone.
 * I4: every step may be done twice.
 * I5: what another program adds to the directory meanwhile is in it afterwards.
 *
 * On disk: D the directory, S its staging. "new" is S/new, "old" is S/old.
 *
 * By exchange (change_exchange.c):
 *                                    D        S/new           record    after a crash here
 *   1 look at D, check the inputs    old      -               -         staging is swept
 *   2 build S/new: links and dir     old      new, growing    -         staging is swept
 *     attributes, synced
 *   3 put the record BEGUN           old      new             BEGUN     S/new is taken apart
 *   4 exchange D and S/new           new      old             BEGUN     goes on with 5
 *   5 look again: newcomers are      new      old             BEGUN     5 again
 *     linked into D, synced; files
 *     that changed: exchange back    old      new             BEGUN     S/new is taken apart
 *   6 put the record DONE            new      old             DONE      goes on with 7
 *   7 old files go (or to S/old),    new      shrinking       DONE      7 again
 *     late newcomers are linked
 *   8 remove the record              new      -               -         nothing to do
 * Readers see the old or the new D and nothing else. Whether 4 has happened, the inode of D says.
 *
 * By renames (change_rename.c), where D cannot be exchanged:
 *                                    D               S/old        record
 *   1 look at D, check the inputs    old             -            -      staging is swept
 *   2 put the record BEGUN           old             -            BEGUN  3, or back
 *   3 old files to S/old, synced     fewer files     growing      BEGUN  3, or back if one changed
 *   4 new files into D, synced       new, growing    old files    BEGUN  4
 *   5 put the record DONE            new             old files    DONE   goes on with 6
 *   6 old files go (or stay)         new             shrinking    DONE   6 again
 *   7 remove the record              new             -            -      nothing to do
 * Readers see too few rows between 3 and 4, never a row twice; after recovery the old or the new D.
 * New files enter only when all old ones are out, so going back never meets both.
 *
 * What remains open, and no program on this side can close:
 *   - who opened an input for writing before the change and writes to it after step 5 writes into a
 *     file that has left the directory;
 *   - in the moment between steps 4 and 5 a newcomer is in the old directory only, and what was
 *     removed from D by name is removed from the new one only;
 *   - a reader that listed D before the change finds names that are gone when it opens them later
 *     (it gets "no such file", never wrong rows), unless it had opened them already. */
#include "commit/change.h"

#include <assert.h>

/* The directory cannot be exchanged after all (a file system that said otherwise, a file that may
 * not be linked, a sub-directory): by renames then. */
static int swap(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change)
{
    int rc;

    if (change->swap == TN_SWAP_EXCHANGE) {
        rc = tn_change_exchange(cx, store, arena, change);
        if (rc != TARN_E_UNSUPPORTED)
            return rc;
        tn_cx_forget(cx);
        change->swap = TN_SWAP_JOURNAL;
        change->kept_count = 0;
        change->new_inode = 0;
    }
    return tn_change_rename(cx, store, arena, change);
}

int tn_change_run(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change, tn_str undo)
{
    int rc;

    assert(change->record.len != 0 && change->directory.len != 0 && change->staging.len != 0);
    change->state = TN_CHANGE_BEGUN;
    TN_TRY(swap(cx, store, arena, change));
    assert(change->state == TN_CHANGE_DONE); /* I2 */
    if (tn_change_retire(cx, store, arena, change, undo) == TARN_OK)
        goto done;
    /* The change stands. What is left of it, the record tells the next run. */
    TN_TRY(tn_change_say(cx, arena, change,
                         "old files are left in staging (%s); the next run removes them",
                         tarn_cx_error(cx)));
    tn_cx_forget(cx);
done:
    return rc;
}

int tn_change_settle(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change, tn_str undo,
                     bool *completed)
{
    bool done = false;
    int rc;

    if (change->swap == TN_SWAP_EXCHANGE)
        TN_TRY(tn_change_exchange_settle(cx, store, arena, change, &done));
    else
        TN_TRY(tn_change_rename_settle(cx, store, arena, change, &done));
    if (done)
        TN_TRY(tn_change_retire(cx, store, arena, change, undo));
    *completed = done;
done:
    return rc;
}

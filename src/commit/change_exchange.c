/* A change by exchange: the whole new directory is built in staging and takes the place of the old
 * one in one step. The steps are numbered as in change.c. */
#include <assert.h>

#include "base/map.h"
#include "commit/change.h"

#define EMPTY_ROUNDS_MAX 16

/* What a listing of a directory means to the change. */
typedef struct survey {
    tn_entry *entries;
    size_t count;
    bool *known;     /* per entry: leaving (unchanged) or kept */
    tn_str offender; /* a file that changed or vanished; empty: none */
    bool vanished;
} survey;

enum { LEAVING = 0, KEPT = 1, ENTERING = 2, ROLES = 3 };

/* value = index * ROLES + role */
static int index_names(tarn_cx *cx, tn_map *map, const tn_change_file *files, size_t count,
                       size_t role)
{
    for (size_t i = 0; i < count; i++) {
        bool added;
        size_t *place = tn_map_add(cx, map, files[i].name, &added);

        if (place == NULL)
            return TARN_E_NOMEM;
        *place = i * ROLES + role;
    }
    return TARN_OK;
}

static bool is_unchanged(const tn_change *change, size_t value, const tn_stat *stat)
{
    const tn_change_file *file;

    if (value % ROLES == KEPT)
        return change->kept[value / ROLES].inode == stat->inode;
    file = &change->leaving[value / ROLES];
    if (change->state == TN_CHANGE_DONE) /* too late to mind what was written into it since */
        return stat->inode == file->inode || file->inode == 0;
    return file->side || tn_change_same(stat, file);
}

/* Lists the old directory and compares it with what the change knows. */
static int survey_old(tarn_cx *cx, tn_store *store, tn_arena *arena, const tn_change *change,
                      tn_str path, survey *out)
{
    survey found = {0};
    tn_map map = {0};
    bool *met[2] = {NULL, NULL};
    int rc;

    TN_TRY(index_names(cx, &map, change->leaving, change->leaving_count, LEAVING));
    TN_TRY(index_names(cx, &map, change->kept, change->kept_count, KEPT));
    TN_TRY(tn_store_list(cx, store, path, arena, &found.entries, &found.count));
    met[LEAVING] = tn_arena_array(cx, arena, change->leaving_count, sizeof(bool));
    met[KEPT] = tn_arena_array(cx, arena, change->kept_count, sizeof(bool));
    found.known = tn_arena_array(cx, arena, found.count, sizeof(bool));
    if (met[LEAVING] == NULL || met[KEPT] == NULL || found.known == NULL)
        TN_FAIL(TARN_E_NOMEM, "out of memory");
    for (size_t i = 0; i < found.count; i++) {
        const size_t *value = tn_map_find(&map, found.entries[i].name);

        if (value == NULL)
            continue;
        met[*value % ROLES][*value / ROLES] = true;
        found.known[i] = is_unchanged(change, *value, &found.entries[i].stat);
        if (!found.known[i] && found.offender.len == 0)
            found.offender = found.entries[i].name;
    }
    found.vanished = found.offender.len == 0;
    for (size_t i = 0; i < change->leaving_count && found.offender.len == 0; i++)
        if (!met[LEAVING][i] && !change->leaving[i].side)
            found.offender = change->leaving[i].name;
    for (size_t i = 0; i < change->kept_count && found.offender.len == 0; i++)
        if (!met[KEPT][i])
            found.offender = change->kept[i].name;
    *out = found;
done:
    tn_map_clear(&map);
    return rc;
}

int tn_change_exchange_path(tarn_cx *cx, tn_arena *arena, const tn_change *change, tn_str *out)
{
    return tn_path_join(cx, arena, change->staging, TN_STR("new"), out);
}

/* Step 1, the directory itself. Its times first: a listing may move them. */
static int look_at_directory(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change,
                             tn_attrs *attrs)
{
    tn_stat stat;
    int rc;

    rc = tn_store_attrs_get(cx, store, change->directory, arena, attrs);
    if (rc == TARN_E_NOTFOUND)
        TN_FAIL(TARN_E_CONFLICT, "%.*s: was removed %s; nothing was touched: %s",
                TN_STR_ARG(change->directory), tn_change_since(change), tn_change_way_out(change));
    TN_TRY(rc);
    TN_TRY(tn_store_stat(cx, store, change->directory, &stat));
    if (stat.kind != TN_ENTRY_DIR || stat.link ||
        (change->old_inode != 0 && stat.inode != change->old_inode))
        TN_FAIL(TARN_E_CONFLICT,
                "%.*s: another directory took its place %s; nothing was touched: %s",
                TN_STR_ARG(change->directory), tn_change_since(change), tn_change_way_out(change));
    change->old_inode = stat.inode;
    change->atime_ns = attrs->atime_ns;
    change->mtime_ns = attrs->mtime_ns;
done:
    return rc;
}

/* Step 1, the entries: what stays becomes `kept`. */
static int look_at_entries(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change)
{
    survey now;
    int rc;

    change->kept_count = 0;
    TN_TRY(survey_old(cx, store, arena, change, change->directory, &now));
    if (now.offender.len != 0)
        TN_FAIL(TARN_E_CONFLICT, "%.*s: %.*s %s %s; nothing was touched: %s",
                TN_STR_ARG(change->directory), TN_STR_ARG(now.offender),
                now.vanished ? "vanished" : "changed", tn_change_since(change),
                tn_change_way_out(change));
    change->kept = tn_arena_array(cx, arena, now.count, sizeof *change->kept);
    if (change->kept == NULL)
        TN_FAIL(TARN_E_NOMEM, "out of memory");
    for (size_t i = 0; i < now.count; i++) {
        const tn_entry *entry = &now.entries[i];

        if (now.known[i])
            continue;
        if (entry->stat.kind == TN_ENTRY_DIR && !entry->stat.link)
            TN_FAIL(TARN_E_UNSUPPORTED, "%.*s: has the sub-directory %.*s, which cannot be linked",
                    TN_STR_ARG(change->directory), TN_STR_ARG(entry->name));
        change->kept[change->kept_count++] =
            (tn_change_file){.name = entry->name, .inode = entry->stat.inode};
    }
done:
    return rc;
}

/* Step 1, the new names: one that somebody took since the plan is given up for a free one. */
static int settle_names(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change)
{
    int rc = TARN_OK;

    for (size_t i = 0; i < change->entering_count; i++) {
        tn_change_file *file = &change->entering[i];
        tn_str name;
        tn_stat stat;
        bool taken = false;

        TN_TRY(tn_change_find_in(cx, store, arena, change->directory, file->name, &taken, &stat));
        for (size_t k = 0; taken && k < change->leaving_count; k++)
            if (tn_str_equal(change->leaving[k].name, file->name))
                taken = false; /* it goes with this change */
        if (!taken)
            continue;
        TN_TRY(tn_change_free_name(cx, store, arena, change->directory, file->name, &name));
        TN_TRY(tn_change_say(cx, arena, change, "%.*s was taken meanwhile, so the file is %.*s",
                             TN_STR_ARG(file->name), TN_STR_ARG(name)));
        file->name = name;
    }
done:
    return rc;
}

static int link_into(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_str from, tn_str directory,
                     tn_str name)
{
    tn_str to;
    int rc;

    TN_TRY(tn_path_join(cx, arena, directory, name, &to));
    TN_TRY(tn_store_link(cx, store, from, to));
done:
    return rc;
}

/* Who owns it matters, but an ordinary user cannot give files away: then they are his. */
static int copy_directory_attrs(tarn_cx *cx, tn_store *store, tn_str path, const tn_attrs *attrs)
{
    int rc;

    if (tn_store_attrs_set(cx, store, path, attrs, TN_ATTRS_OWNER) != TARN_OK)
        tn_cx_forget(cx);
    TN_TRY(tn_store_attrs_set(cx, store, path, attrs, TN_ATTRS_EXTENDED | TN_ATTRS_MODE));
done:
    return rc;
}

/* A name may have come to mean another file between the listing and the link: what was linked
 * counts. */
static int note_linked(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change,
                       tn_str fresh)
{
    tn_map map = {0};
    tn_entry *entries;
    size_t count;
    int rc;

    TN_TRY(index_names(cx, &map, change->kept, change->kept_count, KEPT));
    TN_TRY(tn_store_list(cx, store, fresh, arena, &entries, &count));
    for (size_t i = 0; i < count; i++) {
        const size_t *value = tn_map_find(&map, entries[i].name);

        if (value != NULL)
            change->kept[*value / ROLES].inode = entries[i].stat.inode;
    }
done:
    tn_map_clear(&map);
    return rc;
}

/* Step 2. */
static int build(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change, tn_str fresh,
                 const tn_attrs *attrs)
{
    tn_str from;
    tn_stat stat;
    int rc;

    TN_TRY(tn_store_make_dir(cx, store, fresh));
    for (size_t i = 0; i < change->kept_count; i++) {
        TN_TRY(tn_path_join(cx, arena, change->directory, change->kept[i].name, &from));
        rc = link_into(cx, store, arena, from, fresh, change->kept[i].name);
        if (rc == TARN_E_NOTFOUND)
            TN_FAIL(TARN_E_CONFLICT, "%.*s vanished %s; nothing was touched: run again",
                    TN_STR_ARG(from), tn_change_since(change));
        TN_TRY(rc);
    }
    TN_TRY(note_linked(cx, store, arena, change, fresh));
    for (size_t i = 0; i < change->entering_count; i++)
        TN_TRY(
            link_into(cx, store, arena, change->entering[i].path, fresh, change->entering[i].name));
    TN_TRY(copy_directory_attrs(cx, store, fresh, attrs));
    TN_TRY(tn_store_stat(cx, store, fresh, &stat));
    change->new_inode = stat.inode;
    TN_TRY(tn_store_sync_dir(cx, store, fresh));
    TN_TRY(tn_store_sync_dir(cx, store, change->staging));
done:
    return rc;
}

/* A staged file may be the only copy (undo stages old files): its link in the new directory goes
 * only while the staged name is there. */
static int staged_elsewhere(tarn_cx *cx, tn_store *store, const tn_change_file *file, bool *out)
{
    tn_stat stat;
    bool found;
    int rc;

    TN_TRY(tn_change_find(cx, store, file->path, &found, &stat));
    *out = found && stat.inode == file->inode;
done:
    return rc;
}

int tn_change_exchange_discard(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change)
{
    tn_str fresh, path;
    tn_map map = {0};
    tn_entry *entries;
    size_t count = 0;
    bool found;
    tn_stat stat;
    int rc;

    TN_TRY(tn_change_exchange_path(cx, arena, change, &fresh));
    TN_TRY(tn_change_find(cx, store, fresh, &found, &stat));
    if (!found)
        goto done;
    TN_TRY(index_names(cx, &map, change->kept, change->kept_count, KEPT));
    TN_TRY(index_names(cx, &map, change->entering, change->entering_count, ENTERING));
    TN_TRY(tn_store_list(cx, store, fresh, arena, &entries, &count));
    for (size_t i = 0; i < count; i++) {
        const size_t *value = tn_map_find(&map, entries[i].name);
        bool ours = false;

        if (value != NULL && *value % ROLES == KEPT)
            ours = change->kept[*value / ROLES].inode == entries[i].stat.inode;
        else if (value != NULL && change->entering[*value / ROLES].inode == entries[i].stat.inode)
            TN_TRY(staged_elsewhere(cx, store, &change->entering[*value / ROLES], &ours));
        if (!ours)
            continue; /* I1 */
        TN_TRY(tn_path_join(cx, arena, fresh, entries[i].name, &path));
        TN_TRY(tn_change_remove(cx, store, path));
    }
    TN_TRY(tn_store_remove_dir(cx, store, fresh));
done:
    tn_map_clear(&map);
    return rc;
}

/* Is a file with this inode in the directory, under whatever name? */
static int lives_in(tarn_cx *cx, tn_store *store, tn_str directory, uint64_t inode, bool *out)
{
    tn_list *list = NULL;
    const tn_entry *page;
    size_t count;
    int rc;

    *out = false;
    TN_TRY(tn_store_list_open(cx, store, directory, &list));
    do {
        TN_TRY(tn_store_list_next(cx, list, &page, &count));
        for (size_t i = 0; i < count; i++)
            *out |= page[i].stat.inode == inode;
    } while (count != 0 && !*out);
done:
    tn_store_list_close(list);
    return rc;
}

/* A second time it finds what the first time did (I4). */
int tn_change_exchange_carry(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change,
                             tn_str from, const tn_entry *entry)
{
    tn_str name = entry->name, source, target;
    tn_stat stat;
    bool taken, there = false;
    int rc;

    TN_TRY(tn_path_join(cx, arena, from, name, &source));
    TN_TRY(tn_change_find_in(cx, store, arena, change->directory, name, &taken, &stat));
    if (taken && stat.inode == entry->stat.inode)
        goto done;
    if (taken) {
        TN_TRY(lives_in(cx, store, change->directory, entry->stat.inode, &there));
        if (there)
            goto done;
        TN_TRY(tn_change_free_name(cx, store, arena, change->directory, name, &name));
        TN_TRY(tn_change_say(cx, arena, change,
                             "%.*s appeared during the swap under a name in use; it is %.*s now",
                             TN_STR_ARG(entry->name), TN_STR_ARG(name)));
    }
    TN_TRY(tn_path_join(cx, arena, change->directory, name, &target));
    if (entry->stat.kind == TN_ENTRY_DIR && !entry->stat.link)
        rc = TARN_E_UNSUPPORTED;
    else
        rc = tn_store_link(cx, store, source, target);
    if (rc == TARN_E_UNSUPPORTED)
        rc = tn_store_rename(cx, store, source, target, false);
    if (rc == TARN_OK)
        change->newcomers++;
    if (rc != TARN_E_NOTFOUND)
        goto done;
    tn_cx_forget(cx);
    TN_TRY(tn_change_find(cx, store, source, &there, &stat));
    if (there) /* not the source is gone, as a temporary name is, but the directory */
        TN_FAIL(TARN_E_CONFLICT, "%.*s: was removed by another program while %.*s came into it",
                TN_STR_ARG(change->directory), TN_STR_ARG(source));
done:
    return rc;
}

/* The exchange on stable storage; again after a crash, when it may not have been. */
static int make_durable(tarn_cx *cx, tn_store *store, const tn_change *change)
{
    int rc;

    TN_TRY(tn_store_sync_dir(cx, store, tn_path_parent(change->directory)));
    TN_TRY(tn_store_sync_dir(cx, store, change->staging));
done:
    return rc;
}

/* Steps 5 and 6 when all is well. */
static int go_on(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change, tn_str fresh,
                 const survey *old)
{
    tn_attrs now;
    int rc;

    TN_TRY(make_durable(cx, store, change));
    for (size_t i = 0; i < old->count; i++)
        if (!old->known[i])
            TN_TRY(tn_change_exchange_carry(cx, store, arena, change, fresh, &old->entries[i]));
    TN_TRY(tn_store_sync_dir(cx, store, change->directory));
    TN_TRY(tn_store_attrs_get(cx, store, fresh, arena, &now));
    change->mtime_ns = now.mtime_ns; /* a newcomer moved it, and so does it here */
    tn_change_put_times(cx, store, change);
    change->state = TN_CHANGE_DONE;
    rc = tn_change_record_put(cx, store, change, change->record);
    if (rc != TARN_OK)
        change->state = TN_CHANGE_BEGUN;
done:
    return rc;
}

/* Another program removed or replaced the directory, or wrote into the new one while it was in use.
 * What lies in staging may be the only copy of something: it goes under a name that is never swept.
 */
static int put_aside(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change, tn_str fresh,
                     bool found)
{
    tn_str name = TN_STR("aside"), aside;
    tn_stat stat;
    bool taken;
    int rc;

    TN_TRY(tn_change_find_in(cx, store, arena, change->staging, name, &taken, &stat));
    if (taken)
        TN_TRY(tn_change_free_name(cx, store, arena, change->staging, name, &name));
    TN_TRY(tn_path_join(cx, arena, change->staging, name, &aside));
    TN_TRY(tn_change_say(cx, arena, change,
                         "%.*s was changed by another program during the swap; what is left of "
                         "the swap is in %.*s: look at it, then remove it",
                         TN_STR_ARG(change->directory), TN_STR_ARG(aside)));
    if (found)
        TN_TRY(tn_store_rename(cx, store, fresh, aside, false));
    TN_TRY(tn_store_sync_dir(cx, store, change->staging));
    TN_TRY(tn_change_drop(cx, store, change));
done:
    return rc;
}

/* A kept file that another program replaced while the new directory was in use: the old directory
 * gets the new version, if it still has the old one. */
static int bring_replaced(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change,
                          tn_str fresh, const tn_entry *entry, const tn_change_file *kept)
{
    tn_str from, to;
    tn_stat stat;
    bool found;
    int rc;

    TN_TRY(tn_change_find_in(cx, store, arena, change->directory, entry->name, &found, &stat));
    if (!found || stat.inode != kept->inode)
        goto done;
    TN_TRY(tn_path_join(cx, arena, fresh, entry->name, &from));
    TN_TRY(tn_path_join(cx, arena, change->directory, entry->name, &to));
    TN_TRY(tn_store_rename(cx, store, from, to, true));
done:
    return rc;
}

/* The directory is the old one: S/new, if it is there, is not in use. It may have been for a moment
 * (step 5, back), so what others put into it is carried. */
static int take_apart(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change,
                      tn_str fresh)
{
    tn_map map = {0};
    tn_entry *entries;
    size_t count;
    tn_stat stat;
    tn_str path;
    bool found;
    int rc;

    TN_TRY(tn_change_find(cx, store, fresh, &found, &stat));
    if (found) {
        TN_TRY(index_names(cx, &map, change->kept, change->kept_count, KEPT));
        TN_TRY(index_names(cx, &map, change->entering, change->entering_count, ENTERING));
        TN_TRY(tn_store_list(cx, store, fresh, arena, &entries, &count));
        for (size_t i = 0; i < count; i++) {
            const size_t *value = tn_map_find(&map, entries[i].name);

            if (value != NULL && *value % ROLES == KEPT &&
                change->kept[*value / ROLES].inode != entries[i].stat.inode)
                TN_TRY(bring_replaced(cx, store, arena, change, fresh, &entries[i],
                                      &change->kept[*value / ROLES]));
            if (value != NULL)
                continue;
            TN_TRY(tn_change_exchange_carry(cx, store, arena, change, fresh, &entries[i]));
            TN_TRY(tn_path_join(cx, arena, fresh, entries[i].name, &path));
            TN_TRY(tn_store_sync_dir(cx, store, change->directory));
            TN_TRY(tn_change_remove(cx, store, path));
        }
        rc = tn_change_exchange_discard(cx, store, arena, change);
        if (rc == TARN_E_CONFLICT) {
            TN_TRY(put_aside(cx, store, arena, change, fresh, true));
            goto done;
        }
        TN_TRY(rc);
    }
    TN_TRY(tn_change_drop(cx, store, change));
done:
    tn_map_clear(&map);
    return rc;
}

int tn_change_exchange_settle(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change,
                              bool *completed)
{
    tn_str fresh;
    tn_stat now = {0}, other = {0};
    bool found, found_other;
    survey old;
    int rc;

    *completed = false;
    TN_TRY(tn_change_exchange_path(cx, arena, change, &fresh));
    if (change->state == TN_CHANGE_DONE) {
        *completed = true;
        goto done;
    }
    TN_TRY(tn_change_find(cx, store, change->directory, &found, &now));
    TN_TRY(tn_change_find(cx, store, fresh, &found_other, &other));
    if (found && now.inode == change->old_inode) {
        TN_TRY(take_apart(cx, store, arena, change, fresh));
        goto done;
    }
    if (!found || now.inode != change->new_inode) {
        TN_TRY(put_aside(cx, store, arena, change, fresh, found_other));
        goto done;
    }
    if (!found_other) { /* somebody removed the old directory from staging */
        change->state = TN_CHANGE_DONE;
        *completed = true;
        goto done;
    }
    TN_TRY(survey_old(cx, store, arena, change, fresh, &old));
    if (old.offender.len == 0) {
        TN_TRY(go_on(cx, store, arena, change, fresh, &old));
        *completed = true;
        goto done;
    }
    TN_TRY(tn_change_say(cx, arena, change,
                         "%.*s %s during the swap, which was taken back; nothing is changed: run "
                         "again",
                         TN_STR_ARG(old.offender), old.vanished ? "vanished" : "changed"));
    TN_TRY(tn_store_exchange(cx, store, change->directory, fresh));
    TN_TRY(make_durable(cx, store, change));
    TN_TRY(take_apart(cx, store, arena, change, fresh));
done:
    return rc;
}

/* Steps 3 to 6. Whatever the exchange answered, what the directory is now decides. */
static int swap_and_settle(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change,
                           tn_str fresh)
{
    char text[TN_ERROR_TEXT_MAX];
    bool completed = false, refused = false;
    int answer, rc;

    answer = tn_change_record_put(cx, store, change, change->record);
    if (answer == TARN_OK) {
        answer = tn_store_exchange(cx, store, change->directory, fresh);
        refused = answer == TARN_E_IO || answer == TARN_E_CONFLICT;
    }
    memcpy(text, tarn_cx_error(cx), sizeof text);
    rc = tn_change_exchange_settle(cx, store, arena, change, &completed);
    if (rc == TARN_E_UNSUPPORTED) /* something may have been touched: no way around any more */
        rc = tn_fail_within(cx, TARN_E_IO, "%.*s", TN_STR_ARG(change->directory));
    TN_TRY(rc);
    if (completed)
        goto done;
    if (refused) /* no rights on the parent, say: all is as it was, so renames may be tried */
        answer = TARN_E_UNSUPPORTED;
    if (answer != TARN_OK)
        TN_FAIL(answer, "%s", text);
    TN_FAIL(TARN_E_CONFLICT, "%.*s: %.*s", TN_STR_ARG(change->directory), TN_STR_ARG(change->note));
done:
    return rc;
}

int tn_change_exchange(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change)
{
    char text[TN_ERROR_TEXT_MAX];
    tn_str fresh;
    tn_attrs attrs;
    int rc;

    TN_TRY(tn_change_exchange_path(cx, arena, change, &fresh));
    TN_TRY(look_at_directory(cx, store, arena, change, &attrs));
    TN_TRY(look_at_entries(cx, store, arena, change));
    TN_TRY(settle_names(cx, store, arena, change));
    rc = build(cx, store, arena, change, fresh, &attrs);
    if (rc != TARN_OK) {
        memcpy(text, tarn_cx_error(cx), sizeof text);
        if (tn_change_exchange_discard(cx, store, arena, change) != TARN_OK)
            tn_cx_forget(cx); /* staging is swept later */
        TN_FAIL(rc, "%s", text);
    }
    TN_TRY(swap_and_settle(cx, store, arena, change, fresh));
done:
    return rc;
}

/* Removes the names of one listing; *again: something was there that is not gone. */
static int empty_once(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change,
                      tn_str fresh)
{
    survey old;
    tn_str path;
    bool carried = false;
    int rc;

    TN_TRY(survey_old(cx, store, arena, change, fresh, &old));
    for (size_t i = 0; i < old.count; i++)
        if (!old.known[i]) {
            TN_TRY(tn_change_exchange_carry(cx, store, arena, change, fresh, &old.entries[i]));
            carried = true;
        }
    if (carried)
        TN_TRY(tn_store_sync_dir(cx, store, change->directory)); /* I2 */
    for (size_t i = 0; i < old.count; i++) {
        if (old.entries[i].stat.kind == TN_ENTRY_DIR && !old.entries[i].stat.link)
            continue;
        TN_TRY(tn_path_join(cx, arena, fresh, old.entries[i].name, &path));
        TN_TRY(tn_change_remove(cx, store, path));
    }
done:
    return rc;
}

int tn_change_exchange_empty(tarn_cx *cx, tn_store *store, tn_arena *arena, tn_change *change)
{
    tn_str fresh;
    tn_stat stat;
    bool found;
    int rc;

    assert(change->state == TN_CHANGE_DONE);
    TN_TRY(tn_change_exchange_path(cx, arena, change, &fresh));
    TN_TRY(tn_change_find(cx, store, fresh, &found, &stat));
    if (!found)
        goto done;
    if (stat.inode == change->new_inode)
        TN_FAIL(TARN_E_CONFLICT, "%.*s: is the new directory, not the old one; left alone",
                TN_STR_ARG(fresh));
    for (int round = 0; round < EMPTY_ROUNDS_MAX; round++) {
        TN_TRY(empty_once(cx, store, arena, change, fresh));
        rc = tn_store_remove_dir(cx, store, fresh);
        if (rc != TARN_E_CONFLICT)
            goto done;
        tn_cx_forget(cx);
    }
    TN_FAIL(TARN_E_CONFLICT, "%.*s: another program keeps writing into it", TN_STR_ARG(fresh));
done:
    return rc;
}

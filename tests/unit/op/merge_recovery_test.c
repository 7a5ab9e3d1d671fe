/* What a crashed run left, as the report of the next merge tells it. */
#include "unit/test.h"

#include <sys/stat.h>

#include "commit/change.h"
#include "tarn/op.h"
#include "unit/temp_dir.h"

struct lake {
    tarn_cx *cx;
    tn_store *store;
    tn_arena arena;
    char base[256];
};

static tn_str at(struct lake *lake, const char *name)
{
    tn_str path;

    assert_ok(lake->cx, tn_arena_print(lake->cx, &lake->arena, &path, "%s/%s", lake->base, name));
    return path;
}

/* The record of a swap of t/dt=1 that was never begun: another directory took its place. */
static void lake_open(struct lake *lake)
{
    tn_change change;

    *lake = (struct lake){.cx = tarn_cx_open(NULL)};
    assert_ok(lake->cx, tn_store_local_open(lake->cx, &lake->store));
    temp_dir_make(lake->base, sizeof lake->base);
    assert_ok(lake->cx, tn_store_make_dirs(lake->cx, lake->store, at(lake, "t/dt=1")));
    assert_ok(lake->cx, tn_store_make_dirs(lake->cx, lake->store, at(lake, ".t.tarn/changes")));
    change = (tn_change){.record = at(lake, ".t.tarn/changes/r0-0.json"),
                         .state = TN_CHANGE_BEGUN,
                         .swap = TN_SWAP_EXCHANGE,
                         .run_id = TN_STR("r0"),
                         .directory = at(lake, "t/dt=1"),
                         .staging = at(lake, ".t.tarn/r0/0"),
                         .old_inode = 1,
                         .new_inode = 2};
    assert_ok(lake->cx, tn_change_record_put(lake->cx, lake->store, &change, change.record));
}

static void lake_close(struct lake *lake)
{
    tn_store_close(lake->store);
    tn_arena_clear(&lake->arena);
    tarn_cx_close(lake->cx);
    temp_dir_remove(lake->base);
}

/* Merges and checks the one note. */
static void merge(struct lake *lake, enum tarn_merge_remark kind, const char *text, size_t failed)
{
    tarn_merge_report *report = NULL;

    assert_ok(lake->cx, tarn_merge(lake->cx, at(lake, "t").ptr, NULL, &report));
    assert_int_equal(report->note_count, 1);
    assert_int_equal(report->notes[0].kind, kind);
    assert_string_equal(report->notes[0].path, "dt=1");
    assert_non_null(strstr(report->notes[0].text, text));
    assert_int_equal(report->directories_failed, failed);
    tarn_merge_report_close(report);
}

static void test_merge__tells_what_recovery_did(void **state)
{
    struct lake lake;

    (void)state;
    lake_open(&lake);
    merge(&lake, TARN_MERGE_PROBLEM, "cannot be settled", 1);
    assert_ok(lake.cx, tn_store_make_dirs(lake.cx, lake.store, at(&lake, ".t.tarn/r0/0")));
    merge(&lake, TARN_MERGE_SETTLED, "/aside: look at it", 0);
    lake_close(&lake);
}

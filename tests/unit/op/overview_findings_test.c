/* Findings of a Hudi table as text, from facts made by hand. */
#include "op/overview_findings.h"

#include <stdio.h>
#include <string.h>

#include "unit/test.h"

#define MIB (1ull << 20)
#define NOW 1704240000000 /* 2024-01-03 00:00 */

/* "!kind: evidence | cure", a line each; "-kind" of a warning, ".kind" of a note. */
static void judged(tn_hudi_view *view, const tarn_overview *face, const tn_overview_probe *probe,
                   char *out, size_t size)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_findings list = {0};
    size_t len = 0;

    assert_ok(cx, tn_findings_judge(cx, view, face, probe, &list));
    out[0] = '\0';
    for (size_t i = 0; i < list.count; i++)
        len += (size_t)snprintf(out + len, size - len, "%c%s: %s%s%s\n",
                                "?!-."[list.items[i].severity], list.items[i].kind,
                                list.items[i].evidence, list.items[i].cure != NULL ? " | " : "",
                                list.items[i].cure != NULL ? list.items[i].cure : "");
    assert_true(len < size);
    tn_arena_clear(&view->arena);
    tarn_cx_close(cx);
}

static tn_instant instant(const char *time, enum tn_action action, const char *word,
                          enum tn_state state)
{
    return (tn_instant){.time = tn_str_of(time),
                        .action = action,
                        .word = tn_str_of(word),
                        .state = state,
                        .requested_name = TN_STR("r")};
}

static tn_hudi_view view_of(tn_instant *instants, size_t count)
{
    tn_hudi_view view = {.root = TN_STR("/lake/my t")};

    view.config.name = TN_STR("t");
    view.config.version = 6;
    view.config.layout = 1;
    view.config.base_format = TN_STR("PARQUET");
    view.config.mor = true; /* tarn does not write to it */
    view.timeline.utc = true;
    view.timeline.layout = 1;
    view.timeline.instants = instants;
    view.timeline.count = count;
    return view;
}

static const tarn_overview empty = {.name = "t", .small_bytes = 100 * MIB, .files_known = true};

/* The findings that tell of the table, without the note that tarn does not write to it. */
static void assert_judged(tn_hudi_view *view, const tarn_overview *face,
                          const tn_overview_probe *probe, const char *want)
{
    char got[8192], *note;

    judged(view, face, probe, got, sizeof got);
    note = strstr(got, ".tarn-reads-only: ");
    assert_non_null(note);
    *note = '\0';
    assert_string_equal(got, want);
}

static void test_findings__a_healthy_table_has_none(void **state)
{
    tn_instant commit =
        instant("20240101000000000", TN_ACTION_COMMIT, "commit", TN_STATE_COMPLETED);
    tn_hudi_view view = view_of(&commit, 1);
    tn_overview_probe probe = {.now_ms = NOW};

    (void)state;
    assert_judged(&view, &empty, &probe, "");
    assert_judged(&view, &empty, NULL, "");
}

static void test_findings__small_files(void **state)
{
    static const struct {
        tarn_overview_partition partitions[2];
        uint64_t buckets;
        const char *want;
    } cases[] = {
        /* One is where the next inserts go. */
        {{{.path = "a", .small = 1, .small_bytes = MIB}, {.path = "b"}}, 0, ""},
        /* Three of 90 MiB are three of at most 120 MiB. */
        {{{.path = "a", .small = 3, .small_bytes = 270 * MIB}, {.path = "b"}}, 0, ""},
        {{{.path = "a", .small = 2, .small_bytes = MIB},
          {.path = "b", .small = 9, .small_bytes = 250 * MIB}},
         0,
         "-small-files: 11 base files below 100 MiB (251.0 MiB) in 2 of 2 partitions, where 4 "
         "would do; most, 9, in b | in Spark SQL, CALL run_clustering(table => 't')\n"},
        {{{.path = "", .small = 2, .small_bytes = 2048}, {.path = "b"}},
         2,
         "-small-files: 2 base files below 100 MiB (2.0 KiB) in 1 of 2 partitions, where 1 would "
         "do; most, 2, in the table itself | make the table anew with fewer buckets "
         "(hoodie.bucket.index.num.buckets)\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_hudi_view view = view_of(NULL, 0);
        tn_overview_probe probe = {.now_ms = NOW};
        tarn_overview face = empty;

        face.partitions = cases[i].partitions;
        face.partition_count = 2;
        face.buckets = cases[i].buckets;
        assert_judged(&view, &face, &probe, cases[i].want);
    }
}

static void test_findings__logs_and_services(void **state)
{
    static const tarn_overview_slice heavy = {
        .partition = "p=1", .file_id = "g-0", .logs = 7, .log_bytes = 3 * MIB};
    static const tarn_overview_service services[] = {
        {.time = "20240102220000000", .action = "compaction", .state = "REQUESTED", .groups = 1},
        {.time = "20230103000000000", .action = "clustering", .state = "INFLIGHT", .groups = 4},
        {.time = "20240102235900000", .action = "compaction", .problem = "plan: cut off"},
    };
    tn_hudi_view view = view_of(NULL, 0);
    tn_overview_probe probe = {.now_ms = NOW};
    tarn_overview face = empty;

    (void)state;
    face.groups = 9;
    face.log_due = 2;
    face.log_many = 2;
    face.log_big = 1;
    face.log_bytes = 3ull << 30;
    face.heavy = &heavy;
    face.heavy_count = 1;
    face.services = services;
    face.service_count = 3;
    assert_judged(
        &view, &face, &probe,
        "!pending-services: plan: cut off\n"
        "-pending-services: the compaction 20240102220000000 of 1 file group is not completed "
        "(REQUESTED, begun 2 hours ago) | in Spark SQL, CALL run_compaction(op => 'run', table => "
        "'t')\n"
        "-pending-services: the clustering 20230103000000000 of 4 file groups is not completed "
        "(INFLIGHT, begun 365 days ago) | in Spark SQL, CALL run_clustering(table => 't', op => "
        "'execute')\n"
        "-logs-not-compacted: 2 of 9 file groups wait for compaction: 2 have more than 5 logs, 1 "
        "more bytes of logs than of their base file; 3.0 GiB of logs in all, most in p=1/g-0: 7 "
        "with 3.0 MiB | in Spark SQL, CALL run_compaction(op => 'scheduleAndExecute', table => "
        "'t'); a writer with hoodie.compact.inline=true does it by itself\n");
}

/* A dead writer, one that is alive, a planned clustering of layout 1, a clean and a rollback. */
static void test_findings__pending(void **state)
{
    static const tarn_overview_service service = {
        .time = "20240102235100000", .action = "clustering", .state = "REQUESTED", .groups = 1};
    tn_str alive = TN_STR("20240102235500000");
    tn_instant instants[] = {
        instant("20240102235000000", TN_ACTION_DELTA, "deltacommit", TN_STATE_INFLIGHT),
        instant("20240102235100000", TN_ACTION_REPLACE, "replacecommit", TN_STATE_REQUESTED),
        instant("20240102235200000", TN_ACTION_CLEAN, "clean", TN_STATE_REQUESTED),
        instant("20240102235300000", TN_ACTION_CLEAN, "clean", TN_STATE_INFLIGHT),
        instant("20240102235400000", TN_ACTION_ROLLBACK, "rollback", TN_STATE_INFLIGHT),
        instant("20240102235500000", TN_ACTION_DELTA, "deltacommit", TN_STATE_INFLIGHT),
    };
    tn_hudi_view view = view_of(instants, 6);
    tn_overview_probe probe = {.now_ms = NOW, .alive = &alive, .alive_count = 1};
    tarn_overview face = empty;
    char got[8192];

    (void)state;
    face.services = &service;
    face.service_count = 1;
    face.uncommitted = 1;
    face.uncommitted_bytes = 1024;
    judged(&view, &face, &probe, got, sizeof got);
    assert_non_null(strstr(
        got, "-pending-writes: 1 write is pending, the oldest is 20240102235000000 (deltacommit, "
             "begun 10 minutes ago) | in Spark SQL, CALL run_clean(table => 't') rolls it back"));
    assert_non_null(strstr(got, "-pending-actions: 2 cleans are pending, the oldest is "
                                "20240102235200000, begun 8 minutes ago | in Spark SQL, CALL "
                                "run_clean(table => 't') goes on with it\n"));
    assert_non_null(strstr(got, "-pending-actions: 1 rollback is pending, the oldest is "
                                "20240102235400000, begun 6 minutes ago | the next write"));
    assert_non_null(strstr(got, "-uncommitted-files: 1 file (1.0 KiB) belongs to no completed "
                                "instant | roll the write back; to see them: tarn files '/lake/my "
                                "t' --all\n"));
    assert_non_null(strstr(got, ".writers-at-work: 1 write is going on, with a fresh heartbeat; "
                                "the oldest is 20240102235500000 (deltacommit, begun 5 minutes"));
    /* A table that tarn writes to: its own command cures. */
    view = view_of(instants, 1);
    view.config.mor = false;
    view.config.keygen_known = true;
    view.config.key_count = 1;
    view.config.merge_mode = TN_MERGE_COMMIT_TIME;
    instants[0].word = TN_STR("commit");
    judged(&view, &face, NULL, got, sizeof got);
    assert_non_null(strstr(got, "20240102235000000 (commit) | tarn rollback '/lake/my t' "
                                "--instant 20240102235000000\n"));
    /* Files that no pending write explains. */
    view = view_of(NULL, 0);
    judged(&view, &face, NULL, got, sizeof got);
    assert_non_null(strstr(got, "| delete them while nobody writes; to see them: tarn files"));
}

static void test_findings__what_piles_up(void **state)
{
    static char times[31][32];
    tn_instant instants[31];
    tn_overview_probe probe = {.now_ms = NOW};
    tarn_overview face = empty;

    (void)state;
    for (int i = 0; i < 31; i++) {
        snprintf(times[i], sizeof times[i], "202401010000000%02d", i);
        instants[i] = instant(times[i], TN_ACTION_COMMIT, "commit", TN_STATE_COMPLETED);
    }
    face.groups = 2;
    face.older = 3;
    face.older_bytes = 5 * MIB / 2;
    for (size_t count = 10; count < 12; count++) {
        tn_hudi_view view = view_of(instants, count);

        assert_judged(&view, &face, &probe,
                      count == 10 ? ""
                                  : "-old-slices: 3 files (2.5 MiB) of earlier slices lie beside "
                                    "2 file groups | in Spark SQL, CALL run_clean(table => 't', "
                                    "retain_commits => 10)\n");
    }
    face.older = 0;
    for (size_t count = 30; count < 32; count++) {
        tn_hudi_view view = view_of(instants, count);

        assert_judged(&view, &face, &probe,
                      count == 30 ? ""
                                  : "-long-timeline: 31 commits are on the active timeline, and "
                                    "Hudi archives beyond 30 | in Spark SQL, CALL "
                                    "archive_commits(table => 't', min_commits => 20, "
                                    "max_commits => 30), once the table is cleaned\n");
    }
}

static void test_findings__the_metadata_table(void **state)
{
    tn_metadata_difference differences[] = {
        {.fault = TN_METADATA_MISSING, .partition = TN_STR("p=1"), .name = TN_STR("x.parquet")},
        {.fault = TN_METADATA_UNLISTED, .partition = TN_STR(""), .name = TN_STR("y.parquet")},
        {.fault = TN_METADATA_SIZE, .partition = TN_STR("p=1"), .name = TN_STR(".z.log.1_0-1-2")},
        {.fault = TN_METADATA_SIZE, .partition = TN_STR("p=2"), .name = TN_STR("w.parquet")},
    };
    tn_overview_probe probe = {.now_ms = NOW,
                               .listing_problem = "it lags behind",
                               .differences = differences,
                               .difference_count = 4};
    static const char cure[] = " | in Spark SQL, CALL delete_metadata_table(table => 't'), and "
                               "Hudi's next write builds it anew; every difference: tarn files "
                               "'/lake/my t' --check\n";
    tn_hudi_view view = view_of(NULL, 0);
    char want[2048];

    (void)state;
    snprintf(want, sizeof want,
             "!metadata-table: it lags behind%s"
             "!metadata-table: it differs from the directories in 4 files: p=1/x.parquet is listed "
             "and not there, y.parquet is there and not listed, p=1/.z.log.1_0-1-2 has another "
             "size than is listed, …%s",
             cure, cure);
    assert_judged(&view, &empty, &probe, want);
    probe.difference_count = 0;
    assert_judged(&view, &empty, &probe,
                  "!metadata-table: it lags behind | in Spark SQL, CALL delete_metadata_table("
                  "table => 't'), and Hudi's next write builds it anew\n");
}

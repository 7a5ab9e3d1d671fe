/* Ranges of incremental and change queries, as text: '#' stands for eight digits that all instants
 * begin with. */
#include "plan/plan_query.h"

#include "unit/hudi_text.h"

typedef struct range_case {
    const char *name;
    int layout;
    const char *timeline, *archive; /* archive NULL: not asked */
    const char *since, *until;
    /* The commits of the range, "*" before archived ones; then words: "start" every row, "archived"
     * the latest snapshot filtered, "(a,b]" rows by bounds, "note"; or "empty"; or "!text" for a
     * failure that says so. */
    const char *want;
} range_case;

static const range_case incremental[] = {
    {"all of it", 2, "#01_#02.commit #03_#04.commit", NULL, "", "", "#01 #03 start"},
    {"open at the begin", 2, "#01_#02.commit #03_#04.commit", NULL, "#02", "", "#03"},
    {"a moment before", 2, "#01_#03.commit #04_#05.commit", NULL, "#02", "", "#01 #04 start"},
    {"closed at the end", 2, "#01_#02.commit #03_#04.commit #05_#06.commit", NULL, "#02", "#04",
     "#03"},
    {"the end just before a completion", 2, "#01_#02.commit #03_#05.commit", NULL, "#02", "#04",
     "empty"},
    {"up to a time from the start", 2, "#01_#02.commit #03_#04.commit", NULL, "", "#02", "#01"},
    {"a requested time is no bound", 2, "#01_#02.commit #03_#06.commit #04_#05.commit", NULL, "#05",
     "", "#03"},
    {"overlapping writers: by completion, sorted by request", 2,
     "#01_#09.commit #03_#04.commit #05_#06.commit", NULL, "#04", "", "#01 #05"},
    {"what is not completed is in no range", 2, "#01_#02.commit #03.inflight #05_#06.commit", NULL,
     "#02", "", "#05"},
    {"compactions and clusterings are commits", 2,
     "#01_#02.deltacommit #03_#04.commit #05_#06.replacecommit #07_#08.clean #09_#10.rollback",
     NULL, "#02", "", "#03 #05"},
    {"nothing since", 2, "#01_#02.commit", NULL, "#02", "", "empty"},
    {"nothing at all", 2, "", NULL, "", "", "empty"},
    {"begin 000 before an archive: every row", 2, "#11_#12.commit", "#01_#02.commit", "000", "",
     "*#01 #11 start"},
    {"a begin inside the archive", 2, "#11_#12.commit", "#01_#02.commit #03_#04.commit", "#02", "",
     "*#03 #11 archived"},
    {"a range inside the archive", 2, "#11_#12.commit",
     "#01_#02.commit #03_#04.commit #05_#06.commit", "#02", "#04", "*#03 archived"},
    {"from the start to an end behind the archive", 2, "#11_#12.commit #13_#14.commit",
     "#01_#02.commit", "", "#12", "*#01 #11 archived"},
    {"a begin behind the archive", 2, "#11_#12.commit #13_#14.commit", "#01_#02.commit", "#02", "",
     "#11 #13"},
    {"archived commits that overlap", 2, "#11_#14.commit #12_#13.commit", "#10_#15.commit", "#14",
     "", "*#10 archived"},
    {"archived cleans are no commits", 2, "#11_#12.commit", "#01_#02.clean", "000", "",
     "#11 start"},
    {"an instant that is being archived is still active", 2, "#01_#02.commit #03_#04.commit",
     "#01_#02.commit", "000", "", "#01 #03 start"},
    {"an end before the begin", 2, "#01_#02.commit", NULL, "#05", "#04", "!ends before it begins"},

    {"version 6: all of it", 1, "#01.commit@#02 #03.commit@#04", NULL, "", "",
     "#01 #03 start (,#03]"},
    {"version 6: by requested time", 1, "#01.commit@#09 #03.commit@#04", NULL, "#01", "",
     "#03 (#01,#03]"},
    {"version 6: closed at the end", 1, "#01.commit@#02 #03.commit@#04 #05.commit@#06", NULL, "#01",
     "#03", "#03 (#01,#03]"},
    {"version 6: the end between commits", 1, "#01.commit@#02 #03.commit@#04 #05.commit@#06", NULL,
     "#01", "#04", "#03 (#01,#03]"},
    {"version 6: begin 000", 1, "#01.commit@#02 #03.commit@#04", NULL, "000", "",
     "#01 #03 (000,#03]"},
    {"version 6: begin 000 before an archive", 1, "#11.commit@#12 #13.commit@#14", "#01.commit@#01",
     "000", "", "#11 #13 (000,#13] note"},
    {"version 6: a range inside the archive reads what was written since", 1,
     "#11.commit@#12 #13.commit@#14", "#01.commit@#01", "000", "#05", "#11 #13 (000,#05] note"},
    {"version 6: a hollow commit", 1, "#01.commit@#02 #03.inflight #05.commit@#06", NULL, "#01", "",
     "!hollow commit 2024010103"},
    {"version 6: an end before the hollow commit", 1,
     "#01.commit@#02 #03.commit@#04 #05.inflight #07.commit@#08", NULL, "#01", "#04",
     "#03 (#01,#03]"},
    {"version 6: a begin behind the hollow commit", 1,
     "#01.commit@#02 #03.inflight #05.commit@#06 #07.commit@#08", NULL, "#05", "", "#07 (#05,#07]"},
    {"version 6: a pending commit that nothing follows", 1, "#01.commit@#02 #03.inflight", NULL, "",
     "", "#01 start (,#01]"},
    {"version 6: pending services are no hollow commits", 1,
     "#01.deltacommit@#02 #03.compaction.inflight #04.replacecommit.inflight #05.deltacommit@#06",
     NULL, "#01", "", "#05 (#01,#05]"},
    {"version 6: a pending overwrite is one", 1,
     "#01.commit@#02 #04.replacecommit.inflight! #05.commit@#06", NULL, "#01", "",
     "!hollow commit 2024010104"},
};

static const range_case changes[] = {
    {"by requested time, also in version 9", 2, "#01_#09.commit #03_#04.commit", NULL, "#01", "",
     "#03"},
    {"all of it", 2, "#01_#02.commit #03_#04.commit", NULL, "", "", "#01 #03"},
    {"closed at the end", 2, "#01_#02.commit #03_#04.commit #05_#06.commit", NULL, "#01", "#03",
     "#03"},
    {"a begin in the archive", 2, "#11_#12.commit", "#01_#02.commit", "000", "",
     "!begins with 2024010111"},
    {"a begin just behind the archive", 2, "#11_#12.commit", "#01_#02.commit", "#01", "", "#11"},
};

typedef int find_range(tarn_cx *cx, const tn_hudi_config *config, const tn_timeline *timeline,
                       const tn_timeline *archive, tn_str since, tn_str until, tn_arena *arena,
                       tn_query_range *out);

static bool has(const tn_str *times, size_t count, tn_str time)
{
    for (size_t i = 0; i < count; i++)
        if (tn_str_equal(times[i], time))
            return true;
    return false;
}

static void print_range(const tn_query_range *range, tn_buf *out)
{
    tn_buf_reset(out);
    if (range->empty)
        tn_buf_text(out, "empty");
    for (size_t i = 0; i < range->instant_count; i++)
        tn_buf_print(out, "%s%s%.*s", i != 0 ? " " : "",
                     has(range->active, range->active_count, range->instants[i]) ? "" : "*",
                     TN_STR_ARG(range->instants[i]));
    if (range->from_start)
        tn_buf_text(out, " start");
    else if (range->archived)
        tn_buf_text(out, " archived");
    if (range->by_bounds)
        tn_buf_print(out, " (%.*s,%.*s]", TN_STR_ARG(range->rows_after),
                     TN_STR_ARG(range->rows_until));
    if (range->note.len != 0)
        tn_buf_text(out, " note");
}

/* `text` with '#' spelled out. */
static void spell(const char *text, tn_buf *out)
{
    tn_buf_reset(out);
    for (; *text != '\0'; text++)
        if (*text == '#')
            tn_buf_text(out, "20240101");
        else
            tn_buf_u8(out, (uint8_t)*text);
}

static void run_case(const range_case *c, find_range *find)
{
    hudi_text t = {.cx = tarn_cx_open(NULL)};
    tn_hudi_config config = {.meta_fields = true, .cdc = true};
    const char *since = c->since, *until = c->until;
    tn_timeline timeline, archive = {0};
    tn_query_range range;
    tn_buf got = {0}, want = {0};
    int rc;

    if (c->archive != NULL)
        hudi_text_timeline(&t, c->layout, c->archive);
    archive = t.timeline;
    hudi_text_timeline(&t, c->layout, c->timeline);
    timeline = t.timeline;
    rc = find(t.cx, &config, &timeline, c->archive != NULL ? &archive : NULL,
              hudi_text_word(&t, &since), hudi_text_word(&t, &until), &t.arena, &range);
    spell(c->want, &want);
    if (c->want[0] == '!') {
        if (rc == TARN_OK || strstr(tarn_cx_error(t.cx), c->want + 1) == NULL)
            fail_msg("%s: status %d, \"%s\"", c->name, rc, tarn_cx_error(t.cx));
    } else {
        if (rc != TARN_OK)
            fail_msg("%s: %s", c->name, tarn_cx_error(t.cx));
        print_range(&range, &got);
        if (!tn_str_equal(tn_buf_view(&got), tn_buf_view(&want)))
            fail_msg("%s: got \"%.*s\", want \"%.*s\"", c->name, TN_STR_ARG(tn_buf_view(&got)),
                     TN_STR_ARG(tn_buf_view(&want)));
    }
    tn_buf_clear(&got);
    tn_buf_clear(&want);
    tn_arena_clear(&t.arena);
    tarn_cx_close(t.cx);
}

static void test_plan_query__incremental_ranges(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof incremental / sizeof incremental[0]; i++)
        run_case(&incremental[i], tn_query_range_find);
}

static void test_plan_query__change_ranges(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
        run_case(&changes[i], tn_query_changes_find);
}

static void test_plan_query__tables_that_cannot(void **state)
{
    hudi_text t = {.cx = tarn_cx_open(NULL)};
    tn_hudi_config config = {.name = TN_STR("orders")};
    tn_query_range range;

    (void)state;
    hudi_text_timeline(&t, 2, "#01_#02.commit");
    assert_fails(t.cx, TARN_E_UNSUPPORTED, "hoodie.populate.meta.fields",
                 tn_query_range_find(t.cx, &config, &t.timeline, NULL, (tn_str){0}, (tn_str){0},
                                     &t.arena, &range));
    assert_fails(t.cx, TARN_E_UNSUPPORTED, "hoodie.populate.meta.fields",
                 tn_query_changes_find(t.cx, &config, &t.timeline, NULL, (tn_str){0}, (tn_str){0},
                                       &t.arena, &range));
    tn_arena_clear(&t.arena);
    tarn_cx_close(t.cx);
}

static void test_plan_query__when_the_archive_is_asked(void **state)
{
    static const struct {
        const char *since, *until;
        bool want;
    } cases[] = {{"", "", false},
                 {"", "20240301000000000", true},
                 {"000", "", true},
                 {"20240229000000000", "", true},
                 {"20240301120000000", "", true}, /* an archived commit may have taken so long */
                 {"20240303000000000", "", false}};
    hudi_text t = {.cx = tarn_cx_open(NULL)};

    (void)state;
    hudi_text_timeline(&t, 2, "20240301000000000_20240301000000009.commit");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(
            tn_query_range_needs(&t.timeline, tn_str_of(cases[i].since), tn_str_of(cases[i].until)),
            cases[i].want);
    tn_arena_clear(&t.arena);
    tarn_cx_close(t.cx);
}

static void test_plan_query__times_as_typed(void **state)
{
    static const struct {
        const char *text, *want; /* "!": refused */
    } cases[] = {{"000", "000"},
                 {"20240512100000000", "20240512100000000"},
                 {"20240512100000", "20240512100000999"},
                 {"2024-05-12", "20240512000000000"},
                 {"2024-05-12 10:00:00", "20240512100000999"},
                 {"2024-05-12T10:00:00.5", "20240512100000500"},
                 {"2024-05-12T10:00:00+02:00", "20240512080000999"},
                 {"20240512", "20240512000000000"},
                 {"00000000000000010", "00000000000000010"},
                 {"007", "007"},
                 {"100", "100"}, /* of the timeline */
                 {"101", "!"},
                 {"1772900764102", "!"}, /* milliseconds since 1970 */
                 {"20261399999999999", "!"},
                 {"20240230000000", "!"},
                 {"20241301", "!"},
                 {"99999999999999999", "!"},
                 {"2024051210000000", "!"},
                 {"20240512100000000001", "!"},
                 {"99991231235959999", "99991231235959999"},
                 {"yesterday", "!"},
                 {"", "!"}};
    hudi_text t = {.cx = tarn_cx_open(NULL)};
    tarn_cx *cx = t.cx;
    tn_hudi_config config = {.utc = true};
    tn_arena arena = {0};

    (void)state;
    hudi_text_timeline(&t, 1, "100.commit");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_str got;
        int rc = tn_query_instant(cx, &config, &t.timeline, cases[i].text, &arena, &got);

        if (cases[i].want[0] == '!')
            assert_int_equal(rc, TARN_E_INVALID);
        else if (rc != TARN_OK || !tn_str_is(got, cases[i].want))
            fail_msg("%s: got %.*s", cases[i].text, TN_STR_ARG(got));
    }
    tn_arena_clear(&arena);
    tn_arena_clear(&t.arena);
    tarn_cx_close(cx);
}

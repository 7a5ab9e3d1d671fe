/* Which logs belong to which slice, as text: '#' stands for eight digits that all instants begin
 * with. */
#include "table/slices_parts.h"
#include "unit/hudi_text.h"
#include "unit/test.h"

typedef struct group {
    hudi_text text;
    tn_slices_file files[32];
    size_t count;
} group;

static void read_files(group *g, const char *text)
{
    g->count = 0;
    for (tn_str word = hudi_text_word(&g->text, &text); word.len != 0;
         word = hudi_text_word(&g->text, &text)) {
        g->files[g->count].name = word;
        assert_true(tn_data_name_parse(word, &g->files[g->count].parts));
        g->count++;
    }
    qsort(g->files, g->count, sizeof g->files[0], tn_slices_file_order);
}

static int archived(tarn_cx *cx, void *arg, tn_str instant, tn_str *completion)
{
    group *g = arg;
    const char *text = "#0001 #0060";
    tn_str known = hudi_text_word(&g->text, &text);

    (void)cx;
    *completion = (tn_str){NULL, 0};
    if (tn_str_equal(known, instant))
        *completion = hudi_text_word(&g->text, &text);
    return TARN_OK;
}

static const struct group_case {
    const char *name;
    int layout;
    enum tn_v6_slices v6;
    const char *timeline, *compaction, *as_of, *files;
    const char
        *want; /* the base file's instant, then the logs "instant.version", then moved ones */
} cases[] = {
    {"logs after their base", 2, 0, "#0010_#0015.deltacommit #0020_#0025.deltacommit", "", "",
     "a_0-1-1_#0010.parquet .a_#0020.log.1_0-1-2", "#0010 #0020.1"},
    {"a log of a commit that overlaps a compaction is in the new slice", 2, 0,
     "#0010_#0015.deltacommit #0020_#0035.deltacommit #0030_#0033.commit", "", "",
     "a_0-1-1_#0010.parquet a_0-1-1_#0030.parquet .a_#0020.log.1_0-1-2", "#0030 #0020.1"},
    {"and is not seen as of its own time", 2, 0,
     "#0010_#0015.deltacommit #0020_#0035.deltacommit #0030_#0033.commit", "", "#0020",
     "a_0-1-1_#0010.parquet a_0-1-1_#0030.parquet .a_#0020.log.1_0-1-2", "#0010"},
    {"a log that a compaction took in stays behind", 2, 0,
     "#0010_#0015.deltacommit #0020_#0025.deltacommit #0030_#0033.commit", "", "",
     "a_0-1-1_#0010.parquet a_0-1-1_#0030.parquet .a_#0020.log.1_0-1-2", "#0030"},
    {"and is read as of a time before it", 2, 0,
     "#0010_#0015.deltacommit #0020_#0025.deltacommit #0030_#0033.commit", "", "#0029",
     "a_0-1-1_#0010.parquet a_0-1-1_#0030.parquet .a_#0020.log.1_0-1-2", "#0010 #0020.1"},
    {"a pending compaction is read with the slice before", 2, 0,
     "#0010_#0015.deltacommit #0020_#0025.deltacommit #0030.compaction.inflight "
     "#0040_#0045.deltacommit",
     "#0030", "",
     "a_0-1-1_#0010.parquet a_0-1-1_#0030.parquet .a_#0020.log.1_0-1-2 .a_#0040.log.1_0-1-2",
     "#0010 #0020.1 #0040.1"},
    {"also where nothing was written since", 2, 0,
     "#0010_#0015.deltacommit #0020_#0025.deltacommit #0030.compaction.requested", "#0030", "",
     "a_0-1-1_#0010.parquet .a_#0020.log.1_0-1-2", "#0010 #0020.1"},
    {"and where the group has logs alone", 2, 0,
     "#0020_#0025.deltacommit #0022_#0026.deltacommit #0030.compaction.requested "
     "#0040_#0045.deltacommit",
     "#0030", "", ".a_#0020.log.1_0-1-2 .a_#0022.log.1_0-1-2 .a_#0040.log.1_0-1-2",
     "- #0020.1 #0022.1 #0040.1"},
    {"as of a time before a pending compaction its logs are not seen", 2, 0,
     "#0010_#0015.deltacommit #0020_#0025.deltacommit #0030.compaction.inflight "
     "#0040_#0045.deltacommit",
     "#0030", "#0025", "a_0-1-1_#0010.parquet .a_#0020.log.1_0-1-2 .a_#0040.log.1_0-1-2",
     "#0010 #0020.1"},
    {"logs alone make one slice at the first", 2, 0,
     "#0020_#0025.deltacommit #0022_#0040.deltacommit #0030_#0035.deltacommit", "", "",
     ".a_#0030.log.1_0-1-2 .a_#0022.log.1_0-1-2 .a_#0020.log.1_0-1-2", "- #0020.1 #0022.1 #0030.1"},
    {"logs are ordered by instant, version as a number, token", 2, 0,
     "#0020_#0025.deltacommit #0022_#0040.deltacommit", "", "",
     ".a_#0022.log.1_0-1-2 .a_#0020.log.10_0-1-2 .a_#0020.log.9_0-1-3 .a_#0020.log.9_0-1-2",
     "- #0020.9 #0020.9 #0020.10 #0022.1"},
    {"as of a time the logs after it do not count", 2, 0,
     "#0010_#0015.deltacommit #0020_#0025.deltacommit #0030_#0035.deltacommit", "", "#0020",
     "a_0-1-1_#0010.parquet .a_#0020.log.1_0-1-2 .a_#0030.log.1_0-1-2", "#0010 #0020.1"},
    {"a failed base file makes no slice", 2, 0,
     "#0010_#0015.deltacommit #0020.deltacommit.inflight #0030_#0035.deltacommit", "", "",
     "a_0-1-1_#0010.parquet a_0-1-1_#0020.parquet .a_#0030.log.1_0-1-2", "#0010 #0030.1"},
    {"a time before all", 2, 0, "#0010_#0015.deltacommit", "", "#0009", "a_0-1-1_#0010.parquet",
     ""},
    {"an archived log with a later slice: the archive knows when", 2, 0, "#0070_#0075.deltacommit",
     "", "", "a_0-1-1_#0000.parquet a_0-1-1_#0050.parquet .a_#0001.log.1_0-1-2", "#0050 #0001.1"},
    {"an archived log that the archive does not know", 2, 0, "#0070_#0075.deltacommit", "", "",
     "a_0-1-1_#0000.parquet a_0-1-1_#0050.parquet .a_#0002.log.1_0-1-2", "#0050"},
    {"version 6: logs named by their base", 1, 0, "#0010.deltacommit@#0015 #0020.deltacommit@#0025",
     "", "", "a_0-1-1_#0010.parquet .a_#0010.log.1_0-1-2 .a_#0010.log.2_0-1-2",
     "#0010 #0010.1 #0010.2"},
    {"version 6: a compaction", 1, 0, "#0010.deltacommit@#0015 #0030.commit@#0035", "", "",
     "a_0-1-1_#0010.parquet a_0-1-1_#0030.parquet .a_#0010.log.1_0-1-2 .a_#0030.log.1_0-1-2",
     "#0030 #0030.1"},
    {"version 6: times that were lost move logs", 1, 0,
     "#0010.deltacommit@#0099 #0030.commit@#0099", "", "",
     "a_0-1-1_#0010.parquet a_0-1-1_#0030.parquet .a_#0010.log.1_0-1-2 .a_#0030.log.1_0-1-2",
     "#0030 #0010.1 #0030.1 moved 1"},
    {"version 6: as 0.15 it is the name that counts", 1, TN_V6_SLICES_INSTANT,
     "#0010.deltacommit@#0099 #0030.commit@#0099", "", "",
     "a_0-1-1_#0010.parquet a_0-1-1_#0030.parquet .a_#0010.log.1_0-1-2 .a_#0030.log.1_0-1-2",
     "#0030 #0030.1"},
    {"version 6: times that were rounded down", 1, 0, "#0010.deltacommit@#0015 #0030.commit@#0029",
     "", "", "a_0-1-1_#0010.parquet a_0-1-1_#0030.parquet .a_#0030.log.1_0-1-2", "#0030 moved 1"},
    {"version 6: logs named by a pending compaction", 1, 0,
     "#0010.deltacommit@#0015 #0030.compaction.inflight #0040.deltacommit@#0045", "#0030", "",
     "a_0-1-1_#0010.parquet a_0-1-1_#0030.parquet .a_#0010.log.1_0-1-2 .a_#0030.log.1_0-1-2",
     "#0010 #0010.1 #0030.1"},
    {"version 6: the same by name", 1, TN_V6_SLICES_INSTANT,
     "#0010.deltacommit@#0099 #0030.compaction.inflight #0040.deltacommit@#0099", "#0030", "",
     "a_0-1-1_#0010.parquet a_0-1-1_#0030.parquet .a_#0010.log.1_0-1-2 .a_#0030.log.1_0-1-2",
     "#0010 #0010.1 #0030.1"},
    {"version 6: archived instants are completed at their own time", 1, 0,
     "#0050.deltacommit@#0055", "", "",
     "a_0-1-1_#0010.parquet a_0-1-1_#0030.parquet .a_#0010.log.1_0-1-2 .a_#0030.log.1_0-1-2",
     "#0030 #0030.1"},
    {"version 6: logs alone", 1, 0, "#0010.deltacommit@#0015", "", "", ".a_#0010.log.1_0-1-2",
     "- #0010.1"},
    {"version 6: logs of a write that failed are in no slice", 1, 0,
     "#0010.deltacommit@#0015 #0020.deltacommit.inflight", "", "", ".a_#0020.log.1_0-1-2", ""},
};

static void print_made(const group *g, const tn_slices_rule *rule, const tn_slices_made *made,
                       char *out, size_t size)
{
    tn_str base = made->base != NULL ? made->base->parts.instant : TN_STR("-");
    int n = 0;

    out[0] = '\0';
    if (made->any)
        n += snprintf(out, size, "%.*s", TN_STR_ARG(base));
    for (size_t i = 0; i < g->count; i++)
        if (g->files[i].parts.log && tn_slices_made_has(rule, made, &g->files[i]))
            n += snprintf(out + n, size - (size_t)n, " %.*s.%u",
                          TN_STR_ARG(g->files[i].parts.instant),
                          (unsigned)g->files[i].parts.version);
    if (made->moved != 0)
        snprintf(out + n, size - (size_t)n, " moved %u", (unsigned)made->moved);
}

static void test_slices_group__logs_find_their_slices(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct group_case *c = &cases[i];
        const char *text = c->want, *as_of = c->as_of, *compaction = c->compaction;
        group g = {.text = {.cx = tarn_cx_open(NULL)}};
        tn_slices_group facts = {0};
        tn_slices_rule rule = {.timeline = &g.text.timeline, .v6_slices = c->v6};
        tn_slices_made made;
        char got[512], want[512] = "";

        hudi_text_timeline(&g.text, c->layout, c->timeline);
        read_files(&g, c->files);
        rule.as_of = hudi_text_word(&g.text, &as_of);
        rule.archived = archived;
        rule.arg = &g;
        facts.compaction = hudi_text_word(&g.text, &compaction);
        assert_ok(g.text.cx,
                  tn_slices_group_make(g.text.cx, &rule, g.files, g.count, &facts, &made));
        for (tn_str word = hudi_text_word(&g.text, &text); word.len != 0;
             word = hudi_text_word(&g.text, &text)) {
            strcat(want, want[0] != '\0' ? " " : "");
            strncat(want, word.ptr, word.len);
        }
        print_made(&g, &rule, &made, got, sizeof got);
        if (strcmp(got, want) != 0)
            fail_msg("%s: got \"%s\", want \"%s\"", c->name, got, want);
        tn_arena_clear(&g.text.arena);
        tarn_cx_close(g.text.cx);
    }
}

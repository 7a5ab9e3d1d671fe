/* Findings of a Hudi table.
 *
 * I1: a finding follows from facts: the overview, the timeline, the probe of a closer look. Nothing
 *     is read here, no clock is asked.
 * I2: a cure is a command of tarn where tarn has it and does it to this table, else the one of Hudi
 *     in Spark SQL. */
#include "op/overview_findings.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "op/overview_logs.h"

/* Hudi's defaults: hoodie.cleaner.commits.retained, hoodie.keep.min.commits, …max.commits. */
#define CLEAN_RETAINS 10
#define ARCHIVE_MIN   20
#define ARCHIVE_MAX   30
#define FILE_MAX      125829120ull /* hoodie.parquet.max.file.size */
#define NAMED_MAX     3            /* differences of the metadata table that are named */

/* What the judging goes by. */
typedef struct judge {
    tarn_cx *cx;
    tn_hudi_view *view;
    const tarn_overview *face;
    const tn_overview_probe *probe; /* NULL: what meets the eye is enough */
    bool writable;                  /* tarn writes to the table, as it is */
    uint64_t dead, busy;            /* pending writes, without and with a sign of life */
    uint64_t commits;               /* completed ones on the timeline */
    tn_findings *list;
} judge;

/* ---- making them */

int tn_findings_add(tarn_cx *cx, tn_hudi_view *view, tn_findings *list, const tarn_finding *what,
                    const char *evidence, ...)
{
    char text[TN_ERROR_TEXT_MAX];
    tarn_finding made = *what;
    va_list args;
    int rc = TARN_OK;

    va_start(args, evidence);
    vsnprintf(text, sizeof text, evidence, args);
    va_end(args);
    TN_TRY(tn_arena_grow(cx, &view->arena, &list->items, list->count, &list->cap,
                         sizeof *list->items));
    TN_TRY(tn_hudi_view_keep(cx, view, tn_str_of(text), &made.evidence));
    if (what->cure != NULL)
        TN_TRY(tn_hudi_view_keep(cx, view, tn_str_of(what->cure), &made.cure));
    list->items[list->count++] = made;
done:
    return rc;
}

int tn_findings_failure(tarn_cx *cx, tn_hudi_view *view, tn_findings *list, const char *kind)
{
    const tarn_finding what = {.kind = kind, .severity = TARN_SEVERITY_ERROR};
    char text[TN_ERROR_TEXT_MAX];

    snprintf(text, sizeof text, "%s", tarn_cx_error(cx));
    tn_cx_forget(cx);
    return tn_findings_add(cx, view, list, &what, "%s", text);
}

/* Errors first, then warnings, then notes, each as they came. */
static void sort(tn_findings *list)
{
    for (size_t i = 1; i < list->count; i++) {
        tarn_finding moved = list->items[i];
        size_t at = i;

        for (; at > 0 && list->items[at - 1].severity > moved.severity; at--)
            list->items[at] = list->items[at - 1];
        list->items[at] = moved;
    }
}

static const char *name_of(const tarn_overview *face)
{
    return face->name != NULL ? face->name : "NAME";
}

/* "CALL …" in Spark SQL, with the table's name where %s stands. */
static const char *call(const tarn_overview *face, const char *format, char out[TN_ERROR_TEXT_MAX])
{
    const char *at = strstr(format, "%s");

    snprintf(out, TN_ERROR_TEXT_MAX, "in Spark SQL, CALL %.*s%s%s", (int)(at - format), format,
             name_of(face), at + 2);
    return out;
}

/* "<before> TABLE <after>", the path as a word of a shell. */
static int command(tarn_cx *cx, tn_hudi_view *view, const char *before, const char *after,
                   const char **out)
{
    tn_buf text = {0};
    int rc = TARN_OK;

    tn_buf_text(&text, before);
    tn_buf_shell(&text, view->root);
    tn_buf_text(&text, after);
    TN_TRY(tn_buf_check(cx, &text));
    TN_TRY(tn_hudi_view_keep(cx, view, tn_buf_view(&text), out));
done:
    tn_buf_clear(&text);
    return rc;
}

static const char *be(uint64_t count)
{
    return count == 1 ? "is" : "are";
}

static const char *many(uint64_t count)
{
    return count == 1 ? "" : "s";
}

typedef struct word {
    char text[64];
} word;

static const char *size_text(word *out, uint64_t bytes)
{
    if (bytes < 1 << 20)
        snprintf(out->text, sizeof out->text, "%.1f KiB", (double)bytes / (1 << 10));
    else if (bytes < 1 << 30)
        snprintf(out->text, sizeof out->text, "%.1f MiB", (double)bytes / (1 << 20));
    else
        snprintf(out->text, sizeof out->text, "%.1f GiB", (double)bytes / (1 << 30));
    return out->text;
}

/* ", begun 3 days ago" of an instant; nothing where there is no clock, or it says otherwise. */
static const char *age_text(word *out, const judge *j, tn_str time)
{
    int64_t begun_ms, minutes;

    out->text[0] = '\0';
    if (j->probe == NULL || !tn_instant_to_ms(time, j->view->timeline.utc, &begun_ms) ||
        begun_ms > j->probe->now_ms)
        return out->text;
    minutes = (j->probe->now_ms - begun_ms) / 60000;
    if (minutes >= 2 * 24 * 60)
        snprintf(out->text, sizeof out->text, ", begun %" PRId64 " days ago", minutes / (24 * 60));
    else if (minutes >= 2 * 60)
        snprintf(out->text, sizeof out->text, ", begun %" PRId64 " hours ago", minutes / 60);
    else
        snprintf(out->text, sizeof out->text, ", begun %" PRId64 " minutes ago", minutes);
    return out->text;
}

/* ---- the timeline and the files */

/* Pending writes that nobody is known to be at work on, and those with a fresh heartbeat. */
static int find_writes(judge *j)
{
    tarn_finding what = {.kind = "pending-writes",
                         .severity = TARN_SEVERITY_WARNING,
                         .cause =
                             "a writer is at work, or one died and the next write rolls it back"};
    const tn_timeline *timeline = &j->view->timeline;
    const tn_overview_probe *probe = j->probe;
    const tn_instant *oldest = NULL, *alive = NULL;
    char cure[TN_ERROR_TEXT_MAX], after[64];
    word age;
    int rc = TARN_OK;

    for (size_t i = timeline->count; i-- != 0;) {
        const tn_instant *at = &timeline->instants[i];

        if (at->state == TN_STATE_COMPLETED || !tn_instant_writes_data(at) ||
            tn_overview_is_service(j->face, at))
            continue;
        if (probe != NULL && tn_str_listed(probe->alive, probe->alive_count, at->time)) {
            alive = at;
            j->busy++;
        } else {
            oldest = at;
            j->dead++;
        }
    }
    if (j->busy != 0)
        TN_TRY(tn_findings_add(
            j->cx, j->view, j->list,
            &(tarn_finding){.kind = "writers-at-work", .severity = TARN_SEVERITY_NOTE},
            "%" PRIu64 " write%s %s going on, with a fresh heartbeat; the oldest is %.*s (%.*s%s)",
            j->busy, many(j->busy), be(j->busy), TN_STR_ARG(alive->time), TN_STR_ARG(alive->word),
            age_text(&age, j, alive->time)));
    if (oldest == NULL)
        return TARN_OK;
    snprintf(after, sizeof after, " --instant %.*s", TN_STR_ARG(oldest->time));
    if (j->writable)
        TN_TRY(command(j->cx, j->view, "tarn rollback ", after, &what.cure));
    else
        what.cure = call(j->face,
                         "run_clean(table => '%s') rolls it back where the policy of failed writes "
                         "is LAZY; else Hudi's next write does",
                         cure);
    TN_TRY(tn_findings_add(j->cx, j->view, j->list, &what,
                           "%" PRIu64 " write%s %s pending, the oldest is %.*s (%.*s%s)", j->dead,
                           many(j->dead), be(j->dead), TN_STR_ARG(oldest->time),
                           TN_STR_ARG(oldest->word), age_text(&age, j, oldest->time)));
done:
    return rc;
}

/* What is pending and neither writes rows nor puts files together anew. */
static int find_actions(judge *j)
{
    static const struct {
        enum tn_action action;
        const char *cause, *call, *cure;
    } kinds[] = {
        {TN_ACTION_CLEAN, "it was planned, and is being run or died",
         "run_clean(table => '%s') goes on with it", NULL},
        {TN_ACTION_ROLLBACK, "a failed write is being taken back, or whoever did so died", NULL,
         "the next write finishes it"},
        {TN_ACTION_RESTORE,
         "the table is being taken back to an earlier time, or whoever did so "
         "died; until it is done readers see neither",
         "rollback_to_savepoint(table => '%s') goes on with it", NULL},
        {TN_ACTION_INDEXING, "an index of the metadata table is being built, or was to be", NULL,
         "Hudi's HoodieIndexer in the mode execute goes on with it"},
    };
    const tn_timeline *timeline = &j->view->timeline;
    char cure[TN_ERROR_TEXT_MAX];
    int rc = TARN_OK;

    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        const tn_instant *oldest = NULL;
        uint64_t count = 0;
        word age;

        for (size_t i = timeline->count; i-- != 0;)
            if (timeline->instants[i].state != TN_STATE_COMPLETED &&
                timeline->instants[i].action == kinds[k].action) {
                oldest = &timeline->instants[i];
                count++;
            }
        if (oldest == NULL)
            continue;
        TN_TRY(tn_findings_add(
            j->cx, j->view, j->list,
            &(tarn_finding){.kind = "pending-actions",
                            .severity = TARN_SEVERITY_WARNING,
                            .cause = kinds[k].cause,
                            .cure = kinds[k].call != NULL ? call(j->face, kinds[k].call, cure)
                                                          : kinds[k].cure},
            "%" PRIu64 " %.*s%s %s pending, the oldest is %.*s%s", count, TN_STR_ARG(oldest->word),
            many(count), be(count), TN_STR_ARG(oldest->time), age_text(&age, j, oldest->time)));
    }
done:
    return rc;
}

static int find_strange(judge *j)
{
    const tn_timeline *timeline = &j->view->timeline;

    if (timeline->strange_count == 0)
        return TARN_OK;
    return tn_findings_add(
        j->cx, j->view, j->list,
        &(tarn_finding){.kind = "strange-names",
                        .severity = TARN_SEVERITY_WARNING,
                        .cause = "another program, or a person, put them there",
                        .cure = "`tarn timeline --json` lists them; move away what is yours"},
        "%zu name%s on the timeline %s no instants' files, as %.*s", timeline->strange_count,
        many(timeline->strange_count), be(timeline->strange_count),
        TN_STR_ARG(timeline->strange[0]));
}

/* Files of no completed instant. Those of an instant that is gone from the timeline are as good as
 * committed to every reader once the timeline begins after it. */
static int find_stray(judge *j)
{
    const tarn_overview *face = j->face;
    tarn_finding stray = {.kind = "uncommitted-files",
                          .severity = TARN_SEVERITY_WARNING,
                          .cause = "a write is going on, or one failed; no reader sees them"};
    const char *before = "roll the write back; to see them: tarn files ";
    word size;
    int rc = TARN_OK;

    if (face->uncommitted == 0)
        return TARN_OK;
    if (j->dead == 0 && j->busy != 0) {
        stray.severity = TARN_SEVERITY_NOTE;
        stray.cause = "the writes that are going on make them; no reader sees them yet";
    } else if (j->dead == 0) {
        stray.cause = "a write failed and the timeline does not know it any more; readers take "
                      "them for committed once archiving has passed their instant";
        before = "delete them while nobody writes; to see them: tarn files ";
    }
    if (stray.severity != TARN_SEVERITY_NOTE)
        TN_TRY(command(j->cx, j->view, before, " --all", &stray.cure));
    TN_TRY(tn_findings_add(j->cx, j->view, j->list, &stray,
                           "%" PRIu64 " file%s (%s) %s to no completed instant", face->uncommitted,
                           many(face->uncommitted), size_text(&size, face->uncommitted_bytes),
                           face->uncommitted == 1 ? "belongs" : "belong"));
done:
    return rc;
}

static int find_older(judge *j)
{
    const tarn_overview *face = j->face;
    char cure[TN_ERROR_TEXT_MAX];
    word size;

    if (j->commits <= CLEAN_RETAINS || face->older <= face->groups)
        return TARN_OK;
    return tn_findings_add(
        j->cx, j->view, j->list,
        &(tarn_finding){.kind = "old-slices",
                        .severity = TARN_SEVERITY_WARNING,
                        .cause = "nobody cleans: tarn does not yet, and Hudi's writers do",
                        .cure = call(face, "run_clean(table => '%s', retain_commits => 10)", cure)},
        "%" PRIu64 " files (%s) of earlier slices lie beside %" PRIu64 " file group%s", face->older,
        size_text(&size, face->older_bytes), face->groups, many(face->groups));
}

static int find_length(judge *j)
{
    char cure[TN_ERROR_TEXT_MAX];

    if (j->commits <= ARCHIVE_MAX)
        return TARN_OK;
    snprintf(cure, sizeof cure,
             "in Spark SQL, CALL archive_commits(table => '%s', min_commits => %d, max_commits => "
             "%d), once the table is cleaned",
             name_of(j->face), ARCHIVE_MIN, ARCHIVE_MAX);
    return tn_findings_add(
        j->cx, j->view, j->list,
        &(tarn_finding){.kind = "long-timeline",
                        .severity = TARN_SEVERITY_WARNING,
                        .cause = "nobody archives: tarn does not yet, and Hudi's writers do",
                        .cure = cure},
        "%" PRIu64 " commits are on the active timeline, and Hudi archives beyond %d", j->commits,
        ARCHIVE_MAX);
}

/* What keeps tarn from writing to the table. The text is that of a write that was refused. */
static int note_refusal(judge *j)
{
    const tarn_finding what = {.kind = "tarn-reads-only", .severity = TARN_SEVERITY_NOTE};
    tn_str text, end = TN_STR("; nothing was written");
    char kept[TN_ERROR_TEXT_MAX];
    int rc = tn_hudi_config_writable(j->cx, &j->view->config);

    j->writable = rc == TARN_OK && !j->view->config.metadata_table;
    if (rc == TARN_E_UNSUPPORTED || rc == TARN_E_INVALID) {
        text = tn_str_of(tarn_cx_error(j->cx));
        if (tn_str_ends(text, end))
            text.len -= end.len;
        snprintf(kept, sizeof kept, "%.*s", TN_STR_ARG(text));
        tn_cx_forget(j->cx);
        return tn_findings_add(j->cx, j->view, j->list, &what, "tarn does not write to it: %s",
                               kept);
    }
    if (rc == TARN_OK && j->view->config.metadata_table)
        rc = tn_findings_add(j->cx, j->view, j->list, &what,
                             "the table has a metadata table, which tarn does not keep: it writes "
                             "to the table only with --drop-metadata-table");
    return rc;
}

/* ---- a closer look */

/* Files that the small ones of a partition would fill. */
static uint64_t needed(const tarn_overview_partition *at)
{
    return at->small_bytes <= FILE_MAX ? 1 : (at->small_bytes + FILE_MAX - 1) / FILE_MAX;
}

/* One small file in a partition is where its next inserts go. */
static int find_small(judge *j)
{
    const tarn_overview *face = j->face;
    const char *cause = "bulk inserts, or writes without sizing, opened files of their own";
    const char *format = j->writable ? "run_clustering(table => '%s'); inserts by `tarn write` "
                                       "fill them up, too"
                                     : "run_clustering(table => '%s')";
    const tarn_overview_partition *worst = NULL;
    uint64_t sick = 0, small = 0, bytes = 0, after = 0;
    char cure[TN_ERROR_TEXT_MAX];
    word size;

    for (size_t i = 0; i < face->partition_count; i++) {
        const tarn_overview_partition *at = &face->partitions[i];

        if (at->small <= needed(at))
            continue;
        sick++;
        small += at->small;
        bytes += at->small_bytes;
        after += needed(at);
        if (worst == NULL || at->small > worst->small)
            worst = at;
    }
    if (worst == NULL)
        return TARN_OK;
    call(face, format, cure);
    if (face->buckets != 0) {
        cause = "the bucket index spreads rows over its buckets, however few they are";
        snprintf(cure, sizeof cure,
                 "make the table anew with fewer buckets (hoodie.bucket.index.num.buckets)");
    }
    return tn_findings_add(
        j->cx, j->view, j->list,
        &(tarn_finding){
            .kind = "small-files", .severity = TARN_SEVERITY_WARNING, .cause = cause, .cure = cure},
        "%" PRIu64 " base files below %" PRIu64 " MiB (%s) in %" PRIu64
        " of %zu partitions, where %" PRIu64 " would do; most, %" PRIu64 ", in %s",
        small, face->small_bytes >> 20, size_text(&size, bytes), sick, face->partition_count, after,
        worst->small, worst->path[0] != '\0' ? worst->path : "the table itself");
}

static int find_logs(judge *j)
{
    const tarn_overview *face = j->face;
    const tarn_overview_slice *heaviest = face->heavy;
    char cure[TN_ERROR_TEXT_MAX];
    word all, one;

    if (face->log_due == 0)
        return TARN_OK;
    return tn_findings_add(
        j->cx, j->view, j->list,
        &(tarn_finding){
            .kind = "logs-not-compacted",
            .severity = TARN_SEVERITY_WARNING,
            .cause = "each read merges them, and nobody compacts",
            .cure = call(face,
                         "run_compaction(op => 'scheduleAndExecute', table => '%s'); a writer with "
                         "hoodie.compact.inline=true does it by itself",
                         cure)},
        "%" PRIu64 " of %" PRIu64 " file groups wait for compaction: %" PRIu64
        " have more than 5 logs, %" PRIu64
        " more bytes of logs than of their base file; %s of logs in all, most in %s%s%s: %" PRIu64
        " with %s",
        face->log_due, face->groups, face->log_many, face->log_big,
        size_text(&all, face->log_bytes), heaviest->partition,
        heaviest->partition[0] != '\0' ? "/" : "", heaviest->file_id, heaviest->logs,
        size_text(&one, heaviest->log_bytes));
}

static int find_services(judge *j)
{
    char cure[TN_ERROR_TEXT_MAX];
    word age;
    int rc = TARN_OK;

    for (size_t i = 0; i < j->face->service_count; i++) {
        const tarn_overview_service *at = &j->face->services[i];
        tarn_finding what = {.kind = "pending-services", .severity = TARN_SEVERITY_WARNING};

        if (at->problem != NULL) {
            what.severity = TARN_SEVERITY_ERROR;
            TN_TRY(tn_findings_add(j->cx, j->view, j->list, &what, "%s", at->problem));
            continue;
        }
        what.cause = "it was planned, and is being run or was never run; the cleaner and the "
                     "archive stop before it";
        what.cure = strcmp(at->action, "clustering") == 0
                        ? call(j->face, "run_clustering(table => '%s', op => 'execute')", cure)
                        : call(j->face, "run_compaction(op => 'run', table => '%s')", cure);
        TN_TRY(tn_findings_add(j->cx, j->view, j->list, &what,
                               "the %s %s of %" PRIu64 " file group%s is not completed (%s%s)",
                               at->action, at->time, at->groups, many(at->groups), at->state,
                               age_text(&age, j, tn_str_of(at->time))));
    }
done:
    return rc;
}

static const char *fault_text(enum tn_metadata_fault fault)
{
    return fault == TN_METADATA_MISSING    ? "is listed and not there"
           : fault == TN_METADATA_UNLISTED ? "is there and not listed"
                                           : "has another size than is listed";
}

/* The first differences by name, as far as the text goes. */
static const char *name_differences(const tn_overview_probe *probe, char out[TN_ERROR_TEXT_MAX])
{
    size_t count = probe->difference_count, len = 0;

    out[0] = '\0';
    for (size_t i = 0; i < count && i < NAMED_MAX && len < TN_ERROR_TEXT_MAX / 2; i++) {
        const tn_metadata_difference *at = &probe->differences[i];

        len += (size_t)snprintf(out + len, TN_ERROR_TEXT_MAX - len, "%s%.*s%s%.*s %s",
                                i > 0 ? ", " : "", TN_STR_ARG(at->partition),
                                at->partition.len != 0 ? "/" : "", TN_STR_ARG(at->name),
                                fault_text(at->fault));
    }
    return out;
}

/* The metadata table against the directories. */
static int find_listing(judge *j)
{
    const tn_overview_probe *probe = j->probe;
    char cure[TN_ERROR_TEXT_MAX], names[TN_ERROR_TEXT_MAX];
    tarn_finding what = {.kind = "metadata-table", .severity = TARN_SEVERITY_ERROR};
    const char *rest = NULL;
    tn_buf text = {0};
    int rc = TARN_OK;

    if (probe->listing_problem == NULL && probe->difference_count == 0)
        return TARN_OK;
    tn_buf_text(&text, call(j->face,
                            "delete_metadata_table(table => '%s'), and Hudi's next write builds "
                            "it anew",
                            cure));
    if (probe->difference_count != 0) {
        TN_TRY(command(j->cx, j->view, "; every difference: tarn files ", " --check", &rest));
        tn_buf_text(&text, rest);
    }
    TN_TRY(tn_buf_check(j->cx, &text));
    TN_TRY(tn_hudi_view_keep(j->cx, j->view, tn_buf_view(&text), &what.cure));
    if (probe->listing_problem != NULL) {
        what.cause = "it was taken away, or a writer wrote to the table without it; readers "
                     "that list by it miss files, or fail";
        TN_TRY(tn_findings_add(j->cx, j->view, j->list, &what, "%s", probe->listing_problem));
    }
    if (probe->difference_count != 0) {
        what.cause = "files came or went past Hudi, or by a writer that does not keep it; readers "
                     "that list by it see other files than there are";
        TN_TRY(tn_findings_add(
            j->cx, j->view, j->list, &what, "it differs from the directories in %zu file%s: %s%s",
            probe->difference_count, many(probe->difference_count), name_differences(probe, names),
            probe->difference_count > NAMED_MAX ? ", …" : ""));
    }
done:
    tn_buf_clear(&text);
    return rc;
}

static int judge_closely(judge *j)
{
    const tarn_finding moved = {.kind = "moved-logs", .severity = TARN_SEVERITY_WARNING};
    int rc = TARN_OK;

    TN_TRY(find_services(j));
    TN_TRY(find_logs(j));
    TN_TRY(find_small(j));
    if (j->probe->moved.len != 0)
        TN_TRY(
            tn_findings_add(j->cx, j->view, j->list, &moved, "%.*s", TN_STR_ARG(j->probe->moved)));
    TN_TRY(find_listing(j));
done:
    return rc;
}

int tn_findings_judge(tarn_cx *cx, tn_hudi_view *view, const tarn_overview *face,
                      const tn_overview_probe *probe, tn_findings *list)
{
    const tn_timeline *timeline = &view->timeline;
    judge j = {.cx = cx, .view = view, .face = face, .probe = probe, .list = list};
    int rc = TARN_OK;

    for (size_t i = 0; i < timeline->count; i++)
        j.commits += timeline->instants[i].state == TN_STATE_COMPLETED &&
                     tn_instant_writes_data(&timeline->instants[i]);
    TN_TRY(note_refusal(&j));
    TN_TRY(find_writes(&j));
    TN_TRY(find_actions(&j));
    TN_TRY(find_strange(&j));
    TN_TRY(find_stray(&j));
    TN_TRY(find_older(&j));
    TN_TRY(find_length(&j));
    if (probe != NULL)
        TN_TRY(judge_closely(&j));
    sort(list);
done:
    return rc;
}

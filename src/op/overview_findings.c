/* Findings of a Hudi table.
 *
 * I1: a finding follows from the overview's facts, the timeline and the slices; the metadata table
 *     alone is read here, for a closer look.
 * I2: a cure is a command of tarn where tarn has it, else the one of Hudi in Spark SQL. */
#include "op/overview_findings.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "op/overview_logs.h"
#include "table/metadata.h"

/* Hudi's defaults: hoodie.cleaner.commits.retained, hoodie.keep.min.commits, …max.commits. */
#define CLEAN_RETAINS 10
#define ARCHIVE_MIN   20
#define ARCHIVE_MAX   30

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

void tn_findings_sort(tn_findings *list)
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

/* ---- what meets the eye */

static int find_pending(tarn_cx *cx, tn_hudi_view *view, tn_findings *list)
{
    tarn_finding what = {.kind = "pending-writes",
                         .severity = TARN_SEVERITY_WARNING,
                         .cause =
                             "a writer is at work, or one died and the next write rolls it back"};
    const tn_timeline *timeline = &view->timeline;
    const tn_instant *oldest = NULL;
    char after[64];
    uint64_t count = 0;
    int rc = TARN_OK;

    for (size_t i = timeline->count; i-- != 0;)
        if (timeline->instants[i].state != TN_STATE_COMPLETED &&
            !tn_overview_is_service(&timeline->instants[i])) {
            oldest = &timeline->instants[i];
            count++;
        }
    if (oldest == NULL)
        return TARN_OK;
    snprintf(after, sizeof after, " --instant %.*s", TN_STR_ARG(oldest->time));
    TN_TRY(command(cx, view, "tarn rollback ", after, &what.cure));
    TN_TRY(tn_findings_add(cx, view, list, &what,
                           "%" PRIu64 " %s pending, the oldest is %.*s (%.*s)", count,
                           count == 1 ? "instant is" : "instants are", TN_STR_ARG(oldest->time),
                           TN_STR_ARG(oldest->word)));
done:
    return rc;
}

static int find_strange(tarn_cx *cx, tn_hudi_view *view, tn_findings *list)
{
    const tn_timeline *timeline = &view->timeline;

    if (timeline->strange_count == 0)
        return TARN_OK;
    return tn_findings_add(
        cx, view, list,
        &(tarn_finding){.kind = "strange-names",
                        .severity = TARN_SEVERITY_WARNING,
                        .cause = "another program, or a person, put them there",
                        .cure = "`tarn timeline --json` lists them; move away what is yours"},
        "%zu name%s on the timeline %s no instants' files, as %.*s", timeline->strange_count,
        many(timeline->strange_count), be(timeline->strange_count),
        TN_STR_ARG(timeline->strange[0]));
}

/* What lies there and belongs to no slice that is read. */
static int find_files(tarn_cx *cx, tn_hudi_view *view, const tarn_overview *face, uint64_t commits,
                      tn_findings *list)
{
    tarn_finding stray = {.kind = "uncommitted-files",
                          .severity = TARN_SEVERITY_WARNING,
                          .cause = "a write is going on, or one failed; no reader sees them"};
    char cure[TN_ERROR_TEXT_MAX];
    int rc = TARN_OK;

    if (face->uncommitted != 0) {
        TN_TRY(command(cx, view, "roll the write back; to see them: tarn files ", " --all",
                       &stray.cure));
        TN_TRY(tn_findings_add(cx, view, list, &stray, "%" PRIu64 " %s to no completed instant",
                               face->uncommitted,
                               face->uncommitted == 1 ? "file belongs" : "files belong"));
    }
    if (commits > CLEAN_RETAINS && face->older > face->groups)
        TN_TRY(tn_findings_add(
            cx, view, list,
            &(tarn_finding){.kind = "old-slices",
                            .severity = TARN_SEVERITY_WARNING,
                            .cause = "nobody cleans: tarn does not yet, and Hudi's writers do",
                            .cure =
                                call(face, "run_clean(table => '%s', retain_commits => 10)", cure)},
            "%" PRIu64 " files of earlier slices lie beside %" PRIu64 " file group%s", face->older,
            face->groups, many(face->groups)));
done:
    return rc;
}

static int find_length(tarn_cx *cx, tn_hudi_view *view, const tarn_overview *face, uint64_t commits,
                       tn_findings *list)
{
    char cure[TN_ERROR_TEXT_MAX];

    if (commits <= ARCHIVE_MAX)
        return TARN_OK;
    snprintf(cure, sizeof cure,
             "in Spark SQL, CALL archive_commits(table => '%s', min_commits => %d, max_commits => "
             "%d), once the table is cleaned",
             name_of(face), ARCHIVE_MIN, ARCHIVE_MAX);
    return tn_findings_add(
        cx, view, list,
        &(tarn_finding){.kind = "long-timeline",
                        .severity = TARN_SEVERITY_WARNING,
                        .cause = "nobody archives: tarn does not yet, and Hudi's writers do",
                        .cure = cure},
        "%" PRIu64 " commits are on the active timeline, and Hudi archives beyond %d", commits,
        ARCHIVE_MAX);
}

/* What keeps tarn from writing to the table. The text is that of a write that was refused. */
static int note_refusal(tarn_cx *cx, tn_hudi_view *view, tn_findings *list)
{
    const tarn_finding what = {.kind = "tarn-reads-only", .severity = TARN_SEVERITY_NOTE};
    tn_str text, end = TN_STR("; nothing was written");
    char kept[TN_ERROR_TEXT_MAX];
    int rc = tn_hudi_config_writable(cx, &view->config);

    if (rc == TARN_E_UNSUPPORTED || rc == TARN_E_INVALID) {
        text = tn_str_of(tarn_cx_error(cx));
        if (tn_str_ends(text, end))
            text.len -= end.len;
        snprintf(kept, sizeof kept, "%.*s", TN_STR_ARG(text));
        tn_cx_forget(cx);
        return tn_findings_add(cx, view, list, &what, "tarn does not write to it: %s", kept);
    }
    if (rc == TARN_OK && view->config.metadata_table)
        rc = tn_findings_add(cx, view, list, &what,
                             "the table has a metadata table, which tarn does not keep: it writes "
                             "to the table only with --drop-metadata-table");
    return rc;
}

int tn_findings_seen(tarn_cx *cx, tn_hudi_view *view, const tarn_overview *face, tn_findings *list)
{
    const tn_timeline *timeline = &view->timeline;
    uint64_t commits = 0;
    int rc = TARN_OK;

    for (size_t i = 0; i < timeline->count; i++)
        commits += timeline->instants[i].state == TN_STATE_COMPLETED &&
                   tn_instant_writes_data(&timeline->instants[i]);
    TN_TRY(find_pending(cx, view, list));
    TN_TRY(find_strange(cx, view, list));
    TN_TRY(find_files(cx, view, face, commits, list));
    TN_TRY(find_length(cx, view, face, commits, list));
    TN_TRY(note_refusal(cx, view, list));
done:
    return rc;
}

/* ---- a closer look */

/* One small file in a partition is where its next inserts go. */
static int find_small(tarn_cx *cx, tn_hudi_view *view, const tarn_overview *face, tn_findings *list)
{
    const char *cause = "bulk inserts, or writes without sizing, opened files of their own";
    const char *format = view->config.mor
                             ? "run_clustering(table => '%s')"
                             : "run_clustering(table => '%s'); inserts by `tarn write` fill them "
                               "up, too";
    const tarn_overview_partition *worst = NULL;
    uint64_t sick = 0, small = 0;
    char cure[TN_ERROR_TEXT_MAX];

    for (size_t i = 0; i < face->partition_count; i++) {
        const tarn_overview_partition *at = &face->partitions[i];

        if (at->small <= 1)
            continue;
        sick++;
        small += at->small;
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
        cx, view, list,
        &(tarn_finding){
            .kind = "small-files", .severity = TARN_SEVERITY_WARNING, .cause = cause, .cure = cure},
        "%" PRIu64 " base files below %" PRIu64 " MiB in %" PRIu64
        " of %zu partitions, where one each would do; most, %" PRIu64 ", in %s",
        small, face->small_bytes >> 20, sick, face->partition_count, worst->small,
        worst->path[0] != '\0' ? worst->path : "the table itself");
}

static int find_logs(tarn_cx *cx, tn_hudi_view *view, const tarn_overview *face, tn_findings *list)
{
    const tarn_overview_slice *heaviest = face->heavy;
    char cure[TN_ERROR_TEXT_MAX];

    if (face->log_due == 0)
        return TARN_OK;
    return tn_findings_add(
        cx, view, list,
        &(tarn_finding){
            .kind = "logs-not-compacted",
            .severity = TARN_SEVERITY_WARNING,
            .cause = "each read merges them, and nobody compacts",
            .cure = call(face, "run_compaction(op => 'scheduleAndExecute', table => '%s')", cure)},
        "%" PRIu64 " of %" PRIu64
        " file groups have more than 5 logs, or more bytes of logs than of their base file; the "
        "first, %s, has %" PRIu64 " with %.1f MiB",
        face->log_due, face->groups, heaviest->file_id, heaviest->logs,
        (double)heaviest->log_bytes / (1 << 20));
}

static int find_services(tarn_cx *cx, tn_hudi_view *view, const tarn_overview *face,
                         tn_findings *list)
{
    char cure[TN_ERROR_TEXT_MAX];
    int rc = TARN_OK;

    for (size_t i = 0; i < face->service_count; i++) {
        const tarn_overview_service *at = &face->services[i];
        tarn_finding what = {.kind = "pending-services", .severity = TARN_SEVERITY_WARNING};

        if (at->problem != NULL) {
            what.severity = TARN_SEVERITY_ERROR;
            TN_TRY(tn_findings_add(cx, view, list, &what, "%s", at->problem));
            continue;
        }
        what.cause = "it was planned, and is being run or was never run; the cleaner and the "
                     "archive stop before it";
        what.cure = strcmp(at->action, "clustering") == 0
                        ? call(face, "run_clustering(table => '%s', op => 'execute')", cure)
                        : call(face, "run_compaction(op => 'run', table => '%s')", cure);
        TN_TRY(tn_findings_add(cx, view, list, &what,
                               "the %s %s of %" PRIu64 " file group%s is not completed (%s)",
                               at->action, at->time, at->groups, many(at->groups), at->state));
    }
done:
    return rc;
}

static const char *fault_text(enum tn_metadata_fault fault)
{
    return fault == TN_METADATA_MISSING    ? "is listed and not there"
           : fault == TN_METADATA_UNLISTED ? "is there and not listed, so its rows are not seen"
                                           : "has another size than is listed";
}

/* The metadata table against the directories. */
static int find_listing(tarn_cx *cx, tn_hudi_view *view, const tarn_overview *face,
                        tn_findings *list)
{
    static const char kind[] = "metadata-table";
    tn_metadata_difference *differences = NULL;
    tn_metadata *metadata = NULL;
    char cure[TN_ERROR_TEXT_MAX];
    size_t count = 0;
    int rc =
        tn_metadata_open(cx, view->store, view->root, &view->config, &view->timeline, &metadata);

    if (rc == TARN_OK && metadata != NULL)
        rc = tn_metadata_check(cx, metadata, &view->arena, &differences, &count);
    if (rc == TARN_E_CORRUPT || rc == TARN_E_INVALID || rc == TARN_E_UNSUPPORTED ||
        rc == TARN_E_NOTFOUND)
        rc = tn_findings_failure(cx, view, list, kind);
    else if (rc == TARN_OK && count != 0)
        rc = tn_findings_add(
            cx, view, list,
            &(tarn_finding){
                .kind = kind,
                .severity = TARN_SEVERITY_ERROR,
                .cause = "files came or went past Hudi, or by a writer that does not keep it; "
                         "readers that list by it see other files than there are",
                .cure = call(face,
                             "delete_metadata_table(table => '%s'), and Hudi's next write builds "
                             "it anew; `tarn files --check` lists the differences",
                             cure)},
            "it differs from the directories in %zu file%s: %.*s%s%.*s %s", count, many(count),
            TN_STR_ARG(differences[0].partition), differences[0].partition.len != 0 ? "/" : "",
            TN_STR_ARG(differences[0].name), fault_text(differences[0].fault));
    tn_metadata_close(metadata);
    return rc;
}

int tn_findings_close(tarn_cx *cx, tn_hudi_view *view, const tarn_overview *face,
                      const tn_slices *slices, tn_findings *list)
{
    const tarn_finding moved = {.kind = "moved-logs", .severity = TARN_SEVERITY_WARNING};
    tn_str text = {0};
    int rc = TARN_OK;

    TN_TRY(find_services(cx, view, face, list));
    if (slices != NULL) {
        TN_TRY(find_logs(cx, view, face, list));
        TN_TRY(find_small(cx, view, face, list));
        TN_TRY(tn_slices_warning(cx, slices, &view->arena, &text));
        if (text.len != 0)
            TN_TRY(tn_findings_add(cx, view, list, &moved, "%.*s", TN_STR_ARG(text)));
    }
    if (view->config.metadata_table)
        TN_TRY(find_listing(cx, view, face, list));
done:
    return rc;
}

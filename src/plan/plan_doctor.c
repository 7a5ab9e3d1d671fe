/* Diagnoses a directory.
 * I1: a file counts as small by the limit that `merge` goes by, and small files are a finding
 *     exactly when a merge would make fewer of them.
 * I2: what is usual in a healthy directory (markers, other formats, hidden names) is a fact, never
 * a finding. */
#include "plan/plan_doctor.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES      (128ull << 20)
#define REPLICAS         3u
#define REPLICA_BYTES    150u
#define WORST_MAX        10
#define OTHERS_MAX       20
#define NAMED_MAX        3
#define TINY_GROUP_BYTES (4ull << 20) /* on average, in a file of several groups */
#define TINY_GROUPS_MIN  4
#define FINDINGS_MAX     16

typedef struct doctoring {
    tarn_cx *cx;
    const tn_doctor_input *in;
    tn_arena *arena;
    tarn_doctor_report *out;
    tarn_finding *findings;
    tn_str quoted; /* the directory as a shell word */
    bool widen;    /* the merge joins types */
} doctoring;

uint64_t tarn_doctor_blocks(uint64_t file_bytes)
{
    /* An empty file has no block, but its name costs the same again. */
    return file_bytes == 0 ? 1 : (file_bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
}

uint64_t tarn_doctor_name_node_bytes(uint64_t blocks)
{
    return blocks * REPLICAS * REPLICA_BYTES;
}

bool tn_doctor_temporary_name(tn_str name)
{
    return tn_str_starts(name, TN_STR("-tmp.")) || tn_str_starts(name, TN_STR("_tmp.")) ||
           tn_dir_busy_name(name);
}

static int quote(doctoring *d, tn_str text, tn_str *out)
{
    tn_buf word = {0};
    int rc;

    tn_buf_shell(&word, text);
    rc = tn_buf_check(d->cx, &word);
    *out = tn_buf_view(&word);
    if (rc == TARN_OK)
        rc = tn_arena_keep(d->cx, d->arena, out);
    tn_buf_clear(&word);
    return rc;
}

/* Adds a finding; its texts are printed into the arena. */
static int find(doctoring *d, const char *kind, enum tarn_severity severity, tn_str evidence,
                const char *cause, tn_str cure)
{
    tarn_finding *finding = &d->findings[d->out->finding_count];
    int rc = TARN_OK;

    assert(d->out->finding_count < FINDINGS_MAX);
    TN_TRY(tn_arena_keep(d->cx, d->arena, &evidence));
    TN_TRY(tn_arena_keep(d->cx, d->arena, &cure));
    *finding = (tarn_finding){.kind = kind,
                              .severity = severity,
                              .evidence = evidence.ptr,
                              .cause = cause,
                              .cure = cure.ptr};
    d->out->finding_count++;
done:
    return rc;
}

static void count_size(tarn_doctor_report *out, uint64_t bytes)
{
    size_t i = 0;

    while (i + 1 < TARN_DOCTOR_BUCKETS && bytes >= out->buckets[i].below_bytes)
        i++;
    out->buckets[i].files++;
    out->buckets[i].bytes += bytes;
}

static void count_file(doctoring *d, const tn_dir_file *file, tarn_doctor_partition *partition,
                       uint64_t codec_files[32])
{
    tarn_doctor_report *out = d->out;
    uint64_t bytes = file->stat.size_bytes;

    out->files++;
    out->bytes += bytes;
    out->blocks += tarn_doctor_blocks(bytes);
    out->damaged += file->state == TN_FILE_DAMAGED;
    out->encrypted += file->state == TN_FILE_ENCRYPTED;
    out->bucketed += file->state == TN_FILE_BUCKETED;
    out->symlinks += file->state == TN_FILE_SYMLINK;
    partition->files++;
    partition->bytes += bytes;
    if (bytes < d->in->small_bytes) {
        out->small_files++;
        out->small_bytes += bytes;
        partition->small_files++;
    }
    count_size(out, bytes);
    if (!file->footer_seen)
        return;
    out->rows += file->rows;
    out->groups += file->group_count;
    out->indexed += file->has_index;
    for (uint32_t g = 0; g < file->group_count; g++) {
        out->group_bytes += (uint64_t)file->groups[g].compressed_bytes;
        out->group_rows += (uint64_t)file->groups[g].rows;
    }
    for (int c = 0; c < 32; c++)
        codec_files[c] += file->codecs >> c & 1;
}

static int list_codecs(doctoring *d, const uint64_t codec_files[32])
{
    static const char *const names[] = {"none",   "snappy", "gzip", "lzo",
                                        "brotli", "lz4",    "zstd", "lz4_raw"};
    tarn_doctor_codec *made = tn_arena_array(d->cx, d->arena, 32, sizeof *made);

    if (made == NULL)
        return TARN_E_NOMEM;
    for (int c = 0; c < 32; c++)
        if (codec_files[c] > 0)
            made[d->out->codec_count++] =
                (tarn_doctor_codec){c < 8 ? names[c] : "unknown", codec_files[c]};
    d->out->codecs = made;
    return TARN_OK;
}

static int list_others_of(doctoring *d, const char **made, bool checksums)
{
    const tn_dir *dir = d->in->dir;
    int rc = TARN_OK;

    for (size_t p = 0; p < dir->partition_count; p++) {
        const tn_dir_partition *partition = &dir->partitions[p];

        for (size_t i = 0; i < partition->other_count; i++) {
            tn_str path = partition->others[i].name;
            bool checksum = tn_str_starts(path, TN_STR(".")) && tn_str_ends(path, TN_STR(".crc"));

            if (checksum != checksums)
                continue;
            d->out->others_total++;
            d->out->others_crc += checksum;
            if (d->out->other_count >= OTHERS_MAX)
                continue;
            if (partition->path.len != 0)
                TN_TRY(tn_path_join(d->cx, d->arena, partition->path, path, &path));
            TN_TRY(tn_arena_keep(d->cx, d->arena, &path));
            made[d->out->other_count++] = path.ptr;
        }
    }
done:
    return rc;
}

/* Checksum files last: there is one for each file that Spark writes to a local disk. */
static int list_others(doctoring *d)
{
    const char **made = tn_arena_array(d->cx, d->arena, OTHERS_MAX, sizeof *made);
    int rc = TARN_OK;

    if (made == NULL)
        return TARN_E_NOMEM;
    TN_TRY(list_others_of(d, made, false));
    TN_TRY(list_others_of(d, made, true));
    d->out->others = made;
done:
    return rc;
}

/* The merge's partitions are a part of the directory's, in an order of their own. */
static const tn_merge_partition *merge_of(const tn_merge_plan *merge, tn_str path)
{
    for (size_t i = 0; i < merge->partition_count; i++)
        if (tn_str_equal(merge->partitions[i].path, path))
            return &merge->partitions[i];
    return NULL;
}

static int by_small(const void *a, const void *b)
{
    const tarn_doctor_partition *x = a, *y = b;

    if (x->small_files != y->small_files)
        return x->small_files > y->small_files ? -1 : 1;
    return strcmp(x->path, y->path);
}

static int count_all(doctoring *d)
{
    const tn_dir *dir = d->in->dir;
    tarn_doctor_partition *made =
        tn_arena_array(d->cx, d->arena, dir->partition_count + 1, sizeof *made);
    uint64_t codec_files[32] = {0};
    size_t n = 0;
    int rc = TARN_OK;

    if (made == NULL)
        return TARN_E_NOMEM;
    for (size_t p = 0; p < dir->partition_count; p++) {
        const tn_dir_partition *partition = &dir->partitions[p];
        tn_str path = partition->path;

        if (partition->file_count == 0)
            continue;
        TN_TRY(tn_arena_keep(d->cx, d->arena, &path));
        made[n].path = path.ptr;
        for (size_t i = 0; i < partition->file_count; i++)
            count_file(d, &partition->files[i], &made[n], codec_files);
        made[n].files_after = made[n].files;
        n++;
    }
    d->out->partitions = n;
    qsort(made, n, sizeof *made, by_small);
    d->out->worst = made;
    while (d->out->worst_count < n && d->out->worst_count < WORST_MAX &&
           made[d->out->worst_count].small_files > 1)
        d->out->worst_count++;
    for (size_t i = 0; i < d->out->worst_count; i++) {
        const tn_merge_partition *m = merge_of(d->in->merge, tn_str_of(made[i].path));

        if (m != NULL)
            made[i].files_after -= m->input_count - m->output_count;
    }
    TN_TRY(list_codecs(d, codec_files));
    TN_TRY(list_others(d));
done:
    return rc;
}

/* What a merge would leave. Its outputs are equal shares of their inputs. */
static void count_after(doctoring *d)
{
    tarn_doctor_report *out = d->out;

    out->files_after = out->files;
    out->blocks_after = out->blocks;
    for (size_t i = 0; i < d->in->merge->partition_count; i++) {
        const tn_merge_partition *m = &d->in->merge->partitions[i];
        uint64_t each = m->output_count > 0 ? m->bytes / m->output_count : 0;

        for (size_t k = 0; k < m->input_count; k++)
            out->blocks_after -= tarn_doctor_blocks(m->inputs[k].size_bytes);
        out->blocks_after += m->output_count * tarn_doctor_blocks(each);
        out->files_after -= m->input_count - m->output_count;
    }
    out->map_tasks = out->blocks;
    out->map_tasks_after = out->blocks_after;
    out->name_node_bytes = tarn_doctor_name_node_bytes(out->blocks);
    out->name_node_bytes_after = tarn_doctor_name_node_bytes(out->blocks_after);
}

/* "2,304", as everything else that people read has it. */
typedef struct grouped {
    char text[32];
} grouped;

static const char *group_digits(grouped *out, uint64_t count)
{
    char *at = out->text + sizeof out->text - 1;

    *at = '\0';
    for (unsigned digits = 0; digits == 0 || count != 0; digits++, count /= 10) {
        if (digits != 0 && digits % 3 == 0)
            *--at = ',';
        *--at = (char)('0' + count % 10);
    }
    return at;
}

static int find_small(doctoring *d)
{
    const tn_merge_plan *merge = d->in->merge;
    uint64_t inputs = 0, outputs = 0;
    grouped words[5];
    tn_str evidence, cure = {0};
    int rc = TARN_OK;

    if (merge->partition_count == 0)
        return TARN_OK;
    for (size_t i = 0; i < merge->partition_count; i++) {
        inputs += merge->partitions[i].input_count;
        outputs += merge->partitions[i].output_count;
    }
    TN_TRY(tn_arena_print(d->cx, d->arena, &evidence,
                          "%s of %s files (%.0f%%) are fragments below %llu MiB, in %s of %s "
                          "partitions; merged they are %s",
                          group_digits(&words[0], inputs), group_digits(&words[1], d->out->files),
                          100.0 * (double)inputs / (double)d->out->files,
                          (unsigned long long)(d->in->small_bytes >> 20),
                          group_digits(&words[2], merge->partition_count),
                          group_digits(&words[3], d->out->partitions),
                          group_digits(&words[4], outputs)));
    TN_TRY(tn_arena_print(d->cx, d->arena, &cure, "tarn merge %.*s%s", TN_STR_ARG(d->quoted),
                          d->widen ? " --widen" : ""));
    for (size_t i = 0; i < merge->partition_count && merge->partition_count <= NAMED_MAX &&
                       merge->partition_count < d->out->partitions;
         i++) {
        tn_str word;

        TN_TRY(quote(d, merge->partitions[i].path, &word));
        TN_TRY(tn_arena_print(d->cx, d->arena, &cure, "%.*s --partition %.*s", TN_STR_ARG(cure),
                              TN_STR_ARG(word)));
    }
    TN_TRY(find(d, "small-files", TARN_SEVERITY_WARNING, evidence,
                "each batch, reducer or task leaves a file per partition, and nothing joins them",
                cure));
done:
    return rc;
}

/* "a; b; c; … 2 more" of what is named one by one. */
typedef struct naming {
    tn_buf text;
    size_t count;
    tn_str first;
} naming;

static void name_one(naming *n, tn_str directory, tn_str name, tn_str problem)
{
    bool whole = tn_str_starts(problem, directory) && directory.len > 0;

    if (n->count++ >= NAMED_MAX)
        return;
    if (n->count > 1)
        tn_buf_text(&n->text, "; ");
    if (!whole && name.len != 0)
        tn_buf_print(&n->text, "%.*s%s", TN_STR_ARG(name), problem.len != 0 ? ": " : "");
    tn_buf_str(&n->text, problem);
}

static int find_named(doctoring *d, naming *n, const char *kind, enum tarn_severity severity,
                      const char *cause, tn_str cure)
{
    int rc = TARN_OK;

    if (n->count > NAMED_MAX)
        tn_buf_print(&n->text, "; … %zu more", n->count - NAMED_MAX);
    TN_TRY(tn_buf_check(d->cx, &n->text));
    if (n->count > 0)
        TN_TRY(find(d, kind, severity, tn_buf_view(&n->text), cause, cure));
done:
    tn_buf_clear(&n->text);
    return rc;
}

static int find_damaged(doctoring *d)
{
    const tn_dir *dir = d->in->dir;
    naming files = {0}, places = {0}, pages = {0};
    tn_str cure = {0}, again;
    int rc = TARN_OK;

    for (size_t p = 0; p < dir->partition_count; p++) {
        const tn_dir_partition *partition = &dir->partitions[p];

        if (partition->problem.len != 0)
            name_one(&places, (tn_str){0}, (tn_str){0}, partition->problem);
        for (size_t i = 0; i < partition->file_count; i++) {
            const tn_dir_file *file = &partition->files[i];

            if (file->state != TN_FILE_DAMAGED)
                continue;
            if (files.count == 0)
                TN_TRY(
                    tn_path_join(d->cx, d->arena, partition->directory, file->name, &files.first));
            name_one(&files, dir->root, file->name, file->problem);
        }
    }
    for (size_t i = 0; i < d->in->probe_count; i++)
        name_one(&pages, dir->root, d->in->probes[i].path, d->in->probes[i].problem);
    if (files.count > 0) {
        TN_TRY(quote(d, files.first, &again));
        TN_TRY(tn_arena_print(d->cx, d->arena, &cure,
                              "write them again, or move them away: mv %.*s /elsewhere (until then "
                              "tarn read --skip-damaged %.*s)",
                              TN_STR_ARG(again), TN_STR_ARG(d->quoted)));
    }
    TN_TRY(find_named(d, &files, "damaged-files", TARN_SEVERITY_ERROR,
                      "a writer died or was killed, a copy was cut short, or another format bears "
                      "the name",
                      cure));
    TN_TRY(find_named(d, &pages, "damaged-pages", TARN_SEVERITY_ERROR,
                      "bytes changed on disk or on the way there after they were written",
                      TN_STR("restore these files from a copy or write them again")));
    TN_TRY(find_named(d, &places, "unreadable-directories", TARN_SEVERITY_ERROR,
                      "the user who asks may not list them, or they went away",
                      TN_STR("give read permission (chmod u+rx), or ask as their owner")));
done:
    tn_buf_clear(&files.text);
    tn_buf_clear(&pages.text);
    tn_buf_clear(&places.text);
    return rc;
}

static int find_drift(doctoring *d)
{
    tn_doctor_drift drift;
    tn_str cure;
    int rc = TARN_OK;

    d->out->schemas = d->in->dir->schema_count;
    d->out->schema_note = "";
    TN_TRY(tn_doctor_find_drift(d->cx, d->in->dir, d->in->merge, d->arena, &drift));
    if (drift.columns.len > 0)
        d->out->schema_note = drift.columns.ptr;
    if (drift.widened.len > 0) {
        d->widen = true;
        TN_TRY(tn_arena_print(d->cx, d->arena, &cure, "tarn merge %.*s --widen",
                              TN_STR_ARG(d->quoted)));
        TN_TRY(find(d, "schema-drift", TARN_SEVERITY_WARNING, drift.widened,
                    "a column was widened while old files stayed as they were", cure));
    }
    if (drift.types.len > 0)
        TN_TRY(find(d, "type-conflict", TARN_SEVERITY_ERROR, drift.types,
                    "writers disagree about the type of a column: some readers refuse such files, "
                    "others misread them",
                    TN_STR("write the files that differ again with the type of the others")));
done:
    return rc;
}

/* Files that merge leaves alone for their size, but whose row groups are crumbs. */
static int find_groups(doctoring *d)
{
    const tn_dir *dir = d->in->dir;
    naming files = {0};
    tn_str cure = {0}, word, path = {0}, text;
    int rc = TARN_OK;

    for (size_t p = 0; p < dir->partition_count; p++) {
        const tn_dir_partition *partition = &dir->partitions[p];

        for (size_t i = 0; i < partition->file_count; i++) {
            const tn_dir_file *file = &partition->files[i];
            uint64_t bytes = file->stat.size_bytes;

            if (!file->footer_seen || file->group_count < TINY_GROUPS_MIN ||
                bytes / file->group_count >= TINY_GROUP_BYTES)
                continue;
            if (files.count == 0)
                TN_TRY(tn_path_join(d->cx, d->arena, partition->directory, file->name, &path));
            TN_TRY(tn_arena_print(d->cx, d->arena, &text, "%u row groups of %llu KiB",
                                  (unsigned)file->group_count,
                                  (unsigned long long)(bytes / file->group_count >> 10)));
            name_one(&files, (tn_str){0}, file->name, text);
        }
    }
    if (files.count > 0) {
        TN_TRY(quote(d, path, &word));
        TN_TRY(tn_arena_print(d->cx, d->arena, &cure, "tarn read %.*s -o %.*s", TN_STR_ARG(word),
                              TN_STR_ARG(word)));
    }
    TN_TRY(find_named(d, &files, "tiny-row-groups", TARN_SEVERITY_WARNING,
                      "the writer flushed often, or files were joined without being rewritten: "
                      "scans, compression and footers suffer",
                      cure));
done:
    tn_buf_clear(&files.text);
    return rc;
}

static int find_leftovers(doctoring *d)
{
    const tn_dir *dir = d->in->dir;
    naming own = {0}, foreign = {0};
    tn_str cure = {0}, word;
    int rc = TARN_OK;

    for (size_t i = 0; i < d->in->leftover_count; i++)
        name_one(&own, (tn_str){0}, d->in->leftovers[i], (tn_str){0});
    TN_TRY(tn_arena_print(d->cx, d->arena, &cure, "tarn merge %.*s", TN_STR_ARG(d->quoted)));
    TN_TRY(find_named(d, &own, "leftover-staging", TARN_SEVERITY_WARNING,
                      "a merge or a write was killed, or the time of the old files that a merge "
                      "kept is over: the next merge or write repairs and cleans up",
                      cure));
    for (size_t i = 0; i < d->in->temporary_count; i++) {
        if (foreign.count == 0) {
            TN_TRY(tn_path_join(d->cx, d->arena, dir->root, d->in->temporary[i], &word));
            TN_TRY(quote(d, word, &word));
            TN_TRY(tn_arena_print(d->cx, d->arena, &cure, "when no writer is at work: rm -r %.*s",
                                  TN_STR_ARG(word)));
        }
        name_one(&foreign, (tn_str){0}, d->in->temporary[i], (tn_str){0});
    }
    TN_TRY(find_named(d, &foreign, "temporary-directories", TARN_SEVERITY_WARNING,
                      "a job of another engine failed before it cleaned up", cure));
done:
    tn_buf_clear(&own.text);
    tn_buf_clear(&foreign.text);
    return rc;
}

/* Summaries that are older than a file they should speak of. */
static int find_stale(doctoring *d)
{
    const tn_dir *dir = d->in->dir;
    naming stale = {0};
    int64_t newest = INT64_MIN;
    tn_str cure = {0}, path = {0}, word;
    int rc = TARN_OK;

    for (size_t p = 0; p < dir->partition_count; p++)
        for (size_t i = 0; i < dir->partitions[p].file_count; i++)
            if (dir->partitions[p].files[i].stat.mtime_ns > newest)
                newest = dir->partitions[p].files[i].stat.mtime_ns;
    for (size_t p = 0; p < dir->partition_count; p++) {
        const tn_dir_partition *partition = &dir->partitions[p];

        for (size_t i = 0; i < partition->other_count; i++) {
            const tn_dir_other *other = &partition->others[i];

            if ((!tn_str_is(other->name, "_metadata") &&
                 !tn_str_is(other->name, "_common_metadata")) ||
                other->stat.mtime_ns >= newest)
                continue;
            if (stale.count == 0)
                TN_TRY(tn_path_join(d->cx, d->arena, partition->directory, other->name, &path));
            name_one(&stale, (tn_str){0}, other->name, TN_STR("older than the files beside it"));
        }
    }
    if (stale.count > 0) {
        TN_TRY(quote(d, path, &word));
        TN_TRY(tn_arena_print(d->cx, d->arena, &cure, "rm %.*s", TN_STR_ARG(word)));
    }
    TN_TRY(find_named(d, &stale, "stale-summary", TARN_SEVERITY_WARNING,
                      "a writer without summaries added files: readers that trust the summary miss "
                      "them",
                      cure));
done:
    tn_buf_clear(&stale.text);
    return rc;
}

static void sort_findings(doctoring *d)
{
    for (size_t i = 1; i < d->out->finding_count; i++)
        for (size_t k = i; k > 0 && d->findings[k].severity < d->findings[k - 1].severity; k--) {
            tarn_finding moved = d->findings[k];

            d->findings[k] = d->findings[k - 1];
            d->findings[k - 1] = moved;
        }
}

int tn_plan_doctor(tarn_cx *cx, const tn_doctor_input *input, tn_arena *arena,
                   tarn_doctor_report *out)
{
    static const uint64_t limits[TARN_DOCTOR_BUCKETS] = {
        64ull << 10, 1ull << 20, 8ull << 20, 32ull << 20, 96ull << 20, 256ull << 20, 1ull << 30, 0};
    tarn_doctor_report report = {.block_bytes = BLOCK_BYTES,
                                 .replicas = REPLICAS,
                                 .replica_bytes = REPLICA_BYTES,
                                 .small_limit_bytes = input->small_bytes,
                                 .directories = input->dir->directories};
    doctoring d = {.cx = cx, .in = input, .arena = arena, .out = &report};
    tn_str path = input->dir->root;
    int rc = TARN_OK;

    assert(input->merge != NULL);
    d.findings = tn_arena_array(cx, arena, FINDINGS_MAX, sizeof *d.findings);
    if (d.findings == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < TARN_DOCTOR_BUCKETS; i++)
        report.buckets[i].below_bytes = limits[i];
    TN_TRY(tn_arena_keep(cx, arena, &path));
    report.path = path.ptr;
    TN_TRY(quote(&d, input->shown, &d.quoted));
    TN_TRY(count_all(&d));
    count_after(&d);
    TN_TRY(find_damaged(&d));
    TN_TRY(find_drift(&d));
    TN_TRY(find_small(&d));
    TN_TRY(find_groups(&d));
    TN_TRY(find_leftovers(&d));
    report.kept_undo = input->kept_count;
    report.merging = input->merging.len > 0 ? input->merging.ptr : "";
    TN_TRY(find_stale(&d));
    sort_findings(&d);
    report.findings = d.findings;
    *out = report;
done:
    return rc;
}

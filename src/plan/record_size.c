/* How many bytes a record takes: what every count of a write's plan is made from.
 * I1: exact sizes are whole numbers, at least 1; real ones are positive.
 * I2: sums of what files claim saturate and never overflow. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>

#include "plan/upsert_parts.h"

typedef struct sums {
    int64_t bytes, records;
} sums;

static int64_t add(int64_t a, int64_t b) /* I2 */
{
    int64_t sum;

    if (__builtin_add_overflow(a, b, &sum))
        return b > 0 ? INT64_MAX : INT64_MIN;
    return sum;
}

static int64_t clamped(uint64_t value)
{
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

static sums sum_of(const tn_commit_size *commit)
{
    sums sum = {0};

    for (size_t i = 0; i < commit->stat_count; i++) {
        sum.bytes = add(sum.bytes, clamped(commit->stats[i].bytes));
        sum.records = add(sum.records, commit->stats[i].writes);
    }
    return sum;
}

/* (long) (threshold * limit) of Java: cut towards zero, saturating. */
static int64_t threshold_of(const tn_sizing *sizing)
{
    double bytes = sizing->estimate_threshold * (double)sizing->small_file_bytes;

    if (bytes >= 0x1p63)
        return INT64_MAX;
    return bytes <= -0x1p63 ? INT64_MIN : (int64_t)bytes;
}

/* (long) Math.ceil(1.0 * bytes / records) of Java, with its rounding. */
static int64_t divide_up(int64_t bytes, int64_t records)
{
    double size = ceil(1.0 * (double)bytes / (double)records);

    return size >= 0x1p63 ? INT64_MAX : (int64_t)size;
}

/* Where a size came from, for people. */
typedef struct found {
    int64_t record_bytes; /* 0: nothing fits */
    const tn_commit_size *commit;
    size_t commits;
    sums of;
} found;

/* 0.15: the newest commit whose files have enough bytes. 1.1 and later: the same without replacing
 * commits, among the newest few, and without what is said to be metadata in each file. */
static found newest_that_fits(const tn_sizing *sizing, int32_t release,
                              const tn_commit_size *commits, size_t count)
{
    int64_t threshold = threshold_of(sizing), looked = 0;
    bool later = release >= TN_RELEASE_1_1;

    for (size_t i = 0; i < count; i++) {
        sums of;

        if (later && commits[i].replace)
            continue;
        if (later && looked++ >= sizing->commits_max)
            break;
        of = sum_of(&commits[i]);
        for (size_t k = 0; later && k < commits[i].stat_count; k++)
            of.bytes = add(of.bytes, -sizing->metadata_bytes);
        if (of.bytes > threshold && of.bytes > 0 && of.records > 0)
            return (found){divide_up(of.bytes, of.records), &commits[i], 1, of};
    }
    return (found){0};
}

/* 1.0.2: the mean over all of the newest few that have enough bytes; of a deltacommit each base
 * file is asked by itself. Rounded down. */
static found mean_of_fitting(const tn_sizing *sizing, const tn_commit_size *commits, size_t count)
{
    int64_t threshold = threshold_of(sizing), looked = 0;
    found all = {0};

    for (size_t i = 0; i < count; i++) {
        bool counted = false;

        if (commits[i].replace)
            continue;
        if (looked++ >= sizing->commits_max)
            break;
        for (size_t k = 0; k < (commits[i].delta ? commits[i].stat_count : 1); k++) {
            const tn_write_stat *stat = &commits[i].stats[k];
            sums of =
                commits[i].delta ? (sums){clamped(stat->bytes), stat->writes} : sum_of(&commits[i]);

            if (of.bytes <= threshold || of.bytes <= sizing->metadata_bytes || of.records <= 0)
                continue;
            all.of.bytes = add(all.of.bytes, add(of.bytes, -sizing->metadata_bytes));
            all.of.records = add(all.of.records, of.records);
            counted = true;
        }
        if (counted) {
            all.commit = &commits[i];
            all.commits++;
        }
    }
    if (all.of.bytes > 0 && all.of.records > 0) {
        all.record_bytes = all.of.bytes / all.of.records;
        /* Hudi would divide by zero next; less than a byte per record counts as one (I1). */
        all.record_bytes += all.record_bytes == 0;
    }
    return all;
}

static int exact_record_bytes(tarn_cx *cx, const tn_sizing *sizing, int32_t release,
                              const tn_commit_size *commits, size_t count, tn_arena *arena,
                              double *out, tn_str *why)
{
    found f = release == TN_RELEASE_1_0 ? mean_of_fitting(sizing, commits, count)
                                        : newest_that_fits(sizing, release, commits, count);
    int rc = TARN_OK;

    if (f.record_bytes == 0) {
        f.record_bytes = sizing->record_bytes;
        TN_TRY(tn_arena_print(cx, arena, why,
                              "hoodie.copyonwrite.record.size.estimate: no commit wrote more than "
                              "%" PRId64 " bytes",
                              threshold_of(sizing)));
    } else if (f.commits > 1)
        TN_TRY(tn_arena_print(cx, arena, why,
                              "%" PRId64 " bytes in %" PRId64 " records of %zu commits", f.of.bytes,
                              f.of.records, f.commits));
    else
        TN_TRY(tn_arena_print(cx, arena, why,
                              "%" PRId64 " bytes in %" PRId64 " records of commit %.*s", f.of.bytes,
                              f.of.records, TN_STR_ARG(f.commit->instant)));
    *out = (double)f.record_bytes;
done:
    return rc;
}

static int real_record_bytes(tarn_cx *cx, const tn_sizing *sizing, const tn_base_file *const *files,
                             size_t count, double input_record_bytes, tn_arena *arena, double *out,
                             tn_str *why)
{
    double bytes = 0, rows = 0;
    size_t known = 0;
    int rc = TARN_OK;

    for (size_t i = 0; i < count; i++)
        if (files[i]->rows > 0) {
            bytes += (double)tn_upsert_file_bytes(files[i]);
            rows += (double)files[i]->rows;
            known++;
        }
    if (rows > 0 && bytes > 0) {
        TN_TRY(tn_arena_print(cx, arena, why,
                              "%.0f bytes without key filters in %.0f rows of %zu files", bytes,
                              rows, known));
        *out = bytes / rows;
    } else if (input_record_bytes > 0) {
        TN_TRY(tn_arena_print(cx, arena, why, "as in the input: nothing is stored yet"));
        *out = input_record_bytes;
    } else {
        TN_TRY(tn_arena_print(cx, arena, why,
                              "hoodie.copyonwrite.record.size.estimate: nothing is stored yet"));
        *out = (double)sizing->record_bytes;
    }
done:
    return rc;
}

int tn_plan_record_bytes(tarn_cx *cx, const tn_sizing *sizing, int32_t table_version,
                         const tn_commit_size *commits, size_t commit_count,
                         const tn_base_file *const *files, size_t file_count,
                         double input_record_bytes, tn_arena *arena, double *out, tn_str *why)
{
    int32_t release = sizing->release;
    int rc = TARN_OK;

    assert(commit_count == 0 || commits != NULL);
    assert(file_count == 0 || files != NULL);
    TN_TRY(tn_upsert_check_sizing(cx, sizing));
    if (release == 0)
        release = table_version <= 6   ? TN_RELEASE_0_15
                  : table_version == 8 ? TN_RELEASE_1_0
                                       : TN_RELEASE_1_1;
    if (sizing->exact)
        TN_TRY(exact_record_bytes(cx, sizing, release, commits, commit_count, arena, out, why));
    else
        TN_TRY(
            real_record_bytes(cx, sizing, files, file_count, input_record_bytes, arena, out, why));
done:
    return rc;
}

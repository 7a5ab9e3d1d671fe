/* Options under Hudi's names, as one table.
 *
 * I1: every name is in the table, by itself or by a pattern, or it is refused: an option that looks
 *     right and does nothing is worse than an error.
 * I2: of one option given twice the one that counts more is looked at alone. */
#include "op/hudi_options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/near.h"

#define OPTION_FILE_BYTES_MAX (16u << 20)
#define WORDS_MAX             16

enum kind {
    IS_TEXT = 1,
    IS_LIST,
    IS_FLAG,
    IS_COUNT, /* int64_t, or uint64_t of the same range */
    IS_REAL,
    IS_WORD,  /* one of `words`, as int32_t index; "a=b" is another spelling of b */
    IS_SILENT /* its effect cannot be seen in the table */
};

typedef struct option {
    const char *name; /* "*" at the beginning or the end stands for anything */
    enum kind kind;
    size_t offset;
    const char *words; /* of IS_WORD: "SIMPLE BLOOM", the values in their order; of IS_FLAG and
                          IS_TEXT: the only value that tarn does, NULL: any */
    const char *why;   /* with `words`: what is the matter with others; of IS_WORD: other words */
} option;

#define AT(member) offsetof(tn_hudi_options, member)
#define TEXT(name, member)                                                                         \
    {                                                                                              \
        name, IS_TEXT, AT(member), NULL, NULL                                                      \
    }
#define LIST(name, member)                                                                         \
    {                                                                                              \
        name, IS_LIST, AT(member), NULL, NULL                                                      \
    }
#define FLAG(name, member)                                                                         \
    {                                                                                              \
        name, IS_FLAG, AT(member), NULL, NULL                                                      \
    }
#define COUNT(name, member)                                                                        \
    {                                                                                              \
        name, IS_COUNT, AT(member), NULL, NULL                                                     \
    }
#define REAL(name, member)                                                                         \
    {                                                                                              \
        name, IS_REAL, AT(member), NULL, NULL                                                      \
    }
#define WORD(name, member, all)                                                                    \
    {                                                                                              \
        name, IS_WORD, AT(member), all, NULL                                                       \
    }
/* `others`: words that Hudi has besides, and tarn does not do. */
#define WORD_OF(name, member, all, others)                                                         \
    {                                                                                              \
        name, IS_WORD, AT(member), all, others                                                     \
    }
#define ONLY(name, value, why)                                                                     \
    {                                                                                              \
        name, IS_TEXT, SIZE_MAX, value, why                                                        \
    }
#define SILENT(name)                                                                               \
    {                                                                                              \
        name, IS_SILENT, 0, NULL, NULL                                                             \
    }

#define TIMEBASED(prefix)                                                                          \
    TEXT(prefix "timestamp.type", time_type),                                                      \
        TEXT(prefix "timestamp.scalar.time.unit", timebased.scalar_unit),                          \
        TEXT(prefix "input.dateformat", timebased.input_format),                                   \
        TEXT(prefix "input.dateformat.list.delimiter.regex", timebased.input_delimiter),           \
        TEXT(prefix "input.timezone", timebased.input_zone),                                       \
        TEXT(prefix "output.dateformat", timebased.output_format),                                 \
        TEXT(prefix "output.timezone", timebased.output_zone),                                     \
        TEXT(prefix "timezone", timebased.zone)

/* clang-format off: one a line, so that names can be found. */
static const option table[] = {
    /* the table */
    TEXT("hoodie.table.name", name),
    TEXT("hoodie.datasource.write.table.name", name),
    TEXT("hoodie.database.name", database),
    TEXT("hoodie.table.type", type),
    TEXT("hoodie.datasource.write.table.type", type),
    COUNT("hoodie.table.version", version),
    COUNT("hoodie.write.table.version", version),
    LIST("hoodie.table.recordkey.fields", keys),
    LIST("hoodie.datasource.write.recordkey.field", keys),
    LIST("hoodie.table.partition.fields", partitions),
    LIST("hoodie.datasource.write.partitionpath.field", partitions),
    LIST("hoodie.table.precombine.field", ordering),
    LIST("hoodie.table.ordering.fields", ordering),
    LIST("hoodie.datasource.write.precombine.field", ordering),
    LIST("hoodie.payload.ordering.field", ordering),
    TEXT("hoodie.table.keygenerator.class", keygen),
    TEXT("hoodie.table.keygenerator.type", keygen),
    TEXT("hoodie.datasource.write.keygenerator.class", keygen),
    TEXT("hoodie.datasource.write.keygenerator.type", keygen),
    FLAG("hoodie.datasource.write.hive_style_partitioning", hive_style),
    FLAG("hoodie.datasource.write.partitionpath.urlencode", url_encode),
    FLAG("hoodie.datasource.write.slash.separated.date.partitioning", slash_dates),
    FLAG("hoodie.populate.meta.fields", meta_fields),
    TEXT("hoodie.table.timeline.timezone", timezone),
    TEXT("hoodie.datasource.write.payload.class", payload),
    TEXT("hoodie.compaction.payload.class", payload),
    TEXT("hoodie.write.payload.class", payload),
    TEXT("hoodie.record.merge.mode", merge_mode),
    TEXT("hoodie.write.record.merge.mode", merge_mode),
    TEXT("hoodie.payload.delete.field", delete_field),
    TEXT("hoodie.payload.delete.marker", delete_marker),
    TIMEBASED("hoodie.keygen.timebased."),
    TIMEBASED("hoodie.deltastreamer.keygen.timebased."),
    TIMEBASED("hoodie.streamer.keygen.timebased."),
    ONLY("hoodie.table.base.file.format", "PARQUET", "base files are Parquet"),
    ONLY("hoodie.base.file.format", "PARQUET", "base files are Parquet"),
    ONLY("hoodie.table.format", "native", "other table formats are not known"),
    ONLY("hoodie.table.cdc.enabled", "false", "change files are not written"),
    ONLY("hoodie.datasource.write.drop.partition.columns", "false",
         "partition columns stay in the files"),
    ONLY("hoodie.partition.metafile.use.base.format", "false", "partition metadata files are text"),
    SILENT("hoodie.archivelog.folder"),
    SILENT("hoodie.table.partition_extractor_class"),
    SILENT("hoodie.write.auto.upgrade"),

    /* what a write does */
    WORD("hoodie.datasource.write.operation", operation,
         "upsert insert bulk_insert delete insert_overwrite insert_overwrite_table "
         "delete_partition"),
    LIST("hoodie.datasource.write.partitions.to.delete", partitions_to_delete),
    FLAG("hoodie.combine.before.upsert", combine_upsert),
    FLAG("hoodie.combine.before.insert", combine_insert),
    FLAG("hoodie.combine.before.delete", combine_delete),
    FLAG("hoodie.merge.allow.duplicate.on.inserts", duplicate_inserts),
    FLAG("hoodie.write.set.null.for.missing.columns", null_missing),
    FLAG("hoodie.datasource.write.reconcile.schema", reconcile),
    FLAG("hoodie.write.complex.keygen.new.encoding", named_keys),
    FLAG("hoodie.datasource.write.keygenerator.consistent.logical.timestamp.enabled",
         consistent_times),
    WORD_OF("hoodie.bulkinsert.sort.mode", sort, "NONE GLOBAL_SORT PARTITION_SORT",
            "PARTITION_PATH_REPARTITION PARTITION_PATH_REPARTITION_AND_SORT"),
    ONLY("hoodie.datasource.write.insert.drop.duplicates", "false", "use --op upsert"),
    ONLY("hoodie.datasource.insert.dup.policy", "none", "use --op upsert"),
    ONLY("hoodie.write.partial.update.mode", "NONE", "partial updates are not done"),
    ONLY("hoodie.schema.on.read.enable", "false", "evolution on read is not done"),
    ONLY("hoodie.datasource.write.schema.allow.auto.evolution.column.drop", "false",
         "columns are not dropped"),
    ONLY("hoodie.allow.empty.commit", "true", "tell it by --extra"),
    ONLY("hoodie.write.concurrency.mode", "SINGLE_WRITER",
         "one writer at a time, under a lock of its own"),
    ONLY("hoodie.write.lock.provider",
         "org.apache.hudi.client.transaction.lock.InProcessLockProvider",
         "the lock is flock on .hoodie/.aux/tarn.lock, which Hudi's providers do not see"),
    ONLY("hoodie.metadata.enable", "false",
         "the metadata table is not maintained; see --drop-metadata-table"),
    ONLY("hoodie.clustering.inline", "false", "clustering does not run after a write"),
    ONLY("hoodie.write.record.positions", "true", "they are of logs"),

    /* sizes */
    COUNT("hoodie.parquet.max.file.size", sizing.max_file_bytes),
    COUNT("hoodie.parquet.small.file.limit", sizing.small_file_bytes),
    COUNT("hoodie.parquet.block.size", group_bytes),
    COUNT("hoodie.copyonwrite.record.size.estimate", sizing.record_bytes),
    FLAG("hoodie.copyonwrite.insert.auto.split", sizing.auto_split),
    COUNT("hoodie.copyonwrite.insert.split.size", sizing.split_rows),
    REAL("hoodie.record.size.estimation.threshold", sizing.estimate_threshold),
    COUNT("_hoodie.record.size.estimator.max.commits", sizing.commits_max),
    COUNT("hoodie.record.size.estimator.average.metadata.size", sizing.metadata_bytes),
    ONLY("hoodie.record.size.estimator.class",
         "org.apache.hudi.estimator.AverageRecordSizeEstimator", "other estimators are not known"),
    TEXT("hoodie.parquet.compression.codec", codec),

    /* the index */
    WORD_OF("hoodie.index.type", index, "SIMPLE BLOOM GLOBAL_SIMPLE GLOBAL_BLOOM BUCKET",
            "INMEMORY HBASE FLINK_STATE RECORD_INDEX GLOBAL_RECORD_LEVEL_INDEX RECORD_LEVEL_INDEX"),
    COUNT("hoodie.bucket.index.num.buckets", buckets),
    LIST("hoodie.bucket.index.hash.field", hash_fields),
    ONLY("hoodie.index.bucket.engine", "SIMPLE", "buckets whose number changes are not known"),
    FLAG("hoodie.bloom.index.prune.by.ranges", bloom_ranges),
    FLAG("hoodie.bloom.index.update.partition.path", global_bloom_moves),
    FLAG("hoodie.simple.index.update.partition.path", global_simple_moves),
    COUNT("hoodie.index.bloom.num_entries", filter_keys),
    REAL("hoodie.index.bloom.fpp", filter_fpp),
    WORD("hoodie.bloom.index.filter.type", filter_kind, "SIMPLE DYNAMIC_V0"),
    COUNT("hoodie.bloom.index.filter.dynamic.max.entries", filter_keys_max),

    /* failed writes, and waiting */
    WORD_OF("hoodie.clean.failed.writes.policy", clean, "EAGER LAZY", "NEVER"),
    WORD_OF("hoodie.cleaner.policy.failed.writes", clean, "EAGER LAZY", "NEVER"),
    COUNT("hoodie.client.heartbeat.interval_in_ms", heartbeat_ms),
    COUNT("hoodie.client.heartbeat.tolerable.misses", heartbeat_misses),
    COUNT("hoodie.write.lock.wait_time_ms", lock_wait_ms),

    /* what cannot matter here: Spark's parallelism, its timeline server, catalogs, metrics, and
     * services, which are commands of their own */
    SILENT("*.parallelism"),
    SILENT("hoodie.embed.timeline.*"),
    SILENT("hoodie.filesystem.*"),
    SILENT("hoodie.memory.*"),
    SILENT("hoodie.metrics.*"),
    SILENT("hoodie.metadata.*"),
    SILENT("hoodie.datasource.hive_sync.*"),
    SILENT("hoodie.datasource.meta.sync.*"),
    SILENT("hoodie.datasource.meta_sync.*"),
    SILENT("hoodie.meta.sync.*"),
    SILENT("hoodie.meta_sync.*"),
    SILENT("hoodie.gcp.bigquery.sync.*"),
    SILENT("hoodie.datasource.write.row.writer.enable"),
    SILENT("hoodie.datasource.write.streaming.*"),
    SILENT("hoodie.datasource.write.commitmeta.key.prefix"),
    SILENT("hoodie.datasource.compaction.async.enable"),
    SILENT("hoodie.datasource.clustering.*"),
    SILENT("hoodie.clustering.*"),
    SILENT("hoodie.compact.*"),
    SILENT("hoodie.compaction.*"),
    SILENT("hoodie.log.compaction.*"),
    SILENT("hoodie.logfile.*"),
    SILENT("hoodie.clean.*"),
    SILENT("hoodie.cleaner.*"),
    SILENT("hoodie.keep.*"),
    SILENT("hoodie.archive.*"),
    SILENT("hoodie.commits.archival.batch"),
    SILENT("hoodie.rollback.*"),
    SILENT("hoodie.markers.*"),
    SILENT("hoodie.write.markers.*"),
    SILENT("hoodie.write.status.*"),
    SILENT("hoodie.write.lock.*"),
    SILENT("hoodie.write.executor.*"),
    SILENT("hoodie.write.buffer.*"),
    SILENT("hoodie.write.complex.keygen.validation.enable"),
    SILENT("hoodie.client.*"),
    SILENT("hoodie.consistency.check.*"),
    SILENT("hoodie.fail.on.timeline.archiving"),
    SILENT("hoodie.finalize.*"),
    SILENT("hoodie.fs.*"),
    SILENT("hoodie.time.generator.*"),
    SILENT("hoodie.timeline.*"),
    SILENT("hoodie.parquet.page.size"),
    SILENT("hoodie.parquet.compression.ratio"),
    SILENT("hoodie.parquet.dictionary.enabled"),
    SILENT("hoodie.parquet.bloom.filter.enabled"),
    SILENT("hoodie.parquet.field_id.write.enabled"),
    SILENT("hoodie.hfile.*"),
    SILENT("hoodie.orc.*"),
    SILENT("hoodie.bloom.index.use.*"),
    SILENT("hoodie.bloom.index.bucketized.checking"),
    SILENT("hoodie.bloom.index.keys.per.bucket"),
    SILENT("hoodie.bloom.index.input.storage.level"),
    SILENT("hoodie.simple.index.*"),
    SILENT("hoodie.global.simple.index.*"),
    SILENT("hoodie.record.index.*"),
    SILENT("hoodie.avro.schema.*"),
    SILENT("hoodie.datasource.read.*"),
    SILENT("hoodie.payload.event.time.field"),
    SILENT("hoodie.auto.adjust.lock.configs"),
    SILENT("hoodie.auto.commit"),
    SILENT("hoodie.spark.*"),
    SILENT("hoodie.sql.*"),
};
/* clang-format on */

static const tn_hudi_options unset = {.hive_style = -1,
                                      .url_encode = -1,
                                      .slash_dates = -1,
                                      .meta_fields = -1,
                                      .operation = -1,
                                      .combine_upsert = -1,
                                      .combine_insert = -1,
                                      .combine_delete = -1,
                                      .duplicate_inserts = -1,
                                      .index = -1,
                                      .global_bloom_moves = -1,
                                      .global_simple_moves = -1,
                                      .bloom_ranges = -1,
                                      .filter_kind = -1,
                                      .sort = -1,
                                      .null_missing = -1,
                                      .reconcile = -1,
                                      .clean = -1,
                                      .named_keys = -1,
                                      .consistent_times = -1};

static bool matches(const char *pattern, tn_str name)
{
    tn_str p = tn_str_of(pattern);

    if (p.ptr[0] == '*')
        return tn_str_ends(name, tn_str_from(p, 1));
    if (p.ptr[p.len - 1] == '*')
        return tn_str_starts(name, (tn_str){p.ptr, p.len - 1});
    return tn_str_equal(name, p);
}

static const option *find(tn_str name)
{
    const option *found = NULL;

    for (size_t i = 0; i < sizeof table / sizeof *table && found == NULL; i++)
        if (matches(table[i].name, name))
            found = &table[i];
    return found;
}

static bool is_word(tn_str text, const char *word, size_t len)
{
    return text.len == len && strncasecmp(text.ptr, word, len) == 0;
}

static int read_flag(tarn_cx *cx, const tn_property *p, bool *out)
{
    if (!is_word(p->value, "true", 4) && !is_word(p->value, "false", 5))
        return tn_fail(cx, TARN_E_INVALID, "%.*s=%.*s: it is true or false", TN_STR_ARG(p->key),
                       TN_STR_ARG(p->value));
    *out = is_word(p->value, "true", 4);
    return TARN_OK;
}

static int read_number(tarn_cx *cx, const tn_property *p, bool whole, double *real, int64_t *count)
{
    char text[64], *end = NULL;

    if (p->value.len == 0 || p->value.len >= sizeof text)
        goto none;
    memcpy(text, p->value.ptr, p->value.len);
    text[p->value.len] = '\0';
    errno = 0;
    if (whole) {
        *count = strtoll(text, &end, 10);
        *real = (double)*count;
    } else {
        *real = strtod(text, &end);
    }
    if (errno == 0 && *end == '\0' && isfinite(*real))
        return TARN_OK;
none:
    return tn_fail(cx, TARN_E_INVALID, "%.*s=%.*s: it is no %s", TN_STR_ARG(p->key),
                   TN_STR_ARG(p->value), whole ? "whole number" : "number");
}

static int read_list(tarn_cx *cx, tn_arena *arena, tn_str text, tn_hudi_list *out)
{
    tn_hudi_list made = {0};

    made.items = tn_arena_array(cx, arena, text.len + 1, sizeof *made.items);
    if (made.items == NULL)
        return TARN_E_NOMEM;
    while (text.len != 0) {
        size_t end = tn_str_find(text, ',');
        tn_str item = {text.ptr, end};

        while (item.len != 0 && item.ptr[0] == ' ')
            item = tn_str_from(item, 1);
        while (item.len != 0 && item.ptr[item.len - 1] == ' ')
            item.len--;
        if (item.len != 0)
            made.items[made.count++] = item;
        text = tn_str_from(text, end + 1);
    }
    *out = made;
    return TARN_OK;
}

/* The place of a text among words; -1: it is none of them. */
static int32_t place_of(tn_str text, const char *words)
{
    int32_t i = 0;

    for (const char *at = words; at != NULL && *at != '\0'; i++) {
        size_t len = strcspn(at, " ");

        if (is_word(text, at, len))
            return i;
        at += len + (at[len] == ' ');
    }
    return -1;
}

static int read_word(tarn_cx *cx, const option *o, const tn_property *p, int32_t *out)
{
    int32_t place = place_of(p->value, o->words);

    if (place < 0)
        return tn_fail(cx, place_of(p->value, o->why) >= 0 ? TARN_E_UNSUPPORTED : TARN_E_INVALID,
                       "%.*s=%.*s: %s %s", TN_STR_ARG(p->key), TN_STR_ARG(p->value),
                       place_of(p->value, o->why) >= 0 ? "tarn does only" : "it is one of",
                       o->words);
    *out = place;
    return TARN_OK;
}

static int apply(tarn_cx *cx, tn_arena *arena, const option *o, const tn_property *p,
                 tn_hudi_options *out)
{
    char *at = (char *)out + (o->offset != SIZE_MAX ? o->offset : 0);
    int64_t count = 0;
    double real = 0;
    bool flag = false;
    int rc = TARN_OK;

    switch (o->kind) {
    case IS_TEXT:
        if (o->offset == SIZE_MAX &&
            (strcmp(o->words, "true") == 0 || strcmp(o->words, "false") == 0))
            TN_TRY(read_flag(cx, p, &flag));
        if (o->offset != SIZE_MAX)
            *(tn_str *)at = p->value;
        else if (!is_word(p->value, o->words, strlen(o->words)))
            TN_FAIL(TARN_E_UNSUPPORTED, "%.*s=%.*s: tarn does only %s: %s", TN_STR_ARG(p->key),
                    TN_STR_ARG(p->value), o->words, o->why);
        break;
    case IS_LIST:
        TN_TRY(read_list(cx, arena, p->value, (tn_hudi_list *)at));
        break;
    case IS_FLAG:
        TN_TRY(read_flag(cx, p, &flag));
        if (o->offset == AT(sizing.auto_split))
            *(bool *)at = flag;
        else
            *(int32_t *)at = flag;
        break;
    case IS_COUNT:
        TN_TRY(read_number(cx, p, true, &real, &count));
        if (count < 0 && o->offset != AT(sizing.small_file_bytes))
            TN_FAIL(TARN_E_INVALID, "%.*s=%.*s: it is not negative", TN_STR_ARG(p->key),
                    TN_STR_ARG(p->value));
        if (count == 0 && (o->offset == AT(group_bytes) || o->offset == AT(sizing.max_file_bytes)))
            TN_FAIL(TARN_E_INVALID, "%.*s=%.*s: it must be more than 0", TN_STR_ARG(p->key),
                    TN_STR_ARG(p->value));
        memcpy(at, &count, sizeof count);
        break;
    case IS_REAL:
        TN_TRY(read_number(cx, p, false, &real, &count));
        memcpy(at, &real, sizeof real);
        break;
    case IS_WORD:
        TN_TRY(read_word(cx, o, p, (int32_t *)at));
        break;
    case IS_SILENT:
        break;
    }
done:
    return rc;
}

int tn_hudi_options_pair(tarn_cx *cx, const char *text, tn_property *out)
{
    tn_str all = tn_str_of(text);
    size_t at = tn_str_find(all, '=');

    if (at == all.len || at == 0)
        return tn_fail(cx, TARN_E_INVALID, "%s: it is written NAME=VALUE", text);
    *out = (tn_property){{text, at}, tn_str_from(all, at + 1)};
    return TARN_OK;
}

/* Everything given, of each name what counts most. */
static int collect(tarn_cx *cx, const tarn_table_options *options, tn_arena *arena,
                   tn_properties *all)
{
    tn_store *store = NULL;
    tn_buf text = {0};
    tn_str path, kept;
    int rc = TARN_OK;

    if (options->config != NULL) {
        TN_TRY(tn_store_locate(cx, tn_str_of(options->config), arena, &store, &path));
        TN_TRY(tn_store_get(cx, store, path, OPTION_FILE_BYTES_MAX, &text));
        kept = tn_buf_view(&text);
        TN_TRY(tn_arena_keep(cx, arena, &kept));
        rc = tn_properties_parse(cx, kept, path, arena, all);
        /* Of a table it would be damage; here it is what the caller gave. */
        TN_TRY(rc == TARN_E_CORRUPT ? tn_fail_within(cx, TARN_E_INVALID, "--config") : rc);
    }
    for (size_t i = 0; i < options->set_count; i++) {
        tn_property p;

        TN_TRY(tn_hudi_options_pair(cx, options->set[i], &p));
        if (find(p.key) == NULL && !tn_str_starts(p.key, TN_STR("hoodie.")))
            TN_FAIL(TARN_E_INVALID, "%.*s: no option of Hudi; they begin with \"hoodie.\"",
                    TN_STR_ARG(p.key));
        TN_TRY(tn_properties_set(cx, arena, all, p.key, p.value));
    }
done:
    tn_store_close(store);
    tn_buf_clear(&text);
    return rc;
}

/* I1. */
static int unknown(tarn_cx *cx, tn_str name)
{
    tn_near near = {.typed = name};

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strchr(table[i].name, '*') == NULL)
            tn_near_offer(&near, tn_str_of(table[i].name));
    if (near.best.len != 0)
        return tn_fail(cx, TARN_E_INVALID, "%.*s: tarn knows no such option; did you mean %.*s?",
                       TN_STR_ARG(name), TN_STR_ARG(near.best));
    return tn_fail(cx, TARN_E_INVALID,
                   "%.*s: tarn does not know this option, and it may change the result; leave it "
                   "out",
                   TN_STR_ARG(name));
}

int tn_hudi_options_read(tarn_cx *cx, const tarn_table_options *options, tn_arena *arena,
                         void (*warn)(void *arg, const char *text), void *arg, tn_hudi_options *out)
{
    tn_hudi_options made = unset;
    tn_properties all = {0};
    tn_buf silent = {0};
    int rc = TARN_OK;

    tn_sizing_defaults(&made.sizing);
    TN_TRY(collect(cx, options, arena, &all));
    for (size_t i = 0; i < all.count; i++) {
        const tn_property *p = &all.items[i];
        const option *o = find(p->key);

        if (o == NULL && tn_str_starts(p->key, TN_STR("hoodie.")))
            TN_TRY(unknown(cx, p->key));
        if (o != NULL)
            TN_TRY(apply(cx, arena, o, p, &made));
        if (o == NULL || o->kind == IS_SILENT) {
            tn_buf_text(&silent, silent.len != 0 ? ", " : "");
            tn_buf_str(&silent, p->key);
        }
    }
    tn_buf_u8(&silent, '\0');
    TN_TRY(tn_buf_check(cx, &silent));
    if (silent.len > 1) {
        tn_str text;

        TN_TRY(
            tn_arena_print(cx, arena, &text, "without effect here: %s", (const char *)silent.data));
        if (warn != NULL)
            warn(arg, text.ptr);
    }
    *out = made;
done:
    tn_buf_clear(&silent);
    return rc;
}

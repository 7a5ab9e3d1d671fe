/* Splits: which parts of which files one reader (a map task) takes, as Hadoop decides it.
 *
 *     const char *paths[] = {"/data/events/dt=2024-05-12"};
 *     uint64_t max = 128 << 20;
 *     tarn_split_plan *plan = NULL;
 *     if (tarn_split(cx, paths, 1, &(tarn_split_options){.max_bytes = &max}, &plan) == TARN_OK)
 *         for (size_t i = 0; i < plan->split_count; i++)
 *             printf("%lld bytes\n", (long long)plan->splits[i].len);
 *     tarn_split_close(plan);
 *
 * The result is that of Hadoop 3.3.6 (of Hive 2.3.9's shim for TARN_SPLIT_HIVE_SHIM) on a file
 * system that tells the same blocks, to the order of splits, chunks and locations. What it refuses
 * is refused with its words, as INVALID.
 *
 * Thread rule: any thread, each with its own context. */
#ifndef TARN_SPLIT_H
#define TARN_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "context.h"

#ifdef __cplusplus
extern "C" {
#endif

enum tarn_split_api {
    TARN_SPLIT_COMBINE = 1, /* CombineFileInputFormat: small files share a split */
    TARN_SPLIT_HIVE_SHIM,   /* the same as Hive calls it: empty files and directories are dropped */
    TARN_SPLIT_FILE_NEW,    /* mapreduce's FileInputFormat: a split is of one file */
    TARN_SPLIT_FILE_OLD     /* mapred's FileInputFormat */
};

/* A set of files that share splits with each other only: those whose path begins with one of these.
 */
typedef struct tarn_split_pool {
    const char *const *prefixes;
    size_t prefix_count;
} tarn_split_pool;

/* A pointer that is NULL is a setting that is not set, which is not always the same as 0. With
 * locations, what is set here wins over what they say. */
typedef struct tarn_split_options {
    enum tarn_split_api api;        /* 0: that of the locations, else COMBINE */
    const uint64_t *max_bytes;      /* mapreduce.input.fileinputformat.split.maxsize */
    const uint64_t *min_bytes;      /* ….split.minsize */
    const uint64_t *min_node_bytes; /* ….split.minsize.per.node */
    const uint64_t *min_rack_bytes; /* ….split.minsize.per.rack */
    const uint64_t *split_count;    /* mapreduce.job.maps, for FILE_OLD; NULL: 2 */
    const uint64_t *block_bytes;    /* of files in a directory: see tarn_split */
    const bool *ignore_subdirs;     /* ….input.dir.nonrecursive.ignore.subdirs */
    const tarn_split_pool *pools;   /* for COMBINE */
    size_t pool_count;
    bool recursive; /* ….input.dir.recursive */
} tarn_split_options;

typedef struct tarn_split_chunk {
    const char *path;
    int64_t offset, len;
} tarn_split_chunk;

typedef struct tarn_split_part {
    int64_t len;
    const tarn_split_chunk *chunks;
    size_t chunk_count;
    const char *const *locations; /* hosts */
    size_t location_count;
} tarn_split_part;

/* What it points to lives until it is closed. */
typedef struct tarn_split_plan {
    enum tarn_split_api api;
    const tarn_split_part *splits;
    size_t split_count;
    uint64_t chunk_count;
    uint64_t files, bytes; /* of the input */
    uint64_t directories;  /* among the input */
    bool text_paths;       /* paths are text as the locations have them, not bytes of names */
} tarn_split_plan;

/* Plans splits of local directories and files. The files of a directory are its input but those
 * whose names begin with "_" or ".", in the order of their names. Without block_bytes every file is
 * one block on "localhost", as Hadoop's local file system tells it (the FILE apis cut at 128 MiB);
 * with it, files lie in blocks of that size, as on HDFS. Files are splittable unless their name
 * ends as one of gzip, snappy, lz4, zstd or deflate. NOTFOUND for a path where nothing is. */
TARN_API int tarn_split(tarn_cx *cx, const char *const *paths, size_t path_count,
                        const tarn_split_options *options, tarn_split_plan **plan);
/* Plans splits of files that JSON describes: an object with "files" and maybe "pools", "config" and
 * "api". `name` is what messages call it. docs/splits.md has the members. */
TARN_API int tarn_split_locations(tarn_cx *cx, const char *json, size_t len, const char *name,
                                  const tarn_split_options *options, tarn_split_plan **plan);
TARN_API void tarn_split_close(tarn_split_plan *plan);

#ifdef __cplusplus
}
#endif
#endif

/* A plain directory of Parquet files as a table: its partitions, files and footers, seen once and
 * then immutable. */
#ifndef TN_TABLE_DIR_H
#define TN_TABLE_DIR_H

#include "codec/parquet/meta.h"
#include "io/store.h"
#include "table/partition.h"
#include "task/task.h"

/* Why a file is not merged. */
enum tn_file_state {
    TN_FILE_GOOD = 0,
    TN_FILE_NOT_PARQUET, /* no magic: another format, left alone; such files are in `others` */
    TN_FILE_DAMAGED,     /* magic or name says Parquet, but it cannot be read; `problem` says why */
    TN_FILE_ENCRYPTED,
    TN_FILE_BUCKETED, /* Spark's bucketed naming */
    TN_FILE_SYMLINK   /* read, never merged away */
};

typedef struct tn_dir_group {
    int64_t rows;
    int64_t first_byte; /* of its first column chunk: the dictionary page, if there is one */
    int64_t compressed_bytes, uncompressed_bytes;
} tn_dir_group;

typedef struct tn_dir_file {
    tn_str name; /* in the partition's directory */
    tn_stat stat;
    enum tn_file_state state;
    tn_str problem;
    bool footer_seen; /* rows and what follows are known */
    int64_t rows;
    tn_dir_group *groups;
    uint32_t group_count;
    uint32_t schema; /* index into tn_dir.schemas */
    uint32_t keys;   /* index into tn_dir.key_sets: footer key-values */
    tn_str created_by;
    uint32_t codecs; /* bit set over enum tn_codec of its chunks */
    bool has_bloom, has_index, has_crc_file;
    uint64_t bloom_bytes;  /* as far as the footer states them */
    uint8_t *bloom_leaves; /* bit per leaf that has a bloom filter; NULL: none */
    /* Per leaf a bit set over enum tn_encoding of its pages in any row group, two bytes each,
     * little-endian; empty: unknown. Files that agree in it share the bytes. */
    tn_str encodings;
    bool faulty_deltas; /* tn_writer_faulty_deltas */
} tn_dir_file;

/* Something that is not data: hidden and "_" names, other formats, side files, sub-directories that
 * are no partitions. */
typedef struct tn_dir_other {
    tn_str name;
    tn_stat stat;
} tn_dir_other;

typedef struct tn_dir_partition {
    tn_str path;      /* below the root; "" is the root itself */
    tn_str directory; /* path in the store */
    tn_stat stat;
    tn_dir_file *files; /* sorted by name */
    size_t file_count;
    tn_dir_other *others; /* sorted by name */
    size_t other_count;
    uint64_t hidden_files, hidden_bytes; /* in hidden sub-directories; with count_hidden */
    bool hidden_unknown;                 /* some could not be listed */
    bool has_subdirs;                    /* of any name, hidden ones too */
    bool symlinked; /* it, or a directory above it below the root, is a symbolic link */
    bool mount_point, parent_unwritable;
    tn_str problem; /* why it could not be listed; empty: it was */
    tn_str busy; /* path below the root of a fresh _temporary, .hive-staging*, … in it or above;
                    empty: none */
    int64_t busy_age_ms;
} tn_dir_partition;

typedef struct tn_dir_schema {
    tn_element *elements;
    size_t element_count;
    tn_str bytes; /* Thrift bytes of a footer that holds nothing else: equal bytes, equal schema */
} tn_dir_schema;

typedef struct tn_dir_keys {
    tn_key_value *values;
    size_t count;
} tn_dir_keys;

typedef struct tn_dir {
    tn_arena arena;
    tn_arena *parts; /* arenas filled in parallel, one per run of files or directories */
    size_t part_count;
    tn_str root; /* path in the store */
    tn_str work; /* where lock, staging and undo go (beside, else inside) */
    bool work_inside;
    bool exchange;  /* the file system of the root can exchange directories */
    uint64_t mount; /* of the root */
    int64_t seen_ms;
    tn_dir_partition *partitions; /* sorted by path; those without files or others are left out */
    size_t partition_count;
    tn_dir_schema *schemas; /* numbered by first appearance */
    size_t schema_count;
    tn_dir_keys *key_sets; /* numbered by first appearance */
    size_t key_set_count;
    tn_str *leftovers; /* staging and undo directories of earlier runs */
    size_t leftover_count;
    uint64_t directories; /* listed in all */
} tn_dir;

typedef struct tn_dir_options {
    const tn_str
        *partitions; /* only these ("dt=2024-05-12", a prefix of levels allowed); NULL: all */
    size_t partition_count;
    bool no_footers;              /* names and sizes only; every file then counts as GOOD */
    uint64_t footers_below_bytes; /* read footers only of files smaller than this, others count as
                                     GOOD; 0: of all */
    bool count_hidden;            /* look into hidden sub-directories, to count what is there */
    bool for_write;               /* refuse tables of other kinds by name */
    bool looks;                   /* nothing is to be changed, so a refusal need not say so */
    bool probe; /* try for real where staging can go and whether directories can be exchanged */
} tn_dir_options;

/* Loads it: lists directories and reads footers in parallel. A path that is not a directory, or is
 * missing: a clear status. Files that cannot be read do not fail the load; they are DAMAGED. A
 * sub-directory that cannot be listed is a partition with `problem`. */
int tn_dir_load(tarn_cx *cx, tn_store *store, tn_str root, const tn_dir_options *options,
                tn_dir *out);
/* Reads the footers that a load with no_footers left out, of the partitions that are still in
 * `dir`: a caller may drop some in between. */
int tn_dir_load_footers(tarn_cx *cx, tn_store *store, tn_dir *dir);
void tn_dir_clear(tn_dir *dir);

/* True for names that are no data: "_…" and "." prefixes unless "_x=…", and "*._COPYING_". */
bool tn_dir_hidden_name(tn_str name);
/* Spark's bucketed naming: "…_NNNNN.c000…". */
bool tn_dir_bucketed_name(tn_str name);
/* Marks of a writer at work: _temporary, .hive-staging*, .spark-staging*, *._COPYING_. */
bool tn_dir_busy_name(tn_str name);

/* Text naming the table of another kind that a directory's own name and its entries show, or empty.
 */
tn_str tn_dir_foreign_kind(tn_str directory, const tn_entry *entries, size_t count);
/* The status for a table of such a kind at `where`; `looks` as in tn_dir_options. */
int tn_dir_refuse(tarn_cx *cx, tn_str root, tn_str where, tn_str kind, bool looks);
/* UNSUPPORTED when `root` lies in a table of another kind. */
int tn_dir_check_parents(tarn_cx *cx, tn_store *store, tn_str root, bool looks);

/* How the directories of a probe begin; a crash may leave them in the work directory. */
#define TN_DIR_PROBE_PREFIX ".probe-"
/* The two places a work directory can have: "/a/.NAME.tarn" for "/a/NAME", and "/a/NAME/.tarn".
 * A long NAME is cut. */
int tn_dir_work_names(tarn_cx *cx, tn_arena *arena, tn_str root, tn_str *beside, tn_str *inside);

#endif

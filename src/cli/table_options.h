/* Options that say what a Hudi table is, shared by create and write. */
#ifndef CLI_TABLE_OPTIONS_H
#define CLI_TABLE_OPTIONS_H

#include "cmd.h"
#include "names.h"
#include "tarn/table.h"

/* Member `table` of the values of a command. */
struct table_values {
    struct cmd_list key, partition, ordering, set;
    const char *type, *keygen, *payload, *merge_mode, *timezone, *name, *database, *config;
    int version; /* index into 6, 8, 9; -1: not given */
    bool hive_style, url_encode, no_meta_fields;
};

extern const char *const table_versions[];

/* clang-format off: one a line, as in the help. */
#define TABLE_OPTIONS(values)                                                                      \
    CMD_TEXT_LIST(values, table.key, "key", 'k', "A,B,…", "columns of the record key"),            \
        CMD_TEXT_LIST(values, table.partition, "partition", 0, "A,B,…",                            \
                      "columns that partition the table; COL:timestamp with --keygen custom"),     \
        CMD_TEXT_LIST(values, table.ordering, "ordering", 0, "A,B,…",                              \
                      "of rows of one key the one with the greatest value stays"),                 \
        CMD_TEXT(values, table.type, "type", 0, "TYPE", "of a new table: cow (cow)"),              \
        CMD_CHOICE(values, table.version, "table-version", 0, "N", table_versions,                 \
                   "of a new table: 6, 8 or 9 (6, which every engine reads)"),                     \
        CMD_TEXT(values, table.keygen, "keygen", 0, "NAME",                                        \
                 "simple, complex, non_partition, timestamp or custom (by the columns)"),          \
        CMD_FLAG(values, table.hive_style, "hive-style", 0, "partition paths are COL=VALUE"),      \
        CMD_FLAG(values, table.url_encode, "url-encode", 0, "partition paths are escaped"),        \
        CMD_FLAG(values, table.no_meta_fields, "no-meta-fields", 0, "files have no meta columns"), \
        CMD_TEXT(values, table.merge_mode, "merge-mode", 0, "MODE",                                \
                 "commit_time or event_time (event_time with --ordering)"),                        \
        CMD_TEXT(values, table.payload, "payload", 0, "CLASS",                                     \
                 "a payload class that means one of them"),                                        \
        CMD_TEXT(values, table.timezone, "timezone", 0, "ZONE",                                    \
                 "of instants: utc or local (utc)"),                                               \
        CMD_TEXT(values, table.name, "name", 0, "NAME", "of the table (its directory's)"),         \
        CMD_TEXT(values, table.database, "database", 0, "NAME", "of the table (none)"),            \
        CMD_TEXT_LIST(values, table.set, "set", 0, "hoodie.X=Y", "an option under Hudi's name"),   \
        CMD_TEXT(values, table.config, "config", 0, "FILE", "properties file with such options")
/* clang-format on */

/* What the options point to. */
struct table_names {
    struct names keys, partitions, ordering;
};

/* False when memory is short. The names are to be cleared in either case. */
bool table_options_of(const struct table_values *values, struct table_names *names,
                      tarn_table_options *out);
void table_options_clear(struct table_names *names);

#endif

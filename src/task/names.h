/* Names that columns had when files were written, where a table knows its columns by number (Hudi's
 * schema on read): plain values. */
#ifndef TN_TASK_NAMES_H
#define TN_TASK_NAMES_H

#include "base/str.h"

/* A field of files that has another name today. */
typedef struct tn_scan_rename {
    tn_str path; /* in the file: names joined by "."; of lists "element", of maps "key", "value" */
    tn_str name; /* today's last part; {NULL, 0}: it is no column any more */
} tn_scan_rename;

/* The names of files that were written from an instant on. */
typedef struct tn_scan_version {
    tn_str since;
    const tn_scan_rename *renames; /* sorted by path */
    size_t count;
} tn_scan_version;

typedef struct tn_scan_names {
    const tn_scan_version *versions; /* sorted by `since` */
    size_t count;
} tn_scan_names;

/* The version of files that were written at an instant: the last that began until then, else the
 * first. NULL: there is none. */
static inline const tn_scan_version *tn_scan_names_at(const tn_scan_names *names, tn_str instant)
{
    const tn_scan_version *found = NULL;

    if (names == NULL || names->count == 0)
        return NULL;
    found = &names->versions[0];
    for (size_t i = 1; i < names->count; i++)
        if (tn_str_compare(names->versions[i].since, instant) <= 0)
            found = &names->versions[i];
    return found;
}

#endif

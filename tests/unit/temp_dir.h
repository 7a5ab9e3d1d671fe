/* A directory of the test's own on the real disk. */
#ifndef TN_TEST_TEMP_DIR_H
#define TN_TEST_TEMP_DIR_H

#include "unit/test.h"

#include <dirent.h>
#include <unistd.h>

static inline void temp_dir_make(char *path, size_t size)
{
    const char *base = getenv("TMPDIR");

    snprintf(path, size, "%s/tarn-test-XXXXXX", base != NULL ? base : "/tmp");
    assert_non_null(mkdtemp(path));
}

static inline void temp_dir_remove(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    char below[4096];

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (snprintf(below, sizeof below, "%s/%s", path, entry->d_name) >= (int)sizeof below)
            continue;
        if (entry->d_type == DT_DIR)
            temp_dir_remove(below);
        else
            unlink(below);
    }
    if (dir != NULL)
        closedir(dir);
    rmdir(path);
}

#endif

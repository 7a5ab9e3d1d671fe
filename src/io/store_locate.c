/* From what a user typed to a store and a path in it. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/limits.h"
#include "io/store.h"
#include "io/store_error.h"

/* Length of "abc" in "abc://…" or "file:/…"; 0 when there is no scheme. */
static size_t scheme_length(tn_str text)
{
    size_t n = tn_str_find(text, ':');

    if (n == 0 || n == text.len || n > 32)
        return 0;
    for (size_t i = 0; i < n; i++) {
        char c = text.ptr[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
              (i > 0 && ((c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.'))))
            return 0;
    }
    if (tn_str_starts(tn_str_from(text, n), TN_STR("://")) ||
        (tn_str_starts(text, TN_STR("file:/"))))
        return n;
    return 0;
}

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static int decode(tarn_cx *cx, tn_arena *arena, tn_str text, tn_str *out)
{
    char *bytes = tn_arena_take(cx, arena, text.len + 1);
    size_t n = 0;

    if (bytes == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '%' && i + 2 < text.len && hex(text.ptr[i + 1]) >= 0 &&
            hex(text.ptr[i + 2]) >= 0) {
            bytes[n++] = (char)(hex(text.ptr[i + 1]) << 4 | hex(text.ptr[i + 2]));
            i += 2;
        } else {
            bytes[n++] = text.ptr[i];
        }
    }
    *out = (tn_str){bytes, n};
    return TARN_OK;
}

/* The path of a file: URL. Engines write the bytes of a path into it as they are, browsers and
 * RFC 8089 escape them: the literal path wins when there is something at it. */
static int path_of_url(tarn_cx *cx, tn_arena *arena, tn_str url, tn_str *out)
{
    tn_str path = tn_str_from(url, 5);
    struct stat stat;
    int rc = TARN_OK;

    if (tn_str_starts(path, TN_STR("//localhost/")))
        path = tn_str_from(path, 11);
    else if (tn_str_starts(path, TN_STR("///")))
        path = tn_str_from(path, 2);
    else if (tn_str_starts(path, TN_STR("//")))
        TN_FAIL(TARN_E_UNSUPPORTED,
                "%.*s: names another host; write file:///path for a path on this one",
                TN_STR_ARG(url));
    TN_TRY(tn_arena_keep(cx, arena, &path));
    if (tn_str_find(path, '%') != path.len && lstat(path.ptr, &stat) != 0)
        TN_TRY(decode(cx, arena, path, &path));
    *out = path;
done:
    return rc;
}

/* The part that exists with its links resolved, then the rest as it is. `path` ends in NUL. */
static int resolve(tarn_cx *cx, tn_arena *arena, tn_str path, tn_str *out)
{
    char *found = realpath(path.ptr, NULL);
    tn_str parent, name, base;
    int rc = TARN_OK;

    if (found != NULL) {
        *out = tn_str_of(found);
        TN_TRY(tn_arena_keep(cx, arena, out));
        goto done;
    }
    if (errno != ENOENT)
        TN_TRY(tn_store_error(cx, errno, "find it", path));
    while (path.len > 1 && path.ptr[path.len - 1] == '/')
        path.len--;
    name = tn_path_name(path);
    if (name.len == 0 || tn_str_is(name, "..") || tn_str_is(name, "."))
        TN_FAIL(TARN_E_NOTFOUND, "%.*s: no such directory; check the name", TN_STR_ARG(path));
    parent = name.len == path.len ? TN_STR(".") : tn_path_parent(path);
    TN_TRY(tn_arena_keep(cx, arena, &parent));
    TN_TRY(resolve(cx, arena, parent, &base));
    TN_TRY(tn_path_join(cx, arena, base, name, out));
done:
    free(found);
    return rc;
}

int tn_store_locate(tarn_cx *cx, tn_str text, tn_arena *arena, tn_store **store, tn_str *path)
{
    size_t scheme = scheme_length(text);
    tn_str found = text;
    tn_store *opened = NULL;
    int rc;

    if (text.len == 0)
        TN_FAIL(TARN_E_INVALID, "an empty path; name a file or a directory (\".\" is this one)");
    if (memchr(text.ptr, '\0', text.len) != NULL)
        TN_FAIL(TARN_E_INVALID, "a path with a NUL byte in it");
    if (text.len > TN_PATH_BYTES_MAX)
        TN_FAIL(TARN_E_LIMIT, "a path of %zu bytes; the longest allowed has %d", text.len,
                TN_PATH_BYTES_MAX);
    if (scheme == 4 && tn_str_starts(text, TN_STR("file:")))
        TN_TRY(path_of_url(cx, arena, text, &found));
    else if (scheme != 0)
        TN_FAIL(TARN_E_UNSUPPORTED,
                "%.*s: storage \"%.*s\" is not supported; name a local path or file:///path",
                TN_STR_ARG(text), (int)scheme, text.ptr);
    TN_TRY(tn_arena_keep(cx, arena, &found));
    TN_TRY(resolve(cx, arena, found, &found));
    TN_TRY(tn_store_local_open(cx, &opened));
    *store = opened;
    *path = found;
done:
    return rc;
}

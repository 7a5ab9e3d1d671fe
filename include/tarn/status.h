/* Status codes: what the caller can do about a failure. The text of a failure is in the context. */
#ifndef TARN_STATUS_H
#define TARN_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#define TARN_API __attribute__((visibility("default")))

enum tarn_status {
    TARN_OK = 0,
    TARN_E_NOTFOUND = 1,    /* the named thing is not there */
    TARN_E_EXISTS = 2,      /* put-if-absent lost: somebody was first */
    TARN_E_CONFLICT = 3,    /* the table changed since the plan: plan again */
    TARN_E_CORRUPT = 4,     /* bytes do not follow their format */
    TARN_E_UNSUPPORTED = 5, /* valid, but tarn does not do it */
    TARN_E_INVALID = 6,     /* the caller's options are wrong */
    TARN_E_LIMIT = 7,       /* a named limit or the memory budget was met */
    TARN_E_IO = 8,          /* the store failed */
    TARN_E_NOMEM = 9,       /* an allocation failed */
    TARN_E_CANCELLED = 10,  /* the caller asked to stop */
    TARN_E_DATA = 11        /* what the rows hold does not fit: correct them, or pass them over */
};

/* "CORRUPT" for TARN_E_CORRUPT; never NULL. Thread-safe. */
TARN_API const char *tarn_status_name(int status);

#ifdef __cplusplus
}
#endif
#endif

/* Names of the status codes. */
#include "tarn/status.h"

const char *tarn_status_name(int status)
{
    static const char *const names[] = {"OK",      "NOTFOUND",    "EXISTS",    "CONFLICT",
                                        "CORRUPT", "UNSUPPORTED", "INVALID",   "LIMIT",
                                        "IO",      "NOMEM",       "CANCELLED", "DATA"};

    if (status < 0 || (unsigned)status >= sizeof names / sizeof names[0])
        return "UNKNOWN";
    return names[status];
}

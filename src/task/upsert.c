/* Names of a write's operations. */
#include "task/upsert.h"

#include <assert.h>

const char *tn_operation_name(enum tn_operation operation)
{
    static const char *const names[] = {"UPSERT",           "INSERT",
                                        "BULK_INSERT",      "DELETE",
                                        "INSERT_OVERWRITE", "INSERT_OVERWRITE_TABLE",
                                        "DELETE_PARTITION"};

    assert((size_t)operation < sizeof names / sizeof names[0]);
    return names[operation];
}

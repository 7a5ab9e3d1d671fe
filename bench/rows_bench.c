/* Reads all rows of a path through the public stream and drops them: rows_bench PATH [COLUMN ...].
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tarn/read.h"

int main(int argc, char **argv)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tarn_read_options options = {0};
    struct ArrowArrayStream stream = {0};
    struct ArrowArray batch = {0};
    const char *columns[64];
    long long rows = 0;
    int rc = cx != NULL && argc >= 2 ? TARN_OK : TARN_E_INVALID;

    for (int i = 2; i < argc && i - 2 < 64; i++)
        columns[options.column_count++] = argv[i];
    options.columns = options.column_count != 0 ? columns : NULL;
    if (rc == TARN_OK)
        rc = tarn_read_open(cx, argv[1], &options, &stream);
    while (rc == TARN_OK) {
        if (stream.get_next(&stream, &batch) != 0)
            rc = TARN_E_IO;
        if (rc != TARN_OK || batch.release == NULL)
            break;
        rows += batch.length;
        batch.release(&batch);
    }
    printf("%lld rows\n", rows);
    if (rc != TARN_OK)
        fprintf(stderr, "rows_bench: %s\n", cx != NULL ? tarn_cx_error(cx) : "out of memory");
    if (stream.release != NULL)
        stream.release(&stream);
    tarn_cx_close(cx);
    return rc == TARN_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

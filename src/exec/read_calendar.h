/* Dates and times of the old hybrid calendar, moved to the one that everybody reads today. */
#ifndef TN_EXEC_READ_CALENDAR_H
#define TN_EXEC_READ_CALENDAR_H

#include "base/arena.h"
#include "codec/parquet/calendar.h"
#include "codec/parquet/file.h"
#include "tarn/batch.h"

typedef struct tn_read_calendar {
    const tn_parquet *file;
    tn_calendars calendars;
    bool utc;       /* hybrid times are moved exactly */
    uint8_t *doubt; /* per leaf: what was met that cannot be known */
} tn_read_calendar;

int tn_read_calendar_init(tarn_cx *cx, const tn_parquet *file, tn_arena *arena,
                          tn_read_calendar *out);
/* Moves the old values of a column (the file's top-level column `column`) in place. */
int tn_read_calendar_apply(tarn_cx *cx, tn_read_calendar *self, uint32_t column,
                           const struct ArrowSchema *schema, struct ArrowArray *array);
/* Whether the bounds that the file states for the column may be of values that get moved. */
bool tn_read_calendar_moves(const tn_read_calendar *self, uint32_t column);
/* What the reader of the rows should know, as text that begins with the file's path; false when
 * there is nothing to say. */
bool tn_read_calendar_note(const tn_read_calendar *self, char *text, size_t size);

#endif

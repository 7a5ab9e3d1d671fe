/* Hands out the batches of a read, in order.
 *
 *   files ── small ones: a wave of them is read in parallel, a file a thread, and queued
 *         ── large ones: one at a time, its columns decoded in parallel
 *
 * I1: batches leave in the order of the files, whatever thread made them.
 * I2: what is queued was decoded from about a quarter of the memory budget at most.
 * I3: with a limit waves begin with one file and double, so that a few rows open a few files. */
#include "op/op_read.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/pool.h"
#include "batch/rows.h"
#include "batch/stream.h"

#define WAVE_FILES_MAX   256
#define SMALL_BYTES_MAX  (16ull << 20)
#define LIMIT_BATCH_MIN  1024
#define BATCH_ROWS_USUAL 65536

/* What one file of a wave gave. */
typedef struct unit {
    struct ArrowArray *batches;
    size_t count, cap;
    tn_scan_counts counts;
    int status;
    char *text; /* of a failure, or what to know about the rows; NULL: nothing */
} unit;

typedef struct stream {
    tn_read *read;
    size_t next_file;
    unit *units; /* of the wave */
    size_t unit_count, unit_at, batch_at;
    size_t wave_files; /* of the next wave at most */
    tn_exec_read *large;
    tn_scan_task large_task;
    uint64_t rows_left; /* of the limit */
    char error[TN_ERROR_TEXT_MAX];
} stream;

static void unit_clear(unit *u)
{
    for (size_t i = 0; i < u->count; i++)
        tn_array_release(&u->batches[i]);
    free(u->batches);
    free(u->text);
    *u = (unit){0};
}

static void wave_clear(stream *s)
{
    for (size_t i = 0; i < s->unit_count; i++)
        unit_clear(&s->units[i]);
    s->unit_count = s->unit_at = s->batch_at = 0;
}

void tn_read_add_counts(tarn_read_counts *to, const tn_scan_counts *from)
{
    to->files += from->files;
    to->groups += from->groups;
    to->groups_read += from->groups_read;
    to->pages_dropped += from->pages_dropped;
    to->rows_read += from->rows_read;
    to->rows_out += from->rows_out;
}

static tn_scan_task task_of(const stream *s, size_t file)
{
    tn_scan_task task = s->read->task;

    task.path = s->read->files[file].path;
    task.partition = s->read->files[file].partition;
    task.slice = s->read->files[file].slice;
    if (s->read->has_limit && s->rows_left < BATCH_ROWS_USUAL)
        task.batch_rows = task.filter != NULL              ? BATCH_ROWS_USUAL / 8
                          : s->rows_left < LIMIT_BATCH_MIN ? LIMIT_BATCH_MIN
                                                           : (int64_t)s->rows_left;
    return task;
}

static int unit_add(tarn_cx *cx, unit *u, struct ArrowArray *batch)
{
    if (tn_grow(cx, &u->batches, u->count, &u->cap, sizeof *u->batches) != TARN_OK)
        return TARN_E_NOMEM;
    tn_array_move(batch, &u->batches[u->count++]);
    return TARN_OK;
}

/* What messages call a file, or a slice without a base file. */
static tn_str name_of(const tn_read_file *file)
{
    return file->path.len != 0 || file->slice == NULL ? file->path : file->slice->logs[0].path;
}

/* Says what the reader of a file's rows should know. */
static void say(const tn_read *read, const char *text)
{
    if (read->warn != NULL && text != NULL)
        read->warn(read->warn_arg, text);
}

/* Keeps the note for the caller's thread. */
static int take_note(tarn_cx *cx, const tn_exec_read *reader, unit *u)
{
    char text[TN_ERROR_TEXT_MAX];

    if (!tn_exec_read_note(reader, text, sizeof text))
        return TARN_OK;
    u->text = strdup(text);
    return u->text != NULL ? TARN_OK : tn_fail_memory(cx);
}

static int read_whole(tarn_cx *cx, const stream *s, size_t file, unit *u)
{
    tn_scan_task task = task_of(s, file);
    tn_exec_read *reader = NULL;
    struct ArrowArray batch = {0};
    uint64_t rows = 0;
    int rc = TARN_OK;

    TN_TRY(tn_exec_read_open(cx, s->read->store, &task, &reader));
    for (;;) {
        TN_TRY(tn_exec_read_next(cx, reader, &batch));
        if (batch.length == 0)
            break;
        rows += (uint64_t)batch.length;
        TN_TRY(unit_add(cx, u, &batch));
        if (s->read->has_limit && rows >= s->rows_left)
            break;
    }
    TN_TRY(take_note(cx, reader, u));
done:
    if (reader != NULL)
        tn_exec_read_counts(reader, &u->counts);
    tn_array_release(&batch);
    tn_exec_read_close(reader);
    return rc;
}

/* Why a file could not be read: of a Hudi table that is cleaned meanwhile it may be gone. */
static int explain(tarn_cx *cx, const stream *s, size_t file, int rc)
{
    if (rc != TARN_E_NOTFOUND || s->read->hudi == NULL)
        return rc;
    return tn_read_hudi_gone(cx, s->read, name_of(&s->read->files[file]));
}

/* A failure is the unit's: the wave goes on, and the order decides which is reported. */
static int read_unit(tarn_cx *cx, size_t i, void *arg)
{
    stream *s = arg;
    unit *u = &s->units[i];
    size_t file = s->next_file + i;
    int rc = explain(cx, s, file, read_whole(cx, s, file, u));

    if (rc == TARN_OK || rc == TARN_E_CANCELLED || rc == TARN_E_NOMEM)
        return rc;
    u->status = rc;
    u->text = strdup(tarn_cx_error(cx));
    tn_cx_forget(cx);
    return u->text != NULL ? TARN_OK : tn_fail_memory(cx);
}

/* How many of the next files are small enough to be read as a wave. */
static size_t wave_size(tarn_cx *cx, const stream *s)
{
    uint64_t budget = tn_budget_bytes(cx), bytes = 0;
    size_t n = 0;

    budget = budget == UINT64_MAX ? TN_MEMORY_DEFAULT_BYTES / 4 : budget / 4;
    while (n < s->wave_files && s->next_file + n < s->read->file_count) {
        const tn_read_file *file = &s->read->files[s->next_file + n];

        if (file->bytes > SMALL_BYTES_MAX || bytes + file->bytes > budget)
            break;
        bytes += file->bytes;
        n++;
    }
    return n;
}

static int read_wave(tarn_cx *cx, stream *s, size_t files)
{
    int rc = TARN_OK;

    assert(s->unit_at == s->unit_count && files <= WAVE_FILES_MAX);
    wave_clear(s);
    s->unit_count = files;
    TN_TRY(tn_parallel(cx, files, read_unit, s));
    s->next_file += files;
    s->wave_files = s->wave_files * 2 < WAVE_FILES_MAX ? s->wave_files * 2 : WAVE_FILES_MAX;
done:
    return rc;
}

/* True when a failure only costs its file. */
static bool is_skippable(const tn_read *read, int status)
{
    return read->skip_damaged &&
           (status == TARN_E_CORRUPT || status == TARN_E_UNSUPPORTED || status == TARN_E_LIMIT);
}

/* The next batch of the wave; *out stays released when there is none left. */
static int next_of_wave(tarn_cx *cx, stream *s, struct ArrowArray *out)
{
    while (s->unit_at < s->unit_count) {
        unit *u = &s->units[s->unit_at];
        size_t file = s->next_file - s->unit_count + s->unit_at;

        if (u->status != TARN_OK) {
            if (!is_skippable(s->read, u->status))
                return tn_fail(cx, u->status, "%s", u->text);
            tn_read_warn(s->read, name_of(&s->read->files[file]), u->text);
        } else if (s->batch_at < u->count) {
            say(s->read, s->batch_at == 0 ? u->text : NULL);
            tn_array_move(&u->batches[s->batch_at++], out);
            return TARN_OK;
        } else {
            tn_read_add_counts(s->read->counts, &u->counts);
        }
        unit_clear(u);
        s->unit_at++;
        s->batch_at = 0;
    }
    return TARN_OK;
}

static void close_large(stream *s)
{
    tn_scan_counts counts;
    char text[TN_ERROR_TEXT_MAX];

    if (s->large == NULL)
        return;
    if (tn_exec_read_note(s->large, text, sizeof text))
        say(s->read, text);
    tn_exec_read_counts(s->large, &counts);
    tn_read_add_counts(s->read->counts, &counts);
    tn_exec_read_close(s->large);
    s->large = NULL;
}

/* The next batch of the large file; the file is closed at its end. */
static int next_of_large(tarn_cx *cx, stream *s, struct ArrowArray *out)
{
    int rc = tn_exec_read_next(cx, s->large, out);

    if (rc == TARN_OK && out->length > 0)
        return TARN_OK;
    rc = explain(cx, s, s->next_file - 1, rc);
    close_large(s);
    if (rc != TARN_OK && is_skippable(s->read, rc)) {
        tn_read_warn(s->read, name_of(&s->read->files[s->next_file - 1]), tarn_cx_error(cx));
        tn_cx_forget(cx);
        return TARN_OK;
    }
    return rc;
}

static int open_large(tarn_cx *cx, stream *s)
{
    int rc;

    s->large_task = task_of(s, s->next_file++);
    rc = tn_exec_read_open(cx, s->read->store, &s->large_task, &s->large);
    rc = explain(cx, s, s->next_file - 1, rc);
    if (rc != TARN_OK && is_skippable(s->read, rc)) {
        tn_read_warn(s->read, name_of(&s->read->files[s->next_file - 1]), tarn_cx_error(cx));
        tn_cx_forget(cx);
        return TARN_OK;
    }
    return rc;
}

/* The next batch of all, or a released array at the end. */
static int next_batch(tarn_cx *cx, stream *s, struct ArrowArray *out)
{
    int rc = TARN_OK;

    for (;;) {
        size_t files;

        TN_TRY(tn_cx_check(cx));
        if (s->large != NULL)
            TN_TRY(next_of_large(cx, s, out));
        else
            TN_TRY(next_of_wave(cx, s, out));
        if (out->release != NULL && out->length > 0)
            break;
        tn_array_release(out);
        if (s->large != NULL || s->unit_at < s->unit_count)
            continue;
        if (s->next_file >= s->read->file_count)
            break;
        files = wave_size(cx, s);
        if (files > 0)
            TN_TRY(read_wave(cx, s, files));
        else
            TN_TRY(open_large(cx, s));
    }
done:
    return rc;
}

static int stream_schema(struct ArrowArrayStream *self, struct ArrowSchema *out)
{
    stream *s = self->private_data;

    memset(out, 0, sizeof *out);
    return tn_field_copy(s->read->cx, &s->read->columns.result, out) == TARN_OK
               ? 0
               : tn_stream_fail(s->read->cx, s->error);
}

static int stream_next(struct ArrowArrayStream *self, struct ArrowArray *out)
{
    stream *s = self->private_data;

    memset(out, 0, sizeof *out);
    if (s->read->has_limit && s->rows_left == 0)
        return 0;
    if (next_batch(s->read->cx, s, out) != TARN_OK)
        return tn_stream_fail(s->read->cx, s->error);
    if (out->release != NULL && s->read->has_limit) {
        if ((uint64_t)out->length > s->rows_left)
            out->length = (int64_t)s->rows_left;
        s->rows_left -= (uint64_t)out->length;
    }
    return 0;
}

static const char *stream_error(struct ArrowArrayStream *self)
{
    stream *s = self->private_data;

    return s->error;
}

static void stream_release(struct ArrowArrayStream *self)
{
    stream *s = self->private_data;

    close_large(s);
    wave_clear(s);
    free(s->units);
    tn_read_close(s->read);
    free(s);
    self->release = NULL;
}

int tn_read_stream(tarn_cx *cx, tn_read *read, struct ArrowArrayStream *out)
{
    stream *s = tn_calloc(cx, 1, sizeof *s);
    int rc = TARN_OK;

    if (s == NULL)
        TN_TRY(TARN_E_NOMEM);
    s->units = tn_calloc(cx, WAVE_FILES_MAX, sizeof *s->units);
    if (s->units == NULL)
        TN_TRY(TARN_E_NOMEM);
    s->read = read;
    s->rows_left = read->limit;
    s->wave_files = read->has_limit ? 1 : WAVE_FILES_MAX;
    *out = (struct ArrowArrayStream){.get_schema = stream_schema,
                                     .get_next = stream_next,
                                     .get_last_error = stream_error,
                                     .release = stream_release,
                                     .private_data = s};
    s = NULL;
done:
    if (rc != TARN_OK && s != NULL)
        free(s->units);
    free(s);
    return rc;
}

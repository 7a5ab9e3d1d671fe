/* Streams, messages, progress and numbers of the command line.
 *
 * I1: nothing but data reaches stdout.
 * I2: after the first failed write nothing more is written there.
 * I3: a line on stderr holds no control character that came from outside. */
#include "out.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "out_bytes.h"

#define MESSAGE_MAX 8192

struct out {
    int broken; /* errno of the first failed write to stdout */
    bool quiet;
    bool terminal;    /* stderr is one */
    bool bar;         /* a progress bar is on the screen */
    int64_t drawn_ms; /* when */
};

struct out *out_open(void)
{
    struct out *out = calloc(1, sizeof *out);

    if (out == NULL)
        return NULL;
    out->terminal = isatty(STDERR_FILENO) != 0;
    return out;
}

bool out_close(struct out *out)
{
    bool good;

    if (out == NULL)
        return true;
    out_progress_end(out);
    if (fflush(stdout) != 0 && out->broken == 0)
        out->broken = errno;
    if (close(STDOUT_FILENO) != 0 && out->broken == 0 && errno != EBADF)
        out->broken = errno;
    good = out->broken == 0 || out->broken == EPIPE;
    if (!good)
        out_error(out, "standard output: %s", strerror(out->broken));
    free(out);
    return good;
}

void out_quiet(struct out *out, bool quiet)
{
    out->quiet = quiet;
}

bool out_ended(const struct out *out)
{
    return out->broken != 0;
}

void out_bytes(struct out *out, const void *bytes, size_t len)
{
    if (out->broken != 0 || len == 0)
        return;
    if (fwrite(bytes, 1, len, stdout) != len)
        out->broken = errno != 0 ? errno : EIO;
}

void out_text(struct out *out, const char *format, ...)
{
    va_list args;

    if (out->broken != 0)
        return;
    va_start(args, format);
    if (vprintf(format, args) < 0)
        out->broken = errno != 0 ? errno : EIO;
    va_end(args);
}

void out_name(struct out *out, const char *bytes, size_t len)
{
    char piece[OUT_BYTES_PIECE];
    size_t at = 0;

    while (at < len && out->broken == 0) {
        size_t n = out_bytes_name(bytes, len, &at, piece);

        out_bytes(out, piece, n);
    }
}

__attribute__((format(printf, 3, 0))) static void message(struct out *out, const char *mark,
                                                          const char *format, va_list args)
{
    char text[MESSAGE_MAX];
    char piece[OUT_BYTES_PIECE];
    size_t len, at = 0;
    int printed = vsnprintf(text, sizeof text, format, args);

    if (printed < 0)
        return;
    len = (size_t)printed < sizeof text ? (size_t)printed : sizeof text - 1;
    out_progress_end(out);
    flockfile(stderr);
    fprintf(stderr, "tarn: %s", mark);
    while (at < len) {
        size_t n = out_bytes_name(text, len, &at, piece);

        fwrite(piece, 1, n, stderr);
    }
    fputc('\n', stderr);
    funlockfile(stderr);
}

void out_note(struct out *out, const char *format, ...)
{
    va_list args;

    if (out->quiet)
        return;
    va_start(args, format);
    message(out, "", format, args);
    va_end(args);
}

void out_warn(struct out *out, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    message(out, "warning: ", format, args);
    va_end(args);
}

void out_error(struct out *out, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    message(out, "", format, args);
    va_end(args);
}

static int64_t clock_ms(void)
{
    struct timespec now = {0};

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void out_progress(struct out *out, const char *what, uint64_t done, uint64_t total)
{
    static const char full[] = "##############################";
    static const char empty[] = "..............................";
    const int width = (int)sizeof full - 1;
    int64_t now;
    int filled;

    if (out->quiet || !out->terminal)
        return;
    now = clock_ms();
    if (out->bar && now - out->drawn_ms < 100)
        return;
    out->bar = true;
    out->drawn_ms = now;
    if (total == 0) {
        fprintf(stderr, "\r\033[K%.60s %" PRIu64, what, done);
    } else {
        double share = done >= total ? 1.0 : (double)done / (double)total;

        filled = (int)(share * width);
        fprintf(stderr, "\r\033[K[%.*s%.*s] %3d%% %.60s", filled, full, width - filled, empty,
                (int)(share * 100), what);
    }
    fflush(stderr);
}

void out_progress_end(struct out *out)
{
    if (!out->bar)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    out->bar = false;
}

const char *out_size(struct out_word *word, uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    size_t unit = 0;

    /* 1023.95 would print as 1024.0 of the smaller unit */
    while (value >= 1023.95 && unit + 1 < sizeof units / sizeof *units) {
        value /= 1024;
        unit++;
    }
    if (unit == 0)
        snprintf(word->text, sizeof word->text, "%" PRIu64 " B", bytes);
    else
        snprintf(word->text, sizeof word->text, "%.1f %s", value, units[unit]);
    return word->text;
}

const char *out_count(struct out_word *word, uint64_t count)
{
    char digits[24];
    size_t len = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, count);
    size_t to = 0;

    for (size_t i = 0; i < len; i++) {
        if (i != 0 && (len - i) % 3 == 0)
            word->text[to++] = ',';
        word->text[to++] = digits[i];
    }
    word->text[to] = '\0';
    return word->text;
}

const char *out_duration(struct out_word *word, int64_t ms)
{
    const long long minutes = ms / 60000;

    if (ms < 1000)
        snprintf(word->text, sizeof word->text, "%d ms", (int)(ms < 0 ? 0 : ms));
    else if (ms < 60000)
        snprintf(word->text, sizeof word->text, "%.1f s", (double)(ms - ms % 100) / 1000);
    else if (minutes < 60)
        snprintf(word->text, sizeof word->text, "%lld min %d s", minutes, (int)(ms / 1000 % 60));
    else
        snprintf(word->text, sizeof word->text, "%lld h %d min", minutes / 60, (int)(minutes % 60));
    return word->text;
}

const char *out_many(struct out_word *word, uint64_t count, const char *one, const char *many)
{
    char *end;

    out_count(word, count);
    end = word->text + strlen(word->text);
    snprintf(end, sizeof word->text - (size_t)(end - word->text), " %s%s",
             count != 1 && many != NULL ? many : one, count != 1 && many == NULL ? "s" : "");
    return word->text;
}

/* Instants: the names of their files, and times as text.
 *
 *     state       layout 1              layout 2
 *     requested   <T>.<word>.requested  the same
 *     inflight    <T>.<word>.inflight   the same; of a commit "<T>.inflight"
 *     completed   <T>.<action>          <T>_<C>.<action>, C the completion time
 *
 * I1: times are compared as text, whatever their length.
 * I2: a name that tn_instant_print makes is taken apart into the same instant. */
#include "table/instant.h"

#include <assert.h>
#include <inttypes.h>
#include <time.h>

#define TN_INSTANT_DIGITS        17 /* yyyyMMddHHmmssSSS */
#define TN_INSTANT_SECOND_DIGITS 14 /* of old tables */

/* The words of names. `completed`: the word of the completed state, which others may share. */
static const struct word {
    const char *word, *completed;
    enum tn_action action;
} words[] = {{"commit", "commit", TN_ACTION_COMMIT},
             {"deltacommit", "deltacommit", TN_ACTION_DELTA},
             {"replacecommit", "replacecommit", TN_ACTION_REPLACE},
             {"compaction", "commit", TN_ACTION_COMMIT},
             {"logcompaction", "deltacommit", TN_ACTION_DELTA},
             {"clustering", "replacecommit", TN_ACTION_REPLACE},
             {"clean", "clean", TN_ACTION_CLEAN},
             {"rollback", "rollback", TN_ACTION_ROLLBACK},
             {"restore", "restore", TN_ACTION_RESTORE},
             {"savepoint", "savepoint", TN_ACTION_SAVEPOINT},
             {"indexing", "indexing", TN_ACTION_INDEXING},
             {"schemacommit", "schemacommit", TN_ACTION_SCHEMA}};

static const struct word *find_word(tn_str text)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (tn_str_is(text, words[i].word))
            return &words[i];
    return NULL;
}

bool tn_instant_action(tn_str word, enum tn_action *out)
{
    const struct word *found = find_word(word);

    if (found != NULL)
        *out = found->action;
    return found != NULL;
}

static bool digits_only(tn_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
    return text.len != 0;
}

static bool parse_words(tn_str rest, tn_instant *instant)
{
    size_t dot = tn_str_find(rest, '.');
    tn_str first = {rest.ptr, dot}, second = tn_str_from(rest, dot + 1);
    const struct word *word;

    if (dot == rest.len && tn_str_is(first, "inflight")) {
        instant->word = TN_STR("commit");
        instant->action = TN_ACTION_COMMIT;
        instant->state = TN_STATE_INFLIGHT;
        return true;
    }
    word = find_word(first);
    if (word == NULL)
        return false;
    instant->word = first;
    instant->action = word->action;
    if (tn_str_is(second, "requested"))
        instant->state = TN_STATE_REQUESTED;
    else if (tn_str_is(second, "inflight"))
        instant->state = TN_STATE_INFLIGHT;
    else if (dot == rest.len && strcmp(word->word, word->completed) == 0)
        instant->state = TN_STATE_COMPLETED;
    else
        return false;
    return true;
}

bool tn_instant_parse(tn_str name, int32_t layout, tn_instant *out)
{
    size_t dot = tn_str_find(name, '.'), line = tn_str_find(name, '_');
    tn_instant instant = {.name = name};

    assert(layout == 1 || layout == 2);
    if (dot == name.len)
        return false;
    instant.time = (tn_str){name.ptr, dot};
    if (layout == 2 && line < dot) {
        instant.time.len = line;
        instant.completion = (tn_str){name.ptr + line + 1, dot - line - 1};
        if (!digits_only(instant.completion))
            return false;
    }
    if (!digits_only(instant.time) || !parse_words(tn_str_from(name, dot + 1), &instant))
        return false;
    if (instant.completion.len != 0 && instant.state != TN_STATE_COMPLETED)
        return false;
    instant.legacy =
        layout == 2 && instant.state == TN_STATE_COMPLETED && instant.completion.len == 0;
    *out = instant;
    return true;
}

int tn_instant_print(tarn_cx *cx, tn_arena *arena, int32_t layout, tn_str time, tn_str word,
                     enum tn_state state, tn_str completion, tn_str *out)
{
    const struct word *known = find_word(word);

    assert(layout == 1 || layout == 2);
    assert(digits_only(time) && known != NULL);
    if (state == TN_STATE_REQUESTED)
        return tn_arena_print(cx, arena, out, "%.*s.%s.requested", TN_STR_ARG(time), known->word);
    if (state == TN_STATE_INFLIGHT && strcmp(known->word, "commit") == 0)
        return tn_arena_print(cx, arena, out, "%.*s.inflight", TN_STR_ARG(time));
    if (state == TN_STATE_INFLIGHT)
        return tn_arena_print(cx, arena, out, "%.*s.%s.inflight", TN_STR_ARG(time), known->word);
    if (layout == 1 || completion.len == 0)
        return tn_arena_print(cx, arena, out, "%.*s.%s", TN_STR_ARG(time), known->completed);
    assert(digits_only(completion));
    return tn_arena_print(cx, arena, out, "%.*s_%.*s.%s", TN_STR_ARG(time), TN_STR_ARG(completion),
                          known->completed);
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

int tn_instant_of_ms(tarn_cx *cx, tn_arena *arena, int64_t ms, bool utc, tn_str *out)
{
    time_t seconds = (time_t)floor_div(ms, 1000);
    struct tm at;

    if ((utc ? gmtime_r(&seconds, &at) : localtime_r(&seconds, &at)) == NULL ||
        at.tm_year < -1900 || at.tm_year > 9999 - 1900)
        return tn_fail(cx, TARN_E_INVALID,
                       "%" PRId64 " ms since 1970 is no time an instant can have (years 0 to "
                       "9999): set the clock right",
                       ms);
    return tn_arena_print(cx, arena, out, "%04d%02d%02d%02d%02d%02d%03d", at.tm_year + 1900,
                          at.tm_mon + 1, at.tm_mday, at.tm_hour, at.tm_min, at.tm_sec,
                          (int)(ms - (int64_t)seconds * 1000));
}

static int number(tn_str text, size_t at, size_t len)
{
    int value = 0;

    for (size_t i = at; i < at + len; i++)
        value = value * 10 + (text.ptr[i] - '0');
    return value;
}

/* The fields of a time; false when it has not 14, or at least 17, digits, or is none of the
 * calendar. Texts longer than 17 (of metadata tables) are cut, as Hudi does. */
static bool split_time(tn_str time, struct tm *at, int *millis)
{
    static const int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year;

    if (!digits_only(time) ||
        (time.len != TN_INSTANT_SECOND_DIGITS && time.len < TN_INSTANT_DIGITS))
        return false;
    year = number(time, 0, 4);
    *at = (struct tm){.tm_year = year - 1900,
                      .tm_mon = number(time, 4, 2) - 1,
                      .tm_mday = number(time, 6, 2),
                      .tm_hour = number(time, 8, 2),
                      .tm_min = number(time, 10, 2),
                      .tm_sec = number(time, 12, 2),
                      .tm_isdst = -1};
    *millis = time.len == TN_INSTANT_SECOND_DIGITS ? 999 : number(time, 14, 3);
    if (at->tm_mon < 0 || at->tm_mon > 11 || at->tm_mday < 1 || at->tm_mday > days[at->tm_mon] ||
        at->tm_hour > 23 || at->tm_min > 59 || at->tm_sec > 59)
        return false;
    return at->tm_mon != 1 || at->tm_mday < 29 ||
           (year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
}

bool tn_instant_to_ms(tn_str time, bool utc, int64_t *ms)
{
    struct tm at;
    time_t seconds;
    int millis;

    if (!split_time(time, &at, &millis))
        return false;
    seconds = utc ? timegm(&at) : mktime(&at);
    if (seconds == (time_t)-1 && (at.tm_year != 69 && at.tm_year != 70))
        return false;
    *ms = (int64_t)seconds * 1000 + millis;
    return true;
}

/* What is no time of the calendar ("001", "99999999999999999") counts up as a number of the same
 * length; one of nines alone has no such successor, and a digit behind it makes it greater. */
static int next_number(tarn_cx *cx, tn_arena *arena, tn_str time, tn_str *out)
{
    char *text = tn_arena_take(cx, arena, time.len + 2);
    size_t i = time.len;

    if (text == NULL)
        return TARN_E_NOMEM;
    memcpy(text, time.ptr, time.len);
    while (i != 0 && text[i - 1] == '9')
        text[--i] = '0';
    if (i != 0) {
        text[i - 1]++;
        *out = (tn_str){text, time.len};
        return TARN_OK;
    }
    memset(text, '9', time.len);
    text[time.len] = '0';
    *out = (tn_str){text, time.len + 1};
    return TARN_OK;
}

int tn_instant_next(tarn_cx *cx, tn_arena *arena, tn_str time, tn_str *out)
{
    int64_t ms;

    assert(digits_only(time));
    /* Read and printed as UTC, whatever the zone: no hour is left out or met twice there. */
    if (!tn_instant_to_ms(time, true, &ms) || tn_str_is(time, "99991231235959") ||
        tn_str_starts(time, TN_STR("99991231235959999")))
        return next_number(cx, arena, time, out);
    return tn_instant_of_ms(cx, arena, ms + 1, true, out);
}

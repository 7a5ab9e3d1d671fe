/* Sizes and durations as people write them.
 *
 * I1: no rounding up: a fraction of a unit is cut to whole bytes or milliseconds.
 * I2: what does not fit in 63 bits is refused, so that sums in callers cannot wrap at once. */
#include "units.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

struct unit {
    const char *name;
    uint64_t factor;
};

/* "123.45" in millionths, and what follows. Exact, independent of the locale. */
static bool read_number(const char *text, uint64_t *whole, uint64_t *millionths, const char **rest,
                        const char **why)
{
    const char *at = text;
    uint64_t scale = 100000;

    *whole = 0;
    *millionths = 0;
    if (*at < '0' || *at > '9') {
        *why = *at == '-' ? "it must not be negative" : "it must begin with a number";
        return false;
    }
    for (; *at >= '0' && *at <= '9'; at++) {
        if (*whole > (INT64_MAX - 9) / 10) {
            *why = "it is too large";
            return false;
        }
        *whole = *whole * 10 + (uint64_t)(*at - '0');
    }
    if (*at == '.') {
        at++;
        if (*at < '0' || *at > '9') {
            *why = "digits are missing after the point";
            return false;
        }
        for (; *at >= '0' && *at <= '9'; at++, scale /= 10)
            *millionths += (uint64_t)(*at - '0') * scale;
    }
    *rest = at;
    return true;
}

static bool read_unit(const char *text, const struct unit *units, const char *unknown,
                      uint64_t *out, const char **why)
{
    uint64_t whole, millionths;
    const char *rest;

    if (!read_number(text, &whole, &millionths, &rest, why))
        return false;
    while (*rest == ' ')
        rest++;
    for (const struct unit *unit = units; unit->name != NULL; unit++) {
        if (strcasecmp(rest, unit->name) != 0)
            continue;
        if (whole != 0 && unit->factor > INT64_MAX / whole) {
            *why = "it is too large";
            return false;
        }
        *out = whole * unit->factor;
        /* a factor is at most 2^40, so the product stays below 2^60 */
        *out += unit->factor * millionths / 1000000;
        if (*out > INT64_MAX) {
            *why = "it is too large";
            return false;
        }
        return true;
    }
    *why = unknown;
    return false;
}

bool units_size(const char *text, uint64_t *bytes, const char **why)
{
    static const struct unit units[] = {
        {"", 1},
        {"B", 1},
        {"K", UINT64_C(1) << 10},
        {"KiB", UINT64_C(1) << 10},
        {"KB", 1000},
        {"M", UINT64_C(1) << 20},
        {"MiB", UINT64_C(1) << 20},
        {"MB", 1000000},
        {"G", UINT64_C(1) << 30},
        {"GiB", UINT64_C(1) << 30},
        {"GB", 1000000000},
        {"T", UINT64_C(1) << 40},
        {"TiB", UINT64_C(1) << 40},
        {"TB", UINT64_C(1000000000000)},
        {NULL, 0},
    };

    return read_unit(text, units,
                     "its unit is not one of K, M, G, T (powers of 1024), KB, MB, GB, TB", bytes,
                     why);
}

bool units_duration(const char *text, int64_t *ms, const char **why)
{
    static const struct unit units[] = {
        {"ms", 1},          {"s", 1000},        {"m", 60 * 1000},
        {"min", 60 * 1000}, {"h", 3600 * 1000}, {"d", 24 * 3600 * 1000},
        {NULL, 0},
    };
    uint64_t out;

    if (strcmp(text, "0") == 0) {
        *ms = 0;
        return true;
    }
    if (!read_unit(text, units, "its unit is not one of ms, s, m, h, d", &out, why))
        return false;
    *ms = (int64_t)out;
    return true;
}

bool units_count(const char *text, uint64_t *count, const char **why)
{
    uint64_t whole, millionths;
    const char *rest;

    if (!read_number(text, &whole, &millionths, &rest, why))
        return false;
    if (*rest != '\0' || strchr(text, '.') != NULL) {
        *why = "it must be a whole number";
        return false;
    }
    *count = whole;
    return true;
}

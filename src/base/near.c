/* Names near to others.
 * I1: the distance counts letters that were left out, put in, changed or exchanged with their
 *     neighbour; case does not count. Near is at most a third of what was typed, and at most 3.
 * I2: of equal ones the first that was offered is taken. */
#include "base/near.h"

#include <ctype.h>

#define NAME_MAX_BYTES 96
#define NEAR_MAX       3

static int lower(tn_str text, size_t at)
{
    return tolower((unsigned char)text.ptr[at]);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t distance(tn_str a, tn_str b)
{
    size_t rows[3][NAME_MAX_BYTES + 1];
    size_t *before = rows[0], *above = rows[1], *row = rows[2];

    for (size_t j = 0; j <= b.len; j++)
        above[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t *swap = before;

        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            size_t cost = lower(a, i - 1) != lower(b, j - 1);

            row[j] = least(above[j - 1] + cost, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && lower(a, i - 1) == lower(b, j - 2) &&
                lower(a, i - 2) == lower(b, j - 1))
                row[j] = least(row[j], before[j - 2] + 1);
        }
        before = above;
        above = row;
        row = swap;
    }
    return above[b.len];
}

void tn_near_offer(tn_near *near, tn_str name)
{
    size_t most = least(NEAR_MAX, (near->typed.len + 2) / 3), apart;

    if (near->typed.len == 0 || near->typed.len > NAME_MAX_BYTES || name.len > NAME_MAX_BYTES ||
        name.len + most < near->typed.len || near->typed.len + most < name.len)
        return;
    apart = distance(near->typed, name);
    if (apart > most || apart >= name.len || (near->best.len != 0 && apart >= near->distance))
        return;
    near->best = name;
    near->distance = apart;
}

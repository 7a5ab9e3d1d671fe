/* Unpacks bits in groups of eight values, with one loop per width so that all shifts are constants.
 *
 * I1: a group of width w is w bytes; its loads reach at most 9 bytes past its first w bytes' last
 *     value, so the fast loop runs only while SLACK bytes follow the group; the rest goes through
 *     a padded copy.
 * I2: nothing outside [in, in + in_len) is read, nothing outside [out, out + n) is written. */
#include "codec/parquet/unpack.h"

#include <assert.h>
#include <string.h>

enum { SLACK = 9 };

static inline uint64_t load64(const uint8_t *at)
{
    uint64_t word;

    memcpy(&word, at, 8);
    return word;
}

/* The value of `w` bits that starts at bit `bit`. With constant arguments this is a load, a shift
 * and a mask. */
static inline __attribute__((always_inline)) uint64_t value_at(const uint8_t *in, unsigned bit,
                                                               unsigned w)
{
    unsigned shift = bit & 7;
    uint64_t word = load64(in + (bit >> 3)) >> shift;

    if (shift + w > 64)
        word |= (uint64_t)in[(bit >> 3) + 8] << (64 - shift);
    return w == 64 ? word : word & ((1ull << w) - 1);
}

#define GROUP(w)                                                                                   \
    do {                                                                                           \
        _Pragma("GCC unroll 8") for (unsigned i = 0; i < 8; i++) out[i] =                          \
            value_at(in, i * (w), w);                                                              \
    } while (0)

#define CASE(w)                                                                                    \
    case w:                                                                                        \
        for (; groups != 0; groups--, in += (w), out += 8)                                         \
            GROUP(w);                                                                              \
        break;

#define CASES_8  CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8)
#define CASES_16 CASES_8 CASE(9) CASE(10) CASE(11) CASE(12) CASE(13) CASE(14) CASE(15) CASE(16)
#define CASES_32                                                                                   \
    CASES_16 CASE(17) CASE(18) CASE(19) CASE(20) CASE(21) CASE(22) CASE(23) CASE(24) CASE(25)      \
        CASE(26) CASE(27) CASE(28) CASE(29) CASE(30) CASE(31) CASE(32)
#define CASES_64                                                                                   \
    CASES_32 CASE(33) CASE(34) CASE(35) CASE(36) CASE(37) CASE(38) CASE(39) CASE(40) CASE(41)      \
        CASE(42) CASE(43) CASE(44) CASE(45) CASE(46) CASE(47) CASE(48) CASE(49) CASE(50) CASE(51)  \
            CASE(52) CASE(53) CASE(54) CASE(55) CASE(56) CASE(57) CASE(58) CASE(59) CASE(60)       \
                CASE(61) CASE(62) CASE(63) CASE(64)

/* Whole groups that are followed by slack, then the rest group by group from a padded copy. */
#define DEFINE_UNPACK(bits, type, cases)                                                           \
    static void groups_u##bits(const uint8_t *in, unsigned width, type *out, size_t groups)        \
    {                                                                                              \
        switch (width) {                                                                           \
            cases default : assert(!"a width within the type");                                    \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    void tn_unpack_u##bits(const uint8_t *in, size_t in_len, unsigned width, type *out, size_t n)  \
    {                                                                                              \
        size_t groups, at;                                                                         \
                                                                                                   \
        assert(width <= bits);                                                                     \
        if (n == 0)                                                                                \
            return;                                                                                \
        if (width == 0) {                                                                          \
            memset(out, 0, n * sizeof *out);                                                       \
            return;                                                                                \
        }                                                                                          \
        groups = in_len > SLACK ? (in_len - SLACK) / width : 0;                                    \
        if (groups > n / 8)                                                                        \
            groups = n / 8;                                                                        \
        if (groups != 0)                                                                           \
            groups_u##bits(in, width, out, groups);                                                \
        at = groups * width;                                                                       \
        for (size_t done = groups * 8; done < n; done += 8, at += width) {                         \
            uint8_t padded[64 + 16] = {0};                                                         \
            type some[8];                                                                          \
            size_t count = n - done < 8 ? n - done : 8;                                            \
                                                                                                   \
            if (at < in_len)                                                                       \
                memcpy(padded, in + at, in_len - at < width ? in_len - at : width);                \
            groups_u##bits(padded, width, some, 1);                                                \
            memcpy(out + done, some, count * sizeof *out);                                         \
        }                                                                                          \
    }

DEFINE_UNPACK(8, uint8_t, CASES_8)
DEFINE_UNPACK(16, uint16_t, CASES_16)
DEFINE_UNPACK(32, uint32_t, CASES_32)
DEFINE_UNPACK(64, uint64_t, CASES_64)

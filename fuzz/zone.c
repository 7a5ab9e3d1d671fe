/* Any bytes as a TZif file: what is read as one has offsets within a day or so at all times, and a
 * local time becomes an instant that the clock shows as that time. */
#include <stdlib.h>

#include "base/zone.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(const tn_zone *zone, int64_t seconds)
{
    int32_t offset = tn_zone_offset(zone, seconds);

    if (offset > 26 * 3600 || offset < -26 * 3600)
        abort();
    if (tn_zone_offset_local(zone, seconds, &offset) &&
        tn_zone_offset(zone, seconds - offset) != offset)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int64_t times[] = {0,           -1,          1729989000,   4112424000,
                                    -2208988800, 32503680000, -62135596800, 253402300799,
                                    951782400,   1709164800,  -11644473600, 99999999999999};
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    tn_zone *zone = NULL;

    if (cx == NULL)
        abort();
    if (tn_zone_parse(cx, TN_STR("z"), (tn_str){(const char *)data, size}, &zone) == TARN_OK)
        for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
            ask(zone, times[i]);
    tn_zone_close(zone);
    tarn_cx_close(cx);
    return 0;
}

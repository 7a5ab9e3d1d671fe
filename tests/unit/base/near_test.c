#include "base/near.h"

#include "unit/test.h"

static void test_near__the_nearest(void **state)
{
    static const char *const names[] = {"id", "amount", "amounts", "order_id", "Ts"};
    static const struct {
        const char *typed, *want;
    } cases[] = {
        {"amont", "amount"},
        {"amuont", "amount"},
        {"AMOUNT", "amount"},
        {"amountz", "amount"},
        {"amountss", "amounts"},
        {"idd", "id"},
        {"ts", "Ts"},
        {"oder_di", "order_id"},
        {"price", ""},
        {"", ""},
        {"x", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tn_near near = {.typed = tn_str_of(cases[i].typed)};

        for (size_t n = 0; n < sizeof names / sizeof *names; n++)
            tn_near_offer(&near, tn_str_of(names[n]));
        if (!tn_str_is(near.best, cases[i].want))
            fail_msg("%s: %.*s", cases[i].typed, TN_STR_ARG(near.best));
    }
}

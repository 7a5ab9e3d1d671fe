#include "table/partition.h"

#include "unit/test.h"

static void test_partition__parses_what_writers_wrote(void **state)
{
    static const struct {
        const char *path, *name, *value; /* of the last level; value NULL: null */
        size_t count;
    } cases[] = {
        {"dt=2024-05-12/city=K%C3%B6ln", "city", "K\xc3\xb6ln", 2},
        {"p=50%", "p", "50%", 1},
        {"p=50%25", "p", "50%", 1},
        {"p=%zz", "p", "%zz", 1},
        {"p=%4", "p", "%4", 1},
        {"p=x%3D", "p", "x=", 1},
        {"p=x=", "p", "x=", 1},
        {"p=%252F", "p", "%2F", 1},
        {"p=x%2Fy", "p", "x/y", 1},
        {"band=AC%2FDC", "band", "AC/DC", 1},
        {"p=with space", "p", "with space", 1},
        {"p=2007-09-26 13:14:35.981", "p", "2007-09-26 13:14:35.981", 1},
        {"year=", "year", NULL, 1},
        {"p=__HIVE_DEFAULT_PARTITION__", "p", NULL, 1},
        {"p=default", "p", "default", 1},
        {"a/b/_year=2020", "_year", "2020", 1},
        {"a%3Db=1", "a=b", "1", 1},
    };
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_arena arena = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_partition_value *values;
        size_t count;

        assert_ok(cx, tn_partition_parse(cx, &arena, tn_str_of(cases[i].path), &values, &count));
        assert_int_equal(count, cases[i].count);
        assert_true(tn_str_is(values[count - 1].name, cases[i].name));
        if (cases[i].value == NULL)
            assert_null(values[count - 1].value.ptr);
        else
            assert_true(tn_str_is(values[count - 1].value, cases[i].value));
    }
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

static void test_partition__infers_only_what_round_trips(void **state)
{
    static const struct {
        const char *values[4];
        enum tn_partition_type want;
    } cases[] = {
        {{"1", "2", "-7"}, TN_PART_INT64},
        {{"007", "8"}, TN_PART_TEXT},
        {{"+1"}, TN_PART_TEXT},
        {{"-0"}, TN_PART_DOUBLE},
        {{"9223372036854775807"}, TN_PART_INT64},
        {{"9223372036854775808"}, TN_PART_TEXT},
        {{"1", "2.5"}, TN_PART_DOUBLE},
        {{"1.0", "2.5"}, TN_PART_DOUBLE},
        {{"1.50"}, TN_PART_TEXT},
        {{"0x10"}, TN_PART_TEXT},
        {{"nan"}, TN_PART_TEXT},
        {{"2024-01-01", NULL, "2024-02-29"}, TN_PART_DATE},
        {{"2023-02-29"}, TN_PART_TEXT},
        {{"2024-01-01", "x"}, TN_PART_TEXT},
        {{"2024-03-09 10:03:08"}, TN_PART_TIMESTAMP},
        {{"2024-03-09 10:03:08.262"}, TN_PART_TIMESTAMP},
        {{"2024-03-09 10:03:08.260"}, TN_PART_TEXT},
        {{"2024-03-09 10:03:08.262Z"}, TN_PART_TEXT},
        {{"true", "false"}, TN_PART_BOOL},
        {{"True"}, TN_PART_TEXT},
        {{NULL}, TN_PART_TEXT},
        {{"1", "__x__"}, TN_PART_TEXT},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_str values[4];

        for (size_t k = 0; k < 4; k++)
            values[k] = tn_str_of(cases[i].values[k]);
        if (tn_partition_infer(values, 4) != cases[i].want)
            fail_msg("case %zu (%s): got %d", i, cases[i].values[0], tn_partition_infer(values, 4));
    }
}

#include "task/data_name.h"

#include "task/upsert.h"
#include "unit/test.h"

static void test_data_name__takes_names_apart(void **state)
{
    static const struct {
        const char *name, *file_id, *token, *instant, *ending;
        bool log, cdc;
        uint32_t version;
    } cases[] = {
        {"a-0_0-161-223_20250126040823628.parquet", "a-0", "0-161-223", "20250126040823628",
         "parquet", false, false, 0},
        {"00000007-x_1-0-1_001.orc", "00000007-x", "1-0-1", "001", "orc", false, false, 0},
        {"f_1-0-1_001.lance", "f", "1-0-1", "001", "lance", false, false, 0},
        {"f.g_a_b_001.parquet", "f.g", "a_b", "001", "parquet", false, false, 0},
        {".0712-0_20250126040823628.log.1_0-1-2", "0712-0", "0-1-2", "20250126040823628", "log",
         true, false, 1},
        {".f_001.log.12", "f", "", "001", "log", true, false, 12},
        {".f_001.log.3_0-1-2.cdc", "f", "0-1-2", "001", "log", true, true, 3},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_data_name name;

        if (!tn_data_name_parse(tn_str_of(cases[i].name), &name))
            fail_msg("%s is not taken for a data file's name", cases[i].name);
        assert_true(tn_str_is(name.file_id, cases[i].file_id));
        assert_true(tn_str_is(name.token, cases[i].token));
        assert_true(tn_str_is(name.instant, cases[i].instant));
        assert_true(tn_str_is(name.ending, cases[i].ending));
        assert_int_equal(name.log, cases[i].log);
        assert_int_equal(name.cdc, cases[i].cdc);
        assert_int_equal(name.version, cases[i].version);
    }
}

static void test_data_name__refuses_other_names(void **state)
{
    static const char *const names[] = {"",
                                        "a.parquet",
                                        "a_b.parquet",
                                        "a__001.parquet",
                                        "_1-0-1_001.parquet",
                                        "a_1-0-1_.parquet",
                                        "a_1-0-1_001",
                                        "a_1-0-1_001.",
                                        "a_1-0-1_001.parquet.crc",
                                        "a_1-0-1_001.parquet.tmp",
                                        "a_1-0-1_x01.parquet",
                                        "part-0.parquet_001_hudiext",
                                        "a/b_1-0-1_001.parquet",
                                        ".",
                                        ".a_1-0-1_001.parquet.crc",
                                        ".hoodie_partition_metadata",
                                        ".a_001.log.1_0-1-2.crc",
                                        ".a_001.log.1_",
                                        ".a_001.log.1_0-1",
                                        ".a_001.log.1_0-1-2-3",
                                        ".a_001.log.1.cdc",
                                        ".a_001.log.",
                                        ".a_001.log.4294967296",
                                        ".a_001.archive.1_1-0-1",
                                        ".a.b_001.log.1",
                                        ".._a_001.log.1"};
    tn_data_name name;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (tn_data_name_parse(tn_str_of(names[i]), &name))
            fail_msg("%s is taken for a data file's name", names[i]);
}

static void test_data_name__makes_names(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .seed = 7});
    tn_arena arena = {0};
    tn_str id, next, token, name, other;
    tn_data_name parts;

    (void)state;
    assert_ok(cx, tn_data_name_new_id(cx, &arena, &id));
    assert_ok(cx, tn_data_name_new_id(cx, &arena, &other));
    assert_false(tn_str_equal(id, other));
    assert_int_equal(id.len, 38);
    assert_true(id.ptr[14] == '4' && strchr("89ab", id.ptr[19]) != NULL);
    assert_true(tn_str_ends(id, TN_STR("-0")));
    assert_ok(cx, tn_data_name_next_id(cx, &arena, id, 12, &next));
    assert_memory_equal(id.ptr, next.ptr, 37);
    assert_true(tn_str_ends(next, TN_STR("-12")));
    assert_ok(cx, tn_data_name_token(cx, &arena, 4294967295u, &token));
    assert_true(tn_str_is(token, "4294967295-0-4294967296"));
    assert_ok(cx, tn_data_name_print(cx, &arena, next, token, TN_STR("20250126040823628"), &name));
    assert_true(tn_data_name_parse(name, &parts));
    assert_true(tn_str_equal(parts.file_id, next) && tn_str_equal(parts.token, token));
    assert_true(tn_str_is(parts.instant, "20250126040823628"));
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

static void test_upsert__operations_have_hudi_s_names(void **state)
{
    (void)state;
    assert_string_equal(tn_operation_name(TN_OP_UPSERT), "UPSERT");
    assert_string_equal(tn_operation_name(TN_OP_INSERT_OVERWRITE_TABLE), "INSERT_OVERWRITE_TABLE");
    assert_string_equal(tn_operation_name(TN_OP_DELETE_PARTITION), "DELETE_PARTITION");
}

/* Metadata may spell a NUL, at which a path would end. */
static void test_data_name__refuses_a_nul(void **state)
{
    static const char name[] = "a-0_0-\0 1-2_20250126040823628.parquet";
    tn_data_name parts;

    (void)state;
    assert_false(tn_data_name_parse((tn_str){name, sizeof name - 1}, &parts));
}

#include "table/hudi_names.h"

#include "unit/test.h"

#define FIELD(id, name) "{\"id\":" id ",\"name\":\"" name "\",\"optional\":true,\"type\":\"int\"}"
#define RECORD(fields)  "{\"type\":\"record\",\"fields\":[" fields "]}"
#define NESTED(id, name, type)                                                                     \
    "{\"id\":" id ",\"name\":\"" name "\",\"optional\":true,\"type\":" type "}"
#define LIST(item) "{\"type\":\"array\",\"element_id\":90,\"element\":" item "}"
#define MAP(item)                                                                                  \
    "{\"type\":\"map\",\"key_id\":91,\"key\":\"string\",\"value_id\":92,\"value\":" item "}"
#define SINCE(id, fields) "{\"version_id\":" id ",\"type\":\"record\",\"fields\":[" fields "]}"

static const char *show(const tn_scan_version *version, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < version->count; i++)
        used += (size_t)snprintf(
            text + used, size - used, "%.*s>%.*s ", TN_STR_ARG(version->renames[i].path),
            TN_STR_ARG(version->renames[i].name.ptr != NULL ? version->renames[i].name
                                                            : TN_STR("-")));
    return text;
}

static void test_hudi_names__a_field_is_its_number(void **state)
{
    static const struct {
        const char *now, *then, *want;
    } cases[] = {
        {FIELD("1", "a"), FIELD("1", "a"), ""},
        {FIELD("1", "b"), FIELD("1", "a"), "a>b "},
        {FIELD("1", "a"), FIELD("1", "a") "," FIELD("2", "x"), "x>- "},
        /* Dropped, and another one of that name added. */
        {FIELD("3", "a"), FIELD("1", "a"), "a>- "},
        /* Names that change places. */
        {FIELD("1", "b") "," FIELD("2", "a"), FIELD("1", "a") "," FIELD("2", "b"), "a>b b>a "},
        {NESTED("1", "t", RECORD(FIELD("2", "y"))), NESTED("1", "s", RECORD(FIELD("2", "x"))),
         "s>t s.x>y "},
        {NESTED("1", "l", LIST(RECORD(FIELD("2", "y")))),
         NESTED("1", "l", LIST(RECORD(FIELD("2", "x")))), "l.element.x>y "},
        {NESTED("1", "m", MAP(LIST(RECORD(FIELD("2", "y"))))),
         NESTED("1", "m", MAP(LIST(RECORD(FIELD("2", "x"))))), "m.value.element.x>y "},
    };
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char now[1024], then[1024], text[1024];
        tn_arena arena = {0};
        tn_scan_names names;

        snprintf(now, sizeof now, SINCE("20240102000000000", "%s"), cases[i].now);
        snprintf(then, sizeof then, "{\"schemas\":[" SINCE("0", "%s") "]}", cases[i].then);
        assert_ok(cx, tn_hudi_names_parse(cx, tn_str_of(now), tn_str_of(then), TN_STR("h"), &arena,
                                          &names));
        assert_int_equal(names.count, 1);
        assert_string_equal(show(&names.versions[0], text, sizeof text), cases[i].want);
        tn_arena_clear(&arena);
    }
    tarn_cx_close(cx);
}

static void test_hudi_names__the_version_of_an_instant(void **state)
{
    const tn_scan_version versions[] = {{.since = TN_STR("0")},
                                        {.since = TN_STR("20240102000000000")},
                                        {.since = TN_STR("20240104000000000")}};
    const tn_scan_names names = {versions, 3}, late = {versions + 1, 2};

    (void)state;
    assert_ptr_equal(tn_scan_names_at(&names, TN_STR("20240101000000000")), &versions[0]);
    assert_ptr_equal(tn_scan_names_at(&names, TN_STR("20240102000000000")), &versions[1]);
    assert_ptr_equal(tn_scan_names_at(&names, TN_STR("20240103000000000")), &versions[1]);
    assert_ptr_equal(tn_scan_names_at(&names, TN_STR("20250101000000000")), &versions[2]);
    /* Files that are older than the history have the names that it begins with. */
    assert_ptr_equal(tn_scan_names_at(&late, TN_STR("20230101000000000")), &versions[1]);
    assert_null(tn_scan_names_at(NULL, TN_STR("1")));
}

static void test_hudi_names__refuses_what_is_no_history(void **state)
{
    static const char *const texts[] = {"",
                                        "{}",
                                        "[]",
                                        "{\"schemas\":{}}",
                                        "{\"schemas\":[{}]}",
                                        "{\"schemas\":[{\"fields\":[{\"name\":\"a\"}]}]}",
                                        "{\"schemas\":[{\"fields\":[{\"id\":1}]}]}",
                                        "{\"schemas\":[{\"fields\":[{\"id\":\"1\",\"name\":1}]}]}"};
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        tn_scan_names names = {0};
        tn_arena arena = {0};

        assert_int_not_equal(tn_hudi_names_parse(cx, TN_STR("{\"fields\":[]}"), tn_str_of(texts[i]),
                                                 TN_STR("h.schemacommit"), &arena, &names),
                             TARN_OK);
        assert_non_null(strstr(tarn_cx_error(cx), "h.schemacommit"));
        tn_arena_clear(&arena);
    }
    tarn_cx_close(cx);
}

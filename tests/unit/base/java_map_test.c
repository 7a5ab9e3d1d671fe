/* What OpenJDK 17 printed for the same strings, hash codes and walks of a HashSet. */
#include "base/java_map.h"
#include "unit/test.h"

static void test_java_map__hash_codes(void **state)
{
    static const struct {
        const char *text;
        int32_t want;
    } cases[] = {
        {"", 0},
        {"a", 97},
        {"hello", 99162322},
        {"Aa", 2112},
        {"BB", 2112},
        {"/default-rack", -1601533806},
        {"\xC3\xA9", 233},               /* one unit */
        {"\xF0\x9F\x98\x80x", 54959989}, /* two units, then one */
        {"polygenelubricants", INT32_MIN},
        {"dn-17.prod.example.com", -2133915669},
        {"\xFF", 0xFFFD}, /* what is not UTF-8 */
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(tn_java_hash(tn_str_of(cases[i].text)), cases[i].want);
}

typedef struct world {
    tarn_cx *cx;
    tn_java_names names;
    tn_java_map map;
} world;

static void add(world *w, const char *text)
{
    uint32_t id;

    assert_ok(w->cx, tn_java_names_add(w->cx, &w->names, tn_str_of(text), &id));
    assert_ok(w->cx, tn_java_map_add(w->cx, &w->map, &w->names, id));
}

/* Adds the words of `text`, which is cut up for it. */
static void add_words(world *w, char *text)
{
    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " "))
        add(w, word);
}

static void check_walk(world *w, const char *want)
{
    uint32_t *order = calloc(w->map.count + 1, sizeof *order);
    char *got = calloc(w->map.count + 1, 80);

    assert_ok(w->cx, tn_java_map_walk(w->cx, &w->map, &w->names, order));
    for (size_t i = 0; i < w->map.count; i++) {
        strcat(got, i != 0 ? " " : "");
        strcat(got, tn_java_names_text(&w->names, order[i]).ptr);
    }
    assert_string_equal(got, want);
    free(got);
    free(order);
}

static void world_clear(world *w)
{
    tn_java_map_clear(&w->map);
    tn_java_names_clear(&w->names);
    tarn_cx_close(w->cx);
}

#define TWELVE "node01 node02 node03 node04 node05 node06 node07 node08 node09 node10 node11 node12"

static void test_java_map__walks_as_java_does(void **state)
{
    world w = {.cx = tarn_cx_open(NULL)};
    char first[] = TWELVE, more[] =
                               "node14 node15 node16 node17 node18 node19 node20 node21 "
                               "node22 node23 node24 node25 node26 node27 node28 node29 node30";

    (void)state;
    check_walk(&w, "");
    add_words(&w, first);
    check_walk(&w, "node10 node11 node01 node12 node02 node03 node04 node05 node06 node07 node08 "
                   "node09");
    add(&w, "node13");
    check_walk(&w, "node10 node11 node01 node12 node02 node13 node03 node04 node05 node06 node07 "
                   "node08 node09");
    add_words(&w, more);
    check_walk(&w, "node20 node21 node22 node01 node23 node02 node24 node03 node25 node04 node26 "
                   "node05 node27 node06 node28 node07 node29 node08 node09 node30 node10 node11 "
                   "node12 node13 node14 node15 node16 node17 node18 node19");
    world_clear(&w);
}

/* A bucket that fills up doubles the table although it is nearly empty. */
static void test_java_map__names_that_collide(void **state)
{
    world w = {.cx = tarn_cx_open(NULL)};
    char words[] = "q AaAaAaAa h3 AaAaAaBB AaAaBBAa AaAaBBBB AaBBAaAa AaBBAaBB AaBBBBAa AaBBBBBB "
                   "BBAaAaAa BBAaAaBB";

    (void)state;
    add_words(&w, words);
    assert_int_equal(w.map.buckets, 64);
    check_walk(&w, "AaAaAaAa AaAaAaBB AaAaBBAa AaAaBBBB AaBBAaAa AaBBAaBB AaBBBBAa AaBBBBBB "
                   "BBAaAaAa BBAaAaBB h3 q");
    world_clear(&w);
}

static void test_java_map__many(void **state)
{
    world w = {.cx = tarn_cx_open(NULL)};
    char(*texts)[64] = calloc(500, sizeof *texts);
    uint32_t order[500], sum = 0;

    (void)state;
    for (int i = 0; i < 500; i++) {
        snprintf(texts[i], sizeof texts[i], "dn-%d.rack%d.example.com", i * 7919 % 1000, i % 7);
        add(&w, texts[i]);
    }
    assert_ok(w.cx, tn_java_map_walk(w.cx, &w.map, &w.names, order));
    for (int i = 0; i < 500; i++)
        sum = sum * 31 + (uint32_t)tn_java_hash(tn_java_names_text(&w.names, order[i]));
    assert_int_equal((int32_t)sum, -1295380537);
    assert_string_equal(tn_java_names_text(&w.names, order[0]).ptr, "dn-623.rack3.example.com");
    world_clear(&w);
    free(texts);
}

/* clear() of Java forgets the keys, not how large the table had become. */
static void test_java_map__a_reset_keeps_the_table(void **state)
{
    world w = {.cx = tarn_cx_open(NULL)};
    char(*texts)[64] = calloc(500, sizeof *texts), words[] = TWELVE;

    (void)state;
    for (int i = 0; i < 500; i++) {
        snprintf(texts[i], sizeof texts[i], "dn-%d.rack%d.example.com", i * 7919 % 1000, i % 7);
        add(&w, texts[i]);
    }
    tn_java_map_reset(&w.map);
    add_words(&w, words);
    check_walk(&w, TWELVE);
    world_clear(&w);
    free(texts);
}

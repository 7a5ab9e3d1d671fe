/* docs/format/parquet-encodings.md: every example of the page is decoded as the page says. */
#include "unit/codec/parquet/leaves.h"

#include <ctype.h>

#include "codec/parquet/decode_level.h"
#include "codec/parquet/decode_value.h"

/* Hex up to `stop` into `out`; *at moves past the stop. */
static size_t take_hex(const char **at, const char *stops, uint8_t *out)
{
    size_t n = 0;

    while (strchr(stops, **at) == NULL) {
        char *end;

        out[n++] = (uint8_t)strtoul(*at, &end, 16);
        assert_true(end != *at);
        *at = end;
        while (**at == ' ')
            (*at)++;
    }
    return n;
}

static void print_one(tn_buf *text, const tn_leaf *leaf, const tn_values *values, size_t i)
{
    if (i != 0)
        tn_buf_text(text, " ");
    if (leaf->physical == TN_BYTE_ARRAY)
        tn_buf_print(text, "'%.*s'", (int)((const tn_view *)values->data)[i].len,
                     (const char *)((const tn_view *)values->data)[i].ptr);
    else if (leaf->physical == TN_FIXED)
        tn_buf_print(text, "'%.*s'", (int)leaf->type_length,
                     (const char *)values->data + i * leaf->type_length);
    else
        leaves_value(text, leaf, values, i);
}

static size_t count_words(const char *text)
{
    size_t n = 0;

    for (const char *at = text; *at != '\0'; at++)
        n += *at != ' ' && (at == text || at[-1] == ' ');
    return n;
}

static void decode_u32(tarn_cx *cx, const char *encoding, unsigned width, const uint8_t *bytes,
                       size_t len, size_t n, tn_buf *text)
{
    tn_rle_decoder hybrid;
    tn_level_decoder levels;
    uint32_t wide[64];
    uint16_t narrow[64];
    size_t at = 0;

    if (strcmp(encoding, "hybrid") == 0) {
        tn_decode_rle_init(&hybrid, bytes, len, 0, width);
        assert_ok(cx, tn_decode_rle_u32(cx, &hybrid, wide, n));
    } else {
        assert_ok(cx, tn_decode_level_init_v1(cx, &levels, TN_ENC_BIT_PACKED,
                                              (uint16_t)((1u << width) - 1), (int64_t)n, bytes, len,
                                              &at));
        assert_int_equal(at, len);
        assert_ok(cx, tn_decode_level_read(cx, &levels, narrow, n));
        for (size_t i = 0; i < n; i++)
            wide[i] = narrow[i];
    }
    for (size_t i = 0; i < n; i++)
        tn_buf_print(text, i == 0 ? "%u" : " %u", wide[i]);
}

static int by_name(const char *(*name)(int32_t), const char *want)
{
    for (int32_t i = 0; i < 16; i++) {
        if (name(i) != NULL && strcmp(name(i), want) == 0)
            return i;
    }
    return -1;
}

static tn_leaf leaf_of(const char *type)
{
    tn_leaf leaf = {0};
    int physical = by_name(tn_physical_name, type);

    if (sscanf(type, "FIXED(%u)", &leaf.type_length) == 1)
        physical = TN_FIXED;
    assert_true(physical >= 0);
    leaf.physical = (enum tn_physical)physical;
    return leaf;
}

static void decode_values(tarn_cx *cx, const char *type, const char *encoding,
                          const uint8_t *dictionary, size_t dictionary_len, const uint8_t *bytes,
                          size_t len, size_t n, tn_buf *text)
{
    tn_leaf leaf = leaf_of(type);
    int number = by_name(tn_encoding_name, encoding);
    tn_value_decoder first = {0}, decoder = {0};
    tn_lease room = {0}, entries = {0};
    size_t distinct = leaf.physical == TN_BYTE_ARRAY ? dictionary_len / 5 : dictionary_len / 4;
    tn_values known = {NULL, (int64_t)distinct}, values = {NULL, (int64_t)n};

    assert_true(number >= 0);
    tn_decode_value_begin(&first, &leaf, TN_ENC_PLAIN, dictionary, dictionary_len, 0, NULL);
    assert_ok(cx, tn_decode_value_read(cx, &first, &entries, distinct, &known.data));
    tn_decode_value_begin(&decoder, &leaf, number, bytes, len, 0, &known);
    assert_ok(cx, tn_decode_value_read(cx, &decoder, &room, n, &values.data));
    for (size_t i = 0; i < n; i++)
        print_one(text, &leaf, &values, i);
    tn_decode_value_clear(&first);
    tn_decode_value_clear(&decoder);
    tn_lease_clear(&room);
    tn_lease_clear(&entries);
}

static void check_example(tarn_cx *cx, char *line)
{
    char type[32], encoding[64];
    unsigned width = 0;
    const char *at = strchr(line, ':') + 1;
    uint8_t first[256], second[256], *bytes = first;
    size_t len, dictionary_len = 0;
    tn_buf text = {0};

    assert_int_equal(sscanf(line, "example %31s %63[^ :]", type, encoding), 2);
    sscanf(line, "example %*s %*s width=%u", &width);
    at += strspn(at, " ");
    len = take_hex(&at, "|=", first);
    if (*at == '|') {
        at += 1 + strspn(at + 1, " ");
        dictionary_len = len;
        bytes = second;
        len = take_hex(&at, "=", second);
    }
    at += 2;
    if (strcmp(type, "u32") == 0)
        decode_u32(cx, encoding, width, bytes, len, count_words(at), &text);
    else
        decode_values(cx, type, encoding, first, dictionary_len, bytes, len, count_words(at),
                      &text);
    tn_buf_u8(&text, 0);
    assert_string_equal((char *)text.data, at);
    tn_buf_clear(&text);
}

static void test_encodings_page__examples_decode(void **state)
{
    FILE *in = fopen(TARN_SOURCE_DIR "/docs/format/parquet-encodings.md", "r");
    tarn_cx *cx = tarn_cx_open(NULL);
    char line[1024];
    size_t count = 0;

    (void)state;
    assert_non_null(in);
    while (fgets(line, sizeof line, in) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "example ", 8) != 0)
            continue;
        check_example(cx, line);
        count++;
    }
    fclose(in);
    tarn_cx_close(cx);
    assert_true(count >= 20);
}

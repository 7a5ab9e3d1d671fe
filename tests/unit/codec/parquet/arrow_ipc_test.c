/* ARROW:schema: pyarrow's own bytes read, random schemas there and back, and bytes that nobody
 * should trust. */
#include "unit/codec/parquet/arrow_fixture.h"

#include "base/base64.h"
#include "codec/parquet/arrow.h"
#include "codec/parquet/arrow_ipc.h"

/* By pyarrow 26: id int64 not null; t timestamp[us, Europe/Berlin] with metadata k=v;
 * d dictionary<int8, large_string>; l list<item: decimal128(9, 2)>; m map<string, duration[s]>. */
static const char golden[] =
    "/////4ACAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAEAAAAlP7//wQAAAAFAAAAIAIAAJQBAAA0AQAAtAAA"
    "AAQAAAAo////AAABERQAAAAYAAAABAAAAAEAAAAQAAAAAQAAAG0AAABU////LP7//wAAAA0YAAAAIAAAAAQA"
    "AAACAAAASAAAABQAAAAHAAAAZW50cmllcwCE////gP///wAAARIQAAAAHAAAAAQAAAAAAAAABQAAAHZhbHVl"
    "AAYACAAGAAYAAAAAAAAAjP7//wAAAAUQAAAAFAAAAAQAAAAAAAAAAwAAAGtleQDY////1P///wAAAQwUAAAA"
    "HAAAAAQAAAABAAAAJAAAAAEAAABsAAAABAAEAAQAAAAQABQACAAGAAcADAAAABAAEAAAAAAAAQcQAAAAGAAA"
    "AAQAAAAAAAAABAAAAGl0ZW0AAAAAXP///wkAAAACAAAAEAAYAAgABgAHAAwAEAAUABAAAAAAAAEUFAAAADgA"
    "AAAcAAAABAAAAAAAAAABAAAAZAAAAAgACAAAAAQACAAAAAQAAAAw////AAAAAQgAAAAEAAYABAAAAAAAEgAY"
    "AAgABgAHAAwAAAAQABQAEgAAAAAAAQoUAAAATAAAAAgAAAAQAAAAAAAAAAEAAAB0AAAAAQAAAAwAAAAIAAwA"
    "BAAIAAgAAAAQAAAABAAAAAEAAAB2AAAAAQAAAGsAAAAIAAwABgAIAAgAAAAAAAIABAAAAA0AAABFdXJvcGUv"
    "QmVybGluAAAAEAAUAAgAAAAHAAwAAAAQABAAAAAAAAACEAAAABwAAAAEAAAAAAAAAAIAAABpZAAACAAMAAgA"
    "BwAIAAAAAAAAAUAAAAAAAAAA";

static void print_schema(tn_buf *text, const struct ArrowSchema *schema)
{
    tn_str key, value;

    tn_buf_print(text, "%s:%s%s", schema->name, schema->format,
                 tn_field_nullable(schema) ? "?" : "");
    for (int32_t i = 0; tn_metadata_at(schema->metadata, i, &key, &value); i++)
        tn_buf_print(text, "<%.*s=%.*s>", TN_STR_ARG(key), TN_STR_ARG(value));
    if (schema->dictionary != NULL) {
        tn_buf_text(text, "=");
        print_schema(text, schema->dictionary);
    }
    if (schema->n_children == 0)
        return;
    tn_buf_text(text, "(");
    for (int64_t i = 0; i < schema->n_children; i++) {
        tn_buf_text(text, i != 0 ? " " : "");
        print_schema(text, schema->children[i]);
    }
    tn_buf_text(text, ")");
}

static void test_arrow_ipc__reads_what_pyarrow_wrote(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    struct ArrowSchema schema = {0};
    tn_buf message = {0}, text = {0};

    (void)state;
    assert_true(tn_base64_decode(&message, TN_STR(golden)));
    assert_ok(cx, tn_arrow_ipc_read(cx, tn_buf_view(&message), &schema));
    print_schema(&text, &schema);
    tn_buf_u8(&text, 0);
    assert_string_equal((const char *)text.data,
                        ":+s(id:l t:tsu:Europe/Berlin?<k=v> d:c?=:U? l:+l?(item:d:9,2?) "
                        "m:+m?(entries:+s(key:u value:tDs?)))");
    tn_field_release(&schema);
    tn_buf_clear(&message);
    tn_buf_clear(&text);
    tarn_cx_close(cx);
}

static void test_arrow_ipc__random_schemas_there_and_back(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});

    (void)state;
    for (uint64_t number = 1; number <= 300; number++) {
        uint64_t seed = number;
        struct ArrowSchema schema = {0}, back = {0};
        tn_buf message = {0}, want = {0}, got = {0};

        assert_ok(cx, tn_field_init(cx, &schema, "+s", TN_STR(""), false, 2));
        for (size_t i = 0; i < 2; i++)
            fixture_schema(cx, &seed, 4, i == 0, "column", schema.children[i]);
        tn_metadata_add(&want, TN_STR("key"), TN_STR("a longer value"));
        assert_ok(cx, tn_field_set_metadata(cx, schema.children[0], &want));
        assert_ok(cx, tn_field_set_metadata(cx, &schema, &want));
        tn_buf_reset(&want);
        assert_ok(cx, tn_arrow_ipc_write(cx, &schema, &message));
        assert_int_equal(message.len % 8, 0);
        assert_ok(cx, tn_arrow_ipc_read(cx, tn_buf_view(&message), &back));
        print_schema(&want, &schema);
        print_schema(&got, &back);
        assert_int_equal(got.len, want.len);
        assert_memory_equal(got.data, want.data, want.len);
        tn_field_release(&schema);
        tn_field_release(&back);
        tn_buf_clear(&message);
        tn_buf_clear(&want);
        tn_buf_clear(&got);
    }
    tarn_cx_close(cx);
}

static void try_bytes(tarn_cx *cx, const uint8_t *bytes, size_t len)
{
    /* A copy of its own, so that the sanitizer sees a read past the end. */
    uint8_t *copy = malloc(len != 0 ? len : 1);
    struct ArrowSchema schema = {0};

    memcpy(copy, bytes, len);
    if (tn_arrow_ipc_read(cx, (tn_str){(const char *)copy, len}, &schema) != TARN_OK) {
        assert_null(schema.release);
        assert_true(tarn_cx_error(cx)[0] != '\0');
    }
    tn_field_release(&schema);
    free(copy);
}

static void test_arrow_ipc__cut_and_flipped_bytes_do_no_harm(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    tn_buf message = {0};

    (void)state;
    assert_true(tn_base64_decode(&message, TN_STR(golden)));
    for (size_t i = 0; i < message.len; i++) {
        uint8_t was = message.data[i];

        try_bytes(cx, message.data, i);
        for (unsigned change = 0; change < 10; change++) {
            message.data[i] = change < 8 ? (uint8_t)(was ^ (1u << change)) : change == 8 ? 0 : 0xFF;
            try_bytes(cx, message.data, message.len);
        }
        message.data[i] = was;
    }
    tn_buf_clear(&message);
    tarn_cx_close(cx);
}

/* A field whose children are 41 times itself, five deep, would be a hundred million fields. */
static void test_arrow_ipc__shared_parts_do_not_unfold(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    struct ArrowSchema schema = {0}, deep = {0}, *at = &deep;
    tn_buf message = {0};
    uint32_t word;

    (void)state;
    /* Fields in fields, then every reference of a children vector led to its first field. The count
     * is odd, which no reference is: they are multiples of 4. */
    assert_ok(cx, tn_field_init(cx, at, "+s", TN_STR(""), false, 1));
    for (int i = 0; i < 5; i++) {
        at = at->children[0];
        assert_ok(cx, tn_field_init(cx, at, "+s", TN_STR("f"), false, 41));
        for (int j = 1; j < 41; j++)
            assert_ok(cx, tn_field_init(cx, at->children[j], "i", TN_STR("x"), false, 0));
    }
    assert_ok(cx, tn_field_init(cx, at->children[0], "i", TN_STR("x"), false, 0));
    assert_ok(cx, tn_arrow_ipc_write(cx, &deep, &message));
    for (size_t i = 8; i + 4 + 164 <= message.len; i += 4) {
        uint32_t target;

        memcpy(&word, message.data + i, 4);
        if (word != 41)
            continue;
        memcpy(&target, message.data + i + 4, 4);
        for (uint32_t j = 1; j < 41; j++) {
            uint32_t distance = target - 4 * j;

            memcpy(message.data + i + 4 + 4 * j, &distance, 4);
        }
    }
    assert_fails(cx, TARN_E_LIMIT, "unfolds",
                 tn_arrow_ipc_read(cx, tn_buf_view(&message), &schema));
    tn_field_release(&deep);
    tn_buf_clear(&message);
    tarn_cx_close(cx);
}

/* Prints the record key and the partition path of each row of a file, each ended by a zero byte:
 *     interop_record_keys FILE SIMPLE|COMPLEX|NON_PARTITION|TIMESTAMP KEY,… PARTITION,…
 *         [hive] [encode] [slash] [named] [consistent] [type=DATE_STRING|…] [input=…] [output=…]
 *         [input_zone=…] [output_zone=…] [zone=…] [process_zone=…] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch/array.h"
#include "batch/field.h"
#include "batch/record_key.h"
#include "op/input.h"

#define FIELDS_MAX 16

typedef struct wish {
    tn_record_key_options options;
    tn_str keys[FIELDS_MAX], partitions[FIELDS_MAX];
} wish;

static size_t split(const char *text, tn_str *out)
{
    tn_str rest = tn_str_of(text);
    size_t count = 0;

    while (rest.len != 0 && count < FIELDS_MAX) {
        size_t end = tn_str_find(rest, ',');

        out[count++] = (tn_str){rest.ptr, end};
        rest = tn_str_from(rest, end + 1);
    }
    return count;
}

static int one_of(const char *const *names, int count, const char *text)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], text) == 0)
            return i + 1;
    return 0;
}

static bool take_word(tn_record_key_options *o, const char *word)
{
    static const char *const types[] = {"UNIX_TIMESTAMP", "EPOCHMILLISECONDS", "EPOCHMICROSECONDS",
                                        "SCALAR",         "DATE_STRING",       "MIXED"};
    const char *value = strchr(word, '=');
    const struct {
        const char *name;
        bool *flag;
        tn_str *text;
    } words[] = {{"hive", &o->hive_style, NULL},
                 {"encode", &o->url_encode, NULL},
                 {"slash", &o->slash_dates, NULL},
                 {"named", &o->single_named, NULL},
                 {"consistent", &o->consistent_times, NULL},
                 {"input", NULL, &o->timebased.input_format},
                 {"output", NULL, &o->timebased.output_format},
                 {"input_zone", NULL, &o->timebased.input_zone},
                 {"output_zone", NULL, &o->timebased.output_zone},
                 {"zone", NULL, &o->timebased.zone},
                 {"unit", NULL, &o->timebased.scalar_unit},
                 {"process_zone", NULL, &o->zone}};
    tn_str name = {word, value != NULL ? (size_t)(value - word) : strlen(word)};

    if (tn_str_is(name, "type") && value != NULL)
        o->timebased.type = (enum tn_keygen_time)one_of(types, 6, value + 1);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!tn_str_is(name, words[i].name))
            continue;
        if (words[i].flag != NULL)
            *words[i].flag = true;
        else if (value != NULL)
            *words[i].text = tn_str_of(value + 1);
        return true;
    }
    return tn_str_is(name, "type");
}

static bool take_wish(int argc, char **argv, wish *out)
{
    static const char *const kinds[] = {"SIMPLE", "COMPLEX", "NON_PARTITION", "TIMESTAMP"};

    out->options.kind = (enum tn_keygen)one_of(kinds, 4, argv[2]);
    out->options.keys = out->keys;
    out->options.key_count = split(argv[3], out->keys);
    out->options.partitions = out->partitions;
    out->options.partition_count = split(argv[4], out->partitions);
    for (int i = 5; i < argc; i++)
        if (!take_word(&out->options, argv[i]))
            return false;
    return out->options.kind != 0;
}

static void print_keys(const tn_record_key *key, const tn_record_keys *keys, int64_t rows)
{
    for (int64_t i = 0; i < rows; i++) {
        tn_str path = tn_record_key_path(key, keys->partitions[i]);

        fwrite(keys->data + keys->offsets[i], 1, (size_t)(keys->offsets[i + 1] - keys->offsets[i]),
               stdout);
        putchar('\0');
        if (path.len != 0)
            fwrite(path.ptr, 1, path.len, stdout);
        putchar('\0');
    }
}

static int print_stream(tarn_cx *cx, const wish *in, struct ArrowArrayStream *stream)
{
    struct ArrowSchema schema = {0};
    struct ArrowArray batch = {0};
    tn_record_key *key = NULL;
    tn_record_keys keys;
    int64_t first = 0;
    int rc = TARN_OK;

    if (stream->get_schema(stream, &schema) != 0)
        return tarn_cx_status(cx);
    TN_TRY(tn_record_key_open(cx, &in->options, &schema, &key));
    for (;;) {
        if (stream->get_next(stream, &batch) != 0)
            TN_TRY(tarn_cx_status(cx));
        if (batch.release == NULL)
            break;
        TN_TRY(tn_record_key_batch(cx, key, &batch, first, &keys));
        print_keys(key, &keys, batch.length);
        first += batch.length;
        tn_array_release(&batch);
    }
done:
    tn_array_release(&batch);
    tn_record_key_close(key);
    tn_field_release(&schema);
    return rc;
}

int main(int argc, char **argv)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_input_options options = {0};
    struct ArrowArrayStream stream = {0};
    wish in = {0};
    int rc = TARN_OK;

    if (cx == NULL || argc < 5 || !take_wish(argc, argv, &in))
        return 2;
    options.paths = (const char *const *)argv + 1;
    options.path_count = 1;
    TN_TRY(tn_input_open(cx, &options, &stream));
    rc = print_stream(cx, &in, &stream);
    stream.release(&stream);
done:
    if (rc != TARN_OK)
        fprintf(stderr, "%s: %s\n", tarn_status_name(rc), tarn_cx_error(cx));
    tarn_cx_close(cx);
    return rc == TARN_OK ? 0 : 1;
}

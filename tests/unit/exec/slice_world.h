/* A file slice made by hand from a few words, read, and printed the same way.
 *
 *   columns   _hoodie_commit_time, _hoodie_record_key, ts long, txt text, n int,
 *             _hoodie_is_deleted boolean, _hoodie_operation text; all nullable
 *   a row     key/ts/txt/n/deleted/operation; "-" is null, and so is what is left out at the end
 *   a slice   logs, divided by "|"; their blocks, divided by ";":
 *               R INSTANT row…           Avro rows
 *               Q INSTANT row…           rows in a Parquet block
 *               U INSTANT names row…     a partial update: of the columns named ("ts,txt") beside
 *                                        the two meta columns
 *               C INSTANT a,b row…       rows of a log compaction that stands for a and b
 *               D INSTANT key@order…     deletes; order: iN int, lN long, sTEXT, dN date, tN
 *                                        timestamp, n null
 *               X INSTANT target         a rollback
 *               !                        damage
 *             INSTANT may be followed by positions of the records and the instant of the base file
 *             that they speak of: 001#0,3@000 */
#ifndef TN_TEST_SLICE_WORLD_H
#define TN_TEST_SLICE_WORLD_H

#include "base/base64.h"
#include "batch/field.h"
#include "batch/predicate.h"
#include "batch/rows.h"
#include "codec/parquet/arrow.h"
#include "exec/exec_read.h"
#include "exec/slice_read.h"
#include "io/store_memory.h"
#include "unit/exec/log_maker.h"

enum { SLICE_COLUMNS = 7, SLICE_TS = 2, SLICE_TXT, SLICE_N, SLICE_DELETED, SLICE_OPERATION };
#define SLICE_BASE "/t/base.parquet"

static const char *const slice_names[SLICE_COLUMNS] = {
    "_hoodie_commit_time", "_hoodie_record_key", "ts", "txt", "n",
    "_hoodie_is_deleted",  "_hoodie_operation"};
static const char *const slice_formats[SLICE_COLUMNS] = {"u", "u", "l", "u", "i", "b", "u"};
static const char *const slice_avro[SLICE_COLUMNS] = {
    "\"string\"", "\"string\"", "\"long\"", "\"string\"", "\"int\"", "\"boolean\"", "\"string\""};

typedef struct slice_world {
    tarn_cx *cx;
    tn_store *memory, *store; /* what is read through */
    tn_arena arena;
    struct ArrowSchema all, result;
    uint32_t indices[SLICE_COLUMNS];
    tn_scan_project project[SLICE_COLUMNS];
    tn_slice_log logs[64];
    size_t log_count;
    tn_slice_instants instants;
    tn_slice_rules rules;
    tn_slice_parts parts;
    tn_scan_task task;
    tn_scan_counts counts;
} slice_world;

static inline void slice_open_with(slice_world *w, const tarn_cx_options *options)
{
    static const tn_str ordering[1] = {{"ts", 2}};

    *w = (slice_world){0};
    w->cx = tarn_cx_open(options);
    assert_ok(w->cx, tn_store_memory_open(w->cx, &w->memory));
    w->store = w->memory;
    assert_ok(w->cx, tn_store_make_dirs(w->cx, w->memory, TN_STR("/t")));
    assert_ok(w->cx, tn_field_init(w->cx, &w->all, "+s", TN_STR(""), false, SLICE_COLUMNS));
    for (uint32_t i = 0; i < SLICE_COLUMNS; i++) {
        assert_ok(w->cx, tn_field_init(w->cx, w->all.children[i], slice_formats[i],
                                       tn_str_of(slice_names[i]), true, 0));
        w->indices[i] = i;
        w->project[i] = (tn_scan_project){&w->indices[i], 1};
    }
    w->instants = (tn_slice_instants){.trusted = true};
    w->rules = (tn_slice_rules){.mode = TN_MERGE_COMMIT_TIME,
                                .ordering = ordering,
                                .ordering_count = 1,
                                .meta_fields = true};
    w->parts = (tn_slice_parts){.base_instant = TN_STR("000"),
                                .logs = w->logs,
                                .instants = &w->instants,
                                .rules = &w->rules};
    w->task = (tn_scan_task){.all = &w->all,
                             .needed = &w->all,
                             .result = &w->all,
                             .project = w->project,
                             .project_count = SLICE_COLUMNS,
                             .partition = -1,
                             .slice = &w->parts};
}

static inline void slice_open(slice_world *w)
{
    slice_open_with(w, &(tarn_cx_options){.jobs = 1});
}

static inline void slice_close(slice_world *w)
{
    tn_field_release(&w->all);
    tn_arena_clear(&w->arena);
    tn_store_close(w->memory);
    tarn_cx_close(w->cx);
}

/* ---- words */

typedef struct slice_row {
    tn_str fields[SLICE_COLUMNS]; /* ptr NULL: null */
} slice_row;

static inline tn_str slice_cut(tn_str *text, char at)
{
    size_t n = tn_str_find(*text, at);
    tn_str head = {text->ptr, n};

    *text = tn_str_from(*text, n + 1);
    return head;
}

/* The next word; length 0 at the end. */
static inline tn_str slice_word(tn_str *text)
{
    tn_str word = {text->ptr, 0};

    while (text->len != 0 && word.len == 0)
        word = slice_cut(text, ' ');
    return word;
}

static inline slice_row slice_row_of(tn_str word, tn_str instant)
{
    slice_row row = {.fields = {instant}};

    for (size_t i = 1; i < SLICE_COLUMNS && word.len != 0; i++) {
        tn_str field = slice_cut(&word, '/');

        if (!tn_str_is(field, "-"))
            row.fields[i] = field;
    }
    return row;
}

static inline int64_t slice_number(tn_str text)
{
    char digits[32];

    snprintf(digits, sizeof digits, "%.*s", (int)text.len, text.ptr);
    return strtoll(digits, NULL, 10);
}

/* ---- rows as Arrow */

static inline void slice_buffer(tarn_cx *cx, struct ArrowArray *array, size_t i, const void *bytes,
                                size_t len)
{
    tn_block block = {0};

    assert_ok(cx, tn_block_reserve(cx, &block, len + 1));
    memcpy(block.data, bytes, len);
    block.len = len;
    assert_ok(cx, tn_array_take_block(cx, array, i, &block));
}

static inline void slice_column(tarn_cx *cx, const slice_row *rows, size_t count, size_t c,
                                struct ArrowArray *out)
{
    uint8_t *bits = calloc(1, count / 8 + 1), *flags = calloc(1, count / 8 + 1);
    bool text = slice_formats[c][0] == 'u';
    tn_buf data = {0}, bytes = {0};

    assert_ok(cx, tn_array_init(cx, out, (int64_t)count, text ? 3 : 2, 0));
    if (text)
        tn_buf_u32le(&data, 0);
    for (size_t i = 0; i < count; i++) {
        tn_str field = rows[i].fields[c];
        int64_t number = field.ptr != NULL && !text ? slice_number(field) : 0;

        if (field.ptr != NULL)
            tn_bit_set(bits, (int64_t)i);
        else
            out->null_count++;
        if (text) {
            tn_buf_str(&bytes, field);
            tn_buf_u32le(&data, (uint32_t)bytes.len);
        } else if (slice_formats[c][0] == 'b') {
            if (tn_str_is(field, "true"))
                tn_bit_set(flags, (int64_t)i);
        } else {
            tn_buf_add(&data, &number, slice_formats[c][0] == 'l' ? 8 : 4);
        }
    }
    slice_buffer(cx, out, 0, bits, count / 8 + 1);
    if (slice_formats[c][0] == 'b')
        slice_buffer(cx, out, 1, flags, count / 8 + 1);
    else
        slice_buffer(cx, out, 1, data.data, data.len);
    if (text)
        slice_buffer(cx, out, 2, bytes.data != NULL ? bytes.data : (const uint8_t *)"", bytes.len);
    free(bits);
    free(flags);
    tn_buf_clear(&data);
    tn_buf_clear(&bytes);
}

static inline void slice_batch(tarn_cx *cx, const slice_row *rows, size_t count,
                               struct ArrowArray *out)
{
    assert_ok(cx, tn_array_init(cx, out, (int64_t)count, 1, SLICE_COLUMNS));
    for (size_t c = 0; c < SLICE_COLUMNS; c++)
        slice_column(cx, rows, count, c, out->children[c]);
}

/* A Parquet file of rows, at a path. */
static inline void slice_parquet(slice_world *w, const slice_row *rows, size_t count, tn_str path)
{
    tn_parquet_sink_options options = {.group_rows = 1000};
    tn_parquet_sink *sink = NULL;
    struct ArrowArray batch = {0};
    tn_sink *file = NULL;

    slice_batch(w->cx, rows, count, &batch);
    assert_ok(w->cx, tn_store_create(w->cx, w->memory, path, &file));
    assert_ok(w->cx, tn_parquet_sink_open(w->cx, file, &w->all, &options, &sink));
    assert_ok(w->cx, tn_parquet_sink_add(w->cx, sink, &batch));
    assert_ok(w->cx, tn_parquet_sink_finish(w->cx, sink));
    assert_ok(w->cx, tn_store_finish(w->cx, file));
    tn_parquet_sink_close(sink);
    tn_store_close_sink(file);
    tn_array_release(&batch);
}

/* ---- blocks */

typedef struct slice_head {
    tn_str instant;
    tn_str base; /* ptr NULL: no positions */
    tn_buf positions;
} slice_head;

/* Up to 65,536 positions as the header has them. */
static inline slice_head slice_head_of(tn_str word)
{
    slice_head head = {.instant = slice_cut(&word, '#')};
    tn_str list = slice_cut(&word, '@');
    tn_buf map = {0}, values = {0};

    if (word.len == 0)
        return head;
    while (list.len != 0)
        tn_buf_u16le(&values, (uint16_t)slice_number(slice_cut(&list, ',')));
    tn_buf_u64le(&map, 1);
    tn_buf_u32le(&map, 0);
    tn_buf_u32le(&map, 0x303a);
    tn_buf_u32le(&map, 1);
    tn_buf_u16le(&map, 0);
    tn_buf_u16le(&map, (uint16_t)(values.len / 2 - 1));
    tn_buf_u32le(&map, 16);
    tn_buf_str(&map, tn_buf_view(&values));
    tn_base64_encode(&head.positions, tn_buf_view(&map));
    head.base = word;
    tn_buf_clear(&map);
    tn_buf_clear(&values);
    return head;
}

static inline tn_str slice_positions(const slice_head *head)
{
    return head->base.ptr != NULL ? tn_buf_view(&head->positions) : (tn_str){NULL, 0};
}

static inline slice_row *slice_rows(tn_str text, tn_str instant, size_t *count)
{
    slice_row *rows = calloc(text.len / 2 + 1, sizeof *rows);
    tn_str word;

    *count = 0;
    while ((word = slice_word(&text)).len != 0)
        rows[(*count)++] = slice_row_of(word, instant);
    return rows;
}

/* Whether `names` ("ts,txt"; empty: all) has the column. */
static inline bool slice_has(tn_str names, size_t column)
{
    bool has = names.len == 0 || column < 2;

    while (names.len != 0)
        has |= tn_str_is(slice_cut(&names, ','), slice_names[column]);
    return has;
}

static inline void slice_schema(tn_str names, tn_buf *out)
{
    bool first = true;

    tn_buf_text(out, "{\"type\":\"record\",\"name\":\"t_record\",\"fields\":[");
    for (size_t c = 0; c < SLICE_COLUMNS; c++) {
        if (!slice_has(names, c))
            continue;
        tn_buf_print(out, "%s{\"name\":\"%s\",\"type\":[\"null\",%s],\"default\":null}",
                     first ? "" : ",", slice_names[c], slice_avro[c]);
        first = false;
    }
    tn_buf_text(out, "]}");
}

static inline void slice_datum(tn_buf *out, const slice_row *row, tn_str names)
{
    for (size_t c = 0; c < SLICE_COLUMNS; c++) {
        tn_str field = row->fields[c];

        if (!slice_has(names, c))
            continue;
        log_long(out, field.ptr != NULL);
        if (field.ptr == NULL)
            continue;
        if (slice_formats[c][0] == 'u')
            log_text(out, field);
        else if (slice_formats[c][0] == 'b')
            tn_buf_u8(out, tn_str_is(field, "true"));
        else
            log_long(out, slice_number(field));
    }
}

static inline void slice_avro_block(tn_buf *file, const slice_head *head, tn_str names,
                                    tn_str compacted, tn_str text)
{
    log_maker_records records = {0};
    tn_buf schema = {0}, content = {0};
    size_t count;
    slice_row *rows = slice_rows(text, head->instant, &count);

    slice_schema(names, &schema);
    for (size_t i = 0; i < count; i++) {
        slice_datum(log_record_begin(&records), &rows[i], names);
        log_record_end(&records);
    }
    log_records_content(&records, &content);
    log_block(
        file, TN_LOG_AVRO,
        (log_maker_header[]){{LOG_KEY_INSTANT, head->instant},
                             {LOG_KEY_SCHEMA, tn_buf_view(&schema)},
                             {LOG_KEY_COMPACTED, compacted},
                             {LOG_KEY_PARTIAL, names.len != 0 ? TN_STR("true") : (tn_str){NULL, 0}},
                             {LOG_KEY_POSITIONS, slice_positions(head)},
                             {LOG_KEY_BASE_INSTANT, head->base}},
        6, tn_buf_view(&content));
    free(rows);
    tn_buf_clear(&records.bytes);
    tn_buf_clear(&schema);
    tn_buf_clear(&content);
}

static inline void slice_parquet_block(slice_world *w, tn_buf *file, const slice_head *head,
                                       tn_str text)
{
    tn_buf schema = {0}, content = {0};
    size_t count;
    slice_row *rows = slice_rows(text, head->instant, &count);

    slice_schema((tn_str){NULL, 0}, &schema);
    slice_parquet(w, rows, count, TN_STR("/t/block"));
    assert_ok(w->cx, tn_store_get(w->cx, w->memory, TN_STR("/t/block"), 1 << 30, &content));
    assert_ok(w->cx, tn_store_remove(w->cx, w->memory, TN_STR("/t/block")));
    log_block(file, TN_LOG_PARQUET,
              (log_maker_header[]){{LOG_KEY_INSTANT, head->instant},
                                   {LOG_KEY_SCHEMA, tn_buf_view(&schema)},
                                   {LOG_KEY_POSITIONS, slice_positions(head)},
                                   {LOG_KEY_BASE_INSTANT, head->base}},
              4, tn_buf_view(&content));
    free(rows);
    tn_buf_clear(&schema);
    tn_buf_clear(&content);
}

static inline void slice_order(tn_buf *out, tn_str order)
{
    static const char kinds[] = "nbilfdBs";
    tn_str value = tn_str_from(order, 1);

    switch (order.ptr[0]) {
    case 'i':
    case 'l':
        log_long(out, strchr(kinds, order.ptr[0]) - kinds);
        log_long(out, slice_number(value));
        break;
    case 's':
        log_long(out, 7);
        log_text(out, value);
        break;
    case 'd':
        log_long(out, 8);
        log_long(out, slice_number(value));
        break;
    case 't':
        log_long(out, 11);
        log_long(out, slice_number(value));
        break;
    default:
        log_long(out, 0);
        break;
    }
}

static inline void slice_delete_block(tn_buf *file, const slice_head *head, tn_str text)
{
    tn_buf datum = {0}, list = {0}, content = {0};
    int64_t count = 0;
    tn_str word;

    while ((word = slice_word(&text)).len != 0) {
        tn_str key = slice_cut(&word, '@');

        log_long(&list, 1);
        log_text(&list, key);
        log_long(&list, 1);
        log_text(&list, (tn_str){"", 0});
        slice_order(&list, word);
        count++;
    }
    if (count > 0)
        log_long(&datum, count);
    tn_buf_str(&datum, tn_buf_view(&list));
    log_long(&datum, 0);
    log_deletes_content(tn_buf_view(&datum), &content);
    log_block(file, TN_LOG_DELETE,
              (log_maker_header[]){{LOG_KEY_INSTANT, head->instant},
                                   {LOG_KEY_POSITIONS, slice_positions(head)},
                                   {LOG_KEY_BASE_INSTANT, head->base}},
              3, tn_buf_view(&content));
    tn_buf_clear(&datum);
    tn_buf_clear(&list);
    tn_buf_clear(&content);
}

static inline void slice_block(slice_world *w, tn_buf *file, tn_str text)
{
    static const tn_str none = {NULL, 0};
    tn_str kind = slice_word(&text);
    slice_head head = slice_head_of(slice_word(&text));

    switch (kind.len != 0 ? kind.ptr[0] : ' ') {
    case 'R':
        slice_avro_block(file, &head, none, none, text);
        break;
    case 'Q':
        slice_parquet_block(w, file, &head, text);
        break;
    case 'U': {
        tn_str names = slice_word(&text);

        slice_avro_block(file, &head, names, none, text);
        break;
    }
    case 'C': {
        tn_str compacted = slice_word(&text);

        slice_avro_block(file, &head, none, compacted, text);
        break;
    }
    case 'D':
        slice_delete_block(file, &head, text);
        break;
    case 'X':
        log_block(file, TN_LOG_COMMAND,
                  (log_maker_header[]){{LOG_KEY_INSTANT, head.instant},
                                       {LOG_KEY_COMMAND, TN_STR("0")},
                                       {LOG_KEY_TARGET, slice_word(&text)}},
                  3, (tn_str){"", 0});
        break;
    case '!':
        tn_buf_add(file, "#HUDI#\0\0\0\0\0\0\0\x50 torn", 19);
        break;
    default:
        break;
    }
    tn_buf_clear(&head.positions);
}

/* ---- the slice */

static inline void slice_add_log(slice_world *w, tn_str path, tn_str bytes)
{
    assert_true(w->log_count < 64);
    assert_ok(w->cx, tn_arena_keep(w->cx, &w->arena, &path));
    assert_ok(w->cx, tn_store_put(w->cx, w->memory, path, bytes));
    w->logs[w->log_count++] =
        (tn_slice_log){.name = tn_path_name(path), .path = path, .size_bytes = bytes.len};
    w->parts.log_count = w->log_count;
}

/* `base` NULL: the slice has no base file. */
static inline void slice_make(slice_world *w, const char *base, const char *logs)
{
    tn_str text = tn_str_of(logs);

    if (base != NULL) {
        size_t count;
        slice_row *rows = slice_rows(tn_str_of(base), TN_STR("000"), &count);

        slice_parquet(w, rows, count, TN_STR(SLICE_BASE));
        w->task.path = TN_STR(SLICE_BASE);
        free(rows);
    }
    while (text.len != 0) {
        tn_str blocks = slice_cut(&text, '|'), path;
        tn_buf file = {0};

        while (blocks.len != 0)
            slice_block(w, &file, slice_cut(&blocks, ';'));
        assert_ok(w->cx, tn_arena_print(w->cx, &w->arena, &path, "/t/.f_000.log.%zu_1-0-1",
                                        w->log_count + 1));
        slice_add_log(w, path, tn_buf_view(&file));
        tn_buf_clear(&file);
    }
}

/* ---- reading */

static inline void slice_print_field(const struct ArrowSchema *schema,
                                     const struct ArrowArray *array, int64_t row, tn_buf *out)
{
    tarn_cx cx = {0};
    tn_type type;

    assert_int_equal(tn_type_of(&cx, schema, &type), TARN_OK);
    row += array->offset;
    if (tn_rows_is_null(array, row))
        tn_buf_text(out, "-");
    else if (type.kind == TN_TYPE_UTF8)
        tn_buf_str(out, tn_rows_bytes(&type, array, row));
    else if (type.kind == TN_TYPE_BOOL)
        tn_buf_text(out, tn_bit(array->buffers[1], row) ? "true" : "false");
    else
        tn_buf_print(out, "%lld", (long long)tn_rows_integer(type.kind, array, row));
}

static inline int slice_compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "key/ts/txt/n@commit" of the rows of a batch, a line each. */
static inline void slice_print(const struct ArrowSchema *schema, const struct ArrowArray *batch,
                               tn_buf *out)
{
    for (int64_t i = 0; i < batch->length; i++) {
        for (int64_t c = 1; c < schema->n_children && c < 5; c++) {
            tn_buf_text(out, c > 1 ? "/" : "");
            slice_print_field(schema->children[c], batch->children[c], i + batch->offset, out);
        }
        tn_buf_text(out, "@");
        slice_print_field(schema->children[0], batch->children[0], i + batch->offset, out);
        tn_buf_text(out, "\n");
    }
}

/* All rows as lines, in the order they come; *out is to be cleared. */
static inline int slice_read_lines(slice_world *w, tn_buf *out)
{
    tn_exec_read *reader = NULL;
    struct ArrowArray batch = {0};
    tarn_cx *cx = w->cx;
    int rc = TARN_OK;

    TN_TRY(tn_exec_read_open(cx, w->store, &w->task, &reader));
    for (;;) {
        TN_TRY(tn_exec_read_next(cx, reader, &batch));
        if (batch.length == 0)
            break;
        assert_ok(cx, tn_array_check(cx, w->task.result, &batch));
        slice_print(w->task.result, &batch, out);
        tn_array_release(&batch);
    }
    tn_exec_read_counts(reader, &w->counts);
    tn_buf_u8(out, '\0');
done:
    tn_array_release(&batch);
    tn_exec_read_close(reader);
    return rc;
}

/* The lines sorted, joined by blanks. */
static inline char *slice_sorted(tn_buf *lines)
{
    size_t count = 0, cap = lines->len / 2 + 1;
    char **line = calloc(cap, sizeof *line), *rest = (char *)lines->data;
    tn_buf out = {0};

    for (char *l; (l = strsep(&rest, "\n")) != NULL;)
        if (*l != '\0')
            line[count++] = l;
    qsort(line, count, sizeof *line, slice_compare_lines);
    for (size_t i = 0; i < count; i++)
        tn_buf_print(&out, "%s%s", i > 0 ? " " : "", line[i]);
    tn_buf_u8(&out, '\0');
    free(line);
    return (char *)out.data;
}

static inline void slice_expect(slice_world *w, const char *want)
{
    tn_buf lines = {0};
    char *got;

    assert_ok(w->cx, slice_read_lines(w, &lines));
    got = slice_sorted(&lines);
    assert_string_equal(got, want);
    free(got);
    tn_buf_clear(&lines);
}

#endif

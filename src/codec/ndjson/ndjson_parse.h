/* Parses records into builders. */
#ifndef TN_NDJSON_PARSE_H
#define TN_NDJSON_PARSE_H

#include "base/arena.h"
#include "base/map.h"
#include "codec/ndjson/ndjson_scan.h"
#include "codec/text/build.h"
#include "codec/text/text_read.h"

enum tn_ndjson_shape {
    TN_NDJSON_SCALAR,
    TN_NDJSON_QUOTED, /* dates, times, binary: only text gives them */
    TN_NDJSON_TEXT,
    TN_NDJSON_BOOL,
    TN_NDJSON_REAL,
    TN_NDJSON_STRUCT, /* from here on nested */
    TN_NDJSON_LIST,
    TN_NDJSON_MAP
};

typedef struct tn_ndjson_node {
    tn_build *build;
    enum tn_ndjson_shape shape;
    tn_str name;
    bool strict; /* its type was inferred: values are what JSON says they are */
    bool closed; /* a key that is no field makes the record bad */
    bool loose;  /* keys match fields without regard to case where that is unique */
    struct tn_ndjson_node *children;
    size_t count;
    tn_map names;   /* of a struct's fields */
    size_t guess;   /* the field that comes next, if keys keep their order */
    uint64_t turn;  /* objects parsed so far */
    uint64_t taken; /* the turn of the parent in which this field came */
} tn_ndjson_node;

/* A key that is no column and was left out, each once, up to a number of them. */
#define TN_NDJSON_LEFT_MAX 100

typedef struct tn_ndjson_left {
    tn_str path;
    uint64_t line;
} tn_ndjson_left;

typedef struct tn_ndjson_parser {
    const tn_text_read_options *options; /* borrowed */
    tn_arena arena;
    tn_ndjson_node root;
    uint64_t line;
    tn_str record; /* that is parsed */
    tn_ndjson_scan scan;
    tn_buf text;      /* of a value, its escapes replaced */
    tn_buf key;       /* the same of a key */
    tn_map seen_left; /* of the paths below */
    tn_ndjson_left left[TN_NDJSON_LEFT_MAX];
    size_t left_count, left_told;
    tn_str path[2 * TN_JSON_DEPTH_MAX]; /* where the parser is */
    size_t depth;
    unsigned maps; /* around the column that is set up */
    char why[768]; /* of a bad record */
    bool inferred; /* the value did not fit a type that was inferred */
} tn_ndjson_parser;

/* Zeroed before; cleared by tn_ndjson_parser_clear after a failure too. All is borrowed. */
int tn_ndjson_parser_init(tarn_cx *cx, tn_ndjson_parser *parser, tn_build *build,
                          const tn_text_read_options *options);
void tn_ndjson_parser_clear(tn_ndjson_parser *parser);
/* Appends a row. TARN_E_INVALID: the record is bad; `why` and `path` say what of, the context says
 * nothing, and the builders hold a part of the row. */
int tn_ndjson_parser_record(tarn_cx *cx, tn_ndjson_parser *parser, tn_str record, uint64_t line);
/* Appends "a.b[].c" of where the parser stands, and of `last` below it where that is not NULL. */
void tn_ndjson_parser_path(const tn_ndjson_parser *parser, tn_str last, tn_buf *out);

#endif

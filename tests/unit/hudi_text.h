/* Timelines of Hudi tables as text, for tests: names of instants' files, '#' standing for the eight
 * digits that all instants begin with. */
#ifndef TN_UNIT_HUDI_TEXT_H
#define TN_UNIT_HUDI_TEXT_H

#include "table/timeline.h"
#include "unit/test.h"

#define HUDI_TEXT_INSTANTS_MAX 32

typedef struct hudi_text {
    tarn_cx *cx;
    tn_arena arena;
    tn_timeline timeline;
} hudi_text;

/* The next word of a text, '#' spelled out; empty at the end. */
static inline tn_str hudi_text_word(hudi_text *t, const char **text)
{
    char word[256];
    size_t n = 0;
    tn_str out;

    *text += strspn(*text, " ");
    for (; **text != '\0' && **text != ' ' && n < sizeof word - 8; (*text)++) {
        if (**text != '#') {
            word[n++] = **text;
            continue;
        }
        memcpy(word + n, "20240101", 8);
        n += 8;
    }
    out = (tn_str){word, n};
    assert_ok(t->cx, tn_arena_keep(t->cx, &t->arena, &out));
    return out;
}

/* Names by time, one an instant; of layout 1 "name@completion"; a name that ends in "!" is of a
 * file that is not empty. */
static inline void hudi_text_timeline(hudi_text *t, int32_t layout, const char *text)
{
    t->timeline = (tn_timeline){.layout = layout, .directory = TN_STR("timeline")};
    t->timeline.instants =
        tn_arena_array(t->cx, &t->arena, HUDI_TEXT_INSTANTS_MAX, sizeof(tn_instant));
    assert_non_null(t->timeline.instants);
    for (tn_str word = hudi_text_word(t, &text); word.len != 0; word = hudi_text_word(t, &text)) {
        tn_instant *instant = &t->timeline.instants[t->timeline.count++];
        size_t at = tn_str_find(word, '@'), mark = tn_str_find(word, '!');

        assert_true(t->timeline.count <= HUDI_TEXT_INSTANTS_MAX);
        assert_true(tn_instant_parse((tn_str){word.ptr, at < mark ? at : mark}, layout, instant));
        instant->size_bytes = mark != word.len;
        if (at != word.len)
            instant->completion = tn_str_from(word, at + 1);
        if (t->timeline.start.len == 0 && tn_instant_writes_data(instant))
            t->timeline.start = instant->time;
    }
}

#endif

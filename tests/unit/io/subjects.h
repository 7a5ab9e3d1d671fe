/* The stores that the shared cases run over (local and memory; bare, under store_fault, under
 * store_trace), each with an empty directory to work in. */
#ifndef TN_TEST_SUBJECTS_H
#define TN_TEST_SUBJECTS_H

#include "unit/temp_dir.h"
#include "unit/test.h"

#include "io/store.h"
#include "io/store_fault.h"
#include "io/store_memory.h"
#include "io/store_trace.h"

struct subject {
    size_t next;
    tarn_cx *cx;
    tn_arena arena;
    tn_store *store, *inner; /* inner: what a wrapper wraps, or NULL */
    tn_str base;
    char directory[256];
    bool local;
};

/* Closes the subject at hand and makes the next one; false at the end. */
static inline bool subject_next(struct subject *s)
{
    size_t next = s->next;

    if (next > 0) {
        tn_store_close(s->store);
        tn_store_close(s->inner);
        tn_arena_clear(&s->arena);
        tarn_cx_close(s->cx);
        if (s->local)
            temp_dir_remove(s->directory);
    }
    *s = (struct subject){.next = next + 1};
    if (next >= 6)
        return false;
    s->cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    s->local = next % 2 == 0;
    if (s->local) {
        temp_dir_make(s->directory, sizeof s->directory);
        assert_ok(s->cx, tn_store_local_open(s->cx, &s->store));
    } else {
        strcpy(s->directory, "/base");
        assert_ok(s->cx, tn_store_memory_open(s->cx, &s->store));
        assert_ok(s->cx, tn_store_make_dir(s->cx, s->store, TN_STR("/base")));
    }
    s->base = tn_str_of(s->directory);
    if (next >= 2)
        s->inner = s->store;
    if (next / 2 == 1)
        assert_ok(s->cx, tn_store_fault_open(s->cx, s->inner, &(tn_fault_plan){0}, &s->store));
    if (next / 2 == 2)
        assert_ok(s->cx, tn_store_trace_open(s->cx, s->inner, &s->store));
    return true;
}

static inline size_t subject_count(struct subject *s, tn_str path)
{
    tn_entry *entries;
    size_t count;

    assert_ok(s->cx, tn_store_list(s->cx, s->store, path, &s->arena, &entries, &count));
    return count;
}

#endif

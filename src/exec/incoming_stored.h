/* Ordering values of stored rows beside those of rows that come in, shared by the files
 * incoming*.c. */
#ifndef TN_EXEC_INCOMING_STORED_H
#define TN_EXEC_INCOMING_STORED_H

#include "exec/incoming_state.h"

/* A row and a place whose stored ordering value is asked for. */
typedef struct tn_asked {
    uint64_t place, row;
    uint64_t order; /* of the row; where values do not fit 8 bytes: where it stands in `texts` */
    bool lost;      /* the stored value is greater */
} tn_asked;

/* Called for each answer, by the thread that called. */
typedef void (*tn_stored_told)(void *arg, const tn_asked *asked);

typedef struct tn_stored {
    tn_incoming *in;
    tn_stored_told told;
    void *arg;
    uint64_t *orders;           /* of rows held, where values fit 8 bytes */
    tn_buf texts;               /* ordering values as bytes: length (4 bytes) and bytes */
    struct ArrowSchema columns; /* the ordering columns alone */
    uint32_t *numbers;          /* 0, 1, 2 … */
    tn_ordering *stored;        /* over `columns` */
    bool u64;
    tn_asked *asked; /* by place, when answers are looked for */
    size_t asked_count, asked_cap;
    size_t *files; /* where each file's begin; one more than there are files with some */
    size_t file_count;
    uint64_t charged;
} tn_stored;

/* `in` has an ordering, and was tagged. *out is to be cleared, whatever comes of it. */
int tn_stored_open(tarn_cx *cx, tn_incoming *in, tn_stored_told told, void *arg, tn_stored *out);
void tn_stored_clear(tarn_cx *cx, tn_stored *stored);
/* Row i of `facts`, beside what is stored at `place`. Answers come when memory asks for it. */
int tn_stored_ask(tarn_cx *cx, tn_stored *stored, const tn_row_facts *facts, size_t i,
                  uint64_t place);
/* Answers what was asked so far, and forgets it. */
int tn_stored_answer(tarn_cx *cx, tn_stored *stored);

#endif

/* Rows put aside: three files of the staging directory.
 *
 *   rows    pieces as route_spill.c packs them, in order of arrival
 *   keys    per piece: a hash per row, an ordering value per row (8 bytes; where values do not fit
 *           them, the end of its bytes in what follows), the bytes
 *   facts   per piece: place (8 bytes), partition (4), flags (1) per row; written anew by each
 *           round that changes them, into a file of its own
 *
 * I1: what is read is what was written, by its checksum.
 *
 * I2: of a piece put aside only its place is held. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/pool.h"
#include "batch/ordering.h"
#include "exec/incoming_state.h"

#define PIECE_ROWS      65536
#define PIECE_BYTES_MAX (4ull << 20)
#define PIECE_BYTES_MIN (4ull << 10)

const tn_spilled *tn_incoming_piece(const tn_incoming *in, size_t i)
{
    return (const tn_spilled *)(const void *)in->pieces.data + i;
}

size_t tn_incoming_piece_count(const tn_incoming *in)
{
    return in->pieces.len / sizeof(tn_spilled);
}

int tn_incoming_stage(tarn_cx *cx, tn_incoming *in, const char *name, tn_str *path)
{
    int rc = TARN_OK;

    if (!in->made_staging)
        TN_TRY(tn_store_make_dirs(cx, in->store, in->options.staging));
    in->made_staging = true;
    TN_TRY(tn_path_join(cx, &in->arena, in->options.staging, tn_str_of(name), path));
done:
    return rc;
}

void tn_incoming_drop_held(tn_incoming *in)
{
    for (size_t i = 0; i < in->held_count; i++)
        tn_array_release(&in->held[i].array);
    in->held_count = in->small_from = 0;
    free(in->facts.partitions);
    free(in->facts.flags);
    free(in->facts.places);
    in->facts = (tn_row_facts){.first = in->rows};
    in->facts_cap = 0;
    tn_budget_give(&in->home, in->charged);
    in->charged = 0;
}

/* --- packing --- */

typedef struct load {
    tn_spilled piece; /* places are those within the buffers */
    tn_buf rows, keys, facts;
    uint64_t text_bytes;
    uint64_t charged;
} load;

typedef struct packing {
    tn_incoming *in;
    load *loads;
} packing;

static tn_spill_piece sealed(const tn_buf *buf)
{
    return (tn_spill_piece){0, buf->len, tn_spill_checksum(tn_buf_view(buf))};
}

static int pack_orders(tarn_cx *cx, const tn_incoming *in, const struct ArrowArray *array, load *l)
{
    size_t count = (size_t)array->length;
    uint64_t *orders = (uint64_t *)(void *)tn_buf_extend(&l->keys, count * sizeof *orders);
    size_t at = l->keys.len - count * sizeof *orders, texts = l->keys.len;

    if (orders == NULL)
        return tn_fail_memory(cx);
    if (tn_ordering_is_u64(in->ordering))
        return tn_ordering_u64(cx, in->ordering, array, orders);
    for (size_t i = 0; i < count; i++) {
        uint64_t end;

        tn_ordering_bytes(in->ordering, array, (int64_t)i, &l->keys);
        end = l->keys.len - texts;
        if (!l->keys.failed)
            memcpy(l->keys.data + at + i * sizeof end, &end, sizeof end);
    }
    l->text_bytes = l->keys.len - texts;
    return tn_buf_check(cx, &l->keys);
}

static int pack_keys(tarn_cx *cx, const tn_incoming *in, const struct ArrowArray *array, load *l)
{
    const struct ArrowArray *keys = array->children[in->options.key_column];
    const int32_t *offsets = keys->buffers[1];
    const uint32_t *partitions = in->facts.partitions + (l->piece.first - in->facts.first);
    size_t count = (size_t)array->length;
    tn_key_hash *hashes = (tn_key_hash *)(void *)tn_buf_extend(&l->keys, count * sizeof *hashes);

    if (hashes == NULL)
        return tn_fail_memory(cx);
    for (size_t i = 0; i < count; i++)
        hashes[i] = tn_keys_hash(in, (const char *)keys->buffers[2] + offsets[i],
                                 (size_t)(offsets[i + 1] - offsets[i]), partitions[i]);
    return in->ordering != NULL ? pack_orders(cx, in, array, l) : TARN_OK;
}

static int pack_facts(tarn_cx *cx, const tn_row_facts *facts, size_t from, size_t count,
                      tn_buf *out)
{
    static const uint64_t none = TN_NO_PLACE;

    if (facts->places != NULL)
        tn_buf_add(out, facts->places + from, count * sizeof *facts->places);
    else
        for (size_t i = 0; i < count; i++)
            tn_buf_add(out, &none, sizeof none);
    tn_buf_add(out, facts->partitions + from, count * sizeof *facts->partitions);
    tn_buf_add(out, facts->flags + from, count);
    return tn_buf_check(cx, out);
}

static int pack_load(tarn_cx *cx, size_t i, void *arg)
{
    packing *p = arg;
    tn_incoming *in = p->in;
    load *l = &p->loads[i];
    struct ArrowArray array = {0};
    int64_t from = l->piece.first - in->facts.first;
    int rc = TARN_OK;

    tn_buf_reset(&l->rows);
    tn_buf_reset(&l->keys);
    tn_buf_reset(&l->facts);
    TN_TRY(tn_incoming_gather_run(cx, in, from, l->piece.count, &array));
    TN_TRY(tn_spill_pack(cx, &in->schema, &array, &l->rows));
    TN_TRY(pack_keys(cx, in, &array, l));
    TN_TRY(pack_facts(cx, &in->facts, (size_t)from, (size_t)l->piece.count, &l->facts));
    l->piece.rows = sealed(&l->rows);
    l->piece.keys = sealed(&l->keys);
    l->piece.facts = sealed(&l->facts);
done:
    tn_array_release(&array);
    return rc;
}

static int write_part(tarn_cx *cx, tn_spill *spill, const tn_buf *bytes, tn_spill_piece *piece)
{
    piece->offset = spill->bytes;
    return tn_spill_write(cx, spill, tn_buf_view(bytes));
}

static int write_load(tarn_cx *cx, tn_incoming *in, load *l)
{
    int rc = TARN_OK;

    TN_TRY(write_part(cx, &in->rows_file, &l->rows, &l->piece.rows));
    TN_TRY(write_part(cx, &in->keys_file, &l->keys, &l->piece.keys));
    TN_TRY(write_part(cx, &in->facts_file, &l->facts, &l->piece.facts));
    in->text_bytes += l->text_bytes;
    tn_buf_add(&in->pieces, &l->piece, sizeof l->piece);
    TN_TRY(tn_buf_check(cx, &in->pieces));
done:
    return rc;
}

static int name_file(tarn_cx *cx, tn_incoming *in, const char *name, tn_spill *spill)
{
    *spill = (tn_spill){.store = in->store};
    return tn_incoming_stage(cx, in, name, &spill->path);
}

static int begin_spill(tarn_cx *cx, tn_incoming *in)
{
    int rc = TARN_OK;

    TN_TRY(name_file(cx, in, "rows.spill", &in->rows_file));
    TN_TRY(name_file(cx, in, "keys.spill", &in->keys_file));
    TN_TRY(name_file(cx, in, "facts-0.spill", &in->facts_file));
    in->spilled = true;
done:
    return rc;
}

static size_t piece_rows(tarn_cx *cx, const tn_incoming *in)
{
    uint64_t bytes = in->memory_max / 16 / tn_cx_jobs(cx);

    bytes = bytes > PIECE_BYTES_MAX   ? PIECE_BYTES_MAX
            : bytes < PIECE_BYTES_MIN ? PIECE_BYTES_MIN
                                      : bytes;
    return tn_incoming_rows_in(in, bytes, PIECE_ROWS);
}

int tn_incoming_spill(tarn_cx *cx, tn_incoming *in)
{
    packing p = {.in = in};
    unsigned jobs = tn_cx_jobs(cx);
    size_t most;
    int rc = TARN_OK;

    if (in->facts.count == 0)
        return TARN_OK;
    if (!in->spilled)
        TN_TRY(begin_spill(cx, in));
    most = piece_rows(cx, in);
    p.loads = tn_calloc(cx, jobs, sizeof *p.loads);
    if (p.loads == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (int64_t at = 0; at < in->facts.count;) {
        size_t n = 0;

        for (; n < jobs && at < in->facts.count; n++) {
            int64_t left = in->facts.count - at;
            int64_t count = left < (int64_t)most ? left : (int64_t)most;

            p.loads[n].piece = (tn_spilled){.first = in->facts.first + at, .count = count};
            at += count;
        }
        TN_TRY(tn_parallel(cx, n, pack_load, &p));
        for (size_t i = 0; i < n; i++)
            TN_TRY(write_load(cx, in, &p.loads[i]));
    }
    tn_incoming_drop_held(in);
done:
    for (size_t i = 0; p.loads != NULL && i < jobs; i++) {
        tn_buf_clear(&p.loads[i].rows);
        tn_buf_clear(&p.loads[i].keys);
        tn_buf_clear(&p.loads[i].facts);
    }
    free(p.loads);
    return rc;
}

int tn_incoming_seal(tarn_cx *cx, tn_incoming *in)
{
    int rc = TARN_OK;

    if (!in->spilled || in->rows_file.sink == NULL)
        return TARN_OK;
    TN_TRY(tn_incoming_spill(cx, in));
    TN_TRY(tn_spill_finish(cx, &in->rows_file));
    TN_TRY(tn_spill_finish(cx, &in->keys_file));
    TN_TRY(tn_spill_finish(cx, &in->facts_file));
done:
    return rc;
}

int tn_incoming_yield(tarn_cx *cx, tn_incoming *in)
{
    int rc = TARN_OK;

    assert(!in->spilled);
    tn_cx_forget(cx);
    tn_incoming_drop_keys(in);
    TN_TRY(tn_incoming_spill(cx, in));
    TN_TRY(tn_incoming_seal(cx, in));
done:
    return rc;
}

/* --- piece by piece --- */

typedef struct pass {
    tn_incoming *in;
    tn_file *keys, *facts;
    tn_buf key_bytes, fact_bytes;
    tn_spill next; /* what is written */
} pass;

/* I1. */
static int load_part(tarn_cx *cx, const tn_spill *spill, tn_file *file, const tn_spill_piece *piece,
                     tn_buf *out)
{
    int rc = TARN_OK;

    tn_buf_reset(out);
    if (tn_buf_extend(out, piece->bytes) == NULL)
        return tn_fail_memory(cx);
    TN_TRY(tn_store_read(cx, file, piece->offset, out->data, piece->bytes));
    if (tn_spill_checksum(tn_buf_view(out)) != piece->checksum)
        TN_FAIL(TARN_E_CORRUPT,
                "%.*s: rows put aside are not what was written; the disk or another program has "
                "changed them, so write again",
                TN_STR_ARG(spill->path));
done:
    return rc;
}

static int load_facts(tarn_cx *cx, pass *p, const tn_spilled *piece, tn_row_facts *out)
{
    size_t count = (size_t)piece->count;
    int rc = TARN_OK;

    TN_TRY(load_part(cx, &p->in->facts_file, p->facts, &piece->facts, &p->fact_bytes));
    *out = (tn_row_facts){.first = piece->first, .count = piece->count};
    out->places = (uint64_t *)(void *)p->fact_bytes.data;
    out->partitions = (uint32_t *)(void *)(out->places + count);
    out->flags = (uint8_t *)(out->partitions + count);
    if (p->keys == NULL)
        goto done;
    TN_TRY(load_part(cx, &p->in->keys_file, p->keys, &piece->keys, &p->key_bytes));
    out->hashes = (tn_key_hash *)(void *)p->key_bytes.data;
    if (p->in->ordering != NULL) {
        out->orders = (uint64_t *)(void *)(out->hashes + count);
        out->texts = (const uint8_t *)(out->orders + count);
    }
done:
    return rc;
}

static int begin_pass(tarn_cx *cx, pass *p, unsigned how)
{
    char name[32];
    int rc = TARN_OK;

    TN_TRY(tn_store_open_file(cx, p->in->store, p->in->facts_file.path, &p->facts));
    if (how & TN_FACTS_KEYS)
        TN_TRY(tn_store_open_file(cx, p->in->store, p->in->keys_file.path, &p->keys));
    if (how & TN_FACTS_WRITE) {
        snprintf(name, sizeof name, "facts-%u.spill", ++p->in->facts_version);
        TN_TRY(name_file(cx, p->in, name, &p->next));
    }
done:
    return rc;
}

static void close_file(tn_file **file)
{
    if (*file != NULL)
        tn_store_close_file(*file);
    *file = NULL;
}

/* The file written takes the place of the one read; `places` are where the pieces lie in it. */
static int end_pass(tarn_cx *cx, pass *p, const tn_spill_piece *places)
{
    tn_spilled *pieces = (tn_spilled *)(void *)p->in->pieces.data;
    int rc = tn_spill_finish(cx, &p->next);

    if (rc != TARN_OK)
        return rc;
    close_file(&p->facts);
    tn_spill_clear(cx, &p->in->facts_file);
    p->in->facts_file = p->next;
    p->next = (tn_spill){0};
    for (size_t i = 0; i < tn_incoming_piece_count(p->in); i++)
        pieces[i].facts = places[i];
    return TARN_OK;
}

static int pass_pieces(tarn_cx *cx, tn_incoming *in, unsigned how, tn_facts_job fn, void *arg)
{
    pass p = {.in = in};
    tn_spill_piece *places = NULL;
    tn_row_facts facts;
    int rc = TARN_OK;

    TN_TRY(begin_pass(cx, &p, how));
    places = tn_alloc(cx, tn_incoming_piece_count(in) * sizeof *places);
    if (places == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < tn_incoming_piece_count(in); i++) {
        TN_TRY(tn_cx_check(cx));
        TN_TRY(load_facts(cx, &p, tn_incoming_piece(in, i), &facts));
        TN_TRY(fn(cx, &facts, arg));
        if (!(how & TN_FACTS_WRITE))
            continue;
        places[i] = sealed(&p.fact_bytes);
        TN_TRY(write_part(cx, &p.next, &p.fact_bytes, &places[i]));
    }
    if (how & TN_FACTS_WRITE)
        TN_TRY(end_pass(cx, &p, places));
done:
    close_file(&p.facts);
    close_file(&p.keys);
    tn_spill_clear(cx, &p.next);
    tn_buf_clear(&p.key_bytes);
    tn_buf_clear(&p.fact_bytes);
    free(places);
    return rc;
}

int tn_incoming_each(tarn_cx *cx, tn_incoming *in, unsigned how, tn_facts_job fn, void *arg)
{
    if (!in->spilled)
        return fn(cx, &in->facts, arg);
    assert(in->facts.count == 0);
    return pass_pieces(cx, in, how, fn, arg);
}

/* A small file is read once, whole; of a larger one the span of the row group wanted; of a huge row
 * group nothing: its leaves stream. Where a few leaves are wanted, only their chunks are read.
 * I1: what a wave holds in memory is reserved in the budget until the wave is cleared.
 * I2: every input is checked to be the file that the plan saw, each time it is opened. */
#include "exec/rewrite_load.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/budget.h"
#include "base/pool.h"

#define TN_WAVE_BYTES_MIN (1u << 20)
#define TN_WAVE_BYTES_MAX (16u << 20)
#define TN_WAVE_FILES_MAX 1024
#define TN_TAIL_BYTES                                                                              \
    (64u << 10) /* what opening reads at once: up to there a file costs one read */

static uint64_t wave_bytes(const tarn_cx *cx)
{
    uint64_t bytes = tn_budget_bytes(cx) / 32;

    if (bytes < TN_WAVE_BYTES_MIN)
        return TN_WAVE_BYTES_MIN;
    return bytes > TN_WAVE_BYTES_MAX ? TN_WAVE_BYTES_MAX : bytes;
}

static int check_seen(tarn_cx *cx, const tn_file_seen *seen, const tn_stat *now)
{
    if (now->size_bytes != seen->size_bytes || now->mtime_ns != seen->mtime_ns ||
        (seen->inode != 0 && now->inode != seen->inode))
        return tn_fail(cx, TARN_E_CONFLICT,
                       "%.*s: changed since the plan was made; plan again (run merge again)",
                       TN_STR_ARG(seen->path));
    return TARN_OK;
}

static int reserve(tarn_cx *cx, tn_loaded *loaded, uint64_t bytes)
{
    int rc = tn_budget_take(cx, bytes, "an input row group");

    if (rc == TARN_OK)
        loaded->reserved = bytes;
    return rc;
}

static int read_into(tarn_cx *cx, tn_file *file, tn_loaded *loaded, uint64_t base, uint64_t len)
{
    int rc = TARN_OK;

    TN_TRY(reserve(cx, loaded, len));
    loaded->bytes = tn_alloc(cx, len);
    if (loaded->bytes == NULL)
        TN_TRY(TARN_E_NOMEM);
    TN_TRY(tn_store_read(cx, file, base, loaded->bytes, len));
    loaded->base = base;
    loaded->len = len;
done:
    return rc;
}

/* The bytes from the first page of the row group to its last. */
static int group_span(tarn_cx *cx, const tn_parquet *parquet, uint32_t group, uint64_t *base,
                      uint64_t *len)
{
    uint64_t from = UINT64_MAX, to = 0;
    int rc = TARN_OK;

    for (size_t leaf = 0; leaf < parquet->schema.leaf_count; leaf++) {
        uint64_t offset, bytes;

        TN_TRY(tn_parquet_chunk_span(cx, parquet, group, leaf, &offset, &bytes));
        from = offset < from ? offset : from;
        to = offset + bytes > to ? offset + bytes : to;
    }
    *base = from == UINT64_MAX ? 0 : from;
    *len = from == UINT64_MAX ? 0 : to - from;
done:
    return rc;
}

/* Finds the chunks of the leaves wanted, and of the donors of those that the file lacks. */
static int mark_wanted(tarn_cx *cx, const tn_wave *wave, tn_loaded *loaded)
{
    const tn_leaf_source *mapping = wave->task->mappings[loaded->input->mapping];
    size_t leaf_count = loaded->parquet.schema.leaf_count;
    int rc = TARN_OK;

    loaded->chunks = tn_calloc(cx, leaf_count, sizeof *loaded->chunks);
    if (loaded->chunks == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < wave->want.count; i++) {
        const tn_leaf_source *source = &mapping[wave->want.leaves[i]];
        int32_t leaf = source->leaf >= 0 ? source->leaf : source->donor;
        tn_loaded_chunk *chunk;

        /* A mapping that does not fit the file is found out when the leaf is read. */
        if (leaf < 0 || (size_t)leaf >= leaf_count || loaded->chunks[leaf].len != 0)
            continue;
        chunk = &loaded->chunks[leaf];
        TN_TRY(tn_parquet_chunk_span(cx, &loaded->parquet, loaded->group, (size_t)leaf,
                                     &chunk->offset, &chunk->len));
        loaded->len += chunk->len;
    }
done:
    return rc;
}

/* The chunks wanted, one after the other; neighbours in the file are read at once. */
static int read_chunks(tarn_cx *cx, const tn_wave *wave, tn_file *file, tn_loaded *loaded)
{
    size_t leaf_count = loaded->parquet.schema.leaf_count;
    uint64_t at = 0;
    int rc = TARN_OK;

    TN_TRY(mark_wanted(cx, wave, loaded));
    loaded->read_bytes += loaded->len;
    loaded->stream = loaded->len > 4 * wave->bytes_max;
    if (loaded->stream)
        goto done;
    TN_TRY(reserve(cx, loaded, loaded->len));
    loaded->bytes = tn_alloc(cx, loaded->len + 1);
    if (loaded->bytes == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t leaf = 0; leaf < leaf_count;) {
        tn_loaded_chunk *first = &loaded->chunks[leaf];
        uint64_t len = 0;

        first->at = at;
        do {
            loaded->chunks[leaf].at = at + len;
            len += loaded->chunks[leaf].len;
            leaf++;
        } while (leaf < leaf_count && len != 0 && loaded->chunks[leaf].len != 0 &&
                 loaded->chunks[leaf].offset == first->offset + len);
        if (len != 0)
            TN_TRY(tn_store_read(cx, file, first->offset, loaded->bytes + at, len));
        at += len;
    }
    assert(at == loaded->len);
done:
    return rc;
}

tn_source tn_loaded_source(const tn_loaded *loaded, size_t leaf)
{
    const tn_loaded_chunk *chunk = loaded->chunks != NULL ? &loaded->chunks[leaf] : NULL;

    return chunk != NULL ? tn_source_memory(loaded->bytes + chunk->at, chunk->len, chunk->offset)
                         : tn_source_memory(loaded->bytes, loaded->len, loaded->base);
}

static int load_group(tarn_cx *cx, const tn_wave *wave, tn_file *file, tn_loaded *loaded)
{
    tn_str path = loaded->input->file.path;
    uint64_t base, len;
    int rc = TARN_OK;

    TN_TRY(tn_parquet_open(cx, wave->store, path, &loaded->parquet));
    if (loaded->group >= loaded->parquet.footer.group_count)
        TN_FAIL(TARN_E_CORRUPT, "%.*s: the task names row group %u of %zu", TN_STR_ARG(path),
                loaded->group, loaded->parquet.footer.group_count);
    loaded->read_bytes =
        file->stat.size_bytes < TN_TAIL_BYTES ? file->stat.size_bytes : TN_TAIL_BYTES;
    if (loaded->parquet.footer_bytes > loaded->read_bytes)
        loaded->read_bytes += loaded->parquet.footer_bytes;
    if (!wave->all) {
        rc = read_chunks(cx, wave, file, loaded);
        goto done;
    }
    TN_TRY(group_span(cx, &loaded->parquet, loaded->group, &base, &len));
    loaded->read_bytes += len;
    if (len > 4 * wave->bytes_max)
        loaded->stream = true;
    else
        TN_TRY(read_into(cx, file, loaded, base, len));
done:
    return rc;
}

int tn_wave_fetch(tarn_cx *cx, tn_wave *wave, size_t i)
{
    tn_loaded *loaded = &wave->loaded[i];
    const tn_file_seen *seen = &loaded->input->file;
    tn_file *file = NULL;
    int rc = TARN_OK;

    TN_TRY(tn_store_open_file(cx, wave->store, seen->path, &file));
    TN_TRY(check_seen(cx, seen, &file->stat));
    if (!loaded->whole) {
        TN_TRY(load_group(cx, wave, file, loaded));
        goto done;
    }
    TN_TRY(read_into(cx, file, loaded, 0, seen->size_bytes));
    loaded->read_bytes = loaded->len;
    TN_TRY(tn_parquet_open_memory(cx, loaded->bytes, loaded->len, seen->path, &loaded->parquet));
done:
    tn_store_close_file(file);
    return rc;
}

void tn_wave_clear(tarn_cx *cx, tn_wave *wave)
{
    for (size_t i = 0; i < wave->loaded_count; i++) {
        tn_parquet_close(&wave->loaded[i].parquet);
        free(wave->loaded[i].bytes);
        free(wave->loaded[i].chunks);
        tn_budget_give(cx, wave->loaded[i].reserved);
    }
    free(wave->loaded);
    free(wave->of_segment);
    *wave = (tn_wave){0};
}

/* Is the file read whole? It is where that costs no more than what is wanted of it. */
static bool read_whole(const tn_wave *wave, const tn_task_input *input)
{
    if (input->file.size_bytes > wave->bytes_max)
        return false;
    return wave->all || input->file.size_bytes <= TN_TAIL_BYTES ||
           wave->want.count >= wave->task->leaf_count;
}

/* About how many bytes of a wave a row group takes that is not read whole. */
static uint64_t guess_bytes(const tn_wave *wave, const tn_task_input *input)
{
    return wave->all ? UINT64_MAX / 2
                     : input->file.size_bytes / wave->task->leaf_count * wave->want.count + 1;
}

/* Takes segments until the wave is full. A file larger than a wave makes one of its own. */
static void choose(tn_wave *wave, const tn_segment *segments, size_t count)
{
    uint64_t bytes = 0;

    wave->segments = segments;
    for (size_t i = 0; i < count; i++) {
        const tn_task_input *input = &wave->task->inputs[segments[i].input];
        tn_loaded *last = wave->loaded_count != 0 ? &wave->loaded[wave->loaded_count - 1] : NULL;
        bool whole = read_whole(wave, input);

        if (last == NULL || last->input != input || (!whole && last->group != segments[i].group)) {
            uint64_t more = whole ? input->file.size_bytes : guess_bytes(wave, input);

            if (last != NULL &&
                (bytes + more > wave->bytes_max || wave->loaded_count == TN_WAVE_FILES_MAX))
                break;
            wave->loaded[wave->loaded_count++] =
                (tn_loaded){.input = input, .group = segments[i].group, .whole = whole};
            bytes += more;
        }
        wave->of_segment[i] = (uint32_t)wave->loaded_count - 1;
        wave->segment_count = i + 1;
    }
}

int tn_wave_open(tarn_cx *cx, tn_store *store, const tn_task_rewrite *task,
                 const tn_wave_want *want, const tn_segment *segments, size_t count, tn_wave *out)
{
    tn_wave wave = {.store = store, .task = task, .all = want == NULL, .bytes_max = wave_bytes(cx)};
    size_t files_max = count < TN_WAVE_FILES_MAX ? count : TN_WAVE_FILES_MAX;
    int rc = TARN_OK;

    assert(count > 0);
    if (want != NULL)
        wave.want = *want;
    wave.loaded = tn_calloc(cx, files_max, sizeof *wave.loaded);
    wave.of_segment = tn_calloc(cx, count, sizeof *wave.of_segment);
    if (wave.loaded == NULL || wave.of_segment == NULL)
        TN_TRY(TARN_E_NOMEM);
    choose(&wave, segments, count);
    assert(wave.segment_count > 0);
    *out = wave;
    wave = (tn_wave){0};
done:
    tn_wave_clear(cx, &wave);
    return rc;
}

static int fetch_one(tarn_cx *cx, size_t i, void *arg)
{
    return tn_wave_fetch(cx, arg, i);
}

int tn_wave_load(tarn_cx *cx, tn_store *store, const tn_task_rewrite *task,
                 const tn_wave_want *want, const tn_segment *segments, size_t count, tn_wave *out)
{
    tn_wave wave = {0};
    int rc = TARN_OK;

    TN_TRY(tn_wave_open(cx, store, task, want, segments, count, &wave));
    TN_TRY(tn_parallel(cx, wave.loaded_count, fetch_one, &wave));
    *out = wave;
    wave = (tn_wave){0};
done:
    tn_wave_clear(cx, &wave);
    return rc;
}

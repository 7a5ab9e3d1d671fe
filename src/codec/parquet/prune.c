/* Pruning by what a file says of its values.
 *
 * I1: what a range rules out is batch/filter_range.c's to say. I2: AND drops where one side drops,
 * OR where all do; for pages: intersection and union of rows. I3: an index is used as a whole or
 * not at all: a page that contradicts itself, or pages that do not match those of the offset index,
 * make the column's index of that group void. */
#include "codec/parquet/prune.h"

#include <math.h>

#include "codec/parquet/bloom.h"
#include "codec/parquet/row_set.h"

#define NO_LEAF UINT32_MAX

typedef struct column_state {
    uint32_t leaf; /* NO_LEAF: prunes nothing */
    bool bloom_tried, bloom_there;
    tn_str blocks;
    bool index_tried, index_there;
    tn_offset_index pages;
    tn_order_range *page_ranges; /* one per page */
} column_state;

typedef struct pruner {
    tarn_cx *cx;
    const tn_parquet *file;
    const tn_filter *filter;
    column_state *columns; /* one per column of the filter */
    tn_order_range *ranges;
    tn_arena scratch; /* of one row group */
    size_t group;
} pruner;

/* The leaf of a path of names, each of them alone among its siblings. */
static const tn_leaf *find_leaf(const tn_schema *schema, const tn_filter_column *column)
{
    const tn_leaf *leaf = tn_schema_leaf(schema, column->path, column->path_count);
    const tn_node *node = leaf != NULL ? leaf->node : NULL;

    if (leaf == NULL || leaf->max_rep != 0)
        return NULL;
    for (; node->index != 0; node = &schema->nodes[node->parent]) {
        uint32_t at = schema->nodes[node->parent].first_child;

        for (; at != 0; at = schema->nodes[at].next_sibling) {
            if (at != node->index && tn_str_equal(schema->nodes[at].name, node->name))
                return NULL;
        }
    }
    return leaf;
}

static const tn_leaf *leaf_of(const pruner *p, uint32_t column)
{
    uint32_t leaf = p->columns[column].leaf;

    return leaf == NO_LEAF ? NULL : &p->file->schema.leaves[leaf];
}

static int bind(pruner *p, tn_arena *arena)
{
    p->columns = tn_arena_array(p->cx, arena, p->filter->column_count, sizeof *p->columns);
    p->ranges = tn_arena_array(p->cx, arena, p->filter->column_count, sizeof *p->ranges);
    if (p->columns == NULL || p->ranges == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < p->filter->column_count; i++) {
        const tn_filter_column *column = &p->filter->columns[i];
        const tn_leaf *leaf = find_leaf(&p->file->schema, column);

        p->columns[i].leaf = leaf != NULL ? leaf->index : NO_LEAF;
    }
    return TARN_OK;
}

/* Where the types differ a literal says nothing about the leaf's bounds; nulls still count. */
static void drop_bounds(tn_order_range *range)
{
    range->has_min = range->has_max = false;
    range->nan_free = false;
}

static void load_ranges(pruner *p)
{
    for (uint32_t i = 0; i < p->filter->column_count; i++) {
        const tn_leaf *leaf = leaf_of(p, i);

        if (leaf == NULL) {
            p->ranges[i] = (tn_order_range){.entries = -1};
            continue;
        }
        tn_order_chunk(p->file, p->group, leaf, &p->ranges[i]);
        if (!tn_order_matches(leaf, &p->filter->columns[i].type))
            drop_bounds(&p->ranges[i]);
    }
}

/* Hashes of a value's plain encodings; 0 of them where it has no one encoding. */
static size_t hash_float(const tn_leaf *leaf, double value, uint64_t hashes[2])
{
    float single = (float)value;
    float zeros[2] = {0.0f, -0.0f};
    double wide_zeros[2] = {0.0, -0.0};

    if (isnan(value) || leaf->physical == TN_FIXED)
        return 0;
    if (leaf->physical == TN_FLOAT && (double)single != value)
        return 0;
    if (value == 0.0) {
        for (size_t i = 0; i < 2; i++)
            hashes[i] = leaf->physical == TN_FLOAT
                            ? tn_bloom_hash(&zeros[i], sizeof zeros[i])
                            : tn_bloom_hash(&wide_zeros[i], sizeof wide_zeros[i]);
        return 2;
    }
    hashes[0] = leaf->physical == TN_FLOAT ? tn_bloom_hash(&single, sizeof single)
                                           : tn_bloom_hash(&value, sizeof value);
    return 1;
}

static size_t hash_integer(const tn_leaf *leaf, int64_t value, uint64_t *hash)
{
    int32_t narrow = (int32_t)value;

    if (leaf->physical == TN_INT64)
        *hash = tn_bloom_hash(&value, sizeof value);
    else if (leaf->physical == TN_INT32)
        *hash = tn_bloom_hash(&narrow, sizeof narrow);
    else
        return 0;
    return 1;
}

static size_t hash_value(const tn_leaf *leaf, const tn_filter_value *value, uint64_t hashes[2])
{
    switch (tn_order_domain(leaf)) {
    case TN_DOMAIN_SIGNED:
        if (leaf->physical == TN_INT32 && (value->i < INT32_MIN || value->i > INT32_MAX))
            return 0;
        return hash_integer(leaf, value->i, hashes);
    case TN_DOMAIN_UNSIGNED:
        if (leaf->physical == TN_INT32 && value->u > UINT32_MAX)
            return 0;
        return hash_integer(leaf, (int64_t)value->u, hashes);
    case TN_DOMAIN_FLOAT:
        return hash_float(leaf, value->d, hashes);
    case TN_DOMAIN_BYTES:
        hashes[0] = tn_bloom_hash(value->bytes.ptr, value->bytes.len);
        return 1;
    case TN_DOMAIN_DECIMAL: /* a byte array has several encodings of one number */
    case TN_DOMAIN_NONE:
        break;
    }
    return 0;
}

static int load_bloom(pruner *p, uint32_t column)
{
    column_state *state = &p->columns[column];

    if (state->bloom_tried)
        return TARN_OK;
    state->bloom_tried = true;
    return tn_parquet_bloom(p->cx, p->file, p->group, state->leaf, &p->scratch, &state->bloom_there,
                            &state->blocks);
}

static bool bloom_has(const tn_leaf *leaf, tn_str blocks, const tn_filter_value *value)
{
    uint64_t hashes[2];
    size_t n = hash_value(leaf, value, hashes);

    for (size_t i = 0; i < n; i++) {
        if (tn_bloom_query(blocks, hashes[i]))
            return true;
    }
    return n == 0;
}

/* `=` and IN, where the statistics let a value through. */
static int bloom_leaf(pruner *p, const tn_filter_node *node, bool *may)
{
    const tn_leaf *leaf = leaf_of(p, node->column);
    enum tn_domain domain = p->filter->columns[node->column].domain;
    bool equal = node->kind == TN_FILTER_COMPARE && node->op == TN_EQ;
    bool in = node->kind == TN_FILTER_IN && !node->negated;
    int rc = TARN_OK;

    if (leaf == NULL || !(equal || in) ||
        !p->file->footer.groups[p->group].columns[leaf->index].has_bloom ||
        !tn_order_matches(leaf, &p->filter->columns[node->column].type))
        return TARN_OK;
    TN_TRY(load_bloom(p, node->column));
    if (!p->columns[node->column].bloom_there)
        goto done;
    *may = false;
    for (size_t i = 0; i < node->value_count && !*may; i++)
        *may = tn_filter_range_equal(domain, &p->ranges[node->column], &node->values[i]) &&
               bloom_has(leaf, p->columns[node->column].blocks, &node->values[i]);
done:
    return rc;
}

/* The filter once more, with bloom filters where statistics said "maybe". */
static int bloom_node(pruner *p, const tn_filter_node *node, bool *may)
{
    bool is_and = node->kind == TN_FILTER_AND;
    int rc = TARN_OK;

    *may = tn_filter_range_node(p->filter, node, p->ranges);
    if (!*may)
        return TARN_OK;
    if (!is_and && node->kind != TN_FILTER_OR)
        return node->kind == TN_FILTER_CONST ? TARN_OK : bloom_leaf(p, node, may);
    *may = is_and;
    for (size_t i = 0; i < node->child_count && *may == is_and; i++)
        TN_TRY(bloom_node(p, node->children[i], may));
done:
    return rc;
}

/* Ranges of a column's pages, or `index_there` false. */
static int load_pages(pruner *p, uint32_t column)
{
    column_state *state = &p->columns[column];
    const tn_leaf *leaf = leaf_of(p, column);
    int64_t rows = p->file->footer.groups[p->group].rows;
    bool matches, there;
    tn_column_index index;
    int rc = TARN_OK;

    if (state->index_tried)
        return TARN_OK;
    state->index_tried = true;
    TN_TRY(tn_parquet_column_index(p->cx, p->file, p->group, leaf->index, &p->scratch, &there,
                                   &index));
    if (!there)
        goto done;
    TN_TRY(tn_parquet_offset_index(p->cx, p->file, p->group, leaf->index, &p->scratch, &there,
                                   &state->pages));
    if (!there || state->pages.pages != index.pages)
        goto done;
    state->page_ranges =
        tn_arena_array(p->cx, &p->scratch, index.pages, sizeof *state->page_ranges);
    if (state->page_ranges == NULL)
        return TARN_E_NOMEM;
    matches = tn_order_matches(leaf, &p->filter->columns[column].type);
    for (size_t i = 0; i < index.pages; i++) {
        int64_t end = i + 1 < index.pages ? state->pages.locations[i + 1].first_row : rows;
        tn_order_range *range = &state->page_ranges[i];

        tn_order_page(p->file, leaf, &index, i, end - state->pages.locations[i].first_row, range);
        if (range->contradict)
            goto done;
        if (!matches)
            drop_bounds(range);
    }
    state->index_there = true;
done:
    return rc;
}

static int whole_group(pruner *p, tn_row_set *out)
{
    int rc = tn_row_set_make(p->cx, &p->scratch, 1, out);

    if (rc == TARN_OK)
        tn_row_set_add(out, (uint32_t)p->group, 0, p->file->footer.groups[p->group].rows);
    return rc;
}

static int pages_leaf(pruner *p, const tn_filter_node *node, tn_row_set *out)
{
    const tn_leaf *leaf = leaf_of(p, node->column);
    const column_state *state = &p->columns[node->column];
    int64_t rows = p->file->footer.groups[p->group].rows;
    int rc = TARN_OK;

    if (leaf == NULL)
        return whole_group(p, out);
    TN_TRY(load_pages(p, node->column));
    if (!state->index_there)
        return whole_group(p, out);
    TN_TRY(tn_row_set_make(p->cx, &p->scratch, state->pages.pages, out));
    for (size_t i = 0; i < state->pages.pages; i++) {
        int64_t first = state->pages.locations[i].first_row;
        int64_t end = i + 1 < state->pages.pages ? state->pages.locations[i + 1].first_row : rows;

        if (tn_filter_range_leaf(p->filter, node, &state->page_ranges[i]))
            tn_row_set_add(out, (uint32_t)p->group, first, end - first);
    }
done:
    return rc;
}

static int pages_node(pruner *p, const tn_filter_node *node, tn_row_set *out)
{
    bool is_and = node->kind == TN_FILTER_AND;
    tn_row_set set, next;
    int rc = TARN_OK;

    if (!is_and && node->kind != TN_FILTER_OR && node->kind != TN_FILTER_CONST)
        return pages_leaf(p, node, out);
    if (is_and || (node->kind == TN_FILTER_CONST && node->truth == TN_TRUE))
        TN_TRY(whole_group(p, &set));
    else
        TN_TRY(tn_row_set_make(p->cx, &p->scratch, 1, &set));
    for (size_t i = 0; i < node->child_count; i++) {
        TN_TRY(pages_node(p, node->children[i], &next));
        TN_TRY(is_and ? tn_row_set_both(p->cx, &p->scratch, &set, &next, &set)
                      : tn_row_set_either(p->cx, &p->scratch, &set, &next, &set));
    }
    *out = set;
done:
    return rc;
}

/* Pages of the columns the filter names that lie wholly outside of the rows kept. */
static size_t count_dropped(const pruner *p, const tn_row_set *set)
{
    size_t dropped = 0;

    for (size_t c = 0; c < p->filter->column_count; c++) {
        const column_state *state = &p->columns[c];
        size_t at = 0;

        for (size_t i = 0; state->index_there && i < state->pages.pages; i++) {
            int64_t first = state->pages.locations[i].first_row;
            int64_t end = i + 1 < state->pages.pages ? state->pages.locations[i + 1].first_row
                                                     : p->file->footer.groups[p->group].rows;

            while (at < set->count && set->ranges[at].first + set->ranges[at].rows <= first)
                at++;
            dropped += at == set->count || set->ranges[at].first >= end;
        }
    }
    return dropped;
}

/* Growing list of kept ranges. */
typedef struct kept {
    tn_buf ranges; /* of tn_row_range */
    uint32_t *groups;
} kept;

static int keep_group(pruner *p, const tn_row_set *set, kept *k, tn_prune *out)
{
    if (set->count == 0) {
        out->by_index++;
        return TARN_OK;
    }
    k->groups[out->group_count++] = (uint32_t)p->group;
    tn_buf_add(&k->ranges, set->ranges, set->count * sizeof *set->ranges);
    for (size_t i = 0; i < set->count; i++)
        out->rows += set->ranges[i].rows;
    return tn_buf_check(p->cx, &k->ranges);
}

static void forget_group(pruner *p)
{
    for (size_t i = 0; i < p->filter->column_count; i++)
        p->columns[i] = (column_state){.leaf = p->columns[i].leaf};
    tn_arena_clear(&p->scratch);
}

static int prune_group(pruner *p, const tn_prune_options *options, kept *k, tn_prune *out)
{
    bool may = false;
    tn_row_set set;
    int rc = TARN_OK;

    load_ranges(p);
    if (p->file->footer.groups[p->group].rows == 0 ||
        !tn_filter_range_may(p->filter, p->ranges, 1)) {
        out->by_statistics++;
        goto done;
    }
    if (!options->skip_bloom) {
        TN_TRY(bloom_node(p, p->filter->root, &may));
        if (!may) {
            out->by_bloom++;
            goto done;
        }
    }
    if (options->skip_index)
        TN_TRY(whole_group(p, &set));
    else
        TN_TRY(pages_node(p, p->filter->root, &set));
    out->pages_dropped += count_dropped(p, &set);
    TN_TRY(keep_group(p, &set, k, out));
done:
    return rc;
}

int tn_prune_file(tarn_cx *cx, const tn_parquet *file, const tn_filter *filter,
                  const tn_prune_options *options, tn_arena *arena, tn_prune *out)
{
    static const tn_prune_options defaults = {0};
    pruner p = {.cx = cx, .file = file, .filter = filter};
    tn_prune result = {0};
    kept k = {0};
    tn_str bytes;
    int rc = TARN_OK;

    options = options != NULL ? options : &defaults;
    TN_TRY(bind(&p, arena));
    k.groups = tn_arena_array(cx, arena, file->footer.group_count, sizeof *k.groups);
    if (k.groups == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (p.group = 0; p.group < file->footer.group_count; p.group++) {
        TN_TRY(tn_cx_check(cx));
        TN_TRY(prune_group(&p, options, &k, &result));
        forget_group(&p);
    }
    bytes = tn_buf_view(&k.ranges);
    TN_TRY(tn_arena_keep(cx, arena, &bytes));
    result.groups = k.groups;
    result.ranges = (tn_row_range *)(void *)(uintptr_t)bytes.ptr;
    result.range_count = bytes.len / sizeof(tn_row_range);
    *out = result;
done:
    tn_arena_clear(&p.scratch);
    tn_buf_clear(&k.ranges);
    return rc;
}

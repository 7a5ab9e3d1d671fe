/* The wire form of a merge plan: a header line, then a line per task.
 * I1: every task belongs to one output of one partition, and the header's counts equal the lines
 *     that follow; a plan cut short is refused as a whole. */
#include "task/merge_plan.h"

#include "task/place.h"
#include "task/wire.h"

#define TN_PLAN_COUNT_MAX 100000000

static void write_inputs(tn_json *json, const tn_merge_partition *partition)
{
    tn_json_key(json, "inputs");
    tn_json_array(json);
    for (size_t i = 0; i < partition->input_count; i++) {
        tn_json_object(json);
        tn_wire_file_write(json, &partition->inputs[i]);
        tn_json_object_end(json);
    }
    tn_json_array_end(json);
}

static void write_outputs(tn_json *json, const tn_merge_partition *partition)
{
    tn_json_key(json, "outputs");
    tn_json_array(json);
    for (size_t i = 0; i < partition->output_count; i++) {
        const tn_merge_output *output = &partition->outputs[i];

        tn_json_object(json);
        tn_json_put_bytes(json, "name", output->name);
        tn_json_put_bytes(json, "staged", output->staged);
        tn_json_put_i64(json, "rows", output->rows);
        tn_json_put_i64(json, "task", output->task);
        tn_json_put_i64(json, "newest_input", output->newest_input);
        tn_json_object_end(json);
    }
    tn_json_array_end(json);
}

static void write_partition(tn_json *json, const tn_merge_partition *partition)
{
    tn_json_object(json);
    tn_json_put_bytes(json, "path", partition->path);
    tn_json_put_bytes(json, "directory", partition->directory);
    tn_json_put_bytes(json, "staging", partition->staging);
    tn_json_put_bool(json, "staging_inside", partition->staging_inside);
    tn_json_put_text(json, "swap",
                     partition->swap == TN_SWAP_EXCHANGE ? TN_STR("exchange") : TN_STR("journal"));
    tn_json_put_i64(json, "mount", (int64_t)partition->mount);
    tn_json_put_i64(json, "inode", (int64_t)partition->inode);
    tn_json_put_i64(json, "mtime_ns", partition->mtime_ns);
    tn_json_put_i64(json, "rows", partition->rows);
    tn_json_put_u64(json, "bytes", partition->bytes);
    write_inputs(json, partition);
    write_outputs(json, partition);
    tn_json_key(json, "stale");
    tn_json_array(json);
    for (size_t i = 0; i < partition->stale_count; i++)
        tn_json_bytes(json, partition->stale[i]);
    tn_json_array_end(json);
    tn_json_object_end(json);
}

static const char *const note_kinds[] = {"", "skipped", "problem", "kept", "apart", "changed"};

static void write_notes(tn_json *json, const tn_merge_plan *plan)
{
    tn_json_key(json, "notes");
    tn_json_array(json);
    for (size_t i = 0; i < plan->note_count; i++) {
        tn_json_object(json);
        tn_json_put_text(json, "kind", tn_str_of(note_kinds[plan->notes[i].kind]));
        tn_json_put_bytes(json, "path", plan->notes[i].path);
        tn_json_put_text(json, "text", plan->notes[i].text);
        tn_json_object_end(json);
    }
    tn_json_array_end(json);
}

static void write_header(tn_json *json, const tn_merge_plan *plan)
{
    tn_json_object(json);
    tn_wire_kind(json, TN_WIRE_PLAN);
    tn_json_put_text(json, "id", plan->id);
    tn_json_put_text(json, "commits", TN_STR("any"));
    tn_json_put_bytes(json, "root", plan->root);
    tn_json_put_bytes(json, "work", plan->work);
    tn_json_put_i64(json, "made_ms", plan->made_ms);
    tn_json_put_i64(json, "keep_old_ms", plan->options.keep_old_ms);
    tn_json_put_bool(json, "verify_content", plan->options.verify_content);
    tn_json_put_bool(json, "times_now", plan->options.times_now);
    tn_json_put_u64(json, "files_seen", plan->files_seen);
    tn_json_put_u64(json, "bytes_seen", plan->bytes_seen);
    tn_json_put_u64(json, "partitions_seen", plan->partitions_seen);
    tn_json_put_u64(json, "tasks", plan->task_count);
    tn_json_key(json, "partitions");
    tn_json_array(json);
    for (size_t i = 0; i < plan->partition_count; i++)
        write_partition(json, &plan->partitions[i]);
    tn_json_array_end(json);
    write_notes(json, plan);
    tn_json_object_end(json);
}

int tn_merge_plan_write(tarn_cx *cx, const tn_merge_plan *plan, tn_buf *out)
{
    tn_json json = tn_json_to(out);
    int rc = TARN_OK;

    write_header(&json, plan);
    tn_buf_u8(out, '\n');
    for (size_t i = 0; i < plan->task_count; i++) {
        TN_TRY(tn_task_write(cx, &plan->tasks[i], out));
        tn_buf_u8(out, '\n');
    }
    rc = tn_buf_check(cx, out);
done:
    return rc;
}

static int parse_inputs(tarn_cx *cx, tn_arena *arena, const json_t *object, tn_merge_partition *out)
{
    json_t *inputs;
    int rc = TARN_OK;

    TN_TRY(tn_json_get_items(cx, arena, object, "inputs", sizeof *out->inputs, &inputs,
                             &out->inputs, &out->input_count));
    for (size_t i = 0; i < out->input_count; i++)
        TN_TRY(tn_wire_file_parse(cx, arena, json_array_get(inputs, i), &out->inputs[i]));
done:
    return rc;
}

static int parse_outputs(tarn_cx *cx, tn_arena *arena, const json_t *object, int64_t task_count,
                         tn_merge_partition *out)
{
    json_t *outputs;
    int rc = TARN_OK;

    TN_TRY(tn_json_get_items(cx, arena, object, "outputs", sizeof *out->outputs, &outputs,
                             &out->outputs, &out->output_count));
    for (size_t i = 0; i < out->output_count; i++) {
        const json_t *value = json_array_get(outputs, i);
        tn_merge_output *output = &out->outputs[i];
        int64_t task, newest;

        TN_TRY(tn_json_get_bytes(cx, arena, value, "name", &output->name));
        TN_TRY(tn_json_get_bytes(cx, arena, value, "staged", &output->staged));
        TN_TRY(tn_wire_count(cx, value, "rows", 0, INT64_MAX, &output->rows));
        TN_TRY(tn_wire_count(cx, value, "task", 0, task_count - 1, &task));
        TN_TRY(tn_wire_count(cx, value, "newest_input", 0, (int64_t)out->input_count - 1, &newest));
        output->task = (uint32_t)task;
        output->newest_input = (uint32_t)newest;
    }
done:
    return rc;
}

static int parse_stale(tarn_cx *cx, tn_arena *arena, const json_t *object, tn_merge_partition *out)
{
    json_t *stale;
    int rc = TARN_OK;

    TN_TRY(tn_json_get_items(cx, arena, object, "stale", sizeof *out->stale, &stale, &out->stale,
                             &out->stale_count));
    for (size_t i = 0; i < out->stale_count; i++)
        TN_TRY(tn_json_bytes_of(cx, arena, json_array_get(stale, i), &out->stale[i]));
done:
    return rc;
}

static int parse_partition(tarn_cx *cx, tn_arena *arena, const json_t *object, int64_t task_count,
                           tn_merge_partition *out)
{
    tn_str swap;
    int64_t mount, inode, bytes;
    int rc = TARN_OK;

    TN_TRY(tn_json_get_bytes(cx, arena, object, "path", &out->path));
    TN_TRY(tn_json_get_bytes(cx, arena, object, "directory", &out->directory));
    TN_TRY(tn_json_get_bytes(cx, arena, object, "staging", &out->staging));
    TN_TRY(tn_json_get_bool(cx, object, "staging_inside", &out->staging_inside));
    TN_TRY(tn_json_get_text(cx, arena, object, "swap", &swap));
    if (!tn_str_is(swap, "exchange") && !tn_str_is(swap, "journal"))
        TN_FAIL(TARN_E_CORRUPT, "plan: \"swap\" is \"%.*s\"", TN_STR_ARG(swap));
    out->swap = tn_str_is(swap, "exchange") ? TN_SWAP_EXCHANGE : TN_SWAP_JOURNAL;
    TN_TRY(tn_json_get_i64(cx, object, "mount", &mount));
    TN_TRY(tn_json_get_i64(cx, object, "inode", &inode));
    TN_TRY(tn_json_get_i64(cx, object, "mtime_ns", &out->mtime_ns));
    TN_TRY(tn_wire_count(cx, object, "rows", 0, INT64_MAX, &out->rows));
    TN_TRY(tn_wire_count(cx, object, "bytes", 0, INT64_MAX, &bytes));
    out->mount = (uint64_t)mount;
    out->inode = (uint64_t)inode;
    out->bytes = (uint64_t)bytes;
    TN_TRY(parse_inputs(cx, arena, object, out));
    TN_TRY(parse_outputs(cx, arena, object, task_count, out));
    TN_TRY(parse_stale(cx, arena, object, out));
done:
    return rc;
}

static int parse_note(tarn_cx *cx, tn_arena *arena, const json_t *object, tn_merge_note *out)
{
    tn_str kind;
    int rc = TARN_OK;

    TN_TRY(tn_json_get_text(cx, arena, object, "kind", &kind));
    for (int i = 1; i < (int)(sizeof note_kinds / sizeof note_kinds[0]); i++)
        if (tn_str_is(kind, note_kinds[i]))
            out->kind = (enum tn_merge_note_kind)i;
    if (out->kind == 0)
        TN_FAIL(TARN_E_CORRUPT, "plan: a note of kind \"%.*s\"", TN_STR_ARG(kind));
    TN_TRY(tn_json_get_bytes(cx, arena, object, "path", &out->path));
    TN_TRY(tn_json_get_text(cx, arena, object, "text", &out->text));
done:
    return rc;
}

static int parse_header(tarn_cx *cx, tn_arena *arena, const json_t *object, tn_merge_plan *out)
{
    json_t *partitions, *notes;
    int64_t files, bytes, seen, tasks;
    int rc = TARN_OK;

    TN_TRY(tn_json_get_text(cx, arena, object, "id", &out->id));
    TN_TRY(tn_json_get_bytes(cx, arena, object, "root", &out->root));
    TN_TRY(tn_json_get_bytes(cx, arena, object, "work", &out->work));
    TN_TRY(tn_json_get_i64(cx, object, "made_ms", &out->made_ms));
    TN_TRY(tn_json_get_i64(cx, object, "keep_old_ms", &out->options.keep_old_ms));
    TN_TRY(tn_json_get_bool(cx, object, "verify_content", &out->options.verify_content));
    TN_TRY(tn_json_get_bool(cx, object, "times_now", &out->options.times_now));
    TN_TRY(tn_wire_count(cx, object, "files_seen", 0, INT64_MAX, &files));
    TN_TRY(tn_wire_count(cx, object, "bytes_seen", 0, INT64_MAX, &bytes));
    TN_TRY(tn_wire_count(cx, object, "partitions_seen", 0, INT64_MAX, &seen));
    TN_TRY(tn_wire_count(cx, object, "tasks", 0, TN_PLAN_COUNT_MAX, &tasks));
    out->files_seen = (uint64_t)files;
    out->bytes_seen = (uint64_t)bytes;
    out->partitions_seen = (uint64_t)seen;
    out->task_count = (size_t)tasks;
    TN_TRY(tn_json_get_items(cx, arena, object, "partitions", sizeof *out->partitions, &partitions,
                             &out->partitions, &out->partition_count));
    TN_TRY(tn_json_get_items(cx, arena, object, "notes", sizeof *out->notes, &notes, &out->notes,
                             &out->note_count));
    for (size_t i = 0; i < out->partition_count; i++)
        TN_TRY(
            parse_partition(cx, arena, json_array_get(partitions, i), tasks, &out->partitions[i]));
    for (size_t i = 0; i < out->note_count; i++)
        TN_TRY(parse_note(cx, arena, json_array_get(notes, i), &out->notes[i]));
done:
    return rc;
}

static tn_str next_line(tn_str *text)
{
    size_t end = tn_str_find(*text, '\n');
    tn_str line = {text->ptr, end};

    *text = tn_str_from(*text, end + 1);
    return line;
}

int tn_merge_plan_count(tarn_cx *cx, tn_str line, size_t *tasks)
{
    tn_arena arena = {0};
    tn_merge_plan plan = {0};
    json_t *header = NULL;
    int rc = TARN_OK;

    TN_TRY(tn_wire_open(cx, line, TN_WIRE_PLAN, &header));
    TN_TRY(parse_header(cx, &arena, header, &plan));
    *tasks = plan.task_count;
done:
    json_decref(header);
    tn_arena_clear(&arena);
    return rc;
}

int tn_merge_plan_parse(tarn_cx *cx, tn_str text, tn_arena *arena, tn_merge_plan *out)
{
    tn_merge_plan plan = {0};
    json_t *header = NULL;
    size_t lines = 0;
    int rc = TARN_OK;

    TN_TRY(tn_wire_open(cx, next_line(&text), TN_WIRE_PLAN, &header));
    TN_TRY(parse_header(cx, arena, header, &plan));
    for (size_t i = 0; i < text.len; i++)
        lines += text.ptr[i] == '\n';
    lines += text.len != 0 && text.ptr[text.len - 1] != '\n';
    if (lines != plan.task_count)
        TN_FAIL(TARN_E_CORRUPT, "plan: %zu task lines follow the header, which names %zu", lines,
                plan.task_count);
    plan.tasks = tn_arena_array(cx, arena, plan.task_count, sizeof *plan.tasks);
    if (plan.tasks == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < plan.task_count; i++) {
        TN_TRY(tn_task_parse(cx, next_line(&text), arena, &plan.tasks[i]));
        if (plan.tasks[i].number != i || !tn_str_equal(plan.tasks[i].plan_id, plan.id))
            TN_FAIL(TARN_E_CORRUPT, "plan: task line %zu is not task %zu of this plan", i + 1, i);
    }
    TN_TRY(tn_merge_place_check(cx, &plan));
    *out = plan;
done:
    json_decref(header);
    return rc;
}

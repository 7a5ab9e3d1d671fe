"""Child of test_roundtrip.py: reads jobs, one JSON object a line, does each with tarn's scan or sink,
and answers with a line each. Tables pass as Arrow IPC files, so that the peers stay outside of this
process and of the sanitizers that may be preloaded into it."""
import json
import sys

import pyarrow as pa

import bridge


def write_rows(job):
    with pa.memory_map(job["from"]) as source:
        table = pa.ipc.open_file(source).read_all()

    def batches():
        for n, batch in enumerate(table.to_batches(max_chunksize=job.get("chunk"))):
            if n == job.get("fail_at"):
                raise ValueError("the source went away")
            yield batch.slice(job.get("skip", 0))

    rows = bridge.write_rows(job["to"], pa.RecordBatchReader.from_batches(table.schema, batches()), job["partition_by"],
                             job.get("memory", 0))
    return {"rows": rows}


def run(job):
    if job["op"] == "write_rows":
        return write_rows(job)
    if job["op"] == "read":
        if "ranges" in job:
            job["ranges"] = [bridge.RowRange(*r) for r in job["ranges"]]
        options = {k: v for k, v in job.items() if k not in ("op", "from", "to")}
        table = bridge.read(job["from"], **options)
        table.validate(full=True)
        with pa.OSFile(job["to"], "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
            writer.write_table(table)
        return {}
    with pa.memory_map(job["from"]) as source:
        table = pa.ipc.open_file(source).read_all()
        table = table.slice(job.get("skip", 0))
        options = {k: v for k, v in job.items() if k not in ("op", "from", "to", "skip")}
        bridge.write(job["to"], table, **options)
    return {}


for line in sys.stdin:
    try:
        answer = run(json.loads(line))
        print(json.dumps({"ok": True} | answer), flush=True)
    except bridge.Failure as failure:
        print(json.dumps({"ok": False, "text": str(failure)}), flush=True)

"""The visible rows of a copy-on-write Hudi table of layout 1 (version 6), by its timeline and files alone: no code of
tarn, and none of Hudi. Read by pyarrow."""
import json
import os

import pyarrow as pa
import pyarrow.parquet as pq

META = ["_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name"]


def timeline(root):
    return os.path.join(root, ".hoodie")


def commits(root):
    """Completed commits, oldest first: (time, metadata)."""
    out = []
    for name in os.listdir(timeline(root)):
        time, _, action = name.partition(".")
        if time.isdigit() and action in ("commit", "replacecommit"):
            with open(os.path.join(timeline(root), name), encoding="utf-8") as file:
                out.append((time, json.load(file)))
    return sorted(out, key=lambda c: c[0])


def files(root):
    """Paths of the latest base file of each file group that is there."""
    latest, gone = {}, set()
    for time, commit in commits(root):
        for partition, stats in commit["partitionToWriteStats"].items():
            for stat in stats:
                latest[partition, stat["fileId"]] = os.path.join(root, stat["path"])
        for partition, ids in commit.get("partitionToReplaceFileIds", {}).items():
            gone |= {(partition, i) for i in ids}
    return [path for group, path in sorted(latest.items()) if group not in gone]


def rows(root, meta=False):
    """All rows as dicts, by record key; every meta column is checked against where the row lies."""
    out = []
    for path in files(root):
        table = pq.read_table(path, partitioning=None)
        assert table.column_names[:5] == META
        partition = os.path.relpath(os.path.dirname(path), root)
        for row in table.to_pylist():
            assert row["_hoodie_file_name"] == os.path.basename(path)
            assert row["_hoodie_partition_path"] == ("" if partition == "." else partition)
            assert row["_hoodie_commit_seqno"].startswith(row["_hoodie_commit_time"] + "_")
            out.append(row)
    out.sort(key=lambda r: (r["_hoodie_record_key"], r["_hoodie_commit_seqno"]))
    return out if meta else [{k: v for k, v in r.items() if k not in META} for r in out]


def schema(root):
    """Of the latest commit: {column: Avro type}."""
    fields = json.loads(commits(root)[-1][1]["extraMetadata"]["schema"])["fields"]
    return {f["name"]: f["type"] for f in fields}


def table(**columns):
    return pa.table(columns)

#!/usr/bin/env python3
"""Makes fuzz/corpus/archive: manifests, and logs of archived timelines of version 6.
Usage: fuzz/make_archive_seeds.py (from the root of the tree)"""
import json
import os
import struct

OUT = "fuzz/corpus/archive"
STRING = ["null", "string"]
META = {"type": "record", "name": "HoodieCommitMetadata", "fields": [{"name": "operationType", "type": STRING}]}
ENTRY = {"type": "record", "name": "HoodieArchivedMetaEntry", "fields": [
    {"name": "hoodieCommitMetadata", "type": ["null", META]},
    *({"name": n, "type": STRING} for n in ("commitTime", "actionType", "actionState", "stateTransitionTime"))]}


def some(text):
    return b"\0" if text is None else b"\x02" + bytes([2 * len(text)]) + text.encode()


def entry(operation, *texts):
    return (b"\0" if operation is None else b"\x02" + some(operation)) + b"".join(map(some, texts))


def block(kind, headers, content):
    head = struct.pack(">i", len(headers)) + b"".join(
        struct.pack(">ii", k, len(v)) + v.encode() for k, v in headers.items())
    body = struct.pack(">ii", 1, kind) + head + struct.pack(">q", len(content)) + content + bytes(4)
    return b"#HUDI#" + struct.pack(">q", len(body) + 8) + body + struct.pack(">q", len(body) + 14)


def records(*data):
    return struct.pack(">ii", 3, len(data)) + b"".join(struct.pack(">i", len(d)) + d for d in data)


entries = (entry(None, "001", "commit", "REQUESTED", None), entry("INSERT", "001", "commit", "COMPLETED", "0011"),
           entry("COMPACT", "002", "commit", "COMPLETED", None), entry(None, "003", "rollback", None, None))
log = block(3, {0: "001", 2: json.dumps(ENTRY)}, records(*entries))
seeds = {
    "manifest": b"m" + json.dumps({"files": [{"fileName": "1_2_0.parquet", "fileLen": 3}]}).encode(),
    "manifest_none": b'm{"files":[]}',
    "log": b"l" + log,
    "log_two": b"l" + log + block(3, {0: "001", 2: json.dumps(ENTRY)}, records(entries[1])),
    "log_torn": b"l" + log[:-20],
}
os.makedirs(OUT, exist_ok=True)
for name, data in seeds.items():
    with open(os.path.join(OUT, name), "wb") as file:
        file.write(data)

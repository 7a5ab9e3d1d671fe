#!/usr/bin/env python3
"""Gives the table of make_table.py (version 8) a metadata table: make_metadata.py DIRECTORY. The first commit is in a base file,
those after it in logs; a commit that the data table never completed is completed here, and must not count."""
import json
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.environ["TARN_SOURCE"], "fuzz"))
from make_hfile_seeds import GZIP, NONE, Writer  # noqa: E402

root = sys.argv[1]
home = os.path.join(root, ".hoodie/metadata")
INIT = "00000000000000000"
T1, T2, T3, T4, T5, T6 = ("2024051210300%d000" % i for i in range(1, 7))
INFO = {"type": "record", "name": "HoodieMetadataFileInfo",
        "fields": [{"name": "size", "type": "long"}, {"name": "isDeleted", "type": "boolean"}]}
SCHEMA = json.dumps({"type": "record", "name": "HoodieMetadataRecord", "namespace": "org.apache.hudi.avro.model", "fields": [
    {"name": "key", "type": "string"}, {"name": "type", "type": "int"},
    {"name": "filesystemMetadata", "type": ["null", {"type": "map", "values": INFO}]}]}).encode()


def number(n):
    n <<= 1
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def text(s):
    return number(len(s)) + s.encode()


def record(kind, names):
    entries = b"".join(text(name) + number(size) + bytes([gone]) for name, size, gone in names)
    return text("") + number(kind) + number(1) + (number(len(names)) + entries if names else b"") + number(0)


def hfile(records, keys):
    pairs = sorted((key.encode(), record(1 if key.startswith("__") else 2, names)) for key, names in records.items())
    return Writer(GZIP if keys == "bare" else NONE, keys=keys).write(pairs, [(b"schema", SCHEMA)])


def block(kind, instant, content):
    header = b"".join(struct.pack(">ii", key, len(value)) + value for key, value in ((0, instant.encode()), (2, SCHEMA)))
    body = struct.pack(">iii", 1, kind, 2) + header + struct.pack(">q", len(content)) + content + struct.pack(">i", 0)
    return b"#HUDI#" + struct.pack(">q", len(body) + 8) + body + struct.pack(">q", len(body) + 8 + 6)


def size_of(partition, name):
    return os.path.getsize(os.path.join(root, partition, name))


def changes(instant):
    """Names of the files that an instant wrote, by partition."""
    found = {}
    for partition in ("dt=2024-05-11", "dt=2024-05-12"):
        names = [n for n in sorted(os.listdir(os.path.join(root, partition))) if n.endswith(instant + ".parquet")]
        if names:
            found[partition] = [(n, size_of(partition, n), 0) for n in names]
    return {**found, "__all_partitions__": [(p, 0, 0) for p in found]}


def complete(instant, done=None):
    done = done or instant[:-3] + "400"
    for name in (instant + ".deltacommit.requested", instant + ".deltacommit.inflight", "%s_%s.deltacommit" % (instant, done)):
        open(os.path.join(home, ".hoodie/timeline", name), "w").close()


def put(name, data):
    with open(os.path.join(home, "files", name), "wb") as out:
        out.write(data)


os.makedirs(os.path.join(home, ".hoodie/timeline"))
os.makedirs(os.path.join(home, "files"))
with open(os.path.join(home, ".hoodie/hoodie.properties"), "w") as out:
    out.write("hoodie.table.name=t_metadata\nhoodie.table.type=MERGE_ON_READ\nhoodie.table.version=8\nhoodie.timeline.layout.version=2\n"
              "hoodie.timeline.path=timeline\nhoodie.table.base.file.format=HFILE\nhoodie.table.recordkey.fields=key\n"
              "hoodie.populate.meta.fields=false\nhoodie.table.keygenerator.type=HOODIE_TABLE_METADATA\n"
              "hoodie.compaction.payload.class=org.apache.hudi.metadata.HoodieMetadataPayload\nhoodie.record.merge.mode=CUSTOM\n"
              "hoodie.record.merge.strategy.id=00000000-0000-0000-0000-000000000000\n")
complete(INIT, T1[:-3] + "600")
BASE = "files-0000-0_0-0-0_%s.hfile" % INIT
with open(os.path.join(home, ".hoodie/timeline/%s_%s600.deltacommit" % (INIT, T1[:-3])), "w") as out:
    json.dump({"partitionToWriteStats": {"files": [{"fileId": "files-0000-0", "path": "files/" + BASE, "prevCommit": "null"}]},
               "compacted": False, "extraMetadata": {}, "operationType": "UPSERT_PREPPED"}, out)
put(BASE, hfile(changes(T1), "bare"))
for instant in (T2, T3, T5):
    complete(instant)
    put(".files-0000-0_%s.log.1_0-1-2" % instant, block(4, instant, hfile(changes(instant), "full")))
# A name that was taken back before it was said, and one that a rollback took out.
put(".files-0000-0_%s.log.2_0-1-2" % T3, block(4, T3, hfile({"dt=2024-05-12": [("gone-0_0-0-0_%s.parquet" % T1, 0, 1)]}, "full")))
with open(os.path.join(root, ".hoodie/hoodie.properties"), "a") as out:
    out.write("hoodie.table.metadata.partitions=files\n")

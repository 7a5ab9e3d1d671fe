#!/usr/bin/env python3
"""Makes a small Hudi table by hand: make_table.py VERSION DIRECTORY, version 6 or 8.

Three commits into two partitions (an insert, an upsert, an overwrite of one partition), a clean, a
commit that was never completed with its file, and a rollback that is planned. Base files are copies
of a golden Parquet file; nothing but footers is read of them."""
import json
import os
import shutil
import sys

version, root = int(sys.argv[1]), sys.argv[2]
golden = os.path.join(os.environ["TARN_SOURCE"], "tests/golden/parquet/flat_index_v1_groups.parquet")
timeline = os.path.join(root, ".hoodie", "timeline" if version >= 8 else "")
A = "aaaaaaaa-0000-4000-8000-00000000000%d-0"
T1, T2, T3, T4, T5, T6 = ("2024051210300%d000" % i for i in range(1, 7))
SCHEMA = json.dumps({"type": "record", "name": "t_record", "namespace": "hoodie.t", "fields": [
    {"name": "id", "type": ["null", "string"], "default": None},
    {"name": "ts", "type": ["null", {"type": "long", "logicalType": "timestamp-micros"}],
     "default": None},
    {"name": "amount", "type": ["null", {
        "type": "fixed", "name": "fixed", "namespace": "hoodie.t.t_record.amount", "size": 5,
        "logicalType": "decimal", "precision": 10, "scale": 2}], "default": None},
    {"name": "dt", "type": ["null", "string"], "default": None}]}, separators=(",", ":"))


def later(instant):
    return instant[:-3] + "500"


# ---- Avro, as far as it is needed

def number(n):
    n = (n << 1) ^ (n >> 63)
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out) + bytes([n])


def encode(schema, value):
    if isinstance(schema, list):
        branch = 0 if value is None else 1
        return number(branch) + (b"" if value is None else encode(schema[1], value))
    kind = schema["type"] if isinstance(schema, dict) else schema
    if kind == "string":
        return number(len(value.encode())) + value.encode()
    if kind in ("long", "int"):
        return number(value)
    if kind == "boolean":
        return bytes([value])
    if kind == "record":
        return b"".join(encode(f["type"], value.get(f["name"])) for f in schema["fields"])
    if kind == "array":
        items = b"".join(encode(schema["items"], v) for v in value)
        return (number(len(value)) + items if value else b"") + number(0)
    items = b"".join(encode("string", k) + encode(schema["values"], v) for k, v in value.items())
    return (number(len(value)) + items if value else b"") + number(0)


def container(schema, value):
    text, mark, data = json.dumps(schema).encode(), bytes(range(16)), encode(schema, value)
    return (b"Obj\x01" + number(1) + encode("string", "avro.schema") + number(len(text)) + text +
            number(0) + mark + number(1) + number(len(data)) + data + mark)


def field(name, kind):
    return {"name": name, "type": ["null", kind], "default": None}


STAT = {"type": "record", "name": "HoodieWriteStat", "fields": [
    field("fileId", "string"), field("path", "string"), field("prevCommit", "string"),
    field("numWrites", "long"), field("numDeletes", "long"), field("numUpdateWrites", "long"),
    field("totalWriteBytes", "long"), field("totalWriteErrors", "long"),
    field("partitionPath", "string"), field("numInserts", "long"),
    field("fileSizeInBytes", "long")]}
STRINGS = {"type": "map", "values": "string"}
COMMIT = {"type": "record", "name": "HoodieCommitMetadata",
          "namespace": "org.apache.hudi.avro.model", "fields": [
              field("partitionToWriteStats",
                    {"type": "map", "values": {"type": "array", "items": STAT}}),
              field("compacted", "boolean"), field("extraMetadata", STRINGS),
              field("version", "int"), field("operationType", "string")]}
REPLACE = dict(COMMIT, name="HoodieReplaceCommitMetadata", fields=COMMIT["fields"] + [
    field("partitionToReplaceFileIds",
          {"type": "map", "values": {"type": "array", "items": "string"}})])
CLEAN = {"type": "record", "name": "HoodieCleanMetadata", "namespace": "org.apache.hudi.avro.model",
         "fields": [{"name": "startCleanTime", "type": "string"},
                    {"name": "timeTakenInMillis", "type": "long"},
                    {"name": "totalFilesDeleted", "type": "int"},
                    {"name": "earliestCommitToRetain", "type": "string"}]}
PLAN = {"type": "record", "name": "HoodieRollbackPlan", "namespace": "org.apache.hudi.avro.model",
        "fields": [field("instantToRollback", {"type": "record", "name": "HoodieInstantInfo",
                                               "fields": [{"name": "commitTime", "type": "string"},
                                                          {"name": "action", "type": "string"}]})]}

# ---- the table


def put(name, data, at):
    path = os.path.join(timeline, name)
    with open(path, "wb") as out:
        out.write(data)
    seconds = 1715509800 + int(at[12:14])
    os.utime(path, (seconds, seconds))


def base_file(partition, group, instant):
    folder = os.path.join(root, partition)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, ".hoodie_partition_metadata"), "w") as out:
        out.write("commitTime=%s\npartitionDepth=1\n" % T1)
    name = "%s_0-1-2_%s.parquet" % (A % group, instant)
    shutil.copy(golden, os.path.join(folder, name))
    return name


def stat(partition, group, instant, before, inserts, updates, deletes):
    name = base_file(partition, group, instant)
    size = os.path.getsize(golden)
    return {"fileId": A % group, "path": partition + "/" + name, "prevCommit": before or "null",
            "numWrites": 900, "numDeletes": deletes, "numUpdateWrites": updates,
            "numInserts": inserts, "totalWriteBytes": size, "totalWriteErrors": 0,
            "partitionPath": partition, "fileSizeInBytes": size}


def commit(instant, action, operation, stats, replaced=None):
    parts = {}
    for s in stats:
        parts.setdefault(s["partitionPath"], []).append(s)
    value = {"partitionToWriteStats": parts, "compacted": False,
             "extraMetadata": {"schema": SCHEMA, "job": "nightly"}, "operationType": operation}
    if replaced:
        value["partitionToReplaceFileIds"] = replaced
    put("%s.%s.requested" % (instant, action), b"", instant)
    put(instant + (".inflight" if action == "commit" else ".%s.inflight" % action), b"", instant)
    if version >= 8:
        put("%s_%s.%s" % (instant, later(instant), action),
            container(REPLACE if replaced else COMMIT, value), instant)
    else:
        put("%s.%s" % (instant, action), json.dumps(value, indent=2).encode(), instant)


os.makedirs(timeline, exist_ok=True)
with open(os.path.join(root, ".hoodie", "hoodie.properties"), "w") as out:
    out.write("#Properties saved on 2024-05-12T10:30:00Z\n#Sun May 12 10:30:00 UTC 2024\n"
              "hoodie.table.name=t\nhoodie.database.name=lake\nhoodie.table.type=COPY_ON_WRITE\n"
              "hoodie.table.version=%d\nhoodie.timeline.layout.version=%d\n"
              "hoodie.table.recordkey.fields=id\nhoodie.table.partition.fields=dt\n"
              "hoodie.table.precombine.field=ts\n"
              "hoodie.datasource.write.hive_style_partitioning=true\n"
              "hoodie.table.timeline.timezone=UTC\n" % (version, 2 if version >= 8 else 1))
    if version >= 8:
        out.write("hoodie.timeline.path=timeline\nhoodie.record.merge.mode=EVENT_TIME_ORDERING\n"
                  "hoodie.table.keygenerator.type=SIMPLE\n")
    else:
        out.write("hoodie.compaction.payload.class="
                  "org.apache.hudi.common.model.DefaultHoodieRecordPayload\n"
                  "hoodie.table.keygenerator.class=org.apache.hudi.keygen.SimpleKeyGenerator\n")
commit(T1, "commit", "INSERT", [stat("dt=2024-05-11", 1, T1, None, 900, 0, 0),
                                stat("dt=2024-05-12", 2, T1, None, 900, 0, 0)])
commit(T2, "commit", "UPSERT", [stat("dt=2024-05-11", 1, T2, T1, 10, 20, 3),
                                stat("dt=2024-05-12", 3, T2, None, 900, 0, 0)])
commit(T3, "replacecommit", "INSERT_OVERWRITE", [stat("dt=2024-05-12", 4, T3, None, 900, 0, 0)],
       {"dt=2024-05-12": [A % 2, A % 3]})
put(T4 + ".clean.requested", b"", T4)
put(T4 + ".clean.inflight", b"", T4)
put((T4 + "_" + later(T4) if version >= 8 else T4) + ".clean",
    container(CLEAN, {"startCleanTime": T4, "timeTakenInMillis": 12, "totalFilesDeleted": 0,
                      "earliestCommitToRetain": T1}), T4)
put(T5 + ".commit.requested", b"", T5)
put(T5 + ".inflight", b"", T5)
base_file("dt=2024-05-11", 5, T5)
put(T6 + ".rollback.requested",
    container(PLAN, {"instantToRollback": {"commitTime": T5, "action": "commit"}}), T6)

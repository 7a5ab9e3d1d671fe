"""Merge-on-read tables made by hand, byte by byte from the format pages: what no healthy writer leaves behind. Files of the
timeline, base files by pyarrow, and logs whose every block is given."""
import io
import json
import os
import pathlib
import struct
import zlib

import pyarrow as pa
import pyarrow.parquet as pq

META = ["_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name"]
ARROW = {"string": pa.string(), "long": pa.int64(), "int": pa.int32(), "double": pa.float64(), "boolean": pa.bool_(),
         "bytes": pa.binary(), "millis": pa.timestamp("ms", "UTC"), "micros": pa.timestamp("us", "UTC")}
AVRO = {"millis": {"type": "long", "logicalType": "timestamp-millis"}, "micros": {"type": "long", "logicalType": "timestamp-micros"}}
INSTANT, TARGET, SCHEMA, COMMAND = 0, 1, 2, 3  # keys of block headers
ALWAYS = object()  # the ordering value of a delete that counts whatever the row's is


# ---- Avro

def zigzag(n):
    n = (n << 1) ^ (n >> 63)
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out) + bytes([n])


def text(value):
    raw = value.encode() if isinstance(value, str) else value
    return zigzag(len(raw)) + raw


def encode(schema, value):
    if isinstance(schema, list):
        if value is None:
            return zigzag(schema.index("null"))
        at = next(i for i, branch in enumerate(schema) if branch != "null")
        return zigzag(at) + encode(schema[at], value)
    kind = schema["type"] if isinstance(schema, dict) else schema
    if isinstance(kind, (dict, list)):
        return encode(kind, value)
    if kind in ("string", "bytes"):
        return text(value)
    if kind in ("int", "long"):
        return zigzag(value)
    if kind == "double":
        return struct.pack("<d", value)
    if kind == "boolean":
        return bytes([value])
    if kind == "record":
        return b"".join(encode(f["type"], value.get(f["name"])) for f in schema["fields"])
    if kind == "array":
        return (zigzag(len(value)) + b"".join(encode(schema["items"], v) for v in value) if value else b"") + zigzag(0)
    items = b"".join(text(k) + encode(schema["values"], v) for k, v in value.items())
    return (zigzag(len(value)) + items if value else b"") + zigzag(0)


def optional(name, kind):
    return {"name": name, "type": ["null", kind], "default": None}


def record(name, *fields):
    return {"type": "record", "name": name, "namespace": "org.apache.hudi.avro.model", "fields": list(fields)}


def container(schema, value):
    """A file of one record, as those of a timeline."""
    body, sync = encode(schema, value), b"0123456789abcdef"
    return (b"Obj\x01" + zigzag(1) + text("avro.schema") + text(json.dumps(schema)) + zigzag(0) + sync
            + zigzag(1) + zigzag(len(body)) + body + sync)


STAT = record("HoodieWriteStat", *[optional(n, "string") for n in ("fileId", "path", "prevCommit")],
              *[optional(n, "long") for n in ("numWrites", "numDeletes", "numUpdateWrites", "numInserts", "fileSizeInBytes")],
              optional("partitionPath", "string"), optional("logFiles", {"type": "array", "items": "string"}))
COMMIT = record("HoodieReplaceCommitMetadata",
                optional("partitionToWriteStats", {"type": "map", "values": {"type": "array", "items": STAT}}),
                optional("compacted", "boolean"), optional("extraMetadata", {"type": "map", "values": "string"}),
                {"name": "version", "type": ["int", "null"], "default": 1}, optional("operationType", "string"),
                optional("partitionToReplaceFileIds",
                         {"type": "map", "values": {"type": "array", "items": "string"}}))
CLEAN = record("HoodieCleanMetadata", {"name": "startCleanTime", "type": "string"},
               {"name": "timeTakenInMillis", "type": "long"}, {"name": "totalFilesDeleted", "type": "int"},
               {"name": "earliestCommitToRetain", "type": "string"},
               {"name": "lastCompletedCommitTimestamp", "type": "string", "default": ""},
               {"name": "partitionMetadata", "type": {"type": "map", "values": "string"}},
               {"name": "version", "type": ["int", "null"], "default": 1})


# ---- blocks of logs

def frame(kind, header, content, size=None):
    """One block; `size` overrides the length that stands before it."""
    head = struct.pack(">i", len(header))
    for key, value in header.items():
        head += struct.pack(">ii", key, len(value.encode())) + value.encode()
    body = struct.pack(">ii", 1, kind) + head + struct.pack(">q", len(content)) + content + struct.pack(">i", 0)
    whole = len(body) + 8
    return b"#HUDI#" + struct.pack(">q", whole if size is None else size) + body + struct.pack(">q", whole + 6)


def rollback_block(instant, target):
    return frame(0, {INSTANT: instant, COMMAND: "0", TARGET: target}, b"")


class Table:
    """A merge-on-read table: columns {name: Avro type}, the key's first; not partitioned, or by the column `partition`."""

    def __init__(self, root, columns, version=9, ordering=None, mode=None, partition=None, **properties):
        self.root, self.version, self.columns = pathlib.Path(root), version, columns
        self.key, self.partition = next(iter(columns)), partition
        self.timeline = self.root / ".hoodie" / ("timeline" if version >= 8 else "")
        self.timeline.mkdir(parents=True)
        lines = {"hoodie.table.name": "t", "hoodie.table.type": "MERGE_ON_READ", "hoodie.table.version": version,
                 "hoodie.timeline.layout.version": 2 if version >= 8 else 1, "hoodie.table.recordkey.fields": self.key,
                 "hoodie.table.timeline.timezone": "UTC", "hoodie.table.checksum": zlib.crc32(b".t")}
        if partition:
            lines["hoodie.table.partition.fields"] = partition
        if ordering:
            lines["hoodie.table.ordering.fields" if version >= 9 else "hoodie.table.precombine.field"] = ordering
        if mode and version >= 8:
            lines["hoodie.record.merge.mode"] = mode
        lines.update({k.replace("__", "."): v for k, v in properties.items()})
        (self.root / ".hoodie/hoodie.properties").write_text("".join(f"{k}={v}\n" for k, v in lines.items()))
        if not partition:
            self.mark("")

    def mark(self, partition):
        folder = self.root / partition
        folder.mkdir(parents=True, exist_ok=True)
        depth = len(pathlib.PurePath(partition).parts)
        (folder / ".hoodie_partition_metadata").write_text(f"commitTime=20240101000000000\npartitionDepth={depth}\n")

    def schema(self, columns=None, meta=True):
        fields = [optional(name, "string") for name in META] if meta else []
        fields += [optional(name, AVRO.get(kind, kind)) for name, kind in (columns or self.columns).items()]
        return {"type": "record", "name": "t_record", "namespace": "hoodie.t", "fields": fields}

    def full(self, time, row, i, partition, file_name):
        return {META[0]: time, META[1]: f"{time}_0_{i}", META[2]: str(row[self.key]), META[3]: partition, META[4]: file_name,
                **row}

    # ---- files

    def base(self, time, rows, file_id="g-0", partition="", columns=None, commit=None):
        """A base file; the rows are of `commit` where it is given. Gives its path below the root."""
        columns = columns or self.columns
        name = f"{file_id}_0-1-0_{time}.parquet"
        self.mark(partition)
        whole = [self.full(commit or time, row, i, partition, name) for i, row in enumerate(rows)]
        types = pa.schema([(n, pa.string()) for n in META] + [(n, ARROW[k]) for n, k in columns.items()])
        pq.write_table(pa.Table.from_pylist(whole, schema=types), self.root / partition / name)
        return os.path.join(partition, name)

    def data(self, time, rows, file_id="g-0", partition="", columns=None):
        """A block of rows."""
        schema = self.schema(columns)
        content = struct.pack(">ii", 3, len(rows))
        for i, row in enumerate(rows):
            datum = encode(schema, self.full(time, row, i, partition, file_id))
            content += struct.pack(">i", len(datum)) + datum
        return frame(3, {INSTANT: time, SCHEMA: json.dumps(schema)}, content)

    def deletes(self, time, keys, partition=""):
        """A block of deletes: {key: ordering value, or ALWAYS}."""
        out = io.BytesIO()
        if keys:
            out.write(zigzag(len(keys)))
        for key, order in keys.items():
            out.write(zigzag(1) + text(str(key)) + zigzag(1) + text(partition))
            out.write(zigzag(2) + zigzag(0) if order is ALWAYS else zigzag(3) + zigzag(order))
        out.write(zigzag(0))
        return frame(1, {INSTANT: time}, struct.pack(">ii", 3, len(out.getvalue())) + out.getvalue())

    def log(self, time, *blocks, file_id="g-0", partition="", version=1, token="0-1-0"):
        """A log; `time` is that of its name: below version 8 of the slice, else of the commit."""
        self.mark(partition)
        name = f".{file_id}_{time}.log.{version}_{token}"
        (self.root / partition / name).write_bytes(b"".join(blocks))
        return os.path.join(partition, name)

    # ---- the timeline

    def commit(self, time, *paths, action="deltacommit", completion=None, operation="UPSERT", replaced=None, columns=None):
        """A completed commit that wrote those files."""
        stats = {}
        for path in paths:
            partition, name = os.path.split(path)
            stats.setdefault(partition, []).append(
                {"fileId": name.lstrip(".").split("_")[0], "path": path, "prevCommit": "null", "numWrites": 1, "numDeletes": 0,
                 "numUpdateWrites": 0, "numInserts": 1, "partitionPath": partition,
                 "fileSizeInBytes": (self.root / path).stat().st_size})
        body = {"partitionToWriteStats": stats, "compacted": operation == "COMPACT", "operationType": operation,
                "extraMetadata": {"schema": json.dumps(self.schema(columns, meta=False))}}
        if replaced:
            body["partitionToReplaceFileIds"] = replaced
        self.finish(time, action, json.dumps(body).encode() if self.version < 8 else container(COMMIT, body), completion)

    def finish(self, time, action, body, completion=None):
        self.request(time, action)
        inflight = f"{time}.inflight" if action == "commit" else f"{time}.{action}.inflight"
        (self.timeline / inflight).write_bytes(b"")
        completion = completion or str(int(time) + 1)
        path = self.timeline / (f"{time}.{action}" if self.version < 8 else f"{time}_{completion}.{action}")
        path.write_bytes(body)
        # Below version 8 the file's time tells when it was completed; hundreds of ms are kept by no archive program.
        os.utime(path, (self.seconds(completion), self.seconds(completion)))

    def request(self, time, action, body=b""):
        (self.timeline / f"{time}.{action}.requested").write_bytes(body)

    def clean(self, time, earliest):
        self.finish(time, "clean", container(CLEAN, {
            "startCleanTime": time, "timeTakenInMillis": 1, "totalFilesDeleted": 1, "earliestCommitToRetain": earliest,
            "lastCompletedCommitTimestamp": "", "partitionMetadata": {}, "version": 2}))

    @staticmethod
    def seconds(time):
        import datetime
        at = datetime.datetime.strptime(time[:14], "%Y%m%d%H%M%S").replace(tzinfo=datetime.timezone.utc)
        return at.timestamp() + int(time[14:17] or 0) / 1000

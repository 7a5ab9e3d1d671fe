#!/usr/bin/env python3
"""Makes fuzz/corpus/avro, avro_rows and properties: small files of every kind of value.
Usage: fuzz/make_avro_seeds.py (from the root of the tree)"""
import json
import os
import struct
import zlib

SYNC = bytes(range(16))


def number(n):
    n = (n << 1) ^ (n >> 63)
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out) + bytes([n])


def text(b):
    b = b.encode() if isinstance(b, str) else b
    return number(len(b)) + b


def container(schema, blocks, codec=None):
    head = [text("avro.schema") + text(json.dumps(schema, separators=(",", ":")))]
    if codec:
        head.append(text("avro.codec") + text(codec))
    out = b"Obj\x01" + number(len(head)) + b"".join(head) + number(0) + SYNC
    for count, data in blocks:
        if codec == "deflate":
            packer = zlib.compressobj(9, zlib.DEFLATED, -15)
            data = packer.compress(data) + packer.flush()
        out += number(count) + text(data) + SYNC
    return out


def record(name, *fields, space=None):
    out = {"type": "record", "name": name}
    if space:
        out["namespace"] = space
    out["fields"] = [{"name": n, "type": t} for n, t in fields]
    return out


STRING = {"type": "string", "avro.java.string": "String"}
scalars = record("R", ("z", "null"), ("b", "boolean"), ("i", "int"), ("l", "long"), ("f", "float"),
                 ("d", "double"), ("y", "bytes"), ("s", "string"),
                 ("x", {"type": "fixed", "name": "F", "size": 2}),
                 ("e", {"type": "enum", "name": "E", "symbols": ["A", "B"]}), ("again", "F"))
scalars_data = (b"\x01" + number(-1) + number(1 << 40) + struct.pack("<fd", 1.5, -0.0) +
                text(b"\x00\xff") + text("h\u00e9") + b"\x01\x02" + number(1) + b"\x03\x04")
stat = record("HoodieWriteStat", ("fileId", ["null", STRING]), ("numWrites", ["null", "long"]))
commit = record("HoodieCommitMetadata",
                ("partitionToWriteStats",
                 ["null", {"type": "map", "values": {"type": "array", "items": stat}}]),
                ("extraMetadata", ["null", {"type": "map", "values": STRING}]),
                ("operationType", ["null", STRING]), space="org.apache.hudi.avro.model")
commit["fields"].insert(0, {"name": "version", "type": ["int", "null"], "default": 1})
commit_data = (number(1) + number(1) + number(1) + text("p=1") + number(1) + number(1) + text("f-0") +
               number(1) + number(5) + number(0) + number(0) + number(1) + number(-1) + number(4) +
               text("k") + text("v") + number(0) + number(0))
table = record("t_record", ("_hoodie_commit_time", ["null", "string"]),
               ("dec", ["null", {"type": "fixed", "name": "fixed", "namespace": "hoodie.t.t_record.dec",
                                 "size": 5, "logicalType": "decimal", "precision": 10, "scale": 5}]),
               ("at", {"type": "long", "logicalType": "timestamp-micros"}),
               ("day", ["null", {"type": "int", "logicalType": "date"}]),
               ("arr", {"type": "array", "items": ["null", record("arr", ("x", "double"))]}),
               space="hoodie.t")
table_data = (number(0) + number(1) + bytes(5) + number(7) + number(0) + number(2) + number(0) +
              number(1) + bytes(8) + number(0))
seeds = {
    "scalars": container(scalars, [(1, scalars_data)]),
    "commit": container(commit, [(1, commit_data)]),
    "table": container(table, [(1, table_data), (1, table_data)]),
    "deflate": container("long", [(3, number(1) + number(2) + number(3))], "deflate"),
    "no_records": container("long", [], "null"),
}
for name, data in seeds.items():
    with open("fuzz/corpus/avro/" + name, "wb") as out:
        out.write(data)

properties = {
    "table": b"#Properties saved on 2025-01-18T04:46:14.549423Z\n#Sat Jan 18 04:46:14 UTC 2025\n"
             b"hoodie.table.name=t\nhoodie.table.create.schema={\"type\"\\:\"record\"}\n"
             b"hoodie.table.version=6\n",
    "forms": b"! c\n\n  a:1\r\nb 2\rc = = 3\nd\\ e\\=f=\\u00e9\\uD83D\\uDE00\\t\ng=x\\\n   y\\\\\nh\n=i\n",
    "latin": bytes([0xE9, 0x3D, 0xFF, 0x0A, 0x61, 0x3D, 0x5C]),
    "bad": b"a=\\u12",
}
for name, data in properties.items():
    with open("fuzz/corpus/properties/" + name, "wb") as out:
        out.write(data)


def rows(schema, *records):
    return json.dumps(schema, separators=(",", ":")).encode() + b"\0" + b"".join(
        bytes([len(r)]) + r for r in records)


shapes = record("R",
                ("p", ["null", record("P", ("a", ["null", "int"]), ("b", ["string", "null"]))]),
                ("n", {"type": "array", "items": ["null", {"type": "array", "items": "int"}]}),
                ("m", ["null", {"type": "map", "values": ["null", "P"]}]),
                ("o", ["long"]))
shapes_data = bytes.fromhex("020202000278060204020400000200000204026b020002027a0000") + number(7)
sized = bytes.fromhex("000510020102020e000000000002010602" "7a0000") + number(0)
row_seeds = {
    "scalars": rows(scalars, scalars_data, scalars_data[:5]),
    "table": rows(table, table_data, table_data + b"\0"),
    "shapes": rows(shapes, shapes_data, b"\0\0\0\0", sized),
    "members": rows(record("R", ("e", {"type": "array", "items": record("E")}), ("l", "long")),
                    bytes([6, 0, 9])),
}
os.makedirs("fuzz/corpus/avro_rows", exist_ok=True)
for name, data in row_seeds.items():
    with open("fuzz/corpus/avro_rows/" + name, "wb") as out:
        out.write(data)

#!/usr/bin/env python3
"""Makes fuzz/corpus/log: small logs of every kind of block, whole and torn. What real Hudi wrote (data_avro,
data_delete, rollback, metadata) is copied once, from files named by the arguments.
Usage: fuzz/make_log_seeds.py [NAME=FILE…] (from the root of the tree)"""
import base64
import os
import shutil
import struct
import sys

OUT = "fuzz/corpus/log"


def block(kind, headers, content):
    head = struct.pack(">i", len(headers)) + b"".join(
        struct.pack(">ii", k, len(v)) + v.encode() for k, v in headers.items())
    body = struct.pack(">ii", 1, kind) + head + struct.pack(">q", len(content)) + content + bytes(4)
    return b"#HUDI#" + struct.pack(">q", len(body) + 8) + body + struct.pack(">q", len(body) + 14)


def records(*data):
    return struct.pack(">ii", 3, len(data)) + b"".join(struct.pack(">i", len(d)) + d for d in data)


def deletes(datum):
    return struct.pack(">ii", 3, len(datum)) + datum


def bitmap(hexadecimal):
    return base64.b64encode(bytes.fromhex(hexadecimal)).decode()


ARRAY = bitmap("0100000000000000 00000000 3a300000 01000000 00000300 10000000 0000010002000700")
RUNS = bitmap("0100000000000000 00000000 3b300000 01 00000900 010003000900")
SCHEMA = '{"type":"record","name":"r","fields":[{"name":"a","type":"string"}]}'
# every branch, a list of two parts, and a part of the array that tells its bytes
ORDERS = bytes.fromhex("1a" + "0202610000" + "000002 01" + "0000 0400" + "0000 0601" + "0000 080000c03f"
                       + "0000 0a000000000000f8bf" + "0000 0c0261" + "0000 0e0262" + "0000 1002" + "0000 12027f"
                       + "0000 1402" + "0000 1604" + "0000 18 02 02 0602 03 04 1806 00 00"
                       + "01 06 000000" + "00")
sound = block(3, {0: "1", 2: SCHEMA}, records(b"\x02a"))
seeds = {
    "empty_block": block(6, {0: "1", 2: SCHEMA}, records()),
    "two": sound + block(3, {0: "2", 2: SCHEMA, 5: ARRAY, 8: "1"}, records(b"\x02a", b"\x02b", b"\x02c", b"\x00")),
    "runs": block(1, {0: "2", 5: RUNS, 8: "1"}, deletes(b"\x02\x02\x02a\x00\x04\x00\x00")),
    "orders": block(1, {0: "3"}, deletes(ORDERS)),
    "compacted": block(3, {0: "4", 2: SCHEMA, 4: "3,2", 7: "true"}, records(b"\x02a")),
    "rolled_back": sound + block(0, {0: "2", 1: "1", 3: "0"}, b""),
    "torn": sound[:-40] + sound,
    "tail": sound + sound[:-9],
    "garbage": sound + b"garbage" + sound,
}

os.makedirs(OUT, exist_ok=True)
for name, data in seeds.items():
    open(os.path.join(OUT, name), "wb").write(data)
for pair in sys.argv[1:]:
    name, path = pair.split("=", 1)
    shutil.copyfile(path, os.path.join(OUT, name))

#!/usr/bin/env python3
"""Writes tests/golden/parquet: small files by pyarrow in many encodings, each with the levels and
values expected of every leaf as text (NAME.txt: "leaf PATH group N", then a line "repetition
definition value" per entry; integers in decimal, all else in hex after an x, "-" for no value),
and the first inputs of the fuzz targets "leaf" and "pages".
The expectations are made from the Python values by the shredder below, not by a Parquet reader.

    python3 tools/make_parquet_golden.py        (pyarrow 26)
"""
import decimal
import pathlib
import random
import struct
import sys

import pyarrow as pa
import pyarrow.parquet as pq

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "tests" / "golden" / "parquet"
CORPUS = ROOT / "fuzz" / "corpus"


def shred(kind, nullable, value, rep, d, r, out, path):
    """Appends (path, rep, def, value or None, kind) for every leaf under a field."""
    if nullable:
        if value is None:
            return nothing(kind, rep, d, out, path)
        d += 1
    if pa.types.is_map(kind) or pa.types.is_list(kind):
        if pa.types.is_map(kind):
            item = pa.struct([kind.key_field, kind.item_field])
            fields = [(f.name, f) for f in item]
            below = path + ["key_value"]
        else:
            below = path + ["list"]
        if not value:
            return nothing(kind, rep, d, out, path)
        for i, one in enumerate(value):
            now = rep if i == 0 else r + 1
            if pa.types.is_map(kind):
                for (name, f), part in zip(fields, one):
                    shred(f.type, f.nullable, part, now, d + 1, r + 1, out, below + [name])
            else:
                f = kind.value_field
                shred(f.type, f.nullable, one, now, d + 1, r + 1, out, below + ["element"])
        return None
    if pa.types.is_struct(kind):
        for f in kind:
            shred(f.type, f.nullable, value[f.name], rep, d, r, out, path + [f.name])
        return None
    out.append((".".join(path), rep, d, value, kind))
    return None


def nothing(kind, rep, d, out, path):
    """All leaves under a field that is absent."""
    if pa.types.is_map(kind):
        for f in (kind.key_field, kind.item_field):
            nothing(f.type, rep, d, out, path + ["key_value", f.name])
    elif pa.types.is_list(kind):
        nothing(kind.value_field.type, rep, d, out, path + ["list", "element"])
    elif pa.types.is_struct(kind):
        for f in kind:
            nothing(f.type, rep, d, out, path + [f.name])
    else:
        out.append((".".join(path), rep, d, None, None))


def text(value, kind):
    if kind is None or value is None:
        return "-"
    if pa.types.is_boolean(kind):
        return str(int(value))
    if pa.types.is_integer(kind):
        return str(value)
    if pa.types.is_float16(kind):
        return "x" + struct.pack("<e", value).hex()
    if pa.types.is_float32(kind):
        return "x" + struct.pack("<f", value).hex()
    if pa.types.is_float64(kind):
        return "x" + struct.pack("<d", value).hex()
    if pa.types.is_timestamp(kind):  # INT96 here: nanoseconds of the day, Julian day
        days, nanos = divmod(value, 86400 * 10**9)
        return "x" + struct.pack("<QI", nanos, days + 2440588).hex()
    if pa.types.is_decimal(kind):
        n = int(value.scaleb(kind.scale))
        return "x" + n.to_bytes(kind_bytes(kind), "big", signed=True).hex()
    return "x" + (value.encode() if isinstance(value, str) else value).hex()


def kind_bytes(kind):
    n = 1
    while 10**kind.precision >= 2 ** (8 * n - 1):
        n += 1
    return n


def expected(table, group_rows):
    lines = []
    for group, start in enumerate(range(0, max(table.num_rows, 1), group_rows)):
        leaves = {}
        for field in table.schema:
            column = table.slice(start, group_rows)[field.name]
            if pa.types.is_timestamp(field.type):
                column = column.cast(pa.int64())
            found = []
            for value in column.to_pylist():
                shred(field.type, field.nullable, value, 0, 0, 0, found, [field.name])
            if not found and table.num_rows == 0:
                nothing(field.type, 0, 0, found, [field.name])
                leaves.update({path: [] for path, *_ in found})
                continue
            for path, rep, d, value, kind in found:
                leaves.setdefault(path, []).append(f"{rep} {d} {text(value, kind)}")
        for path, entries in leaves.items():
            lines.append(f"leaf {path} group {group}")
            lines += entries
    return "\n".join(lines) + "\n"


def write(name, table, group_rows=10**6, **options):
    pq.write_table(table, OUT / f"{name}.parquet", row_group_size=group_rows, **options)
    if table.num_rows:
        (OUT / f"{name}.txt").write_text(expected(table, group_rows))


def some(rng, n, make, nulls=0.2):
    return [None if rng.random() < nulls else make(i) for i in range(n)]


def flat(rng, n):
    word = lambda i: "".join(rng.choice("abcdäöü") for _ in range(rng.randrange(9)))
    return pa.table({
        "b": pa.array(some(rng, n, lambda i: rng.random() < 0.5), pa.bool_()),
        "i32": pa.array(some(rng, n, lambda i: rng.randrange(-2**31, 2**31)), pa.int32()),
        "i64": pa.array(some(rng, n, lambda i: i * 1000 + rng.randrange(9)), pa.int64()),
        "f": pa.array(some(rng, n, lambda i: struct.unpack("<f", struct.pack("<f", rng.random()))[0]), pa.float32()),
        "d": pa.array(some(rng, n, lambda i: rng.random() * 1e9), pa.float64()),
        "s": pa.array(some(rng, n, word), pa.string()),
        "x": pa.array(some(rng, n, lambda i: bytes(rng.randrange(256) for _ in range(5))), pa.binary(5)),
        "h": pa.array(some(rng, n, lambda i: float(rng.randrange(100))), pa.float16()),
        "m": pa.array(some(rng, n, lambda i: decimal.Decimal(rng.randrange(-10**20, 10**20)).scaleb(-3)), pa.decimal128(22, 3)),
        "r": pa.array(range(n), pa.int32()),
    }, schema=pa.schema([
        ("b", pa.bool_()), ("i32", pa.int32()), ("i64", pa.int64()), ("f", pa.float32()),
        ("d", pa.float64()), ("s", pa.string()), ("x", pa.binary(5)), ("h", pa.float16()),
        ("m", pa.decimal128(22, 3)), pa.field("r", pa.int32(), nullable=False)]))


def nested(rng, n):
    ints = lambda i: [None if rng.random() < 0.2 else rng.randrange(1000) for _ in range(rng.randrange(6))]
    words = lambda i: [None if rng.random() < 0.1 else ["w%d" % rng.randrange(20) for _ in range(rng.randrange(4))]
                       for _ in range(rng.randrange(4))]
    pair = lambda i: {"a": None if rng.random() < 0.2 else i, "l": None if rng.random() < 0.2 else ints(i)}
    table = lambda i: [("k%d" % k, None if rng.random() < 0.2 else k * i) for k in range(rng.randrange(4))]
    return pa.table({
        "l": pa.array(some(rng, n, ints), pa.list_(pa.int64())),
        "ll": pa.array(some(rng, n, words), pa.list_(pa.list_(pa.string()))),
        "st": pa.array(some(rng, n, pair), pa.struct([("a", pa.int32()), ("l", pa.list_(pa.int32()))])),
        "m": pa.array(some(rng, n, table), pa.map_(pa.string(), pa.int32())),
    })


def corpus(rng):
    """Tiny files for fuzz/leaf.c, and page bodies behind ten bytes of choices for fuzz/pages.c."""
    (CORPUS / "leaf").mkdir(parents=True, exist_ok=True)
    (CORPUS / "pages").mkdir(parents=True, exist_ok=True)
    tiny = dict(store_schema=False, write_statistics=False)
    pq.write_table(nested(rng, 8), CORPUS / "leaf" / "nested_v1", compression="none", data_page_size=16,
                   write_batch_size=2, **tiny)
    pq.write_table(nested(rng, 8).select(["ll", "m"]), CORPUS / "leaf" / "nested_v2", compression="snappy",
                   data_page_version="2.0", data_page_size=16, write_batch_size=2, write_page_index=True, **tiny)
    pq.write_table(flat(rng, 6).select(["b", "i64", "s", "x", "d"]), CORPUS / "leaf" / "delta", use_dictionary=False,
                   compression="none", write_page_checksum=True, column_encoding={
                       "b": "RLE", "i64": "DELTA_BINARY_PACKED", "s": "DELTA_BYTE_ARRAY", "x": "DELTA_BYTE_ARRAY",
                       "d": "BYTE_STREAM_SPLIT"}, **tiny)
    ints = bytes.fromhex("800104050200000000") + b"\2"
    deltas = bytes.fromhex("8001040502") + bytes.fromhex("0200000000")
    lengths = bytes.fromhex("8001040306") + bytes.fromhex("030400000000") + b"\x00" * 16
    levels = bytes.fromhex("02000000 0a01".replace(" ", ""))
    hybrid = bytes.fromhex("0388c6fa0a05")
    bodies = {
        "plain_i32": ([1, 0, 5, 0, 0, 0, 0, 0, 0, 0], struct.pack("<5i", 1, -2, 3, -4, 5)),
        "plain_bool_optional": ([0, 0, 5, 0, 1, 0, 0, 0, 0, 2], levels + b"\x15"),
        "plain_strings": ([6, 0, 2, 0, 0, 0, 0, 0, 0, 0], b"\2\0\0\0hi\0\0\0\0"),
        "delta_i32": ([1, 5, 5, 0, 0, 0, 0, 0, 0, 0], deltas),
        "delta_i64_skip": ([2, 5, 5, 0, 0, 0, 0, 0, 0, 66], ints),
        "delta_length": ([6, 6, 3, 0, 0, 0, 0, 0, 0, 0], lengths + b"abcdefghijkl"),
        "delta_strings": ([6, 7, 5, 0, 0, 0, 0, 0, 0, 0], deltas + deltas + b"abcdefghijklmnopqrst"),
        "split_f": ([4, 9, 2, 0, 0, 0, 0, 0, 0, 0], bytes.fromhex("aa00bb11cc22dd33")),
        "split_fixed": ([7, 9, 4, 0, 0, 2, 0, 0, 0, 0], bytes(range(12))),
        "dictionary_strings": ([6, 8, 13, 0, 0, 0, 0, 129, 0, 1], b"\3" + hybrid),
        "rle_bool": ([0, 3, 5, 0, 0, 0, 0, 0, 0, 0], levels),
        "nested_twice": ([1, 0, 5, 0, 9, 0, 0, 64, 4, 0], levels + levels + struct.pack("<5i", 1, 2, 3, 4, 5)),
        "nested_v2": ([9, 0, 5, 0, 9, 0, 0x22, 0, 1, 0], b"\x03\x1e\x0a\x01" + struct.pack("<5i", 1, 2, 3, 4, 5)),
        "old_levels": ([2, 0, 3, 0, 0x41, 0, 0, 0, 0, 0], b"\xe0" + struct.pack("<3q", 1, 2, 3)),
    }
    for name, (choices, body) in bodies.items():
        (CORPUS / "pages" / name).write_bytes(bytes(choices) + body)


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    rng = random.Random(1)
    plain = dict(use_dictionary=False, compression="none", store_schema=False)

    write("flat_plain_v1", flat(rng, 60), **plain)
    write("flat_dictionary_v1_snappy", flat(rng, 60), compression="snappy", store_schema=False,
          write_page_checksum=True)
    write("flat_delta_v2_zstd", flat(rng, 170), use_dictionary=False, compression="zstd", store_schema=False,
          data_page_version="2.0", write_page_checksum=True, column_encoding={
              "b": "RLE", "i32": "DELTA_BINARY_PACKED", "i64": "DELTA_BINARY_PACKED", "r": "DELTA_BINARY_PACKED",
              "s": "DELTA_BYTE_ARRAY", "x": "DELTA_BYTE_ARRAY", "m": "DELTA_BYTE_ARRAY",
              "f": "BYTE_STREAM_SPLIT", "d": "BYTE_STREAM_SPLIT", "h": "BYTE_STREAM_SPLIT"})
    write("flat_split_v1", flat(rng, 70), **plain, column_encoding={
        "s": "DELTA_LENGTH_BYTE_ARRAY", "i32": "BYTE_STREAM_SPLIT", "i64": "BYTE_STREAM_SPLIT",
        "x": "BYTE_STREAM_SPLIT", "m": "BYTE_STREAM_SPLIT", "b": "RLE"})
    write("flat_codecs", flat(rng, 40).select(["i64", "s", "d", "x", "r"]), use_dictionary=False,
          store_schema=False, compression={"i64": "gzip", "s": "brotli", "d": "lz4", "x": "snappy", "r": "zstd"})
    fallback = pa.table({"s": ["v%d" % (i % 5) for i in range(200)] + ["unique-%d" % (i * 7919) for i in range(300)]})
    write("dictionary_fallback", fallback, dictionary_pagesize_limit=256, data_page_size=512,
          write_batch_size=32, compression="none", store_schema=False)
    write("nested_v1", nested(rng, 150), **plain, data_page_size=128, write_batch_size=8)
    write("nested_dictionary_v2_zstd", nested(rng, 150), compression="zstd", store_schema=False,
          data_page_version="2.0", data_page_size=128, write_batch_size=8)
    write("nested_index_v2", nested(rng, 400).select(["l", "st"]), **plain, data_page_version="2.0",
          data_page_size=256, write_batch_size=8, write_page_index=True)
    write("flat_index_v1_groups", pa.table({"i": pa.array(some(rng, 900, lambda i: i * i), pa.int64())}), 500,
          data_page_size=256, write_batch_size=16, write_page_index=True, **plain)
    moments = pa.array([None, 0, 1_700_000_000_123_456_789, -1, 86400 * 10**9], pa.timestamp("ns"))
    write("int96", pa.table({"t": moments}), use_deprecated_int96_timestamps=True, **plain)
    write("no_rows", pa.table({"a": pa.array([], pa.int32()), "l": pa.array([], pa.list_(pa.string()))}), **plain)
    corpus(rng)
    (OUT / "README.md").write_text(
        "# Small Parquet files by pyarrow\n\nWritten by pyarrow %s (parquet-cpp-arrow) with\n\n"
        "    python3 tools/make_parquet_golden.py\n\n"
        "which also makes the expected levels and values (`NAME.txt`). Tested by\n"
        "`tests/unit/codec/parquet/golden_test.c`.\n" % pa.__version__)
    print(sum(f.stat().st_size for f in OUT.iterdir()), "bytes", file=sys.stderr)


main()

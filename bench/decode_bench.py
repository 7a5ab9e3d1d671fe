#!/usr/bin/env python3
"""Times the decoding of a million values per encoding by tarn's leaf reader and by pyarrow, one
thread each, from memory, best of several rounds in the same run; prints milliseconds and the ratio
(above 1: tarn is faster).

    cmake --preset release -DTARN_BENCH=ON && cmake --build --preset release --target decode_bench
    python3 bench/decode_bench.py build/release/bench/decode_bench
"""
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 1_000_000
ROUNDS = 7


def columns():
    rng = random.Random(1)
    small = [rng.randrange(1000) for _ in range(ROWS)]
    wide = [rng.randrange(-2**62, 2**62) for _ in range(ROWS)]
    clock, at = [], 1_700_000_000_000_000
    for _ in range(ROWS):
        at += rng.randrange(1_000_000)
        clock.append(at)
    words = ["word-%d" % (v * v) for v in small]
    urls = ["https://example.org/path/%08d/%s" % (i // 3, "abcdef"[: i % 6]) for i in range(ROWS)]
    holes = lambda values: [v if rng.random() > 0.1 else None for v in values]
    lists = [small[i: i + i % 7] for i in range(ROWS // 3)]
    return {
        "i64 plain": (pa.array(wide, pa.int64()), "PLAIN"),
        "i64 plain nulls": (pa.array(holes(wide), pa.int64()), "PLAIN"),
        "i32 plain": (pa.array(small, pa.int32()), "PLAIN"),
        "f64 plain": (pa.array([v / 7 for v in wide], pa.float64()), "PLAIN"),
        "bool plain": (pa.array([v % 3 == 0 for v in small]), "PLAIN"),
        "bool rle": (pa.array([v % 3 == 0 for v in small]), "RLE"),
        "i64 dictionary": (pa.array(small, pa.int64()), None),
        "i32 dictionary nulls": (pa.array(holes(small), pa.int32()), None),
        "i64 delta clock": (pa.array(clock, pa.int64()), "DELTA_BINARY_PACKED"),
        "i64 delta wide": (pa.array(wide, pa.int64()), "DELTA_BINARY_PACKED"),
        "i32 delta nulls": (pa.array(holes(small), pa.int32()), "DELTA_BINARY_PACKED"),
        "string plain": (pa.array(words), "PLAIN"),
        "string dictionary": (pa.array(words), None),
        "string dictionary nulls": (pa.array(holes(words)), None),
        "string delta length": (pa.array(words), "DELTA_LENGTH_BYTE_ARRAY"),
        "string delta bytes": (pa.array(urls), "DELTA_BYTE_ARRAY"),
        "f64 split": (pa.array([v / 7 for v in wide], pa.float64()), "BYTE_STREAM_SPLIT"),
        "f32 split": (pa.array([v / 7 for v in small], pa.float32()), "BYTE_STREAM_SPLIT"),
        "fixed5 split": (pa.array([b"%05d" % v for v in small], pa.binary(5)), "BYTE_STREAM_SPLIT"),
        "list i64 dictionary": (pa.array(lists, pa.list_(pa.int64())), None),
    }


def best(run):
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def main():
    tool = sys.argv[1]
    pa.set_cpu_count(1)
    print(f"{'column':26}{'codec':8}{'tarn ms':>9}{'pyarrow ms':>12}{'ratio':>7}")
    with tempfile.TemporaryDirectory() as temp:
        for name, (values, encoding) in columns().items():
            for codec in ("none", "snappy") if name == "i64 dictionary" else ("none",):
                path = pathlib.Path(temp) / "one.parquet"
                pq.write_table(pa.table({"c": values}), path, compression=codec, use_dictionary=encoding is None,
                               column_encoding={"c": encoding} if encoding else None)
                data = pa.py_buffer(path.read_bytes())
                theirs = best(lambda: pq.ParquetFile(pa.BufferReader(data)).read(use_threads=False))
                out = subprocess.run([tool, str(path), str(ROUNDS)], check=True, capture_output=True, text=True)
                ours = float(out.stdout.split("\t")[1])
                print(f"{name:26}{codec:8}{ours:9.2f}{theirs:12.2f}{theirs / ours:7.1f}")


main()

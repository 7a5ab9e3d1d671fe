#!/usr/bin/env python3
"""Reading NDJSON into columns: tarn beside pyarrow and DuckDB, on one file that stays in the page cache.

Usage: ndjson_bench.py NDJSON_BENCH_PROGRAM [ROWS]

The file has 8 columns: an id, a user, a city, an amount, a double of all digits, a flag, a time and a text with escapes
that is mostly null. Best of five rounds each, one thread and two; milliseconds, MB/s of the file, and milliseconds of the
processors, which other work on the machine disturbs less. (pyarrow leaves the times text.)
"""
import os
import random
import subprocess
import sys
import tempfile

import duckdb
import pyarrow as pa
import pyarrow.json as pajson

from csv_bench import best


def make(path, rows):
    rng = random.Random(7)
    cities = ["Köln", "Ulm", "Berlin", "Hamburg", "Bonn"]
    with open(path, "w", encoding="utf-8") as out:
        for i in range(rows):
            note = "null" if i % 4 else f'"a \\"note\\" of some length {i}"'
            out.write(f'{{"id":{i},"user":"user_{rng.randrange(10**7):07}","city":"{cities[i % 5]}",'
                      f'"amount":{rng.random() * 1000:.2f},"ratio":{rng.random()!r},"ok":{"true" if i % 3 else "false"},'
                      f'"at":"2024-05-{1 + i % 28:02}T{i % 24:02}:{i % 60:02}:{i % 59:02}.{i % 1000:03}Z","note":{note}}}\n')


def main():
    program, rows = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.ndjson")
        make(path, rows)
        size = os.path.getsize(path) / 1e6
        results = {}
        for jobs in 1, 2:
            out = subprocess.run([program, path, str(jobs)], check=True, capture_output=True, text=True).stdout
            results["tarn", jobs] = [float(part) for part in out.split("\t")[:2]]
            pa.set_cpu_count(jobs)
            options = pajson.ReadOptions(use_threads=jobs > 1)
            results["pyarrow", jobs] = best(lambda: pajson.read_json(path, read_options=options))
            db = duckdb.connect(config={"threads": jobs})
            results["duckdb", jobs] = best(lambda: db.sql(f"select * from read_json('{path}')").to_arrow_table())
        print(f"{rows} rows, {size:.0f} MB")
        for (name, jobs), (ms, cpu) in results.items():
            print(f"{name:8} {jobs} thread{'s' if jobs > 1 else ' '} {ms:8.0f} ms {size / ms * 1000:6.0f} MB/s {cpu:8.0f} ms of processors")


if __name__ == "__main__":
    main()

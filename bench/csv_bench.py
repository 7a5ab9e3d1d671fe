#!/usr/bin/env python3
"""Reading CSV into columns: tarn beside pyarrow and DuckDB, on one file that stays in the page cache.

Usage: csv_bench.py CSV_BENCH_PROGRAM [ROWS]

The file has 8 columns: an id, a name, an amount, a small integer, a date, a timestamp, a flag and a text that is quoted
in places. Best of five rounds each, one thread and two; milliseconds, MB/s of the file, and milliseconds of
the processors, which other work on the machine disturbs less.
"""
import os
import subprocess
import sys
import tempfile
import time

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv


def make(path, rows):
    rng = np.random.default_rng(7)
    cities = np.array(["Berlin", "Paris", "New York", "Köln", "Lima", "Ho Chi Minh City", "Oslo", "Accra"])
    notes = np.array(["", "ok", "late, again", 'said "no"', "a longer note that says rather little", "x"])
    table = pa.table({
        "id": pa.array(np.arange(rows) + 10_000_000),
        "city": pa.array(cities[rng.integers(0, len(cities), rows)]),
        "amount": pa.array(np.round(rng.random(rows) * 1000, 2)),
        "count": pa.array(rng.integers(0, 100, rows)),
        "day": pa.array((rng.integers(0, 3000, rows) + 17000).astype("datetime64[D]")),
        "at": pa.array((rng.integers(0, 10**8, rows) + 1_600_000_000).astype("datetime64[s]")),
        "paid": pa.array(rng.random(rows) < 0.5),
        "note": pa.array(notes[rng.integers(0, len(notes), rows)]),
    })
    pacsv.write_csv(table, path, pacsv.WriteOptions(quoting_style="needed"))


def best(run, rounds=5):
    times, cpu = [], []
    for _ in range(rounds):
        start, start_cpu = time.perf_counter(), time.process_time()
        run()
        times.append(time.perf_counter() - start)
        cpu.append(time.process_time() - start_cpu)
    return min(times) * 1000, min(cpu) * 1000


def main():
    program, rows = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.csv")
        make(path, rows)
        size = os.path.getsize(path) / 1e6
        results = {}
        for jobs in 1, 2:
            out = subprocess.run([program, path, str(jobs)], check=True, capture_output=True, text=True).stdout
            results["tarn", jobs] = [float(part) for part in out.split("\t")[:2]]
            pa.set_cpu_count(jobs)
            options = pacsv.ReadOptions(use_threads=jobs > 1)
            results["pyarrow", jobs] = best(lambda: pacsv.read_csv(path, options))
            db = duckdb.connect(config={"threads": jobs})
            results["duckdb", jobs] = best(lambda: db.sql(f"select * from read_csv('{path}')").to_arrow_table())
        print(f"{rows} rows, {size:.0f} MB")
        for (name, jobs), (ms, cpu) in results.items():
            print(f"{name:8} {jobs} thread{'s' if jobs > 1 else ' '} {ms:8.0f} ms {size / ms * 1000:6.0f} MB/s {cpu:8.0f} ms of processors")


if __name__ == "__main__":
    main()

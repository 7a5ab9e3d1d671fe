#!/usr/bin/env python3
"""Makes the inputs of the contest `hudi`: change records as a lake gets them, about 200 bytes a row, the same bytes for
the same sizes.

  bench/hudi_data.py DIR ROWS PARTITIONS

DIR gets orders-ROWS-PARTITIONS/: all.parquet (what is inserted), upsert-all, upsert-10, upsert-1 (one per cent, next to
each other in time), ten-near (10 rows next to each other) and ten-random. Every row has a uuid as its key, a date as its
partition, `ts` to be ordered by, and ten columns more. Rows lie in order of time, and so do partitions.
"""
import datetime, shutil, sys
from pathlib import Path

import numpy as np, pyarrow as pa, pyarrow.parquet as pq

STEP = 250_000
WORDS = ("late early gift fragile express pickup return damaged partial invoice manual retry split priority backorder "
         "customs verified hold released night weekend locker doorstep signature pallet crate").split()
STATES = ["new", "paid", "packed", "sent", "delivered", "returned"]
COUNTRIES = [a + b for a in "ABDEFGIJLNPSU" for b in "AEILNRST"]


def uuids(rows, rng):
    """Random uuids (version 4) as a string column."""
    raw = rng.integers(0, 256, (rows, 16), dtype=np.uint8)
    raw[:, 6] = raw[:, 6] & 0x0F | 0x40
    raw[:, 8] = raw[:, 8] & 0x3F | 0x80
    digits = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)
    text = np.full((rows, 36), ord("-"), dtype=np.uint8)
    places = [i for i in range(36) if i not in (8, 13, 18, 23)]
    text[:, places[0::2]] = digits[raw >> 4]
    text[:, places[1::2]] = digits[raw & 15]
    offsets = pa.py_buffer(np.arange(0, 36 * (rows + 1), 36, dtype=np.int32))
    return pa.StringArray.from_buffers(rows, offsets, pa.py_buffer(text))


def picked(values, rows, rng):
    return pa.DictionaryArray.from_arrays(pa.array(rng.integers(0, len(values), rows), pa.int32()),
                                          pa.array(values)).cast(pa.string())


def details(rows, rng):
    """Nine of the ten columns that are neither key, partition nor ordering column; `changed` is the tenth."""
    notes = [" ".join(rng.choice(WORDS, 9)) for _ in range(2_000)]
    cents = pa.array(rng.integers(1, 10_000_000, rows)).cast(pa.decimal128(19, 0))
    return {
        "customer": pa.array(rng.integers(1, 2_000_000, rows)),
        "quantity": pa.array(rng.integers(1, 100, rows), pa.int32()),
        "amount": pa.array(np.round(rng.random(rows) * 1e4, 4)),
        "price": pa.Array.from_buffers(pa.decimal128(19, 2), rows, cents.buffers()),
        "gift": pa.array(rng.random(rows) < 0.1),
        "state": picked(STATES, rows, rng),
        "country": picked(COUNTRIES, rows, rng),
        "note": pa.array(picked(notes, rows, rng).to_numpy(False), mask=rng.random(rows) < 0.2),
        "tracking": pa.array([f"{a:016x}{b:08x}" for a, b in zip(rng.integers(0, 1 << 62, rows),
                                                               rng.integers(0, 1 << 32, rows))]),
    }


def days(numbers, rows, partitions):
    first = datetime.date(2024, 6, 1)
    names = [str(first + datetime.timedelta(i)) for i in range(partitions)]
    return pa.DictionaryArray.from_arrays(pa.array(numbers * partitions // rows, pa.int32()),
                                          pa.array(names)).cast(pa.string())


def table(keys, numbers, rows, partitions, ts_shift, rng):
    """Orders of these numbers (their places in time)."""
    columns = {"order_id": keys, "dt": days(numbers, rows, partitions),
               "ts": pa.array(1_717_200_000_000 + numbers * 10 + ts_shift)}
    columns.update(details(len(numbers), rng))
    columns["changed"] = pa.array(1_717_200_000_000_000 + numbers * 10_000 + ts_shift * 1_000, pa.timestamp("us", "UTC"))
    return pa.table(columns)


def write(path, parts):
    writer = None
    for part in parts:
        writer = writer or pq.ParquetWriter(path, part.schema, compression="zstd")
        writer.write_table(part)
    writer.close()


def changes(path, keys, numbers, rows, partitions, seed):
    rng = np.random.default_rng(seed)
    write(path, (table(keys.take(pa.array(n)), n, rows, partitions, 5, rng)
                 for n in (numbers[i:i + STEP] for i in range(0, len(numbers), STEP))))


def orders(folder, rows, partitions):
    """Makes the inputs unless they are there; their folder."""
    out = Path(folder) / f"orders-{rows}-{partitions}"
    if out.exists():
        return out
    partial = out.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    rng = np.random.default_rng(rows)
    keys = uuids(rows, rng)
    write(partial / "all.parquet",
          (table(keys.slice(i, STEP), np.arange(i, min(rows, i + STEP)), rows, partitions, 0, rng)
           for i in range(0, rows, STEP)))
    late = rows * 9 // 10
    for name, numbers in {"upsert-all": rng.permutation(rows),
                          "upsert-10": rng.choice(rows, rows // 10, replace=False),
                          "upsert-1": np.arange(late, late + rows // 100),
                          "ten-near": np.arange(late, late + 10),
                          "ten-random": rng.choice(rows, 10, replace=False)}.items():
        changes(partial / f"{name}.parquet", keys, numbers, rows, partitions, len(numbers))
    partial.rename(out)
    return out


if __name__ == "__main__":
    print(orders(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))

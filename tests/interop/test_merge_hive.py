"""merge --rule hive on real files: how many there are, which rows are in which, against what Hive's packing says."""
import glob
import json
import os
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest


def files(directory):
    return sorted(glob.glob(f"{directory}/*.parquet"))


def sizes(directory):
    return [(path, pq.read_metadata(path)) for path in files(directory)]


def cuts(size, most):
    """Chunks of one file: two halves where one and less than two of them are left."""
    at = 0
    while at < size:
        left = size - at
        length = left // 2 if most < left < 2 * most else min(most, left)
        yield at, length
        at += length


def middles(meta):
    for g in range(meta.num_row_groups):
        group = meta.row_group(g)
        first = group.column(0)
        start = first.data_page_offset
        if first.dictionary_page_offset is not None and 0 < first.dictionary_page_offset < start:
            start = first.dictionary_page_offset
        yield start + sum(group.column(c).total_compressed_size for c in range(group.num_columns)) // 2, group.num_rows


def packed(directory, target, size_of):
    """Rows of each file that Hive's merge makes: splits of one host, closed when they reach the target."""
    out, rows, length = [], 0, 0
    for path, meta in sizes(directory):
        groups = list(middles(meta))
        for at, part in cuts(size_of(path), target):
            rows += sum(n for middle, n in groups if at <= middle < at + part)
            length += part
            if length >= target:
                out.append(rows)
                rows, length = 0, 0
    if length:
        out.append(rows)
    return [n for n in out if n]


def write(path, rows, start, group_rows=None):
    table = pa.table({"id": pa.array(range(start, start + rows), pa.int64()),
                      "note": pa.array([f"row {i * 7919 % 1000}" for i in range(start, start + rows)])})
    pq.write_table(table, path, row_group_size=group_rows or rows, compression="snappy")


def ids(directory):
    return [i for path in files(directory) for i in pq.read_table(path, columns=["id"]).column("id").to_pylist()]


@pytest.mark.parametrize("seed", range(4))
def test_files_are_the_splits_of_hives_merge(tarn, tmp_path, seed):
    draw = random.Random(seed)
    root = tmp_path / "t"
    root.mkdir()
    at = 0
    for i in range(60):
        rows = draw.choice([1, 20, 300, 5000 if seed % 2 else 40])
        write(root / f"{i:05d}_0.parquet", rows, at, draw.choice([None, 100]))
        at += rows
    target = 40000
    want = packed(root, target, os.path.getsize)
    splits = json.loads(tarn("splits", str(root), "--api", "hive-shim", "--json", "--max-size", str(target),
                             "--min-size", str(target)))["splits"]
    assert len(want) <= len(splits)
    before = ids(root)
    big = {os.path.basename(p) for p in files(root) if os.path.getsize(p) >= target}
    report = json.loads(tarn("merge", str(root), "--json", "--verify", "content", "--rule", "hive", "--avg-size",
                             str(target), "--size-per-task", str(target)))
    assert report["failed"] == 0 and report["done"] == 1
    assert sorted(pq.read_metadata(p).num_rows for p in files(root)) == sorted(want)
    assert sorted(ids(root)) == before
    if not big:
        assert ids(root) == before
    assert json.loads(tarn("merge", str(root), "--json", "--rule", "hive", "--avg-size", str(target),
                           "--size-per-task", str(target)))["done"] == 0


def test_the_published_case_scaled_down(tarn, tmp_path):
    """2,210 files of 935,980,245 bytes at 64 MiB are 14 files: here all sizes are 423,520 / size of one file smaller."""
    root = tmp_path / "t"
    root.mkdir()
    write(root / "00000_0.parquet", 5, 0)
    one = os.path.getsize(root / "00000_0.parquet")
    content = (root / "00000_0.parquet").read_bytes()
    for i in range(1, 2210):
        (root / f"{i:05d}_0.parquet").write_bytes(content)
    target = one * (64 << 20) * 2210 // 935980245
    report = json.loads(tarn("merge", str(root), "--json", "--rule", "hive", "--avg-size", str(one + 1),
                             "--size-per-task", str(target)))
    assert (report["files_before"], report["files_after"]) == (2210, 14)
    assert [pq.read_metadata(p).num_rows for p in files(root)] == [159 * 5] * 13 + [143 * 5]


def test_a_large_file_stays_as_it_is(tarn, tmp_path):
    root = tmp_path / "t"
    root.mkdir()
    write(root / "a.parquet", 20000, 0, 1000)
    for i in range(40):
        write(root / f"b{i:02d}.parquet", 5, 20000 + 5 * i)
    size = os.path.getsize(root / "a.parquet")
    inode = os.stat(root / "a.parquet").st_ino
    target = size * 3 // 4
    tarn("merge", str(root), "--rule", "hive", "--avg-size", str(target), "--size-per-task", str(target))
    assert os.stat(root / "a.parquet").st_ino == inode
    assert len(files(root)) == 2
    assert sorted(ids(root)) == list(range(20200))

"""Merging by joining chunks against merging by decoding: the same rows, value by value, in other readers."""
import datetime
import json
import os
import random
import shutil

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from test_merge import TYPES, duck, files, merge, random_value, write

WAYS = ["copy", "sequence", "remap", "repack", "encode"]


def column(rng, kind, count):
    """Values that make a writer choose a dictionary, a unique one, or none."""
    how = rng.choice(["random", "few", "unique", "constant", "nulls"])
    if how == "nulls":
        return [None] * count
    if how == "few":
        some = [random_value(rng, kind) for _ in range(4)]
        return [rng.choice(some) for _ in range(count)]
    if how == "constant":
        return [random_value(rng, kind)] * count
    if how == "unique" and kind in ("i64", "i32", "str", "bin"):
        base = rng.randint(0, 2**20)
        number = [base + i for i in range(count)]
        return number if kind[0] == "i" else [f"k{n:09d}" if kind == "str" else b"%d" % n for n in number]
    return [random_value(rng, kind) for _ in range(count)]


def lake(rng, root, kinds):
    """Files of one directory: any codec, page version, encoding; columns missing, reordered, narrower."""
    narrower = {"i64": pa.int32(), "f64": pa.float32()}
    for i in range(rng.randint(2, 9)):
        count = rng.choice([0, 1, 7, 300, 3000])
        here = [k for k in kinds if rng.random() < 0.9] or kinds[:1]
        columns = {}
        for k in here:
            kind = TYPES[k]
            if k in narrower and rng.random() < 0.2:
                kind = narrower[k]
                columns[f"c_{k}"] = pa.array([rng.choice([None, 1, -5, 100]) for _ in range(count)], kind)
            else:
                columns[f"c_{k}"] = pa.array(column(rng, k, count), kind)
        write(root / f"f{i:03d}.parquet", pa.table(columns),
              compression=rng.choice(["none", "snappy", "gzip", "zstd", "lz4", "brotli"]),
              use_dictionary=rng.random() < 0.7, data_page_version=rng.choice(["1.0", "2.0"]),
              row_group_size=rng.choice([40, 1000, 100000]), write_page_index=rng.random() < 0.5,
              data_page_size=rng.choice([100, 4096, 1 << 20]), write_page_checksum=rng.random() < 0.3,
              dictionary_pagesize_limit=rng.choice([200, 1 << 20]))


def check_statistics(path):
    """What the footer and the column index say of a column is what its rows say."""
    table, meta = pq.ParquetFile(path).read(), pq.ParquetFile(path).metadata
    at = 0
    for g in range(meta.num_row_groups):
        group = meta.row_group(g)
        rows = table.slice(at, group.num_rows)
        at += group.num_rows
        for c in range(group.num_columns):
            chunk = group.column(c)
            if "." in chunk.path_in_schema or not chunk.is_stats_set:
                continue
            values = rows.column(chunk.path_in_schema)
            stats = chunk.statistics
            if stats.has_null_count:
                assert stats.null_count == values.null_count, chunk.path_in_schema
            found = [v for v in values.to_pylist() if v is not None]
            if stats.has_min_max and found and not pa.types.is_floating(values.type):
                assert stats.min <= min(found) and stats.max >= max(found), chunk.path_in_schema
    assert at == table.num_rows


def check_ways(report, groups):
    """Every chunk of an input that has the column went one way or another."""
    for found in report["columns"]:
        assert found["intended"] in WAYS
        done = [way["way"] for way in found["done"]]
        assert all(WAYS.index(way) >= WAYS.index(found["intended"]) for way in done), found
        for way in found["done"]:
            assert way["chunks"] > 0 or way["bytes"] > 0
        assert sum(way["chunks"] for way in found["done"]) <= groups


@pytest.mark.parametrize("seed", range(12))
def test_joining_is_the_same_as_decoding(tarn, tmp_path, seed):
    rng = random.Random(seed)
    kinds = rng.sample(sorted(TYPES), rng.randint(3, len(TYPES)))
    lake(rng, tmp_path / "a", kinds)
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    groups = sum(pq.ParquetFile(f).metadata.num_row_groups for f in files(tmp_path / "a"))
    rows = sum(pq.ParquetFile(f).metadata.num_rows for f in files(tmp_path / "a"))
    codec = rng.choice(["keep", "keep", "keep", "zstd", "snappy", "gzip", "lz4", "none", "brotli"])
    options = ["--widen", "--codec", codec, *(["--crc"] if rng.random() < 0.5 else [])]
    joined = merge(tarn, tmp_path / "a", *options)
    decoded = merge(tarn, tmp_path / "b", *options, "--encode")
    assert joined["failed"] == decoded["failed"] == 0
    assert len(files(tmp_path / "a")) == len(files(tmp_path / "b")) == 1
    check_ways(joined, groups)
    assert {w["way"] for c in decoded["columns"] for w in c["done"]} <= {"encode"}
    left, right = files(tmp_path / "a")[0], files(tmp_path / "b")[0]
    a, b = pq.ParquetFile(left, page_checksum_verification=True).read(), pq.ParquetFile(right).read()
    assert a.schema.equals(b.schema) and a.num_rows == rows
    assert repr(a.to_pylist()) == repr(b.to_pylist())
    assert repr(duck(tmp_path / "a")) == repr(duck(tmp_path / "b"))
    check_statistics(left)
    assert "".join(tarn("read", str(tmp_path / "a"))) == "".join(tarn("read", str(tmp_path / "b")))


def test_without_verification_the_same_bytes_come_out(tarn, tmp_path):
    rng = random.Random(99)
    lake(rng, tmp_path / "a", sorted(TYPES))
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    tarn("merge", str(tmp_path / "a"), "--widen")
    tarn("merge", str(tmp_path / "b"), "--widen", "--verify", "content", "--jobs", "1")
    assert [open(f, "rb").read() for f in files(tmp_path / "a")] == [open(f, "rb").read() for f in files(tmp_path / "b")]


def test_int96_is_joined_as_it_is(tarn, tmp_path):
    times = [datetime.datetime(1950, 1, 1) + datetime.timedelta(days=7 * i, microseconds=i) for i in range(500)]
    table = pa.table({"t": pa.array([None if i % 7 == 0 else t for i, t in enumerate(times)], pa.timestamp("us"))})
    for i in range(4):
        write(tmp_path / f"{i}.parquet", table, use_deprecated_int96_timestamps=True, use_dictionary=i % 2 == 0)
    merge(tarn, tmp_path)
    found = pq.ParquetFile(files(tmp_path)[0])
    assert found.schema.column(0).physical_type == "INT96"
    assert found.read().column(0).cast(pa.timestamp("us")).to_pylist() == table.column(0).to_pylist() * 4


@pytest.mark.parametrize("codec", ["none", "snappy", "zstd"])
def test_output_is_hardly_larger_than_its_inputs(tarn, tmp_path, codec):
    rng = random.Random(5)
    for i in range(40):
        n = 2000
        write(tmp_path / f"{i:02d}.parquet", pa.table({
            "id": [f"{rng.getrandbits(64):016x}" for _ in range(n)], "user": [rng.randint(0, 5000) for _ in range(n)],
            "price": [rng.random() for _ in range(n)], "kind": [rng.choice(["view", "buy", "leave"]) for _ in range(n)],
            "note": [rng.choice([None, "x" * 30, "y" * 40]) for _ in range(n)]}), compression=codec)
    before = sum(os.path.getsize(f) for f in files(tmp_path))
    done = merge(tarn, tmp_path)
    assert sum(os.path.getsize(f) for f in files(tmp_path)) <= 1.02 * before
    assert len(done["columns"]) == 5


def test_filters_are_merged_or_made_anew_and_find_every_value(tarn, tmp_path):
    """DuckDB writes one for dictionaries: equal ones when the values are, else of other values."""
    connection = duckdb.connect()
    for i in range(6):
        connection.execute(
            f"copy (select (range % 50)::varchar as same, ({i} * 300 + range % 300)::varchar as other, range as n "
            f"from range(4000)) to '{tmp_path}/{i}.parquet' (format parquet, row_group_size 4000)")
    merge(tarn, tmp_path)
    path = files(tmp_path)[0]
    had = dict(connection.execute(
        f"select path_in_schema, max(bloom_filter_length) from parquet_metadata('{path}') group by all").fetchall())
    assert had["same"] and had["other"]
    for name, values in (("same", range(50)), ("other", range(1800))):
        for value in random.Random(1).sample(values, 20):
            probe = f"select bool_or(bloom_filter_excludes) from parquet_bloom_probe('{path}', '{name}', '{value}')"
            assert connection.execute(probe).fetchone() == (False,), (name, value)
        lost = [connection.execute(
            f"select bool_and(bloom_filter_excludes) from parquet_bloom_probe('{path}', '{name}', 'no{k}')").fetchone()[0]
            for k in range(200)]
        assert sum(lost) > 180, (name, "the filter says perhaps to what is not there")


@pytest.mark.parametrize("ranges, kept", [
    ([(0, 100), (100, 200), (200, 300)], 2),           # one after the other: both columns
    ([(0, 100), (99, 200), (200, 300)], 1),            # a value on both sides: the first column alone
    ([(0, 100), (50, 200), (200, 300)], 0),            # they overlap
    ([(200, 300), (0, 100)], 0)])                      # not in this order
def test_sortedness_is_claimed_where_it_holds(tarn, tmp_path, ranges, kept):
    columns = [pq.SortingColumn(0), pq.SortingColumn(1)]
    for i, (low, high) in enumerate(ranges):
        write(tmp_path / f"{i}.parquet", pa.table({"a": range(low, high), "b": [f"{k:05d}" for k in range(low, high)]}),
              sorting_columns=columns)
    before = pa.concat_tables([pq.read_table(f) for f in files(tmp_path)])
    merge(tarn, tmp_path)
    found = pq.ParquetFile(files(tmp_path)[0])
    assert found.read().equals(before)
    assert list(found.metadata.row_group(0).sorting_columns) == columns[:kept]


def test_sortedness_ends_with_nulls_and_with_unsorted_files(tarn, tmp_path):
    columns = [pq.SortingColumn(0)]
    for name, values in (("nulls", [[1, 2, None], [3, 4]]), ("floats", [[1.0, 2.0], [3.0]])):
        for i, one in enumerate(values):
            write(tmp_path / name / f"{i}.parquet", pa.table({"a": one}), sorting_columns=columns)
    write(tmp_path / "some" / "0.parquet", pa.table({"a": [1, 2]}), sorting_columns=columns)
    write(tmp_path / "some" / "1.parquet", pa.table({"a": [3, 4]}))
    merge(tarn, tmp_path)
    for name in ("nulls", "floats", "some"):
        assert not pq.ParquetFile(files(tmp_path / name)[0]).metadata.row_group(0).sorting_columns, name


def test_explain_tells_what_was_intended_and_done(tarn, tmp_path):
    for i in range(3):
        write(tmp_path / f"{i}.parquet", pa.table({"id": pa.array(range(100), pa.int64() if i else pa.int32()),
                                                   "v": [f"v{k}" for k in range(100)]}))
    before = json.loads(tarn("merge", "--json", "--dry-run", "--widen", str(tmp_path)))
    assert [c["done"] for c in before["columns"]] == [[], []]
    assert "cast" in before["columns"][0]["why"]
    text = tarn("merge", "--explain", "--widen", str(tmp_path))
    assert "values are cast" in text and "intended" in text


def test_spark_reads_what_was_joined(tarn, tmp_path, spark):
    rng = random.Random(3)
    kinds = ["i64", "str", "f64", "date", "list", "struct", "map", "dec", "bool"]
    lake(rng, tmp_path / "a", kinds)
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    done = merge(tarn, tmp_path / "a", "--widen")
    merge(tarn, tmp_path / "b", "--widen", "--encode")
    assert any(w["way"] != "encode" for c in done["columns"] for w in c["done"])
    a, b = (spark.read.parquet(str(tmp_path / d)) for d in "ab")
    assert a.schema == b.schema
    assert repr(a.collect()) == repr(b.collect())
    # through the vectorized reader's filters, too
    assert a.where("c_str >= 'k'").count() == b.where("c_str >= 'k'").count()


@pytest.mark.parametrize("codecs, want", [
    (["none", "none", "snappy"], "SNAPPY"), (["snappy", "snappy", "zstd"], "ZSTD"), (["none", "none"], "UNCOMPRESSED"),
    ([{"a": "none", "b": "zstd"}, {"a": "none", "b": "zstd"}], "ZSTD"), (["gzip", "zstd", "gzip"], "GZIP"),
    (["zstd", "zstd", "brotli"], "BROTLI"), (["lz4", "snappy", "lz4", "none"], "LZ4")])
def test_of_several_codecs_the_output_takes_one_that_does_not_swell_it(tarn, tmp_path, codecs, want):
    for i, codec in enumerate(codecs):
        table = pa.table({"a": [f"some text in row {n * 7}, file {i}" for n in range(4000)],
                          "b": ["text " * 9 + str(n % 999) for n in range(4000)]})
        write(tmp_path / "t" / f"{i}.parquet", table, compression=codec, use_dictionary=False)
    before = sum(path.stat().st_size for path in (tmp_path / "t").iterdir())
    merge(tarn, tmp_path / "t")
    (path,) = (tmp_path / "t").glob("*.parquet")
    group = pq.ParquetFile(path).metadata.row_group(0)
    assert [group.column(c).compression for c in range(2)] == [want, want]
    assert path.stat().st_size <= 1.02 * before


@pytest.mark.parametrize("memory", ["16M", "32M", "192M"])
def test_row_groups_of_several_waves_in_little_memory(tarn, tmp_path, memory):
    """A wave whose first file is not read whole ends no row group while others of it are to come."""
    rng = random.Random(7)
    wide = pa.table({"n": pa.array([rng.getrandbits(60) for _ in range(6000)]),
                     "text": ["".join(rng.choices("abcdefghij", k=300)) for _ in range(6000)]})
    write(tmp_path / "t" / "a.parquet", wide, compression="none", use_dictionary=False)
    for name in "bc":
        write(tmp_path / "t" / f"{name}.parquet", wide.slice(0, 2500), compression="none", row_group_size=7)
    want = [row for path in files(tmp_path / "t") for row in pq.ParquetFile(path).read().to_pylist()]
    merge(tarn, tmp_path / "t", "--memory", memory)
    (path,) = (tmp_path / "t").glob("*.parquet")
    assert pq.ParquetFile(path).read().to_pylist() == want


def test_an_index_beyond_its_dictionary_never_becomes_that_of_another_value(tarn, tmp_path):
    """The merged dictionary is longer: what readers refuse in the input would read as a value of another file."""
    for name, values in (("a", "xyz"), ("b", "xyzw")):
        text = list(values) + [values[(i * i + i // 7) % len(values)] for i in range(8000)]
        write(tmp_path / "t" / f"{name}.parquet", pa.table({"a": text}), compression="none")
    path = tmp_path / "t" / "a.parquet"
    chunk = pq.ParquetFile(path).metadata.row_group(0).column(0)
    body = bytearray(path.read_bytes())
    body[chunk.dictionary_page_offset + chunk.total_compressed_size - 40] = 0xff
    path.write_bytes(body)
    with pytest.raises(pa.ArrowInvalid):
        pq.read_table(path)
    tarn("merge", str(tmp_path / "t"), want=1)
    assert path.read_bytes() == body
    assert [os.path.basename(p) for p in files(tmp_path / "t")] == ["a.parquet", "b.parquet"]

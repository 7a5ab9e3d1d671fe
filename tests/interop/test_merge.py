"""Directories written by others, merged by tarn, read by others: every row as it was, in its order."""
import datetime
import decimal
import glob
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

D = decimal.Decimal


def write(path, table, **options):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    pq.write_table(table, path, **options)
    return str(path)


def files(directory):
    return sorted(glob.glob(f"{glob.escape(str(directory))}/*.parquet"))


def rows(directory):
    """All rows of a leaf directory in the order of its files' names."""
    out = []
    for path in files(directory):
        out += pq.ParquetFile(path).read().to_pylist()
    return out


def duck(directory):
    found = files(directory)
    if not found:
        return []
    done = duckdb.connect().execute(
        "select * from read_parquet(?, union_by_name=true, hive_partitioning=false, filename=false)", [found])
    names = [column[0] for column in done.description]
    return [dict(zip(names, row)) for row in done.fetchall()]


def report(text):
    found = json.loads(text)
    assert found["kind"] == "merge.report"
    return found


def merge(tarn, root, *options, want=0):
    return report(tarn("merge", "--json", "--verify", "content", *options, str(root), want=want))


def tree(root):
    """Every path below with the bytes of files."""
    root = pathlib.Path(root)
    return {str(p.relative_to(root)): p.read_bytes() if p.is_file() else None for p in sorted(root.rglob("*"))}


# ---- random directories, all codecs, nested types

def random_value(rng, kind):
    if rng.random() < 0.2:
        return None
    return {
        "i64": lambda: rng.randint(-2**63, 2**63 - 1), "i32": lambda: rng.randint(-2**31, 2**31 - 1),
        "u32": lambda: rng.randint(0, 2**32 - 1), "f64": lambda: rng.choice([0.5, -0.0, float("inf"), 1e300]),
        "str": lambda: rng.choice(["", "a", "köln", "x" * 200, "\U0001f600"]), "bin": lambda: rng.randbytes(rng.randint(0, 9)),
        "bool": lambda: rng.random() < 0.5, "date": lambda: datetime.date(1969, 12, 1) + datetime.timedelta(rng.randint(0, 90)),
        "ts": lambda: datetime.datetime(2024, 1, 1) + datetime.timedelta(microseconds=rng.randint(0, 10**12)),
        "dec": lambda: D(rng.randint(-10**18, 10**18)).scaleb(-2), "fix": lambda: rng.randbytes(5),
        "list": lambda: [random_value(rng, "i32") for _ in range(rng.randint(0, 4))],
        "lls": lambda: [random_value(rng, "ls") for _ in range(rng.randint(0, 3))],
        "ls": lambda: [random_value(rng, "struct") for _ in range(rng.randint(0, 3))],
        "struct": lambda: {"x": random_value(rng, "i32"), "y": random_value(rng, "str")},
        "map": lambda: [(k, random_value(rng, "i64")) for k in rng.sample("abcdef", rng.randint(0, 4))],
    }[kind]()


STRUCT = pa.struct([("x", pa.int32()), ("y", pa.string())])
TYPES = {"i64": pa.int64(), "i32": pa.int32(), "u32": pa.uint32(), "f64": pa.float64(), "str": pa.string(),
         "bin": pa.binary(), "bool": pa.bool_(), "date": pa.date32(), "ts": pa.timestamp("us"),
         "dec": pa.decimal128(20, 2), "fix": pa.binary(5), "list": pa.list_(pa.int32()),
         "lls": pa.list_(pa.list_(STRUCT)), "ls": pa.list_(STRUCT), "struct": STRUCT,
         "map": pa.map_(pa.string(), pa.int64())}


def random_table(rng, kinds, count):
    return pa.table({f"c_{k}": pa.array([random_value(rng, k) for _ in range(count)], TYPES[k]) for k in kinds})


@pytest.mark.parametrize("seed", range(6))
def test_random_directories_keep_every_row_in_order(tarn, tmp_path, seed):
    rng = random.Random(seed)
    kinds = rng.sample(sorted(TYPES), rng.randint(3, len(TYPES)))
    for part in ("dt=a", "dt=b/h=1"):
        for i in range(rng.randint(2, 12)):
            write(tmp_path / "t" / part / f"f{i:03d}.parquet", random_table(rng, kinds, rng.randint(0, 300)),
                  compression=rng.choice(["none", "snappy", "gzip", "zstd", "lz4", "brotli"]),
                  use_dictionary=rng.random() < 0.7, data_page_version=rng.choice(["1.0", "2.0"]),
                  row_group_size=rng.choice([10, 100, 1000]), write_page_index=rng.random() < 0.5)
    before = {p: pa.concat_tables([pq.ParquetFile(f).read() for f in files(tmp_path / "t" / p)]) for p in ("dt=a", "dt=b/h=1")}
    ducks = {p: duck(tmp_path / "t" / p) for p in before}
    codec = rng.choice(["keep", "zstd", "snappy", "gzip", "lz4", "none", "brotli"])
    done = merge(tarn, tmp_path / "t", "--codec", codec)
    assert done["failed"] == 0 and done["done"] == 2
    for part, want in before.items():
        found = files(tmp_path / "t" / part)
        assert len(found) == 1
        got = pq.ParquetFile(found[0]).read()
        assert got.schema.equals(want.schema)
        assert got.to_pylist() == want.to_pylist()
        assert repr(duck(tmp_path / "t" / part)) == repr(ducks[part])
        pl.read_parquet(found[0])
    again = tree(tmp_path / "t")
    assert merge(tarn, tmp_path / "t")["done"] == 0
    assert tree(tmp_path / "t") == again


def test_files_of_duckdb_and_polars(tarn, tmp_path):
    for i in range(5):
        os.makedirs(tmp_path / "d", exist_ok=True)
        duckdb.connect().execute(
            f"copy (select range + {i} * 100 as id, 'v' || range as v, [range, null] as l, "
            f"{{'a': range, 'b': 'q'}} as s, (range * 0.01)::decimal(10, 2) as d from range(100)) "
            f"to '{tmp_path}/d/{i}.parquet' (format parquet)")
        os.makedirs(tmp_path / "p", exist_ok=True)
        pl.DataFrame({"id": range(100), "s": [None if k % 3 else f"t{k}" for k in range(100)],
                      "l": [[k, None] for k in range(100)]}).write_parquet(tmp_path / "p" / f"{i}.parquet")
    before = [rows(tmp_path / "d"), rows(tmp_path / "p")]
    merge(tarn, tmp_path)
    assert [rows(tmp_path / "d"), rows(tmp_path / "p")] == before
    assert len(files(tmp_path / "d")) == len(files(tmp_path / "p")) == 1
    assert pl.read_parquet(files(tmp_path / "p")[0]).to_dicts() == before[1]


def test_files_of_spark(tarn, tmp_path, spark):
    frame = spark.range(0, 1000).selectExpr(
        "id", "cast(id as string) as s", "array(id, null) as l", "named_struct('a', id, 'b', 'x') as st",
        "map('k', id) as m", "timestamp '2024-01-01 00:00:00' as ts", "cast(id as decimal(20,2)) as d",
        "id % 2 as p")
    frame.repartition(7).write.partitionBy("p").parquet(str(tmp_path / "t"))
    before = sorted(map(repr, spark.read.parquet(str(tmp_path / "t")).collect()))
    done = merge(tarn, tmp_path / "t")
    assert done["failed"] == 0 and done["done"] == 2
    assert not list((tmp_path / "t").rglob(".*.crc")) or all(
        (p.parent / p.name[1:-4]).exists() for p in (tmp_path / "t").rglob(".*.crc"))
    spark.catalog.clearCache()
    got = spark.read.parquet(str(tmp_path / "t"))
    assert sorted(map(repr, got.collect())) == before
    assert got.schema == frame.schema or {f.name for f in got.schema} == {f.name for f in frame.schema}


# ---- what merging must do and leave (R013 to R021)

def test_files_near_the_target_are_left_alone(tarn, tmp_path):
    rng = random.Random(1)
    for i in range(10):
        write(tmp_path / f"{i}.parquet", pa.table({"b": [rng.randbytes(9216) for _ in range(100)]}),
              compression="none", use_dictionary=False)
    before = tree(tmp_path)
    for _ in range(3):
        assert merge(tarn, tmp_path, "--target", "1MB")["done"] == 0
    assert tree(tmp_path) == before


def test_shares_are_equal_and_leave_no_crumb(tarn, tmp_path):
    rng = random.Random(2)
    for i in range(25):
        write(tmp_path / f"{i:02d}.parquet", pa.table({"b": [rng.randbytes(1000) for _ in range(100)]}),
              compression="none", use_dictionary=False)
    before = rows(tmp_path)
    merge(tarn, tmp_path, "--target", "1000KB")
    sizes = [os.path.getsize(f) for f in files(tmp_path)]
    assert len(sizes) == 3 and max(sizes) < 1.15 * min(sizes)
    assert rows(tmp_path) == before
    assert merge(tarn, tmp_path, "--target", "1000KB")["done"] == 0


def test_foreign_file_names_are_no_attempts(tarn, tmp_path):
    names = ["part-1.parquet", "part-1_copy_2.parquet", "000000_0", "000000_0_copy_1", "data (1).parquet"]
    for i, name in enumerate(names):
        write(tmp_path / name, pa.table({"i": [i]}))
    merge(tarn, tmp_path)
    assert len(os.listdir(tmp_path)) == 1
    assert sorted(r["i"] for r in rows(tmp_path)) == [0, 1, 2, 3, 4]


def test_leftover_staging_directory_of_hive(tarn, tmp_path):
    for i in range(2):
        write(tmp_path / "t/p=1" / f"{i}.parquet", pa.table({"i": [i]}))
    (tmp_path / "t/p=1/-tmp.HIVE_UNION_SUBDIR_1.moved").mkdir()
    merge(tarn, tmp_path / "t")
    assert len(files(tmp_path / "t/p=1")) == 1
    assert [p for p in os.listdir(tmp_path) if p != "t"] == []


def test_new_fragments_join_what_an_earlier_merge_wrote(tarn, tmp_path):
    for i in range(5):
        write(tmp_path / f"a{i}.parquet", pa.table({"i": [i]}))
    merge(tarn, tmp_path)
    write(tmp_path / "b.parquet", pa.table({"i": [9]}))
    merge(tarn, tmp_path)
    assert len(files(tmp_path)) == 1
    assert sorted(r["i"] for r in rows(tmp_path)) == [0, 1, 2, 3, 4, 9]


def test_file_count_skips_the_rules(tarn, tmp_path):
    for i in range(7):
        write(tmp_path / f"{i}.parquet", pa.table({"i": list(range(100))}))
    before = rows(tmp_path)
    merge(tarn, tmp_path, "--file-count", "3")
    assert len(files(tmp_path)) == 3 and rows(tmp_path) == before
    assert merge(tarn, tmp_path, "--file-count", "3")["done"] == 0
    assert merge(tarn, tmp_path, "--file-count", "5")["done"] == 0


# ---- types (R074 to R096)

def test_int96_stays_int96(tarn, tmp_path):
    stamps = pa.array([-1000, 0, None, 10**18], pa.timestamp("ns"))
    for i in range(3):
        write(tmp_path / f"{i}.parquet", pa.table({"t": stamps}), use_deprecated_int96_timestamps=True)
    before = rows(tmp_path)
    merge(tarn, tmp_path)
    found = pq.ParquetFile(files(tmp_path)[0])
    assert found.schema.column(0).physical_type == "INT96"
    assert rows(tmp_path) == before


def test_unsigned_keep_their_annotation(tarn, tmp_path):
    table = pa.table({"a": pa.array([200], pa.uint8()), "b": pa.array([40000], pa.uint16()),
                      "c": pa.array([3000000000], pa.uint32()), "d": pa.array([2**64 - 1], pa.uint64())})
    for i in range(2):
        write(tmp_path / f"{i}.parquet", table)
    merge(tarn, tmp_path)
    assert pq.ParquetFile(files(tmp_path)[0]).schema_arrow.types == table.schema.types
    found = duckdb.connect().execute(f"select count(*) from '{files(tmp_path)[0]}' where c > 2000000000").fetchone()
    assert found == (2,)


def test_old_calendars_are_not_mixed(tarn, tmp_path):
    for name, value, version in (("a", -353914, "2.4.4"), ("b", -353920, "3.5.0")):
        table = pa.table({"d": pa.array([value], pa.int32()).cast(pa.date32())})
        for i in range(2):
            write(tmp_path / f"{name}{i}.parquet", table.replace_schema_metadata({"org.apache.spark.version": version}))
    done = merge(tarn, tmp_path)
    assert len(files(tmp_path)) == 2
    assert any(note["kind"] == "apart" and "calendar" in note["text"] for note in done["notes"])
    found = {pq.ParquetFile(f).metadata.metadata[b"org.apache.spark.version"]:
             pq.ParquetFile(f).read().column(0).cast(pa.int32()).to_pylist() for f in files(tmp_path)}
    assert found == {b"2.4.4": [-353914] * 2, b"3.5.0": [-353920] * 2}


def test_decimals_of_other_width_become_one(tarn, tmp_path):
    values = [D("-1.00"), D("0.00"), D("123456789012345678.90"), None]
    write(tmp_path / "a.parquet", pa.table({"d": pa.array(values, pa.decimal128(20, 2))}))
    duckdb.connect().execute(
        "copy (select * from (values (-1.00), (0), (123456789012345678.90), (null)) t(d)) to "
        f"'{tmp_path}/raw.csv'")
    duckdb.connect().execute(
        f"copy (select d::decimal(20,2) as d from read_csv('{tmp_path}/raw.csv', header=true, columns={{'d': 'decimal(20,2)'}})) "
        f"to '{tmp_path}/b.parquet' (format parquet)")
    os.remove(tmp_path / "raw.csv")
    widths = {pq.ParquetFile(f).schema.column(0).length for f in files(tmp_path)}
    assert len(widths) == 2, "the writers no longer differ: choose others"
    merge(tarn, tmp_path)
    assert len(files(tmp_path)) == 1
    assert [r["d"] for r in rows(tmp_path)] == values * 2


def test_short_decimals_as_integers_and_as_bytes(tarn, tmp_path):
    table = pa.table({"d": pa.array([D("-1.50"), D("99999.99"), None], pa.decimal128(7, 2))})
    write(tmp_path / "a.parquet", table)
    write(tmp_path / "b.parquet", table, store_decimal_as_integer=True)
    merge(tarn, tmp_path)
    assert len(files(tmp_path)) == 1
    assert rows(tmp_path) == table.to_pylist() * 2


def test_nulls_in_lists_stay_four_states(tarn, tmp_path):
    table = pa.table({"l": pa.array([["a", None], [], None, [None]], pa.list_(pa.string()))})
    for i in range(3):
        write(tmp_path / f"{i}.parquet", table)
    merge(tarn, tmp_path)
    assert rows(tmp_path) == table.to_pylist() * 3


def test_nan_and_signed_zero_keep_their_bits(tarn, tmp_path):
    bits = [0x7FF8000000000001, 0xFFF8000000000000, 0x8000000000000000, 0, 0x7FF0000000000000]
    values = [struct.unpack("<d", struct.pack("<Q", b))[0] for b in bits]
    for i in range(2):
        write(tmp_path / f"{i}.parquet", pa.table({"f": pa.array(values, pa.float64())}))
    merge(tarn, tmp_path)
    column = pq.ParquetFile(files(tmp_path)[0]).read().column(0).combine_chunks()
    assert bytes(column.buffers()[1])[:80] == b"".join(struct.pack("<Q", b) for b in bits) * 2


def test_empty_text_is_not_null(tarn, tmp_path):
    table = pa.table({"s": ["", None, "null", "\\N"], "b": pa.array([b"", None, b"x", b"\0"], pa.binary())})
    for i in range(2):
        write(tmp_path / f"{i}.parquet", table)
    merge(tarn, tmp_path)
    assert rows(tmp_path) == table.to_pylist() * 2


def test_bloom_filters_are_made_again(tarn, tmp_path):
    for i in range(3):
        duckdb.connect().execute(
            f"copy (select (range % 50)::varchar as s, range as i from range(1000)) to '{tmp_path}/{i}.parquet' "
            "(format parquet, row_group_size 1000)")
    had = duckdb.connect().execute(
        f"select max(bloom_filter_offset) from parquet_metadata('{tmp_path}/0.parquet')").fetchone()[0]
    merge(tarn, tmp_path)
    found = duckdb.connect().execute(
        f"select max(bloom_filter_offset) from parquet_metadata('{files(tmp_path)[0]}') where path_in_schema = 's'").fetchone()[0]
    assert had is not None and found is not None
    assert duckdb.connect().execute(f"select count(*) from '{files(tmp_path)[0]}' where s = '7'").fetchone() == (60,)
    assert duckdb.connect().execute(f"select count(*) from '{files(tmp_path)[0]}' where s = 'nope'").fetchone() == (0,)


# ---- schemas that differ (R098 to R108)

def test_columns_unify_by_name_at_every_depth(tarn, tmp_path):
    name = lambda *fields: pa.list_(pa.struct([(f, pa.string()) for f in fields]))
    write(tmp_path / "a.parquet", pa.table({"id": [1, 2], "name": pa.array(
        [[{"use": "u", "family": "f", "given": "g"}], None], name("use", "family", "given"))}))
    write(tmp_path / "b.parquet", pa.table({"name": pa.array(
        [[{"family": "f2", "use": "u2"}, None], []], name("family", "use")), "extra": [1.5, None], "id": [3, 4]}))
    merge(tarn, tmp_path)
    assert len(files(tmp_path)) == 1
    assert rows(tmp_path) == [
        {"id": 1, "name": [{"use": "u", "family": "f", "given": "g"}], "extra": None},
        {"id": 2, "name": None, "extra": None},
        {"id": 3, "name": [{"use": "u2", "family": "f2", "given": None}, None], "extra": 1.5},
        {"id": 4, "name": [], "extra": None}]


def test_a_missing_struct_field_follows_its_siblings(tarn, tmp_path):
    ab = pa.list_(pa.struct([("a", pa.int32()), ("b", pa.list_(pa.int32()))]))
    a = pa.list_(pa.struct([("a", pa.int32())]))
    write(tmp_path / "a.parquet", pa.table({"l": pa.array([[{"a": 1, "b": [1, 2]}, None], [], None, [{"a": None, "b": []}]], ab)}))
    write(tmp_path / "b.parquet", pa.table({"l": pa.array([[{"a": 5}, None, {"a": None}], None, []], a)}))
    merge(tarn, tmp_path)
    assert [r["l"] for r in rows(tmp_path)] == [
        [{"a": 1, "b": [1, 2]}, None], [], None, [{"a": None, "b": []}],
        [{"a": 5, "b": None}, None, {"a": None, "b": None}], None, []]


def test_column_added_in_the_middle(tarn, tmp_path):
    write(tmp_path / "1.parquet", pa.table({"id": [1], "price": [1.5]}))
    write(tmp_path / "2.parquet", pa.table({"id": [2], "state": ["x"], "price": [2.5]}))
    merge(tarn, tmp_path)
    assert rows(tmp_path) == [{"id": 1, "price": 1.5, "state": None}, {"id": 2, "price": 2.5, "state": "x"}]


def test_required_and_nullable_unify(tarn, tmp_path):
    required = pa.schema([pa.field("a", pa.int32(), nullable=False)])
    write(tmp_path / "1.parquet", pa.table({"a": pa.array([1, 2], pa.int32())}, schema=required))
    write(tmp_path / "2.parquet", pa.table({"a": pa.array([3, None], pa.int32())}))
    merge(tarn, tmp_path)
    assert [r["a"] for r in rows(tmp_path)] == [1, 2, 3, None]


def test_required_stays_required(tarn, tmp_path):
    required = pa.schema([pa.field("a", pa.int32(), nullable=False)])
    for i in range(2):
        write(tmp_path / f"{i}.parquet", pa.table({"a": pa.array([1, 2], pa.int32())}, schema=required))
    merge(tarn, tmp_path)
    assert not pq.ParquetFile(files(tmp_path)[0]).schema_arrow.field(0).nullable


def test_widening_only_when_asked(tarn, tmp_path):
    write(tmp_path / "1.parquet", pa.table({"n": pa.array([30, None], pa.int32()), "f": pa.array([0.5, 1], pa.float32())}))
    write(tmp_path / "2.parquet", pa.table({"n": pa.array([31.5, 2], pa.float64()), "f": pa.array([0.25, None], pa.float64())}))
    done = merge(tarn, tmp_path)
    assert len(files(tmp_path)) == 2
    assert any("--widen" in note["text"] for note in done["notes"] if note["kind"] == "apart")
    merge(tarn, tmp_path, "--widen")
    assert rows(tmp_path) == [{"n": 30.0, "f": 0.5}, {"n": None, "f": 1.0}, {"n": 31.5, "f": 0.25}, {"n": 2.0, "f": None}]


def test_int32_widens_to_int64_in_dictionaries(tarn, tmp_path):
    write(tmp_path / "1.parquet", pa.table({"n": pa.array([-5] * 100 + [7, None], pa.int32())}))
    write(tmp_path / "2.parquet", pa.table({"n": pa.array([2**40], pa.int64())}))
    merge(tarn, tmp_path, "--widen")
    assert [r["n"] for r in rows(tmp_path)] == [-5] * 100 + [7, None, 2**40]


@pytest.mark.parametrize("old, new, values", [
    (pa.uint32(), pa.int64(), [0, 5, 5, 2**32 - 1, None]),
    (pa.uint32(), pa.uint64(), [1, 2**32 - 1, None]),
    (pa.uint8(), pa.int64(), [0, 255, None, 255]),
    (pa.uint16(), pa.int32(), [0, 65535, None]),
    (pa.timestamp("ms", "UTC"), pa.timestamp("us", "UTC"), [-1, 0, None, 1700000000123]),
    (pa.timestamp("ms"), pa.timestamp("us"), [-62135596800000, 253402300799999])], ids=str)
def test_types_widen_as_pyarrow_casts_them(tarn, tmp_path, old, new, values):
    narrow, wide = pa.array(values, old), pa.array([7, None], new)
    write(tmp_path / "1.parquet", pa.table({"v": narrow}))
    write(tmp_path / "2.parquet", pa.table({"v": wide}))
    merge(tarn, tmp_path)
    assert len(files(tmp_path)) == 2
    merge(tarn, tmp_path, "--widen")
    [one] = files(tmp_path)
    want = pa.concat_arrays([narrow.cast(new), wide])
    assert pq.read_table(one)["v"].combine_chunks().equals(want)


def test_a_timestamp_beyond_microseconds_stops_the_widening(tarn, tmp_path):
    write(tmp_path / "1.parquet", pa.table({"v": pa.array([2**62], pa.timestamp("ms"))}))
    write(tmp_path / "2.parquet", pa.table({"v": pa.array([1], pa.timestamp("us"))}))
    report = tarn("merge", tmp_path, "--widen", want=1)
    assert "beyond those in microseconds" in report
    assert len(files(tmp_path)) == 2


def test_case_differences_match_if_unique(tarn, tmp_path):
    write(tmp_path / "1.parquet", pa.table({"id7": [1]}))
    write(tmp_path / "2.parquet", pa.table({"ID7": [2]}))
    write(tmp_path / "3.parquet", pa.table({"Id7": [3]}))
    merge(tarn, tmp_path)
    assert rows(tmp_path) == [{"id7": 1}, {"id7": 2}, {"id7": 3}]


def test_what_cannot_be_unified_stays_apart_and_is_named(tarn, tmp_path):
    for i in range(2):
        write(tmp_path / f"a{i}.parquet", pa.table({"v": [i]}))
        write(tmp_path / f"b{i}.parquet", pa.table({"v": [f"s{i}"]}))
    done = merge(tarn, tmp_path)
    assert len(files(tmp_path)) == 2
    assert any(n["kind"] == "apart" and '"v"' in n["text"] for n in done["notes"])
    found = sorted(repr(pq.ParquetFile(f).read().column(0).to_pylist()) for f in files(tmp_path))
    assert found == ["['s0', 's1']", "[0, 1]"]


def test_field_ids_must_agree(tarn, tmp_path):
    table = lambda number: pa.table({"a": [1]}, schema=pa.schema([pa.field("a", pa.int64(), metadata={"PARQUET:field_id": str(number)})]))
    write(tmp_path / "1.parquet", table(1))
    write(tmp_path / "2.parquet", table(2))
    write(tmp_path / "3.parquet", table(1))
    merge(tarn, tmp_path)
    assert len(files(tmp_path)) == 2


def test_a_column_of_nulls_takes_the_type_of_others(tarn, tmp_path):
    write(tmp_path / "1.parquet", pa.table({"a": pa.array([None, None], pa.null()), "b": [1, 2]}))
    write(tmp_path / "2.parquet", pa.table({"a": ["x", None], "b": [3, 4]}))
    merge(tarn, tmp_path)
    assert rows(tmp_path) == [{"a": None, "b": 1}, {"a": None, "b": 2}, {"a": "x", "b": 3}, {"a": None, "b": 4}]


# ---- empty things, hidden names, other formats (R197 to R205)

def test_only_data_files_are_merged(tarn, tmp_path):
    part = tmp_path / "t/key=a"
    for name in ("part.parquet", "qart.parquet", "_other.parquet", "_temporary/0/x.parquet", "x.parquet._COPYING_",
                 ".hive-staging_1/x.parquet"):
        write(part / name, pa.table({"i": [1]}))
    for name in ("_SUCCESS", ".part.crc", "notes.txt"):
        (part / name).write_text("x")
    old = 1_600_000_000
    for path in list(part.rglob("*")) + [part]:
        os.utime(path, (old, old))
    kept = {k: v for k, v in tree(part).items() if k not in ("part.parquet", "qart.parquet")}
    merge(tarn, tmp_path / "t")
    after = tree(part)
    new = [k for k in after if k not in kept]
    assert len(new) == 1 and len(pq.ParquetFile(part / new[0]).read()) == 2
    assert {k: v for k, v in after.items() if k in kept} == kept


def test_a_writer_at_work_is_not_disturbed(tarn, tmp_path):
    for part in ("p=1", "p=2"):
        for i in range(3):
            write(tmp_path / "t" / part / f"{i}.parquet", pa.table({"i": [i]}))
    (tmp_path / "t/p=1/_temporary/0").mkdir(parents=True)
    done = merge(tarn, tmp_path / "t")
    assert len(files(tmp_path / "t/p=1")) == 3 and len(files(tmp_path / "t/p=2")) == 1
    assert any(n["kind"] == "later" and "_temporary" in n["text"] for n in done["notes"])


def test_partition_column_that_starts_with_an_underscore(tarn, tmp_path):
    for part in ("_year=2020", "_year=2021", "_tmp"):
        for i in range(2):
            write(tmp_path / "t" / part / f"{i}.parquet", pa.table({"i": [i]}))
    merge(tarn, tmp_path / "t")
    assert [len(files(tmp_path / "t" / p)) for p in ("_year=2020", "_year=2021", "_tmp")] == [1, 1, 2]


def test_damaged_files_stay_and_are_named(tarn, tmp_path):
    for i in range(3):
        write(tmp_path / f"good{i}.parquet", pa.table({"i": [i]}))
    whole = (tmp_path / "good0.parquet").read_bytes()
    bad = {"empty.parquet": b"", "magic.parquet": b"PAR1", "cut.parquet": whole[:-9], "text.parquet": b"a,b\n1,2\n"}
    for name, data in bad.items():
        (tmp_path / name).write_bytes(data)
    done = merge(tarn, tmp_path)
    named = " ".join(n["text"] for n in done["notes"] if n["kind"] == "problem")
    for name, data in bad.items():
        assert (tmp_path / name).read_bytes() == data and name in named
    assert len(os.listdir(tmp_path)) == len(bad) + 1


def test_files_without_rows_merge_to_one_that_has_the_schema(tarn, tmp_path):
    empty = pa.table({"a": pa.array([], pa.int32()), "l": pa.array([], pa.list_(pa.string()))})
    for i in range(3):
        write(tmp_path / f"{i}.parquet", empty)
    merge(tarn, tmp_path)
    assert len(files(tmp_path)) == 1
    assert pq.ParquetFile(files(tmp_path)[0]).read().schema.equals(empty.schema)
    write(tmp_path / "9.parquet", pa.table({"a": pa.array([1], pa.int32()), "l": pa.array([["x"]], pa.list_(pa.string()))}))
    merge(tarn, tmp_path)
    assert rows(tmp_path) == [{"a": 1, "l": ["x"]}]


def test_an_empty_directory_has_nothing_to_merge(tarn, tmp_path):
    assert merge(tarn, tmp_path)["done"] == 0
    (tmp_path / "_SUCCESS").write_text("")
    assert merge(tarn, tmp_path)["done"] == 0


@pytest.mark.parametrize("form", ["./t", "t/", "../x/t", "link", "file://{}/t"])
def test_every_form_of_a_path_does_the_same(tarn_bin, tmp_path, form):
    base = tmp_path / "x"
    for i in range(3):
        write(base / "t" / f"{i}.parquet", pa.table({"i": [i]}))
    os.symlink(base / "t", base / "link")
    subprocess.run([tarn_bin, "merge", form.format(base)], cwd=base, check=True, capture_output=True)
    assert len(files(base / "t")) == 1 and os.path.islink(base / "link")


def test_names_of_any_bytes(tarn, tmp_path):
    root = os.fsencode(tmp_path) + b"/t \xff"
    part = root + b"/p=a'b\"c %41\n\xfe"
    os.makedirs(part)
    for i in range(3):
        with open(part + b"/f\xfd %d \n.parquet" % i, "wb") as file:
            pq.write_table(pa.table({"i": [i]}), file)
    tarn("merge", root)
    assert len(os.listdir(part)) == 1


# ---- metadata, side files, refusals

def test_footer_keys_are_kept_or_combined(tarn, tmp_path):
    for i in range(3):
        table = pa.table({"i": [i]}).replace_schema_metadata({"same": "x", "mine": str(i)})
        write(tmp_path / f"{i}.parquet", table)
    done = merge(tarn, tmp_path)
    found = pq.ParquetFile(files(tmp_path)[0]).metadata.metadata
    assert found[b"same"] == b"x" and found[b"mine"] == b"0"
    assert b"parquet-cpp-arrow" in found[b"original.created.by"]
    assert any("mine" in n["text"] for n in done["notes"] if n["kind"] == "changed")


def test_arrow_types_survive(tarn, tmp_path):
    table = pa.table({"z": pa.array([1], pa.timestamp("us", "Europe/Berlin")), "d": pa.array([1], pa.duration("ms")),
                      "l": pa.array(["x"], pa.large_string()), "c": pa.array(["a"]).dictionary_encode()})
    for i in range(2):
        write(tmp_path / f"{i}.parquet", table)
    merge(tarn, tmp_path)
    assert pq.ParquetFile(files(tmp_path)[0]).read().schema.equals(table.schema)


def test_arrow_types_survive_columns_that_come_and_go(tarn, tmp_path):
    zone = pa.timestamp("us", "Europe/Berlin")
    write(tmp_path / "1.parquet", pa.table({"z": pa.array([1], zone), "s": pa.array(["x"], pa.large_string())}))
    write(tmp_path / "2.parquet", pa.table({"d": pa.array([5], pa.duration("ms")), "z": pa.array([2], zone)}))
    merge(tarn, tmp_path)
    found = pq.ParquetFile(files(tmp_path)[0]).read()
    assert found.schema.names == ["z", "s", "d"]
    assert found.schema.types == [zone, pa.large_string(), pa.duration("ms")]
    assert found.column("z").cast(pa.int64()).to_pylist() == [1, 2]
    assert found.column("d").cast(pa.int64()).to_pylist() == [None, 5]


def test_durations_of_other_units_are_not_mixed(tarn, tmp_path):
    for i, kind in enumerate([pa.duration("s"), pa.duration("ms"), pa.int64(), pa.duration("ms")]):
        write(tmp_path / f"{i}.parquet", pa.table({"d": pa.array([5], kind)}))
    merge(tarn, tmp_path)
    assert sorted(str(pq.ParquetFile(f).schema_arrow.types[0]) for f in files(tmp_path)) == \
        ["duration[ms]", "duration[s]", "int64"]


def test_side_files_that_would_lie_go(tarn, tmp_path):
    for i in range(2):
        write(tmp_path / "p=1" / f"{i}.parquet", pa.table({"i": [i]}))
        (tmp_path / "p=1" / f".{i}.parquet.crc").write_bytes(b"crc")
    (tmp_path / "p=1/_metadata").write_bytes(b"x")
    (tmp_path / "p=1/_SUCCESS").write_bytes(b"")
    (tmp_path / "_metadata").write_bytes(b"x")
    (tmp_path / "_common_metadata").write_bytes(b"x")
    merge(tarn, tmp_path)
    assert sorted(p.name for p in tmp_path.rglob("*") if p.is_file() and p.suffix != ".parquet") == ["_SUCCESS"]


@pytest.mark.parametrize("sign, word", [
    ("_delta_log/00000000000000000000.json", "Delta"), ("metadata/v1.metadata.json", "Iceberg"),
    (".hoodie/hoodie.properties", "Hudi"), ("p=1/.hoodie_partition_metadata", "Hudi"),
    ("base_0000001/000000_0", "Hive"), ("delta_0000001_0000001/000000_0", "Hive"),
    ("p=1/delta_0000001_0000001_0000/000000_0", "Hive"), ("sub/_delta_log/0.json", "Delta")])
def test_tables_of_other_kinds_are_refused_by_name(tarn_bin, tmp_path, sign, word):
    for i in range(2):
        write(tmp_path / "t/p=1" / f"{i}.parquet", pa.table({"i": [i]}))
    (tmp_path / "t" / sign).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "t" / sign).write_text("{}")
    before = tree(tmp_path)
    for where in ("t", "t/p=1"):
        if where == "t/p=1" and not (sign.startswith("_delta") or sign.startswith("meta") or sign.startswith(".hoodie/") or "p=1" in sign):
            continue
        done = subprocess.run([tarn_bin, "merge", tmp_path / where], capture_output=True, text=True)
        assert done.returncode == 1 and word in done.stderr, done.stderr
    assert tree(tmp_path) == before


def test_bucketed_and_encrypted_files_stay(tarn, tmp_path):
    for i in range(3):
        write(tmp_path / f"part-0000{i}-ab_0000{i}.c000.snappy.parquet", pa.table({"i": [i]}))
        write(tmp_path / f"plain{i}.parquet", pa.table({"i": [i]}))
    (tmp_path / "secret.parquet").write_bytes(b"PARE" + b"x" * 100 + b"\x10\0\0\0PARE")
    done = merge(tarn, tmp_path)
    assert len(os.listdir(tmp_path)) == 5
    kept = " ".join(n["text"] for n in done["notes"] if n["kind"] == "kept")
    assert "bucketed" in kept and "encrypted" in kept and "secret.parquet" in kept


def test_links_are_read_but_not_merged(tarn, tmp_path):
    write(tmp_path / "far/f.parquet", pa.table({"i": [7]}))
    write(tmp_path / "far/g.parquet", pa.table({"i": [8]}))
    for i in range(3):
        write(tmp_path / "t/p=1" / f"{i}.parquet", pa.table({"i": [i]}))
    os.symlink(tmp_path / "far/f.parquet", tmp_path / "t/p=1/link.parquet")
    os.symlink(tmp_path / "far", tmp_path / "t/p=2")
    merge(tarn, tmp_path / "t")
    assert os.path.islink(tmp_path / "t/p=1/link.parquet") and os.path.islink(tmp_path / "t/p=2")
    assert len(os.listdir(tmp_path / "t/p=1")) == 2 and len(os.listdir(tmp_path / "far")) == 2


# ---- sorting, the steps apart, limits

def test_sorting_within_files(tarn, tmp_path):
    rng = random.Random(5)
    for i in range(6):
        write(tmp_path / f"{i}.parquet", random_table(rng, ["i32", "str", "list", "dec", "struct"], 200))
    before = rows(tmp_path)
    merge(tarn, tmp_path, "--sort-by", "c_dec, c_i32 desc nulls first")
    after = rows(tmp_path)
    key = lambda r: (r["c_dec"] is not None, r["c_dec"] or 0, r["c_i32"] is not None, -(r["c_i32"] or 0))
    assert after == sorted(before, key=key)
    found = pq.ParquetFile(files(tmp_path)[0]).metadata.row_group(0).sorting_columns
    assert len(found) == 2 and found[1].descending


def test_plan_exec_and_commit_apart_give_the_same_tree(tarn, tarn_bin, tmp_path):
    rng = random.Random(7)
    for part in ("dt=a", "dt=b", "dt=c"):
        for i in range(5):
            write(tmp_path / "one" / part / f"{i}.parquet", random_table(rng, ["i64", "str", "ls"], 50))
    shutil.copytree(tmp_path / "one", tmp_path / "x/one")
    merge(tarn, tmp_path / "one")
    plan = tmp_path / "plan.jsonl"
    tarn("merge", "--plan-only", "--verify", "content", "-o", str(plan), str(tmp_path / "x/one"))
    lines = plan.read_text().splitlines()
    assert json.loads(lines[0])["kind"] == "merge.plan" and len(lines) == 4
    running = []
    for words, feed in (([tarn_bin, "exec", "--task", "0", plan], ""), ([tarn_bin, "exec"], "\n".join(lines[2:]) + "\n")):
        running.append(subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        running[-1].stdin.write(feed)
        running[-1].stdin.close()
    results = []
    for number, process in enumerate(running):
        results.append(tmp_path / f"results.{number}")
        results[-1].write_text(process.stdout.read())
        assert process.wait() == 0
    again = tarn("exec", "--task", "0", str(plan))
    assert json.loads(again)["rows_out"] == 250
    done = report(tarn("commit", "--json", str(plan), *map(str, results)))
    assert done["done"] == 3 and done["failed"] == 0
    assert tree(tmp_path / "x/one") == tree(tmp_path / "one")
    assert os.listdir(tmp_path / "x") == ["one"]


def test_a_file_that_changed_since_the_plan_is_a_conflict(tarn, tarn_bin, tmp_path):
    for part in ("p=1", "p=2"):
        for i in range(3):
            write(tmp_path / "t" / part / f"{i}.parquet", pa.table({"i": [i]}))
    plan, results = tmp_path / "plan", tmp_path / "results"
    tarn("merge", "--plan-only", "-o", str(plan), str(tmp_path / "t"))
    write(tmp_path / "t/p=1/1.parquet", pa.table({"i": [100]}))
    done = subprocess.run([tarn_bin, "exec", plan], capture_output=True, text=True)
    assert done.returncode == 1
    results.write_text(done.stdout)
    found = report(tarn("commit", "--json", str(plan), str(results), want=1))
    assert {p["path"]: p["outcome"] for p in found["partitions"]} == {"p=1": "conflict", "p=2": "done"}
    assert len(files(tmp_path / "t/p=1")) == 3 and len(files(tmp_path / "t/p=2")) == 1


def test_one_bad_partition_does_not_stop_the_others(tarn, tmp_path):
    for part in ("p=1", "p=2"):
        for i in range(3):
            write(tmp_path / "t" / part / f"{i}.parquet", pa.table({"s": ["abc" * 50] * 100}), compression="none", use_dictionary=False)
    bad = tmp_path / "t/p=1/1.parquet"
    data = bytearray(bad.read_bytes())
    data[4:24] = b"\xff" * 20
    bad.write_bytes(data)
    before = tree(tmp_path / "t/p=1")
    found = merge(tarn, tmp_path / "t", want=1)
    outcome = {p["path"]: p for p in found["partitions"]}
    assert outcome["p=1"]["outcome"] == "failed" and "1.parquet" in outcome["p=1"]["text"]
    assert outcome["p=2"]["outcome"] == "done"
    assert tree(tmp_path / "t/p=1") == before
    assert os.listdir(tmp_path) == ["t"]


def test_bytes_limit_takes_the_worst_first(tarn, tmp_path):
    for part, count in (("p=1", 3), ("p=2", 9), ("p=3", 5)):
        for i in range(count):
            write(tmp_path / "t" / part / f"{i}.parquet", pa.table({"i": [i]}))
    size = sum(os.path.getsize(f) for f in files(tmp_path / "t/p=2"))
    found = merge(tarn, tmp_path / "t", "--max-bytes", str(size))
    assert [p["path"] for p in found["partitions"]] == ["p=2"]
    assert len([n for n in found["notes"] if n["kind"] == "later"]) == 2
    merge(tarn, tmp_path / "t")
    assert all(len(files(tmp_path / "t" / p)) == 1 for p in ("p=1", "p=2", "p=3"))


def test_a_time_limit_ends_after_whole_partitions(tarn, tmp_path):
    for part in ("p=1", "p=2", "p=3"):
        for i in range(3):
            write(tmp_path / "t" / part / f"{i}.parquet", pa.table({"i": list(range(1000))}), compression="none")
    size = sum(os.path.getsize(f) for f in files(tmp_path / "t/p=1"))
    found = merge(tarn, tmp_path / "t", "--rate", str(size), "--time-limit", "500ms")
    assert found["done"] == 1 and found["skipped"] == 2 and "time limit" in found["stopped"]
    assert 450 <= found["ms"]
    assert merge(tarn, tmp_path / "t")["done"] == 2


def test_the_after_command_runs_per_partition(tarn, tmp_path):
    for part in ("p=1", "p=2 x"):
        for i in range(2):
            write(tmp_path / "t" / part / f"{i}.parquet", pa.table({"i": [i]}))
    log = tmp_path / "log"
    merge(tarn, tmp_path / "t", "--after", f'echo "$1|$TARN_PARTITION|$TARN_ROOT" >> "{log}"')
    assert sorted(log.read_text().splitlines()) == [f"{p}|{p}|{tmp_path}/t" for p in ("p=1", "p=2 x")]
    write(tmp_path / "t/p=1/9.parquet", pa.table({"i": [9]}))
    found = merge(tarn, tmp_path / "t", "--after", "exit 3", want=1)
    assert found["after_failed"] == 1 and any("exit code 3" in n["text"] for n in found["notes"])


def test_quiet_for_leaves_fresh_partitions(tarn, tmp_path):
    for part in ("p=1", "p=2"):
        for i in range(2):
            path = write(tmp_path / "t" / part / f"{i}.parquet", pa.table({"i": [i]}))
            if part == "p=1":
                os.utime(path, (1_600_000_000, 1_600_000_000))
    os.utime(tmp_path / "t/p=1", (1_600_000_000, 1_600_000_000))
    merge(tarn, tmp_path / "t", "--quiet-for", "10m")
    assert len(files(tmp_path / "t/p=1")) == 1 and len(files(tmp_path / "t/p=2")) == 2


def test_undo_restores_every_byte(tarn, tmp_path):
    for part in ("p=1", "p=2"):
        for i in range(3):
            write(tmp_path / "t" / part / f"{i}.parquet", pa.table({"i": [i]}))
    before = tree(tmp_path / "t")
    merge(tarn, tmp_path / "t", "--keep-old", "1h")
    assert len(files(tmp_path / "t/p=1")) == 1
    tarn("merge", "--undo", str(tmp_path / "t"))
    assert tree(tmp_path / "t") == before


def test_times_are_put_back(tarn, tmp_path):
    old = 1_600_000_000
    for i in range(3):
        path = write(tmp_path / "t/p=1" / f"{i}.parquet", pa.table({"i": [i]}))
        os.utime(path, (old + i, old + i))
    os.utime(tmp_path / "t/p=1", (old, old))
    os.utime(tmp_path / "t", (old, old))
    merge(tarn, tmp_path / "t")
    assert os.stat(files(tmp_path / "t/p=1")[0]).st_mtime == old + 2
    assert os.stat(tmp_path / "t/p=1").st_mtime == old and os.stat(tmp_path / "t").st_mtime == old


def test_a_dry_run_changes_nothing(tarn, tmp_path):
    for i in range(3):
        write(tmp_path / "t/p=1" / f"{i}.parquet", pa.table({"i": [i]}))
    before, stat = tree(tmp_path), os.stat(tmp_path)
    found = report(tarn("merge", "--json", "--dry-run", str(tmp_path / "t")))
    assert found["dry_run"] and found["files_after"] == 1
    assert tree(tmp_path) == before and os.stat(tmp_path).st_mtime_ns == stat.st_mtime_ns


def test_large_row_groups_are_split_and_joined(tarn, tmp_path):
    table = pa.table({"i": pa.array(range(1_500_000), pa.int64())})
    write(tmp_path / "a.parquet", table, compression="zstd")
    write(tmp_path / "b.parquet", table.slice(0, 10), compression="zstd")
    merge(tarn, tmp_path)
    found = pq.ParquetFile(files(tmp_path)[0])
    assert [found.metadata.row_group(g).num_rows for g in range(found.num_row_groups)] == [750005, 750005] or \
        all(found.metadata.row_group(g).num_rows <= 1_048_576 for g in range(found.num_row_groups))
    assert found.read().column(0).to_pylist() == list(range(1_500_000)) + list(range(10))


def test_files_of_other_projects(tarn, tmp_path, shared):
    """Each good file twice: rows must double, whatever features it uses."""
    tried = 0
    for path in sorted((shared / "parquet" / "data").rglob("*.parquet")):
        try:
            want = pq.ParquetFile(path).read()
        except Exception:  # what pyarrow cannot read is another test's business
            continue
        root = tmp_path / path.stem
        root.mkdir(exist_ok=True)
        for name in ("a.parquet", "b.parquet"):
            shutil.copy(path, root / name)
        done = subprocess.run([os.environ.get("TARN_BIN") or "build/asan/tarn", "merge", "--verify", "content", "--json", root],
                              capture_output=True, text=True)
        found = files(root)
        if done.returncode != 0 or len(found) != 1:
            assert len(found) == 2, path
            continue
        got = pq.ParquetFile(found[0]).read()
        assert got.num_rows == 2 * want.num_rows, path
        for half in (got.slice(0, want.num_rows), got.slice(want.num_rows)):
            for name, a, b in zip(want.column_names, half.columns, want.columns):
                a, b = a.combine_chunks(), b.combine_chunks()
                assert a.equals(b) or a.to_string(window=10**9) == b.to_string(window=10**9), (path, name)
        tried += 1
    assert tried > 20


def test_merged_dictionary_columns_stay_readable_as_such(tarn, tmp_path):
    """Text with long shared prefixes would be written as deltas, which pyarrow refuses where the schema says dictionary."""
    for part in range(4):
        texts = [f"https://example.test/a/very/long/shared/prefix/{part:04d}/{i:012d}" for i in range(40_000)]
        write(tmp_path / "t" / f"{part}.parquet", pa.table({
            "url": pa.array(texts).dictionary_encode(),
            "n": list(range(40_000))}))
    before = rows(tmp_path / "t")
    merge(tarn, tmp_path / "t")
    assert len(files(tmp_path / "t")) == 1
    merged = pq.read_table(files(tmp_path / "t")[0])
    assert pa.types.is_dictionary(merged.schema.field("url").type)
    assert merged.to_pylist() == before

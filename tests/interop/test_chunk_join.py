"""Chunks of many files joined into one row group, read by the peers and compared with the inputs as they read them.

TARN_BUILD_DIR names the build (default: build/asan beside the sources); TARN_JOIN_SEEDS how many random tables are
tried (default 40).
"""
import datetime
import decimal
import json
import os
import pathlib
import random
import subprocess

import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
duckdb = pytest.importorskip("duckdb")
pl = pytest.importorskip("polars")

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TARN_BUILD_DIR", ROOT / "build" / "asan"))
PROGRAM = BUILD / "tests" / "interop_join_chunks"
SEEDS = range(int(os.environ.get("TARN_JOIN_SEEDS", "40")))

TYPES = {"i32": pa.int32(), "i64": pa.int64(), "u32": pa.uint32(), "f32": pa.float32(), "f64": pa.float64(),
         "text": pa.string(), "blob": pa.binary(), "fixed": pa.binary(8), "decimal": pa.decimal128(14, 2),
         "bool": pa.bool_(), "ts": pa.timestamp("us"), "date": pa.date32()}
ENCODINGS = {"i32": ["DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"], "i64": ["DELTA_BINARY_PACKED"],
             "text": ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"], "f64": ["BYTE_STREAM_SPLIT"], "bool": ["RLE"]}


def values(pick, kind, count, nulls):
    """Few values, values that rise, or any."""
    taste = pick.choice(["few", "rising", "any", "any"])
    base = pick.randrange(1 << 20)

    def one(i):
        x = pick.randrange(7) if taste == "few" else base + i if taste == "rising" else pick.randrange(1 << 30)
        return {"i32": x, "i64": x * 1000003, "u32": x, "f32": x / 4, "bool": x % 2 == 0,
                "f64": float("nan") if x % 97 == 0 else x / 7 if x % 11 else -0.0,
                "text": f"v{x}" * (1 + x % 3), "blob": b"%d" % x, "fixed": b"%08d" % (x % 10**8),
                "decimal": decimal.Decimal(x) / 100,
                "ts": datetime.datetime(2020, 1, 1) + datetime.timedelta(microseconds=x * 1000),
                "date": datetime.date(2000, 1, 1) + datetime.timedelta(days=x % 20000)}[kind]

    return [None if pick.random() < nulls else one(i) for i in range(count)]


def column(pick, kind, shape, rows, nulls):
    leaf = TYPES[kind]

    def some(*sizes):
        return values(pick, kind, pick.choice(sizes), nulls)

    def unless(value):
        return None if pick.random() < nulls else value

    if shape == "flat":
        return pa.array(values(pick, kind, rows, nulls), leaf)
    if shape == "list":
        return pa.array([unless(some(0, 1, 2, 9)) for _ in range(rows)], pa.list_(leaf))
    if shape == "struct":
        return pa.array([unless({"a": v}) for v in values(pick, kind, rows, nulls)], pa.struct([("a", leaf)]))
    if shape == "map":
        return pa.array([unless([(f"k{j}", v) for j, v in enumerate(some(0, 1, 3))]) for _ in range(rows)],
                        pa.map_(pa.string(), leaf))
    return pa.array([unless([unless(some(0, 1, 3)) for _ in range(pick.choice([0, 1, 2]))]) for _ in range(rows)],
                    pa.list_(pa.list_(leaf)))


def settings(pick, seed, columns, spark):
    """How a file is written: codecs, page versions and sizes, encodings, statistics, indexes."""
    codecs = ["none", "snappy", "zstd", "gzip", "lz4"] + ([] if spark else ["brotli"])
    out = {"compression": pick.choice(codecs) if seed % 3 == 0 else "snappy",
           "data_page_version": pick.choice(["1.0", "2.0"]), "use_dictionary": pick.random() < .7,
           "write_page_index": pick.random() < .4, "data_page_size": pick.choice([100, 2000, 1 << 20]),
           "write_batch_size": pick.choice([10, 1000]), "write_statistics": pick.random() < .8,
           "row_group_size": pick.choice([7, 1000, 1 << 20]), "use_deprecated_int96_timestamps": seed % 2 == 0,
           "dictionary_pagesize_limit": pick.choice([200, 1 << 20]), "store_decimal_as_integer": seed % 4 == 0,
           "write_page_checksum": pick.random() < .3}
    if not out["use_dictionary"] and pick.random() < .6:
        out["column_encoding"] = {
            name: pick.choice([e for e in ENCODINGS[kind] if not (spark and e == "BYTE_STREAM_SPLIT")])
            for name, kind, shape, _ in columns if shape == "flat" and kind in ENCODINGS}
    return out


def write_inputs(folder, seed, spark=False):
    pick = random.Random(seed)
    columns = []
    for kind in TYPES:
        columns.append((f"{kind}_flat", kind, "flat", pick.choice([0, 0, .1, .5, 1.0])))
        if pick.random() < .5:
            shape = pick.choice(["list", "struct", "map", "lists"])
            columns.append((f"{kind}_{shape}", kind, shape, pick.choice([0, .2])))
    required = {c[0] for c in columns if c[3] == 0 and pick.random() < .5}
    sizes = [0, 1, 3, 50, 300] + ([700, 5000] if pick.random() < .3 else [])
    paths = []
    for n in range(pick.choice([1, 2, 5, 9])):
        rows = pick.choice(sizes)
        arrays = [column(pick, kind, shape, rows, nulls) for _, kind, shape, nulls in columns]
        schema = pa.schema([pa.field(c[0], a.type, nullable=c[0] not in required)
                            for c, a in zip(columns, arrays)])
        paths.append(folder / f"in{n}.parquet")
        pq.write_table(pa.Table.from_arrays(arrays, schema=schema), paths[-1],
                       **settings(pick, seed, columns, spark))
    return pick, paths


def join(folder, paths, **options):
    """The joined file, and what was done, a column each."""
    out = folder / "out.parquet"
    words = [f"{name}={value}" for name, value in options.items()]
    done = subprocess.run([PROGRAM, out, *words, *paths], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out, {line["column"]: line for line in map(json.loads, done.stdout.splitlines())}


def random_options(pick, spark=False):
    codecs = [-1, -1, 0, 1, 2, 6, 7] + ([] if spark else [4])
    choices = {"v2": [0, 1], "crc": [0, 1], "cheapest": [0, 0, 0, 0, 1, 2, 3, 4], "page_rows": [0, 0, 100],
               "dictionary_bytes": [0, 0, 300], "codec": codecs, "no_dictionary": [0, 0, 0, 1]}
    return {name: pick.choice(some) for name, some in choices.items()}


def same(left, right, what):
    """Rows as the same reader gives them; repr tells -0.0 from 0.0 and lets NaN equal NaN."""
    assert len(left) == len(right), what
    for i, (a, b) in enumerate(zip(left, right)):
        assert repr(a) == repr(b), f"{what}: row {i}"


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_joined_reads_as_the_inputs_do(tmp_path, seed):
    pick, paths = write_inputs(tmp_path, seed)
    options = random_options(pick)
    out, _ = join(tmp_path, paths, **options)
    want = pa.concat_tables([pq.read_table(path) for path in paths])
    if want.num_rows == 0:
        return
    got = pq.read_table(out, page_checksum_verification=True)
    assert got.schema.equals(want.schema)
    assert pq.ParquetFile(out).metadata.num_row_groups == 1
    for name in want.column_names:
        same(got[name].to_pylist(), want[name].to_pylist(), f"pyarrow, {options}, {name}")
    sources = [str(path) for path in paths]
    with duckdb.connect() as db:
        for path, label in ((sources, "inputs"), ([str(out)], "joined")):
            db.execute(f"CREATE TABLE {label} AS SELECT * FROM read_parquet({path!r})")
        same(db.execute("FROM joined").fetchall(), db.execute("FROM inputs").fetchall(), f"DuckDB, {options}")
        bounds = ", ".join(f"min({n}), max({n})" for n in want.column_names if n.endswith("_flat") and n[0] != "f")
        same(db.execute(f"SELECT {bounds} FROM read_parquet('{out}')").fetchall(),
             db.execute(f"SELECT {bounds} FROM inputs").fetchall(), "DuckDB, bounds")
    frames = [pl.read_parquet(path) for path in paths]
    same(pl.read_parquet(out).rows(), pl.concat(frames).rows(), f"Polars, {options}")


@pytest.mark.parametrize("seed", range(1000, 1000 + max(1, len(SEEDS) // 8)))
def test_filters_find_what_is_joined(tmp_path, seed):
    """Statistics, page indexes and encodings lead readers to the rows, never past them."""
    pick, paths = write_inputs(tmp_path, seed)
    out, _ = join(tmp_path, paths, v2=pick.choice([0, 1]), page_rows=pick.choice([0, 50]))
    want = pa.concat_tables([pq.read_table(path) for path in paths])
    for name in ("i32_flat", "i64_flat", "text_flat", "date_flat", "decimal_flat"):
        present = [v for v in want[name].to_pylist() if v is not None]
        for value in pick.sample(present, min(3, len(present))):
            count = sum(v == value for v in present)
            assert pq.read_table(out, filters=[(name, "=", value)]).num_rows == count
            literal = f"'{value}'" if isinstance(value, (str, datetime.date)) else value
            assert duckdb.sql(f"SELECT count(*) FROM read_parquet('{out}') WHERE {name} = {literal}"
                              ).fetchall()[0][0] == count
            assert pl.scan_parquet(out).filter(pl.col(name) == value).collect().height == count


def sorted_rows(frame):
    return sorted(repr(row) for row in frame.collect())


@pytest.mark.parametrize("vectorized", ["true", "false"])
@pytest.mark.parametrize("seed", [2001, 2002, 2003])
def test_spark_reads_what_is_joined(tmp_path, spark, seed, vectorized):
    pick, paths = write_inputs(tmp_path, seed, spark=True)
    out, _ = join(tmp_path, paths, **random_options(pick, spark=True))
    spark.conf.set("spark.sql.parquet.enableVectorizedReader", vectorized)
    same(sorted_rows(spark.read.parquet(str(out))), sorted_rows(spark.read.parquet(*map(str, paths))), "Spark")


def test_each_kind_of_chunk_goes_its_way(tmp_path):
    """What pyarrow writes of unique values, of few values, and without dictionaries, is moved, not decoded."""
    rows = 6000
    paths = []
    for n in range(3):
        table = pa.table({"unique": pa.array(range(n * rows, (n + 1) * rows), pa.int64()),
                          "text": [f"text of row {n * rows + i}" for i in range(rows)],
                          "few": [f"kind {(i * 7 + n) % 5}" for i in range(rows)],
                          "real": pa.array([i * .37 for i in range(rows)], pa.float64())})
        paths.append(tmp_path / f"{n}.parquet")
        pq.write_table(table, paths[-1], use_dictionary=["unique", "text", "few"], compression="snappy")
    out, done = join(tmp_path, paths)
    assert done["unique"]["sequence"][0] == 3 and done["text"]["sequence"][0] == 3
    assert done["few"]["copy"][0] == 1 and done["few"]["remap"][0] == 2
    assert done["real"]["copy"][0] == 3
    meta = pq.ParquetFile(out).metadata.row_group(0)
    assert "RLE_DICTIONARY" in meta.column(2).encodings and "RLE_DICTIONARY" not in meta.column(0).encodings
    assert meta.column(0).statistics.min == 0 and meta.column(0).statistics.max == 3 * rows - 1
    assert all(meta.column(i).statistics.null_count == 0 for i in range(4))
    size = sum(os.path.getsize(path) for path in paths)
    assert os.path.getsize(out) <= 1.02 * size
    table = pa.concat_tables([pq.read_table(path) for path in paths])
    assert pq.read_table(out).equals(table)
    assert pl.read_parquet(out).equals(pl.from_arrow(table))

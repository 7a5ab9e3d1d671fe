"""Parquet files by tarn's chunk and file writer, read back by the peers and compared with what was written.

TARN_BUILD_DIR names the build (default: build/asan beside the sources).
"""
import json
import math
import os
import pathlib
import struct
import subprocess

import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
duckdb = pytest.importorskip("duckdb")

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TARN_BUILD_DIR", ROOT / "build" / "asan"))
PROGRAM = BUILD / "tests" / "interop_write_leaves"

# Codec numbers of the format.
NONE, SNAPPY, GZIP, BROTLI, ZSTD, LZ4_RAW = 0, 1, 2, 4, 6, 7

CASES = {
    "default": {},
    "snappy": {"codec": SNAPPY, "rows": 300},
    "gzip": {"codec": GZIP, "rows": 300},
    "lz4_raw": {"codec": LZ4_RAW, "rows": 300},
    "brotli": {"codec": BROTLI, "rows": 300},
    "none": {"codec": NONE},
    "v2": {"v2": 1, "page_rows": 90},
    "v2_none": {"v2": 1, "codec": NONE, "rows": 500},
    "small_pages": {"page_rows": 37, "bound": 8},
    "tiny_pages_by_bytes": {"page_bytes": 100, "rows": 600},
    "fallback": {"dictionary_bytes": 300, "page_rows": 50, "rows": 900},
    "fallback_mid_page": {"dictionary_bytes": 1200, "rows": 900},
    "by_dictionary": {"indices": 1, "page_rows": 130},
    "by_dictionary_fallback": {"indices": 1, "dictionary_bytes": 400, "page_rows": 100},
    "groups": {"groups": 5, "rows": 700},
    "one_row": {"rows": 1},
    "no_rows": {"rows": 0},
    "plain": {"encoding": 0, "rows": 400},
    "rle": {"encoding": 3, "rows": 400},
    "delta": {"encoding": 5, "page_rows": 150},
    "delta_length": {"encoding": 6, "page_rows": 150},
    "delta_bytes": {"encoding": 7, "page_rows": 150},
    "stream_split": {"encoding": 9, "page_rows": 150},
    "no_dictionary": {"no_dictionary": 1, "split": 1},
    "no_crc": {"crc": 0, "bloom": 0, "rows": 200},
    "bound_1": {"bound": 1, "page_rows": 10, "rows": 300},
}


def write(folder, seed, options):
    path = folder / f"{seed}.parquet"
    arguments = [f"{name}={value}" for name, value in options.items()]
    done = subprocess.run([PROGRAM, str(seed), str(path), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return path, [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module", params=list(CASES), ids=list(CASES))
def written(request, tmp_path_factory):
    seed = 1000 + list(CASES).index(request.param)
    return request.param, *write(tmp_path_factory.mktemp(request.param), seed, CASES[request.param])


def little(raw, signed=True):
    return int.from_bytes(raw, "little", signed=signed)


UNSIGNED = {"u8", "u16", "u32", "u64"}
INTEGERS = {"i8", "i32", "i64", "date", "time_ms", "ts_ms", "ts_us", "ts_ns"}


def value_of(kind, text):
    """The value that the hex of PLAIN bytes stands for, comparable with what `plain` gives."""
    raw = bytes.fromhex(text)
    if kind == "bool":
        return raw[0] != 0
    if kind in UNSIGNED:
        value = little(raw, False)
        return value & 0xFF if kind == "u8" else value & 0xFFFF if kind == "u16" else value
    if kind in INTEGERS:
        return little(raw)
    if kind == "dec9" or kind == "dec18":
        return little(raw)
    if kind in ("decf", "decb"):
        return int.from_bytes(raw, "big", signed=True)
    if kind in ("f16", "f32", "f64"):
        return bits(struct.unpack({"f16": "<e", "f32": "<f", "f64": "<d"}[kind], raw)[0])
    if kind == "int96":
        return (little(raw[8:]) - 2440588) * 86400 * 10**9 + little(raw[:8])
    if kind == "string":
        return raw.decode()
    return raw


def bits(number):
    """Tells -0.0 from 0.0, and lets NaN equal NaN."""
    return "nan" if math.isnan(number) else struct.pack("<d", number)


def plain(array):
    """An Arrow array as Python values, times as integers of their unit, decimals unscaled, floats by their bits."""
    kind = array.type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        values = plain(array.values)
        offsets = array.offsets.to_pylist()
        return [values[offsets[i]:offsets[i + 1]] if array[i].is_valid else None for i in range(len(array))]
    if pa.types.is_struct(kind):
        values = plain(array.field(0))
        return [values[i] if array[i].is_valid else None for i in range(len(array))]
    if pa.types.is_decimal(kind):
        return [None if v is None else int(v.scaleb(kind.scale)) for v in array.to_pylist()]
    if pa.types.is_temporal(kind):
        array = array.cast(pa.int64() if kind.bit_width == 64 else pa.int32())
    if isinstance(kind, pa.BaseExtensionType):
        array = array.storage
    values = array.to_pylist()
    if pa.types.is_floating(kind):
        return [None if v is None else bits(float(v)) for v in values]
    return values


def wanted(column):
    def walk(item):
        if item is None:
            return None
        if isinstance(item, list):
            return [walk(part) for part in item]
        return value_of(column["kind"], item)

    return [walk(row) for row in column["rows"]]


def column_of(table, name):
    chunked = table.column(name)
    array = pa.concat_arrays(chunked.chunks) if chunked.num_chunks else pa.array([], chunked.type)
    return plain(array)


def test_pyarrow_reads_what_was_written(written):
    _, path, columns = written
    with pq.ParquetFile(path, page_checksum_verification=True) as file:
        table = file.read()
    table.validate(full=True)
    for column in columns:
        assert column_of(table, column["name"]) == wanted(column), column["name"]


def test_duckdb_reads_what_pyarrow_reads(written):
    case, path, columns = written
    # DuckDB reads INT96 and nanoseconds as microseconds, and times of day and half floats as other types.
    if case == "stream_split":
        columns = [c for c in columns if c["kind"] not in ("fixed5", "uuid", "decf")]  # not decoded there
    names = [c["name"] for c in columns if c["kind"] not in ("int96", "ts_ns", "time_ms", "f16")]
    theirs = duckdb.sql("select " + ",".join(f'"{n}"' for n in names) + f" from '{path}'").to_arrow_table()
    for column in columns:
        name = column["name"]
        if name not in names:
            continue
        want = wanted(column)
        got = column_of(theirs, name)
        if column["kind"] == "ts_ms":
            want, got = [str(v) for v in want], [str(v) for v in scaled(got, 1000)]
        if column["kind"] == "uuid":
            want, got = uuids(want), uuids(got)
        assert got == want, (case, name)


def scaled(item, by):
    if isinstance(item, list):
        return [scaled(part, by) for part in item]
    return None if item is None else item // by


def uuids(item):
    if isinstance(item, list):
        return [uuids(part) for part in item]
    if item is None:
        return None
    return item.hex() if isinstance(item, bytes) else str(item).replace("-", "")


def test_polars_reads_what_was_written(written):
    polars = pytest.importorskip("polars")
    case, path, columns = written
    if case == "brotli":
        pytest.skip("one codec less to compile in")
    # Polars has no decimals in variable byte arrays, and takes UUIDs for bytes.
    names = [c["name"] for c in columns if c["kind"] not in ("decb", "int96")]
    if case == "stream_split":
        # Not decoded there for fixed byte arrays; the writer never chooses it for them.
        names = [n for n in names if n.split("_")[0] not in ("fixed5", "uuid", "f16", "decf")]
    theirs = polars.read_parquet(path, columns=names, use_statistics=False).to_arrow()
    for column in columns:
        name = column["name"]
        if name not in names:
            continue
        got = column_of(theirs, name)
        if column["kind"] == "time_ms":
            got = scaled(got, 1000000)
        assert got == wanted(column), (case, name)


# ---- what the footer says

def leaves(meta):
    for group in range(meta.num_row_groups):
        for leaf in range(meta.num_columns):
            yield group, leaf, meta.row_group(group).column(leaf)


def flatten(item):
    if isinstance(item, list):
        for part in item:
            yield from flatten(part)
    elif item is not None:
        yield item


def test_sizes_add_up(written):
    _, path, _ = written
    meta = pq.read_metadata(path)
    data = path.read_bytes()
    assert meta.num_rows == sum(meta.row_group(g).num_rows for g in range(meta.num_row_groups))
    for group in range(meta.num_row_groups):
        row_group = meta.row_group(group)
        chunks = [row_group.column(i) for i in range(meta.num_columns)]
        assert row_group.total_byte_size == sum(c.total_uncompressed_size for c in chunks)
        starts = [c.dictionary_page_offset or c.data_page_offset for c in chunks]
        for a, b in zip(range(len(chunks)), starts[1:] + [None]):
            if b is not None:
                assert starts[a] + chunks[a].total_compressed_size == b
    assert data[:4] == data[-4:] == b"PAR1"


def test_encodings_and_indexes_are_stated(written):
    case, path, _ = written
    rows = duckdb.sql(f"select path_in_schema, encodings, bloom_filter_offset, type from parquet_metadata('{path}')").fetchall()
    meta = pq.read_metadata(path)
    assert len(rows) == meta.num_row_groups * meta.num_columns
    for _, _, chunk in leaves(meta):
        assert chunk.has_offset_index
        nothing = chunk.statistics is None or not chunk.statistics.has_min_max
        if chunk.physical_type != "INT96" and not nothing:
            assert chunk.has_column_index or "16" in path.name or chunk.physical_type in ("FLOAT", "DOUBLE", "FIXED_LEN_BYTE_ARRAY")
        if chunk.has_dictionary_page:
            assert chunk.dictionary_page_offset < chunk.data_page_offset
            assert "RLE_DICTIONARY" in chunk.encodings and "PLAIN" in chunk.encodings


def order_key(kind, value):
    """What bounds compare by."""
    if kind == "uuid":
        return value
    return value.encode() if isinstance(value, str) else value


def test_statistics_hold_for_every_value(written):
    case, path, columns = written
    if case == "groups":
        pytest.skip("the values of one group are not told apart here")
    meta = pq.read_metadata(path)
    exact = duckdb.sql(f"select min_is_exact, max_is_exact from parquet_metadata('{path}')").fetchall()
    for _, leaf, chunk in leaves(meta):
        column = columns[leaf]
        kind = column["kind"]
        statistics = chunk.statistics
        rows = [item for item in flatten(wanted(column))]
        assert statistics is not None and statistics.has_null_count
        assert statistics.null_count == chunk.num_values - len(rows)
        if kind in ("int96",):
            assert not statistics.has_min_max
            continue
        if kind in ("f16", "f32", "f64"):
            rows = [row for row in rows if row != "nan"]
            if not rows:
                assert not statistics.has_min_max
                continue
            if kind != "f16":
                numbers = [struct.unpack("<d", row)[0] for row in rows]
                assert statistics.min == min(numbers) and statistics.max == max(numbers)
                if statistics.min == 0:
                    assert math.copysign(1, statistics.min) == -1
                if statistics.max == 0:
                    assert math.copysign(1, statistics.max) == 1
            continue
        if not rows:
            assert not statistics.has_min_max
            continue
        if kind in ("string", "binary"):
            low = statistics.min_raw if statistics.has_min_max else None
            if low is None:
                continue  # no upper bound of this length
            low = low if isinstance(low, bytes) else low.encode()
            high = statistics.max_raw if isinstance(statistics.max_raw, bytes) else statistics.max_raw.encode()
            keys = [order_key(kind, row) for row in rows]
            assert low <= min(keys) and max(keys) <= high, column["name"]
            bound = CASES[case].get("bound") or 64
            assert len(low) <= bound and len(high) <= bound + 1
            if kind == "string":
                low.decode()
                high.decode()
            if len(min(keys)) <= bound:
                assert low == min(keys) and exact[leaf][0] is True
            else:
                assert exact[leaf][0] is False
            continue
        if kind in ("decf", "decb"):
            low, high = (int.from_bytes(raw(statistics, side), "big", signed=True) for side in ("min", "max"))
            assert (low, high) == (min(rows), max(rows))
            continue
        if kind in UNSIGNED or kind in INTEGERS or kind in ("dec9", "dec18"):
            low, high = statistics.min_raw, statistics.max_raw
            if kind in UNSIGNED:
                width = 64 if kind == "u64" else 32
                low, high = low % 2**width, high % 2**width
            assert (low, high) == (min(rows), max(rows)), column["name"]


def raw(statistics, side):
    value = getattr(statistics, f"{side}_raw")
    return value if isinstance(value, bytes) else bytes(value)


def test_filters_find_what_was_written(written):
    case, path, columns = written
    if CASES[case].get("bloom") == 0 or CASES[case].get("rows") == 0:
        pytest.skip("without filters")
    for column in columns:
        if column["shape"] != "r" or column["kind"] not in ("i32", "i64", "string", "f64"):
            continue
        name, kind = column["name"], column["kind"]
        rows = [row for row in wanted(column)][:40]
        for row in rows:
            if kind == "f64":
                if row == "nan":
                    continue
                literal = repr(struct.unpack("<d", row)[0])
                row = literal + "::double"
            elif kind == "string":
                row = "'" + row + "'"
            probes = duckdb.sql(f"select bloom_filter_excludes from parquet_bloom_probe('{path}', '{name}', {row})").fetchall()
            assert not all(excluded for excluded, in probes), (name, row)
            count = duckdb.sql(f"select count(*) from '{path}' where \"{name}\" = {row}").fetchall()[0][0]
            assert count >= 1


def test_pages_hold_their_bounds(written):
    """Readers that prune by statistics and page index find the same rows as those that do not."""
    polars = pytest.importorskip("polars")
    case, path, columns = written
    if case in ("brotli", "no_rows"):
        pytest.skip("nothing to prune")
    lazy = polars.scan_parquet(path)
    for column in columns:
        if column["shape"] not in "ro" or column["kind"] not in ("i32", "u32", "i64", "string", "f64", "date"):
            continue
        values = [v for v in wanted(column) if v is not None]
        if column["kind"] == "f64":
            values = [struct.unpack("<d", v)[0] for v in values if v != "nan"]
        if not values or column["kind"] == "date":
            continue
        pivot = sorted(values)[len(values) // 2]
        want = sum(v == pivot for v in values)
        got = lazy.filter(polars.col(column["name"]) == pivot).select(polars.len()).collect().item()
        assert got == want, column["name"]


# ---- ready pages

def copy(path, target):
    done = subprocess.run([BUILD / "tests" / "interop_copy_pages", path, target], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target


def same_values(a, b):
    theirs, ours = pq.read_table(a), pq.read_table(b)
    assert theirs.schema.equals(ours.schema)
    for name in theirs.schema.names:
        assert column_of(theirs, name) == column_of(ours, name), name


def test_copied_pages_read_equal(written, tmp_path):
    case, path, columns = written
    target = copy(path, tmp_path / "copy.parquet")
    same_values(path, target)
    if case != "stream_split":
        kept = [c["name"] for c in columns if c["kind"] != "f16"]
        names = ",".join(f'"{name}"' for name in kept)
        differing = duckdb.sql(f"select count(*) from (select {names} from '{path}' except all select {names} from '{target}')")
        assert differing.fetchall() == [(0,)]
    before, after = pq.read_metadata(path), pq.read_metadata(target)
    for (_, _, a), (_, _, b) in zip(leaves(before), leaves(after), strict=True):
        assert (a.num_values, a.encodings, a.total_compressed_size) == (b.num_values, b.encodings, b.total_compressed_size)
        assert a.has_column_index == b.has_column_index and b.has_offset_index
        if a.has_column_index:
            assert b.statistics.null_count == a.statistics.null_count
        if b.statistics is not None and b.statistics.has_min_max and a.physical_type not in ("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"):
            assert (a.statistics.min_raw, a.statistics.max_raw) == (b.statistics.min_raw, b.statistics.max_raw)


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("codec", ["zstd", "snappy", "none"])
def test_copied_pages_of_pyarrow_read_equal(tmp_path, version, codec):
    n = 30000
    table = pa.table({"id": pa.array(range(n)), "word": pa.array([f"w{i % 97}" if i % 5 else None for i in range(n)]),
                      "unlike": pa.array([f"{i * 7919 % 100003:x}" for i in range(n)]),
                      "real": pa.array([i / 7 for i in range(n)]),
                      "list": pa.array([list(range(i % 4)) if i % 9 else None for i in range(n)])})
    path = tmp_path / "from.parquet"
    pq.write_table(table, path, compression=codec, data_page_version=version, write_page_index=True, row_group_size=11000,
                   data_page_size=20000, write_page_checksum=True)
    target = copy(path, tmp_path / "to.parquet")
    with pq.ParquetFile(target, page_checksum_verification=True) as file:
        assert file.read().equals(table)
    assert duckdb.sql(f"select count(*), sum(id), count(word) from '{target}'").fetchall() == [
        (n, n * (n - 1) // 2, n - table["word"].null_count)]
    assert duckdb.sql(f"select id from '{target}' where unlike = '{7919 * 12345 % 100003:x}'").fetchall() == [(12345,)]


# ---- Spark

SPARK_CASES = [(case, "true") for case in ("default", "v2", "fallback", "delta", "delta_length", "delta_bytes", "rle",
                                           "no_rows")] + [("fallback", "false"), ("delta", "false")]


@pytest.mark.parametrize("case,vectorized", SPARK_CASES)
def test_spark_reads_what_was_written(spark, tmp_path, case, vectorized):
    # Spark 3.5 refuses any file with FLOAT16, UUID, other fixed byte arrays or times of day.
    path, columns = write(tmp_path, 7, {"rows": 500, **CASES[case], "spark": 1})
    spark.conf.set("spark.sql.parquet.enableVectorizedReader", vectorized)
    spark.conf.set("spark.sql.legacy.parquet.nanosAsLong", "true")
    frame = spark.read.parquet(str(path)).select(*[c["name"] for c in columns])
    rows = frame.collect()
    for index, column in enumerate(columns):
        got = [spark_value(column["kind"], row[index]) for row in rows]
        want = [spark_value(None, item) for item in wanted(column)]
        assert got == want, column["name"]


EPOCH_DAY = 719163


def spark_value(kind, item):
    import datetime
    import decimal

    if item is None:
        return None
    if isinstance(item, list):
        return [spark_value(kind, part) for part in item]
    if hasattr(item, "asDict"):
        return spark_value(kind, item[0])
    if isinstance(item, bytearray):
        return bytes(item)
    if kind is None:
        return item
    if isinstance(item, decimal.Decimal):
        return int(item.scaleb({"dec9": 2, "dec18": 3, "decf": 2, "decb": 2}.get(kind, 0)))
    if isinstance(item, datetime.datetime):
        whole = item.replace(tzinfo=None) - datetime.datetime(1970, 1, 1)
        micros = (whole.days * 86400 + whole.seconds) * 10**6 + whole.microseconds
        return micros // 1000 if kind == "ts_ms" else micros * 1000 if kind == "int96" else micros
    if isinstance(item, datetime.date):
        return item.toordinal() - EPOCH_DAY
    if isinstance(item, float):
        return bits(item)
    return item

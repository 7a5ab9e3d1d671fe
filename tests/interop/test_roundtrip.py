"""Tarn's scan and sink against the peers: other writers' files read as pyarrow reads them; random
tables written by tarn and read by pyarrow, DuckDB, Polars and Spark, and the other way round."""

import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
duckdb = pytest.importorskip("duckdb")
polars = pytest.importorskip("polars")

import arrow_values as av  # noqa: E402
import bridge  # noqa: E402

SEEDS = range(60)


def load(path):
    with pa.memory_map(str(path)) as source:
        return pa.ipc.open_file(source).read_all()


def save(table, path):
    with pa.OSFile(str(path), "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)


def read_all(folder, files):
    """What tarn reads from each file: a table, or the text of its failure."""
    jobs = [{"op": "read", "from": str(path), "to": str(folder / f"{i}.arrow"), **options}
            for i, (path, options) in enumerate(files)]
    answers = bridge.run_jobs(jobs)
    return [load(job["to"]) if answer["ok"] else answer["text"]
            for job, answer in zip(jobs, answers)]


# --- other writers' files ---

# Where tarn and pyarrow differ, and why.
NOT_COMPARED = {
    # A page's checksum is wrong: pyarrow does not look unless told to, tarn refuses the page.
    "rle-dict-uncompressed-corrupt-checksum.parquet": "the checksum of the page is",
    # Times beyond what timestamp[ns] holds: pyarrow wraps around, tarn names the row.
    "int96_from_spark.parquet": 'column "a": the value in row 2',
}


def test_files_of_other_writers_read_as_pyarrow_reads_them(shared, tmp_path):
    files = sorted((shared / "parquet/data").rglob("*.parquet"))
    files += sorted((shared / "parquet/shredded_variant").glob("*.parquet"))
    assert len(files) > 100
    bad = []
    for path, got in zip(files, read_all(tmp_path, [(f, {"batch_rows": 700}) for f in files])):
        if path.name in NOT_COMPARED:
            assert NOT_COMPARED[path.name] in got
            continue
        if path.name == "incorrect_map_schema.parquet":
            # The keys of the map are optional, which pyarrow refuses; none of them is null.
            assert av.plain(got.column(0)) == [[("parent", "another"), ("name", "report")]]
            continue
        if isinstance(got, str):
            bad.append(f"{path.name}: {got}")
            continue
        want = pq.read_table(path)
        if got.schema.remove_metadata() != want.schema.remove_metadata():
            bad.append(f"{path.name}: schema {got.schema} and {want.schema}")
        if av.tables_differ(got, want):
            bad.append(f"{path.name}: {av.tables_differ(got, want)}")
    assert not bad, "\n".join(bad)


def test_the_files_that_differ_read_right_when_asked(shared, tmp_path):
    """The last time of the INT96 file was written by an overflowing Spark: as stored it lies 290,000
    years before Christ, which no 64-bit timestamp[us] holds either."""
    data = shared / "parquet/data"
    checksum, int96 = (data / name for name in NOT_COMPARED)
    got = read_all(tmp_path, [(checksum, {"skip_crc": True}),
                              (int96, {"int96_micros": True, "ranges": [(0, 0, 5)]}),
                              (int96, {"int96_micros": True})])
    assert av.tables_differ(got[0], pq.read_table(checksum)) == ""
    want = pq.read_table(int96, coerce_int96_timestamp_unit="us").slice(0, 5)
    assert got[1].schema.field(0).type == pa.timestamp("us")
    assert av.tables_differ(got[1], want) == ""
    assert 'column "a": the value in row 5' in got[2]


# Where DuckDB is no judge.
NOT_BY_DUCKDB = {
    "byte_stream_split_extended.gzip.parquet": "BYTE_STREAM_SPLIT encoding is only supported for",
    "map_no_value.parquet": "MAP_KEY_VALUE requires two children",
    "int96_from_spark.parquet": "Int96 timestamp is out of range",
}


def test_files_of_other_writers_read_as_duckdb_reads_them(shared, tmp_path):
    """Not the shredded variants: DuckDB puts their parts together, tarn and pyarrow give the stored structs."""
    files = sorted((shared / "parquet/data").rglob("*.parquet"))
    bad, judged = [], 0
    for path, got in zip(files, read_all(tmp_path, [(f, {"skip_crc": True}) for f in files])):
        try:
            want = duckdb.sql(f"SELECT * FROM read_parquet('{path}')").to_arrow_table()
        except duckdb.Error as error:
            if NOT_BY_DUCKDB.get(path.name, "-") not in str(error):
                bad.append(f"{path.name}: DuckDB: {error}")
            continue
        judged += 1
        text = got if isinstance(got, str) else av.tables_differ(got, want)
        bad += [f"{path.name}: {text}"] if text else []
    assert judged > 30 and not bad, "\n".join(bad)


# --- written by tarn, read by the peers ---

WRITES = [{}, {"codec": "snappy", "page_v2": True}, {"codec": "gzip", "group_rows": 70},
          {"codec": "lz4_raw", "no_dictionary": True, "page_rows": 33}, {"codec": "none", "skip": 11},
          {"max_chunksize": 17, "arrow_schema": False}]


def written_by_tarn(folder, tables):
    jobs = []
    for i, table in enumerate(tables):
        save(table, folder / f"{i}.in.arrow")
        jobs.append({"op": "write", "from": str(folder / f"{i}.in.arrow"),
                     "to": str(folder / f"{i}.parquet"), "crc": i % 2 == 0, **WRITES[i % len(WRITES)]})
    for i, answer in enumerate(bridge.run_jobs(jobs)):
        assert answer["ok"], f"table {i}: {answer}"
    return [(tables[i].slice(job.get("skip", 0)), job["to"]) for i, job in enumerate(jobs)]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("written")
    tables = [av.random_table(seed) for seed in SEEDS]
    tables += [av.random_table(1000, rows=0), av.random_table(1001, columns=40, rows=30)]
    return written_by_tarn(folder, tables)


def test_pyarrow_reads_what_tarn_writes(written):
    bad = [f"{path}: {text}" for table, path in written
           if (text := av.tables_differ(table, pq.read_table(path, page_checksum_verification=True)))]
    assert not bad, "\n".join(bad)


def test_tarn_reads_what_tarn_writes(written, tmp_path):
    got = read_all(tmp_path, [(path, {"batch_rows": 64}) for _, path in written])
    bad = [f"{path}: {text}" for (table, path), read in zip(written, got)
           if (text := read if isinstance(read, str) else av.tables_differ(table, read))]
    assert not bad, "\n".join(bad)


def test_types_come_back_where_arrow_schema_was_stored(written, tmp_path):
    """All that ARROW:schema can restore is restored; what pyarrow restores beyond that (dictionaries,
    views) tarn reads as plain values."""
    got = read_all(tmp_path, [(path, {}) for _, path in written])
    kinds = {}
    for (table, path), read in zip(written, got):
        if b"ARROW:schema" in (pq.read_metadata(path).metadata or {}):
            for a, b in zip(table.schema, read.schema):
                kinds[a.type] = b.type
    for kind in (pa.large_utf8(), pa.duration("us"), pa.timestamp("us", "Europe/Berlin"),
                 pa.decimal256(60, 3), pa.float16(), pa.uint16(), pa.null()):
        assert kinds[kind] == kind
    assert kinds[pa.timestamp("s")] == pa.timestamp("ms")
    assert kinds[pa.dictionary(pa.int16(), pa.utf8())] == pa.utf8()


def columns_for(table, refused):
    return [f.name for f in table.schema if not av.holds(f.type, refused)]


def compare_columns(table, read, names):
    return "\n".join(filter(None, (av.differing(n, table.column(n), read.column(n)) for n in names)))


def test_duckdb_reads_what_tarn_writes(written):
    def refused(kind):
        # No decimals beyond 38 digits; half floats become floats of the same value; times of day in
        # nanoseconds lose digits; timestamp[s] was written in ms.
        return pa.types.is_decimal256(kind) or kind == pa.time64("ns")

    bad, columns = [], 0
    for table, path in written:
        names = columns_for(table, refused)
        if names:
            columns += len(names)
            quoted = ", ".join(f'"{n}"' for n in names)
            read = duckdb.sql(f"SELECT {quoted} FROM read_parquet('{path}')").to_arrow_table()
            text = compare_columns(table, read, names)
            bad += [f"{path}: {text}"] if text else []
    assert columns > 200 and not bad, "\n".join(bad)


def test_polars_reads_what_tarn_writes(written):
    def refused(kind):
        # No decimals beyond 38 digits, no wall clock of other units in nested nulls; maps are lists
        # of structs there, which compare equal.
        return pa.types.is_decimal256(kind)

    bad, columns = [], 0
    for table, path in written:
        names = columns_for(table, refused)
        if names:
            columns += len(names)
            read = polars.read_parquet(path, columns=names).to_arrow()
            text = compare_columns(table, read, names)
            bad += [f"{path}: {text}"] if text else []
    assert columns > 200 and not bad, "\n".join(bad)


# --- written by pyarrow, read by tarn ---

PYARROW = [{}, {"data_page_version": "2.0", "compression": "gzip"},
           {"use_dictionary": False, "compression": "none", "row_group_size": 50},
           {"compression": "zstd", "data_page_size": 200, "write_page_index": True},
           {"compression": "lz4", "store_schema": False, "write_page_checksum": True},
           {"use_compliant_nested_type": False, "store_decimal_as_integer": True},
           {"compression": "brotli", "coerce_timestamps": None, "dictionary_pagesize_limit": 64}]


def test_tarn_reads_what_pyarrow_writes(tmp_path):
    files, tables = [], []
    # pyarrow's writer cannot slice string views.
    for seed in SEEDS:
        table = av.random_table(5000 + seed, leaves=[k for k in av.LEAVES if k != pa.string_view()])
        path = tmp_path / f"{seed}.parquet"
        pq.write_table(table, path, **PYARROW[seed % len(PYARROW)])
        files.append((path, {"batch_rows": 90}))
        tables.append(pq.read_table(path))
    bad = [f"{path}: {text}" for (path, _), want, read in zip(files, tables, read_all(tmp_path, files))
           if (text := read if isinstance(read, str) else av.tables_differ(want, read))]
    assert not bad, "\n".join(bad)


def test_ranges_and_columns_of_a_file_with_indexes(tmp_path):
    table = av.random_table(77, columns=6, rows=3000)
    path = tmp_path / "f.parquet"
    pq.write_table(table, path, row_group_size=1000, data_page_size=300, write_page_index=True)
    ranges = [(0, 3, 10), (0, 500, 1), (0, 999, 1), (2, 0, 400), (2, 401, 599)]
    got = read_all(tmp_path, [(path, {"columns": [4, 1], "ranges": ranges}),
                              (path, {"columns": [0], "groups": [1]}),
                              (path, {"columns": []})])
    want = pa.concat_tables([table.select([4, 1]).slice(g * 1000 + first, rows)
                             for g, first, rows in ranges])
    assert av.tables_differ(got[0], want) == ""
    assert av.tables_differ(got[1], table.select([0]).slice(1000, 1000)) == ""
    assert got[2].num_columns == 0 and got[2].num_rows == 3000


def test_int96_as_old_writers_store_it(tmp_path):
    times = [0, -1, -1000, 1, 1711850400123456789, -2208988800000000001, None]
    table = pa.table({"t": pa.array(times, pa.timestamp("ns"))})
    path = tmp_path / "f.parquet"
    pq.write_table(table, path, use_deprecated_int96_timestamps=True)
    got = read_all(tmp_path, [(path, {})])[0]
    assert got.column(0).type == pa.timestamp("ns") and av.plain(got.column(0)) == times


def test_field_ids_and_extension_names_survive(tmp_path):
    schema = pa.schema([pa.field("a", pa.int32(), metadata={"PARQUET:field_id": "7", "note": "x"}),
                        pa.field("u", pa.uuid()), pa.field("j", pa.json_())])
    table = pa.table([pa.array([1], pa.int32()),
                      pa.array([b"0123456789abcdef"], pa.uuid()), pa.array(['{"k":1}'], pa.json_())],
                     schema=schema)
    save(table, tmp_path / "in.arrow")
    answers = bridge.run_jobs([{"op": "write", "from": str(tmp_path / "in.arrow"),
                                "to": str(tmp_path / "f.parquet")}])
    assert answers == [{"ok": True}]
    parquet = pq.ParquetFile(tmp_path / "f.parquet").schema
    assert "UUID" in str(parquet.column(1).logical_type)
    assert "JSON" in str(parquet.column(2).logical_type)
    got = read_all(tmp_path, [(tmp_path / "f.parquet", {})])[0]
    assert got.schema.field("a").metadata == {b"PARQUET:field_id": b"7", b"note": b"x"}
    assert got.schema.field("u").type == pa.uuid() and got.schema.field("j").type == pa.json_()
    assert av.tables_differ(got, table) == ""


def test_what_cannot_be_written_is_refused_by_name(tmp_path):
    tables = {
        "run-end": pa.table({"r": pa.RunEndEncodedArray.from_arrays([2], [1])}),
        "days": pa.table({"d": pa.array([1], pa.date64())}),
        "null": pa.table([pa.array([[1], [2, None]], pa.list_(pa.field("element", pa.int32())))],
                         schema=pa.schema([pa.field("l", pa.list_(pa.field("element", pa.int32(),
                                                                           nullable=False)))])),
    }
    tables["days"] = pa.table({"d": pa.Array.from_buffers(
        pa.date64(), 2, [None, pa.array([0, 5], pa.int64()).buffers()[1]])})
    for name, table in tables.items():
        save(table, tmp_path / f"{name}.arrow")
    answers = bridge.run_jobs([{"op": "write", "from": str(tmp_path / f"{name}.arrow"),
                                "to": str(tmp_path / f"{name}.parquet")} for name in tables])
    assert [a["ok"] for a in answers] == [False] * 3
    assert 'field "r"' in answers[0]["text"] and "run-end" in answers[0]["text"]
    assert 'column "d"' in answers[1]["text"] and "row 1" in answers[1]["text"]
    assert 'column "l.list.element"' in answers[2]["text"] and "row 1" in answers[2]["text"]


# --- Spark ---

SPARK_LEAVES = [pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64(),
                pa.utf8(), pa.binary(), pa.date32(), pa.timestamp("us", "UTC"), pa.timestamp("us"),
                pa.decimal128(5, 2), pa.decimal128(38, 10)]


@pytest.fixture(scope="module")
def modern_spark(spark):
    """Spark that takes dates before 1582 as they are stored, and stores them so."""
    for kind in ("datetime", "int96"):
        for way in ("Read", "Write"):
            spark.conf.set(f"spark.sql.parquet.{kind}RebaseModeIn{way}", "CORRECTED")
    return spark


def spark_rows(frame):
    return pa.Table.from_batches(frame._collect_as_arrow())


def test_spark_reads_what_tarn_writes(modern_spark, tmp_path):
    tables = [av.random_table(9000 + i, columns=12, rows=500, leaves=SPARK_LEAVES) for i in range(3)]
    for table, path in written_by_tarn(tmp_path, tables):
        read = spark_rows(modern_spark.read.parquet(path).coalesce(1))
        assert av.tables_differ(table, read) == ""


@pytest.mark.parametrize("legacy", ["false", "true"])
def test_tarn_reads_what_spark_writes(modern_spark, tmp_path, legacy):
    """Legacy: two-level lists, decimals as FIXED; timestamps as INT96 in both."""
    leaves = [kind for kind in SPARK_LEAVES if kind != pa.timestamp("us")]
    table = av.random_table(9100, columns=12, rows=500, leaves=leaves)
    pq.write_table(table, tmp_path / "in.parquet")
    modern_spark.conf.set("spark.sql.parquet.writeLegacyFormat", legacy)
    try:
        frame = modern_spark.read.parquet(str(tmp_path / "in.parquet")).coalesce(1)
        frame.write.option("compression", "snappy").parquet(str(tmp_path / "out"))
    finally:
        modern_spark.conf.unset("spark.sql.parquet.writeLegacyFormat")
    path = next((tmp_path / "out").glob("*.parquet"))
    got = read_all(tmp_path, [(path, {})])[0]
    assert not isinstance(got, str), got
    assert av.tables_differ(table, got) == ""

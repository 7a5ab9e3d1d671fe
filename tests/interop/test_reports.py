"""Faults that users of other tools met, each as a test: what others wrote is read, merged and diagnosed
as the format or the case says, also where a peer errs. Times, types and schemas first, then damage,
partitions and directories; merging as such is in test_merge.py."""
import base64
import datetime
import decimal
import gzip
import glob
import json
import os
import pathlib
import random
import struct
import subprocess

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hand_parquet as hand

D = decimal.Decimal
DAY = 86_400_000_000
SPARK = "org.apache.spark."


@pytest.fixture
def run(tarn_bin):
    """run(words…) gives (exit status, stdout, stderr) whatever they are."""

    def call(*words, **options):
        done = subprocess.run([tarn_bin, *map(os.fsencode, words)], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              timeout=600, check=False, **options)
        assert "Sanitizer" not in done.stderr, done.stderr
        return done.returncode, done.stdout, done.stderr

    return call


def rows(text):
    return [json.loads(line, parse_float=str, parse_int=str) for line in text.splitlines()]


def read(tarn, path, *options):
    return rows(tarn("read", path, *options))


def merge(tarn, root, *options, want=0):
    return json.loads(tarn("merge", "--json", "--verify", "content", *options, str(root), want=want))


def findings(run, root, *options):
    """What doctor found: {kind: text of the finding}, its exit status checked against that."""
    status, out, errors = run("doctor", "--json", *options, str(root))
    found = json.loads(out)["findings"]
    assert status == (3 if found else 0), errors
    return found


def write(path, table, **options):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    pq.write_table(table, path, **options)
    return path


def parquets(root):
    return sorted(glob.glob(f"{glob.escape(str(root))}/*.parquet"))


def raw_dates(values, metadata=None):
    table = pa.table({"d": pa.array(values, pa.int32()).cast(pa.date32())})
    return table.replace_schema_metadata({k: v for k, v in (metadata or {}).items()})


# ---- the old calendar

def test_old_calendar_reads_as_todays(tarn, tmp_path):
    """One day by two writers: 2.4.4 counted Julian days, 3.5.0 told to do so as well, 3.5.0 usually does not."""
    write(tmp_path / "a.parquet", raw_dates([-353914, 0, None], {SPARK + "version": "2.4.4"}))
    write(tmp_path / "b.parquet", raw_dates([-353920, 0, None], {SPARK + "version": "3.5.0"}))
    write(tmp_path / "c.parquet", raw_dates([-353914, 0, None], {SPARK + "version": "3.5.0", SPARK + "legacyDateTime": ""}))
    want = [{"d": "1001-01-01"}, {"d": "1970-01-01"}, {"d": None}]
    assert read(tarn, tmp_path) == want * 3
    # Bounds in the footers are of stored values, so the condition must not be pruned by them.
    assert read(tarn, tmp_path, "--where", "d = '1001-01-01'") == want[:1] * 3
    assert read(tarn, tmp_path, "--where", "d < '1001-01-01'") == []
    assert read(tarn, tmp_path, "--where", "d > '1001-01-02'") == want[1:2] * 3
    for name in "abc":
        shown = json.loads(tarn("show", "--json", tmp_path / f"{name}.parquet"))["columns"][0]
        assert (shown["min"], shown["max"]) == ("1001-01-01", "1970-01-01")
    # Copies in today's calendar do not carry the marks of the old one.
    tarn("read", tmp_path, "-o", tmp_path / "all.out", "--format", "parquet")
    copy = pq.ParquetFile(tmp_path / "all.out")
    assert copy.read().column(0).to_pylist() == [datetime.date(1001, 1, 1), datetime.date(1970, 1, 1), None] * 3
    assert not any(key.startswith(b"org.apache.spark") for key in copy.metadata.metadata or {})


def test_old_calendar_survives_merging_with_its_marks(tarn, tmp_path):
    for i in range(2):
        write(tmp_path / f"a{i}.parquet", raw_dates([-353914], {SPARK + "version": "2.4.4"}))
        write(tmp_path / f"b{i}.parquet", raw_dates([-353920], {SPARK + "version": "3.5.0"}))
    merge(tarn, tmp_path)
    assert len(parquets(tmp_path)) == 2
    assert read(tarn, tmp_path) == [{"d": "1001-01-01"}] * 4


def test_old_times_are_named_where_their_zone_is_not_known(run, tmp_path):
    def table(zone, old):
        values = [-353914 * DAY + 5, 0] if old else [0, 1]
        keys = {SPARK + "version": "2.4.4", **({SPARK + "timeZone": zone} if zone else {})}
        return pa.table({"t": pa.array(values, pa.timestamp("us", "UTC")), "n": [1, 2]}).replace_schema_metadata(keys)

    for name, zone, old, warned in (("utc", "UTC", True, False), ("none", None, True, True),
                                    ("berlin", "Europe/Berlin", True, True), ("young", None, False, False)):
        path = write(tmp_path / f"{name}.parquet", table(zone, old), row_group_size=1)
        for form in (["read", path], ["read", path, "--limit", "1"]):
            status, out, errors = run(*form)
            assert status == 0
            if old:
                assert rows(out)[0]["t"] == "1001-01-01T00:00:00.000005Z"
            assert errors.count("warning") == int(warned), errors
            if warned:
                assert f"{name}.parquet" in errors and '"t"' in errors
        # Who does not ask for the column is not told about it.
        assert run("read", path, "-c", "n")[2] == ""


def test_old_dates_of_an_unknown_writer_are_named(run, tmp_path):
    path = tmp_path / "x.parquet"
    write(path, raw_dates([-353920, 0]))
    known = path.read_bytes()
    assert run("read", path)[2] == ""
    writer = b"parquet-cpp-arrow version " + pa.__version__.encode()
    assert writer in known
    path.write_bytes(known.replace(writer, b"parquet-mr version 1.10.1".ljust(len(writer))))
    status, out, errors = run("read", path)
    assert status == 0 and rows(out)[0] == {"d": "1001-01-01"}
    assert "x.parquet" in errors and '"d"' in errors and errors.count("warning") == 1


def test_old_calendar_as_spark_writes_and_reads_it(tarn, run, tmp_path, spark):
    """Spark's own LEGACY mode is the judge: dates, times and INT96 over fifteen centuries, also in lists."""
    rng = random.Random(5)
    dates = [datetime.date(1, 1, 1), datetime.date(1582, 10, 4), datetime.date(1582, 10, 15), datetime.date(1500, 3, 1)]
    dates += [datetime.date(1, 1, 3) + datetime.timedelta(days=rng.randrange(577_000)) for _ in range(60)]
    stamps = [datetime.datetime.combine(d, datetime.time(23, 59, 59, 999999), datetime.timezone.utc) for d in dates]
    source = pa.table({"n": list(range(len(dates))), "d": dates, "t": pa.array(stamps, pa.timestamp("us", "UTC")),
                       "l": [[d, None] for d in dates]})
    pq.write_table(source, tmp_path / "in.parquet")
    confs = {"spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED", "spark.sql.parquet.datetimeRebaseModeInWrite": "LEGACY",
             "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED", "spark.sql.parquet.int96RebaseModeInWrite": "LEGACY"}
    before = {key: spark.conf.get(key, None) for key in [*confs, "spark.sql.parquet.outputTimestampType"]}
    try:
        for key, value in confs.items():
            spark.conf.set(key, value)
        frame = spark.read.parquet(str(tmp_path / "in.parquet"))
        for kind in ("TIMESTAMP_MICROS", "INT96"):
            spark.conf.set("spark.sql.parquet.outputTimestampType", kind)
            frame.coalesce(1).write.parquet(str(tmp_path / kind))
    finally:
        for key, value in before.items():
            spark.conf.unset(key) if value is None else spark.conf.set(key, value)
    stored = pq.ParquetFile(parquets(tmp_path / "TIMESTAMP_MICROS")[0])
    assert b"org.apache.spark.legacyDateTime" in stored.metadata.metadata
    assert stored.read().column("d").cast(pa.int32()) != source["d"].cast(pa.int32()), "Spark no longer stores the old calendar"
    want = [{"n": str(i), "d": str(d), "t": t.strftime("%Y-%m-%dT%H:%M:%S.%f").rjust(26, "0") + "Z", "l": [str(d), None]}
            for i, (d, t) in enumerate(zip(dates, stamps))]
    assert read(tarn, tmp_path / "TIMESTAMP_MICROS") == want
    int96 = [{**row, "t": row["t"].rstrip("Z")} for row in want]
    assert read(tarn, tmp_path / "INT96", "--int96-us") == int96
    assert run("read", tmp_path / "INT96", "--int96-us")[2] == ""


# ---- types

def test_int96_is_in_the_zone_of_the_same_column_elsewhere(tarn, tmp_path):
    for zone, mark in (("UTC", "Z"), (None, "")):
        folder = tmp_path / str(zone)
        folder.mkdir()
        stamps = pa.table({"t": pa.array([0, 1_700_000_000_000_001], pa.timestamp("us", zone))})
        write(folder / "a.parquet", stamps)
        write(folder / "b.parquet", stamps, use_deprecated_int96_timestamps=True)
        assert rows(tarn("read", folder)) == [{"t": f"1970-01-01T00:00:00.000000000{mark}"},
                                              {"t": f"2023-11-14T22:13:20.000001000{mark}"}] * 2


def test_local_times_have_no_zone(tarn, tmp_path):
    """02:30 of that night does not exist in Berlin."""
    value = datetime.datetime(2024, 3, 31, 2, 30)
    table = pa.table({"ms": pa.array([value], pa.timestamp("ms")), "us": pa.array([value], pa.timestamp("us"))})
    for i in range(2):
        write(tmp_path / f"{i}.parquet", table)
    merge(tarn, tmp_path)
    kinds = [pq.ParquetFile(parquets(tmp_path)[0]).schema.column(i).logical_type.to_json() for i in range(2)]
    assert all('"isAdjustedToUTC":false' in kind.replace(" ", "") for kind in kinds)
    assert '"milliseconds"' in kinds[0] and '"microseconds"' in kinds[1]
    for zone in ("UTC", "Europe/Berlin", "America/Los_Angeles"):
        assert rows(tarn("read", tmp_path, env={**os.environ, "TZ": zone})) == [
            {"ms": "2024-03-31T02:30:00.000", "us": "2024-03-31T02:30:00.000000"}] * 2


def int96(nanos, day):
    return struct.pack("<qi", nanos, day)


def test_int96_before_1970_in_both_forms(tarn, tmp_path):
    columns = [hand.simple("t", hand.INT96, [int96(86_399_999_999_000, 2440587), int96(-1000, 2440588), int96(0, 2440588)])]
    data = hand.build([hand.element("m", children=1), hand.element("t", hand.REQUIRED, hand.INT96)], columns, 3)
    for i in range(2):
        (tmp_path / f"{i}.parquet").write_bytes(data)
    want = [{"t": "1969-12-31T23:59:59.999999000"}] * 2 + [{"t": "1970-01-01T00:00:00.000000000"}]
    assert read(tarn, tmp_path) == want * 2
    assert pq.read_table(tmp_path / "0.parquet")["t"].cast(pa.int64()).to_pylist() == [-1000, -1000, 0]
    merge(tarn, tmp_path)
    assert len(parquets(tmp_path)) == 1 and read(tarn, tmp_path) == want * 2


def test_days_and_times_before_1970_round_down(tarn, tmp_path):
    table = pa.table({"d": pa.array([-1, -719162], pa.int32()).cast(pa.date32()),
                      "t": pa.array([-1, -DAY - 1], pa.timestamp("us", "UTC"))})
    write(tmp_path / "a.parquet", table)
    assert read(tarn, tmp_path) == [{"d": "1969-12-31", "t": "1969-12-31T23:59:59.999999Z"},
                                    {"d": "0001-01-01", "t": "1969-12-30T23:59:59.999999Z"}]
    assert read(tarn, tmp_path, "-w", "t < '1969-12-31'", "-c", "d") == [{"d": "0001-01-01"}]


def test_unsigned_order_and_values(tarn, tmp_path):
    table = pa.table({"a": pa.array([200, 1], pa.uint8()), "b": pa.array([40000, 1], pa.uint16()),
                      "c": pa.array([3000000000, 1], pa.uint32()), "d": pa.array([2**64 - 1, 1], pa.uint64())})
    for i in range(2):
        write(tmp_path / f"{i}.parquet", table, row_group_size=1)
    want = [{"a": "200", "b": "40000", "c": "3000000000", "d": str(2**64 - 1)}]
    for condition in ("a > 127", "b > 32767", "c > 2000000000", f"d > {2**63}"):
        assert read(tarn, tmp_path, "-w", condition) == want * 2, condition
    merge(tarn, tmp_path)
    assert read(tarn, tmp_path, "-w", "c > 2000000000") == want * 2


@pytest.mark.parametrize("width", [9, 10, 16])
def test_decimals_of_any_width_extend_their_sign(tarn, tmp_path, width):
    values = [D("-1.00"), D("0.00"), D("123456789012345678.90"), D("-123456789012345678.90")]
    raw = [int(v.scaleb(2)).to_bytes(width, "big", signed=True) for v in values]
    element = hand.element("d", hand.REQUIRED, hand.FIXED, length=width, converted=5) + [(7, hand.I32, 2), (8, hand.I32, 20)]
    data = hand.build([hand.element("m", children=1), element], [hand.simple("d", hand.FIXED, raw)], 4)
    (tmp_path / "hand.parquet").write_bytes(data)
    write(tmp_path / "new.parquet", pa.table({"d": pa.array(values, pa.decimal128(20, 2))}))
    assert pq.read_table(tmp_path / "hand.parquet")["d"].to_pylist() == values
    want = [{"d": f"{v:f}"} for v in values]
    assert read(tarn, tmp_path) == want * 2
    assert read(tarn, tmp_path, "-w", "d < -1") == want[3:] * 2
    merge(tarn, tmp_path)
    assert len(parquets(tmp_path)) == 1
    merged = pq.ParquetFile(parquets(tmp_path)[0])
    assert merged.read()["d"].to_pylist() == values * 2 and merged.schema.column(0).length in (9, width)


def test_four_states_of_a_list(tarn, tmp_path):
    table = pa.table({"l": pa.array([["a", None], [], None, [None]], pa.list_(pa.string()))})
    write(tmp_path / "a.parquet", table)
    assert [row["l"] for row in read(tarn, tmp_path)] == table["l"].to_pylist()
    tarn("read", tmp_path, "-o", tmp_path / "b.parquet")
    written = pq.ParquetFile(tmp_path / "b.parquet")
    assert written.schema.column(0).path == "l.list.element"
    assert written.read().to_pylist() == table.to_pylist()


LISTS = {
    # Two levels of a list of the elements {a: 1} and {a: 2}, by who wrote it.
    "hive": ([hand.element("l", hand.OPTIONAL, children=1, converted=3), hand.element("bag", hand.REPEATED, children=1),
              hand.element("array_element", hand.OPTIONAL, children=1), hand.element("a", hand.OPTIONAL, hand.INT32)],
             "l.bag.array_element.a", 4),
    "arrow": ([hand.element("l", hand.OPTIONAL, children=1, converted=3), hand.element("list", hand.REPEATED, children=1),
               hand.element("item", hand.OPTIONAL, children=1), hand.element("a", hand.OPTIONAL, hand.INT32)], "l.list.item.a", 4),
    "avro": ([hand.element("l", hand.OPTIONAL, children=1, converted=3), hand.element("array", hand.REPEATED, children=2),
              hand.element("a", hand.OPTIONAL, hand.INT32), hand.element("b", hand.OPTIONAL, hand.INT32)], "l.array.a", 3),
    "array of one field": ([hand.element("l", hand.OPTIONAL, children=1, converted=3), hand.element("array", hand.REPEATED, children=1),
                            hand.element("a", hand.OPTIONAL, hand.INT32)], "l.array.a", 3),
    "thrift": ([hand.element("l", hand.OPTIONAL, children=1, converted=3), hand.element("l_tuple", hand.REPEATED, children=1),
                hand.element("a", hand.OPTIONAL, hand.INT32)], "l.l_tuple.a", 3),
}


def list_file(name):
    elements, path, high = LISTS[name]
    columns = [hand.simple(path, hand.INT32, [1, 2], rep=[0, 1], definition=[high, high], max_rep=1, max_def=high)]
    if name == "avro":
        columns.append(hand.simple("l.array.b", hand.INT32, [], rep=[0, 1], definition=[2, 2], max_rep=1, max_def=3))
    return hand.build([hand.element("m", children=1), *elements], columns, 1)


@pytest.mark.parametrize("name", LISTS)
def test_lists_under_every_old_name(tarn, tmp_path, name):
    for i in range(2):
        (tmp_path / f"{i}.parquet").write_bytes(list_file(name))
    more = {"b": None} if name == "avro" else {}
    want = [{"l": [{"a": "1", **more}, {"a": "2", **more}]}]
    assert read(tarn, tmp_path) == want * 2
    assert pq.read_table(tmp_path / "0.parquet").to_pylist() == [{"l": [{"a": 1, **more}, {"a": 2, **more}]}]
    merge(tarn, tmp_path)
    assert len(parquets(tmp_path)) == 1 and read(tarn, tmp_path) == want * 2
    assert pq.read_table(parquets(tmp_path)[0]).to_pylist() == [{"l": [{"a": 1, **more}, {"a": 2, **more}]}] * 2


def test_lists_of_different_writers_read_together(tarn, tmp_path):
    for name in ("hive", "arrow", "thrift"):
        (tmp_path / f"{name}.parquet").write_bytes(list_file(name))
    want = [{"l": [{"a": "1"}, {"a": "2"}]}] * 3
    assert read(tarn, tmp_path) == want
    merge(tarn, tmp_path)
    assert read(tarn, tmp_path) == want


def test_bare_repeated_fields_are_lists(tarn, tmp_path):
    data = hand.build([hand.element("m", children=2), hand.element("id", hand.REQUIRED, hand.INT32),
                       hand.element("n", hand.REPEATED, hand.INT32)],
                      [hand.simple("id", hand.INT32, [7, 8]),
                       hand.simple("n", hand.INT32, [1, 2], rep=[0, 1, 0], definition=[1, 1, 0], max_rep=1, max_def=1)], 2)
    for i in range(2):
        (tmp_path / f"{i}.parquet").write_bytes(data)
    want = [{"id": "7", "n": ["1", "2"]}, {"id": "8", "n": []}]
    assert read(tarn, tmp_path) == want * 2
    merge(tarn, tmp_path)
    assert len(parquets(tmp_path)) == 1 and read(tarn, tmp_path) == want * 2


def test_conditions_on_nan_and_signed_zero(tarn, tmp_path):
    nan = float("nan")
    table = pa.table({"i": list(range(6)), "f": [1.0, nan, nan, nan, -0.0, 0.0]})
    pq.write_table(table.slice(0, 4), tmp_path / "a.parquet", row_group_size=2)
    pq.write_table(table.slice(4), tmp_path / "b.parquet", row_group_size=1)

    def found(condition):
        return [int(row["i"]) for row in read(tarn, tmp_path, "-w", condition, "-c", "i")]

    for _ in range(2):
        # NaN is greater than every number and equal to itself, as in Spark and DuckDB.
        assert found("f > 0") == [0, 1, 2, 3]
        assert found("f > 0 AND f < 'NaN'") == [0]
        assert found("f = 0") == [4, 5]
        assert found("f = 'NaN'") == [1, 2, 3]
        assert found("f IS NOT NULL") == list(range(6))
        want = duckdb.sql(f"select i from read_parquet('{tmp_path}/*.parquet') where f > 0 order by i").fetchall()
        assert want == [(0,), (1,), (2,), (3,)]
        merge(tarn, tmp_path)
    bounds = [pq.ParquetFile(parquets(tmp_path)[0]).metadata.row_group(0).column(1).statistics]
    for b in bounds:
        assert b is None or not b.has_min_max or (struct.pack("<d", b.min) == struct.pack("<d", -0.0) and b.max == 1.0)


def test_empty_text_null_and_lookalikes_stay_apart(tarn, tmp_path):
    table = pa.table({"s": ["", None, "null", "\\N"], "b": pa.array([b"", None, b"x", b"\0"], pa.binary())})
    for i in range(2):
        write(tmp_path / f"{i}.parquet", table)
    want = [{"s": row["s"], "b": None if row["b"] is None else base64.b64encode(row["b"]).decode()} for row in table.to_pylist()]
    assert read(tarn, tmp_path) == want * 2
    assert tarn("read", tmp_path / "0.parquet", "--format", "csv").splitlines() == ["s,b", '"",""', ",", "null,eA==", "\\N,AA=="]
    assert read(tarn, tmp_path, "-w", "s = ''") == want[:1] * 2
    assert read(tarn, tmp_path, "-w", "s IS NULL") == want[1:2] * 2


# ---- schemas that change

@pytest.mark.parametrize("dictionary", [True, False])
def test_int_widens_to_double_and_conditions_hold(tarn, run, tmp_path, dictionary):
    write(tmp_path / "p=0/a.parquet", pa.table({"n": pa.array([30, 31], pa.int32())}), use_dictionary=dictionary)
    write(tmp_path / "p=3/a.parquet", pa.table({"n": pa.array([30, 31], pa.int32())}), use_dictionary=dictionary)
    write(tmp_path / "p=9/b.parquet", pa.table({"n": pa.array([29.5], pa.float64())}), use_dictionary=dictionary)
    assert [row["n"] for row in read(tarn, tmp_path)] == ["30.0", "31.0", "30.0", "31.0", "29.5"]
    assert [row["p"] for row in read(tarn, tmp_path, "-w", "n > 30.5")] == ["0", "3"]
    assert [row["p"] for row in read(tarn, tmp_path, "-w", "n < 30")] == ["9"]
    write(tmp_path / "p=0/b.parquet", pa.table({"n": pa.array([1.5], pa.float64())}))
    merge(tarn, tmp_path, "--widen")
    assert [row["n"] for row in read(tarn, tmp_path / "p=0")] == ["30.0", "31.0", "1.5"]


def test_text_where_numbers_were_is_refused_by_name(run, tmp_path):
    write(tmp_path / "a.parquet", pa.table({"n": [1.5]}))
    write(tmp_path / "b.parquet", pa.table({"n": ["x"]}))
    status, out, errors = run("read", tmp_path)
    assert (status, out) == (1, "")
    assert '"n"' in errors and "a.parquet" in errors and "b.parquet" in errors
    assert any(f["kind"] == "type-conflict" for f in findings(run, tmp_path)), findings(run, tmp_path)


def test_columns_match_by_name_not_by_place(tarn, tmp_path):
    write(tmp_path / "1.parquet", pa.table({"id": [1], "price": [1.5]}))
    write(tmp_path / "2.parquet", pa.table({"id": [2], "state": ["x"], "price": [2.5]}))
    by_name = [{"id": "1", "price": "1.5", "state": None}, {"id": "2", "price": "2.5", "state": "x"}]
    assert [dict(sorted(row.items())) for row in read(tarn, tmp_path)] == by_name
    assert read(tarn, tmp_path, "-w", "state = 'x'", "-c", "id") == [{"id": "2"}]


def test_required_column_becomes_nullable(tarn, tmp_path):
    strict = pa.schema([pa.field("a", pa.int32(), nullable=False)])
    write(tmp_path / "1.parquet", pa.table({"a": pa.array([1], pa.int32())}, schema=strict))
    write(tmp_path / "2.parquet", pa.table({"a": pa.array([None], pa.int32())}))
    for _ in range(2):
        assert read(tarn, tmp_path) == [{"a": "1"}, {"a": None}]
        assert read(tarn, tmp_path, "-w", "a IS NULL") == [{"a": None}]
        merge(tarn, tmp_path)


def test_names_that_differ_in_case(tarn, run, tmp_path):
    write(tmp_path / "t/1.parquet", pa.table({"Id7": [1]}))
    write(tmp_path / "t/2.parquet", pa.table({"ID7": [2]}))
    assert read(tarn, tmp_path / "t") == [{"Id7": "1"}, {"Id7": "2"}]
    assert read(tarn, tmp_path / "t", "-w", "id7 = 2") == [{"Id7": "2"}]
    # Where a file has both spellings they are two columns, and no other file's is guessed to be one of them.
    write(tmp_path / "u/1.parquet", pa.table({"id": [1], "ID": [2]}))
    write(tmp_path / "u/2.parquet", pa.table({"ID": [3]}))
    assert read(tarn, tmp_path / "u") == [{"id": "1", "ID": "2"}, {"id": None, "ID": "3"}]
    write(tmp_path / "u/0.parquet", pa.table({"ID": [0]}))
    for _ in range(2):
        assert [(row["id"], row["ID"]) for row in read(tarn, tmp_path / "u")] == [(None, "0"), ("1", "2"), (None, "3")]
        assert read(tarn, tmp_path / "u", "-c", "id") == [{"id": None}, {"id": "1"}, {"id": None}]
        merge(tarn, tmp_path / "u")


def test_fields_of_structs_in_lists_match_by_name(tarn, tmp_path):
    def names(*fields):
        return pa.list_(pa.struct([(f, pa.string()) for f in fields]))

    write(tmp_path / "a.parquet", pa.table({"n": pa.array([[{"use": "u", "family": "f", "given": "g"}]],
                                                          names("use", "family", "given"))}))
    write(tmp_path / "b.parquet", pa.table({"n": pa.array([[{"family": "f2", "use": "u2"}]], names("family", "use"))}))
    want = [{"n": [{"use": "u", "family": "f", "given": "g"}]}, {"n": [{"use": "u2", "family": "f2", "given": None}]}]
    assert read(tarn, tmp_path) == want
    merge(tarn, tmp_path)
    assert read(tarn, tmp_path) == want


# ---- pages and footers by other writers

def test_dictionary_then_plain(tarn, tmp_path):
    """Five values, then so many that the dictionary is given up in the middle of a chunk."""
    values = [f"v{i % 5}" for i in range(20_000)] + [f"unique value number {i:09d}" for i in range(200_000)]
    table = pa.table({"s": values})
    write(tmp_path / "t/a.parquet", table, row_group_size=1_000_000, dictionary_pagesize_limit=100_000)
    chunk = pq.ParquetFile(tmp_path / "t/a.parquet").metadata.row_group(0).column(0)
    assert "PLAIN" in chunk.encodings and "RLE_DICTIONARY" in chunk.encodings
    write(tmp_path / "t/b.parquet", table.slice(0, 10))
    tarn("read", tmp_path / "t/a.parquet", "-o", tmp_path / "copy.parquet")
    assert pq.read_table(tmp_path / "copy.parquet")["s"].equals(table["s"])
    merge(tarn, tmp_path / "t")
    assert pq.read_table(parquets(tmp_path / "t")[0])["s"].to_pylist() == values + values[:10]


def test_encoding_statistics_and_indexes_are_written(tarn, tmp_path):
    for i in range(2):
        write(tmp_path / f"{i}.parquet", pa.table({"s": [f"word {k % 10}" for k in range(1000)]}), write_page_index=False)
    merge(tarn, tmp_path)
    group = hand.footer(parquets(tmp_path)[0])[4][0]
    chunk, meta = group[1][0], group[1][0][3]
    # PageEncodingStats: page type (0 data, 2 dictionary, 3 data v2), encoding (8 RLE_DICTIONARY), count.
    pages = [(p[1], p[2], p[3]) for p in meta[13]]
    assert (2, 0, 1) in pages and len(pages) == 2
    assert all(kind in (0, 3) and encoding == 8 and count >= 1 for kind, encoding, count in pages if kind != 2)
    statistics = meta[12]
    assert statistics[3] == 0 and statistics[5] == b"word 9" and statistics[6] == b"word 0"
    assert all(number in chunk for number in (4, 5, 6, 7)), "offset and column index"
    assert group[2] == meta[6] and group[6] == meta[7] and group[3] == meta[5] == 2000
    assert meta[4] == 1, "the codec of the inputs"


def version_2(definition=0, repetition=0, body=b"", entries=1, claimed=None, compressed=None):
    head = [(1, hand.I32, 3), (2, hand.I32, len(body) if claimed is None else claimed),
            (3, hand.I32, len(body) if compressed is None else compressed),
            (8, hand.STRUCT, [(1, hand.I32, entries), (2, hand.I32, 0), (3, hand.I32, entries), (4, hand.I32, 0),
                              (5, hand.I32, definition), (6, hand.I32, repetition), (7, hand.BOOL, False)])]
    return hand.thrift(head) + body


@pytest.mark.parametrize("page", [
    dict(definition=-1, body=b"\x02\x01\1\0\0\0"), dict(repetition=-1, body=b"\x02\x01\1\0\0\0"),
    dict(definition=200, body=b"\x02\x01\1\0\0\0"), dict(definition=2, repetition=2**30, body=b"\x02\x01\1\0\0\0"),
    dict(definition=2, body=b"\x02\x01\1\0\0\0", compressed=0), dict(definition=2, body=b"\x02\x01\1\0\0\0", claimed=-5),
    dict(definition=2, body=b"\x02\x01\1\0\0\0", entries=-3), dict(definition=2, body=b"\x02\x01\1\0\0\0", claimed=2**31 - 1),
], ids=str)
def test_lengths_of_version_2_that_lie(run, tmp_path, page):
    elements = [hand.element("m", children=1), hand.element("column7", hand.OPTIONAL, hand.INT32)]
    good = version_2(definition=2, body=b"\x02\x01\1\0\0\0")
    for name, made in (("good", good), ("bad", version_2(**page))):
        data = hand.build(elements, [hand.column("column7", hand.INT32, made, 1)], 1)
        (tmp_path / f"{name}.parquet").write_bytes(data)
    assert run("read", tmp_path / "good.parquet")[:2] == (0, '{"column7":1}\n')
    assert pq.read_table(tmp_path / "good.parquet").to_pylist() == [{"column7": 1}]
    status, out, errors = run("read", tmp_path / "bad.parquet")
    assert (status, out) == (1, ""), errors
    assert "bad.parquet" in errors and "column7" in errors and "page" in errors, errors
    assert run("merge", tmp_path)[0] == 1
    assert sorted(os.listdir(tmp_path)) == ["bad.parquet", "good.parquet"]


def test_signed_byte_order_of_old_bounds(tarn, tmp_path):
    elements = [hand.element("m", children=1), hand.element("s", hand.REQUIRED, hand.BYTE_ARRAY, converted=0)]
    values = ["änderung", "maus", "zahlung"]
    for name, low, high in (("a", "änderung", "zahlung"), ("b", "zahlung", "änderung"), ("c", "zzz", "zzzz")):
        statistics = [(1, hand.BYTES, high), (2, hand.BYTES, low), (3, hand.I64, 0)]
        (tmp_path / f"{name}.parquet").write_bytes(hand.build(
            elements, [hand.simple("s", hand.BYTE_ARRAY, values, statistics=statistics)], 3, writer="parquet-mr version 1.6.0"))
    assert read(tarn, tmp_path, "-w", "s = 'maus'") == [{"s": "maus"}] * 3
    merge(tarn, tmp_path)
    assert read(tarn, tmp_path, "-w", "s = 'maus'") == [{"s": "maus"}] * 3
    low = pq.ParquetFile(parquets(tmp_path)[0]).metadata.row_group(0).column(0).statistics
    assert (low.min, low.max) == ("maus", "änderung"), "unsigned bytes"


def test_column_index_that_contradicts_itself(tarn, tmp_path):
    path = tmp_path / "a.parquet"
    write(path, pa.table({"n": [50, 51, 60, 61]}), use_dictionary=False, compression="none", write_page_index=True,
          data_page_size=1, write_batch_size=2)
    data = bytearray(path.read_bytes())
    at = hand.footer(path)[4][0][1][0][6]
    index, end = hand.untwist(data, at)
    assert index[1] == [False, False], index
    # A list of two booleans, both false: the first becomes true. Its null count stays 0.
    spot = data.index(b"\x19\x21\x02\x02", at, end) if b"\x19\x21\x02\x02" in data[at:end] else data.index(b"\x19\x22\x02\x02", at, end)
    data[spot + 2] = 1
    path.write_bytes(data)
    assert hand.untwist(data, at)[0][1] == [True, False]
    assert read(tarn, path, "-w", "n = 50") == [{"n": "50"}]


def test_groups_pruned_by_two_columns_do_not_end_the_scan(tarn, tmp_path):
    table = pa.table({"a": [1] * 10 + [0] * 10 + [0] * 20 + [1] * 20, "b": [0] * 10 + [1] * 10 + [0] * 20 + [1] * 20})
    write(tmp_path / "a.parquet", table, row_group_size=20, data_page_size=1, write_batch_size=10, write_page_index=True)
    assert read(tarn, tmp_path / "a.parquet", "-w", "a = 1 AND b = 1") == [{"a": "1", "b": "1"}] * 20


def test_delta_binary_packed_jumps(tarn, tmp_path):
    numbers = [1_000_000_000_000 + i for i in range(120)] + [1468797175083351616, 1468797175804941300, 1468797178324785080]
    lists = [numbers, [-2**63, 2**63 - 1, -2**63], [5], [0, 2**63 - 1, -1, -2**63] * 100]
    for i, values in enumerate(lists):
        write(tmp_path / f"{i}.parquet", pa.table({"n": pa.array(values, pa.int64())}), use_dictionary=False,
              column_encoding={"n": "DELTA_BINARY_PACKED"})
    want = [{"n": str(v)} for values in lists for v in values]
    assert read(tarn, tmp_path) == want
    merge(tarn, tmp_path)
    assert len(parquets(tmp_path)) == 1 and read(tarn, tmp_path) == want


@pytest.mark.parametrize("encoding", ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"])
def test_equal_strings_of_no_bits(tarn, tmp_path, encoding):
    for i in range(2):
        write(tmp_path / f"t/{i}.parquet", pa.table({"s": ["foo"] * 50_000}), use_dictionary=False,
              column_encoding={"s": encoding})
    tarn("read", tmp_path / "t", "-o", tmp_path / "copy.parquet")
    assert pq.read_table(tmp_path / "copy.parquet")["s"].to_pylist() == ["foo"] * 100_000
    merge(tarn, tmp_path / "t")
    assert pq.read_table(parquets(tmp_path / "t")[0])["s"].to_pylist() == ["foo"] * 100_000


@pytest.mark.parametrize("rep, definition", [([1, 0], [3, 3]), ([0, 0], [3, 7])], ids=["begins inside", "too high"])
def test_levels_that_cannot_be(run, tmp_path, rep, definition):
    elements = [hand.element("m", children=1), hand.element("l", hand.OPTIONAL, children=1, converted=3),
                hand.element("list", hand.REPEATED, children=1), hand.element("element", hand.OPTIONAL, hand.INT32)]
    data = hand.build(elements, [hand.simple("l.list.element", hand.INT32, [1, 2], rep=rep, definition=definition,
                                             max_rep=1, max_def=3)], 2)
    (tmp_path / "bad.parquet").write_bytes(data)
    status, out, errors = run("read", tmp_path)
    assert (status, out) == (1, "") and "bad.parquet" in errors and "l.list.element" in errors


def test_damaged_files_of_others_are_refused_with_their_place(run, shared, tmp_path):
    """Two popular readers return rows of some of these."""
    bad = sorted((shared / "parquet/bad_data").glob("*.parquet"))
    assert len(bad) >= 5
    for path in bad:
        status, _, errors = run("read", path, "-o", tmp_path / "out.parquet")
        assert path.name in errors if status else path.name == "ARROW-GH-47662.parquet", (path, errors)
        assert os.path.exists(tmp_path / "out.parquet") == (status == 0)


def test_dictionary_offset_zero_means_none(tarn, shared):
    path = shared / "parquet/data/dict-page-offset-zero.parquet"
    found = read(tarn, path)
    assert len(found) == 39 and {tuple(row.values()) for row in found} == {("1552",)}


def test_chunk_sizes_without_the_dictionary_header(run, tmp_path):
    """Old parquet-mr forgot the header of the dictionary page in the size of the chunk."""
    words = b"".join(struct.pack("<I", 3) + w for w in (b"abc", b"xyz"))
    dictionary = hand.thrift([(1, hand.I32, 2), (2, hand.I32, len(words)), (3, hand.I32, len(words)),
                              (7, hand.STRUCT, [(1, hand.I32, 2), (2, hand.I32, 2)])])
    indices = bytes([1, 2 << 1, 1, 1 << 1, 0])  # width 1; runs: two of "xyz", one of "abc"
    pages = dictionary + words + hand.page(indices, 3, claims={5: (hand.STRUCT, [
        (1, hand.I32, 3), (2, hand.I32, 2), (3, hand.I32, 3), (4, hand.I32, 3)])})
    size = len(pages)
    elements = [hand.element("m", children=1), hand.element("s", hand.REQUIRED, hand.BYTE_ARRAY, converted=0)]
    for writer, short, good in (("parquet-mr version 1.2.8", len(dictionary), True), ("hand version 1", 0, True),
                                ("parquet-mr version 1.2.8", -4_000_000, False)):
        claims = {7: (hand.I64, size - short), 9: (hand.I64, 4 + len(dictionary) + len(words)), 11: (hand.I64, 4)}
        data = hand.build(elements, [hand.column("s", hand.BYTE_ARRAY, pages, 3, claims=claims)], 3, writer=writer)
        (tmp_path / "x.parquet").write_bytes(data)
        status, out, errors = run("read", tmp_path / "x.parquet")
        if good:
            assert (status, [row["s"] for row in rows(out)]) == (0, ["xyz", "xyz", "abc"]), errors
        else:
            assert status == 1 and "x.parquet" in errors


def test_checksums_are_verified_unless_told_not_to(run, tmp_path):
    path = tmp_path / "t/a.parquet"
    write(path, pa.table({"name": ["a value to damage"] * 3, "n": [1, 2, 3]}), write_page_checksum=True, use_dictionary=False,
          compression="none", write_statistics=False, column_encoding={"name": "PLAIN", "n": "PLAIN"})
    assert run("read", path)[0] == 0 and findings(run, tmp_path / "t", "--deep") == []
    path.write_bytes(path.read_bytes().replace(b"value to damage", b"value to d@mage", 1))
    status, out, errors = run("read", path)
    assert (status, out) == (1, "") and "a.parquet" in errors and "name" in errors and "checksum" in errors and "page" in errors
    status, out, _ = run("read", path, "--no-crc")
    assert status == 0 and rows(out)[0] == {"name": "a value to d@mage", "n": "1"}
    found = [f for f in findings(run, tmp_path / "t", "--deep") if "checksum" in json.dumps(f)]
    assert found and "a.parquet" in json.dumps(found) and "name" in json.dumps(found)
    write(tmp_path / "t/b.parquet", pa.table({"name": ["x"], "n": [4]}))
    before = path.read_bytes()
    assert run("merge", tmp_path / "t")[0] == 1
    assert path.read_bytes() == before and (tmp_path / "t/b.parquet").exists()


def test_checksums_of_other_projects(run, shared):
    data = shared / "parquet/data"
    bad = data / "rle-dict-uncompressed-corrupt-checksum.parquet"
    status, _, errors = run("read", bad)
    assert status == 1 and bad.name in errors and "checksum" in errors and "column" in errors
    assert run("read", bad, "--no-crc")[0] == 0
    for name in ("datapage_v1-uncompressed-checksum.parquet", "datapage_v1-snappy-compressed-checksum.parquet"):
        assert run("read", data / name)[0] == 0


def test_deep_doctor_names_the_damaged_file_of_another_project(run, shared, tmp_path):
    name = "rle-dict-uncompressed-corrupt-checksum.parquet"
    (tmp_path / name).write_bytes((shared / "parquet/data" / name).read_bytes())
    text = json.dumps(findings(run, tmp_path, "--deep"))
    assert name in text and "checksum" in text
    assert "checksum" not in json.dumps(findings(run, tmp_path))


def test_gzip_of_several_members(tarn, tmp_path):
    values = list(range(1, 514))
    half = 8 * 200

    def squeeze(body):
        return gzip.compress(body[:half]) + gzip.compress(body[half:half + 9]) + gzip.compress(body[half + 9:])

    pages = hand.page(hand.plain(hand.INT64, values), len(values), squeeze=squeeze)
    elements = [hand.element("m", children=1), hand.element("n", hand.REQUIRED, hand.INT64)]
    for i in range(2):
        (tmp_path / f"{i}.parquet").write_bytes(hand.build(elements, [hand.column("n", hand.INT64, pages, 513, codec=2, claims={
            6: (hand.I64, len(pages) + 3000)})], 513))
    assert [int(row["n"]) for row in read(tarn, tmp_path / "0.parquet")] == values
    merge(tarn, tmp_path)
    assert [int(row["n"]) for row in read(tarn, tmp_path)] == values * 2


@pytest.mark.parametrize("name", ["hadoop_lz4_compressed", "non_hadoop_lz4_compressed", "lz4_raw_compressed"])
def test_lz4_in_every_framing(tarn, shared, tmp_path, name):
    path = shared / "parquet/data" / f"{name}.parquet"
    want = duckdb.sql(f"select * from read_parquet('{path}')").to_arrow_table()
    for i in range(2):
        (tmp_path / f"{i}.parquet").write_bytes(path.read_bytes())
    merge(tarn, tmp_path)
    merged = pq.read_table(parquets(tmp_path)[0])
    assert merged.num_rows == 2 * want.num_rows > 0
    assert merged.slice(0, want.num_rows).to_pylist() == want.to_pylist()


# ---- partitions

TEXTS = ["with space", "with-dash", "x=", "x%", "x", "x/", "x/y", "%2F", "AC/DC", "a:b", "q'\"", "köln", "2007-09-26 13:14:35.981",
         "new\nline", "tab\t", "{b}[c]^", "#?*\\", "007"]


def test_partition_text_of_spark_reads_back_byte_for_byte(tarn, tmp_path, spark):
    """Spark escapes its own way; what tarn reads after a merge Spark reads, too."""
    frame = spark.createDataFrame([(i, text, i % 3 or None) for i, text in enumerate([*TEXTS, None])], "id int, p string, q int")
    frame.repartition(2).write.partitionBy("p", "q").parquet(str(tmp_path / "t"))
    want = {i: text for i, text in enumerate([*TEXTS, None])}

    def found(*options):
        return {int(row["id"]): row["p"] for row in read(tarn, tmp_path / "t", "--partition-types", "p=string", *options)}

    assert found() == want
    for i, text in want.items():
        if text is not None and "'" not in text:
            assert found("-w", f"p = '{text}'") == {i: text}
    assert found("-w", "p IS NULL") == {len(TEXTS): None}
    for part in (tmp_path / "t").rglob("part-*.parquet"):
        part.with_name(part.name.replace("part-", "again-")).write_bytes(part.read_bytes())
    merge(tarn, tmp_path / "t")
    assert found() == want and len(list((tmp_path / "t").rglob("*.parquet"))) == len(want)
    got = spark.read.option("basePath", str(tmp_path / "t")).schema("id int, p string, q int").parquet(str(tmp_path / "t")).collect()
    assert sorted((row.id, row.p) for row in got) == sorted([*want.items(), *want.items()], key=lambda item: item[0])


def test_partition_text_of_duckdb_and_polars(tarn, tmp_path):
    texts = [text for text in TEXTS if "\n" not in text and "\t" not in text]
    frame = polars.DataFrame({"id": range(len(texts)), "p": texts})
    duckdb.sql(f"copy (select * from frame) to '{tmp_path}/duck' (format parquet, partition_by (p))")
    frame.write_parquet(polars.PartitionBy(f"{tmp_path}/polars", key="p") if hasattr(polars, "PartitionBy") else
                        polars.PartitionByKey(f"{tmp_path}/polars", by="p"), mkdir=True)
    for writer in ("duck", "polars"):
        for _ in range(2):
            found = read(tarn, tmp_path / writer, "--partition-types", "p=string")
            assert {int(row["id"]): row["p"] for row in found} == dict(enumerate(texts)), writer
            assert len(list((tmp_path / writer).rglob("*.parquet"))) == len(texts)
            for part in list((tmp_path / writer).rglob("*.parquet")):
                part.with_name("again-" + part.name).write_bytes(part.read_bytes())
            merge(tarn, tmp_path / writer)


def tree(root, parts):
    for i, part in enumerate(parts):
        write(root / part / f"f{i}.parquet", pa.table({"id": [i]}))


@pytest.mark.parametrize("parts, want", [
    (["p=50%", "p=50%25", "p=%zz", "p=%4"], ["50%", "50%", "%zz", "%4"]),
    (["t=2024-03-09 10%3A03%3A08.262Z", "t=2024-03-10 00%3A00%3A00Z"], ["2024-03-09 10:03:08.262Z", "2024-03-10 00:00:00Z"]),
    (["t=2024-03-09 10%3A03%3A08.262", "t=2024-03-10 00%3A00%3A00"], ["2024-03-09T10:03:08.262000", "2024-03-10T00:00:00.000000"]),
    (["d=2024-01-01", "d=__HIVE_DEFAULT_PARTITION__"], ["2024-01-01", None]),
    (["f=2.5", "f=1", "f=__HIVE_DEFAULT_PARTITION__"], ["2.5", "1.0", None]),
    (["b=true", "b=false", "b=__HIVE_DEFAULT_PARTITION__"], [True, False, None]),
    (["s=x", "s=__HIVE_DEFAULT_PARTITION__"], ["x", None]),
    (["year=2002", "year=", "."], ["2002", None, None]),
], ids=lambda value: value[0] if isinstance(value, list) else "")
def test_partition_values_stay_through_a_merge(tarn, tmp_path, parts, want):
    tree(tmp_path / "a:b c", parts)
    column = parts[0].split("=")[0]
    for _ in range(2):
        found = {int(row["id"]): row[column] for row in read(tarn, tmp_path / "a:b c")}
        assert [found[i] for i in range(len(want))] == want
        merge(tarn, tmp_path / "a:b c")
        for i, part in enumerate(parts):
            assert len(parquets(tmp_path / "a:b c" / part)) == 1, part
            write(tmp_path / "a:b c" / part / f"again{i}.parquet", pa.table({"id": [i]}))


def test_null_partitions_of_every_writer(tarn, tmp_path):
    """DuckDB and Polars name the null partition as Hive does, or tarn could not tell it from text."""
    frame = polars.DataFrame({"id": [1, 2], "p": [None, 5]})
    duckdb.sql(f"copy (select * from frame) to '{tmp_path}/duck' (format parquet, partition_by (p))")
    pq.write_to_dataset(frame.to_arrow(), tmp_path / "arrow", partition_cols=["p"])
    for writer in ("duck", "arrow"):
        names = sorted(os.listdir(tmp_path / writer))
        assert names == ["p=5", "p=__HIVE_DEFAULT_PARTITION__"], (writer, names)
        assert sorted(read(tarn, tmp_path / writer), key=str) == sorted([{"id": "1", "p": None}, {"id": "2", "p": "5"}], key=str)
        assert read(tarn, tmp_path / writer, "-w", "p IS NULL") == [{"id": "1", "p": None}]


# ---- merging

def test_a_little_over_the_target_leaves_no_crumb(tarn, tmp_path):
    rng = random.Random(3)
    for i in range(11):
        write(tmp_path / f"{i:02}.parquet", pa.table({"b": [rng.randbytes(1000) for _ in range(100)]}), compression="none",
              use_dictionary=False)
    merge(tarn, tmp_path, "--target", "1MB")
    sizes = [os.path.getsize(path) for path in parquets(tmp_path)]
    assert len(sizes) <= 2 and min(sizes) > 0.8 * max(sizes)


def test_merging_stops_when_the_count_would_not_drop(tarn, run, tmp_path):
    rng = random.Random(4)
    for i in range(10):
        write(tmp_path / f"{i}.parquet", pa.table({"b": [rng.randbytes(9000) for _ in range(100)]}), compression="none",
              use_dictionary=False)
    before = None
    for _ in range(5):
        merge(tarn, tmp_path, "--target", "1MB", "--small", "1")
        now = {path: os.stat(path).st_mtime_ns for path in parquets(tmp_path)}
        assert before is None or now == before
        before = now
    assert 8 <= len(before) <= 10
    assert not [f for f in findings(run, tmp_path, "--target", "1MB") if f["kind"] == "small-files"]


def test_leftover_staging_directory_of_hive_is_named(tarn, run, tmp_path):
    for i in range(2):
        write(tmp_path / f"t/p=1/{i}.parquet", pa.table({"i": [i]}))
    (tmp_path / "t/p=1/-tmp.HIVE_UNION_SUBDIR_1.moved").mkdir()
    assert [row["i"] for row in read(tarn, tmp_path / "t")] == ["0", "1"]
    assert "-tmp.HIVE_UNION_SUBDIR_1.moved" in json.dumps(findings(run, tmp_path / "t"))
    merge(tarn, tmp_path / "t")
    assert len(parquets(tmp_path / "t/p=1")) == 1 and os.listdir(tmp_path) == ["t"]
    assert [row["i"] for row in read(tarn, tmp_path / "t")] == ["0", "1"]


def test_wide_tables_are_cut_by_bytes(tarn, tmp_path):
    """Many columns: row groups end by bytes long before a million rows, and memory does not follow the width."""
    rng = random.Random(6)
    columns, count = 400, 1500
    for i in range(4):
        write(tmp_path / f"{i}.parquet", pa.table({f"c{k}": pa.array(struct.unpack(f"<{count}q", rng.randbytes(8 * count)))
                                                   for k in range(columns)}), compression="none", use_dictionary=False)
    want = [pq.read_table(path, columns=["c0", "c399"]) for path in parquets(tmp_path)]
    merge(tarn, tmp_path, "--memory", "64M")
    merged = [pq.ParquetFile(path) for path in parquets(tmp_path)]
    assert len(merged) == 1
    # What every column holds before it is compressed is bounded together: pages get smaller.
    for chunk in hand.footer(parquets(tmp_path)[0])[4][0][1]:
        pages = sum(stat[3] for stat in chunk[3][13] if stat[1] != 2)
        assert chunk[3][6] / pages < 1.5 * (64 << 20) / 8 / columns
    for file in merged:
        for g in range(file.num_row_groups):
            assert file.metadata.row_group(g).total_byte_size <= 36 << 20
    assert pa.concat_tables([f.read(["c0", "c399"]) for f in merged]).combine_chunks() == pa.concat_tables(want).combine_chunks()


# ---- empty things, hidden names, odd directories

def test_empty_and_broken_files_are_named_and_kept(tarn, run, tmp_path):
    write(tmp_path / "good.parquet", pa.table({"a": [1, 2, 3]}))
    (tmp_path / "empty.parquet").write_bytes(b"")
    (tmp_path / "four.parquet").write_bytes(b"PAR1")
    status, out, errors = run("read", tmp_path)
    assert status == 1 and "empty.parquet" in errors and "--skip-damaged" in errors
    status, out, errors = run("read", tmp_path, "--skip-damaged")
    assert status == 0 and len(rows(out)) == 3 and "empty.parquet" in errors and "four.parquet" in errors
    text = json.dumps(findings(run, tmp_path))
    assert "empty.parquet" in text and "four.parquet" in text
    write(tmp_path / "more.parquet", pa.table({"a": [4]}))
    merge(tarn, tmp_path)
    left = os.listdir(tmp_path)
    assert len(left) == 3 and "empty.parquet" in left and "four.parquet" in left


def test_a_directory_without_files_says_so(run, tmp_path):
    (tmp_path / "_SUCCESS").write_bytes(b"")
    status, out, errors = run("read", tmp_path)
    assert (status, out) == (1, "") and "no Parquet file" in errors and len(errors.splitlines()) == 1
    for verb in ("show", "doctor"):
        status, out, errors = run(verb, tmp_path)
        assert status in (0, 1, 3) and "Traceback" not in errors and out + errors
    assert run("merge", tmp_path)[0] == 0
    assert run("read", tmp_path / "nowhere")[0] == 1


def test_hidden_files_are_neither_read_nor_counted(tarn, run, tmp_path):
    part = tmp_path / "t/key=a"
    names = ["part.parquet", "_other.parquet", "_temporary/0/x.parquet", "x.parquet._COPYING_", ".hive-staging_1/x.parquet"]
    for i, name in enumerate(names):
        write(part / name, pa.table({"i": [i]}))
    for name in (".part.crc", "_SUCCESS", "_metadata"):
        (part / name).write_bytes(b"x")
    assert read(tarn, tmp_path / "t") == [{"i": "0", "key": "a"}]
    shown = json.loads(tarn("show", "--json", tmp_path / "t"))
    assert shown["files"] == 1, shown
    told = json.loads(run("doctor", "--json", tmp_path / "t")[1])
    text = json.dumps(told)
    for name in ("_temporary", ".hive-staging_1", "._COPYING_"):
        assert name in text, name
    assert merge(tarn, tmp_path / "t")["done"] == 0


def test_partition_column_that_starts_with_an_underscore(tarn, run, tmp_path):
    for part in ("_year=2020", "_year=2021", "_tmp"):
        write(tmp_path / part / "f.parquet", pa.table({"i": [1]}))
    assert read(tarn, tmp_path) == [{"i": "1", "_year": "2020"}, {"i": "1", "_year": "2021"}]
    assert json.loads(tarn("show", "--json", tmp_path))["files"] == 2


@pytest.mark.parametrize("form", ["./t", "t/", "../x/t", "link", "file://{}/t"])
def test_every_form_of_a_path_in_every_command(run, tmp_path, form):
    base = tmp_path / "x"
    for i in range(3):
        write(base / f"t/{i}.parquet", pa.table({"i": [i]}))
    os.symlink("t", base / "link")
    form = form.format(base)
    assert len(rows(run("read", form, cwd=base)[1])) == 3
    assert json.loads(run("show", "--json", form, cwd=base)[1])["files"] == 3
    assert run("doctor", form, cwd=base)[0] == 3
    status, _, errors = run("merge", "--keep-old", "1h", form, cwd=base)
    assert status == 0 and len(parquets(base / "t")) == 1, errors
    status, _, errors = run("merge", "--undo", form, cwd=base)
    assert status == 0 and len(parquets(base / "t")) == 3, errors
    assert sorted(os.listdir(base)) == ["link", "t"], form


def test_one_binary_answers_without_java_or_environment(tarn_bin, tmp_path):
    for i in range(3):
        write(tmp_path / f"{i}.parquet", pa.table({"i": [i]}))
    def bare(*words):
        return subprocess.run([tarn_bin, *map(str, words)], env={}, capture_output=True, text=True, check=False)

    doctor = bare("doctor", "--json", tmp_path)
    assert doctor.returncode == 3 and json.loads(doctor.stdout)["findings"]
    assert bare("read", tmp_path).returncode == 0
    assert bare("merge", "--json", tmp_path).returncode == 0
    assert bare("doctor", tmp_path).returncode == 0
    assert bare("doctor", tmp_path / "nowhere").returncode == 1
    assert bare("no-such-verb").returncode == 2

"""Faults that users of other tools met, each as a test: what others wrote is read, merged and diagnosed
as the format or the case says, also where a peer errs. Times, types and schemas first, then damage,
partitions and directories; merging as such is in test_merge.py."""
import base64
import datetime
import decimal
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

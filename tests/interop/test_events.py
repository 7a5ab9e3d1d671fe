"""The directory of the demonstration, as each peer reads it: the same figures everywhere."""
import decimal
import pathlib
import subprocess

import pytest

ROWS = 5000


@pytest.fixture(scope="module")
def events(tarn_bin, tmp_path_factory):
    path = tmp_path_factory.mktemp("events") / "events"
    subprocess.run([pathlib.Path(tarn_bin).parent / "make_events", path, str(ROWS), "2"], check=True)
    return path


def figures_of(rows):
    """(rows, sum of ids, sum of amounts, purchases, null countries, longest url) of dicts."""
    rows = list(rows)
    return (len(rows), sum(r["event_id"] for r in rows),
            sum((r["amount"] for r in rows if r["amount"] is not None), decimal.Decimal(0)),
            sum(r["event_type"] == "purchase" for r in rows), sum(r["country"] is None for r in rows),
            max(len(r["url"]) for r in rows))


@pytest.fixture(scope="module")
def expected(events):
    """By pyarrow, file after file; what the maker promises is checked here."""
    import pyarrow.parquet

    rows = [row for path in sorted(events.rglob("*.parquet"))
            for row in pyarrow.parquet.ParquetFile(path).read().to_pylist()]
    assert sorted(r["event_id"] for r in rows) == list(range(ROWS))
    assert all(r["ts"].tzinfo is not None for r in rows)
    return figures_of(rows)


def test_duckdb_reads_the_same(events, expected):
    import duckdb

    found = duckdb.sql(f"select * from read_parquet('{events}/*/*.parquet', union_by_name=true)")
    names = found.columns
    assert figures_of(dict(zip(names, row)) for row in found.fetchall()) == expected


def test_polars_reads_the_same(events, expected):
    import polars

    rows = [row for path in sorted(events.rglob("*.parquet")) for row in polars.read_parquet(path).to_dicts()]
    assert figures_of(rows) == expected


def test_spark_reads_the_same(events, expected, spark):
    found = spark.read.option("mergeSchema", "true").parquet(str(events))
    assert found.schema["ts"].dataType.typeName() == "timestamp"
    assert found.schema["amount"].dataType.simpleString() == "decimal(10,2)"
    assert figures_of(row.asDict() for row in found.collect()) == expected
    assert {row[0] for row in found.select("dt").distinct().collect()} == set(
        row[0] for row in spark.sql("select date'2024-05-01' union select date'2024-05-02'").collect())

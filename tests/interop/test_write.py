"""What tarn writes into partitioned directories, other programs read: rows compared value by value. And what the run of
a write promises: all of it or nothing, whatever ends it."""
import csv
import datetime
import decimal
import gzip
import json
import math
import os
import pathlib
import random
import shutil
import signal
import subprocess
import time

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

CITIES = ["Köln", "a/b", "100%", "x=y", "with space", "colon:?*[]{}^\\'\"#", "Ünïcödé ☃", "%41", None, "."]
FULL = os.environ.get("TARN_FULL")


def make_table(rows=200, first=0):
    ids = range(first, first + rows)
    utc = datetime.timezone.utc

    def each(make, none=7):
        return [None if i % none == 3 else make(i) for i in ids]

    return pa.table({
        "id": pa.array(ids, pa.int64()),
        "n": pa.array(each(lambda i: i - 100), pa.int32()),
        "name": pa.array(each(lambda i: f"näme {i}" if i % 5 else ""), pa.string()),
        "amount": pa.array(each(lambda i: decimal.Decimal(i * 37 - 1000) / 100), pa.decimal128(12, 2)),
        "huge": pa.array(each(lambda i: decimal.Decimal(10) ** 37 + i), pa.decimal128(38, 0)),
        "at": pa.array(each(lambda i: datetime.datetime(1969, 12, 31, 23, 59, tzinfo=utc) +
                            datetime.timedelta(microseconds=i * 61_000_007)), pa.timestamp("us", "UTC")),
        "local": pa.array(each(lambda i: datetime.datetime(2024, 5, 12, 1, 2, 3, i)), pa.timestamp("us")),
        "day": pa.array(each(lambda i: datetime.date(2024, 1, 1) + datetime.timedelta(days=i)), pa.date32()),
        "x": pa.array(each(lambda i: [0.1 * i, -0.0, math.inf, -math.inf][i % 4]), pa.float64()),
        "ok": pa.array(each(lambda i: i % 2 == 0), pa.bool_()),
        "raw": pa.array(each(lambda i: bytes([i % 256, 0, 255])), pa.binary()),
        "list": pa.array(each(lambda i: [i, None, -i][: i % 4]), pa.list_(pa.int32())),
        "s": pa.array(each(lambda i: {"a": i, "b": None if i % 3 else str(i)}),
                      pa.struct([("a", pa.int64()), ("b", pa.string())])),
        "dt": pa.array([datetime.date(2024, 5, 12) + datetime.timedelta(days=i % 3) for i in ids], pa.date32()),
        "city": pa.array([CITIES[i % len(CITIES)] for i in ids], pa.string()),
    })


def rows_of(table):
    """Rows by id, so that order does not matter; partition columns as text."""
    out = {}
    for row in table.to_pylist():
        for name in ("dt", "city"):
            if name in row:
                row[name] = None if row[name] is None else str(row[name])
        assert row["id"] not in out, f"id {row['id']} twice"
        out[row["id"]] = row
    return out


def read_arrow(root, **types):
    fields = [(name, kind) for name, kind in ({"dt": pa.string(), "city": pa.string()} | types).items()]
    part = ds.partitioning(pa.schema(fields), flavor="hive")
    return ds.dataset(root, format="parquet", partitioning=part).to_table()


def assert_same(got, want):
    got, want = rows_of(got), rows_of(want)
    assert got.keys() == want.keys()
    for key, row in want.items():
        assert got[key] == row, f"id {key}"


def data_files(root):
    return sorted(p for p in pathlib.Path(root).rglob("*.parquet")
                  if not any(part.startswith((".", "_")) for part in p.relative_to(root).parts))


def tree(root):
    """Everything there is, hidden things too, with bytes."""
    root = pathlib.Path(root)
    return {str(p.relative_to(root)): p.read_bytes() if p.is_file() else None for p in sorted(root.rglob("*"))}


def report(text):
    document = json.loads(text)
    assert document["kind"] == "write.report" and document["version"] == 1
    return document


@pytest.fixture
def write(tarn):
    """write(dir, inputs…, "--option"): the report."""
    def run(root, *words, want=0):
        out = tarn("write", root, *words, "--as", "hive", "--json", want=want)
        return report(out) if want == 0 else out
    return run


def test_every_type_in_awkward_partitions(write, tmp_path):
    table = make_table()
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=64)
    done = write(tmp_path / "lake", tmp_path / "in.parquet", "--partition-by", "dt,city")
    assert done["rows"] == 200 and done["root_made"] and done["files"] == 30 == len(done["partitions"])
    assert len(data_files(tmp_path / "lake")) == 30
    got = read_arrow(tmp_path / "lake").select(table.column_names)
    assert_same(got, table)
    for name in table.column_names[:-2]:
        assert got.schema.field(name).type == table.schema.field(name).type, name
    assert (tmp_path / "lake" / "dt=2024-05-12" / "city=a%2Fb").is_dir() or \
        (tmp_path / "lake" / "dt=2024-05-13" / "city=a%2Fb").is_dir()
    for path in data_files(tmp_path / "lake"):
        assert pq.ParquetFile(path).schema_arrow.names == table.column_names[:-2]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.parquet", "lake"]


def test_duckdb_and_polars_read_it(write, tmp_path):
    import duckdb
    import polars

    table = make_table()
    pq.write_table(table, tmp_path / "in.parquet")
    write(tmp_path / "lake", tmp_path / "in.parquet", "-p", "dt,city", "--codec", "snappy")
    got = duckdb.connect().sql(
        f"SELECT * FROM read_parquet('{tmp_path}/lake/**/*.parquet', hive_partitioning = true, "
        "hive_types = {'dt': 'VARCHAR', 'city': 'VARCHAR'})").to_arrow_table()
    plain = [c for c in table.column_names if c not in ("at",)]  # a zone of the session's
    assert_same(got.select(plain), table.select(plain))
    frame = polars.read_parquet(f"{tmp_path}/lake/**/*.parquet", hive_partitioning=True,
                                hive_schema={"dt": polars.String, "city": polars.String})
    assert_same(frame.to_arrow().select(table.column_names), table)


def test_spark_reads_it(write, tmp_path, spark):
    table = make_table()
    pq.write_table(table, tmp_path / "in.parquet")
    write(tmp_path / "lake", tmp_path / "in.parquet", "-p", "dt,city")
    frame = spark.read.option("basePath", str(tmp_path / "lake")).parquet(str(tmp_path / "lake"))
    got = {row["id"]: row for row in frame.collect()}
    want = rows_of(table)
    assert got.keys() == want.keys()
    for key, row in want.items():
        for name in ("n", "name", "amount", "huge", "local", "day", "x", "ok", "list"):
            assert got[key][name] == row[name], (key, name)
        assert (None if got[key]["city"] is None else got[key]["city"]) == row["city"], key
        assert str(got[key]["dt"]) == row["dt"]
        assert (None if got[key]["raw"] is None else bytes(got[key]["raw"])) == row["raw"]
        assert (None if got[key]["s"] is None else got[key]["s"].asDict()) == row["s"]
    assert frame.filter("city = 'a/b' AND dt = '2024-05-12'").count() == \
        sum(1 for r in want.values() if r["city"] == "a/b" and r["dt"] == "2024-05-12")


def write_csv(path, rows, opener=open, **options):
    with opener(path, "wt", encoding="utf-8", newline="") as file:
        out = csv.writer(file, **options)
        out.writerow(["id", "city", "name", "amount", "at", "dt"])
        for i in range(rows):
            out.writerow([i, ["Köln", "a/b", ""][i % 3], 'say "hi",\nthere' if i % 2 else f"n{i}", f"{i}.50",
                          f"2024-05-12T00:00:{i % 60:02d}Z", "2024-05-1" + str(i % 2)])


def test_csv_plain_and_packed(write, tmp_path):
    write_csv(tmp_path / "a.csv", 300)
    write_csv(tmp_path / "b.csv.gz", 300, opener=gzip.open)
    subprocess.run(["zstd", "-q", str(tmp_path / "a.csv"), "-o", str(tmp_path / "c.csv.zst")], check=True)
    for name in ("a.csv", "b.csv.gz", "c.csv.zst"):
        root = tmp_path / f"lake-{name}"
        done = write(root, tmp_path / name, "--partition-by", "dt,city")
        assert done["rows"] == 300 and done["rejected"] == 0
        got = read_arrow(root).sort_by("id")
        assert got["id"].to_pylist() == list(range(300))
        assert got["name"].to_pylist() == ['say "hi",\nthere' if i % 2 else f"n{i}" for i in range(300)]
        assert got["amount"].to_pylist() == [i + 0.5 for i in range(300)]
        assert got["city"].to_pylist() == [["Köln", "a/b", None][i % 3] for i in range(300)]
        assert got.schema.field("at").type == pa.timestamp("us", "UTC")


def test_standard_input(tarn_bin, tmp_path):
    lines = "".join(json.dumps({"id": i, "tags": ["a", None], "city": "Ulm" if i % 2 else "Köln"}) + "\n"
                    for i in range(50))
    for words in ([], ["-"]):
        root = tmp_path / f"lake{len(words)}"
        done = subprocess.run([tarn_bin, "write", str(root), *words, "--as", "hive", "-p", "city", "--format", "ndjson",
                               "--json"], input=gzip.compress(lines.encode()) if words else lines.encode(),
                              capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        assert report(done.stdout)["rows"] == 50
        got = read_arrow(root).sort_by("id")
        assert got["tags"].to_pylist() == [["a", None]] * 50


def test_append_takes_the_types_of_the_directory(write, tarn, tmp_path):
    root = tmp_path / "lake"
    pq.write_to_dataset(pa.table({"id": pa.array([1, 2], pa.int32()), "x": pa.array([1.5, 2.5], pa.float64()),
                                  "t": pa.array([0, 1], pa.timestamp("us")), "old": ["a", "b"], "dt": ["1", "2"]}),
                        root, partition_cols=["dt"])
    pq.write_table(pa.table({"x": pa.array([1], pa.int32()), "id": pa.array([3], pa.int64()),
                             "t": pa.array([5000], pa.timestamp("ns")), "new": ["n"], "dt": ["1"]}),
                   tmp_path / "in.parquet")
    (tmp_path / "in.csv").write_text("id,x,t,dt\n4,7,2024-05-12 10:00:00,2\n")
    write(root, tmp_path / "in.parquet", tmp_path / "in.csv", "-p", "dt", "--no-merge")
    table = ds.dataset(root, format="parquet", partitioning="hive",
                       schema=pa.schema([("id", pa.int32()), ("x", pa.float64()), ("t", pa.timestamp("us")),
                                         ("old", pa.string()), ("new", pa.string()), ("dt", pa.int32())])
                       ).to_table().sort_by("id")
    assert table["id"].to_pylist() == [1, 2, 3, 4]
    assert table["x"].to_pylist() == [1.5, 2.5, 1.0, 7.0]
    assert table["old"].to_pylist() == ["a", "b", None, None]
    assert table["new"].to_pylist() == [None, None, "n", None]
    assert table["t"].to_pylist()[2:] == [datetime.datetime(1970, 1, 1, 0, 0, 0, 5), datetime.datetime(2024, 5, 12, 10)]
    for path in data_files(root):
        if pq.ParquetFile(path).schema_arrow.get_field_index("id") >= 0:
            assert pq.ParquetFile(path).schema_arrow.field("id").type == pa.int32()

    before = tree(tmp_path)
    pq.write_table(pa.table({"id": pa.array([1 << 40], pa.int64()), "dt": ["1"]}), tmp_path / "big.parquet")
    before["big.parquet"] = (tmp_path / "big.parquet").read_bytes()
    write(root, tmp_path / "big.parquet", "-p", "dt", want=1)
    assert tree(tmp_path) == before
    pq.write_table(pa.table({"id": ["x"], "dt": ["1"]}), tmp_path / "text.parquet")
    before["text.parquet"] = (tmp_path / "text.parquet").read_bytes()
    write(root, tmp_path / "text.parquet", "-p", "dt", want=1)
    assert tree(tmp_path) == before


def test_append_to_what_spark_wrote_and_back(write, tmp_path, spark):
    """INT96 times, Spark's default: new files fit them, and Spark reads both as one."""
    root = tmp_path / "lake"
    spark.sql("SELECT 1L id, timestamp'2024-05-12 10:00:00' at, 'Köln' city UNION ALL "
              "SELECT 2L, timestamp'1969-05-12 10:00:00', 'a/b'").write.partitionBy("city").parquet(str(root))
    (tmp_path / "in.csv").write_text("id,at,city\n3,2024-05-13 11:00:00,Köln\n4,2024-05-13 12:00:00Z,Ulm\n")
    write(root, tmp_path / "in.csv", "-p", "city")
    (tmp_path / "copy").mkdir()
    for n, path in enumerate(data_files(root)):
        shutil.copy(path, tmp_path / "copy" / f"{n}.parquet")
    rows = sorted(tuple(r) for r in spark.read.parquet(str(root)).select("id", "city", "at").collect())
    assert [(r[0], r[1], r[2].isoformat()) for r in rows] == [
        (1, "Köln", "2024-05-12T10:00:00"), (2, "a/b", "1969-05-12T10:00:00"),
        (3, "Köln", "2024-05-13T11:00:00"), (4, "Ulm", "2024-05-13T12:00:00")]
    # Spark's own files into Spark's directory: INT96 on both sides
    spark.sql("SELECT 5L id, timestamp'2024-05-14 10:00:00' at, 'Ulm' city").write.parquet(str(tmp_path / "more"))
    write(root, tmp_path / "more", "-p", "city")
    rows = spark.read.parquet(str(root)).orderBy("id").collect()
    assert [r["id"] for r in rows] == [1, 2, 3, 4, 5] and rows[4]["at"].isoformat() == "2024-05-14T10:00:00"


def test_overwrite_and_overwrite_partitions(write, tmp_path):
    root = tmp_path / "lake"
    table = make_table(60).select(["id", "n", "dt"])
    pq.write_table(table, tmp_path / "in.parquet")
    write(root, tmp_path / "in.parquet", "-p", "dt")
    one = table.filter(pa.compute.equal(table["dt"], datetime.date(2024, 5, 13)))
    new = one.set_column(0, "id", pa.compute.add(one["id"], 1000))
    pq.write_table(new, tmp_path / "new.parquet")
    done = write(root, tmp_path / "new.parquet", "-p", "dt", "--op", "overwrite-partitions")
    assert done["old_files"] == 1 and done["partitions_removed"] == 0
    want = pa.concat_tables([table.filter(pa.compute.not_equal(table["dt"], datetime.date(2024, 5, 13))), new])
    assert_same(read_arrow(root).select(["id", "n", "dt"]), want)
    done = write(root, tmp_path / "new.parquet", "-p", "dt", "--op", "overwrite")
    assert done["old_files"] == 3 and done["partitions_removed"] == 2
    assert_same(read_arrow(root).select(["id", "n", "dt"]), new)
    assert sorted(p.name for p in root.iterdir()) == ["dt=2024-05-13"]


def test_repartitioning_itself(write, tmp_path):
    root = tmp_path / "lake"
    table = make_table()
    pq.write_table(table, tmp_path / "in.parquet")
    write(root, tmp_path / "in.parquet", "-p", "dt")
    write(root, root, "-p", "city,dt", "--op", "overwrite")
    assert_same(read_arrow(root).select(table.column_names), table)
    assert all(p.parts[len(root.parts)].startswith("city=") for p in data_files(root))
    write(root, root, "--op", "overwrite")
    assert [p.parent for p in data_files(root)] == [root]
    assert_same(ds.dataset(root, format="parquet").to_table().select(table.column_names), table)
    before = tree(tmp_path)
    for words in ([root], [root, "--op", "overwrite-partitions"], [f"{root}/*.parquet"], [tmp_path],
                  [f"{tmp_path}/l*", "--op", "overwrite"], [f"{tmp_path}/**/*.parquet"]):
        write(root, *words, "-p", "dt", want=2)
        assert tree(tmp_path) == before


def test_what_arrow_has_no_type_for_stays(write, tarn, tmp_path):
    """UUID, JSON, INTERVAL, times in UTC of DuckDB: new files have them too, and merge with the old."""
    import duckdb

    db = duckdb.connect()
    lake, new = str(tmp_path / "lake"), str(tmp_path / "new")
    os.mkdir(lake)
    for k in range(2):
        db.execute(f"COPY (SELECT i, md5(i::VARCHAR)::UUID u, '{{}}'::JSON j, to_days(i::INT) v, "
                   f"TIMETZ '10:00:00+00' t, [md5('a')::UUID] l FROM range({k}, {k} + 5) r(i)) "
                   f"TO '{lake}/{k}.parquet'")
    columns = "SELECT i, u, j, v, t::TIME t, l"
    before = db.sql(f"{columns} FROM '{lake}/*.parquet'")
    types, rows = before.types, before.fetchall()
    write(new, lake)
    write(lake, new)
    assert len(os.listdir(lake)) == 1
    for where, times in ((new, 1), (lake, 2)):
        got = db.sql(f"{columns} FROM '{where}/*.parquet'")
        assert got.types == types
        assert sorted(map(repr, got.fetchall())) == sorted(map(repr, rows * times))
    tarn("read", lake, "-o", str(tmp_path / "one.parquet"))
    assert db.sql(f"{columns} FROM '{tmp_path}/one.parquet'").types == types
    assert json.loads(tarn("read", new, "-n", "1"))["u"] == str(rows[0][1])


def test_few_files_whatever_the_order(write, tmp_path):
    """Rows in random order, spilled, still give one file a partition."""
    rows = 400_000 if FULL else 120_000
    dice = random.Random(5)
    keys = [dice.randrange(40) for _ in range(rows)]
    table = pa.table({"id": pa.array(range(rows), pa.int64()), "text": [f"{dice.random()}" * 8 for _ in range(rows)],
                      "k": pa.array(keys, pa.int32())})
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=20_000)
    done = write(tmp_path / "lake", tmp_path / "in.parquet", "-p", "k", "--memory", "24M")
    assert done["files"] == 40 and done["spilled_bytes"] > 0
    got = ds.dataset(tmp_path / "lake", format="parquet", partitioning="hive").to_table().sort_by("id")
    assert got["text"].to_pylist() == table["text"].to_pylist() and got["k"].to_pylist() == keys
    # rows of a file keep the order they came in
    for path in data_files(tmp_path / "lake"):
        ids = pq.ParquetFile(path).read(columns=["id"])["id"].to_pylist()
        assert ids == sorted(ids)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.parquet", "lake"]


def test_files_per_partition(write, tmp_path):
    table = pa.table({"id": pa.array(range(4000), pa.int64()), "user": [f"u{i % 97}" for i in range(4000)],
                      "dt": ["1" if i % 10 else "2" for i in range(4000)]})
    pq.write_table(table, tmp_path / "in.parquet")
    done = write(tmp_path / "lake", tmp_path / "in.parquet", "-p", "dt", "--files-per-partition", "4",
                 "--distribute-by", "user")
    assert done["files"] == 8
    for partition in ("dt=1", "dt=2"):
        users = [set(pq.ParquetFile(p).read(columns=["user"])["user"].to_pylist())
                 for p in data_files(tmp_path / "lake" / partition)]
        assert len(users) == 4 and sum(map(len, users)) == len(set().union(*users))
    assert_same(read_arrow(tmp_path / "lake").select(["id", "user", "dt"]), table)
    # more of it goes into files of the same kind, and nothing joins them
    done = write(tmp_path / "lake", tmp_path / "in.parquet", "-p", "dt", "--files-per-partition", "4",
                 "--distribute-by", "user")
    assert done["files"] == 8 and done["merged"] is None and len(data_files(tmp_path / "lake")) == 16


def test_append_merges_what_it_touched(write, tmp_path):
    root = tmp_path / "lake"
    want = []
    for n in range(4):
        pq.write_table(pa.table({"id": pa.array([n * 2, n * 2 + 1], pa.int64()), "dt": ["1", "2" if n == 0 else "1"]}),
                       tmp_path / "in.parquet")
        done = write(root, tmp_path / "in.parquet", "-p", "dt")
        want += [n * 2, n * 2 + 1]
        if n > 0:
            assert done["merged"]["merged_files"] == 2 and done["merged"]["new_files"] == 1
            assert done["merged"]["partitions"] == 1
        assert sorted(read_arrow(root)["id"].to_pylist()) == want
        assert len(data_files(root)) == 2
    done = write(root, tmp_path / "in.parquet", "-p", "dt", "--no-merge")
    assert done["merged"] is None and len(data_files(root)) == 3


def test_guards_leave_nothing(write, tmp_path):
    table = make_table()
    pq.write_table(table, tmp_path / "in.parquet")
    before = tree(tmp_path)
    for words in (["--max-partitions", "3"], ["--max-partitions", "3", "--dry-run"], ["--max-created-files", "29"]):
        write(tmp_path / "lake", tmp_path / "in.parquet", "-p", "dt,city", *words, want=1)
        assert tree(tmp_path) == before
    write(tmp_path / "lake", tmp_path / "in.parquet", "-p", "dt,city", "--max-partitions", "30",
          "--max-created-files", "30")
    before = tree(tmp_path)
    for op in ("append", "overwrite", "overwrite-partitions"):
        write(tmp_path / "lake", tmp_path / "in.parquet", "-p", "dt,city", "--op", op, "--max-partitions", "29", want=1)
        assert tree(tmp_path) == before


def test_dry_run_makes_nothing(write, tmp_path):
    table = make_table()
    pq.write_table(table, tmp_path / "in.parquet")
    (tmp_path / "bad.csv").write_text("id,dt,city\n1,2024-05-12,Ulm\n2,2024-05-12\n")
    before = tree(tmp_path)
    done = write(tmp_path / "lake", tmp_path / "in.parquet", "-p", "dt,city", "--dry-run")
    assert done["dry_run"] and done["rows"] == 200 and done["files"] == 30
    assert tree(tmp_path) == before
    done = write(tmp_path / "lake", tmp_path / "bad.csv", "-p", "dt,city", "--dry-run", "--reject",
                 tmp_path / "rejects.ndjson")
    assert done["rows"] == 1 and done["rejected"] == 1 and done["reject"] is None
    assert tree(tmp_path) == before


def test_dry_run_tells_what_the_run_does(write, tmp_path):
    table = make_table()
    pq.write_table(table, tmp_path / "in.parquet")
    words = [tmp_path / "in.parquet", "-p", "dt,city"]
    planned = write(tmp_path / "lake", *words, "--dry-run")
    done = write(tmp_path / "lake", *words)
    assert [(p["path"], p["rows"], p["files"]) for p in planned["partitions"]] == \
        [(p["path"], p["rows"], p["files"]) for p in done["partitions"]]
    planned = write(tmp_path / "lake", *words, "--op", "overwrite", "--where", "city = 'a/b'", "--dry-run")
    done = write(tmp_path / "lake", *words, "--op", "overwrite", "--where", "city = 'a/b'")
    for key in ("rows", "files", "old_files", "old_bytes", "partitions_removed"):
        assert planned[key] == done[key], key


def test_rejected_records(write, tmp_path):
    (tmp_path / "in.csv").write_bytes(b'id,n,dt\n1,1,a\n2,x,a\n3,3\n4,4,b\n5,"5\xff",b\n')
    schema = "id:bigint,n:int,dt:string"
    write(tmp_path / "lake", tmp_path / "in.csv", "-p", "dt", "--schema", schema, want=1)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.csv"]
    done = write(tmp_path / "lake", tmp_path / "in.csv", "-p", "dt", "--schema", schema, "--reject",
                 tmp_path / "bad.ndjson")
    assert done["rows"] == 2 and done["rejected"] == 3 and done["reject"] == str(tmp_path / "bad.ndjson")
    bad = [json.loads(line) for line in (tmp_path / "bad.ndjson").read_text().splitlines()]
    assert [b["line"] for b in bad] == [3, 4, 6]
    assert bad[0]["column"] == "n" and bad[0]["record"].startswith("2,x,a") and bad[0]["source"].endswith("in.csv")
    assert all(b["reason"] for b in bad)
    # it replaces nothing
    write(tmp_path / "lake", tmp_path / "in.csv", "-p", "dt", "--schema", schema, "--reject", tmp_path / "bad.ndjson",
          want=1)
    # no record, no file; a failed run leaves none
    (tmp_path / "good.csv").write_text("id,n,dt\n7,7,a\n")
    write(tmp_path / "lake", tmp_path / "good.csv", "-p", "dt", "--schema", schema, "--reject", tmp_path / "none.ndjson")
    write(tmp_path / "lake", tmp_path / "in.csv", "-p", "dt", "--schema", schema, "--reject", tmp_path / "none.ndjson",
          "--max-partitions", "1", want=1)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.ndjson", "good.csv", "in.csv", "lake"]


def test_empty_inputs(write, tarn, tmp_path):
    (tmp_path / "in.csv").write_text("id,dt\n")
    done = write(tmp_path / "lake", tmp_path / "in.csv", "-p", "dt")
    assert done["rows"] == 0 and done["files"] == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.csv"]
    assert "no rows" in tarn("write", tmp_path / "lake", tmp_path / "in.csv", "-p", "dt", "--as", "hive")
    pq.write_table(pa.table({"id": [1], "dt": ["x"]}), tmp_path / "one.parquet")
    write(tmp_path / "lake", tmp_path / "one.parquet", "-p", "dt")
    before = tree(tmp_path)
    write(tmp_path / "lake", tmp_path / "in.csv", "-p", "dt", "--op", "overwrite", want=1)
    write(tmp_path / "lake", tmp_path / "in.csv", "-p", "dt", "--op", "overwrite-partitions")
    write(tmp_path / "lake", tmp_path / "in.csv", "-p", "dt")
    assert tree(tmp_path) == before
    (tmp_path / "none.ndjson").write_text("")
    before = tree(tmp_path)
    for where in ("lake", "new"):
        assert write(tmp_path / where, tmp_path / "none.ndjson", "-p", "dt")["rows"] == 0
        assert write(tmp_path / where, tmp_path / "none.ndjson", "-p", "dt", "--dry-run")["rows"] == 0
    assert tree(tmp_path) == before


@pytest.fixture
def fast_dir(tmp_path):
    """On a memory file system where there is one: a kill loop is about moments, not about disks."""
    base = pathlib.Path("/dev/shm")
    if not base.is_dir() or not os.access(base, os.W_OK):
        yield tmp_path
        return
    path = base / f"tarn-write-{os.getpid()}-{random.randrange(1 << 30)}"
    path.mkdir()
    yield path
    shutil.rmtree(path, ignore_errors=True)


def ids(root):
    """As a reader sees them now; a row twice shows."""
    if not root.exists():
        return []
    return sorted(n for path in data_files(root) for n in pq.ParquetFile(path).read(columns=["id"])["id"].to_pylist())


def nothing_left(root):
    names = [p.name for p in root.parent.iterdir() if p.name.startswith(f".{root.name}.")]
    return not names and not (root / ".tarn").exists() and \
        not [p for p in root.rglob("*") if p.name.startswith(".")]


@pytest.mark.parametrize("op", ["append", "append-merge", "overwrite", "overwrite-partitions"])
def test_killed_at_any_moment(tarn_bin, tarn, fast_dir, op):
    seed = int(os.environ.get("TARN_SEED", "0")) or random.randrange(1, 1 << 30)
    print(f"TARN_SEED={seed}")
    dice = random.Random(seed)
    root = fast_dir / "lake"
    inputs = {}
    for name, first in (("old", 0), ("new", 10_000)):
        inputs[name] = list(range(first, first + 3000))
        pq.write_table(pa.table({"id": pa.array(inputs[name], pa.int64()), "dt": [str(i % 5) for i in inputs[name]]}),
                       fast_dir / f"{name}.parquet")
    words = ["--as", "hive", "-p", "dt", "--op", op.removesuffix("-merge")]
    if op == "append":
        words.append("--no-merge")
    tarn("write", root, fast_dir / "old.parquet", "--as", "hive", "-p", "dt")
    began = time.monotonic()
    tarn("write", root, fast_dir / "new.parquet", *words)
    usual = time.monotonic() - began
    both = sorted(inputs["old"] + inputs["new"]) if op.startswith("append") else inputs["new"]
    for round_ in range(150 if FULL else 20):
        shutil.rmtree(root)
        tarn("write", root, fast_dir / "old.parquet", "--as", "hive", "-p", "dt")
        process = subprocess.Popen([tarn_bin, "write", str(root), str(fast_dir / "new.parquet"), *words],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(dice.uniform(0, usual * 1.1))
        process.send_signal(dice.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGINT, signal.SIGTERM]))
        process.wait()
        tarn("merge", root, "--partition", "dt=0")  # any next run settles what is left
        got = ids(root)
        assert got in (inputs["old"], both), f"seed {seed}, round {round_}"
        assert nothing_left(root), f"seed {seed}, round {round_}"


def test_killed_while_making_the_directory(tarn_bin, tarn, fast_dir):
    seed = int(os.environ.get("TARN_SEED", "0")) or random.randrange(1, 1 << 30)
    print(f"TARN_SEED={seed}")
    dice = random.Random(seed)
    root = fast_dir / "lake"
    want = list(range(3000))
    pq.write_table(pa.table({"id": pa.array(want, pa.int64()), "dt": [str(i % 5) for i in want]}), fast_dir / "in.parquet")
    words = [str(root), str(fast_dir / "in.parquet"), "--as", "hive", "-p", "dt"]
    began = time.monotonic()
    tarn("write", *words)
    usual = time.monotonic() - began
    for round_ in range(100 if FULL else 15):
        shutil.rmtree(root, ignore_errors=True)
        process = subprocess.Popen([tarn_bin, "write", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(dice.uniform(0, usual * 1.1))
        process.kill()
        process.wait()
        assert ids(root) in ([], want), f"seed {seed}, round {round_}"
        tarn("write", *words, "--op", "overwrite")
        assert ids(root) == want and nothing_left(root), f"seed {seed}, round {round_}"


def test_interrupted_while_waiting_for_input(tarn_bin, tmp_path):
    process = subprocess.Popen([tarn_bin, "write", str(tmp_path / "lake"), "-", "--as", "hive", "-p", "dt", "--format",
                                "csv"], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(b"id,dt\n1,a\n")
    process.stdin.flush()
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 1
    assert process.stderr.read().count(b"\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_interrupted_leaves_nothing(tarn_bin, fast_dir):
    """A first interrupt ends the run in good order: the directory is as it was, without a next run."""
    dice = random.Random(11)
    root = fast_dir / "lake"
    rows = list(range(30_000))
    pq.write_table(pa.table({"id": pa.array(rows, pa.int64()), "dt": [str(i % 40) for i in rows]}), fast_dir / "in.parquet",
                   row_group_size=1000)
    words = [tarn_bin, "write", str(root), str(fast_dir / "in.parquet"), "--as", "hive", "-p", "dt", "--no-merge"]
    began = time.monotonic()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    usual = time.monotonic() - began
    runs = 1
    for _ in range(12):
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(dice.uniform(0.1, 1.0) * usual)
        process.send_signal(dice.choice([signal.SIGINT, signal.SIGTERM]))
        error = process.communicate()[1]
        if process.returncode < 0:  # it did not listen: before it began, or when all was done
            runs += len(ids(root)) == len(rows) * (runs + 1)
        else:
            assert process.returncode in (0, 1) and (process.returncode == 0) == (error == b"")
            runs += process.returncode == 0
        assert ids(root) == sorted(rows * runs)
        assert nothing_left(root)


def test_two_at_once(tarn_bin, tmp_path):
    root = tmp_path / "lake"
    want = []
    for n in range(8):
        rows = list(range(n * 1000, n * 1000 + 1000))
        pq.write_table(pa.table({"id": pa.array(rows, pa.int64()), "dt": [str(i % 3) for i in rows]}),
                       tmp_path / f"{n}.parquet")
        want.append(rows)
    written = []
    for n in range(0, 8, 2):
        runs = [(k, subprocess.Popen([tarn_bin, "write", str(root), str(tmp_path / f"{k}.parquet"), "--as", "hive", "-p",
                                      "dt"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)) for k in (n, n + 1)]
        for k, run in runs:
            run.communicate()
            assert run.returncode in (0, 4)
            written += want[k] if run.returncode == 0 else []
    assert ids(root) == sorted(written) and written
    assert nothing_left(root)


def test_the_library_takes_a_stream(tmp_path):
    """tarn_write_rows: dictionaries, sliced batches, and a source that fails half-way."""
    import bridge

    table = make_table()
    table = table.set_column(2, "name", table["name"].dictionary_encode())
    table = table.set_column(table.num_columns - 1, "city", table["city"].dictionary_encode())
    with pa.OSFile(str(tmp_path / "in.arrow"), "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
    job = {"op": "write_rows", "from": str(tmp_path / "in.arrow"), "partition_by": ["dt", "city"], "chunk": 37}
    answers = bridge.run_jobs([
        job | {"to": str(tmp_path / "whole")},
        job | {"to": str(tmp_path / "sliced"), "skip": 5},
        job | {"to": str(tmp_path / "cut"), "fail_at": 3},
        job | {"to": str(tmp_path / "none"), "partition_by": ["nowhere"]},
    ])
    assert [a["ok"] for a in answers] == [True, True, False, False]
    assert answers[0]["rows"] == 200 and answers[1]["rows"] == 200 - 6 * 5
    plain = table.set_column(2, "name", table["name"].cast(pa.string()))
    plain = plain.set_column(plain.num_columns - 1, "city", plain["city"].cast(pa.string()))
    assert_same(read_arrow(tmp_path / "whole").select(plain.column_names), plain)
    kept = [i for i in range(200) if i % 37 >= 5]
    assert_same(read_arrow(tmp_path / "sliced").select(plain.column_names), plain.take(kept))
    assert "the source went away" in answers[2]["text"] and "nowhere" in answers[3]["text"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.arrow", "sliced", "whole"]

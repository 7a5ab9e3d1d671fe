"""Tables that real Hudi writes with its metadata table and all indexes on, through updates, deletes, compaction of both tables,
cleaning, a partition of another kind and a rollback: what the metadata table lists is what is there, each key is found by the
record index where its row is, and no condition loses a row to statistics. One table of each kind a bundle; TARN_FULL does all
versions."""
import datetime
import decimal
import json
import math
import os
import random
import shutil

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hudi_peers

FULL = bool(os.environ.get("TARN_FULL"))
UTC = datetime.timezone.utc
SCHEMA = pa.schema([
    ("id", pa.string()), ("p", pa.string()), ("ts", pa.int64()), ("name", pa.string()), ("amount", pa.decimal128(12, 2)),
    ("day", pa.date32()), ("seen", pa.timestamp("us", "UTC")), ("f", pa.float64()), ("flag", pa.bool_()), ("n", pa.int32()),
    ("st", pa.struct([("a", pa.int32()), ("b", pa.string())]))])
INDEXES = {"hoodie.metadata.enable": "true", "hoodie.metadata.index.column.stats.enable": "true",
           "hoodie.metadata.record.index.enable": "true", "hoodie.metadata.index.bloom.filter.enable": "true",
           "hoodie.metadata.compact.max.delta.commits": "4", "hoodie.metadata.record.index.min.filegroup.count": "3",
           "hoodie.metadata.record.index.max.filegroup.count": "3", "hoodie.cleaner.commits.retained": "2",
           "hoodie.clean.automatic": "true", "hoodie.parquet.small.file.limit": "0"}
COMPACTED = {"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "3"}
BY_PARTITION = {"hoodie.metadata.record.index.enable": "false", "hoodie.metadata.record.level.index.enable": "true"}
CASES = [(6, "mor", {}), (6, "cow", {}), (8, "mor", {}), (8, "cow", {}), (9, "mor", {}), (9, "cow", {}), (9, "mor", BY_PARTITION)]
if not FULL:
    CASES = [(6, "mor", {}), (9, "mor", {})]


def rows(ids, ts, part=None):
    return [{"id": f"K{i:05d}", "p": part or f"p{i % 3}", "ts": ts, "name": None if i % 7 == 0 else f"name {i % 10} é",
             "amount": None if i % 11 == 0 else decimal.Decimal(i * 7919 % 20000 - 10000) / 100,
             "day": datetime.date(2024, 1, 1) + datetime.timedelta(days=i % 60),
             "seen": datetime.datetime(2024, 1, 1, tzinfo=UTC) + datetime.timedelta(seconds=i * 1000 + ts, microseconds=i),
             "f": math.nan if i % 13 == 5 else i * 1.5 - 20, "flag": i % 2 == 0, "n": i * (1 if ts % 2 else -1),
             "st": {"a": i, "b": f"b{i % 4}"}} for i in ids]


class Made:
    def __init__(self, hudi, folder, version, kind, extra):
        self.hudi, self.folder, self.version, self.kind = hudi, folder, version, kind
        self.path = folder / f"t{version}{kind}"
        self.options = {**INDEXES, **(COMPACTED if kind == "mor" else {}), **extra}

    def put(self, op, data):
        name = self.folder / "in.parquet"
        pq.write_table(pa.Table.from_pylist(data, SCHEMA), name)
        self.hudi("write", "--table", self.path, "--input", name, "--op", op, "--type", self.kind, "--key", "id", "--partition", "p",
                  "--precombine", "ts", *(word for pair in self.options.items() for word in ("--opt", "=".join(pair))))

    def sql(self, *statements):
        return self.hudi("sql", "--table", self.path, "--name", self.path.name, *statements)

    def history(self):
        """Every step ends in a completed instant but the one that is rolled back."""
        self.put("insert", rows(range(60), 1))
        yield
        if self.version > 6:
            self.sql("SET hoodie.write.lock.provider=org.apache.hudi.client.transaction.lock.InProcessLockProvider",
                     f"CREATE INDEX name_idx ON {self.path.name} (name)")
        self.put("upsert", rows(range(30, 90), 2))
        self.put("upsert", rows(range(20), 3))
        yield
        self.put("delete", rows(range(5, 10), 4))
        self.put("upsert", rows(range(80, 120), 5))
        self.put("insert", rows(range(200, 210), 6, "q=x/y"))
        yield
        self.put("upsert", rows(range(90, 130), 7))
        last = self.sql(f"CALL show_commits(table => '{self.path.name}', limit => 1)")[0]["commit_time"]
        if (self.version, self.kind) != (8, "mor"):  # 1.0.2 compacts the metadata table first, and refuses then
            self.sql(f"CALL rollback_to_instant(table => '{self.path.name}', instant_time => '{last}')")
        yield
        self.put("upsert", rows(range(100, 125), 8))
        self.put("upsert", rows(range(5), 9))
        yield


def read(tarn, table, folder, *words):
    out = folder / "out.parquet"
    out.unlink(missing_ok=True)
    tarn("read", table, "--meta", "-o", out, *words)
    return pq.read_table(out)


def compare(seen, want, what):
    def plain(table):
        return sorted((json.dumps(row, default=str, sort_keys=True) for row in table.to_pylist()))
    assert plain(seen) == plain(want.select(seen.column_names)), what


def literal(rnd, column):
    i = rnd.randrange(-5, 215)
    return {"ts": str(rnd.randrange(12)), "name": f"'name {rnd.randrange(12)} é'", "amount": str(decimal.Decimal(rnd.randrange(-11000, 11000)) / 100),
            "day": f"DATE '{datetime.date(2024, 1, 1) + datetime.timedelta(days=i % 70)}'",
            "seen": f"TIMESTAMP '{(datetime.datetime(2024, 1, 1) + datetime.timedelta(seconds=i * 1000)).isoformat(sep=' ')}Z'",
            "f": str(i * 1.5 - 20), "n": str(i), "st.a": str(i), "id": f"'K{max(i, 0):05d}'"}[column]


def condition(rnd, depth=0):
    if depth < 2 and rnd.random() < 0.45:
        word = rnd.choice([" AND ", " OR "])
        return "(" + word.join(condition(rnd, depth + 1) for _ in range(rnd.randrange(2, 4))) + ")"
    column = rnd.choice(["ts", "name", "amount", "day", "seen", "f", "n", "st.a", "id"])
    form = rnd.randrange(8)
    if form == 0:
        return f"{column} IS {rnd.choice(['', 'NOT '])}NULL"
    if form == 1:
        return f"{column} IN ({literal(rnd, column)}, {literal(rnd, column)})"
    if form == 2:
        return f"NOT {column} {rnd.choice(['=', '<', '>'])} {literal(rnd, column)}"
    return f"{column} {rnd.choice(['=', '=', '<>', '<', '<=', '>', '>='])} {literal(rnd, column)}"


@pytest.mark.parametrize("hudi, version, kind, extra", [(v, v, k, e) for v, k, e in CASES], indirect=["hudi"], scope="session",
                         ids=[f"v{v}-{k}{'-by-partition' if e else ''}" for v, k, e in CASES])
def test_metadata_table_of_hudi(hudi, version, kind, extra, tarn, tmp_path):
    made = Made(hudi, tmp_path, version, kind, extra)
    for step in made.history():
        told = json.loads(tarn("files", made.path, "--check", "--no-rows", "--json"))
        assert told["listing"] == "metadata" and told["checked"] and told["differences"] == [] and told["warning"] is None
        bare = made.path.parent / "bare"
        shutil.rmtree(bare, ignore_errors=True)
        shutil.copytree(made.path, bare)
        shutil.rmtree(bare / ".hoodie/metadata")
        without = json.loads(tarn("files", bare, "--no-rows", "--json"))
        assert without["listing"] == "directories" and without["warning"]
        assert [f | {"note": ""} for f in without["files"]] == [f | {"note": ""} for f in told["files"]]
        spark = hudi.rows(made.path, str(tmp_path / "spark.parquet"), "--opt", "hoodie.metadata.enable=false")
        whole = read(tarn, made.path, tmp_path)
        compare(whole, spark, f"after step {step}")
    check_keys(tarn, made, whole)
    check_conditions(tarn, made, whole, random.Random(version))
    check_damage(tarn, made, whole)


def check_keys(tarn, made, whole):
    """The row of a key, by the record index; none of a key that was deleted, or never was."""
    by_key = {row["_hoodie_record_key"]: row for row in whole.to_pylist()}
    for key in [*sorted(by_key)[::9], "K00007", "nothing", "it's"]:
        seen = read(tarn, made.path, made.folder, "--key", key).to_pylist()
        assert len(seen) == (key in by_key), key
        if seen:
            assert json.dumps(seen[0], default=str) == json.dumps(by_key[key], default=str)


def check_conditions(tarn, made, whole, rnd):
    """What is read past statistics is what a scan of all rows gives."""
    base = duckdb.connect()
    base.execute("SET TimeZone='UTC'")
    base.register("t", whole)
    for _ in range(60 if FULL else 25):
        text = condition(rnd)
        want = base.execute(f"SELECT _hoodie_record_key FROM t WHERE {text}").fetchall()
        seen = read(tarn, made.path, made.folder, "--where", text, "--columns", "_hoodie_record_key")
        assert sorted(seen.column("_hoodie_record_key").to_pylist()) == sorted(key for key, in want), text


def check_damage(tarn, made, whole):
    """A metadata table that cannot be read costs a warning, never a row."""
    for name in (made.path / ".hoodie/metadata/files").glob("*.hfile"):
        name.write_bytes(name.read_bytes()[:-100])
    told = json.loads(tarn("files", made.path, "--no-rows", "--json"))
    assert told["listing"] == "directories" and "metadata table" in told["warning"]
    assert read(tarn, made.path, made.folder).num_rows == whole.num_rows

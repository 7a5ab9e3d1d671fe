"""Random histories of tables that real Hudi makes, and the queries that are then asked of Spark and of tarn. A seed tells
everything: the choices of the table, its steps, its queries."""
import datetime
import decimal
import json
import os
import pathlib
import random
import subprocess

import pyarrow as pa
import pyarrow.parquet as pq

import hudi_peers
from hudi_chain import plain, type_text

UTC = datetime.timezone.utc
DELETED = "_hoodie_is_deleted"
SCHEMA = pa.schema([
    ("id", pa.string()), ("dt", pa.string()), ("ts", pa.int64()), ("n", pa.int32()), ("tag", pa.string()),
    ("d", pa.float64()), ("price", pa.decimal128(10, 2)), ("day", pa.date32()), ("at", pa.timestamp("us", "UTC")),
    ("parts", pa.list_(pa.int32())), ("inner", pa.struct([("x", pa.int64()), ("y", pa.string())])),
    ("counts", pa.map_(pa.string(), pa.int64())), (DELETED, pa.bool_())])
DTS = ["2026-01-01", "2026-01-02", "2026-01-03"]
QUIET = {"hoodie.upsert.shuffle.parallelism": "2", "hoodie.embed.timeline.server": "false", "hoodie.write.markers.type": "DIRECT",
         "hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false", "hoodie.compact.inline": "false",
         "hoodie.parquet.small.file.limit": "0", "hoodie.bloom.index.parallelism": "2",
         # crash() comes after the markers are gone. A rollback by them would leave base files whose slices Hudi then hides, with
         # all logs that later commits append to them; tarn gives those rows.
         "hoodie.rollback.using.markers": "false"}
CLEANED = "Cleaner cleaned up"  # both say so when the files of a query are gone
HOLLOW = "hollow commit"  # and when a commit of version 6 is pending before others; Spark also where a range ends before it


class History:
    """One table under way. `writer` writes, `judge` (1.2.0) answers queries."""

    def __init__(self, seed, writer, judge, tarn, tarn_bin, folder, version, kind):
        self.seed, self.writer, self.judge, self.tarn, self.tarn_bin = seed, writer, judge, tarn, tarn_bin
        self.folder = pathlib.Path(folder)
        self.rng = rng = random.Random(seed)
        self.version, self.kind = version, kind
        self.table = self.folder / "table"
        self.said = []
        self.partitioned = rng.random() < 0.7
        self.ordered = rng.random() < 0.7
        self.cdc = rng.random() < 0.3
        self.metadata = rng.choice(["off", "files", "all"])
        self.index = rng.choice(["SIMPLE", "BLOOM", "BUCKET"])
        self.small = rng.random() < 0.5  # small files take inserts
        self.extra = 0  # columns that were added
        self.keys, self.count, self.clock, self.saved = {}, 0, 1000, set()
        # Hudi 1.2.0 looks for _hoodie_is_deleted of a partial update where the whole row has it: what lies there deletes the
        # row, or is no boolean and ends the query. So a table has that column, or partial updates.
        self.partial = version > 6 and kind != "cow" and seed // 12 % 2 == seed % 2

    def __str__(self):
        words = [f"seed {self.seed}", f"v{self.version}", self.kind, "partitioned" if self.partitioned else "flat",
                 "ordered" if self.ordered else "arrival", f"metadata {self.metadata}", self.index]
        words += ["cdc"] * self.cdc + ["partial"] * self.partial
        return ", ".join(words) + ":\n  " + "\n  ".join(self.said)

    # -- rows

    @property
    def schema(self):
        fields = [f for f in SCHEMA if not (self.partial and f.name == DELETED)]
        return pa.schema(fields + [pa.field(f"extra{i}", pa.string()) for i in range(self.extra)])

    def row(self, key, dt, deleted=False):
        rng = self.rng
        self.clock += 1
        ts = self.clock if rng.random() < 0.8 else self.clock - 500

        def some(value):
            return None if rng.random() < 0.15 else value

        row = {"id": key, "dt": dt, "ts": ts, "n": some(rng.randrange(-50, 50)), "tag": some(rng.choice(["", "a", "Köln", "x" * 40])),
               "d": some(rng.choice([0.5, -0.0, float("nan"), float("inf"), rng.random()])),
               "price": some(decimal.Decimal(rng.randrange(-10**6, 10**6)).scaleb(-2)),
               "day": some(datetime.date(1950, 1, 1) + datetime.timedelta(rng.randrange(40000))),
               "at": some(datetime.datetime(1960, 1, 1, tzinfo=UTC) + datetime.timedelta(microseconds=rng.randrange(4 * 10**15))),
               "parts": some([rng.randrange(9) for _ in range(rng.randrange(4))]),
               "inner": some({"x": some(rng.randrange(9)), "y": some("y")}),
               "counts": some([(f"k{i}", some(i)) for i in range(rng.randrange(3))]),
               DELETED: deleted}
        if self.partial:
            del row[DELETED]
        return row | {f"extra{i}": some(f"e{rng.randrange(99)}") for i in range(self.extra)}

    def new_rows(self, count):
        rows = []
        for _ in range(count):
            key, dt = f"k{self.count:05d}", self.rng.choice(DTS)
            self.count += 1
            self.keys[key] = dt
            rows.append(self.row(key, dt))
        return rows

    def old_rows(self, count, **values):
        keys = self.rng.sample(sorted(self.keys), min(count, len(self.keys)))
        return [self.row(key, self.keys[key], **values) for key in keys]

    # -- steps

    def options(self):
        options = dict(QUIET)
        options["hoodie.metadata.enable"] = str(self.metadata != "off").lower()
        if self.metadata == "all":
            options |= {"hoodie.metadata.index.column.stats.enable": "true", "hoodie.metadata.record.index.enable": "true",
                        "hoodie.metadata.compact.max.delta.commits": "4"}
            options["hoodie.metadata.global.record.level.index.enable"] = "true"
        options["hoodie.index.type"] = self.index
        options["hoodie.spark.sql.merge.into.partial.updates"] = str(self.partial).lower()
        if self.index == "BUCKET":
            options |= {"hoodie.bucket.index.num.buckets": "2", "hoodie.storage.layout.type": "BUCKET",
                        "hoodie.storage.layout.partitioner.class": "org.apache.hudi.table.action.commit.SparkBucketIndexPartitioner"}
        if self.small:
            options["hoodie.parquet.small.file.limit"] = "100000000"
        if self.kind == "mor-parquet":
            options["hoodie.logfile.data.block.format"] = "parquet"
        if self.cdc:
            mode = self.random_of_table("op_key_only", "data_before", "data_before_after")
            options |= {"hoodie.table.cdc.enabled": "true", "hoodie.table.cdc.supplemental.logging.mode": mode}
        if self.version == 6 and self.ordered:
            options["hoodie.datasource.write.payload.class"] = "org.apache.hudi.common.model.DefaultHoodieRecordPayload"
        return options

    def random_of_table(self, *choices):
        return random.Random(self.seed * 7919).choice(choices)

    def write(self, op, rows, **more):
        self.said.append(f"{op} {len(rows)} rows {more or ''}")
        path = str(self.folder / f"in{len(self.said)}.parquet")
        pq.write_table(pa.Table.from_pylist(rows, self.schema), path)
        words = ["write", "--table", self.table, "--input", path, "--op", op, "--type", self.kind[:3], "--key", "id", "--name", "history",
                 "--partition", "dt" if self.partitioned else "", "--hive-style"]
        words += ["--precombine", "ts"] if self.ordered else []
        words += ["--table-version", str(self.version)] if self.writer.bundle != "0.15.0" else []
        for name, value in (self.options() | more).items():
            words += ["--opt", f"{name}={value}"]
        self.writer(*words)

    def sql(self, *statements):
        self.said.extend(f"sql {s}" for s in statements)
        options = [f"SET {name}={value}" for name, value in self.options().items()]
        try:
            return self.writer("sql", "--table", self.table, "--name", "t", *options, *statements)
        finally:  # the session outlives this table, whose settings others would refuse
            self.writer("sql", "RESET")

    def instants(self, *actions, state="completed"):
        told = json.loads(self.tarn("timeline", str(self.table), "--json"))["instants"]
        return [i for i in told if i["state"].lower() == state and i["action"] in actions]

    def commits(self):
        return self.instants("commit", "deltacommit", "replacecommit")

    def insert(self):
        self.write(self.rng.choice(["insert", "upsert", "upsert"]), self.new_rows(self.rng.randrange(1, 40)))

    def upsert(self):
        self.write("upsert", self.old_rows(self.rng.randrange(1, 30)) + self.new_rows(self.rng.randrange(0, 10)))

    def soft_delete(self):
        if self.partial:
            self.delete()
            return
        rows = self.old_rows(self.rng.randrange(1, 6), deleted=True)
        self.write("upsert", rows + self.new_rows(1))

    def delete(self):
        rows = self.old_rows(self.rng.randrange(1, 6))
        self.write("delete", rows)

    def overwrite(self):
        dt = self.rng.choice(DTS)
        rows = [r | {"dt": dt} for r in self.new_rows(5)]
        for r in rows:
            self.keys[r["id"]] = dt
        self.write("insert_overwrite", rows)

    def update_sql(self):
        self.sql(f"UPDATE t SET tag = 'updated {self.clock}', ts = ts + 1 WHERE n % 3 = 0")

    def delete_sql(self):
        self.sql(f"DELETE FROM t WHERE n = {self.rng.randrange(-50, 50)}")

    def merge_sql(self):
        """Partial updates, where the table takes them."""
        row = self.rng.choice(sorted(self.keys))
        keys = "" if self.partial else "id = s.id, dt = s.dt, "
        self.sql(f"MERGE INTO t USING (SELECT '{row}' AS id, '{self.keys[row]}' AS dt, CAST({self.clock + 5} AS BIGINT) AS ts, "
                 f"'merged' AS tag) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET {keys}tag = s.tag, ts = s.ts")

    def compact(self):
        self.sql(f"CALL run_compaction(op => 'schedule', path => '{self.table}')", f"CALL run_compaction(op => 'run', path => '{self.table}')")

    def schedule(self):
        self.sql(f"CALL run_compaction(op => 'schedule', path => '{self.table}')")

    def cluster(self):
        self.sql(f"CALL run_clustering(path => '{self.table}', op => 'scheduleAndExecute', order => 'n')")

    def rollback(self):
        done = self.commits()
        # A savepointed commit Hudi refuses to roll back, and every write from then on.
        if len(done) > 2 and done[-1]["action"] != "replacecommit" and done[-1]["time"] not in self.saved:
            self.sql(f"CALL rollback_to_instant(table => 't', instant_time => '{done[-1]['time']}')")

    def savepoint(self):
        newest = self.commits()[-1]["time"]
        self.sql(f"CALL create_savepoint(table => 't', commit_time => '{newest}')")
        self.saved.add(newest)

    def clean(self):
        self.sql("CALL run_clean(table => 't', retain_commits => 2)")

    def archive(self):
        self.write("upsert", self.old_rows(2), **{"hoodie.clean.automatic": "true", "hoodie.archive.automatic": "true",
                                                   "hoodie.clean.commits.retained": "2", "hoodie.cleaner.commits.retained": "2",
                                                   "hoodie.keep.min.commits": "3", "hoodie.keep.max.commits": "4",
                                                   "hoodie.commits.archival.batch": "1"})

    def evolve(self):
        self.extra += 1
        self.upsert()

    def crash(self):
        """The newest write loses its completed file, as when its writer died before."""
        self.upsert()
        newest = max(self.commits(), key=lambda i: i["time"])
        for path in (self.table / ".hoodie").rglob(f"{newest['time']}*.{newest['action']}"):
            if "metadata" not in path.parts:
                path.unlink()
                (path.parent / f".{path.name}.crc").unlink(missing_ok=True)
        self.said.append("the commit's file is lost")

    def steps(self):
        cow = ["insert", "upsert", "upsert", "upsert", "soft_delete", "delete", "overwrite", "update_sql", "delete_sql", "cluster",
               "rollback", "clean", "archive", "evolve", "crash", "savepoint"]
        mor = cow + ["upsert", "soft_delete", "delete", "merge_sql", "merge_sql", "compact", "compact", "schedule", "update_sql"]
        names = [self.rng.choice(cow if self.kind == "cow" else mor) for _ in range(self.rng.randrange(6, 11))]
        return ["insert", "upsert"] + names

    def run(self, check):
        """All steps; check() after some of them and at the end. A step that Hudi refuses is left out."""
        steps = self.steps()
        for i, name in enumerate(steps):
            try:
                getattr(self, name)()
            except hudi_peers.Failure as why:
                self.said.append("  refused: " + " ".join(str(why).split())[-600:])
            if i == len(steps) // 2 or name in ("crash", "schedule") or i == len(steps) - 1:
                check(self)

    # -- queries

    def queries(self):
        """(words of the oracle, words of tarn) of each."""
        rng = self.rng
        done = self.commits()
        time = (lambda i: i["time"]) if self.version == 6 else (lambda i: i.get("completed") or i["time"])
        yield [], []
        if self.kind != "cow":
            yield ["--mode", "read_optimized"], ["--mode", "read_optimized"]
        for instant in rng.sample(done, min(2, len(done))):
            yield ["--as-of", instant["time"]], ["--as-of", instant["time"]]
        yield ["--mode", "incremental", "--begin", "000"], ["--since", "000"]
        since, until = sorted([time(rng.choice(done)), time(rng.choice(done))])
        yield ["--mode", "incremental", "--begin", since], ["--since", since]
        yield ["--mode", "incremental", "--begin", since, "--end", until], ["--since", since, "--until", until]
        for where in (f"n > {rng.randrange(-40, 40)}", "tag IS NULL", f"ts BETWEEN 1000 AND {self.clock - 10}",
                      f"day < DATE '{rng.randrange(1951, 2060)}-06-01'", f"dt = '{rng.choice(DTS)}' AND n < {rng.randrange(-40, 40)}",
                      f"price >= {rng.randrange(-9000, 9000)}.25"):
            if rng.random() < 0.5:
                yield ["--where", where], ["--where", where]


META_SORT = ["_hoodie_partition_path", "_hoodie_record_key", "_hoodie_commit_time", "_hoodie_commit_seqno"]


def rows_of(table):
    rows = [{name: plain(value) for name, value in row.items()} for row in table.to_pylist()]
    return sorted(rows, key=lambda row: [str(row[name]) for name in META_SORT])


def ask_tarn(history, words, out):
    history.tarn("read", str(history.table), "--meta", "-o", out, *words)
    return pq.read_table(out)


def differing(got, want):
    """What is not the same, in words; none of it when all is."""
    if want.num_rows == 0 and got.num_rows == 0:
        return ""
    types = [[(f.name, type_text(f.type)) for f in table.schema] for table in (got, want)]
    if types[0] != types[1]:
        return f"types {types[0]} for {types[1]}"
    mine, theirs = rows_of(got), rows_of(want)
    lost = [r for r in theirs if r not in mine]
    more = [r for r in mine if r not in theirs]
    if mine == theirs:
        return ""
    return f"{len(mine)} rows for {len(theirs)}; only Spark's ({len(lost)}): {lost[:2]}\nonly tarn's ({len(more)}): {more[:2]}"


def all_lost(history, words, got, want):
    """Whether only Spark tells some rows of a range, and each of them lost against a row of its key that came later by the ordering
    column: Spark reads of a base file only the row groups with commits of the range, and merges after that."""
    if "--since" not in words or history.kind == "cow" or want.num_rows <= got.num_rows or got.schema.names != want.schema.names:
        return False
    mine, theirs = rows_of(got), rows_of(want)
    if [r for r in mine if r not in theirs]:
        return False
    until = words[words.index("--until"):] if "--until" in words else []
    out = str(history.folder / "merged.parquet")
    place = ("_hoodie_partition_path", "_hoodie_record_key")
    won = {tuple(r[n] for n in place): r["ts"] for r in rows_of(ask_tarn(history, ["--since", "000", *until], out))}
    return all(won.get(tuple(r[n] for n in place), r["ts"]) > r["ts"] for r in theirs if r not in mine)


def compare(history):
    """Every query of Spark's answer and tarn's, row for row, types too. All of them are asked before the first failure."""
    wrong = []
    answered = 0
    for number, (spark, words) in enumerate(history.queries()):
        name = f"{len(history.said)}-{number}"
        out = str(history.folder / f"got{name}.parquet")
        try:
            want = history.judge.rows(history.table, str(history.folder / f"want{name}.parquet"), *spark)
        except hudi_peers.Failure as why:
            history.said.append(f"query {words}: Spark: {' '.join(str(why).split())[-600:]}")  # the cause is last
            common = [text for text in (CLEANED, HOLLOW) if text in str(why) and not (text == HOLLOW and "--until" in words)]
            if common:
                said = subprocess.run([history.tarn_bin, "read", str(history.table), "-o", out, *words], capture_output=True, text=True,
                                      stdin=subprocess.DEVNULL, timeout=600, check=False)
                if said.returncode == 0 or common[0] not in said.stderr:
                    wrong.append(f"query {words}: Spark refuses, tarn does not (exit {said.returncode}): {said.stderr}")
            continue
        answered += 1
        try:
            got = ask_tarn(history, words, out)
        except AssertionError as why:
            wrong.append(f"query {words}: Spark has {want.num_rows} rows, {why}")
            continue
        unlike = differing(got, want)
        if unlike and not all_lost(history, words, got, want):
            wrong.append(f"query {words}: {unlike}")
    assert not wrong, "\n".join([str(history), *wrong])
    assert answered, f"Spark answered no query\n{history}"


def seeds():
    if os.environ.get("TARN_SEED"):  # 7 or 7,9,12-20
        ranges = [words.split("-") for words in os.environ["TARN_SEED"].split(",")]
        return [seed for words in ranges for seed in range(int(words[0]), int(words[-1]) + 1)]
    return list(range(1, 64 if os.environ.get("TARN_FULL") else 7))

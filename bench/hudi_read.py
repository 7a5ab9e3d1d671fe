"""The contest `hudi-read` of bench/run: reading tables that Spark with Hudi 1.2 has written.

Whole processes, all columns as Arrow batches that are dropped: tarn (rows_bench), hudi-rs, and DuckDB on the bare base files,
which knows no logs and so only enters where there are none. Warm in its JVM beside them: Spark, which counts the rows of a
column's values. The tables are made once and kept in DIR:

  one          1 M rows in one file
  small        the same in 1,200 files
  two-logs     130,000 rows, merge on read: one base file and two logs that change each row
  many-logs    130,000 rows in 100 file groups with 12 logs each
  indexed      1 M rows in 10 files, with a record index
  listed       100,000 files, listed by the metadata table
"""
import json, os, shutil, statistics, subprocess, sys, time
from pathlib import Path

import hudi_contest

HERE = Path(__file__).resolve().parent
PEERS = {
    "hudi-rs": "import sys\nfrom hudi import HudiTableBuilder\n"
               "print(sum(len(b) for b in HudiTableBuilder.from_base_uri(sys.argv[1]).build().read()))",
    "duckdb": "import sys, duckdb\nr = duckdb.sql(f\"SELECT * FROM read_parquet('{sys.argv[1]}/**/*.parquet')\")"
              ".fetch_record_batch(65536)\nprint(sum(b.num_rows for b in r))",
}
TABLES = {"one": 1_000_000, "small": 1_000_000, "two-logs": 130_000, "many-logs": 130_000}


def make(folder, name, rows_of):
    """In a process of its own: a JVM is in it."""
    subprocess.run([sys.executable, HERE / "hudi_read.py", folder, name, str(rows_of)], check=True, stdout=subprocess.DEVNULL)


def write(spark, frame, table, op, **more):
    import hudi_spark
    settings = {name.replace("__", "."): value for name, value in more.items()}
    frame.write.format("hudi").options(**hudi_spark.options(op, settings)).mode("append").save(str(table))


def make_table(folder, name, rows):
    """Under another name until it is whole."""
    import hudi_spark
    table = folder / f"read-{name}-{rows}"
    if table.exists():
        return
    partial = table.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    data = hudi_contest.make_inputs(folder, rows, 1)
    spark, scratch = hudi_spark.session("1.2.0")
    source = spark.read.parquet(str(data / "all.parquet"))
    log = {"hoodie.datasource.write.table.type": "MERGE_ON_READ", "hoodie.compact.inline": "false"}
    quiet = {"hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false"}
    if name == "one":
        write(spark, source.coalesce(1), partial, "bulk_insert", hoodie__bulkinsert__shuffle__parallelism="1",
              hoodie__parquet__max__file__size="2147483647")
    elif name == "small":
        write(spark, source.repartition(1200), partial, "bulk_insert", hoodie__bulkinsert__shuffle__parallelism="1200")
    elif name == "indexed":
        write(spark, source.repartition(10), partial, "bulk_insert", hoodie__bulkinsert__shuffle__parallelism="10",
              hoodie__metadata__enable="true", hoodie__metadata__record__index__enable="true",
              hoodie__metadata__global__record__level__index__enable="true")
    elif name == "two-logs":
        write(spark, source.coalesce(1), partial, "bulk_insert", **log, **quiet, hoodie__bulkinsert__shuffle__parallelism="1")
        for _ in range(2):
            write(spark, spark.read.parquet(str(data / "upsert-all.parquet")), partial, "upsert", **log, **quiet)
    elif name == "many-logs":
        write(spark, source.repartition(100), partial, "bulk_insert", **log, **quiet, hoodie__bulkinsert__shuffle__parallelism="100")
        for _ in range(12):
            write(spark, spark.read.parquet(str(data / "upsert-10.parquet")), partial, "upsert", **log, **quiet)
    else:
        make_listed(spark, folder, partial, rows)
    spark.stop()
    shutil.rmtree(scratch, ignore_errors=True)
    partial.rename(table)


def make_listed(spark, folder, table, files):
    """A table whose one file is linked under other file ids, in 100 partitions; then Hudi builds its metadata table."""
    import uuid
    data = hudi_contest.make_inputs(folder, 1_000, 1)
    source = spark.read.parquet(str(data / "all.parquet")).limit(10)
    write(spark, source, table, "insert")
    base = next(path for path in table.rglob("*.parquet") if ".hoodie" not in path.parts)
    for p in range(100):
        place = table / f"dt=2025-{p // 28 + 1:02d}-{p % 28 + 1:02d}"
        place.mkdir(exist_ok=True)
        shutil.copyfile(base.parent / ".hoodie_partition_metadata", place / ".hoodie_partition_metadata")
        names = [place / f"{uuid.UUID(int=p << 64 | i)}-0_{base.name.split('_', 1)[1]}" for i in range(files // 100)]
        shutil.copyfile(base, names[0])
        for name in names[1:]:  # a file has 65,000 links at most
            os.link(names[0], name)
    write(spark, source, table, "upsert", hoodie__metadata__enable="true", hoodie__metadata__index__column__stats__enable="false",
          hoodie__metadata__index__partition__stats__enable="false")


class Contest:
    def __init__(self, bench):
        self.bench = bench
        self.program = Path(bench.args.tarn).parent / "bench" / "rows_bench"
        self.rust = hudi_contest.have("hudi")
        if not self.rust:
            print("hudi-read: hudi is not installed (pip install hudi): hudi-rs is left out")

    def table(self, name, rows):
        make(self.bench.dir, name, rows)
        return self.bench.dir / f"read-{name}-{rows}"

    def whole(self, name, rows):
        table = self.table(name, rows)
        commands = {"tarn": lambda: [self.program, table]}
        if self.rust:
            commands["hudi-rs"] = lambda: hudi_contest.python(PEERS["hudi-rs"], table)
        if "logs" not in name:
            commands["duckdb"] = lambda: hudi_contest.python(PEERS["duckdb"], table)
        self.bench.contest(f"hudi read {name}, {rows} rows", 0, commands, rows=rows)
        if "spark" in self.bench.args.hudi_warm:
            self.warm(name, table, rows)

    def warm(self, name, table, rows):
        done = subprocess.run([sys.executable, HERE / "hudi_read.py", "--warm", table, str(self.bench.args.runs)], check=True,
                              stdout=subprocess.PIPE, text=True)
        seconds = json.loads(done.stdout.strip().splitlines()[-1])["seconds"]
        self.told(f"hudi read {name}, {rows} rows", "spark, warm", seconds, rows)

    def told(self, name, who, seconds, rows):
        median = statistics.median(seconds)
        self.bench.log.write(json.dumps({"bench": name, "who": who, "seconds": round(median, 4), "rows": rows, "runs": len(seconds)}) + "\n")
        print(f"{name:38} {who:14} {median:8.3f} s", flush=True)

    def key(self, name, what, rows):
        """A row by its key."""
        table = self.table(name, rows)
        some = subprocess.run([self.bench.args.tarn, "read", table, "--columns", "order_id", "--limit", "1", "--format", "ndjson"],
                              check=True, capture_output=True, text=True).stdout
        key = json.loads(some.splitlines()[0])["order_id"]
        self.bench.contest(f"hudi {what} of {rows}", 0, {"tarn": lambda: [self.bench.args.tarn, "read", table, "--key", key]}, rows=1)

    def listed(self, files):
        table = self.table("listed", files)
        self.bench.contest(f"hudi files of {files}", 0, {"tarn": lambda: [self.bench.args.tarn, "files", table, "--no-rows", "--json"]}, rows=files)

    def first_row(self):
        table = self.table("two-logs", 1_000)
        self.bench.contest("hudi first row", 0, {"tarn": lambda: [self.bench.args.tarn, "read", table, "--limit", "1"]}, rows=1)


def run(bench):
    contest = Contest(bench)
    for name, rows in TABLES.items():
        contest.whole(name, 20_000 if bench.args.quick else rows)
    contest.key("one", "one key", 20_000 if bench.args.quick else 1_000_000)
    contest.key("indexed", "one key with record index", 20_000 if bench.args.quick else 1_000_000)
    contest.first_row()
    contest.listed(2_000 if bench.args.quick else 100_000)


def warm(table, runs):
    """Spark's own seconds for all rows of a table, after two runs that warm it."""
    import hudi_spark
    spark, scratch = hudi_spark.session("1.2.0")
    taken = []
    for turn in range(runs + 2):
        start = time.monotonic()
        spark.read.format("hudi").load(table).write.format("noop").mode("overwrite").save()
        if turn >= 2:
            taken.append(time.monotonic() - start)
    print(json.dumps({"seconds": taken}))
    spark.stop()
    shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    if sys.argv[1] == "--warm":
        warm(sys.argv[2], int(sys.argv[3]))
    else:
        make_table(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))

"""The contest `hudi` of bench/run: writing into tables.

Whole processes, the same Parquet file in, zstd out: tarn into a Hudi table, delta-rs into a Delta table, DuckDB and
pyarrow as bare Parquet. An upsert works on a copy of a table that the same program has written. Beside them, warm in
their JVM and on the same inputs: Spark with Hudi (hudi_spark.py) and Hudi's Java client (HudiJavaBench.java), when their
jars are there.
"""
import json, os, shutil, statistics, subprocess, sys, time
from pathlib import Path

HERE = Path(__file__).resolve().parent

INSERT = {
    "pyarrow": {
        1: "import sys, pyarrow.parquet as pq\n"
           "pq.write_table(pq.read_table(sys.argv[1]), sys.argv[2], compression='zstd', compression_level=3)",
        10: "import sys, pyarrow.dataset as ds\n"
            "ds.write_dataset(ds.dataset(sys.argv[1]), sys.argv[2], format='parquet', partitioning=['dt'],\n"
            "    partitioning_flavor='hive', max_rows_per_group=1 << 20,\n"
            "    file_options=ds.ParquetFileFormat().make_write_options(compression='zstd', compression_level=3))",
    },
    "duckdb": {
        1: "import sys, duckdb\nduckdb.sql(f\"COPY (SELECT * FROM '{sys.argv[1]}') TO '{sys.argv[2]}' "
           "(FORMAT parquet, COMPRESSION zstd)\")",
        10: "import sys, duckdb\nduckdb.sql(f\"COPY (SELECT * FROM '{sys.argv[1]}') TO '{sys.argv[2]}' "
            "(FORMAT parquet, COMPRESSION zstd, PARTITION_BY (dt))\")",
    },
    "delta-rs": "import sys, pyarrow.parquet as pq, deltalake as d\n"
                "d.write_deltalake(sys.argv[2], pq.read_table(sys.argv[1]), partition_by=['dt'],\n"
                "    writer_properties=d.WriterProperties(compression='ZSTD', compression_level=3))",
}
MERGE = ("import sys, pyarrow.parquet as pq, deltalake as d\n"
         "(d.DeltaTable(sys.argv[2]).merge(pq.read_table(sys.argv[1]),\n"
         "    predicate='t.dt = s.dt AND t.order_id = s.order_id', source_alias='s', target_alias='t',\n"
         "    writer_properties=d.WriterProperties(compression='ZSTD', compression_level=3))\n"
         "  .when_matched_update_all(predicate='s.ts >= t.ts').when_not_matched_insert_all().execute())")

def tarn_write(bench, table, source, op):
    return [bench.args.tarn, "write", table, source, "--key", "order_id", "--partition", "dt", "--ordering", "ts",
            "--op", op]


def python(code, *args):
    return [sys.executable, "-c", code, *map(str, args)]


def make_inputs(folder, rows, partitions):
    """In a process of its own, as its memory would count as that of every child of this one."""
    done = subprocess.run([sys.executable, HERE / "hudi_data.py", folder, str(rows), str(partitions)], check=True,
                          capture_output=True, text=True)
    return Path(done.stdout.strip())


def have(module):
    return subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True).returncode == 0


class Contest:
    def __init__(self, bench):
        self.bench = bench
        self.out = bench.dir / "out"
        self.delta = have("deltalake")
        if not self.delta:
            print("hudi: deltalake is not installed (pip install deltalake): delta-rs is left out")

    # ---- whole processes

    def insert(self, data, rows, partitions):
        source = data / "all.parquet"
        commands = {"tarn": lambda: tarn_write(self.bench, self.bench.fresh("tarn-table"), source, "insert")}
        for who in ("duckdb", "pyarrow"):
            name = who + ("-parts" if partitions > 1 else ".parquet")
            commands[who] = lambda who=who, name=name: python(INSERT[who][partitions], source, self.bench.fresh(name))
        if self.delta:
            commands["delta-rs"] = lambda: python(INSERT["delta-rs"], source, self.bench.fresh("delta-table"))
        self.contest(f"hudi insert {rows} rows, {partitions} partitions", rows, commands)

    def tables(self, data):
        """A table of each program, to be copied before each upsert."""
        seeds = {"tarn": self.bench.fresh("tarn-seed")}
        subprocess.run(tarn_write(self.bench, seeds["tarn"], data / "all.parquet", "insert"), check=True,
                       stdout=subprocess.DEVNULL)
        if self.delta:
            seeds["delta-rs"] = self.bench.fresh("delta-seed")
            subprocess.run(python(INSERT["delta-rs"], data / "all.parquet", seeds["delta-rs"]), check=True)
        return seeds

    def copied(self, seed):
        work = self.bench.fresh(seed.name.replace("seed", "work"))
        shutil.copytree(seed, work)
        return work

    def upsert(self, seeds, source, name, rows):
        commands = {"tarn": lambda: tarn_write(self.bench, self.copied(seeds["tarn"]), source, "upsert")}
        if "delta-rs" in seeds:
            commands["delta-rs"] = lambda: python(MERGE, source, self.copied(seeds["delta-rs"]))
        self.contest(name, rows, commands)

    def contest(self, name, rows, commands):
        self.bench.contest(name, 0, commands, rows=rows)

    # ---- small and late changes

    def micro(self, data, seeds, rows):
        self.upsert(seeds, data / "ten-near.parquet", f"hudi 10 rows of one row group of {rows}", 10)
        self.upsert(seeds, data / "ten-random.parquet", f"hudi 10 random keys of {rows}", 10)
        commands = {
            "tarn": lambda: tarn_write(self.bench, self.copied(seeds["tarn"]), data / "upsert-1.parquet", "upsert"),
            "tarn, all of it anew": lambda: tarn_write(self.bench, self.copied(seeds["tarn"]), data / "all.parquet",
                                                       "insert_overwrite_table"),
        }
        self.contest(f"hudi 1 % clustered in time of {rows}", rows // 100, commands)

    def timeline(self):
        table = self.long_timeline(self.bench.args.hudi_instants)
        self.contest(f"hudi timeline of {self.bench.args.hudi_instants} instants", self.bench.args.hudi_instants,
                     {"tarn": lambda: [self.bench.args.tarn, "timeline", table]})

    def long_timeline(self, instants):
        """A table with one commit, whose instant is there many times under other times."""
        table = self.bench.dir / f"timeline-{instants}"
        if table.exists():
            return table
        partial = table.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        source = make_inputs(self.bench.dir, 1_000, 1) / "all.parquet"
        subprocess.run(tarn_write(self.bench, partial, source, "insert"), check=True, stdout=subprocess.DEVNULL)
        folder = partial / ".hoodie" / "timeline"
        folder = folder if folder.is_dir() else partial / ".hoodie"
        files = [f for f in folder.iterdir() if f.is_file() and f.name[:17].isdigit()]
        for i in range(1, instants):
            for f in files:
                times, dot, rest = f.name.partition(".")
                requested, under, completed = times.partition("_")
                later = earlier(requested, i) + (under and under + earlier(completed, i)) + dot + rest
                shutil.copyfile(f, folder / later)
        partial.rename(table)
        return table

    # ---- warm in a JVM

    def warm(self, data, rows, partitions):
        for who, argv in (("spark + hudi 1.2", [sys.executable, HERE / "hudi_spark.py"]),
                          ("java client 1.2", [sys.executable, HERE / "hudi_java.py"])):
            if who.split()[0] not in self.bench.args.hudi_warm:
                continue
            start = time.monotonic()
            child = subprocess.Popen([*argv, "--data", data, "--out", self.out / "warm", "--runs",
                                      str(self.bench.args.runs)], stdout=subprocess.PIPE, text=True)
            lines = [json.loads(line) for line in child.stdout]
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            if child.returncode != 0:
                raise SystemExit(f"bench: {argv[1].name}: exit {child.returncode}")
            for line in lines:
                if line.get("kind") == "peak":
                    peak = line["peak_mib"]
            for line in lines:
                if line.get("kind") == "run":
                    self.report_warm(who, line, rows, partitions, peak)
            shutil.rmtree(self.out / "warm", ignore_errors=True)
            print(f"{'':34} {who} took {time.monotonic() - start:.0f} s in all", flush=True)

    def report_warm(self, who, line, rows, partitions, peak):
        seconds = statistics.median(line["seconds"])
        row = {"bench": f"hudi {line['op']} {rows} rows, {partitions} partitions", "who": who + ", warm",
               "seconds": round(seconds, 4), "rows": line["rows"], "rows_per_s": round(line["rows"] / seconds),
               "peak_mib": peak, "runs": len(line["seconds"])}
        self.bench.log.write(json.dumps(row) + "\n")
        self.bench.log.flush()
        print(f"{row['bench']:38} {row['who']:24} {seconds:8.3f} s {row['rows_per_s']:10,} rows/s {peak:8.1f} MiB",
              flush=True)


def earlier(instant, by):
    """yyyyMMddHHmmssSSS, `by` seconds before."""
    import datetime
    at = datetime.datetime.strptime(instant[:14], "%Y%m%d%H%M%S") - datetime.timedelta(seconds=by)
    return at.strftime("%Y%m%d%H%M%S") + instant[14:]


def run(bench):
    contest = Contest(bench)
    for rows in bench.args.hudi_rows:
        for partitions in (1, 10):
            data = make_inputs(bench.dir, rows, partitions)
            contest.insert(data, rows, partitions)
            seeds = contest.tables(data)
            contest.upsert(seeds, data / "upsert-all.parquet", f"hudi upsert of all {rows} rows, {partitions} partitions",
                           rows)
            contest.upsert(seeds, data / "upsert-10.parquet", f"hudi upsert of 10 % {rows} rows, {partitions} partitions",
                           rows // 10)
            if partitions == 1:
                contest.micro(data, seeds, rows)
            if rows <= 1_000_000:
                contest.warm(data, rows, partitions)
            for name in ("tarn-table", "tarn-seed", "tarn-work", "delta-table", "delta-seed", "delta-work",
                         "duckdb-parts", "pyarrow-parts", "duckdb.parquet", "pyarrow.parquet"):
                bench.fresh(name)
    contest.timeline()

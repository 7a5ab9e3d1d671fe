"""One table that real Hudi 1.2.0 makes step by step, and all queries of it: Spark's answer and tarn's, row for row and type for
type. What Spark itself refuses is told, and not compared."""
import json
import pathlib

import pyarrow as pa
import pyarrow.parquet as pq

import hudi_peers
from hudi_history import differing

QUIET = {"hoodie.metadata.enable": "false", "hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false",
         "hoodie.compact.inline": "false", "hoodie.parquet.small.file.limit": "0", "hoodie.upsert.shuffle.parallelism": "2",
         "hoodie.embed.timeline.server": "false", "hoodie.write.markers.type": "DIRECT", "hoodie.write.auto.upgrade": "false"}
ON_READ = {"hoodie.schema.on.read.enable": "true", "hoodie.avro.schema.validate": "false",
           # Else Hudi takes a column that is renamed for one that is missing.
           "hoodie.datasource.write.schema.allow.auto.evolution.column.drop": "true"}
CHANGES = {"hoodie.table.cdc.enabled": "true", "hoodie.table.cdc.supplemental.logging.mode": "data_before_after"}


class Asked:
    """`kind` is cow, mor, or mor-parquet: logs with Parquet blocks. Columns id and p are the key and the partition."""

    def __init__(self, hudi, tarn, folder, version, kind, ordering="ts", **options):
        self.hudi, self.tarn, self.folder, self.version, self.kind = hudi, tarn, pathlib.Path(folder), version, kind
        self.table, self.ordering, self.number, self.refused = self.folder / "table", ordering, 0, []
        self.options = QUIET | {"hoodie.write.table.version": str(version)} | options.get("options", {})
        if kind == "mor-parquet":
            self.options["hoodie.logfile.data.block.format"] = "parquet"

    def put(self, op, rows, schema, **more):
        self.number += 1
        path = self.folder / f"in{self.number}.parquet"
        pq.write_table(pa.Table.from_pylist(rows, schema), path)
        words = ["write", "--table", self.table, "--input", path, "--op", op, "--type", self.kind[:3], "--key", "id", "--name", "t",
                 "--partition", "p", "--table-version", self.version]
        words += ["--precombine", self.ordering] if self.ordering else []
        for name, value in (self.options | more).items():
            words += ["--opt", f"{name}={value}"]
        self.hudi(*words)

    def sql(self, *statements):
        """The settings are those of Spark's session, which others have, too."""
        settings = [f"SET {name}={value}" for name, value in self.options.items()]
        # Without it Hudi 1.2.0 refuses fields of structs that were renamed, and some types that grew.
        settings.append("SET spark.sql.parquet.enableVectorizedReader=false")
        try:
            return self.hudi("sql", "--table", self.table, "--name", "t", *settings, *statements)
        finally:
            self.hudi("sql", "RESET")

    def compact(self, *steps):
        for step in steps or ("schedule", "run"):
            self.sql(f"CALL run_compaction(op => '{step}', path => '{self.table}')")

    def done(self):
        """(time, time that ranges are told by) of the completed commits, oldest first."""
        told = json.loads(self.tarn("timeline", str(self.table), "--json"))["instants"]
        done = [i for i in told if i["state"].lower() == "completed" and i["action"] in ("commit", "deltacommit", "replacecommit")]
        return sorted((i["time"], i["time"] if self.version == 6 else i.get("completed") or i["time"]) for i in done)

    def queries(self):
        done = self.done()
        yield [], []
        if self.kind != "cow":
            yield ["--mode", "read_optimized"], ["--mode", "read_optimized"]
        for time, _ in done[:-1] if len(done) < 6 else done[1:-1:3]:
            yield ["--as-of", time], ["--as-of", time]
        yield ["--mode", "incremental", "--begin", "000"], ["--since", "000"]
        if len(done) > 2:
            begin, end = done[0][1], done[-2][1]
            yield ["--mode", "incremental", "--begin", begin, "--end", end], ["--since", begin, "--until", end]

    def check(self, queries=None, refused=()):
        """Asks all queries, or those; all of them before the first failure. Spark may only refuse as told."""
        wrong = []
        self.hudi("sql", "SET spark.sql.parquet.enableVectorizedReader=false")
        for spark, words in queries or self.queries():
            self.number += 1
            want, out = (self.folder / f"{name}{self.number}.parquet" for name in ("want", "got"))
            on = ["--opt", "hoodie.schema.on.read.enable=true"] if "hoodie.schema.on.read.enable" in self.options else []
            try:
                self.hudi.rows(self.table, str(want), *spark, *on)
            except hudi_peers.Failure as why:
                if not any(text in str(why) for text in refused):
                    wrong.append(f"{words}: Spark: {why}")
                self.tarn("read", str(self.table), "--meta", "-o", out, *words)
                continue
            self.tarn("read", str(self.table), "--meta", "-o", out, *words)
            unlike = differing(pq.read_table(out), pq.read_table(want))
            if unlike:
                wrong.append(f"{words}: {unlike}")
        self.hudi("sql", "RESET")
        assert not wrong, "\n".join(wrong)

    def check_changes(self):
        """Change data since the begin, image for image, without decimals, which Spark prints wrong."""
        rows = self.hudi("read", "--table", self.table, "--mode", "cdc", "--begin", "000")
        text = self.tarn("read", str(self.table), "--mode", "cdc", "--format", "ndjson")
        assert changes(json.loads(line) for line in text.splitlines()) == changes(rows)

    def snapshot(self):
        return {row["id"]: row for row in map(json.loads, self.tarn("read", str(self.table), "--format", "ndjson").splitlines())}


def bare(value):
    """Without fields that are null, which Spark's images leave out and tarn's have, and with numbers by value."""
    if isinstance(value, dict):
        return {k: bare(v) for k, v in value.items() if v is not None and k != "dc"}
    if isinstance(value, list):
        return [bare(v) for v in value]
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def image(text):
    return bare(json.loads(text)) if text is not None else None


def changes(rows):
    rows = [(r["op"], r["ts_ms"], image(r.get("before")), image(r.get("after"))) for r in rows]
    return sorted(rows, key=lambda r: json.dumps(r, sort_keys=True))

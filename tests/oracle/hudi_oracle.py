#!/usr/bin/env python3
"""Apache Hudi on Spark local[2], as an oracle for interop checks.

  hudi_oracle.py [--hudi 1.2.0] write  --table DIR --input F.parquet|F.jsonl --op upsert --type cow --key id ...
  hudi_oracle.py [--hudi 1.2.0] read   --table DIR [--mode snapshot|read_optimized|incremental|cdc] ...
  hudi_oracle.py [--hudi 1.2.0] sql    --table DIR --name T 'SQL' ['SQL' ...]
  hudi_oracle.py [--hudi 1.2.0] layout --table DIR
  hudi_oracle.py [--hudi 1.2.0] batch  FILE    a JSON list of commands; each a list of arguments or one string
  hudi_oracle.py [--hudi 1.2.0] serve          one JSON command per line on stdin, one JSON answer per line

stdout carries results only, one JSON object per line; Spark's and Hudi's log goes to stderr.
In batch and serve each answer is {"i":N,"cmd":[...],"ok":true,"secs":S,"out":[...]} or {"ok":false,"error":"..."}.

Bundles are fetched by tests/oracle/setup. Environment: TARN_CACHE (default ~/.cache/tarn; bundles in its jars/),
TARN_HUDI_VERSION (1.2.0), TARN_HUDI_JAR (a bundle jar, wins), TARN_ORACLE_MEM (driver heap, 2g), TARN_ORACLE_JAVA
(more options of the JVM), TARN_ORACLE_LOG (log level, ERROR).
"""
import argparse
import glob
import json
import os
import shlex
import shutil
import sys
import tempfile
import time

OPS = ["insert", "upsert", "bulk_insert", "delete", "insert_overwrite", "insert_overwrite_table", "delete_partition"]
META = ["_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key",
        "_hoodie_partition_path", "_hoodie_file_name"]
JSON_OPTS = {"ignoreNullFields": "false",
             "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
             "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"}


def parser():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--hudi", default=os.environ.get("TARN_HUDI_VERSION", "1.2.0"), help="bundle version")
    s = p.add_subparsers(dest="cmd", required=True)

    w = s.add_parser("write")
    w.add_argument("--table", required=True)
    w.add_argument("--input", required=True, nargs="+", help=".parquet, .jsonl or .json files, or a Parquet directory")
    w.add_argument("--schema", help="Spark DDL for JSON input, e.g. 'id string, ts bigint'")
    w.add_argument("--op", choices=OPS, default="upsert")
    w.add_argument("--type", choices=["cow", "mor"], default="cow")
    w.add_argument("--key", default="id", help="record key field(s), comma separated")
    w.add_argument("--partition", default="", help="partition field(s), comma separated; empty: none")
    w.add_argument("--precombine", default="", help="ordering field; empty: none")
    w.add_argument("--name", help="table name (default: the directory's name)")
    w.add_argument("--table-version", help="hoodie.write.table.version (6, 8, 9); 0.15.0 always writes 6")
    w.add_argument("--hive-style", action="store_true", help="partition folders as col=value")
    w.add_argument("--overwrite", action="store_true", help="Spark save mode overwrite: drop the table first")
    w.add_argument("--opt", action="append", default=[], metavar="K=V", help="any Hudi write option")

    r = s.add_parser("read")
    r.add_argument("--table", required=True)
    r.add_argument("--mode", choices=["snapshot", "read_optimized", "incremental", "cdc"], default="snapshot")
    r.add_argument("--begin")
    r.add_argument("--end")
    r.add_argument("--as-of")
    r.add_argument("--meta", action="store_true", help="keep the _hoodie_* columns")
    r.add_argument("--where", help="a SQL filter")
    r.add_argument("--out", help="write the rows there as one Parquet file, with Spark's types, and print its path")
    r.add_argument("--count", action="store_true", help="only {'count':N}")
    r.add_argument("--schema-only", action="store_true", help="only Spark's schema as JSON")
    r.add_argument("--opt", action="append", default=[], metavar="K=V")

    q = s.add_parser("sql")
    q.add_argument("--table", help="registered as --name before the statements run")
    q.add_argument("--name", default="t")
    q.add_argument("sql", nargs="+")

    l = s.add_parser("layout")
    l.add_argument("--table", required=True)

    b = s.add_parser("batch")
    b.add_argument("file", help="JSON list; - for stdin")
    s.add_parser("serve")
    return p


def find_jar(version):
    if os.environ.get("TARN_HUDI_JAR"):
        return os.environ["TARN_HUDI_JAR"]
    base = os.environ.get("TARN_CACHE") or os.path.expanduser("~/.cache/tarn")
    m2 = os.path.expanduser("~/.m2/repository/org/apache/hudi")
    name = "hudi-spark3.5-bundle_2.12"
    for pat in (f"{base}/jars/{name}-{version}.jar", f"{m2}/{name}/{version}/{name}-{version}.jar"):
        hit = glob.glob(pat)
        if hit:
            return hit[0]
    sys.exit(f"hudi_oracle: no {name} {version}; run tests/oracle/setup {version}")


def start(version):
    from pyspark.sql import SparkSession
    # The name of the machine need not resolve: Spark then asks nobody for it.
    os.environ["SPARK_LOCAL_IP"] = os.environ["SPARK_LOCAL_HOSTNAME"] = "127.0.0.1"
    scratch = tempfile.mkdtemp(prefix="tarn-oracle-")
    b = (SparkSession.builder.master("local[2]").appName("tarn-oracle")
         .config("spark.driver.extraClassPath", find_jar(version))
         .config("spark.driver.memory", os.environ.get("TARN_ORACLE_MEM", "2g"))
         # pyspark adds the --add-opens Spark itself needs on Java 17; this one is for `layout` (py4j over streams).
         .config("spark.driver.extraJavaOptions", "--add-opens=java.base/java.util.stream=ALL-UNNAMED"
                 " -Duser.timezone=UTC -XX:+IgnoreUnrecognizedVMOptions -Dderby.system.home=" + scratch +
                 " " + os.environ.get("TARN_ORACLE_JAVA", ""))
         .config("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
         .config("spark.kryo.registrator", "org.apache.spark.HoodieSparkKryoRegistrar")
         .config("spark.sql.extensions", "org.apache.spark.sql.hudi.HoodieSparkSessionExtension")
         .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.hudi.catalog.HoodieCatalog")
         .config("spark.sql.catalogImplementation", "in-memory")
         .config("spark.sql.warehouse.dir", scratch)
         .config("spark.local.dir", scratch)
         .config("spark.sql.session.timeZone", "UTC")
         .config("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
         .config("spark.sql.parquet.datetimeRebaseModeInWrite", "CORRECTED")
         .config("spark.sql.shuffle.partitions", "2").config("spark.default.parallelism", "2")
         .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
         .config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false"))
    spark = b.getOrCreate()
    spark.sparkContext.setLogLevel(os.environ.get("TARN_ORACLE_LOG", "ERROR"))
    return spark


def kv(opts):
    return dict(o.split("=", 1) for o in opts)


def rows(df):
    from pyspark.sql import functions as F
    if not df.columns:
        return []
    out = df.select(F.to_json(F.struct(*[F.col(f"`{c}`") for c in df.columns]), JSON_OPTS).alias("j")).collect()
    return [json.loads(r.j) for r in out]


def cmd_write(spark, a):
    if all(f.endswith((".jsonl", ".json")) for f in a.input):
        rd = spark.read.schema(a.schema) if a.schema else spark.read
        df = rd.json(a.input)
    else:
        df = spark.read.parquet(*a.input)
    table = os.path.abspath(a.table)
    o = {"hoodie.table.name": a.name or os.path.basename(table).replace("-", "_"),
         "hoodie.datasource.write.operation": a.op,
         "hoodie.datasource.write.table.type": {"cow": "COPY_ON_WRITE", "mor": "MERGE_ON_READ"}[a.type],
         "hoodie.datasource.write.recordkey.field": a.key,
         "hoodie.datasource.write.partitionpath.field": a.partition,
         "hoodie.datasource.write.hive_style_partitioning": str(a.hive_style).lower()}
    if a.precombine:
        o["hoodie.datasource.write.precombine.field"] = a.precombine
    if a.table_version:
        o["hoodie.write.table.version"] = a.table_version
        o["hoodie.write.auto.upgrade"] = "false"
    o.update(kv(a.opt))
    t = time.time()
    df.write.format("hudi").options(**o).mode("overwrite" if a.overwrite else "append").save(table)
    props = table_props(table)
    return [{"table": a.table, "op": a.op, "secs": round(time.time() - t, 3),
             "table_version": props.get("hoodie.table.version")}]


def cmd_read(spark, a):
    o = {}
    if a.mode in ("incremental", "cdc"):
        o["hoodie.datasource.query.type"] = "incremental"
        o["hoodie.datasource.read.begin.instanttime"] = a.begin or "000"
        if a.end:
            o["hoodie.datasource.read.end.instanttime"] = a.end
        if a.mode == "cdc":
            o["hoodie.datasource.query.incremental.format"] = "cdc"
    else:
        o["hoodie.datasource.query.type"] = a.mode
        if a.as_of:
            o["as.of.instant"] = a.as_of
    o.update(kv(a.opt))
    df = spark.read.format("hudi").options(**o).load(os.path.abspath(a.table))
    if a.schema_only:
        return [json.loads(df.schema.json())]
    if a.where:
        df = df.where(a.where)
    if a.count:
        return [{"count": df.count()}]
    if a.out:
        return [{"file": one_file(df if a.meta else df.drop(*META), a.out)}]
    out = rows(df)
    out.sort(key=lambda r: (r.get("_hoodie_partition_path") or "", r.get("_hoodie_record_key") or "",
                            r.get("ts_ms") or "", json.dumps(r, sort_keys=True)))
    out.sort(key=lambda r: r.get("_hoodie_record_key") or "")
    if not a.meta:
        out = [{k: v for k, v in r.items() if k not in META} for r in out]
    return out


def one_file(df, path):
    scratch = path + ".parts"
    df.coalesce(1).write.mode("overwrite").parquet(scratch)
    os.replace(glob.glob(scratch + "/part-*.parquet")[0], path)
    shutil.rmtree(scratch)
    return path


def cmd_sql(spark, a):
    if a.table:
        spark.sql(f"DROP TABLE IF EXISTS {a.name}")     # external: only the catalog entry goes
        spark.sql(f"CREATE TABLE {a.name} USING hudi LOCATION '{os.path.abspath(a.table)}'")
    out = []
    for s in a.sql:
        out += rows(spark.sql(s))
    return out


def table_props(table):
    out = {}
    with open(os.path.join(table, ".hoodie", "hoodie.properties")) as f:
        for line in f:
            line = line.strip()
            if line and not line.startswith("#"):
                k, _, v = line.partition("=")
                out[k] = v.replace("\\:", ":").replace("\\=", "=")
    return out


def cmd_layout(spark, a):
    """File groups and slices as Hudi's own file system view sees them (by listing), plus the timeline."""
    table, j = os.path.abspath(a.table), spark._jvm
    h = j.org.apache.hudi
    conf = h.hadoop.fs.HadoopFSUtils.getStorageConf(spark._jsc.hadoopConfiguration())
    mc = h.common.table.HoodieTableMetaClient.builder().setConf(conf).setBasePath(table).build()
    listing = h.common.config.HoodieMetadataConfig.newBuilder().enable(False).build()
    view = h.common.table.view.FileSystemViewManager.createInMemoryFileSystemView(
        h.common.engine.HoodieLocalEngineContext(conf), mc, listing)
    to_list = j.java.util.stream.Collectors.toList
    first = lambda o, *names: next((getattr(o, n)() for n in names if hasattr_java(o, n)), None)
    parts = sorted(os.path.relpath(d, table) for d, sub, fs in os.walk(table)
                   if any(f.startswith(".hoodie_partition_metadata") for f in fs) and "/.hoodie/" not in d + "/")
    groups = []
    for p in parts:
        p = "" if p == "." else p
        for g in view.getAllFileGroups(p).collect(to_list()):
            slices = []
            for s in g.getAllFileSlices().collect(to_list()):
                base = s.getBaseFile()
                logs = s.getLogFiles().collect(to_list())
                slices.append({
                    "base_instant": s.getBaseInstantTime(),
                    "base": {"name": base.get().getFileName(), "size": base.get().getFileSize()} if base.isPresent() else None,
                    "logs": sorted(({"name": l.getFileName(), "size": l.getFileSize()} for l in logs), key=lambda x: x["name"])})
            slices.sort(key=lambda s: s["base_instant"])
            groups.append({"partition": p, "file_id": g.getFileGroupId().getFileId(), "slices": slices})
    groups.sort(key=lambda g: (g["partition"], g["file_id"]))
    timeline = [{"time": first(i, "requestedTime", "getTimestamp"), "action": i.getAction(),
                 "state": i.getState().toString(), "completed": first(i, "getCompletionTime", "getStateTransitionTime")}
                for i in mc.getActiveTimeline().getInstants()]
    files = []
    for d, sub, fs in os.walk(os.path.join(table, ".hoodie")):
        if os.path.join(".hoodie", "metadata") in d:
            continue
        for f in fs:
            if not f.endswith(".crc"):
                q = os.path.join(d, f)
                files.append({"path": os.path.relpath(q, table), "size": os.path.getsize(q)})
    files.sort(key=lambda f: f["path"])
    view.close()
    return [{"properties": table_props(table), "partitions": parts, "file_groups": groups,
             "timeline": timeline, "hoodie_files": files}]


def hasattr_java(obj, name):
    return any(m.getName() == name for m in obj.getClass().getMethods())


CMDS = {"write": cmd_write, "read": cmd_read, "sql": cmd_sql, "layout": cmd_layout}


def short(e):
    j = getattr(e, "java_exception", None)
    if j is None:
        return f"{type(e).__name__}: {e}".strip()[:2000]
    chain = []
    while j is not None and len(chain) < 6:
        chain.append(" ".join(j.toString().split())[:400])
        j = j.getCause()
    return " <- ".join(chain)


def one(spark, p, cmd, i):
    args = shlex.split(cmd) if isinstance(cmd, str) else [str(c) for c in cmd]
    ans, t = {"i": i, "cmd": args}, time.time()
    try:
        a = p.parse_args(args)
        out = CMDS[a.cmd](spark, a)
        ans.update(ok=True, secs=round(time.time() - t, 3), out=out)
    except SystemExit:
        ans.update(ok=False, error="bad arguments")
    except Exception as e:
        ans.update(ok=False, secs=round(time.time() - t, 3), error=short(e))
    return ans


def main():
    p = parser()
    a = p.parse_args()
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)                       # the JVM's own prints go to stderr
    say = lambda o: print(json.dumps(o, ensure_ascii=False), file=out, flush=True)
    spark, bad = start(a.hudi), 0
    if a.cmd == "batch":
        with (sys.stdin if a.file == "-" else open(a.file)) as f:
            cmds = json.load(f)
        for i, c in enumerate(cmds):
            r = one(spark, p, c, i)
            bad += not r["ok"]
            say(r)
    elif a.cmd == "serve":
        for i, line in enumerate(sys.stdin):
            if line.strip():
                say(one(spark, p, json.loads(line), i))
    else:
        try:
            for o in CMDS[a.cmd](spark, a):
                say(o)
        except Exception as e:
            print("hudi_oracle:", short(e), file=sys.stderr)
            bad = 1
    spark.stop()
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()

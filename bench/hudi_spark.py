#!/usr/bin/env python3
"""Spark with Hudi, warm: one JVM inserts, upserts all and upserts 10 % of an input of hudi_data.py, again and again.

  bench/hudi_spark.py --data DIR/orders-ROWS-PARTITIONS --out DIR [--runs 5] [--hudi 1.2.0]

stdout: a JSON line for each operation with the seconds of its runs (reading the input and the commit included; two runs
before them warm the JVM), and one with the peak memory. Hudi's defaults, but zstd, and no metadata table, as the writers
beside it keep none. Needs pyspark and Hudi's bundle: TARN_HUDI_JAR, or TARN_ORACLE_DIR/jars.
"""
import argparse, json, os, resource, shutil, sys, tempfile, time
from pathlib import Path

WARM_UPS = 2


def jar(version):
    given = os.environ.get("TARN_HUDI_JAR")
    kept = Path(os.environ.get("TARN_ORACLE_DIR") or Path.home() / ".cache/tarn-oracle")
    path = Path(given) if given else kept / "jars" / f"hudi-spark3.5-bundle_2.12-{version}.jar"
    if not path.exists():
        raise SystemExit(f"hudi_spark: {path} is missing; fetch it with mvn dependency:copy"
                         f" -Dartifact=org.apache.hudi:hudi-spark3.5-bundle_2.12:{version}, or name one in TARN_HUDI_JAR")
    return str(path)


def session(version):
    from pyspark.sql import SparkSession
    scratch = tempfile.mkdtemp(prefix="tarn-bench-spark-")
    spark = (SparkSession.builder.master("local[2]").appName("tarn-bench")
             .config("spark.driver.extraClassPath", jar(version))
             .config("spark.driver.memory", os.environ.get("TARN_ORACLE_MEM", "4g"))
             .config("spark.driver.extraJavaOptions", "-Duser.timezone=UTC -XX:+IgnoreUnrecognizedVMOptions")
             .config("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
             .config("spark.kryo.registrator", "org.apache.spark.HoodieSparkKryoRegistrar")
             .config("spark.sql.extensions", "org.apache.spark.sql.hudi.HoodieSparkSessionExtension")
             .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.hudi.catalog.HoodieCatalog")
             .config("spark.sql.catalogImplementation", "in-memory")
             .config("spark.sql.warehouse.dir", scratch).config("spark.local.dir", scratch)
             .config("spark.sql.session.timeZone", "UTC")
             .config("spark.sql.shuffle.partitions", "2").config("spark.default.parallelism", "2")
             .config("spark.driver.host", "localhost").config("spark.driver.bindAddress", "127.0.0.1")
             .config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
             .getOrCreate())
    spark.sparkContext.setLogLevel("ERROR")
    return spark, scratch


def options(op, more=()):
    out = {"hoodie.table.name": "orders", "hoodie.datasource.write.operation": op,
           "hoodie.datasource.write.table.type": "COPY_ON_WRITE",
           "hoodie.datasource.write.recordkey.field": "order_id",
           "hoodie.datasource.write.partitionpath.field": "dt",
           "hoodie.datasource.write.precombine.field": "ts",
           "hoodie.datasource.write.hive_style_partitioning": "true",
           "hoodie.metadata.enable": "false", "hoodie.parquet.compression.codec": "zstd"}
    out.update(more)
    return out


def write(spark, source, table, op, more=()):
    """Seconds that it takes, from the input to the commit."""
    start = time.monotonic()
    spark.read.parquet(str(source)).write.format("hudi").options(**options(op, more)).mode("append").save(str(table))
    return time.monotonic() - start


def peak_mib():
    """Of the JVM, which is a child: VmHWM while it runs, as it is not waited for yet."""
    best = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                status = dict(line.split(":", 1) for line in (entry / "status").read_text().splitlines() if ":" in line)
                if int(status["PPid"]) == os.getpid() and "VmHWM" in status:
                    best = max(best, int(status["VmHWM"].split()[0]))
            except (OSError, ValueError):
                continue
    return round(best / 1024, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--hudi", default="1.2.0")
    args = parser.parse_args()
    import pyarrow.parquet as pq
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the JVM prints goes to stderr
    spark, scratch = session(args.hudi)
    shutil.rmtree(args.out, ignore_errors=True)
    args.out.mkdir(parents=True)
    seed = args.out / "seed"
    write(spark, args.data / "all.parquet", seed, "insert")
    expected = spark.read.format("hudi").load(str(seed)).count()
    for op, source in (("insert", "all"), ("upsert of all", "upsert-all"), ("upsert of 10 %", "upsert-10")):
        rows = pq.ParquetFile(args.data / f"{source}.parquet").metadata.num_rows
        taken = []
        for _ in range(WARM_UPS + args.runs):
            work = args.out / "work"
            shutil.rmtree(work, ignore_errors=True)
            if op != "insert":
                shutil.copytree(seed, work)
            taken.append(write(spark, args.data / f"{source}.parquet", work, op.split()[0]))
        found = spark.read.format("hudi").load(str(args.out / "work")).count()
        if found != expected:
            raise SystemExit(f"hudi_spark: {op}: {found} rows, want {expected}")
        print(json.dumps({"kind": "run", "op": op, "rows": rows, "seconds": [round(s, 4) for s in taken[WARM_UPS:]]}),
              file=out, flush=True)
    print(json.dumps({"kind": "peak", "peak_mib": peak_mib()}), file=out, flush=True)
    spark.stop()
    shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Hudi's Java client, warm in its JVM: runs HudiJavaBench.java with the JDK's launcher of source files.

  bench/hudi_java.py --data DIR/orders-ROWS-PARTITIONS --out DIR [--runs 5] [--hudi 1.2.0]

Takes the client's jar through mvn when it is missing. What the client needs besides is in Hudi's Spark bundle (see
hudi_spark.py) and in pyspark's jars. Needs a JDK (17).
"""
import argparse, json, os, shutil, subprocess, sys
from pathlib import Path

import hudi_spark

PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1"
ADD_OPENS = ["java.base/java.lang", "java.base/java.util", "java.base/java.nio", "java.base/sun.nio.ch"]


def client_jar(version):
    folder = Path(os.environ.get("TARN_ORACLE_DIR") or Path.home() / ".cache/tarn-oracle") / "jars"
    jar = folder / f"hudi-java-client-{version}.jar"
    if not jar.exists():
        subprocess.run(["mvn", "-q", "-B", f"{PLUGIN}:copy", f"-Dartifact=org.apache.hudi:hudi-java-client:{version}",
                        f"-DoutputDirectory={folder}"], check=True, stdout=sys.stderr)
    return jar


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--hudi", default="1.2.0")
    args = parser.parse_args()
    import pyspark
    classes = [client_jar(args.hudi), hudi_spark.jar(args.hudi), Path(pyspark.__file__).parent / "jars" / "*"]
    java = shutil.which("java") or sys.exit("hudi_java: no java on PATH (a JDK 17 is wanted)")
    child = subprocess.Popen(
        [java, "-Xmx" + os.environ.get("TARN_ORACLE_MEM", "4g"), "-Duser.timezone=UTC",
         *(f"--add-opens={package}=ALL-UNNAMED" for package in ADD_OPENS), "-cp", ":".join(map(str, classes)),
         str(Path(__file__).with_name("HudiJavaBench.java")), str(args.data), str(args.out), str(args.runs)])
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit(f"hudi_java: exit {child.returncode}")
    print(json.dumps({"kind": "peak", "peak_mib": round(usage.ru_maxrss / 1024, 1)}))


if __name__ == "__main__":
    main()

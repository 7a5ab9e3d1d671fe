"""Real Hudi for the tests: Spark with a bundle as a server of commands (tests/oracle), and hudi-rs."""
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pyarrow as pa
import pyarrow.parquet as pq

ROOT = pathlib.Path(__file__).resolve().parents[2]
ORACLE = ROOT / "tests/oracle"
BUNDLES = {6: "0.15.0", 8: "1.0.2", 9: "1.2.0"}
META = ["_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name"]
GONE = ("Connection refused", "Py4JNetworkError", "Answer from Java side is empty")


class Failure(Exception):
    """What real Hudi said when it could not do something."""


class Unavailable(Exception):
    """Why there is no real Hudi here."""


def fetch(bundle):
    """Puts the bundle where the oracle looks for it, and sees that what it needs besides is there."""
    for module in ("pyspark", "hudi"):
        if importlib.util.find_spec(module) is None:
            raise Unavailable(f"Python has no {module} (tests/interop/requirements.txt)")
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        raise Unavailable("no java on PATH")
    if os.environ.get("TARN_HUDI_JAR"):
        return
    done = subprocess.run([str(ORACLE / "setup"), bundle], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        said = (done.stderr + done.stdout).strip().splitlines() or ["tests/oracle/setup failed"]
        raise Unavailable(f"the bundle of {bundle} cannot be fetched: {said[0][:300]}")


class Hudi:
    """One bundle in one JVM; commands are those of tests/oracle/hudi_oracle.py."""

    def __init__(self, bundle):
        fetch(bundle)
        self.bundle = bundle
        self.start()

    def start(self):
        self.log = tempfile.TemporaryFile("w+")
        # It runs for a minute or two: better compilers and collectors would cost more than they give.
        options = {"TARN_ORACLE_JAVA": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC", **os.environ}
        self.process = subprocess.Popen([sys.executable, str(ORACLE / "hudi_oracle.py"), "--hudi", self.bundle, "serve"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True,
                                        env=options)

    def __call__(self, *words):
        try:
            self.process.stdin.write(json.dumps([str(word) for word in words]) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        answer = json.loads(line or '{"ok": false, "error": "Connection refused"}')
        if not answer["ok"] and any(text in answer["error"] for text in GONE):
            raise Failure(f"Hudi {self.bundle} ended: {self.begin_again()}")
        if not answer["ok"]:
            raise Failure(answer["error"])
        return answer["out"]

    def begin_again(self):
        """Spark can crash its JVM (it reads rows of memory by the schema it believes in): what follows has a new one."""
        self.process.kill()
        self.process.wait()
        self.log.seek(0)
        said = self.log.read()[-2000:]
        self.log.close()
        self.start()
        return said

    def rows(self, table, out, *words):
        """All rows with their meta columns, in Spark's types."""
        self("read", "--table", table, "--meta", "--out", out, *words)
        return pq.read_table(out)

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)
        self.log.close()


def rust_rows(table):
    """The snapshot that hudi-rs reads, with meta columns."""
    from hudi import HudiTableBuilder

    batches = HudiTableBuilder.from_base_uri(str(table)).build().read()
    return pa.Table.from_batches([pa.record_batch(batch) for batch in batches]) if batches else None

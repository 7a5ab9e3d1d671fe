"""Writes into Hudi tables on a real disk that are killed, or meet a full disk, no rights, another writer.

The snapshot is made here, from the names of files alone, as a reader that lists them would; real
Hudi judges the table at the end of the kills, where its bundles are installed.
"""
import collections
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import time

import pyarrow.parquet as pq
import pytest
from hudi_peers import BUNDLES, Hudi, Unavailable

FULL = bool(os.environ.get("TARN_FULL"))
DATA = re.compile(r"^([^_.]+)_([^_]+)_(\d+)\.parquet$")


def timeline(table):
    """(completed instants, names of files of instants that are not)."""
    folder = table / ".hoodie/timeline"
    if not folder.is_dir():
        folder = table / ".hoodie"
    names = [n for n in os.listdir(folder) if re.match(r"^\d+(_\d+)?\.", n)]
    done = {n.split(".")[0].split("_")[0] for n in names if re.search(r"\.(commit|replacecommit|rollback)$", n)}
    return done, sorted(n for n in names if n.split(".")[0].split("_")[0] not in done)


def data_files(table):
    for path in table.rglob("*.parquet"):
        found = DATA.match(path.name)
        if found and ".hoodie" not in path.parts:
            yield path, found.group(1), found.group(3)


def snapshot(table):
    """Rows by key: of each file group the newest completed file."""
    if not (table / ".hoodie/hoodie.properties").exists():
        return {}
    done, _ = timeline(table)
    newest = {}
    for path, group, instant in data_files(table):
        key = (path.parent, group)
        if instant in done and instant > newest.get(key, ("", None))[0]:
            newest[key] = (instant, path)
    rows = {}
    for _, path in newest.values():
        for row in pq.ParquetFile(path).read(columns=["id", "ts", "val"]).to_pylist():
            assert row["id"] not in rows, f"{row['id']} is there twice"
            rows[row["id"]] = (row["ts"], row["val"])
    return rows


def nothing_left(table):
    done, pending = timeline(table)
    assert pending == []
    assert [p for p, _, instant in data_files(table) if instant not in done] == []
    for folder in (".temp", ".heartbeat", ".aux"):
        there = table / ".hoodie" / folder
        assert [n for n in (os.listdir(there) if there.is_dir() else []) if n != ".bootstrap"] == []
    assert list(table.rglob(".tarn-put-*")) == []
    assert not (table / ".hoodie/hoodie.properties.backup").exists()


class Lake:
    def __init__(self, tarn_bin, folder, version, seed):
        self.bin, self.folder, self.version = tarn_bin, folder, version
        self.table = folder / "t"
        self.random = random.Random(seed)
        self.rows = {}
        self.made = 0

    def batch(self, size=60):
        """Rows in a file, and what the table is once they are written."""
        self.made += 1
        path = self.folder / f"in{self.made}.ndjson"
        after = dict(self.rows)
        with path.open("w") as out:
            for number in self.random.sample(range(400), size):
                row = (self.made, f"{self.made}-{self.random.randrange(10 ** 9)}")
                after[f"k{number}"] = row
                out.write(json.dumps({"id": f"k{number}", "dt": f"d{number % 3}", "ts": row[0], "val": row[1]}) + "\n")
        return path, after

    def words(self, path, *more):
        return [self.bin, "write", str(self.table), str(path), "--key", "id", "--partition", "dt", "--ordering", "ts",
                "--table-version", str(self.version), "--op", "upsert", *more]

    def write(self, path, want=0):
        done = subprocess.run(self.words(path), capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300,
                              check=False)
        assert want is None or done.returncode == want, done.stderr
        return done

    def settle(self, *states):
        seen = snapshot(self.table)
        assert seen in states, "a third state is seen"
        self.rows = seen


@pytest.fixture
def fast_dir(tmp_path):
    """In memory where there is some: syncing costs nothing there, so a kill can hit every step."""
    base = pathlib.Path("/dev/shm")
    if not os.access(base, os.W_OK):
        yield tmp_path
        return
    path = base / f"tarn-hudi-{os.getpid()}-{tmp_path.name}"
    path.mkdir()
    yield path
    shutil.rmtree(path, ignore_errors=True)


def judge(lake):
    """Real Hudi reads the same rows, and writes on."""
    try:
        hudi = Hudi(BUNDLES[lake.version])
    except Unavailable as why:
        pytest.skip(f"the rest is judged by real Hudi: {why}")
    try:
        seen = hudi("read", "--table", lake.table, "--opt", "hoodie.metadata.enable=false")
        assert {row["id"]: (row["ts"], row["val"]) for row in seen} == lake.rows
        path, after = lake.batch()
        words = ["write", "--table", lake.table, "--input", path.rename(path.with_suffix(".jsonl")), "--op", "upsert",
                 "--key", "id", "--precombine", "ts", "--partition", "dt", "--name", "t",
                 "--opt", "hoodie.metadata.enable=false"]
        hudi(*words, *(["--table-version", lake.version] if lake.version > 6 else []))
        lake.settle(after)
    finally:
        hudi.close()


@pytest.mark.parametrize("version", [9, 6])
def test_kills_lose_nothing(tarn_bin, fast_dir, version):
    lake = Lake(tarn_bin, fast_dir, version, seed=version)
    met = collections.Counter()
    path, after = lake.batch()
    started = time.monotonic()
    lake.write(path)
    within = time.monotonic() - started
    lake.settle(after)
    wanted = 100 if FULL else 15
    while met["killed"] < wanted and met["done"] < 4 * wanted:
        path, after = lake.batch()
        writer = subprocess.Popen(lake.words(path), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        time.sleep(lake.random.uniform(0, within))
        writer.send_signal(signal.SIGKILL)
        killed = writer.wait() == -signal.SIGKILL
        lake.settle(*([lake.rows, after] if killed else [after]))
        met["killed" if killed else "done"] += 1
        met["pending"] += bool(timeline(lake.table)[1])
        within *= 1.1 if killed else 0.8  # how fast it is depends on what else runs
    assert met["killed"] == wanted
    assert met["pending"] > 0
    path, after = lake.batch()
    lake.write(path)
    lake.settle(after)
    nothing_left(lake.table)
    judge(lake)
    path, after = lake.batch()
    lake.write(path)
    lake.settle(after)


def test_two_writers_take_turns(tarn_bin, fast_dir):
    """Who comes second gets exit code 4 and a reason, or waits for nothing and finds the first done."""
    lake = Lake(tarn_bin, fast_dir, 9, seed=1)
    path, after = lake.batch()
    lake.write(path)
    lake.settle(after)
    refused = 0
    for _ in range(6):
        batches = [lake.batch(), lake.batch()]
        writers = [subprocess.Popen(lake.words(path), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.PIPE, text=True) for path, _ in batches]
        texts = [writer.communicate(timeout=300)[1] for writer in writers]
        want = dict(lake.rows)
        for writer, text, (_, after) in zip(writers, texts, batches):
            assert writer.returncode in (0, 4), text
            if writer.returncode == 4:
                assert "locked by another tarn" in text or "another" in text
                refused += 1
            else:
                want.update({key: row for key, row in after.items() if lake.rows.get(key) != row})
        assert 0 in [writer.returncode for writer in writers]
        lake.settle(want)
    nothing_left(lake.table)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
def test_a_full_and_a_read_only_disk(tarn_bin, tmp_path):
    """Nothing is lost, and once there is room, or a right to write, it goes on."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", disk], check=False, capture_output=True).returncode:
        pytest.skip("no right to mount")
    try:
        lake = Lake(tarn_bin, tmp_path, 9, seed=5)
        lake.table = disk / "t"
        path, after = lake.batch()
        lake.write(path)
        lake.settle(after)
        fill = disk / "fill"
        refused = 0
        for spare in (0, 4, 8, 16, 32, 64):
            free = shutil.disk_usage(disk).free
            fill.write_bytes(b"x" * max(0, free - spare * 1024))
            path, after = lake.batch()
            done = lake.write(path, want=None)
            assert done.returncode in (0, 1), done.stderr
            refused += done.returncode
            lake.settle(*([after] if done.returncode == 0 else [lake.rows]))
            fill.unlink()
        assert refused > 0
        path, after = lake.batch()
        lake.write(path)
        lake.settle(after)
        nothing_left(lake.table)
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        path, after = lake.batch()
        done = lake.write(path, want=1)
        assert "ead-only" in done.stderr
        lake.settle(lake.rows)
        subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
        lake.write(path)
        lake.settle(after)
    finally:
        subprocess.run(["umount", disk], check=True)

"""Merges on a real disk that end badly: killed, disk full, read-only, without rights, over mounts.

Rows are counted with pyarrow, file by file, as a reader that lists the directory would.
"""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

FULL = bool(os.environ.get("TARN_FULL"))
ROOT = os.geteuid() == 0


def write_fragments(directory, first, files=6, rows=5):
    directory.mkdir(parents=True, exist_ok=True)
    for i in range(files):
        start = first + i * rows
        table = pa.table({"id": pa.array(range(start, start + rows), pa.int64()),
                          "text": [f"row {n}" for n in range(start, start + rows)]})
        pq.write_table(table, directory / f"part-{i:05d}.parquet")


def make_table(root, partitions=4, files=6, rows=5):
    for p in range(partitions):
        write_fragments(root / f"dt=2024-05-{p + 1:02d}", p * 1000, files, rows)
    return ids(root)


def data_files(root):
    return [p for p in root.rglob("*.parquet") if p.is_file()]


def ids(root):
    """Every row below the root, hidden folders too: some readers look there."""
    found = []
    for path in data_files(root):
        found += pq.ParquetFile(path).read(columns=["id"])["id"].to_pylist()
    return sorted(found)


def nothing_left(root):
    beside = root.parent / f".{root.name}.tarn"
    return not beside.exists() and not (root / ".tarn").exists()


@pytest.fixture
def fast_dir(tmp_path):
    """In memory where there is some: syncing costs nothing there, so a kill can hit every step."""
    base = pathlib.Path("/dev/shm")
    if not os.access(base, os.W_OK):
        yield tmp_path
        return
    path = base / f"tarn-survival-{os.getpid()}"
    path.mkdir()
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def mounted(tmp_path):
    """mount(kind, options) gives a fresh mount point; skipped where mounting is not allowed."""
    points = []

    def mount(point, *words):
        point.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["mount", *words, str(point)], capture_output=True, text=True)
        if done.returncode != 0:
            pytest.skip(f"cannot mount here: {done.stderr.strip()}")
        points.append(point)
        return point

    yield mount
    for point in reversed(points):
        subprocess.run(["umount", "-l", str(point)], check=False)


def test_kill_at_random_moments(tarn_bin, tarn, fast_dir):
    seed = int(os.environ.get("TARN_SEED", "0")) or random.randrange(1, 1 << 30)
    print(f"TARN_SEED={seed}")
    dice = random.Random(seed)
    root = fast_dir / "events"
    want = make_table(root)
    began = time.monotonic()
    tarn("merge", root)
    usual = time.monotonic() - began
    for round_ in range(300 if FULL else 40):
        shutil.rmtree(root)
        want = make_table(root)
        process = subprocess.Popen([tarn_bin, "merge", str(root)], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        time.sleep(dice.uniform(0, usual * 1.1))
        process.send_signal(signal.SIGKILL)
        process.wait()
        # By exchange no reader sees a third state, recovered or not.
        assert ids(root) == want, f"seed {seed}, round {round_}: after the kill"
        tarn("merge", root)
        assert ids(root) == want, f"seed {seed}, round {round_}: after the next run"
        assert len(data_files(root)) == 4
        assert nothing_left(root)


def test_kill_at_random_moments_through_the_journal(tarn_bin, tarn, fast_dir):
    """The partition with a sub-directory goes by renames: right after the next run."""
    seed = int(os.environ.get("TARN_SEED", "0")) or random.randrange(1, 1 << 30)
    print(f"TARN_SEED={seed}")
    dice = random.Random(seed)
    root = fast_dir / "events"
    for round_ in range(300 if FULL else 30):
        shutil.rmtree(root, ignore_errors=True)
        write_fragments(root / "dt=1", 0)
        write_fragments(root / "dt=1" / "hr=2", 1000)
        want = ids(root)
        process = subprocess.Popen([tarn_bin, "merge", str(root)], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        time.sleep(dice.uniform(0, 0.12))
        process.send_signal(signal.SIGKILL)
        process.wait()
        tarn("merge", root)
        assert ids(root) == want, f"seed {seed}, round {round_}"
        assert len(data_files(root)) == 2
        assert nothing_left(root)


def test_full_disk(tarn_bin, tarn, tmp_path, mounted):
    disk = mounted(tmp_path / "disk", "-t", "tmpfs", "-o", "size=600k", "tmpfs")
    root = disk / "events"
    rows = 1200
    for p in range(2):
        write_fragments(root / f"dt={p}", p * 100000, files=4, rows=rows)
    want = ids(root)
    ballast = disk / "ballast"
    free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
    ballast.write_bytes(b"x" * max(0, free - 12288))
    done = subprocess.run([tarn_bin, "merge", str(root)], capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert "space" in done.stdout + done.stderr
    assert ids(root) == want
    ballast.unlink()
    tarn("merge", root)
    assert ids(root) == want
    assert len(data_files(root)) == 2
    assert nothing_left(root)


def test_read_only_mount(tarn_bin, tarn, tmp_path, mounted):
    disk = mounted(tmp_path / "disk", "-t", "tmpfs", "tmpfs")
    root = disk / "events"
    want = make_table(root, 1)
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    done = subprocess.run([tarn_bin, "merge", str(root)], capture_output=True, text=True)
    assert done.returncode == 1
    assert "events" in done.stderr and "write" in done.stderr
    subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
    assert ids(root) == want
    tarn("merge", root)
    assert ids(root) == want and nothing_left(root)


@pytest.mark.skipif(not ROOT, reason="needs root to become somebody else")
def test_without_rights(tarn_bin, tmp_path_factory):
    base = pathlib.Path("/tmp") / f"tarn-rights-{os.getpid()}"
    base.mkdir(mode=0o755)
    binary = base / "tarn"
    try:
        shutil.copy(tarn_bin, binary)
        root = base / "lake" / "events"
        want = make_table(root, 2)
        run = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", str(binary), "merge",
               str(root)]
        # Nothing may be written: refused, untouched.
        done = subprocess.run(run, capture_output=True, text=True)
        assert done.returncode == 1, done.stdout
        assert "nothing was touched" in done.stderr or "permission denied" in done.stderr
        assert ids(root) == want and nothing_left(root)
        # One partition is closed: the other is done, and the exit status says so.
        for path in [root, *root.rglob("*")]:
            os.chown(path, 65534, 65534)
        closed = root / "dt=2024-05-02"
        os.chown(closed, 0, 0)
        os.chmod(closed, 0o755)
        done = subprocess.run(run, capture_output=True, text=True)
        assert ids(root) == want
        assert len(list((root / "dt=2024-05-01").glob("*.parquet"))) == 1, done.stderr
        assert len(list(closed.glob("*.parquet"))) == 6
        assert done.returncode == 1
        assert "dt=2024-05-02" in done.stdout + done.stderr
        # The lake above cannot be written, so work was inside, and is gone.
        assert nothing_left(root)
    finally:
        shutil.rmtree(base)


def test_mount_point_inside(tarn, tmp_path, mounted):
    root = tmp_path / "events"
    write_fragments(root / "dt=1", 0)
    mounted(root / "dt=2", "-t", "tmpfs", "tmpfs")
    write_fragments(root / "dt=2", 1000)
    want = ids(root)
    tarn("merge", root)
    assert ids(root) == want
    assert len(data_files(root)) == 2
    assert nothing_left(root) and not (root / "dt=2" / ".tarn").exists()


def test_root_is_a_mount_point(tarn, tmp_path, mounted):
    root = mounted(tmp_path / "events", "-t", "tmpfs", "tmpfs")
    want = make_table(root, 2)
    write_fragments(root, 50000)
    want = ids(root)
    tarn("merge", root)
    assert ids(root) == want
    assert len(data_files(root)) == 3
    assert nothing_left(root)


def test_undo_after_keeping(tarn, tmp_path):
    root = tmp_path / "events"
    want = make_table(root, 2)
    before = {p.relative_to(root): p.read_bytes() for p in data_files(root)}
    tarn("merge", root, "--keep-old", "1h")
    assert len(data_files(root)) == 2 and ids(root) == want
    tarn("merge", root, "--undo")
    assert {p.relative_to(root): p.read_bytes() for p in data_files(root)} == before
    assert nothing_left(root)


def test_a_writer_at_work(tarn_bin, tmp_path):
    """Files keep arriving while merges run: none is lost, none doubled."""
    root = tmp_path / "events"
    write_fragments(root / "dt=1", 0)
    want = ids(root)
    for round_ in range(60 if FULL else 12):
        process = subprocess.Popen([tarn_bin, "merge", str(root)], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        n = 0
        while process.poll() is None:
            first = 10000 + round_ * 1000 + n * 2
            table = pa.table({"id": pa.array([first, first + 1], pa.int64()), "text": ["a", "b"]})
            temporary = root / "dt=1" / f"_w{round_}-{n}.tmp"
            try:
                pq.write_table(table, temporary)
                os.rename(temporary, root / "dt=1" / f"w{round_}-{n}.parquet")
            except FileNotFoundError:
                # The directory was exchanged between the two: the writer tries again, as writers do.
                n += 1
                continue
            want += [first, first + 1]
            n += 1
            time.sleep(0.002)
        assert process.returncode in (0, 1, 4)
    assert sorted(want) == ids(root)


def test_kill_again_and_again_leaves_nothing(tarn_bin, tarn, fast_dir):
    """Killed several times in a row, then in the midst of undo: every file of the work directory goes in the end."""
    seed = int(os.environ.get("TARN_SEED", "0")) or random.randrange(1, 1 << 30)
    print(f"TARN_SEED={seed}")
    dice = random.Random(seed)

    def killed(*words):
        process = subprocess.Popen([tarn_bin, "merge", str(root), *words], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        time.sleep(dice.uniform(0, usual * 1.1))
        process.send_signal(dice.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
        process.wait()

    root = fast_dir / "events"
    make_table(root, 2, 4)
    began = time.monotonic()
    tarn("merge", root)
    usual = time.monotonic() - began
    for round_ in range(150 if FULL else 15):
        root = fast_dir / f"t{round_}"
        keep = ["--keep-old", "1h"] if dice.random() < 0.6 else []
        want = make_table(root, 2, 4)
        for _ in range(dice.randint(1, 4)):
            killed(*keep)
            assert ids(root) == want, f"seed {seed}, round {round_}"
        tarn("merge", root, *keep)
        assert ids(root) == want and len(data_files(root)) == 2, f"seed {seed}, round {round_}"
        for _ in range(dice.randint(0, 3) if keep else 0):
            killed("--undo")
            assert ids(root) == want, f"seed {seed}, round {round_}: undo"
        while keep and subprocess.run([tarn_bin, "merge", str(root), "--undo"], capture_output=True,
                                      check=False).returncode == 0:
            assert ids(root) == want, f"seed {seed}, round {round_}: undo"
        assert nothing_left(root), f"seed {seed}, round {round_}"
        shutil.rmtree(root)


def test_bind_mount_of_the_same_file_system(tarn, tmp_path, mounted):
    """The device is the same, and yet nothing can be renamed across."""
    root = tmp_path / "events"
    write_fragments(root / "dt=1", 0)
    write_fragments(tmp_path / "elsewhere", 1000)
    mounted(root / "dt=2", "--bind", str(tmp_path / "elsewhere"))
    want = ids(root)
    tarn("merge", root)
    assert ids(root) == want and len(data_files(root)) == 2
    assert nothing_left(root) and not (root / "dt=2" / ".tarn").exists()
    root = tmp_path / "bound"
    write_fragments(tmp_path / "source", 2000)
    mounted(root, "--bind", str(tmp_path / "source"))
    want = ids(root)
    tarn("merge", root)
    assert ids(root) == want and len(data_files(root)) == 1 and nothing_left(root)


@pytest.mark.skipif(not ROOT, reason="needs root")
def test_rights_on_the_partitions_but_not_on_the_root(tarn_bin, tmp_path_factory):
    """The partition cannot be exchanged, for its parent is another's: by renames, then. In a sticky directory the
    files of others cannot be moved at all: that partition alone fails."""
    base = pathlib.Path("/tmp") / f"tarn-rights-{os.getpid()}"
    root = base / "events"
    want = make_table(root, 3)
    try:
        subprocess.run(["chmod", "755", str(base)], check=True)
        subprocess.run(["chown", "-R", "65534:65534", str(root)], check=True)
        os.chown(root, 0, 0)
        os.chmod(base, 0o777)
        sticky = root / "dt=2024-05-02"
        os.chown(sticky, 0, 0)
        os.chmod(sticky, 0o1777)
        os.chown(sticky / "part-00000.parquet", 0, 0)
        for _ in range(2):
            done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", tarn_bin, "merge",
                                   str(root)], capture_output=True, text=True, check=False)
            assert done.returncode == 1
            assert "dt=2024-05-02" in done.stdout and "operation not permitted" in done.stdout
            assert ids(root) == want and len(data_files(root)) == 1 + 6 + 1
            assert nothing_left(root)
    finally:
        shutil.rmtree(base)


@pytest.mark.skipif(not ROOT, reason="needs root")
def test_an_old_file_that_cannot_be_removed(tarn, tmp_path):
    """It stays in the work directory, which is no reason not to go on; the first run after it is freed removes it."""
    root = tmp_path / "events"
    want = make_table(root, 2)
    stuck = root / "dt=2024-05-01" / "part-00001.parquet"
    if subprocess.run(["chattr", "+i", str(stuck)], capture_output=True, check=False).returncode != 0:
        pytest.skip("no immutable files here")
    try:
        assert "old files are left in staging" in tarn("merge", root)
        write_fragments(root / "dt=2024-05-02", 77000, 3)
        want = ids_below(root)
        tarn("merge", root)
        assert ids_below(root) == want
    finally:
        subprocess.run(["chattr", "-R", "-i", str(tmp_path)], check=False)
    assert "nothing to merge" in tarn("merge", root)
    assert ids(root) == want and nothing_left(root)


def ids_below(root):
    return sorted(n for path in root.rglob("*.parquet")
                  for n in pq.ParquetFile(path).read(columns=["id"])["id"].to_pylist())


@pytest.mark.parametrize("length", [239, 241, 250, 255])
def test_long_name_of_the_root(tarn, tmp_path, length):
    root = tmp_path / ("n" * length)
    want = make_table(root, 2)
    tarn("merge", root, "--keep-old", "1h")
    assert ids(root) == want and len(data_files(root)) == 2
    tarn("merge", root, "--undo")
    assert ids(root) == want and len(data_files(root)) == 12
    assert sorted(p.name for p in tmp_path.iterdir()) == [root.name]


def test_undo_that_cannot_be(tarn, tarn_bin, tmp_path):
    """A copy of a directory must not undo its original; what was changed since says where the old files are."""
    def undo(root):
        return subprocess.run([tarn_bin, "merge", str(root), "--undo"], capture_output=True, text=True, check=False)

    root = tmp_path / "events"
    make_table(root, 2)
    tarn("merge", root, "--keep-old", "1h")
    before = {p: p.read_bytes() for p in data_files(root)}
    subprocess.run(["cp", "-a", str(root), str(tmp_path / "copied")], check=True)
    subprocess.run(["cp", "-a", str(tmp_path / ".events.tarn"), str(tmp_path / ".copied.tarn")], check=True)
    done = undo(tmp_path / "copied")
    assert done.returncode in (1, 4) and "not below" in done.stderr and done.stderr.count("\n") == 1
    assert {p: p.read_bytes() for p in data_files(root)} == before
    assert "nothing to merge" in tarn("merge", tmp_path / "copied")

    merged = next((root / "dt=2024-05-01").glob("*.parquet"))
    merged.unlink()
    done = undo(root)
    assert done.returncode == 1 and "vanished since the merge" in done.stdout and "*/old" in done.stdout
    assert len(data_files(root)) == 6  # the other partition is restored
    assert len(list((tmp_path / ".events.tarn").rglob("*.old"))) == 6


def test_a_damaged_manifest_does_not_stop_merging(tarn, tarn_bin, tmp_path):
    root = tmp_path / "events"
    make_table(root, 1)
    tarn("merge", root, "--keep-old", "1h")
    manifest = next((tmp_path / ".events.tarn" / "undo").iterdir())
    manifest.write_bytes(manifest.read_bytes()[:50])
    write_fragments(root / "dt=2024-05-01", 5000)
    want = ids(root)
    tarn("merge", root)
    assert ids(root) == want and len(data_files(root)) == 1
    done = subprocess.run([tarn_bin, "merge", str(root), "--undo"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "damaged" in done.stderr
    assert ids(root) == want


def test_times_in_the_future(tarn, tmp_path):
    root = tmp_path / "events"
    want = make_table(root, 1)
    later = time.time() + 864000
    for path in [*root.rglob("*"), root]:
        os.utime(path, (later, later))
    assert "in the future" in tarn("merge", root, "--quiet-for", "10m")
    tarn("merge", root)
    assert ids(root) == want
    assert {int(p.stat().st_mtime) for p in data_files(root)} == {int(later)}


def test_leftovers_of_another_place_are_not_swept(tarn, tmp_path):
    """A work directory may be a copy, or anybody's: it cannot make a run remove what is not this root's staging."""
    root = tmp_path / "events"
    want = make_table(root, 1)
    precious = tmp_path / "precious"
    write_fragments(precious, 9000, 2)
    work = tmp_path / ".events.tarn"
    work.mkdir()
    (work / "run.json").write_text(json.dumps(
        {"kind": "tarn.run", "version": 1,
         "stagings": [str(precious), str(root / "dt=2024-05-01"), str(tmp_path / ".precious.tarn" / "1" / "p0")]}))
    tarn("merge", root)
    assert ids(root) == want and len(data_files(precious)) == 2 and nothing_left(root)

    work.mkdir()
    (work / "run.json").write_text("[1")
    write_fragments(root / "dt=2024-05-01", 5000)
    want = ids(root)
    tarn("merge", root)
    assert ids(root) == want and len(data_files(root)) == 1 and nothing_left(root)


def test_a_limit_on_file_sizes_is_reported(tarn_bin, tmp_path):
    root = tmp_path / "events"
    want = make_table(root, 2, 6, 3000)
    done = subprocess.run(["sh", "-c", 'ulimit -f 8; exec "$@"', "sh", tarn_bin, "merge", str(root)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "ulimit -f" in done.stdout
    assert ids(root) == want and nothing_left(root)


def test_a_rate_holds_up_only_what_follows(tarn, tmp_path):
    root = tmp_path / "events"
    make_table(root, 1)
    began = time.monotonic()
    tarn("merge", root, "--rate", "1")
    assert time.monotonic() - began < 60 and len(data_files(root)) == 1

"""Doctor's cures cure: what each finding names is run by a shell, and then there is no finding."""
import fcntl
import json
import os
import re
import subprocess
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest


def write(path, rows=20, **options):
    """A file with a column v of the type given, and others: write(p, v=pa.int32(), x=pa.string())."""
    os.makedirs(path.parent, exist_ok=True)
    group = options.pop("group", None)
    values = {name: pa.array([i if not pa.types.is_string(t) else str(i) for i in range(rows)],
                             pa.int64() if pa.types.is_integer(t) else None).cast(t)
              for name, t in options.items()}
    pq.write_table(pa.table(values), path, row_group_size=group)


def findings(tarn, lake):
    return json.loads(tarn("doctor", lake, "--json", want=3))["findings"]


def follow(tarn, tarn_bin, lake, elsewhere):
    """Runs every command among the cures, and gives the kinds of the findings."""
    kinds = []
    for finding in findings(tarn, lake):
        kinds.append(finding["kind"])
        cure = re.sub(r" \(until.*", "", finding["cure"])
        command = re.search(r"(tarn|mv|rm) .*", cure)
        assert command, f"no command in: {cure}"
        path = os.path.dirname(tarn_bin) + ":" + os.environ["PATH"]
        subprocess.run(command[0].replace("/elsewhere", str(elsewhere)), shell=True, check=True,
                       capture_output=True, env=dict(os.environ, PATH=path))
    return sorted(kinds)


def test_every_command_among_the_cures_cures(tarn, tarn_bin, tmp_path):
    lake = tmp_path / "a lake's"
    for i in range(3):
        write(lake / "p=it's" / f"{i}.parquet", v=pa.int64())
        write(lake / "p=a%2Fb" / f"{i}.parquet", v=pa.int32() if i else pa.int64())
    write(lake / "p=1" / "many groups.parquet", rows=60, group=5, v=pa.int64())
    (lake / "p=1" / "empty.parquet").touch()
    (lake / "p=1" / "-tmp.HIVE_UNION_SUBDIR_1.moved").mkdir()
    (lake / "p=1" / "_metadata").write_bytes(b"PAR1")
    os.utime(lake / "p=1" / "_metadata", (1, 1))
    rows = tarn("read", lake, "-c", "v", "--skip-damaged")
    assert follow(tarn, tarn_bin, lake, tmp_path) == [
        "damaged-files", "schema-drift", "small-files", "stale-summary", "temporary-directories",
        "tiny-row-groups"]
    assert json.loads(tarn("doctor", lake, "--json"))["findings"] == []
    assert tarn("read", lake, "-c", "v") == rows


@pytest.mark.parametrize("old, new", [(pa.int32(), pa.int64()), (pa.int8(), pa.int64()),
                                      (pa.int16(), pa.int32()), (pa.int32(), pa.float64()),
                                      (pa.float32(), pa.float64()), (pa.uint32(), pa.int64()),
                                      (pa.uint16(), pa.int32()),
                                      (pa.timestamp("ms"), pa.timestamp("us"))], ids=str)
def test_types_that_widen_are_cured_by_a_merge(tarn, tarn_bin, tmp_path, old, new):
    for i in range(4):
        write(tmp_path / "lake" / f"{i}.parquet", v=old if i < 2 else new)
    assert follow(tarn, tarn_bin, tmp_path / "lake", None) == ["schema-drift", "small-files"]
    tarn("doctor", tmp_path / "lake")


@pytest.mark.parametrize("old, new", [
    (pa.int64(), pa.string()), (pa.int64(), pa.float64()), (pa.uint32(), pa.int32()),
    (pa.timestamp("us"), pa.timestamp("ns")),
    (pa.timestamp("us"), pa.timestamp("us", "UTC"))], ids=str)
def test_types_that_stay_apart_are_an_error_until_written_again(tarn, tarn_bin, tmp_path, old, new):
    lake = tmp_path / "lake"
    for i in range(3):
        write(lake / f"{i}.parquet", v=old if i < 1 else new)
    subprocess.run([tarn_bin, "merge", lake, "--widen"], check=True, capture_output=True)
    [finding] = findings(tarn, lake)
    assert (finding["kind"], finding["severity"]) == ("type-conflict", "error")
    assert "v is " in finding["evidence"] and "write the files" in finding["cure"]
    write(lake / "0.parquet", v=new)
    follow(tarn, tarn_bin, lake, None)
    tarn("doctor", lake)


def test_one_width_a_partition_is_a_conflict(tarn, tarn_bin, tmp_path):
    """A merge of each partition changes nothing about it, so no merge is named as the cure."""
    write(tmp_path / "p=1" / "a.parquet", v=pa.int32())
    write(tmp_path / "p=2" / "a.parquet", v=pa.int64())
    assert [f["kind"] for f in findings(tarn, tmp_path)] == ["type-conflict"]


def test_a_column_that_was_added_is_told_and_is_no_finding(tarn, tarn_bin, tmp_path):
    for day, columns in ((1, {}), (2, {}), (3, {"channel": pa.string()})):
        for i in range(3):
            write(tmp_path / f"dt=2024-05-0{day}" / f"{i}.parquet", v=pa.int64(), **columns)
    assert follow(tarn, tarn_bin, tmp_path, None) == ["small-files"]
    report = json.loads(tarn("doctor", tmp_path, "--json"))
    assert report["findings"] == [] and report["schema_note"].startswith("channel is extra in 1 ")


def test_what_is_kept_or_waits_is_no_finding(tarn, tarn_bin, tmp_path):
    for name in ("kept", "waits"):
        for i in range(3):
            write(tmp_path / name / f"{i}.parquet", v=pa.int64())
    tarn("merge", tmp_path / "kept", "--keep-old", "1h")
    assert json.loads(tarn("doctor", tmp_path / "kept", "--json"))["kept_undo"] == 1
    tarn("merge", tmp_path / "kept", "--undo")
    tarn("merge", tmp_path / "kept", "--keep-old", "2s")
    time.sleep(2.1)
    assert follow(tarn, tarn_bin, tmp_path / "kept", None) == ["leftover-staging"]
    tarn("doctor", tmp_path / "kept")
    tarn("merge", tmp_path / "waits", "--plan-only", "-o", tmp_path / "plan")
    (tmp_path / "results").write_text(tarn("exec", tmp_path / "plan"))
    assert [f["kind"] for f in findings(tarn, tmp_path / "waits")] == ["small-files"]
    tarn("commit", tmp_path / "plan", tmp_path / "results")
    tarn("doctor", tmp_path / "waits")


def test_a_running_merge_is_a_fact_and_its_staging_no_finding(tarn, tmp_path):
    lake = tmp_path / "lake"
    write(lake / "a.parquet", v=pa.int64())
    staging = tmp_path / ".lake.tarn" / "run1" / "p00000"
    staging.mkdir(parents=True)
    (staging / "00000.new").write_bytes(b"half")
    (tmp_path / ".lake.tarn" / "run.json").write_text("{}")
    with open(tmp_path / ".lake.tarn" / "lock", "w") as lock:
        lock.write("process 7 on there since then\n")
        lock.flush()
        left = findings(tarn, lake)
        assert [f["kind"] for f in left] == ["leftover-staging"]
        assert left[0]["cause"].startswith("a merge or a write was killed")
        fcntl.flock(lock, fcntl.LOCK_EX)
        report = json.loads(tarn("doctor", lake, "--json"))
        assert report["findings"] == [] and report["merging"] == "process 7 on there since then"
        assert "a merge is at work (process 7 on there" in tarn("doctor", lake).replace("\n", " ")
    assert json.loads(tarn("doctor", lake, "--json", want=3))["merging"] == ""

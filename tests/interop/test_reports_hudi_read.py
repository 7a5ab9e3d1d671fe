"""Faults that users of other readers of Hudi tables met, each as a test: logs merged wrongly or lost, damage, incremental reads,
time travel, the metadata table, schemas that grew. Most tables are made by hand, byte by byte (hudi_hand.py): healthy writers
do not leave such things behind."""
import json
import os
import pathlib
import shutil
import struct
import subprocess

import pytest

import hudi_fixtures
import hudi_hand as hand

T = [f"2024010{day}100000000" for day in range(1, 10)]
COLUMNS = {"id": "string", "ts": "long", "v": "string"}
PAYLOADS = {"EVENT_TIME_ORDERING": "org.apache.hudi.common.model.DefaultHoodieRecordPayload",
            "COMMIT_TIME_ORDERING": "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload"}


def row(key, ts, v, **more):
    return {"id": str(key), "ts": ts, "v": v, **more}


@pytest.fixture
def make(tmp_path):
    """make(version, mode): an empty table of three columns, ordered by ts."""

    def table(version=9, mode="EVENT_TIME_ORDERING", columns=None, **more):
        if version < 8:
            more["hoodie__compaction__payload__class"] = PAYLOADS[mode]
        return hand.Table(tmp_path / "t", columns or COLUMNS, version=version, ordering="ts", mode=mode, **more)

    return table


@pytest.fixture
def read(tarn_bin):
    """read(table, …): its rows, sorted by key; a status but 0 fails."""

    def ask(table, *words):
        root = str(table.root if isinstance(table, hand.Table) else table)
        done = subprocess.run([tarn_bin, "read", root, *words], capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL, timeout=120)
        assert done.returncode == 0, done.stderr
        return sorted((json.loads(line) for line in done.stdout.splitlines()), key=lambda r: json.dumps(r, sort_keys=True))

    return ask


@pytest.fixture
def refused(tarn_bin):
    """refused(table, …): what is said instead of rows."""

    def ask(table, *words):
        root = str(table.root if isinstance(table, hand.Table) else table)
        done = subprocess.run([tarn_bin, "read", root, *words], capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL, timeout=120)
        assert done.returncode in (1, 2, 4) and done.stdout == "", done.stderr
        assert "Sanitizer" not in done.stderr and done.stderr.count("\n") == 1
        return done.stderr

    return ask


def pairs(rows):
    return [(r["id"], r["ts"], r["v"]) for r in rows]


def log_of(table, time, *blocks, **more):
    """A delta commit of its own with one log: named by it from version 8 on, by the base file's before."""
    named = time if table.version >= 8 else T[0]
    path = table.log(named, *blocks, version=1 if table.version >= 8 else int(time[7]), **more)
    table.commit(time, path)
    return path


VERSIONS = pytest.mark.parametrize("version", [6, 8, 9])

# ---- merging


@VERSIONS
@pytest.mark.parametrize("mode,want", [("EVENT_TIME_ORDERING", "new"), ("COMMIT_TIME_ORDERING", "old")])
def test_R038_older_row(make, read, version, mode, want):
    table = make(version, mode)
    table.commit(T[0], table.base(T[0], [row(1, 100, "new")]))
    log_of(table, T[1], table.data(T[1], [row(1, 96, "old")]))
    assert [r["v"] for r in read(table)] == [want]
    assert [r["v"] for r in read(table, "--mode", "read_optimized")] == ["new"]


@VERSIONS
def test_R044_late_delete(make, read, version):
    """A delete with an ordering value below the row's does not count, and what comes later is judged by the row, too."""
    table = make(version)
    table.commit(T[0], table.base(T[0], [row(1, 101, "12")]))
    log_of(table, T[1], table.deletes(T[1], {1: 97}))
    assert pairs(read(table)) == [("1", 101, "12")]
    log_of(table, T[2], table.data(T[2], [row(1, 96, "18")]))
    assert pairs(read(table)) == [("1", 101, "12")]
    log_of(table, T[3], table.deletes(T[3], {1: hand.ALWAYS}))
    assert read(table) == []
    # Hudi 1.2.0 merges logs first, where the row takes the delete's place, and the winner into the base file, where it loses.
    log_of(table, T[4], table.data(T[4], [row(1, 1, "again")]))
    assert pairs(read(table)) == [("1", 101, "12")]
    log_of(table, T[5], table.data(T[5], [row(1, 102, "newer")]))
    assert pairs(read(table)) == [("1", 102, "newer")]


def test_R046_deletes_of_keys_that_are_not_there(make, read):
    columns = {**COLUMNS, "_hoodie_is_deleted": "boolean"}
    table = make(columns=columns)
    table.commit(T[0], table.base(T[0], [row(k, 1, "a", _hoodie_is_deleted=None) for k in range(1, 11)]))
    log_of(table, T[1], table.deletes(T[1], {1: hand.ALWAYS, 99: hand.ALWAYS}))
    log_of(table, T[2], table.data(T[2], [row(2, 2, "b", _hoodie_is_deleted=True), row(3, 2, "b", _hoodie_is_deleted=None),
                                          row(98, 2, "b", _hoodie_is_deleted=True)]))
    got = read(table)
    assert sorted(int(r["id"]) for r in got) == [3, 4, 5, 6, 7, 8, 9, 10]
    assert [r["v"] for r in got if r["id"] == "3"] == ["b"]


def test_R042_a_row_moves_to_another_partition(make, read):
    table = make(columns={**COLUMNS, "p": "string"}, partition="p")
    table.commit(T[0], table.base(T[0], [row(1, 1, "a", p="a")], partition="a"))
    gone = table.log(T[1], table.deletes(T[1], {1: hand.ALWAYS}, partition="a"), partition="a")
    come = table.log(T[1], table.data(T[1], [row(1, 2, "b", p="b")], partition="b", file_id="h-0"), partition="b", file_id="h-0")
    table.commit(T[1], gone, come)
    assert [(r["id"], r["p"], r["v"]) for r in read(table)] == [("1", "b", "b")]
    assert read(table, "-w", "p = 'a'") == []
    assert [(r["id"], r["p"]) for r in read(table, "--as-of", T[0])] == [("1", "a")]


def test_a_filter_sees_merged_rows(make, read):
    """A condition that the base file's row met, or will meet, is judged by the row that is left."""
    table = make()
    table.commit(T[0], table.base(T[0], [row(1, 1, "a"), row(2, 1, "a"), row(3, 1, "c")]))
    log_of(table, T[1], table.data(T[1], [row(1, 2, "b"), row(3, 2, "a"), row(4, 2, "a")]))
    assert [r["id"] for r in read(table, "-w", "v = 'a'")] == ["2", "3", "4"]
    assert [r["id"] for r in read(table, "-w", "ts = 1")] == ["2"]
    assert read(table, "-w", "v = 'c'") == []
    assert read(table, "-c", "v", "--key", "1") == [{"v": "b"}]
    assert [r["v"] for r in read(table, "-c", "v")] == ["a", "a", "a", "b"]
    assert len(read(table, "--limit", "2")) == 2
    assert read(table, "-c", "ts", "-w", "id = '4'") == [{"ts": 2}]


@pytest.mark.parametrize("unit", ["millis", "micros"])
def test_R074_unit_of_timestamps(make, read, unit):
    columns = {"id": "string", "ts": "long", "at": unit}
    table = make(columns=columns)
    when = 1699405323004 * (1 if unit == "millis" else 1000)
    rows = [{"id": "1", "ts": 5, "at": when}, {"id": "2", "ts": 5, "at": when}]
    table.commit(T[0], table.base(T[0], rows))
    later = when + (1000 if unit == "millis" else 1000000)
    log_of(table, T[1], table.data(T[1], [{"id": "1", "ts": 4, "at": later}, {"id": "2", "ts": 6, "at": later}]))
    zeros = "" if unit == "millis" else "000"
    assert [r["at"] for r in read(table)] == [f"2023-11-08T01:02:03.004{zeros}Z", f"2023-11-08T01:02:04.004{zeros}Z"]


def test_R096_empty_text_is_not_null(make, read):
    table = make(columns={**COLUMNS, "b": "bytes"})
    texts = ["", None, "null", "\\N"]
    table.commit(T[0], table.base(T[0], [row(k, 1, v, b=b"") for k, v in enumerate(texts)]))
    log_of(table, T[1], table.data(T[1], [row(k + 4, 1, v, b=None if v else b"") for k, v in enumerate(texts)]))
    assert [r["v"] for r in read(table)] == texts + texts
    assert [r["b"] for r in read(table)] == [""] * 4 + ["", "", None, None]


# ---- blocks

def test_R109_a_rollback_hides_what_came_before_it(make, read):
    table = make(6, "COMMIT_TIME_ORDERING")
    table.commit(T[0], table.base(T[0], [row(0, 1, "base")]))
    path = table.log(T[0], table.data(T[1], [row(1, 1, "first")]), table.data(T[2], [row(1, 2, "gone"), row(2, 1, "gone")]),
                     hand.rollback_block(T[3], T[2]), table.data(T[2], [row(3, 1, "last")]))
    table.commit(T[1], path)
    table.commit(T[2], path)
    assert pairs(read(table)) == [("0", 1, "base"), ("1", 1, "first"), ("3", 1, "last")]


def test_R113_appended_twice(make, read):
    """Two tries of a task leave files of one instant: equal rows are one, others are all there."""
    for blocks, want in (([(1, 2), (1, 2)], [1, 2]), ([(1, 2), (1,)], [1, 2]), ([(1, 2), (3, 4)], [1, 2, 3, 4])):
        table = make()
        table.commit(T[0], table.base(T[0], [row(1, 1, "base")]))
        paths = [table.log(T[1], *[table.data(T[1], [row(k, 2, "log")]) for k in keys], token=f"0-1-{i}")
                 for i, keys in enumerate(blocks)]
        table.commit(T[1], *paths)
        assert pairs(read(table)) == [(str(k), 2, "log") for k in want]
        shutil.rmtree(table.root)


@pytest.mark.parametrize("edge", [4096, 8192, 65536, 1 << 20])
def test_R115_a_block_that_ends_at_the_edge_of_a_buffer(make, read, edge):
    table = make()
    table.commit(T[0], table.base(T[0], [row(0, 1, "base")]))
    first = table.data(T[1], [row(1, 1, "a")])
    bare = len(first) + len(table.data(T[1], [row(2, 1, "x" * 200)])) - 200
    second = table.data(T[1], [row(2, 1, "x" * (edge - bare))])
    while len(first) + len(second) > edge:
        second = table.data(T[1], [row(2, 1, "x" * (edge - bare - (len(first) + len(second) - edge)))])
    assert len(first) + len(second) == edge
    log_of(table, T[1], first, second, table.data(T[1], [row(3, 1, "c")]))
    assert [r["id"] for r in read(table)] == ["0", "1", "2", "3"]


@pytest.mark.parametrize("size", [1 << 62, -1, 0, None])
def test_R117_a_length_that_is_garbage(make, read, size):
    """One damaged span; what follows it is read."""
    table = make()
    table.commit(T[0], table.base(T[0], [row(0, 1, "base")]))
    good, content = table.data(T[1], [row(1, 1, "a")]), b"no block at all" * 5
    last = table.data(T[1], [row(3, 1, "c")])
    bad = hand.frame(3, {hand.INSTANT: T[1]}, content, size=0 if size is None else size)
    if size is None:  # one byte more than the file has
        bad = bad[:6] + struct.pack(">q", len(bad) - 14 + len(last) + 1) + bad[14:]
    log_of(table, T[1], good, bad, last)
    assert [r["id"] for r in read(table)] == ["0", "1", "3"]


def test_a_log_that_is_cut_short(make, read):
    table = make()
    table.commit(T[0], table.base(T[0], [row(0, 1, "base")]))
    last = table.data(T[1], [row(2, 1, "b")])
    log_of(table, T[1], table.data(T[1], [row(1, 1, "a")]), last[:-40])
    assert [r["id"] for r in read(table)] == ["0", "1"]


def test_R121_a_failed_delta_commit_between_good_ones(make, read):
    """Version 9: its log is no one's; version 6: its block, in a log of others, does not count."""
    table = make()
    table.commit(T[0], table.base(T[0], [row(0, 1, "base")]))
    log_of(table, T[1], table.data(T[1], [row(1, 1, "a")]))
    table.log(T[2], table.data(T[2], [row(0, 9, "never"), row(9, 9, "never")]))
    table.request(T[2], "deltacommit")
    log_of(table, T[3], table.data(T[3], [row(2, 1, "b")]))
    assert [r["v"] for r in read(table)] == ["base", "a", "b"]
    shutil.rmtree(table.root)
    table = make(6)
    table.commit(T[0], table.base(T[0], [row(0, 1, "base")]))
    path = table.log(T[0], table.data(T[1], [row(1, 1, "a")]), table.data(T[2], [row(0, 9, "never")]),
                     table.data(T[3], [row(2, 1, "b")]))
    table.commit(T[1], path)
    table.request(T[2], "deltacommit")
    table.commit(T[3], path)
    assert [r["v"] for r in read(table)] == ["base", "a", "b"]


def test_R119_a_log_whose_commit_left_the_timeline(make, read):
    """Its completion time is not known any more; its rows are."""
    table = make()
    table.commit(T[0], table.base(T[0], [row(0, 1, "base")]))
    log_of(table, T[1], table.data(T[1], [row(1, 1, "a")]))
    log_of(table, T[2], table.data(T[2], [row(2, 1, "b")]))
    for time in T[:2]:
        for path in table.timeline.glob(f"{time}*"):
            path.unlink()
    assert [r["id"] for r in read(table)] == ["0", "1", "2"]


def test_R135_a_pending_clustering_where_the_timeline_starts(make, read):
    table = make()
    log = table.log(T[0], table.data(T[0], [row(1, 1, "a")]))
    table.commit(T[0], log)
    table.request(T[1], "clustering")
    table.base(T[1], [row(1, 1, "a")], file_id="c-0")
    for at, time in enumerate(T[2:5]):
        table.commit(time, table.log(time, table.data(time, [row(at + 2, 1, "b")])))
    for path in table.timeline.glob(f"{T[0]}*"):
        path.unlink()
    assert [r["id"] for r in read(table)] == ["1", "2", "3", "4"]


# ---- incremental reads and time travel

@VERSIONS
def test_R153_updates_in_logs_are_in_the_range(make, read, version):
    table = make(version)
    table.commit(T[0], table.base(T[0], [row(1, 1, "a"), row(2, 1, "a")]))
    log_of(table, T[1], table.data(T[1], [row(1, 2, "b")]))
    first = T[0] if version < 8 else str(int(T[0]) + 1)
    assert pairs(read(table, "--since", first)) == [("1", 2, "b")]
    assert pairs(read(table, "--since", "000")) == [("1", 2, "b"), ("2", 1, "a")]
    assert pairs(read(table, "--since", "000", "--until", first)) == [("1", 1, "a"), ("2", 1, "a")]
    assert read(table, "--since", T[3]) == []


def test_R151_no_row_twice_and_none_lost(make, read):
    """Ranges that follow each other, each begun where the last one ended: every commit is in one of them. A commit that was
    requested early and completed late is in the range of its completion."""
    table = make()
    table.commit(T[0], table.base(T[0], [row(0, 1, "a")]))
    late = table.log(T[1], table.data(T[1], [row(1, 1, "late")], file_id="h-0"), file_id="h-0")
    log_of(table, T[2], table.data(T[2], [row(2, 1, "b")]))
    table.commit(T[1], late, completion=T[4])
    log_of(table, T[5], table.data(T[5], [row(3, 1, "c")]))
    ends = ["000", T[0] + "9", str(int(T[2]) + 1), T[4], T[6]]
    ends[1] = str(int(T[0]) + 1)
    got = [read(table, "--since", a, "--until", b) for a, b in zip(ends, ends[1:])]
    assert [[r["id"] for r in rows] for rows in got] == [["0"], ["2"], ["1"], ["3"]]


def test_R155_time_travel_behind_the_cleaner(make, read, refused):
    table = make()
    for at in range(5):
        table.commit(T[at], table.base(T[at], [row(1, at, "a")]))
    os.unlink(table.root / f"g-0_0-1-0_{T[0]}.parquet")
    os.unlink(table.root / f"g-0_0-1-0_{T[1]}.parquet")
    table.clean(T[6], T[2])
    assert T[2] in refused(table, "--as-of", T[1])
    assert pairs(read(table, "--as-of", T[2])) == [("1", 2, "a")]


def test_R157_forms_of_times(make, read, refused):
    table = make()
    times = ["20210728141108100", "20210728141108999", "20210729000000000"]
    for at, time in enumerate(times):
        table.commit(time, table.base(time, [row(1, at, "a")]))
    for text, want in (("20210728141108", 1), ("20210728141108123", 0), ("2021-07-28 14:11:08.100", 0),
                       ("2021-07-28T14:11:08.100Z", 0), ("2021-07-28 14:11:08", 1), ("2021-07-28T16:11:08+02:00", 1),
                       ("2021-07-29", 2), ("2021-07-29 00:00:00.000", 2)):
        assert [r["ts"] for r in read(table, "--as-of", text)] == [want], text
    assert times[0] in refused(table, "--as-of", "2021-07-28")
    for text in ("*", "yesterday", "2021-13-01", "20210728-141108", ""):
        assert "--as-of" in refused(table, "--as-of", text)
    assert "no such file" in refused(str(table.root) + "/*")


def test_R165_a_completed_instant_of_no_bytes(make, read, refused):
    table = make()
    for at in range(3):
        table.commit(T[at], table.log(T[at], table.data(T[at], [row(at, 1, "a")])))
    last = next(table.timeline.glob(f"{T[2]}_*"))
    for body in (b"", last.read_bytes()[:40]):
        last.write_bytes(body)
        assert T[2] in refused(table)
        assert [r["id"] for r in read(table, "--as-of", T[1])] == ["0", "1"]


def test_ranges_that_cannot_be(make, refused, read):
    table = make()
    table.commit(T[0], table.base(T[0], [row(1, 1, "a")]))
    assert "--since" in refused(table, "--since", "x")
    assert "--as-of" in refused(table, "--since", T[0], "--as-of", T[0])
    assert "--since" in refused(table, "--since", T[0], "--mode", "snapshot")
    assert read(table, "--since", T[0], "--until", T[0]) == []


# ---- what lies around

def test_R149_strange_files_below_hoodie(make, read):
    table = make()
    log = table.log(T[0], table.data(T[0], [row(1, 1, "a")]))
    table.commit(T[0], log)
    index = table.root / ".hoodie/.bucket_index/x"
    index.mkdir(parents=True)
    (index / "00000000000000.hashing_meta").write_bytes(b"{}")
    (index / f"{T[1]}.commit").write_bytes(b"")
    assert [r["id"] for r in read(table)] == ["1"]


def test_R145_a_metadata_table_that_lags_behind(tarn, shared, tmp_path):
    """Its last commits are gone: files are listed instead."""
    name = "mor_avro_v9_txns_simple_meta"
    root = hudi_fixtures.unpack(shared, name, tmp_path)
    want = next(q["rows"] for q in hudi_fixtures.queries(shared, name) if q["q"] == "snapshot")
    folder = root / ".hoodie/metadata/.hoodie/timeline"
    newest = sorted(path for path in folder.glob("*.deltacommit"))[-4:]
    for path in newest:
        path.unlink()
    hudi_fixtures.same(hudi_fixtures.parse(tarn("read", str(root), "--meta")), want)


def test_R111_rolled_back_writes_of_real_tables(tarn, shared, tmp_path):
    for name in ("mor_parquet_v6_nonpartitioned_rollback", "mor_avro_v9_nonpartitioned_rollback"):
        root = hudi_fixtures.unpack(shared, name, tmp_path / name)
        want = next(q["rows"] for q in hudi_fixtures.queries(shared, name) if q["q"] == "snapshot")
        hudi_fixtures.same(hudi_fixtures.parse(tarn("read", str(root), "--meta")), want)


# ---- schemas that grew

def test_R098_a_column_that_was_narrower(make, read):
    wide = {**COLUMNS, "n": "double"}
    table = make(columns={**COLUMNS, "n": "int"}, partition=None)
    table.commit(T[0], table.base(T[0], [row(1, 1, "a", n=30), row(2, 1, "a", n=31)]), table.base(
        T[0], [row(5, 1, "a", n=32)], file_id="h-0"))
    path = table.log(T[1], table.data(T[1], [row(1, 2, "b", n=0.5), row(9, 2, "b", n=9.5)], columns=wide))
    table.commit(T[1], path, columns=wide)
    assert [r["n"] for r in read(table)] == [0.5, 31.0, 32.0, 9.5]
    assert [r["id"] for r in read(table, "-w", "n > 31.5")] == ["5"]
    assert [r["id"] for r in read(table, "-w", "n < 31.5")] == ["1", "2", "9"]


def test_R102_a_column_in_the_middle(make, read):
    wide = {"id": "string", "state": "string", "ts": "long", "v": "string"}
    table = make()
    table.commit(T[0], table.base(T[0], [row(1, 1, "a"), row(2, 1, "a")]))
    log = table.data(T[1], [row(3, 1, "old")])
    table.commit(T[1], table.log(T[1], log))
    path = table.log(T[2], table.data(T[2], [row(2, 2, "b", state="s")], columns=wide))
    table.commit(T[2], path, columns=wide)
    assert [(r["id"], r["state"], r["v"]) for r in read(table)] == [("1", None, "a"), ("2", "s", "b"), ("3", None, "old")]
    assert "state" not in read(table, "--as-of", T[1])[0]
    assert [r["id"] for r in read(table, "-w", "state IS NULL")] == ["1", "3"]


def test_a_merger_that_is_a_program(make, read, refused):
    table = make(hoodie__compaction__payload__class="com.example.MyPayload", mode="CUSTOM")
    table.commit(T[0], table.base(T[0], [row(1, 5, "a")]))
    log_of(table, T[1], table.data(T[1], [row(1, 1, "b")]))
    text = refused(table)
    assert "com.example.MyPayload" in text and "--ignore-merger" in text
    assert [r["v"] for r in read(table, "--ignore-merger")] == ["b"]
    assert [r["v"] for r in read(table, "--mode", "read_optimized")] == ["a"]


# ---- what is refused, by name and before a row is given

def test_refusals(make, refused):
    def properties(**changed):
        path = table.root / ".hoodie/hoodie.properties"
        lines = dict(line.split("=", 1) for line in good.splitlines())
        lines.update({k.replace("__", "."): str(v) for k, v in changed.items()})
        path.write_text("".join(f"{k}={v}\n" for k, v in lines.items()))

    table = make()
    table.commit(T[0], table.base(T[0], [row(1, 1, "a")]))
    log = log_of(table, T[1], table.data(T[1], [row(2, 1, "b")]))
    good = (table.root / ".hoodie/hoodie.properties").read_text()
    for key, value, said in (("hoodie__table__version", 7, "version 7"), ("hoodie__table__version", 10, "version 10"),
                             ("hoodie__table__base__file__format", "ORC", "ORC"),
                             ("hoodie__table__base__file__format", "LANCE", "LANCE"),
                             ("hoodie__table__base__file__format", "HFILE", "HFILE"),
                             ("hoodie__table__format", "iceberg", "iceberg"),
                             ("hoodie__table__partial__update__mode", "SOMETHING", "SOMETHING"),
                             ("hoodie__bootstrap__base__path", "/elsewhere", "bootstrap")):
        properties(**{key: value})
        assert said in refused(table), key
    properties()
    path = table.root / log
    block = path.read_bytes()
    for at, value, said in ((17, 2, "version"), (21, 9, "block")):  # of the format, of the kind of block
        path.write_bytes(block[:at] + bytes([value]) + block[at + 1:])
        assert said in refused(table) and path.name in refused(table)
    path.write_bytes(b"no log at all")
    assert path.name in refused(table)
    path.write_bytes(hand.frame(1, {hand.INSTANT: T[1]}, struct.pack(">ii", 2, 4) + b"\xac\xed\x00\x05") + block)
    assert "compact" in refused(table) or "Hudi" in refused(table)
    path.write_bytes(block)
    base = table.root / f"g-0_0-1-0_{T[0]}.parquet"
    bytes_ = base.read_bytes()
    base.write_bytes(b"PARE" + bytes_[4:-4] + b"PARE")
    assert "encrypted" in refused(table)
    base.rename(base.with_suffix(".orc"))
    assert "orc" in refused(table)


def test_the_snapshot_was_cleaned(make, refused):
    """A file that is gone, and a clean that is newer than what was looked at: read again; without one it is damage."""
    table = make()
    table.commit(T[0], table.base(T[0], [row(1, 1, "a")]))
    os.unlink(table.root / f"g-0_0-1-0_{T[0]}.parquet")
    assert "is gone" in refused(table)

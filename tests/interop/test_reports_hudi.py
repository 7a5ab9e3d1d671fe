"""Faults that users of other writers of Hudi tables met, each as a test: sizes, keys, merging, deletes, partition text,
schemas, overwrites, instants. Rows are read back by pyarrow and the timeline alone (hudi_snapshot.py)."""
import json
import os
import pathlib
import random
import subprocess

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hudi_snapshot as hudi


@pytest.fixture
def lake(tmp_path, tarn, tarn_bin):
    return Lake(tmp_path, tarn, tarn_bin)


class Lake:
    """A table t, written to by the command."""

    def __init__(self, base, tarn, tarn_bin):
        self.base, self.tarn, self.bin = base, tarn, tarn_bin
        self.root = str(base / "t")
        self.inputs = 0

    def write(self, data, *options, want=0, root=None):
        """`data`: a list of dicts (NDJSON) or a pyarrow table (Parquet). Gives the report."""
        self.inputs += 1
        if isinstance(data, list):
            path = self.base / f"in{self.inputs}.ndjson"
            path.write_text("".join(json.dumps(r) + "\n" for r in data), encoding="utf-8")
        else:
            path = self.base / f"in{self.inputs}.parquet"
            pq.write_table(data, path)
        out = self.tarn("write", root or self.root, str(path), "--json", *options, want=want)
        return json.loads(out) if want == 0 else None

    def refused(self, data, *options):
        """Status and message of a write that is not done; the table stays as it was."""
        before = self.state()
        path = self.base / "refused.ndjson"
        if isinstance(data, list):
            path.write_text("".join(json.dumps(r) + "\n" for r in data), encoding="utf-8")
        else:
            path = self.base / "refused.parquet"
            pq.write_table(data, path)
        done = subprocess.run([self.bin, "write", self.root, str(path), *options], capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL)
        assert done.returncode != 0 and "Sanitizer" not in done.stderr, done.stderr
        assert self.state() == before
        return done.stderr

    def state(self):
        if not os.path.exists(self.root):
            return None
        return sorted(str(p) for p in pathlib.Path(self.root).rglob("*.parquet")), hudi.rows(self.root)

    def rows(self, *columns):
        out = hudi.rows(self.root)
        return [tuple(r[c] for c in columns) for r in out] if columns else out

    def files(self):
        return hudi.files(self.root)

    def keys(self):
        return [r["_hoodie_record_key"] for r in hudi.rows(self.root, meta=True)]


KEY = ("--key", "id")
ORDERED = ("--key", "id", "--ordering", "ts")


# ---- sizes

def test_R001_tiny_first_commit(lake):
    """The size of a row is not that of a file that is nearly all key filter."""
    lake.write(pa.table({"id": [0], "v": ["x"]}), *KEY, "--op", "insert")
    lake.write(pa.table({"id": range(1, 100_001), "v": ["x"] * 100_000}), "--op", "insert")
    assert len(lake.files()) == 1
    assert len(lake.rows()) == 100_001


def test_R005_wide_rows_after_narrow_ones(lake):
    """Files are cut by the bytes that are written, whatever was expected."""
    limit = 2_000_000
    noise = random.Random(5)
    lake.write(pa.table({"id": range(50_000)}), *KEY, "--op", "insert", "--target", str(limit))
    wide = pa.table({"id": range(50_000, 51_000), "blob": [noise.randbytes(10_000) for _ in range(1000)]})
    lake.write(wide, "--op", "insert", "--target", str(limit), "--row-group", "500000")
    sizes = [os.path.getsize(f) for f in lake.files()]
    assert max(sizes) < 1.25 * limit + 500_000 and len(sizes) >= 4
    assert len(lake.rows("id")) == 51_000


# ---- keys

def test_R022_spelling_of_single_complex_keys(lake):
    """Which way the table spells them is seen in its files, and refused where both are met."""
    rows = [{"event_id": i, "p": "a", "v": 1} for i in range(1, 101)]
    complex_keys = ("--key", "event_id", "--partition", "p", "--keygen", "complex")
    for option, first in (("false", "event_id:1"), ("true", "1")):
        lake.root = str(lake.base / option)
        lake.write(rows, *complex_keys, "--set", f"hoodie.write.complex.keygen.new.encoding={option}")
        assert first in lake.keys()
        done = lake.write([dict(r, v=2) for r in rows])
        assert (done["updated"], done["inserted"]) == (100, 0)
        assert {r["v"] for r in lake.rows()} == {2} and len(lake.rows()) == 100


def test_R024_times_in_keys(lake):
    """One spelling in every way of writing; a zone does not leak in."""
    rows = [{"id": 1, "at": "2016-12-29T09:54:00Z", "v": "a"}]
    lake.write(rows, "--key", "id,at", "--op", "bulk_insert")
    assert lake.keys() == ["id:1,at:1483005240000000"]
    os.environ["TZ"] = "Asia/Tokyo"
    try:
        done = lake.write([dict(rows[0], v="b")])
    finally:
        del os.environ["TZ"]
    assert done["updated"] == 1 and lake.rows("v") == [("b",)]


def test_R026_colons_in_a_bucket_index(lake):
    rows = [{"uid": f"tiq_{i}:htmtalent"} for i in (1, 2, 3)]
    lake.write(rows, "--key", "uid", "--set", "hoodie.index.type=BUCKET", "--set", "hoodie.bucket.index.num.buckets=4")
    assert sorted(os.path.basename(f)[:8] for f in lake.files()) == ["00000000", "00000001", "00000002"]


def test_R028_unicode_keys(lake):
    rows = [{"id": k, "v": 1} for k in ("\ue000", "\U00020000", "\U0001f600")]
    lake.write(rows, *KEY)
    done = lake.write([dict(r, v=2) for r in rows], "--set", "hoodie.index.type=BLOOM")
    assert done["updated"] == 3 and len(lake.rows()) == 3


def test_R030_R032_null_and_empty_parts(lake):
    """Null, empty and the words that stand for them; the same in each way of writing."""
    rows = [{"first": "James", "middle": None}, {"first": "Michael", "middle": ""}, {"first": "James", "middle": "x"}]
    for op in ("bulk_insert", "upsert"):
        lake.root = str(lake.base / op)
        lake.write(rows, "--key", "first,middle", "--op", op)
        assert sorted(lake.keys()) == ["first:James,middle:__null__", "first:James,middle:x", "first:Michael,middle:__empty__"]
        assert lake.write(rows, "--key", "first,middle", "--op", "upsert")["updated"] == 3


# ---- merging

def test_R034_equal_ordering_values(lake):
    """The later arrival wins, in one batch and in two, whatever the number of threads."""
    batch = [{"id": 1, "op": "I", "ts": 5, "v": 1, "_hoodie_is_deleted": False},
             {"id": 1, "op": "U", "ts": 5, "v": 2, "_hoodie_is_deleted": False},
             {"id": 1, "op": "D", "ts": 5, "v": 3, "_hoodie_is_deleted": True}]
    keep = {"id": 2, "op": "I", "ts": 1, "v": 0, "_hoodie_is_deleted": False}
    for jobs in ("1", "4"):
        lake.root = str(lake.base / f"one{jobs}")
        lake.write([keep] + batch, *ORDERED, "--jobs", jobs)
        assert lake.rows("id") == [(2,)]
        lake.root = str(lake.base / f"two{jobs}")
        lake.write([keep] + batch[:2], *ORDERED, "--jobs", jobs)
        assert (1, 2) in lake.rows("id", "v")
        assert lake.write(batch[2:], "--jobs", jobs)["deleted"] == 1
        assert lake.rows("id") == [(2,)]


def test_R036_ordering_values_of_text_and_null(lake):
    lake.write([{"id": 1, "ts": "2020-01-02x", "v": 1}, {"id": 2, "ts": "2020-01-01x", "v": 1}], *ORDERED)
    done = lake.write([{"id": 1, "ts": None, "v": 2}, {"id": 2, "ts": "2020-01-03x", "v": 2}])
    assert (done["unchanged"], done["updated"]) == (1, 1)
    assert lake.rows("id", "v") == [(1, 1), (2, 2)]
    assert lake.write([{"id": 1}], "--op", "delete")["deleted"] == 1
    assert lake.rows("id") == [(2,)]


def test_R038_older_rows(lake):
    for mode, want in (("event_time", "new"), ("commit_time", "old")):
        lake.root = str(lake.base / mode)
        lake.write([{"id": 1, "v": "new", "ts": 100}], *ORDERED, "--merge-mode", mode)
        lake.write([{"id": 1, "v": "old", "ts": 96}])
        assert lake.rows("v") == [(want,)]


def test_R038_a_table_that_does_not_say_how_rows_merge(lake):
    """Hudi 0.15 keeps no payload class for tables that SQL or Spark made: the writer's counts, and none means arrival."""
    lake.write([{"id": 1, "ts": 5, "v": "new"}], *ORDERED)
    path = pathlib.Path(lake.root) / ".hoodie/hoodie.properties"
    text = path.read_text()
    path.write_text("".join(line for line in text.splitlines(True) if "payload.class" not in line))
    assert path.read_text() != text
    late = [{"id": 1, "ts": 4, "v": "late"}]
    for words in (("--merge-mode", "event_time"),
                  ("--set", "hoodie.datasource.write.payload.class=org.apache.hudi.common.model.DefaultHoodieRecordPayload")):
        assert lake.write(late, *words)["unchanged"] == 1
        assert lake.rows("v") == [("new",)]
        assert "unchanged" in lake.write(late, *words, "--dry-run")
    assert "own.Payload" in lake.refused(late, "--set", "hoodie.datasource.write.payload.class=own.Payload")
    lake.write(late)
    assert lake.rows("v") == [("late",)]


def test_R040_partial_payloads(lake):
    """What is not merged as the table says is refused by name; plain overwriting writes the null."""
    lake.write([{"id": 1, "a": "x", "b": 5}], *KEY)
    lake.write([{"id": 1, "a": None, "b": 6}])
    assert lake.rows("a", "b") == [(None, 6)]
    said = lake.refused([{"id": 1, "b": 7}])
    assert "lack columns of the table (a)" in said
    lake.write([{"id": 1, "b": 7}], "--set", "hoodie.write.set.null.for.missing.columns=true")
    assert lake.rows("a", "b") == [(None, 7)]
    path = pathlib.Path(lake.root, ".hoodie/hoodie.properties")
    lines = [l for l in path.read_text("latin-1").splitlines() if not l.startswith("hoodie.compaction.payload.class")]
    lines.append("hoodie.compaction.payload.class=org.apache.hudi.common.model.OverwriteNonDefaultsWithLatestAvroPayload")
    path.write_text("\n".join(lines) + "\n", "latin-1")
    assert "field by field" in lake.refused([{"id": 1, "a": None, "b": 8}])


def test_R042_rows_that_move(lake):
    lake.write([{"id": 1, "p": "a", "ts": 1}, {"id": 2, "p": "a", "ts": 1}], *ORDERED, "--partition", "p")
    done = lake.write([{"id": 1, "p": "b", "ts": 2}], "--set", "hoodie.index.type=GLOBAL_SIMPLE")
    assert done["moved"] == 1
    assert lake.rows("id", "p") == [(1, "b"), (2, "a")]


# ---- deletes

def test_R044_late_delete(lake):
    lake.write([{"id": 1, "v": 12, "ts": 101, "_hoodie_is_deleted": False}], *ORDERED)
    lake.write([{"id": 1, "v": None, "ts": 97, "_hoodie_is_deleted": True}])
    lake.write([{"id": 1, "v": 18, "ts": 96, "_hoodie_is_deleted": False}])
    assert lake.rows("v", "ts") == [(12, 101)]


def test_R046_deletes_that_match_nothing(lake):
    keys = ("--key", "event_id", "--partition", "p", "--keygen", "complex",
            "--set", "hoodie.write.complex.keygen.new.encoding=false")
    lake.write([{"event_id": i, "p": "a", "_hoodie_is_deleted": False} for i in range(1, 11)], *keys)
    done = lake.write([{"event_id": i, "p": "a"} for i in (1, 99)], "--op", "delete")
    assert (done["rows"], done["deleted"], done["not_found"]) == (2, 1, 1)
    done = lake.write([{"event_id": i, "p": "a", "_hoodie_is_deleted": gone} for i, gone in ((2, True), (3, None), (98, True))])
    assert (done["deleted"], done["updated"], done["not_found"]) == (1, 1, 1)
    assert lake.rows("event_id") == [(i,) for i in (10, 3, 4, 5, 6, 7, 8, 9)]


# ---- text of partitions

VALUES = ["with space", "with-dash", "x=", "x%", "x", "x/", "x/y", "%2F"]


@pytest.mark.parametrize("style", [(), ("--hive-style",)])
def test_R048_escaped_paths(lake, style):
    lake.write([{"id": i, "p": v} for i, v in enumerate(VALUES)], *KEY, "--partition", "p", "--url-encode", *style)
    assert lake.rows("p") == [(v,) for v in VALUES]
    prefix = "p=" if style else ""
    found = {os.path.relpath(os.path.dirname(f), lake.root) for f in lake.files()}
    assert {prefix + d for d in ("x%3D", "x%25", "x%2F", "x%2Fy", "%252F", "x", "with space", "with-dash")} == found
    assert lake.write([{"id": i, "p": v} for i, v in enumerate(VALUES)])["updated"] == len(VALUES)


def test_R048_paths_as_they_are(lake):
    """Without escaping a slash makes a level, never another partition's directory."""
    lake.write([{"id": 1, "p": "x"}, {"id": 2, "p": "x/y"}], *KEY, "--partition", "p")
    assert {os.path.relpath(os.path.dirname(f), lake.root) for f in lake.files()} == {"x", "x/y"}
    assert lake.rows("id", "p") == [(1, "x"), (2, "x/y")]
    lake.refused([{"id": 3, "p": "x/"}])
    lake.refused([{"id": 3, "p": "../x"}])


def test_R052_colons(lake):
    lake.root = str(lake.base / "base: with colon/t")
    os.makedirs(os.path.dirname(lake.root))
    value = "2007-09-26 13:14:35.981 x"
    lake.write([{"id": 1, "p": value}], *KEY, "--partition", "p")
    lake.write([{"id": 1, "p": value}])
    assert lake.rows("p") == [(value,)]


def test_R056_slash_dates(lake):
    rows = pa.table({"id": [1, 2], "datestr": ["2026-01-05", "2026-01-06"]})
    lake.write(rows, *KEY, "--partition", "datestr", "--set", "hoodie.datasource.write.slash.separated.date.partitioning=true",
               "--table-version", "6")
    assert {os.path.relpath(os.path.dirname(f), lake.root) for f in lake.files()} == {"2026/01/05", "2026/01/06"}
    assert lake.rows("datestr") == [("2026-01-05",), ("2026-01-06",)]


# ---- schemas

def test_R098_widening(lake):
    parts = ("--partition", "p")
    lake.write(pa.table({"id": [1, 2], "p": ["0", "3"], "n": pa.array([30, 31], pa.int32())}), *KEY, *parts)
    lake.write(pa.table({"id": [1, 9], "p": ["0", "9"], "n": [30.5, 9.5]}))
    assert hudi.schema(lake.root)["n"] == ["null", "double"]
    assert [(i, float(n)) for i, n in lake.rows("id", "n")] == [(1, 30.5), (2, 31.0), (9, 9.5)]


def test_R100_narrowing(lake):
    lake.write(pa.table({"id": [1], "n": [1.5]}), *KEY)
    lake.write(pa.table({"id": [2], "n": pa.array([2], pa.int32())}))
    assert lake.rows("n") == [(1.5,), (2.0,)] and hudi.schema(lake.root)["n"] == ["null", "double"]
    said = lake.refused(pa.table({"id": [3], "n": ["x"]}))
    assert '"n"' in said and "double" in said and "string" in said


def test_R102_column_in_the_middle(lake):
    lake.write(pa.table({"id": [1, 2], "price": [1.5, 2.5]}), *KEY)
    lake.write(pa.table({"id": [3, 1], "state": ["CA", "NY"], "price": [3.5, 1.25]}))
    assert lake.rows("id", "state", "price") == [(1, "NY", 1.25), (2, None, 2.5), (3, "CA", 3.5)]


def test_R104_required_to_nullable(lake):
    required = pa.schema([pa.field("id", pa.int64(), False), pa.field("a", pa.int64(), False)])
    lake.write(pa.table({"id": [1], "a": [1]}, schema=required), *KEY)
    lake.write(pa.table({"id": [2], "a": pa.array([None], pa.int64())}))
    assert lake.rows("id", "a") == [(1, 1), (2, None)]
    assert hudi.schema(lake.root)["a"] == ["null", "long"]


def test_R106_case_of_names(lake):
    lake.write(pa.table({"id": [1], "id7": [7]}), *KEY)
    lake.write(pa.table({"ID": [2], "ID7": [8]}))
    assert lake.rows("id", "id7") == [(1, 7), (2, 8)]


# ---- instants, crashes, overwrites

def test_R159_clock_goes_back(lake):
    """A new instant is later than all that there are."""
    lake.write([{"id": 1}], *KEY)
    hidden = pathlib.Path(lake.root, ".hoodie")
    for name in os.listdir(hidden):
        if name[0] == "2":
            os.rename(hidden / name, hidden / name.replace(name[:17], "29990101000000000"))
    time = "29990101000000000"
    for path in pathlib.Path(lake.root).glob("*.parquet"):
        path.rename(str(path).replace(str(path).rsplit("_", 1)[1], time + ".parquet"))
    text = (hidden / f"{time}.commit").read_text()
    old = json.loads(text)["partitionToWriteStats"][""][0]["path"].rsplit("_", 1)[1].split(".")[0]
    (hidden / f"{time}.commit").write_text(text.replace(old, time))
    done = lake.write([{"id": 2}], "--op", "bulk_insert")
    assert done["instant"] > time


def test_R163_stale_lock(lake):
    """The lock file of another writer is respected, without a wait, and the message says how it goes."""
    lake.write([{"id": 1}], *KEY)
    lock = pathlib.Path(lake.root, ".hoodie/lock")
    lock.write_text("")
    said = subprocess.run([lake.bin, "write", lake.root, str(lake.base / "in1.ndjson")], capture_output=True, text=True,
                          check=False, stdin=subprocess.DEVNULL)
    assert said.returncode == 4 and ".hoodie/lock" in said.stderr and "remove that file" in said.stderr
    lock.unlink()
    lake.write([{"id": 2}])
    assert lake.rows("id") == [(1,), (2,)]


def test_R165_completed_instant_of_no_bytes(lake):
    lake.write([{"id": 1}], *KEY)
    done = lake.write([{"id": 2}])
    path = pathlib.Path(lake.root, ".hoodie", done["instant"] + ".commit")
    path.write_bytes(b"")
    said = subprocess.run([lake.bin, "write", lake.root, str(lake.base / "in1.ndjson")], capture_output=True, text=True,
                          check=False, stdin=subprocess.DEVNULL)
    assert said.returncode == 1 and done["instant"] in said.stderr
    assert path.read_bytes() == b""


def test_R169_overwrite_with_nothing(lake):
    lake.write([{"id": 1, "p": "1"}, {"id": 2, "p": "2"}], *KEY, "--partition", "p")
    none = pa.table({"id": pa.array([], pa.int64()), "p": pa.array([], pa.string())})
    lake.write(none, "--op", "insert_overwrite")
    assert lake.rows("id") == [(1,), (2,)]
    assert lake.write(none, "--op", "insert_overwrite", "--partitions", "1")["replaced"] == 1
    assert lake.rows("id") == [(2,)]


def test_R171_overwrite_keeps_its_rows(lake):
    lake.write([{"id": 1, "p": "1"}, {"id": 2, "p": "1"}, {"id": 9, "p": "2"}], *KEY, "--partition", "p")
    lake.write([{"id": 2, "p": "1"}, {"id": 3, "p": "1"}], "--op", "insert_overwrite")
    assert lake.rows("id") == [(2,), (3,), (9,)]

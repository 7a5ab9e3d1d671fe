"""Change data: tables that real Hudi writes in each logging mode, copy-on-write and merge-on-read, and tables that log none. The
changes that tarn reads are those that Spark reads, row for row and image for image, but for decimals, which Spark prints wrong;
and whoever applies them in order has the rows of the table."""
import json
import os
import subprocess

import pytest

FULL = bool(os.environ.get("TARN_FULL"))
DDL = "id string, p string, ts bigint, name string, amount decimal(10,2), d date, t timestamp, f double, b boolean, tags array<string>"
MODES = ("data_before_after", "op_key_only", "data_before")
META = ("_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name")
# Hudi 1.0.2 cannot compact its own merge-on-read tables after a delete.
TABLES = [(9, kind, mode) for mode in MODES for kind in ("cow", "mor")]
if FULL:
    TABLES += [(8, "cow", mode) for mode in MODES] + [(6, kind, mode) for mode in MODES for kind in ("cow", "mor")]


def row(i, ts, name, p=None):
    return {"id": f"k{i}", "p": p or "ab"[i % 2 == 0], "ts": ts, "name": name, "amount": i * 1.25, "d": f"2024-03-0{i % 9 + 1}",
            "t": f"2024-03-01T10:00:0{i % 10}.123456Z", "f": i / 3, "b": i % 2 == 1, "tags": ["x", f"y{i}"]}


STEPS = [
    ("insert", [row(i, 10, f"n{i}") for i in range(1, 11)]),
    ("upsert", [row(i, 20, f"u{i}") for i in (1, 2, 3)] + [row(i, 20, f"new{i}") for i in (11, 12)]),
    ("delete", [row(i, 30, "x") for i in (4, 5)]),
    ("upsert", [row(1, 40, "v1"), row(6, 5, "late"), row(13, 40, "n13"), row(4, 40, "again")]),
    ("insert_overwrite", [row(i, 50, f"over{i}", p="a") for i in (1, 21, 23)]),
    ("upsert", [row(21, 60, "after"), row(2, 60, "w2"), row(30, 60, "n30")]),
    ("upsert", [row(i, 70, f"z{i}") for i in (1, 2, 3, 11, 12)]),
    ("delete", [row(i, 80, "x") for i in (21, 23, 1, 3, 11)]),
]


def write(hudi, path, folder, version, kind, step, *options):
    op, rows = STEPS[step]
    source = folder / f"{step}.jsonl"
    source.write_text("".join(json.dumps(r) + "\n" for r in rows))
    words = ["--table-version", version] if version > 6 else []
    for option in ("hoodie.metadata.enable=false", "hoodie.clean.automatic=false", *options):
        words += ["--opt", option]
    hudi("write", "--table", path, "--input", source, "--schema", DDL, "--op", op, "--type", kind, "--key", "id", "--partition", "p",
         "--precombine", "ts", "--name", "t", *words)


def image(text):
    """What can be compared: decimals apart, and numbers by value. Spark prints an image that is not there as "null", too."""
    values = json.loads(text) if text is not None else None
    if values is None:
        return None
    values.pop("amount")
    return {k: float(v) if isinstance(v, (int, float)) and not isinstance(v, bool) else v for k, v in values.items()}


def changes_of(rows, version):
    """Older releases print arrays wrong, and of a replaced file group one row again and again: what happened when is compared."""
    if version < 9:
        return sorted((r["op"], r["ts_ms"]) for r in rows)
    rows = [(r["op"], r["ts_ms"], image(r.get("before")), image(r.get("after"))) for r in rows]
    return sorted(rows, key=lambda r: json.dumps(r, sort_keys=True))


def ours(tarn, path, *words):
    text = tarn("read", str(path), "--mode", "cdc", "--format", "ndjson", *words)
    return [json.loads(line) for line in text.splitlines()]


def apply(changes):
    """The rows that are there after all changes, by key, without meta columns."""
    rows = {}
    for change in changes:
        after = json.loads(change["after"]) if change["after"] is not None else None
        before = json.loads(change["before"]) if change["before"] is not None else None
        key = (after or before)["id"]
        assert (key in rows) == (before is not None), change
        if before is not None:
            assert {k: v for k, v in before.items() if k not in META} == rows.pop(key)
        if after is not None:
            rows[key] = {k: v for k, v in after.items() if k not in META}
    return rows


def snapshot(tarn, path):
    text = tarn("read", str(path), "--columns", "id,p,ts,name,amount,f,b", "--format", "ndjson")
    return {r["id"]: r for r in map(json.loads, text.splitlines())}


def check_applied(tarn, path):
    rows = apply(ours(tarn, path))
    assert {k: {c: r[c] for c in ("id", "p", "ts", "name", "amount", "f", "b")} for k, r in rows.items()} == snapshot(tarn, path)


@pytest.mark.parametrize("hudi, version, kind, mode", [(v, v, k, m) for v, k, m in TABLES], indirect=["hudi"], scope="session",
                         ids=[f"v{v}-{k}-{m}" for v, k, m in TABLES])
def test_changes_are_those_of_spark(hudi, version, kind, mode, tarn, tmp_path):
    path = tmp_path / "t"
    for step in range(len(STEPS)):
        compact = ["hoodie.compact.inline=false"]
        if kind == "mor" and step == 5:
            compact = ["hoodie.compact.inline=true", "hoodie.compact.inline.max.delta.commits=2"]
        write(hudi, path, tmp_path, version, kind, step, "hoodie.table.cdc.enabled=true",
              f"hoodie.table.cdc.supplemental.logging.mode={mode}", *compact)
    got = ours(tarn, path)
    assert changes_of(got, version) == changes_of(hudi("read", "--table", path, "--mode", "cdc", "--begin", "000"), version)
    check_applied(tarn, path)
    assert all(isinstance(json.loads(r["after"])["amount"], (int, float)) for r in got if r["after"])

    # a range is open at its begin and closed at its end
    instants = sorted({r["ts_ms"] for r in got})
    assert len(instants) == len(STEPS)
    some = ours(tarn, path, "--since", instants[1], "--until", instants[3])
    assert {r["ts_ms"] for r in some} == {instants[2], instants[3]}
    asked = hudi("read", "--table", path, "--mode", "cdc", "--begin", instants[1], "--end", instants[3])
    assert changes_of(some, version) == changes_of(asked, version)
    assert ours(tarn, path, "--since", instants[-1]) == []

    # conditions, columns and limits are of the changes
    deleted = ours(tarn, path, "--where", "op = 'd'", "--columns", "before,op")
    assert [list(r) for r in deleted] == [["before", "op"]] * sum(r["op"] == "d" for r in got)
    assert [r["before"] for r in deleted] == [r["before"] for r in got if r["op"] == "d"]
    assert ours(tarn, path, "--limit", "3") == got[:3]


@pytest.mark.parametrize("hudi, version, kind", [(9, 9, "cow"), (9, 9, "mor")], indirect=["hudi"], scope="session", ids=["cow", "mor"])
def test_changes_that_nobody_logged(hudi, version, kind, tarn, tmp_path):
    """Spark refuses such a table; its files say what changed."""
    path = tmp_path / "t"
    for step in range(len(STEPS)):
        write(hudi, path, tmp_path, version, kind, step, "hoodie.compact.inline=false")
    changes = ours(tarn, path)
    assert len({r["ts_ms"] for r in changes}) == len(STEPS)
    check_applied(tarn, path)


def test_changes_of_a_table_of_tarn(tarn, tmp_path):
    """Copy-on-write tables that tarn writes have changes, too; rows that did not change have none."""
    path = tmp_path / "t"
    for number, (op, rows) in enumerate(STEPS):
        if op not in ("insert", "upsert", "delete"):
            continue
        source = tmp_path / f"{number}.ndjson"
        source.write_text("".join(json.dumps(r) + "\n" for r in rows))
        tarn("write", str(path), str(source), "--key", "id", "--partition", "p", "--ordering", "ts", "--op", op)
    changes = ours(tarn, path)
    check_applied(tarn, path)
    assert {r["op"] for r in changes} == {"i", "u", "d"}
    assert not any("late" in (r["after"] or "") for r in changes)


def test_what_cannot_be_told(tarn_bin, tarn, tmp_path):
    """A file that was cleaned is told with the commit that needs it; options that make no sense are refused."""
    path = tmp_path / "t"
    for number in range(2):
        source = tmp_path / f"{number}.ndjson"
        source.write_text("".join(json.dumps(r) + "\n" for r in STEPS[number][1]))
        tarn("write", str(path), str(source), "--key", "id", "--partition", "p", "--ordering", "ts")
    instants = sorted({r["ts_ms"] for r in ours(tarn, path)})

    def refused(*words):
        done = subprocess.run([tarn_bin, "read", str(path), "--mode", "cdc", *words], capture_output=True, text=True, check=False)
        assert done.returncode != 0
        return done.stderr

    assert "--key is for rows" in refused("--key", "k1")
    assert "--as-of" in refused("--as-of", instants[0])
    for file in path.rglob(f"*_{instants[0]}.parquet"):
        file.unlink()
    told = refused()
    assert f"commit {instants[0]}" in told and "--since" in told

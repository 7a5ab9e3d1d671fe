"""Every table that real Hudi wrote, and every query that Hudi 1.2.0 on Spark was asked about it: the same rows by tarn, value
for value, meta columns included. Where Hudi refused, tarn does, and says why.

The tables are other projects' files, found beside the checkout or by TARN_SHARED; without them nothing is collected."""
import json
import os
import pathlib
import subprocess

import pytest

import hudi_fixtures

SHARED = pathlib.Path(os.environ.get("TARN_SHARED") or pathlib.Path(__file__).resolve().parents[3] / "shared")
# Base files of a format that is not read: named, and nothing half read.
REFUSED = {"cow_v9_lance_nonpartitioned": "LANCE"}
# What Hudi's refusals become.
REFUSALS = {"Incremental queries are not supported when meta fields are disabled": "hoodie.populate.meta.fields=false"}


def collect():
    for name in hudi_fixtures.names(SHARED):
        for query in hudi_fixtures.queries(SHARED, name):
            yield pytest.param(name, query, id=f"{name}-{hudi_fixtures.label(query)}")


@pytest.fixture(scope="session")
def table(tmp_path_factory):
    """table(name): the directory of a fixture, unpacked once."""
    made = {}

    def get(name):
        if name not in made:
            made[name] = hudi_fixtures.unpack(SHARED, name, tmp_path_factory.mktemp(name))
        return made[name]

    return get


def ask(tarn_bin, words):
    return subprocess.run([tarn_bin, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300, check=False)


@pytest.mark.parametrize("name,query", list(collect()))
def test_rows(tarn_bin, table, name, query):
    done = ask(tarn_bin, hudi_fixtures.words(table(name), query))
    if "error" in query:
        refusal = next(text for said, text in REFUSALS.items() if said in query["error"])
        assert done.returncode != 0 and done.stdout == "" and refusal in done.stderr
        return
    assert done.returncode == 0, done.stderr
    hudi_fixtures.same(hudi_fixtures.parse(done.stdout), query["rows"])


@pytest.mark.parametrize("name", [n for n in hudi_fixtures.names(SHARED) if any(
    q["q"] == "incremental" and "error" not in q for q in hudi_fixtures.queries(SHARED, n))])
def test_changes_lead_to_the_snapshot(tarn_bin, table, name):
    """All changes from the first commit on, one after the other, give the rows of the newest snapshot; each update and delete
    finds the row that it says was there."""
    done = ask(tarn_bin, ["read", str(table(name)), "--mode", "cdc"])
    assert done.returncode == 0, done.stderr
    now, times = [], []  # some tables were inserted into twice, so that keys are there twice
    image = ("_hoodie_record_key", "_hoodie_partition_path", "_hoodie_commit_seqno", "_hoodie_commit_time")
    for change in hudi_fixtures.parse(done.stdout):
        before, after = (json.loads(change[side]) if change[side] else None for side in ("before", "after"))
        assert {"i": (False, True), "u": (True, True), "d": (True, False)}[change["op"]] == (before is not None, after is not None)
        times.append(change["ts_ms"])
        if before is not None:
            now.remove({c: before[c] for c in image})
        if after is not None:
            now.append({c: after[c] for c in image})
    assert times == sorted(times)
    want = next(q["rows"] for q in hudi_fixtures.queries(SHARED, name) if q["q"] == "snapshot")
    hudi_fixtures.same(now, [{c: row[c] for c in image} for row in want])


def literal(value):
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


@pytest.mark.parametrize("name", [n for n in hudi_fixtures.names(SHARED) if hudi_fixtures.queries(SHARED, n)])
def test_conditions(tarn_bin, table, name):
    """Rows of a condition are those of all rows that meet it, whatever partitions, statistics and indexes leave unread."""
    rows = next(q["rows"] for q in hudi_fixtures.queries(SHARED, name) if q["q"] == "snapshot")
    root, asked = str(table(name)), 0
    for column in rows[0] if rows else []:
        values = [row[column] for row in rows if column in row]
        if column in hudi_fixtures.TIMES or not all(isinstance(v, (int, str)) and not isinstance(v, bool) for v in values):
            continue
        for value in {min(values), max(values)}:
            for op, holds in (("=", lambda v: v == value), (">", lambda v: v > value)):
                done = ask(tarn_bin, ["read", root, "--meta", "-w", f"`{column}` {op} {literal(value)}"])
                assert done.returncode == 0, done.stderr
                want = [row for row in rows if column in row and holds(row[column])]
                hudi_fixtures.same(hudi_fixtures.parse(done.stdout), want)
                asked += 1
    assert asked > 0 or not rows


@pytest.mark.parametrize("name", sorted(set(hudi_fixtures.names(SHARED)) & set(REFUSED)))
def test_refused(tarn_bin, table, name):
    for words in (["read"], ["read", "--mode", "read_optimized"], ["read", "--since", "000"]):
        done = ask(tarn_bin, [words[0], str(table(name)), *words[1:]])
        assert done.returncode == 1 and done.stdout == ""
        assert REFUSED[name] in done.stderr and done.stderr.count("\n") == 1


def test_none_is_left_out():
    """Each fixture has rows to compare, or is refused by name."""
    for name in hudi_fixtures.names(SHARED):
        assert (name in REFUSED) != bool(hudi_fixtures.queries(SHARED, name)), name

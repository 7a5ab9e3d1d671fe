"""Incremental ranges and times on tables whose timeline Hudi 1.2.0 cleaned and archived: tarn gives the rows Spark gives, and
refuses what Spark refuses. Tables of version 6 and 9, copy-on-write and merge-on-read."""
import json

import pytest

import hudi_peers

SCHEMA = "id string, p string, ts bigint, v string"
SERVICES = ["hoodie.metadata.enable=false", "hoodie.clean.automatic=true", "hoodie.clean.commits.retained=1",
            "hoodie.archive.automatic=true", "hoodie.keep.min.commits=2", "hoodie.keep.max.commits=3", "hoodie.compact.inline=false"]
COMPACTION = ["hoodie.compact.inline=true", "hoodie.compact.inline.max.delta.commits=3"]
KINDS = [(version, kind) for version in (6, 9) for kind in ("cow", "mor")]

pytestmark = pytest.mark.parametrize("hudi", [9], indirect=True, scope="session")


def options(*settings):
    return [word for setting in settings for word in ("--opt", setting)]


def write(hudi, folder, table, version, kind, number, rows):
    path = folder / f"{number}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    hudi("write", "--table", table, "--input", path, "--schema", SCHEMA, "--op", "upsert" if number else "insert", "--type", kind,
         "--key", "id", "--partition", "p", "--precombine", "ts", "--table-version", version,
         *options(*SERVICES[:-1], *COMPACTION) if kind == "mor" and number else options(*SERVICES))


def history(hudi, folder, version, kind):
    """Partition "b" is written once, and its commit is archived; "a" goes on."""
    table = folder / f"t{version}_{kind}"
    first = [{"id": f"k{i}", "p": "a", "ts": 1, "v": "0"} for i in range(4)] + [{"id": f"q{i}", "p": "b", "ts": 1, "v": "0"} for i in range(3)]
    write(hudi, folder, table, version, kind, 0, first)
    for n in range(1, 8):
        write(hudi, folder, table, version, kind, n,
              [{"id": f"k{n % 4}", "p": "a", "ts": n + 1, "v": str(n)}, {"id": f"n{n}", "p": "a", "ts": n, "v": str(n)}])
    return table


def told(rows):
    return sorted((row["_hoodie_record_key"], row["_hoodie_commit_time"], row["v"]) for row in rows)


def tarn_rows(tarn, table, *words):
    return told(map(json.loads, tarn("read", table, "--meta", *words).splitlines()))


@pytest.mark.parametrize("version, kind", KINDS, ids=[f"v{v}_{k}" for v, k in KINDS])
def test_ranges_over_an_archive(hudi, tarn, tmp_path, version, kind):
    table = history(hudi, tmp_path, version, kind)
    instants = json.loads(tarn("timeline", table, "--archived", "--json"))["instants"]
    commits = [i for i in instants if i["action"] in ("commit", "deltacommit")]
    bounds = [i["completion"] if version == 9 else i["time"] for i in commits]
    assert sum(i.get("archived", False) for i in commits) >= 4 and any(i["action"] == "clean" for i in instants)
    ranges = [("000", None), ("000", bounds[-2]), (bounds[0], None), (bounds[2], bounds[-2]), (bounds[-3], None), (bounds[-2], None)]
    for since, until in ranges:
        want = hudi("read", "--table", table, "--mode", "incremental", "--meta", "--begin", since, *(["--end", until] if until else []))
        got = tarn_rows(tarn, table, "--since", since, *(["--until", until] if until else []))
        assert got == told(want), (since, until)
    last = commits[-1]["time"]
    assert tarn_rows(tarn, table, "--as-of", last) == told(hudi("read", "--table", table, "--meta", "--as-of", last))
    with pytest.raises(hudi_peers.Failure, match="Cleaner cleaned up"):
        hudi("read", "--table", table, "--as-of", commits[0]["time"])
    tarn("read", table, "--as-of", commits[0]["time"], want=2)

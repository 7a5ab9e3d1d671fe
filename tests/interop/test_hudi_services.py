"""What Hudi does to a table besides writing rows, done to tables that tarn writes: sizing from their commits, time travel and
incremental queries over them, SQL, clustering, cleaning, an upgrade, the BLOOM index. tarn goes on after each.
TARN_FULL does all of it for all table versions."""
import collections
import hashlib
import itertools
import json
import os

import pytest

import hudi_peers
from hudi_chain import Chain, Model, Table, check_rows, row, spark_words

FULL = bool(os.environ.get("TARN_FULL"))
NO_METADATA = ["--opt", "hoodie.metadata.enable=false"]


def versions(*some):
    return pytest.mark.parametrize("hudi, version", [(v, v) for v in ((6, 8, 9) if FULL else some)], indirect=["hudi"], scope="session",
                                   ids=[f"v{v}" for v in ((6, 8, 9) if FULL else some)])


@pytest.fixture
def table(hudi, version, tarn, tmp_path):
    """A table of one partition column, with an ordering column. Who comes first makes it."""
    return Table(Chain(version, "simple", "hive", True, True), tmp_path, tarn, hudi)


def rows(table, numbers, ts, tag, **values):
    return [{**row(table.chain, i, ts, tag), **values} for i in numbers]


def commits(table):
    """(time, time of completion) of the completed commits, oldest first. Layout 1 knows no time of completion."""
    told = json.loads(table.tarn("timeline", str(table.path), "--json"))["instants"]
    done = [i for i in told if i["state"].lower() == "completed" and i["action"] in ("commit", "replacecommit")]
    return [(i["time"], i.get("completed") or i["time"]) for i in sorted(done, key=lambda i: i["time"])]


def groups(table):
    """Keys by file group, as Spark reads them."""
    found = collections.defaultdict(set)
    for r in table.hudi("read", "--table", table.path, "--meta", *NO_METADATA):
        found[r["_hoodie_file_name"].split("_")[0]].add(r["_hoodie_record_key"])
    return found


def sql(table, *statements):
    return table.hudi("sql", "--table", table.path, "--name", "t", "SET hoodie.metadata.enable=false", *statements)


@versions(9)
def test_sizes_are_told_by_the_commits_of_tarn(table, version):
    """Spark fills the small file and cuts the rest by the size of a row that it takes from tarn's commit."""
    one = {"dt": "2026-01-01"}
    table.tarn_upsert(rows(table, range(1000), 1, "tarn", **one))
    (base,) = (p for p in table.path.rglob("*.parquet") if ".hoodie" not in p.parts)
    size = base.stat().st_size
    average = size // 1000 if version == 8 else -(-size // 1000)
    most = size + 10 * average + average // 2
    new = rows(table, range(5000, 8000), 2, "spark", **one)
    table.hudi("write", "--table", table.path, "--input", table.input(new), "--op", "insert", *spark_words(table.chain),
               *(word for option in (f"hoodie.parquet.small.file.limit={size + 1}", f"hoodie.parquet.max.file.size={most}",
                                     "hoodie.record.size.estimation.threshold=0.001") for word in ("--opt", option)))
    # How Hudi then decides: rows for the small file, rows for each new one, and which row goes where by its key's hash.
    buckets = [min((most - size) // average, len(new))]
    assert buckets == [10]
    while sum(buckets) < len(new):
        buckets.append(min(-(-most // average), len(new) - sum(buckets)))
    shares = list(itertools.accumulate(rows_of / len(new) for rows_of in buckets))
    want = [set() for _ in buckets]
    for r in new:
        number = int.from_bytes(hashlib.md5(r["id"].encode()).digest()[:8], "little", signed=True) % len(new) / len(new)
        want[next((i for i, share in enumerate(shares) if share >= number), 0)].add(r["id"])
    got = collections.defaultdict(set)
    for group, keys in groups(table).items():
        got[group.rsplit("-", 1)[0]] |= keys  # a file that grew beyond the most goes on in another of the same prefix
    old = {r["id"] for r in rows(table, range(1000), 1, "")}
    assert got.pop(base.name.split("_")[0].rsplit("-", 1)[0]) - old == want[0]
    assert sorted(map(sorted, got.values())) == sorted(sorted(keys) for keys in want[1:] if keys)
    table.model.upsert(new)
    table.check("tarn")


@versions(6, 9)
def test_every_operation_of_tarn_is_read(table, version):
    """Now, as of each commit, and what came since."""
    states = []

    def write(op, data, *words):
        table.tarn_op(op, data, *words)
        states.append(dict(table.model.rows))

    def put(op, data):
        table.model.upsert(data)
        write(op, data)

    put("bulk_insert", rows(table, range(40), 1, "bulk"))
    put("insert", rows(table, range(40, 60), 2, "insert"))
    put("upsert", rows(table, range(30, 70), 3, "upsert"))
    table.check()
    for n in (1, 2):
        seen = table.hudi("read", "--table", table.path, "--mode", "incremental", "--begin", begin_before(table, n), *NO_METADATA)
        assert sorted((r["id"], r["ts"]) for r in seen) == sorted((r["id"], r["ts"]) for r in table.model.rows.values() if r["ts"] > n)
    new = rows(table, range(100, 110), 4, "overwrite", dt="2026-01-01")
    table.model.rows = {p: r for p, r in table.model.rows.items() if r["dt"] != "2026-01-01"}
    put("insert_overwrite", new)
    table.check()
    table.model.rows = {p: r for p, r in table.model.rows.items() if r["dt"] != "2026-01-02"}
    write("delete_partition", [], "--partitions", "dt=2026-01-02")
    table.check()
    table.spark("upsert", rows(table, range(100, 104), 5, "spark", dt="2026-01-01") + rows(table, range(5), 5, "spark"))
    states.append(dict(table.model.rows))
    table.check("tarn")
    table.model.rows = {}
    put("insert_overwrite_table", rows(table, range(200, 220), 6, "all"))
    table.check()
    table.check("hudi-rs")
    instants = commits(table)
    assert len(instants) == len(states)
    for (time, _), state in zip(instants, states):
        model = Model(table.chain)
        model.rows = state
        out = str(table.folder / f"at-{time}.parquet")
        check_rows(table.chain, model, table.hudi.rows(table.path, out, "--as-of", time, *NO_METADATA), f"Spark as of {time}")


def begin_before(table, n):
    """What an incremental query is told to begin with to see commit n: its own time in layout 2, else the one before."""
    time, completed = commits(table)[n]
    return str(int(completed if table.chain.version > 6 else time) - 1)


@versions(6, 9)
def test_sql_on_a_table_of_tarn(table, version):
    table.tarn_upsert(rows(table, range(40), 1, "tarn"))
    sql(table, "UPDATE t SET tag = 'sql', ts = 5 WHERE n = 3", "DELETE FROM t WHERE n = 4")
    table.model.upsert([{**r, "tag": "sql", "ts": 5} for r in table.model.rows.values() if r["n"] == 3])
    table.model.delete([r for r in table.model.rows.values() if r["n"] == 4])
    table.check()
    table.check("tarn")
    # CREATE TABLE of 0.15 writes hoodie.properties anew without the payload class: then the writer's counts.
    words = ["--merge-mode", "event_time"] if version == 6 else []
    table.tarn_upsert(rows(table, range(0, 50, 2), 6, "again") + rows(table, [3, 10, 17], 4, "late"), *words)
    table.check()


@versions(6, 9)
def test_clustered_and_cleaned_by_hudi(table, version):
    """Groups that clustering replaced, and files that a clean took, are no more for tarn either."""
    for turn in range(3):
        data = rows(table, range(20 * turn, 20 * turn + 20), 1, "tarn")
        table.model.upsert(data)
        table.tarn_op("bulk_insert", data)
    before = groups(table)
    assert len(before) == 9
    sql(table, "CALL run_clustering(table => 't')")
    after = groups(table)
    assert not set(after) & set(before) and len(after) < len(before)
    table.check("tarn")
    table.tarn_upsert(rows(table, range(10, 70), 2, "over it"))
    table.check()
    table.tarn_upsert(rows(table, range(5, 30), 3, "again"))
    files = {p for p in table.path.rglob("*.parquet") if ".hoodie" not in p.parts}
    sql(table, "CALL run_clean(table => 't', retain_commits => 1)")
    left = {p for p in table.path.rglob("*.parquet") if ".hoodie" not in p.parts}
    assert left < files
    table.check("tarn")
    table.tarn_upsert(rows(table, range(0, 90, 3), 4, "cleaned"))
    table.check()
    table.check("hudi-rs")


@pytest.mark.parametrize("hudi, version", [(9, 6)] + ([(9, 8)] if FULL else []), indirect=["hudi"], scope="session")
@pytest.mark.parametrize("ordering", [True, False], ids=["ordering", "arrival"])
def test_upgraded_by_hudi(hudi, version, ordering, tarn, tmp_path):
    old = Table(Chain(version, "simple", "hive", ordering, True), tmp_path, tarn, hudi)
    old.tarn_upsert(rows(old, range(40), 5, "tarn"))
    old.tarn_upsert(rows(old, range(10, 50), 6, "tarn") + rows(old, [5], 1, "late"))
    # no table version is asked for, and that is how it is upgraded
    asked = spark_words(Chain(6, "simple", "hive", ordering, True), payload=False)
    data = rows(old, range(20, 60), 7, "spark")
    hudi("write", "--table", old.path, "--input", old.input(data), "--op", "upsert", *asked)
    old.model.upsert(data)
    assert "hoodie.table.version=9" in (old.path / ".hoodie/hoodie.properties").read_text()
    old.check()
    old.check("tarn")
    data = rows(old, range(30, 80), 8, "upgraded") + rows(old, [50], 2, "late")
    old.tarn_op("upsert", data)
    old.model.upsert(data)
    old.check()
    old.check("hudi-rs")
    data = rows(old, [1, 31, 61], 9, "gone")
    old.tarn_op("delete", data)
    old.model.delete(data)
    old.check()


@versions(6, 9)
def test_the_bloom_index_finds_rows_by_the_filters_of_tarn(table, version):
    for turn in range(2):
        data = rows(table, range(60 * turn, 60 * turn + 60), 1, "tarn")
        table.model.upsert(data)
        table.tarn_op("bulk_insert", data)
    before = groups(table)
    assert len(before) == 6
    table.spark("upsert", rows(table, range(0, 120, 3), 2, "spark") + rows(table, range(120, 130), 2, "new"),
                "--opt", "hoodie.index.type=BLOOM")
    table.check()
    table.check("tarn")
    after = groups(table)
    assert all(before[group] <= after[group] for group in before)
    table.tarn_op("upsert", data := rows(table, range(0, 140, 2), 3, "back"), "--set", "hoodie.index.type=BLOOM")
    table.model.upsert(data)
    table.check()


@versions(9)
def test_lists_with_null_elements_are_read(table, version):
    """Hudi's own writer fails at them (docs/hudi-write.md), so they are tarn's to write on."""
    data = rows(table, range(20), 1, "tarn", inner={"x": 1.0, "y": "", "z": [1, None, 3]}, parts=[None, {"a": None, "b": 2}])
    table.tarn_upsert(data)
    table.check()
    table.tarn_upsert(rows(table, range(5), 2, "tarn"))
    table.check()
    table.check("tarn")
    with pytest.raises(hudi_peers.Failure, match="Failed to "):
        table.spark("upsert", rows(table, [1], 3, "spark"))
    table.tarn_upsert(rows(table, range(15, 25), 4, "tarn"))
    table.check()

"""What the commands that look at a table tell of tables that real Hudi wrote, and Avro as fastavro reads it."""
import json
import pathlib
import zipfile

import pyarrow.parquet as pq
import pytest

@pytest.fixture(scope="module")
def hudi_tables(shared, tmp_path_factory):
    """(root, what Hudi's snapshot holds or None) of unpacked tables of other projects, by name."""
    tables = {}
    for path in sorted((shared / "fixtures").glob("*.zip")):
        to = tmp_path_factory.mktemp("looking") / path.stem
        with zipfile.ZipFile(path) as archive:
            archive.extractall(to)
        root = next(p.parent for p in sorted(to.glob("*/.hoodie")) if p.is_dir())
        expected = path.with_suffix(".json")
        rows = None
        if expected.exists():
            queries = json.loads(expected.read_text())["queries"]
            rows = next(q["rows"] for q in queries if q["q"] == "snapshot")
        tables[path.stem] = (root, rows)
    assert tables
    return tables


def timeline_files(root):
    folder = root / ".hoodie" / "timeline"
    folder = folder if folder.is_dir() else root / ".hoodie"
    return [p for p in sorted(folder.iterdir()) if p.is_file() and p.name[0].isdigit()]


def plain(value):
    """As tarn prints it: whole numbers, texts, lists, objects."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return [plain(v) for v in value] if isinstance(value, list) else value


def test_avro_files_hold_what_fastavro_reads(hudi_tables, tarn):
    fastavro = pytest.importorskip("fastavro")
    seen = 0
    for root, _ in hudi_tables.values():
        for path in timeline_files(root)[:12]:
            if path.read_bytes()[:4] != b"Obj\x01":
                continue
            with open(path, "rb") as file:
                records = [plain(r) for r in fastavro.reader(file)]
            assert json.loads(tarn("show", str(path), "--json"))["records"] == records, path
            seen += 1
    assert seen > 30, seen


def test_instants_are_those_of_the_file_names(hudi_tables, tarn):
    for root, _ in hudi_tables.values():
        told = json.loads(tarn("timeline", str(root), "--json", "--counts"))
        names = {p.name for p in timeline_files(root)}
        times = {n.split(".")[0].split("_")[0] for n in names if not n.endswith(".crc")}
        assert {i["time"] for i in told["instants"]} == times, root
        assert all(i["file"] in names and i["problem"] is None for i in told["instants"]), root
        for instant in told["instants"]:
            detail = json.loads(tarn("instant", str(root), instant["time"], "--json"))
            assert sum(s["rows"] for s in detail["stats"]) == instant.get("counts", {}).get("rows", 0)


def test_files_and_rows_are_those_of_the_snapshot(hudi_tables, tarn):
    seen = 0
    for name, (root, rows) in hudi_tables.items():
        if rows is None or not name.startswith("cow_"):
            continue
        told = json.loads(tarn("files", str(root), "--json"))
        assert told["rows"] == len(rows), name
        meta = [r["_hoodie_file_name"] for r in rows if r.get("_hoodie_file_name")]
        assert set(meta) <= {f["name"] for f in told["files"]}, name
        for file in told["files"]:
            path = pathlib.Path(root) / file["partition"] / file["name"]
            assert pq.ParquetFile(path).metadata.num_rows == file["rows"], path
        shown = json.loads(tarn("show", str(root), "--json"))
        assert (shown["rows"], shown["groups"]) == (len(rows), told["groups"]), name
        everything = json.loads(tarn("files", str(root), "--all", "--json"))["files"]
        there = {p.name for p in root.rglob("*.parquet") if ".hoodie" not in p.parts and p.name[0] != "."}
        assert {f["name"] for f in everything} == there, name
        seen += 1
    assert seen > 8, seen


def test_columns_are_those_of_the_rows(hudi_tables, tarn):
    for name, (root, rows) in hudi_tables.items():
        if not rows:
            continue
        told = json.loads(tarn("schema", str(root), "--json"))
        assert {c["name"] for c in told["columns"]} == {k for k in rows[0] if not k.startswith("_hoodie_")}, name
        assert [f["name"] for f in told["avro"]["fields"]] == [c["name"] for c in told["columns"]], name
        assert json.loads(tarn("schema", str(root), "--avro")) == told["avro"], name


def test_footers_of_base_files(hudi_tables, tarn):
    seen = 0
    for root, _ in hudi_tables.values():
        for path in sorted(root.rglob("*.parquet")):
            if ".hoodie" in path.parts or path.name.startswith("."):
                continue
            keys = pq.ParquetFile(path).metadata.metadata or {}
            if b"org.apache.hudi.bloomfilter" not in keys:
                continue
            told = json.loads(tarn("show", str(path), "--json"))["hudi"]
            assert told == {"filter": keys[b"hoodie_bloom_filter_type_code"].decode(),
                            "filter_bytes": len(keys[b"org.apache.hudi.bloomfilter"]),
                            "min_key": keys[b"hoodie_min_record_key"].decode(),
                            "max_key": keys[b"hoodie_max_record_key"].decode()}, path
            seen += 1
            break
    assert seen > 10, seen


# Logs of the latest slices of tables that real Hudi wrote, by slice: told from their timelines by hand.
LOGS = {"trips_mor_avro_v6_trips_8i1u": {"city=san_francisco": 1},
        "mor_avro_v9_timebasedkeygen_nonhivestyle": {"2024/01/15/11": 1, "2024/01/16/09": 1},
        "mor_parquet_v6_nonpartitioned_rollback": {"": 3},
        "mor_avro_v9_txns_simple_meta": {}}


@pytest.mark.parametrize("name", sorted(LOGS))
def test_logs_of_merge_on_read_tables(hudi_tables, tarn, name):
    root, want = hudi_tables[name][0], LOGS[name]
    show = json.loads(tarn("show", str(root), "--json"))
    files = json.loads(tarn("files", str(root), "--json"))
    assert {s["partition"]: s["logs"] for s in show["heavy"]} == want
    assert (show["logs"], show["log_groups"], show["log_only"]) == (sum(want.values()), len(want), 0)
    assert {f["partition"]: f["logs"] for f in files["files"] if f["logs"]} == want
    assert show["log_bytes"] == files["log_bytes"] == sum(f["log_bytes"] for f in files["files"])
    for slice_ in show["heavy"]:
        each = json.loads(tarn("files", str(root), "--json", "--group", slice_["file_id"]))["files"]
        logs = [f for f in each if f["log"] and f["note"] == "current"]
        assert len(logs) == slice_["logs"] and sum(f["bytes"] for f in logs) == slice_["log_bytes"]
        for log in logs:
            path = root / log["partition"] / log["name"]
            assert path.stat().st_size == log["bytes"]
    properties = (root / ".hoodie/hoodie.properties").read_text().splitlines()
    listed = [line.split("=", 1)[1] for line in properties if line.startswith("hoodie.table.metadata.partitions=")]
    assert show["metadata_partitions"] == [word for word in ",".join(listed).split(",") if word]

"""What the commands that look at a table tell of tables that real Hudi wrote, and Avro as fastavro reads it."""
import json
import pathlib
import shutil
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


def findings(tarn, root, want):
    """{kind: evidence}; severities that ail give the exit code."""
    told = json.loads(tarn("doctor", str(root), "--json", want=want))
    assert told["kind"] == "doctor.hudi", root
    assert (want == 3) == any(f["severity"] != "note" for f in told["findings"]), root
    return told, {f["kind"]: f["evidence"] for f in told["findings"] if f["severity"] != "note"}


# What ails tables that real Hudi wrote, told from their files by hand: base files of partitions with several small ones.
AILING = {"cow_v9_timebasedkeygen_nonhivestyle": 2, "cow_v9_txns_nonpart_nometa": 2, "cow_v9_txns_simple_meta": 4,
          "mor_avro_v9_txns_complex_nometa": 4, "mor_avro_v9_txns_simple_meta": 4, "mor_parquet_v6_nonpartitioned": 2}
WELL = ("cow_v6_nonpartitioned", "cow_v8_empty", "cow_v8_complexkeygen_hivestyle", "cow_v9_txns_simple_overwrite",
        "mor_parquet_v6_complexkeygen_hivestyle", "trips_mor_avro_v8_trips_8i3u1d")


def test_doctor_finds_what_is_known_of_the_tables(hudi_tables, tarn):
    for name, small in AILING.items():
        root, _ = hudi_tables[name]
        told, found = findings(tarn, root, 3)
        assert found["small-files"].startswith(f"{small} base files below 100 MiB"), name
        assert found.keys() <= {"small-files", "old-slices"}, name
        everything = json.loads(tarn("files", str(root), "--all", "--json"))["files"]
        older = [f for f in everything if f["note"] in ("older", "replaced") and f["name"]]
        assert (told["older"], told["older_bytes"]) == (len(older), sum(f["bytes"] for f in older)), name
        if "txns" in name:
            assert found["old-slices"].startswith(f"{len(older)} files ("), name
    for name in WELL:
        assert findings(tarn, hudi_tables[name][0], 0)[1] == {}, name


def test_doctor_names_what_a_metadata_table_missed(hudi_tables, tarn, tmp_path):
    """The last delta commits of a metadata table that real Hudi wrote are taken away: it lags behind, file by file."""
    root = tmp_path / "t"
    shutil.copytree(hudi_tables["cow_v9_txns_simple_meta"][0], root)
    data = [p for p in timeline_files(root) if p.name.count("_") == 1 and p.name.endswith("commit")]
    last = data[-1].name.split("_")[0]
    gone = [p for p in (root / ".hoodie" / "metadata" / ".hoodie" / "timeline").iterdir() if p.name.startswith(last)]
    assert gone
    for path in gone:
        path.unlink()
    before = {p: p.stat().st_mtime_ns for p in root.rglob("*")}
    told = json.loads(tarn("doctor", str(root), "--json", want=3))
    texts = [f["evidence"] for f in told["findings"] if f["kind"] == "metadata-table"]
    assert f"lags behind: it has missed" in texts[0] and last in texts[0], texts
    new = [p.name for p in root.rglob(f"*_{last}.parquet") if ".hoodie" not in p.parts]
    assert new and all(any(n in t and "is there and not listed" in t for t in texts[1:]) for n in new[:1]), (new, texts)
    assert {p: p.stat().st_mtime_ns for p in root.rglob("*")} == before
    assert json.loads(tarn("files", str(root), "--check", "--json", want=3))["differences"]


def test_doctor_of_a_lake_names_each_table(hudi_tables, tarn, tmp_path):
    for name in ("cow_v9_txns_nonpart_nometa", "mor_avro_v9_txns_simple_meta", "cow_v8_nonpartitioned"):
        shutil.copytree(hudi_tables[name][0], tmp_path / "lake" / "hudi" / name)
    told = json.loads(tarn("doctor", str(tmp_path / "lake"), "--json", want=3))
    assert told["kind"] == "doctor.tables"
    for table in told["tables"]:
        alone = json.loads(tarn("doctor", table["path"], "--json", want=3 if "txns" in table["path"] else 0))
        assert table["findings"] == alone["findings"], table["path"]
    assert len(told["tables"]) == 3

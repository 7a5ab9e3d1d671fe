"""Tables that real Hudi wrote, read by `tarn read`: row for row what Hudi on Spark answered for them.

The tables and answers are other projects' files: <shared>/fixtures/NAME.zip and NAME.json."""
import json
import pathlib
import shutil
import subprocess

import pytest

COW = ["cow_v6_complexkeygen_hivestyle", "cow_v6_nonpartitioned",
       "cow_v6_simplekeygen_hivestyle_no_metafields", "cow_v6_simplekeygen_nonhivestyle",
       "cow_v6_timebasedkeygen_nonhivestyle", "cow_v8_complexkeygen_hivestyle", "cow_v8_empty",
       "cow_v8_nonpartitioned", "cow_v9_timebasedkeygen_nonhivestyle", "cow_v9_txns_nonpart_nometa",
       "cow_v9_txns_simple_meta", "cow_v9_txns_simple_overwrite"]


@pytest.fixture(scope="module")
def table(shared, tmp_path_factory):
    """table(name): the directory of a fixture, unpacked once, with its times."""
    made = {}

    def get(name):
        if name not in made:
            archive = shared / "fixtures" / f"{name}.zip"
            if not archive.is_file():
                pytest.skip(f"no {archive}")
            to = tmp_path_factory.mktemp(name)
            subprocess.run(["unzip", "-qo", str(archive), "-d", str(to)], check=True)
            roots = [p.parent for p in to.glob("*/.hoodie") if p.parent.name != "__MACOSX"]
            assert len(roots) == 1
            made[name] = roots[0]
        return made[name]

    return get


def answers(shared, name):
    return json.loads((shared / "fixtures" / f"{name}.json").read_text())["queries"]


def plain(value):
    """Numbers by value: Spark's JSON cuts trailing zeros of decimals."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, (int, float)):
        return float(value)
    if isinstance(value, list):
        return [plain(v) for v in value]
    return {k: plain(v) for k, v in value.items()}


def rows_of(text):
    return [plain(json.loads(line)) for line in text.splitlines()]


def in_order(rows):
    return sorted(rows, key=lambda r: json.dumps(r, sort_keys=True))


def same(got, want):
    """Columns that are null are left out by Spark's JSON."""
    want = [plain(r) for r in want]
    for rows in (got, want):
        for i, row in enumerate(rows):
            rows[i] = {k: v for k, v in row.items() if v is not None}
    assert in_order(got) == in_order(want)


@pytest.mark.parametrize("name", COW)
def test_rows_of_every_snapshot(tarn, shared, table, name):
    asked = 0
    for query in answers(shared, name):
        args = query.get("args") or {}
        if query["q"] not in ("snapshot", "read_optimized", "as_of") or "error" in query:
            continue
        words = ["read", str(table(name)), "--meta"]
        if query["q"] == "as_of":
            words += ["--as-of", args["as_of"]]
        if query["q"] == "read_optimized":
            words += ["--mode", "read_optimized"]
        same(rows_of(tarn(*words)), query["rows"])
        asked += 1
    assert asked > 0


def test_lance_is_refused_by_name(tarn_bin, table):
    done = subprocess.run([tarn_bin, "read", str(table("cow_v9_lance_nonpartitioned"))],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "LANCE" in done.stderr


def read_rows(tarn_bin, *words):
    done = subprocess.run([tarn_bin, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return rows_of(done.stdout)


def test_conditions_and_keys(tarn_bin, shared, table):
    root = str(table("cow_v9_txns_simple_meta"))
    want = [plain(r) for r in [q for q in answers(shared, "cow_v9_txns_simple_meta")
                               if q["q"] == "snapshot"][0]["rows"]]
    for region in ("us", "eu", "apac", "nowhere"):
        got = read_rows(tarn_bin, "read", root, "--meta", "-w", f"region = '{region}'")
        same(got, [r for r in want if r["region"] == region])
    for row in want:
        key = row["_hoodie_record_key"]
        same(read_rows(tarn_bin, "read", root, "--meta", "--key", key), [row])
        same(read_rows(tarn_bin, "read", root, "--meta", "-w", f"txn_id = '{key}'"), [row])
        same(read_rows(tarn_bin, "read", root, "--meta", "--key", key, "-w", "amount < -1e12"), [])
    assert read_rows(tarn_bin, "read", root, "--key", "it's not there") == []
    assert "first on its timeline" in failure(tarn_bin, "read", root, "--as-of", "20000101000000000")
    assert len(read_rows(tarn_bin, "read", root, "--as-of", "2100-01-01")) == len(want)


def test_keys_of_several_fields_and_text_partitions(tarn_bin, shared, table):
    name = "cow_v6_complexkeygen_hivestyle"
    want = [plain(r) for r in [q for q in answers(shared, name) if q["q"] == "snapshot"][0]["rows"]]
    root = str(table(name))
    same(read_rows(tarn_bin, "read", root, "--meta", "--key", "id:1,name:Alice"),
         [r for r in want if r["id"] == 1])
    same(read_rows(tarn_bin, "read", root, "--meta", "-w", "byteField = 10 AND shortField > 100"),
         [r for r in want if r["byteField"] == 10 and r["shortField"] > 100])


def test_a_partition_that_a_key_generator_formats_is_not_taken_from_its_path(tarn_bin, shared,
                                                                             table):
    name = "cow_v9_timebasedkeygen_nonhivestyle"
    want = [plain(r) for r in [q for q in answers(shared, name) if q["q"] == "snapshot"][0]["rows"]]
    row = want[0]
    got = read_rows(tarn_bin, "read", str(table(name)), "--meta", "-w", f"ts_str = '{row['ts_str']}'")
    same(got, [r for r in want if r["ts_str"] == row["ts_str"]])


def test_columns_by_name(tarn_bin, table):
    root = str(table("cow_v6_nonpartitioned"))
    got = read_rows(tarn_bin, "read", root, "-c", "structField.child_struct.child_field1,id",
                 "-w", "id = 1")
    assert list(got[0]) == ["structField.child_struct.child_field1", "id"]
    assert "_hoodie_commit_time" not in read_rows(tarn_bin, "read", root)[0]


def copy_of(table, name, tmp_path):
    return pathlib.Path(shutil.copytree(table(name), tmp_path / name, copy_function=shutil.copy2))


def without_metadata_table(root):
    """The same table, listed by its directories."""
    shutil.rmtree(root / ".hoodie/metadata")
    path = root / ".hoodie/hoodie.properties"
    path.write_text("".join(line for line in path.read_text().splitlines(True)
                            if not line.startswith("hoodie.table.metadata.partitions")))
    return root


def failure(tarn_bin, *words, want=1):
    done = subprocess.run([tarn_bin, *words], capture_output=True, text=True, check=False)
    assert done.returncode == want and done.stdout == ""
    return done.stderr


def test_damaged_tables_say_what_and_what_to_do(tarn_bin, table, tmp_path):
    name = "cow_v9_txns_simple_overwrite"
    root = copy_of(table, name, tmp_path)
    want = read_rows(tarn_bin, "read", str(root))
    # The metadata table knows the partitions.
    mark = next(p for p in root.rglob(".hoodie_partition_metadata") if ".hoodie" not in p.parts)
    mark.rename(tmp_path / "aside")
    assert read_rows(tarn_bin, "read", str(root)) == want
    (tmp_path / "aside").rename(mark)
    without_metadata_table(root)
    properties = root / ".hoodie/hoodie.properties"
    good = properties.read_text()
    rows = read_rows(tarn_bin, "read", str(root))
    assert rows == want

    # A writer has put the file aside, or has written half of it: the backup tells.
    (root / ".hoodie/hoodie.properties.backup").write_text(good)
    properties.write_text(good[:100])
    assert read_rows(tarn_bin, "read", str(root)) == rows
    properties.unlink()
    assert read_rows(tarn_bin, "read", str(root)) == rows
    (root / ".hoodie/hoodie.properties.backup").unlink()
    assert "neither hoodie.properties nor its backup" in failure(tarn_bin, "read", str(root))
    properties.write_text(good.replace("hoodie.table.version=9", "hoodie.table.version=23"))
    assert "table version 23" in failure(tarn_bin, "read", str(root))
    properties.write_text(good)

    # A file of the newest commit of its group is gone.
    data = next(p for p in root.rglob("*_20260403184001282.parquet") if ".hoodie" not in p.parts)
    aside = data.rename(tmp_path / data.name)
    text = failure(tarn_bin, "read", str(root))
    assert "20260403184001282" in text and data.name in text and "restore it" in text
    aside.rename(data)

    # Without the partition's metadata file its rows would vanish silently.
    mark = (data.parent / ".hoodie_partition_metadata").rename(tmp_path / "mark")
    assert ".hoodie_partition_metadata" in failure(tarn_bin, "read", str(root))
    mark.rename(data.parent / ".hoodie_partition_metadata")

    # An instant that is empty, and one that is cut short.
    instant = next((root / ".hoodie/timeline").glob("20260403184001282_*.replacecommit"))
    bytes_ = instant.read_bytes()
    for damaged in (b"", bytes_[:len(bytes_) // 2], b"{", b"\x00" * 50):
        instant.write_bytes(damaged)
        text = failure(tarn_bin, "read", str(root))
        assert "20260403184001282" in text and "roll the instant back" in text
    instant.write_bytes(bytes_)
    assert read_rows(tarn_bin, "read", str(root)) == rows


def test_files_that_no_commit_names_are_not_read(tarn_bin, table, tmp_path):
    root = copy_of(table, "cow_v9_txns_simple_overwrite", tmp_path)
    rows = read_rows(tarn_bin, "read", str(root))
    data = next(p for p in root.rglob("*_20260403184001282.parquet") if ".hoodie" not in p.parts)
    token = data.name.split("_")[1]
    # Of a commit that was never completed, a second try of a task, and side files.
    shutil.copy(data, data.with_name(data.name.replace("20260403184001282", "20990101000000000")))
    shutil.copy(data, data.with_name(data.name.replace(token, "9-9-9")))
    data.with_name(f".{data.name}.crc").write_bytes(b"crc")
    data.with_name(data.name + ".tmp").write_bytes(b"half")
    (data.parent / "notes.txt").write_text("notes")
    assert read_rows(tarn_bin, "read", str(root)) == rows
    without_metadata_table(root)
    assert read_rows(tarn_bin, "read", str(root)) == rows
    external = data.with_name("part-0.parquet_20260403184001282_hudiext")
    external.write_bytes(b"x")
    assert "_hudiext" in failure(tarn_bin, "read", str(root))


def test_files_that_lack_the_partition_columns(tarn_bin, table, tmp_path):
    """hoodie.datasource.write.drop.partition.columns: the value is the path's."""
    import pyarrow.parquet as pq

    root = copy_of(table, "cow_v9_txns_simple_meta", tmp_path)
    want = read_rows(tarn_bin, "read", str(root), "--meta")
    properties = root / ".hoodie/hoodie.properties"
    properties.write_text(properties.read_text().replace(
        "write.drop.partition.columns=false", "write.drop.partition.columns=true"))
    for data in root.rglob("*.parquet"):
        if ".hoodie" not in data.parts:
            rows = pq.read_table(data, partitioning=None)
            pq.write_table(rows.drop_columns(["region"]), data)
    got = read_rows(tarn_bin, "read", str(root), "--meta")
    same(got, want)
    assert {r["region"] for r in read_rows(tarn_bin, "read", str(root), "-w", "region = 'eu'")} == {"eu"}


def test_files_older_than_the_schema(tarn_bin, table, tmp_path):
    """A column that a file lacks is null, one that was narrower is widened, numbers become text."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    root = copy_of(table, "cow_v9_txns_simple_overwrite", tmp_path)
    data = next(p for p in root.rglob("*_20260403184001282.parquet") if ".hoodie" not in p.parts)
    rows = pq.read_table(data, partitioning=None)
    txn = rows["txn_id"][0].as_py()
    put = {"txn_ts": pa.array([7] * len(rows), pa.int32()),
           "currency": pa.array([-12] * len(rows), pa.int32()),
           "merchant_name": pa.array([1.1] * len(rows), pa.float32())}
    for name, values in put.items():
        rows = rows.set_column(rows.schema.get_field_index(name), name, values)
    rows = rows.drop_columns(["txn_type"]).select(list(reversed(rows.drop_columns(["txn_type"])
                                                               .column_names)))
    pq.write_table(rows, data)
    got = [r for r in read_rows(tarn_bin, "read", str(root)) if r["txn_id"] == txn]
    assert len(got) == 1
    assert (got[0]["txn_ts"], got[0]["currency"], got[0]["merchant_name"], got[0]["txn_type"]) == \
        (7.0, "-12", "1.1", None)
    for where in ("currency = '-12'", "txn_ts < 8", "txn_type IS NULL", "merchant_name LIKE '1.%'"):
        assert [r["txn_id"] for r in read_rows(tarn_bin, "read", str(root), "-w", where)] == [txn]


def test_options_of_hudi_tables_are_for_them_alone(tarn_bin, tmp_path):
    (tmp_path / "plain").mkdir()
    for words in (["--as-of", "1"], ["--key", "k"], ["--meta"], ["--mode", "snapshot"]):
        assert "for Hudi tables" in failure(tarn_bin, "read", str(tmp_path / "plain"), *words,
                                            want=2)

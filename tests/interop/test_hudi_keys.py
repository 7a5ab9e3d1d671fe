"""Key filters, record keys and partition paths of tables that real Hudi wrote, made again from their rows."""
import base64
import pathlib
import struct
import subprocess
import zipfile

import pyarrow.parquet as pq
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILTER = b"org.apache.hudi.bloomfilter"
FILTER_KIND = b"hoodie_bloom_filter_type_code"


@pytest.fixture(scope="session")
def hudi_tables(shared, tmp_path_factory):
    """Folders of unpacked tables of other projects, by name."""
    tables = {}
    for path in sorted((shared / "fixtures").glob("*.zip")):
        to = tmp_path_factory.mktemp("hudi") / path.stem
        with zipfile.ZipFile(path) as archive:
            archive.extractall(to)
        tables[path.stem] = to
    assert tables
    return tables


def base_files(folder):
    """The Parquet files of data in a table, as (path, file)."""
    for path in sorted(folder.rglob("*.parquet")):
        if ".hoodie" not in path.parts and not path.name.startswith("."):
            yield path, pq.ParquetFile(path)


def test_filters_are_made_again_from_their_keys(hudi_tables, tarn_bin):
    program = str(pathlib.Path(tarn_bin).parent / "tests/interop_key_filter")
    seen = {}
    for folder in hudi_tables.values():
        for path, file in base_files(folder):
            footer = file.metadata.metadata or {}
            text = footer.get(FILTER)
            if text is None:
                continue
            kind = footer.get(FILTER_KIND, b"SIMPLE").decode()
            keys = [k.encode() for k in file.read(["_hoodie_record_key"])["_hoodie_record_key"].to_pylist()]
            raw = base64.b64decode(text)
            hashes, bits = struct.unpack_from(">i", raw, 4)[0], struct.unpack_from(">i", raw, 9)[0]
            assert (hashes, bits) == (30, 2587966), path
            done = subprocess.run([program, kind, "60000", "1e-9", "100000", "2"], capture_output=True, check=True,
                                  input=b"".join(struct.pack("<i", len(k)) + k for k in keys))
            assert done.stdout == text, path
            seen[kind] = seen.get(kind, 0) + 1
    assert seen.get("DYNAMIC_V0", 0) > 100, seen


KEYGENS = {"SimpleKeyGenerator": "SIMPLE", "ComplexKeyGenerator": "COMPLEX", "NonpartitionedKeyGenerator": "NON_PARTITION",
           "TimestampBasedKeyGenerator": "TIMESTAMP", "CustomKeyGenerator": "CUSTOM"}


def properties(path):
    """The keys and values of a properties file of Hudi, without the escapes that they use."""
    pairs = (line.split("=", 1) for line in path.read_text().splitlines() if "=" in line and not line.startswith("#"))
    return {key: value.replace("\\:", ":").replace("\\=", "=").replace("\\#", "#") for key, value in pairs}


def keygen_words(table):
    """What interop_record_keys is told of a table; None where the table says too little."""
    kind = table.get("hoodie.table.keygenerator.type") or KEYGENS.get(
        table.get("hoodie.table.keygenerator.class", "").rsplit(".", 1)[-1])
    if kind in (None, "CUSTOM", "HOODIE_TABLE_METADATA"):
        return None
    words = [kind, table["hoodie.table.recordkey.fields"], table.get("hoodie.table.partition.fields", "")]
    words += ["hive"] if table.get("hoodie.datasource.write.hive_style_partitioning") == "true" else []
    words += ["encode"] if table.get("hoodie.datasource.write.partitionpath.urlencode") == "true" else []
    if kind == "TIMESTAMP":
        words += ["type=" + table.get("hoodie.keygen.timebased.timestamp.type", "DATE_STRING")]
        for word, name in (("input", "input.dateformat"), ("output", "output.dateformat"), ("zone", "timezone"),
                           ("input_zone", "input.timezone"), ("output_zone", "output.timezone")):
            value = table.get("hoodie.keygen.timebased." + name)
            words += [f"{word}={value}"] if value else []
    return words


def test_keys_and_paths_are_spelled_as_the_rows_have_them(hudi_tables, tarn_bin):
    program = str(pathlib.Path(tarn_bin).parent / "tests/interop_record_keys")
    seen = {}
    for folder in hudi_tables.values():
        for config in folder.rglob(".hoodie/hoodie.properties"):
            words = None if "metadata" in config.parts else keygen_words(properties(config))
            if words is None:
                continue
            for path, file in base_files(config.parents[1]):
                rows = file.read(["_hoodie_record_key", "_hoodie_partition_path"]).to_pylist()
                if not rows or rows[0]["_hoodie_record_key"] is None:
                    continue
                done = subprocess.run([program, str(path), *words], capture_output=True, check=False)
                assert done.returncode == 0, (path, done.stderr)
                texts = done.stdout.decode().split("\0")[:-1]
                assert list(zip(texts[::2], texts[1::2])) == [tuple(row.values()) for row in rows], path
                seen[words[0]] = seen.get(words[0], 0) + len(rows)
    assert set(seen) == {"SIMPLE", "COMPLEX", "NON_PARTITION", "TIMESTAMP"}, seen

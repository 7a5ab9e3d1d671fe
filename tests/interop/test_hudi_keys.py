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

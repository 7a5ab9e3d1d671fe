"""tarn and real Hudi write to one table in turns, and each reads what the other left: values, types and meta
columns, for every table version, key generator and style of paths. The rows wanted come from a model that is a
dictionary. A dozen chains cover each pair of choices; TARN_FULL runs all of them."""
import os
import pathlib
import subprocess

import pyarrow.parquet as pq
import pytest

import hudi_peers
from hudi_chain import Chain, Table, all_chains, row, save, some_chains, spark_words

CHAINS = all_chains() if os.environ.get("TARN_FULL") else some_chains()


def test_a_dozen_chains_have_every_pair():
    assert 12 <= len(some_chains()) <= 16


@pytest.mark.parametrize("hudi, chain", [(chain.version, chain) for chain in CHAINS], indirect=["hudi"], scope="session",
                         ids=[str(chain) for chain in CHAINS])
def test_chain(hudi, chain, tarn, tmp_path):
    table = Table(chain, tmp_path, tarn, hudi)

    def rows(numbers, ts, tag):
        return [row(chain, i, ts, tag) for i in numbers]

    table.tarn_upsert(rows(range(60), 10, "first"))
    table.check()
    for turn in range(3):
        ts = 20 + 20 * turn
        late = [] if turn else rows([50, 51], 1, "late")
        table.spark("upsert", rows(range(5 * turn, 20), ts, f"spark {turn}") + rows(range(60 + 20 * turn, 70 + 20 * turn), ts, "new") + late,
                    *(["--opt", "hoodie.cleaner.commits.retained=1"] if turn == 1 else []))
        if turn == 0:
            table.spark("delete", rows([0, 3, 25, 61], ts + 1, "gone"))
        table.check("tarn")
        table.tarn_upsert(rows(range(10, 30), ts + 10, f"tarn {turn}") + rows(range(70 + 20 * turn, 80 + 20 * turn), ts, "new") +
                          rows([52, 53], 2, "late"))
        if turn == 1:
            table.tarn_delete(rows([4, 26], ts + 11, "gone"))
        table.check()
    table.check("tarn")
    table.check("hudi-rs")
    assert table.instants("clean"), "Spark has not cleaned"


METADATA_VERSIONS = (6, 8, 9) if os.environ.get("TARN_FULL") else (9,)


@pytest.mark.parametrize("hudi, version", [(version, version) for version in METADATA_VERSIONS], indirect=["hudi"], scope="session",
                         ids=[f"v{version}" for version in METADATA_VERSIONS])
def test_a_metadata_table_is_refused_until_it_is_dropped(hudi, version, tarn, tmp_path):
    chain = Chain(version, "simple", "hive", True, True)
    table = Table(chain, tmp_path, tarn, hudi)
    table.tarn_upsert([row(chain, i, 1, "tarn") for i in range(20)])
    table.spark("upsert", [row(chain, i, 2, "spark") for i in range(10, 30)], metadata=True)
    assert (table.path / ".hoodie/metadata").is_dir()
    before = sorted(path for path in table.path.rglob("*"))
    table.tarn_upsert([row(chain, 0, 3, "no")], want=1)
    assert sorted(path for path in table.path.rglob("*")) == before
    table.tarn_upsert([row(chain, i, 3, "tarn") for i in range(25, 35)], "--drop-metadata-table")
    assert not (table.path / ".hoodie/metadata").exists()
    table.check()
    table.spark("upsert", [row(chain, i, 4, "spark") for i in range(30, 40)], metadata=True)
    table.check()

KEY_TYPES = ["id", "n", "flag", "small", "whole", "long", "f", "d", "price", "big", "day", "at"]


@pytest.mark.parametrize("hudi, version", [(version, version) for version in hudi_peers.BUNDLES], indirect=["hudi"], scope="session",
                         ids=[f"v{version}" for version in hudi_peers.BUNDLES])
def test_keys_of_every_type_are_spelled_as_spark_does(hudi, version, tarn_bin, tmp_path):
    chain = Chain(version, "complex", "hive", False, True)
    rows = [row(chain, i, 1, "a") for i in range(40)]
    table = tmp_path / "table"
    hudi("write", "--table", table, "--input", save(tmp_path, "in", rows), "--op", "upsert", *spark_words(chain),
         "--key", ",".join(KEY_TYPES), "--partition", "day,price")
    program = str(pathlib.Path(tarn_bin).parent / "tests/interop_record_keys")
    seen = 0
    for path in table.rglob("*.parquet"):
        if ".hoodie" in path.parts:
            continue
        want = pq.read_table(path, columns=["_hoodie_record_key", "_hoodie_partition_path"]).to_pylist()
        done = subprocess.run([program, str(path), "COMPLEX", ",".join(KEY_TYPES), "day,price", "hive"], capture_output=True, check=True)
        texts = done.stdout.decode().split("\0")[:-1]
        assert list(zip(texts[::2], texts[1::2])) == [tuple(r.values()) for r in want]
        seen += len(want)
    assert seen == len(rows)

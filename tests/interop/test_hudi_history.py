"""Random histories by real Hudi: versions 6, 8, 9; copy on write and merge on read; every query as Spark 1.2.0 answers it.
TARN_FULL runs more of them, with tables that 0.15.0 and 1.0.2 write; TARN_SEED=7,9,12-20 these alone."""
import os

import pytest

import hudi_history
import hudi_peers

KINDS = ("mor-avro", "cow", "mor-avro", "mor-parquet")
_writers = {}


@pytest.fixture(scope="module", autouse=True)
def end_writers():
    yield
    while _writers:
        _writers.popitem()[1].close()


def writer_of(version, judge):
    """In CI one JVM writes and answers; otherwise the version's own release writes every second table."""
    if version == 9 or not os.environ.get("TARN_FULL"):
        return judge
    if version not in _writers:
        _writers[version] = hudi_peers.Hudi(hudi_peers.BUNDLES[version])
    return _writers[version]


@pytest.mark.parametrize("hudi", [9], indirect=True, scope="session", ids=["judge"])
@pytest.mark.parametrize("seed", hudi_history.seeds())
def test_every_query_is_sparks(hudi, seed, tarn, tarn_bin, tmp_path):
    version = (9, 8, 6)[seed % 3]
    kind = KINDS[seed // 3 % 4] if seed % 2 else KINDS[seed % 4]
    writer = writer_of(version, hudi) if seed % 2 else hudi
    history = hudi_history.History(seed, writer, hudi, tarn, tarn_bin, tmp_path, version, kind)
    history.run(hudi_history.compare)
    print(history, flush=True)

"""Every table that real Hudi wrote, and every query that Hudi 1.2.0 on Spark was asked about it: the same rows by tarn, value
for value, meta columns included. Where Hudi refused, tarn does, and says why.

The tables are other projects' files, found beside the checkout or by TARN_SHARED; without them nothing is collected."""
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

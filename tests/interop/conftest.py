"""What the interop tests share: the command, a Spark session, and other projects' files."""
import os
import pathlib
import subprocess

import pytest

import hudi_peers

pytest.register_assert_rewrite("hudi_asked", "hudi_chain", "hudi_fixtures", "hudi_snapshot")
ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def tarn_bin():
    """Path of the command under test."""
    path = pathlib.Path(os.environ.get("TARN_BIN") or ROOT / "build/asan/tarn")
    assert path.is_file(), f"{path} is not there: build it or set TARN_BIN"
    return str(path)


@pytest.fixture(scope="session")
def tarn(tarn_bin):
    """Runs tarn: tarn("merge", dir, want=0) gives stdout; `want` is the exit status expected."""

    def run(*words, want=0, text=True, **options):
        done = subprocess.run([tarn_bin, *map(os.fsencode, words)], capture_output=True, text=text,
                              stdin=subprocess.DEVNULL, timeout=600, check=False, **options)
        assert done.returncode == want, f"tarn {words}: exit {done.returncode}: {done.stderr}"
        return done.stdout

    return run


@pytest.fixture(scope="session")
def spark():
    """One Spark session for all tests that ask for it; its start takes some seconds."""
    from pyspark.sql import SparkSession

    # The name of the machine need not resolve: Spark then asks nobody for it.
    os.environ["SPARK_LOCAL_IP"] = os.environ["SPARK_LOCAL_HOSTNAME"] = "127.0.0.1"
    session = (SparkSession.builder.master("local[2]").appName("tarn")
               .config("spark.ui.enabled", "false")
               .config("spark.driver.memory", "1g")
               .config("spark.driver.host", "127.0.0.1")
               .config("spark.driver.bindAddress", "127.0.0.1")
               .config("spark.sql.session.timeZone", "UTC")
               .config("spark.sql.shuffle.partitions", "2")
               .config("spark.sql.warehouse.dir", "/tmp/tarn-spark-warehouse")
               .getOrCreate())
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Tests with real Hudi come last, by its version: one JVM for each bundle, and one at a time."""
    items.sort(key=lambda item: item.callspec.params.get("hudi", 0) if hasattr(item, "callspec") else 0)


@pytest.fixture(scope="session")
def hudi(request):
    """Real Hudi of the table version that is the parameter. Who gives it with others must say scope="session", or each test
    has a JVM of its own."""
    try:
        made = hudi_peers.Hudi(hudi_peers.BUNDLES[request.param])
    except hudi_peers.Unavailable as why:
        pytest.skip(f"no real Hudi here: {why}")
    yield made
    made.close()


@pytest.fixture(scope="session")
def shared():
    """The folder of other projects' files; tests that need it are reported as skipped without it."""
    path = os.environ.get("TARN_SHARED") or str(ROOT.parent / "shared")
    if not os.path.isdir(path):
        pytest.skip("no ../shared beside the checkout and TARN_SHARED is not set")
    return pathlib.Path(path)

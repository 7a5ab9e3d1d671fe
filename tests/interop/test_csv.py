"""CSV that Python's csv module, pyarrow and DuckDB write is read as they read it themselves."""
import csv
import datetime
import io
import json
import math
import pathlib
import random
import subprocess

import duckdb
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PIECES = ["", "a", "Köln", ",", '"', "\n", "\r\n", "\r", " ", "\t", ";", "007", "1.5", '""', "x" * 70, "\u4e2d"]


@pytest.fixture(scope="session")
def read(tarn_bin):
    program = pathlib.Path(tarn_bin).parent / "tests" / "interop_read_csv"

    def run(path, *words):
        done = subprocess.run([program, path, *words], capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.split("\n") if line]

    return run


def random_text(rng):
    return "".join(rng.choice(PIECES) for _ in range(rng.randrange(5)))


@pytest.mark.parametrize("seed", range(12))
def test_csv_module(read, tmp_path, seed):
    rng = random.Random(seed)
    columns, rows = rng.randrange(2, 9), rng.randrange(0, 3000)
    names = [f"c{i}" for i in range(columns)]
    data = [[random_text(rng) for _ in range(columns)] for _ in range(rows)]
    delimiter = rng.choice([",", ";", "\t"])
    end = rng.choice(["\n", "\r\n", "\r"])
    quoting = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
    if quoting == csv.QUOTE_MINIMAL:
        # The module does not quote what it should here (a lone "\\r").
        data = [[value.replace("\r", "") for value in row] for row in data]
    path = tmp_path / "rows.csv"
    with open(path, "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=quoting)
        writer.writerow(names)
        writer.writerows(data)
    with open(path, newline="", encoding="utf-8") as text:
        want = list(csv.reader(io.StringIO(text.read(), newline=""), delimiter=delimiter))
    assert want == [names] + data
    # The module does not tell an empty field from one in quotes.
    got = [[value or "" for value in row.values()] for row in read(path, "text", delimiter)]
    assert got == data


def typed_table(rng, rows):
    def some(make):
        return [None if rng.random() < 0.1 else make() for _ in range(rows)]

    start = datetime.datetime(1999, 12, 31, 23, 59, 59)
    return pa.table({
        "i": pa.array(some(lambda: rng.randrange(-2**rng.randrange(1, 63), 2**62)), pa.int64()),
        "d": pa.array(some(lambda: rng.uniform(-1, 1) * 10.0 ** rng.randrange(-30, 30)), pa.float64()),
        "b": pa.array(some(lambda: rng.random() < 0.5), pa.bool_()),
        "s": pa.array(some(lambda: random_text(rng) + "x"), pa.string()),
        "day": pa.array(some(lambda: (start + datetime.timedelta(days=rng.randrange(-9000, 9000))).date()),
                        pa.date32()),
        "at": pa.array(some(lambda: start + datetime.timedelta(microseconds=rng.randrange(-10**15, 10**15))),
                       pa.timestamp("us")),
        "utc": pa.array(some(lambda: start + datetime.timedelta(seconds=rng.randrange(-10**9, 10**9))),
                        pa.timestamp("ms", "UTC")),
    })


def moment(text):
    if text is None:
        return None
    if len(text) == 10:
        return datetime.date.fromisoformat(text)
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def check_typed(rows, table):
    want = table.to_pylist()
    assert len(rows) == len(want)
    for got, row in zip(rows, want):
        for name, value in row.items():
            mine = moment(got[name]) if name in ("day", "at", "utc") else got[name]
            assert mine == value, (name, got, row)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("quoting", ["needed", "all_valid"])
def test_pyarrow(read, tmp_path, seed, quoting):
    rng = random.Random(seed)
    table = typed_table(rng, 2500)
    path = tmp_path / "rows.csv"
    pacsv.write_csv(table, path, pacsv.WriteOptions(quoting_style=quoting))
    check_typed(read(path), table)
    # What pyarrow itself makes of the file: the same types.
    convert = pacsv.ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=False,
                                   null_values=[""])
    parse = pacsv.ParseOptions(newlines_in_values=True)
    again = pacsv.read_csv(path, convert_options=convert, parse_options=parse)
    if quoting == "needed":
        assert again.column("s").to_pylist() == [row["s"] for row in read(path)]
        assert again.column("i").to_pylist() == [row["i"] for row in read(path)]


@pytest.mark.parametrize("seed", range(4))
def test_duckdb(read, tmp_path, seed):
    rng = random.Random(100 + seed)
    table = typed_table(rng, 2500).drop_columns(["utc"])
    path = tmp_path / "rows.csv"
    db = duckdb.connect()
    db.register("t", table)
    db.execute(f"copy t to '{path}' (header, delimiter ',')")
    check_typed(read(path), table)


def test_numbers_read_as_by_python(read, tmp_path):
    rng = random.Random(7)
    texts = [repr(rng.uniform(-1, 1) * 10.0 ** rng.randrange(-300, 300)) for _ in range(5000)]
    texts += [f"{rng.uniform(0, 1e6):.{rng.randrange(0, 9)}f}" for _ in range(5000)]
    path = tmp_path / "numbers.csv"
    path.write_text("n,x\n" + "".join(f"{text},\n" for text in texts))
    rows = read(path)
    assert all(math.copysign(1, row["n"]) == math.copysign(1, float(text)) and row["n"] == float(text)
               for row, text in zip(rows, texts, strict=True))


# Files as people make them, where the peers agree.
@pytest.mark.parametrize("text", [
    "a,b\n1,x\n2,y",
    "a,b\r\n1,\"x\r\ny\"\r\n",
    "a,b\r1,x\r2,y\r",
    "\ufeffa,b\n1,x\n",
    "a,b\n\n1,x\n\n\n2,y\n\n",
    "a,b\n1,5 cm\n2,it's\n",
    "a,b\n\"1\",\"x\"\n\"2\",\"\"\"\"\n",
    "a,b\n1,\n,y\n",
])
def test_files_that_all_read_alike(read, tmp_path, text):
    path = tmp_path / "f.csv"
    path.write_bytes(text.encode())
    convert = pacsv.ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=False, null_values=[""])
    want = pacsv.read_csv(path, parse_options=pacsv.ParseOptions(newlines_in_values=True),
                          convert_options=convert).to_pylist()
    assert read(path) == want
    db = duckdb.sql(f"select * from read_csv('{path}', header=true, allow_quoted_nulls=false)").to_arrow_table()
    assert db.to_pylist() == want

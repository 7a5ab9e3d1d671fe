"""NDJSON that Python, pyarrow, DuckDB and Polars write is read as Python's json module reads it; inputs of many kinds
become one stream."""
import datetime
import gzip
import json
import pathlib
import random
import subprocess

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

TEXTS = ["", "a", "Köln", '"', "\\", "\n", "\u0000", "\u2028", "😀", "x" * 300, "007", "null", "\x7f", "</script>"]


@pytest.fixture(scope="session")
def read(tarn_bin):
    program = pathlib.Path(tarn_bin).parent / "tests" / "interop_read_inputs"

    def run(*words, want=0, stdin=b""):
        done = subprocess.run([program, *words], capture_output=True, input=stdin, timeout=120, check=False)
        assert done.returncode == want, done.stderr
        if want != 0:
            return done.stderr.decode()
        rows = [json.loads(line) for line in done.stdout.split(b"\n") if line]
        return (rows, done.stderr.decode().splitlines()) if "--reject" in words else rows

    return run


def random_value(rng, kind):
    if rng.random() < 0.2:
        return None
    if kind == "int":
        return rng.choice([0, -1, rng.randrange(-(2**63), 2**63), rng.randrange(100)])
    if kind == "float":
        return rng.choice([0.0, -0.0, 1.5, rng.random(), rng.random() * 10 ** rng.randrange(-300, 300), 5e-324])
    if kind == "text":
        return "".join(rng.choice(TEXTS) for _ in range(rng.randrange(4))) + "~"
    if kind == "bool":
        return rng.random() < 0.5
    if kind == "list":
        return [random_value(rng, "int") for _ in range(rng.randrange(4))]
    if kind == "struct":
        return {name: random_value(rng, name) for name in ("int", "text", "list") if rng.random() < 0.8}
    return [random_value(rng, "struct") for _ in range(rng.randrange(3))]


def full(value, like):
    """A value with the keys that it lacks, as tarn gives it."""
    if isinstance(like, dict):
        return None if value is None else {k: full(value.get(k), v) for k, v in like.items()}
    if isinstance(like, list) and like:
        return None if value is None else [full(v, like[0]) for v in value]
    return value


SHAPE = {"int": None, "float": None, "text": None, "bool": None, "list": None,
         "struct": {"int": None, "text": None, "list": None}, "structs": [{"int": None, "text": None, "list": None}]}


@pytest.mark.parametrize("seed", range(12))
def test_python_json(read, tmp_path, seed):
    rng = random.Random(seed)
    rows = [{k: random_value(rng, k) for k in SHAPE} for _ in range(rng.randrange(1, 1500))]
    # Every key is seen once, with a value.
    rows[0] = {"int": 1, "float": 1.5, "text": "t", "bool": True, "list": [1],
               "struct": {"int": 1, "text": "t", "list": [1]}, "structs": [{"int": 1, "text": "t", "list": [1]}]}
    for row in rows[1:]:
        for key in [k for k in row if rng.random() < 0.1]:
            del row[key]
        items = list(row.items())
        rng.shuffle(items)
        row.clear()
        row.update(items)
    ascii_only = seed % 2 == 0
    lines = [json.dumps(r, ensure_ascii=ascii_only, separators=rng.choice([(",", ":"), (", ", ": ")])) for r in rows]
    form = seed % 4
    if form == 0:
        body = "".join(line + rng.choice(["\n", "\r\n", "\n\n"]) for line in lines)
    elif form == 1:
        body = json.dumps(rows, ensure_ascii=ascii_only, indent=rng.choice([None, 2]))
    else:
        body = "\n".join(lines)
    path = tmp_path / "rows.json"
    if form == 2:
        path = tmp_path / "rows.json.gz"
        path.write_bytes(gzip.compress(body.encode()))
    elif form == 3:
        path = tmp_path / "rows.jsonl.zst"
        path.write_bytes(pa.compress(body.encode(), "zstd", asbytes=True))
    else:
        path.write_text(body, encoding="utf-8", newline="")
    want = [full(row, SHAPE) for row in rows]
    got = read(path)
    assert len(got) == len(want)
    for g, w in zip(got, want):
        assert json.dumps(g, sort_keys=True) == json.dumps(w, sort_keys=True)


def corrupt(rng, line):
    at = rng.randrange(len(line))
    return line[:at] + rng.choice([b"", b"\x00", b"}", b'"', b",", b"\\", b"\xff", b"1", b"{"]) + line[at + rng.randrange(2):]


def is_json_object(line):
    """What RFC 8259 says: Python takes NaN, and lets a key come twice and surrogates stand alone."""
    def refuse(_):
        raise ValueError

    def unique(pairs):
        if len({k for k, _ in pairs}) != len(pairs):
            raise ValueError
        return dict(pairs)
    try:
        text = line.decode("utf-8")
        value = json.loads(text, parse_constant=refuse, object_pairs_hook=unique)
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


@pytest.mark.parametrize("seed", range(8))
def test_broken_lines(read, tmp_path, seed):
    """A line goes aside exactly when Python's json refuses it, or its types or keys do not fit."""
    rng = random.Random(seed)
    lines = [b'{"a":1,"b":"x","c":[true],"d":{"e":1.5}}']
    for _ in range(400):
        lines.append(corrupt(rng, json.dumps(
            {"a": rng.randrange(9), "b": rng.choice(["x", "Kö"]), "c": [False], "d": {"e": 0.25}}).encode()))
    lines = [line for line in lines if line.strip() and b"\n" not in line]
    path = tmp_path / "rows.ndjson"
    path.write_bytes(b"\n".join(lines) + b"\n")

    def fits(value):
        return (value is not None and value.keys() <= {"a", "b", "c", "d"} and
                (value.get("a") is None or type(value["a"]) is int) and
                (value.get("b") is None or type(value["b"]) is str) and
                (value.get("c") is None or (type(value["c"]) is list and
                                            all(v is None or type(v) is bool for v in value["c"]))) and
                (value.get("d") is None or (type(value["d"]) is dict and value["d"].keys() <= {"e"} and
                                            (value["d"].get("e") is None or type(value["d"]["e"]) in (int, float)))))

    # The sample must not widen types by what is broken: the first line alone is given as another input.
    (tmp_path / "all.ndjson").write_bytes(lines[0] + b"\n")
    good = [value for value in map(is_json_object, lines) if fits(value)]
    rows, told = read("--reject", path)
    if all(fits(v) or v is None for v in map(is_json_object, lines)):
        assert [r["a"] for r in rows] == [v.get("a") for v in good]
        assert [r["b"] for r in rows] == [v.get("b") for v in good]
        assert len(told) == len(lines) - len(good)
    else:
        # Some line is good JSON of other types or keys: types are widened, and only broken ones go aside.
        assert len(rows) + len(told) == len(lines)
        assert len(told) <= sum(is_json_object(line) is None for line in lines)


def table():
    return pa.table({
        "i": pa.array([1, None, -5], pa.int64()),
        "f": pa.array([1.5, 2.0, None], pa.float64()),
        "s": pa.array(["a", "ö\n\"", None]),
        "b": pa.array([True, None, False]),
        "d": pa.array([datetime.date(2024, 5, 12), None, datetime.date(1969, 1, 1)]),
        "t": pa.array([datetime.datetime(2024, 5, 12, 10, 0, 0, 500), None, datetime.datetime(1969, 1, 1)],
                      pa.timestamp("us")),
        "l": pa.array([[1, 2], [], None], pa.list_(pa.int64())),
        "r": pa.array([{"x": 1, "y": "q"}, None, {"x": None, "y": None}]),
    })


WANT = [{"i": 1, "f": 1.5, "s": "a", "b": True, "d": "2024-05-12", "t": "2024-05-12T10:00:00.000500", "l": [1, 2],
         "r": {"x": 1, "y": "q"}},
        {"i": None, "f": 2.0, "s": "ö\n\"", "b": None, "d": None, "t": None, "l": [], "r": None},
        {"i": -5, "f": None, "s": None, "b": False, "d": "1969-01-01", "t": "1969-01-01T00:00:00.000000", "l": None,
         "r": {"x": None, "y": None}}]


def test_duckdb_and_polars_write(read, tmp_path):
    rows = table()
    connection = duckdb.connect()
    connection.register("rows", rows)
    connection.sql(f"COPY (FROM rows) TO '{tmp_path}/duck.json' (FORMAT json)")
    connection.sql(f"COPY (FROM rows) TO '{tmp_path}/array.json' (FORMAT json, ARRAY true)")
    connection.sql(f"COPY (FROM rows) TO '{tmp_path}/packed.json.gz' (FORMAT json, COMPRESSION gzip)")
    connection.sql(f"COPY (FROM rows) TO '{tmp_path}/packed.json.zst' (FORMAT json, COMPRESSION zstd)")
    polars.from_arrow(rows).write_ndjson(tmp_path / "polars.ndjson")
    for name in ("duck.json", "array.json", "packed.json.gz", "packed.json.zst", "polars.ndjson"):
        assert read(tmp_path / name) == WANT, name
    assert read(tmp_path / "*.json") == WANT * 2


def test_many_kinds(read, tmp_path):
    (tmp_path / "a.csv").write_text("id,v,when\n1,x,2024-01-01\n2,,\n")
    (tmp_path / "b.ndjson").write_text('{"id":3,"when":"2024-01-02","extra":{"k":[1]}}\n')
    pq.write_table(pa.table({"id": pa.array([4, 5], pa.int32()), "v": ["y", "z"]}), tmp_path / "c.parquet")
    day = datetime.date(2024, 1, 3)
    (tmp_path / "lake/dt=1").mkdir(parents=True)
    pq.write_table(pa.table({"id": pa.array([6], pa.int64()), "when": pa.array([day])}), tmp_path / "lake/dt=1/d.parquet")
    want = [{"id": 1, "v": "x", "when": "2024-01-01", "dt": None, "extra": None},
            {"id": 2, "v": None, "when": None, "dt": None, "extra": None},
            {"id": 3, "v": None, "when": "2024-01-02", "dt": None, "extra": {"k": [1]}},
            {"id": 4, "v": "y", "when": None, "dt": None, "extra": None},
            {"id": 5, "v": "z", "when": None, "dt": None, "extra": None},
            {"id": 6, "v": None, "when": "2024-01-03", "dt": 1, "extra": None}]
    assert read(tmp_path / "a.csv", tmp_path / "b.*", tmp_path / "c.parquet", tmp_path / "lake") == want
    assert read("--where", "id > 1 and \"when\" >= date '2024-01-02'",
                tmp_path / "?.*", tmp_path / "lake") == [want[2], want[5]]
    assert read(tmp_path / "a.csv", "-", stdin=gzip.compress(b'[{"id":9}]')) == [
        {k: r[k] for k in ("id", "v", "when")} for r in want[:2]] + [{"id": 9, "v": None, "when": None}]
    assert "NOTFOUND" in read(tmp_path / "*.none", want=1)


def test_numbers_are_exact(read, tmp_path):
    """Integers beyond int64 and long fractions stay as written."""
    (tmp_path / "n.json").write_text('{"big":18446744073709551616,"dec":0.12345678901234567890}\n{"big":1,"dec":1}\n')
    assert read(tmp_path / "n.json") == [{"big": "18446744073709551616", "dec": "0.12345678901234567890"},
                                         {"big": "1", "dec": "1"}]
    with open(tmp_path / "floats.json", "w") as out:
        rng = random.Random(1)
        values = [rng.uniform(-1, 1) * 10.0 ** rng.randrange(-308, 308) for _ in range(5000)]
        out.writelines(json.dumps({"f": v}) + "\n" for v in values)
    assert [row["f"] for row in read(tmp_path / "floats.json")] == values

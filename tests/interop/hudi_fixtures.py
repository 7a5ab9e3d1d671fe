"""Tables that real Hudi wrote, and what Hudi 1.2.0 on Spark answered for them: <shared>/fixtures/NAME.zip and NAME.json.
They are other projects' files and are never part of this repository."""
import decimal
import json
import pathlib
import subprocess

TIMES = ("timestampField", "dateField", "txn_datetime", "txn_date", "binaryField")  # texts in JSON alone
WORDS = {"as_of": "--as-of", "begin": "--since", "end": "--until"}


def names(shared):
    """All fixtures, also those without expected rows."""
    return sorted(path.stem for path in (pathlib.Path(shared) / "fixtures").glob("*.zip"))


def queries(shared, name):
    """The queries of a fixture; none for one that Hudi 1.2.0 on Spark was not asked about."""
    path = pathlib.Path(shared) / "fixtures" / f"{name}.json"
    return json.loads(path.read_text(), parse_float=decimal.Decimal)["queries"] if path.is_file() else []


def label(query):
    """snapshot, as_of-20240418173213674, …"""
    return "-".join([query["q"], *(query.get("args") or {}).values()])


def unpack(shared, name, folder):
    """The table's directory. Times of files are kept: Hudi 1.x tells slices of version 6 by them."""
    subprocess.run(["unzip", "-qo", str(pathlib.Path(shared) / "fixtures" / f"{name}.zip"), "-x", "__MACOSX/*", "-d", str(folder)],
                   check=False, capture_output=True)
    roots = [path.parent for path in pathlib.Path(folder).glob("*/.hoodie")]
    assert len(roots) == 1, f"{name}: {roots}"
    return roots[0]


def words(root, query):
    """The command line that asks tarn the same."""
    asked = ["read", str(root), "--meta", "--format", "ndjson"]
    if query["q"] in ("read_optimized", "incremental", "cdc"):
        asked += ["--mode", query["q"]]
    for name, value in (query.get("args") or {}).items():
        asked += [WORDS[name], value]
    return asked


def parse(text):
    """Rows of NDJSON; no digit of a number is lost."""
    return [json.loads(line, parse_float=decimal.Decimal) for line in text.splitlines()]


def plain(value):
    """A value that compares as the rows of two programs should: kinds (truth, number, text, list, object) as they are,
    numbers by value, and without fields that are null, which Spark's JSON leaves out."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, (int, float, decimal.Decimal)):
        return number(decimal.Decimal(value))
    if isinstance(value, list):
        return [plain(v) for v in value]
    return {k: plain(v) for k, v in value.items() if v is not None}


def number(value):
    """Of equal numbers the same one: 1250.00 and 1250.0 and 1250 are."""
    return "number " + (format(value.normalize(), "f") if value.is_finite() else str(value))


def in_order(rows):
    return sorted((plain(row) for row in rows), key=lambda row: json.dumps(row, sort_keys=True))


def same(got, want):
    """Rows are equal as sets with repetition; columns, too, meta columns first and in the table's order."""
    got_rows, want_rows = in_order(got), in_order(want)
    if got_rows != want_rows:
        differing = [(g, w) for g, w in zip(got_rows, want_rows) if g != w]
        assert len(got_rows) == len(want_rows), f"{len(got_rows)} rows, not {len(want_rows)}: {differing[:1]}"
        got_row, want_row = differing[0]
        keys = [k for k in {**got_row, **want_row} if got_row.get(k) != want_row.get(k)]
        assert {k: got_row.get(k) for k in keys} == {k: want_row.get(k) for k in keys}
    for row in want:
        order = [k for k in got[0] if k in row]
        assert list(row) == order, "columns are in another order"

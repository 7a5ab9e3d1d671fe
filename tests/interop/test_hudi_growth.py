"""Tables whose schema goes on changing while updates lie in logs over older files, in each table version: with Hudi's schema on
read (a name that is dropped and comes back, names that change hands, fields of structs, lists and maps), and without it (Avro's
own growth, by name). After each step every query of Hudi 1.2.0 on Spark is asked, and change data. One case of each a run;
TARN_FULL does all of them."""
import decimal
import os

import pyarrow as pa
import pytest

from hudi_asked import CHANGES, ON_READ, Asked

FULL = bool(os.environ.get("TARN_FULL"))


def cases(short, full):
    chosen = full if FULL else short
    return pytest.mark.parametrize("hudi, case", [(9, case) for case in chosen], indirect=["hudi"], scope="session",
                                   ids=["-".join(map(str, case)) for case in chosen])


# ---- by number

FIRST = pa.schema([("id", pa.int32()), ("a", pa.int32()), ("b", pa.string()), ("gone", pa.float64()),
                   ("st", pa.struct([("x", pa.int32()), ("y", pa.string())])),
                   ("ar", pa.list_(pa.struct([("q", pa.int32()), ("w", pa.string())]))),
                   ("m", pa.map_(pa.string(), pa.struct([("k", pa.int32())]))), ("f", pa.float32()), ("dc", pa.decimal128(10, 2)),
                   ("ts", pa.int64()), ("p", pa.int32())])
# Statements up to each check; None is a compaction, which copy-on-write tables leave out.
STEPS = [["UPDATE t SET b = 'b1u', st = named_struct('x', 11, 'y', 'y11'), ts = 2 WHERE id = 1",
          "ALTER TABLE t RENAME COLUMN a TO a2", "ALTER TABLE t RENAME COLUMN st.x TO xx",
          "ALTER TABLE t RENAME COLUMN ar.element.q TO qq", "ALTER TABLE t RENAME COLUMN m.value.k TO kk",
          "ALTER TABLE t DROP COLUMN gone", "ALTER TABLE t ADD COLUMNS (a string AFTER id, st.z int)",
          "ALTER TABLE t ALTER COLUMN b AFTER a"],
         ["UPDATE t SET a = 'u2', b = 'b2u', ts = 5 WHERE id = 2", "ALTER TABLE t ADD COLUMNS (gone string AFTER b)"],
         ["UPDATE t SET gone = 'back', ts = 6 WHERE id IN (2, 4)", "ALTER TABLE t RENAME COLUMN a2 TO a3",
          "ALTER TABLE t RENAME COLUMN a TO a2"],
         ["UPDATE t SET a3 = a3 + 1, a2 = 'new a2', ts = 7 WHERE id IN (1, 3)", "ALTER TABLE t ALTER COLUMN a3 TYPE bigint",
          "ALTER TABLE t ALTER COLUMN f TYPE double", "ALTER TABLE t ALTER COLUMN dc TYPE decimal(16,4)",
          "ALTER TABLE t ALTER COLUMN st.xx TYPE bigint"],
         [None, "UPDATE t SET a3 = 5000000000, st = named_struct('xx', 5000000000, 'y', 'yy', 'z', 9), ts = 8 WHERE id = 5",
          "ALTER TABLE t ALTER COLUMN a3 TYPE string", "ALTER TABLE t ALTER COLUMN st.xx TYPE string",
          "ALTER TABLE t DROP COLUMN st.y", "ALTER TABLE t ADD COLUMNS (ar.element.r double, m.value.j string)",
          "ALTER TABLE t DROP COLUMN ar.element.w"],
         ["UPDATE t SET a3 = 'text', ts = 9 WHERE id = 6", "DELETE FROM t WHERE id = 4", "ALTER TABLE t ADD COLUMNS (st.y double)",
          "ALTER TABLE t RENAME COLUMN st TO st9"]]


@cases([(9, "mor")], [(version, kind) for version in (6, 8, 9) for kind in ("cow", "mor")] + [(9, "mor-parquet")])
def test_names_change_hands(hudi, case, tarn, tmp_path):
    version, kind = case
    t = Asked(hudi, tarn, tmp_path, version, kind, options=ON_READ)

    def first(i):
        return {"id": i, "a": i * 10, "b": f"b{i}", "gone": i + .5, "st": {"x": i, "y": f"y{i}"} if i != 3 else None,
                "ar": [{"q": i, "w": f"w{i}"}] if i != 3 else None, "m": [("k", {"k": i + 4})] if i != 3 else None, "f": i + .1,
                "dc": decimal.Decimal(i * 101).scaleb(-2), "ts": 1, "p": i % 2}

    t.put("upsert", [first(i) for i in range(1, 7)], FIRST)
    for number, statements in enumerate(STEPS):
        if statements[0] is None and kind != "cow":
            t.compact()
        t.sql(*(statement for statement in statements if statement is not None))
        t.check(None if number in (3, 5) else list(t.queries())[:1])
    rows = t.snapshot()
    assert rows[6]["a3"] == "text" and rows[1]["a3"] == "11" and rows[1]["a2"] == "new a2" and rows[2]["gone"] == "back"
    assert rows[1]["gone"] is None and rows[1]["st9"] == {"xx": "11", "z": None, "y": None} and 4 not in rows


# ---- by name

TEXT, LONG, INT, REAL = pa.string(), pa.int64(), pa.int32(), pa.float64()


def growing(i, l, f, s, decimals, extra=(), fields=()):
    # A list of structs of one field Hudi 1.2.0 cannot update in every table: it takes its layout of three levels for one of two.
    return pa.schema([("id", pa.int32()), ("i", i), ("l", l), ("f", f), ("s", s), ("dc", pa.decimal128(decimals, 2)),
                      ("st", pa.struct([("x", i), *fields])), ("ar", pa.list_(pa.struct([("q", l), ("n", INT), *fields]))),
                      ("m", pa.map_(pa.string(), f)), *extra, ("ts", pa.int64()), ("p", pa.int32())])


GROWN = [growing(INT, LONG, pa.float32(), INT, 10), growing(LONG, pa.float32(), REAL, LONG, 12, [("e", INT)], [("z", INT)]),
         growing(REAL, REAL, REAL, TEXT, 14, [("e", LONG)], [("z", LONG), ("zz", TEXT)]),
         growing(TEXT, TEXT, TEXT, TEXT, 14, [("e", TEXT)], [("z", TEXT), ("zz", TEXT)])]


def value(kind, n):
    if pa.types.is_string(kind):
        return f"s{n}"
    if pa.types.is_decimal(kind):
        return decimal.Decimal(n * 101).scaleb(-2)
    if pa.types.is_floating(kind):
        return n + .1
    if pa.types.is_struct(kind):
        return {f.name: value(f.type, n) for f in kind}
    if pa.types.is_map(kind):
        return [("k", value(kind.item_type, n))]
    return [value(kind.value_type, n)] if pa.types.is_list(kind) else n


def rows(schema, ts, numbers):
    return [{f.name: value(f.type, i) for f in schema} | {"id": i, "ts": ts, "p": i % 2} for i in numbers]


# Changes of merge-on-read tables of version 6 Hudi 1.2.0 cannot read: "Not an Avro data file".
@cases([(9, "mor", "rows"), (9, "mor", "changes")],
       [(version, kind, "rows") for version in (6, 8, 9) for kind in ("cow", "mor", "mor-parquet")] +
       [(9, "cow", "changes"), (9, "mor", "changes")])
def test_columns_grow(hudi, case, tarn, tmp_path):
    version, kind, asked = case
    logged = asked == "changes"
    t = Asked(hudi, tarn, tmp_path, version, kind,
              options={"hoodie.write.set.null.for.missing.columns": "true"} | (CHANGES if logged else {}))
    one, two, three, four = GROWN

    def check():
        return t.check_changes() if logged else t.check()

    t.put("upsert", rows(one, 1, range(1, 9)), one)
    t.put("upsert", rows(one, 2, (1, 2)), one)
    t.put("upsert", rows(two, 3, (2, 3, 9)), two)
    check()
    t.put("upsert", rows(three, 4, (3, 4, 10)), three)
    t.put("upsert", rows(one, 5, (5, 11)), one)  # by a writer that has not heard of it
    check()
    if kind != "cow":
        t.compact()
    t.put("upsert", rows(four, 6, (6, 12)), four)
    turned = pa.schema(list(four)[::-1])
    t.put("upsert", rows(turned, 7, (7, 13)), turned)
    t.put("delete", rows(turned, 8, (8,)), turned)
    fewer = pa.schema([f for f in four if f.name not in ("e", "l")])
    t.put("upsert", rows(fewer, 9, (7, 2)), fewer)
    check()

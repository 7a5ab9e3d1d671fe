"""Columns that are renamed, moved, dropped and added again, and given other types with Hudi's schema on read: `tarn read` gives
what Hudi 1.2.0 on Spark gives after each step, without an option; before and after rows are written anew, from base files and
from logs."""
import decimal
import json

import pytest

import hudi_fixtures

ON = ["SET hoodie.schema.on.read.enable=true", "SET hoodie.metadata.enable=false", "SET hoodie.compact.inline=false",
      "SET hoodie.parquet.small.file.limit=0",
      # Else Hudi 1.2.0 takes a column that is renamed for one that is missing.
      "SET hoodie.datasource.write.schema.allow.auto.evolution.column.drop=true", "SET hoodie.avro.schema.validate=false"]

pytestmark = pytest.mark.parametrize("hudi", [9], indirect=True, scope="session", ids=["v9"])


@pytest.fixture
def sql(hudi):
    """sql(statement…): rows of the last one. The settings are Spark's session's, which others have, too."""

    def run(*statements):
        return [row for row in hudi("sql", *ON, *statements) if set(row) != {"key", "value"}]

    yield run
    hudi("sql", "RESET spark.sql.parquet.enableVectorizedReader", *("RESET " + word.split()[1].split("=")[0] for word in ON))


def create(sql, path, kind, name, columns):
    sql(f"CREATE TABLE {name} (id int, {columns}, ts bigint, p int) USING hudi TBLPROPERTIES(type='{kind}', primaryKey='id', "
        f"preCombineField='ts') PARTITIONED BY (p) LOCATION '{path}'")


def rows_of(tarn, path, *words):
    return hudi_fixtures.parse(tarn("read", str(path), "--meta", "--format", "ndjson", *words))


def digits(rows):
    """Numbers as they were written, not as the nearest double."""
    return json.loads(json.dumps(rows), parse_float=decimal.Decimal)


def same_as_spark(tarn, sql, path, name):
    want = sql(f"SELECT * FROM {name}")
    hudi_fixtures.same(rows_of(tarn, path), digits(want))
    return want


STEPS = ["ALTER TABLE {t} RENAME COLUMN a TO a2",
         "ALTER TABLE {t} RENAME COLUMN st.x TO xx",
         "ALTER TABLE {t} RENAME COLUMN ar.element.q TO qq",
         "ALTER TABLE {t} RENAME COLUMN m.value.k TO kk",
         "ALTER TABLE {t} DROP COLUMN gone",
         "ALTER TABLE {t} ADD COLUMNS (a string AFTER id, st.z int)",
         "ALTER TABLE {t} ALTER COLUMN b AFTER a",
         "INSERT INTO {t} (id, a, b, a2, st, ar, m, ts, p) VALUES (4, 'new', 'b4', 40, named_struct('xx', 4, 'y', 'y4', 'z', 44), "
         "array(named_struct('qq', 4, 'w', 'w4')), map('k', named_struct('kk', 7)), 1, 4)",
         "UPDATE {t} SET a = 'u2', b = 'b2u', ts = 5 WHERE id = 2"]


@pytest.mark.parametrize("kind", ["cow", "mor"])
def test_columns_are_known_by_number(tarn, sql, tmp_path, kind):
    path, t = tmp_path / "table", f"shape_{kind}"
    sql("SET spark.sql.parquet.enableVectorizedReader=false")  # else Hudi 1.2.0 refuses fields of structs that were renamed
    create(sql, path, kind, t, "a int, b string, gone double, st struct<x:int,y:string>, ar array<struct<q:int,w:string>>, "
                               "m map<string,struct<k:int>>")
    sql(f"INSERT INTO {t} VALUES (1, 10, 'b1', 1.5, named_struct('x', 1, 'y', 'y1'), array(named_struct('q', 1, 'w', 'w1')), "
        "map('k', named_struct('k', 5)), 1, 1), (2, 20, 'b2', 2.5, named_struct('x', 2, 'y', 'y2'), "
        "array(named_struct('q', 2, 'w', 'w2')), map('k', named_struct('k', 6)), 1, 2), (3, 30, 'b3', 3.5, null, null, null, 1, 3)")
    sql(f"UPDATE {t} SET b = 'b1u', st = named_struct('x', 11, 'y', 'y11'), ts = 2 WHERE id = 1")
    before = same_as_spark(tarn, sql, path, t)
    for step in STEPS:
        sql(step.format(t=t))
        last = same_as_spark(tarn, sql, path, t)
    # What a wrong answer would look like: the old "a" under the name of another.
    by_id = {row["id"]: row for row in last}
    assert by_id[1]["a2"] == 10 and by_id[1]["a"] is None and by_id[1]["st"]["xx"] == 11
    # A filter on a column finds rows by what it is now, in files that call it otherwise.
    for where, ids in (("a2 = 10", [1]), ("a = 'u2'", [2]), ("a IS NULL", [1, 3]), ("b = 'b1u'", [1]), ("st.xx = 4", [4])):
        assert sorted(row["id"] for row in rows_of(tarn, path, "--where", where)) == ids, where
    assert {row["id"]: row["a2"] for row in rows_of(tarn, path, "--columns", "id,a2")} == {1: 10, 2: 20, 3: 30, 4: 40}
    # As of a time before: the columns of then.
    instants = json.loads(tarn("timeline", str(path), "--json"))["instants"]
    done = sorted(i["time"] for i in instants if i["state"].lower() == "completed" and i["action"] in ("commit", "deltacommit"))
    hudi_fixtures.same(rows_of(tarn, path, "--as-of", done[1]), digits(before))


# name, type, type then, values
TYPES = [("i_l", "int", "bigint", "7", "-2147483648"), ("i_f", "int", "float", "7", "16777217"),
         ("i_d", "int", "double", "7", "-2147483648"), ("i_s", "int", "string", "7", "-2147483648"),
         ("i_dc", "int", "decimal(12,2)", "7", "-2147483648"), ("l_f", "bigint", "float", "16777217", "-33554435"),
         ("l_d", "bigint", "double", "16777217", "-9007199254740993"), ("l_s", "bigint", "string", "7", "-9223372036854775808"),
         ("l_dc", "bigint", "decimal(24,2)", "7", "-123456789012"),
         ("f_d", "float", "double", "cast(1.1 as float)", "cast(0.0001 as float)"),
         ("f_s", "float", "string", "cast(1.1 as float)", "cast(1e10 as float)"),
         ("f_dc", "float", "decimal(12,3)", "cast(1.1 as float)", "cast(-2.0625 as float)"),
         ("d_s", "double", "string", "1.1D", "-1.5E-7D"), ("d_dc", "double", "decimal(16,3)", "1.0005D", "-1234.5678D"),
         ("s_dt", "string", "date", "'2024-05-12'", "'2023-1-2'"), ("s_dc", "string", "decimal(10,2)", "'12.345'", "'-0.005'"),
         ("dc_dc", "decimal(10,2)", "decimal(14,4)", "12.50", "-0.01"), ("dc_s", "decimal(18,10)", "string", "1.5", "0.0000000001"),
         ("dt_s", "date", "string", "date'2024-02-29'", "date'1969-12-31'")]


@pytest.mark.parametrize("kind", ["cow", "mor"])
def test_columns_are_retyped(tarn, sql, tmp_path, kind):
    path, t = tmp_path / "table", f"types_{kind}"
    create(sql, path, kind, t, ", ".join(f"{name} {old}" for name, old, *_ in TYPES))
    values = [", ".join(column[3 + row] if row < 2 else "null" for column in TYPES) for row in range(3)]
    sql(f"INSERT INTO {t} VALUES " + ", ".join(f"({row}, {values[row]}, 1, {row})" for row in range(3)))
    sql(f"UPDATE {t} SET i_l = 8, ts = 2 WHERE id = 1")  # of a merge-on-read table into a log
    for name, _, new, *_ in TYPES:
        sql(f"ALTER TABLE {t} ALTER COLUMN {name} TYPE {new}")
    rows = same_as_spark(tarn, sql, path, t)
    assert {row["id"]: row["i_l"] for row in rows} == {0: 7, 1: 8, 2: None}
    for where, ids in (("f_d = 1.1", [0]), ("s_dt = DATE '2023-01-02'", [1]), ("i_s = '7'", [0]), ("dt_s = '1969-12-31'", [1]),
                       ("s_dc = -0.01", [1]), ("dc_dc > 12", [0]), ("s_dt IS NULL", [2])):
        assert sorted(row["id"] for row in rows_of(tarn, path, "--where", where)) == ids, where
    sql(f"INSERT INTO {t} (id, i_l, f_d, s_dt, ts, p) VALUES (5, 5000000000, 1.1D, date'2024-01-01', 1, 0)")
    same_as_spark(tarn, sql, path, t)

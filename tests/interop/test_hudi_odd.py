"""Input that is odd, into Hudi tables: what cannot be kept is refused before the table is touched."""
import pyarrow as pa
import pytest

import hudi_snapshot as hudi
from test_reports_hudi import Lake


@pytest.fixture
def lake(tmp_path, tarn, tarn_bin):
    return Lake(tmp_path, tarn, tarn_bin)


def text_of(raw):
    """A text column of one value whose bytes nobody has checked, as in files of careless writers."""
    ends = (0).to_bytes(4, "little") + len(raw).to_bytes(4, "little")
    return pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(ends), pa.py_buffer(raw)])


@pytest.mark.parametrize("keys", ["id", "id,n"])
def test_keys_are_utf8(lake, keys):
    lake.write([{"id": "a", "n": 1, "p": "x"}], "--key", keys, "--partition", "p")
    said = lake.refused(hudi.table(id=text_of(b"a\xff"), n=[1], p=["x"]))
    assert "row 1" in said and "not UTF-8" in said


def test_partition_paths_are_utf8(lake):
    lake.write([{"id": "a", "p": "x"}], "--key", "id", "--partition", "p")
    said = lake.refused(hudi.table(id=["b"], p=text_of(b"x\xff")))
    assert "row 1" in said and "not UTF-8" in said


@pytest.mark.parametrize("first, then", [
    (pa.array([1], pa.int32()), pa.array([1.0])),
    (pa.array([1], pa.int64()), pa.array([1.0], pa.float32())),
    (pa.array([1.5], pa.float32()), pa.array([1.5])),
])
def test_keys_and_paths_do_not_widen_into_another_text(lake, first, then):
    """1 is the key "1" and 1.0 the key "1.0": the row would be there twice."""
    lake.write(hudi.table(id=first, p=["x"], v=[1]), "--key", "id", "--partition", "p")
    said = lake.refused(hudi.table(id=then, p=["x"], v=[2]))
    assert 'column "id"' in said and "the record key" in said
    lake.root += "2"
    lake.write(hudi.table(id=["a"], p=first, v=[1]), "--key", "id", "--partition", "p")
    said = lake.refused(hudi.table(id=["a"], p=then, v=[2]))
    assert 'column "p"' in said and "the partition path" in said


def test_keys_in_structs_do_not_widen_into_another_text(lake):
    def rows(kind, v):
        return hudi.table(s=pa.array([{"id": 1}], pa.struct([("id", kind)])), v=[v])

    lake.write(rows(pa.int32(), 1), "--key", "s.id")
    assert 'column "s.id"' in lake.refused(rows(pa.float64(), 2))
    lake.write(rows(pa.int64(), 3))
    assert [r["v"] for r in hudi.rows(lake.root)] == [3]


@pytest.mark.parametrize("twin", ["V", "_HOODIE_record_key"])
def test_columns_differ_by_more_than_case(lake, twin):
    """Spark and Hive find two columns of one name in such a table, and read none of it."""
    said = lake.refused(pa.table([["a"], [1], [2]], names=["id", "v", twin]), "--key", "id")
    assert twin in said and "by case alone" in said
    lake.write([{"id": "a", "v": 1}], "--key", "id")
    said = lake.refused(pa.table([["a"], [1], [2]], names=["id", "v", twin]))
    assert twin in said and "by case alone" in said


def test_binary_of_one_width_is_stored_as_bytes(lake):
    def rows(ids, *values):
        return hudi.table(id=ids, b=pa.array(values, pa.binary(4)), l=pa.array([[v, None] for v in values], pa.list_(pa.binary(4))))

    lake.write(rows([1, 2, 3], b"abcd", None, b"\0\xff\0\xff"), "--key", "id")
    lake.write(rows([2], b"efgh"))
    assert [r["b"] for r in hudi.rows(lake.root)] == [b"abcd", b"efgh", b"\0\xff\0\xff"]


def test_types_that_no_table_stores(lake):
    """All nulls, and integers without sign, where the table has the column: its type, each value looked at."""
    lake.write(pa.table({"id": ["1"], "n": pa.array([1], pa.int64()), "s": pa.array([{"a": 1}])}), "--key", "id")
    lake.write(pa.table({"id": ["2"], "n": pa.nulls(1), "s": pa.array([{"a": None}], pa.struct([("a", pa.null())]))}))
    lake.write(pa.table({"id": ["3"], "n": pa.array([7], pa.uint64()), "s": pa.nulls(1)}))
    assert lake.rows("id", "n", "s") == [("1", 1, {"a": 1}), ("2", None, {"a": None}), ("3", 7, None)]
    said = lake.refused(pa.table({"id": ["4"], "n": pa.array([2**63], pa.uint64()), "s": pa.nulls(1)}))
    assert 'column "n"' in said and "int64" in said
    assert "new" in lake.refused(pa.table({"id": ["4"], "n": [1], "s": pa.nulls(1), "new": pa.nulls(1)}))

"""Writes the seeds of corpus/join with pyarrow (any recent version): files of several row groups, after a byte that
chooses codec, page version and ways (join.c).

Run from anywhere: python fuzz/make_join_seeds.py. The seeds are committed; run it again only to add some.
"""
import os

import pyarrow as pa
import pyarrow.parquet as pq

JOIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus", "join")
ROWS = 24
UNIQUE = pa.table({"u": pa.array(range(ROWS), pa.int32())})
FEW = pa.table({"f": ["ab%d" % (i * i % 5) for i in range(ROWS)]})
SOME = pa.table({"n": pa.array([None if i % 5 == 3 else "x%d" % i for i in range(ROWS)])})
LISTS = pa.table({"l": pa.array([None if i % 7 == 2 else [i, None, 3][:i % 4] for i in range(ROWS)],
                                pa.list_(pa.int64()))})


def put(name, choice, table, **settings):
    path = os.path.join(JOIN, name)
    pq.write_table(table, path, store_schema=False, row_group_size=8, **settings)
    with open(path, "rb") as file:
        body = file.read()
    with open(path, "wb") as out:
        out.write(bytes([choice]) + body)


os.makedirs(JOIN, exist_ok=True)
put("unique_v1", 0, UNIQUE, compression="none")
put("unique_v2", 4, UNIQUE, compression="snappy", data_page_version="2.0")
put("few_v1", 1, FEW, compression="none", write_statistics=False)
put("few_v2_full", 0x10 + 8, FEW, compression="snappy", data_page_version="2.0", write_statistics=False)
put("plain", 2, SOME, compression="none", use_dictionary=False, write_page_checksum=True)
put("delta", 0, SOME, compression="none", use_dictionary=False, column_encoding={"n": "DELTA_BYTE_ARRAY"})
put("lists_v1", 0, LISTS, compression="none", write_statistics=False)
put("lists_v2", 0x40, LISTS, compression="none", data_page_version="2.0", write_statistics=False)

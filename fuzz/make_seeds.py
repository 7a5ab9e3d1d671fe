"""Writes the seeds of corpus/file, thrift, csv_read, text_value, zip_feed and ndjson_read with pyarrow and DuckDB.

Run from anywhere: python fuzz/make_seeds.py. The seeds are committed; run it again only to add some.
"""
import decimal
import datetime
import gzip
import os
import struct

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = os.path.join(HERE, "corpus", "file")
THRIFT = os.path.join(HERE, "corpus", "thrift")


def flat():
    return pa.table({
        "id": pa.array([1, 2, 3, 4, 5, 6], pa.int64()),
        "name": pa.array(["a", "b", None, "dd", "e", ""], pa.string()),
        "price": pa.array([1.5, float("nan"), -0.0, 0.0, None, 2.0], pa.float64()),
        "ok": pa.array([True, False, None, True, True, False]),
    })


def nested():
    return pa.table({
        "l": pa.array([[1, 2], [], None, [3]], pa.list_(pa.int32())),
        "m": pa.array([[("k", 1)], [], None, [("a", None), ("b", 2)]],
                      pa.map_(pa.string(), pa.int32())),
        "s": pa.array([{"a": 1, "b": ["x"]}, None, {"a": None, "b": None}, {"a": 3, "b": []}],
                      pa.struct([("a", pa.int8()), ("b", pa.list_(pa.string()))])),
    })


def types():
    day = datetime.date(2024, 5, 12)
    return pa.table({
        "d": pa.array([decimal.Decimal("-1.25"), decimal.Decimal("3.00")], pa.decimal128(9, 2)),
        "day": pa.array([day, None], pa.date32()),
        "t": pa.array([1, 2], pa.time64("us")),
        "ts": pa.array([1, 2], pa.timestamp("us", "UTC")),
        "u": pa.array([1, 4000000000], pa.uint32()),
        "h": pa.array([1.0, 2.0], pa.float32()).cast(pa.float16()),
        "f": pa.array([b"abc", b"\xff\x00\x01"], pa.binary(3)),
        "n": pa.nulls(2),
    })


def pages():
    return pa.table({"k": pa.array(range(600), pa.int32()),
                     "v": pa.array(["v%03d" % (i // 7) for i in range(600)])})


def write_files():
    os.makedirs(FILES, exist_ok=True)
    def path(name):
        return os.path.join(FILES, name)
    pq.write_table(flat(), path("flat.parquet"), row_group_size=3, write_page_index=True,
                   compression="none", store_schema=False)
    pq.write_table(nested(), path("nested.parquet"), compression="snappy", store_schema=False)
    pq.write_table(types(), path("types.parquet"), compression="zstd", store_schema=False,
                   write_page_index=True)
    pq.write_table(pages(), path("pages.parquet"), compression="gzip", data_page_size=256,
                   write_batch_size=64, use_dictionary=False, write_page_index=True,
                   store_schema=False)
    pq.write_table(flat().slice(0, 0), path("empty.parquet"), store_schema=False)
    duckdb.sql("COPY (SELECT (range * 3)::INTEGER AS i, 'x' || (range %% 5) AS s FROM range(40)) TO '%s' "
               "(FORMAT parquet, ROW_GROUP_SIZE 2048)" % path("bloom.parquet"))


def write_thrift():
    os.makedirs(THRIFT, exist_ok=True)
    def put(name, kind, body):
        with open(os.path.join(THRIFT, name), "wb") as out:
            out.write(bytes([kind]) + body)
    for name in sorted(os.listdir(FILES)):
        with open(os.path.join(FILES, name), "rb") as file:
            data = file.read()
        stem = name.split(".")[0]
        size = struct.unpack("<I", data[-8:-4])[0]
        put("footer_" + stem, 0, data[-8 - size:-8])
        put("page_" + stem, 1, data[4:4 + 96])
    put("bloom_header", 4, bytes.fromhex("1580011c1c00001c1c00001c1c000000"))
    # Two pages: [1, 9] without nulls, and one of nulls only; ascending; null counts, NaN counts.
    put("column_index", 2, bytes.fromhex("192202 01" "1928 0101 00" "1928 0109 00" "1502" "1926 0006"
                                         "3926 0000" "00".replace(" ", "")))
    # Two pages at byte 4 and 104, 100 bytes each, of 7 rows and more; unencoded sizes.
    put("offset_index", 3, bytes.fromhex("192c" "160815c8011600 00" "16d00115c801160e 00" "192602 04"
                                         "00".replace(" ", "")))


def write_csv():
    """Three bytes of options (see csv_read.c), then text."""
    def put(name, head, body):
        with open(os.path.join(HERE, "corpus", "csv_read", name), "wb") as out:
            out.write(bytes(head) + body)

    put("plain", (64, 1, 40), b"a,b,c\n1,x,2024-05-12\n2,,2024-05-13T10:00:00Z\n,\"\",\n")
    put("quotes", (64, 2, 255), b'"a ""b""",c\r\n"1\r\n",""""\r\n\r\n,""\r"x,""\ny""",\xc3\xbc\n5"6",7\n\n"",')
    put("bad", (64 + 8, 3, 20), b'a,b\n1,x\n2\n3,"y\n"\n\n4,5,6\n"7"7,8\n9,\xe4\nq,z\n')
    put("schema", (64 + 16, 4, 0), b"b,a,z,f,c,e,d,h,i,g\n1.50,7,q,2024-05-12,2024-05-12 10:00,AQI=,x,0.5,10:03,true\n"
        b"1.505,-9999999999,,2024-13-01,,!,,1e9,25:00,2\n,,,,,,\"\",,,\n")
    put("open", (64 + 16 + 8 + 32, 4, 9), b"d,new,a\nNA,1,\n\"NA\",2,NA\nx,\"3\",5\n")
    put("no_header", (64 + 4 + 1, 0, 3), b"1;2;3\n\n4;5\n;;\n")
    put("one_column", (64, 5, 3), b"\xef\xbb\xbfa\n\n1\n\r\n\"\"\r\r2.5")
    put("tabs", (2, 5, 3), b"a\tb\n1\t\"2\t\"\n\"open\t")
    put("letters", (64 + 3, 5, 3), b"xaya\n1a2a\n\"a\"a\"\"\n")
    put("numbers", (64 + 4, 9, 99), b"1,1.5,-0,1e400,007,9223372036854775808,NaN,+1,.5\n"
        b"2,2e-3,3,4,5,6,inf,7,8.\n")


def write_text():
    """Packed inputs, and NDJSON; the first byte of a seed chooses how it is read."""
    def put(target, name, body):
        folder = os.path.join(HERE, "corpus", target)
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, name), "wb") as out:
            out.write(body)
    plain = b"".join(b'{"id":%d}\n' % i for i in range(40))
    member = gzip.compress(plain, mtime=0)
    frame = pa.compress(plain, "zstd", asbytes=True)
    put("zip_feed", "plain", b"\x02" + plain[:64])
    put("zip_feed", "gzip", b"\x06" + member)
    put("zip_feed", "gzip_members", b"\x00" + member + gzip.compress(b"", mtime=0) + member + bytes(7))
    put("zip_feed", "zstd", b"\x04" + frame)
    put("zip_feed", "zstd_frames", b"\x08" + bytes.fromhex("502a4d1802000000") + b"xy" + frame + frame)
    put("ndjson_read", "flat", b'\x12{"a":1,"b":"x","c":true,"d":null,"e":-1.5e3}\n'
        b'{"c":false,"b":"\\u00e9\\ud83d\\ude00\\n","a":2,"e":0}\r\n\n{"f":1}\n{"a":"z"}\n')
    put("ndjson_read", "nested", b'\x0a{"s":{"x":[{"y":1},{"z":"q"}],"w":{}},"l":[[1],[],null]}\n'
        b'{"s":null,"l":[]}\n{"s":{"x":[]}}\n')
    put("ndjson_read", "array", b'\x1a[ {"a":1},\n{"a":[2,"]"]}, {"b":"}\\""} ]\n')
    put("ndjson_read", "times", b'\x00{"d":"2024-05-12","t":"2024-05-12T10:00:00.5Z","n":"NaN","m":1}\n'
        b'{"d":"1969-12-31","t":"2024-05-12 10:00:00+02:00","n":2.5,"m":"x"}\n')
    put("ndjson_read", "given", b'\x16{"a":[1.5,"-2",3e1,null],"b":1}\n{"A":[]}\n{"a":[1.2345]}\n{"a":1}\n')
    put("ndjson_read", "bad", b'\x0a{"a":1,"a":2}\n{"a":01}\n{a:1}\n[1]\n{"a":"\\ud800"}\n{"a":"\xff"}\n{"a":1}x\n')


def write_values():
    """A byte for the type (see text_value.c), then a value."""
    values = ["true", "-128", "255", "-32768", "65535", "2147483647", "4294967295", "-9223372036854775808",
              "18446744073709551615", "65504", "3.4028235e38", "4.9406564584124654e-324", "K\u00f6ln", "", "AQI=", "AQ",
              "AQID", "AAAAAAAAAAAAAAAAAAAAAA==", "", "-123.45", "123456789.123456789", "1e27", "-12e3", "2024-02-29",
              "+12024-05-12T10:00:00.5", "23:59:59", "00:00:00.001", "10:03", "10:03:08.123456789",
              "1969-12-31 23:59:59", "2024-05-12", "2024-05-12T10:00:00.123456", "1677-09-21T00:12:43.145224192",
              "2024-05-12T10:00:00+02:00", "2024-05-12T10:00:00.5Z", "PT1S", "-P1DT2H3M4.5S", "PT-0.000001S", "P2W", "x"]
    for kind, value in enumerate(values):
        with open(os.path.join(HERE, "corpus", "text_value", f"{kind:02}"), "wb") as out:
            out.write(bytes([kind]) + value.encode())


write_files()
write_thrift()
write_csv()
write_text()
write_values()

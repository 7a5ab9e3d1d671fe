"""Tarn's Parquet scan and sink from Python, through tests/tools/arrow_bridge.c.

A library built with sanitizers needs their runtime in the process, so the tests that use this module
run in a child process where it is preloaded (see run_jobs)."""
import ctypes
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TARN_BUILD_DIR", ROOT / "build" / "asan"))
LIBRARY = BUILD / "tests" / "libarrow_bridge.so"


class RowRange(ctypes.Structure):
    _fields_ = [("group", ctypes.c_uint32), ("first", ctypes.c_int64), ("rows", ctypes.c_int64)]


class ScanOptions(ctypes.Structure):
    _fields_ = [("columns", ctypes.POINTER(ctypes.c_uint32)), ("column_count", ctypes.c_size_t),
                ("groups", ctypes.POINTER(ctypes.c_uint32)), ("group_count", ctypes.c_size_t),
                ("ranges", ctypes.POINTER(RowRange)), ("range_count", ctypes.c_size_t),
                ("skip_crc", ctypes.c_bool), ("int96_micros", ctypes.c_bool), ("int96_utc", ctypes.c_bool),
                ("batch_rows", ctypes.c_int64)]


_library = None


def library():
    global _library
    if _library is None:
        _library = ctypes.CDLL(str(LIBRARY))
    return _library


class Failure(Exception):
    pass


def _array(kind, values):
    return None if values is None else (kind * max(1, len(values)))(*values)


def read(path, columns=None, groups=None, ranges=None, batch_rows=0, int96_micros=False, jobs=2,
         memory=0, skip_crc=False):
    """The rows of a Parquet file as a pyarrow Table, read by tarn."""
    import pyarrow as pa

    options = ScanOptions(skip_crc=skip_crc, int96_micros=int96_micros, batch_rows=batch_rows)
    kept = [_array(ctypes.c_uint32, columns), _array(ctypes.c_uint32, groups),
            _array(RowRange, ranges)]
    if columns is not None:
        options.columns, options.column_count = kept[0], len(columns)
    if groups is not None:
        options.groups, options.group_count = kept[1], len(groups)
    if ranges is not None:
        options.ranges, options.range_count = kept[2], len(ranges)
    stream = (ctypes.c_uint8 * 64)()
    text = ctypes.create_string_buffer(2048)
    rc = library().bridge_read(os.fsencode(path), ctypes.byref(options), ctypes.c_uint(jobs),
                               ctypes.c_uint64(memory), ctypes.byref(stream), text,
                               ctypes.c_size_t(len(text)))
    if rc != 0:
        raise Failure(text.value.decode(errors="replace"))
    reader = pa.RecordBatchReader._import_from_c(ctypes.addressof(stream))
    try:
        return reader.read_all()
    except (pa.ArrowException, OSError) as error:
        raise Failure(str(error)) from error


class ChunkOptions(ctypes.Structure):
    _fields_ = [("codec", ctypes.c_int32), ("level", ctypes.c_int), ("page_v2", ctypes.c_bool),
                ("no_dictionary", ctypes.c_bool), ("dictionary_bytes_max", ctypes.c_uint64),
                ("page_bytes", ctypes.c_uint64), ("page_rows", ctypes.c_int64),
                ("crc", ctypes.c_bool), ("bloom", ctypes.c_bool), ("bloom_fpp", ctypes.c_double),
                ("plain_bytes", ctypes.c_bool), ("byte_stream_split", ctypes.c_bool), ("force_encoding", ctypes.c_bool),
                ("encoding", ctypes.c_int32),
                ("bound_bytes_max", ctypes.c_size_t)]


class WriteOptions(ctypes.Structure):
    _fields_ = [("key_values", ctypes.c_void_p), ("key_value_count", ctypes.c_size_t),
                ("created_by", ctypes.c_char_p), ("created_by_len", ctypes.c_size_t),
                ("no_index", ctypes.c_bool)]


class SinkOptions(ctypes.Structure):
    _fields_ = [("chunk", ChunkOptions), ("file", WriteOptions), ("group_bytes", ctypes.c_uint64),
                ("group_rows", ctypes.c_int64), ("store_arrow_schema", ctypes.c_bool),
                ("stored_schema", ctypes.c_void_p)]


CODECS = {"none": 0, "snappy": 1, "gzip": 2, "brotli": 4, "zstd": 6, "lz4_raw": 7}


def write(path, table, codec="zstd", arrow_schema=True, group_rows=0, group_bytes=0, jobs=2,
          max_chunksize=None, **chunk):
    """Writes a pyarrow Table (or reader) with tarn's sink."""
    options = SinkOptions(chunk=ChunkOptions(codec=CODECS[codec], **chunk), group_rows=group_rows,
                          group_bytes=group_bytes, store_arrow_schema=arrow_schema)
    reader = table.to_reader(max_chunksize=max_chunksize) if hasattr(table, "to_reader") else table
    stream = (ctypes.c_uint8 * 64)()
    reader._export_to_c(ctypes.addressof(stream))
    text = ctypes.create_string_buffer(2048)
    rc = library().bridge_write(os.fsencode(path), ctypes.byref(stream), ctypes.byref(options),
                                ctypes.c_uint(jobs), text, ctypes.c_size_t(len(text)))
    if rc != 0:
        raise Failure(text.value.decode(errors="replace"))


def write_rows(directory, reader, partition_by, memory=0):
    """Writes a reader into a partitioned directory with tarn_write_rows; gives the number of rows."""
    stream = (ctypes.c_uint8 * 64)()
    reader._export_to_c(ctypes.addressof(stream))
    text = ctypes.create_string_buffer(2048)
    rows = ctypes.c_int64()
    names = (ctypes.c_char_p * max(1, len(partition_by)))(*map(os.fsencode, partition_by))
    rc = library().bridge_write_rows(os.fsencode(directory), ctypes.byref(stream), names,
                                     ctypes.c_size_t(len(partition_by)), ctypes.c_uint64(memory), ctypes.byref(rows),
                                     text, ctypes.c_size_t(len(text)))
    if rc != 0:
        raise Failure(text.value.decode(errors="replace"))
    return rows.value


def preload():
    """Environment for a child in which the library loads."""
    environment = dict(os.environ)
    runtimes = []
    linked = subprocess.run(["ldd", str(LIBRARY)], capture_output=True, text=True, check=True).stdout
    for line in linked.splitlines():
        if "libasan" in line or "libubsan" in line or "libtsan" in line:
            runtimes.append(line.split("=>")[1].split()[0])
    if runtimes:
        environment["LD_PRELOAD"] = " ".join(runtimes)
        environment["ASAN_OPTIONS"] = "detect_leaks=0"
    return environment


def run_jobs(jobs, timeout=1200):
    """Does jobs (see bridge_child.py) in a child where the library loads; one answer each."""
    lines = "".join(json.dumps(job) + "\n" for job in jobs)
    done = subprocess.run([sys.executable, str(pathlib.Path(__file__).with_name("bridge_child.py"))],
                          input=lines, env=preload(), capture_output=True, text=True,
                          timeout=timeout, check=False)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0 and len(answers) == len(jobs), \
        f"job {jobs[min(len(answers), len(jobs) - 1)]}: {done.stderr[-6000:]}"
    return answers

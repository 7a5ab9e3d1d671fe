#!/usr/bin/env python3
"""Makes fuzz/corpus/hfile: HFiles in every form that is read (docs/format/hfile.md). Key i of n is "key-%05d", its value
"value %d of a file". Beside them lie files that real Hudi wrote into the metadata tables that tests/interop/test_hudi_metadata.py
makes: hudi_0_15_files (HBase's writer), hudi_1_0_column_stats (the same), hudi_1_2_record_index (Hudi's own).

  fuzz/make_hfile_seeds.py [DIRECTORY]"""
import base64
import gzip
import pathlib
import struct
import sys

GZIP, NONE = 1, 2


def castagnoli(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def vint(n):
    """Hadoop's."""
    if n <= 127:
        return bytes([n])
    body = n.to_bytes((n.bit_length() + 7) // 8, "big")
    return bytes([(-112 - len(body)) & 255]) + body


def field(tag, value):
    if isinstance(value, int):
        return varint(tag << 3) + varint(value)
    return varint(tag << 3 | 2) + varint(len(value)) + value


def full_key(row, kind=4):
    return struct.pack(">h", len(row)) + row + b"\0" + b"\x7f" + b"\xff" * 7 + bytes([kind])


class Writer:
    """checksum: 0 none, 2 CRC-32C. keys: how the index has them: full, bare, fake (shortened, as HBase does), varint (of full
    ones). fan: entries of an index block; None: one level. mvcc: the byte behind the values."""

    def __init__(self, codec, checksum=0, keys="full", fan=None, per_block=8, mvcc=True, minor=0):
        self.codec, self.checksum, self.keys, self.fan = codec, checksum, keys, fan
        self.per_block, self.mvcc, self.minor = per_block, mvcc, minor
        self.out = b""

    def block(self, magic, payload):
        packed = gzip.compress(payload, mtime=0) if self.codec == GZIP else payload
        data = 33 + len(packed)
        chunk = 64 if self.checksum else 16384
        sums = -(-data // chunk)
        head = magic + struct.pack(">iiqBii", len(packed) + 4 * sums, len(payload), -1, self.checksum, chunk, data)
        at, whole = len(self.out), head + packed
        tail = b"".join(struct.pack(">I", castagnoli(whole[i:i + chunk]) if self.checksum else 0) for i in range(0, data, chunk))
        self.out += whole + tail
        return at, len(self.out) - at

    def index_key(self, row, previous):
        if self.keys == "bare":
            return struct.pack(">h", len(row)) + row
        if self.keys == "fake" and previous is not None:
            cut = next(i for i in range(len(row)) if row[:i + 1] > previous)
            return full_key(row[:cut + 1], 255)
        return full_key(row)

    def root(self, entries, named=False):
        length = varint if self.keys == "varint" else vint
        payload = b"".join(struct.pack(">qi", at, size) + length(len(key)) + key for at, size, key in entries)
        if self.fan and not named:
            payload += bytes(16)
        return self.block(b"IDXROOT2", payload)

    def below(self, magic, entries):
        parts = [struct.pack(">qi", at, size) + key for at, size, key in entries]
        starts = [sum(map(len, parts[:i])) for i in range(len(parts) + 1)]
        return self.block(magic, struct.pack(f">i{len(starts)}i", len(parts), *starts) + b"".join(parts))

    def write(self, pairs, info=(), metas=()):
        entries, previous = [], None
        for first in range(0, len(pairs), self.per_block):
            piece = pairs[first:first + self.per_block]
            body = b"".join(struct.pack(">ii", len(full_key(k)), len(v)) + full_key(k) + v + b"\0" * self.mvcc for k, v in piece)
            entries.append((*self.block(b"DATABLK*", body), self.index_key(piece[0][0], previous)))
            previous = piece[-1][0]
        meta_entries = [(*self.block(b"METABLKc", value), name) for name, value in metas]
        levels = 1
        while self.fan and len(entries) > self.fan:
            magic = b"IDXLEAF2" if levels == 1 else b"IDXINTE2"
            pieces = [entries[i:i + self.fan] for i in range(0, len(entries), self.fan)]
            entries = [(*self.below(magic, piece), piece[0][2]) for piece in pieces]
            levels += 1
        load_at, _ = self.root(entries)
        self.root(meta_entries, named=True)
        told = {b"hfile.LASTKEY": full_key(pairs[-1][0])} if pairs else {}
        told |= {b"hfile.AVG_KEY_LEN": struct.pack(">i", 20), b"hfile.AVG_VALUE_LEN": struct.pack(">i", 18),
                 b"hfile.CREATE_TIME_TS": bytes(8), b"MAX_MEMSTORE_TS_KEY": bytes(8)}
        if self.mvcc:
            told[b"KEY_VALUE_VERSION"] = struct.pack(">i", 1)
        told |= dict(info)
        body = b"".join(field(1, field(1, k) + field(2, v)) for k, v in told.items())
        info_at, _ = self.block(b"FILEINF2", b"PBUF" + varint(len(body)) + body)
        first = 0 if pairs else (1 << 64) - 1
        trailer = (field(1, info_at) + field(2, load_at) + field(3, 0) + field(5, len(entries)) + field(6, len(meta_entries))
                   + field(7, len(pairs)) + field(8, levels) + field(9, first) + field(10, first)
                   + field(11, b"org.apache.hudi.io.storage.HoodieHBaseKVComparator") + field(12, self.codec))
        trailer = b'TRABLK"$' + varint(len(trailer)) + trailer
        return self.out + trailer + bytes(4092 - len(trailer)) + bytes([self.minor, 0, 0, 3])


def pairs(count, pad=0):
    return [(b"key-%05d" % i + b"x" * pad, b"value %d of a file" % i) for i in range(count)]


SCHEMA = (b"schema", b'{"type":"record","name":"R","fields":[{"name":"key","type":"string"}]}')
SEEDS = {
    "one": (Writer(NONE), (pairs(3), [SCHEMA])),
    "none_crc": (Writer(NONE, checksum=2, minor=3), (pairs(40), [SCHEMA])),
    "gzip_crc": (Writer(GZIP, checksum=2, minor=3), (pairs(40),)),
    "gzip_bare": (Writer(GZIP, keys="bare"), (pairs(40), [SCHEMA])),
    "fake_keys": (Writer(GZIP, keys="fake", minor=3), (pairs(40),)),
    "long_keys": (Writer(GZIP, keys="full", per_block=4), (pairs(20, 200),)),
    "long_keys_varint": (Writer(GZIP, keys="varint", per_block=4), (pairs(20, 200),)),
    "levels_2": (Writer(NONE, fan=4, per_block=3), (pairs(40),)),
    "levels_3": (Writer(GZIP, checksum=2, fan=3, per_block=2, keys="fake", minor=3), (pairs(40),)),
    "same_keys": (Writer(NONE, per_block=4), ([(b"same", b"value %d of a file" % i) for i in range(20)],)),
    "no_mvcc": (Writer(NONE, mvcc=False), (pairs(20),)),
    "meta": (Writer(GZIP), (pairs(3), [SCHEMA], [(b"bloomFilter", base64.b64encode(
        bytes.fromhex("ffffffff00000007010000009a4000200040080028200009000004100400210000"))), (b"other", b"x")])),
    "empty": (Writer(GZIP), ([], [SCHEMA])),
    "empty_meta": (Writer(GZIP), ([], [SCHEMA], [(b"other", b"x")])),
}

if __name__ == "__main__":
    into = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "corpus/hfile")
    into.mkdir(parents=True, exist_ok=True)
    for name, (writer, args) in SEEDS.items():
        (into / name).write_bytes(writer.write(*args))

"""Parquet files made by hand, byte by byte, as no library of today writes them; and footers taken apart.

Thrift's compact protocol: a struct is a list of (field id, type, value), a list (element type, values)."""
import struct as _struct

BOOL, I32, I64, BYTES, LIST, STRUCT = 1, 5, 6, 8, 9, 12
REQUIRED, OPTIONAL, REPEATED = 0, 1, 2
BOOLEAN, INT32, INT64, INT96, FLOAT, DOUBLE, BYTE_ARRAY, FIXED = range(8)


def _varint(n):
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def _value(kind, value):
    if kind in (I32, I64):
        return _varint((value << 1 ^ value >> 63) & (1 << 64) - 1)
    if kind == BYTES:
        value = value.encode() if isinstance(value, str) else value
        return _varint(len(value)) + value
    if kind == LIST:
        of, items = value
        head = bytes([len(items) << 4 | of]) if len(items) < 15 else bytes([0xF0 | of]) + _varint(len(items))
        return head + b"".join(_value(of, item) if of != BOOL else bytes([1 if item else 2]) for item in items)
    assert kind == STRUCT, kind
    out, last = bytearray(), 0
    for number, typ, field in value:
        code = (1 if field else 2) if typ == BOOL else typ
        out += bytes([number - last << 4 | code]) if 0 < number - last < 16 else bytes([code]) + _value(I32, number)
        out += b"" if typ == BOOL else _value(typ, field)
        last = number
    return bytes(out) + b"\0"


def thrift(fields):
    return _value(STRUCT, fields)


def untwist(data, at=0):
    """A struct as {field id: value}, structs and lists within likewise; and where it ends."""
    def varint():
        nonlocal at
        n = shift = 0
        while True:
            byte = data[at]
            at += 1
            n |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return n

    def value(kind):
        nonlocal at
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            at += 1
            return data[at - 1]
        if kind in (4, I32, I64):
            n = varint()
            return n >> 1 ^ -(n & 1)
        if kind == 7:
            at += 8
            return _struct.unpack("<d", data[at - 8:at])[0]
        if kind == BYTES:
            size = varint()
            at += size
            return bytes(data[at - size:at])
        if kind == LIST:
            head = data[at]
            at += 1
            count = head >> 4 if head >> 4 < 15 else varint()
            if head & 15 in (1, 2):
                at += count
                return [byte == 1 for byte in data[at - count:at]]
            return [value(head & 15) for _ in range(count)]
        out, last = {}, 0
        while data[at]:
            head = data[at]
            at += 1
            if head >> 4:
                last += head >> 4
            else:
                n = varint()
                last = n >> 1 ^ -(n & 1)
            out[last] = value(head & 15)
        at += 1
        return out

    return value(STRUCT), at


def footer(path):
    """FileMetaData of a file, as field numbers."""
    data = open(path, "rb").read()
    size, = _struct.unpack("<I", data[-8:-4])
    return untwist(data, len(data) - 8 - size)[0]


def element(name, repetition=None, physical=None, children=None, converted=None, length=None):
    fields = [] if physical is None else [(1, I32, physical)]
    fields += [] if length is None else [(2, I32, length)]
    fields += [] if repetition is None else [(3, I32, repetition)]
    fields += [(4, BYTES, name)]
    fields += [] if children is None else [(5, I32, children)]
    return fields + ([] if converted is None else [(6, I32, converted)])



def levels(values, high):
    """RLE, a run for each value: 4 bytes of length before it in pages of version 1."""
    if high == 0:
        return b""
    runs = b"".join(_varint(1 << 1) + bytes([v]) for v in values)
    return _struct.pack("<I", len(runs)) + runs


def plain(physical, values):
    if physical == BYTE_ARRAY:
        values = [v.encode() if isinstance(v, str) else v for v in values]
        return b"".join(_struct.pack("<I", len(v)) + v for v in values)
    if physical in (INT96, FIXED):
        return b"".join(values)
    return _struct.pack("<%d%s" % (len(values), {INT32: "i", INT64: "q", FLOAT: "f", DOUBLE: "d"}[physical]), *values)


def page(body, entries, squeeze=None, claims=None):
    """A data page of version 1, PLAIN; `claims` replaces fields of its header."""
    packed = squeeze(body) if squeeze else body
    fields = {1: (I32, 0), 2: (I32, len(body)), 3: (I32, len(packed)),
              5: (STRUCT, [(1, I32, entries), (2, I32, 0), (3, I32, 3), (4, I32, 3)])}
    fields.update(claims or {})
    return thrift([(number, *fields[number]) for number in sorted(fields)]) + packed


def column(path, physical, pages, entries, codec=0, statistics=None, claims=None):
    """What build() takes: one chunk. `path` is dotted."""
    return {"path": path.split("."), "physical": physical, "pages": pages, "entries": entries, "codec": codec,
            "statistics": statistics, "claims": claims or {}}


def simple(name, physical, values, rep=None, definition=None, max_rep=0, max_def=0, **options):
    """A column of one page; levels as lists where the column has them."""
    entries = len(rep or definition or values)
    body = levels(rep or [], max_rep) + levels(definition or [], max_def) + plain(physical, values)
    return column(name, physical, page(body, entries), entries, **options)


def build(elements, columns, rows, keys=None, writer="hand version 1.0"):
    """The bytes of a file of one row group."""
    out, chunks = bytearray(b"PAR1"), []
    for c in columns:
        meta = {1: (I32, c["physical"]), 2: (LIST, (I32, [0, 3])), 3: (LIST, (BYTES, c["path"])), 4: (I32, c["codec"]),
                5: (I64, c["entries"]), 6: (I64, len(c["pages"])), 7: (I64, len(c["pages"])), 9: (I64, len(out))}
        if c["statistics"] is not None:
            meta[12] = (STRUCT, c["statistics"])
        meta.update(c["claims"])
        chunks.append([(2, I64, len(out)), (3, STRUCT, [(number, *meta[number]) for number in sorted(meta)])])
        out += c["pages"]
    group = [(1, LIST, (STRUCT, chunks)), (2, I64, len(out) - 4), (3, I64, rows)]
    fields = [(1, I32, 1), (2, LIST, (STRUCT, elements)), (3, I64, rows), (4, LIST, (STRUCT, [group]))]
    if keys:
        fields.append((5, LIST, (STRUCT, [[(1, BYTES, k), (2, BYTES, v)] for k, v in keys.items()])))
    end = thrift(fields + [(6, BYTES, writer)])
    return bytes(out) + end + _struct.pack("<I", len(end)) + b"PAR1"

"""Arrow values by value, whatever their type's width or layout; and random tables from a seed."""
import datetime
import decimal
import random

import pyarrow as pa

FACTOR = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


def plain(array):
    """Python values: times as integer nanoseconds, floats as text, maps and structs as tuples."""
    if isinstance(array, pa.ChunkedArray):
        return [value for chunk in array.chunks for value in plain(chunk)]
    kind = array.type
    valid = array.is_valid().to_pylist()
    if isinstance(array, pa.ExtensionArray):
        return plain(array.storage)
    if pa.types.is_dictionary(kind):
        return plain(array.dictionary_decode())
    if pa.types.is_date32(kind):
        return [v if v is None else v * 86400 * 10**9 for v in array.cast(pa.int32()).to_pylist()]
    if pa.types.is_date64(kind):
        return [v if v is None else v * 10**6 for v in array.cast(pa.int64()).to_pylist()]
    if pa.types.is_time32(kind):
        return [v if v is None else v * FACTOR[kind.unit]
                for v in array.cast(pa.int32()).to_pylist()]
    if pa.types.is_timestamp(kind) or pa.types.is_time64(kind):
        return [v if v is None else v * FACTOR[kind.unit]
                for v in array.cast(pa.int64()).to_pylist()]
    if pa.types.is_duration(kind):
        return array.cast(pa.int64()).to_pylist()
    if pa.types.is_floating(kind):
        return [v if v is None else repr(float(v)) for v in array.to_pylist()]
    if pa.types.is_struct(kind):
        children = [plain(array.field(i)) for i in range(kind.num_fields)]
        rows = zip(*children) if children else [()] * len(array)
        return [row if ok else None for ok, row in zip(valid, rows)]
    if pa.types.is_map(kind):
        pairs = list(zip(plain(array.keys), plain(array.items)))
        at = array.offsets.to_pylist()
        return [pairs[at[i]:at[i + 1]] if ok else None for i, ok in enumerate(valid)]
    if pa.types.is_fixed_size_list(kind):
        values, size = plain(array.values), kind.list_size
        at = [(array.offset + i) * size for i in range(len(array))]
        return [values[at[i]:at[i] + size] if ok else None for i, ok in enumerate(valid)]
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        values, at = plain(array.values), array.offsets.to_pylist()
        return [values[at[i]:at[i + 1]] if ok else None for i, ok in enumerate(valid)]
    if isinstance(kind, (pa.ListViewType, pa.LargeListViewType)):
        values, at = plain(array.values), array.offsets.to_pylist()
        sizes = array.sizes.to_pylist()
        return [values[at[i]:at[i] + sizes[i]] if ok else None for i, ok in enumerate(valid)]
    return array.to_pylist()


def differing(name, left, right, limit=3):
    """Text about the first rows in which two columns differ; None when they are equal."""
    a, b = plain(left), plain(right)
    if a == b:
        return None
    if len(a) != len(b):
        return f"{name}: {len(a)} rows and {len(b)} rows"
    rows = [i for i in range(len(a)) if a[i] != b[i]][:limit]
    return f"{name}: {left.type} and {right.type}: " + "; ".join(
        f"row {i}: {a[i]!r} and {b[i]!r}" for i in rows)


def tables_differ(left, right):
    """Text about columns in which two tables differ; "" when they are equal."""
    if left.num_columns != right.num_columns:
        return f"{left.num_columns} columns and {right.num_columns}"
    found = [differing(left.schema.field(i).name, left.column(i), right.column(i))
             for i in range(left.num_columns)]
    return "\n".join(text for text in found if text)


LEAVES = [pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(),
          pa.uint32(), pa.uint64(), pa.float16(), pa.float32(), pa.float64(), pa.utf8(),
          pa.large_utf8(), pa.binary(), pa.binary(7), pa.date32(), pa.date64(), pa.time32("s"),
          pa.time32("ms"), pa.time64("us"), pa.time64("ns"), pa.timestamp("s"),
          pa.timestamp("ms", "UTC"), pa.timestamp("us", "Europe/Berlin"), pa.timestamp("us"),
          pa.timestamp("ns"), pa.duration("us"), pa.decimal128(5, 2), pa.decimal128(18, 0),
          pa.decimal128(38, 10), pa.decimal256(60, 3), pa.null(), pa.string_view(),
          pa.dictionary(pa.int16(), pa.utf8())]


def random_type(rng, depth, leaves=LEAVES):
    if depth == 0 or rng.random() < 0.55:
        return rng.choice(leaves)
    kind = rng.choice(["list", "struct", "map", "list"])
    if kind == "list":
        return pa.list_(pa.field("element", random_type(rng, depth - 1, leaves)))
    if kind == "map":
        return pa.map_(pa.utf8(), random_type(rng, depth - 1, leaves))
    return pa.struct([pa.field(f"f{i}", random_type(rng, depth - 1, leaves))
                      for i in range(rng.randint(1, 3))])


def bounds(kind):
    bits, signed = kind.bit_width, pa.types.is_signed_integer(kind)
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)


def random_value(rng, kind, nulls=0.2):
    if pa.types.is_null(kind) or rng.random() < nulls:
        return None
    if pa.types.is_dictionary(kind):
        return "word%d" % rng.randint(0, 9)
    if pa.types.is_boolean(kind):
        return rng.random() < 0.5
    if pa.types.is_integer(kind):
        low, high = bounds(kind)
        return rng.choice([low, high, rng.randint(low, high), rng.randint(0, 100)])
    if pa.types.is_float16(kind):
        return rng.choice([0.0, -0.0, 1.5, -2.25, float("inf"), float("nan")])
    if pa.types.is_float32(kind):
        return rng.choice([0.0, -0.0, 1.5, -2.25e10, float("inf"), float("nan")])
    if pa.types.is_floating(kind):
        return rng.choice([0.0, -0.0, rng.random(), -2.25e100, float("-inf"), float("nan")])
    if pa.types.is_fixed_size_binary(kind):
        return rng.randbytes(kind.byte_width)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return rng.randbytes(rng.choice([0, 1, 5, 40]))
    if pa.types.is_decimal(kind):
        digits = 10**rng.randint(1, kind.precision) - 1
        return decimal.Decimal(rng.choice([-digits, digits, rng.randint(-digits, digits), 0])
                               ).scaleb(-kind.scale, decimal.Context(prec=80))
    if pa.types.is_date(kind):
        return datetime.date(1970, 1, 1) + datetime.timedelta(days=rng.randint(-200000, 200000))
    if pa.types.is_time(kind):
        return rng.randint(0, 86399) * 10**9 // FACTOR[kind.unit]
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        return rng.randint(-4 * 10**9, 4 * 10**9) * 10**9 // FACTOR[kind.unit]
    if pa.types.is_struct(kind):
        return {f.name: random_value(rng, f.type, nulls) for f in kind}
    if pa.types.is_map(kind):
        return [(f"k{i}", random_value(rng, kind.item_type, nulls))
                for i in range(rng.choice([0, 1, 3]))]
    if pa.types.is_list(kind):
        return [random_value(rng, kind.value_type, nulls) for _ in range(rng.choice([0, 1, 2, 5]))]
    return rng.choice(["", "a", "häuser", "x" * 30, "%d" % rng.randint(0, 10**6)])


def random_table(seed, columns=5, rows=200, depth=3, leaves=LEAVES):
    rng = random.Random(seed)
    names, arrays = [], []
    for i in range(columns):
        kind = random_type(rng, depth, leaves)
        nulls = rng.choice([0.0, 0.1, 0.6])
        arrays.append(pa.array([random_value(rng, kind, nulls) for _ in range(rows)], kind))
        names.append(f"c{i}")
    return pa.table(arrays, names=names)


def holds(kind, test):
    """Whether a type or one below it passes the test."""
    if test(kind):
        return True
    if pa.types.is_dictionary(kind):
        return holds(kind.value_type, test)
    return any(holds(kind.field(i).type, test) for i in range(kind.num_fields))

"""Tables that tarn and real Hudi write to in turns: the choices a table is made by, rows of every type, what the table
then holds as a dictionary, and both writers."""
import dataclasses
import datetime
import decimal
import itertools
import math

import pyarrow as pa
import pyarrow.parquet as pq

import hudi_peers

D = decimal.Decimal
UTC = datetime.timezone.utc
DEFAULT_PATH = "__HIVE_DEFAULT_PARTITION__"
EVENT_PAYLOAD = "org.apache.hudi.common.model.DefaultHoodieRecordPayload"
GENERATORS = {"simple": "SimpleKeyGenerator", "complex": "ComplexKeyGenerator",
              "non_partition": "NonpartitionedKeyGenerator", "timestamp": "TimestampBasedKeyGenerator"}
TIMEBASED = {"hoodie.keygen.timebased.timestamp.type": "EPOCHMILLISECONDS",
             "hoodie.keygen.timebased.output.dateformat": "yyyy/MM/dd",
             "hoodie.keygen.timebased.timezone": "UTC"}
SCHEMA = pa.schema([
    ("id", pa.string()), ("n", pa.int32()), ("dt", pa.string()), ("region", pa.string()), ("ev", pa.int64()),
    ("ts", pa.int64()), ("tag", pa.string()), ("flag", pa.bool_()), ("small", pa.int16()), ("tiny", pa.int8()),
    ("whole", pa.int32()), ("long", pa.int64()), ("f", pa.float32()), ("d", pa.float64()),
    ("price", pa.decimal128(10, 2)), ("big", pa.decimal128(38, 18)), ("day", pa.date32()),
    ("at", pa.timestamp("us", "UTC")), ("raw", pa.binary()),
    ("parts", pa.list_(pa.struct([("a", pa.string()), ("b", pa.int32())]))),
    ("counts", pa.map_(pa.string(), pa.int64())),
    ("inner", pa.struct([("x", pa.float64()), ("y", pa.string()), ("z", pa.list_(pa.int64()))])),
    ("nothing", pa.string())])


@dataclasses.dataclass(frozen=True)
class Chain:
    version: int
    generator: str
    paths: str  # plain, hive, encoded (hive style too)
    ordering: bool
    meta: bool

    def __str__(self):
        return "-".join([f"v{self.version}", self.generator, self.paths, "ordering" if self.ordering else "arrival",
                         "meta" if self.meta else "bare"])

    @property
    def keys(self):
        return ["id", "n"] if self.generator == "complex" else ["id"]

    @property
    def partitions(self):
        return {"simple": ["dt"], "complex": ["dt", "region"], "non_partition": [], "timestamp": ["ev"]}[self.generator]

    @property
    def possible(self):
        """Hudi knows no virtual keys with times as paths, and 0.15.0 cannot read its own tables of encoded ones."""
        return self.generator != "timestamp" or self.meta and (self.version, self.paths) != (6, "encoded")


CHOICES = ((6, 8, 9), tuple(GENERATORS), ("plain", "hive", "encoded"), (True, False), (True, False))


def pairs_of(chain):
    values = dataclasses.astuple(chain)
    return {(a, values[a], b, values[b]) for a, b in itertools.combinations(range(len(values)), 2)}


def all_chains():
    return [chain for chain in (Chain(*choice) for choice in itertools.product(*CHOICES)) if chain.possible]


def some_chains():
    """Few chains that have each pair of choices, the one with most new pairs first."""
    rest = all_chains()
    left = set().union(*(pairs_of(chain) for chain in rest))
    chosen = []
    while left:
        best = max(rest, key=lambda chain: len(pairs_of(chain) & left))
        chosen.append(best)
        left -= pairs_of(best)
    return sorted(chosen, key=lambda chain: chain.version)


# Rows and the model

IDS = ["plain", "a,b:c", "id:1,n:2", "Köln", "\ue000", "\U00020000", "snow ☃", "x/y", "%2F", "__null__ not", "tab\there", "'q\"", " "]
DTS = ["2026-01-01", "2026-01-02"]
ODD_DTS = ["2026-01-01", "x/y=1 %", "a:b*c", "Köln"]


def row(chain, i, ts, tag):
    """Row i, the same in all but ts and tag whenever it is made."""
    null = i % 5 == 4
    dts = ODD_DTS if chain.paths == "encoded" else DTS

    def some(value):
        return None if null else value

    return {"id": IDS[i] if i < len(IDS) else f"key-{i:05d}", "n": i % 7,
            # Spark takes the word for null in a plain path for a value
            "dt": None if i % 13 == 12 and chain.paths != "plain" else dts[i % len(dts)], "region": f"r{i % 2}",
            "ev": 1767225600000 + i % 3 * 86400000 + i, "ts": ts, "tag": tag, "flag": some(i % 2 == 0), "small": some(i - 9),
            "tiny": some(i % 100 - 50), "whole": some(-i * 1000003 % 2**31), "long": some((-1)**i * (2**63 - 1 - i)),
            "f": some([0.5, -0.0, 2.0**100, math.inf, math.nan][i % 5]), "d": some([0.1, -0.0, 1e300, -math.inf, math.nan][i % 5]),
            "price": some(D(i - 20).scaleb(-2)), "big": some(D(f"-{10**19 + i}.{i:018d}")),
            "day": some(datetime.date(1600 + i % 500, 2, 28)),
            "at": some(datetime.datetime(1900 + i % 150, 5, 12, 10, 0, 1, 123456 + i, UTC)),
            "raw": some(bytes([0, 255, i % 256])), "parts": some([{"a": f"p{k}", "b": None if k == 1 else k} for k in range(i % 3)]),
            "counts": some([(f"k{k}", None if k == 1 else k) for k in range(i % 4)]),
            "inner": some({"x": i / 3, "y": "" if i % 2 else None, "z": [i, -i]}), "nothing": "" if i % 3 == 0 else None}


def key_text(chain, r):
    if len(chain.keys) == 1:
        return r["id"]
    return ",".join(f"{name}:{'__null__' if r[name] is None else r[name]}" for name in chain.keys)


def path_text(chain, r):
    levels = []
    for name in chain.partitions:
        value = r[name]
        if chain.generator == "timestamp":
            value = datetime.datetime.fromtimestamp(value / 1000, UTC).strftime("%Y/%m/%d")
        if chain.paths == "encoded":
            value = value and "".join(f"%{ord(c):02X}" if c in "\"#%'*/:=?\\{[]^" else c for c in value)
        value = value or DEFAULT_PATH
        levels.append(value if chain.paths == "plain" else f"{name}={value}")
    return "/".join(levels)


class Model:
    """What a table holds: rows by partition path and key."""

    def __init__(self, chain):
        self.chain, self.rows = chain, {}

    def place(self, r):
        return path_text(self.chain, r), key_text(self.chain, r)

    def upsert(self, rows):
        for r in rows:
            old = self.rows.get(self.place(r))
            if old is None or not self.chain.ordering or r["ts"] >= old["ts"]:
                self.rows[self.place(r)] = r

    def delete(self, rows):
        for r in rows:
            self.rows.pop(self.place(r), None)


def plain(value):
    """A value that compares as bits do: NaN equals NaN, and -0.0 does not equal 0.0."""
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else repr(value)
    if isinstance(value, dict):
        return tuple((name, plain(inner)) for name, inner in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(plain(inner) for inner in value)
    if isinstance(value, datetime.datetime):
        return value.astimezone(UTC)
    return value


def type_text(kind):
    """A type without what readers are free in: names within lists and maps, sizes of offsets, zones."""
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return f"list<{type_text(kind.value_type)}>"
    if pa.types.is_map(kind):
        return f"map<{type_text(kind.key_type)}, {type_text(kind.item_type)}>"
    if pa.types.is_struct(kind):
        return "struct<" + ", ".join(f"{field.name}: {type_text(field.type)}" for field in kind) + ">"
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return "string"
    if pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind):
        return "binary"
    if pa.types.is_timestamp(kind):
        return f"timestamp[{kind.unit}, {'UTC' if kind.tz else 'none'}]"
    if pa.types.is_int8(kind) or pa.types.is_int16(kind):
        return "int32"  # Avro knows no less, and so Hudi
    return str(kind)


def check_rows(chain, model, got, who):
    """Rows and types are those wanted; meta columns say whose row it is."""
    # Spark takes a column of times that is the path for the path's text.
    names = [name for name in SCHEMA.names if who.split()[0] != "Spark" or chain.generator != "timestamp" or name != "ev"]
    for field in (SCHEMA.field(name) for name in names):
        assert type_text(got.schema.field(field.name).type) == type_text(field.type), (who, field.name)
    found = {}
    for r in got.to_pylist():
        place = (r["_hoodie_partition_path"], r["_hoodie_record_key"]) if chain.meta else model.place(r)
        assert place not in found, f"{who}: {place} twice"
        found[place] = r
    assert sorted(found) == sorted(model.rows), who
    for place, want in model.rows.items():
        for name in names:
            assert plain(found[place][name]) == plain(want[name]), (who, place, name)
        if chain.meta:
            assert found[place]["_hoodie_commit_seqno"].startswith(found[place]["_hoodie_commit_time"] + "_"), who
            assert found[place]["_hoodie_file_name"].endswith(".parquet"), who


# Both sides

def tarn_words(chain):
    words = ["--key", ",".join(chain.keys), "--table-version", str(chain.version), "--keygen", chain.generator]
    words += ["--partition", ",".join(chain.partitions)] if chain.partitions else []
    words += ["--ordering", "ts"] if chain.ordering else []
    words += ["--hive-style"] if chain.paths != "plain" else []
    words += ["--url-encode"] if chain.paths == "encoded" else []
    words += [] if chain.meta else ["--no-meta-fields"]
    if chain.generator == "timestamp":
        words += [word for name, value in TIMEBASED.items() for word in ("--set", f"{name}={value}")]
    return words


def spark_words(chain, metadata=False, payload=True):
    options = {"hoodie.metadata.enable": str(metadata).lower(), "hoodie.populate.meta.fields": str(chain.meta).lower(),
               "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen." + GENERATORS[chain.generator],
               "hoodie.datasource.write.partitionpath.urlencode": str(chain.paths == "encoded").lower(),
               # what only takes time here
               "hoodie.upsert.shuffle.parallelism": "2", "hoodie.delete.shuffle.parallelism": "2",
               "hoodie.embed.timeline.server": "false", "hoodie.write.markers.type": "DIRECT",
               "hoodie.archive.automatic": "false"}
    if chain.generator == "timestamp":
        options.update(TIMEBASED)
    words = ["--key", ",".join(chain.keys), "--partition", ",".join(chain.partitions)]
    if chain.ordering:
        words += ["--precombine", "ts"]
        if chain.version == 6 and payload:
            options["hoodie.datasource.write.payload.class"] = EVENT_PAYLOAD
    words += ["--hive-style"] if chain.paths != "plain" else []
    words += [] if chain.version == 6 else ["--table-version", str(chain.version)]
    return words + [word for name, value in options.items() for word in ("--opt", f"{name}={value}")]


def save(folder, name, rows):
    path = str(folder / f"{name}.parquet")
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), path)
    return path


class Table:
    """One table that both sides write to, and its model."""

    def __init__(self, chain, folder, tarn, hudi):
        self.chain, self.folder, self.tarn, self.hudi = chain, folder, tarn, hudi
        self.path = folder / "table"
        self.model = Model(chain)
        self.step = 0

    def input(self, rows):
        self.step += 1
        return save(self.folder, f"in{self.step}", rows)

    def tarn_upsert(self, rows, *words, want=0):
        out = self.tarn("write", str(self.path), self.input(rows), "--op", "upsert", *tarn_words(self.chain), *words, want=want)
        if want == 0:
            self.model.upsert(rows)
        return out

    def tarn_delete(self, rows):
        self.tarn("write", str(self.path), self.input(rows), "--op", "delete", *tarn_words(self.chain))
        self.model.delete(rows)

    def tarn_op(self, op, rows, *words):
        """Writes with the options of the table alone, once there is one. The model is the caller's."""
        made = [] if self.path.exists() else tarn_words(self.chain)
        self.tarn("write", str(self.path), *([self.input(rows)] if rows else []), "--op", op, *made, *words)

    def spark(self, op, rows, *words, metadata=False):
        self.hudi("write", "--table", self.path, "--input", self.input(rows), "--op", op, *spark_words(self.chain, metadata), *words)
        getattr(self.model, op)(rows)

    def check(self, who="Spark"):
        self.step += 1
        out = str(self.folder / f"out{self.step}.parquet")
        if who == "Spark":
            got = self.hudi.rows(self.path, out, "--opt", "hoodie.metadata.enable=false")
        elif who == "hudi-rs" or "--meta" not in self.tarn("read", "--help"):
            got = hudi_peers.rust_rows(self.path)
        else:
            self.tarn("read", str(self.path), "--meta", "-o", out)
            got = pq.read_table(out)
        check_rows(self.chain, self.model, got, f"{who} at step {self.step}")

    def instants(self, action):
        return sorted(path.name for path in (self.path / ".hoodie").rglob("*." + action) if "metadata" not in path.parts)

# One screen on a file, and on a directory; all of it as JSON.
G=$TARN_SOURCE/tests/golden/parquet
cp $G/flat_index_v1_groups.parquet x.parquet
tarn show x.parquet
tarn show x.parquet --full | head -20
tarn show x.parquet --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(d["kind"], d["version"], d["rows"], len(d["groups"]), [c["name"] for c in d["columns"]])
assert sum(g["rows"] for g in d["groups"]) == d["rows"]
assert all(len(g["columns"]) == len(d["columns"]) for g in d["groups"])'
mkdir -p lake/p=1 lake/p=2
cp x.parquet lake/p=1/a.parquet
cp x.parquet lake/p=2/a.parquet
: >lake/_SUCCESS
tarn show lake
tarn show nowhere || echo "exit $?"
echo text >y
tarn show y || echo "exit $?"

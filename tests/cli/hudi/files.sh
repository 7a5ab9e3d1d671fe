# File groups: latest slices, what is not seen, the history of one; columns; one screen.
python3 $TARN_SOURCE/tests/cli/hudi/make_table.py 6 t6
python3 $TARN_SOURCE/tests/cli/hudi/make_table.py 8 t8
tarn files t8
tarn files t6 --all
tarn files t6 --as-of 20240512103002000 --small 5K
tarn files t8 --group aaaaaaaa-0000-4000-8000-000000000001-0 -q
tarn files t8 --partition dt=2024-05-12 --no-rows -q
tarn files t8 --all --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(d["kind"], d["version"], d["groups"], sorted((f["note"], f["rows"]) for f in d["files"]))'
tarn files t8 --group nothing || echo "exit $?"
tarn files t8 --partition dt=2024 || echo "exit $?"
tarn schema t8
tarn schema t6 --meta | head -6
tarn schema t8 --avro
tarn schema t8 --json
tarn show t8
tarn show t6 --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(d["kind"], d["version"], d["merge_mode"], d["rows"], d["pending"], len(d["findings"]), len(d["last"]))'
# a plain directory has files and columns, too
mkdir -p lake/p=1
cp $TARN_SOURCE/tests/golden/parquet/flat_index_v1_groups.parquet lake/p=1/a.parquet
tarn files lake
tarn schema lake
tarn files lake --group x || echo "exit $?"
tarn schema lake --avro || echo "exit $?"

# The instants of a table, of both layouts of the timeline.
python3 $TARN_SOURCE/tests/cli/hudi/make_table.py 6 t6
python3 $TARN_SOURCE/tests/cli/hudi/make_table.py 8 t8
tarn timeline t6
tarn timeline t8
tarn timeline t8 --counts --desc --limit 4
tarn timeline t8 --pending -q
tarn timeline t6 --action commit --action clean -q
tarn timeline t8 --pending --json
tarn timeline t6 --json --counts | python3 -c '
import json, sys
d = json.load(sys.stdin)
assert (d["kind"], d["version"], d["active"], d["pending"]) == ("timeline", 1, 6, 2)
first = d["instants"][0]
assert first["counts"]["inserted"] == 1800 and first["counts"]["files_added"] == 2, first
assert d["instants"][2]["counts"]["groups_replaced"] == 2
print([i["state"] for i in d["instants"]])'
tarn timeline t8 --action merge || echo "exit $?"
mkdir plain
tarn timeline plain || echo "exit $?"

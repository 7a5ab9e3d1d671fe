# What ails a Hudi table: its screen, findings with cures, and the exit code for a monitor.
print() { sed -n '/finding/,$p' | sed -E 's/[0-9]{17}/INSTANT/g; s/[0-9a-f-]{36}-0/GROUP/g'; }
look() { (tarn doctor $1 || true) | print; }
put() { tarn write t - --key id --partition p --op "$1" "${@:2}" >made; }
echo '{"id":"1","p":"a"}' | put insert
echo "- healthy"
look t
echo "- small files, a dead write and what it left"
for n in 2 3 4; do echo '{"id":"'$n'","p":"a"}' | put bulk_insert; done
cp t/.hoodie/$(ls t/.hoodie | grep requested | tail -1) t/.hoodie/20260101000000000.commit.requested
cp $(ls t/a/*.parquet | tail -1) t/a/bbbbbbbb-0000-4000-8000-000000000001-0_0-1-2_20260101000000000.parquet
look t
tarn doctor t >screen || echo "exit $?"
head -2 screen | tail -1
(tarn doctor t --json || true) | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(d["kind"], [(f["severity"], f["kind"]) for f in d["findings"]])'
tarn doctor t --deep || echo "exit $?"
echo "- the same, in short, on tarn show"
tarn show t 2>&1 >screen | sed -E 's/[0-9]{17}/INSTANT/g'
echo "- a metadata table that differs from the directories"
python3 $TARN_SOURCE/tests/cli/hudi/make_table.py 8 m
python3 $TARN_SOURCE/tests/cli/hudi/make_metadata.py m
look m
rm m/dt=2024-05-11/*103001000.parquet
look m

# What ails a Hudi table: its screen, findings with cures, and the exit code for a monitor.
print() { sed -n '/finding/,$p' | sed -E 's/[0-9]{17}/INSTANT/g; s/[0-9a-f-]{36}-0/GROUP/g; s/begun [0-9]+ \w+ ago/begun SOME TIME ago/'; }
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
echo "- a writer with a heartbeat, and files that no write on the timeline explains"
mkdir -p t/.hoodie/.heartbeat
touch t/.hoodie/.heartbeat/20260101000000000
look t
rm t/.hoodie/20260101000000000.commit.requested
mv t/a/bbbbbbbb*_20260101000000000.parquet t/a/bbbbbbbb-0000-4000-8000-000000000001-0_0-1-2_20990101000000000.parquet
look t
echo "- its metadata table is gone"
rm -r m/.hoodie/metadata
look m | head -4
echo "- nothing was changed"
before=$(find t m | sort | md5sum)
tarn doctor t >screen || true
tarn doctor m >screen || true
test "$before" = "$(find t m | sort | md5sum)" && echo same
echo "- a directory of tables: each by name"
mkdir -p lake/raw && mv t lake/raw/t && mv m lake/m && echo '{"id":"1"}' | tarn write lake/ok - --key id >made
(tarn doctor lake || echo "exit $?") | sed -E 's/ +/ /g'
(tarn doctor lake --json || true) | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(d["kind"], [(t["path"].split("/")[-1], t["problem"], len(t["findings"])) for t in d["tables"]])'
rm -r lake/raw lake/m
tarn doctor lake >screen
mkdir -p delta/_delta_log
tarn doctor delta || echo "exit $?"

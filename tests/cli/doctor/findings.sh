# A sick directory, a healthy one, and the numbers as JSON.
G=$TARN_SOURCE/tests/golden/parquet
mkdir -p "lake/p=1" "lake/p=it's" lake/p=1/-tmp.HIVE_UNION_SUBDIR_1.moved
for i in 1 2 3 4; do cp $G/int96.parquet "lake/p=it's/$i.parquet"; done
cp $G/int96.parquet lake/p=1/a.parquet
: >lake/p=1/empty.parquet
echo 'a,b,c,d,e,f,g,h' >lake/p=1/table.parquet
echo note >lake/p=1/notes.txt
: >lake/_SUCCESS
tarn doctor lake || echo "exit $?"
tarn doctor lake --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(d["kind"], d["files"], d["damaged"], d["name_node_bytes"], d["name_node_bytes_after"])
for f in d["findings"]:
    print(f["severity"], f["kind"], f["cure"])' || echo "exit $?"
rm -r lake/p=1/-tmp* lake/p=1/empty.parquet lake/p=1/table.parquet lake/p=it*/[234].parquet
tarn doctor lake | tail -2
tarn doctor nowhere || echo "exit $?"

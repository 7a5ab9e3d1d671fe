# The blocks of a log of a Hudi table: of changes, deletes, a rollback, and what is torn.
C=$TARN_SOURCE/fuzz/corpus/log
cp $C/data_avro .f_1.log.1_0-1-1
tarn show .f_1.log.1_0-1-1 | sed "s|^/.*/||"
for f in rollback two orders compacted torn runs metadata; do
    echo "== $f"
    tarn show $C/$f | tail -n +2
done
head -c 200 $C/data_delete >cut
tarn show cut | tail -n +2
tarn show $C/two --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(d["kind"], d["version"], d["file_bytes"])
for b in d["blocks"]:
    print(b)
assert sum(b["bytes"] for b in d["blocks"]) == d["file_bytes"]'
printf '#HUDI#\0\0\0\0\0\0\0\50\0\0\0\2' >new
head -c 40 /dev/zero >>new
tarn show new | tail -n +2
printf '#HUDI#\0\0\0\0\0\0\0\40\0\0\0\1\0\0\0\11\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\46' >kind
tarn show kind || echo "exit $?"

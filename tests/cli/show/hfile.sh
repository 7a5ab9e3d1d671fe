# HFiles: entries, blocks, keys, the file info; damaged ones name the byte.
cp $TARN_SOURCE/fuzz/corpus/hfile/levels_3 a.hfile
cp $TARN_SOURCE/fuzz/corpus/hfile/meta b.hfile
cp $TARN_SOURCE/fuzz/corpus/hfile/empty c.hfile
tarn show a.hfile
tarn show b.hfile --full
tarn show c.hfile --json
# without entries it begins with another block; without any it still has its trailer
cp $TARN_SOURCE/fuzz/corpus/hfile/empty_meta e.hfile
tarn show e.hfile
printf XXXXXXXX | dd of=e.hfile bs=1 conv=notrunc status=none
tarn show e.hfile || echo "exit $?"
tarn show a.hfile --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(d["kind"], d["entries"], d["levels"], d["first_key"], d["last_key"], len(d["keys"]))'
head -c 5000 a.hfile > d.hfile
tarn show d.hfile || echo "exit $?"
printf X | dd of=a.hfile bs=1 seek=40 conv=notrunc status=none
tarn show a.hfile || echo "exit $?"

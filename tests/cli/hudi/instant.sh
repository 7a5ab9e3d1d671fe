# Everything that the files of an instant say.
python3 $TARN_SOURCE/tests/cli/hudi/make_table.py 6 t6
python3 $TARN_SOURCE/tests/cli/hudi/make_table.py 8 t8
tarn instant t8 20240512103003000
tarn instant t6 20240512103002000 | head -3
# other actions as they are stored
tarn instant t6 20240512103004
tarn instant t8 20240512103006
# a commit that was never completed says nothing
tarn instant t8 20240512103005
tarn instant t8 20240512103002000 --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(d["kind"], d["version"], d["instant"]["action"], [s["path"] for s in d["stats"]])
print(d["files"][2]["contents"]["operationType"], d["extra"][1])'
tarn instant t8 2024 || echo "exit $?"
tarn instant t8 20240512103009000 || echo "exit $?"
tarn instant t8 20230512103009000 || echo "exit $?"
tarn instant t8 20240512103002000 --action clean || echo "exit $?"
tarn instant t8 yesterday || echo "exit $?"

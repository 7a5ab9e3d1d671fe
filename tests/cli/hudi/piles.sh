# What piles up in a table is told; splits and rollbacks know the table.
print() { sed -E 's/[0-9.]+ m?s$/TIME/; s/[0-9.]+ (KiB|B)\b/SIZE/g; s/ +SIZE/ SIZE/g; s/[0-9]{17}/INSTANT/g'; }
for n in $(seq 1 32); do echo '{"id":"1","p":"a","n":'$n'}' | tarn write t - --key id --partition p >made; done
tarn show t 2>&1 | grep -E '^(tarn: )?warning|CALL' | print
echo "- splits are of the latest files"
tarn splits t --json | python3 -c '
import json, sys
splits = [json.loads(line) for line in sys.stdin]
text = json.dumps(splits)
print(text.count(".parquet"), "file")'
tarn files t | grep -c parquet
echo "- a rollback by the first digits"
latest=$(ls t/.hoodie/*.commit | sort | tail -1 | xargs basename | cut -c1-17)
tarn rollback t --instant 2 2>&1 | sed -E 's/[0-9]{17}/INSTANT/' || true
tarn rollback t --instant 19990101 2>&1 | sed -E 's/[0-9]{17}/INSTANT/' || true
tarn rollback t --instant ${latest:0:16} | print
tarn read t
echo '{"id":"1","n":1}' | tarn write one - --key id >made
tarn rollback one --instant 20 2>&1 | sed -E 's/[0-9]{17}/INSTANT/' || true
tarn rollback one --instant $(ls one/.hoodie/*.commit | xargs basename | cut -c1-8) | print

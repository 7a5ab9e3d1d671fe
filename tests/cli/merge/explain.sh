# How each column is to be made, before and after, for people and in JSON; and what rules joining out.
golden=$TARN_SOURCE/tests/golden/parquet
mkdir -p t
cp "$golden/flat_plain_v1.parquet" t/a.parquet
cp "$golden/flat_plain_v1.parquet" t/b.parquet
tarn merge --dry-run --explain t | grep '^column\|^b '
tarn merge --dry-run --explain --encode t | grep '^b '
tarn merge --dry-run --json --encode t | grep -o '"intended":"[a-z]*"' | sort | uniq -c | tr -s ' '
tarn merge --dry-run --json t | grep -o '"intended":"[a-z]*"' | sort | uniq -c | tr -s ' '
tarn merge --plan-only t > plan.jsonl
tail -n 1 plan.jsonl | grep -o '"columns":\[\[[^]]*\]'
sed 's/"version":2/"version":1/' plan.jsonl > old.jsonl
tarn exec < old.jsonl || echo "exit $?"
tarn exec < plan.jsonl > results.jsonl
grep -c '"columns":\[\[\["' results.jsonl
tarn commit --json plan.jsonl results.jsonl | grep -o '"done":\[{"way":"[a-z]*","chunks":2' | sort -u | wc -l

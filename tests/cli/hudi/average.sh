# The average size of a row as Hudi 1.x takes it: from the newest five commits, replacements passed over.
small="--set hoodie.parquet.small.file.limit=1000 --sizing hudi"
seq 1 1000 | sed 's/.*/{"id": "&", "v": "text of &"}/' >a.ndjson
echo '{"id": "1", "v": "x"}' >b.ndjson
tarn write t a.ndjson --key id --table-version 8 $small >made
for n in 1 2 3 4 5 6; do tarn write t b.ndjson --op insert_overwrite $small >made; done
tarn write t a.ndjson $small --dry-run --json | python3 -c '
import json, sys
print(1 < json.load(sys.stdin)["record_bytes"] < 100)'

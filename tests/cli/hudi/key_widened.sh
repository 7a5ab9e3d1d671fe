# A key column that was int in the files and is bigint in the rows: without meta columns the stored keys are made of it.
seq 1 500 | sed 's/.*/{"id": &, "v": 1}/' >a.ndjson
printf '{"id": 7, "v": 2}\n{"id": 9000000000, "v": 2}\n' >b.ndjson
tarn write t a.ndjson --key id --no-meta-fields --schema 'id:int,v:int' >made
tarn write t b.ndjson --schema 'id:bigint,v:int' --json | python3 -c '
import json, sys
report = json.load(sys.stdin)
print(report["inserted"], report["updated"])'
tarn read t --where 'v = 2'
tarn schema t

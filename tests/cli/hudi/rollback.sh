# A write undone: readers see what there was before.
hide() { sed -E 's/20[0-9]{15}/INSTANT/g'; }
printf '{"id":1,"v":"a"}\n' >a.ndjson
printf '{"id":1,"v":"b"}\n{"id":2,"v":"c"}\n' >b.ndjson
tarn write lake a.ndjson --key id >/dev/null
tarn write lake b.ndjson >/dev/null
tarn read lake
last=$(ls lake/.hoodie/*.commit | sort | tail -1)
last=$(basename "$last" .commit)
first=$(basename "$(ls lake/.hoodie/*.commit | sort | head -1)" .commit)
tarn rollback lake --instant "$first" 2>&1 | hide || echo "exit $?"
tarn rollback lake --instant "$last" --dry-run | hide
tarn rollback lake --instant "$last" | hide
tarn read lake
tarn write lake b.ndjson >/dev/null
tarn read lake

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
names() { sed -E 's/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-0/GROUP/g'; }
tarn rollback lake --instant "$last" --dry-run | hide | names
tarn rollback lake --instant "$last" --dry-run --json | hide | names
tarn rollback lake --instant "$last" | hide
tarn read lake
tarn write lake b.ndjson >/dev/null
tarn read lake
# One that was never completed.
tarn write lake a.ndjson >/dev/null
last=$(basename "$(ls lake/.hoodie/*.commit | sort | tail -1)" .commit)
rm "lake/.hoodie/$last.commit"
before=$(find lake -type f | sort)
tarn rollback lake --instant "$last" --dry-run | hide | names
[ "$before" = "$(find lake -type f | sort)" ] && echo "nothing changed"
tarn rollback lake --instant "$last" | hide

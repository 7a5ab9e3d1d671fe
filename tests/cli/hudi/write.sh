# A Hudi table from its first write on: what is said, and what the counts are.
hide() { sed -E 's/20[0-9]{15}/INSTANT/g; s/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/UUID/g; s/[0-9.]+ KiB/SIZE/g; s/ +/ /g; s/, [0-9.]+ m?s$/, TIME/'; }
say() { "$@" 2>&1 | hide; }
cat >a.ndjson <<'END'
{"order_id":"a1","dt":"2024-05-12","ts":1,"v":"x"}
{"order_id":"a2","dt":"2024-05-12","ts":1,"v":"y"}
{"order_id":"a3","dt":"2024-05-13","ts":1,"v":"z"}
END
cat >b.ndjson <<'END'
{"order_id":"a1","dt":"2024-05-12","ts":0,"v":"late"}
{"order_id":"a2","dt":"2024-05-12","ts":2,"v":"new"}
{"order_id":"a4","dt":"2024-05-12","ts":2,"v":"more"}
{"order_id":"a4","dt":"2024-05-12","ts":1,"v":"twice"}
END
printf 'order_id,dt\na4,2024-05-12\nzz,2024-05-12\n' >gone.csv
say tarn write lake a.ndjson --key order_id --partition dt --ordering ts --dry-run | sed -E 's/a row is about [0-9]+ bytes.*/a row is about N bytes/'
[ ! -e lake ] && echo "nothing was made"
say tarn write lake a.ndjson --key order_id --partition dt --ordering ts
say tarn write lake b.ndjson
say tarn write lake gone.csv --op delete
say tarn write lake a.ndjson --op insert_overwrite --where "dt = '2024-05-13'"
say tarn write lake --op delete_partition --partitions 2024-05-13
tarn write lake a.ndjson --op bulk_insert --json |
    sed -E 's/"(instant|completion)":"[0-9]+"/"\1":"T"/g; s/"(ms|bytes|record_bytes)":[0-9.]+/"\1":0/g; s/"record_bytes_why":"[^"]*"/"record_bytes_why":"…"/'

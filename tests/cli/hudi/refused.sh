# What is refused, and how it is said; the table stays as it was.
try() { tarn "$@" || echo "exit $?"; }
printf '{"id":1,"p":"a","n":1}\n' >a.ndjson
try write lake a.ndjson
try write lake a.ndjson --op upsert
try write lake a.ndjson --op delete --key id
try write lake a.ndjson --key id --type mor
try write lake a.ndjson --key id --set hoodie.frobnicate=1
try write lake a.ndjson --key id --set hoodie.index.type=RECORD_INDEX
try write lake a.ndjson --key id --set hoodie.metadata.enable=true
try write lake a.ndjson --key id --keygen timestamp
try write lake a.ndjson --key id --merge-mode event_time
try write lake a.ndjson --key nope
try write lake a.ndjson --key id --as hive
try write lake a.ndjson --key id --partition-by p
try write lake a.ndjson --key id --op append
[ -e lake ] && echo "something was made"
try create lake --key id --partition p --schema 'id:bigint,p:string,n:int'
try create lake --key id
before=$(find lake | sort)
try write lake a.ndjson --key other
try write lake a.ndjson --table-version 9
try write lake a.ndjson --as hive -p p
printf '{"id":"x","p":"a","n":1}\n' >bad.ndjson
try write lake bad.ndjson
printf '{"id":null,"p":"a","n":1}\n' >null.ndjson
try write lake null.ndjson
printf '{"id":1,"p":"a"}\n' >part.ndjson
try write lake part.ndjson
printf 'p\na\n' >keyless.csv
try write lake keyless.csv --op delete
try write lake keyless.csv
try write lake --op delete_partition --partitions b
try write lake a.ndjson --op delete_partition --partitions a
try write lake a.ndjson --op insert --partitions a
try write lake a.ndjson --extra nothing
try rollback lake
try rollback lake --instant 20240101000000000
[ "$before" = "$(find lake | sort)" ] || { echo "changed:"; find lake | sort; }
tarn write lake a.ndjson --set hoodie.upsert.shuffle.parallelism=2 --set hoodie.clean.automatic=false >/dev/null
tarn write lake bad.ndjson a.ndjson --reject bad.out >/dev/null
cat bad.out
try create lake --key id

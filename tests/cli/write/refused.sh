# What is refused, and how it is said. Nothing is made.
printf 'id,k\n1,a\n' >a.csv
printf 'id,k\n' >none.csv
try() { tarn write "$@" || echo "exit $?"; }
try lake a.csv
try lake a.csv --as hudi
try lake a.csv --as hive -p nope
try lake a.csv --as hive -p id,k
try lake a.csv --as hive -p k,k
try lake a.csv --as hive --op overwrite-partitions
try lake a.csv --as hive --op upsert
try lake a.csv --as hive -p k --files-per-partition 3
try lake a.csv --as hive -p k --distribute-by id
try lake a.csv --as hive -p k --codec lzma
try lake a.csv --as hive -p k --codec snappy --level 3
try lake a.csv --as hive -p k --delimiter ab
try lake a.csv --as hive -p k --max-partitions 0
try lake missing.csv --as hive -p k
try lake 'none-*.csv' --as hive -p k
try lake a.csv --as hive -p k --where 'idd = 1'
try lake a.csv --as hive -p k --columns id
try sub/lake a.csv --as hive -p k
try a.csv a.csv --as hive -p k
mkdir -p hudi/.hoodie delta/_delta_log
try hudi a.csv --as hive -p k
try hudi/below a.csv --as hive -p k
try delta a.csv --as hive -p k
ls -A
tarn write lake a.csv --as hive -p k >/dev/null
before=$(find . | sort)
try lake a.csv --as hive
try lake a.csv --as hive -p id
try lake lake --as hive -p k
try lake lake/k=a --as hive -p k --op overwrite
try lake 'la*' --as hive -p k
try lake . --as hive -p k
try lake a.csv --as hive -p k --no-header
try lake a.csv --as hive -p k --columns k,id,id
echo '{}' >empty.ndjson
try new empty.ndjson --as hive
rm empty.ndjson
try lake none.csv --as hive -p k --op overwrite
try lake a.csv --as hive -p k --reject a.csv
try lake a.csv --as hive -p k --reject lake/bad.ndjson
try lake a.csv --as hive -p k --reject no/bad.ndjson
[ "$before" = "$(find . | sort)" ] && echo "nothing changed"

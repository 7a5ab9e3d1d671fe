# What people and programs are told.
mask() { sed -E 's/[0-9.]+ m?s\b/TIME/g; s/[0-9.]+ (KiB|B)\b/SIZE/g; s/ +SIZE/ SIZE/'; }
printf 'id,dt\n1,a\n2,b\n3,a\n' >a.csv
tarn write lake a.csv --as hive -p dt --dry-run | mask
ls -A
tarn write lake a.csv --as hive -p dt | mask
tarn write lake a.csv --as hive -p dt | mask
tarn write lake a.csv --as hive -p dt --no-merge | mask
tarn write lake a.csv --as hive -p dt --op overwrite-partitions --where 'dt = "a"' | mask
tarn write lake a.csv --as hive -p dt --op overwrite --where 'dt = "a"' --dry-run | mask
tarn write lake a.csv --as hive -p dt --op overwrite --where 'dt = "a"' | mask
tarn write lake a.csv --as hive -p dt --where 'id > 99' | mask
# what is no data is in nobody's way, and stays
echo hello >lake/README.md
tarn write lake a.csv --as hive -p dt --no-merge | mask
tarn write lake a.csv --as hive -p dt --op overwrite --dry-run | mask
tarn write lake a.csv --as hive -p dt --op overwrite | mask
ls lake
tarn write flat a.csv --as hive | mask
tarn write flat a.csv --as hive --json | sed -E 's/"(ms|bytes|merged_bytes|new_bytes)":[0-9]+/"\1":N/g'
ls flat | sed -E 's/[0-9a-f]{16}/ID/'

# A partition that another program has spelled otherwise is that partition: pyarrow escapes more than Hive.
printf 'id,k\n1,a b\n2,K\303\266ln\n3,x\n' >a.csv
tarn write lake a.csv --as hive -p k >/dev/null
mv 'lake/k=a b' 'lake/k=a%20b'
mv 'lake/k=Köln' 'lake/k=K%C3%B6ln'
rows() { tarn read lake | sort; }
tarn write lake a.csv --as hive -p k --op overwrite-partitions --dry-run | grep '^k=' | cut -d' ' -f1
tarn write lake a.csv --as hive -p k --op overwrite-partitions >/dev/null
ls lake
rows
tarn write lake a.csv --as hive -p k | grep '^k=' | cut -d' ' -f1
ls lake
rows
# What lies there twice cannot be replaced as a whole.
mkdir 'lake/k=a b'
cp 'lake/k=a%20b'/* 'lake/k=a b/'
before=$(find . -type f | sort | xargs -d '\n' cksum)
tarn write lake a.csv --as hive -p k --op overwrite-partitions || echo "exit $?"
tarn write lake a.csv --as hive -p k --op overwrite-partitions --dry-run || echo "exit $?"
[ "$before" = "$(find . -type f | sort | xargs -d '\n' cksum)" ] && echo "nothing changed"
tarn write lake a.csv --as hive -p k --op overwrite --quiet >/dev/null
ls lake

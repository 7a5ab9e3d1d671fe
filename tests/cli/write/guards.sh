# Limits stop a run before they are passed, and leave nothing.
{ echo id,k; for i in 1 2 3 4 5; do echo $i,$i; done; } >a.csv
tarn write lake a.csv --as hive -p k --max-partitions 3 || echo "exit $?"
tarn write lake a.csv --as hive -p k --max-partitions 3 --dry-run || echo "exit $?"
tarn write lake a.csv --as hive -p k --max-created-files 4 || echo "exit $?"
ls -A
tarn write lake a.csv --as hive -p k --max-partitions 5 --max-created-files 5 >/dev/null
before=$(find . -type f | sort | xargs cksum)
for op in append overwrite overwrite-partitions; do
    tarn write lake a.csv --as hive -p k --max-partitions 4 --op $op || echo "exit $?"
done
[ "$before" = "$(find . -type f | sort | xargs cksum)" ] && echo "nothing changed"

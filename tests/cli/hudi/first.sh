# A first write that fails leaves nothing of the table that it would have made.
rows() { python3 -c '
import sys
for n in range(300000):
    print("{\"id\": \"%d\", \"n\": %d, \"p\": \"x%d\"}" % (n, n, n % 3))
print("{\"id\": \"z\", \"n\": \"oops\", \"p\": \"x\"}")'; }
rows >late.ndjson
echo '{"id": "1", "tags": ["a"], "at": "10"}' >a.ndjson
echo "- what the columns tell is told before there is a table"
tarn write t a.ndjson --key id --ordering tags || echo "exit $?"
tarn write t a.ndjson --key id --ordering gone --op insert || echo "exit $?"
ls -A
echo "- a bad value far behind takes the table away again, and the directories of partitions"
tarn write t late.ndjson --key id --partition p || echo "exit $?"
tarn write t late.ndjson --key id --op bulk_insert || echo "exit $?"
ls -A
echo "- a directory that was there stays"
mkdir t && touch t/.keep
tarn write t late.ndjson --key id --op bulk_insert --table-version 9 || echo "exit $?"
ls -A t
echo "- text that rows are ordered by is told once"
tarn write t a.ndjson --key id --ordering at -c id,at >made
tarn write t a.ndjson -c id,at >made
echo "- without rows there is no table"
tarn write none - --key id </dev/null
printf 'id,n\n1,x\n' | tarn write none - --key id --schema id:string,n:int --reject bad.ndjson
ls -d none || true
echo "- what can be done about a partition path"
way() { printf 'id,p\n1,%s\n' "$1" | tarn write none - --key id --partition p --format csv "${@:2}" || echo "exit $?"; }
way ..
way .. --url-encode
way a//b
way "$(printf 'x%.0s' {1..300})" --url-encode
way .hoodie --hive-style >made
tarn read none -c p
echo "- an ordering column of which nothing is known but nulls needs a type"
printf 'id,ts\n1,\n2,\n' >nulls.csv
tarn write typed nulls.csv --key id --ordering ts || echo "exit $?"
tarn write typed nulls.csv --key id --ordering ts --schema id:bigint,ts:bigint >made
tarn write typed nulls.csv >made
echo "- rejected records may go nowhere"
printf 'id,ts\n1,x\n2,5\n' | tarn write typed - --reject /dev/null | tail -1
tarn read typed
echo "- a dry run says that the metadata table would go, and leaves it"
echo "hoodie.table.metadata.partitions=files" >>typed/.hoodie/hoodie.properties
tarn write typed nulls.csv --dry-run || echo "exit $?"
tarn write typed nulls.csv --dry-run --drop-metadata-table | grep note
grep -c metadata.partitions=files typed/.hoodie/hoodie.properties

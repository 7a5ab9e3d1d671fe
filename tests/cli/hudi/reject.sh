# Rows without a key or a partition path: an error that names where they are, or lines in a file.
printf 'id,p,n\n1,a,1\n,a,2\n\n3,..,3\n4,b,x\n"5\n5",b,5\n,c,6\n7,c,7\n' >a.csv
printf '{"id":"1","p":"a","n":1}\n\n{"id":null,"p":"a","n":2}\n{"p":"b","n":3}\n{"id":"4","p":"a//b","n":4}\n{"id":"5","p":"b","n":5}\n' >b.ndjson
schema=id:string,p:string,n:int
print() { sed -E 's/[0-9.]+ m?s$/TIME/; s/[0-9.]+ (KiB|B)\b/SIZE/; s/ +SIZE/ SIZE/; s/[0-9]{17}/INSTANT/g'; }
echo "- without a file the first one ends the write, and no table is made"
tarn write t a.csv --key id --partition p --schema $schema || echo "exit $?"
tarn write t b.ndjson --key id --partition p --schema $schema || echo "exit $?"
tarn write t b.ndjson --key id --partition p --schema $schema --where 'n > 2' || echo "exit $?"
ls
echo "- with one they go there"
tarn write t a.csv b.ndjson --key id --partition p --schema $schema --reject bad.ndjson | print
cat bad.ndjson
tarn read t | sort
echo "- Parquet has rows, not lines; a dry run counts alone"
tarn read t -o rows.parquet
tarn write u rows.parquet --key id --partition p --set hoodie.keygen.timebased.timestamp.type=DATE_STRING \
    --set hoodie.keygen.timebased.input.dateformat=yyyy --set hoodie.keygen.timebased.output.dateformat=yyyy || echo "exit $?"
tarn write u rows.parquet --key id --partition p --set hoodie.keygen.timebased.timestamp.type=DATE_STRING \
    --set hoodie.keygen.timebased.input.dateformat=yyyy --set hoodie.keygen.timebased.output.dateformat=yyyy \
    --reject parquet.ndjson | print
cut -c1-200 parquet.ndjson
tarn write t a.csv --reject never.ndjson --dry-run | print | tail -2
ls

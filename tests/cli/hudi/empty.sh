# A table without a commit: no rows, which is told beside them.
tarn create t --key id --schema 'id:bigint,n:int' >made
echo "- NDJSON, CSV, a file"
tarn read t
tarn read t --format csv
tarn read t -o rows.csv
cat rows.csv
tarn read t --mode cdc
echo "- with a row nothing is told"
printf '{"id":1,"n":1}\n' | tarn write t - >made
tarn read t
tarn read t --where 'n = 2'

# What is typed wrongly: exit code 2, the nearest name, and what to do.
echo '{"id":"1","n":1,"amount":2}' >a.ndjson
printf 'id;n\n1;2\n' >semicolons.csv
printf 'id\tn\n1\t2\n' >tabs.csv
tarn write t a.ndjson --key id >made
try() { tarn "$@" >out 2>said || code=$?; echo "exit ${code:-0}: $(cat said)"; code=; }
for words in "--set hoodie.x=bad" "--set hoodie.index.typ=BLOOM" "--set hoodie.index.type=bad" "--set hoodie.parquet.max.file.siz=1" \
    "--set hoodie.parquet.max.file.size=bad" "--set hoodie.metadata.enable=bad" "--set hoodie.metadata.enable=true" "--set bad" \
    "--timezone bad" "--timezone local" "--timezone UTC" "--codec bad" "--level 99" "--keygen bad" "--merge-mode bad" "--op delete_partition"; do
    echo "- write $words"
    try write t a.ndjson $words --dry-run
done
echo "- no key"
try write new a.ndjson
try write new a.ndjson --as hudi
try write new a.ndjson --op delete
try create new
try create new --key id --keygen bad
try create new --key id --keygen com.acme.Own
echo "- another delimiter"
try write t semicolons.csv
try write t tabs.csv
try write t semicolons.csv --schema 'id:string,n:bigint,amount:bigint'
try write t semicolons.csv --delimiter ';' --set hoodie.write.set.null.for.missing.columns=true
echo "- a column that there is not"
try read t -c id,amuont
try read t -w 'amonut > 1'
try read t -c nothing
echo "- the table as its own input"
try write t t
try write t 't/*.parquet'
echo "- times as paths"
echo '{"id":"1","at":1715500000000000}' >far.ndjson
try write far far.ndjson --key id --partition at --set hoodie.keygen.timebased.timestamp.type=EPOCHMILLISECONDS --set hoodie.keygen.timebased.output.dateformat=yyyyMMdd
try write near far.ndjson --key id --partition at --set hoodie.keygen.timebased.timestamp.type=EPOCHMICROSECONDS --set hoodie.keygen.timebased.output.dateformat=yyyy-MM-dd
echo '{"id":"1","at":"2024-01-01 10:00:00Z"}' >time.ndjson
try write moment time.ndjson --key id --partition at
try write moment time.ndjson

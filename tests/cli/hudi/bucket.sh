# A bucket index is stored nowhere: what file groups show of it has to agree with the options.
make() { for n in $(seq $1 $2); do echo '{"id":"'$n'","p":"'${3:-a}'","n":'$n'}'; done; }
try() { tarn "$@" >out 2>said || code=$?; echo "exit ${code:-0}: $(sed -E 's/0000000([0-9])-[0-9a-f-]+/BUCKET-\1/; s/[0-9a-f]{8}-[0-9a-f-]{20,}/RANDOM/; s/index .BUCKET-[0-9]/index (BUCKET-N/' said)"; code=; }
bucket="--set hoodie.index.type=BUCKET --set hoodie.bucket.index.num.buckets"
make 1 40 | tarn write t - --key id --partition p $bucket=4 >made
tarn show t | grep bucket
tarn show t --json | grep -o '"buckets":[0-9]*'
make 1 4 >some.ndjson
make 50 53 b >other.ndjson
echo "- without the index: refused, in a new partition, too; deletes find their rows anyway"
try write t some.ndjson
try write t other.ndjson --op insert
try write t other.ndjson --op bulk_insert --set hoodie.bulkinsert.sort.mode=GLOBAL_SORT
try write t some.ndjson --dry-run
try write t some.ndjson --op delete
echo "- other numbers of buckets"
try write t some.ndjson $bucket=2
try write t some.ndjson $bucket=8
try write t some.ndjson $bucket=4
try write t other.ndjson $bucket=4
echo "- the index on a table that has none"
make 1 4 | tarn write plain - --key id --partition p >made
try write plain some.ndjson $bucket=4
tarn show plain | grep -c bucket || true
echo "- all of it may be written anew"
try write t some.ndjson --op insert_overwrite_table
try write t some.ndjson
tarn read t --where "p = 'a'" -c id | wc -l

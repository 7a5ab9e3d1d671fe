# What is typed wrongly ends with 2; what is wrong in a file that is named, with 1.
try() { tarn "$@" >out 2>said && code=0 || code=$?; echo "exit $code: tarn $*"; cut -c1-150 said; }
printf '{"id":1,"n":1}\n' >a.ndjson
printf '{"id":1,"n":"x"}\n' >value.ndjson
printf '{"n":1}\n' >keyless.ndjson
printf '{"id":1,"n":\n' >broken.ndjson
printf 'id,n\n1,"2\n' >open.csv
: >empty.csv
echo 'no json' >text
echo "- data"
tarn write t a.ndjson --key id >/dev/null
for f in value.ndjson keyless.ndjson broken.ndjson open.csv empty.csv; do try write t $f; done
tarn write plain a.ndjson --as hive >/dev/null
for f in value.ndjson broken.ndjson; do try write plain $f --as hive; done
try write t empty.csv --schema id:bigint,n:bigint --op insert_overwrite_table
echo '{"kind":"task","version":1}' >task
try exec task
try splits --locations text
cp -r t bad
sed -i 's/^hoodie.table.version=.*/hoodie.table.version=six/' bad/.hoodie/hoodie.properties
rm -f bad/.hoodie/hoodie.properties.backup
for verb in read show timeline files schema; do try $verb bad; done
try write bad a.ndjson
echo "- options"
try write t a.ndjson --columns id,n,id
try write t a.ndjson --where 'm = 1'
try write new a.ndjson --key nope
try read t -c nope
try read t --as-of never
try splits t --num-splits x
echo "- one option, two names"
for words in "--set hoodie.parquet.block.size=0" "--row-group 0" "--set hoodie.parquet.max.file.size=0" "--target 0" \
    "--set hoodie.write.table.version=7" "--table-version 7"; do
    try write new a.ndjson --key id $words
done

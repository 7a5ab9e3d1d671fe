# Values that do not fit: an error with line and column, or a line in a file.
printf 'id,n,k\n1,1,a\n2,x,a\n3,3\n4,4,b\n' >a.csv
printf '{"id":1,"n":1,"k":"a"}\n{"id":2,"n":"x","k":"a"}\n{"id":3,\n' >a.ndjson
tarn write lake a.csv --as hive -p k --schema id:int,n:int,k:string || echo "exit $?"
tarn write lake a.ndjson --as hive -p k --schema id:int,n:int,k:string || echo "exit $?"
ls -A
for input in a.csv a.ndjson; do
    tarn write lake $input --as hive -p k --schema id:int,n:int,k:string --op overwrite --reject bad.$input |
        sed -E 's/[0-9.]+ m?s$/TIME/; s/[0-9.]+ (KiB|B)\b/SIZE/; s/ +SIZE/ SIZE/'
    cat bad.$input
    tarn read lake
done
ls -A
# all of them rejected: nothing is written, and the file tells why
printf 'id,n,k\nx,1,a\n' >b.csv
tarn write empty b.csv --as hive -p k --schema id:int,n:int,k:string --reject all.ndjson
cat all.ndjson
ls -A

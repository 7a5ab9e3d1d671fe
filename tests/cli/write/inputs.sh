# Every kind of input gives the same rows: CSV, NDJSON, Parquet, packed, standard input, globs.
cat >a.csv <<'END'
id,city,name,amount,at,dt
1,Köln,"say ""hi"",
there",1.50,2024-05-12T10:00:00Z,2024-05-12
2,a/b,,2.25,2024-05-12T11:00:00Z,2024-05-13
3,,"",-3,2024-05-12T12:00:00Z,2024-05-12
END
cat >a.ndjson <<'END'
{"id":1,"city":"Köln","name":"say \"hi\",\nthere","amount":1.50,"at":"2024-05-12T10:00:00Z","dt":"2024-05-12"}
{"id":2,"city":"a/b","name":null,"amount":2.25,"at":"2024-05-12T11:00:00Z","dt":"2024-05-13"}

{"id":3,"city":null,"name":"","amount":-3,"at":"2024-05-12T12:00:00Z","dt":"2024-05-12"}
END
gzip -k a.csv
zstd -q a.ndjson
tarn write first a.csv --as hive --partition-by dt,city --quiet >/dev/null
tarn read first | sort >want
cat want
find first -type d | sort
tarn read first -o a.parquet --quiet
mkdir rows
cp a.parquet rows/
for input in a.csv.gz a.ndjson a.ndjson.zst a.parquet rows 'ro*/*.parquet' '[a].csv'; do
    tarn write lake "$input" --as hive -p dt,city --op overwrite >/dev/null
    tarn read lake | sort | cmp - want && echo "$input: the same"
done
tarn write lake --as hive -p dt,city --op overwrite --format csv <a.csv >/dev/null
tarn read lake | sort | cmp - want && echo "standard input: the same"
gzip -c a.ndjson | tarn write lake - --as hive -p dt,city --op overwrite --format ndjson >/dev/null
tarn read lake | sort | cmp - want && echo "a packed pipe: the same"
# several inputs are one stream, and their columns one set
printf 'id,city,dt,extra\n4,Ulm,2024-05-12,7\n' >b.csv
tarn write many a.csv b.csv --as hive -p dt,city >/dev/null
tarn read many -c id,extra,city | sort
# delimiter, no header, a word for null, only some rows and columns
printf '1;x;NULL;drop\n2;y;b;drop\n' >c.txt
tarn write some c.txt --as hive --format csv --delimiter ';' --no-header --null NULL \
    --schema 'id:bigint,k:string,v:string,w:string' -p k --columns id,k,v >/dev/null
tarn read some
tarn write some c.txt --as hive --format csv --delimiter ';' --no-header --null NULL \
    --schema 'id:bigint,k:string,v:string,w:string' -p k --columns id,k,v --where 'id = 2' --op overwrite >/dev/null
tarn read some
printf 'id\tk\n5\tx\n' | tarn write tabs --as hive --format csv --delimiter '\t' -p k >/dev/null
tarn read tabs
ls -A

# The directory decides types; else --schema, else a sample.
types() { tarn show "$1" --json | sed 's/.*"fields"://; s/,"partitions":.*//'; }
printf 'id,n,x,ok,day,at,zip,k\n1,2,2.5,true,2024-05-12,2024-05-12 10:00:00,00123,a\n' >a.csv
tarn write sampled a.csv --as hive -p k >/dev/null
tarn read sampled
types sampled
cat >columns.txt <<'END'
# what the feed has
id      int not null
n       decimal(12,2)
x       double
ok      boolean
day     date
at      timestamptz
zip     string
k       string
END
tarn write given a.csv --as hive -p k --schema @columns.txt >/dev/null
tarn read given
types given
# appended text is read as the types that are there; a new column is added, a missing one null
printf 'zip,n,k,more\n777,9,a,new\n' >b.csv
tarn write given b.csv --as hive -p k --no-merge >/dev/null
tarn read given | sort
# what does not fit is refused before anything is written
printf 'id,k\nx7,a\n' >c.csv
tarn write given c.csv --as hive -p k || echo "exit $?"
printf '{"id":3000000000,"k":"a"}\n' >d.ndjson
tarn write given d.ndjson --as hive -p k || echo "exit $?"
tarn read given -o e.parquet -c zip,k --quiet
tarn write other e.parquet --as hive -p k >/dev/null
printf 'zip,k\n5.5,a\n' >f.csv
tarn write nums f.csv --as hive -p k >/dev/null
tarn write nums e.parquet --as hive -p k || echo "exit $?"
for schema in 'a' 'a:integr' 'a:int,a:int' 'a:decimal(5,6)' '@nowhere.txt'; do
    tarn write none a.csv --as hive -p k --schema "$schema" || echo "exit $?"
done
ls -A

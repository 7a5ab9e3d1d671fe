# What is done as asked but told, and what is not done.
make() { python3 -c '
import sys
for n in range(int(sys.argv[1]), int(sys.argv[2])):
    print("{\"id\": \"%d\", \"p\": \"a:b\", \"n\": 1, \"s\": {\"x\": 1, \"y\": 2}, \"at\": \"2024-01-01 10:00:00\"}" % n)' "$@"; }
make 1 4 >a.ndjson
echo "- times without zone, and a colon in a path"
tarn write t a.ndjson --key id --partition p >made
echo "- nothing comes, and everything would go"
tarn write t --op insert_overwrite_table </dev/null || echo "exit $?"
tarn read t -c id | wc -l
echo "- integers that become double"
tarn write wide a.ndjson --key id -c id,n >made
echo '{"id": "1", "n": 1.5}' | tarn write wide - --schema 'id:string,n:double' >made
echo "- a field of a struct that the rows lack"
tarn write whole a.ndjson --key id -c id,s >made
echo '{"id": "1", "s": {"x": 5}}' | tarn write whole - --schema 'id:string,s:struct<x:bigint>' || echo "exit $?"
tarn read whole --where 's.x = 5'

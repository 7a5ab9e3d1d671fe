# Text into a table that has other columns: fields of structs that are new, or missing; wider numbers.
print() { sed -E 's/[0-9.]+ m?s$/TIME/; s/[0-9.]+ (KiB|B)\b/SIZE/; s/ +SIZE/ SIZE/; s/[0-9]{17}/INSTANT/g'; }
echo '{"id":"1","s":{"x":1,"y":{"a":"p"}},"l":[{"k":1}]}' >a.ndjson
tarn write t a.ndjson --key id >made
echo "- a new field of a struct, at every depth, and of a struct in a list"
echo '{"id":"2","s":{"x":2,"y":{"a":"q","b":2.5},"z":"new"},"l":[{"k":2,"m":true}]}' >b.ndjson
tarn write t b.ndjson | print | tail -1
tarn read t
tarn schema t | grep -E '^ *(s|l|x|y|a|b|z|k|m)\b' || tarn schema t
echo "- a field that no record of the input has would lose what is stored"
echo '{"id":"1","s":{"x":5,"y":{"a":"r","b":1}},"l":[]}' >c.ndjson
tarn write t c.ndjson || echo "exit $?"
tarn write t c.ndjson --op insert | print | tail -1
tarn write t c.ndjson --set hoodie.write.set.null.for.missing.columns=true | print | tail -1
tarn read t --where "id = '1'" | head -1
echo "- but one that some record has may be missing in others: null"
printf '{"id":"3","s":{"x":1,"y":{"a":"r","b":1},"z":"z"},"l":[]}\n{"id":"4","s":{"x":1},"l":[]}\n{"id":"5","s":null,"l":[]}\n' | tarn write t - | print | tail -1
tarn read t --where "id IN ('4','5')"
echo "- one that appears after the sample makes its record bad"
{ for n in $(seq 10 99); do echo '{"id":"'$n'","s":{"x":1,"y":{"a":"r","b":1},"z":"z"},"l":[]}'; done; echo '{"id":"100","s":{"x":1,"w":1},"l":[]}'; } >late.ndjson
tarn write t late.ndjson --sample 1K || echo "exit $?"
echo "- where a field is never null, it has to be there"
tarn create n --key id --schema 'id:string, s:struct<x:int not null, y:string>' >made
echo '{"id":"1","s":{"x":1,"y":"a"}}' | tarn write n - >made
printf '{"id":"2","s":{"x":1,"y":"a"}}\n{"id":"3","s":{"y":"b"}}\n' | tarn write n - || echo "exit $?"
echo "- names that differ by case alone"
echo '{"id":"7","s":{"x":1,"X":2}}' | tarn write u - --key id || echo "exit $?"
echo '{"id":"7","s":{"X":9,"y":"c"}}' | tarn write n - >made
tarn read n --where "id = '7'"
echo "- numbers beyond the column's type make it wider"
tarn create w --key id --schema 'id:string, n:int, m:bigint, f:float' >made
printf 'id,n,m,f\n1,1,1,1.5\n' | tarn write w - --format csv >made
tarn schema w | grep -E '^ *[nmf] '
printf 'id,n,m,f\n2,3000000000,1,1\n' | tarn write w - --format csv >made
tarn schema w | grep -E '^ *[nmf] '
printf 'id,n,m,f\n3,1,2.5,1\n' | tarn write w - --format csv >made
tarn read w
echo "- but not the column of a key"
tarn create k --key n --schema 'n:int, v:int' >made
printf 'n,v\n1,1\n' | tarn write k - --format csv >made
printf 'n,v\n1.5,1\n' | tarn write k - --format csv || echo "exit $?"
printf 'n,v\n5000000000,1\n' | tarn write k - --format csv >made
tarn read k
echo "- nor one that has text: both types are named"
printf 'n,v\n2,x\n' | tarn write k - --format csv || echo "exit $?"

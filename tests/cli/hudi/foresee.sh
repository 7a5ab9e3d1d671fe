# A dry run says what the run would come to.
print() { sed -E 's/[0-9.]+ m?s$/TIME/; s/[0-9.]+ (KiB|B)\b/SIZE/g; s/ +SIZE/ SIZE/g; s/[0-9]{17}/INSTANT/g' | grep -E ': (upsert|delete)[ :]|unchanged|not found|duplicates'; }
both() { tarn write "$@" --dry-run | print; tarn write "$@" | print; }
rows() { while read -r id ts del; do echo '{"id":"'$id'","p":"'${id%%.*}'","ts":'$ts',"_hoodie_is_deleted":'$del'}'; done; }
for version in 6 9; do for type in bigint string; do
echo "- version $version, ordered by $type"
t=t$version$type
printf 'a.1 5 false\na.2 5 false\na.3 5 false\nb.1 5 false\nb.2 5 false\n' | rows >base.ndjson
tarn write $t base.ndjson --key id --partition p --ordering ts --table-version $version \
    --schema "id:string, p:string, ts:$type, _hoodie_is_deleted:boolean" >made
printf 'a.1 4 false\na.2 5 false\na.3 6 true\nb.1 4 true\nb.2 null true\nb.3 1 false\nb.4 1 true\nb.3 0 false\n' | rows >change.ndjson
both $t change.ndjson
tarn read $t -c id,ts
echo "- nothing that wins"
printf 'a.1 4 false\na.2 4 true\n' | rows >late.ndjson
find $t | sort >before
both $t late.ndjson
find $t | sort | diff before - && echo "no file came or went"
echo '{"id":"a.1","p":"a"}' | tarn write $t - --op delete --dry-run | print
done; done
echo "- where rows of one key all count it says how many meet a stored one"
both $t change.ndjson --set hoodie.combine.before.upsert=false
echo "- of two files the one that changes is written"
printf 'a.1 4 false\nb.1 9 false\n' | rows >one.ndjson
both t6bigint one.ndjson
tarn files t6bigint | grep -c older || true
echo "- metadata of a commit makes one in any case"
both t6bigint late.ndjson --extra checkpoint=7

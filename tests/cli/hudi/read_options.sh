# Options of `tarn read` for Hudi tables: meta columns beside chosen ones, keys of both spellings,
# times with a zone on a table whose instants are of an unknown one.
made() { sed -E 's/[0-9]{17}/INSTANT/g; s/[0-9a-f]{8}-[0-9a-f-]{27}/ID/g'; }
try() { "$@" 2>&1 | made; echo "exit ${PIPESTATUS[0]}"; }
set +o pipefail
printf '{"id":"%s","p":"a","n":1}\n' 1 2 | tarn write t - --key id --partition p >made
echo "- meta columns"
tarn read t -c n --meta -n 1 | made
tarn read t -c n,_hoodie_record_key,id --meta -n 1 | made
try tarn read t --mode cdc --since 000 --meta
echo "- keys of one field of a complex generator"
for version in 6 8 9; do
    for named in false true; do
        rm -rf c
        printf '{"id":"%s","p":"a","n":1}\n' 1 2 | tarn write c - --key id --partition p --keygen complex \
            --table-version $version --set hoodie.write.complex.keygen.new.encoding=$named >made
        tarn read c -c _hoodie_record_key -n 1
        tarn read c --key 1 -c id
        tarn read c --key id:1 -c id
        tarn read c --key p:1 -c id
    done
done
echo "- other generators have one spelling"
tarn read t --key id:1
tarn read t --key 1 -c id
echo "- zones"
sed -i 's/^hoodie.table.timeline.timezone=.*/hoodie.table.timeline.timezone=LOCAL/' t/.hoodie/hoodie.properties
TZ=Asia/Tokyo tarn read t -n 1 --as-of 2999-01-01T00:00:00Z
TZ=Asia/Tokyo tarn read t -n 1 --as-of 2999-01-01

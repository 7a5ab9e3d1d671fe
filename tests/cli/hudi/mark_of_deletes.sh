# Once rows with _hoodie_is_deleted were written the table has that column, and rows without it are still welcome.
summary() { tarn write "$@" | grep -v '^carried' | sed -E 's/(upsert|delete) [0-9]+/\1 T/; s/; .*//'; }
printf 'id,p,n\n1,a,1\n2,a,2\n3,a,3\n' >rows.csv
printf 'id,p,_hoodie_is_deleted\n1,a,true\n' >gone.csv
printf 'id,p,n\n2,a,20\n' >later.csv
printf 'id,p\n3,a\n4,a\n' >keys.csv
tarn write lake rows.csv --key id --partition p >/dev/null
summary lake gone.csv | tail -1
summary lake later.csv | tail -1
tarn read lake
# a dry run counts deletes as such
tarn write lake keys.csv --op delete --dry-run | tail -2
summary lake keys.csv --op delete | tail -2
tarn read lake

# Damaged files stay, are named, and do not stop the others.
golden=$TARN_SOURCE/tests/golden/parquet
mkdir -p t
for i in 1 2; do cp "$golden/flat_plain_v1.parquet" t/good$i.parquet; done
: >t/empty.parquet
printf 'a,b\n1,2\n' >t/really_csv.parquet
head -c 300 "$golden/flat_plain_v1.parquet" >t/cut.parquet
tarn merge t | grep '^problem\|^\.'
ls t | sed 's/tarn-[0-9a-f]*/tarn-ID/'

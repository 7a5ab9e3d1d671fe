# What a user gets wrong is answered with the place and the way out.
G=$TARN_SOURCE/tests/golden/parquet
try() { tarn read "$@" || echo "exit $?"; }
try nowhere
try $G/int96.parquet --where 'nope = 1'
try $G/int96.parquet --where 'a ='
try $G/int96.parquet -c nope
try $G/int96.parquet -o out.what
try $G/int96.parquet --codec zstd --format csv
mkdir d
try d
echo no >d/a.parquet
: >d/b.parquet
try d
cp $G/int96.parquet d/c.parquet
try d --skip-damaged -c nope
mkdir -p t/_delta_log
try t
# no column, one twice where only CSV can hold it, no directory for the file
try $G/int96.parquet -c ''
try $G/int96.parquet -c a,a -o out.parquet
try $G/int96.parquet -o nodir/rows.parquet

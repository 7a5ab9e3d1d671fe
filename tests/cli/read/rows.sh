# Rows of a file and of a partitioned directory, in each format.
G=$TARN_SOURCE/tests/golden/parquet
tarn read $G/flat_plain_v1.parquet -n 3
mkdir -p 'lake/dt=2024-05-12/h=07' 'lake/dt=__HIVE_DEFAULT_PARTITION__/h=x%2Fy' lake/_tmp
cp $G/int96.parquet 'lake/dt=2024-05-12/h=07/a.parquet'
cp $G/int96.parquet 'lake/dt=__HIVE_DEFAULT_PARTITION__/h=x%2Fy/a.parquet'
cp $G/int96.parquet lake/_tmp/a.parquet
tarn read lake --columns dt,h -n 20
tarn read lake --columns h,dt --format csv --where 'dt IS NULL' -n 2
tarn read lake -o all.parquet
tarn read all.parquet >a
tarn read lake >b
cmp a b
tarn read lake -o rows.ndjson --quiet
cmp rows.ndjson b
ls

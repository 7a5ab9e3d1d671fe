# Fragments become one file; a second run finds nothing to do.
golden=$TARN_SOURCE/tests/golden/parquet
mkdir -p t/dt=1 t/dt=2
cp "$golden/flat_plain_v1.parquet" t/dt=1/a.parquet
cp "$golden/flat_plain_v1.parquet" t/dt=1/b.parquet
cp "$golden/flat_plain_v1.parquet" t/dt=2/a.parquet
touch t/_SUCCESS
tarn merge --json --verify content t | grep -o '"files_before":3,"files_after":2\|"outcome":"done"'
find t -type f | wc -l
tarn merge t
tarn merge --json t | grep -o '"done":0,"skipped":0,"failed":0'

# Old files kept for a while come back as they were.
golden=$TARN_SOURCE/tests/golden/parquet
mkdir -p t/p=1 t/p=2
for i in 1 2 3; do
    cp "$golden/flat_plain_v1.parquet" t/p=1/$i.parquet
    cp "$golden/nested_index_v2.parquet" t/p=2/$i.parquet
done
cp -a t before
tarn merge --quiet --keep-old 1h t >/dev/null
ls t/p=1 | wc -l
tarn merge --undo t | sed -E 's/in [0-9.]+ m?s$/in TIME/'
diff -r before t && ls -A

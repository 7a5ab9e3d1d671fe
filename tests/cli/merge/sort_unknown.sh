# A column to sort by that no file has is told before anything is done, in a dry run, too.
golden=$TARN_SOURCE/tests/golden/parquet
mkdir -p t/dt=1
for i in 1 2; do cp "$golden/flat_plain_v1.parquet" t/dt=1/f$i.parquet; done
for column in nope dt 'i32 desc, a.b'; do
    for how in --dry-run ''; do
        status=0
        tarn merge t --sort-by "$column" $how || status=$?
        echo "$column $how: $status"
    done
done
ls t/dt=1

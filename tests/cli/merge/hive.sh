# --rule hive: a file for each of the splits that Hive's merge job would have; a second run finds nothing to do.
golden=$TARN_SOURCE/tests/golden/parquet/flat_plain_v1.parquet
size=$(stat -c %s "$golden")
mkdir -p t/dt=1 t/dt=2 t/dt=3/.hidden
for i in $(seq -w 1 23); do cp "$golden" t/dt=1/$i.parquet; done
cp "$golden" t/dt=2/only.parquet
for i in 1 2; do cp "$golden" t/dt=3/$i.parquet; done
touch t/dt=1/_SUCCESS t/dt=2/_SUCCESS
head -c $((40 * size)) /dev/zero >t/dt=3/.hidden/large
hive="--rule hive --avg-size $((size + 1)) --size-per-task $((4 * size))"
echo "splits: $(tarn splits t/dt=1 --api hive-shim --max-size $((4 * size)) --min-size $((4 * size)) --json | grep -o '"len":' | wc -l)"
tarn merge t $hive --dry-run | grep '^dt\|^kept' | sed -E 's/  +.*  planned/ … planned/'
tarn merge t $hive --verify content | awk '/^dt/ { print $1, $2, $3, $NF }'
find t -type f | sed 's/tarn-[0-9a-f]*/tarn-ID/' | sort
tarn read t/dt=1 --format csv | tail -n +2 | wc -l
tarn read "$golden" --format csv | tail -n +2 | wc -l
tarn merge t $hive
# An average of the limit is no reason.
mkdir u && cp "$golden" u/1.parquet && cp "$golden" u/2.parquet
tarn merge u --rule hive --avg-size "$size"
tarn merge u --rule hive --avg-size $((size + 1)) | awk '/^\./ { print $2, $3, $NF }'
# What does not go together.
for options in "--avg-size 1M" "--size-per-task 1M" "--rule hive --target 1M" "--rule hive --small 1M" \
    "--rule hive --min-files 3" "--rule hive --file-count 1" "--rule hive --avg-size 0" \
    "--rule hive --size-per-task 0" "--rule other"; do
    status=0
    tarn merge u $options || status=$?
    [ $status -eq 2 ] || echo "$options: exit $status"
done

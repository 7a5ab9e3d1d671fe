# A partition that cannot be listed has failed: exit 1, and the others are done.
golden=$TARN_SOURCE/tests/golden/parquet
mkdir -p t/p=1 t/p=2
for p in 1 2; do
    for i in 1 2; do cp "$golden/nested_index_v2.parquet" t/p=$p/$i.parquet; done
done
chmod 0 t/p=2
# root may list everything, unless it gives that up
plain=
[ "$(id -u)" -ne 0 ] || plain="setpriv --bounding-set=-dac_override,-dac_read_search"
status=0
$plain tarn merge t >report || status=$?
echo "exit $status"
grep '^problem' report
chmod 755 t/p=2
ls t/p=1 | wc -l

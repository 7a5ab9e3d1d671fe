# A directory on this machine: what is listed, what each api makes of it, and the same as JSON.
mkdir -p t/dt=1/deep t/dt=2
truncate -s 142M t/big.parquet
truncate -s 5M t/log.gz
: >t/empty.csv
: >t/_SUCCESS
: >t/.part.crc
ln -s nowhere t/dangling
truncate -s 1M t/dt=1/a t/dt=1/deep/b t/dt=2/a
mkdir -p t/_temporary && truncate -s 1M t/_temporary/x
echo "-- 142M at 128M: two of 71M"
tarn splits t --max-size 128M --min-size-node 1 --min-size-rack 1
tarn splits t/big.parquet --max-size 128M --json
for api in hive-shim file-new file-old; do
    echo "-- $api"
    tarn splits t --api $api || echo "exit $?"
done
echo "-- file-old without directories, one split wanted"
tarn splits t --api file-old --ignore-subdirs --num-splits 1 --block-size 64M
echo "-- below, too, in blocks of 64M"
tarn splits t --recursive --block-size 64M --max-size 128M --json
echo "-- a pool for a partition, one for both others"
tarn splits t --recursive --max-size 1G --min-size-node 1 --pool dt=1 --pool "$PWD/t/dt=2,log"
echo "-- several paths, nothing to read"
tarn splits t/dt=2 t/dt=1 --max-size 10M
tarn splits t/_temporary/x
mkdir none
tarn splits none
tarn splits none --json

# A time before the first commit: nothing is there, which is no empty answer.
refused() { "$@" 2>&1 >rows | sed -E 's/is [0-9]{17}/is INSTANT/'; echo "exit ${PIPESTATUS[0]}"; }
set +o pipefail
echo '{"id":"1","n":1}' | tarn write t - --key id >made
tarn create empty --key id >made
refused tarn read t --as-of 2020-01-01
refused tarn read t --as-of 20200101000000000
refused tarn schema t --as-of 20200101000000000
refused tarn files t --as-of 20200101000000000
tarn read t --as-of 2999-01-01
echo "- one form of times for all"
python3 $TARN_SOURCE/tests/cli/hudi/make_table.py 8 t8
for time in 20240512103002000 20240512103002 "2024-05-12 10:30:02" 2024-05-12T10:30:02Z; do
    tarn files t8 --as-of "$time" --no-rows -q | cksum
    tarn schema t8 --as-of "$time" -q | cksum
done | sort | uniq -c
refused tarn files t8 --as-of 20240512
for time in 1772900764102 20261399999999999 20240230; do
    refused tarn read t --as-of $time
    refused tarn read t --since $time
    refused tarn files t --as-of $time
    refused tarn schema t --as-of $time
done
tarn read t --since 000
tarn read t --as-of 29990101
echo "- a table without commits"
tarn read empty
refused tarn read empty --as-of 2020-01-01
refused tarn schema empty
refused tarn schema empty --as-of 20200101000000000

# A time before the first commit: nothing is there, which is no empty answer.
refused() { "$@" 2>&1 >rows | sed -E 's/is [0-9]{17}/is INSTANT/'; echo "exit ${PIPESTATUS[0]}"; }
set +o pipefail
echo '{"id":"1","n":1}' | tarn write t - --key id >made
tarn create empty --key id >made
refused tarn read t --as-of 2020-01-01
refused tarn read t --as-of 20200101000000000
refused tarn schema t --as-of 20200101000000000
tarn read t --as-of 2999-01-01
echo "- a table without commits"
tarn read empty
refused tarn read empty --as-of 2020-01-01
refused tarn schema empty
refused tarn schema empty --as-of 20200101000000000

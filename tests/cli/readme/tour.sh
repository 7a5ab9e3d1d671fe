# The lines of README.md's tour, one after the other, on a small directory of the same shape.
make_events events 3000 2
awk '/^<!-- tests\/cli\/readme\/tour.sh/ { tour = 1 } /^```/ { if (inside) exit; inside = tour; next } inside' \
    "$TARN_SOURCE/README.md" >tour
[ "$(wc -l <tour)" -ge 5 ]
before=$(tarn read events -c event_id | sort | sha256sum)
while IFS= read -r line; do
    bash -eu -o pipefail -c "$line" >out 2>err || { echo "failed: $line"; cat out err; exit 1; }
    [ -s out ] || [ -s err ] || { echo "says nothing: $line"; exit 1; }
done <tour
[ "$(find events -name '*.parquet' | wc -l)" -eq 2 ]
[ "$(tarn read events -c event_id | sort | sha256sum)" = "$before" ]
[ "$(wc -l <out)" -eq 3 ]

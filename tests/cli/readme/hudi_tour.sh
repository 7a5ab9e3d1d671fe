# The lines of README.md's tour of Hudi tables, one after the other.
for n in 1 2 3 4; do
    echo "{\"order_id\": \"o$n\", \"dt\": \"2024-05-0$((n % 2 + 1))\", \"ts\": 1, \"state\": \"new\"}"
done >monday.ndjson
echo '{"order_id": "o1", "dt": "2024-05-02", "ts": 2, "state": "paid"}' >tuesday.ndjson
awk '/^<!-- tests\/cli\/readme\/hudi_tour.sh/ { tour = 1 } /^```/ { if (inside) exit; inside = tour; next } inside' \
    "$TARN_SOURCE/README.md" >tour
[ "$(wc -l <tour)" -eq 6 ]
while IFS= read -r line; do
    bash -eu -o pipefail -c "$line" >out 2>err || { echo "failed: $line"; cat out err; exit 1; }
    [ -s out ] || [ -s err ] || { echo "says nothing: $line"; exit 1; }
    case $line in
    "tarn read"*) grep -q '"o1","state":"paid"' out && [ "$(wc -l <out)" -eq 2 ] ;;
    esac
done <tour
[ "$(tarn read orders -c order_id,state | sort | tr '\n' ' ')" = \
    '{"order_id":"o1","state":"paid"} {"order_id":"o2","state":"new"} {"order_id":"o3","state":"new"} {"order_id":"o4","state":"new"} ' ]

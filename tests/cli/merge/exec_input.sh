# What is no whole plan is an error of exec, not "nothing to do".
golden=$TARN_SOURCE/tests/golden/parquet
mkdir -p t none
for i in 1 2; do cp "$golden/nested_index_v2.parquet" t/$i.parquet; done
tarn merge --plan-only -o plan t
: >empty
head -c 60 plan >cut
head -n 1 plan >header
head -c 10 plan >bit
printf '{"kind":"merge.plan"}\n' >false
for f in empty cut header bit false; do
    tarn exec $f || echo "$f: exit $?"
done
tarn exec <empty || echo "exit $?"
# A plan of nothing has no tasks: that is fine.
tarn merge --plan-only -o nothing none
tarn exec nothing && echo "nothing: exit $?"
# The first signal ends the wait for standard input.
mkfifo never
exec 3<>never
tarn exec <never &
waiter=$!
sleep 1
kill -TERM $waiter
(sleep 20 && kill -KILL $waiter 2>/dev/null) &
status=0
wait $waiter || status=$?
echo "killed: exit $status"

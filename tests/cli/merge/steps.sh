# Plan, tasks in two processes, and commit: the same tree as merge.
golden=$TARN_SOURCE/tests/golden/parquet
for t in one other/one; do
    for p in dt=1 dt=2 dt=3; do
        mkdir -p $t/$p
        for i in 1 2 3; do cp "$golden/nested_index_v2.parquet" $t/$p/$i.parquet; done
    done
done
tarn merge --quiet one >/dev/null
tarn merge --plan-only -o plan.jsonl other/one
wc -l <plan.jsonl
tarn exec --task 0 plan.jsonl >results.0 &
tail -n +3 plan.jsonl | tarn exec >results.1
wait
tarn commit --json plan.jsonl results.0 results.1 | grep -o '"done":3,"skipped":0,"failed":0'
diff -r one other/one && echo "the same"
ls -A other
# A second commit of the same plan finds its inputs gone and changes nothing.
tarn commit --json plan.jsonl results.0 results.1 | grep -o '"done":[0-9]*,"skipped":[0-9]*,"failed":[0-9]*' || true
diff -r one other/one && ls -A other

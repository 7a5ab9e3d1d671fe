# Verbs of later versions are refused by name.
for verb in create report serve compact cluster clean \
    archive rollback restore savepoint repair upgrade; do
    status=0
    tarn $verb table || status=$?
    [ $status -eq 2 ] || { echo "$verb: exit $status"; exit 1; }
done

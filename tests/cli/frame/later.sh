# Verbs of later versions are refused by name.
for verb in report serve compact cluster clean \
    archive restore savepoint repair upgrade; do
    status=0
    tarn $verb table || status=$?
    [ $status -eq 2 ] || { echo "$verb: exit $status"; exit 1; }
done

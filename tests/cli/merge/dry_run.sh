# A dry run prints the plan and leaves everything as it is.
golden=$TARN_SOURCE/tests/golden/parquet
mkdir -p t
for i in 1 2 3; do cp "$golden/flat_plain_v1.parquet" t/$i.parquet; done
before=$(ls -la --full-time . t)
tarn merge --dry-run t | sed -E 's/[0-9.]+ m?s$/TIME/'
[ "$before" = "$(ls -la --full-time . t)" ] && echo "nothing changed"

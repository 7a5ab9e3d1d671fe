# Counts have separators of thousands in findings, too.
golden=$TARN_SOURCE/tests/golden/parquet
mkdir t
cp "$golden/flat_plain_v1.parquet" one
for i in $(seq 1 1002); do echo t/$i.parquet; done | xargs -n 1 ln one
tarn doctor t | grep -o '[0-9,]* of [0-9,]* files' || true

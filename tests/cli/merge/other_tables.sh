# Tables of other kinds are refused by name.
mkdir -p delta/_delta_log iceberg/metadata iceberg/data hudi/.hoodie acid/delta_0000001_0000001 acid/base_0000001 plain/base_camp
touch iceberg/metadata/v1.metadata.json
for t in delta iceberg iceberg/data hudi acid acid/base_0000001; do
    tarn merge $t || echo "exit $?"
done
tarn merge plain

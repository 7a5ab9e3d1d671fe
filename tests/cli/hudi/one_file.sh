# tarn show on the files of a table.
python3 $TARN_SOURCE/tests/cli/hudi/make_table.py 6 t6
python3 $TARN_SOURCE/tests/cli/hudi/make_table.py 8 t8
tarn show t6/.hoodie/hoodie.properties
tarn show t6/.hoodie/hoodie.properties --json
tarn show t8/dt=2024-05-11/.hoodie_partition_metadata
tarn show t8/.hoodie/timeline/20240512103004000_20240512103004500.clean --full
tarn show t8/.hoodie/timeline/20240512103004000_20240512103004500.clean --json
tarn show t8/.hoodie/timeline/20240512103005000.inflight
tarn show t6/.hoodie/20240512103002000.commit | head -8
head -c 60 t8/.hoodie/timeline/20240512103004000_20240512103004500.clean >cut.avro
tarn show cut.avro || echo "exit $?"
printf 'a=\\u12' >bad.properties
tarn show bad.properties || echo "exit $?"

# What Hadoop and Hive decided, as --locations and again by options that win over it.
python3 "$TARN_SOURCE/tests/tools/split_vectors.py" "$TARN_SOURCE/tests/plan/vectors/combine-splits.json"

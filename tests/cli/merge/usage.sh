# What is not understood is said before anything is touched.
mkdir t
tarn merge t --codec lzma || echo "exit $?"
tarn merge t --small big || echo "exit $?"
tarn merge t --small 0 || echo "exit $?"
tarn merge t --codec zstd --level 99 || echo "exit $?"
tarn merge t --codec gzip --level 13 || echo "exit $?"
tarn merge t --level 99999999999 || echo "exit $?"
tarn merge t --codec snappy --level 3 || echo "exit $?"
tarn merge t --codec zstd --level 22 >/dev/null
tarn merge t --target 0 || echo "exit $?"
tarn merge t --small 256M || echo "exit $?"
tarn merge t --partition dt=9 || echo "exit $?"
tarn merge missing || echo "exit $?"
touch file
tarn merge file || echo "exit $?"
tarn merge --undo t || echo "exit $?"

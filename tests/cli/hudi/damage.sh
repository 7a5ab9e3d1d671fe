# A completed instant whose file is empty or cut: file, instant and the way out are named; the rest
# is shown.
make() {
    rm -rf t
    python3 $TARN_SOURCE/tests/cli/hudi/make_table.py $1 t
}
for version in 6 8; do
    make $version
    file=$(echo t/.hoodie/*/20240512103002000*.commit t/.hoodie/20240512103002000.commit | tr ' ' '\n' |
        grep -v '\*' | head -1)
    : >$file
    touch -d "2024-05-12 10:30:02" $file
    echo "version $version, empty"
    tarn timeline t -q
    tarn instant t 20240512103002000 || echo "exit $?"
    tarn files t || echo "exit $?"
    # what was before it can be read
    tarn files t --as-of 20240512103001000 -q
    tarn schema t --as-of 20240512103001000 | head -2
    tarn show t | head -3
    make $version
    head -c 300 $file >cut
    cp cut $file
    touch -d "2024-05-12 10:30:02" $file
    echo "version $version, cut"
    tarn timeline t --counts --action commit -q
    tarn instant t 20240512103002000 || echo "exit $?"
done
# an empty clean
make 8
: >t/.hoodie/timeline/20240512103004000_20240512103004500.clean
tarn instant t 20240512103004000 || echo "exit $?"
# a file that a commit names is gone
make 8
rm t/dt=2024-05-11/*1-0_*20240512103002000.parquet
tarn files t || echo "exit $?"
tarn show t | head -3
# names that are nobody's
make 8
: >t/.hoodie/timeline/notes.txt
tarn timeline t -q --limit 1
# a timeline that is lost is no empty table, however it is asked
for version in 6 8; do
    make $version
    rm -f t/.hoodie/[0-9]* && rm -rf t/.hoodie/timeline/[0-9]*
    for what in "" "--since 000" "--mode cdc --since 000"; do tarn read t $what || echo "exit $?"; done
done

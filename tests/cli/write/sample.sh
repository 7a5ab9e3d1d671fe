# A first record that is longer than the sample still tells the columns; a broken one is told as broken.
printf '{"id":1,"text":"%0100d"}\n{"id":2,"text":"b"}\n' 7 >a.ndjson
tarn write lake a.ndjson --as hive --sample 16 >/dev/null
tarn write lake - --as hive --format ndjson --sample 16 --no-merge <a.ndjson >/dev/null
tarn read lake | cut -c1-20
for record in '{"id":1,}' '{"id":01}' '{"id":1' '{"id":"\ud800"}' '{"id":1} 2' '{"a":[1,{}}'; do
    echo "$record" >b.ndjson
    tarn write other b.ndjson --as hive || echo "exit $?"
done
ls

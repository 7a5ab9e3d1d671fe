# A plan that somebody has edited: nothing is written or removed outside the work directory, and the next run is not
# held up by what the attempt left.
golden=$TARN_SOURCE/tests/golden/parquet
for p in 1 2; do
    mkdir -p t/p=$p
    for i in 1 2 3; do cp "$golden/flat_plain_v1.parquet" t/p=$p/$i.parquet; done
done
touch victim
tarn merge --plan-only -o plan t
here=$(pwd)
before=$(find t victim | sort)

try() { # NAME SED
    local ran=0 committed=0
    sed -E "$2" plan >edited
    if cmp -s plan edited; then echo "$1: the edit changed nothing"; fi
    tarn exec <edited >results 2>messages || ran=$?
    tarn commit edited results >>messages 2>&1 || committed=$?
    [ "$before" = "$(find t victim | sort)" ]
    echo "$1: exec $ran, commit $committed"
    sed -E "s#$here#DIR#g; s/[0-9a-f]{16}/ID/g" messages | grep -m 1 '^tarn'
    [ -z "$(find . -newer results -type f ! -name messages ! -path './.t.tarn/*')" ]
}

try 'output elsewhere' 's#"output":"[^"]*"#"output":"'"$here"'/evil.new"#'
try 'output up' 's#("output":"[^"]*)/p0000[0-9]/#\1/../#'
try 'output of another plan' 's#("output":"[^"]*\.tarn)/[0-9a-f]{16}/#\1/0123456789abcdef/#'
try 'output is data' 's#("output":"[^"]*)\.new#\1.parquet#'
try 'name up' 's#"name":"part#"name":"../../part#g'
try 'name hidden' 's#"name":"part#"name":".part#g'
try 'name no data' 's#("name":"part[^"]*)\.parquet#\1.txt#g'
try 'staging elsewhere' 's#"staging":"[^"]*"#"staging":"'"$here"'/evil/x/p0"#'
try 'staged elsewhere' 's#"staged":"[^"]*"#"staged":"'"$here"'/evil.new"#g'
try 'work elsewhere' 's#"work":"[^"]*"#"work":"'"$here"'/evil/.x.tarn"#'
try 'root elsewhere' 's#"root":"[^"]*"#"root":"/etc"#'
try 'directory elsewhere' 's#"directory":"[^"]*/p=1"#"directory":"'"$here"'"#'
try 'directory up' 's#"path":"p=1","directory":"([^"]*)"#"path":"p=1/../p=2","directory":"\1/../p=2"#'
try 'side file up' 's#"stale":\[\]#"stale":["../../victim"]#g'
try 'input up' 's#\{"path":"1.parquet"#{"path":"../p=2/1.parquet"#g'
try 'id up' 's#"(id|plan)":"[0-9a-f]{16}"#"\1":".."#g'
tarn merge t | grep 'files became'  | sed 's/.*: //; s/, [0-9]* ms//'
ls -A

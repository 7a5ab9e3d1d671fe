# What cannot be planned ends with 1 and Hadoop's words where it has some; a wrong command line with 2.
fails() { # STATUS ARGS…
    local want=$1 status=0
    shift
    tarn splits "$@" || status=$?
    [ $status -eq "$want" ] || echo "tarn splits $*: exit $status, not $want"
}
mkdir t
: >t/a
fails 2
fails 2 t --locations f
fails 2 --locations f --recursive
fails 2 --locations f --block-size 1M
fails 2 t --api other
fails 2 t --max-size -1
fails 2 t --max-size 9223372036854775808
fails 1 none
fails 1 t --max-size 10 --min-size-node 11
fails 1 t --max-size 10 --min-size-rack 11
fails 1 t --min-size-node 11 --min-size-rack 10
fails 1 t --api hive-shim --max-size 10 --min-size 11
fails 1 t --api file-new --pool x
fails 1 t --block-size 0
fails 1 t --num-splits 3000000000
fails 1 --locations none.json
locations() { # JSON, OPTIONS…
    local text=$1
    shift
    printf '%s' "$text" >f.json
    fails 1 --locations f.json "$@"
}
locations ''
locations '[]'
locations '{}'
locations '{"vectors": []}'
locations '{"files": [{"path": "/a"}]}'
locations '{"files": [{"path": "/a", "len": -1}]}'
locations '{"files": [{"path": "/a", "len": 1.5}]}'
locations '{"files": [{"path": "/a", "len": 9223372036854775808}]}'
locations '{"files": [{"path": "/a", "len": 1, "blocks": [{"offset": 9223372036854775807, "len": 1}]}]}'
locations '{"files": [{"path": "/a", "len": 1, "blocks": [{"offset": 5, "len": 5}, {"offset": 9, "len": 5}]}]}'
locations '{"files": [{"path": "/a", "len": 9223372036854775807}, {"path": "/b", "len": 1}]}'
locations '{"files": [{"path": "/a", "len": 1, "blocks": [{"offset": 0}]}]}'
locations '{"files": [{"path": "/a", "len": 1, "blocks": [{"offset": 0, "len": 1, "hosts": ["a", "b"], "racks": ["/r"]}]}]}'
locations '{"files": [{"path": "/a", "len": 1, "blocks": [{"offset": 0, "len": 1, "hosts": ["a"], "racks": ["r"]}]}]}'
locations '{"files": [{"path": "/a", "len": 1, "blocks": [{"offset": 0, "len": 1, "hosts": [""]}]}]}'
locations '{"files": [{"path": "/a", "len": 1, "splitable": false}]}'
locations '{"files": [{"path": "/a", "len": 1, "dir": true}]}'
locations '{"files": [{"path": "/a", "len": 1}], "config": {"max_size": 1}}'
locations '{"files": [{"path": "/a", "len": 1}], "api": "combined"}'
locations '{"files": [{"path": "/a", "len": 1}], "pools": ["/a"]}'
locations '{"files": [{"path": "/a", "len": 1}]}' --api file-new
locations '{"files": [{"path": "/a", "len": 9, "block_size": 9, "blocks": [{"offset": 0, "len": 5}]}]}' --api file-new --max-size 5
locations '{"files": [{"path": "/a", "len": 9, "block_size": 9, "blocks": [{"offset": 0, "len": 5}]}]}' --api file-old --num-splits 1
# a hundred billion splits
locations '{"files": [{"path": "/a", "len": 100000000000, "blocks": [{"offset": 0, "len": 100000000000}]}]}' --max-size 1
locations '{"files": [{"path": "/a", "len": 100000000000, "blocks": [{"offset": 0, "len": 100000000000}]}]}' --api file-new --max-size 0

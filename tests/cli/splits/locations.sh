# --locations: what it says, what options win over, and numbers that a double cannot hold.
cat >f.json <<'EOF'
{"id": "members of a vector are no harm", "api": "file-new", "config": {"max": 100},
 "files": [{"path": "/in/dt=a%3Ab/ü", "len": 142, "block_size": 1000, "blocks":
            [{"offset": 0, "len": 142, "hosts": ["h1", "h2"], "racks": ["/r1", "/r2"]}]},
           {"path": "/in/sub", "dir": true}]}
EOF
tarn splits --locations f.json --json
tarn splits --locations - --json --api combine --max-size 128 <f.json
tarn splits --locations f.json --api combine --max-size 128
cat >twice.json <<'EOF'
{"files": [{"path": "/a", "len": 10, "blocks": [{"offset": 0, "len": 10, "hosts": ["h", "h"], "racks": ["/r", "/r"]}]},
           {"path": "/a", "len": 10, "blocks": [{"offset": 0, "len": 10, "hosts": ["h"], "racks": ["/r"]}]}]}
EOF
tarn splits --locations twice.json --json --max-size 10
cat >huge.json <<'EOF'
{"files": [{"path": "/a", "len": 9007199254740993,
            "blocks": [{"offset": 0, "len": 9007199254740993, "hosts": ["h"], "racks": ["/r"]}]}]}
EOF
tarn splits --locations huge.json --json --max-size 6004799503160662
tarn splits --locations huge.json --json --max-size 9000000000000000000

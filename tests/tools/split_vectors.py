"""Every vector of combine-splits.json through `tarn splits --locations`, as a user would call it.

Usage: split_vectors.py VECTORS_JSON. Needs `tarn` on PATH; prints what differs, then one line.
"""
import json
import subprocess
import sys


def call(vector, *options):
    text = json.dumps({k: vector[k] for k in ("files", "pools", "config", "api") if k in vector})
    return subprocess.run(["tarn", "splits", "--locations", "-", "--json", *options], input=text,
                          capture_output=True, text=True)


def as_options(vector):
    """The same settings on the command line, over a config that says something else."""
    names = {"max": "--max-size", "min": "--min-size", "min_node": "--min-size-node",
             "min_rack": "--min-size-rack", "num_splits": "--num-splits"}
    config = vector.get("config", {})
    options = ["--api", vector["api"]]
    for key, value in config.items():
        if key in names:
            options += [names[key], str(value)]
    if config.get("ignore_subdirs"):
        options.append("--ignore-subdirs")
    for pool in vector.get("pools", []):
        options += ["--pool", ",".join(pool)]
    other = {k: 7 for k in config if k in names}
    return dict(vector, config=other, api="file-new", pools=[]), options


def in_order(vector, split):
    """Hosts of the old API over several blocks come in no order that can be foretold."""
    path, offset, length = split["chunks"][0]
    blocks = [b for f in vector["files"] if f["path"] == path for b in f.get("blocks", [])
              if b["offset"] < offset + length and b["offset"] + b["len"] > offset]
    return vector["api"] != "file-old" or len(blocks) < 2


def differs(vector, run):
    expect = vector["expect"]
    if "error" in expect:
        want = f"tarn: {expect['error']}\n"
        if run.returncode != 1 or run.stderr != want or run.stdout:
            return f"exit {run.returncode}, {run.stderr!r}"
        return None
    if run.returncode != 0 or run.stderr:
        return f"exit {run.returncode}, {run.stderr!r}"
    got = json.loads(run.stdout)
    if (got["kind"], got["version"]) != ("splits", 1):
        return "it names itself otherwise"
    splits = [dict(s) for s in got["splits"]]
    wants = [dict(s) for s in expect["splits"]]
    for s, w in zip(splits, wants):
        if not in_order(vector, w):
            s["locations"], w["locations"] = sorted(s["locations"]), sorted(w["locations"])
    return None if splits == wants else "other splits"


def main():
    vectors = json.load(open(sys.argv[1]))["vectors"]
    wrong = 0
    for vector in vectors:
        for how, run in (("as it is", call(vector)),
                         ("by options", (lambda v, o: call(v, *o))(*as_options(vector)))):
            why = differs(vector, run)
            if why is not None:
                wrong += 1
                print(f"{vector['id']} {how}: {why}")
    print(f"{len(vectors)} vectors, {wrong} differences")
    return wrong != 0


sys.exit(main())

#!/usr/bin/env python3
"""200 small batches into 5 partitions, by tarn and by Hudi on Spark: how many small files are left?

  bench/sizing_demo.py [--dir DIR] [--who tarn,hudi] [--tarn PATH] [--resume] [--plot docs/sizing.svg]

Each batch has 2,000 rows, one in ten of which changes an earlier one, and is one upsert. After each the newest file of
every file group is counted: how many are under the limit, in the worst partition and in all, and how many bytes all have.
So that it ends soon, files are to have 2 MiB instead of 120 and are small below 100/120 of that, and the key filter that
Hudi puts into each file is laid out for 1,000 keys instead of 60,000 (tarn sizes its own). Figures go to
DIR/sizing-WHO.jsonl, a line a batch; the picture is drawn of those that are there. Hudi: see hudi_spark.py.
"""
import argparse, json, shutil, subprocess, sys, tempfile, time
from pathlib import Path

import hudi_data, hudi_spark

ROOT = Path(__file__).resolve().parent.parent
PARTITIONS = 5
MAX = 2 << 20
LIMIT = MAX * 100 // 120
SIZES = {"hoodie.parquet.max.file.size": MAX, "hoodie.parquet.small.file.limit": LIMIT}
NAMES = {"tarn": "tarn", "hudi": "Hudi 1.2 on Spark"}
COLOURS = {"tarn": "#1b6ca8", "hudi": "#d1495b"}


# ---- batches: the same rows for everybody

def make_batches(folder, batches, rows):
    import numpy as np, pyarrow as pa, pyarrow.parquet as pq
    out = folder / f"sizing-batches-{batches}x{rows}"
    if out.exists():
        return out
    partial = out.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    rng = np.random.default_rng(7)
    keys = hudi_data.uuids(batches * rows, rng)
    regions = rng.integers(0, PARTITIONS, batches * rows)
    for i in range(batches):
        numbers = np.arange(i * rows, (i + 1) * rows)
        changes = rng.choice(rows, rows // 10, replace=False)
        if i > 0:
            numbers[changes] = rng.choice(i * rows, rows // 10, replace=False)
        columns = {"order_id": keys.take(pa.array(numbers)),
                   "dt": pa.array([f"2024-06-0{r + 1}" for r in regions[numbers]]),
                   "ts": pa.array(np.full(rows, i, dtype=np.int64))}
        columns.update(hudi_data.details(rows, rng))
        pq.write_table(pa.table(columns), partial / f"batch-{i:04d}.parquet", compression="zstd")
    partial.rename(out)
    return out


# ---- writers

def writer_of(who, args, table):
    if who == "tarn":
        settings = [word for key, value in SIZES.items() for word in ("--set", f"{key}={value}")]
        return lambda batch: subprocess.run(
            [args.tarn, "write", table, batch, "--key", "order_id", "--partition", "dt", "--ordering", "ts",
             "--op", "upsert", *settings], check=True, stdout=subprocess.DEVNULL)
    spark, _ = hudi_spark.session(args.hudi)
    more = {key: str(value) for key, value in SIZES.items()}
    more["hoodie.index.bloom.num_entries"] = "1000"
    return lambda batch: hudi_spark.write(spark, batch, table, "upsert", more)


def newest_files(table):
    """Partition -> sizes of the newest file of each file group: "<file id>_<token>_<instant>.parquet"."""
    newest = {}
    for path in Path(table).rglob("*.parquet"):
        if ".hoodie" in path.parts:
            continue
        group, _, instant = path.stem.split("_")
        known = newest.get((path.parent, group), ("", 0))
        newest[path.parent, group] = max(known, (instant, path.stat().st_size))
    out = {}
    for (partition, _), (_, size) in newest.items():
        out.setdefault(partition, []).append(size)
    return out


def run(who, args, batches):
    table, log_path = args.dir / "out" / f"sizing-{who}", args.dir / f"sizing-{who}.jsonl"
    done = len(log_path.read_text().splitlines()) if args.resume and table.exists() and log_path.exists() else 0
    if done == 0:
        shutil.rmtree(table, ignore_errors=True)
    table.parent.mkdir(parents=True, exist_ok=True)
    write = writer_of(who, args, table)
    with open(log_path, "a" if done else "w") as log:
        for number, batch in list(enumerate(sorted(batches.iterdir()), 1))[done:]:
            start = time.monotonic()
            write(batch)
            seconds = time.monotonic() - start
            partitions = newest_files(table)
            small = [sum(size < LIMIT for size in sizes) for sizes in partitions.values()]
            every = [size for sizes in partitions.values() for size in sizes]
            row = {"kind": "sizing.batch", "who": who, "batch": number, "files": len(every), "small": sum(small),
                   "small_in_worst_partition": max(small), "bytes": sum(every), "largest": max(every),
                   "seconds": round(seconds, 3)}
            print(json.dumps(row), file=log, flush=True)
            if number % 20 == 0:
                print(json.dumps(row), flush=True)
    shutil.rmtree(table, ignore_errors=True)


# ---- the picture

class Panel:
    """A small chart: lines over the batches."""
    WIDTH, HEIGHT = 300, 170

    def __init__(self, left, title, batches, top, unit=""):
        self.left, self.title, self.batches, self.top, self.unit = left, title, batches, max(top, 1), unit
        self.parts = []

    def at(self, batch, value):
        return (self.left + self.WIDTH * batch / self.batches, 60 + self.HEIGHT * (1 - value / self.top))

    def text(self, x, y, text, anchor="start", size=11, more=""):
        self.parts.append(f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" text-anchor="{anchor}"{more}>{text}</text>')

    def axes(self):
        x0, y0 = self.at(0, 0)
        x1, y1 = self.at(self.batches, self.top)
        self.text(x0, 40, self.title, size=13, more=' font-weight="bold"')
        for i in range(5):
            value = self.top * i / 4
            y = self.at(0, value)[1]
            self.parts.append(f'<line x1="{x0:.0f}" y1="{y:.0f}" x2="{x1:.0f}" y2="{y:.0f}" stroke="#ddd"/>')
            self.text(x0 - 6, y + 4, f"{value:g}{self.unit}", "end")
        for batch in (0, self.batches // 2, self.batches):
            self.text(self.at(batch, 0)[0], y0 + 18, str(batch), "middle")
        self.text((x0 + x1) / 2, y0 + 34, "batches", "middle")

    def line(self, values, colour):
        points = " ".join("{:.1f},{:.1f}".format(*self.at(i + 1, v)) for i, v in enumerate(values))
        self.parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.8"/>')


def nice_top(value):
    for step in (4, 8, 12, 16, 20, 40, 60, 80, 100, 200, 400, 800):
        if value <= step:
            return step
    return value


def plot(results, path):
    batches = max(len(rows) for rows in results.values())
    panels = [Panel(60, "files under the limit, worst partition", batches,
                    nice_top(max(r["small_in_worst_partition"] for rows in results.values() for r in rows))),
              Panel(440, "files in all", batches, nice_top(max(r["files"] for rows in results.values() for r in rows))),
              Panel(820, "bytes of the newest files, MB", batches,
                    nice_top(max(r["bytes"] for rows in results.values() for r in rows) / 1e6))]
    keys = ("small_in_worst_partition", "files", "bytes")
    for panel, key in zip(panels, keys):
        panel.axes()
        for who, rows in results.items():
            panel.line([r[key] / (1e6 if key == "bytes" else 1) for r in rows], COLOURS[who])
    legend = []
    for i, who in enumerate(results):
        legend.append(f'<rect x="{60 + 200 * i}" y="8" width="14" height="4" fill="{COLOURS[who]}"/>'
                      f'<text x="{80 + 200 * i}" y="14" font-size="12">{NAMES[who]}</text>')
    body = "\n".join(legend + [part for panel in panels for part in panel.parts])
    path.write_text('<svg xmlns="http://www.w3.org/2000/svg" width="1150" height="280" viewBox="0 0 1150 280" '
                    f'font-family="sans-serif">\n<rect width="1150" height="280" fill="#fff"/>\n{body}\n</svg>\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dir", type=Path, default=Path(tempfile.gettempdir()) / "tarn-bench")
    parser.add_argument("--who", default="tarn,hudi", help="empty: only the picture")
    parser.add_argument("--resume", action="store_true", help="go on behind the last batch that is logged")
    parser.add_argument("--tarn", default=str(ROOT / "build/release/tarn"))
    parser.add_argument("--hudi", default="1.2.0")
    parser.add_argument("--batches", type=int, default=200)
    parser.add_argument("--rows", type=int, default=2_000)
    parser.add_argument("--plot", type=Path, default=ROOT / "docs/sizing.svg")
    args = parser.parse_args()
    args.dir.mkdir(parents=True, exist_ok=True)
    batches = make_batches(args.dir, args.batches, args.rows)
    for who in filter(None, args.who.split(",")):
        run(who, args, batches)
    results = {}
    for who in NAMES:
        log = args.dir / f"sizing-{who}.jsonl"
        if log.exists():
            results[who] = [json.loads(line) for line in log.read_text().splitlines()]
            last = results[who][-1]
            print(f"{NAMES[who]}: {last['files']} files, {last['small']} under the limit, at most"
                  f" {max(r['small_in_worst_partition'] for r in results[who])} in a partition at any time;"
                  f" {last['bytes'] / 1e6:.1f} MB; {sum(r['seconds'] for r in results[who]):.1f} s for"
                  f" {last['batch']} batches")
    if results:
        plot(results, args.plot)


if __name__ == "__main__":
    sys.exit(main())

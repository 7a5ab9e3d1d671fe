#!/usr/bin/env python3
"""Draws docs/splits.svg: the worked example of docs/splits.md, from its vector. Usage: tools/draw_splits.py

Run it again when the vector or the text changes; the picture is committed.
"""
import json
import os

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VECTORS = os.path.join(ROOT, "tests/plan/vectors/combine-splits.json")
OUT = os.path.join(ROOT, "docs/splits.svg")
MIB = 1 << 20
SCALE = 1.55  # pixels a MiB
LEFT, TOP, BAR, GAP = 96, 64, 26, 12
COLOURS = ["#8ecae6", "#ffb703", "#b7e4c7", "#cdb4db", "#f4a261", "#f28482", "#e9c46a", "#d6ccc2"]
STAGES = ["node stage"] * 5 + ["node stage, again", "rack stage", "overflow"]
NARROW = 46  # pixels that a label needs


class Picture:
    def __init__(self):
        self.parts = []
        self.y = TOP

    def text(self, x, y, text, size=12, weight="normal", anchor="start"):
        self.parts.append(f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" font-weight="{weight}" '
                          f'text-anchor="{anchor}">{text}</text>')

    def box(self, x, width, colour, label):
        self.parts.append(f'<rect x="{x:.1f}" y="{self.y}" width="{width - 1.5:.1f}" height="{BAR}" rx="3" '
                          f'fill="{colour}" stroke="#444"/>')
        self.text(x + width / 2 - 1, self.y + 17, label, 11, anchor="middle")


def chunks_of(vector):
    """(node, rack, name of the chunk, MiB, number of its split), in the order of the files."""
    place = {f["path"]: (f["blocks"][0]["hosts"][0], f["blocks"][0]["racks"][0]) for f in vector["files"]}
    cut = sorted(((files(c[0]), c[1], c[2], c[0], s) for s, split in enumerate(vector["expect"]["splits"])
                  for c in split["chunks"]))
    return [(*place[path], f"b{i + 1}", length / MIB, s) for i, (_, _, length, path, s) in enumerate(cut)]


def files(path):
    return int(path.rsplit("F", 1)[1])


def draw_nodes(picture, chunks):
    rack = None
    for node in sorted({c[0] for c in chunks}):
        mine = [c for c in chunks if c[0] == node]
        if mine[0][1] != rack:
            rack = mine[0][1]
            picture.text(8, picture.y + 10, rack, 12, "bold")
            picture.y += 18
        picture.text(24, picture.y + 17, node)
        x = LEFT
        for _, _, name, mib, split in mine:
            picture.box(x, max(mib * SCALE, NARROW), COLOURS[split], f"{name} {mib:.0f}")
            x += max(mib * SCALE, NARROW)
        picture.y += BAR + GAP


def draw_splits(picture, vector, chunks):
    for number, split in enumerate(vector["expect"]["splits"]):
        picture.text(24, picture.y + 17, f"s{number + 1}", 12, "bold")
        picture.text(46, picture.y + 17, f"{split['len'] / MIB:.0f}")
        x = LEFT
        mine = [c for c in chunks if c[4] == number]
        if number == 7:  # the rack that came first in the overflow
            mine = mine[::-1]
        for _, _, name, mib, _ in mine:
            picture.box(x, max(mib * SCALE, NARROW), COLOURS[number], f"{name} {mib:.0f}")
            x += max(mib * SCALE, NARROW)
        hosts = [h.replace("node0", "") for h in split["locations"]]
        where = split["locations"][0] if len(hosts) == 1 else "nodes " + ", ".join(hosts)
        picture.text(LEFT + 330, picture.y + 17, STAGES[number])
        picture.text(LEFT + 470, picture.y + 17, where)
        picture.y += BAR + 6


def main():
    vector = next(v for v in json.load(open(VECTORS))["vectors"] if v["id"] == "article-10-files")
    chunks = chunks_of(vector)
    picture = Picture()
    picture.text(8, 20, "Ten files, cut into chunks at 128 MiB, on five nodes of two racks", 15, "bold")
    picture.text(8, 40, "max 128M, per node 32M, per rack 64M; sizes in MiB; a colour is a split")
    draw_nodes(picture, chunks)
    picture.y += 14
    picture.text(8, picture.y, "The splits, in order: which stage made them, and where they are to be read", 15, "bold")
    picture.y += 14
    draw_splits(picture, vector, chunks)
    height = picture.y + 12
    width = LEFT + 410 * SCALE + 24
    with open(OUT, "w", encoding="utf-8") as out:
        out.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
                  f'height="{height:.0f}" font-family="sans-serif">\n<rect width="100%" height="100%" fill="white"/>\n')
        out.write("\n".join(picture.parts))
        out.write("\n</svg>\n")


main()

#!/usr/bin/env python3
"""Reruns examples as their READMEs say, and holds the READMEs' tables against the fresh figures: by hand, before a
release. Exit 1 if a figure is stale.

    tools/checks/example_tables.py                 all that take a few minutes each, at most
    tools/checks/example_tables.py slow_links      these

A column of a README's table is figures of one kind: of one column of a table.csv, or of what the example prints, as they
are or in another unit. The kind that explains most of the column is taken; figures that no fresh one of this kind rounds
to are told. What it can't tell is figures that stand in each other's places, and columns that are worked out by hand:
those are told as "by hand".
"""

import argparse
import csv
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Those whose run takes a few minutes on two cores, at most. Not application_controls, which traces programs: another
# machine's traces give other milliseconds.
EXAMPLES = ["batch_study", "compare_topologies", "congestion_controls", "erasure_coding", "moe_alltoall", "noisy_neighbour",
            "placement_study", "plane_failures", "slow_links", "training_month"]
# ns or us to ms, shares to percent.
SCALES = (1, 1e-3, 1e-6, 100, 1e3)
NUMBER = re.compile(r"(?<![\w.,^])[-+−]?\d[\d,]*(?:\.\d+)?(?![\w^]*[⁻⁰¹²³⁴⁵⁶⁷⁸⁹])")
# What may stand beside figures; a cell with other words is a name, "10 km" or "a plane".
UNITS = {"s", "ms", "us", "ns", "k", "M", "W"}
# A kind that explains less of a column than this is none.
LEAST = 0.5


def numbers(text):
    """(value, digits behind the point) of each figure; of names none."""
    if "`" in text or set(re.findall(r"[A-Za-zµ]+", text)) - UNITS:
        return []
    found = []
    for match in NUMBER.finditer(text):
        figure = match[0].replace(",", "").replace("−", "-")
        found.append((float(figure), len(figure.partition(".")[2])))
    return found


def tables(readme):
    """Of each table: its heads, and its rows of cells."""
    lines = readme.splitlines()
    for i, line in enumerate(lines):
        if not re.fullmatch(r"\|(?:-+\|)+", line):
            continue
        cells = [[cell.strip() for cell in lines[i - 1].strip("|").split("|")]]
        for row in lines[i + 1:]:
            if not row.startswith("|"):
                break
            cells.append([cell.strip() for cell in row.strip("|").split("|")])
        yield cells[0], cells[1:]


def commands(readme):
    """The first block of commands, without the one that sets up and those that run one of many."""
    block = re.search(r"```sh\n(.*?)```", readme, re.S)[1].splitlines()
    scripts = [line for line in block if line.startswith("examples/")]
    return scripts[:1] if scripts and "$weft" not in block[1] else []


def compare_commands(readme):
    """compare_topologies: both blocks; the second repeats the first with more."""
    blocks = re.findall(r"```sh\n(.*?)```", readme, re.S)
    first, second = (block.splitlines() for block in blocks[:2])
    return [line for line in first if "goal gen" in line] + second


def fresh(folder, printed):
    """Figures by kind."""
    kinds = {"printed": [value for word in printed.split() for value, _ in numbers(word.strip("(),;"))]}
    for path in sorted(folder.rglob("table.csv")):
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
        for column in rows[0]:
            try:
                kinds[column] = [float(row[column]) for row in rows if row[column] not in ("", None)]
            except ValueError:
                pass  # names
    return kinds


def is_among(value, digits, figures, scale):
    """Does one of them round to it? Half a unit of the last digit, and what the table lost by rounding before."""
    return any(abs(figure * scale - value) <= 0.51 * 10 ** -digits for figure in figures)


def check_column(head, figures, kinds):
    """Lines that tell what is stale."""
    best, kind = -1, ""
    for name, values in kinds.items():
        for scale in SCALES:
            found = sum(is_among(value, digits, values, scale) for value, digits in figures)
            if found > best:
                best, kind, stale = found, name, [v for v, d in figures if not is_among(v, d, values, scale)]
    if best < LEAST * len(figures):
        return [], f"  by hand: '{head}', {len(figures)} figures"
    if not stale:
        return [], f"  as told: '{head}', {len(figures)} figures ({kind})"
    told = ", ".join(f"{value:g}" for value in stale)
    return stale, f"  STALE:   '{head}', {len(stale)} of {len(figures)} ({kind}): {told}"


def check_tables(readme, kinds):
    """How many figures are stale; tells of each column."""
    count = 0
    for heads, rows in tables(readme):
        for c, head in enumerate(heads):
            cells = [numbers(row[c]) for row in rows if c < len(row)]
            for place in range(max(map(len, cells), default=0)):
                figures = [cell[place] for cell in cells if place < len(cell)]
                stale, line = check_column(head + (f", figure {place + 1}" if place else ""), figures, kinds)
                count += len(stale)
                print(line, flush=True)
    return count


def check(name, weft, folder):
    readme = (ROOT / "examples" / name / "README.md").read_text()
    lines = compare_commands(readme) if name == "compare_topologies" else commands(readme)
    if not lines:
        raise SystemExit(f"examples/{name}/README.md: no command of this example in its first block")
    printed = ""
    for line in lines:
        line = line.partition(" #")[0].replace("$weft", f"'{weft}'")
        if line.startswith("examples/") and name != "compare_topologies":
            line += f" --weft '{weft}' -o '{folder}'"
        line = line.replace("examples/", f"{ROOT}/examples/")
        print(f"  {line}", flush=True)
        done = subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, text=True, env={**os.environ, "weft": weft})
        if done.returncode != 0:
            raise SystemExit(done.stdout[-2000:] + done.stderr[-2000:])
        printed += "\n".join(each for each in done.stdout.splitlines() if not each.lstrip().startswith("weft "))
    return check_tables(readme, fresh(folder, printed))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", metavar="EXAMPLE", help=f"of: {', '.join(EXAMPLES)} (all)")
    parser.add_argument("--weft", default=str(ROOT / "bazel-bin/tools/weft/weft"), help="the weft program")
    options = parser.parse_args()
    unknown = set(options.names) - set(EXAMPLES)
    if unknown:
        parser.error(f"'{unknown.pop()}' is none of {', '.join(EXAMPLES)}")
    stale = {}
    for name in options.names or EXAMPLES:
        print(f"{name}:", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            stale[name] = check(name, str(Path(options.weft).resolve()), Path(folder))
    bad = {name: count for name, count in stale.items() if count}
    print("; ".join(f"{name}: {count} figures are stale" for name, count in bad.items()) or "all tables are as told")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""What an eight-plane network loses with a plane, a NIC port or a link between switches: a table and a plot. Every
command is printed before it runs; nothing but Python's own library is needed.

    examples/plane_failures/plane_failures.py [-o planes]
"""

import argparse
import csv
import json
import shlex
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

SCENARIO = Path(__file__).with_name("planes.txtpb")
POLICIES = ["srv6", "reps", "bitmap", "spray"]
PLANES, LINKS_UP = 8, 4  # of the scenario; links up from a leaf in one plane

# What fails 1 us after the start, and what is left to those whom it concerns if the others take over.
FAILURES = {
    "nothing": (None, Fraction(1)),
    "a plane": ("switch=* 3.*,at=1us", Fraction(PLANES - 1, PLANES)),
    "a NIC port": ("link=host 0 / leaf 3.0,at=1us", Fraction(PLANES - 1, PLANES)),
    "a leaf-spine link": ("link=leaf 3.0 / spine 3.1,at=1us", 1 - Fraction(1, PLANES * LINKS_UP)),
}
COLORS = {"srv6": "#0072b2", "reps": "#e69f00", "bitmap": "#009e73", "spray": "#999999"}


def run(weft, policy, failure, size, folder):
    """One run's summary."""
    fault = FAILURES[failure][0]
    results = folder / f"{policy} {failure}".replace(" ", "_")
    arguments = ["sim", str(SCENARIO), "--quiet", "--no-flows", "--routing", policy,
                 "--set", f"job.traffic.shift.size={size}", "-o", str(results)]
    if fault is not None:
        arguments += ["--fault", fault]
    print("  weft " + shlex.join(arguments), flush=True)
    if subprocess.run([weft] + arguments).returncode != 0:
        sys.exit(2)
    return json.loads((results / "summary.json").read_text())


def measure(weft, size, folder):
    rows = []
    for policy in POLICIES:
        whole = None
        for failure, (_, left) in FAILURES.items():
            summary = run(weft, policy, failure, size, folder)
            time = summary["makespan_ns"] * 1e-3
            whole = whole or time
            rows.append({
                "routing": policy,
                "failed": failure,
                "longest_us": round(time, 1),
                "capacity_left": round(whole / time, 3),
                "arithmetic": round(float(left), 3),
                "lost_packets": summary["signals"].get("link_down_loss", 0),
            })
    return rows


def table(rows):
    lines = [list(rows[0])] + [[str(value) for value in row.values()] for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join("  ".join(cell.ljust(w) if i < 2 else cell.rjust(w)
                               for i, (cell, w) in enumerate(zip(line, widths))) for line in lines)


def plot(rows):
    """Bars of what is left, by failure and policy, with a line where arithmetic puts it."""
    width, height, left, top, bottom, bar = 900, 460, 70, 60, 60, 40
    failures = [f for f in FAILURES if f != "nothing"]
    y = lambda value: height - bottom - (height - top - bottom) * value
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
           f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="14">',
           f'<rect width="{width}" height="{height}" fill="white"/>',
           f'<text x="{left}" y="30" font-size="20">Capacity left, of what there was with the same routing</text>']
    for tenth in range(0, 11, 2):
        out.append(f'<path d="M{left} {y(tenth / 10):.1f}H{width - 20}" stroke="#dddddd"/>'
                   f'<text x="{left - 10}" y="{y(tenth / 10) + 5:.1f}" text-anchor="end">{tenth / 10:g}</text>')
    for i, policy in enumerate(POLICIES):
        out.append(f'<rect x="{left + 130 * i}" y="40" width="12" height="12" fill="{COLORS[policy]}"/>'
                   f'<text x="{left + 130 * i + 18}" y="51">{policy}</text>')
    for group, failure in enumerate(failures):
        start = left + 40 + group * (width - left - 20) / len(failures)
        chosen = [row for row in rows if row["failed"] == failure]
        for i, row in enumerate(chosen):
            value = row["capacity_left"]
            out.append(f'<rect x="{start + i * bar:.1f}" y="{y(value):.1f}" width="{bar - 6}" '
                       f'height="{y(0) - y(value):.1f}" fill="{COLORS[row["routing"]]}"/>')
        line = y(chosen[0]["arithmetic"])
        out.append(f'<path d="M{start - 12:.1f} {line:.1f}h{bar * len(chosen) + 18}" stroke="black" '
                   'stroke-dasharray="6 3"/>')
        out.append(f'<text x="{start + bar * len(chosen) / 2:.1f}" y="{height - bottom + 24}" '
                   f'text-anchor="middle">{failure} lost</text>')
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("planes"))
    parser.add_argument("--weft", default="bazel-bin/tools/weft/weft", help="the weft program")
    parser.add_argument("--size", default="100MB", help="bytes of each message")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    rows = measure(options.weft, options.size, options.output)
    with open(options.output / "table.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    (options.output / "capacity.svg").write_text(plot(rows))
    print("\n" + table(rows) + f"\n\n{options.output}/table.csv, {options.output}/capacity.svg")


if __name__ == "__main__":
    main()

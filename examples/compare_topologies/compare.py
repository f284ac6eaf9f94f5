#!/usr/bin/env python3
"""From a number of endpoints to a table and a plot: what networks of eight families cost, and how fast three
applications run on them. Every command is printed before it runs; nothing but Python's own library is needed.

    examples/compare_topologies/compare.py [--endpoints 1024] [-o compare]
"""

import argparse
import csv
import json
import shlex
import subprocess
import sys
from html import escape
from pathlib import Path

TOPOLOGIES = ["fat_tree2", "fat_tree", "dragonfly", "slim_fly", "hyperx", "hammingmesh", "torus", "jellyfish"]

# What a family needs beside the number of endpoints, so that every endpoint injects 400 Gb/s.
EXTRA = {"hammingmesh": "link=100Gbps"}  # an accelerator has four ports

# What `weft goal gen` makes each application of.
APPLICATIONS = {
    "halo": "stencil:cells=256,iterations=4,compute=50us,allreduce=1",
    "graph": "sparse:degree=8,size=256KB,iterations=2,compute=20us",
    "training": "collective:kind=allreduce,size=64MB,algorithm=rabenseifner,iterations=2,compute=1ms",
}


def run(weft, arguments):
    """Runs a weft command that is shown; its standard output."""
    print("  weft " + shlex.join(arguments), flush=True)
    done = subprocess.run([weft] + arguments, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(done.returncode)
    return done.stdout


def measure(weft, name, endpoints, graphs, folder, routing):
    """One row of the table."""
    topology = ",".join([f"{name}:endpoints={endpoints}"] + ([EXTRA[name]] if name in EXTRA else []))
    facts = json.loads(run(weft, ["topo", "analyze", topology, "--only", "distances", "--json"]))
    bill = json.loads(run(weft, ["topo", "cost", topology, "--json"]))
    row = {
        "topology": name,
        "endpoints": facts["endpoints"],
        "routers": facts["routers"],
        "diameter": facts["diameter"],
        "average_path_length": round(facts["average_path_length"], 3),
        "price_per_endpoint": round(bill["price"] / facts["endpoints"]),
        "watts_per_endpoint": round(bill["watts"] / facts["endpoints"], 1),
    }
    for application, graph in graphs.items():
        results = folder / f"{name}_{application}"
        run(weft, ["sim", "--quiet", "--no-flows", "--goal", str(graph), "--topology", topology, "--network", "flow",
                   "-o", str(results)] + (["--routing", routing] if routing else []))
        summary = json.loads((results / "summary.json").read_text())
        row["routing"] = summary["routing"].split(":")[0]
        row[application + "_ms"] = round(summary["makespan_ns"] * 1e-6, 3)
    return row


def relative_runtime(rows):
    """Of each row: the geometric mean over the applications of its runtime by that of the fastest."""
    least = {a: min(row[a + "_ms"] for row in rows) for a in APPLICATIONS}
    for row in rows:
        product = 1.0
        for application, time in least.items():
            product *= row[application + "_ms"] / time
        row["relative_runtime"] = round(product ** (1 / len(least)), 3)


def table(rows):
    columns = list(rows[0])
    widths = [max(len(c), *(len(str(row[c])) for row in rows)) for c in columns]
    lines = [[c for c in columns]] + [[str(row[c]) for c in columns] for row in rows]
    return "\n".join("  ".join(cell.ljust(w) if i == 0 else cell.rjust(w)
                               for i, (cell, w) in enumerate(zip(line, widths))) for line in lines)


def ticks(most):
    """Round values from 0 to beyond `most`."""
    step = 10 ** (len(str(int(most))) - 1)
    while most / step < 4:
        step /= 2
    return [i * step for i in range(int(most / step) + 2)]


def plot(rows, endpoints):
    """Runtime against cost: a picture of 960 by 600."""
    width, height, left, top, right, bottom = 960, 600, 90, 60, 40, 80
    x_ticks = ticks(max(row["price_per_endpoint"] for row in rows))
    y_ticks = ticks(max(row["relative_runtime"] for row in rows))
    x = lambda value: left + (width - left - right) * value / x_ticks[-1]
    y = lambda value: height - bottom - (height - top - bottom) * value / y_ticks[-1]
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
           f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="14">',
           f'<rect width="{width}" height="{height}" fill="white"/>',
           f'<text x="{left}" y="34" font-size="20">Runtime against cost, {endpoints} endpoints</text>']
    for value in x_ticks:
        out.append(f'<path d="M{x(value):.1f} {top}V{height - bottom}" stroke="#dddddd"/>'
                   f'<text x="{x(value):.1f}" y="{height - bottom + 22}" text-anchor="middle">{value:,.0f}</text>')
    for value in y_ticks:
        out.append(f'<path d="M{left} {y(value):.1f}H{width - right}" stroke="#dddddd"/>'
                   f'<text x="{left - 10}" y="{y(value) + 5:.1f}" text-anchor="end">{value:g}</text>')
    out.append(f'<text x="{(left + width - right) / 2}" y="{height - 22}" text-anchor="middle">'
               "price of the network per endpoint, $</text>")
    out.append(f'<text transform="translate(30 {(top + height - bottom) / 2}) rotate(-90)" text-anchor="middle">'
               "runtime, relative to the fastest (1)</text>")
    placed = []
    for row in sorted(rows, key=lambda r: (r["relative_runtime"], r["price_per_endpoint"])):
        px, py = x(row["price_per_endpoint"]), y(row["relative_runtime"])
        at_end = px > width - right - 130
        label_y = py + 5
        while any(abs(label_y - other) < 16 and abs(px - ox) < 150 for ox, other in placed):
            label_y -= 16
        placed.append((px, label_y))
        out.append(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="7" fill="#0072b2" fill-opacity="0.85"/>')
        out.append(f'<text x="{px + (-12 if at_end else 12):.1f}" y="{label_y:.1f}" '
                   f'text-anchor="{"end" if at_end else "start"}">{escape(row["topology"])}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--endpoints", type=int, default=1024)
    parser.add_argument("-o", "--output", type=Path, default=Path("compare"))
    parser.add_argument("--weft", default="bazel-bin/tools/weft/weft", help="the weft program")
    parser.add_argument("--routing", help="for all, instead of what is recommended for each")
    parser.add_argument("--topologies", default=",".join(TOPOLOGIES), help="families, by commas")
    options = parser.parse_args()
    if options.endpoints < 8:
        parser.error("--endpoints: expected 8 or more")
    options.output.mkdir(parents=True, exist_ok=True)
    graphs = {}
    for application, workload in APPLICATIONS.items():
        graphs[application] = options.output / f"{application}.weft"
        run(options.weft, ["goal", "gen", workload, "--ranks", str(options.endpoints), "-o",
                           str(graphs[application])])
    rows = [measure(options.weft, name, options.endpoints, graphs, options.output, options.routing)
            for name in options.topologies.split(",")]
    relative_runtime(rows)
    rows.sort(key=lambda row: row["relative_runtime"])
    with open(options.output / "table.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    (options.output / "runtime_against_cost.svg").write_text(plot(rows, options.endpoints))
    print("\n" + table(rows) + f"\n\n{options.output}/table.csv, {options.output}/runtime_against_cost.svg")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""A permutation of 1,024 hosts with eight slow core links, under policies that see that and some that don't: a table
and a plot. Nothing but Python's own library is needed.

    examples/slow_links/slow_links.py [-o slow_links] [--jobs 2]
"""

import argparse
import csv
import itertools
import json
import math
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SCENARIO = Path(__file__).with_name("permutation.txtpb")
LIMIT_US = 220  # of htsim's validation, for all kinds of spraying

EIGHT_PACKETS = "composite:capacity=33KB,kmin=8250B,kmax=24750B"  # NDP's queues, marks at a quarter and three
# Name, --routing, --queue (None: the scenario's), and whether routes are made from the slow links' rates.
POLICIES = {
    "ecmp": ("ecmp", None, False),
    "flowcut": ("flowcut", None, False),
    "spray": ("spray:paths=128", None, False),
    "switch_spray": ("switch_spray", None, False),
    "minimal_adaptive": ("minimal_adaptive", None, False),
    "power_of_two": ("power_of_two", None, False),
    "drill": ("drill", None, False),
    "bitmap": ("bitmap:paths=128", None, False),
    "reps": ("reps:paths=128", None, False),
    "spray, 8 packets": ("spray:paths=128", EIGHT_PACKETS, False),
    "bitmap, 8 packets": ("bitmap:paths=128", EIGHT_PACKETS, False),
    "reps, 8 packets": ("reps:paths=128", EIGHT_PACKETS, False),
    "weighted, told": ("switch_spray:choice=weighted", None, True),
}
COLORS = ["#999999", "#56b4e9", "#e69f00", "#d00060"]


def slow_links(k):
    """Cases: names of cables, ends as in links.csv, and what is left of their rate."""
    half = k // 2
    one_switch = [f"aggregation 0.0 / core {i}" for i in range(half)]
    one_each = [f"aggregation 0.{i} / core {half * i}" for i in range(half)]
    return {
        "none": ([], 1),
        "all of one switch, 1/4": (one_switch, 0.25),
        "all of one switch, 1/10": (one_switch, 0.1),
        "one of each switch, 1/10": (one_each, 0.1),
    }


def told_topology(weft, k, cables, rate, path):
    """The network as a file in which these cables have their true rate from the start, so that routes know of it."""
    subprocess.run([weft, "topo", "export", f"fat_tree:k={k},link=100Gbps,latency=1us", "-o", str(path)],
                   check=True, stdout=subprocess.DEVNULL)
    space = "{http://graphml.graphdrawing.org/xmlns}"
    tree = ElementTree.parse(path)
    name = {node.get("id"): data.text for node in tree.iter(space + "node")
            for data in node.findall(space + "data") if data.get("key") == "name"}
    found = 0
    for edge in tree.iter(space + "edge"):
        ends = [name[edge.get("source")], name[edge.get("target")]]
        if any(cable.split(" / ") in (ends, ends[::-1]) for cable in cables):
            found += 1
            for data in edge.findall(space + "data"):
                if data.get("key") == "rate":
                    data.text = str(round(int(data.text) * rate))
    if found != len(cables):
        sys.exit(f"{found} of {len(cables)} slow cables are in {path}")
    tree.write(path)


def command(weft, case, policy, k, size, folder):
    routing, queue, told = POLICIES[policy]
    cables, rate = slow_links(k)[case]
    results = folder / "".join(c if c.isalnum() else "_" for c in f"{case} {policy}")
    arguments = ["sim", str(SCENARIO), "--quiet", "--no-flows", "--routing", routing,
                 "--set", f"job.traffic.permutation.size={size}", "-o", str(results)]
    if queue is not None:
        arguments += ["--queue", queue]
    if told:
        path = results.with_suffix(".graphml")
        told_topology(weft, k, cables, rate, path)
        return arguments + ["--topology", f"graph_file:file={path}"]
    arguments += ["--set", f"topology.fat_tree.k={k}"]
    for cable in cables:
        arguments += ["--fault", f"link={cable},rate={rate}"]
    return arguments


def run(weft, case, policy, arguments):
    """A row of the table."""
    print("  weft " + shlex.join(arguments), flush=True)
    if subprocess.run([weft] + arguments).returncode != 0:
        raise RuntimeError("weft failed")
    summary = json.loads((Path(arguments[arguments.index("-o") + 1]) / "summary.json").read_text())
    completion, signals = summary["flows"]["completion"], summary["signals"]
    return {
        "slow": case, "routing": policy,
        "longest_us": round(completion["max_ns"] * 1e-3, 1),
        "p99_us": round(completion["p99_ns"] * 1e-3, 1),
        "mean_us": round(completion["mean_ns"] * 1e-3, 1),
        "sent_again": signals.get("retransmit", 0),
        "overtaken": summary["overtaken_packets"],
    }


def table(rows):
    """Longest times: a line for each policy."""
    cases = list(dict.fromkeys(row["slow"] for row in rows))
    value = {(row["slow"], row["routing"]): row["longest_us"] for row in rows}
    lines = [["longest, us"] + cases] + [[policy] + [f"{value[case, policy]:,.1f}" for case in cases]
                                         for policy in POLICIES]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join("  ".join(cell.ljust(w) if i == 0 else cell.rjust(w)
                               for i, (cell, w) in enumerate(zip(line, widths))) for line in lines)


def plot(rows):
    """Bars of the longest time, by policy and case, on a logarithmic scale, with a line at the limit."""
    cases = list(dict.fromkeys(row["slow"] for row in rows))
    value = {(row["slow"], row["routing"]): row["longest_us"] for row in rows}
    left, top, bottom, bar, gap = 70, 70, 70, 18, 22
    group = bar * len(cases) + gap
    width, height = left + group * len(POLICIES) + 20, 500
    low, high = math.log10(min(value.values())) - 0.1, math.log10(max(value.values())) + 0.05
    y = lambda v: height - bottom - (height - top - bottom) * (math.log10(v) - low) / (high - low)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
           f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">',
           f'<rect width="{width}" height="{height}" fill="white"/>',
           f'<text x="{left}" y="28" font-size="19">Longest message, us, by which core links are slow</text>']
    for i, case in enumerate(cases):
        out.append(f'<rect x="{left + 230 * i}" y="40" width="12" height="12" fill="{COLORS[i]}"/>'
                   f'<text x="{left + 230 * i + 18}" y="51">{case}</text>')
    for tick in (100, 200, 500, 1000, 2000, 5000, 10000):
        if low <= math.log10(tick) <= high:
            out.append(f'<path d="M{left} {y(tick):.1f}H{width - 10}" stroke="#dddddd"/>'
                       f'<text x="{left - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:,}</text>')
    for i, policy in enumerate(POLICIES):
        start = left + gap / 2 + i * group
        for j, case in enumerate(cases):
            v = value[case, policy]
            out.append(f'<rect x="{start + j * bar:.1f}" y="{y(v):.1f}" width="{bar - 2}" '
                       f'height="{height - bottom - y(v):.1f}" fill="{COLORS[j]}"/>')
        for line, word in enumerate(policy.split(", ")):
            out.append(f'<text x="{start + bar * len(cases) / 2:.1f}" y="{height - bottom + 18 + 15 * line}" '
                       f'font-size="11" text-anchor="middle">{word}</text>')
    if low < math.log10(LIMIT_US) < high:
        out.append(f'<path d="M{left} {y(LIMIT_US):.1f}H{width - 10}" stroke="black" stroke-dasharray="6 3"/>')
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("slow_links"))
    parser.add_argument("--weft", default="bazel-bin/tools/weft/weft", help="the weft program")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--k", type=int, default=16, help="ports of a switch")
    parser.add_argument("--size", default="2MB", help="bytes of each message")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    points = list(itertools.product(slow_links(options.k), POLICIES))
    work = [(*point, command(options.weft, *point, options.k, options.size, options.output)) for point in points]
    with ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(lambda item: run(options.weft, *item), work))
    with open(options.output / "table.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    (options.output / "longest.svg").write_text(plot(rows))
    print("\n" + table(rows) + f"\n\n{options.output}/table.csv, {options.output}/longest.svg")


if __name__ == "__main__":
    main()

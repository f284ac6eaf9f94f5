#!/usr/bin/env python3
"""Flowcut against ECMP, flowlets, spraying, UGAL and Valiant on a dragonfly and a fat tree, at five loads, with and
without slow links: a table and a plot. Nothing but Python's own library is needed.

    examples/flowcut/flowcut.py [-o flowcut] [--jobs 2]
"""

import argparse
import csv
import itertools
import json
import math
import random
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
import report  # noqa: E402

HERE = Path(__file__).parent
SIZES = HERE / "web_search_tenth.txt"

# Hosts, what load 1 is in bits per second of a host (the scenario files say why), and the links that run at a tenth
# of their rate.
NETWORKS = {
    "dragonfly": (1024, 50e9, [f"random_links=2,between=router {a}.* / router {b}.*,rate=0.1"
                               for a, b in itertools.combinations(range(4), 2)]),
    "fat_tree": (128, 200e9, ["random_links=8,between=aggregation * / core *,rate=0.1"]),
}
TRAFFIC = ["permutation", "web search"]
LINKS = ["all whole", "some slow"]
POLICIES = {
    "ecmp": "ecmp",
    "flowlet 3 us": "flowlet:gap=3us,choice=least_loaded",
    "flowlet 11 us": "flowlet:gap=11us,choice=least_loaded",
    "flowlet 20 us": "flowlet:gap=20us,choice=least_loaded",
    "letflow 3 us": "flowlet:gap=3us,choice=random",
    "letflow 11 us": "flowlet:gap=11us,choice=random",
    "letflow 20 us": "flowlet:gap=20us,choice=random",
    "spray": "spray",
    "ugal": "ugal",
    "valiant": "valiant",
    "flowcut": "flowcut",
    "flowcut ingress": "flowcut:deployment=ingress",
    "flowcut nic": "flowcut:deployment=nic",
}
# In the plot; the table has all.
DRAWN = {policy: report.STYLES[policy.removesuffix(" 11 us")]
         for policy in POLICIES if not policy.endswith((" 3 us", " 20 us"))}


def size_distribution():
    """Points (share of messages, bytes), which grow."""
    lines = [line.split() for line in SIZES.read_text().splitlines() if not line.startswith("#")]
    return [(float(percent) / 100, float(size)) for size, percent in lines]


def draw_size(points, share):
    for (low, small), (high, large) in zip(points, points[1:]):
        if share <= high:
            return max(1, round(small + (large - small) * (share - low) / (high - low)))
    return round(points[-1][1])


def write_permutation(path, hosts, bits_per_second, duration_us):
    """Every host sends to one other only, and gets from one only: messages like those of web search, at random
    times, in htsim's format of connections."""
    points = size_distribution()
    mean = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in zip(points, points[1:]))
    gap_us = mean * 8 / bits_per_second * 1e6
    draw = random.Random(1)
    to = list(range(hosts))
    for i in range(hosts - 1, 0, -1):  # Sattolo: a single cycle, so nobody sends to itself
        j = draw.randrange(i)
        to[i], to[j] = to[j], to[i]
    lines = []
    for host in range(hosts):
        start = draw.expovariate(1 / gap_us)
        while start < duration_us:
            lines.append(f"{host}->{to[host]} start {round(start * 1e6)} size {draw_size(points, draw.random())}")
            start += draw.expovariate(1 / gap_us)
    path.write_text(f"Nodes {hosts}\nConnections {len(lines)}\n" + "\n".join(lines) + "\n")


def command(point, duration_us, folder):
    network, traffic, links, load, policy = point
    hosts, full, faults = NETWORKS[network]
    matrix = folder / f"permutation {network} {load:g}.cm".replace(" ", "_")
    if traffic == "permutation":
        if not matrix.exists():
            write_permutation(matrix, hosts, load * full, duration_us)
        chosen = ["--traffic", f"connections:file={matrix}"]
    else:
        chosen = ["--traffic", f"poisson:load={load:g},rate={full / 1e9:g}Gbps,duration={duration_us:g}us,sizes={SIZES}"]
    arguments = ["sim", str(HERE / f"{network}.txtpb"), "--quiet", "--routing", POLICIES[policy], *chosen,
                 "-o", str(folder / "_".join(f"{part}" for part in point).replace(" ", "_"))]
    for fault in faults if links == "some slow" else []:
        arguments += ["--fault", fault]
    return arguments


def run(weft, point, arguments):
    """A row of the table."""
    network, traffic, links, load, policy = point
    print("  weft " + shlex.join(arguments), flush=True)
    if subprocess.run([weft] + arguments).returncode != 0:
        raise RuntimeError("weft failed")
    results = Path(arguments[arguments.index("-o") + 1])
    summary = json.loads((results / "summary.json").read_text())
    flows = results / "flows.csv"
    with open(flows, newline="") as file:
        packets = sum(int(row["packets"]) for row in csv.DictReader(file))
    flows.unlink()
    completion, slowdown = summary["flows"]["completion"], summary["flows"]["slowdown"]
    return {
        "network": network, "traffic": traffic, "links": links, "load": load, "routing": policy,
        "flows": summary["flows"]["count"],
        "mean_us": round(completion["mean_ns"] * 1e-3, 2),
        "p99_us": round(completion["p99_ns"] * 1e-3, 1),
        "mean_slowdown": round(slowdown["mean"], 3),
        "p99_slowdown": round(slowdown["p99"], 2),
        "out_of_order_percent": round(100 * summary["out_of_order_packets"] / packets, 4),
        "overtaken_percent": round(100 * summary["overtaken_packets"] / packets, 4),
        "overtaken_packets": summary["overtaken_packets"],
        "data_packets": packets,
        "retransmissions": summary["signals"].get("retransmit", 0),
        "drains": summary["signals"].get("drain", 0),
    }


def against_flowcut(rows):
    """Flowcut's completion times as shares of the others': the least, the geometric mean and the greatest of all loads
    and both kinds of traffic."""
    of = {(r["network"], r["traffic"], r["links"], r["load"], r["routing"]): r for r in rows}
    lines = [f"{'flowcut / other':35}  {'mean':>18}  {'99th percentile':>18}"]
    for network, links, policy in itertools.product(NETWORKS, LINKS, POLICIES):
        shares = []
        for value in ("mean_us", "p99_us"):
            all_of = [of[(*key[:4], "flowcut")][value] / row[value] for key, row in of.items()
                      if (key[0], key[2], key[4]) == (network, links, policy)]
            if all_of:
                middle = math.exp(sum(map(math.log, all_of)) / len(all_of))
                shares.append(f"{min(all_of):.2f} {middle:5.2f} {max(all_of):5.2f}")
        if shares and policy != "flowcut":
            lines.append(f"{network:9}  {links:9}  {policy:15}{shares[0]:>18}  {shares[1]:>18}")
    return "\n".join(lines)


def panel(picture, place, title, rows, value, axis):
    """A value over the load, a line for each policy that is drawn."""
    loads = sorted({row["load"] for row in rows})
    values = [row[value] for row in rows if row["routing"] in DRAWN]
    if axis == "%":
        up = report.Axis("packets out of order, %", high=max(1.05 * max(values), 1))
    else:
        up = report.Axis(axis, min(values) * 0.9, max(values) * 1.1, log=True)
    chosen = picture.panel(*place, title, report.Axis("load", names=[f"{load * 100:.0f}%" for load in loads]), up)
    for policy, style in DRAWN.items():
        points = [(loads.index(row["load"]), row[value]) for row in rows if row["routing"] == policy]
        chosen.line(sorted(points), style, wide=policy == "flowcut")


def plot(rows):
    """Columns: network and traffic. Rows: mean and 99th percentile with all links whole, the same with slow ones,
    and packets out of order."""
    columns = [(n, t) for n in NETWORKS for t in TRAFFIC if any((r["network"], r["traffic"]) == (n, t) for r in rows)]
    kinds = [("mean_us", "all whole", "mean", "completion time, us"), ("p99_us", "all whole", "p99", "completion time, us"),
             ("mean_us", "some slow", "mean, slow links", "completion time, us"),
             ("p99_us", "some slow", "p99, slow links", "completion time, us"),
             ("out_of_order_percent", "all whole", "order", "%")]
    picture = report.Plot("Flowcut against other routing: completion times of messages, and order of packets, by load",
                          "1,024 hosts of a dragonfly and 128 of a fat tree. Times on logarithmic scales. Slow links run at a tenth "
                          "of their rate. Flowlets with a gap of 11 us; other gaps are in table.csv.",
                          len(columns), len(kinds), (330, 230), list(DRAWN.items()))
    for column, (network, traffic) in enumerate(columns):
        for line, (value, links, what, axis) in enumerate(kinds):
            chosen = [r for r in rows if (r["network"], r["traffic"], r["links"]) == (network, traffic, links)]
            panel(picture, (column, line), f"{network.replace('_', ' ')}, {traffic}: {what}", chosen, value, axis)
    return picture.svg()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("flowcut"))
    parser.add_argument("--weft", default="bazel-bin/tools/weft/weft", help="the weft program")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--duration", type=float, default=500, help="microseconds in which messages start")
    parser.add_argument("--networks", nargs="+", default=list(NETWORKS), choices=NETWORKS)
    parser.add_argument("--loads", nargs="+", type=float, default=[0.2, 0.4, 0.6, 0.8, 1.0])
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    points = list(itertools.product(options.networks, TRAFFIC, LINKS, options.loads, POLICIES))
    arguments = [command(point, options.duration, options.output) for point in points]
    with ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(lambda work: run(options.weft, *work), zip(points, arguments)))
    report.write_csv(options.output / "table.csv", rows)
    (options.output / "flowcut.svg").write_text(plot(rows))
    print("\n" + against_flowcut(rows) + f"\n\n{options.output}/table.csv, {options.output}/flowcut.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())

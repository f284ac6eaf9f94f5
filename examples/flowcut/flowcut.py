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
COLORS = {"ecmp": "#000000", "flowlet 3 us": "#f0b000", "flowlet 11 us": "#e08000", "flowlet 20 us": "#b05000",
          "letflow 3 us": "#f0d890", "letflow 11 us": "#e0b070", "letflow 20 us": "#b08050",
          "spray": "#999999", "ugal": "#009e73", "valiant": "#56b4e9", "flowcut": "#d00060",
          "flowcut ingress": "#a060d0", "flowcut nic": "#6060ff"}


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


def panel(rows, value, title, x, y, width, height, logarithmic):
    """One plot of a value over the load, a line for each policy."""
    loads = sorted({r["load"] for r in rows})
    largest, least = max(r[value] for r in rows), min(r[value] for r in rows)
    if logarithmic:
        low, high = math.log10(least) - 0.03, math.log10(largest) + 0.03
    else:
        low, high = 0, max(largest * 1.05, 1e-9)
    across = lambda load: x + (width * (loads.index(load) + 0.5)) / len(loads)
    up = lambda v: y + height - height * ((math.log10(v) if logarithmic else v) - low) / (high - low)
    out = [f'<path d="M{x} {y}V{y + height}H{x + width}" fill="none" stroke="black"/>',
           f'<text x="{x}" y="{y - 8}" font-size="12">{title}</text>']
    if logarithmic:
        ticks = [m * 10 ** e for e in range(0, 5) for m in (1, 2, 5) if low <= math.log10(m * 10 ** e) <= high]
    else:
        ticks = [high * i / 4 for i in range(5)]
    for tick in ticks:
        out.append(f'<path d="M{x} {up(tick):.1f}H{x + width}" stroke="#e4e4e4"/>'
                   f'<text x="{x - 5}" y="{up(tick) + 4:.1f}" text-anchor="end" font-size="11">{tick:.3g}</text>')
    for load in loads:
        out.append(f'<text x="{across(load):.1f}" y="{y + height + 15}" text-anchor="middle" font-size="11">'
                   f'{load * 100:.0f}%</text>')
    for policy in POLICIES:
        points = [(across(r["load"]), up(r[value])) for r in sorted(rows, key=lambda r: r["load"])
                  if r["routing"] == policy]
        if points:
            line = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
            wide = 3 if policy == "flowcut" else 1.5
            out.append(f'<polyline points="{line}" fill="none" stroke="{COLORS[policy]}" stroke-width="{wide}"/>')
    return out


def plot(rows):
    """Columns: network and traffic. Rows: mean and 99th percentile with all links whole, the same with slow ones,
    and packets out of order."""
    across, down, left, top = 300, 230, 60, 90
    columns = [(n, t) for n in NETWORKS for t in TRAFFIC]
    kinds = [("mean_us", "all whole", "mean, us", True), ("p99_us", "all whole", "p99, us", True),
             ("mean_us", "some slow", "mean, us, slow links", True),
             ("p99_us", "some slow", "p99, us, slow links", True),
             ("out_of_order_percent", "all whole", "packets out of order, %", False)]
    width, height = left + across * len(columns), top + down * len(kinds) + 10
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
           f'viewBox="0 0 {width} {height}" font-family="sans-serif">',
           f'<rect width="{width}" height="{height}" fill="white"/>',
           f'<text x="{left}" y="24" font-size="18">Completion times and order of packets, by load</text>']
    for i, policy in enumerate(POLICIES):
        x, y = left + 160 * (i % 7), 34 + 16 * (i // 7)
        out.append(f'<rect x="{x}" y="{y}" width="10" height="10" fill="{COLORS[policy]}"/>'
                   f'<text x="{x + 14}" y="{y + 9}" font-size="12">{policy}</text>')
    for column, (network, traffic) in enumerate(columns):
        for row, (value, links, name, logarithmic) in enumerate(kinds):
            chosen = [r for r in rows if (r["network"], r["traffic"], r["links"]) == (network, traffic, links)]
            if chosen:
                out += panel(chosen, value, f"{network}, {traffic}: {name}", left + across * column,
                             top + down * row, across - 70, down - 60, logarithmic)
    return "\n".join(out + ["</svg>"]) + "\n"


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
    with open(options.output / "table.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    (options.output / "flowcut.svg").write_text(plot(rows))
    print("\n" + against_flowcut(rows) + f"\n\n{options.output}/table.csv, {options.output}/flowcut.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())

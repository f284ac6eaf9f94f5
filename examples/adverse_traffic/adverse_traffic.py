#!/usr/bin/env python3
"""Worst-case traffic on three networks: accepted load against offered load, by routing, with the limits of the fluid
model: a table and a plot. Every command is printed before it runs; nothing but Python's own library is needed.

    examples/adverse_traffic/adverse_traffic.py [-o adverse]
"""

import argparse
import csv
import json
import shlex
import subprocess
import sys
from pathlib import Path

SCENARIO = Path(__file__).with_name("adverse.txtpb")
# Hosts, and by how many each host's partner is further on: all of a group, line or router send to the next one.
NETWORKS = {
    "dragonfly:p=2": (72, 8),
    "hyperx:dims=4x4,hosts=4": (64, 4),
    "slim_fly:q=5": (200, 4),
}
POLICIES = {"ecmp": "#999999", "valiant": "#e69f00", "ugal": "#0072b2", "par": "#009e73"}
MESSAGE, GBPS = 16384, 100


def run(weft, arguments, status=(0,)):
    print("  weft " + shlex.join(arguments), flush=True)
    done = subprocess.run([weft] + arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode not in status:
        sys.exit(done.stderr)
    return done.stdout


def write_traffic(path, hosts, by, load, end_us):
    """Every host sends a message at equal distances, at its share of its link's rate."""
    gap = MESSAGE * 8 / (load * GBPS) * 1000  # ps
    starts = []
    for host in range(hosts):
        time = gap * (host * 0.6180339887 % 1)  # not all at once
        while time < end_us * 1e6:
            starts.append((int(time), host))
            time += gap
    lines = [f"Nodes {hosts}", f"Connections {len(starts)}"]
    lines += [f"{host}->{(host + by) % hosts} id {i} start {time} size {MESSAGE}"
              for i, (time, host) in enumerate(sorted(starts), 1)]
    path.write_text("\n".join(lines) + "\n")


def accepted_packets(weft, network, policy, load, traffic, end_us, folder):
    """What arrives in the second half, of all hosts' rate."""
    run(weft, ["sim", str(SCENARIO), "--quiet", "--topology", f"{network},link={GBPS}Gbps", "--routing", policy,
               "--traffic", f"connections:file={traffic}", "--set", f"limits.time={end_us}us", "-o", str(folder)], (0, 4))
    with open(folder / "network_series.csv", newline="") as file:
        rows = [(float(row["time_ns"]), float(row["bytes_delivered"])) for row in csv.DictReader(file)]
    half = [row for row in rows if row[0] > rows[-1][0] / 2]
    return sum(row[1] for row in half) * 8 / (rows[-1][0] / 2) / (NETWORKS[network][0] * GBPS)


def accepted_fluids(weft, network, policy, load, by, folder):
    size = 2_000_000
    run(weft, ["sim", "--quiet", "--no-flows", "--topology", f"{network},link={GBPS}Gbps,latency=1ns", "--routing",
               policy, "--network", f"flow:header=0,max_rate={load * GBPS:g}Gbps", "--traffic", f"shift:by={by},size={size}", "-o",
               str(folder)])
    return size * 8 / json.loads((folder / "summary.json").read_text())["makespan_ns"] / GBPS


def measure(weft, loads, end_us, folder):
    rows = []
    for network, (hosts, by) in NETWORKS.items():
        limits = {policy: json.loads(run(weft, ["route", "load", "--topology", network, "--routing", policy, "--traffic",
                                                f"shift:by={by}", "--json"]))["saturation"] for policy in POLICIES}
        for load in loads:
            traffic = folder / "traffic.cm"
            write_traffic(traffic, hosts, by, load, end_us)
            for policy in POLICIES:
                name = f"{network.split(':')[0]}_{policy}_{load:g}"
                rows.append({
                    "network": network,
                    "routing": policy,
                    "offered": load,
                    "accepted": round(accepted_packets(weft, network, policy, load, traffic, end_us, folder / name), 4),
                    "fluids": round(accepted_fluids(weft, network, policy, load, by, folder / (name + "_flow")), 4),
                    "limit": round(limits[policy], 4),
                })
    return rows


def plot(rows):
    """For each network accepted against offered load; dashed: the limits."""
    size, left, top, bottom = 300, 60, 80, 60
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{len(NETWORKS) * (size + left) + 30}" '
           f'height="{size + top + bottom}" font-family="sans-serif" font-size="13">',
           '<rect width="100%" height="100%" fill="white"/>',
           f'<text x="{left}" y="24" font-size="18">Worst-case traffic: accepted against offered load</text>']
    for i, (policy, color) in enumerate(POLICIES.items()):
        out.append(f'<path d="M{left + 110 * i} 42h20" stroke="{color}" stroke-width="3"/>'
                   f'<text x="{left + 110 * i + 26}" y="47">{policy}</text>')
    out.append(f'<text x="{left + 460}" y="47">dashed: limit of the fluid model</text>')
    for i, network in enumerate(NETWORKS):
        x = lambda value: left + i * (size + left) + size * value
        y = lambda value: top + size * (1 - value)
        out.append(f'<text x="{x(0)}" y="{top - 8}">{network}</text>')
        for tick in (0, 0.25, 0.5, 0.75, 1):
            out.append(f'<path d="M{x(0)} {y(tick)}H{x(1)}M{x(tick)} {y(0)}V{y(1)}" stroke="#dddddd"/>'
                       f'<text x="{x(0) - 8}" y="{y(tick) + 5}" text-anchor="end">{tick:g}</text>'
                       f'<text x="{x(tick)}" y="{y(0) + 20}" text-anchor="middle">{tick:g}</text>')
        for policy, color in POLICIES.items():
            mine = [row for row in rows if row["network"] == network and row["routing"] == policy]
            limit = y(mine[0]["limit"])
            out.append(f'<path d="M{x(0)} {limit:.1f}H{x(1)}" stroke="{color}" stroke-dasharray="5 4"/>')
            points = " ".join(f'{x(row["offered"]):.1f},{y(row["accepted"]):.1f}' for row in mine)
            out.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="3"/>')
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("adverse"))
    parser.add_argument("--weft", default="bazel-bin/tools/weft/weft", help="the weft program")
    parser.add_argument("--loads", default="0.1,0.2,0.3,0.4,0.5,0.6,0.8,1", help="offered, of hosts' links")
    parser.add_argument("--time", type=int, default=400, help="simulated, in microseconds")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    rows = measure(options.weft, [float(load) for load in options.loads.split(",")], options.time, options.output)
    with open(options.output / "table.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    (options.output / "accepted.svg").write_text(plot(rows))
    lines = [list(rows[0])] + [[str(value) for value in row.values()] for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        print("  ".join(cell.ljust(w) for cell, w in zip(line, widths)))


if __name__ == "__main__":
    main()

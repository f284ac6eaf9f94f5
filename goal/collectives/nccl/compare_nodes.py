#!/usr/bin/env python3
"""How far `weft nccl explain` and replays at flow level are from what was measured between nodes, and from sends:
medians and 90th percentiles of the errors above 64 KiB, as BETWEEN_NODES.md has them.

  compare_nodes.py WEFT nccl_nodes.csv [--replay]
"""

import argparse
import collections
import csv
import json
import statistics
import subprocess
import tempfile
from pathlib import Path

# What the file's machines are taken for, inside a node and between nodes.
NODES = {("a100_dgx", False): "dgx_a100", ("a100_dgx", True): "a100_100g",
         ("h100_dgx", False): "dgx_h100", ("h100_dgx", True): "dgx_h100"}


def read(path):
    """Rows between nodes, and sends."""
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            gpus, per_node, size = int(row["gpus"]), int(row["gpus_per_node"]), int(row["bytes"])
            between = gpus > per_node
            if size <= 65536 or (row["collective"] == "all_reduce" and not between):
                continue
            yield {"node": NODES[row["machine"], between], "collective": row["collective"], "gpus": gpus,
                   "per_node": per_node, "size": size, "us": float(row["median_us"])}


def explained_us(weft, point):
    name = {"all_reduce": "allreduce"}.get(point["collective"], point["collective"])
    return json.loads(subprocess.check_output(
        [weft, "nccl", "explain", "--collective", name, "--bytes", str(point["size"]), "--ranks", str(point["gpus"]),
         "--gpus-per-node", str(point["per_node"]), "--nics-per-node", str(nics(point)), "--node", point["node"],
         "--json"]))["time_us"]


def nics(point):
    return 1 if point["node"] == "a100_100g" else point["per_node"]


def slower_nic(point):
    """What a run doesn't know of a node (node.h): a GPU's limit where one alone sends and receives, a single send's share."""
    if point["gpus"] == point["per_node"] or point["per_node"] > 1:
        return ""
    if point["collective"] == "send_recv":
        return ",host_link=292Gbps" if point["node"] == "dgx_h100" else ""
    return ",host_link=48Gbps"


def topology(point):
    node = f"node={point['node']},accelerators={point['per_node']}{slower_nic(point)}"
    if point["gpus"] == point["per_node"]:
        return f"scale_up:{node}"
    hosts = point["gpus"] // point["per_node"] * nics(point)
    return f"scale_up:of=[single_switch:hosts={hosts}],{node},nics={nics(point)}"


def traffic(point, folder):
    if point["collective"] == "all_reduce":
        return ["--traffic", f"collective:kind=allreduce,size={point['size']}B,element=4B,ranks={point['gpus']}",
                "--set", f"collectives.profile=nccl:node={point['node']},gpus_per_node={point['per_node']},"
                         f"nics_per_node={nics(point)}"]
    goal = Path(folder) / "send.goal"
    goal.write_text(f"num_ranks 2\nrank 0 {{\ns: send {point['size']}b to 1\n}}\nrank 1 {{\nr: recv {point['size']}b from 0\n}}\n")
    return ["--goal", str(goal)]


def replayed_us(weft, point):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.check_output([weft, "sim", "-q", "--network", "flow", "-o", f"{folder}/run", "--topology",
                                 topology(point), *traffic(point, folder)], stderr=subprocess.STDOUT)
        return json.loads(Path(f"{folder}/run/summary.json").read_text())["makespan_ns"] / 1000


def report(points, told):
    groups = collections.defaultdict(list)
    for p in points:
        shape = f"{p['gpus'] // p['per_node']} x {p['per_node']}"
        for key in ((p["node"], p["collective"], shape), (p["node"], p["collective"], "all")):
            if key[2] != "all" or p["collective"] == "all_reduce":
                groups[key].append(told(p) / p["us"])
    print("| node | what | nodes x GPUs | points | median | 90th | least and most told / measured |\n|---|---|---|---|---|---|---|")
    for (node, what, shape), ratios in sorted(groups.items()):
        errors = sorted(abs(r - 1) for r in ratios)
        print(f"| `{node}` | {what} | {shape} | {len(errors)} | {100 * statistics.median(errors):.0f}% | "
              f"{100 * errors[int(0.9 * len(errors))]:.0f}% | {min(ratios):.2f} to {max(ratios):.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("csv")
    parser.add_argument("--replay", action="store_true")
    options = parser.parse_args()
    points = list(read(options.csv))
    for point in points:
        point["told"] = (replayed_us if options.replay else explained_us)(options.weft, point)
    report(points, lambda p: p["told"])


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The measured allreduces by replay: nccl_ring and nccl_tree at flow level, on nodes of 4 GPUs with a NIC each at one
switch.

  fit_replay.py WEFT nccl_allreduce.csv [--fit]

Protocol and channels are what `weft nccl explain` says, but for PROTOCOL; what channels cost is the node's (gpu.h). With
--fit these costs, and the rate of a NIC, are sought that make the squares of the logarithms of modelled over measured times
least on the fewest nodes, drawn to the start by PRIOR times the square of their own logarithm.
"""

import argparse
import csv
import json
import math
import statistics
import subprocess
import tempfile
from pathlib import Path

# Trees of 128 KB take twice as long on 4 nodes as LL can; NCCL's tables prefer LL by 8% there.
PROTOCOL = {("tree", 131072): ("ll128", 16)}
NIC_GBPS = 183
NVLINK_GBPS = 989  # 6 links between each two GPUs, as NCCL counts them: 20.6 GB/s each
START = {"launch": 2, "ll_short": 0.5, "ll_step": 0.9, "ll128_step": 1.9, "proxy": 1, "ll_between": 2.4,
         "ll128_between": 4.6, "ll_rate": 20, "ll128_rate": 20, "nic": NIC_GBPS}
PRIOR = 0.004


class Machine:
    def __init__(self, weft, folder):
        self.weft = weft
        self.folder = Path(folder)
        self.known = {}

    def call(self, *arguments):
        return subprocess.check_output([self.weft, *map(str, arguments)], stderr=subprocess.STDOUT)

    def chosen(self, algorithm, size, ranks):
        key = (algorithm, size, ranks)
        if key not in self.known:
            answer = json.loads(self.call("nccl", "explain", "--bytes", size, "--ranks", ranks, "--node",
                                          "marenostrum5_acc", "--algo", algorithm, "--nccl-version", "2.20", "--json"))
            self.known[key] = PROTOCOL.get((algorithm, size), (answer["protocol"], answer["channels"]))
        return self.known[key]

    def replayed_us(self, algorithm, size, nodes, costs="", nic=NIC_GBPS):
        key = (algorithm, size, nodes, costs, nic)
        if key not in self.known:
            protocol, channels = self.chosen(algorithm, size, 4 * nodes)
            graph = self.folder / f"{nodes}_{size}.weft"
            if not graph.exists():
                self.call("goal", "gen", f"collective:kind=allreduce,size={size}B", "--ranks", 4 * nodes, "-o", graph)
            outer = f"single_switch:hosts={nodes},link={nic:.1f}Gbps,latency=500ns"
            self.call("sim", "--quiet", "--goal", graph, "--network", "flow", "--topology",
                      f"scale_up:of=[{outer}],accelerators=4,nics=4,switches=0,inner_link={NVLINK_GBPS}Gbps,"
                      "inner_latency=0ns", "--set", "hosts.o=0", "--set",
                      f"collectives.allreduce=nccl_{algorithm}:protocol={protocol},channels={channels},ranks_per_node=4",
                      "--set", f"collectives.profile=nccl:node=marenostrum5_acc{costs}", "-o", self.folder / "out")
            summary = json.loads((self.folder / "out" / "summary.json").read_text())
            self.known[key] = summary["makespan_ns"] / 1000
        return self.known[key]


def read(path):
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            algorithm = row["algorithm"].removeprefix("nccl_")
            if algorithm in ("tree", "ring"):  # elements are bytes: tests/data/nccl/README.md
                yield algorithm, int(row["elements"]), int(row["nodes"]), float(row["median_ns"]) / 1000


def costs_of(v):
    def each(*values):
        return "[" + ",".join(values) + "]"
    rates = each(f"{v['ll_rate']:.2f}GB/s", f"{v['ll128_rate']:.2f}GB/s", "38.7GB/s")
    times = {"short_step": (v["ll_short"], v["ll128_step"], 3.4), "step": (v["ll_step"], v["ll128_step"], 3.4),
             "proxy": (v["proxy"], v["proxy"], 3), "between": (v["ll_between"], v["ll128_between"], 6.6)}
    words = [f"launch={1000 * v['launch']:.0f}ns", f"copy={rates}", f"combine={rates}"]
    words += [f"{name}={each(*(f'{1000 * us:.0f}ns' for us in all_us))}" for name, all_us in times.items()]
    return "," + ",".join(words)


def fit(machine, rows):
    """Coordinate descent on logarithms, with shorter and shorter steps."""
    def loss(values):
        total = sum(PRIOR * (100 if k == "nic" else 1) * math.log(values[k] / START[k]) ** 2 for k in START)
        costs = costs_of(values)
        return total + sum(math.log(machine.replayed_us(*row[:3], costs, values["nic"]) / row[3]) ** 2 for row in rows)

    values, best = dict(START), loss(START)
    for factor in (1.4, 1.2, 1.1):
        for name in START:
            step = factor if name != "nic" else 1 + (factor - 1) / 10
            for change in (step, 1 / step):
                while True:
                    tried = {**values, name: values[name] * change}
                    now = loss(tried) if tried["nic"] <= 200 else best
                    if now >= best - 1e-5:
                        break
                    best, values = now, tried
    return values


def report(machine, rows, costs, nic):
    fewest = min(nodes for _, _, nodes, _ in rows)
    all_nodes = sorted({nodes for _, _, nodes, _ in rows})
    for algorithm in ("tree", "ring"):
        print(f"\n| {algorithm}, bytes | " + " | ".join(f"{n} nodes" for n in all_nodes) + " |")
        print("|---|" + "---|" * len(all_nodes))
        errors = []
        for size in sorted({size for _, size, _, _ in rows}):
            cells = []
            for nodes in all_nodes:
                measured = next(us for a, s, n, us in rows if (a, s, n) == (algorithm, size, nodes))
                us = machine.replayed_us(algorithm, size, nodes, costs, nic)
                protocol = machine.chosen(algorithm, size, 4 * nodes)[0]
                cells.append(f"{us:.1f} / {measured:.1f} ({100 * (us / measured - 1):+.0f}%, {protocol})")
                if nodes != fewest:
                    errors.append(abs(us / measured - 1))
            print(f"| {size} | " + " | ".join(cells) + " |")
        print(f"\n{algorithm}, more nodes: median {100 * statistics.median(errors):.1f}%, worst {100 * max(errors):.1f}%")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("csv")
    parser.add_argument("--fit", action="store_true")
    options = parser.parse_args()
    rows = list(read(options.csv))
    with tempfile.TemporaryDirectory() as folder:
        machine, costs, nic = Machine(options.weft, folder), "", NIC_GBPS
        if options.fit:
            values = fit(machine, [row for row in rows if row[2] == min(n for _, _, n, _ in rows)])
            print(", ".join(f"{name} {value:.2f}" for name, value in values.items()))
            costs, nic = costs_of(values), values["nic"]
        report(machine, rows, costs, nic)


if __name__ == "__main__":
    main()

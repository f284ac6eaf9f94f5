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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# Trees of 128 KB take twice as long on 4 nodes as LL can; NCCL's tables prefer LL by 8% there.
PROTOCOL = {("tree", 131072): {"protocol": "ll128", "channels": 8}}
NIC_GBPS = 184.5  # as fitted
NVLINK_GBPS = 989  # 6 links between each two GPUs, as NCCL counts them: 20.6 GB/s each
# (us, GB/s; the NIC in Gb/s): what gpu.cc has of an H100, from NCCL's tables, and the NIC's nominal rate less
# what InfiniBand's headers take.
START = {"launch": 6.6, "ll_short": 0.6, "ll_step": 0.6, "ll_rate": 36.7, "ll_between": 2.4, "ll128_step": 1.9,
         "ll128_rate": 36.7, "ll128_between": 4.6, "simple_step": 3.4, "simple_rate": 38.7, "simple_between": 6.6,
         "proxy": 1, "nic": 195}
NIC_MOST = 200
PRIOR = 0.004
PROTOCOLS = ("ll", "ll128", "simple")


class Machine:
    """Replays, each done once for the costs that it depends on: those of its own protocol."""

    def __init__(self, weft, folder):
        self.weft = weft
        self.folder = Path(folder)
        self.known = {}

    def call(self, *arguments):
        return subprocess.check_output([self.weft, *map(str, arguments)], stderr=subprocess.STDOUT)

    def chosen(self, algorithm, size, ranks):
        key = (algorithm, size, ranks)
        if key not in self.known:
            self.known[key] = PROTOCOL.get((algorithm, size)) or json.loads(
                self.call("nccl", "explain", "--bytes", size, "--ranks", ranks, "--node", "marenostrum5_acc",
                          "--algo", algorithm, "--nccl-version", "2.20", "--json"))
        return self.known[key]

    def graph(self, size, nodes):
        path = self.folder / f"{nodes}_{size}.weft"
        if not path.exists():
            self.call("goal", "gen", f"collective:kind=allreduce,size={size}B", "--ranks", 4 * nodes, "-o", path)
        return path

    def replayed_us(self, algorithm, size, nodes, values=None):
        """Without values: with the preset's costs."""
        choice = self.chosen(algorithm, size, 4 * nodes)
        costs = costs_of(values, choice["protocol"]) if values else ""
        nic = values["nic"] if values else NIC_GBPS
        key = (algorithm, size, nodes, costs, nic)
        if key not in self.known:
            outer = f"single_switch:hosts={nodes},link={nic:.1f}Gbps,latency=500ns"
            schedule = (f"nccl_{algorithm}:protocol={choice['protocol']},channels={choice['channels']},"
                        "ranks_per_node=4")
            if choice.get("chunk_grain", 0) > 0:
                schedule += f",chunk_grain={choice['chunk_grain']}B"
            with tempfile.TemporaryDirectory(dir=self.folder) as out:
                self.call("sim", "--quiet", "--goal", self.graph(size, nodes), "--network", "flow", "--fabric", "none", "--topology",
                          f"scale_up:of=[{outer}],accelerators=4,nics=4,switches=0,inner_link={NVLINK_GBPS}Gbps,"
                          "inner_latency=0ns", "--set", "hosts.o=0", "--set", f"collectives.allreduce={schedule}",
                          "--set", f"collectives.profile=nccl:node=marenostrum5_acc{costs}", "-o", out)
                summary = json.loads((Path(out) / "summary.json").read_text())
            self.known[key] = summary["makespan_ns"] / 1000
        return self.known[key]


def read(path):
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            algorithm = row["algorithm"].removeprefix("nccl_")
            if algorithm in ("tree", "ring"):  # elements are bytes: tests/data/nccl/README.md
                yield algorithm, int(row["elements"]), int(row["nodes"]), float(row["median_ns"]) / 1000


def costs_of(values, protocol):
    """Parameters of the profile: one value each, as a run has one protocol."""
    step = values[f"{protocol}_step"]
    times = {"launch": values["launch"], "step": step, "short_step": values.get(f"{protocol}_short", step),
             "between": values[f"{protocol}_between"],
             "proxy": values["proxy"] * (3 if protocol == "simple" else 1)}  # as NCCL's net overhead
    rate = f"{values[f'{protocol}_rate']:.2f}GB/s"
    words = [f"{name}={1000 * us:.0f}ns" for name, us in times.items()]
    return "," + ",".join(words + [f"copy={rate}", f"combine={rate}"])


def loss(machine, rows, values):
    total = sum(PRIOR * (100 if k == "nic" else 1) * math.log(values[k] / START[k]) ** 2 for k in START)
    with ThreadPoolExecutor() as pool:
        times = pool.map(lambda row: machine.replayed_us(*row[:3], values), rows)
        return total + sum(math.log(us / row[3]) ** 2 for us, row in zip(times, rows))


def fit(machine, rows):
    """Coordinate descent on logarithms: steps are halved when none is of use any more."""
    for row in rows:  # what threads share is there before they start
        machine.chosen(row[0], row[1], 4 * row[2])
        machine.graph(row[1], row[2])
    values, best, factor = dict(START), loss(machine, rows, START), 2.0
    while factor > 1.02:
        before = best
        for name in START:
            step = factor if name != "nic" else factor ** 0.05
            for change in (step, 1 / step):
                while True:
                    tried = {**values, name: values[name] * change}
                    now = loss(machine, rows, tried) if tried["nic"] <= NIC_MOST else best
                    if now >= best - 1e-5:
                        break
                    best, values = now, tried
        print(f"steps of {factor:.3f}: {best:.4f}", flush=True)
        if best > 0.98 * before:
            factor = math.sqrt(factor)
    return values


def report(machine, rows, values):
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
                us = machine.replayed_us(algorithm, size, nodes, values)
                protocol = machine.chosen(algorithm, size, 4 * nodes)["protocol"]
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
        machine, values = Machine(options.weft, folder), None
        if options.fit:
            values = fit(machine, [row for row in rows if row[2] == min(n for _, _, n, _ in rows)])
            print(", ".join(f"{name} {value:.3f}" for name, value in values.items()))
        report(machine, rows, values)


if __name__ == "__main__":
    main()

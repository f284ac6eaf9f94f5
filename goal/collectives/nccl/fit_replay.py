#!/usr/bin/env python3
"""The measured allreduces by replay: nccl_ring and nccl_tree at flow level, on nodes of 4 GPUs with a NIC each at one
switch.

  fit_replay.py WEFT nccl_allreduce.csv

Protocol and channels are what `weft nccl explain` says. A message takes NCCL's own latency of a hop, in the node or
between nodes, times a factor for each algorithm and protocol. These factors, the time before the first byte, the cpu time of a
message and the rate of a NIC are taken from grids, so that the squares of the relative errors on the fewest nodes are least.
"""

import argparse
import csv
import json
import statistics
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path

# Latency of a hop in us, in the node and between nodes: tuning_tables.cc.
HOPS = {("tree", "ll"): (0.6, 5), ("tree", "ll128"): (1.25, 8.5), ("tree", "simple"): (4, 14),
        ("ring", "ll"): (0.6, 2.7), ("ring", "ll128"): (1.9, 4), ("ring", "simple"): (3.4, 14)}
FACTORS = (0.4, 0.6, 0.8, 1, 1.3, 1.6, 2, 2.5)
LAUNCH_US = (0, 3, 6, 9, 12, 15)
OVERHEAD_NS = (0, 50, 100)
NIC_GBPS = (185, 200)


class Machine:
    def __init__(self, weft, folder):
        self.weft = weft
        self.folder = Path(folder)

    def call(self, *arguments):
        return subprocess.check_output([self.weft, *map(str, arguments)], stderr=subprocess.STDOUT)

    @lru_cache(None)
    def chosen(self, algorithm, size, ranks):
        answer = json.loads(self.call("nccl", "explain", "--bytes", size, "--ranks", ranks, "--node", "marenostrum5_acc",
                                      "--algo", algorithm, "--nccl-version", "2.20", "--json"))
        return answer["protocol"], answer["channels"]

    @lru_cache(None)
    def replayed_us(self, algorithm, size, nodes, factor, overhead, gbps):
        protocol, channels = self.chosen(algorithm, size, 4 * nodes)
        graph = self.folder / f"{nodes}_{size}.weft"
        if not graph.exists():
            self.call("goal", "gen", f"collective:kind=allreduce,size={size}B", "--ranks", 4 * nodes, "-o", graph)
        inside, between = (1000 * factor * us for us in HOPS[algorithm, protocol])
        outer = f"single_switch:hosts={nodes},link={gbps}Gbps,latency={(between - inside) / 2:.0f}ns"
        out = self.folder / f"{algorithm}_{size}_{nodes}_{factor}_{overhead}_{gbps}"
        self.call("sim", "--quiet", "--goal", graph, "--network", f"flow:receive_delay={inside:.0f}ns", "--topology",
                  f"scale_up:of=[{outer}],accelerators=4,nics=4,switches=0,inner_link=1200Gbps,inner_latency=0ns", "--set",
                  f"collectives.allreduce=nccl_{algorithm}:protocol={protocol},channels={channels},ranks_per_node=4",
                  "--set", f"hosts.o={overhead}ns", "--protocol", "ideal:eager_limit=1TB", "-o", out)
        return json.loads((out / "summary.json").read_text())["makespan_ns"] / 1000


def read(path):
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            algorithm = row["algorithm"].removeprefix("nccl_")
            if algorithm in ("tree", "ring"):  # elements are bytes: tests/data/nccl/README.md
                yield algorithm, int(row["elements"]), int(row["nodes"]), float(row["median_ns"]) / 1000


def fit(machine, rows):
    """The least error, and what it is had with: launch, overhead, rate, and the factor of each kind."""
    kinds = {row: (row[0], machine.chosen(row[0], row[1], 4 * row[2])[0]) for row in rows}

    def error(row, launch, factor, *host):
        return ((launch + machine.replayed_us(*row[:3], factor, *host)) / row[3] - 1) ** 2

    best = None
    for host in [(overhead, gbps) for overhead in OVERHEAD_NS for gbps in NIC_GBPS]:
        for launch in LAUNCH_US:
            total, factors = 0, {}
            for kind in sorted(set(kinds.values())):
                mine = [row for row in rows if kinds[row] == kind]
                least, factors[kind] = min((sum(error(row, launch, f, *host) for row in mine), f) for f in FACTORS)
                total += least
            if best is None or total < best[0]:
                best = (total, launch, host, factors)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("csv")
    options = parser.parse_args()
    rows = list(read(options.csv))
    fewest = min(nodes for _, _, nodes, _ in rows)
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(options.weft, folder)
        _, launch, host, factors = fit(machine, [row for row in rows if row[2] == fewest])
        print(f"launch {launch} us, overhead {host[0]} ns, NIC {host[1]} Gb/s, factors {factors}")
        for algorithm in ("tree", "ring"):
            errors = []
            for row in (r for r in rows if r[0] == algorithm):
                protocol = machine.chosen(algorithm, row[1], 4 * row[2])[0]
                us = launch + machine.replayed_us(*row[:3], factors[algorithm, protocol], *host)
                print(f"{algorithm} {row[2]} nodes {row[1]} bytes {protocol}: {us:.1f} / {row[3]:.1f} us, {100 * (us / row[3] - 1):+.0f}%")
                if row[2] != fewest:
                    errors.append(abs(us / row[3] - 1))
            print(f"{algorithm}, not fitted: median {100 * statistics.median(errors):.1f}%, worst {100 * max(errors):.1f}%")


if __name__ == "__main__":
    main()

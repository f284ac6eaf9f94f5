#!/usr/bin/env python3
"""Fits the corrections of a kind of node (Correction in node.h) to measured allreduces on its fewest nodes, and
compares with the others.

  fit_allreduce.py WEFT nccl_allreduce.csv [--node NAME] [--version 2.20]

The model is linear in what is fitted: launch + latency · L + moving · M, where L and M are NCCL's own latency and
bytes / rate for the protocol that it would choose, as `weft nccl explain --json` tells them. The squares of the relative
errors are made least, with factors drawn to 1 by PRIOR times the square of their distance: two or three sizes of a
protocol on one number of nodes can't tell its latency from its rate.
"""

import argparse
import csv
import json
import statistics
import subprocess
from functools import lru_cache

PRIOR = 0.01
ALGORITHMS = ("tree", "ring")
PROTOCOLS = ("ll", "ll128", "simple")
KINDS = [(a, p) for a in ALGORITHMS for p in PROTOCOLS]
NAMES = ["launch_us", "short_ring_latency"] + [("latency", *k) for k in KINDS] + [("moving", *k) for k in KINDS]


def read(weft, path, node, version):
    @lru_cache(None)
    def best(algorithm, size, ranks):
        text = subprocess.check_output(
            [weft, "nccl", "explain", "--bytes", str(size), "--ranks", str(ranks), "--node", node, "--algo",
             algorithm, "--nccl-version", version, "--json"])
        answer = json.loads(text)
        return next(c for c in answer["candidates"]
                    if (c["algorithm"], c["protocol"]) == (answer["algorithm"], answer["protocol"]))

    points = []
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            algorithm = row["algorithm"].removeprefix("nccl_")
            if algorithm not in ALGORITHMS:
                continue
            size, nodes = int(row["elements"]), int(row["nodes"])  # bytes: tests/data/nccl/README.md
            ranks = nodes * int(row["gpus_per_node"])
            chosen = best(algorithm, size, ranks)
            kind = (algorithm, chosen["protocol"])
            short = kind == ("ring", "ll") and size <= 16 * ranks
            factors = [0.0] * len(NAMES)
            factors[0] = 1.0
            factors[NAMES.index("short_ring_latency" if short else ("latency", *kind))] = chosen["latency_us"]
            factors[NAMES.index(("moving", *kind))] = size / (1000 * chosen["bandwidth_gbs"])
            points.append({"algorithm": algorithm, "protocol": kind[1], "nodes": nodes, "size": size,
                           "us": float(row["median_ns"]) / 1000, "factors": factors})
    return points


def model(point, values):
    return sum(f * v for f, v in zip(point["factors"], values))


def fit(points):
    """Coordinate descent; none below 0."""
    rows = [[f / point["us"] for f in point["factors"]] for point in points]
    values = [0.0] + [1.0] * (len(NAMES) - 1)
    for _ in range(5000):
        for k in range(len(NAMES)):
            prior = 0 if k == 0 else PRIOR
            curvature = sum(row[k] ** 2 for row in rows) + prior
            slope = sum(row[k] * (1 - sum(f * v for f, v in zip(row, values))) for row in rows)
            slope += prior * (1 - values[k])
            if curvature > 0:
                values[k] = max(0.0, values[k] + slope / curvature)
    return values


def report(points, values, fewest):
    for name, value in zip(NAMES, values):
        print(f"{name if isinstance(name, str) else ' '.join(name)}: {value:.3f}")
    all_nodes = sorted({p["nodes"] for p in points})
    for algorithm in ALGORITHMS:
        print(f"\n| {algorithm}, bytes | " + " | ".join(f"{n} nodes" for n in all_nodes) + " |")
        print("|---|" + "---|" * len(all_nodes))
        for size in sorted({p["size"] for p in points}):
            cells = []
            for nodes in all_nodes:
                for p in points:
                    if (p["algorithm"], p["size"], p["nodes"]) == (algorithm, size, nodes):
                        us = model(p, values)
                        cells.append(f"{us:.1f} / {p['us']:.1f} ({100 * (us / p['us'] - 1):+.0f}%, {p['protocol']})")
            print(f"| {size} | " + " | ".join(cells) + " |")
        errors = [abs(model(p, values) / p["us"] - 1) for p in points
                  if p["algorithm"] == algorithm and p["nodes"] != fewest]
        print(f"\n{algorithm}, not fitted: median {100 * statistics.median(errors):.1f}%, worst {100 * max(errors):.1f}%")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("csv")
    parser.add_argument("--node", default="marenostrum5_acc")
    parser.add_argument("--version", default="2.20")
    options = parser.parse_args()
    points = read(options.weft, options.csv, options.node, options.version)
    fewest = min(p["nodes"] for p in points)
    report(points, fit([p for p in points if p["nodes"] == fewest]), fewest)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Fits launch and factors of the presets dgx_a100 and dgx_h100 (Correction in node.h) to measured allreduces within a
node, and tells how far `weft nccl explain` is from all that was measured there.

  fit_one_node.py WEFT nccl_nodes.csv [--fit | --replay]

With --replay times are not those of `explain` but of a replay at flow level on a scale_up topology of that node.

The absolute logarithms of modelled over measured times are made least, each number of GPUs counting alike, above 64 KiB:
medians there repeat to a factor of two at some sizes, which squares would follow. Factors are drawn to 1 by PRIOR times
the absolute value of their logarithm.
"""

import argparse
import collections
import csv
import json
import math
import statistics
import subprocess
import tempfile
from pathlib import Path

PRIOR = 0.01
NODES = {"a100_dgx": "dgx_a100", "h100_dgx": "dgx_h100"}


def read(weft, path):
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            gpus, size = int(row["gpus"]), int(row["bytes"])
            if row["collective"] != "all_reduce" or row["gpus_per_node"] != row["gpus"] or size <= 65536:
                continue
            node = NODES[row["machine"]]
            answer = json.loads(subprocess.check_output(
                [weft, "nccl", "explain", "--bytes", str(size), "--ranks", str(gpus), "--gpus-per-node", str(gpus),
                 "--node", node, "--json"]))
            chosen = next(c for c in answer["candidates"]
                          if (c["algorithm"], c["protocol"]) == (answer["algorithm"], answer["protocol"]))
            yield {"node": node, "gpus": gpus, "size": size, "kind": f"{chosen['algorithm']} {chosen['protocol']}",
                   "latency": chosen["latency_us"], "moving": size / (1000 * chosen["bandwidth_gbs"]),
                   "told": answer["time_us"], "us": float(row["median_us"])}


def replay_us(weft, point):
    node, gpus = point["node"], point["gpus"]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.check_output(
            [weft, "sim", "-q", "--network", "flow", "-o", f"{folder}/run", "--traffic",
             f"collective:kind=allreduce,size={point['size']}B,element=4B,ranks={gpus}", "--topology",
             f"scale_up:node={node},accelerators={gpus}", "--set",
             f"collectives.profile=nccl:node={node},gpus_per_node={gpus}"], stderr=subprocess.STDOUT)
        return json.loads(Path(f"{folder}/run/summary.json").read_text())["makespan_ns"] / 1000


def model(point, values):
    return (values["launch"] + values["latency", point["kind"]] * point["latency"] +
            values["moving", point["kind"]] * point["moving"])


def fit(points):
    """Coordinate descent on logarithms: steps are made smaller when none is of use any more."""
    kinds = sorted({p["kind"] for p in points})
    number = collections.Counter(p["gpus"] for p in points)
    values = {"launch": 5.0, **{(what, kind): 1.0 for what in ("latency", "moving") for kind in kinds}}

    def loss(tried):
        errors = sum(abs(math.log(model(p, tried) / p["us"])) / number[p["gpus"]] for p in points)
        return errors + PRIOR * sum(abs(math.log(v)) for k, v in tried.items() if k != "launch")

    best, factor = loss(values), 1.5
    while factor > 1.01:
        before = best
        for name in values:
            for step in (factor, 1 / factor):
                tried = {**values, name: values[name] * step}
                if loss(tried) < best - 1e-6:
                    best, values = loss(tried), tried
        if best == before:
            factor = math.sqrt(factor)
    return values


def report(points):
    print("| node | GPUs | points | median error | 90th percentile | worst |\n|---|---|---|---|---|---|")
    groups = collections.defaultdict(list)
    for p in points:
        groups[p["node"], p["gpus"]].append(abs(p["told"] / p["us"] - 1))
    for (node, gpus), errors in sorted(groups.items()):
        errors.sort()
        print(f"| `{node}` | {gpus} | {len(errors)} | {100 * statistics.median(errors):.0f}% | "
              f"{100 * errors[int(0.9 * len(errors))]:.0f}% | {100 * errors[-1]:.0f}% |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("csv")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--replay", action="store_true")
    options = parser.parse_args()
    points = list(read(options.weft, options.csv))
    if options.fit:
        for node in NODES.values():
            values = fit([p for p in points if p["node"] == node])
            print(node, ", ".join(f"{k if isinstance(k, str) else ' '.join(k)} {v:.3f}" for k, v in values.items()))
    if options.replay:
        for point in points:
            point["told"] = replay_us(options.weft, point)
    report(points)


if __name__ == "__main__":
    main()

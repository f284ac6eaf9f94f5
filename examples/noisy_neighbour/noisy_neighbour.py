#!/usr/bin/env python3
"""A stencil beside a neighbour that floods one host or all of its own, under five routings, with lossy and lossless
queues, on a fat tree and a Dragonfly: how much it is slowed. A table and a plot; nothing but Python's own library.

    examples/noisy_neighbour/noisy_neighbour.py [-o noisy_neighbour] [--jobs 2]
"""

import argparse
import csv
import itertools
import json
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
import report  # noqa: E402

SCENARIO = Path(__file__).with_name("two_jobs.txtpb")
NETWORKS = {"fat tree": "fat_tree:k=8,oversubscription=2,link=100Gbps", "Dragonfly": "dragonfly:p=2,link=100Gbps"}
NEIGHBOURS = {"incast": "incast:n=31,size=256KB,ranks=32", "all-to-all": "alltoall:size=128KB,ranks=48,parallel=8"}
# Windows that follow marks where queues can be full, and none that get in the way where switches hold packets back.
QUEUES = {"lossy": ("ecn:capacity=4MB", "dctcp"), "lossless": ("credit:vcs=8,buffer=100KB", "fixed_window")}
POLICIES = ["ecmp", "spray", "flowlet", "flowcut", "ugal"]


def run(weft, case, seed, folder):
    """The jobs of a run, by name, and how many packets were lost."""
    network, neighbour, queue, policy = case
    results = folder / "_".join([*case, str(seed)]).replace(" ", "_")
    arguments = ["sim", str(SCENARIO), "--quiet", "--no-flows", "--baseline", "--topology", NETWORKS[network],
                 "--set", f"job[1].traffic={NEIGHBOURS[neighbour]}", "--queue", QUEUES[queue][0],
                 "--congestion", QUEUES[queue][1], "--routing", policy, "--set", f"seed={seed}", "-o", str(results)]
    print("  weft " + shlex.join(arguments), flush=True)
    done = subprocess.run([weft] + arguments, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    with open(results / "jobs.csv", newline="") as file:
        jobs = {row["name"]: row for row in csv.DictReader(file)}
    return jobs, json.loads((results / "summary.json").read_text())["packets"]["dropped"]


def row_of(case, runs):
    """A row of the table: means over the seeds, and the least and most that the victim was slowed."""
    network, neighbour, queue, policy = case
    slowed = [float(jobs["victim"]["slowdown"]) for jobs, _ in runs]
    others = [float(jobs["neighbour"]["slowdown"]) for jobs, _ in runs]
    alone = [float(jobs["victim"]["alone_ns"]) for jobs, _ in runs]
    return {"network": network, "neighbour": neighbour, "queues": queue, "routing": policy,
            "alone_us": round(sum(alone) / len(runs) * 1e-3, 1), "slowdown": round(sum(slowed) / len(runs), 3),
            "least": round(min(slowed), 3), "most": round(max(slowed), 3),
            "neighbour_slowdown": round(sum(others) / len(runs), 3), "dropped": sum(dropped for _, dropped in runs)}


def plot(rows):
    """Bars of the victim's slowdown; a line from the least to the most of the seeds."""
    picture = report.Plot("What is a noisy neighbour to a stencil?",
                          "Runtime of 16 ranks beside the neighbour, against alone on the same hosts: mean, least and most of "
                          "the draws of hosts.", 2, 2, (430, 230), [(policy, report.STYLES[policy][0]) for policy in POLICIES])
    for (column, network), (line, neighbour) in itertools.product(enumerate(NETWORKS), enumerate(NEIGHBOURS)):
        mine = [row for row in rows if (row["network"], row["neighbour"]) == (network, neighbour)]
        high = 1.1 * max(row["most"] for row in rows if row["neighbour"] == neighbour)
        panel = picture.panel(column, line, f"{network}, beside an {neighbour}", report.Axis(names=[q + " queues" for q in QUEUES]),
                              report.Axis("slowdown", high=high))
        for row in mine:
            center = list(QUEUES).index(row["queues"]) + 0.16 * (POLICIES.index(row["routing"]) - 2)
            panel.bar(center, 0.16, row["slowdown"], report.STYLES[row["routing"]][0])
            for value in (row["least"], row["most"]):
                panel.level(value, "", report.PINK, begin=center - 0.05, end=center + 0.04)
        panel.level(1, "")
    return picture.svg()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("noisy_neighbour"))
    parser.add_argument("--weft", default="bazel-bin/tools/weft/weft", help="the weft program")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--seeds", type=int, default=3, help="draws of hosts")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    cases = list(itertools.product(NETWORKS, NEIGHBOURS, QUEUES, POLICIES))
    with ThreadPoolExecutor(options.jobs) as pool:
        work = {case: [pool.submit(run, options.weft, case, seed, options.output) for seed in range(1, options.seeds + 1)]
                for case in cases}
        rows = [row_of(case, [item.result() for item in runs]) for case, runs in work.items()]
    report.write_csv(options.output / "table.csv", rows)
    (options.output / "slowdown.svg").write_text(plot(rows))
    print("\n" + report.text_table([list(rows[0])] + [[str(value) for value in row.values()] for row in rows], 4))
    print(f"\n{options.output}/table.csv, {options.output}/slowdown.svg")


if __name__ == "__main__":
    main()

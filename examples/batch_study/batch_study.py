#!/usr/bin/env python3
"""200 jobs that come one after the other, wait, and run side by side on a fat tree, a Dragonfly and a HammingMesh of
about 1,024 hosts, of which 1% have failed: turnaround and utilization by placement. A table and a plot; nothing but
Python's own library is needed.

    examples/batch_study/batch_study.py [-o batch_study] [--jobs 2]
"""

import argparse
import itertools
import json
import random
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
import report  # noqa: E402

HERE = Path(__file__).parent
SCENARIO = HERE / "queue.txtpb"
# 100 Gb/s from each host; those of the HammingMesh have four ports. Shortest ways in all of them: to balance detours anew
# whenever a message begins or ends takes an hour.
NETWORKS = {
    "fat tree 4:1": ("fat_tree:k=10,oversubscription=4,link=100Gbps", "ecmp"),
    "Dragonfly": ("dragonfly:p=4,link=100Gbps", "ecmp"),
    "HammingMesh": ("hammingmesh:a=2,b=2,x=16,y=16,link=25Gbps", "hammingmesh"),
}
PLACEMENTS = {
    "packed": "packed",
    "packed, strict": "packed:strict=true",
    "by_group": "by_group",
    "group_round_robin": "group_round_robin",
    "random": "random",
    "submesh": "submesh",
}
COLORS = [report.SKY, report.BLUE, report.GREEN, report.YELLOW, report.RED, report.PINK]
HAS_SUBMESH = "HammingMesh"
COLUMNS = [("mean_turnaround_ms", "mean turnaround, ms"), ("mean_runtime_ms", "mean runtime, ms"),
           ("utilization", "hosts in use, %")]

# Quantiles of the jobs of HPC2N's cluster Seth (240 nodes, the first 3,170 jobs of its log in the Parallel Workloads
# Archive): processors, seconds from one submission to the next (up to the 99th of a hundred), time asked for over time
# taken (from the first of ten to the eighth).
PROCESSORS = [1, 2, 4, 4, 8, 8, 10, 12, 16, 16, 16, 16, 20, 20, 20, 24, 30, 32, 36, 64, 128]
GAPS = [0, 0, 0, 0, 0, 2, 4, 9, 32, 66, 109, 157, 234, 320, 480, 634, 945, 1598, 3050, 5759, 29878]
ASKED = [1, 1.05, 1.33, 1.65, 2.24, 4.17, 9.65]
# The machines here are four times as large, and kept busier than Seth's 40%.
SIZE, LOAD, HOSTS = 4, 0.8, 1000
ITERATIONS = [1, 3, 9, 27]
STEP_MS = 4  # that an iteration takes, about


def quantile(values, share):
    """Of a distribution with these values at equal shares."""
    place = share * (len(values) - 1)
    low = min(int(place), len(values) - 2)
    return values[low] + (place - low) * (values[low + 1] - values[low])


def make_list(count=200, seed=18):
    """A list of jobs that has these quantiles: rows of a table that weft reads."""
    draw = random.Random(seed)
    jobs, at = [], 0.0
    for number in range(1, count + 1):
        ranks = SIZE * PROCESSORS[int(draw.random() * (len(PROCESSORS) - 1))]
        # A linear all-to-all of many ranks is no program that anybody runs.
        kind = ["stencil", "training", "transpose"][int(draw.random() * (3 if ranks <= 32 else 2))]
        iterations = ITERATIONS[int(draw.random() * len(ITERATIONS))]
        asked = iterations * STEP_MS * quantile(ASKED, draw.random())
        jobs.append([number, at, ranks, asked, f"{kind}-{iterations}", ranks * iterations * STEP_MS])
        at += quantile(GAPS, draw.random())
    scale = sum(job[-1] for job in jobs) / (LOAD * HOSTS) / at
    rows = [f"{job[0]},{job[1] * scale:.3f}ms,{job[2]},{job[3]:.3f}ms,{job[4]}" for job in jobs]
    return "\n".join(["id,submit,ranks,requested,model", *rows]) + "\n"


def run(weft, network, name, jobs, folder):
    """A row of the table."""
    results = folder / "".join(c if c.isalnum() else "_" for c in f"{network}_{name}")
    topology, routing = NETWORKS[network]
    arguments = ["sim", str(SCENARIO), "--quiet", "--no-flows", "--topology", topology, "--routing", routing,
                 "--placement", PLACEMENTS[name], "--job-list", str(HERE / "jobs.csv"), "--set", f"job_list.jobs={jobs}", "-o", str(results)]
    print("  weft " + shlex.join(arguments), flush=True)
    done = subprocess.run([weft] + arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    summary = json.loads((results / "summary.json").read_text())
    machine = summary["machine"]
    runtimes = [job["runtime_ns"] for job in summary["jobs"]]
    return {"network": network, "placement": name, "hosts": machine["hosts"], "failed": len(machine["failed"]),
            "jobs": machine["nb_jobs_finished"], "makespan_ms": round(summary["makespan_ns"] * 1e-6, 1),
            "mean_turnaround_ms": round(machine["mean_turnaround_time_ns"] * 1e-6, 2),
            "mean_waiting_ms": round(machine["mean_waiting_time_ns"] * 1e-6, 2),
            "mean_runtime_ms": round(sum(runtimes) / len(runtimes) * 1e-6, 2),
            "mean_stretch": round(machine["mean_stretch"], 2),
            "utilization": round(100 * machine["utilization"], 1),
            "fragmentation": round(100 * machine["fragmentation"], 1),
            "without_place": machine["nb_jobs_without_place"]}


def plot(rows):
    """Bars by network, a panel for each figure."""
    picture = report.Plot("What do placements make of a batch queue?",
                          f"{rows[0]['jobs']} jobs on about 1,024 hosts, 1% of them failed; EASY backfilling, flow level.",
                          len(COLUMNS), 1, (330, 300), [*zip(PLACEMENTS, COLORS)])
    networks = list(NETWORKS)
    for column, (key, title) in enumerate(COLUMNS):
        panel = picture.panel(column, 0, title, report.Axis(names=networks),
                              report.Axis(title, high=1.1 * max(row[key] for row in rows)))
        for row in rows:
            index = list(PLACEMENTS).index(row["placement"])
            center = networks.index(row["network"]) + 0.14 * (index - (len(PLACEMENTS) - 1) / 2)
            panel.bar(center, 0.14, row[key], COLORS[index])
    return picture.svg()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("batch_study"))
    parser.add_argument("--weft", default="bazel-bin/tools/weft/weft", help="the weft program")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--short", action="store_true", help="the first 40 jobs of the list, for a first look")
    parser.add_argument("--list", action="store_true", help="print the list of jobs, as jobs.csv has it, and stop")
    options = parser.parse_args()
    if options.list:
        print(make_list(), end="")
        return
    options.output.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(options.jobs) as pool:
        work = [pool.submit(run, options.weft, network, name, 40 if options.short else 200, options.output)
                for network, name in itertools.product(NETWORKS, PLACEMENTS)
                if name != "submesh" or network == HAS_SUBMESH]
        rows = [item.result() for item in work]
    report.write_csv(options.output / "table.csv", rows)
    (options.output / "placements.svg").write_text(plot(rows))
    print("\n" + report.text_table([list(rows[0])] + [[str(value) for value in row.values()] for row in rows], 2))
    print(f"\n{options.output}/table.csv, {options.output}/placements.svg")


if __name__ == "__main__":
    main()

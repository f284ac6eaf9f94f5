#!/usr/bin/env python3
"""Two training jobs and two stencils on an 8:1 leaf-spine and a Dragonfly, by placement, at flow and packet level: how
long each takes, and who slows whom: a table and two plots. Nothing but Python's own library is needed.

    examples/placement_study/placement_study.py [-o placement_study] [--jobs 2]
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

SCENARIO = Path(__file__).with_name("four_jobs.txtpb")
# 128 hosts in 8 leaves or groups of 16 each.
NETWORKS = {
    "leaf-spine 8:1": ("leaf_spine:leaves=8,spines=2,hosts_per_leaf=16,link=100Gbps", "ecmp"),
    "Dragonfly": ("dragonfly:p=4,a=4,h=2,g=8,link=100Gbps", "par"),
}
PLACEMENTS = ["packed", "random", "group_round_robin", "matrix", "matrix:on=random"]
LEVELS = ["flow", "packet"]
KINDS = ["training", "stencil"]
# As the scenario has them: matrix-aware placement needs to know who sends to whom before the run.
TRAFFIC = {"training": "collective:kind=allreduce,algorithm=ring,size=8MB,ranks=32",
           "stencil": "stencil:dims=[4,4,2],cells=256,ranks=32"}
JOBS = ["training", "stencil", "training-2", "stencil-2"]
COLORS = [report.SKY, report.RED, report.YELLOW, report.BLUE, report.GREEN]


def kind_of(job):
    return job.removesuffix("-2")


def weft_says(weft, arguments):
    print("  weft " + shlex.join(arguments), flush=True)
    done = subprocess.run([weft] + arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return done.stdout


def folder_name(*words):
    return "".join(c if c.isalnum() else "_" for c in "_".join(words))


def place(weft, network, placement, folder):
    """Where the jobs' ranks go, as a file for each job, and what `weft place` expects of that."""
    topology, routing = NETWORKS[network]
    arguments = ["place", "--topology", topology, "--routing", routing, "--placement", placement, "--json"]
    for job in JOBS:
        arguments += ["--job", f"traffic=[{TRAFFIC[kind_of(job)]}]"]
    placed = json.loads(weft_says(weft, arguments))["placements"][0]
    files = []
    for name, job in zip(JOBS, placed["jobs"]):
        files.append(folder / (folder_name(network, placement, name) + ".hosts"))
        files[-1].write_text("".join(f"rank {rank}={host}\n" for rank, host in enumerate(job["hosts"])))
    hops = {kind: [job["hops_per_byte"] for name, job in zip(JOBS, placed["jobs"]) if kind_of(name) == kind] for kind in KINDS}
    return files, {kind: sum(values) / len(values) for kind, values in hops.items()}


def run(weft, network, placement, level, files, hops, shrink, folder):
    """Rows of the table, one for each kind of job: means over its two."""
    topology, routing = NETWORKS[network]
    results = folder / folder_name(network, placement, level)
    arguments = ["sim", str(SCENARIO), "--quiet", "--no-flows", "--topology", topology, "--routing", routing,
                 "--network", level, "--baseline", "--interference", "-o", str(results)]
    for i, file in enumerate(files):
        arguments += ["--set", f"job[{i}].placement.rank_file.file={file}"]
        if shrink:
            training = kind_of(JOBS[i]) == "training"
            arguments += ["--set", f"job[{i}].traffic.{'collective' if training else 'stencil'}.iterations=1"]
    weft_says(weft, arguments)
    with open(results / "jobs.csv", newline="") as file:
        jobs = list(csv.DictReader(file))
    with open(results / "interference.csv", newline="") as file:
        pairs = list(csv.DictReader(file))
    rows = []
    for kind in KINDS:
        mine = [job for job in jobs if kind_of(job["name"]) == kind]
        row = {"network": network, "level": level, "placement": placement, "job": kind,
               "hops_per_byte": round(hops[kind], 3)}
        for value, name, digits in (("alone_ns", "alone_us", 1), ("runtime_ns", "beside_all_us", 1)):
            row[name] = round(sum(float(job[value]) for job in mine) / len(mine) * 1e-3, digits)
        row["slowdown"] = round(sum(float(job["slowdown"]) for job in mine) / len(mine), 3)
        for other in KINDS:
            values = [float(pair["slowdown"]) for pair in pairs
                      if kind_of(pair["name"]) == kind and kind_of(pair["beside_name"]) == other]
            row[f"beside_a_{other}"] = round(sum(values) / len(values), 3)
        rows.append(row)
    return rows


def times_plot(rows):
    """Bars of the times beside the other three jobs; a line in each where the job alone on the same hosts would be."""
    networks = list(dict.fromkeys(row["network"] for row in rows))
    picture = report.Plot("How long do jobs take, by placement?",
                          "Two training jobs and two stencils, 32 hosts each, fill 128 hosts. Bars: all four at once; "
                          "dashes: alone on the same hosts.",
                          len(networks), len(KINDS), (430, 230), [*zip(PLACEMENTS, COLORS)])
    for (column, network), (line, kind) in itertools.product(enumerate(networks), enumerate(KINDS)):
        mine = [row for row in rows if row["network"] == network and row["job"] == kind]
        panel = picture.panel(column, line, f"{network}: {kind}", report.Axis(names=[level + " level" for level in LEVELS]),
                              report.Axis("time, ms", high=1.1 * max(row["beside_all_us"] for row in mine) * 1e-3))
        for row in mine:
            index = PLACEMENTS.index(row["placement"])
            center = LEVELS.index(row["level"]) + 0.16 * (index - (len(PLACEMENTS) - 1) / 2)
            panel.bar(center, 0.16, row["beside_all_us"] * 1e-3, COLORS[index])
            panel.level(row["alone_us"] * 1e-3, "", begin=center - 0.08, end=center + 0.07)
    return picture.svg()


def interference_plot(rows):
    """The interference matrix of each network, level and placement."""
    heads = [(f"a {kind} slowed", [f"beside a\n{other}" for other in KINDS] + ["beside all\nthree"]) for kind in KINDS]
    groups = []
    for network, level in dict.fromkeys((row["network"], row["level"]) for row in rows):
        lines = []
        for placement in PLACEMENTS:
            cells = []
            for row in rows:
                if (row["network"], row["level"], row["placement"]) == (network, level, placement):
                    values = [row[f"beside_a_{other}"] for other in KINDS] + [row["slowdown"]]
                    cells += [(f"{value:.2f}", report.shade(value, 1, 2.5)) for value in values]
            lines.append((placement, cells))
        groups.append((f"{network}, {level} level", lines))
    return report.heat_map("Who slows whom?", "Runtime against the same job alone on the same hosts. 1.00: not slowed.",
                           heads, groups, (80, 23))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("placement_study"))
    parser.add_argument("--weft", default="bazel-bin/tools/weft/weft", help="the weft program")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--short", action="store_true", help="one step of each job, for a first look")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    placed = [(network, placement, *place(options.weft, network, placement, options.output))
              for network, placement in itertools.product(NETWORKS, PLACEMENTS)]
    with ThreadPoolExecutor(options.jobs) as pool:
        work = [pool.submit(run, options.weft, network, placement, level, files, hops, options.short, options.output)
                for level in LEVELS for network, placement, files, hops in placed]
        rows = [row for item in work for row in item.result()]
    rows.sort(key=lambda row: (list(NETWORKS).index(row["network"]), KINDS.index(row["job"]), row["level"]))
    report.write_csv(options.output / "table.csv", rows)
    (options.output / "times.svg").write_text(times_plot(rows))
    (options.output / "interference.svg").write_text(interference_plot(rows))
    print("\n" + report.text_table([list(rows[0])] + [[str(value) for value in row.values()] for row in rows], 4))
    print(f"\n{options.output}/table.csv, {options.output}/times.svg, {options.output}/interference.svg")


if __name__ == "__main__":
    main()

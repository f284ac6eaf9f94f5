#!/usr/bin/env python3
"""Collectives measured on real machines, against what a run on the machine's preset says by default.

Reads collectives.csv and allocations.csv of a folder, runs each row of one rank a node through `weft sim` with the
hosts that the run had, and prints the factors between both times, either way: a median and a 90th percentile for each
machine and collective.

  tests/validation/machine_runs.py --weft bazel-bin/tools/weft/weft --data FOLDER [--match REGEX] [--only default]
      [--set hosts.o=0ns ...] [--rows]
"""
import argparse
import collections
import concurrent.futures
import csv
import json
import math
import os
import re
import subprocess
import sys
import tempfile

PRESETS = {"leonardo": "leonardo_booster", "lumi": "lumi_g", "mare_nostrum": "marenostrum5_acc"}
# Names of the libraries' own algorithms, as ours; what isn't here has no counterpart.
ALGORITHMS = {
    ("ALLGATHER", "neighbor"): "neighbor_exchange",
    ("ALLGATHER", "recursive_doubling"): "recursive_doubling",
    ("ALLGATHER", "ring"): "ring",
    ("ALLGATHER", "brucks"): "bruck",
    ("ALLREDUCE", "rabenseifner"): "rabenseifner",
    ("ALLREDUCE", "recursive_doubling"): "recursive_doubling",
    ("ALLREDUCE", "ring"): "ring",
    ("BCAST", "binomial"): "binomial_tree",
    ("BCAST", "scatter_allgather"): "scatter_allgather",
    ("BCAST", "scatter_allgather_ring"): "scatter_ring_allgather",
    ("REDUCE", "binomial"): "binomial_tree",
    ("REDUCE", "rabenseifner"): "rabenseifner",
    ("REDUCE_SCATTER", "recursive_halving"): "recursive_halving",
    ("REDUCE_SCATTER", "ring"): "ring",
    ("REDUCE_SCATTER", "pairwise"): "pairwise",
}
BLOCKS = ("ALLGATHER", "REDUCE_SCATTER")  # of which our size is that of a rank's block
LEAST_STEP, MOST_RATE = 0.7e3, 25.0  # ns of a message, bytes/ns of a host: what is quicker wasn't done


def algorithm_of(row):
    """None: the library's choice; False: not ours."""
    name, _, who = row["algorithm"].rpartition("_")
    if who not in ("ompi", "mpich"):
        return False
    return None if name == "default" else ALGORITHMS.get((row["collective"], name), False)


def is_possible(row):
    """Rows that are below a bound measure something else: vectors of less than an element a rank, say."""
    ranks, size = int(row["nodes"]), int(row["bytes"])
    if row["collective"] in BLOCKS and size < 4 * ranks:
        return False
    least = max(math.ceil(math.log2(ranks)) * LEAST_STEP, size * (ranks - 1) / ranks / MOST_RATE)
    return float(row["median_ns"]) >= least


def read(folder):
    with open(os.path.join(folder, "allocations.csv")) as table:
        lines = [None, *csv.DictReader(table)]
    places = {}
    for number, line in enumerate(lines[1:], 2):
        tasks = line["hosts"].split()[0].split("@")[0].split(":")[1]
        places[line["machine"], line["timestamp"], tasks] = number
    rails = set()
    with open(os.path.join(folder, "notes.csv")) as table:
        for line in csv.DictReader(table):
            if "UCX_MAX_RNDV_RAILS=1" in line["notes"]:
                rails.add(line["timestamp"])
    rows = []
    with open(os.path.join(folder, "collectives.csv")) as table:
        for row in csv.DictReader(table):
            key = row["machine"], row["timestamp"], row["tasks_per_node"]
            if row["gpu_aware"] == "yes" or row["tasks_per_node"] != "1" or key not in places:
                continue
            if algorithm_of(row) is not False and is_possible(row):
                row["line"] = places[key]
                row["one_rail"] = row["timestamp"] in rails
                rows.append(row)
    return rows


def program_of(row, folder):
    """Traffic, or for MPI_Reduce_scatter a graph: its libraries choose otherwise than for blocks of one size."""
    ranks, size = int(row["nodes"]), int(row["bytes"])
    algorithm = algorithm_of(row)
    block = size // ranks // 4 * 4
    if row["collective"] == "REDUCE_SCATTER":
        call = "reduce_scatter [%s]b elem 4" % " ".join([str(block)] * ranks)
        call += " by " + algorithm if algorithm else ""
        path = os.path.join(folder, "reduce_scatter.goal")
        with open(path, "w") as file:
            file.write("num_ranks %d\n" % ranks)
            file.writelines("rank %d {\n%s\n}\n" % (rank, call) for rank in range(ranks))
        return ["--goal", path]
    traffic = "collective:kind=%s,ranks=%d,size=%d,element=4" % (
        row["collective"].lower(),
        ranks,
        block if row["collective"] in BLOCKS else size,
    )
    return ["--traffic", traffic + (",algorithm=" + algorithm if algorithm else "")]


def predicted(row, options):
    place = "allocation:file=[%s],machine=%s,line=%d" % (
        os.path.join(os.path.abspath(options.data), "allocations.csv"),
        row["machine"],
        row["line"],
    )
    settings = list(options.set)
    with tempfile.TemporaryDirectory() as folder:
        command = [options.weft, "sim", "-q", "--topology", PRESETS[row["machine"]], *program_of(row, folder)]
        command += ["--placement", place, "--network", "flow", "-o", os.path.join(folder, "run")]
        if row["one_rail"] and options.one_rail:
            command += ["--protocol", options.one_rail]
        for each in settings:
            command += ["--set", each]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit("%s\n%s" % (" ".join(command), done.stderr))
        with open(os.path.join(folder, "run/summary.json")) as file:
            return json.load(file)["makespan_ns"]


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weft", required=True)
    parser.add_argument("--data", required=True, help="folder with collectives.csv, allocations.csv and notes.csv")
    parser.add_argument("--match", default="", help="rows whose 'machine COLLECTIVE nodes bytes algorithm' has this")
    parser.add_argument("--set", action="append", default=[], help="as weft sim's")
    parser.add_argument("--one-rail", default="openmpi_ucx:rails=1", help="protocol of runs with UCX_MAX_RNDV_RAILS=1")
    parser.add_argument("--rows", action="store_true", help="print each row too")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--within", type=float, help="fail where the median factor of all is above")
    options = parser.parse_args()
    if not os.path.exists(os.path.join(options.data, "collectives.csv")):
        print("skipped: %s has no collectives.csv" % options.data)
        return
    name = "{machine} {collective} {nodes} {bytes} {algorithm}"
    rows = [row for row in read(options.data) if re.search(options.match, name.format(**row))]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        times = list(pool.map(lambda row: predicted(row, options), rows))
    factors = collections.defaultdict(list)
    for row, ours in zip(rows, times):
        ratio = ours / float(row["median_ns"])
        if options.rows:
            print("%-60s %12.1f %12.1f us  %.2f" % (name.format(**row), float(row["median_ns"]) / 1e3, ours / 1e3, ratio))
        for key in ((row["machine"], row["collective"]), ("all", "")):
            factors[key].append(ratio)
    print("| machine | collective | rows | median factor | 90 % | ours / measured |\n|---|---|---|---|---|---|")
    for (machine, collective), ratios in sorted(factors.items(), key=lambda each: (each[0][0] == "all", each[0])):
        off = [max(ratio, 1 / ratio) for ratio in ratios]
        print(
            "| %s | %s | %d | %.2f | %.2f | %.2f |"
            % (machine, collective.lower(), len(ratios), quantile(off, 0.5), quantile(off, 0.9), quantile(ratios, 0.5))
        )
    worst = quantile([max(ratio, 1 / ratio) for ratio in factors["all", ""]], 0.5) if rows else math.inf
    if options.within and worst > options.within:
        sys.exit("the median factor is %.2f, above %.2f" % (worst, options.within))


if __name__ == "__main__":
    main()

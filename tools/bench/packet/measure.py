#!/usr/bin/env python3
"""Prints the tables of README.md: speed by size, two threads against one, and growth up to 65,536 hosts.

  measure.py speed [--probe PROGRAM]   packet hops per second; PROGRAM K PACKETS as a yardstick, run in turn
  measure.py whole                     `weft sim` as it is run, with all results, against the probe and without results
  measure.py threads                   two threads against two runs of one thread side by side
  measure.py queues                    each queue discipline against drop-tail, run in turn
  measure.py policies                  each routing policy against static ECMP, run in turn
  measure.py controls                  congestion controls against a fixed window, run in turn
  measure.py growth                    16 to 65,536 hosts: time per packet hop, and peak memory

Figures are medians of --runs (3). The machine should be idle.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

BUILT = pathlib.Path(__file__).resolve().parents[3] / "bazel-bin/tools"
BENCH = BUILT / "bench/packet/packet_bench"


def start(network, packets, partitions=0, threads=1, queue="ecn", routing="spray", control="fixed_window:packets=100"):
    return subprocess.Popen([BENCH, str(network), str(packets), "1", str(partitions), str(threads), queue, routing, control],
                            stdout=subprocess.PIPE, text=True)


def finish(process):
    """The fields of the one line that packet_bench prints, by name."""
    output, _ = process.communicate()
    if process.returncode != 0:
        sys.exit(f"{BENCH}: exit status {process.returncode}")
    return {name: float(value) for name, value in
            re.findall(r"(hosts|packet-hops/s|packet-hops|events|seconds|cpu|memory) ([\d.]+)", output)}


def run(*arguments, **options):
    return finish(start(*arguments, **options))


def median(values):
    return statistics.median(values)


def speed(runs, probe):
    print("| hosts | packets per flow | packet hops/s | yardstick | ratio |")
    print("|---|---|---|---|---|")
    for k, packets in ((8, 4000), (16, 1000), (32, 200)):
        ours, theirs = [], []
        for _ in range(runs):
            ours.append(run(k, packets))
            if probe:
                output = subprocess.run([probe, str(k), str(packets)], capture_output=True, text=True, check=True).stdout
                theirs.append(float(re.search(r"packet-hops/s ([\d.]+)", output).group(1)))
        rate = median([each["packet-hops/s"] for each in ours])
        ratios = [each["packet-hops/s"] / other for each, other in zip(ours, theirs)]
        compared = (f"{median(theirs):.1f} M | {median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
                    if probe else "– | –")
        print(f"| {int(ours[0]['hosts']):,} | {packets:,} | {rate:.1f} M | {compared} |")


def cpu_of(command):
    """Processor time of a program, the system's for it included."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"{command}: status {status}")
    return usage.ru_utime + usage.ru_stime


# The probe's workload with a fabric like its own, and with what users get who say nothing.
WHOLE = {"as the probe": ["--fabric", "none", "--routing", "spray", "--queue", "ecn", "--congestion", "fixed_window:packets=100"],
         "default fabric": []}


def whole(runs):
    print("| hosts | settings | packet hops/s of the whole run | of the probe | default outputs |")
    print("|---|---|---|---|---|")
    for k, packets in ((16, 1000), (32, 200)):
        for name, settings in WHOLE.items():
            rates, ratios, costs = [], [], []
            for _ in range(runs):
                with tempfile.TemporaryDirectory() as folder:
                    command = [BUILT / "weft/weft", "sim", "-q", "--traffic", f"permutation:size={4096 * packets}", "--topology",
                               f"fat_tree:k={k},link=400Gbps,latency=500ns", *settings]
                    plain, full = cpu_of(command), cpu_of([*command, "-o", folder])
                    summary = json.loads((pathlib.Path(folder) / "summary.json").read_text())
                probe = subprocess.run([BUILT / "bench/packet/probe", str(k), str(packets)], capture_output=True, text=True, check=True).stdout
                rates.append(summary["packet_hops"] / full / 1e6)
                ratios.append(rates[-1] / float(re.search(r"packet-hops/s ([\d.]+)", probe).group(1)))
                costs.append(100 * (full / plain - 1))
            print(f"| {k ** 3 // 4:,} | {name} | {median(rates):.1f} M | {median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) | "
                  f"{median(costs):+.1f}% ({min(costs):+.1f} to {max(costs):+.1f}) |", flush=True)


def threads(runs):
    print("| hosts | one thread | two runs side by side, together | two threads | of the two runs |")
    print("|---|---|---|---|---|")
    for k, packets in ((16, 1000), (32, 200)):
        alone, pair, two = [], [], []
        for _ in range(runs):
            alone.append(run(k, packets))
            both = [start(k, packets), start(k, packets)]
            pair.append(sum(each["packet-hops"] / each["seconds"] / 1e6 for each in map(finish, both)))
            two.append(run(k, packets, threads=2))
        ratios = [each["packet-hops/s"] / other for each, other in zip(two, pair)]
        print(f"| {int(alone[0]['hosts']):,} | {median([e['packet-hops/s'] for e in alone]):.1f} M | "
              f"{median(pair):.1f} M | {median([e['packet-hops/s'] for e in two]):.1f} M | "
              f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) |")


def queues(runs):
    print("| queue | packet hops/s | of drop-tail | events per hop |")
    print("|---|---|---|---|")
    for queue in ("droptail", "ecn", "phantom", "shared", "priority", "composite", "red", "pfc", "credit",
                  "credit:buffer=1MB"):
        rates, ratios = [], []
        for _ in range(runs):
            plain, result = run(16, 300, queue="droptail"), run(16, 300, queue=queue)
            rates.append(result["packet-hops/s"])
            ratios.append(result["packet-hops/s"] / plain["packet-hops/s"])
        print(f"| `{queue}` | {median(rates):.1f} M | {median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) | "
              f"{result['events'] / result['packet-hops']:.2f} |")


# Where policies that are defined for some networks only are measured; all others on the fat tree.
NETWORKS = {"dimension_order": "torus:dims=12x12x8", "valiant": "dragonfly:p=4", "ugal": "dragonfly:p=4",
            "ugal_g": "dragonfly:p=4", "par": "dragonfly:p=4", "slingshot": "dragonfly:p=4", "fatpaths": "slim_fly:q=13",
            "k_shortest": "slim_fly:q=13", "hammingmesh": "hammingmesh:a=2,b=2,x=8,y=8"}
POLICIES = ("spray", "wcmp", "d_mod_k", "s_mod_k", "dimension_order", "switch_spray", "switch_spray:choice=round_robin",
            "switch_spray:choice=weighted", "valiant", "minimal_adaptive", "power_of_two", "drill", "ugal", "ugal_g", "par",
            "slingshot", "flowlet", "flowcut", "fatpaths", "k_shortest", "dlb", "hammingmesh")


# What little a hop does in, and what it does by default.
SETTINGS = ({"queue": "droptail:capacity=1GB"}, {"queue": "composite", "control": "nscc"})


def policies(runs):
    print("| policy | network | of static ECMP, per packet hop | in a network that trims | packet hops |")
    print("|---|---|---|---|---|")
    for policy in POLICIES:
        network = NETWORKS.get(policy.split(":")[0], 16)
        columns, more = [], []
        for settings in SETTINGS:
            ratios = []
            for _ in range(runs):
                plain, result = (run(network, 200, routing=each, **settings) for each in ("ecmp", policy))
                ratios.append(result["cpu"] / result["packet-hops"] / (plain["cpu"] / plain["packet-hops"]))
            columns.append(f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
            more.append(f"{result['packet-hops'] / plain['packet-hops']:.2f}")
        name = f"`fat_tree:k={network}`" if isinstance(network, int) else f"`{network}`"
        print(f"| `{policy}` | {name} | {' | '.join(columns)} | {' / '.join(more)} |", flush=True)


# With the queue, and for some the routing, that they were made for; others get the queue of the fixed window's run.
CONTROLS = (("dctcp", "ecn", "spray"), ("swift", "ecn", "spray"), ("newreno", "ecn", "spray"), ("dcqcn", "ecn", "ecmp"),
            ("hpcc", "ecn", "ecmp"), ("nscc", "composite", "reps"), ("nscc", "composite", "spray"), ("rccc", "composite", "reps"),
            ("eqds", "composite", "spray"))


def controls(runs):
    print("| control | queue | routing | packet hops/s, of a fixed window's | the same with its queue and routing |")
    print("|---|---|---|---|---|")
    for control, queue, routing in CONTROLS:
        alone, paired = [], []
        for _ in range(runs):
            result = run(16, 300, queue=queue, routing=routing, control=control)
            rate = result["packet-hops/s"]
            alone.append(rate / run(16, 300)["packet-hops/s"])
            paired.append(rate / run(16, 300, queue=queue, routing=routing)["packet-hops/s"])
        shown = " | ".join(f"{median(r):.2f} ({min(r):.2f} to {max(r):.2f})" for r in (alone, paired))
        print(f"| `{control}` | `{queue}` | `{routing}` | {shown} |", flush=True)


def growth(runs):
    print("| hosts | packet hops | time | per packet hop | peak memory |")
    print("|---|---|---|---|---|")
    for k in (4, 8, 16, 32, 64):
        results = [run(k, 16 if k == 64 else 100) for _ in range(runs)]
        cpu = median([each["cpu"] for each in results])
        hops = results[0]["packet-hops"]
        print(f"| {int(results[0]['hosts']):,} | {int(hops):,} | {cpu:.3f} s | {cpu / hops * 1e9:.0f} ns | "
              f"{results[0]['memory']:.0f} MiB |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=("speed", "whole", "threads", "queues", "policies", "controls", "growth"))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--probe", help="a program that takes K and PACKETS and prints millions of hops per second")
    given = parser.parse_args()
    if given.table == "speed":
        speed(given.runs, given.probe)
    elif given.table == "whole":
        whole(given.runs)
    elif given.table == "threads":
        threads(given.runs)
    elif given.table == "queues":
        queues(given.runs)
    elif given.table == "policies":
        policies(given.runs)
    elif given.table == "controls":
        controls(given.runs)
    else:
        growth(given.runs)


if __name__ == "__main__":
    main()

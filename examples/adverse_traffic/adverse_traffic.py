#!/usr/bin/env python3
"""Worst-case traffic on three networks: accepted load against offered load, by routing, with the limits of the fluid
model: tables and a plot. Every command is printed before it runs; nothing but Python's own library is needed.

    examples/adverse_traffic/adverse_traffic.py [-o adverse] [--jobs 2]
"""

import argparse
import csv
import json
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
import report  # noqa: E402

SCENARIO = Path(__file__).with_name("adverse.txtpb")
# Hosts, and by how many each host's partner is further on: all of a group or router send to the next one.
NETWORKS = {
    "dragonfly:p=2": (72, 8),
    "hyperx:dims=4x4,hosts=4": (64, 4),
    "slim_fly:q=5": (200, 4),
}
POLICIES = ["minimal", "valiant", "ugal", "ugal_g", "par"]
MESSAGE, GBPS = 4096, 100
# The largest load is looked for between these shares of the limit, in so many steps that halve what is left.
LOW, HIGH, STEPS = 0.7, 1.1, 6
ALL = 0.99  # of what it offers: a host that gets so much gets all, as what a window cuts off is up to 1%


def run(weft, arguments, status=(0,)):
    print("  weft " + shlex.join(arguments), flush=True)
    done = subprocess.run([weft] + arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode not in status:
        raise RuntimeError(done.stderr)
    return done.stdout


def write_traffic(path, hosts, by, load, end_us):
    """Every host sends a message at equal distances, at its share of its link's rate."""
    gap = MESSAGE * 8 / (load * GBPS) * 1000  # ps
    starts = []
    for host in range(hosts):
        time = gap * (host * 0.6180339887 % 1)  # not all at once
        while time < end_us * 1e6:
            starts.append((int(time), host))
            time += gap
    lines = [f"Nodes {hosts}", f"Connections {len(starts)}"]
    lines += [f"{host}->{(host + by) % hosts} id {i} start {time} size {MESSAGE}"
              for i, (time, host) in enumerate(sorted(starts), 1)]
    path.write_text("\n".join(lines) + "\n")


def accepted_packets(weft, network, policy, load, time_us, folder):
    """Of its link's rate, what each host gets in the second half, in order; the first half is for queues to fill."""
    hosts, by = NETWORKS[network]
    folder.mkdir(parents=True, exist_ok=True)
    write_traffic(folder / "traffic.cm", hosts, by, load, time_us)
    run(weft, ["sim", str(SCENARIO), "--quiet", "--topology", f"{network},link={GBPS}Gbps", "--routing", policy, "--traffic",
               f"connections:file={folder / 'traffic.cm'}", "--set", f"limits.time={time_us}us", "-o", str(folder)], (0, 4))
    with open(folder / "links.csv", newline="") as file:
        got = {row["link"]: 0 for row in csv.DictReader(file) if row["to"].startswith("host ")}
    with open(folder / "series.csv", newline="") as file:
        for row in csv.DictReader(file):
            if row["link"] in got and time_us * 500 < float(row["time_ns"]) <= time_us * 1000:
                got[row["link"]] += int(row["bytes"])
    shutil.rmtree(folder)
    return sorted(bytes * 8 / (time_us * 500) / GBPS for bytes in got.values())


def accepted_fluids(weft, network, policy, load, folder):
    size = 2_000_000
    run(weft, ["sim", "--quiet", "--no-flows", "--topology", f"{network},link={GBPS}Gbps,latency=1ns", "--routing", policy,
               "--network", f"flow:header=0,max_rate={load * GBPS:g}Gbps", "--traffic",
               f"shift:by={NETWORKS[network][1]},size={size}", "-o", str(folder)])
    makespan = json.loads((folder / "summary.json").read_text())["makespan_ns"]
    shutil.rmtree(folder)
    return size * 8 / makespan / GBPS


def limit_of(weft, network, policy):
    return json.loads(run(weft, ["route", "load", "--topology", network, "--routing", policy, "--traffic",
                                 f"shift:by={NETWORKS[network][1]}", "--json"]))["saturation"]


def name_of(network, policy, what):
    return f"{network.split(':')[0]}_{policy}_{what}"


def largest_load(weft, network, policy, limit, time_us, folder):
    """The largest load offered by all hosts of which all of them get all. Twice the time of the other runs."""
    low, high = LOW * limit, HIGH * limit
    for step in range(STEPS):
        load = (low + high) / 2
        least = accepted_packets(weft, network, policy, load, 2 * time_us, folder / name_of(network, policy, f"step{step}"))[0]
        low, high = (load, high) if least >= ALL * load else (low, load)
    return {"network": network, "routing": policy, "limit": round(limit, 4), "largest": round(low, 4),
            "of_limit": round(low / limit, 3)}


def at_load(weft, network, policy, load, limit, time_us, folder):
    """A row: what hosts get of this load."""
    name = name_of(network, policy, f"{load:g}")
    got = accepted_packets(weft, network, policy, load, time_us, folder / name)
    return {"network": network, "routing": policy, "offered": load, "accepted_mean": round(sum(got) / len(got), 4),
            "accepted_least": round(got[0], 4), "fluids": round(accepted_fluids(weft, network, policy, load,
                                                                                folder / (name + "_flow")), 4),
            "limit": round(limit, 4)}


def plot(rows, largest, networks, policies):
    """For each network what hosts accept against what they offer: the least of all, and the mean; dashed: the limits."""
    legend = [(policy, report.STYLES[policy]) for policy in policies]
    picture = report.Plot("Worst-case traffic: what hosts get of what they offer",
                          "All hosts of a group (Dragonfly) or router send to the next one. Dashed: limits of the fluid model, "
                          "up to which every host gets all.",
                          len(networks), 2, (330, 270), legend)
    for column, network in enumerate(networks):
        mine = [row for row in rows if row["network"] == network]
        limits = {row["routing"]: row["limit"] for row in largest if row["network"] == network}
        for line, (value, what) in enumerate([("accepted_least", "the host that gets least"), ("accepted_mean", "mean of all hosts")]):
            panel = picture.panel(column, line, f"{network.split(':')[0]}: {what}",
                                  report.Axis("offered load, of a host's link"), report.Axis("accepted load", high=0.7))
            for policy in policies:
                panel.line([(row["offered"], row[value]) for row in mine if row["routing"] == policy], report.STYLES[policy])
            for limit in sorted(set(limits.values())):
                names = [policy for policy in policies if limits[policy] == limit]
                detours = "valiant" in names
                panel.level(limit, ("limit, detours: " if detours else "limit, minimal: ") + f"{limit:.3g}", at_left=detours)
    return picture.svg()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("adverse"))
    parser.add_argument("--weft", default="bazel-bin/tools/weft/weft", help="the weft program")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--loads", default="0.1,0.2,0.3,0.4,0.5,0.6,0.8,1", help="offered, of hosts' links")
    parser.add_argument("--time", type=int, default=400, help="simulated, in microseconds")
    parser.add_argument("--networks", nargs="+", default=list(NETWORKS), choices=NETWORKS)
    parser.add_argument("--policies", nargs="+", default=POLICIES, choices=POLICIES)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    weft, time, folder = options.weft, options.time, options.output
    pairs = [(network, policy, limit_of(weft, network, policy)) for network in options.networks for policy in options.policies]
    with ThreadPoolExecutor(options.jobs) as pool:
        searches = [pool.submit(largest_load, weft, *pair, time, folder) for pair in pairs]
        runs = [pool.submit(at_load, weft, network, policy, float(load), limit, time, folder)
                for network, policy, limit in pairs for load in options.loads.split(",")]
        largest, rows = [job.result() for job in searches], [job.result() for job in runs]
    report.write_csv(folder / "table.csv", rows)
    report.write_csv(folder / "largest.csv", largest)
    (folder / "accepted.svg").write_text(plot(rows, largest, options.networks, options.policies))
    for part in (rows, largest):
        print("\n" + report.text_table([list(part[0])] + [[str(value) for value in row.values()] for row in part], 2))
    print(f"\n{folder}/table.csv, {folder}/largest.csv, {folder}/accepted.svg")


if __name__ == "__main__":
    main()

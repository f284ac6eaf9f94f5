#!/usr/bin/env python3
"""Recorded runs of Ultra Ethernet's two congestion controls, against ours.

Reads rows like those of tests/data/uec/results.csv, runs each through `weft sim`, and prints a table of tail completion
times. A row's arguments are those of the recording program (htsim_uec); a completion is when the sender has the last
acknowledgement, so what that takes on its way back is added to ours.

  tests/validation/uec_runs.py --weft bazel-bin/tools/weft/weft --data FOLDER [--suite REGEX] [--match REGEX]
"""
import argparse
import csv
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time

PACKET, HEADER = 4150, 64  # bytes on the wire of a full packet, and of them the header
PATHS, SACK = 64, 16384  # where the arguments don't say
# The 400 Gb/s suites were recorded with drafts of the laws, which parameters bring back but for what is said in the
# README: a target of 6 us and the fair increase everywhere, and at first gains that didn't grow with the network.
SECOND = "target=6us,fair_below_target=true,adjust_packets=2"
FIRST = (
    "target=6us,fair_below_target=true,adjust_packets=4,reference_rate=400Gbps,reference_rtt=8.34us,fair_gain=1,"
    "proportional_gain=0.13,step_gain=0.075"
)
# RCCC's granted single packets, and went by marks alone in oversubscribed networks.
RATE_DRAFT = "rate_increase=0.05,rate_growth=1,rate_decrease=0.75,rate_interval=18us,trims_count=false"
DRAFTS = {
    "400g_nscc": FIRST,
    "400g_nscc_2": SECOND,
    "400g_nscc_4_to_1": FIRST,
    "400g_nscc_4_to_1_2": SECOND,
    "400g_rccc": "packets_per_pull=1",
    "400g_rccc_4_to_1": "packets_per_pull=1," + RATE_DRAFT,
}
# These were recorded without a choice of paths by what comes back, as what they sent again says: 4 MB at 1:1 with 32
# paths 194,835 packets, ours 246,983 sprayed and 40,498 with a bitmap.
OBLIVIOUS = ("400g_nscc_2", "400g_nscc_4_to_1", "400g_nscc_4_to_1_2")


def parse(arguments):
    """'-tm FILE -q 100 -sender_cc_only' as a dictionary; -ecn has two values."""
    words, options, i = arguments.split(), {}, 0
    while i < len(words):
        values = []
        while i + 1 + len(values) < len(words) and not words[i + 1 + len(values)].startswith("-"):
            values.append(words[i + 1 + len(values)])
        options[words[i][1:]] = values
        i += 1 + len(values)
    return options


def matrix(data, name, folder):
    """The file of connections. Sizes that have none of their own are the 1 MB file's, replaced."""
    path = os.path.join(data, name)
    if os.path.exists(path):
        return path
    size = re.search(r"_(\d+)MB\.cm$", name)
    base = os.path.join(data, re.sub(r"_\d+MB\.cm$", "_1MB.cm", name))
    made = os.path.join(folder, os.path.basename(name))
    if not os.path.exists(made):
        with open(base) as source, open(made, "w") as target:
            target.write(re.sub(r"size \d+", f"size {size[1]}000000", source.read()))
    return made


class Network:
    """What the arguments say of it."""

    def __init__(self, options, data):
        self.gbps = int(options.get("linkspeed", ["100000"])[0]) // 1000
        self.oversubscription = 1
        if "topo" in options:
            path = os.path.join(data, options["topo"][0])
            with open(path) as file:
                values = [line.split() for line in file if len(line.split()) == 2]
            self.oversubscription = max(int(v) for k, v in values if k == "Oversubscribed")
            self.links = 2 * int(dict(values)["Tiers"])
            self.topology = f"graph_file:file={path},format=topo"
        else:
            with open(os.path.join(data, options["tm"][0])) as file:
                nodes = int(file.readline().split()[1])
            k = round((4 * nodes) ** (1 / 3))
            self.links = 6
            self.topology = f"fat_tree:k={k},link={self.gbps}Gbps,latency=1us"
        self.ack_us = self.links * (1 + HEADER * 8e-3 / self.gbps)
        rtt_us = self.links * (2 + (PACKET + HEADER) * 8e-3 / self.gbps)
        self.bdp_packets = math.ceil(rtt_us * self.gbps * 1e3 / 8 / PACKET)


def control(suite, options, network, drafts):
    window = int(options.get("cwnd", ["0"])[0])
    if "sender_cc_only" in options:
        name, settings = "nscc", [f"initial_window={window}"]
    else:  # rows that name no control were recorded with the receiver's alone
        name, settings = "rccc", [f"oversubscription={network.oversubscription}"]
    if drafts and suite in DRAFTS:
        settings.append(DRAFTS[suite])
    return name + ":" + ",".join(settings)


def command(row, weft, data, folder, drafts):
    options = parse(row["arguments"])
    network = Network(options, data)
    queue = int(options.get("q", [network.bdp_packets])[0])
    low, high = options.get("ecn", [math.ceil(network.bdp_packets * 0.2), math.ceil(network.bdp_packets * 0.8)])
    paths = int(options.get("paths", [PATHS])[0])
    balancing = "oblivious" if drafts and row["suite"] in OBLIVIOUS else options.get("load_balancing_algo", ["mixed"])[0]
    policy = {"oblivious": "spray", "reps": "reps"}.get(balancing, "bitmap")
    routing = f"{policy}:paths={paths}" if paths > 1 else "ecmp"
    sack = int(options.get("sack_threshold", [SACK])[0])
    arguments = [
        weft, "sim", "-q", "--no-flows", "-o", folder,
        "--topology", network.topology, "--fabric", "none",
        "--traffic", "connections:file=" + matrix(data, options["tm"][0], folder),
        "--network", f"packet:mtu={PACKET - HEADER},header={HEADER},ack_every={math.ceil(sack / PACKET)}",
        "--routing", routing, "--recovery", "trim_nack",  # and the timeout, which is all they had
        "--queue", f"composite:capacity={queue * PACKET},kmin={int(low) * PACKET},kmax={int(high) * PACKET}",
        "--congestion", control(row["suite"], options, network, drafts),
    ]  # fmt: skip
    if "failed" in options:
        # One direction of one link, with what the switch in front of it sets by its port's speed.
        arguments += ["--fault", "link=core 0 -> aggregation 0.0,rate=0.25,scale_queue=true"]
    return arguments, network


def run_once(arguments, folder, limit):
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode != 0:
        sys.exit(f"{' '.join(arguments)}\n{done.stderr}")
    with open(os.path.join(folder, "summary.json")) as file:
        summary = json.load(file)
    return summary["flows"]["completion"]["max_ns"] / 1000, summary["signals"]["retransmit"]


def run(row, given, folder):
    """Tails in order and packets sent again of the one in the middle, or None. Of rows with one path the draw of paths
    decides how many flows meet on a link, there as here: several seeds."""
    arguments, network = command(row, given.weft, given.data, folder, not given.plain)
    tails = []
    for seed in range(1, 1 + (given.seeds if "-paths 1 " in row["arguments"] + " " else 1)):
        seeded = arguments + ["--seed", str(seed)] if seed > 1 else arguments
        result = run_once(seeded + given.extra, folder, given.limit)
        if result is None:
            return None
        tails.append((result[0] + network.ack_us, result[1]))
    tails.sort()
    return [tail for tail, _ in tails], tails[(len(tails) - 1) // 2][1]


def short(row):
    text = re.sub(r"-tm \S*/|-topo \S*/|-end \d+ ?|-linkspeed \d+ ?", "", row["arguments"])
    return f"{row['suite'].replace('validate_', '')}: {text}"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", default="bazel-bin/tools/weft/weft")
    parser.add_argument("--data", default=os.path.join(os.path.dirname(__file__), "../data/uec"))
    parser.add_argument("--suite", default=".", help="of suites to run")
    parser.add_argument("--match", default=".", help="of arguments to run")
    parser.add_argument("--plain", action="store_true", help="the laws as they are, not as suites were recorded")
    parser.add_argument("--seeds", type=int, default=11, help="of rows with one path, whose median counts")
    parser.add_argument("--limit", type=float, default=600, help="seconds for a run")
    parser.add_argument("--within", type=float, default=0.10, help="share that a row may differ by")
    parser.add_argument("--least", type=float, default=0, help="share of rows that must not; else exit with 1")
    parser.add_argument("extra", nargs="*", help="more arguments for weft, behind --")
    return parser.parse_args()


def main():
    given = parse_arguments()
    with open(os.path.join(given.data, "results.csv")) as file:
        rows = list(csv.DictReader(file))
    rows = [r for r in rows if re.search(given.suite, r["suite"]) and re.search(given.match, r["arguments"])]
    ratios = {}
    print(f"{'recorded':>9} {'ours':>9} {'ratio':>6}  {'again, recorded':>15} {'ours':>8} {'s':>5}")
    with tempfile.TemporaryDirectory() as folder:
        for row in rows:
            start = time.time()
            result = run(row, given, folder)
            recorded = float(row["tail_fct_us"])
            if result is None:
                print(f"{recorded:9.1f} {'-':>9}  not done in {given.limit:.0f} s: {short(row)}", flush=True)
                continue
            tails, again = result
            ratio = tails[(len(tails) - 1) // 2] / recorded
            ratios.setdefault(row["suite"], []).append(ratio)
            spread = f" ({tails[0]:.1f} to {tails[-1]:.1f})" if len(tails) > 1 else ""
            print(
                f"{recorded:9.1f} {ratio * recorded:9.1f} {ratio:6.3f}{' ' if abs(ratio - 1) <= given.within else '*'}"
                f" {int(row['retransmitted']):15} {again:8} {time.time() - start:5.1f}  {short(row)}{spread}",
                flush=True,
            )
    good = ran = 0
    for suite, found in ratios.items():
        within = sum(abs(r - 1) <= given.within for r in found)
        print(f"{suite}: {within} of {len(found)}, worst {max(found, key=lambda r: abs(r - 1)):.3f}")
        good += within
        ran += len(found)
    print(f"{good} of {ran} within {given.within:.0%}")
    if ran == 0 or good < given.least * ran:
        sys.exit(1)


if __name__ == "__main__":
    main()

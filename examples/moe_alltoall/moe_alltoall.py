#!/usr/bin/env python3
"""The all-to-alls of a layer with experts, by routing and congestion control, with equal and with unequal experts, on
leaves with full and with half bandwidth up: how much longer than their bytes take. A table and a plot; nothing but
Python's own library.

    examples/moe_alltoall/moe_alltoall.py [-o moe_alltoall] [--jobs 2] [--controls nscc dcqcn]
"""

import argparse
import csv
import itertools
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
import report  # noqa: E402

SCENARIO = Path(__file__).with_name("moe_alltoall.txtpb")
MODEL = SCENARIO.with_name("moe_layer.json").resolve()
ROUTINGS = ["ecmp", "flowcut", "spray", "minimal_adaptive"]
# Each with queues as it is used: links that pause, but for nscc's, which trim packets.
QUEUES = {"dcqcn": "pfc", "dctcp": "pfc", "swift": "pfc", "hpcc": "pfc", "nscc": "composite"}
TOPOLOGY = "scale_up:node=dgx_h100,of=[leaf_spine:leaves=4,spines=8,hosts_per_leaf=2],outer_links={}"
LINKS = {"full": 2, "half": 1}  # from a leaf to each spine
SKEWS = ["0", "0.3"]
NODE, LEAF, BYTES_PER_NS = 8, 16, 50  # GPUs of a node and of a leaf; 400 Gb/s
WIRE = (4096 + 64) / 4096  # headers


def sweep(options):
    """Runs what is not there yet; the rows of its table."""
    topologies = ",".join(f"[{TOPOLOGY.format(LINKS[name])}]" for name in options.uplinks)
    controls = ",".join(options.controls)
    queues = ",".join(QUEUES[control] for control in options.controls)
    command = [options.weft, "sweep", str(SCENARIO), "--set", f"job.traffic.llm.model={MODEL}",
               "-o", str(options.output), "--jobs", str(options.jobs), "--quiet",
               "--vary", "job.traffic.llm.expert_skew=" + ",".join(options.skews), "--vary", "topology=" + topologies,
               "--vary", "routing=" + ",".join(options.routings), "--zip", f"congestion={controls};queue={queues}"]
    print(shlex.join(command), flush=True)
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    with open(options.output / "sweep.csv", newline="") as file:
        return list(csv.DictReader(file))


def bytes_to_ranks(options, skew):
    """Bytes from any rank to each, as the first dispatch of the graph has them."""
    graph = options.output / f"skew_{skew}.goal"
    text = SCENARIO.read_text()
    fields = re.search(r"llm \{(.*?)\}", text).group(1)
    parameters = ",".join(f"{name}={value.strip(chr(34))}" for name, value in re.findall(r"(\w+): (\S+)", fields))
    parameters = re.sub(r"model=[^,]*", f"model={MODEL}", parameters)
    subprocess.run([options.weft, "goal", "gen", f"llm:{parameters},expert_skew={skew}", "-o", str(graph)], check=True,
                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for line in graph.read_text().splitlines():
        found = re.search(r": alltoall (\[([\d ]+)\]|(\d+))b", line)
        if found:
            return [int(size) for size in found.group(2).split()] if found.group(2) else [int(found.group(3))] * 64
    raise SystemExit(f"{graph}: no alltoall")


def bound_us(copies, links):
    """What the fullest NIC, and the links up of the fullest leaf, take for two dispatches and two combines. Messages
    leave by the NIC of their node that has the receiver's number: a NIC sends what is for its number elsewhere."""
    ranks, up = len(copies), 8 * links

    def fullest(size):
        return max(sum(copies[begin:begin + size]) for begin in range(0, ranks, size))

    # To the experts a NIC receives, back it sends, evenly over a node's.
    dispatch = max(max(copies) * (ranks - NODE), fullest(LEAF) * (ranks - LEAF) / up)
    combine = max(fullest(NODE) * (ranks // NODE - 1), fullest(LEAF) * (ranks - LEAF) / up)
    return 2 * (dispatch + combine) * WIRE / BYTES_PER_NS * 1e-3


def name_of(value):
    return value.split(":")[0]


def row_of(run, bounds, folder):
    summary = json.loads((folder / run["folder"] / "summary.json").read_text())
    links = int(re.search(r"outer_links=(\d+)", run["topology"]).group(1))
    uplinks = next(name for name, count in LINKS.items() if count == links)
    skew = run["job.traffic.llm.expert_skew"]
    taken = summary["exposed_communication"]["ep"]["mean_ns"] * 1e-3
    bound = bounds[skew, uplinks]
    return {"skew": skew, "uplinks": uplinks, "routing": name_of(run["routing"]), "control": name_of(run["congestion"]),
            "us": round(taken, 1), "bound_us": round(bound, 1), "slowdown": round(taken / bound, 3),
            "sent_again": summary["signals"]["retransmit"], "pauses": summary["signals"].get("pause", 0)}


def plot(rows, options):
    colors = dict(zip(QUEUES, (report.BLACK, report.ORANGE, report.SKY, report.GREEN, report.RED)))
    picture = report.Plot("What do routing and control do to the all-to-alls of experts?",
                          "Two dispatches and two combines of 64 GPUs, over what their bytes take on the fullest link.",
                          len(options.uplinks), len(options.skews), (460, 240),
                          [(control, colors[control]) for control in options.controls])
    for (column, uplinks), (line, skew) in itertools.product(enumerate(options.uplinks), enumerate(options.skews)):
        title = ("equal experts" if skew == "0" else f"skew {skew}") + f", {uplinks} bandwidth up"
        panel = picture.panel(column, line, title, report.Axis(names=options.routings),
                              report.Axis("slowdown", high=1.1 * max(row["slowdown"] for row in rows)))
        for row in rows:
            if (row["uplinks"], row["skew"]) != (uplinks, skew):
                continue
            at = options.routings.index(row["routing"]) + 0.16 * (options.controls.index(row["control"]) - 2)
            panel.bar(at, 0.16, row["slowdown"], colors[row["control"]])
        panel.level(1, "")
    return picture.svg()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("moe_alltoall"))
    parser.add_argument("--weft", default="bazel-bin/tools/weft/weft", help="the weft program")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--routings", nargs="+", default=ROUTINGS, choices=ROUTINGS)
    parser.add_argument("--controls", nargs="+", default=list(QUEUES), choices=list(QUEUES))
    parser.add_argument("--uplinks", nargs="+", default=list(LINKS), choices=list(LINKS), help="bandwidth up of a leaf")
    parser.add_argument("--skews", nargs="+", default=SKEWS, help="Zipf's exponents of the experts' popularity")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    runs = sweep(options)
    copies = {skew: bytes_to_ranks(options, skew) for skew in options.skews}
    bounds = {(skew, uplinks): bound_us(copies[skew], LINKS[uplinks])
              for skew, uplinks in itertools.product(options.skews, options.uplinks)}
    rows = [row_of(run, bounds, options.output) for run in runs]
    report.write_csv(options.output / "table.csv", rows)
    (options.output / "slowdown.svg").write_text(plot(rows, options))
    print("\n" + report.text_table([list(rows[0])] + [[str(value) for value in row.values()] for row in rows], 4))
    print(f"\n{options.output}/table.csv, {options.output}/slowdown.svg")


if __name__ == "__main__":
    main()

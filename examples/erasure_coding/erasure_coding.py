#!/usr/bin/env python3
"""Completion time of a message between two sites, over distance and loss: selective repeat against erasure coding,
simulated and by a closed-form model; a table and a plot. Nothing but Python's own library is needed.

    examples/erasure_coding/erasure_coding.py [-o erasure_coding] [--jobs 2]
"""

import argparse
import itertools
import json
import math
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
import report  # noqa: E402

SCENARIO = Path(__file__).with_name("two_sites.txtpb")

# Name: --recovery, and the code: data and redundant packets of a block, and the shares it falls into (1: MDS).
RECOVERIES = {
    "selective repeat": ("selective_repeat", None),
    "selective repeat, timeouts only": ("selective_repeat:detection=timeout", None),
    "MDS 32 + 8": ("erasure_coding:data=32,redundant=8", (32, 8, 1)),
    "XOR 32 + 8": ("erasure_coding:data=32,redundant=8,code=xor", (32, 8, 8)),
}
COLORS = [report.BLUE, report.GREY, report.RED, report.ORANGE]
DISTANCES_KM = [10, 100, 1000, 10000]
LOSSES = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2]

KM_PER_SECOND = 200_000  # light in fiber
RATE = 400e9
PAYLOAD, HEADER, ACK = 4096, 64, 64
LINKS, NEAR_LATENCY = 5, 500e-9  # host, switch, border switch, border switch, switch, host; all but the long one
PACKET_TIME = (PAYLOAD + HEADER) * 8 / RATE
DUPLICATES = 3  # packets that come later until one is lost


def propagation(km):
    return km / KM_PER_SECOND + (LINKS - 1) * NEAR_LATENCY


def round_trip(km):
    return 2 * propagation(km) + LINKS * (PACKET_TIME + ACK * 8 / RATE)


def timeout(km):
    """As in SDR-RDMA: three round trips."""
    return 3 * round_trip(km)


class Model:
    """Expected times at which the receiver has a message of so many packets. A packet that was lost takes
    another way, each time with the same probability; the message is there with its last packet."""

    def __init__(self, packets, km, loss):
        self.packets, self.loss = packets, loss
        self.rtt, self.timeout = round_trip(km), timeout(km)
        self.way = propagation(km) + (LINKS - 1) * PACKET_TIME

    def expected(self, all_sent, chance_within, longest):
        """all_sent: when the last packet is on its way; chance_within(u): that all is there u later."""
        steps = 2000
        width = longest / steps
        return all_sent + self.way + sum(1 - chance_within((i + 0.5) * width) for i in range(steps)) * width

    def selective_repeat(self):
        """Packet i is sent at i s; each loss costs a round trip and three packets more, and for the last three packets,
        which nothing follows, a timeout and a round trip."""
        detour = self.rtt + DUPLICATES * PACKET_TIME
        followed = self.packets - DUPLICATES

        def chance_within(u):
            # Packet i has had time for k detours, k = floor((u + (n - i) s) / detour), and is lost k + 1 times in p^(k+1).
            logarithm, sent, k = 0.0, 0, int((u + self.packets * PACKET_TIME) / detour)
            while sent < followed:
                # The packets with time for k: up to the one sent k detours before u.
                until = followed if k == 0 else min(followed, math.floor(
                    self.packets - (k * detour - u) / PACKET_TIME))
                logarithm += max(0, until - sent) * math.log1p(-self.loss ** (k + 1))
                sent = max(sent, until)
                k -= 1
            tail = 1 - self.loss ** (1 + int(u / (self.timeout + self.rtt)))
            return math.exp(logarithm) * tail ** DUPLICATES

        return self.expected(self.packets * PACKET_TIME / (1 - self.loss), chance_within,
                             6 * (self.timeout + self.rtt))

    def timeouts_only(self):
        """In rounds: what was lost is sent again a timeout after the last ACK."""
        detour = self.rtt + self.timeout
        rounds = sum(1 - math.exp(self.packets * math.log1p(-self.loss ** (r + 1))) for r in range(60))
        return self.packets * PACKET_TIME + self.way + rounds * detour

    def coded(self, data, redundant, shares):
        """A block fails when one of its shares has lost more than it can make up for, and costs as a lost packet does."""
        blocks = math.ceil(self.packets / data)
        of_share, spare = (data + redundant) // shares, redundant // shares
        survives = sum(math.comb(of_share, lost) * self.loss ** lost * (1 - self.loss) ** (of_share - lost)
                       for lost in range(spare + 1))
        fails = 1 - survives ** shares
        block_time = (data + redundant) * PACKET_TIME
        detour = self.rtt + DUPLICATES * PACKET_TIME

        def chance_within(u):
            # Blocks sent long enough before the last one had time to be repaired.
            late = blocks - max(0, math.floor((detour - u) / block_time)) if u < detour else blocks
            return (1 - fails) ** (blocks - max(0, late))

        return self.expected((blocks * (data + redundant) - redundant) * PACKET_TIME, chance_within, detour)

    def time(self, recovery):
        code = RECOVERIES[recovery][1]
        if code is not None:
            return self.coded(*code)
        return self.timeouts_only() if "timeouts" in recovery else self.selective_repeat()


def command(km, loss, recovery, options):
    results = options.output / "".join(c if c.isalnum() else "_" for c in f"{km} km {loss} {recovery}")
    values = {"topology.datacenters.long_latency": f"{round(km / KM_PER_SECOND * 1e9)}ns",
              "topology.datacenters.loss": f"{loss}",
              "network.packet.min_timeout": f"{round(timeout(km) * 1e9)}ns",
              "job.traffic.ping_pong.sizes": f"{options.packets * PAYLOAD}B",
              "job.traffic.ping_pong.iterations": f"{options.messages // 2}"}
    arguments = ["sim", str(SCENARIO), "--quiet", "--no-flows", "--recovery", RECOVERIES[recovery][0], "-o", str(results)]
    for name, value in values.items():
        arguments += ["--set", f"{name}={value}"]
    return arguments


def run(km, loss, recovery, options):
    """A row of the table."""
    arguments = command(km, loss, recovery, options)
    print("  weft " + shlex.join(arguments), flush=True)
    if subprocess.run([options.weft] + arguments).returncode != 0:
        raise RuntimeError("weft failed")
    summary = json.loads((Path(arguments[arguments.index("-o") + 1]) / "summary.json").read_text())
    completion = summary["flows"]["completion"]
    model = Model(options.packets, km, loss).time(recovery)
    return {"km": km, "loss": loss, "recovery": recovery,
            "mean_ms": completion["mean_ns"] * 1e-6, "model_ms": model * 1e3,
            "p99_ms": completion["p99_ns"] * 1e-6, "messages": options.messages,
            "sent_again": summary["signals"].get("retransmit", 0)}


def table(rows):
    """Mean times, simulated and by the model, of each distance and loss."""
    value = {(row["km"], row["loss"], row["recovery"]): (row["mean_ms"], row["model_ms"]) for row in rows}
    lines = [["mean (model), ms", ""] + list(RECOVERIES)]
    for km, loss in itertools.product(DISTANCES_KM, LOSSES):
        lines.append([f"{km:,} km", f"{loss:g}"] +
                     ["{:.3f} ({:.3f})".format(*value[km, loss, recovery]) for recovery in RECOVERIES])
    return report.text_table(lines, left=2)


def plot(rows, options):
    """For each distance: time over loss, in times of what the message takes without any; lines are the model."""
    value = {(row["km"], row["loss"], row["recovery"]): row for row in rows}
    ideal = {km: options.packets * PACKET_TIME + propagation(km) + (LINKS - 1) * PACKET_TIME for km in DISTANCES_KM}
    most = max(row["mean_ms"] * 1e-3 / ideal[row["km"]] for row in rows)
    plot = report.Plot("Selective repeat and erasure coding, by distance and loss",
                       f"A message of {options.packets * PAYLOAD / 2**20:g} MiB at 400 Gb/s. Points: simulated; lines: model.",
                       columns=len(DISTANCES_KM), panel=(250, 300),
                       legend=[(recovery, (color, "", "circle")) for recovery, color in zip(RECOVERIES, COLORS)])
    for p, km in enumerate(DISTANCES_KM):
        panel = plot.panel(p, 0, f"{km:,} km",
                           report.Axis("packets lost on the long link", LOSSES[0] / 1.5, LOSSES[-1] * 1.5, log=True, ticks=LOSSES),
                           report.Axis("time, in times of that without loss" if p == 0 else "", 0.95, 1.1 * most, log=True,
                                       ticks=(1, 1.25, 2, 4, 8, 16), unit="x"))
        for recovery, color in zip(RECOVERIES, COLORS):
            fine = [LOSSES[0] * (LOSSES[-1] / LOSSES[0]) ** (k / 40) for k in range(41)]
            panel.line([(loss, Model(options.packets, km, loss).time(recovery) / ideal[km]) for loss in fine], (color, "", ""))
            for loss in LOSSES:
                mean = value[km, loss, recovery]["mean_ms"] * 1e-3
                panel.point(loss, mean / ideal[km], color, f"{recovery}: {mean * 1e3:.3f} ms", size=4)
    return plot.svg()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("erasure_coding"))
    parser.add_argument("--weft", default="bazel-bin/tools/weft/weft", help="the weft program")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--packets", type=int, default=4096, help="packets of a message, a multiple of 32")
    parser.add_argument("--messages", type=int, default=256, help="messages of each run")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    points = list(itertools.product(DISTANCES_KM, LOSSES, RECOVERIES))
    with ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(lambda point: run(*point, options), points))
    report.write_csv(options.output / "table.csv", rows)
    (options.output / "completion.svg").write_text(plot(rows, options))
    print("\n" + table(rows) + f"\n\n{options.output}/table.csv, {options.output}/completion.svg")


if __name__ == "__main__":
    main()

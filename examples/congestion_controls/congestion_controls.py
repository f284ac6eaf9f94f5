#!/usr/bin/env python3
"""All congestion controls in the same five traffic cases, at 100 and 400 Gb/s: a table and a plot. Nothing but Python's
own library is needed.

    examples/congestion_controls/congestion_controls.py [-o congestion_controls] [--jobs 2]
"""

import argparse
import csv
import itertools
import json
import math
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
import report  # noqa: E402

HERE = Path(__file__).parent
RATES = {"100Gbps": 100e9, "400Gbps": 400e9}

# Rows: what a control asks of the network, and with it a queue; "": the one that it gets if none is given.
CONTROLS = {
    "Nothing of switches": [("bbr", ""), ("cubic", ""), ("newreno", ""), ("fixed_window", ""), ("strack", ""),
                            ("swift", ""), ("timely", "")],
    "Marks": [("dctcp", ""), ("dcqcn", ""), ("mprdma", ""), ("nscc", "ecn"), ("smartt", ""), ("uno", "")],
    "Marks and trimming": [("dctcp", "composite"), ("nscc", "composite"), ("smartt", "composite"), ("nscc_rccc", ""),
                           ("rccc", ""), ("eqds", ""), ("ndp", "")],
    "Telemetry": [("bolt", ""), ("hpcc", ""), ("powertcp", "")],
    "Lossless links": [("dcqcn", "pfc"), ("timely", "pfc"), ("hpcc", "pfc")],
}
# Scenario, topology's name in it, routing, and what is set with the rate beside the links'.
CASES = {
    "long flows": ("long_flows", "leaf_spine", "ecmp", {}),
    "incast": ("incast", "fat_tree", "ecmp", {}),
    "permutation": ("permutation", "fat_tree", "ecmp", {}),
    "permutation, sprayed": ("permutation", "fat_tree", "spray", {}),
    "web search": ("web_search", "fat_tree", "ecmp", {
        "100Gbps": ["job.traffic.poisson.rate=100Gbps", "job.traffic.poisson.duration=2ms"],
        "400Gbps": ["job.traffic.poisson.rate=400Gbps", "job.traffic.poisson.duration=500us"]}),
    "victim": ("victim", "fat_tree", "ecmp", {}),
}
COLUMNS = ["case", "rate", "needs", "name", "control", "queue", "seed", "messages", "bytes", "mean_us", "p99_us", "max_us",
           "mean_slowdown", "p99_slowdown", "jain", "utilization", "least_share", "queue_mean_us", "queue_p99_us",
           "queue_most_us", "data_packets", "drops", "trims", "sent_again", "timeouts", "marks"]
PAYLOAD = 4096 / 4160  # of a full packet on the wire
TIME_LIMIT = 4         # status of a run that was stopped


def label(control, queue):
    return f"{control}, {queue}" if queue else control


def command(case, rate, control, queue, seed, folder):
    scenario, topology, routing, extra = CASES[case]
    name = f"{case} {rate} {label(control, queue)} {seed}"
    arguments = ["sim", str(HERE / f"{scenario}.txtpb"), "--quiet", "--congestion", control, "--routing", routing,
                 "--set", f"topology.{topology}.link={rate}", "--seed", str(seed),
                 "-o", str(folder / "".join(c if c.isalnum() else "_" for c in name))]
    matrix = HERE / f"{scenario}.cm"
    if matrix.exists():  # the scenario names it from the repository's root
        arguments += ["--set", f"job.traffic.connections.file={matrix}"]
    for setting in extra.get(rate, []):
        arguments += ["--set", setting]
    return arguments + (["--queue", queue] if queue else [])


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def jain(values):
    """Jain's index of fairness: 1 where all are equal, 1/n where one has all."""
    return sum(values) ** 2 / (len(values) * sum(v * v for v in values)) if any(values) else 0.0


def long_flows(results, rate):
    """Of the second half, in which all four flows run: shares of the link, and the queue in front of it."""
    samples, links = read(results / "series.csv"), {row["link"]: row for row in read(results / "links.csv")}
    end = max(float(row["time_ns"]) for row in samples)
    samples = [row for row in samples if float(row["time_ns"]) > end / 2]
    shared = next(link for link, row in links.items() if row["to"] == "spine 0" and row["from"] == "leaf 0")
    interval = min(float(b["time_ns"]) - float(a["time_ns"]) for a, b in zip(samples, samples[1:])
                   if a["time_ns"] != b["time_ns"])
    bytes_to = {link: 0 for link, row in links.items() if row["to"] in {f"host {i}" for i in range(4, 8)}}
    queues = []
    for row in samples:
        if row["link"] in bytes_to:
            bytes_to[row["link"]] += int(row["bytes"])
        elif row["link"] == shared:
            queues.append(float(row["queue_bytes"]) * 8 / rate * 1e6)
    count = round(end / 2 / interval)
    queues = [0.0] * (count - len(queues)) + sorted(queues)
    shares = [8 * total / (end / 2 * 1e-9) / rate for total in bytes_to.values()]
    return {"jain": round(jain(shares), 4), "utilization": round(sum(shares), 4), "least_share": round(min(shares), 4),
            "queue_mean_us": round(sum(queues) / len(queues), 3),
            "queue_p99_us": round(queues[math.ceil(0.99 * len(queues)) - 1], 3)}


def times(flows):
    """Of messages: completion times in microseconds, by nearest rank, and what they are over the ideal."""
    took = sorted((float(row["finish_ns"]) - float(row["start_ns"])) * 1e-3 for row in flows)
    slowdown = sorted(float(row["slowdown"]) for row in flows)
    last = math.ceil(0.99 * len(took)) - 1
    return {"mean_us": round(sum(took) / len(took), 2), "p99_us": round(took[last], 2), "max_us": round(took[-1], 2),
            "mean_slowdown": round(sum(slowdown) / len(slowdown), 3), "p99_slowdown": round(slowdown[last], 3)}


def queue_of(results):
    """The queue discipline that the run had."""
    return re.search(r"^queue \{\s+(\w+)", (results / "scenario.txtpb").read_text(), re.M).group(1)


def run(weft, case, rate, need, control, queue, seed, arguments):
    """A row of the table."""
    print("  weft " + shlex.join(arguments), flush=True)
    done = subprocess.run([weft] + arguments, stderr=subprocess.PIPE, text=True)
    if done.returncode not in ((TIME_LIMIT,) if case == "long flows" else (0,)):
        raise RuntimeError(done.stderr)
    results = Path(arguments[arguments.index("-o") + 1])
    summary = json.loads((results / "summary.json").read_text())
    signals, bits = summary["signals"], RATES[rate]
    longest = max(float(row["max_queue_bytes"]) * 8 / float(row["rate_bps"]) for row in read(results / "links.csv")
                  if not row["from"].startswith("host"))
    row = dict.fromkeys(COLUMNS, "")
    row.update({"case": case, "rate": rate, "needs": need, "name": label(control, queue), "control": control,
                "queue": queue_of(results), "seed": seed})
    if case == "long flows":
        row.update(long_flows(results, bits))
    else:
        flows = read(results / "flows.csv")
        row["data_packets"] = sum(int(flow["packets"]) for flow in flows)
        if case == "victim":  # the messages beside the incast
            flows = [flow for flow in flows if flow["destination"] != "0"]
        row.update({"messages": len(flows), "bytes": sum(int(flow["bytes"]) for flow in flows)})
        row.update(times(flows))
        if case == "incast":
            row["jain"] = round(jain([float(flow["goodput_bps"]) for flow in flows]), 4)
    row.update({"queue_most_us": round(longest * 1e6, 2), "drops": signals.get("drop", 0), "trims": signals.get("trim", 0),
                "sent_again": signals.get("retransmit", 0), "timeouts": signals.get("timeout", 0),
                "marks": signals.get("ecn_mark", 0)})
    return row


# Columns of the condensed table and the plot: title, decimals, the value at which a cell is white (none is better),
# and that at which it is darkest.
FIGURES = {
    "slowest\nof 4, %": (0, 100, 25),
    "link\nused, %": (1, 100, 90),
    "queue,\nus": (2, 0.5, 12),
    "incast:\nlast": (2, 1, 2),
    "one path:\np99": (2, 3, 12),
    "sprayed:\np99": (2, 1.15, 3),
    "web:\nmean": (2, 1.85, 5),
    "web:\np99": (2, 5, 25),
    "victim:\nmean": (2, 1.2, 5),
    "sent\nagain, %": (2, 0.2, 10),
}


def figures(rows, bits):
    """Of one control at one rate, from its rows by case. Times are over the least that the wire or an idle network
    allows."""
    long, incast = rows["long flows"], rows["incast"]
    finished = [row for case, row in rows.items() if case != "long flows"]
    return dict(zip(FIGURES, [
        400 * long["least_share"],
        100 * long["utilization"],
        long["queue_mean_us"],
        incast["max_us"] / (incast["bytes"] / PAYLOAD * 8 / bits * 1e6),
        rows["permutation"]["p99_slowdown"],
        rows["permutation, sprayed"]["p99_slowdown"],
        rows["web search"]["mean_slowdown"],
        rows["web search"]["p99_slowdown"],
        rows["victim"]["mean_slowdown"],
        100 * sum(row["sent_again"] for row in finished) / sum(row["data_packets"] for row in finished),
    ]))


def by_name(rows):
    """Figures by (needs, name) and rate, in the order of the rows: means over seeds."""
    runs = {}
    for row in rows:
        of_rate = runs.setdefault((row["needs"], row["name"]), {}).setdefault(row["rate"], {})
        of_rate.setdefault(row["seed"], {})[row["case"]] = row
    mean = {}
    for key, rates in runs.items():
        for rate, seeds in rates.items():
            values = [figures(cases, RATES[rate]) for cases in seeds.values()]
            mean.setdefault(key, {})[rate] = {title: sum(v[title] for v in values) / len(values) for title in FIGURES}
    return mean


# Of the figures, what each case counts with in `overall`.
WEIGHTS = {"slowest\nof 4, %": 1, "incast:\nlast": 1, "one path:\np99": 0.5, "sprayed:\np99": 0.5, "web:\nmean": 0.5,
           "web:\np99": 0.5, "victim:\nmean": 1}


def overall(values):
    """One number for each name: the geometric mean over cases and rates of its times over the best control's. Of long
    flows that is the time of the slowest, a hundred times a fair one's at most."""
    logs = {key: 0.0 for key in values}
    rates = list(next(iter(values.values())))
    for rate, (title, weight) in itertools.product(rates, WEIGHTS.items()):
        times = {key: 100 / max(1, of[rate][title]) if title.startswith("slowest") else of[rate][title]
                 for key, of in values.items()}
        best = min(times.values())
        for key, time in times.items():
            logs[key] += weight * math.log(time / best)
    return {key: math.exp(log / len(rates) / sum(WEIGHTS.values())) for key, log in logs.items()}


def table(rows):
    lines = [["", ""] + [title.replace("\n", " ") for title in FIGURES]]
    for (_, name), rates in by_name(rows).items():
        for rate, values in rates.items():
            lines.append([name, rate] + [f"{values[title]:,.{FIGURES[title][0]}f}" for title in FIGURES])
    ranks = sorted((value, name) for (_, name), value in overall(by_name(rows)).items())
    return report.text_table(lines, 2) + "\n\nOver all cases, times over the best control's:\n" + \
        "\n".join(f"  {value:.3f}  {name}" for value, name in ranks)


def plot(rows):
    """A map of all figures: a row for each control, white where none does better, darker the worse it is."""
    values = by_name(rows)
    rates = list(dict.fromkeys(row["rate"] for row in rows))
    heads = [(rate.replace("Gbps", " Gb/s"), list(FIGURES)) for rate in rates]
    groups = {}
    for (need, name), of_rates in values.items():
        cells = []
        for rate, (title, (decimals, best, worst)) in itertools.product(rates, FIGURES.items()):
            value = of_rates[rate][title]
            cells.append((f"{value:,.{decimals if value < 100 else 0}f}", report.shade(value, best, worst)))
        groups.setdefault(need, []).append((name, cells))
    return report.heat_map(
        "Congestion controls in five traffic cases, by what they ask of the network",
        "Long flows: share of a fair share that the slowest of four gets, use of the link they share, mean queue in front of "
        "it. Incast 64:1: last message over what the wire takes.\nPermutation on one path each and sprayed, web search at 60% "
        "load, messages beside an incast: completion over that in an idle network. White: as good as any; red: bad.",
        heads, list(groups.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("congestion_controls"))
    parser.add_argument("--weft", default="bazel-bin/tools/weft/weft", help="the weft program")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--rates", nargs="+", default=list(RATES), choices=RATES)
    parser.add_argument("--seeds", type=int, default=3, help="runs of each, whose means are shown")
    names = sorted({control for controls in CONTROLS.values() for control, _ in controls})
    parser.add_argument("--controls", nargs="+", choices=names, metavar="NAME", help=f"some only, of {', '.join(names)}")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    work = [(case, rate, need, control, queue, seed)
            for rate, (need, controls), case in itertools.product(options.rates, CONTROLS.items(), CASES)
            for control, queue in controls if not options.controls or control in options.controls
            for seed in range(1, options.seeds + 1)]
    arguments = [command(case, rate, control, queue, seed, options.output)
                 for case, rate, _, control, queue, seed in work]
    with ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(lambda of: run(options.weft, *of[0], of[1]), zip(work, arguments)))
    report.write_csv(options.output / "table.csv", rows)
    (options.output / "controls.svg").write_text(plot(rows))
    print("\n" + table(rows) + f"\n\n{options.output}/table.csv, {options.output}/controls.svg")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""A permutation of 1,024 hosts with eight slow core links, under policies that see that and some that don't: a table
and a plot. Nothing but Python's own library is needed.

    examples/slow_links/slow_links.py [-o slow_links] [--jobs 2]
"""

import argparse
import itertools
import json
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
import report  # noqa: E402

SCENARIO = Path(__file__).with_name("permutation.txtpb")
LIMIT_US = 220  # of htsim's validation, for all kinds of spraying
POLICIES = {
    "ecmp": "ecmp",
    "flowcut": "flowcut",
    "spray": "spray:paths=128",
    "switch_spray": "switch_spray",
    "minimal_adaptive": "minimal_adaptive",
    "power_of_two": "power_of_two",
    "drill": "drill",
    "bitmap": "bitmap:paths=128",
    "reps": "reps:paths=128",
}
ONE_PATH = ["ecmp", "flowcut"]
BYTES = "all of one switch, 1/10, queues in bytes"
COLORS = [report.GREY, report.YELLOW, report.SKY, report.BLUE, report.GREEN, report.RED]


def slow_links(k):
    """Cases: names of links, ends as in links.csv, what is left of their rate, and whether their queues follow it."""
    half = k // 2
    one_each = [f"aggregation 0.{i} / core {half * i}" for i in range(half)]
    return {
        "none": ([], 1, True),
        "down to one switch, 1/4": (["core * -> aggregation 0.0"], 0.25, True),
        "all of one switch, 1/4": (["aggregation 0.0 / core *"], 0.25, True),
        "all of one switch, 1/10": (["aggregation 0.0 / core *"], 0.1, True),
        "one of each switch, 1/10": (one_each, 0.1, True),
        BYTES: (["aggregation 0.0 / core *"], 0.1, False),
    }


def command(case, policy, k, size, folder):
    links, rate, scaled = slow_links(k)[case]
    results = folder / "".join(c if c.isalnum() else "_" for c in f"{case} {policy}")
    arguments = ["sim", str(SCENARIO), "--quiet", "--no-flows", "--routing", POLICIES[policy],
                 "--set", f"job.traffic.permutation.size={size}", "--set", f"topology.fat_tree.k={k}", "-o", str(results)]
    for link in links:
        arguments += ["--fault", f"link={link},rate={rate}" + (",scale_queue=true" if scaled else "")]
    return arguments


def run(weft, case, policy, arguments):
    """A row of the table."""
    print("  weft " + shlex.join(arguments), flush=True)
    if subprocess.run([weft] + arguments).returncode != 0:
        raise RuntimeError("weft failed")
    summary = json.loads((Path(arguments[arguments.index("-o") + 1]) / "summary.json").read_text())
    completion, signals = summary["flows"]["completion"], summary["signals"]
    return {
        "slow": case, "routing": policy,
        "longest_us": round(completion["max_ns"] * 1e-3, 1),
        "p99_us": round(completion["p99_ns"] * 1e-3, 1),
        "mean_us": round(completion["mean_ns"] * 1e-3, 1),
        "sent_again": signals.get("retransmit", 0),
        "overtaken": summary["overtaken_packets"],
    }


def table(rows):
    """Longest times: a line for each policy."""
    cases = list(dict.fromkeys(row["slow"] for row in rows))
    value = {(row["slow"], row["routing"]): row["longest_us"] for row in rows}
    return report.text_table([["longest, us"] + cases] + [[policy] + [f"{value[case, policy]:,.1f}" for case in cases]
                                                          for policy in POLICIES])


def plot(rows, k):
    """Bars of the longest time, by policy and case, with a line at the limit: policies that keep a flow on one path
    have a scale of their own."""
    cases = list(dict.fromkeys(row["slow"] for row in rows))
    value = {(row["slow"], row["routing"]): row["longest_us"] for row in rows}
    picture = report.Plot(f"Who rides through {k // 2} slow core links?",
                          f"The longest message of a permutation over a fat tree of {k ** 3 // 4:,} hosts, by which links are "
                          "slow, and what is left of their rate.",
                          rows=2, panel=(1120, 260), names_of_lines=2,
                          legend=[*zip(cases, COLORS), (f"htsim's limit: {LIMIT_US} us", (report.BLACK, "6 4", ""))])
    for line, (title, policies) in enumerate({
            "Packets of a flow are spread over paths": [policy for policy in POLICIES if policy not in ONE_PATH],
            "A flow keeps one path, for a while at least (another scale)": ONE_PATH}.items()):
        high = 1.12 * max(value[case, policy] for case in cases for policy in policies)
        panel = picture.panel(0, line, title, report.Axis("routing", names=[p.replace("_", "\n", 1) for p in policies]),
                              report.Axis("longest message, us", high=high))
        for i, policy in enumerate(policies):
            for j, case in enumerate(cases):
                place = i + 0.14 * (j - (len(cases) - 1) / 2)
                panel.bar(place, 0.14, value[case, policy], COLORS[j])
                height = value[case, policy] * (1 if line else 0.5)  # off the line of the limit
                panel.text(place, height, f"{value[case, policy]:,.0f}", anchor="middle", shift=(0, -4), size=10)
        panel.level(LIMIT_US, "")
    return picture.svg()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("slow_links"))
    parser.add_argument("--weft", default="bazel-bin/tools/weft/weft", help="the weft program")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--k", type=int, default=16, help="ports of a switch")
    parser.add_argument("--size", default="2MB", help="bytes of each message")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    points = list(itertools.product(slow_links(options.k), POLICIES))
    work = [(*point, command(*point, options.k, options.size, options.output)) for point in points]
    with ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(lambda item: run(options.weft, *item), work))
    report.write_csv(options.output / "table.csv", rows)
    (options.output / "longest.svg").write_text(plot(rows, options.k))
    print("\n" + table(rows) + f"\n\n{options.output}/table.csv, {options.output}/longest.svg")


if __name__ == "__main__":
    main()

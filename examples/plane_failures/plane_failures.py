#!/usr/bin/env python3
"""What an eight-plane network loses with a plane, a NIC port or a link between switches: a table and a plot. Every
command is printed before it runs; nothing but Python's own library is needed.

    examples/plane_failures/plane_failures.py [-o planes]
"""

import argparse
import json
import shlex
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
import report  # noqa: E402

SCENARIO = Path(__file__).with_name("planes.txtpb")
POLICIES = ["srv6", "reps", "bitmap", "spray"]
PLANES, LINKS_UP = 8, 4  # of the scenario; links up from a leaf in one plane

# What fails 1 us after the start, and what is left to those whom it concerns if the others take over.
FAILURES = {
    "nothing": (None, Fraction(1)),
    "a plane": ("switch=* 3.*,at=1us", Fraction(PLANES - 1, PLANES)),
    "a NIC port": ("link=host 0 / leaf 3.0,at=1us", Fraction(PLANES - 1, PLANES)),
    "a leaf-spine link": ("link=leaf 3.0 / spine 3.1,at=1us", 1 - Fraction(1, PLANES * LINKS_UP)),
}
COLORS = {policy: report.STYLES[policy][0] for policy in POLICIES}


def run(weft, policy, failure, size, folder):
    """One run's summary."""
    fault = FAILURES[failure][0]
    results = folder / f"{policy} {failure}".replace(" ", "_")
    arguments = ["sim", str(SCENARIO), "--quiet", "--no-flows", "--routing", policy,
                 "--set", f"job.traffic.shift.size={size}", "-o", str(results)]
    if fault is not None:
        arguments += ["--fault", fault]
    print("  weft " + shlex.join(arguments), flush=True)
    if subprocess.run([weft] + arguments).returncode != 0:
        sys.exit(2)
    return json.loads((results / "summary.json").read_text())


def measure(weft, size, folder):
    rows = []
    for policy in POLICIES:
        whole = None
        for failure, (_, left) in FAILURES.items():
            summary = run(weft, policy, failure, size, folder)
            time = summary["makespan_ns"] * 1e-3
            whole = whole or time
            rows.append({
                "routing": policy,
                "failed": failure,
                "longest_us": round(time, 1),
                "capacity_left": round(whole / time, 3),
                "arithmetic": round(float(left), 3),
                "lost_packets": summary["signals"].get("link_down_loss", 0),
            })
    return rows


def table(rows):
    return report.text_table([list(rows[0])] + [[str(value) for value in row.values()] for row in rows], 2)


def plot(rows):
    """Bars of what is left, by failure and policy, with a line where arithmetic puts it."""
    failures = [failure for failure in FAILURES if failure != "nothing"]
    picture = report.Plot("What is left of an eight-plane network, by routing",
                          "Capacity left to the hosts that a failure concerns, of what they had with the same routing.",
                          panel=(820, 380), legend=[(policy, COLORS[policy]) for policy in POLICIES])
    panel = picture.panel(0, 0, "", report.Axis("lost", names=failures),
                          report.Axis("capacity left", high=115, ticks=range(0, 101, 20), unit="%"))
    for place, failure in enumerate(failures):
        chosen = [row for row in rows if row["failed"] == failure]
        for i, row in enumerate(chosen):
            left, x = 100 * row["capacity_left"], place + 0.19 * (i - (len(chosen) - 1) / 2)
            panel.bar(x, 0.19, left, COLORS[row["routing"]])
            panel.text(x, left, f"{left:.0f}", anchor="middle", shift=(0, 16))
        fraction = FAILURES[failure][1]
        value = 100 * float(fraction)
        panel.level(value, "", begin=place - 0.45, end=place + 0.45)
        panel.text(place, value, f"arithmetic: {fraction} = {value:.1f}%", anchor="middle", shift=(0, -8))
    return picture.svg()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("planes"))
    parser.add_argument("--weft", default="bazel-bin/tools/weft/weft", help="the weft program")
    parser.add_argument("--size", default="100MB", help="bytes of each message")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    rows = measure(options.weft, options.size, options.output)
    report.write_csv(options.output / "table.csv", rows)
    (options.output / "capacity.svg").write_text(plot(rows))
    print("\n" + table(rows) + f"\n\n{options.output}/table.csv, {options.output}/capacity.svg")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""How far training gets in a month with Llama 3's failures: by the interval between checkpoints, by what a lost link
does, and with replicas that go on. Every command is printed before it runs; nothing but Python's own library is needed.

    examples/training_month/training_month.py [-o training_month]
"""

import argparse
import json
import shlex
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
import report  # noqa: E402

SCENARIO = Path(__file__).with_name("step.txtpb")
FAULT = "link=accelerator 0.0 / leaf 0.0,rate=0.5"  # a NIC of two ports that has lost one
RETIRE, RESTART = ["--link-failures", "retire"], ["--link-failures", "restart"]
# What is asked of weft goodput beside the step, the number of GPUs and the days.
CASES = {
    "best interval": [],
    "every 30 min": ["--checkpoint", "30min"],
    "every hour": ["--checkpoint", "1h"],
    "written beside": ["--asynchronous", "300ms"],
    "restart in 2 min": ["--restart", "2min"],
    "links restart": RESTART,
    "links retired": RETIRE,
    "and elastic": [*RETIRE, "--elastic"],
}
CAUSES = {
    "restarts": report.RED,
    "lost_work": report.YELLOW,
    "checkpoints": report.SKY,
    "degraded": report.BLUE,
    "fewer_replicas": report.GREEN,
    "reconfiguration": report.GREY,
}


def weft(program, *arguments):
    print("  weft " + shlex.join(arguments), flush=True)
    done = subprocess.run([program, *arguments], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(2)
    return done.stdout


def simulate_steps(program, settings, folder):
    """Folders of a step on the whole network, and of one without a link."""
    whole, degraded = str(folder / "whole"), str(folder / "degraded")
    common = ["sim", str(SCENARIO), "--quiet", "--no-flows", *(word for each in settings for word in ("--set", each))]
    weft(program, *common, "-o", whole)
    weft(program, *common, "--fault", FAULT, "-o", degraded)
    return whole, degraded


def measure(program, steps, gpus, days):
    whole, degraded = steps
    rows = []
    for case, options in CASES.items():
        links = ["--degraded", degraded] if "--link-failures" in options else []
        told = json.loads(weft(program, "goodput", whole, "--gpus", str(gpus), "--days", str(days), *options, *links, "--json"))
        rows.append({
            "case": case,
            "goodput": round(told["goodput"]["mean"], 5),
            "interval": round(told["goodput"]["high"] - told["goodput"]["mean"], 5),
            "on_paper": round(told["closed_form"]["goodput"], 5),
            "steps": round(told["steps"]["mean"]),
            "checkpoint_every_s": round(told["checkpoint"]["interval_s"]),
            **{cause: round(told["shares"][cause], 5) for cause in CAUSES},
        })
    return rows


def minutes(seconds):
    return f"{seconds / 60:.1f} min" if seconds else "never"


def table(rows):
    heads = ["", "goodput", "on paper", "steps", "checkpoint every", *(cause.replace("_", " ") for cause in CAUSES)]
    lines = [[row["case"], f"{row['goodput']:.2%} ± {row['interval']:.2%}", f"{row['on_paper']:.2%}", f"{row['steps']:,}",
              minutes(row["checkpoint_every_s"]), *(f"{row[cause]:.2%}" for cause in CAUSES)] for row in rows]
    return report.text_table([heads] + lines)


def plot(rows, gpus, days):
    """Bars of what is lost, cause upon cause."""
    highest = max(1 - row["goodput"] for row in rows)
    picture = report.Plot(f"What failures take from {days} days of {gpus:,} GPUs",
                          "Share of the time that makes no steps which count, with Llama 3's rate of failures.",
                          panel=(900, 380), legend=[(cause.replace("_", " "), color) for cause, color in CAUSES.items()])
    panel = picture.panel(0, 0, "", report.Axis("", names=[row["case"].replace(" ", "\n", 1) for row in rows]),
                          report.Axis("lost", high=max(112 * highest, 11), unit="%"))
    for place, row in enumerate(rows):
        high = sum(row[cause] for cause in CAUSES)
        panel.text(place, 100 * high, f"{100 * high:.1f}", anchor="middle", shift=(0, -6))
        for cause, color in reversed(CAUSES.items()):  # the highest first: others cover it
            if row[cause] > 0:
                panel.bar(place, 0.6, 100 * high, color)
            high -= row[cause]
    panel.level(10, "Llama 3: less than 10%")
    return picture.svg()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("training_month"))
    parser.add_argument("--weft", default="bazel-bin/tools/weft/weft", help="the weft program")
    parser.add_argument("--gpus", type=int, default=16384)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--set", action="append", default=[], help="field of the step's scenario, as of weft sim")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    steps = simulate_steps(options.weft, options.set, options.output)
    rows = measure(options.weft, steps, options.gpus, options.days)
    report.write_csv(options.output / "table.csv", rows)
    (options.output / "lost.svg").write_text(plot(rows, options.gpus, options.days))
    print("\n" + table(rows) + f"\n\n{options.output}/table.csv, {options.output}/lost.svg")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""What congestion control and loss recovery are to applications: LAMMPS and the HPC Challenge suite, traced, and a
three-dimensional FFT, on a network that is oversubscribed four times. A table and a plot.

    examples/application_controls/application_controls.py [-o application_controls] [--jobs 2]

LAMMPS and HPC Challenge are traced first, on this machine, unless their graphs are in the folder already."""

import argparse
import csv
import itertools
import json
import os
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
import report  # noqa: E402

HERE = Path(__file__).parent
SCENARIO = HERE / "four_to_one.txtpb"
HOSTS_PER_SWITCH = 4
RANKS_TRACED = 8
FFT_RANKS = 64

APPLICATIONS = {"lammps": "LAMMPS", "lammps_fast": "LAMMPS, computing in 1/100", "hpcc": "HPC Challenge",
                "fft": "3-D FFT, 64 ranks"}
# What is traced: the program, with its input.
PROGRAMS = {"lammps": (["lmp", "-in", "in.lj", "-log", "none"], HERE / "in.lj"),
            "hpcc": (["hpcc"], HERE.parent / "quickstart" / "hpccinf.txt")}
CONTROLS = {"newreno": [], "dctcp": [], "swift": [], "hpcc": [], "nscc": [],
            "dcqcn": ["--queue", "pfc"]}
# All with dctcp.
RECOVERIES = ["rack", "selective_repeat", "sleek", "irn", "erasure_coding", "trim_nack", "go_back_n"]
# Bit errors of the links between switches that lose a share of full packets.
LOSSES = {0: 0.0, 1e-4: 1e-4 / (4160 * 8), 1e-3: 1e-3 / (4160 * 8)}
COLORS = [report.SKY, report.ORANGE, report.RED]


def call(arguments, **more):
    print("  " + shlex.join(str(a) for a in arguments), flush=True)
    done = subprocess.run([str(a) for a in arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode != 0:
        raise RuntimeError(done.stdout)


def make_graph(weft, name, folder):
    """Traces, generates or changes what isn't there yet."""
    graph = folder / f"{name}.weft"
    if graph.exists():
        return
    if name == "fft":
        call([weft, "goal", "gen", "fft:points=256,iterations=2,compute=100us", "--ranks", FFT_RANKS, "-o", graph])
    elif name == "lammps_fast":
        make_graph(weft, "lammps", folder)
        call([weft, "goal", "scale", folder / "lammps.weft", "--calc", "0.01", "-o", graph])
    else:
        program, given = PROGRAMS[name]
        shutil.copy(given, folder)
        environment = os.environ | {"OMPI_MCA_rmaps_base_oversubscribe": "1",
                                    "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}
        trace = folder / f"{name}_trace"
        call([weft, "trace", "--force", "-o", trace, "--", "mpirun.openmpi", "-n", RANKS_TRACED] + program, cwd=folder,
             env=environment)
        call([weft, "import", "mpi", trace, "-o", graph])


def simulate(weft, graph, results, arguments):
    if results.exists():
        shutil.rmtree(results)
    call([weft, "sim", *arguments, "--goal", graph, "--quiet", "-o", results])
    return json.loads((results / "summary.json").read_text())


def on_network(ranks):
    return [str(SCENARIO), "--set", f"topology.leaf_spine.leaves={-(-ranks // HOSTS_PER_SWITCH)}"]


def bounds(weft, name, folder):
    """Ranks, and runtimes in ms: on a network that takes no time, and with links shared as well as can be, max-min
    fairly."""
    graph = folder / f"{name}.weft"
    free = simulate(weft, graph, folder / f"{name} free", ["--network", "loggops:L=0,o=0,g=0,G=0,O=0"])
    ranks = free["ranks"]
    shared = simulate(weft, graph, folder / f"{name} shared", on_network(ranks) + ["--network", "flow"])
    return ranks, free["makespan_ns"] * 1e-6, shared["makespan_ns"] * 1e-6


def run(weft, name, bound, control, recovery, loss, folder):
    """A row of the table."""
    ranks, free, shared = bound
    arguments = on_network(ranks) + ["--network", "packet", "--congestion", control, "--recovery", recovery]
    if recovery == "rack":
        arguments += CONTROLS[control]
    if loss:
        arguments += ["--fault", f"link=leaf * / spine *,bit_error_rate={LOSSES[loss]:.4g}"]
    results = folder / f"{name} {control} {recovery} {loss:g}"
    summary = simulate(weft, folder / f"{name}.weft", results, arguments)
    signals, runtime = summary["signals"], summary["makespan_ns"] * 1e-6
    with open(results / "flows.csv", newline="") as file:
        packets = sum(int(flow["packets"]) for flow in csv.DictReader(file))
    return {"application": name, "control": control, "recovery": recovery, "loss": loss,
            "runtime_ms": round(runtime, 3), "free_ms": round(free, 3), "shared_ms": round(shared, 3),
            "over_shared": round(runtime / shared, 4), "network_percent": round(100 * (1 - free / runtime), 2),
            "data_packets": packets, "sent_again": signals.get("retransmit", 0),
            "drops": signals.get("drop", 0), "trims": signals.get("trim", 0), "bit_errors": signals.get("corrupt", 0),
            "timeouts": signals.get("timeout", 0), "marks": signals.get("ecn_mark", 0),
            "bytes": summary["bytes"], "outcome": summary["outcome"]}


def table(rows):
    lines = [["application", "control", "recovery", "loss", "runtime, ms", "over shared", "network, %", "sent again, %",
              "timeouts"]]
    for row in rows:
        lines.append([row["application"], row["control"], row["recovery"], f"{row['loss']:g}", f"{row['runtime_ms']:,.2f}",
                      f"{row['over_shared']:.3f}", f"{row['network_percent']:.1f}",
                      f"{100 * row['sent_again'] / row['data_packets']:.2f}", str(row["timeouts"])])
    return report.text_table(lines, 3)


def plot(rows):
    """For each application, a diagram of its runtimes by control and one by recovery and loss."""
    applications = list(dict.fromkeys(row["application"] for row in rows))
    losses = list(dict.fromkeys(row["loss"] for row in rows))
    value = {(r["application"], r["control"], r["recovery"], r["loss"]): r["over_shared"] for r in rows}
    picture = report.Plot(
        "What congestion control and loss recovery are to applications",
        "Runtime on a network oversubscribed 4:1, over that with links shared max-min fairly (flow level, no packets). In "
        "brackets: the part of\nthe runtime that a network which takes no time would save (dctcp, rack, no errors).",
        columns=2, rows=len(applications), panel=(580, 150), names_of_lines=2,
        legend=[(f"1 packet in {1 / loss:,.0f} lost to bit errors" if loss else "no bit errors", color)
                for loss, color in zip(losses, COLORS)])
    for line, application in enumerate(applications):
        first = next(r for r in rows if (r["application"], r["control"], r["recovery"], r["loss"]) ==
                     (application, "dctcp", "rack", 0))
        name = f"{APPLICATIONS[application]} ({first['network_percent']:.1f}%)"
        sides = [("by control", [(c, [(c, "rack", losses[0])]) for c in CONTROLS]),
                 ("by recovery, with dctcp", [(r, [("dctcp", r, loss) for loss in losses]) for r in RECOVERIES])]
        for column, (what, groups) in enumerate(sides):
            high = 1.25 * max(2.0, *(value[(application, *key)] for _, keys in groups for key in keys))
            across = report.Axis("", names=[group.replace("_", "\n", 1) for group, _ in groups])
            panel = picture.panel(column, line, f"{name}, {what}", across, report.Axis("runtime, relative", high=high,
                                                                                    ticks=[0, 1, 2, 3, 4, 5]))
            for i, (_, keys) in enumerate(groups):
                for j, key in enumerate(keys):
                    place, width = (i, 0.5) if len(keys) == 1 else (i + 0.28 * (j - (len(keys) - 1) / 2), 0.28)
                    panel.bar(place, width, value[(application, *key)], COLORS[j])
                    panel.text(place, value[(application, *key)], f"{value[(application, *key)]:.2f}", anchor="middle",
                               shift=(0, -4), size=12 if len(keys) == 1 else 9)
            panel.level(1, "")
    return picture.svg()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("application_controls"))
    parser.add_argument("--weft", default="bazel-bin/tools/weft/weft", help="the weft program")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--applications", nargs="+", default=list(APPLICATIONS), choices=APPLICATIONS)
    options = parser.parse_args()
    folder, weft = options.output.resolve(), str(Path(options.weft).resolve())
    folder.mkdir(parents=True, exist_ok=True)
    work = []
    for name in options.applications:
        make_graph(weft, name, folder)
        bound = bounds(weft, name, folder)
        work += [(name, bound, control, "rack", 0) for control in CONTROLS]
        work += [(name, bound, "dctcp", recovery, loss) for recovery, loss in itertools.product(RECOVERIES, LOSSES)
                 if (recovery, loss) != ("rack", 0)]  # that is among the controls
    with ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(lambda point: run(weft, *point, folder), work))
    report.write_csv(folder / "table.csv", rows)
    (folder / "applications.svg").write_text(plot(rows))
    print("\n" + table(rows) + f"\n\n{options.output}/table.csv, {options.output}/applications.svg")


if __name__ == "__main__":
    main()

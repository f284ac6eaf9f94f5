#!/usr/bin/env python3
"""From a number of endpoints to a table and a plot: what networks of eight families cost, and how fast three
applications run on them. Every command is printed before it runs; nothing but Python's own library is needed.

    examples/compare_topologies/compare.py [--endpoints 1024] [-o compare]
"""

import argparse
import json
import math
import shlex
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
import report  # noqa: E402

TOPOLOGIES = ["fat_tree2", "fat_tree", "dragonfly", "slim_fly", "hyperx", "hammingmesh", "torus", "jellyfish"]

FABRIC = "uet"  # of all networks, so that it is they that are compared
MINIMAL = "ecmp"  # what its routing is set against

# What a family needs beside the number of endpoints, so that every endpoint injects 400 Gb/s.
EXTRA = {"hammingmesh": "link=100Gbps"}  # an accelerator has four ports

# What `weft goal gen` makes each application of.
APPLICATIONS = {
    "halo": "stencil:cells=256,iterations=4,compute=50us,allreduce=1",
    "graph": "sparse:degree=8,size=256KB,iterations=2,compute=20us",
    "training": "collective:kind=allreduce,size=64MB,algorithm=rabenseifner,iterations=2,compute=1ms",
}


def run(weft, arguments):
    """Runs a weft command that is shown; its standard output."""
    print("  weft " + shlex.join(arguments), flush=True)
    done = subprocess.run([weft] + arguments, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(done.returncode)
    return done.stdout


def measure(weft, name, endpoints, graphs, folder, fabric, routing):
    """One row of the table."""
    topology = ",".join([f"{name}:endpoints={endpoints}"] + ([EXTRA[name]] if name in EXTRA else []))
    facts = json.loads(run(weft, ["topo", "analyze", topology, "--only", "distances", "--json"]))
    bill = json.loads(run(weft, ["topo", "cost", topology, "--json"]))
    row = {
        "topology": name,
        "endpoints": facts["endpoints"],
        "routers": facts["routers"],
        "diameter": facts["diameter"],
        "average_path_length": round(facts["average_path_length"], 3),
        "price_per_endpoint": round(bill["price"] / facts["endpoints"]),
        "watts_per_endpoint": round(bill["watts"] / facts["endpoints"], 1),
    }
    for application, graph in graphs.items():
        time, row["routing"] = simulate(weft, topology, graph, folder / f"{name}_{application}", fabric, routing)
        row[application + "_ms"] = time
        plain = time if row["routing"] == MINIMAL else \
            simulate(weft, topology, graph, folder / f"{name}_{application}_{MINIMAL}", fabric, MINIMAL)[0]
        row[f"{application}_{MINIMAL}_ms"] = plain
    return row


def simulate(weft, topology, graph, results, fabric, routing):
    """Runtime in ms, and the routing that was taken; the fabric's, if None is given."""
    run(weft, ["sim", "--quiet", "--no-flows", "--goal", str(graph), "--topology", topology, "--network", "flow",
               "--fabric", fabric, "-o", str(results)] + (["--routing", routing] if routing else []))
    summary = json.loads((results / "summary.json").read_text())
    return round(summary["makespan_ns"] * 1e-6, 3), summary["routing"].split(":")[0]


def relative_runtime(rows):
    """Of each row: the geometric mean over the applications of its runtime by that of the fastest; the same with
    minimal routing, by the same times."""
    least = {a: min(row[a + "_ms"] for row in rows) for a in APPLICATIONS}
    for row in rows:
        for column, unit in ("relative_runtime", "_ms"), (f"relative_{MINIMAL}", f"_{MINIMAL}_ms"):
            product = math.prod(row[application + unit] / time for application, time in least.items())
            row[column] = round(product ** (1 / len(least)), 3)


def plot(rows, endpoints):
    """Runtime against cost, with the fabric's routing and with minimal routing."""
    picture = report.Plot(f"Runtime against cost of networks for {endpoints:,} endpoints",
                          "Geometric mean over three applications, of the fastest network's runtime. What lies left and low is "
                          "better.", panel=(860, 460),
                          legend=[("with the fabric's routing", (report.BLUE, "", "circle")),
                                  ("with shortest paths by flow hash (ecmp)", (report.ORANGE, "", "circle"))])
    most = max(max(row["relative_runtime"], row[f"relative_{MINIMAL}"]) for row in rows)
    prices = [row["price_per_endpoint"] for row in rows]
    across = report.Axis("price of the network per endpoint, $", 0.6 * min(prices), 1.12 * max(prices))
    panel = picture.panel(0, 0, "", across, report.Axis("runtime, of the fastest", low=0.8, high=1.06 * most))
    names = []
    for row in rows:
        price, runtime, plain = row["price_per_endpoint"], row["relative_runtime"], row[f"relative_{MINIMAL}"]
        if row["routing"] != MINIMAL:
            panel.join(price, runtime, price, plain)
            panel.point(price, plain, report.ORANGE, name=f"{row['topology']}, {MINIMAL}")
        panel.point(price, runtime, report.BLUE, name=f"{row['topology']}, {row['routing']}")
        names.append((price, runtime, row["topology"]))
    panel.names(names)
    return picture.svg()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--endpoints", type=int, default=1024)
    parser.add_argument("-o", "--output", type=Path, default=Path("compare"))
    parser.add_argument("--weft", default="bazel-bin/tools/weft/weft", help="the weft program")
    parser.add_argument("--routing", help="for all, instead of the fabric's")
    parser.add_argument("--fabric", default=FABRIC, help="of all networks: weft list fabrics")
    parser.add_argument("--topologies", default=",".join(TOPOLOGIES), help="families, by commas")
    options = parser.parse_args()
    if options.endpoints < 8:
        parser.error("--endpoints: expected 8 or more")
    options.output.mkdir(parents=True, exist_ok=True)
    graphs = {}
    for application, workload in APPLICATIONS.items():
        graphs[application] = options.output / f"{application}.weft"
        run(options.weft, ["goal", "gen", workload, "--ranks", str(options.endpoints), "-o",
                           str(graphs[application])])
    rows = [measure(options.weft, name, options.endpoints, graphs, options.output, options.fabric,
                    options.routing)
            for name in options.topologies.split(",")]
    relative_runtime(rows)
    rows.sort(key=lambda row: row["relative_runtime"])
    report.write_csv(options.output / "table.csv", rows)
    (options.output / "runtime_against_cost.svg").write_text(plot(rows, options.endpoints))
    lines = [list(rows[0])] + [[str(value) for value in row.values()] for row in rows]
    print("\n" + report.text_table(lines) + f"\n\n{options.output}/table.csv, {options.output}/runtime_against_cost.svg")


if __name__ == "__main__":
    main()

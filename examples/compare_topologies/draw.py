#!/usr/bin/env python3
"""Runtime against price of what `weft compare-networks -o DIR` has left: a table and a plot. With a second folder,
the same networks under another routing, whose runtimes are set beside those of the first.

    examples/compare_topologies/draw.py compare [compare_ecmp]
"""

import argparse
import csv
import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
import report  # noqa: E402


def read(folder):
    """Of each network its rows by application, without those that failed or have no price."""
    networks = {}
    with open(folder / "networks.csv", newline="") as table:
        for row in csv.DictReader(table):
            if row["runtime_ns"] and row["price"]:
                networks.setdefault(row["topology"], {})[row["application"]] = row
    applications = {application for rows in networks.values() for application in rows}
    return {name: rows for name, rows in networks.items() if rows.keys() == applications}


def relative(rows, least):
    """The geometric mean over applications of the runtime by the least one."""
    product = math.prod(float(rows[application]["runtime_ns"]) / time for application, time in least.items())
    return round(product ** (1 / len(least)), 3)


def table_of(networks, others):
    """A row for each network, the fastest first."""
    applications = list(next(iter(networks.values())))
    least = {each: min(float(rows[each]["runtime_ns"]) for rows in networks.values()) for each in applications}
    table = []
    for name, rows in networks.items():
        first = rows[applications[0]]
        row = {"topology": name, "routing": first["routing"], "endpoints": int(first["endpoints"]),
               "price_per_endpoint": round(float(first["price"]) / int(first["endpoints"])),
               "watts_per_endpoint": round(float(first["power"]) / int(first["endpoints"]), 1)}
        for application in applications:
            row[application.split(":")[0] + "_ms"] = round(float(rows[application]["runtime_ns"]) * 1e-6, 3)
        row["relative_runtime"] = relative(rows, least)
        if name in others:
            row["other_routing"] = others[name][applications[0]]["routing"]
            row["other_relative"] = relative(others[name], least)
        table.append(row)
    return sorted(table, key=lambda row: row["relative_runtime"])


def plot(table):
    legend = [("as compared", (report.BLUE, "", "circle"))]
    if "other_relative" in table[0]:
        legend.append(("with the other routing", (report.ORANGE, "", "circle")))
    picture = report.Plot("Runtime against price of networks", "Geometric mean over the applications, of the fastest network's "
                          "runtime. What lies left and low is better.", panel=(860, 460), legend=legend)
    prices = [row["price_per_endpoint"] for row in table]
    most = max(max(row["relative_runtime"], row.get("other_relative", 0)) for row in table)
    panel = picture.panel(0, 0, "", report.Axis("price of the network per endpoint, $", 0.6 * min(prices), 1.12 * max(prices)),
                          report.Axis("runtime, of the fastest", low=0.8, high=1.06 * most))
    names = []
    for row in table:
        price, runtime, other = row["price_per_endpoint"], row["relative_runtime"], row.get("other_relative")
        if other is not None:
            panel.join(price, runtime, price, other)
            panel.point(price, other, report.ORANGE, name=f"{row['topology']}, {row['other_routing']}")
        panel.point(price, runtime, report.BLUE, name=f"{row['topology']}, {row['routing']}")
        names.append((price, runtime, row["topology"].split(":")[0]))
    panel.names(names)
    return picture.svg()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("other", type=Path, nargs="?")
    options = parser.parse_args()
    networks = read(options.folder)
    if not networks:
        sys.exit(f"draw.py: {options.folder}/networks.csv has no network on which every application came to its end")
    table = table_of(networks, read(options.other) if options.other else {})
    report.write_csv(options.folder / "table.csv", table)
    (options.folder / "runtime_against_price.svg").write_text(plot(table))
    lines = [list(table[0])] + [[str(value) for value in row.values()] for row in table]
    print(report.text_table(lines) + f"\n\n{options.folder}/table.csv, {options.folder}/runtime_against_price.svg")


if __name__ == "__main__":
    main()

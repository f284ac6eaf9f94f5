"""The example compare_topologies, small: the commands of its README as they stand, and that its figures are those of runs."""

import csv
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

WEFT, DRAW, NETWORKS, README = (str(Path(sys.argv.pop(1)).resolve()) for _ in range(4))
APPLICATIONS = ["halo.weft", "graph.weft", "training.weft"]


def commands():
    """The README's, for 32 endpoints; without the one that sets up."""
    text = "\n".join(re.findall(r"```sh\n(.*?)```", Path(README).read_text(), re.S))
    lines = [line for line in text.splitlines() if "tools/setup" not in line]
    text = "\n".join(lines).replace("1024", "32").replace("examples/compare_topologies/networks.txt", "networks.txt")
    return text.replace("examples/compare_topologies/draw.py", f"'{sys.executable}' '{DRAW}'")


class CompareTopologies(unittest.TestCase):
    def test_small(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "networks.txt").write_text(Path(NETWORKS).read_text().replace("1024", "32"))
            done = subprocess.run(["sh", "-e", "-c", commands()], cwd=folder, capture_output=True, text=True,
                                  env={**os.environ, "weft": WEFT})
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            with open(folder / "compare/table.csv", newline="") as file:
                rows = list(csv.DictReader(file))
            self.assertEqual(len(rows), 8)
            fabric = ["--network", "flow", "--fabric", "uet", "-q", "-o", "R"]
            times = {}
            for row in rows:
                self.assertGreaterEqual(int(row["endpoints"]), 32)
                bill = self.json(folder, "topo", "cost", row["topology"], "--json", "--no-bisection")
                self.assertAlmostEqual(float(row["price_per_endpoint"]), bill["price"] / bill["endpoints"], delta=0.5)
                for application in APPLICATIONS:
                    for routing in [], ["--routing", "ecmp"]:
                        self.run_weft(folder, "sim", "--goal", application, "--topology", row["topology"], *fabric, *routing)
                        summary = json.loads((folder / "R/summary.json").read_text())
                        self.assertEqual(summary["routing"].split(":")[0], row["other_routing" if routing else "routing"])
                        times[row["topology"], application, bool(routing)] = summary["makespan_ns"] * 1e-6
                    self.assertAlmostEqual(times[row["topology"], application, False], float(row[application + "_ms"]), places=3)
            least = {each: min(times[row["topology"], each, False] for row in rows) for each in APPLICATIONS}
            for row in rows:
                for column, routing in ("relative_runtime", False), ("other_relative", True):
                    mean = math.prod(times[row["topology"], each, routing] / least[each] for each in APPLICATIONS) ** (1 / 3)
                    self.assertAlmostEqual(float(row[column]), mean, places=3)
            # One point and one name for each, and another point with ecmp.
            picture = xml.etree.ElementTree.parse(folder / "compare/runtime_against_price.svg").getroot()
            space = "{http://www.w3.org/2000/svg}"
            self.assertEqual(len(picture.findall(space + "circle[@class='data']")), 8 + 8)
            texts = [text.text for text in picture.findall(space + "text")]
            for row in rows:
                self.assertIn(row["topology"].split(":")[0], texts)

    def run_weft(self, folder, *words):
        done = subprocess.run([WEFT, *words], cwd=folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def json(self, folder, *words):
        return json.loads(self.run_weft(folder, *words))


if __name__ == "__main__":
    unittest.main()

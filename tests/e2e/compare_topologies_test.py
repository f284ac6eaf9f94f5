"""The example compare_topologies, small: its table and picture, and that the figures are those of the commands."""

import csv
import json
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

WEFT = str(Path(sys.argv.pop(1)).resolve())
COMPARE = str(Path(sys.argv.pop(1)).resolve())


class Compare(unittest.TestCase):
    def test_small(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            done = subprocess.run([sys.executable, COMPARE, "--weft", WEFT, "--endpoints", "32", "-o", "out"],
                                  cwd=folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            with open(folder / "out/table.csv", newline="") as file:
                rows = list(csv.DictReader(file))
            self.assertEqual(len(rows), 8)
            for row in rows:
                self.assertGreaterEqual(int(row["endpoints"]), 32)
                self.assertGreater(float(row["price_per_endpoint"]), 0)
                self.assertGreaterEqual(float(row["relative_runtime"]), 1)
                for application in ("halo", "graph", "training"):
                    summary = json.loads(
                        (folder / f"out/{row['topology']}_{application}/summary.json").read_text())
                    self.assertEqual(summary["outcome"], "complete")
                    self.assertEqual(summary["routing"].split(":")[0], row["routing"])
                    self.assertEqual(summary["fabric"], "uet")
                    own = ", recommended for " + row["topology"] if row["routing"] != "reps" else ""
                    self.assertEqual(summary["routing_reason"], "of fabric uet" + own)
                    self.assertAlmostEqual(summary["makespan_ns"] * 1e-6, float(row[application + "_ms"]), places=3)
                    if row["routing"] == "ecmp":
                        self.assertEqual(row[application + "_ecmp_ms"], row[application + "_ms"])
                        continue
                    summary = json.loads(
                        (folder / f"out/{row['topology']}_{application}_ecmp/summary.json").read_text())
                    self.assertEqual(summary["routing"].split(":")[0], "ecmp")
                    self.assertAlmostEqual(summary["makespan_ns"] * 1e-6, float(row[application + "_ecmp_ms"]), places=3)
            others = [row for row in rows if row["routing"] != "ecmp"]
            self.assertEqual(len(others), 8)
            # One point and one name for each, and another point with ecmp.
            picture = xml.etree.ElementTree.parse(folder / "out/runtime_against_cost.svg").getroot()
            space = "{http://www.w3.org/2000/svg}"
            self.assertEqual(len(picture.findall(space + "circle[@class='data']")), 8 + len(others))
            texts = [text.text for text in picture.findall(space + "text")]
            for row in rows:
                self.assertIn(row["topology"], texts)

    def test_bad_input(self):
        done = subprocess.run([sys.executable, COMPARE, "--weft", WEFT, "--topologies", "fat_tre", "-o",
                               tempfile.gettempdir() + "/none"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("did you mean 'fat_tree'?", done.stderr)


if __name__ == "__main__":
    unittest.main()

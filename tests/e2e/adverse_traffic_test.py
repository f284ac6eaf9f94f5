"""The example adverse_traffic with few loads: on one network: its tables, its picture, and that packets keep to the limits."""

import csv
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

WEFT = str(Path(sys.argv.pop(1)).resolve())
EXAMPLE = str(Path(sys.argv.pop(1)).resolve())


class AdverseTraffic(unittest.TestCase):
    def test_small(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            done = subprocess.run([sys.executable, EXAMPLE, "--weft", WEFT, "--networks", "hyperx:dims=4x4,hosts=4",
                                   "--policies", "minimal", "valiant", "par", "--loads", "0.1,0.4", "--time", "200", "-o",
                                   "out"], cwd=folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            with open(folder / "out/table.csv", newline="") as file:
                rows = {(row["network"], row["routing"], float(row["offered"])): row for row in csv.DictReader(file)}
            self.assertEqual(len(rows), 6)
            network = "hyperx:dims=4x4,hosts=4"
            for (_, routing, offered), row in rows.items():
                self.assertLessEqual(float(row["accepted_least"]), float(row["accepted_mean"]))
                if offered == 0.1:  # all of it
                    self.assertAlmostEqual(float(row["accepted_least"]), 0.1, delta=0.003)
                    self.assertAlmostEqual(float(row["fluids"]), 0.1, delta=0.001)
            # Shortest ways have room for a quarter, detours for half.
            accepted = {r: float(rows[network, r, 0.4]["accepted_mean"]) for r in ("minimal", "valiant", "par")}
            self.assertAlmostEqual(accepted["minimal"], 0.25, delta=0.0075)
            self.assertAlmostEqual(accepted["valiant"], 0.4, delta=0.012)
            self.assertAlmostEqual(accepted["par"], 0.4, delta=0.012)
            # Four hosts on a link to the next router; detours over all links at half of the hosts' rate.
            with open(folder / "out/largest.csv", newline="") as file:
                largest = {row["routing"]: row for row in csv.DictReader(file)}
            for routing, limit in (("minimal", 0.25), ("valiant", 0.5), ("par", 0.5)):
                self.assertEqual(float(largest[routing]["limit"]), limit)
                self.assertAlmostEqual(float(largest[routing]["of_limit"]), 1, delta=0.03)
            picture = xml.etree.ElementTree.parse(folder / "out/accepted.svg").getroot()
            lines = picture.findall("{http://www.w3.org/2000/svg}polyline[@class='data']")
            self.assertEqual(len(lines), 6)


if __name__ == "__main__":
    unittest.main()

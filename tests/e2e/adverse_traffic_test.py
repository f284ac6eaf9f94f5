"""The example adverse_traffic with few loads: its table, its picture, and that packets keep to the limits."""

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
            done = subprocess.run([sys.executable, EXAMPLE, "--weft", WEFT, "--loads", "0.1,1", "--time", "400", "-o",
                                   "out"], cwd=folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            with open(folder / "out/table.csv", newline="") as file:
                rows = {(row["network"], row["routing"], float(row["offered"])): row for row in csv.DictReader(file)}
            self.assertEqual(len(rows), 24)
            for (network, routing, offered), row in rows.items():
                if offered == 0.1:  # all of it, in whole messages
                    self.assertAlmostEqual(float(row["accepted"]), 0.1, delta=0.005)
                    continue
                # Detours take about half; UGAL is no worse than 10% below the better of the two.
                accepted = {r: float(rows[network, r, 1.0]["accepted"]) for r in ("ecmp", "valiant", "ugal", "par")}
                self.assertLess(accepted["ecmp"], 0.85 * accepted["valiant"])
                self.assertGreater(accepted["ugal"], 0.9 * accepted["valiant"])
                if network.startswith("hyperx"):  # where all pairs are alike
                    self.assertAlmostEqual(accepted[routing], float(row["limit"]), delta=0.03 * float(row["limit"]))
            picture = xml.etree.ElementTree.parse(folder / "out/accepted.svg").getroot()
            self.assertEqual(len(picture.findall("{http://www.w3.org/2000/svg}polyline")), 12)


if __name__ == "__main__":
    unittest.main()

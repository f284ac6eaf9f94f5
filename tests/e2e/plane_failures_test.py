"""The example plane_failures with shorter messages: its table, its picture, and that they say what its README does."""

import csv
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

WEFT = str(Path(sys.argv.pop(1)).resolve())
EXAMPLE = str(Path(sys.argv.pop(1)).resolve())


class PlaneFailures(unittest.TestCase):
    def test_small(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            done = subprocess.run([sys.executable, EXAMPLE, "--weft", WEFT, "--size", "20MB", "-o", "out"],
                                  cwd=folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            with open(folder / "out/table.csv", newline="") as file:
                rows = {(row["routing"], row["failed"]): row for row in csv.DictReader(file)}
            self.assertEqual(len(rows), 16)
            for failed in ("a plane", "a NIC port", "a leaf-spine link"):
                row = rows["srv6", failed]
                left, arithmetic = float(row["capacity_left"]), float(row["arithmetic"])
                # What takes a fixed time (latency, 3% of this run) makes losses look smaller; to notice them
                # takes up to 20 us, a tenth.
                self.assertLess(left, arithmetic + 0.01)
                self.assertGreater(left, arithmetic - 0.1)
                for other in ("reps", "bitmap", "spray"):
                    self.assertLess(float(rows[other, failed]["capacity_left"]), left)
                    self.assertGreater(int(rows[other, failed]["lost_packets"]), int(row["lost_packets"]))
            picture = xml.etree.ElementTree.parse(folder / "out/capacity.svg").getroot()
            space = "{http://www.w3.org/2000/svg}"
            self.assertEqual(len(picture.findall(space + "rect[@class='data']")), 12)
            self.assertEqual(len(picture.findall(space + "path[@class='level']")), 3)


if __name__ == "__main__":
    unittest.main()

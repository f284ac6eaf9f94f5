"""The example moe_alltoall at two points, equal experts and unequal ones: its table, its picture, and its bounds."""

import csv
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

WEFT = str(Path(sys.argv.pop(1)).resolve())
EXAMPLE = str(Path(sys.argv.pop(1)).resolve())


class MoeAlltoall(unittest.TestCase):
    def test_two_points(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            done = subprocess.run([sys.executable, EXAMPLE, "--weft", WEFT, "--routings", "spray", "--controls", "nscc",
                                   "--uplinks", "half", "-o", "out"], cwd=folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            with open(folder / "out/table.csv", newline="") as file:
                rows = {row["skew"]: row for row in csv.DictReader(file)}
            self.assertEqual(set(rows), {"0", "0.3"})
            # 16 GPUs of a leaf send 256 tokens to 8 experts each, 48 of 64 elsewhere, in 4,096 bytes and headers,
            # over 8 links of 50 GB/s; four times.
            bound = 4 * 16 * 256 * 8 * 48 / 64 * (4096 + 64) / (8 * 50e3)
            self.assertAlmostEqual(float(rows["0"]["bound_us"]), bound, delta=0.1)
            for row in rows.values():
                self.assertGreater(float(row["slowdown"]), 1)
                self.assertLess(float(row["slowdown"]), 3)
            self.assertGreater(float(rows["0.3"]["bound_us"]), bound)
            self.assertGreater(float(rows["0.3"]["us"]), float(rows["0"]["us"]))
            picture = xml.etree.ElementTree.parse(folder / "out/slowdown.svg").getroot()
            self.assertEqual(len(picture.findall("{http://www.w3.org/2000/svg}rect[@class='data']")), 2)


if __name__ == "__main__":
    unittest.main()

"""The example noisy_neighbour with one draw of hosts: its table, its picture, and that they say what its README does."""

import csv
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

WEFT = str(Path(sys.argv.pop(1)).resolve())
EXAMPLE = str(Path(sys.argv.pop(1)).resolve())


class NoisyNeighbour(unittest.TestCase):
    def test_one_draw(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            done = subprocess.run([sys.executable, EXAMPLE, "--weft", WEFT, "--seeds", "1", "-o", "out"], cwd=folder,
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            with open(folder / "out/table.csv", newline="") as file:
                rows = {(r["network"], r["neighbour"], r["queues"], r["routing"]): r for r in csv.DictReader(file)}
            self.assertEqual(len(rows), 2 * 2 * 2 * 5)
            slowed = {case: float(row["slowdown"]) for case, row in rows.items()}
            for case, row in rows.items():
                # 20 steps of 50 us and, between hosts of different switches, 3 links of 500 ns at least.
                self.assertGreater(float(row["alone_us"]), 20 * (50 + 3 * 0.5), case)
                self.assertGreater(slowed[case], 0.98, case)
                self.assertEqual(int(row["dropped"]), 0, case)
                if case[1:3] == ("incast", "lossy"):
                    self.assertLess(slowed[case], 1.2, case)
                    self.assertGreater(slowed[case[0], "incast", "lossless", case[3]], 2 * slowed[case], case)
            for queues in ("lossy", "lossless"):
                for policy in ("spray", "ugal"):
                    case = ("fat tree", "all-to-all", queues, policy)
                    self.assertLess(slowed[case], 1.1)
                    self.assertLess(slowed[case] + 0.1, slowed["fat tree", "all-to-all", queues, "ecmp"])
            picture = xml.etree.ElementTree.parse(folder / "out/slowdown.svg").getroot()
            space = "{http://www.w3.org/2000/svg}"
            self.assertEqual(len(picture.findall(space + "rect[@class='data']")), 40)


if __name__ == "__main__":
    unittest.main()

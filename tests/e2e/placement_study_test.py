"""The example placement_study with one step a job: its table, its pictures, and that they say what its README does."""

import csv
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

WEFT = str(Path(sys.argv.pop(1)).resolve())
EXAMPLE = str(Path(sys.argv.pop(1)).resolve())


class PlacementStudy(unittest.TestCase):
    def test_short(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            done = subprocess.run([sys.executable, EXAMPLE, "--weft", WEFT, "--short", "-o", "out"], cwd=folder,
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            with open(folder / "out/table.csv", newline="") as file:
                rows = {(r["network"], r["level"], r["placement"], r["job"]): r for r in csv.DictReader(file)}
            self.assertEqual(len(rows), 2 * 2 * 5 * 2)
            # 31 steps to scatter, 31 to gather, a 32nd of 8 MB each, 62 packets with 64 bytes of header, at 100 Gb/s.
            on_links = 62 * (250_000 + 62 * 64) * 8e-5
            # And a step's two links of 500 ns with a switch that forwards a packet when it has it.
            way = 2 * 0.5 + 4160 * 8e-5
            ring = 500 + on_links + 62 * way
            # Each block is asked for, and with packets acknowledged: all keep step with the pair on two leaves.
            blocking = 500 + on_links + 62 * 4 * (4 * 0.5 + 3 * 4160 * 8e-5)
            for (network, level, placement, job), row in rows.items():
                if job == "training":
                    self.assertGreater(float(row["alone_us"]), ring)
                slowed = [float(row[column]) for column in ("slowdown", "beside_a_training", "beside_a_stencil")]
                # Two leaves of their own, with their uplinks: jobs share no link.
                if network == "leaf-spine 8:1" and placement in ("packed", "matrix"):
                    self.assertEqual(slowed, [1, 1, 1], row)
                # These share uplinks; how much that matters is a matter of the draw.
                if network == "leaf-spine 8:1" and placement in ("random", "group_round_robin"):
                    self.assertGreater(min(slowed), 1.005, row)
            for level in ("flow", "packet"):
                alone = {p: float(rows["leaf-spine 8:1", level, p, "training"]["alone_us"])
                         for p in ("packed", "random", "group_round_robin", "matrix:on=random")}
                self.assertLess(alone["packed"], 1.02 * blocking)
                self.assertLess(alone["matrix:on=random"], 1.03 * blocking)
                # All 32 hosts send to another leaf; 4 of a leaf over 2 links: 2 each at least, where there were none.
                self.assertGreater(alone["group_round_robin"], 500 + 2 * on_links)
                self.assertGreater(alone["random"], alone["packed"])
            # Of 32 messages in a ring, one goes to the other leaf and one comes back, over 2 links each.
            self.assertEqual(float(rows["leaf-spine 8:1", "flow", "packed", "training"]["hops_per_byte"]), 2 * 2 / 32)
            space = "{http://www.w3.org/2000/svg}"
            times = xml.etree.ElementTree.parse(folder / "out/times.svg").getroot()
            self.assertEqual(len(times.findall(space + "rect[@class='data']")), 40)
            self.assertEqual(len(times.findall(space + "path[@class='level']")), 40)
            matrix = xml.etree.ElementTree.parse(folder / "out/interference.svg").getroot()
            self.assertEqual(len(matrix.findall(space + "rect[@class='data']")), 4 * 5 * 6)


if __name__ == "__main__":
    unittest.main()

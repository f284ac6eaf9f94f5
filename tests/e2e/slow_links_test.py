"""The example slow_links with 128 hosts: its table, its picture, and that they say what its README does."""

import csv
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

WEFT = str(Path(sys.argv.pop(1)).resolve())
EXAMPLE = str(Path(sys.argv.pop(1)).resolve())


class SlowLinks(unittest.TestCase):
    def test_small(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            done = subprocess.run([sys.executable, EXAMPLE, "--weft", WEFT, "--k", "8", "-o", "out"],
                                  cwd=folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            with open(folder / "out/table.csv", newline="") as file:
                rows = list(csv.DictReader(file))
            self.assertEqual(len(rows), 4 * 13)
            longest = {(row["slow"], row["routing"]): float(row["longest_us"]) for row in rows}
            # 489 packets of 4,160 bytes (the last is shorter) on a host's link, and six links of 1 us.
            alone = (2_000_000 + 489 * 64) * 8e-5 + 6
            for case, time in longest.items():
                self.assertGreater(time, alone, case)
            for slow in ("all of one switch, 1/4", "all of one switch, 1/10", "one of each switch, 1/10"):
                for routing in ("reps", "bitmap"):
                    self.assertLess(longest[slow, routing], longest[slow, "spray"], (slow, routing))
                self.assertLess(longest["none", "spray"], longest[slow, "spray"])
            # Who is told of the rates goes round slow ports.
            slow = "one of each switch, 1/10"
            self.assertLess(longest[slow, "weighted, told"], longest[slow, "switch_spray"])
            picture = xml.etree.ElementTree.parse(folder / "out/longest.svg").getroot()
            space = "{http://www.w3.org/2000/svg}"
            self.assertEqual(len(picture.findall(space + "rect")), 1 + 4 + 4 * 13)


if __name__ == "__main__":
    unittest.main()

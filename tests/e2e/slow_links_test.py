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
            self.assertEqual(len(rows), 6 * 9)
            longest = {(row["slow"], row["routing"]): float(row["longest_us"]) for row in rows}
            # 489 packets of 4,160 bytes (the last is shorter) on a host's link, and six links of 1 us.
            alone = (2_000_000 + 489 * 64) * 8e-5 + 6
            for case, time in longest.items():
                self.assertGreater(time, alone, case)
            tenth, as_bytes = "all of one switch, 1/10", "all of one switch, 1/10, queues in bytes"
            for slow in ("all of one switch, 1/4", tenth, "one of each switch, 1/10", as_bytes):
                for routing in ("reps", "bitmap"):
                    self.assertLess(longest[slow, routing], longest[slow, "spray"], (slow, routing))
                self.assertLess(longest["none", "spray"], longest[slow, "spray"])
            # Queues that follow the rate tell of it sooner.
            for routing in ("spray", "reps", "bitmap"):
                self.assertLess(longest[tenth, routing], longest[as_bytes, routing])
            # One direction of the two.
            self.assertLess(longest["down to one switch, 1/4", "spray"], longest["all of one switch, 1/4", "spray"] + 1)
            picture = xml.etree.ElementTree.parse(folder / "out/longest.svg").getroot()
            space = "{http://www.w3.org/2000/svg}"
            self.assertEqual(len(picture.findall(space + "rect[@class='data']")), 6 * 9)
            self.assertEqual(len(picture.findall(space + "path[@class='level']")), 2)


if __name__ == "__main__":
    unittest.main()

"""The example batch_study with a few of its jobs: its table and its picture, and that its list is what it says."""

import csv
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

WEFT = str(Path(sys.argv.pop(1)).resolve())
EXAMPLE = Path(sys.argv.pop(1)).resolve()


class BatchStudy(unittest.TestCase):
    def python(self, *arguments, cwd=None):
        done = subprocess.run([sys.executable, str(EXAMPLE), *arguments], cwd=cwd, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_the_list(self):
        text = self.python("--list")
        self.assertEqual(text, EXAMPLE.with_name("jobs.csv").read_text())
        rows = list(csv.DictReader(text.splitlines()))
        self.assertEqual(len(rows), 200)
        submits = [float(row["submit"].removesuffix("ms")) for row in rows]
        self.assertEqual(submits, sorted(submits))
        # Of the log's jobs half have up to 16 processors, and one in twenty more than 64; here four times as many.
        ranks = sorted(int(row["ranks"]) for row in rows)
        self.assertIn(ranks[100], (48, 64, 80))
        self.assertLess(sum(count > 4 * 64 for count in ranks), 20)
        self.assertEqual(ranks[-1] % 4, 0)

    def test_short(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            self.python("--weft", WEFT, "--short", "-o", "out", cwd=folder)
            with open(folder / "out/table.csv", newline="") as file:
                rows = {(row["network"], row["placement"]): row for row in csv.DictReader(file)}
            self.assertEqual(len(rows), 3 * 5 + 1)
            failed = {"fat tree 4:1": 10, "Dragonfly": 11, "HammingMesh": 10}
            for (network, placement), row in rows.items():
                # Between the failed hosts there is no row for the two largest.
                self.assertEqual(int(row["jobs"]), 38 if placement == "packed, strict" else 40)
                self.assertEqual(int(row["failed"]), failed[network], "1% of the hosts")
                # A job waits and runs.
                self.assertAlmostEqual(float(row["mean_turnaround_ms"]),
                                       float(row["mean_waiting_ms"]) + float(row["mean_runtime_ms"]), delta=0.02)
                self.assertGreater(float(row["utilization"]), 10)
                self.assertLess(float(row["utilization"]), 100)
                # Every free host will do for those that don't ask for more.
                if placement not in ("packed, strict", "submesh"):
                    self.assertEqual(row["without_place"], "0")
            for network in failed:
                packed, spread = rows[network, "packed"], rows[network, "random"]
                self.assertLess(float(packed["mean_runtime_ms"]), float(spread["mean_runtime_ms"]))
                self.assertLess(float(packed["fragmentation"]), float(spread["fragmentation"]))
            space = "{http://www.w3.org/2000/svg}"
            picture = xml.etree.ElementTree.parse(folder / "out/placements.svg").getroot()
            self.assertEqual(len(picture.findall(space + "rect[@class='data']")), 3 * 16)


if __name__ == "__main__":
    unittest.main()

"""The example erasure_coding with messages of 1,024 packets: simulation against model, its picture, and that they say
what its README does."""

import csv
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

WEFT = str(Path(sys.argv.pop(1)).resolve())
EXAMPLE = str(Path(sys.argv.pop(1)).resolve())
MESSAGES = 64


class ErasureCoding(unittest.TestCase):
    def test_small(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            done = subprocess.run([sys.executable, EXAMPLE, "--weft", WEFT, "--packets", "1024", "--messages",
                                   str(MESSAGES), "-o", "out"], cwd=folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            with open(folder / "out/table.csv", newline="") as file:
                rows = list(csv.DictReader(file))
            self.assertEqual(len(rows), 4 * 5 * 4)
            mean = {}
            for row in rows:
                km, loss, recovery = int(row["km"]), float(row["loss"]), row["recovery"]
                simulated, model = float(row["mean_ms"]), float(row["model_ms"])
                mean[km, loss, recovery] = simulated
                round_trip = km / 100 + 0.005
                if recovery == "MDS 32 + 8":  # never repairs anything
                    self.assertAlmostEqual(simulated, model, delta=0.002 * model, msg=str(row))
                    continue
                # How many repetitions a message needs differs by less than 0.8 from one to the next, so the mean of
                # 64 by 0.1; four times that. A tenth of messages' last packets wait for a timeout, at worst.
                repetition = round_trip * (4 if "timeouts" in recovery else 1.5)
                self.assertAlmostEqual(simulated, model, delta=0.4 * repetition + 0.03 * model, msg=str(row))
            for km in (1000, 10000):
                for loss in (1e-3, 1e-2):
                    self.assertLess(1.5 * mean[km, loss, "MDS 32 + 8"], mean[km, loss, "selective repeat"])
                    self.assertLess(1.5 * mean[km, loss, "selective repeat"],
                                    mean[km, loss, "selective repeat, timeouts only"])
            for loss in (1e-6, 1e-5, 1e-4):
                self.assertLess(mean[10, loss, "selective repeat"], mean[10, loss, "MDS 32 + 8"])
            self.assertLess(1.1 * mean[1000, 1e-2, "MDS 32 + 8"], mean[1000, 1e-2, "XOR 32 + 8"])
            picture = xml.etree.ElementTree.parse(folder / "out/completion.svg").getroot()
            space = "{http://www.w3.org/2000/svg}"
            self.assertEqual(len(picture.findall(space + "circle")), 4 + 4 * 5 * 4)


if __name__ == "__main__":
    unittest.main()

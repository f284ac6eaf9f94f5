"""The example application_controls with its FFT, and a stencil in the place of LAMMPS's trace: its table and picture,
held against what the wire takes and how many packets bit errors should cost."""

import csv
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

WEFT = str(Path(sys.argv.pop(1)).resolve())
EXAMPLE = str(Path(sys.argv.pop(1)).resolve())
# 256³ points of 16 bytes on 8 x 8 ranks: each sends a message like this to each of its row, then of its column; twice.
MESSAGE = 256 ** 3 * 16 // 64 // 8
# Of a row four ranks are below another switch, of a column all seven.
CROSSING = 2 * (4 + 7)


class ApplicationControls(unittest.TestCase):
    def test_without_traces(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "out").mkdir()
            subprocess.run([WEFT, "goal", "gen", "stencil:cells=64,iterations=2,compute=5ms", "--ranks", "8",
                            "-o", "out/lammps.weft"], cwd=folder, check=True, capture_output=True)
            done = subprocess.run([sys.executable, EXAMPLE, "--weft", WEFT, "--applications", "lammps_fast", "fft",
                                   "-o", "out"], cwd=folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            with open(folder / "out/table.csv", newline="") as file:
                rows = list(csv.DictReader(file))
            self.assertEqual(len(rows), 2 * (6 + 7 * 3 - 1))
            for row in rows:
                self.assertEqual(row["outcome"], "complete", row)
                self.assertGreater(float(row["runtime_ms"]), float(row["free_ms"]), row)
            fft = [row for row in rows if row["application"] == "fft"]
            for row in fft:
                self.check_fft(row)
            stencil = [row for row in rows if row["application"] == "lammps_fast"]
            self.assertEqual(len({row["bytes"] for row in stencil}), 1)
            # Two times 5 ms of computing, a hundred times faster.
            self.assertEqual({float(row["free_ms"]) for row in stencil}, {0.1})
            picture = xml.etree.ElementTree.parse(folder / "out/applications.svg").getroot()
            space = "{http://www.w3.org/2000/svg}"
            self.assertEqual(len(picture.findall(space + "rect[@class='data']")), 2 * (6 + 7 * 3))

    def check_fft(self, row):
        self.assertEqual(int(row["bytes"]), 64 * 2 * (7 + 7) * MESSAGE)
        self.assertEqual(float(row["free_ms"]), 0.6)  # two times three of 100 us
        # A switch's one link up, 100 Gb/s, takes what its four ranks send to others; before and after that they compute.
        wire = 4 * CROSSING * MESSAGE * 4160 / 4096 * 8e-8
        self.assertGreater(float(row["runtime_ms"]), wire + 0.2, row)
        self.assertGreater(float(row["shared_ms"]), wire + 0.2, row)
        self.assertLess(float(row["shared_ms"]), wire + 0.7, row)
        packets = 64 * CROSSING * MESSAGE // 4096  # each crosses two links that may damage it
        expected = 2 * packets * float(row["loss"])
        self.assertGreaterEqual(int(row["bit_errors"]), 0.7 * expected - 10, row)
        self.assertLessEqual(int(row["bit_errors"]), 1.5 * expected + 10 * (expected > 0), row)
        if row["control"] == "dcqcn":  # lossless links
            self.assertEqual((row["drops"], row["sent_again"]), ("0", "0"))
        elif row["control"] == "nscc" or row["recovery"] == "trim_nack":
            self.assertGreater(int(row["trims"]), 0, row)
            if row["loss"] == "0":
                self.assertEqual(row["timeouts"], "0", row)
        else:
            self.assertEqual(row["trims"], "0", row)


if __name__ == "__main__":
    unittest.main()

"""The example congestion_controls with five controls and one seed: its table and picture, held against bounds that no
control can pass, and what its README says."""

import csv
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

WEFT = str(Path(sys.argv.pop(1)).resolve())
EXAMPLE = str(Path(sys.argv.pop(1)).resolve())
NAMES = {"newreno": "droptail", "dctcp": "ecn", "nscc, ecn": "ecn", "nscc, composite": "composite", "eqds": "composite",
         "hpcc": "droptail", "hpcc, pfc": "pfc", "dctcp, composite": "composite"}
CASES = {"long flows": 0, "incast": 64, "permutation": 128, "permutation, sprayed": 128, "web search": 1128, "victim": 24}


class CongestionControls(unittest.TestCase):
    def test_some(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            done = subprocess.run([sys.executable, EXAMPLE, "--weft", WEFT, "--seeds", "1", "--rates", "100Gbps",
                                   "--controls", "newreno", "dctcp", "nscc", "eqds", "hpcc", "-o", "out"],
                                  cwd=folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            with open(folder / "out/table.csv", newline="") as file:
                rows = list(csv.DictReader(file))
            self.assertEqual({(row["name"], row["case"]) for row in rows}, {(n, c) for n in NAMES for c in CASES})
            self.assertEqual(len(rows), len(NAMES) * len(CASES))
            self.of = {(row["name"], row["case"]): row for row in rows}
            for row in rows:
                self.check_row(row)
            self.check_claims()
            self.check_picture(xml.etree.ElementTree.parse(folder / "out/controls.svg").getroot())

    def check_row(self, row):
        case, name = row["case"], row["name"]
        self.assertEqual(row["queue"], NAMES[name])
        if case == "long flows":
            # Four flows share one link, and none can have more than it has.
            self.assertLessEqual(float(row["utilization"]), 1.0001, name)
            self.assertGreater(float(row["utilization"]), 0.9, name)
            self.assertLessEqual(float(row["jain"]), 1, name)
            self.assertGreaterEqual(float(row["jain"]), 0.25 - 1e-3, name)
            self.assertLessEqual(float(row["least_share"]), float(row["utilization"]) / 4 + 1e-4, name)
            return
        self.assertEqual(int(row["messages"]), CASES[case], (name, case))
        # All controls meet the same bytes, and none is faster than an idle network.
        self.assertEqual(row["bytes"], self.of["dctcp", case]["bytes"], (name, case))
        self.assertGreaterEqual(float(row["mean_slowdown"]), 1, (name, case))
        if case == "incast":
            # 64 MB in packets of 4,160 bytes for 4,096 over a link of 100 Gb/s.
            self.assertGreater(float(row["max_us"]), 64e6 * 4160 / 4096 * 8e-5, name)
        if case.startswith("permutation"):
            # 489 packets, the last a shorter one, on each host's link of 100 Gb/s.
            self.assertGreater(float(row["mean_us"]), (2_000_000 + 489 * 64) * 8e-5, (name, case))
        if row["queue"] == "pfc":
            self.assertEqual((row["drops"], row["trims"]), ("0", "0"), (name, case))
        if row["queue"] != "composite":
            self.assertEqual(row["trims"], "0", (name, case))

    def check_claims(self):
        value = lambda name, case, column: float(self.of[name, case][column])
        self.assertGreater(value("dctcp", "long flows", "jain"), 0.95)
        self.assertGreater(value("hpcc", "long flows", "jain"), 0.95)
        self.assertLess(value("newreno", "long flows", "jain"), 0.8)  # in step at a queue that drops
        self.assertLess(value("hpcc", "long flows", "queue_mean_us"), 1)
        self.assertGreater(value("newreno", "long flows", "queue_mean_us"), 8)
        # Trimming makes timeouts needless, receivers fill the last link, and PFC's pauses reach those beside an incast.
        for name in ("nscc, composite", "eqds"):
            self.assertEqual(value(name, "incast", "timeouts"), 0)
            self.assertLess(value(name, "incast", "max_us"), value("newreno", "incast", "max_us"))
        self.assertGreater(value("hpcc, pfc", "victim", "mean_us"), 1.5 * value("hpcc", "victim", "mean_us"))
        self.assertGreater(value("dctcp, composite", "victim", "mean_us"), 2 * value("nscc, composite", "victim", "mean_us"))
        # Blind to what is congested in the network, and answering to it.
        self.assertGreater(value("eqds", "permutation", "sent_again"), 5 * value("nscc, composite", "permutation", "sent_again"))
        # A message that got no credit would wait for a patience of 2 ms.
        self.assertLess(value("eqds", "web search", "p99_slowdown"), 100)

    def check_picture(self, picture):
        space = "{http://www.w3.org/2000/svg}"
        self.assertEqual(len(picture.findall(space + "rect[@class='data']")), len(NAMES) * 10)


if __name__ == "__main__":
    unittest.main()

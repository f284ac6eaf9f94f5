"""The example flowcut at one load and for a short time: its table, its picture, and what its README says of order."""

import csv
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

WEFT = str(Path(sys.argv.pop(1)).resolve())
EXAMPLE = str(Path(sys.argv.pop(1)).resolve())
FLOWCUT = ("flowcut", "flowcut ingress", "flowcut nic")


class Flowcut(unittest.TestCase):
    def test_small(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            done = subprocess.run([sys.executable, EXAMPLE, "--weft", WEFT, "--duration", "60", "--loads", "0.8",
                                   "-o", "out"], cwd=folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            with open(folder / "out/table.csv", newline="") as file:
                rows = list(csv.DictReader(file))
            self.assertEqual(len(rows), 2 * 2 * 2 * 13)
            value = {tuple(row[key] for key in ("network", "traffic", "links", "routing")): row for row in rows}
            for (network, traffic, links, routing), row in value.items():
                case = (network, traffic, links, routing)
                # Policies meet the same messages.
                self.assertEqual(row["flows"], value[network, traffic, links, "ecmp"]["flows"], case)
                self.assertGreater(int(row["data_packets"]), 5000, case)
                if routing in FLOWCUT or routing == "ecmp":
                    self.assertEqual(int(row["overtaken_packets"]), 0, case)
                if routing in ("spray", "valiant", "ugal") and links == "all whole":
                    self.assertGreater(float(row["overtaken_percent"]), 1, case)
            for network in ("dragonfly", "fat_tree"):
                for traffic in ("permutation", "web search"):
                    slow = {routing: float(value[network, traffic, "some slow", routing]["mean_us"])
                            for routing in ("ecmp", "flowcut")}
                    self.assertLess(slow["flowcut"], slow["ecmp"], (network, traffic))
            self.assertGreater(sum(int(row["drains"]) for row in rows), 0)
            picture = xml.etree.ElementTree.parse(folder / "out/flowcut.svg").getroot()
            space = "{http://www.w3.org/2000/svg}"
            self.assertEqual(len(picture.findall(space + "polyline[@class='data']")), 4 * 5 * 9)


if __name__ == "__main__":
    unittest.main()

"""The main job on real applications: trace, import, check, replay at message level and packet by packet."""

import csv
import json
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

from real_applications import EXAMPLES, run

WEFT = str(Path(sys.argv.pop(1)).resolve())
RANKS = 4


class Applications(unittest.TestCase):
    def main_job(self, folder, command):
        run([WEFT, "trace", "-o", "trace", "--", "mpirun.openmpi", "-n", str(RANKS)] + command, folder)
        run([WEFT, "import", "mpi", "trace", "-o", "app.weft"], folder)
        run([WEFT, "goal", "check", "app.weft"], folder)
        digests = {}
        for name, flags in {
                "loggops": ["--network", "loggops:L=2000,o=500,g=100,G=0.08"],
                "loggops again": ["--network", "loggops:L=2000,o=500,g=100,G=0.08"],
                "packet": ["--topology", "fat_tree:k=4,link=100Gbps"],
                "packet again": ["--topology", "fat_tree:k=4,link=100Gbps"],
                "spray": ["--topology", "fat_tree:k=4,link=100Gbps", "--routing", "spray"],
                "flow": ["--topology", "fat_tree:k=4,link=100Gbps", "--network", "flow"],
                "flow again": ["--topology", "fat_tree:k=4,link=100Gbps", "--network", "flow"],
        }.items():
            run([WEFT, "sim", "--goal", "app.weft", "-o", name] + flags, folder)
            summary = json.loads((folder / name / "summary.json").read_text())
            self.assertEqual(summary["outcome"], "complete")
            self.assertEqual(summary["executed_ops"], summary["ops"])
            wire = summary["wire_bytes"]
            self.assertEqual(wire["injected"], wire["delivered"] + wire["dropped"] + wire.get("trimmed", 0))
            with open(folder / name / "ranks.csv", newline="") as file:
                rows = list(csv.DictReader(file))
            self.assertEqual(len(rows), RANKS)
            for row in rows:
                # No rank ends before it has done its own computing, and it did compute and communicate.
                self.assertGreater(float(row["compute_ns"]), 0)
                self.assertGreater(int(row["messages_sent"]), 0)
                self.assertGreaterEqual(float(row["finish_ns"]), float(row["compute_ns"]) + float(row["overhead_ns"]))
            # What was sent was received.
            for what in ("messages", "bytes"):
                self.assertEqual(sum(int(row[what + "_sent"]) for row in rows),
                                 sum(int(row[what + "_received"]) for row in rows))
            digests[name] = summary["digest"]
        self.assertEqual(digests["loggops"], digests["loggops again"])
        self.assertEqual(digests["packet"], digests["packet again"])
        self.assertEqual(digests["flow"], digests["flow again"])
        self.assertNotEqual(digests["packet"], digests["spray"])

    def test_lammps(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            shutil.copy(EXAMPLES / "in.lj", folder)
            self.main_job(folder, ["lmp", "-in", "in.lj", "-log", "none"])

    def test_hpcc(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            # The input's process grid is 2 x 4; this test has 4 ranks.
            text = (EXAMPLES / "hpccinf.txt").read_text()
            lines = [line.replace("4", "2", 1) if line.split() and line.split()[-1] == "Qs" else line
                     for line in text.splitlines()]
            (folder / "hpccinf.txt").write_text("\n".join(lines) + "\n")
            self.main_job(folder, ["hpcc"])


if __name__ == "__main__":
    unittest.main()

"""The example training_month with a smaller step: its table, its picture, and that they say what its README does."""

import csv
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

WEFT = str(Path(sys.argv.pop(1)).resolve())
EXAMPLE = str(Path(sys.argv.pop(1)).resolve())
SMALLER = ["job.traffic.llm.pp=2", "job.traffic.llm.vp=1", "job.traffic.llm.dp=1", "job.traffic.llm.micro_batches=2",
           "job.traffic.llm.seq=256", "topology.scale_up.of=multi_plane:k=2,planes=8"]
CAUSES = ["restarts", "lost_work", "checkpoints", "degraded", "fewer_replicas", "reconfiguration"]


class TrainingMonth(unittest.TestCase):
    def test_small(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            smaller = [word for each in SMALLER for word in ("--set", each)]
            done = subprocess.run([sys.executable, EXAMPLE, "--weft", WEFT, *smaller, "-o", "out"],
                                  cwd=folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            with open(folder / "out/table.csv", newline="") as file:
                rows = {row["case"]: {key: float(value) for key, value in row.items() if key != "case"}
                        for row in csv.DictReader(file)}
            self.assertEqual(len(rows), 8)
            for row in rows.values():
                # All that is lost has one of these causes, but for the time until paths are left.
                self.assertAlmostEqual(row["goodput"] + sum(row[cause] for cause in CAUSES), 1, 3)
                self.assertLess(abs(row["goodput"] - row["on_paper"]), 3 * row["interval"] + 0.002)
            # 419 interruptions in 54 days, 10 minutes each.
            self.assertAlmostEqual(rows["best interval"]["restarts"], 419 * 600 / (54 * 86400), 2)
            self.assertGreater(rows["best interval"]["goodput"], 0.9)  # Llama 3
            for worse in ("every 30 min", "every hour"):
                self.assertGreater(rows["best interval"]["goodput"], rows[worse]["goodput"])
            self.assertGreater(rows["links retired"]["goodput"], rows["links restart"]["goodput"])
            self.assertLess(rows["every hour"]["goodput"], 0.9)
            picture = xml.etree.ElementTree.parse(folder / "out/lost.svg").getroot()
            space = "{http://www.w3.org/2000/svg}"
            self.assertEqual(len(picture.findall(space + "path[@class='level']")), 1)


if __name__ == "__main__":
    unittest.main()

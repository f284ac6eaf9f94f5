"""What tests of importers do with the weft program: import a trace, replay the graph, look at the result."""

import csv
import json
import re
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

WEFT = str(Path(sys.argv.pop(1)).resolve())
NETWORK = "loggops:L=2000,o=1500,g=10,G=0.08"


class ImportTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def weft(self, *words, status=0):
        """What `weft WORDS` prints; on failure what it says."""
        run = subprocess.run([WEFT, *map(str, words)], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual(run.returncode, status, run.stderr)
        return run.stderr if status else run.stdout

    def imported(self, path, *options):
        """Imports a trace to x.weft, which must be sound; returns what was printed."""
        said = self.weft("import", path, "-o", "x.weft", *options)
        self.assertIn("sound", self.weft("goal", "check", "x.weft"))
        return said

    def refused(self, path, *options):
        """The message for a trace that can't be imported."""
        return self.weft("import", path, "-o", "x.weft", *options, status=2)

    def replayed(self):
        """Replays x.weft to its end; returns the summary."""
        self.weft("sim", "--goal", "x.weft", "--network", NETWORK, "-o", "run")
        summary = json.loads((self.folder / "run/summary.json").read_text())
        self.assertEqual(summary["outcome"], "complete")
        self.assertEqual(summary["executed_ops"], summary["ops"])
        return summary

    def flows(self):
        """Of the last replay (rank r is host r): bytes by (source, destination) of all messages, and how many there were."""
        total, count = Counter(), Counter()
        with open(self.folder / "run/flows.csv") as file:
            for row in csv.DictReader(file):
                pair = int(row["source"]), int(row["destination"])
                total[pair] += int(row["bytes"])
                count[pair] += 1
        return total, count

    def text(self):
        """x.weft as GOAL text."""
        return self.weft("goal", "print", "x.weft")

    def ranks(self):
        """The lines of each rank in x.weft's text."""
        return [block.split("\n}")[0].splitlines()[1:] for block in self.text().split("\nrank ")[1:]]

    def sends(self):
        """Of x.weft: bytes by (source, destination) of its send operations; those in collectives are none."""
        total = Counter()
        for rank, lines in enumerate(self.ranks()):
            for line in lines:
                send = re.search(r": send (\d+)b to (\d+)", line)
                if send:
                    total[rank, int(send[2])] += int(send[1])
        return total

"""What an import could not represent goes with the graph: through transforms, checks, runs and their results."""

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from real_applications import ENVIRONMENT, run

WEFT = str(Path(sys.argv.pop(1)).resolve())
SOURCE = str(Path(sys.argv.pop(1)).resolve())
RANKS = 2
WRITES = 5  # of each rank, in writes_file.c
NETWORK = ["--network", "loggops:L=1000,o=500,g=100,G=0.08"]


def both_outputs(arguments, folder):
    done = subprocess.run(arguments, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    return done.stdout, done.stderr


class NotReplayed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        run(["mpicc.openmpi", SOURCE, "-o", "program"], cls.folder)
        run([WEFT, "trace", "-o", "trace", "--", "mpirun.openmpi", "-n", str(RANKS), "./program"], cls.folder)
        _, cls.said = both_outputs([WEFT, "import", "trace", "-o", "app.weft"], cls.folder)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def info(self, name):
        return json.loads(run([WEFT, "goal", "info", "--json", name], self.folder))

    def test_counts_and_shares(self):
        lacks = self.info("app.weft")["not_replayed"]
        calls = {function["name"]: function["calls"] for function in lacks["functions"]}
        self.assertEqual(calls, {"MPI_File_open": RANKS, "MPI_File_write_at": RANKS * WRITES,
                                 "MPI_File_close": RANKS})
        self.assertEqual(lacks["calls"], sum(calls.values()))
        self.assertEqual(lacks["bytes"], RANKS * WRITES * 64)
        self.assertEqual(lacks["share_of_bytes"], 1)
        # Of the rest, each rank makes two barriers.
        self.assertAlmostEqual(lacks["share_of_calls"], (2 + WRITES) / (4 + WRITES))
        self.assertEqual(lacks["time_ns"], sum(function["time_ns"] for function in lacks["functions"]))
        self.assertGreater(lacks["time_ns"], 0)
        self.assertTrue(0 < lacks["share_of_time"] <= 1)
        self.assertIn("14 of 18 calls of the traced program (77.8%)", self.said)

    def test_kept_through_transforms(self):
        before = self.info("app.weft")["not_replayed"]
        run([WEFT, "goal", "scale", "app.weft", "--calc", "0.5", "-o", "scaled.weft"], self.folder)
        run([WEFT, "goal", "slice", "scaled.weft", "--ranks", "0", "-o", "sliced.weft"], self.folder)
        run([WEFT, "goal", "convert", "sliced.weft", "again.weft"], self.folder)
        run([WEFT, "goal", "regroup", "app.weft", "--ranks-per-node", "2", "--expand", "-o", "regrouped.weft"], self.folder)
        run([WEFT, "goal", "extrapolate", "app.weft", "--ranks", "4", "-o", "larger.weft"], self.folder)
        for name in ("scaled.weft", "sliced.weft", "again.weft", "regrouped.weft", "larger.weft"):
            self.assertEqual(self.info(name)["not_replayed"], before, name)
        run([WEFT, "goal", "merge", "app.weft", "app.weft", "-o", "both.weft"], self.folder)
        both = self.info("both.weft")["not_replayed"]
        self.assertEqual(both["calls"], 2 * before["calls"])
        self.assertAlmostEqual(both["share_of_time"], before["share_of_time"])

    def test_check_and_runs_warn(self):
        self.assertIn("warning: not_replayed: not replayed: 14 of 18 calls",
                      run([WEFT, "goal", "check", "app.weft"], self.folder))
        for name, flags in {"loggops": NETWORK, "packet": ["--topology", "fat_tree:k=4"],
                            "classic": ["--network", "loggops:semantics=classic,L=1000,o=500,g=100,G=1"]}.items():
            graph = "app.weft"
            if name == "classic":
                run([WEFT, "goal", "export", "app.weft", "--expand", "-o", "plain.weft"], self.folder)
                graph = "plain.weft"
            printed = run([WEFT, "sim", "--goal", graph, "-o", name] + flags, self.folder)
            self.assertEqual(printed.count("14 of 18 calls of the traced program (77.8%)"), 1, printed)
            summary = json.loads((self.folder / name / "summary.json").read_text())
            self.assertEqual(summary["not_replayed"], self.info(graph)["not_replayed"])
            self.assertEqual(sum("14 of 18 calls" in warning for warning in summary["warnings"]), 1)

    def test_formats_that_cannot_say_it_are_told_of(self):
        _, said = both_outputs([WEFT, "goal", "convert", "app.weft", "app.goal"], self.folder)
        self.assertIn("app.goal does not say what is missing in it", said)
        _, said = both_outputs([WEFT, "goal", "scale", "app.weft", "--calc", "2", "-o", "scaled.goal"], self.folder)
        self.assertIn("scaled.goal does not say what is missing in it", said)

    def test_other_graphs_have_none(self):
        run([WEFT, "goal", "gen", "stencil:dims=[2,2],iterations=2", "--ranks", "4", "-o", "halo.weft"], self.folder)
        self.assertIsNone(self.info("halo.weft")["not_replayed"])
        self.assertIn("sound (4 ranks", run([WEFT, "goal", "check", "halo.weft"], self.folder))
        run([WEFT, "sim", "--goal", "halo.weft", "-o", "halo"] + NETWORK, self.folder)
        self.assertNotIn("not_replayed", json.loads((self.folder / "halo" / "summary.json").read_text()))


if __name__ == "__main__":
    unittest.main()

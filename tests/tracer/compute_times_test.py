"""Compute times of ranks that share a core: what they burned, by their own clock, is what the graph computes.

No figure depends on how loaded the machine is: processor time is compared with processor time, and the only inequality
on time that passed is that one core cannot give more than it has.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WEFT = str(Path(sys.argv.pop(1)).resolve())
PROGRAMS = {mpi: str(Path(sys.argv.pop(1)).resolve()) for mpi in ["openmpi", "mpich"]}
RANKS = 3
ROUNDS = 40
# Less than 10 us without a core is not told, for each stretch between two calls; and what lies between a
# call and the program's own clock.
SLACK_NS = (ROUNDS + 4) * 20_000
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1"}


def weft(folder, *arguments):
    done = subprocess.run([WEFT, *arguments], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    return done.stdout, done.stderr


class ComputeTimes(unittest.TestCase):
    def trace(self, mpi, folder):
        said, _ = weft(folder, "trace", "-o", "trace", "--", f"mpirun.{mpi}", "-n", str(RANKS), PROGRAMS[mpi])
        lines = sorted(line.split() for line in said.splitlines() if line.startswith("rank "))
        self.assertEqual(len(lines), RANKS)
        return [int(line[3]) for line in lines], [int(line[5]) for line in lines]

    def calc_ns(self, folder, *options):
        weft(folder, "import", "trace", "-o", "app.weft", *options)
        return json.loads(weft(folder, "goal", "info", "--json", "app.weft")[0])["calc_ns"]

    def check(self, mpi):
        """Of a busy machine, which takes the core away thousands of times, the kernel's figures are now and then off by a
        tenth. That is no fault of ours, unless it is so each time."""
        for tries_left in (2, 1, 0):
            try:
                return self.check_once(mpi)
            except AssertionError:
                if not tries_left:
                    raise

    def check_once(self, mpi):
        with tempfile.TemporaryDirectory() as folder:
            burned, used = self.trace(mpi, folder)
            wall = self.calc_ns(folder, "--compute-times", "wall")
            cpu = self.calc_ns(folder, "--compute-times", "cpu")
            auto = self.calc_ns(folder)
            self.assertAlmostEqual(auto, sum(burned), delta=0.06 * sum(burned) + RANKS * SLACK_NS)
            self.assertLessEqual(cpu, auto)
            self.assertLess(auto, wall)

            states = json.loads(weft(folder, "trace", "info", "trace", "--json")[0])["rank_states"]
            off = {state["rank"]: state["off_core"] for state in states}
            for state in states:
                # The ranks took turns: nobody finished before the core had done all their work.
                self.assertGreater(state["elapsed_ns"], sum(burned))
                on_core = state["elapsed_ns"] - sum(off[state["rank"]].values())
                self.assertAlmostEqual(on_core, used[state["rank"]], delta=0.08 * used[state["rank"]] + SLACK_NS)
                self.assertEqual(len(state["facts"]["cores"].split(",")), 1)
                self.assertNotIn("-", state["facts"]["cores"])
            waited = sum(times["waiting_ns"] + times["in_mpi_waiting_ns"] for times in off.values())
            self.assertGreater(waited, sum(burned))
            self.said_everywhere(folder)

    def said_everywhere(self, folder):
        told = "3 ranks on 1 core of"
        said, _ = weft(folder, "import", "trace", "-o", "app.weft")
        self.assertIn("shared 1 core:", said)
        self.assertIn("warning      compute_times_shared_cores: 3.", said)
        self.assertIn(told, weft(folder, "goal", "check", "app.weft")[0])
        weft(folder, "goal", "scale", "app.weft", "--calc", "0.5", "-o", "half.weft")
        weft(folder, "sim", "--goal", "half.weft", "--network", "loggops:L=1000,o=500,g=100,G=0.08", "-o", "run")
        summary = json.loads((Path(folder) / "run" / "summary.json").read_text())
        self.assertTrue(any(told in warning for warning in summary["warnings"]), summary["warnings"])

    def test_openmpi(self):
        self.check("openmpi")

    def test_mpich(self):
        self.check("mpich")


unittest.main(verbosity=2)

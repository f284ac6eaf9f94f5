"""Clocks of hosts: ranks of one machine claim to be on two, whose clocks are a known time apart, so that what the tracer
measures by real messages is known beforehand within half of its own round trip."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WEFT = str(Path(sys.argv.pop(1)).resolve())
PROGRAMS = {name: str(Path(sys.argv.pop(1)).resolve()) for name in ("openmpi", "mpich")}
AHEAD_NS = 7_000_000_000_123


def weft(*arguments):
    done = subprocess.run([WEFT, *arguments], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


class Clocks(unittest.TestCase):
    def each(self):
        for mpi, program in PROGRAMS.items():
            if shutil.which(f"mpirun.{mpi}") is None:
                print(f"skipped: mpirun.{mpi} is not installed")
                continue
            with self.subTest(mpi), tempfile.TemporaryDirectory() as folder:
                yield mpi, program, folder

    def run_on_two(self, mpi, program, folder, *settings):
        """One rank on each of two hosts, of which b's clock is ahead."""
        parts = []
        for host, ahead in (("a", 0), ("b", AHEAD_NS)):
            parts += [":"] * bool(parts) + ["-n", "1", "env", f"WEFT_TRACE_TEST_CLOCK={host},{ahead}", *settings, program]
        weft("trace", "-o", f"{folder}/trace", "--", f"mpirun.{mpi}", *parts)
        return json.loads(weft("trace", "info", f"{folder}/trace", "--json"))

    def test_two_hosts(self):
        for mpi, program, folder in self.each():
            info = self.run_on_two(mpi, program, folder)
            self.assertEqual(info["hosts"], ["a", "b"])
            a, b = info["clocks"]
            self.assertEqual([reading["offset_ns"] for reading in a["readings"]], [0, 0])
            self.assertEqual(len(b["readings"]), 2)
            for reading in b["readings"]:
                self.assertGreater(reading["round_trip_ns"], 0)
                self.assertLessEqual(abs(reading["offset_ns"] + AHEAD_NS), reading["round_trip_ns"] / 2 + 1)
            self.assertLess(b["readings"][0]["at_ns"], b["readings"][1]["at_ns"])
            # The two clocks are one, so they do not drift; halves of nanoseconds are cut off.
            between = b["readings"][1]["at_ns"] - b["readings"][0]["at_ns"]
            self.assertLessEqual(abs(b["drift"]), b["drift_uncertainty"] + 2 / between)
            self.assertGreater(b["drift_uncertainty"], 0)
            told = re.search(r"clock       b: (-[0-9.]+) s", weft("trace", "info", f"{folder}/trace"))
            self.assertAlmostEqual(float(told.group(1)), -AHEAD_NS * 1e-9, delta=1e-3)

            weft("import", "mpi", f"{folder}/trace", "-o", f"{folder}/app.weft")
            known = json.loads(weft("goal", "info", f"{folder}/app.weft", "--json"))["metadata"]
            within = int(known["clock_uncertainty_ns"])
            self.assertLessEqual(abs(int(known["clocks_apart_ns"]) - AHEAD_NS), within + 1)
            # Not so far apart as the clocks; not shorter than any rank's own time.
            span, elapsed = int(known["traced_span_ns"]), int(known["traced_elapsed_ns"])
            self.assertGreaterEqual(span + 2 * within + 2, elapsed)
            self.assertLess(span, elapsed + AHEAD_NS / 2)

    def test_not_wanted(self):
        for mpi, program, folder in self.each():
            info = self.run_on_two(mpi, program, folder, "WEFT_TRACE_CLOCKS=0")
            self.assertEqual([host["readings"] for host in info["clocks"]], [[], []])
            self.assertIn("clock       b: not measured", weft("trace", "info", f"{folder}/trace"))
            self.assertIn("unknown_clocks", weft("import", "mpi", f"{folder}/trace", "-o", f"{folder}/app.weft"))

    def test_one_host(self):
        for mpi, program, folder in self.each():
            weft("trace", "-o", f"{folder}/trace", "--", f"mpirun.{mpi}", "-n", "2", "env", "WEFT_TRACE_CLOCKS=1", program)
            info = json.loads(weft("trace", "info", f"{folder}/trace", "--json"))
            self.assertEqual([host["readings"] for host in info["clocks"]], [[]])
            self.assertNotIn("clock  ", weft("trace", "info", f"{folder}/trace"))


if __name__ == "__main__":
    unittest.main()

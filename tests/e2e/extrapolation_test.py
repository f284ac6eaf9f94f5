"""A program on rows and columns, traced on few ranks and extrapolated, against its trace on as many."""

import collections
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from real_applications import ENVIRONMENT, run

WEFT = str(Path(sys.argv.pop(1)).resolve())
SOURCE = str(Path(sys.argv.pop(1)).resolve())


def members(text, ranks):
    if text == "all":
        return ranks
    ranges = re.findall(r"(\d+)(?:-(\d+))?", text)
    return sum(int(last or first) - int(first) + 1 for first, last in ranges)


class Extrapolation(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        run(["mpicc.openmpi", SOURCE, "-o", "program"], cls.folder)
        for rows, columns in ((4, 3), (6, 4)):
            name = f"{rows}x{columns}"
            run([WEFT, "trace", "-o", name, "--", "mpirun.openmpi", "-n", str(rows * columns), "./program",
                 str(rows), str(columns)], cls.folder)
            run([WEFT, "import", "mpi", name, "-o", f"{name}.weft"], cls.folder)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def program(self, name):
        """Per rank what it calls, in order: communicators by their size, but no compute times."""
        text = run([WEFT, "goal", "print", name], self.folder)
        ranks = int(re.search(r"num_ranks (\d+)", text)[1])
        sizes = {number: members(held, ranks)
                 for number, held in re.findall(r'^comm (\d+) "[^"]*" (.*)$', text, re.MULTILINE)}
        calls = collections.defaultdict(list)
        rank = None
        for line in text.splitlines():
            if line.startswith("rank "):
                rank = int(line.split()[1])
            call = re.match(r"(?:l\d+: )?((?!calc)\w+ .*|barrier)$", line)
            if rank is None or line.startswith("rank ") or " requires " in line or " irequires " in line or not call:
                continue
            calls[rank].append(re.sub(r"comm (\d+)", lambda comm: f"on {sizes[comm[1]]}", call[1]))
        self.assertEqual(len(calls), ranks)
        return calls

    def test_same_calls_as_the_trace_of_as_many_ranks(self):
        said = run([WEFT, "goal", "extrapolate", "4x3.weft", "--grid", "6x4", "-o", "grown.weft"], self.folder)
        self.assertIn("4(ring)x3(rooted) grid, made a 6(ring)x4(rooted) grid", said)
        self.assertEqual(self.program("grown.weft"), self.program("6x4.weft"))

    def test_same_number_of_ranks_is_the_same_program(self):
        run([WEFT, "goal", "extrapolate", "4x3.weft", "--ranks", "12", "-o", "same.weft"], self.folder)
        same, before = (run([WEFT, "goal", "print", name], self.folder) for name in ("same.weft", "4x3.weft"))
        self.assertEqual(same, before)

    def test_sound_and_replayed_to_the_end(self):
        for rows, columns in ((4, 6), (6, 9), (20, 50)):
            run([WEFT, "goal", "extrapolate", "4x3.weft", "--grid", f"{rows}x{columns}", "-o", "grown.weft"],
                self.folder)
            self.assertIn(f"sound ({rows * columns} ranks", run([WEFT, "goal", "check", "grown.weft"], self.folder))
            run([WEFT, "sim", "--goal", "grown.weft", "--network", "loggops:L=1000,o=500,g=100,G=0.08", "-o",
                 f"out{rows}"], self.folder)

    def test_wrong_input(self):
        def refused(*arguments):
            done = subprocess.run([WEFT, "goal", "extrapolate", "4x3.weft", "-o", "x.weft", *arguments],
                                  cwd=self.folder, env=ENVIRONMENT, capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, done.stderr)
            return done.stderr

        self.assertIn("next to it fit", refused("--ranks", "13"))
        self.assertIn("--ranks or --grid must be given", refused())
        self.assertIn("as in 8x8x4", refused("--grid", "8xx4"))
        self.assertIn("as in 8x8x4", refused("--grid", "99999x99999"))
        self.assertIn("expected keep or share", refused("--ranks", "24", "--alltoall", "none"))
        self.assertIn("which is another number of ranks than 25", refused("--ranks", "25", "--grid", "6x4"))


if __name__ == "__main__":
    unittest.main()

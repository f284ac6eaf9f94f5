"""One-sided programs, and those with collectives of rare forms, traced under each MPI: everything is replayed, and of one-sided
communication with the bytes that the program moved."""

import json
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

from real_applications import ENVIRONMENT, run

WEFT = str(Path(sys.argv.pop(1)).resolve())
SOURCE = str(Path(sys.argv.pop(1)).resolve())
# Open MPI 4.1 refuses windows without it.
del ENVIRONMENT["OMPI_MCA_btl_vader_single_copy_mechanism"]
FORMS = str(Path(sys.argv.pop(1)).resolve())
RANKS = 4
LONG = 8
# Of each rank in one_sided.c, in longs: fences (3 + 2 + 5), locks and requests.
EACH = 10 + (4 + 6) + (1 + 1) + 1 + (2 + 1) + (2 + 2) + 7 + 8 + 1 + 1
# Two origins with two exposures each; two ranks that put to each other.
SOME = 2 * 2 * 9 + 2 * 10
# MPI_Put_c, which Open MPI 4 does not have.
LARGE_COUNT = {"openmpi": 0, "mpich": 11}


class OneSided(unittest.TestCase):
    def of(self, mpi, source):
        """Everything of a program is replayed; what `weft goal info` tells of its graph."""
        if shutil.which(f"mpicc.{mpi}") is None or shutil.which(f"mpirun.{mpi}") is None:
            self.skipTest(f"{mpi} is not installed")
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            run([f"mpicc.{mpi}", "-w", source, "-o", "program"], folder)
            run([WEFT, "trace", "-o", "trace", "--", f"mpirun.{mpi}", "-n", str(RANKS), "./program"], folder)
            run([WEFT, "import", "trace", "-o", "app.weft"], folder)
            info = json.loads(run([WEFT, "goal", "info", "--json", "app.weft"], folder))
            self.assertEqual(info["not_replayed"]["calls"], 0, info["not_replayed"])
            self.assertIn("sound (4 ranks", run([WEFT, "goal", "check", "app.weft"], folder))
            for network in (["--network", "loggops:L=2000,o=500,g=100,G=0.08"], ["--topology", "fat_tree:k=4"]):
                run([WEFT, "sim", "--goal", "app.weft", "-o", "run"] + network, folder)
                summary = json.loads((folder / "run" / "summary.json").read_text())
                self.assertEqual(summary["outcome"], "complete")
                self.assertEqual(summary["executed_ops"], summary["ops"])
                self.assertFalse([text for text in summary["warnings"] if "not replayed" in text])
            return info

    def one_sided(self, mpi):
        info = self.of(mpi, SOURCE)
        self.assertEqual(info["sent_bytes"], LONG * (RANKS * (EACH + LARGE_COUNT[mpi]) + SOME))
        self.assertEqual(info["cpus"], 2)

    def forms(self, mpi, persistent):
        # Each persistent collective twice, ten calls among neighbors in each of three topologies, and their making.
        info = self.of(mpi, FORMS)
        self.assertEqual(sum(info["collectives"].values()), RANKS * (2 * persistent + 3 * 10 + 3))
        self.assertEqual(info["collectives"]["neighbor_alltoall"], RANKS * 3 * 7)
        self.assertEqual(info["collectives"]["neighbor_allgather"], RANKS * 3 * 3)

    def test_openmpi(self):
        self.one_sided("openmpi")
        self.forms("openmpi", 17)

    def test_mpich(self):
        self.one_sided("mpich")
        self.forms("mpich", 16)  # its persistent scatter does not work


if __name__ == "__main__":
    unittest.main()

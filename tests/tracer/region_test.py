"""weft import mpi --region: what programs/region.c does in its regions, by tag."""

import collections
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


def weft(*arguments, status=0):
    done = subprocess.run([WEFT, *arguments], capture_output=True, text=True, timeout=100)
    assert done.returncode == status, done.stderr
    return done.stdout + done.stderr


class Regions(unittest.TestCase):
    def messages(self, folder, region):
        """Sends by tag, collectives, and what was said."""
        graph = f"{folder}/app.goal"
        said = weft("import", "mpi", f"{folder}/trace", "-o", graph, *(["--region", region] if region else []))
        self.assertIn("sound", weft("goal", "check", graph))
        text = Path(graph).read_text()
        return (collections.Counter(int(tag) for tag in re.findall(r"send 4b .*?tag (\d+)", text)),
                text.count("allreduce"), said)

    def test_regions(self):
        for mpi, program in PROGRAMS.items():
            if shutil.which(f"mpirun.{mpi}") is None:
                print(f"skipped: mpirun.{mpi} is not installed")
                continue
            with self.subTest(mpi), tempfile.TemporaryDirectory() as folder:
                weft("trace", "-o", f"{folder}/trace", "--", f"mpirun.{mpi}", "-n", "2", program)
                info = json.loads(weft("trace", "info", f"{folder}/trace", "--json"))
                regions = {use["name"]: use for use in info["regions"]}
                self.assertEqual({name: (use["entries"], use["ranks"]) for name, use in regions.items()},
                                 {"solver": (4, 2), "MPI_Pcontrol": (4, 2)})
                elapsed = sum(rank["elapsed_ns"] for rank in info["rank_states"])
                self.assertTrue(0 < regions["solver"]["ns"] < regions["MPI_Pcontrol"]["ns"] < elapsed)

                sends, reductions, said = self.messages(folder, "")
                self.assertEqual(sends, {1: 20, 2: 40, 3: 10, 4: 14, 5: 1, 6: 2})
                self.assertEqual(reductions, 2)
                self.assertNotIn("outside_region", said)

                sends, reductions, said = self.messages(folder, "solver")
                self.assertEqual(sends, {2: 40, 6: 2})
                self.assertEqual(reductions, 2)
                # Rank 0 receives it in the region, rank 1 sends it behind.
                self.assertIn("receives_without_partner: 1.", said)
                self.assertNotIn("sends_without_partner", said)
                # Per rank: Init, 10 + 5 + 7 exchanges, Wait, Finalize; and rank 1's send.
                self.assertIn("outside_region: 51.", said)

                sends, reductions, said = self.messages(folder, "MPI_Pcontrol")
                self.assertEqual(sends, {1: 20, 2: 40, 4: 14, 5: 1, 6: 2})
                self.assertIn("outside_region: 10.", said)

                self.assertIn("no rank has a region 'solve'; there are: MPI_Pcontrol, solver",
                              weft("import", "mpi", f"{folder}/trace", "-o", f"{folder}/x.weft", "--region", "solve",
                                   status=2))
                self.assertIn("exclude each other",
                              weft("import", "mpi", f"{folder}/trace", "-o", f"{folder}/x.weft", "--region", "solver",
                                   "--keep-wildcards", status=2))

    def test_without_the_tracer(self):
        for mpi, program in PROGRAMS.items():
            if shutil.which(f"mpirun.{mpi}") is None:
                continue
            with self.subTest(mpi):
                environment = {"PATH": "/usr/bin:/bin", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                               "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
                subprocess.run([f"mpirun.{mpi}", "-n", "2", program], env=environment, check=True, timeout=100)


if __name__ == "__main__":
    unittest.main()

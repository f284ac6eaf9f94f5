"""weft trace --check: against the symbols that nm finds, and against what a run of the program records."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WEFT = str(Path(sys.argv.pop(1)).resolve())
PROGRAMS = {}  # the C and the Fortran 2008 program of each MPI
while len(sys.argv) > 1:
    program = Path(sys.argv.pop(1)).resolve()
    name, mpi, _ = program.name.split("_")
    PROGRAMS[mpi, name] = str(program)


def check(program):
    done = subprocess.run([WEFT, "trace", "--check", program, "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def wanted(program):
    """The MPI functions among the undefined symbols, in lower case and without Fortran's decorations."""
    listing = subprocess.run(["nm", "-D", "--undefined-only", "-j", program], capture_output=True, text=True, check=True)
    names = set()
    for symbol in listing.stdout.split():
        symbol = symbol.split("@")[0].lower()
        found = re.fullmatch(r"p?(mpix?_\w+?)(_f08|_f08ts|_fts)?_*", symbol)
        if found and not symbol.startswith("mpi_fortran_"):
            names.add(found[1])
    return names


class Check(unittest.TestCase):
    def test_symbols(self):
        for (mpi, name), program in PROGRAMS.items():
            with self.subTest(mpi=mpi, name=name):
                report = check(program)
                self.assertEqual(report["mpi"], mpi)
                self.assertEqual({use["name"].lower() for use in report["functions"]}, wanted(program))
                self.assertGreater(len(report["functions"]), 15)
                self.assertNotIn("unknown", {use["coverage"] for use in report["functions"]})
                self.assertEqual(report["not_found"], [])

    def test_large_counts_of_fortran(self):
        """Counts of kind MPI_COUNT_KIND, which MPICH's mpi_f08 has."""
        if shutil.which("mpif90.mpich") is None:
            print("skipped: mpif90.mpich is not installed")
            return
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "large.f90")
            source.write_text("""
                program large
                  use mpi_f08
                  real(8) :: x(10)
                  integer(MPI_COUNT_KIND) :: n = 10
                  call MPI_Init()
                  call MPI_Send(x, n, MPI_REAL8, 0, 1, MPI_COMM_WORLD)
                  call MPI_Bcast(x, n, MPI_REAL8, 0, MPI_COMM_WORLD)
                  call MPI_Finalize()
                end program""")
            subprocess.run(["mpif90.mpich", source, "-o", f"{folder}/large"], check=True)
            said = {use["name"]: use["coverage"] for use in check(f"{folder}/large")["functions"]}
            self.assertEqual(said, {name: "decoded" for name in ("MPI_Init", "MPI_Send_c", "MPI_Bcast_c",
                                                                 "MPI_Finalize")})

    def test_run(self):
        for (mpi, name), program in PROGRAMS.items():
            if shutil.which(f"mpirun.{mpi}") is None:
                print(f"skipped: mpirun.{mpi} is not installed")
                continue
            with self.subTest(mpi=mpi, name=name), tempfile.TemporaryDirectory() as folder:
                subprocess.run([WEFT, "trace", "--force", "-o", folder, "--", f"mpirun.{mpi}", "-n", "4", program],
                               capture_output=True, check=True, timeout=100)
                info = json.loads(subprocess.run([WEFT, "trace", "info", folder, "--json"], capture_output=True,
                                                 text=True, check=True).stdout)
                said = {use["name"]: use["coverage"] for use in check(program)["functions"]}
                for use in info["functions"]:
                    # A record has the same name for a call with large counts (MPI_Send_c); Fortran's bindings make calls
                    # of their own.
                    names = [use["name"], use["name"] + "_c"]
                    coverage = {said[n] for n in names if n in said}
                    if name == "calls":
                        self.assertEqual(coverage, {use["coverage"]}, use["name"])
                    elif coverage:
                        self.assertEqual(coverage, {use["coverage"]}, use["name"])
                traced = {use["name"] for use in info["functions"]}
                called = {n.removesuffix("_c") for n, coverage in said.items() if coverage != "counted"}
                # Those that a run of the program does not come to.
                self.assertLessEqual(called - traced, {"MPI_Abort", "MPI_Init_thread", "MPI_Init"})

    def test_text(self):
        program = PROGRAMS["openmpi", "calls"]
        text = subprocess.run([WEFT, "trace", "--check", program], capture_output=True, text=True, check=True).stdout
        head, *parts = text.split("\n\n")
        self.assertIn("MPI functions of Open MPI", head)
        self.assertEqual([part.split()[0] for part in parts], ["decoded", "timed", "counted"])
        listed = {line.strip() for part in parts for line in part.splitlines()[1:]}
        self.assertEqual({n.lower() for n in listed}, wanted(program))


if __name__ == "__main__":
    unittest.main()

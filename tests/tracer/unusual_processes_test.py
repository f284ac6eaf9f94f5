"""What programs/unusual.c does must come out the same with the tracer as without: status, output and files."""

import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

WEFT = str(Path(sys.argv.pop(1)).resolve())
SANITIZED, PROGRAMS = ({name: str(Path(sys.argv.pop(1)).resolve()) for name in ("openmpi", "mpich")} for _ in range(2))
TRACER = Path(WEFT).parent.parent.parent / "tracer"
LIBRARIES = [*TRACER.glob("*/libweft_trace_*.so")]
KINDS = ("close_then_open open_over daemon error_file small_stacks alternate_stack no_more_files few_descriptors "
         "short_files little_memory children other_user other_folder removed_folder errno libraries closed_before closed_stdio "
         "exec_before exec_after status").split()
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1"}

Result = collections.namedtuple("Result", "status output errors files")


def words(text):
    """What the program says, of whatever rank; not what MPI libraries and the tracer say."""
    return sorted(re.findall("<.*?>", text))


def content(path):
    """Two ranks write to one file where they have no standard streams: in any order."""
    return sorted(path.read_bytes()) if path.name.startswith("stdio.") else path.read_bytes()


def run(command, folder):
    done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=120)
    files = {path.name: content(path) for path in sorted(folder.rglob("*")) if path.is_file()}
    return Result(done.returncode, words(done.stdout), words(done.stderr), files), done.stderr


class UnusualProcesses(unittest.TestCase):
    def installed(self):
        for mpi in PROGRAMS:
            if shutil.which(f"mpirun.{mpi}") is None:
                print(f"skipped: mpirun.{mpi} is not installed")
                continue
            yield mpi

    def compare(self, mpi, kind, program=None, threads=(), partial=False):
        with tempfile.TemporaryDirectory() as name:
            plain, traced, traces = (Path(name) / part for part in ("plain", "traced", "traces"))
            plain.mkdir(), traced.mkdir()
            os.chmod(name, 0o755)
            ranks = "1" if partial else "2"
            command = [f"mpirun.{mpi}", "-n", ranks, program or PROGRAMS[mpi], kind, *threads]
            expected, _ = run(command, plain)
            done, said = run([WEFT, "trace", "-o", str(traces), "--", *command], traced)
            if expected.status != 0:
                # When one rank ends so, mpirun may end the other before it has spoken.
                done, expected = (one._replace(output=sorted(set(one.output))) for one in (done, expected))
            if partial:
                # MPICH's mpirun tells now the program's 7 and now 1, traced or not.
                possible = (7, 1) if mpi == "mpich" else (7,)
                self.assertIn(expected.status, possible)
                self.assertIn(done.status, possible)
                done = done._replace(status=expected.status)
            self.assertEqual(done, expected, said)
            if partial:
                imported, errors = run([WEFT, "import", "mpi", str(traces), "--partial", "-o", f"{name}/part.goal"], traced)
                self.assertEqual(imported.status, 0, errors)
                self.assertGreater(Path(name, "part.goal").read_text().count("send 4b"), 1000)
            return said, traces.exists() and len(list(traces.glob("*.wtrc")))

    def test_all(self):
        for mpi in self.installed():
            for kind in KINDS:
                with self.subTest(mpi=mpi, kind=kind):
                    said, traces = self.compare(mpi, kind)
                    if kind == "removed_folder":
                        self.assertIn("was removed while the command ran", said)
                        self.assertFalse(traces)
                    elif kind != "closed_stdio":
                        self.assertEqual(traces, 2, said)
                    if kind == "short_files":
                        self.assertIn("ends here: write: File too large", said)

    def test_ended_by_signal_handlers(self):
        """The handler interrupts the tracer at its work: the process ends as untraced, and the file up to there is whole."""
        for mpi in self.installed():
            for kind in ("abort_in_handler", "exit_in_handler"):
                for threads in ([], ["multiple"]):
                    with self.subTest(mpi=mpi, kind=kind, threads=threads):
                        _, traces = self.compare(mpi, kind, threads=threads, partial=True)
                        self.assertEqual(traces, 1)

    def test_sanitized(self):
        """It ends at once with another library before its own, but where that was foreseen; the user's options stay."""
        for mpi in self.installed():
            for options in ("detect_leaks=0", "exitcode=9:detect_leaks=0:"):
                with self.subTest(mpi=mpi, options=options), unittest.mock.patch.dict(ENVIRONMENT, ASAN_OPTIONS=options):
                    said, traces = self.compare(mpi, "status", SANITIZED[mpi])
                    self.assertEqual(traces, 2, said)

    def test_thread_local_storage(self):
        """What every thread of a traced program has less of its stack."""
        for library in LIBRARIES:
            headers = subprocess.run(["readelf", "-lW", library], capture_output=True, text=True, check=True).stdout
            sizes = [int(line.split()[5], 16) for line in headers.splitlines() if line.split()[:1] == ["TLS"]]
            self.assertLessEqual(sum(sizes), 512, library)

    def test_path_with_a_blank(self):
        with tempfile.TemporaryDirectory(prefix="a blank ") as folder:
            for library in LIBRARIES:
                shutil.copy(library, folder)
            done = subprocess.run([WEFT, "trace", "-o", f"{folder}/traces", "--", "true"], capture_output=True,
                                  text=True, env={**ENVIRONMENT, "WEFT_TRACER_DIR": folder})
            self.assertEqual(done.returncode, 2)
            self.assertIn("as LD_PRELOAD ends a name at a blank or colon", done.stderr)
            self.assertFalse(Path(folder, "traces").exists())


if __name__ == "__main__":
    unittest.main()

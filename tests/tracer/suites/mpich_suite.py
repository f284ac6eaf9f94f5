#!/usr/bin/env python3
"""Runs MPICH's own test programs as they are and under `weft trace`, and tells where the two differ.

    tests/tracer/suites/mpich_suite.py MPICH_SOURCES OUT [FOLDER/TEST …]

See README.md beside it. Python 3 only; MPI is what mpicc.mpich and mpirun.mpich are."""
import shutil
import subprocess
import sys
from pathlib import Path

WEFT = Path(__file__).resolve().parents[3] / "bazel-bin/tools/weft/weft"
FOLDERS = ("attr comm pt2pt coll datatype errhan group info init rma session part spawn topo "
           "threads/pt2pt threads/comm threads/init threads/rma").split()
MOST_RANKS = 2
DEFINES = """MPI_SPAWN MPI_WIN_CREATE LONG_DOUBLE LONG_LONG LONG_LONG_INT UNISTD_H STRING_H STDLIB_H SYS_TIME_H
SYS_RESOURCE_H GETRUSAGE STDARG_H STDINT_H INTTYPES_H USLEEP PTHREAD_H BARRIER_SUPPORT""".split()
# What its configure would write, for POSIX threads.
CONFIGURATION = "\n".join([f"#define HAVE_{name} 1" for name in DEFINES] + [
    "#define THREAD_PACKAGE_NAME THREAD_PACKAGE_POSIX", "#define THREAD_PACKAGE_INVALID 0", "#define THREAD_PACKAGE_NONE 0",
    "#define THREAD_PACKAGE_POSIX 1", "#define THREAD_PACKAGE_PTHREADS 1", "#define THREAD_PACKAGE_SOLARIS 2",
    "#define THREAD_PACKAGE_WIN 3", "#define THREAD_PACKAGE_ABT 4", "#define THREAD_PACKAGE_ARGOBOTS 4", "#define THREAD_PACKAGE_QTHREADS 5",
    "#define MTEST_HAVE_MIN_MPI_VERSION(a, b) (MPI_VERSION > a || (MPI_VERSION == a && MPI_SUBVERSION >= b))", ""])


def run(command, seconds, folder):
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, timeout=seconds, cwd=folder)
        return done.returncode, (done.stdout + done.stderr).decode(errors="replace")
    except subprocess.TimeoutExpired:
        return "time", ""


class Suite:
    def __init__(self, sources, out):
        self.tests, self.out = (sources / "test/mpi").resolve(), out.resolve()
        (self.out / "include").mkdir(parents=True, exist_ok=True)
        (self.out / "include/mpitestconf.h").write_text(CONFIGURATION)
        (self.out / "include/mtest_mpix.h").write_text("")
        self.include = [f"-I{self.out}/include", f"-I{self.tests}/include"]
        for name in ("mtest", "mtest_common", "mtest_single", "mtest_thread"):
            code, said = run(["mpicc.mpich", "-w", *self.include, "-c", self.tests / f"util/{name}.c", "-o", self.out / f"{name}.o"], 60, self.out)
            assert code == 0, said

    def listed(self, folder):
        """Name, ranks and arguments of each program, once."""
        found = {}
        lists = [self.tests / folder / name for name in ("testlist.in", "testlist")]
        for line in "".join(path.read_text() for path in lists if path.exists()).splitlines():
            words = line.split("#")[0].split()
            if len(words) > 1 and words[1].isdigit() and "@" not in line and (self.tests / folder / f"{words[0]}.c").exists():
                arguments = [word[4:] for word in words if word.startswith("arg=")]
                found.setdefault(words[0], (min(int(words[1]), MOST_RANKS), arguments))
        return found.items()

    def outcome(self, folder, name, ranks, arguments):
        program = self.out / f"{folder.replace('/', '_')}_{name}"
        package = "thread" if folder.startswith("threads") or folder == "part" else "single"
        objects = [self.out / f"{part}.o" for part in ("mtest", "mtest_common", f"mtest_{package}")]
        code, _ = run(["mpicc.mpich", "-w", *self.include, self.tests / folder / f"{name}.c", *objects, "-o", program, "-lpthread", "-lm"], 60, self.out)
        if code != 0:
            return "not built", ""
        command = ["mpirun.mpich", "-n", ranks, program, *arguments]
        code, _ = run(command, 20, self.out)
        if code != 0:
            return "fails untraced", ""
        trace, graph = self.out / "trace", self.out / "app.weft"
        shutil.rmtree(trace, ignore_errors=True)
        for step in (["trace", "-o", trace, "--", *command], ["import", "mpi", trace, "-o", graph], ["goal", "check", graph],
                     ["sim", "-q", "--goal", graph, "--network", "loggops:L=2000,o=1500,g=10,G=0.08"]):
            code, said = run([WEFT, *step], 60, self.out)
            if code != 0:
                return f"DIFFERS at {step[0]}: {code}", said[-300:]
        return "as untraced", ""


def main():
    suite, only, counts = Suite(Path(sys.argv[1]), Path(sys.argv[2])), sys.argv[3:], {}
    for folder in FOLDERS:
        for name, (ranks, arguments) in suite.listed(folder):
            if only and f"{folder}/{name}" not in only:
                continue
            outcome, said = suite.outcome(folder, name, ranks, arguments)
            counts[outcome] = counts.get(outcome, 0) + 1
            if outcome != "as untraced":
                print(f"{folder}/{name}: {outcome} {said}", flush=True)
    for outcome, count in sorted(counts.items()):
        print(f"{count:4} {outcome}")


main()

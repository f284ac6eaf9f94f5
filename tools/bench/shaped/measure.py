#!/usr/bin/env python3
"""Times programs on a real network of four hosts, and traces them. Needs root; see README.md.

measure.py OUT [CASE ...]   all cases, or those whose name begins so, into OUT/measured.csv and OUT/NAME.weft
"""

import csv
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
WEFT = ROOT / "bazel-bin/tools/weft/weft"
TRACER = ROOT / "bazel-bin/tracer/mpi/libweft_trace_mpi.so"
REPETITIONS = 7

# Rate of the links, pattern, bytes of a message, messages or calls one after the other.
PATTERNS = [
    ("100mbit", "ping_pong", 1 << 20, 4),
    ("100mbit", "exchange", 1 << 20, 12),
    ("100mbit", "incast", 1 << 20, 4),
    ("100mbit", "incast", 1 << 15, 100),
    ("100mbit", "halo", 1 << 20, 4),
    ("100mbit", "alltoall", 1 << 20, 3),
    ("100mbit", "alltoall", 1 << 18, 12),
    ("100mbit", "allreduce", 1 << 23, 1),
    ("100mbit", "allreduce", 1 << 20, 6),
    ("100mbit", "bcast", 1 << 20, 4),
    ("100mbit", "allgather", 1 << 18, 12),
    ("100mbit", "fft", 1 << 20, 8),
    ("20mbit", "exchange", 1 << 20, 3),
    ("20mbit", "exchange", 1 << 16, 12),
    ("20mbit", "incast", 1 << 20, 1),
    ("20mbit", "halo", 1 << 20, 1),
    ("20mbit", "halo", 1 << 15, 20),
    ("20mbit", "alltoall", 1 << 18, 4),
    ("20mbit", "alltoall", 1 << 14, 20),
    ("20mbit", "allreduce", 1 << 20, 2),
    ("20mbit", "allreduce", 1 << 16, 8),
    ("20mbit", "allgather", 1 << 16, 8),
    ("20mbit", "fft", 1 << 18, 6),
    ("20mbit", "fft", 1 << 17, 12),
]
APPLICATIONS = [
    ("20mbit", "lammps", ["lmp", "-in", str(ROOT / "examples/quickstart/in.lj"), "-log", "none"]),
]


def check(arguments, **options):
    done = subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, arguments))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def on_hosts(program, trace=None):
    """Runs it with a rank on each host; its output."""
    variables = ["-x", f"LD_PRELOAD={TRACER}", "-x", f"WEFT_TRACE_DIR={trace}"] if trace else []
    # MPI's own choices, but for the network; ranks that wait give their core to the others.
    mpirun = ["mpirun.openmpi", "-n", "4", "-H", ",".join(f"10.77.0.{host}" for host in range(1, 5)),
              "--mca", "plm_rsh_agent", f"{HERE}/network start", "--mca", "plm_rsh_no_tree_spawn", "1",
              "--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "10.77.0.0/24",
              "--mca", "oob_tcp_if_include", "10.77.0.0/24", "--mca", "mpi_yield_when_idle", "1",
              "--bind-to", "none"] + variables + program
    environment = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return check([HERE / "network", "start", "10.77.0.1"] + [f"'{word}'" for word in mpirun], env=environment)


def traced(program, folder, file):
    """Traces it, and gives the seconds from MPI_Init to MPI_Finalize."""
    with tempfile.TemporaryDirectory() as trace:
        on_hosts(program, trace)
        check([WEFT, "import", "mpi", trace, "-o", folder / file])
    for line in check([WEFT, "goal", "info", folder / file]).splitlines():
        if line.startswith("traced_elapsed_ns"):
            return int(line.split()[1]) / 1e9
    sys.exit(f"{file}: no traced_elapsed_ns")


def measured(folder, only):
    with tempfile.TemporaryDirectory() as build:
        program = f"{build}/patterns"
        check(["mpicc.openmpi", "-O2", "-Wall", "-o", program, HERE / "patterns.c"])
        for rate in sorted({case[0] for case in PATTERNS + APPLICATIONS}):
            check([HERE / "network", "down"])
            check([HERE / "network", "up", rate])
            for _, pattern, size, times in (case for case in PATTERNS if case[0] == rate):
                name = f"{pattern}_{size}_{rate}"
                if not name.startswith(tuple(only)):
                    continue
                command = [program, pattern, str(size), str(times)]
                seconds = [float(line) for line in on_hosts(command + [str(REPETITIONS + 1)]).split()][1:]
                traced(command + ["1"], folder, f"{name}.weft")
                yield name, rate, seconds
            for _, application, command in (case for case in APPLICATIONS if case[0] == rate):
                name = f"{application}_{rate}"
                if not name.startswith(tuple(only)):
                    continue
                yield name, rate, [traced(command, folder, f"{name}.weft") for _ in range(3)]
            check([HERE / "network", "down"])


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "measured.csv", "a", newline="") as file:
        rows = csv.writer(file)
        if file.tell() == 0:
            rows.writerow(["name", "rate", "median_s", "least_s", "most_s", "runs"])
        for name, rate, seconds in measured(folder, sys.argv[2:] or [""]):
            row = [name, rate] + [f"{f(seconds):.4f}" for f in (statistics.median, min, max)] + [len(seconds)]
            rows.writerow(row)
            file.flush()
            print(*row, flush=True)


if __name__ == "__main__":
    main()

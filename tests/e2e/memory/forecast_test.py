"""What a run says beforehand that it will take of memory, against what it takes."""

import re
import resource
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WEFT = Path(sys.argv.pop(1)).resolve()

FACTOR = 1.5
RUNS = {
    "idle": ["--traffic", "permutation:size=4KB", "--topology", "fat_tree:k=32"],
    "default": ["--traffic", "permutation:size=1MB", "--topology", "fat_tree:k=20"],
    "hashed": ["--traffic", "permutation:size=1MB", "--topology", "fat_tree:k=20", "--fabric", "none", "--routing", "ecmp", "--congestion", "dctcp",
               "--queue", "ecn"],
    "lossless": ["--traffic", "permutation:size=1MB", "--topology", "fat_tree:k=20", "--fabric", "roce"],
    "partitions": ["--traffic", "permutation:size=1MB", "--topology", "fat_tree:k=16", "--set", "network.packet.partitions=8"],
    "ring": ["--traffic", "collective:kind=allreduce,size=1MB,algorithm=ring", "--topology", "fat_tree:k=12"],
    "doubling": ["--traffic", "collective:kind=allreduce,size=1MB,algorithm=recursive_doubling", "--topology", "fat_tree:k=16"],
    "linear": ["--traffic", "collective:kind=alltoall,size=4KB,algorithm=linear", "--topology", "fat_tree:k=12"],
    "pairwise": ["--traffic", "collective:kind=alltoall,size=4KB,algorithm=pairwise", "--topology", "fat_tree:k=12"],
    "flow_spray": ["--network", "flow", "--traffic", "alltoall:size=100KB", "--topology", "fat_tree:k=16", "--routing", "spray"],
    "flow_paths": ["--network", "flow", "--traffic", "alltoall:size=10KB,ranks=512", "--topology", "fat_tree:k=16", "--routing", "ecmp"],
    "flow_detours": ["--network", "flow", "--traffic", "alltoall:size=10KB,ranks=512", "--topology", "slim_fly:endpoints=1024"],
    "flow_pairwise": ["--network", "flow", "--traffic", "collective:kind=alltoall,size=4KB,algorithm=pairwise,ranks=512", "--topology", "fat_tree:k=16"],
    "flow_torus": ["--network", "flow", "--traffic", "alltoall:size=10KB,ranks=400", "--topology", "torus:dims=8x8x8"],
    "flow_without_rows": ["--network", "flow", "--traffic", "alltoall:size=4KB,ranks=400", "--topology", "fat_tree:k=12", "--set", "output.flows=false"],
    "loggops_linear": ["--network", "loggops", "--traffic", "alltoall:size=4KB,ranks=1000"],
    "loggops_without_rows": ["--network", "loggops", "--traffic", "alltoall:size=4KB,ranks=1000", "--set", "output.flows=false"],
    "loggops_ring": ["--network", "loggops", "--traffic", "collective:kind=allreduce,size=1MB,algorithm=ring,ranks=600"],
    "loggops_doubling": ["--network", "loggops", "--traffic", "collective:kind=allreduce,size=1MB,algorithm=recursive_doubling,ranks=32768"],
}
# One rank alone sends, so its 1,023 messages are not to be counted for each rank: not refused with 100 MB to take.
FITS = {
    "root": ["--traffic", "collective:kind=bcast,size=1MB,algorithm=linear", "--topology", "fat_tree:k=16"],
    "root_as_flows": ["--network", "flow", "--traffic", "collective:kind=bcast,size=1MB,algorithm=linear", "--topology", "fat_tree:k=16"],
    "root_with_loggops": ["--network", "loggops", "--traffic", "collective:kind=bcast,size=1MB,algorithm=linear,ranks=1024"],
}


def limited(arguments, folder, most):
    """The run, let have so many bytes."""
    return subprocess.run([WEFT, "sim", "-q", *arguments, "-o", folder], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (most, most)))


def told(arguments, folder):
    """The least and the most that may be meant by what a run says that is let have next to nothing, in bytes; it is refused then."""
    run = limited(arguments, folder, 32_000_000)
    figure = re.search(r"not enough memory for a run (?:on a packet network|at flow level|with LogGOPS) of .*: about ([\d.]+) (MB|GB), with", run.stderr)
    assert figure and run.returncode == 4, run.stderr
    unit = 1e6 if figure.group(2) == "MB" else 1e9
    value, half_of_last_digit = float(figure.group(1)), 0.5 * 10.0 ** -len(figure.group(1).partition(".")[2])
    return (value - half_of_last_digit) * unit, (value + half_of_last_digit) * unit


def taken(arguments, folder):
    """The most that a run has in memory, its results written, in bytes: the child's own."""
    code = ("import resource, subprocess, sys\nsubprocess.run(sys.argv[1:], check=True)\n"
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)")
    run = subprocess.run([sys.executable, "-c", code, WEFT, "sim", "-q", *arguments, "-o", folder], capture_output=True, text=True, check=True)
    return int(run.stdout)


class MemoryForecast(unittest.TestCase):
    def test_told_before_it_is_taken(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, arguments in RUNS.items():
                with self.subTest(run=name):
                    (low, high), most = told(arguments, folder), taken(arguments, folder)
                    print(f"{name}: {low / 1e6:.1f} to {high / 1e6:.1f} MB told, {most / 1e6:.0f} MB taken", flush=True)
                    self.assertLess(low, FACTOR * most)
                    self.assertLess(most, FACTOR * high)

    def test_what_fits_is_not_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, arguments in FITS.items():
                with self.subTest(run=name):
                    run = limited(arguments, folder, 100_000_000)
                    self.assertEqual(run.returncode, 0, run.stderr)


if __name__ == "__main__":
    unittest.main()

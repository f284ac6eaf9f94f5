"""Calls that reach MPI in odd ways (programs/odd_calls.c, own_layer.c): as many messages and bytes as the program sends."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WEFT = str(Path(sys.argv.pop(1)).resolve())
PROGRAMS = {(program, mpi): str(Path(sys.argv.pop(1)).resolve())
            for program in ("odd_calls", "own_layer", "mpip_layer") for mpi in ("openmpi", "mpich")}
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1"}
RANKS = 4
SMALL, HALF, LARGE = 1000, 500000, 1000000
# Sizes of the messages that each rank sends, beside one of SMALL.
EXPECTED = {
    "at_finalize": [LARGE],
    "at_last_call": [HALF],
    "at_run_time_code": [HALF],
    "at_copy_and_free": [HALF, LARGE],
    "at_error": [HALF],
    "at_reduction": [500],
    "at_wait": [HALF],
    "by_handle": [HALF, HALF, SMALL, SMALL],
    "get_status": [LARGE] * 5,
    "matched": [SMALL] * 4,
    "cancelled": [],
    "isendrecv": [LARGE, HALF, SMALL],
    "steps": [SMALL] * 80,
    "persistent": [],
    "wrong_arguments": [HALF],
    "at_late_destructor": [HALF, LARGE],
}


def weft(*arguments):
    done = subprocess.run([WEFT, *arguments], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


class OddCalls(unittest.TestCase):
    def trace(self, mpi, ranks, *command, sound="sound"):
        """What was said, and the imported graph's text."""
        with tempfile.TemporaryDirectory() as folder:
            said = weft("trace", "-o", f"{folder}/trace", "--", f"mpirun.{mpi}", "-n", str(ranks), *command)
            imported = weft("import", "mpi", f"{folder}/trace", "-o", f"{folder}/app.goal")
            self.assertIn(sound, weft("goal", "check", f"{folder}/app.goal"))
            graph = Path(folder, "app.goal").read_text()
            Path(folder, "idle.goal").write_text(re.sub(r"calc \d+", "calc 0", graph))
            self.latencies = [self.runtime_ns(f"{folder}/idle.goal", latency) for latency in (2000, 20000)]
            return said + imported, graph

    def runtime_ns(self, graph, latency):
        weft("sim", "-q", "--goal", graph, "--network", f"loggops:L={latency},o=0,g=0,G=0", "-o", f"{graph}.{latency}")
        return json.loads(Path(f"{graph}.{latency}", "summary.json").read_text())["makespan_ns"]

    def installed(self):
        for mpi in ("openmpi", "mpich"):
            if shutil.which(f"mpirun.{mpi}") is None:
                print(f"skipped: mpirun.{mpi} is not installed")
                continue
            yield mpi

    def test_messages(self):
        for mpi in self.installed():
            for kind, sizes in EXPECTED.items():
                if kind == "isendrecv" and mpi == "openmpi":
                    continue  # Open MPI 4.1 has none
                with self.subTest(mpi=mpi, kind=kind):
                    said, graph = self.trace(mpi, RANKS, PROGRAMS["odd_calls", mpi], kind)
                    self.assertEqual(said.count("done"), RANKS)
                    self.assertNotIn("outside", said)
                    self.assertNotIn("ranks_without_finalize", said)
                    for direction in ("send", "recv"):
                        found = sorted(int(bytes) for bytes in re.findall(direction + r" (\d+)b", graph))
                        self.assertEqual(found, sorted((sizes + [SMALL]) * RANKS), direction)

    def test_threads_one_after_another(self):
        """Each step waits for the one before it: without compute, latency is all, for each exchange of each."""
        for mpi in self.installed():
            with self.subTest(mpi):
                self.trace(mpi, 2, PROGRAMS["odd_calls", mpi], "steps")
                # One exchange more is before them.
                self.assertEqual(self.latencies, [81 * 2000, 81 * 20000])

    def test_threads_in_turn(self):
        """Two threads that hand each other the turn, each once at a time: an exchange follows the one before it."""
        for mpi in self.installed():
            with self.subTest(mpi):
                said, _ = self.trace(mpi, 2, PROGRAMS["odd_calls", mpi], "in_turn")
                self.assertEqual(said.count("done"), 2)
                self.assertEqual(self.latencies, [41 * 2000, 41 * 20000])

    def test_persistent_collectives(self):
        """They are matched as they were made, not as they were started."""
        for mpi in self.installed():
            with self.subTest(mpi):
                _, graph = self.trace(mpi, RANKS, PROGRAMS["odd_calls", mpi], "persistent")
                self.assertEqual(len(re.findall("bcast 3000b", graph)), 3 * RANKS)
                self.assertEqual(len(re.findall("allreduce 8b", graph)), 3 * RANKS)

    def test_truncated_messages(self):
        """What was sent came, whatever the receives said; where MPICH forgets its length it is the buffer's."""
        sent = [SMALL, 2000, 3000, 4000, 5000, 6000, 7000]
        for mpi in self.installed():
            with self.subTest(mpi):
                came = sent if mpi == "openmpi" else [SMALL, 10, 20, 30, 5000, 50, 7000]
                check = "sound" if mpi == "openmpi" else "short_receive: 8 in all"
                said, graph = self.trace(mpi, 2, PROGRAMS["odd_calls", mpi], "truncated", sound=check)
                self.assertEqual(said.count("done"), 2)
                for direction, sizes in (("send", sent), ("recv", came)):
                    found = sorted(int(bytes) for bytes in re.findall(direction + r" (\d+)b", graph))
                    self.assertEqual(found, sorted(sizes * 2), direction)
                    self.assertNotIn("any", graph)
                self.assertIn("truncated_messages: 10.", said)
                self.assertNotIn("not replayed", said)

    def test_neighbors_both_ways(self):
        """What goes up comes in from below, and both are the one other rank: each size meets its own."""
        for mpi in self.installed():
            with self.subTest(mpi):
                _, graph = self.trace(mpi, 2, PROGRAMS["odd_calls", mpi], "both_ways")
                sizes = r"neighbor_alltoall \[10 20 30 40\]b receives \[10 20 30 40\]b to \[(.*?)\] from \[(.*?)\]"
                self.assertEqual(re.findall(sizes, graph), [("1 1 0 0",) * 2] * 2 + [("0 0 1 1",) * 2] * 2)

    def test_communicators_made_in_any_order(self):
        """One by its group, the other by all: collectives of each meet their own."""
        for mpi in self.installed():
            with self.subTest(mpi):
                _, graph = self.trace(mpi, RANKS, PROGRAMS["odd_calls", mpi], "made_in_any_order")
                comms = {kind: set(re.findall(kind + r"b.* comm (\d+)", graph)) for kind in ("bcast 3000", "allreduce 8", "bcast 2000")}
                self.assertEqual([len(each) for each in comms.values()], [1, 1, 1])
                self.assertEqual(comms["allreduce 8"], comms["bcast 2000"])
                self.assertNotEqual(comms["allreduce 8"], comms["bcast 3000"])

    def test_libraries_that_pass_the_tracer(self):
        """What they send can't be had, and each rank's trace says whose it is; what else is sent is there."""
        for mpi in self.installed():
            library = f"libodd_calls_late_{mpi}.so"
            for kind in ("seen_late", "unseen_late", "unseen_lazily"):
                with self.subTest(mpi=mpi, kind=kind):
                    said, graph = self.trace(mpi, 2, PROGRAMS["odd_calls", mpi], kind)
                    self.assertEqual(said.count("done"), 2)
                    seen = kind == "seen_late"
                    self.assertEqual(sorted(re.findall(r"send (\d+)b", graph)), ["1000"] * 2 + ["500000"] * 2 * seen)
                    self.assertEqual(f"{library} calls MPI past the tracer" in said, not seen, said)
                    self.assertEqual("unseen_callers: 2." in said, not seen, said)

    def test_spawned_processes(self):
        """The first program's graph, in which rank 0 sends to rank 1 in the ring of all."""
        for mpi in self.installed():
            command = [PROGRAMS["odd_calls", mpi], "spawn"]
            if subprocess.run([f"mpirun.{mpi}", "-n", "2", *command], env=ENVIRONMENT, capture_output=True).returncode:
                print(f"skipped: {mpi} can't spawn processes here")
                continue
            with self.subTest(mpi):
                said, graph = self.trace(mpi, 2, *command)
                self.assertIn("spawned_ranks: 2.", said)
                self.assertIn("spawned   2 of these ranks", said)
                self.assertNotIn("not those of one run", said)
                self.assertIn("outside_world: 4.", said)
                self.assertEqual(sorted(re.findall(r"(send|recv) (\d+)b", graph)),
                                 sorted([("send", "1000"), ("recv", "1000")] * 2 +
                                        [("send", "500000"), ("recv", "500000")]))

    def test_polls_are_no_compute(self):
        """Who asks MPI_Request_get_status in vain waits: five times each here at least."""
        for mpi in self.installed():
            with self.subTest(mpi):
                said, _ = self.trace(mpi, RANKS, PROGRAMS["odd_calls", mpi], "get_status")
                polls = re.search(r"polls: (\d+)", said)
                self.assertGreaterEqual(int(polls.group(1)) if polls else 0, 5 * RANKS)

    def test_own_layer(self):
        for mpi in self.installed():
            for program in ("own_layer", "mpip_layer"):
                with self.subTest(mpi=mpi, program=program):
                    said, graph = self.trace(mpi, 2, PROGRAMS[program, mpi])
                    said = sorted(re.findall(r"sum \d+, sends \d+", said))
                    self.assertEqual(said, ["sum 2, sends 0", "sum 2, sends 10"])
                    # What goes over the network is what the layer makes of it.
                    self.assertEqual(re.findall(r"send 64b to 1 tag (\d+)", graph), [str(1000 + i) for i in range(10)])


if __name__ == "__main__":
    unittest.main()

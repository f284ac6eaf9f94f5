"""Traces in the form of liballprof, made up by this folder's own writer, imported and replayed."""

import random
import sys
import unittest
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]
from allprof_writer import BUFFER, BYTE, DOUBLE, INT, MPICH, OPEN_MPI, STATUS, Trace, write  # noqa: E402
from weft_command import ImportTest  # noqa: E402


class Liballprof(ImportTest):
    def exchange(self, library, name):
        """Every rank sends to three others, in one round after another, and waits for all at once."""
        draw = random.Random(7)
        traces = [Trace(r, 12, library) for r in range(12)]
        expected = Counter()
        for tag in range(20):
            shifts = draw.sample(range(1, 12), 3)
            count = draw.randint(1, 5000)
            for r, trace in enumerate(traces):
                for i, shift in enumerate(shifts):
                    trace.call("Irecv", BUFFER, count, DOUBLE, (r - shift) % 12, tag, trace.comm(), trace.request(i))
                for i, shift in enumerate(shifts):
                    trace.call("Isend", BUFFER, count, DOUBLE, (r + shift) % 12, tag, trace.comm(), trace.request(3 + i))
                    expected[r, (r + shift) % 12] += 8 * count
                trace.call("Waitall", 6, trace.request(0), STATUS)
        self.imported(write(self.folder, traces, name))
        self.assertEqual(self.sends(), expected)
        # A calc for each of the seven gaps a round, and one before MPI_Finalize.
        for lines in self.ranks():
            self.assertEqual(sum(int(line.split("calc ")[1]) for line in lines if "calc" in line), 10_000 * (7 * 20 + 1))
        summary = self.replayed()
        self.assertEqual((summary["messages"], summary["bytes"]), (12 * 3 * 20, sum(expected.values())))
        self.assertEqual(self.flows()[0], expected)

    def test_requests_of_open_mpi(self):
        self.exchange(OPEN_MPI, "trace{:02}.txt")

    def test_requests_of_mpich(self):
        self.exchange(MPICH, "lulesh-rank-{}-of-12.txt")

    def test_a_wait_waits_for_its_requests_only(self):
        traces = [Trace(r, 2) for r in range(2)]
        for r, trace in enumerate(traces):
            trace.call("Irecv", BUFFER, 4, INT, 1 - r, 5, trace.comm(), trace.request(0))
            trace.call("Isend", BUFFER, 4, INT, 1 - r, 5, trace.comm(), trace.request(7))
            trace.call("Wait", trace.request(0), STATUS)
            trace.call("Wait", trace.request(7), STATUS)
        self.imported(write(self.folder, traces))
        self.assertEqual("\n".join(self.ranks()[0]), """l1: calc 10000
l2: recv 16b from 1 tag 5
l2 requires l1
l3: calc 10000
l3 irequires l2
l4: send 16b to 1 tag 5
l4 requires l3
l5: calc 10000
l5 irequires l4
l6: calc 10000
l6 requires l2
l6 requires l5
l7: calc 10000
l7 requires l4
l7 requires l6""")

    def test_communicators_by_split_and_dup(self):
        """Rows and columns of a grid of 2 by 3, whose handles differ from rank to rank, and a duplicate."""
        traces = [Trace(r, 6) for r in range(6)]
        for r, trace in enumerate(traces):
            row, column = divmod(r, 3)
            at_row, at_column = trace.comm(5000 + r, column, 3), trace.comm(6000 + r, 1 - row, 2)
            trace.call("Comm_dup", trace.comm(), BUFFER)
            trace.call("Comm_split", trace.comm(), row, column, BUFFER)
            trace.call("Comm_split", trace.comm(), column, -row, BUFFER)
            trace.call("Bcast", BUFFER, 7, INT, 1, at_column)
            trace.call("Sendrecv", BUFFER, 3, BYTE, (column + 1) % 3, 0, BUFFER, 9, BYTE, (column + 2) % 3, 0, at_row, STATUS)
            trace.call("Allreduce", trace.library["in_place"], BUFFER, 2, DOUBLE, 3, trace.comm(7000 + r))
            trace.call("Comm_split_type", at_row, 1, 0, 0, BUFFER)
            trace.call("Barrier", trace.comm(8000 + r, 0, 2))
            trace.call("Allreduce", BUFFER, BUFFER, 1, DOUBLE, 3, trace.comm(9000 + r, 0, 1))  # alone
        said = self.imported(write(self.folder, traces))
        self.assertRegex(said, r"warning +not_replayed_mpi_barrier: 6\. .* 30000 ns")
        self.assertEqual(self.sends(), Counter({(r, r // 3 * 3 + (r + 1) % 3): 3 for r in range(6)}))
        text = self.text()
        for members in ("{ 0-2 }", "{ 3-5 }", "{ 3 0 }", "{ 4 1 }", "{ 5 2 }", "all"):
            self.assertIn(members, text)
        self.assertEqual(text.count(": bcast 28b root 1"), 6)
        self.assertEqual(text.count(": allreduce 16b elem 8 comm"), 6)
        self.replayed()

    def test_sizes_of_collectives(self):
        traces = [Trace(r, 3) for r in range(3)]
        chance = "77,5,9"  # MPI looks at these at the root only
        for r, trace in enumerate(traces):
            comm = trace.comm()
            trace.call("Gather", BUFFER, 3, INT, BUFFER, 3 if r == 1 else 12345, INT, 1, comm)
            trace.call("Gatherv", BUFFER, r + 1, INT, BUFFER, BUFFER, "1,2,3" if r == 2 else chance, BUFFER, "0,1,3", INT, 2, comm)
            trace.call("Scatter", BUFFER, 4 if r == 0 else 99, INT, BUFFER, 4, INT, 0, comm)
            trace.call("Allgather", trace.library["in_place"], 0, "0,0,0", BUFFER, 6, INT, comm)
            trace.call("Alltoallv", BUFFER, BUFFER, "1,2,3", BUFFER, DOUBLE, BUFFER, BUFFER, f"{r + 1},{r + 1},{r + 1}", BUFFER, DOUBLE, comm)
            trace.call("Reduce_scatter", BUFFER, BUFFER, BUFFER, "5,5,5", DOUBLE, 3, comm)
            trace.call("Iallreduce", BUFFER, BUFFER, 9, INT, 3, comm, trace.request(0))
            trace.call("Wait", trace.request(0), STATUS)
        self.imported(write(self.folder, traces))
        lines = [line.split(": ", 1)[1] for line in self.ranks()[1] if ": " in line and "calc" not in line]
        self.assertEqual(lines, ["gather 12b root 1", "gather 8b root 2 v", "scatter 16b root 0", "allgather 24b",
                                 "alltoall [8 16 24]b receives [16 16 16]b v", "reduce_scatter 40b elem 8 v", "allreduce 36b elem 4"])
        self.assertIn(": gather [4 8 12]b root 2", self.text())
        self.replayed()

    def test_what_the_trace_does_not_say_is_counted(self):
        traces = [Trace(r, 2) for r in range(2)]
        for r, trace in enumerate(traces):
            for _ in range(2):  # the request is used again, though only Testall has named it
                trace.call("Irecv" if r else "Isend", BUFFER, 8, BYTE, -1 if r else 1, 0, trace.comm(), trace.request(0))
                for _ in range(3):
                    trace.call("Testall", 1, trace.request(0), BUFFER, STATUS, compute=2)
            trace.call("Put", BUFFER, 1, BYTE, 0, 0, 1, BYTE, 3)
            trace.call("Comm_rank", trace.comm(), BUFFER)
        folder = write(self.folder, traces)
        with open(folder / "trace00.txt", "a") as file:
            file.write("MPI_Barr")
        said = self.imported(folder)
        for count in ("unknown_outcomes: 12", "implied_completions: 2", "not_replayed_mpi_put: 2", "local_calls: 2",
                      "unresolved_wildcards: 2", "cut_lines: 1", "polls: 12", "polling_ns: 16000"):
            self.assertIn(f" {count}.", said)
        self.assertEqual(self.sends(), Counter({(0, 1): 16}))
        self.replayed()

    def test_errors_say_where(self):
        path = write(self.folder, [Trace(0, 1)]) / "trace00.txt"
        good = path.read_text()
        for line, message in (
                ("hello", r":5:1: found 'hello'; expected a call, MPI_Name:BEGIN:arguments:END"),
                ("MPI_Send:1:2:3:13,1,1:0:0:9", r":5:1: found '.*'; expected MPI_Send with 6 arguments"),
                ("MPI_Send:1:2:x:13,1,1:0:0:5,0,1:9", r":5:14: found 'x'; expected a number"),
                ("MPI_Send:1:2:3:13:0:0:5,0,1:9", r":5:16: found '13'; expected a datatype.*liballprof 2"),
                ("MPI_Send:1:2:3:13,1,1:0:0:5,1,1:9", r":5:27: found '5,1,1'; expected a communicator"),
                ("MPI_Send:1:2:3:13,1,1:4:0:5,0,1:9", r":5: MPI_Send: rank 4 of a communicator of 1 ranks"),
                ("MPI_Send:now:2:3:13,1,1:0:0:5,0,1:9", r":5:10: found 'now'; expected a time")):
            path.write_text(good.replace("# Final", line + "\n# Final"))
            self.assertRegex(self.refused(self.folder), r"trace00\.txt" + message)
        path.write_text(good)
        (self.folder / "trace02.txt").write_text(good)
        self.assertIn("the file of rank 1 is missing", self.refused(path))


if __name__ == "__main__":
    unittest.main()

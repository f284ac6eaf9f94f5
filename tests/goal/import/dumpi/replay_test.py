"""DUMPI traces, imported and replayed: a real one, and made-up ones of this folder's own writer."""

import struct
import sys
import unittest
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]
from dumpi_writer import (BYTE, DOUBLE, INT, WORLD, Trace, array, statuses, text, u16, u32, u8, write)  # noqa: E402
from small_program import write_program  # noqa: E402
from weft_command import ImportTest  # noqa: E402

DATA = Path(sys.argv.pop(1)).resolve().parent


def begun():
    trace = Trace()
    trace.call("Init", array(["./a"], text))
    return trace


def message(count, datatype, peer, tag, comm=WORLD):
    return u32(count) + u16(datatype) + u32(peer) + u32(tag) + u16(comm)


class RealTrace(ImportTest):
    def test_a_ring_of_four(self):
        said = self.imported(DATA / "testtrace.meta")
        self.assertIn("4 ranks", said)
        self.assertNotIn("warning", said)
        self.assertEqual(self.sends(), Counter({(r, (r + 1) % 4): 4 for r in range(4)}))
        for rank, lines in enumerate(self.ranks()):
            words = [line.split(": ", 1)[1] for line in lines if ": " in line and "calc" not in line]
            self.assertEqual(words, ["barrier", f"send 4b to {(rank + 1) % 4} tag 1337",
                                     f"recv 4b from {(rank + 3) % 4} tag 1337", "allreduce 4b elem 4"])
            # All time between calls that are replayed is compute, and nothing else.
            self.assertEqual(sum(int(line.split("calc ")[1].split()[0]) for line in lines if "calc" in line),
                             self.compute(rank))
        self.replayed()

    def compute(self, rank):
        """From the wall times of the file: the gaps before Barrier, Isend, Recv, Wait, Allreduce and Finalize."""
        data = (DATA / f"testtrace-{rank:04}.bin").read_bytes()
        sizes = {124: 13, 82: 6, 81: 6, 52: 2, 8: 20, 1: 20, 13: 22, 65: 9, 125: 0}
        at, last, total = 16, None, 0
        while True:
            number, = struct.unpack_from(">H", data, at)
            if number == 293:
                return total
            s1, n1, s2, n2 = struct.unpack_from(">HIHI", data, at + 2 + 1 + 2 + 12)
            start, stop = s1 * 10**9 + n1, s2 * 10**9 + n2
            if number not in (81, 82):  # Comm_rank and Comm_size count as compute
                total += start - last if last is not None else 0
                last = stop
            at += 17 + 12 + sizes[number]

    def test_a_file_that_was_cut(self):
        for path in DATA.glob("testtrace*"):
            (self.folder / path.name).write_bytes(path.read_bytes())
        cut = self.folder / "testtrace-0002.bin"
        cut.write_bytes(cut.read_bytes()[:-100])
        self.assertRegex(self.refused(self.folder), r"testtrace-0002\.bin: byte 2860: the index at the end is missing")
        cut.unlink()
        self.assertRegex(self.refused(self.folder), r"the file of rank 2 of 4 is missing: testtrace-0002\.bin")


class Text(ImportTest):
    """What dumpi2ascii prints of a trace is the same program as the trace."""

    def graph_of(self, path, *options):
        said = self.imported(path, *options)
        return said, [line for line in self.text().splitlines() if not line.startswith("//")]

    def test_the_real_trace(self):
        _, binary = self.graph_of(DATA / "testtrace.meta")
        said, text = self.graph_of(DATA / "text")
        self.assertEqual(text, binary)
        self.assertNotIn("warning", said)
        self.assertEqual(self.graph_of(DATA / "text/testtrace-0002.txt")[1], binary)
        self.replayed()

    def test_requests_communicators_and_types(self):
        write_program(self.folder)
        said_of_binary, binary = self.graph_of(self.folder)
        said, text = self.graph_of(DATA / "made_up")
        self.assertEqual(text, binary)
        for words in ("not_replayed_mpi_put: 4", "communicator_creations"):
            self.assertIn(words, said)
            self.assertIn(words, said_of_binary)
        self.replayed()
        # The stream alone lacks the sizes of datatypes.
        for path in (DATA / "made_up").iterdir():
            lines = [line for line in path.read_text().splitlines(True) if not line.startswith("Datatype ")]
            (self.folder / path.name).write_text("".join(lines))
        for path in self.folder.glob("*.bin"):
            path.unlink()
        said, bare = self.graph_of(self.folder)
        self.assertEqual(bare, binary)
        self.assertRegex(said, r"warning +assumed_sizes: 4\.")

    def test_what_makes_no_sense(self):
        text = (DATA / "text/testtrace-0000.txt").read_text()
        path = self.folder / "one-0.txt"
        for old, new, expected in (
                ("int dest=1\n", "int dest=x\n", r"one-0\.txt:26:10: found 'x'; expected a number"),
                ("MPI_Request request=[2]\n", "MPI_Request request=[2\n", r"expected a number of the array, or its end"),
                ("{bytes=", "{octets=", r"one-0\.txt:\d+:20: found '\{octets=.*expected '\{bytes='"),
                ("MPI_Barrier ", "MPI_Barriere ", r"found 'MPI_Barriere .*expected the name of a function"),
                ("has size 4", "has none", r"expected 'has size'")):
            path.write_text(text.replace(old, new))
            self.assertRegex(self.refused("dumpi", path), expected)
        path.write_text(text[:text.index("MPI_Wait returning")])
        self.assertRegex(self.refused("dumpi", path), r"expected 'MPI_Wait returning'; the text was cut")

    def refused(self, *words):
        return self.weft("import", *words, "-o", "x.weft", status=2)


class WrittenTrace(ImportTest):
    def written(self, ranks, calls):
        traces = [begun() for _ in range(ranks)]
        for rank, trace in enumerate(traces):
            calls(rank, trace)
            trace.call("Finalize")
        return write(self.folder, traces)

    def test_requests_wildcards_and_types(self):
        def calls(rank, trace):
            trace.call("Type_contiguous", u32(5) + u16(DOUBLE) + u16(28))
            if rank == 0:
                for request, peer in ((2, 1), (3, 2), (4, 1)):
                    trace.call("Isend", message(10 * request, 28, peer, 7) + u32(request))
                trace.call("Waitsome", u32(3) + array([2, 3, 4]) + u32(2) + array([2, 0]) + statuses())
                trace.call("Wait", u32(3) + statuses((0x5FC005F8, 9, 9)))  # chance: a send has no status
            elif rank == 1:
                trace.call("Irecv", message(100, 28, -1, -1) + u32(2))
                trace.call("Irecv", message(100, 28, -1, -1) + u32(3))
                trace.call("Waitany", u32(2) + array([2, 3]) + u32(1) + statuses((1600, 0, 7)))
                trace.call("Waitall", u32(2) + array([2, 1]) + statuses((800, 0, 7), (0, 0, 0)))
            else:
                trace.call("Recv", message(1000, BYTE, -1, 7) + statuses())
                trace.call("Recv", message(1, BYTE, -2, 7) + statuses((0, -2, -1)))  # MPI_PROC_NULL
        said = self.imported(self.written(3, calls))
        self.assertRegex(said, r"warning +unresolved_wildcards: 1\.")
        self.assertEqual(self.sends(), Counter({(0, 1): 40 * 60, (0, 2): 40 * 30}))
        ranks = self.ranks()
        self.assertIn("l2: recv 800b from 0 tag 7", ranks[1])
        self.assertIn("l4: recv 1600b from 0 tag 7", ranks[1])
        self.assertEqual(sum("recv" in line for line in ranks[2]), 1)
        self.replayed()

    def test_rows_columns_and_groups(self):
        """12 ranks as a grid of 3 by 4; rows by Cart_sub, columns by Comm_split, and a group of odd ranks."""
        def calls(rank, trace):
            row, column = divmod(rank, 4)
            trace.call("Cart_create", u16(WORLD) + u32(2) + array([3, 4]) + array([0, 0]) + u32(0) + u16(4))
            trace.call("Cart_sub", u32(2) + u16(4) + array([0, 1]) + u16(5))
            trace.call("Comm_split", u16(WORLD) + u32(column) + u32(-row) + u16(6))  # keys in descending order
            trace.call("Comm_group", u16(WORLD) + u16(3))
            odd = list(range(1, 12, 2))
            trace.call("Group_incl", u16(3) + u32(6) + array(odd) + u16(4))
            trace.call("Comm_create", u16(WORLD) + u16(4) + u16(7 if rank % 2 else 1))
            trace.call("Sendrecv", u32(3) + u16(INT) + u32((column + 1) % 4) + u32(0) + u32(3) + u16(INT) +
                       u32((column + 3) % 4) + u32(0) + u16(5) + statuses((12, (column + 3) % 4, 0)))
            trace.call("Bcast", u32(8) + u16(BYTE) + u32(0) + u16(6))
            trace.call("Gather", u32(2 - row) + u32(5) + u16(INT) + u32(1) + u16(6) +
                       (u32(5) + u16(INT) if 2 - row == 1 else b""))
            if rank % 2:
                trace.call("Allreduce", u32(1) + u16(DOUBLE) + u8(3) + u16(7))
            trace.call("Put", u32(1) + u16(BYTE) + u32(0) + u32(0) + u32(1) + u16(BYTE) + u16(1))
        said = self.imported(self.written(12, calls))
        self.assertRegex(said, r"info +communicator_creations: 48\.")
        self.assertRegex(said, r"warning +not_replayed_mpi_put: 12\. .* 12000 ns")
        expected = Counter({(r, r // 4 * 4 + (r + 1) % 4): 12 for r in range(12)})
        self.assertEqual(self.sends(), expected)
        text = self.text()
        for row in range(3):
            self.assertIn(f"{{ {4 * row}-{4 * row + 3} }}", text)
        for column in range(4):  # from the last row up
            self.assertIn(f"{{ {8 + column} {4 + column} {column} }}", text)
        self.assertIn("{ 1 3 5 7 9 11 }", text)
        for line in (": bcast 8b", ": gather 20b root 1", ": allreduce 8b elem 8"):
            self.assertIn(line, text)
        self.replayed()

    def test_what_makes_no_sense(self):
        trace = begun()
        trace.records.append(u16(290))
        self.assertRegex(self.refused(write(self.folder, [trace])), r"run-0000\.bin: byte \d+: found function 290")
        trace.records[-1] = u16(18) + u8(0x48) + u16(0) + bytes(12) + u32(9) + u32(1 << 30)
        self.assertRegex(self.refused(write(self.folder, [trace])), r"found an array of 1073741824, longer than the file")
        trace.records.pop()
        trace.call("Send", message(1, BYTE, 5, 0))
        self.assertRegex(self.refused(write(self.folder, [trace])), r"MPI_Send: rank 5 of a communicator of 1 ranks")


if __name__ == "__main__":
    unittest.main()

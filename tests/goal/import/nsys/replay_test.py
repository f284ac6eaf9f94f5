"""Reports in the documented tables of Nsight Systems, made up by this folder's own writer, imported and replayed."""

import sys
import unittest
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]
from report_writer import Report  # noqa: E402
from weft_command import ImportTest  # noqa: E402

WORLD, FIRST, SECOND = 0xABCDEF0123456789, 0x11, 0x22


class Nsys(ImportTest):
    def four_gpus(self):
        """Two nodes of two GPUs; ranks run against the order of files and pids. Pairs (0, 2) and (1, 3)."""
        for node in range(2):
            report = Report(self.folder / f"nsys_report_{node}.sqlite", texts_by_id=node == 1)
            for local in range(2):
                rank, pid = 3 - (2 * node + local), 500 + local
                pair, in_pair = (FIRST, SECOND)[rank % 2], rank // 2
                report.made(pid, WORLD, rank, 4)
                report.made(pid, pair, in_pair, 2)
                report.call(pid, 1000, "AllReduce", WORLD, "0x7f00", 4096, ", red_op 0")
                report.call(pid, 1200, "Broadcast", WORLD, "0x7f00", 80, ", root 2")
                report.range(pid, 1300, 1310, f"ncclGroupStart(), pid {pid}")
                report.call(pid, 1320, "Send", pair, "0x7e00", 1000 + rank, f", receiver_rank {1 - in_pair}", 1)
                report.call(pid, 1330, "Recv", pair, "0x7e00", 1000 + (rank + 2) % 4, f", sender_rank {1 - in_pair}", 1)
                report.range(pid, 1340, 1350, f"ncclGroupEnd(), pid {pid}")
                report.call(pid, 1400, "AllGather", pair, "0x7e00", 64)
                report.call(pid, 1500, "ReduceScatter", pair, "0x7e00", 32, ", red_op 0")
                report.range(pid, 0, 9, "forward")
                report.kernel(pid, 7, 2000, 6000, "gemm")
                for start, kind in ((10_000, "AllReduce"), (25_000, "Broadcast")):
                    report.kernel(pid, 20, start, start + 1000, kind)
                for start, kind in ((12_000, "SendRecv"), (14_000, "AllGather"), (18_000, "ReduceScatter")):
                    report.kernel(pid, 30, start, start + 500, kind)
                report.kernel(pid, 7, 27_000, 30_000, "gemm")
            report.close()

    def test_two_nodes(self):
        self.four_gpus()
        said = self.imported(self.folder)
        self.assertNotIn("warning", said)
        self.assertIn(" other_kernels: 8.", said)
        self.assertIn(" other_ranges: 4.", said)
        self.assertEqual(self.sends(), Counter({(r, (r + 2) % 4): 1000 + r for r in range(4)}))
        text = self.text()
        self.assertRegex(text, r'comm \d "0xabcdef0123456789" all')
        for members in ("{ 0 2 }", "{ 1 3 }"):
            self.assertIn(members, text)
        for lines in self.ranks():
            words = [line.split(": ", 1)[1] for line in lines if ": " in line]
            # The calls' own stream of kernels: gaps between them from the first call on; streams by handle.
            on = [[w for w in words if w.endswith(" cpu 1") == second and w.startswith("calc")] for second in (False, True)]
            self.assertEqual([w.split()[1] for w in on[0]], ["11000", "1500", "3500", "11500"])
            self.assertEqual([w.split()[1] for w in on[1]], ["9000", "14000", "4000"])
            for part in ("allreduce 4096b elem 4", "bcast 80b root 2", "allgather 64b", "reduce_scatter 32b elem 4"):
                self.assertTrue(any(w.startswith(part) for w in words), part)
        self.assertGreaterEqual(self.replayed()["makespan_ns"], 29_000)

    def test_what_is_not_read_is_told(self):
        report = Report(self.folder / "one.sqlite")
        report.made(5, WORLD, 0, 1)
        report.kernel(5, 20, 1000, 3000, "AllReduce")
        run = report.connection.execute
        run("CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, bytes INTEGER, copyKind INTEGER)")
        run("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1, 2, 4096, 1)")
        run("CREATE TABLE OSRT_API (start INTEGER, end INTEGER, nameId INTEGER)")
        run("INSERT INTO OSRT_API VALUES (1, 2, 3)")
        run("CREATE TABLE MPI_P2P_EVENTS (size INTEGER)")  # without rows
        report.close()
        said = self.imported(self.folder / "one.sqlite")
        self.assertIn("sizes, rates and times first: 1): CUPTI_ACTIVITY_KIND_MEMCPY.bytes (1), ", said)
        self.assertIn("CUPTI_ACTIVITY_KIND_KERNEL.shortName (1)", said)
        self.assertIn("OSRT_API (1)", said)
        self.assertNotIn("MPI_P2P_EVENTS", said)

    def one_call(self, size="4096", stream="0x7", rest="", type_size=4, start=1000):
        (self.folder / "call.sqlite").unlink(missing_ok=True)
        report = Report(self.folder / "call.sqlite")
        report.made(5, WORLD, 0, 1)
        report.call(5, 1000, "AllReduce", WORLD, stream, size, rest, type_size)
        report.kernel(5, 20, start, 3000, "AllReduce")
        report.close()
        return self.folder / "call.sqlite"

    def test_values_of_calls_are_whole_numbers(self):
        for wrong, words in (({"size": "4KiB"}, "no data_size of at most 1125899906842624"), ({"size": "4096.5"}, "no data_size"),
                             ({"stream": "seven"}, "no stream"), ({"type_size": "x"}, "no type_size of at most 1024"),
                             ({"type_size": 1025}, "no type_size of at most 1024"), ({"type_size": 0}, "has a type_size of 0")):
            said = self.refused(self.one_call(**wrong))
            self.assertIn(words, said)
            self.assertIn("call.sqlite: the NVTX range 'ncclAllReduce(): ", said)
        for stream in ("(nil)", "0x7", "12"):
            self.assertNotIn("warning", self.imported(self.one_call(stream=stream)))

    def test_words_of_calls_and_times_that_are_not_taken_are_told(self):
        said = self.imported(self.one_call(rest=", red_op 0, chunk_bytes 12"))
        self.assertIn("(sizes, rates and times first: 1): ncclAllReduce() chunk_bytes (1), ", said)
        self.assertIn("ncclAllReduce() red_op (1)", said)
        self.assertNotIn("broken_times", said)
        for start in (-5, 4000):
            self.assertIn(" broken_times: 1.", self.imported(self.one_call(start=start)))

    def test_plain_kernels_are_compute_and_counted(self):
        report = Report(self.folder / "one.sqlite")
        for pid in (5, 6):
            report.kernel(pid, 20, 1000, 3000, "AllReduce")
            report.kernel(pid, 7, 4000, 9000, "gemm")
        report.close()
        said = self.imported(self.folder / "one.sqlite")
        self.assertIn(" kernels_without_call: 2.", said)
        self.assertIn(" assumed_ranks: 2.", said)
        self.assertEqual(self.replayed()["makespan_ns"], 8000)

    def test_late_capture_and_marks(self):
        """No communicator was made while profiling; kernels don't fit; calls outside the marks don't count."""
        report = Report(self.folder / "late.sqlite")
        for pid in (5, 6):
            report.call(pid, 100, "AllReduce", WORLD, "(nil)", 8, ", red_op 0")
            report.range(pid, 1000, 1001, f"nsys profiling start, pid: {pid}")
            report.call(pid, 1500, "AllReduce", WORLD, "(nil)", 8, ", red_op 0")
            report.kernel(pid, 20, 1600, 1700, "Broadcast")
            report.range(pid, 2000, 2001, f"nsys profiling stopped, pid: {pid}")
            report.call(pid, 2100, "AllReduce", WORLD, "(nil)", 8, ", red_op 0")
        report.close()
        said = self.imported(self.folder / "late.sqlite")
        for count in ("inferred_communicators: 1", "calls_without_kernel: 2", "kernels_without_call: 2", "outside_marks: 4"):
            self.assertIn(f" {count}.", said)
        self.assertEqual([line for line in self.ranks()[0] if ": " in line],
                         ["l1: calc 500", "l2: allreduce 8b elem 4 comm 1", "l3: calc 400"])

    def test_reports_that_do_not_fit(self):
        self.four_gpus()
        (self.folder / "nsys_report_1.sqlite").rename(self.folder / "elsewhere")
        self.assertRegex(self.refused(self.folder / "nsys_report_0.sqlite"),
                         r"communicator 0x[0-9a-f]+ has \d ranks, but there are reports of \d of them")
        report = Report(self.folder / "uneven.sqlite")
        for pid in (5, 6):
            report.made(pid, WORLD, pid - 5, 2)
            for i in range(pid):
                report.call(pid, 100 * i, "AllReduce", WORLD, "0x1", 8)
        report.close()
        self.assertIn("rank 0 makes 5 collective calls, rank 1 makes 6", self.refused(self.folder / "uneven.sqlite"))
        damaged = self.folder / "damaged.sqlite"
        damaged.write_bytes((self.folder / "uneven.sqlite").read_bytes()[:5000])
        self.assertRegex(self.weft("import", "nsys", damaged, "-o", "x.weft", status=2),
                         r"damaged\.sqlite: can't read this as a report of Nsight Systems")

    def test_values_of_another_type_and_views(self):
        """What SQLite would take for 0 is refused, and a view that never ends isn't asked."""
        for table, column, value in (("NVTX_EVENTS", "start", "soon"), ("NVTX_EVENTS", "end", 1.5),
                                     ("CUPTI_ACTIVITY_KIND_KERNEL", "end", "soon"), ("CUPTI_ACTIVITY_KIND_KERNEL", "globalPid", b"\x01")):
            report = Report(self.folder / "odd.sqlite")
            report.call(5, 100, "AllReduce", WORLD, "0x1", 8)
            report.kernel(5, 20, 1000, 3000, "AllReduce")
            report.connection.execute(f"UPDATE {table} SET {column} = ?", (value,))
            report.close()
            said = self.weft("import", "nsys", self.folder / "odd.sqlite", "-o", "x.weft", status=2)
            self.assertIn("odd.sqlite: '", said)
            self.assertIn("where a whole number is expected", said)
            (self.folder / "odd.sqlite").unlink()
        report = Report(self.folder / "view.sqlite")
        report.connection.execute("DROP TABLE NVTX_EVENTS")
        report.connection.execute("CREATE VIEW NVTX_EVENTS AS WITH RECURSIVE n(start) AS (SELECT 1 UNION ALL SELECT start FROM n)"
                                  " SELECT start, start AS end, 'x' AS text FROM n")
        report.kernel(5, 20, 1000, 3000, "AllReduce")
        report.close()
        self.assertIn(" kernels_without_call: 1.", self.imported(self.folder / "view.sqlite"))


if __name__ == "__main__":
    unittest.main()

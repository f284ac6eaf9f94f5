"""The timeline of results.sqlite: against ranks.csv, flows.csv and summary.json of the same run, and what must hold of any timeline."""

import csv
import json
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from itertools import groupby
from pathlib import Path

WEFT = Path(sys.argv.pop(1)).resolve()

LOGGOPS = ["--network", "loggops:L=2000,o=1500,g=10,G=0.08,O=0.01"]
FREE = ["--network", "loggops:L=2000,o=0,g=10,G=0.08"]
PACKET = ["--network", "packet", "--topology", "fat_tree:k=4", "--queue", "ecn"]
FLOW = ["--network", "flow", "--topology", "fat_tree:k=4"]
WORK, OVERHEAD = {"compute"}, {"send", "receive"}


def weft(*arguments, cwd, status=0):
    run = subprocess.run([WEFT, *arguments], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert run.returncode == status, run.stderr
    return run


def ps(ns):
    return round(float(ns) * 1000)


class Run:
    def __init__(self, folder):
        self.summary = json.loads((folder / "summary.json").read_text())
        with (folder / "ranks.csv").open(newline="") as file:
            self.ranks = list(csv.DictReader(file))
        with (folder / "flows.csv").open(newline="") as file:
            self.flows = list(csv.DictReader(file))
        with sqlite3.connect(f"file:{folder}/results.sqlite?mode=ro", uri=True) as database:
            database.row_factory = sqlite3.Row
            self.tables = {name: [dict(row) for row in database.execute(f"SELECT * FROM {name} ORDER BY rowid")]
                           for name in ("timeline", "timeline_messages", "timeline_bins", "omitted", "jobs")}
            self.figures = dict(database.execute("SELECT key, value FROM run").fetchall())
        for row in self.tables["timeline"]:
            row["start"], row["end"] = ps(row["start_ns"]), ps(row["end_ns"])


class Timeline(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)
        weft("goal", "gen", "stencil:dims=[4,2],iterations=5,compute=20us", "--ranks", "8", "-o", "stencil.weft", cwd=cls.folder)
        rank = "rank {} {{\nl1: calc 1000 cpu 1\nl2: {} 300000b {} {} tag 7\nl3: {} 300000b {} {} tag 7 cpu 1\nl4: calc 500\n" \
               "l4 requires l2\nl5: allreduce 100000b\nl5 requires l3\n}}\n"
        (cls.folder / "large.goal").write_text("num_ranks 2\n" + rank.format(0, "send", "to", 1, "recv", "from", 1) +
                                               rank.format(1, "recv", "from", 0, "send", "to", 0))
        (cls.folder / "any.goal").write_text(
            "num_ranks 3\nrank 0 {\nl1: recv 10b from -1 tag 1\nl2: recv 10b from -1 tag -1\n}\n"
            "rank 1 {\nl1: calc 5000\nl2: send 10b to 0 tag 1\nl2 requires l1\n}\nrank 2 {\nl1: send 10b to 0 tag 1\n}\n")

    def run_both(self, arguments, name):
        """The run with its timeline, after a look that the same without it has the same digest."""
        for choice in ("on", "off"):
            weft("sim", "-q", *arguments, "--set", f"output.timeline={choice}", "-o", f"{name}_{choice}", cwd=self.folder)
        recorded, plain = (Run(self.folder / f"{name}_{choice}") for choice in ("on", "off"))
        self.assertEqual(recorded.summary["digest"], plain.summary["digest"])
        self.assertEqual(recorded.ranks, plain.ranks)
        self.assertEqual(plain.tables["timeline"], [])
        self.assertEqual(plain.figures["timeline.absent"], "not asked for")
        return recorded

    def check_tracks(self, run):
        for track, slices in groupby(run.tables["timeline"], key=lambda row: (row["job"], row["rank"], row["cpu"])):
            end = 0
            for row in slices:
                self.assertLessEqual(end, row["start"], (track, row))
                self.assertLessEqual(row["start"], row["end"], (track, row))
                end = row["end"]
        sums = Counter()
        for row in run.tables["timeline"]:
            kind = "compute_ns" if row["kind"] in WORK else "overhead_ns" if row["kind"] in OVERHEAD else "waiting_ns"
            sums[row["job"], row["rank"], kind] += row["end"] - row["start"]
        idle = Counter()  # a run of a job after the first waits for nobody before it starts
        for row in run.ranks:
            for kind in ("compute_ns", "overhead_ns", "waiting_ns"):
                self.assertEqual(sums[int(row["job"]), int(row["rank"]), kind], ps(row[kind]), (kind, row))
                idle[kind] += ps(row[kind])
        self.assertGreater(sum(idle.values()), 0)

    def check_messages(self, run):
        messages = run.tables["timeline_messages"]
        self.assertEqual(len(messages), run.summary["messages"])
        self.assertEqual([row["message"] for row in messages], list(range(len(messages))))
        self.assertEqual(sum(row["bytes"] for row in messages), run.summary["bytes"])
        of = {kind: {} for kind in ("send", "receive")}
        for row in run.tables["timeline"]:
            if row["kind"] in of:
                self.assertNotIn(row["message"], of[row["kind"]])
                of[row["kind"]][row["message"]] = row
        for row in messages:
            send, receive = of["send"][row["message"]], of["receive"][row["message"]]
            self.assertEqual((send["rank"], send["peer"], send["bytes"]), (row["source"], row["destination"], row["bytes"]))
            self.assertEqual((receive["rank"], receive["peer"], receive["bytes"]), (row["destination"], row["source"], row["bytes"]))
            self.assertEqual(send["collective"], receive["collective"])
            self.assertEqual(send["tag"], receive["tag"])
            self.assertLessEqual(send["end"], ps(row["sent_ns"]))
            self.assertLess(row["sent_ns"], row["arrived_ns"])
            self.assertGreaterEqual(receive["start"], ps(row["arrived_ns"]))
        for row in run.tables["timeline"]:
            if row["kind"] == "wait_network":
                self.assertIsNotNone(row["message"])
            if row["kind"] == "compute" and row["collective"] is None:
                self.assertIsNone(row["message"])

    def check_flows(self, run):
        """Of eager messages alone: each is one of the network's, from the moment it was handed over to its arrival."""
        rows = Counter((row["bytes"], ps(row["sent_ns"]), ps(row["arrived_ns"])) for row in run.tables["timeline_messages"])
        self.assertEqual(rows, Counter((int(row["bytes"]), ps(row["start_ns"]), ps(row["finish_ns"])) for row in run.flows))

    def check(self, arguments, name, eager=True):
        run = self.run_both(arguments, name)
        self.check_tracks(run)
        self.check_messages(run)
        if eager:
            self.check_flows(run)
        return run

    def test_messages_between_ranks(self):
        for number, network in enumerate((LOGGOPS, FREE, PACKET, FLOW)):
            with self.subTest(network=network):
                self.check(["--goal", "stencil.weft", *network], f"stencil{number}")

    def test_collectives(self):
        for number, network in enumerate((LOGGOPS, FREE, PACKET, FLOW)):
            with self.subTest(network=network):
                run = self.check(["--traffic", "collective:kind=allreduce,size=64KB,ranks=7", *network], f"allreduce{number}")
                self.assertEqual({row["collective"] for row in run.tables["timeline"] if row["kind"] == "send"}, {"allreduce"})

    def test_large_messages_wait_for_peer_and_network(self):
        for number, network in enumerate((LOGGOPS, FREE, PACKET, PACKET + ["--protocol", "openmpi_ucx"],
                                          PACKET + ["--protocol", "openmpi_tcp"], FLOW)):
            with self.subTest(network=network):
                run = self.check(["--goal", "large.goal", *network], f"large{number}", eager=False)
                self.assertIn("wait_peer", {row["kind"] for row in run.tables["timeline"]})
                self.assertEqual({row["cpu"] for row in run.tables["timeline"]}, {0, 1})

    def test_wildcards_know_their_message(self):
        run = self.check(["--goal", "any.goal", *LOGGOPS], "any")
        self.assertEqual([(row["rank"], row["peer"]) for row in run.tables["timeline"] if row["kind"] == "receive"], [(0, 2), (0, 1)])
        # Rank 2 is done with its send at 1,500.09 ns, which takes 2,000 ns and 9 bytes more; rank 1 sends 5,000 ns later.
        waits = [(row["kind"], row["peer"], row["end_ns"]) for row in run.tables["timeline"] if row["rank"] == 0 and "wait" in row["kind"]]
        self.assertEqual(waits, [("wait_peer", 2, 1500.09), ("wait_network", 2, 3500.81), ("wait_peer", 1, 6500.09), ("wait_network", 1, 8500.81)])

    def test_jobs_side_by_side_and_repeated(self):
        run = self.check(["--job", "stencil.weft,repeat=3", "--job", "traffic=[alltoall:size=20KB,ranks=5],at=30us", *PACKET], "jobs")
        self.assertEqual({row["job"] for row in run.tables["timeline_messages"]}, {0, 1})

    def test_too_many_slices_are_thinned_by_rank(self):
        weft("sim", "-q", "--traffic", "alltoall:size=1KB,ranks=400", *LOGGOPS, "-o", "thin", cwd=self.folder)
        run = Run(self.folder / "thin")
        omitted = {row["table_name"]: row for row in run.tables["omitted"]}
        self.assertEqual(omitted["timeline_messages"]["rows"], run.summary["messages"])
        self.assertEqual(omitted["timeline"]["kept"], len(run.tables["timeline"]))
        self.assertLessEqual(len(run.tables["timeline"]), 100_000)
        self.assertGreater(len(run.tables["timeline"]), 25_000)
        ranks = {row["rank"] for row in run.tables["timeline"]}
        self.assertEqual(ranks, set(range(0, 400, 400 // len(ranks))))
        # Of these ranks all is there, and the bins know of the others, too.
        kept = [row for row in run.ranks if int(row["rank"]) in ranks]
        of_kept = Counter(row["kind"] for row in run.tables["timeline"])
        self.assertEqual(of_kept["send"], sum(int(row["messages_sent"]) for row in kept))
        for column, kinds in {"overhead_ns": ("send_ns", "receive_ns"), "waiting_ns": ("wait_network_ns", "wait_peer_ns", "wait_other_ns")}.items():
            total = sum(ps(row[kind]) for row in run.tables["timeline_bins"] for kind in kinds)
            self.assertEqual(total, sum(ps(row[column]) for row in run.ranks), column)
        self.assertLessEqual(len(run.tables["timeline_bins"]), 64 * 128)

    def test_threads_and_partitions_change_nothing(self):
        """All rows of a run, in one partition or in several, with one thread or with two."""
        parts = ["--set", "network.packet.partitions={}", "--threads", "{}"]
        workloads = {"stencil": ["--goal", "stencil.weft"], "large": ["--goal", "large.goal", "--protocol", "openmpi_ucx"],
                     "thinned": ["--traffic", "alltoall:size=1KB,ranks=16,iterations=300", "--set", "output.timeline=auto"],
                     "collective": ["--traffic", "collective:kind=allreduce,size=64KB,ranks=7"]}
        for name, workload in workloads.items():
            runs = {}
            for partitions, threads in ((1, 1), (4, 1), (4, 2)):
                folder = f"{name}_{partitions}_{threads}"
                weft("sim", "-q", *workload, *PACKET, *(word.format(partitions if "part" in word else threads) for word in parts), "-o", folder,
                     cwd=self.folder)
                runs[partitions, threads] = Run(self.folder / folder)
            one = runs.pop((1, 1))
            self.assertGreater(len(one.tables["timeline"]), 0)
            self.assertEqual(bool(one.tables["omitted"]), name == "thinned")
            for key, run in runs.items():
                with self.subTest(workload=name, run=key):
                    self.assertEqual(run.summary["digest"], one.summary["digest"])
                    self.assertEqual(run.tables, one.tables)

    def test_what_is_not_recorded_says_why(self):
        reasons = {("--traffic", "stencil:dims=[4,2],iterations=8000,ranks=8"): "more than 200000 operations; output.timeline=on records it",
                   ("--goal", "stencil.weft", "--set", "output.timeline=off"): "not asked for"}
        for arguments, reason in reasons.items():
            weft("sim", "-q", *LOGGOPS, *arguments, "-o", "absent", cwd=self.folder)
            run = Run(self.folder / "absent")
            self.assertEqual((run.figures["timeline.absent"], run.tables["timeline"]), (reason, []))
        weft("sim", "-q", "--goal", "stencil.weft", "--network", "loggops:semantics=classic", "-o", "classic", cwd=self.folder)
        with sqlite3.connect(self.folder / "classic" / "results.sqlite") as database:
            self.assertEqual(database.execute("SELECT value FROM run WHERE key = 'timeline.absent'").fetchall(),
                             [("the network model does not tell",)])
        wrong = weft("sim", "-q", "--goal", "stencil.weft", *LOGGOPS, "--set", "output.timeline=perhaps", cwd=self.folder, status=2)
        self.assertIn("'perhaps' is none of auto, on, off", wrong.stderr)


if __name__ == "__main__":
    unittest.main()

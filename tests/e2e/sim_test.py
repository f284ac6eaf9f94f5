"""weft sim as people run it: progress line, Ctrl-C, limits, and a run repeated from its results."""

import csv
import json
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WEFT = str(Path(sys.argv.pop(1)).resolve())

# Far more work than the test waits for: 256 ranks, 3,000 alltoalls.
RANKS, ROUNDS = 256, 3000


def graph():
    body = "\n".join(f"a{i}: alltoall 64b" + (f"\na{i} requires a{i - 1}" if i else "") for i in range(ROUNDS))
    return f"num_ranks {RANKS}\n" + "".join(f"rank {r} {{\n{body}\n}}\n" for r in range(RANKS))


class Sim(unittest.TestCase):
    def test_progress_and_interrupt(self):
        try:
            terminal, slave = pty.openpty()
        except OSError as error:
            print(f"skipped: the progress line needs a terminal: {error}")
            return
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "long.goal").write_text(graph())
            run = subprocess.Popen([WEFT, "sim", "--goal", "long.goal", "--no-flows", "-o", "RUN"], cwd=folder,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=slave)
            os.close(slave)
            shown = b""
            while b"left" not in shown:
                shown += os.read(terminal, 4096)
            run.send_signal(signal.SIGINT)
            stdout = run.communicate()[0].decode()
            self.assertEqual(run.returncode, 130)
            # Share done, simulated time, rate and time left.
            self.assertRegex(shown.decode(), r"\d+\.\d%  simulated \d+\.\d+ ms  \d+\.\d+ million events/s  (\d+ s|\?) left")
            summary = json.loads((Path(folder) / "RUN/summary.json").read_text())
            self.assertEqual(summary["outcome"], "interrupted")
            self.assertLess(summary["executed_ops"], RANKS * ROUNDS)
            self.assertIn("interrupted", stdout)
            ranks = (Path(folder) / "RUN/ranks.csv").read_text().splitlines()
            self.assertEqual(len(ranks), RANKS + 1)

    def test_no_progress_line_without_a_terminal(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "short.goal").write_text("num_ranks 1\nrank 0 {\ncalc 5\n}\n")
            run = subprocess.run([WEFT, "sim", "--goal", "short.goal"], cwd=folder, stdin=subprocess.DEVNULL,
                                 capture_output=True, text=True)
            self.assertEqual((run.returncode, run.stderr), (0, ""))
            self.assertFalse(re.search("\r|\x1b", run.stdout))

    def test_routing_that_nobody_chose_is_named_with_its_reason(self):
        def routing(topology, *more):
            with tempfile.TemporaryDirectory() as folder:
                subprocess.run([WEFT, "sim", "-q", "--traffic", "ping_pong", "--topology", topology, "-o", "RUN", *more],
                               cwd=folder, stdin=subprocess.DEVNULL, check=True)
                summary = json.loads((Path(folder) / "RUN/summary.json").read_text())
                return summary["routing"].split(":")[0], summary.get("routing_reason", "")
        self.assertEqual(routing("dragonfly:p=2"), ("par", "of fabric lossless_hpc, recommended for dragonfly"))
        self.assertEqual(routing("dragonfly:p=2", "--routing", "ugal")[0], "ugal")
        self.assertNotIn("recommended", routing("dragonfly:p=2", "--routing", "ugal")[1])
        # The paths of dimension_order can't be told in nine dimensions: the run goes on with others, and says so.
        name, reason = routing("torus:dims=2x3x3x3x3x3x3x3x3", "--network", "flow")
        self.assertEqual(name, "ecmp")
        self.assertIn("dimension_order is of fabric lossless_hpc, recommended for torus, but: ", reason)

    def test_what_fluids_leave_out_of_a_fabric_is_told(self):
        for network, more, expected in (("flow", ["--fabric", "roce"], True), ("packet", ["--fabric", "roce"], False), ("flow", [], False),
                                        ("flow", ["--fabric", "none", "--routing", "ecmp"], False)):
            with tempfile.TemporaryDirectory() as folder:
                subprocess.run([WEFT, "sim", "-q", "--traffic", "shift:size=1KB,by=1", "--topology", "fat_tree:k=4", "--network", network,
                                "-o", "RUN", *more], cwd=folder, check=True)
                warnings = json.loads((Path(folder) / "RUN/summary.json").read_text())["warnings"]
                self.assertEqual(any("of fabric roce routing, headers and NICs count here" in text for text in warnings), expected)

    def test_detours_that_were_left_out_are_told(self):
        """A router's 8 hosts send to the next router's, over the one link between them: 8 MB at 400 Gb/s take 160 us or more, and by
        detours they need a quarter of it. On the larger network they aren't balanced unless asked for."""
        def took(topology, *more):
            with tempfile.TemporaryDirectory() as folder:
                subprocess.run([WEFT, "sim", "-q", "--traffic", "shift:size=1MB,by=8,ranks=16", "--topology", topology, "--network", "flow",
                                "-o", "RUN", *more], cwd=folder, check=True)
                summary = json.loads((Path(folder) / "RUN/summary.json").read_text())
                return summary["makespan_ns"] * 1e-3, any("messages take shortest ways alone, where par has detours" in w
                                                          for w in summary["warnings"])
        small, told = took("dragonfly:p=8,a=16,h=1")
        self.assertFalse(told)
        self.assertLess(small, 80)
        large, told = took("dragonfly:p=8,a=50,h=1")
        self.assertTrue(told)
        self.assertGreater(large, 160)

    def test_what_runs_warn_of_controls_is_so(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "late.cm").write_text("Nodes 3\nConnections 2\n0->2 id 1 start 0 size 40000000\n"
                                                  "1->2 id 2 start 1000000000 size 10000000\n")
            star = ["--topology", "single_switch:hosts=3,link=100Gbps", "--fabric", "none"]

            def run(control, *traffic):
                out = Path(folder) / f"{control} {traffic[-1]}"
                done = subprocess.run([WEFT, "sim", "--congestion", control, *star, *traffic, "-o", str(out)],
                                      cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                with (out / "flows.csv").open(newline="") as file:
                    flows = list(csv.DictReader(file))
                summary = json.loads((out / "summary.json").read_text())
                return summary["makespan_ns"], float(flows[-1]["finish_ns"]) - float(flows[-1]["start_ns"]), summary["warnings"]

            # Two flows of 4 MB together: 8 MB at 100 Gb/s, headers included, take 650 us.
            wire = 8e6 * (4096 + 64) / 4096 * 8 / 100
            both = ("--traffic", "incast:n=2,size=4MB,senders=first")
            took, _, warnings = run("timely", *both)
            self.assertGreater(took, 2 * wire)
            self.assertTrue(any("slow to come back" in each for each in warnings), warnings)
            self.assertLess(run("nscc", *both)[0], 1.1 * wire)
            # 10 MB that come 1 ms after 40 MB: with even shares they take twice the wire's 813 us.
            late = ("--queue", "droptail", "--traffic", "connections:file=late.cm")
            for control in ("cubic", "newreno"):
                _, took, warnings = run(control, *late)
                self.assertGreater(took, 4 * 813e3)
                self.assertTrue(any("unfair" in each for each in warnings), warnings)
                self.assertLess(run(control, "--traffic", "connections:file=late.cm", "--queue", "ecn")[1], 2.3 * 813e3)

    def test_fabrics_fill_paths_between_datacenters(self):
        # 1 GB in full packets with their headers at 400 Gb/s, and 1 ms there.
        for fabric, payload, header in (("falcon", 4096, 150), ("efa", 8192, 100), ("infiniband", 4096, 26)):
            with tempfile.TemporaryDirectory() as folder:
                done = subprocess.run([WEFT, "sim", "--fabric", fabric, "--traffic", "outcast:n=1,size=1GB", "--topology",
                                       "single_switch:hosts=2,link=400Gbps,latency=500us", "-o", "RUN"], cwd=folder,
                                      stdin=subprocess.DEVNULL, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                took = json.loads((Path(folder) / "RUN/summary.json").read_text())["makespan_ns"]
                self.assertAlmostEqual(took / 1e6, 20 * (payload + header) / payload + 1, delta=0.05, msg=fabric)

    def test_event_limit_ends_with_status_4(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "long.goal").write_text(graph())
            run = subprocess.run([WEFT, "sim", "--goal", "long.goal", "--set", "limits.events=100000", "-o", "RUN"],
                                 cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
            self.assertEqual(run.returncode, 4)
            summary = json.loads((Path(folder) / "RUN/summary.json").read_text())
            self.assertEqual(summary["outcome"], "event limit")
            self.assertEqual(summary["events"], 100000)

    def test_a_message_that_no_receive_takes_is_a_warning_where_all_else_was_done(self):
        def run(rank0, rank1, *settings):
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / "left.goal").write_text(
                    f"num_ranks 2\nrank 0 {{\n{rank0}\n}}\nrank 1 {{\n{rank1}\n}}\n")
                run = subprocess.run([WEFT, "sim", "--goal", "left.goal", *settings, "-o", "RUN"], cwd=folder,
                                     stdin=subprocess.DEVNULL, capture_output=True, text=True)
                return run, json.loads((Path(folder) / "RUN/summary.json").read_text())

        networks = [["--network", "loggops"], ["--network", "loggops:semantics=classic"],
                    ["--network", "flow", "--topology", "single_switch:hosts=2"],
                    ["--network", "packet", "--topology", "single_switch:hosts=2"]]
        for network in networks:
            with self.subTest(network=network):
                ended, summary = run("send 100b to 1 tag 8", "calc 5", *network)
                self.assertEqual((ended.returncode, summary["outcome"]), (0, "complete"), ended.stderr)
                told = [text for text in summary["warnings"] if "no receive took" in text]
                self.assertEqual(len(told), 1)
                self.assertIn("all operations were executed, but a message is left over: no receive took", told[0])
                self.assertIn("no receive took", ended.stdout)
        # Two are counted; a receive that waits, a rendezvous and a collective that lacks a member are no end.
        self.assertIn("but 2 messages are left over",
                      " ".join(run("send 8b to 1 tag 8\nsend 8b to 1 tag 9", "calc 5")[1]["warnings"]))
        for rank0, rank1 in [("send 100b to 1 tag 8", "recv 100b from 0 tag 7"),
                             ("send 100b to 1 tag 8 sync", "calc 5"),
                             ("bcast 100b root 0", "calc 5")]:
            ended, summary = run(rank0, rank1)
            self.assertEqual((ended.returncode, summary["outcome"]), (3, "incomplete"), (rank0, ended.stderr))

    def test_a_run_is_repeated_from_its_resolved_scenario(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "ring.goal").write_text(
                "num_ranks 16\n" + "".join(f"rank {r} {{\nallreduce 100000b\n}}\n" for r in range(16)))
            digests = []
            for arguments in (["--goal", "ring.goal", "--topology", "fat_tree:k=4", "--routing", "spray", "--seed", "7",
                               "--set", "collectives.allreduce=ring", "-o", "FIRST"],
                              ["FIRST/scenario.txtpb", "-o", "SECOND"]):
                subprocess.run([WEFT, "sim"] + arguments, cwd=folder, check=True, capture_output=True)
                digests.append(json.loads((Path(folder) / arguments[-1] / "summary.json").read_text())["digest"])
            self.assertEqual(digests[0], digests[1])
            subprocess.run([WEFT, "sim", "FIRST/scenario.txtpb", "-o", "THIRD", "--seed", "8"], cwd=folder, check=True,
                           capture_output=True)
            third = json.loads((Path(folder) / "THIRD/summary.json").read_text())["digest"]
            self.assertNotEqual(digests[0], third)

    def test_collective_algorithms_by_name_table_and_profile(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "reduce.goal").write_text(
                "num_ranks 8\n" + "".join(f"rank {r} {{\nallreduce 8000b elem 8\n}}\n" for r in range(8)))
            (Path(folder) / "asks.goal").write_text(
                "num_ranks 8\n" + "".join(f"rank {r} {{\nallreduce 8000b elem 8 by ring\n}}\n" for r in range(8)))
            (Path(folder) / "rules.txt").write_text("allreduce ranks=8 bytes<=8000 ring\n")

            def run(*settings, goal="reduce.goal"):
                arguments = [word for setting in settings for word in ("--set", "collectives." + setting)]
                subprocess.run([WEFT, "sim", "--goal", goal, "-o", "OUT"] + arguments, cwd=folder, check=True,
                               capture_output=True)
                first = json.loads((Path(folder) / "OUT/summary.json").read_text())["digest"]
                subprocess.run([WEFT, "sim", "OUT/scenario.txtpb", "-o", "AGAIN"], cwd=folder, check=True, capture_output=True)
                self.assertEqual(json.loads((Path(folder) / "AGAIN/summary.json").read_text())["digest"], first)
                return first

            named = {name: run("allreduce=" + name) for name in ("recursive_doubling", "ring", "rabenseifner")}
            self.assertEqual(len(set(named.values())), 3)
            # Open MPI changes to Rabenseifner's at 8192 bytes, MPICH at 9.
            self.assertEqual(run("profile=openmpi"), named["recursive_doubling"])
            self.assertEqual(run("profile=mpich"), named["rabenseifner"])
            self.assertEqual(run("profile=mpich", "table=rules.txt"), named["ring"])
            self.assertEqual(run("profile=mpich", "allreduce=ring"), named["ring"])
            # What the graph asks for comes before rules, and after what is named for the run.
            self.assertEqual(run(), named["rabenseifner"])
            self.assertEqual(run("profile=default"), named["recursive_doubling"])
            self.assertEqual(run(goal="asks.goal"), named["ring"])
            self.assertEqual(run("profile=mpich", goal="asks.goal"), named["ring"])
            self.assertEqual(run("allreduce=rabenseifner", goal="asks.goal"), named["rabenseifner"])
            wrong = subprocess.run([WEFT, "sim", "--goal", "reduce.goal", "--set", "collectives.table=reduce.goal"],
                                   cwd=folder, capture_output=True, text=True)
            self.assertEqual(wrong.returncode, 2)
            self.assertIn("reduce.goal:1:1: 'num_ranks' is not a kind of collective", wrong.stderr)


if __name__ == "__main__":
    unittest.main()

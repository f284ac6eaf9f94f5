"""The folder of a run as it stays behind when runs are killed, fail, meet each other, or are repeated from elsewhere."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

WEFT = str(Path(sys.argv.pop(1)).resolve())

# Far more work than any test waits for: 256 ranks, 3,000 alltoalls.
RANKS, ROUNDS = 256, 3000
SHORT = ["--traffic", "shift:size=10KB", "--topology", "single_switch:hosts=4"]


def long_graph():
    body = "\n".join(f"a{i}: alltoall 64b" + (f"\na{i} requires a{i - 1}" if i else "") for i in range(ROUNDS))
    return f"num_ranks {RANKS}\n" + "".join(f"rank {r} {{\n{body}\n}}\n" for r in range(RANKS))


def weft(*arguments, cwd, **how):
    return subprocess.run([WEFT, *arguments], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, **how)


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


def digest(folder):
    return json.loads((Path(folder) / "summary.json").read_text())["digest"]


class Folder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.run_folder = self.folder / "RUN"

    def finish(self, *arguments, status=0, cwd=None, **how):
        run = weft("sim", *arguments, cwd=cwd or self.folder, **how)
        self.assertEqual(run.returncode, status, run.stderr)
        return run

    def start_long(self, *arguments):
        """A run that would go on for long; it has begun when this returns."""
        (self.folder / "long.goal").write_text(long_graph())
        run = subprocess.Popen([WEFT, "sim", "--goal", "long.goal", "--no-flows", "-o", "RUN", *arguments], cwd=self.folder,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: (run.kill(), run.wait()))
        while not (self.run_folder / "INCOMPLETE").exists():
            self.assertIsNone(run.poll(), "it ended before it began")
            time.sleep(0.01)
        return run

    def test_very_many_messages_have_no_rows(self):
        (self.folder / "long.goal").write_text(long_graph())
        for events, has_rows in ((200_000, True), (10_000_100, False)):
            self.finish("--goal", "long.goal", "--network", "loggops", "--set", f"limits.events={events}", "--set", "output.timeline=off",
                        "--set", "collectives.alltoall=linear",
                        "--set", "output.sqlite=false", "-o", "RUN", status=4)
            with open(self.run_folder / "flows.csv", encoding="utf-8") as file:
                self.assertEqual(sum(1 for _ in file) > 1, has_rows)
            warnings = json.loads((self.run_folder / "summary.json").read_text())["warnings"]
            self.assertEqual(any("flows.csv has no rows" in warning for warning in warnings), not has_rows)

    def test_a_killed_run_leaves_no_results_of_an_earlier_one(self):
        self.finish(*SHORT, "-o", "RUN", "--sample", "1us", "--packet-log", "0-1", "--pcapng", "0")
        whole = set(contents(self.run_folder))
        self.assertIn("summary.json", whole)
        self.assertNotIn("INCOMPLETE", whole)
        run = self.start_long()
        while (self.run_folder / "capture.pcapng").exists():  # the last that goes
            self.assertIsNone(run.poll())
            time.sleep(0.01)
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
        left = contents(self.run_folder)
        drawn = weft("topo", "draw", "single_switch:hosts=4", "--load", "RUN", cwd=self.folder)
        self.assertEqual((drawn.returncode, drawn.stdout), (2, ""))
        self.assertIn("these results are not complete", drawn.stderr)
        self.assertIn("INCOMPLETE", left)
        self.assertIn(f"process {run.pid}", left["INCOMPLETE"].decode())
        self.assertFalse(whole & set(left))
        # The lock went with the process.
        self.finish(*SHORT, "-o", "RUN")
        self.assertEqual(set(contents(self.run_folder)), whole - {"series.csv", "network_series.csv", "packets.csv",
                                                                  "capture.pcapng"})

    def test_a_second_run_leaves_the_first_alone(self):
        run = self.start_long()
        second = self.finish(*SHORT, "-o", "RUN", status=2)
        self.assertEqual(second.stderr.count("\n"), 1)
        self.assertIn(f"RUN: another run (process {run.pid}) is writing", second.stderr)
        self.assertEqual(second.stdout, "")
        self.assertEqual(set(contents(self.run_folder)), {"INCOMPLETE", ".weft.lock"})
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(), 130)
        # Partial results, but all of them.
        self.assertEqual(set(contents(self.run_folder)),
                         {"summary.json", "scenario.txtpb", "ranks.csv", "jobs.csv", "hosts.csv", "links.csv", "results.sqlite"})
        self.assertEqual(json.loads((self.run_folder / "summary.json").read_text())["outcome"], "interrupted")

    def test_a_run_that_never_begins_leaves_the_earlier_results(self):
        self.finish(*SHORT, "-o", "RUN", "--sample", "1us", "--packet-log", "0-1", "--pcapng", "0")
        before = contents(self.run_folder)
        (self.folder / "large.goal").write_text(
            "num_ranks 9\n" + "".join(f"rank {r} {{\nallreduce 8b\n}}\n" for r in range(9)))
        (self.folder / "damaged.goal").write_text("num_ranks 2\nrank 0 {\nsend 8b to 7\n")
        switch = ["--topology", "single_switch:hosts=4"]
        for arguments in (["--goal", "missing.goal"], ["--goal", "damaged.goal"], ["--goal", "large.goal", *switch],
                          [*SHORT, "--routing", "nothing"], [*SHORT, "--packet-log", "0-99"],
                          # Only the network itself finds that these don't fit.
                          [*SHORT, "--queue", "ecn:kmin=900KB,kmax=100KB", "--sample", "1us", "--pcapng", "0"],
                          ["--goal", "large.goal", "--network", "loggops:semantics=classic"]):
            run = self.finish(*arguments, "-o", "RUN", status=2)
            self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
            self.assertEqual(contents(self.run_folder), before, arguments)
            self.finish(*arguments, "-o", "NEW", status=2)
            self.assertFalse((self.folder / "NEW").exists(), arguments)

    def test_a_run_that_fails_says_so_in_its_folder(self):
        self.finish(*SHORT, "-o", "RUN")
        (self.run_folder / "links.csv").unlink()
        (self.run_folder / "links.csv").mkdir()
        run = self.finish(*SHORT, "-o", "RUN", status=2)
        reason = "RUN/links.csv: can't remove what an earlier run left here: Is a directory"
        self.assertEqual(run.stderr, f"weft: {reason}\n")
        self.assertIn(f"How it ended: {reason}\n", (self.run_folder / "INCOMPLETE").read_text())
        self.assertFalse((self.run_folder / "summary.json").exists())
        (self.run_folder / "links.csv").rmdir()
        self.finish(*SHORT, "-o", "RUN")
        self.assertNotIn("INCOMPLETE", contents(self.run_folder))

    def repeat_elsewhere(self, *arguments):
        """Repeats the run from another working directory; the first one's folder is not written to again."""
        self.finish(*arguments, "-o", "RUN", "--sample", "1us")
        before = contents(self.run_folder)
        elsewhere = self.folder / "else/where"
        elsewhere.mkdir(parents=True, exist_ok=True)
        self.finish("../../RUN/scenario.txtpb", "-o", "AGAIN", cwd=elsewhere)
        again = contents(elsewhere / "AGAIN")
        for name in ("series.csv", "flows.csv", "ranks.csv", "scenario.txtpb"):
            self.assertEqual(again[name], before[name], name)
        self.assertEqual(digest(elsewhere / "AGAIN"), digest(self.run_folder))
        self.finish("RUN/scenario.txtpb", cwd=self.folder)
        self.assertEqual(contents(self.run_folder), before)

    def test_the_scenario_repeats_the_run_from_anywhere(self):
        (self.folder / "in").mkdir()
        (self.folder / "in/reduce.goal").write_text(
            "num_ranks 4\n" + "".join(f"rank {r} {{\nallreduce 8000b elem 8\n}}\n" for r in range(4)))
        (self.folder / "rules").write_text("allreduce bytes<=8000 ring\n")
        (self.folder / "sizes.txt").write_text("1000 50\n2000 100\n")
        (self.folder / "matrix,1.cm").write_text(
            "Nodes 4\nConnections 2\n0->1 id 1 start 0 size 100000\n2->3 id 2 start 0 size 5000\n")
        weft("topo", "gen", "single_switch:hosts=4", "-o", "net.graphml", cwd=self.folder, check=True)
        file = ["--topology", "graph_file:file=net.graphml"]
        self.repeat_elsewhere("--goal", "in/reduce.goal", *file, "--set", "collectives.table=rules")
        self.repeat_elsewhere("--traffic", "poisson:sizes=./sizes.txt,duration=10us", *file)
        self.repeat_elsewhere("--traffic", "poisson:duration=10us", "--topology",
                              "random_equivalent:of=[fat_tree:k=4]")
        self.repeat_elsewhere("--traffic", "connections:file=[matrix,1.cm]", "--topology",
                              "datacenters:of=[graph_file:file=net.graphml],sites=2")


if __name__ == "__main__":
    unittest.main()

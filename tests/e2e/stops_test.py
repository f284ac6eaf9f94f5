"""Runs that stop: at limits, exactly and alike on any number of threads; after signals, with what there is."""

import csv
import json
import os
import pty
import resource
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from sanitized import but_not_sanitized

WEFT = str(Path(sys.argv.pop(1)).resolve())

DIVISIONS = [["--threads", "1"], ["--threads", "2"], ["--threads", "2", "--set", "network.packet.partitions=4"],
             ["--set", "network.packet.partitions=7"]]
# What a summary says of the machine, or of what was asked for.
OF_THE_RUN = {"network", "wall_seconds", "events_per_second", "packet_hops_per_second", "peak_memory_bytes"}
QUEUES = ["ecn", "red", "priority", "composite:capacity=20KB", "pfc:xoff=20KB", "credit", "shared"]
TRAFFIC = ["--traffic", "random:count=3,size=60KB", "--topology", "fat_tree:k=4", "--routing", "spray",
           "--congestion", "dctcp"]
EXIT_LIMIT = 4


def rows_of(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def without(column, rows):
    return [{key: value for key, value in row.items() if key != column} for row in rows]


def run(arguments, expected):
    """The summary and the rows of all tables of a run, by name."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([WEFT, "sim", *arguments, "-q", "-o", "RUN"], cwd=folder, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True)
        if done.returncode != expected:
            raise AssertionError(f"{' '.join(arguments)}: exit status {done.returncode}\n{done.stderr}")
        files = {path.name: rows_of(path) for path in (Path(folder) / "RUN").glob("*.csv")}
        summary = json.loads((Path(folder) / "RUN/summary.json").read_text())
        files["summary"] = {key: value for key, value in summary.items() if key not in OF_THE_RUN}
        return files


class Limits(unittest.TestCase):
    maxDiff = 2000

    def check_same(self, arguments, expected=EXIT_LIMIT):
        one = run([*arguments, *DIVISIONS[0]], expected)
        for division in DIVISIONS[1:]:
            with self.subTest(arguments=arguments, division=division):
                self.assertEqual(run([*arguments, *division], expected), one)
        return one

    def test_a_time_limit_shows_what_had_happened_until_then(self):
        for queue in QUEUES:
            arguments = [*TRAFFIC, "--queue", queue]
            whole = run(arguments, 0)
            stop_ns = float(whole["summary"]["makespan_ns"]) * 0.6 // 1
            part = self.check_same([*arguments, "--set", f"limits.time={stop_ns:.0f}ns"])
            summary = part["summary"]
            self.assertEqual((summary["outcome"], summary["stopped_at_ns"]), ("time limit", stop_ns))
            # The messages that the whole run had delivered by then, and no others.
            delivered = [row for row in whole["flows.csv"] if float(row["finish_ns"]) <= stop_ns]
            self.assertEqual(without("flow", part["flows.csv"]), without("flow", delivered))  # which counts rows
            self.assertGreater(len(delivered), 0)
            self.assertLess(len(delivered), len(whole["flows.csv"]))
            # No link can have sent more than its rate allows, nor more than in the whole run.
            for row, of_whole in zip(part["links.csv"], whole["links.csv"], strict=True):
                self.assertLessEqual(float(row["busy_ns"]), stop_ns)
                self.assertLessEqual(int(row["bytes"]), int(of_whole["bytes"]))
                self.assertLessEqual(float(row["utilization"]), 1)
            self.assertGreater(max(float(row["utilization"]) for row in part["links.csv"]), 0.1)

    def test_an_event_limit_is_exact(self):
        for queue in QUEUES:
            for events in (3000, 3001):
                summary = self.check_same([*TRAFFIC, "--queue", queue, "--set", f"limits.events={events}"])["summary"]
                self.assertEqual((summary["outcome"], summary["events"]), ("event limit", events))
                self.assertGreater(float(summary["stopped_at_ns"]), 0)

    def test_limits_that_are_not_reached_change_nothing(self):
        for queue in ("ecn", "pfc:xoff=20KB", "credit"):
            arguments = [*TRAFFIC, "--queue", queue]
            whole = run(arguments, 0)
            # The last one ends between the last delivery and the last ACK.
            for limit in ("limits.time=1s", "limits.events=100000000", f"limits.time={whole['summary']['makespan_ns']}ns"):
                self.assertEqual(run([*arguments, "--set", limit], 0), whole)

    def test_every_network_model(self):
        traffic = ["--traffic", "random:count=3,size=60KB,ranks=16"]
        for network in (["--network", "loggops"], ["--network", "flow", "--topology", "fat_tree:k=4"],
                        ["--network", "loggops:semantics=atlahs"], ["--network", "loggops:semantics=classic"]):
            arguments = [*traffic, *network]
            whole = run(arguments, 0)
            stop_ns = whole["summary"]["makespan_ns"] // 2
            for threads in ("1", "2"):
                part = run([*arguments, "--set", f"limits.time={stop_ns}ns", "--threads", threads], EXIT_LIMIT)
                self.assertEqual(part["summary"]["stopped_at_ns"], stop_ns)
                self.assertLess(part["summary"]["events"], whole["summary"]["events"])
                part = run([*arguments, "--set", "limits.events=50", "--threads", threads], EXIT_LIMIT)
                self.assertEqual(part["summary"]["events"], 50)


class Memory(unittest.TestCase):
    @but_not_sanitized(WEFT)
    def test_memory_is_refused_before_it_is_spent(self):
        # Several hundred megabytes of messages at once; and less than the program itself has.
        for limit, megabytes in (("100MB", 100), ("1MB", 1)):
            with tempfile.TemporaryDirectory() as folder, self.subTest(limit=limit):
                running = subprocess.Popen(
                    [WEFT, "sim", "-q", "--traffic", "alltoall:size=10KB", "--topology", "fat_tree:k=16", "--set",
                     f"limits.memory={limit}", "-o", "RUN"],
                    cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                message = running.stderr.read()
                running.stderr.close()
                _, status, usage = os.wait4(running.pid, 0)
                running.returncode = os.waitstatus_to_exitcode(status)
                self.assertEqual((running.returncode, message.count("\n")), (EXIT_LIMIT, 1), message)
                self.assertIn("memory", message)
                # The program's own code and libraries are not memory that it asks for.
                self.assertLess(usage.ru_maxrss / 1024, megabytes + 45)
                if (Path(folder) / "RUN").exists():
                    self.assertTrue((Path(folder) / "RUN/INCOMPLETE").exists() or (Path(folder) / "RUN/summary.json").exists())


def run_with_data_limit(arguments, megabytes, cwd=None):
    """Runs weft with so much memory; gives status, standard error, and the megabytes that it took."""
    running = subprocess.Popen([WEFT, *arguments], cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (megabytes << 20,) * 2))
    message = running.stderr.read()
    running.stderr.close()
    _, status, usage = os.wait4(running.pid, 0)
    running.returncode = os.waitstatus_to_exitcode(status)
    return running.returncode, message, usage.ru_maxrss / 1024


@but_not_sanitized(WEFT)
class Estimates(unittest.TestCase):
    """What can't fit is refused before any of it is built, whatever there is of memory."""

    def test_traffic(self):
        traffic = ["--traffic", "poisson:duration=99999999999", "--topology", "fat_tree:k=4"]
        status, message, taken = run_with_data_limit(["sim", *traffic], 500)
        self.assertEqual((status, message.count("\n")), (EXIT_LIMIT, 1), message)
        self.assertRegex(message, r"not enough memory for traffic of about 2\.3.e\+07 messages: about 3\.9 GB, with 0\.[45] GB")
        self.assertLess(taken, 100)

    def test_a_small_file_of_a_large_graph(self):
        with tempfile.TemporaryDirectory() as folder:
            # 2,000,000 operations in less than a kilobyte, 32 bytes each in memory.
            gen = ["goal", "gen", "ping_pong:sizes=[8B],iterations=1000000", "--ranks", "2", "-o", "p.weft"]
            subprocess.run([WEFT, *gen], cwd=folder, check=True, stdout=subprocess.DEVNULL)
            self.assertLess((Path(folder) / "p.weft").stat().st_size, 1000)
            status, message, taken = run_with_data_limit(["goal", "stats", "p.weft"], 60, folder)
            self.assertEqual((status, message.count("\n")), (EXIT_LIMIT, 1), message)
            self.assertIn("a graph of 4,000,000 operations", message)
            self.assertLess(taken, 60)
            # A replay reads it on the way.
            status, message, _ = run_with_data_limit(["sim", "-q", "--goal", "p.weft"], 60, folder)
            self.assertEqual((status, message), (0, ""))

    def test_a_network(self):
        status, message, _ = run_with_data_limit(["topo", "info", "scale_up:of=[fat_tree:k=64]"], 100)
        self.assertEqual((status, message.count("\n")), (EXIT_LIMIT, 1), message)
        self.assertRegex(message, "(all|more than the) 0.1 GB that (were|are) available .*; it was reached while building ")


class Signals(unittest.TestCase):
    def test_a_simulation_ends_with_what_there_is(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            try:
                terminal, slave = pty.openpty()
            except OSError as error:
                print(f"skipped: the progress line needs a terminal: {error}")
                return
            with tempfile.TemporaryDirectory() as folder, self.subTest(number=number):
                running = subprocess.Popen(
                    [WEFT, "sim", "--traffic", "permutation:size=10GB", "--topology", "fat_tree:k=4", "-o", "RUN"],
                    cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=slave)
                os.close(slave)
                shown = b""
                while b"left" not in shown:  # the progress line of a simulation
                    shown += os.read(terminal, 4096)
                running.send_signal(number)
                running.communicate()
                self.assertEqual(running.returncode, 128 + number)
                summary = json.loads((Path(folder) / "RUN/summary.json").read_text())
                self.assertEqual(summary["outcome"], "interrupted")
                self.assertGreater(float(summary["stopped_at_ns"]), 0)
                shares = [float(row["utilization"]) for row in rows_of(Path(folder) / "RUN/links.csv")]
                self.assertGreater(max(shares), 0.5)
                self.assertLessEqual(max(shares), 1)
                os.close(terminal)

    def test_what_comes_before_a_simulation_ends_at_once(self):
        with tempfile.TemporaryDirectory() as folder:
            # Minutes of work.
            running = subprocess.Popen(
                [WEFT, "sim", "-v", "--traffic", "permutation:size=1MB", "--topology",
                 "random_equivalent:of=[fat_tree:k=96]", "-o", "RUN"],
                cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            line = ""
            while "building the network" not in line:
                line = running.stderr.readline()
            running.send_signal(signal.SIGTERM)
            rest = running.communicate()[1]
            self.assertEqual(running.returncode, 128 + signal.SIGTERM)
            self.assertRegex(rest, r"interrupted by SIGTERM while (reading the scenario|building the network)")
            self.assertFalse((Path(folder) / "RUN/summary.json").exists())


if __name__ == "__main__":
    unittest.main()

"""Lists of jobs: when each starts, on four nodes, worked out by hand; models by name and size; what is left out; the
run repeated."""

import csv
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WEFT = str(Path(sys.argv.pop(1)).resolve())

# Four nodes. b needs all of them and waits for a. c takes the node that a leaves, and is over when a is: it delays
# nobody, which easy and conservative see and fcfs doesn't look for. d is then in nobody's way, but finds no node.
#
#   fcfs  node 0-2  aaaaaaaaaabbbbbcccccccc......   c on one, d on another from 15 to 35
#         node 3    ..........bbbbb
#   easy  node 0-2  aaaaaaaaaabbbbbdddddddddddddddddddd
#         node 3    ..ccccccccbbbbb
LIST = """id,submit,ranks,requested,runtime
a,0,3,10,10
b,1,4,5,5
c,2,1,8,8
d,3,1,20,20
"""
STARTS = {"fcfs": {"a": 0, "b": 10, "c": 15, "d": 15},
          "easy": {"a": 0, "b": 10, "c": 2, "d": 15},
          "conservative": {"a": 0, "b": 10, "c": 2, "d": 15}}
RUNTIMES = {"a": 10, "b": 5, "c": 8, "d": 20}
MACHINES = [["--network", "loggops", "--set", "nodes=4"],
            ["--network", "flow", "--topology", "leaf_spine:leaves=2,spines=1,hosts_per_leaf=2"],
            ["--network", "packet", "--topology", "leaf_spine:leaves=2,spines=1,hosts_per_leaf=2", "--placement", "random"]]


def numbers(text):
    """The hosts of "0-3 8"."""
    found = []
    for part in text.split():
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


class JobList(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def weft(self, *arguments, status=0):
        ended = subprocess.run([WEFT, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual(ended.returncode, status, ended.stderr)
        return ended.stderr if status else ended.stdout

    def list(self, text, name="jobs.csv"):
        (self.folder / name).write_text(text)
        return name

    def jobs(self, run="RUN"):
        with (self.folder / run / "jobs.csv").open() as file:
            return {row["name"]: row for row in csv.DictReader(file)}

    def summary(self, run="RUN"):
        return json.loads((self.folder / run / "summary.json").read_text())

    def test_starts_as_by_hand(self):
        self.list(LIST)
        for machine in MACHINES:
            for scheduler, starts in STARTS.items():
                with self.subTest(machine=machine, scheduler=scheduler):
                    self.weft("sim", "-q", "--job-list", "jobs.csv", "--scheduler", scheduler, "--time-scale", "1e6",
                              *machine, "-o", "RUN")
                    for name, job in self.jobs().items():
                        start, end = starts[name], starts[name] + RUNTIMES[name]
                        self.assertEqual(int(job["start_ns"]), 1000 * start)
                        self.assertEqual(int(job["finish_ns"]), 1000 * end)
                        self.assertEqual(int(job["waiting_ns"]), 1000 * start - int(job["submit_ns"]))
                        self.assertEqual(job["status"], "complete")
                    # (3 * 10 + 4 * 5 + 8 + 20) / (4 nodes * 35)
                    self.assertAlmostEqual(self.summary()["machine"]["utilization"], 78 / 140, places=6)

    def test_processors_are_hosts_where_each_rank_has_one(self):
        # Two of three jobs need more than the machine's nodes, none more than its processors.
        line = "{0} {1} -1 10 {2} -1 -1 {2} 10 -1 1 1 1 1 1 1 -1 -1\n"
        self.list("; MaxNodes: 16\n; MaxProcs: 64\n" + line.format(1, 0, 64) + line.format(2, 1, 32) + line.format(3, 2, 8),
                  "s.swf")
        sim = ["sim", "--job-list", "s.swf", "--network", "loggops", "--time-scale", "1e6", "--scheduler", "easy", "-o", "RUN"]
        text = self.weft(*sim)
        self.assertIn("16 nodes with 64 processors", text)
        self.assertEqual(self.summary()["machine"]["hosts"], 64)
        self.assertEqual(self.summary()["machine"]["nb_jobs_finished"], 3)
        told = json.loads(self.weft("jobs", "s.swf", "--scheduler", "easy", "--json"))
        self.assertEqual(told["nodes"], 64)
        # Four to a node: the nodes are the list's.
        self.weft(*sim, "--set", "hosts.ranks_per_host=4")
        self.assertEqual(self.summary()["machine"]["hosts"], 16)
        self.assertEqual(self.summary()["machine"]["nb_jobs_finished"], 3)

    def test_bounded_slowdown_needs_jobs_of_ten_seconds(self):
        self.list(LIST)
        machine = MACHINES[0]
        self.weft("sim", "-q", "--job-list", "jobs.csv", "--scheduler", "fcfs", *machine, "-o", "RUN")
        # Turnaround over runtimes of 10 s at least: a 10/10, b 14/10, c 21/10, d 32/20.
        self.assertEqual({name: float(job["bounded_slowdown"]) for name, job in self.jobs().items()},
                         {"a": 1.0, "b": 1.4, "c": 2.1, "d": 1.6})
        self.weft("sim", "-q", "--job-list", "jobs.csv", "--scheduler", "fcfs", "--time-scale", "1e6", *machine, "-o", "RUN")
        self.assertEqual({job["bounded_slowdown"] for job in self.jobs().values()}, {""})

    def test_a_job_alone_has_its_runtime(self):
        text = self.weft("sim", "--job", "name=y,traffic=[shift:size=1MB,ranks=4],at=1ms", "--network", "flow", "--topology",
                         "single_switch:hosts=8", "-o", "RUN")
        self.assertIn("us from 1.000 ms on", text)
        # 1 MB each, in less than 25 us.
        self.assertGreater(self.summary()["goodput"]["receiver_mean_bps"], 320e9)

    def test_missing_estimates_are_told_where_they_matter(self):
        jobs = ["--job", "name=a,traffic=[shift:size=1MB,ranks=8]", "--job", "name=b,traffic=[shift:size=1MB,ranks=4],estimate=1ms",
                "--network", "flow", "--topology", "single_switch:hosts=12", "-o", "RUN"]
        self.assertIn("1 of 2 don't say: a day is expected", self.weft("sim", *jobs, "--scheduler", "easy"))
        self.assertNotIn("a day is expected", self.weft("sim", *jobs, "--scheduler", "fcfs"))

    def test_place_shows_where_jobs_run(self):
        for placement in "random", "hybrid", "packed":
            jobs = [word for ranks in (16, 8, 4)
                    for word in ("--job", f"traffic=[shift:ranks={ranks}],placement={placement}")]
            self.weft("sim", "-q", *jobs, "--topology", "dragonfly:p=2", "--seed", "3", "-o", "RUN")
            jobs = [word for ranks in (16, 8, 4) for word in ("--job", f"traffic=[shift],ranks={ranks},placement={placement}")]
            told = json.loads(self.weft("place", *jobs, "--topology", "dragonfly:p=2", "--seed", "3", "--json"))
            shown = [sorted(job["hosts"]) for job in told["placements"][0]["jobs"]]
            with (self.folder / "RUN/jobs.csv").open() as file:
                run = [row["hosts"] for row in csv.DictReader(file)]
            self.assertEqual([sorted(numbers(text)) for text in run], shown)

    def test_models_that_nobody_gave_are_told(self):
        """A table's jobs name models and none is given; in a log, executables are no models."""
        sim = ["sim", "-q", "--network", "loggops", "--set", "nodes=8", "--time-scale", "1e6", "-o", "RUN", "--job-list"]
        self.list("id,submit,ranks,runtime,requested,model\na,0,4,20,5,halo\nb,1,4,5,,\n")
        self.weft(*sim, "jobs.csv")
        self.assertEqual([w.split(": ", 1)[1] for w in self.summary()["warnings"] if w.startswith("jobs.csv")],
                         ["1: Jobs that ran longer than they had asked for.",
                          "1: Jobs of models, of which none is given (job_list.model); they compute for the time that they took."])
        self.list("1 0 -1 20 4 -1 -1 4 50 -1 1 1 1 3 1 1 -1 -1\n", "log.swf")
        self.weft(*sim, "log.swf")
        self.assertFalse([w for w in self.summary()["warnings"] if w.startswith("log.swf")])

    def test_the_scenario_repeats_the_run(self):
        self.list("id,submit,ranks,requested,model\n1,0,8,40,halo\n2,1,6,10,other\n3,2,12,10,halo\n4,2,2,5,\n5,3,4,5,lj\n")
        self.weft("goal", "gen", "stencil:dims=2d,iterations=2", "--ranks", "4", "-o", "lj.weft")
        self.weft("sim", "--job-list", "jobs.csv", "--time-scale", "1e6", "--scheduler", "easy", "--placement", "random",
                  "--job-model", "name=small,most_ranks=8,traffic=[alltoall:size=10KB]",
                  "--job-model", "lj.weft,name=lj",
                  "--job-model", "name=halo,traffic=[stencil:dims=2d,iterations=3,compute=1us]",
                  "--topology", "fat_tree:k=4", "--network", "flow", "-o", "RUN")
        jobs, summary = self.jobs(), self.summary()
        self.assertEqual({name: int(job["ranks"]) for name, job in jobs.items()}, {"1": 8, "2": 6, "3": 12, "4": 2, "5": 4})
        # In a periodic grid, each rank to 4 neighbours, 3 times; in the graph, twice. By size: each to each other.
        self.assertEqual(int(jobs["1"]["messages"]), 8 * 4 * 3)
        self.assertEqual(int(jobs["5"]["messages"]), 4 * 4 * 2)
        self.assertEqual(int(jobs["2"]["messages"]), 6 * 5)
        self.assertTrue(any("no name here" in warning for warning in summary["warnings"]), summary["warnings"])
        (self.folder / "jobs.csv").unlink()  # the scenario has the jobs
        self.weft("sim", "-q", "RUN/scenario.txtpb", "-o", "AGAIN")
        self.assertEqual(self.summary("AGAIN")["digest"], summary["digest"])
        self.assertEqual((self.folder / "RUN/jobs.csv").read_text(), (self.folder / "AGAIN/jobs.csv").read_text())

    def test_a_log_in_a_scenario_file(self):
        # Number, submission, wait, run time, processors, …, processors and time asked for, …
        fields = "{0} {1} -1 {2} {3} -1 -1 {3} {4} -1 1 1 1 1 1 -1 -1 -1\n"
        log = "; MaxNodes: 16\n" + "".join(fields.format(*job) for job in [
            (1, 100, 60, 8, 60), (2, 110, 60, 16, 60), (3, 120, 30, 64, 60), (4, 130, 30, 2, 30), (5, 140, 30, 2, 30)])
        self.list(log, "log.swf")
        self.list('job_list { file: "log.swf" time_scale: 1e6 jobs: 4 estimate_factor: 2\n'
                  "  model { most_ranks: 4 traffic { alltoall { size: \"1KB\" } } }\n"
                  "  model { least_ranks: 8 traffic { compute { compute: \"60us\" } } hosts { ranks_per_host: 2 } } }\n"
                  "scheduler { easy {} }\ntopology { fat_tree { k: 4 } }\nnetwork { packet {} }\n", "queue.txtpb")
        self.weft("sim", "-q", "queue.txtpb", "-o", "RUN")
        jobs = self.jobs()
        self.assertEqual(sorted(jobs), ["1", "2", "4"])
        self.assertEqual([int(jobs[name]["submit_ns"]) for name in "124"], [0, 10_000, 30_000])
        self.assertEqual([int(jobs[name]["nodes"]) for name in "124"], [4, 8, 2])
        self.assertTrue(any("1: Jobs that don't fit the machine" in each for each in self.summary()["warnings"]))
        self.assertIn('estimate: "120us"', (self.folder / "RUN/scenario.txtpb").read_text())

    def test_baseline_interference_and_matrix(self):
        # 1 and 2 run at the same time, 3 needs all 16 hosts behind them; a leaf has 4 hosts and one link up.
        self.list("id,submit,ranks,requested\n1,0,8,1ms\n2,1us,8,1ms\n3,2us,16,1ms\n4,3us,1,1ms\n")
        arguments = ["sim", "-v", "--job-list", "jobs.csv", "--scheduler", "fcfs",
                     "--job-model", "most_ranks=1,traffic=[compute:compute=10us]", "--job-model", "traffic=[alltoall:size=100KB]",
                     "--topology", "leaf_spine:leaves=4,spines=1,hosts_per_leaf=4", "--network", "flow", "--interference",
                     "-o", "RUN"]
        for placement, slowed in [("packed", False), ("random", True), ("matrix", False)]:
            with self.subTest(placement=placement):
                ended = subprocess.run([WEFT, *arguments, "--placement", placement], cwd=self.folder, capture_output=True, text=True)
                self.assertEqual(ended.returncode, 0, ended.stderr)
                self.assertEqual(ended.stderr.count(" alone"), 4, ended.stderr)
                jobs = self.jobs()
                # Packed jobs have leaves of their own, and 3 has the machine.
                for name in "12":
                    self.assertEqual(float(jobs[name]["slowdown"]) > 1.05, slowed, jobs)
                self.assertAlmostEqual(float(jobs["3"]["slowdown"]), 1, places=6)
                with (self.folder / "RUN/interference.csv").open() as file:
                    pairs = {(row["name"], row["beside_name"]): float(row["slowdown"]) for row in csv.DictReader(file)}
                self.assertEqual(set(pairs), {("1", "2"), ("2", "1")})
                self.assertEqual(f"{pairs['1', '2']:.6f}", jobs["1"]["slowdown"])
                first = (self.folder / "RUN/jobs.csv").read_text()
                ended = subprocess.run([WEFT, *arguments, "--placement", placement], cwd=self.folder, capture_output=True, text=True)
                self.assertEqual(ended.stderr.count(" alone"), 0, "the times are kept")
                self.assertEqual((self.folder / "RUN/jobs.csv").read_text(), first)

    def test_what_is_wrong_is_told(self):
        self.list(LIST)
        topology = ["--topology", "fat_tree:k=4"]
        for expected, arguments in [
                ("no hosts to count", ["--job-list", "jobs.csv", "--time-scale", "1e6", "--network", "loggops"]),
                ("after 53 days", ["--job-list", "jobs.csv", "--time-scale", "1e-6", *topology]),
                ("must be above 0", ["--job-list", "jobs.csv", "--time-scale", "0", *topology]),
                ("has both", ["--job-list", "jobs.csv", "--traffic", "shift", *topology]),
                ("has no file", ["--job-model", "traffic=shift", *topology]),
                ("needs goal or traffic", ["--job-list", "jobs.csv", "--job-model", "name=a", *topology]),
                ("none of its jobs", ["--job-list", "jobs.csv", "--job-model", "least_ranks=9,traffic=shift", *topology]),
                ("did you mean", ["--job-list", "jobs.csv", "--scheduler", "fcf", *topology]),
                ("none.csv", ["--job-list", "none.csv", *topology])]:
            with self.subTest(arguments=arguments):
                self.assertIn(expected, self.weft("sim", "-q", *arguments, status=2))


if __name__ == "__main__":
    unittest.main()

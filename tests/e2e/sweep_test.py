"""weft sweep: its points are what `weft sim` gives, it goes on where it was killed, and all engines agree."""

import csv
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree
from pathlib import Path

WEFT = str(Path(sys.argv.pop(1)).resolve())
BASE = ["--traffic", "permutation:size=1MB", "--topology", "fat_tree:k=4"]


class Sweep(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def weft(self, *words, status=0):
        done = subprocess.run([WEFT, *words], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def rows(self, file):
        with open(self.folder / file, newline="") as table:
            return list(csv.DictReader(table))

    def test_what_would_be_lost_is_refused(self):
        for words, reason in ((["--vary", "routing=ecmp,ecmp"], "twice"),
                              (["--seed", "5", "--seeds", "1..3"], "give one of the two"),
                              (["--set", "seed=7", "--seeds", "1..3"], "give one of the two"),
                              (["--vary", "output.directory=x,y"], "every run has a folder"),
                              (["--set", "output.directory=zzz"], "every run has a folder"),
                              (["--seed", "7", "--set", "seed=8"], "one field")):
            with self.subTest(words=words):
                self.assertIn(reason, self.weft("sweep", *BASE, *words, "-o", "S", "-q", status=2).stderr)

    def test_more_seeds_begin_with_the_scenario_s(self):
        self.weft("sweep", *BASE, "--seed", "10", "--until-ci", "90%", "-o", "S", "-q")
        self.assertEqual([row["seed"] for row in self.rows("S/sweep.csv")], ["10", "11", "12"])

    def test_figures_of_jobs_are_there(self):
        (self.folder / "q.csv").write_text("id,submit,ranks,requested,runtime\na,0,3,10,10\nb,1,4,5,5\nc,2,1,8,8\n")
        self.weft("sweep", "--job-list", "q.csv", "--time-scale", "1e6", "--network", "loggops", "--set", "nodes=4", "--vary",
                  "scheduler=fcfs,easy", "-o", "S", "-q")
        waited = {row["scheduler"]: float(row["job_waiting_ns"]) for row in self.rows("S/sweep.csv")}
        # fcfs starts at 0, 10, 15; easy lets c go first, at 2.
        self.assertAlmostEqual(waited["fcfs"], 1000 * (0 + 9 + 13) / 3, places=2)
        self.assertAlmostEqual(waited["easy"], 1000 * (0 + 9 + 0) / 3, places=2)

    def test_points_are_what_sim_gives(self):
        self.weft("sweep", *BASE, "--vary", "routing=ecmp,spray", "--vary", "traffic=permutation:size=1MB,alltoall:size=10KB",
                  "--seeds", "1..3", "--prices", "modern", "-o", "S", "-q")
        rows = self.rows("S/sweep.csv")
        self.assertEqual(len(rows), 2 * 2 * 3)
        for row in rows:
            self.weft("sim", "--topology", "fat_tree:k=4", "--routing", row["routing"], "--traffic", row["job.traffic"],
                      "--seed", row["seed"], "-o", "R", "-q")
            summary = json.loads((self.folder / "R/summary.json").read_text())
            self.assertEqual(row["digest"], summary["digest"])
            self.assertEqual(float(row["makespan_ns"]), summary["makespan_ns"])
        groups = self.rows("S/summary.csv")
        self.assertEqual(len(groups), 4)
        for group in groups:
            values = [float(row["makespan_ns"]) for row in rows
                      if (row["routing"], row["job.traffic"]) == (group["routing"], group["job.traffic"])]
            mean = sum(values) / 3
            error = (sum((value - mean) ** 2 for value in values) / 2 / 3) ** 0.5
            self.assertAlmostEqual(float(group["makespan_ns_mean"]), mean, places=3)
            # Two degrees of freedom: 4.303.
            self.assertAlmostEqual(float(group["makespan_ns_high"]) - mean, 4.303 * error, delta=1e-3 * error + 1e-6)
        bill = json.loads(self.weft("topo", "cost", "fat_tree:k=4", "--json", "--no-bisection").stdout)
        self.assertEqual({float(row["price"]) for row in rows}, {bill["price"]})
        space = "{http://www.w3.org/2000/svg}"
        plot = xml.etree.ElementTree.parse(self.folder / "S/plot.svg").getroot()
        self.assertEqual(len(plot.findall(space + "path[@class='line']")), 2)
        self.assertEqual(len(plot.findall(space + "path[@class='band']")), 2)
        front = xml.etree.ElementTree.parse(self.folder / "S/pareto.svg").getroot()
        self.assertEqual(len(front.findall(space + "circle[@class='front']")), 1)  # all have one price

    def test_goes_on_after_a_kill(self):
        command = ["sweep", "--traffic", "permutation:size=8MB", "--topology", "fat_tree:k=4", "--seeds", "1..12", "-o", "S"]
        started = subprocess.Popen([WEFT, *command, "-q"], cwd=self.folder)
        points = self.folder / "S/points"
        while started.poll() is None and len(list(points.glob("*/summary.json"))) < 2:
            time.sleep(0.002)
        started.send_signal(signal.SIGKILL)
        started.wait()
        before = {file: file.stat().st_mtime_ns for file in points.glob("*/summary.json")
                  if not (file.parent / "INCOMPLETE").exists()}
        told = self.weft("sweep", "status", "S").stdout
        self.assertIn("of 12 runs are done", told)
        # A run that the killed sweep left may hold its folder for a moment.
        time.sleep(0.3)
        self.weft(*command)
        for file, at in before.items():
            self.assertEqual(file.stat().st_mtime_ns, at, "ran again: " + str(file))
        self.assertEqual(self.weft("sweep", "status", "S").stdout, "12 of 12 runs are done, 12 of them complete\n")
        first = (self.folder / "S/sweep.csv").read_bytes()
        self.weft(*command[:-1], "T", "-q")
        self.assertEqual(first, (self.folder / "T/sweep.csv").read_bytes())
        # What is not whole runs again, and so does what another scenario left.
        shutil.rmtree(next(points.glob("*seed=3")))
        self.assertIn("12 runs, 1 of them to do", self.weft(*command).stdout)
        self.assertIn("12 runs, 12 of them to do", self.weft(*command, "--routing", "ecmp").stdout)
        self.weft("sweep", "collect", "S")
        self.assertEqual(len(self.rows("S/sweep.csv")), 12)

    def test_results_of_files_that_changed_are_to_do_again(self):
        graph = self.folder / "app.weft"
        self.weft("goal", "gen", "permutation:size=1MB", "--ranks", "16", "-o", str(graph))
        sweep = ["sweep", "--topology", "fat_tree:k=4", "--goal", "app.weft", "--seeds", "1..2", "-o", "S"]
        self.weft(*sweep, "-q")
        self.assertEqual(self.weft("sweep", "status", "S").stdout, "2 of 2 runs are done, 2 of them complete\n")
        self.weft("goal", "gen", "permutation:size=2MB", "--ranks", "16", "-o", str(graph))
        told = self.weft("sweep", "status", "S").stdout
        self.assertIn("0 of 2 runs are done", told)
        self.assertIn("to do again: 2 of 2 runs", told)
        self.assertIn("app.weft has changed since", told)
        done = self.weft("sweep", "collect", "S", status=2)
        self.assertIn("to do again:", done.stderr)
        self.assertEqual(self.rows("S/sweep.csv"), [])
        self.assertIn("2 of them to do", self.weft(*sweep).stdout)
        self.assertEqual([row["bytes"] for row in self.rows("S/sweep.csv")], 2 * ["32000000"])
        # Elsewhere, without the file, the tables can still be made.
        graph.unlink()
        self.weft("sweep", "collect", "S")
        self.assertEqual(len(self.rows("S/sweep.csv")), 2)

    def test_numbers_are_numbers(self):
        self.weft("sweep", "--traffic", "shift:size=1KB", "--topology", "fat_tree:k=4", "--vary", "job.traffic.shift.by=-1,1",
                  "-o", "S", "-q")
        with open(self.folder / "S/sweep.csv", newline="") as table:
            self.assertEqual([line.split(",")[0] for line in list(table)[1:]], ["-1", "1"])
        with open(self.folder / "S/summary.csv", newline="") as table:
            self.assertEqual([line.split(",")[0] for line in list(table)[1:]], ["-1", "1"])

    def test_names_of_folders_tell_the_values(self):
        self.weft("sweep", *BASE, "--vary", "routing=ecmp,spray", "--seeds", "1..2", "-o", "S", "-q")
        self.assertEqual(sorted(each.name for each in self.folder.glob("S/points/*/")),
                         [f"routing={routing}_seed={seed}" for routing in ("ecmp", "spray") for seed in "12"])
        # Where letters are lost, a hash tells values apart.
        self.weft("sweep", *BASE, "--vary", "topology=fat_tree:k=4,fat_tree:k=6", "-o", "T", "-q")
        for each in self.folder.glob("T/points/*/"):
            self.assertRegex(each.name, "^topology=fat_tree_k=[46]_[0-9a-f]{8}_seed=1$")

    @unittest.skipUnless(shutil.which("parallel"), "GNU parallel is not there")
    def test_parallel(self):
        words = [*BASE, "--vary", "routing=ecmp,spray", "--seeds", "1..4", "-q"]
        self.weft("sweep", *words, "-o", "it's local")
        self.weft("sweep", *words, "-o", "it's parallel", "--engine", "parallel", "--jobs", "2")
        for file in "sweep.csv", "summary.csv", "plot.svg":
            self.assertEqual((self.folder / "it's local" / file).read_bytes(), (self.folder / "it's parallel" / file).read_bytes())
        self.assertEqual(len((self.folder / "it's parallel/parallel.log").read_text().splitlines()), 1 + 8)

    def test_seeds_until_the_interval_is_narrow(self):
        self.weft("sweep", *BASE, "--vary", "routing=ecmp,spray", "--until-ci", "10%", "-o", "S", "-q")
        for group in self.rows("S/summary.csv"):
            self.assertGreaterEqual(int(group["seeds"]), 3)
            half = float(group["makespan_ns_high"]) - float(group["makespan_ns_mean"])
            self.assertLessEqual(half / float(group["makespan_ns_mean"]), 0.1)
            self.assertEqual(group["until_ci"], "reached")
        self.assertNotIn("until_ci", self.weft("sweep", "status", "S").stdout)

    def test_intervals_that_stay_wide_are_told(self):
        # Of shifts within a switch seeds change nothing; ways of a permutation through a tree do.
        words = ["sweep", "--topology", "fat_tree:k=4", "--routing", "ecmp", "--vary",
                 "traffic=permutation:size=10KB,ping_pong:ranks=2", "--until-ci", "0.001%", "-o", "S"]
        sentence = "until_ci 0.001% is not reached by 1 of 2 combinations of values, after up to 100 seeds: job.traffic=permutation:size=10KB"
        for command in (words, [*words, "-q"], ["sweep", "collect", "S"]):
            self.assertEqual(self.weft(*command).stderr.count(sentence), 1)
        self.assertIn(sentence, self.weft("sweep", "status", "S").stdout)
        self.assertEqual([(row["seeds"], row["until_ci"]) for row in self.rows("S/summary.csv")],
                         [("100", "not reached"), ("3", "reached")])
        # The same from the table itself.
        wide, narrow = ((float(row["makespan_ns_high"]) / float(row["makespan_ns_mean"]) - 1) for row in self.rows("S/summary.csv"))
        self.assertGreater(wide, 1e-5)
        self.assertLessEqual(narrow, 1e-5)

    def test_file(self):
        (self.folder / "base.txtpb").write_text('job { traffic { permutation { size: "1MB" } } } topology { fat_tree { k: 4 } }')
        (self.folder / "sweep.txtpb").write_text(
            'sweep { scenario: "base.txtpb" zip { vary { field: "topology" value: "fat_tree:k=4" value: "torus:dims=4x4" }\n'
            'vary { field: "traffic" value: "permutation:size=1MB" value: "permutation:size=2MB" } } seeds: "1..2" }')
        self.weft("sweep", "sweep.txtpb", "-o", "S")
        self.assertEqual([(row["topology"], row["bytes"]) for row in self.rows("S/sweep.csv")],
                         2 * [("fat_tree:k=4", "16000000")] + 2 * [("torus:dims=4x4", "32000000")])

    def test_files_beside_the_file_of_a_sweep(self):
        study = self.folder / "study"
        study.mkdir()
        (study / "base.txtpb").write_text("topology { single_switch { hosts: 8 } }")
        self.weft("goal", "gen", "shift:size=2KB", "--ranks", "4", "-o", "study/app.weft")
        (study / "mine.txtpb").write_text(self.weft("topo", "cost", "--print-prices", "modern").stdout)
        (study / "sweep.txtpb").write_text('sweep { scenario: "base.txtpb" prices: "mine.txtpb"\n'
                                           'vary { field: "job" value: "app.weft" value: "traffic=[permutation:size=1MB]" } }')
        # From elsewhere: what stands in the file is beside it.
        self.weft("sweep", "study/sweep.txtpb", "-o", "S")
        rows = self.rows("S/sweep.csv")
        self.assertEqual([row["bytes"] for row in rows], [str(4 * 2000), str(8 * 10**6)])
        self.assertTrue(all(float(row["price"]) > 0 for row in rows))
        # In its folder, the same.
        done = subprocess.run([WEFT, "sweep", "sweep.txtpb", "-o", "S"], cwd=study, capture_output=True, text=True)
        self.assertEqual((done.returncode, [line for line in done.stderr.splitlines() if "beside" in line]), (0, []))
        self.assertEqual((study / "S/summary.csv").read_bytes(), (self.folder / "S/summary.csv").read_bytes())
        # What is there only is taken from the working folder, as ever; of two, that beside the file, which is told.
        shutil.move(study / "base.txtpb", self.folder / "base.txtpb")
        self.assertNotIn("beside", self.weft("sweep", "study/sweep.txtpb", "-o", "W", "-q").stderr)
        self.weft("goal", "gen", "shift:size=7KB", "--ranks", "4", "-o", "app.weft")
        told = self.weft("sweep", "study/sweep.txtpb", "-o", "T", "-q").stderr
        self.assertEqual(told.count("study/app.weft is taken"), 1, told)
        self.assertEqual([row["bytes"] for row in self.rows("T/sweep.csv")], [row["bytes"] for row in rows])
        # What a command line names is in the working folder.
        (study / "other.txtpb").write_text('sweep { scenario: "base.txtpb" seeds: "1..2" }')
        self.weft("sweep", "study/other.txtpb", "--vary", "job=app.weft", "-o", "C", "-q")
        self.assertEqual([row["bytes"] for row in self.rows("C/sweep.csv")], 2 * [str(4 * 7000)])

    def test_one_seed_that_looks_like_a_count_is_told(self):
        for seeds, told in (("5", True), ("1..5", False), ("1", False), ("5,6", False)):
            done = self.weft("sweep", *BASE, "--seeds", seeds, "--dry-run", "-o", "S")
            self.assertEqual("5 of them are 1..5" in done.stderr, told, done.stderr)
        self.weft("sweep", *BASE, "--seeds", "5", "-o", "S", "-q")
        self.assertEqual([row["seed"] for row in self.rows("S/sweep.csv")], ["5"])

    def test_ranks_without_a_place_are_told_before_anything_runs(self):
        self.weft("goal", "gen", "shift:size=1KB", "--ranks", "24", "-o", "app.weft")
        networks = "topology=single_switch:hosts=16,single_switch:hosts=24,single_switch:hosts=12"
        for work in (["--goal", "app.weft"], ["--traffic", "shift:size=1KB,ranks=24"]):
            for per_host, expected in ((1, ["16", "12"]), (2, [])):
                words = ["sweep", *work, "--vary", networks, "--set", f"hosts.ranks_per_host={per_host}", "--seeds", "1..2"]
                told = self.weft(*words, "--dry-run", "-o", "S").stderr
                self.assertEqual("2 of 3 combinations" in told, expected != [], told)
                for hosts in ("16", "24", "12"):
                    self.assertEqual(f"single_switch:hosts={hosts}: 24 ranks with 1 on each host, and {hosts} hosts" in told,
                                     hosts in expected)
                # … and these, and no others, have no results.
                self.weft(*words, "-o", f"S{per_host}", "-q", status=2 if expected else 0)
                self.assertEqual(len(self.rows(f"S{per_host}/sweep.csv")), 2 * (3 - len(expected)))
                shutil.rmtree(self.folder / f"S{per_host}")

    def test_jobs_side_by_side_need_their_hosts_together(self):
        # 9 ranks on 5 hosts and 8 on 4, which are 9; queued, the larger one alone must fit.
        jobs = [word for ranks in (9, 8) for word in ("--job", f"traffic=[shift:size=1KB,ranks={ranks}],hosts.ranks_per_host=2")]
        for more, expected in (([], "8"), (["--scheduler", "fcfs"], "4"), (["--failed", "0"], "9")):
            with self.subTest(more=more):
                words = ["sweep", *jobs, *more, "--vary", f"topology=single_switch:hosts={expected},single_switch:hosts={int(expected) + 1}"]
                told = self.weft(*words, "--dry-run", "-o", "S").stderr
                self.assertIn("1 of 2 combinations", told)
                self.assertIn(f"single_switch:hosts={expected}: ", told)
                # … and that is what has no results.
                self.weft(*words, "-o", "S", "-q", status=2)
                self.assertEqual([row["topology"] for row in self.rows("S/sweep.csv")], [f"single_switch:hosts={int(expected) + 1}"])
                shutil.rmtree(self.folder / "S")

    def test_failed_hosts_are_no_places(self):
        words = ["sweep", "--traffic", "shift:size=1KB,ranks=15", "--topology", "single_switch:hosts=16", "--vary", "failed=[],3,[3,4]", "-o", "S"]
        told = self.weft(*words, "--dry-run").stderr
        self.assertIn("1 of 3 combinations", told)
        self.assertIn("3,4: 15 ranks with 1 on each host, and 14 hosts have not failed", told)
        self.weft(*words, "-q", status=2)
        self.assertEqual([row["failed"] for row in self.rows("S/sweep.csv")], ["", "3"])

    def test_what_fails_is_told(self):
        self.assertIn("did you mean 'spray'", self.weft("sweep", *BASE, "--vary", "routing=ecmp,spary", "-o", "S", status=2).stderr)
        self.assertFalse((self.folder / "S").exists())
        self.assertIn("-o DIR", self.weft("sweep", *BASE, status=2).stderr)
        # A network that can't be built is refused with the reason, before anything runs.
        done = self.weft("sweep", *BASE, "--vary", "topology=single_switch:hosts=16,fat_tree:k=5", "-o", "N", status=2)
        self.assertIn("fat_tree: k is '5'", done.stderr)
        self.assertFalse((self.folder / "N/sweep.csv").exists())
        self.assertIn("no folder of a sweep", self.weft("sweep", "collect", "nowhere", status=2).stderr)
        (self.folder / "begun/points").mkdir(parents=True)
        told = self.weft("sweep", "status", "begun", status=2).stderr
        self.assertIn("begun: a sweep was begun there", told)
        self.assertEqual(len(told.splitlines()), 1)
        done = self.weft("sweep", *BASE, "--vary", "limits.events=100,0", "-o", "S", status=3)
        self.assertIn("1 of 2 runs did not come to their end, and count in no mean", done.stderr)
        self.assertEqual([row["outcome"] for row in self.rows("S/sweep.csv")], ["event limit", "complete"])
        # Found only as the network is built: the other point has its results all the same.
        done = self.weft("sweep", *BASE, "--vary", "failed=0,h999", "-o", "F", status=2)
        self.assertIn("1 of 2 runs have no results", done.stderr)
        self.assertIn("h999", done.stderr)
        self.assertEqual(len(self.rows("F/sweep.csv")), 1)

    def test_what_runs_warn_of_is_told(self):
        # timely is slow to come back after two senders met; nscc isn't. Counted again from the runs' own summaries.
        words = ["sweep", "--topology", "single_switch:hosts=3,link=100Gbps", "--fabric", "none", "--traffic",
                 "incast:n=2,size=4MB,senders=first", "--vary", "congestion=nscc,timely", "--seeds", "1..2", "-o", "S"]
        for command in (words, [*words, "-q"], ["sweep", "collect", "S"]):
            told = self.weft(*command).stderr
            warned = [file for file in self.folder.glob("S/points/*/summary.json")
                      if any("slow to come back" in text for text in json.loads(file.read_text())["warnings"])]
            self.assertEqual(len(warned), 2)
            self.assertEqual(len([line for line in told.splitlines() if "2 of 4 runs: " in line and "slow to come back" in line]), 1,
                             told)

    def test_what_made_no_difference_is_told(self):
        # A queue that never has 100 kB marks nothing, whatever it would begin to mark above that.
        idle = ["--vary", "queue.ecn.kmin=100KB,200KB", "--set", "queue.ecn.kmax=300KB", "--set", "queue.ecn.capacity=1MB"]
        small = ["--traffic", "permutation:size=10KB", "--topology", "fat_tree:k=4"]
        told = self.weft("sweep", *small, *idle, "--vary", "routing=ecmp,spray", "--seeds", "1..2", "-o", "S").stderr
        self.assertIn("queue.ecn.kmin made no difference to time: with 100KB, 200KB all runs have the same events at the same times", told)
        self.assertNotIn("routing", told)
        digests = {}
        for row in self.rows("S/sweep.csv"):
            digests.setdefault((row["routing"], row["seed"]), set()).add(row["digest"])
        self.assertEqual([len(each) for each in digests.values()], 4 * [1])
        # Of three values two may do the same; of fields that go together, all.
        zipped = ["--zip", "queue.ecn.kmin=1KB,6MB,7MB;queue.ecn.kmax=2KB,8MB,9MB", "--set", "queue.ecn.capacity=9MB"]
        told = self.weft("sweep", "--traffic", "incast:n=8,size=1MB", "--topology", "fat_tree:k=4", *zipped, "-o", "Z").stderr
        self.assertEqual(len({row["digest"] for row in self.rows("Z/sweep.csv")}), 2)
        self.assertIn("queue.ecn.kmin=6MB queue.ecn.kmax=8MB and queue.ecn.kmin=7MB queue.ecn.kmax=9MB made no difference to time", told)
        # Threads never do, which nobody needs to be told.
        self.assertEqual(self.weft("sweep", *small, "--vary", "threads=1,2", "-o", "T").stderr, "")
        # Nor do seeds change a time, where ways that are drawn are all as long.
        told = self.weft("sweep", "--traffic", "ping_pong:ranks=2", "--topology", "fat_tree:k=4", "--seeds", "1..3", "-o", "P").stdout
        self.assertEqual(len({row["makespan_ns"] for row in self.rows("P/sweep.csv")}), 1)
        self.assertIn(" with each seed, 3 of 3 runs", told)

    def test_a_file_that_is_not_there_is_told_before_anything_runs(self):
        for words in (["--goal", "nowhere.weft", "--vary", "routing=ecmp,spray"],
                      ["--vary", "job=[goal=nowhere.weft],[traffic=[ping_pong]]"]):
            for more in ([], ["--dry-run"]):
                done = self.weft("sweep", "--topology", "fat_tree:k=4", *words, *more, "-o", "S", status=2)
                self.assertIn("nowhere.weft: can't read the file", done.stderr)
                self.assertEqual((done.stdout, done.stderr.count("\n")), ("", 1))
                self.assertFalse((self.folder / "S").exists())

    def test_what_has_not_run_is_not_said_to_have_failed(self):
        self.weft("sweep", *BASE, "--seeds", "1..2", "-o", "S", "-q")
        shutil.rmtree(self.folder / "S/points/seed=2")
        self.assertIn("seed=2: it has not run\n", self.weft("sweep", "collect", "S", status=2).stderr)

    def test_stops(self):
        started = subprocess.Popen([WEFT, "sweep", "--traffic", "permutation:size=500MB", "--topology", "fat_tree:k=4",
                                    "--seeds", "1..3", "-o", "S", "-q"], cwd=self.folder, stderr=subprocess.PIPE, text=True)
        while not list(self.folder.glob("S/points/*/")):
            time.sleep(0.002)
        started.send_signal(signal.SIGINT)
        told = started.communicate()[1]
        self.assertEqual(started.returncode, 130)
        self.assertIn("the same command goes on", told)


if __name__ == "__main__":
    unittest.main()

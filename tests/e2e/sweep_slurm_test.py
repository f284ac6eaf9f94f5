"""weft sweep --engine slurm, with Slurm's own daemons on one node: tables as of the other engines, and nothing is lost."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import slurm_cluster

WEFT = str(Path(sys.argv.pop(1)).resolve())
BASE = ["--traffic", "permutation:size=1MB", "--topology", "fat_tree:k=4"]
MOST_TASKS = 4

# sbatch that hands the job over, and then ends the weft that called it before this can read the number.
KILLING_SBATCH = """#!{python}
import os, signal, subprocess, sys
subprocess.run([{sbatch!r}, *sys.argv[1:]], stdout=subprocess.DEVNULL, check=True)
pid = os.getppid()
while os.path.basename(os.readlink("/proc/%d/exe" % pid)) != "weft":
    pid = int(open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()[1])
os.kill(pid, signal.SIGKILL)
"""


class SweepSlurm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.cluster = slurm_cluster.Cluster(folder, MOST_TASKS)
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.addCleanup(self.cluster.empty_queue)

    def weft(self, *words, status=0, **more):
        done = subprocess.run([WEFT, *words], cwd=self.folder, capture_output=True, text=True,
                              env={**self.cluster.environment, **more})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def slurm(self, *words):
        done = self.cluster.command(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def jobs(self, sweep):
        return [array["job"] for array in json.loads((self.folder / sweep / "slurm.json").read_text())["arrays"]]

    def wait_for_queue(self):
        self.cluster.until(lambda: not self.slurm("squeue", "--noheader").strip(), "end of the queue", 240)

    def same_tables(self, one, other):
        for file in "sweep.csv", "summary.csv", "plot.svg":
            self.assertEqual((self.folder / one / file).read_bytes(), (self.folder / other / file).read_bytes(), file)

    def test_same_tables_as_local(self):
        words = [*BASE, "--vary", "routing=ecmp,spray", "--seeds", "1..5"]
        # What %j stands for in a name that sbatch is given is another folder.
        folder = "it's slurm, 50%j"
        here = [*words, "-o", folder]
        self.weft("sweep", *words, "-o", "local", "-q")
        # 10 points, 2 of them a task, make 5 tasks; an array has 4 at most.
        told = self.weft("sweep", *here, "--engine", "slurm", "--runs-per-task", "2", "--sbatch", "hold",
                         "--sbatch=--time=10").stdout
        first, second = self.jobs(folder)
        self.assertIn(f"Slurm: 10 runs in 5 tasks of jobs {first}, {second}; job ", told)
        self.assertEqual(sorted(self.slurm("squeue", "--noheader", "--array", "--format=%F %K %l", "--name=weft-sweep").splitlines()),
                         [f"{first} {task} 10:00" for task in range(4)] + [f"{second} 0 10:00"])
        self.assertEqual(self.weft("sweep", "status", folder).stdout,
                         "0 of 10 runs are done, 0 of them complete\nSlurm: 10 queued, 0 running, 0 failed, 0 not handed over\n"
                         "  10 queued: JobHeldUser\n")
        told = self.weft("sweep", "collect", folder, status=2).stderr
        self.assertIn("routing=ecmp_seed=1: it has not run\n", told)
        # Neither this nor another engine runs them a second time, nor others in their place.
        self.assertIn("Slurm has them already\n", self.weft("sweep", *here, "--engine", "slurm").stdout)
        self.assertIn("tasks of Slurm are at work", self.weft("sweep", *here, status=2).stderr)
        self.assertIn("with other settings", self.weft("sweep", *here, "--engine", "slurm", "--congestion", "dctcp",
                                                       status=2).stderr)
        for job in self.slurm("squeue", "--noheader", "--format=%F").split():
            self.slurm("scontrol", "release", job)
        self.wait_for_queue()
        self.same_tables("local", folder)
        self.assertTrue(self.weft("sweep", "status", folder).stdout.startswith("10 of 10 runs are done"))
        # All is done: the same command, with whatever engine, writes the tables again.
        (self.folder / folder / "sweep.csv").unlink()
        self.weft("sweep", *here, "--engine", "slurm")
        self.same_tables("local", folder)

    def test_what_failed_runs_again(self):
        words = ["--traffic", "permutation:size=400MB", "--topology", "fat_tree:k=4", "--seeds", "1..3", "-o", "S"]
        command = ["sweep", *words, "--engine", "slurm", "--sbatch", "hold", "--jobs", "1"]
        self.weft(*command)
        job, = self.jobs("S")
        collection, = self.slurm("squeue", "--noheader", "--format=%F", "--name=weft-collect").split()
        # One is cancelled before it starts, one as it runs.
        self.slurm("scancel", job + "_0")
        self.slurm("scontrol", "release", job + "_2")
        # The run is long against what stands between here and its end.
        self.cluster.until(lambda: job in self.slurm("squeue", "--noheader", "--states=RUNNING", "--format=%F"), "running task")
        self.assertIn("1 queued, 1 running", self.weft("sweep", "status", "S").stdout)
        self.slurm("scancel", job + "_2")
        self.cluster.until(lambda: " 0 running" in self.weft("sweep", "status", "S").stdout, "end of the task")
        told = self.weft("sweep", "status", "S").stdout
        self.assertIn("Slurm: 1 queued, 0 running, 2 failed, 0 not handed over\n", told)
        self.assertIn(f"  seed=1: task {job}_0: no longer in the queue\n", told)
        self.assertIn(f"  seed=3: task {job}_2: CANCELLED", told)
        self.assertIn("the same command runs what failed again", told)
        self.assertIn("Slurm: 2 runs in 2 tasks", self.weft(*command[:-4]).stdout)
        self.slurm("scontrol", "release", job + "_1")
        self.slurm("scancel", collection)
        self.wait_for_queue()
        self.weft("sweep", *words[:-1], "L", "-q")
        self.same_tables("L", "S")

    def test_a_run_without_results_is_told(self):
        words = [*BASE, "--vary", "failed=0,h999", "--engine", "slurm", "-o", "S"]
        self.weft("sweep", *words)
        job, = self.jobs("S")
        self.wait_for_queue()
        told = self.weft("sweep", "status", "S").stdout
        self.assertIn("1 of 2 runs are done", told)
        self.assertIn(f": task {job}_1: FAILED; ", told)
        self.assertIn("h999", told)
        self.assertEqual(len((self.folder / "S/sweep.csv").read_text().splitlines()), 1 + 1)

    def test_why_nothing_comes_of_a_task_is_told(self):
        # 1 MB is too little even for the program that starts the runs, which only the task's own output tells.
        self.weft("sweep", *BASE, "-o", "S", "--engine", "slurm", "--sbatch", "mem=1M")
        job, = self.jobs("S")
        self.wait_for_queue()
        said = (self.folder / f"S/slurm/{job}_0.out").read_text().splitlines()[-1]
        self.assertIn("memory", said)
        self.assertIn(f"  seed=1: task {job}_0: FAILED; {said}\n", self.weft("sweep", "status", "S").stdout)
        # A node that is down: nothing will come of it until that is mended.
        node = self.slurm("sinfo", "--noheader", "--format=%n").split()[0]
        self.slurm("scontrol", "update", "NodeName=" + node, "State=DOWN", "Reason=test")
        self.addCleanup(self.slurm, "scontrol", "update", "NodeName=" + node, "State=RESUME")
        self.weft("sweep", *BASE, "-o", "D", "--engine", "slurm")
        self.cluster.until(lambda: "  1 queued: Nodes required for job are DOWN" in self.weft("sweep", "status", "D").stdout, "reason")

    def test_a_kill_between_loses_no_job(self):
        words = [*BASE, "--seeds", "1..6", "-o", "S", "--engine", "slurm", "--sbatch", "hold"]
        (self.folder / "bin").mkdir()
        fake = self.folder / "bin/sbatch"
        fake.write_text(KILLING_SBATCH.format(python=sys.executable,
                                              sbatch=shutil.which("sbatch", path=slurm_cluster.PATH)))
        fake.chmod(0o755)
        self.weft("sweep", *words, status=-signal.SIGKILL, PATH=f"{fake.parent}:{slurm_cluster.PATH}")
        self.assertIn("Slurm: 4 queued, 0 running, 0 failed, 2 not handed over", self.weft("sweep", "status", "S").stdout)
        self.assertIn("Slurm: 2 runs in 2 tasks", self.weft("sweep", *words).stdout)
        for job in self.slurm("squeue", "--noheader", "--format=%F").split():
            self.slurm("scontrol", "release", job)
        self.wait_for_queue()
        self.weft("sweep", *words[:4], "--seeds", "1..6", "-o", "L", "-q")
        self.same_tables("L", "S")

    def test_what_is_refused(self):
        self.weft("sweep", *BASE, "-o", "S", "-q")
        for option in "array=1", "-a", "-a0-1", "arr=1", "--wrap=true", "clusters=x", "-Mx":
            self.assertIn(f"--sbatch {option}", self.weft("sweep", *BASE, "-o", "S", "--engine", "slurm", f"--sbatch={option}",
                                                          status=2).stderr)
        self.assertIn("--engine slurm", self.weft("sweep", *BASE, "-o", "S", "--sbatch", "mem=1G", status=2).stderr)
        self.assertIn("sbatch: ", self.weft("sweep", *BASE, "-o", "T", "--engine", "slurm", "--sbatch", "partition=none",
                                            status=2).stderr)
        self.assertEqual(self.slurm("squeue", "--noheader"), "")
        self.assertIn("not handed over", self.weft("sweep", "status", "T").stdout)
        self.assertIn("scontrol is not there", self.weft("sweep", *BASE, "-o", "U", "--engine", "slurm", status=2,
                                                         PATH="/nowhere").stderr)


if __name__ == "__main__":
    if lack := slurm_cluster.missing():
        print("skipped: a cluster with Slurm:", lack)
    else:
        unittest.main()

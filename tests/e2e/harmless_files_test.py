"""Commands write and read the files that are meant, and no others; names command no terminal."""

import os
import re
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WEFT = Path(sys.argv.pop(1)).resolve()
HOSTILE = b"a\x1b]0;owned\x07\x1b[31m\xff\x9b\r\xc2\x9bz"


class Harmless(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.weft("goal", "gen", "stencil:dims=[2,2],iterations=2", "--ranks", "4", "-o", "g.weft")
        self.weft("sim", "-q", "--goal", "g.weft", "--topology", "fat_tree:k=4", "-o", "RUN")

    def weft(self, *arguments, status=0, **more):
        run = subprocess.run([WEFT, *arguments], cwd=self.folder, capture_output=True, timeout=60, **{"stdin": subprocess.DEVNULL, **more})
        self.assertEqual(run.returncode, status, (arguments, run.stderr))
        return run

    def writers(self, output):
        """A command of each kind that writes a file."""
        return [["goal", "gen", "stencil:dims=[2,2]", "--ranks", "4", "-o", output, "--to", "pack"],
                ["goal", "convert", "g.weft", output, "--to", "text"],
                ["goal", "stats", "g.weft", "--matrix", output],
                ["export", "perfetto", "RUN", "-o", output],
                ["report", "RUN", "-o", output],
                ["topo", "draw", "fat_tree:k=4", "-o", output],
                ["topo", "export", "fat_tree:k=4", "--format", "graphml", "-o", output],
                ["topo", "gen", "fat_tree:k=4", "--format", "graphml", "-o", output]]

    def runnable(self, output):
        """Those of them that take such a name: some want an ending."""
        for arguments in self.writers(output):
            run = subprocess.run([WEFT, *arguments], cwd=self.folder, capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
            self.assertIn(run.returncode, (0, 2), (arguments, run.stderr))
            if run.returncode == 0:
                yield arguments

    def test_devices_stay_devices(self):
        before = os.stat("/dev/null")
        self.assertGreater(len(list(self.runnable("/dev/null"))), 5)
        after = os.stat("/dev/null")
        self.assertTrue(stat.S_ISCHR(after.st_mode))
        self.assertEqual((before.st_ino, before.st_rdev), (after.st_ino, after.st_rdev))
        os.symlink("/dev/null", self.folder / "link")
        self.weft("report", "RUN", "-o", "link")
        self.assertTrue((self.folder / "link").is_symlink())

    def test_pipes_get_what_files_get(self):
        self.weft("topo", "draw", "fat_tree:k=4", "-o", "whole.svg")
        whole = (self.folder / "whole.svg").read_bytes()
        self.assertEqual(self.weft("topo", "draw", "fat_tree:k=4", "-o", "/dev/stdout").stdout, whole)
        fifo = self.folder / "fifo.svg"
        os.mkfifo(fifo)
        with subprocess.Popen(["cat", fifo], stdout=subprocess.PIPE) as reader:
            self.weft("topo", "draw", "fat_tree:k=4", "-o", "fifo.svg")
            self.assertEqual(reader.stdout.read(), whole)
        self.assertTrue(stat.S_ISFIFO(os.stat(fifo).st_mode))

    def test_an_export_takes_no_file_of_its_run(self):
        files = {path: path.read_bytes() for path in (self.folder / "RUN").iterdir()}
        for path in files:
            error = self.weft("export", "perfetto", "RUN", "--format", "json", "-o", path, status=2).stderr
            self.assertIn(b"choose another output", error)
        self.assertEqual(files, {path: path.read_bytes() for path in (self.folder / "RUN").iterdir()})
        for _ in range(2):  # its own may be written again
            self.weft("export", "perfetto", "RUN", "-o", "RUN/timeline.json")

    def test_links_in_the_way_are_not_followed(self):
        victim = self.folder / "victim"
        victim.write_text("precious")
        for name in ("out.html.partial", ".out.html.part", "out.svg.partial", ".out.svg.part"):
            os.symlink(victim, self.folder / name)
        os.symlink(victim, self.folder / "RUN/.links.csv.part")
        self.weft("report", "RUN", "-o", "out.html")
        self.weft("topo", "draw", "fat_tree:k=4", "-o", "out.svg")
        self.weft("sim", "-q", "--goal", "g.weft", "--topology", "fat_tree:k=4", "-o", "RUN")
        self.assertEqual(victim.read_text(), "precious")

    def test_an_output_that_is_an_input_is_refused(self):
        os.link(self.folder / "g.weft", self.folder / "other.weft")
        os.link(self.folder / "RUN/results.sqlite", self.folder / "same.pb")
        os.link(self.folder / "RUN/summary.json", self.folder / "same.html")
        whole = (self.folder / "g.weft").read_bytes()
        for arguments in (["goal", "convert", "g.weft", "other.weft"], ["goal", "scale", "g.weft", "--calc", "2", "-o", "g.weft"],
                          ["export", "perfetto", "RUN", "-o", "same.pb"], ["report", "RUN", "-o", "same.html"],
                          ["sim", "-q", "RUN/scenario.txtpb", "--goal", "g.weft", "-o", "RUN"]):
            before = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
            run = self.weft(*arguments, status=2)
            self.assertEqual(run.stderr.count(b"\n"), 1, run.stderr)
            self.assertIn(b"would be written too", run.stderr)
            self.assertEqual(before, {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()})
        self.assertEqual((self.folder / "g.weft").read_bytes(), whole)

    def caught_writing(self):
        """A command that has begun its output and not ended it: a larger one is tried where it was too quick to be seen."""
        for iterations in (300, 1200, 4800):
            command = [WEFT, "goal", "gen", f"stencil:dims=[32,32],iterations={iterations}", "--ranks", "1024", "-o", "big.goal"]
            run = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            self.addCleanup(run.stderr.close)
            while run.poll() is None:
                if any(path.name.endswith(".part") for path in self.folder.iterdir()):
                    os.kill(run.pid, signal.SIGSTOP)
                    if any(path.name.endswith(".part") for path in self.folder.iterdir()):
                        return run
                    os.kill(run.pid, signal.SIGCONT)
            self.assertEqual(run.returncode, 0, run.stderr.read())
            (self.folder / "big.goal").unlink()
        self.fail("no part was seen before the output was whole")

    def test_signals_leave_no_parts(self):
        before = sorted(path.name for path in self.folder.iterdir())
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            run = self.caught_writing()
            run.send_signal(number)
            run.send_signal(signal.SIGCONT)
            self.assertIn(run.wait(60), (-number, 128 + number))
            self.assertEqual(sorted(path.name for path in self.folder.iterdir()), before)

    def readers(self, path):
        return [["sim", path, "--goal", "g.weft"], ["sim", "--goal", path], ["goal", "info", path], ["goal", "check", path],
                ["sim", "--goal", "g.weft", "--plugin", path], ["sim", "--goal", "g.weft", "--topology", f"graph_file:file={path}"],
                ["sim", "--traffic", f"connections:file={path}", "--topology", "fat_tree:k=4"],
                ["sim", "--goal", "g.weft", "--topology", "fat_tree:k=4", "--placement", f"rank_file:file={path}"],
                ["sim", "--goal", "g.weft", "--topology", "fat_tree:k=4", "--routing", f"tables:file={path}"],
                ["sim", "--job-list", path, "--topology", "fat_tree:k=4"], ["jobs", path],
                ["import", "kineto", path, "-o", "x.weft"], ["import", "nsys", path, "-o", "x.weft"], ["import", "spc", path, "-o", "x.weft"],
                ["import", "simai", path, "-o", "x.weft"], ["import", "aicb", path, "-o", "x.weft"],
                ["topo", "cost", "fat_tree:k=4", "--prices", path], ["topo", "info", f"graph_file:file={path}"],
                ["topo", "analyze", "fat_tree:k=4", "--matrix", path], ["report", "RUN", "--prices", path, "-o", "x.html"],
                ["export", "perfetto", path, "-o", "x"], ["trace", "--check", path]]

    def test_what_is_no_file_is_told_at_once(self):
        os.mkfifo(self.folder / "fifo")
        (self.folder / "directory").mkdir()
        with socket.socket(socket.AF_UNIX) as listener:
            before = os.getcwd()
            os.chdir(self.folder)
            self.addCleanup(os.chdir, before)
            listener.bind("socket")
            for path in ("fifo", "directory", "socket", "/dev/zero"):
                for arguments in self.readers(path):
                    run = self.weft(*arguments, status=2)
                    self.assertEqual(run.stderr.count(b"\n"), 1, (arguments, run.stderr))
                    self.assertIn(path.encode(), run.stderr, arguments)

    def test_pipes_that_are_given_are_read(self):
        self.weft("goal", "convert", "g.weft", "g.goal")
        text = (self.folder / "g.goal").read_bytes()
        run = self.weft("goal", "info", "/dev/stdin", stdin=None, input=text)
        self.assertIn(b"ranks 4\n", re.sub(rb" +", b" ", run.stdout))
        script = f"'{WEFT}' goal info <(cat g.goal) && cat g.goal | '{WEFT}' sim -q --goal /dev/stdin"
        subprocess.run(["bash", "-c", script], cwd=self.folder, check=True, capture_output=True, timeout=60)

    def test_hostile_names_reach_no_terminal(self):
        name = os.fsdecode(HOSTILE.replace(b"/", b""))
        (self.folder / name).write_bytes((self.folder / "g.weft").read_bytes())
        swf = self.folder / "list.swf"
        swf.write_bytes(b"; Computer: " + HOSTILE + b"\n1 0 0 10 4 -1 -1 4 10 -1 1 1 1 1 1 1 -1 -1\n")
        (self.folder / "jobs.csv").write_bytes(b"name,submit,runtime,nodes\n" + HOSTILE.replace(b"\r", b"") + b",0,10,4\n")
        (self.folder / "slurm.conf").write_bytes(b"SwitchName=s0 Nodes=n[0-3] " + HOSTILE + b"=1\n")
        (self.folder / "scenario.txtpb").write_bytes(b'job { name: "' + HOSTILE.replace(b"\r", b"") + b'" goal: "g.weft" }\n')
        commands = [["goal", "info", name], ["goal", "check", name], ["goal", "stats", name], ["sim", "--goal", name],
                    ["sim", "--job", f"g.weft,name={name}"], ["sim", "-v", "--goal", name, "--topology", "fat_tree:k=4"],
                    ["goal", "info", name + "x"], ["sim", name], ["jobs", "list.swf"], ["jobs", "jobs.csv"], ["import", name, "-o", "x.weft"],
                    ["topo", "info", "slurm:topology=slurm.conf"], ["topo", "info", "slurm_topology:file=slurm.conf"], ["sim", "scenario.txtpb"],
                    ["nccl", "all_reduce", name], ["nccl", "all_reduce", "1M", "--nccl-version", name], ["topo", "info", name], ["list", name],
                    ["describe", name], [name], ["sim", "--" + name], ["report", name], ["export", "perfetto", name, "-o", "x"],
                    ["trace", "--check", name], ["trace", "info", name], ["goal", "convert", "g.weft", name + ".goal"], ["place", name]]
        for arguments in commands:
            run = subprocess.run([WEFT, *arguments], cwd=self.folder, capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
            printed = run.stdout + run.stderr
            self.assertNotIn(b"libprotobuf", printed, arguments)
            self.assertNotIn(b"internal error", printed, arguments)
            self.assertNotRegex(printed, rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]", arguments)
            printed.decode()  # throws what is no UTF-8

    def test_messages_are_short(self):
        for arguments in (["sim", "x" * 3000], ["topo", "info", "y" * 3000 + ":k=" + "z" * 3000], ["sim", "--set", "a" * 9000 + "=1"], ["goal", "info", "/".join(["d" * 200] * 15)]):
            run = self.weft(*arguments, status=2)
            self.assertLess(len(run.stderr), 560, run.stderr)


if __name__ == "__main__":
    unittest.main()

"""weft sim as people run it: progress line, Ctrl-C, limits, and a run repeated from its results."""

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

    def test_event_limit_ends_with_status_4(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "long.goal").write_text(graph())
            run = subprocess.run([WEFT, "sim", "--goal", "long.goal", "--set", "limits.events=100000", "-o", "RUN"],
                                 cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
            self.assertEqual(run.returncode, 4)
            summary = json.loads((Path(folder) / "RUN/summary.json").read_text())
            self.assertEqual(summary["outcome"], "event limit")
            # The limit is looked at every 65,536 events.
            self.assertEqual(summary["events"], 2 * 65536)

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


if __name__ == "__main__":
    unittest.main()

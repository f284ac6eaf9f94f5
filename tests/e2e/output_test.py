"""Standard output that can't be written to, and what is quoted in messages."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WEFT = str(Path(sys.argv.pop(1)).resolve())
SWITCH = ["--topology", "single_switch:hosts=4"]

# Everything that prints.
PRINTING = [
    [],
    ["--help"],
    ["--version"],
    ["sim", "--help"],
    ["list"],
    ["list", "topology"],
    ["describe", "fat_tree"],
    ["import", "--list"],
    ["goal", "gen", "shift:ranks=4,size=8B", "-o", "-"],
    ["goal", "info", "a.goal"],
    ["goal", "check", "a.goal"],
    ["goal", "print", "a.goal"],
    ["goal", "stats", "a.goal"],
    ["goal", "scale", "a.goal", "--calc", "2", "-o", "b.goal"],
    ["topo", "gen", "fat_tree:k=4", "-o", "net.graphml"],
    ["topo", "info", "fat_tree:k=4"],
    ["topo", "analyze", "fat_tree:k=4"],
    ["topo", "compare", "fat_tree", "hypercube", "--endpoints", "16"],
    ["topo", "cost", "fat_tree:k=4"],
    ["topo", "draw", "fat_tree:k=4"],
    ["topo", "export", "fat_tree:k=4"],
    ["route", "show", *SWITCH, "--from", "0", "--to", "1"],
    ["route", "load", *SWITCH],
    ["route", "check", *SWITCH, "--queue", "pfc"],
    ["sim", "--traffic", "shift:size=8B", *SWITCH],
    ["sim", "--traffic", "shift:size=8B", *SWITCH, "--dry-run"],
]


class Output(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        (self.folder / "a.goal").write_text("num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n")

    def weft(self, *arguments, to=None):
        """Runs it in a shell that sends its output `to`: "> /dev/full"."""
        command = [WEFT, *arguments] if to is None else ["bash", "-c", f'exec "$0" "$@" {to}', WEFT, *arguments]
        return subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True)

    def test_what_cannot_be_printed_is_an_error(self):
        for arguments in PRINTING:
            with self.subTest(arguments=arguments):
                good = self.weft(*arguments)
                self.assertEqual(good.returncode, 0, good.stderr)
                self.assertTrue(good.stdout)
                for to, reason in (("> /dev/full", "No space left on device"), (">&-", "Bad file descriptor")):
                    run = self.weft(*arguments, to=to)
                    self.assertEqual(run.returncode, 2, (to, run.stderr))
                    last = run.stderr.decode().splitlines()[-1]
                    self.assertTrue(last.startswith("weft: can't write to standard output"), run.stderr)
                    if len(good.stdout) < 4096:  # it is all handed over at the end, where the reason is known
                        self.assertEqual(last, f"weft: can't write to standard output: {reason}")
                    self.assertEqual(len(run.stderr.splitlines()), len(good.stderr.splitlines()) + 1)

    def test_the_results_are_complete_all_the_same(self):
        run = self.weft("sim", "--traffic", "shift:size=8B", *SWITCH, "-o", "GOOD")
        self.assertEqual(run.returncode, 0)
        names = {path.name for path in (self.folder / "GOOD").iterdir()}
        for to in ("> /dev/full", ">&-"):
            run = self.weft("sim", "--traffic", "shift:size=8B", *SWITCH, "-o", "RUN", to=to)
            self.assertEqual(run.returncode, 2)
            self.assertEqual({path.name for path in (self.folder / "RUN").iterdir()}, names)
            # A descriptor that was free isn't taken for the output.
            for name in ("ranks.csv", "flows.csv"):
                self.assertEqual((self.folder / "RUN" / name).read_bytes(), (self.folder / "GOOD" / name).read_bytes())

    def test_nothing_to_print_is_no_error(self):
        for to in ("> /dev/full", ">&-", "<&- >&-", "<&- >&- 2>&-"):
            run = self.weft("sim", "--traffic", "shift:size=8B", *SWITCH, "-q", "-o", "RUN", to=to)
            self.assertEqual((run.returncode, run.stderr), (0, b""), to)

    def test_a_reader_that_goes_ends_it_quietly(self):
        run = subprocess.run(["bash", "-c", '"$0" list | head -1; echo ${PIPESTATUS[0]}', WEFT], capture_output=True, text=True)
        self.assertEqual(run.stderr, "")
        self.assertIn(run.stdout.splitlines()[-1], ("0", "141"))

    def test_messages_hold_nothing_that_a_terminal_obeys_and_are_short(self):
        escape = "\x1b]0;title\x07\x1b[2J"
        (self.folder / "bad.goal").write_bytes(b"num_ranks 1\nrank 0 {\n" + b"y" * (1 << 20) + b"\x1b[2J 5\n}\n")
        (self.folder / "bad.txtpb").write_bytes(b"\x1b[2J: 5\n")
        for arguments in (["sim", "--goal", escape], ["sim", "--topology", escape], ["sim", "--set", escape + "=1"],
                          ["sim", "--topology", "fat_tree:k=" + "9" * 100000], ["sim", "--" + escape], [escape],
                          ["list", escape], ["describe", escape], ["sim", "--seed", escape], ["sim", "bad.txtpb"],
                          ["goal", "info", "bad.goal"], ["goal", "check", "bad.goal"], ["topo", "info", escape],
                          ["sim", "--seed", "7" * 100000], ["goal", "info", "a.goal", "z" * 100000],
                          ["goal", "gen", "shift:ranks=4,size=" + escape], [b"\xff\xfe"], ["sim", "--goal", b"\xff"]):
            run = self.weft(*arguments)
            with self.subTest(arguments=str(arguments)[:60]):
                self.assertEqual(run.returncode, 2, run.stderr[:300])
                shown = run.stderr + run.stdout
                self.assertTrue(shown.endswith(b"\n"))
                self.assertFalse([c for c in shown.decode() if (ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160], shown[:300])
                self.assertLess(len(shown), 6000)

    def test_names_in_a_wiring_list_come_out_fit_for_a_terminal_behind_pipes_and_in_files(self):
        name = "h\u009b2J\u202e"  # a control sequence of one byte less, and writing from right to left
        shown = b"h\\xC2\\x9B2J\\xE2\\x80\\xAE0"
        (self.folder / "net.csv").write_text("from,to,rate\n" + "".join(f"{name}{i},sw,10Gbps\n" for i in range(3)), "utf-8")
        network = ["--topology", "graph_file:file=net.csv,hosts=h*"]
        show = ["route", "show", *network, "--from", "0", "--to", "1"]
        for words in (show, ["route", "load", *network], ["route", "check", *network, "--queue", "pfc"],
                      ["place", *network, "--job", "ranks=2"], ["topo", "info", network[1]], ["topo", "cost", network[1]]):
            run = self.weft(*words)
            with self.subTest(words=words):
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertFalse({"\u009b", "\u202e"} & set((run.stdout + run.stderr).decode()))
        self.assertIn(shown, self.weft(*show).stdout)
        self.weft(*show, "-o", "shown.txt")
        self.assertIn(shown, (self.folder / "shown.txt").read_bytes())
        # Programs get the name itself.
        self.assertEqual(json.loads(self.weft(*show, "--json").stdout)["from"], name + "0")

    def test_errors_of_graphs_name_file_rank_and_operation(self):
        comm = "".join(f"rank {r} {{\nc: calc 1\nbarrier comm 1\n}}\n" for r in range(3))
        (self.folder / "member.goal").write_text('num_ranks 3\ncomm 1 "pair" { 0 1 }\n' + comm)
        (self.folder / "collective.goal").write_text("num_ranks 2\nrank 0 {\ncalc 1\nbarrier\n}\nrank 1 {\nbarrier\n}\n")
        (self.folder / "late.goal").write_text(
            "num_ranks 2\nrank 0 {\na: calc 4000000000000000\nb: calc 4000000000000000\nb requires a\n}\nrank 1 {\ncalc 1\n}\n")
        (self.folder / "large.goal").write_text(
            "num_ranks 2\nrank 0 {\nrecv 1b from 1\nrecv 1b from 1\n}\nrank 1 {\ncalc 9\n" + f"send {2**64 - 1}b to 0\n" * 2 + "}\n")
        late, large = "rank 0, operation 1: simulated time would pass 53 days", "rank 1, operation 2: the messages sent have more than 2^64 bytes"
        not_member = "rank 2, operation 1 calls a collective on communicator 1 (pair), of which it is no member"
        cases = [("member.goal", ["--network", "loggops"], not_member),
                 ("member.goal", [*SWITCH, "--threads", "2"], not_member),
                 ("late.goal", ["--network", "loggops"], late), ("late.goal", [*SWITCH, "--threads", "2"], late),
                 ("large.goal", [*SWITCH, "--network", "flow"], large), ("large.goal", SWITCH, large),
                 ("collective.goal", ["--network", "loggops:semantics=classic"], "rank 0, operation 1 (barrier")]
        for graph, arguments, expected in cases:
            for file in (graph, "packed.weft"):
                self.assertEqual(self.weft("goal", "convert", graph, "packed.weft").returncode, 0)
                run = self.weft("sim", "--goal", file, *arguments)
                self.assertEqual(run.returncode, 2)
                self.assertTrue(run.stderr.decode().startswith(f"weft: {file}: {expected}"), run.stderr)
        # The operation's place in its file is told where there is one.
        (self.folder / "text.goal").write_text("num_ranks 2\nrank 0 {\nsnd 8b to 1\n}\nrank 1 {\n}\n")
        self.assertIn(b"weft: text.goal:3", self.weft("goal", "check", "text.goal").stderr)

    def test_names_of_other_formats_are_refused(self):
        self.weft("goal", "gen", "shift:ranks=4,size=8B", "-o", "a.goal")
        self.weft("sim", "--goal", "a.goal", *SWITCH, "-q", "-o", "RUN")
        cases = [(["bundle", "RUN", "-o"], ["x.zip", "x.tar", "x.tar.gz", "x.ZIP", "x.zst"], ["x.tar.zst", "x.bundle"]),
                 (["report", "RUN", "-o"], ["x.pdf", "x.json"], ["x.html", "page"]),
                 (["export", "perfetto", "RUN", "-o"], ["x.html", "x.json.gz"], ["x.pftrace", "x.json"]),
                 (["export", "perfetto", "RUN", "--format", "json", "-o"], [], ["x.any", "x.html"]),
                 (["topo", "draw", "fat_tree:k=4", "-o"], ["x.png", "x.html"], ["x.svg"]),
                 (["topo", "cost", "fat_tree:k=4", "-o"], ["x.json", "x.csv"], ["x.txt", "x.md"]),
                 (["topo", "cost", "fat_tree:k=4", "--json", "-o"], ["x.csv"], ["x.json", "x.txt"]),
                 (["topo", "analyze", "fat_tree:k=4", "--only", "distances", "-o"], ["x.json"], ["x.txt"]),
                 (["topo", "gen", "fat_tree:k=4", "-o"], ["x.png"], ["x.graphml"]),
                 (["topo", "export", "fat_tree:k=4", "-o"], ["x.svg"], ["x.dot"]),
                 (["route", "load", *SWITCH, "-o"], ["x.csv", "x.json"], ["x.txt"]),
                 (["route", "load", *SWITCH, "--csv", "-o"], ["x.json"], ["x.csv"]),
                 (["route", "show", *SWITCH, "--from", "0", "--to", "1", "-o"], ["x.json"], ["x.txt"]),
                 (["route", "check", *SWITCH, "--queue", "pfc", "-o"], ["x.json"], ["x.txt"]),
                 (["place", "a.goal", *SWITCH, "-o"], ["x.json"], ["x.txt"]),
                 (["place", "a.goal", *SWITCH, "--picture"], ["x.png"], ["x.svg"]),
                 (["goal", "stats", "a.goal", "--matrix"], ["x.png"], ["x.csv"]),
                 (["goal", "convert", "a.goal"], ["x.zip"], ["x.bin"]),
                 (["manual", "--html"], ["x.pdf"], ["x.html"])]
        for command, refused, taken in cases:
            for name in refused:
                with self.subTest(command=command, name=name):
                    run = self.weft(*command, name)
                    self.assertEqual(run.returncode, 2, run.stdout)
                    self.assertIn(name.encode(), run.stderr)
                    self.assertIn(b"ends in .", run.stderr.replace(b"end in one of .", b"ends in ."))
                    self.assertFalse((self.folder / name).exists())
            for name in taken:
                with self.subTest(command=command, name=name):
                    run = self.weft(*command, name)
                    self.assertEqual(run.returncode, 0, run.stderr)
                    (self.folder / name).unlink()


if __name__ == "__main__":
    unittest.main()

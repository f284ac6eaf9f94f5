"""A packed graph is read while it is replayed: the results are those of the same graph as text, which is held in memory."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from sanitized import but_not_sanitized

WEFT, STRETCH = (str(Path(sys.argv.pop(1)).resolve()) for _ in range(2))

# What a summary says of the machine, or of what was asked for.
OF_THE_RUN = {"network", "wall_seconds", "events_per_second", "packet_hops_per_second", "peak_memory_bytes"}
FABRIC = ["--topology", "fat_tree:k=4", "--routing", "ecmp"]
NETWORKS = [["--network", "loggops:L=2000,o=500,g=10,G=0.5,S=10000"],
            ["--network", "packet", *FABRIC, "--congestion", "dctcp"],
            ["--network", "packet:partitions=3", *FABRIC, "--congestion", "dctcp", "--threads", "2"],
            ["--network", "flow", *FABRIC]]
GENERATED = ["stencil:dims=[4,4],iterations=12,compute=20us,allreduce=3",
             "collective:kind=alltoall,size=64kB,iterations=3",
             "random:count=20,size=30kB"]
# Any source and any tag, waits for a start, cpus with gaps, several NICs, an operation that waits for a later one,
# and one that waits for nothing behind many that do.
BY_HAND = """num_ranks 3
rank 0 {
first: calc 1000
a: recv 300b from -1 tag -1
b: recv 40000b from 1 tag 5 cpu 7
c: calc 500 cpu 7
c irequires b
a requires first
late: calc 10
%s
early: calc 3 cpu 3
first requires early
late requires a
late requires b
late requires x59
}
rank 1 {
s: send 40000b to 0 tag 5 nic 1
t: send 300b to 0 tag 9
t irequires s
}
rank 2 {
u: calc 77
}
""" % "\n".join(f"x{i}: calc {i + 1}\nx{i} requires {'c' if i == 0 else f'x{i - 1}'}" for i in range(60))


class Streaming(unittest.TestCase):
    maxDiff = 2000

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = Path(self.temporary.name)

    def weft(self, *arguments, status=0):
        done = subprocess.run([WEFT, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual(done.returncode, status, f"weft {' '.join(arguments)}\n{done.stdout}{done.stderr}")
        return done

    def results(self, graph, arguments, status=0):
        """All files of a run but those that tell of the machine, by name, and what it complained about."""
        name = f"RUN-{graph}"
        done = self.weft("sim", "--goal", graph, *arguments, "-q", "-o", name, status=status)
        files = {path.name: path.read_text() for path in (self.folder / name).iterdir() if path.suffix not in (".txtpb", ".sqlite")}
        summary = json.loads(files.pop("summary.json"))
        files["summary"] = {key: value for key, value in summary.items() if key not in OF_THE_RUN}
        return files, done.stderr

    def check_same(self, arguments, status=0):
        """Of graph.weft and graph.goal."""
        streamed, held = (self.results(graph, arguments, status) for graph in ("graph.weft", "graph.goal"))
        self.assertEqual(streamed, held, f"graph.weft and graph.goal differ with {' '.join(arguments)}")
        return streamed

    def test_generated(self):
        for workload in GENERATED:
            self.weft("goal", "gen", workload, "--ranks", "16", "-o", "graph.weft")
            self.weft("goal", "convert", "graph.weft", "graph.goal")
            for network in NETWORKS:
                files, _ = self.check_same(network)
                self.assertGreater(files["summary"]["messages"], 100)

    def test_by_hand(self):
        (self.folder / "graph.goal").write_text(BY_HAND)
        self.weft("goal", "convert", "graph.goal", "graph.weft")
        for network in NETWORKS[:1] + NETWORKS[3:]:
            files, _ = self.check_same(network)
            self.assertEqual(files["summary"]["executed_ops"], 69)

    def test_compatibility_modes_take_packed_graphs_too(self):
        self.weft("goal", "gen", "random:count=20,size=30kB", "--ranks", "16", "-o", "graph.weft")
        self.weft("goal", "convert", "graph.weft", "graph.goal")
        for semantics in ("classic", "atlahs"):
            self.check_same(["--network", f"loggops:semantics={semantics},L=2000,o=500,g=10,G=1,S=10000"])

    def test_diagnosis_names_labels(self):
        chain = "\n".join(f"c{i}: calc 5" + (f"\nc{i} requires c{i - 1}" if i else "") for i in range(300))
        (self.folder / "graph.goal").write_text(
            f"num_ranks 2\nrank 0 {{\n{chain}\nlost: recv 8b from 1 tag 4\nlost requires c299\n}}\n"
            f"rank 1 {{\n{chain}\nsent: send 8b to 0 tag 3\nsent requires c299\n"
            "round: calc 1\nabout: calc 1\nround requires about\nabout requires round\n}\n")
        self.weft("goal", "convert", "graph.goal", "graph.weft")
        _, complaint = self.check_same(NETWORKS[0], status=3)
        self.assertIn("operation 300 (lost)", complaint)
        self.assertIn("(first: operation 301 (round))", complaint)
        self.assertIn("right peer, other tag", complaint)

    @but_not_sanitized(WEFT)
    def test_memory_stays_where_the_graph_is_long(self):
        self.weft("goal", "gen", "stencil:dims=[4,4],iterations=100,compute=20us", "--ranks", "16", "-o", "short.weft")
        subprocess.run([STRETCH, "short.weft", "700", "long.weft"], cwd=self.folder, check=True)

        def summary_of(graph):
            self.weft("sim", "--goal", graph, "--no-flows", "-q", "-o", "RUN")
            return json.loads((self.folder / "RUN" / "summary.json").read_text())

        short, summary = summary_of("short.weft"), summary_of("long.weft")
        self.assertGreater(summary["executed_ops"], 9_000_000)  # as a graph 400 MB
        self.assertEqual(summary["executed_ops"], summary["ops"])
        self.assertLess(summary["peak_memory_bytes"], short["peak_memory_bytes"] + 15_000_000)

    def test_damage(self):
        self.weft("goal", "gen", "random:count=200,size=30kB", "--ranks", "16", "-o", "graph.weft")
        whole = (self.folder / "graph.weft").read_bytes()
        (self.folder / "cut.weft").write_bytes(whole[:len(whole) // 2])
        self.assertIn("cut.weft", self.weft("sim", "--goal", "cut.weft", status=2).stderr)


if __name__ == "__main__":
    unittest.main()

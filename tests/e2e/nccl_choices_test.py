"""What NCCL chose, as its profiler interface told it, is what a simulated run does: per operation, before the modelled
choice, which follows NCCL_ALGO and the like; and what a GPU's channels cost."""

import csv
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WEFT = str(Path(sys.argv.pop(1)).resolve())


class Choices(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()

    def graph(self, *operations):
        """8 ranks that do these allreduces one after the other."""
        lines = [f"a{i}: allreduce {op}" for i, op in enumerate(operations)]
        lines += [f"a{i} requires a{i - 1}" for i in range(1, len(operations))]
        text = "num_ranks 8\n" + "".join(f"rank {r} {{\n" + "\n".join(lines) + "\n}\n" for r in range(8))
        path = self.folder / "app.goal"
        path.write_text(text)
        return path

    def run_on(self, graph, *settings, eager_limit=1000000000):
        out = self.folder / "out"
        command = [WEFT, "sim", "--quiet", "--goal", graph, "--network", f"loggops:L=2000,o=0,g=0,G=0.1,S={eager_limit}",
                   "-o", out]
        for setting in settings:
            command += ["--set", setting]
        subprocess.run([str(word) for word in command], check=True, capture_output=True)
        return json.loads((out / "summary.json").read_text())

    def test_a_recorded_choice_wins_over_the_modelled_one(self):
        size = "1048576b elem 4"
        profile = "collectives.profile=nccl:node=dgx_h100"
        modelled = self.run_on(self.graph(size), profile)
        # NCCL_ALGO and NCCL_PROTO: what the model chooses changes with them …
        for fixed in ("algo=ring,proto=simple", "algo=tree,proto=ll", "algo=ring,proto=ll,max_channels=2"):
            self.assertNotEqual(self.run_on(self.graph(size), f"{profile},{fixed}")["digest"], modelled["digest"], fixed)
        runs = {}
        for choice in ("nccl_ring:protocol=simple,channels=4", "nccl_tree:protocol=ll,channels=2",
                       "nccl_ring:protocol=ll,channels=4"):
            graph = self.graph(f"{size} by {choice}")
            runs[choice] = self.run_on(graph, profile)
            # … and what was recorded does not.
            self.assertEqual(self.run_on(graph, f"{profile},algo=tree,proto=ll128")["digest"], runs[choice]["digest"])
        self.assertEqual(len({run["digest"] for run in runs.values()}), 3)
        # Wire bytes: 8 ranks send 2 · 7/8 of the vector each; LL twice as many.
        simple = runs["nccl_ring:protocol=simple,channels=4"]["bytes"]
        self.assertEqual(simple, 2 * 7 * 1048576)
        self.assertEqual(runs["nccl_ring:protocol=ll,channels=4"]["bytes"], 2 * simple)
        # What the user forces comes before both.
        forced = self.run_on(self.graph(f"{size} by nccl_tree:protocol=ll,channels=2"),
                             "collectives.allreduce=nccl_ring:protocol=simple,channels=4,ranks_per_node=8", profile)
        self.assertEqual(forced["digest"], runs["nccl_ring:protocol=simple,channels=4"]["digest"])

    def test_choices_are_per_operation(self):
        """Two operations, a choice for each: together they take what each takes alone."""
        ring, tree = "65536b elem 4 by nccl_ring:protocol=ll,channels=1", "65536b elem 4 by nccl_tree:protocol=ll,channels=1"
        profile = "collectives.profile=nccl:node=dgx_h100"
        alone = [self.run_on(self.graph(op), profile)["bytes"] for op in (ring, tree)]
        self.assertEqual(self.run_on(self.graph(ring, tree), profile)["bytes"], sum(alone))
        self.assertNotEqual(*(self.run_on(self.graph(op), profile)["makespan_ns"] for op in (ring, tree)))

    def test_switches_reduce_where_nccl_would_let_them(self):
        """The profile takes NVLS on a node and its tree on two; a GPU's links carry n + n/k bytes, rails 2 (N-1) n/k."""
        size, graph = 1 << 28, self.graph(f"{1 << 28}b elem 4")
        for gpus, algorithm in ((8, "nccl_nvls"), (4, "nccl_nvls_tree")):
            profile = f"collectives.profile=nccl:node=dgx_h100,gpus_per_node={gpus},algo=[nvls,nvlstree]"
            chosen = self.run_on(graph, profile)
            forced = self.run_on(graph, profile,
                                 f"collectives.allreduce={algorithm}:channels=16,ranks_per_node={gpus}")
            self.assertEqual(chosen["digest"], forced["digest"])
            between = 2 * (8 // gpus - 1) * size
            expected = 8 * (size + size // gpus) / .85 + between  # NVLS reaches 85% of the links
            self.assertAlmostEqual(chosen["bytes"] / expected, 1, delta=1e-4)
        graph = self.graph("8b elem 4 by nccl_collnet_direct:channels=2")
        result = subprocess.run([WEFT, "sim", "--goal", str(graph), "--network", "loggops", "-o", str(self.folder / "no")],
                                capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("SHARP", result.stderr)

    def test_messages_in_a_node_go_over_its_links(self):
        """Two nodes of 4 GPUs, linked in pairs, with a NIC each: the ring of one channel goes from GPU to GPU over their own
        links and leaves a node once. Over each of its edges go 2 · 7/8 of the vector, in packets of 4096 bytes and 64 more."""
        size, out = 1 << 20, self.folder / "domains"
        graph = self.graph(f"{size}b elem 4 by nccl_ring:protocol=simple,channels=1")
        subprocess.run([WEFT, "sim", "--quiet", "--goal", str(graph), "--network", "flow", "--fabric", "none", "--topology",
                        "scale_up:of=[single_switch:hosts=2],accelerators=4,nics=4,switches=0", "--set",
                        "collectives.profile=nccl:node=dgx_h100,gpus_per_node=4", "-o", str(out)],
                       check=True, capture_output=True)
        with open(out / "links.csv", encoding="utf-8") as file:
            carried = {(row["from"], row["to"]): int(row["bytes"]) for row in csv.DictReader(file)
                       if not {row["from"][:4], row["to"][:4]} & {"host"}}
        inside = {(f"accelerator {node}.{gpu}", f"accelerator {node}.{gpu + 1}") for node in (0, 1) for gpu in (0, 1, 2)}
        edge = 2 * 7 * size // 8 * 4160 // 4096
        self.assertEqual({link for link, count in carried.items() if count and "switch" not in " ".join(link)}, inside)
        self.assertEqual({carried[link] for link in inside}, {edge})
        # Into the switch from the last GPU of each node, out of it to the first.
        between = {link: count for link, count in carried.items() if count and link not in inside}
        self.assertEqual(sorted(between.values()), 4 * [edge])
        self.assertEqual({end for link in between for end in link if end.startswith("acc")},
                         {f"accelerator {node}.{gpu}" for node in (0, 1) for gpu in (0, 3)})

    def test_costs_of_a_channel(self):
        """A ring with Simple, a channel, and chunks of 8 KiB, so one slice: 2 · 7 steps, each S + bytes / rate + L + G bytes;
        after the last the data are copied once more. Nothing else takes time."""
        graph = self.graph("65536b elem 4 by nccl_ring:protocol=simple,channels=1")
        costs = "gpu=none,launch=5us,step=1us,copy=8GB/s,combine=8GB/s"
        run = self.run_on(graph, f"collectives.profile=nccl:node=dgx_h100,{costs}")
        step_ns = 1000 + 8192 / 8 + 2000 + 8191 * 0.1
        self.assertAlmostEqual(run["makespan_ns"], 5000 + 14 * step_ns + 1000 + 8192 / 8, delta=2)
        # Two nodes: the ring crosses twice, and every chunk goes over 14 of its 16 edges, 3 or 4 of which … at least 3.
        between = self.run_on(graph, f"collectives.profile=nccl:node=dgx_h100,gpus_per_node=4,{costs},proxy=2us,between=3us")
        more = (between["makespan_ns"] - run["makespan_ns"]) / 5000
        self.assertIn(round(more, 3), (3, 4))
        # A message of more than the eager limit waits for nobody: channels have their buffers.
        eager = self.run_on(graph, f"collectives.profile=nccl:node=dgx_h100,{costs}", eager_limit=1024)
        self.assertEqual(eager["makespan_ns"], run["makespan_ns"])

    def test_wrong_costs_are_refused(self):
        for wrong, said in (("gpu=h101", "did you mean 'h100'"), ("step=[1us,2us]", "three in brackets"),
                            ("copy=fast", "copy")):
            command = [WEFT, "sim", "--goal", self.graph("8b elem 4"), "--network", "loggops", "--set",
                       f"collectives.profile=nccl:{wrong}", "-o", self.folder / "bad"]
            result = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(said, result.stderr)


if __name__ == "__main__":
    unittest.main()

"""NCCL's channels in bundles against each on its own: times within 1%, as many bytes, and the run tells of it. The
reference is the exact schedule, replayed on the same network."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WEFT = Path(sys.argv.pop(1)).resolve()
RAILS = "scale_up:of=[rail_optimized:units=1,nodes={}],node=dgx_h100"


def replay(ranks, size, topology, bundle, network="flow", gpu="auto", more=()):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([WEFT, "sim", "--traffic", f"collective:kind=allreduce,size={size},element=4B,ranks={ranks}",
                        "--network", network, "--set", f"collectives.profile=nccl:node=dgx_h100,gpu={gpu},bundle={bundle}",
                        "-o", folder] + (["--topology", topology] if topology else []) + list(more),
                       check=True, stdout=subprocess.DEVNULL)
        summary = json.loads(Path(folder, "summary.json").read_text(encoding="utf-8"))
    told = [warning for warning in summary["warnings"] if "go as one message" in warning]
    return summary, told


class Bundles(unittest.TestCase):
    def compare(self, bundle, *case, error=0.01, **options):
        exact, nothing = replay(*case, 1, **options)
        bundled, told = replay(*case, bundle, **options)
        self.assertEqual(nothing, [])
        self.assertEqual(len(told), 1)
        self.assertLess(abs(bundled["makespan_ns"] / exact["makespan_ns"] - 1), error, case)
        self.assertLess(bundled["messages"], 0.55 * exact["messages"])
        # In the last turn heads have unequal parts, and none sends its own to itself.
        self.assertLess(abs(bundled["bytes"] / exact["bytes"] - 1), 1e-4)
        return bundled, told[0]

    def test_one_node(self):
        self.compare(8, 8, "64MB", "scale_up:node=dgx_h100")
        self.compare(8, 8, "512MB", "scale_up:node=dgx_h100")

    def test_rings_in_a_node(self):
        for size in ("64MiB", "256MiB"):
            exact, _ = replay(8, size, "scale_up:node=dgx_h100", "1,algo=ring")
            bundled, told = replay(8, size, "scale_up:node=dgx_h100", "auto,algo=ring")
            self.assertIn("channels of nccl_ring", told[0])
            self.assertLess(abs(bundled["makespan_ns"] / exact["makespan_ns"] - 1), 0.001, size)
            self.assertLess(bundled["messages"], 0.13 * exact["messages"])

    def test_a_training_step(self):
        times = []
        for bundle in ("1", "auto"):
            with tempfile.TemporaryDirectory() as folder:
                subprocess.run([WEFT, "sim", "--traffic", "llm:model=tiny,tp=4,cp=2,pp=2,dp=2,micro_batches=4", "--network", "flow",
                                "--topology", RAILS.format(4), "--set", f"collectives.profile=nccl:bundle={bundle}", "-o", folder],
                               check=True, stdout=subprocess.DEVNULL)
                times.append(json.loads(Path(folder, "summary.json").read_text(encoding="utf-8"))["makespan_ns"])
        self.assertLess(abs(times[1] / times[0] - 1), 0.015, times)

    def test_two_nodes(self):
        two = "scale_up:of=[fat_tree:k=4],node=dgx_h100"
        self.compare(4, 16, "256MB", two)
        self.compare(4, 16, "256MB", two, gpu="none")
        self.compare(2, 16, "64MB", two)

    def test_eight_nodes_by_rule(self):
        dragonfly = "scale_up:of=[dragonfly:p=2],node=dgx_h100"
        for topology, more, error in ((RAILS.format(8), [], 0.01), ("scale_up:of=[fat_tree:k=8],node=dgx_h100", [], 0.01),
                                      (dragonfly, ["--routing", "ecmp"], 0.01),
                                      # What takes detours is balanced now and then, for another number of messages at other times.
                                      (dragonfly, [], 0.02)):
            _, told = self.compare("auto", 64, "256MB", topology, more=more, error=error)
            self.assertIn("2 of 16 channels of nccl_nvls_tree", told)

    def test_plain_hosts(self):
        self.compare(2, 64, "64MB", "fat_tree:k=8")
        self.compare(4, 16, "128MB", "dragonfly:p=2")

    def test_64_plain_hosts_by_rule(self):
        for topology in ("fat_tree:k=8", "dragonfly:p=2"):
            _, told = self.compare("auto", 64, "256MB", topology)
            self.assertIn("2 of 16 channels of nccl_nvls_tree", told)

    def test_threads_change_nothing(self):
        digests = {replay(64, "256MB", RAILS.format(8), "auto", more=["--threads", threads])[0]["digest"]
                   for threads in ("1", "2")}
        self.assertEqual(len(digests), 1)

    def test_lines_of_ll128_go_along_a_chain_as_they_come(self):
        # A chunk of 576,000 bytes in 15 pieces: 7 hops of a step of 1 us, a piece at 10 GB/s and 1.148 us on the way, then the other
        # pieces behind the first, and the last rank's copy. As a whole it would take 8 times 58.6 us.
        for kind in ("bcast", "reduce"):
            with tempfile.TemporaryDirectory() as folder:
                subprocess.run([WEFT, "sim", "--traffic", f"collective:kind={kind},size=576000B,ranks=8", "--network", "flow",
                                "--topology", "scale_up:node=dgx_h100,inner_latency=0ns",
                                "--set", "collectives.profile=nccl:node=dgx_h100,launch=5us,step=1us,copy=10GB/s,combine=10GB/s",
                                "--set", f"collectives.{kind}=nccl_ring:protocol=ll128,channels=1", "-o", folder],
                               check=True, stdout=subprocess.DEVNULL)
                summary = json.loads(Path(folder, "summary.json").read_text(encoding="utf-8"))
            self.assertEqual(summary["messages"], 7 * 15)
            self.assertAlmostEqual(summary["makespan_ns"], 5000 + 7 * (1000 + 3840 + 1148) + 15 * 3840, delta=100)

    def test_where_messages_are_no_fluids_or_few_channels_go_alone(self):
        for case in ((32, "64MB", RAILS.format(4), "auto", "flow"), (64, "256MB", None, "auto", "loggops:G=0.001")):
            _, told = replay(*case)
            self.assertEqual(told, [], case)


if __name__ == "__main__":
    unittest.main()

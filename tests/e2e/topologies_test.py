"""A real application's graph on every topology family, with default routing, packet by packet and by flows."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

from real_applications import EXAMPLES, run

WEFT = str(Path(sys.argv.pop(1)).resolve())
RANKS = 8

# What a family needs beside, or instead of, a number of endpoints.
PARAMETERS = {
    "random_equivalent": "of=[slim_fly:q=5]",
    "scale_up": "of=[fat_tree:k=4]",
    "graph_file": "file=network.graphml",
    "datacenters": "of=[fat_tree:k=4],long_latency=50us,loss=0.001",
}


class Topologies(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder_holder = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.folder_holder.name)
        run([WEFT, "trace", "-o", "trace", "--", "mpirun.openmpi", "-n", str(RANKS), "lmp", "-in",
             str(EXAMPLES / "in.lj"), "-log", "none"], cls.folder)
        run([WEFT, "import", "mpi", "trace", "-o", "app.weft"], cls.folder)
        run([WEFT, "topo", "gen", "fat_tree:k=4", "-o", "network.graphml"], cls.folder)

    @classmethod
    def tearDownClass(cls):
        cls.folder_holder.cleanup()

    def families(self):
        lines = run([WEFT, "list", "topology", "--names"], self.folder).splitlines()
        return [line.split()[1] for line in lines]

    def summary(self, topology, network):
        name = topology.split(":")[0] + "_" + network
        run([WEFT, "sim", "--quiet", "--goal", "app.weft", "--topology", topology, "--network", network, "-o", name],
            self.folder)
        return json.loads((self.folder / name / "summary.json").read_text())

    def test_every_family(self):
        families = self.families()
        self.assertGreater(len(families), 6)
        # With an ideal network nothing is faster than the application's own computing and overheads.
        ideal = self.summary(f"single_switch:hosts={RANKS},latency=0ns,link=100Tbps", "packet")
        for family in families:
            topology = f"{family}:{PARAMETERS.get(family, f'endpoints={RANKS}')}"
            for network in ("packet", "flow"):
                with self.subTest(topology=topology, network=network):
                    summary = self.summary(topology, network)
                    self.assertEqual(summary["outcome"], "complete")
                    self.assertEqual(summary["executed_ops"], summary["ops"])
                    wire = summary["wire_bytes"]
                    self.assertEqual(wire["injected"], wire["delivered"] + wire["dropped"])
                    self.assertEqual(summary["messages"], ideal["messages"])
                    self.assertGreater(summary["makespan_ns"], ideal["makespan_ns"])


if __name__ == "__main__":
    unittest.main()

"""A real application's graph on every topology family, with default routing, packet by packet and by flows."""

import json
import subprocess
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
    "slurm": "file=topology.conf",
    "fugaku": "shape=2x2x2",
    **dict.fromkeys(("leonardo", "leonardo_booster", "leonardo_dcgp", "lumi_c", "lumi_g", "alps", "frontier", "marenostrum5_gpp",
                     "marenostrum5_acc", "jupiter"), "groups=2"),
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
        (cls.folder / "topology.conf").write_text("SwitchName=s0 Nodes=n[0-3]\nSwitchName=s1 Nodes=n[4-7]\nSwitchName=t Switches=s[0-1]\n")

    @classmethod
    def tearDownClass(cls):
        cls.folder_holder.cleanup()

    def families(self):
        lines = run([WEFT, "list", "topology", "--names"], self.folder).splitlines()
        return [line.split()[1] for line in lines]

    def summary(self, topology, network):
        name = topology.split(":")[0] + "_" + network
        # Presets of machines have hosts of their own, which would be quicker than the ideal network's.
        hosts = ["--set", "hosts.o=1500ns", "--set", "hosts.reduction_per_byte=0"]
        run([WEFT, "sim", "--quiet", "--goal", "app.weft", "--topology", topology, "--network", network, *hosts, "-o", name],
            self.folder)
        return json.loads((self.folder / name / "summary.json").read_text())

    def test_a_host_with_a_link_that_leads_nowhere(self):
        # Behind s2 and s4 there is no way to h1, whose only link is to s1.
        (self.folder / "net.edges").write_text("h0 s1\nh0 s2\nh1 s1\nh2 s2\nh2 s1\ns1 s3\ns2 s4\ns3 s5\n")
        command = [WEFT, "sim", "--quiet", "--topology", "graph_file:file=net.edges", "--traffic", "alltoall:size=100KB"]
        # A policy that takes all NICs, whatever they lead to.
        done = subprocess.run(command + ["--routing=srv6"], cwd=self.folder, timeout=60, capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, "from h. to h. is to leave through the link to s., from where there is no way")
        self.assertEqual(done.stderr.count("\n"), 1)
        # Where messages choose, it is among those that lead there.
        for choice in ("near", "hash", "round_robin", "least_loaded"):
            run(command + ["--set", f"network.packet.nic_choice={choice}"], self.folder)

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
                    self.assertEqual(wire["injected"], wire["delivered"] + wire["dropped"] + wire.get("trimmed", 0))
                    self.assertEqual(summary["messages"], ideal["messages"])
                    self.assertGreater(summary["makespan_ns"], ideal["makespan_ns"])


if __name__ == "__main__":
    unittest.main()

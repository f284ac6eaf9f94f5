"""No message is faster than it could be alone: a slowdown is never below 1, whatever paths and planes packets take."""

import csv
import itertools
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WEFT = str(Path(sys.argv.pop(1)).resolve())

# Links that differ in rate or length, several NICs, several planes.
TOPOLOGIES = ["fat_tree:k=4", "multi_plane:k=4,planes=12", "rail_optimized:endpoints=64", "hpn:endpoints=64",
              "hammingmesh:endpoints=64", "dragonfly:p=2", "leaf_spine:leaves=4,spines=4,hosts_per_leaf=2,host_link=100Gbps",
              "bcube:n=4,k=1"]
NETWORKS = ["packet", "packet:switching=cut_through", "packet:nic_choice=spray", "flow", "flow:nic_choice=spray"]
# Of messages of one packet, of two of which the last is short, and of many.
TRAFFIC = ["permutation:size=1000", "permutation:size=5100", "permutation:size=1MB", "random:count=3,size=10KB"]


class Slowdown(unittest.TestCase):
    def test_none_is_below_1(self):
        for topology, network, traffic in itertools.product(TOPOLOGIES, NETWORKS, TRAFFIC):
            for routing in ("ecmp", "spray"):
                arguments = ["--topology", topology, "--network", network, "--traffic", traffic, "--routing", routing]
                with tempfile.TemporaryDirectory() as folder, self.subTest(arguments=arguments):
                    subprocess.run([WEFT, "sim", "-q", *arguments, "-o", "RUN"], cwd=folder, check=True,
                                   stdin=subprocess.DEVNULL, capture_output=True)
                    with (Path(folder) / "RUN/flows.csv").open() as file:
                        slowdowns = [float(row["slowdown"]) for row in csv.DictReader(file) if row["slowdown"]]
                    self.assertGreater(len(slowdowns), 0)
                    self.assertGreaterEqual(min(slowdowns), 1)
                    # Alone on its way a message of one packet takes that long and no more, where links are alike.
                    if topology == "fat_tree:k=4" and traffic == TRAFFIC[0] and "cut" not in network:
                        self.assertLess(min(slowdowns), 1.001)


if __name__ == "__main__":
    unittest.main()

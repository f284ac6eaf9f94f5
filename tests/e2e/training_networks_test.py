"""The example training_networks, small: the first command of its README, and what it says of 1F1B over a long link."""

import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WEFT, NETWORKS, README = (str(Path(sys.argv.pop(1)).resolve()) for _ in range(3))
SMALLER = {"units=4,nodes=32": "units=1,nodes=4", "multi_plane:k=16": "multi_plane:k=4", "p=2,a=16,h=8,g=4": "p=1,a=2,h=1,g=2"}


class TrainingNetworks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_in_folder(self, *command):
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, env={**os.environ, "weft": WEFT})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_what_a_token_costs(self):
        networks = Path(NETWORKS).read_text()
        for large, small in SMALLER.items():
            networks = networks.replace(large, small)
        (self.folder / "networks.txt").write_text(networks)
        first = re.search(r"step=.*\n\$weft compare-networks \$step --networks .*", Path(README).read_text())[0]
        first = first.replace("$example/networks.txt", "networks.txt").replace(
            "llm:model=llama3_70b,tp=8,pp=4,vp=5,dp=32,global_batch=512", "llm:model=llama3_8b,tp=8,pp=2,vp=2,dp=2,global_batch=8")
        self.assertIn("llama3_8b", first)
        self.run_in_folder("sh", "-e", "-c", first)
        with open(self.folder / "networks/networks.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 3)
        for row in rows:
            # Eight sequences of 8,192 tokens in a step; the network's price over four years.
            rate = 8 * 8192 / (float(row["runtime_ns"]) * 1e-9)
            self.assertAlmostEqual(float(row["tokens_per_second"]) / rate, 1, 3)
            cost = float(row["price"]) / (4 * 365.25 * 86400 * rate) * 1e6
            self.assertAlmostEqual(float(row["price_per_million_tokens"]) / cost, 1, 2)

    def test_1f1b_takes_a_round_trip_for_two_micro_batches(self):
        times = {}
        for latency in ("1us", "1s"):
            self.run_in_folder(WEFT, "sim", "--traffic", "llm:model=llama3_8b,pp=8,micro_batches=32,seq=256,schedule=1f1b", "--topology",
                               f"datacenters:of=[single_switch:hosts=4],long_latency={latency}", "--network", "flow", "-q", "-o", "R")
            times[latency] = json.loads((self.folder / "R/summary.json").read_text())["makespan_ns"] * 1e-9
        # Stage 5's backward of j is after its forward of j + 3, which stage 4 sends after the backward of j - 2: 16 round
        # trips of 2 s for 32. At the end the norm of the gradients crosses the link, at least there and back.
        lost = times["1s"] - times["1us"]
        self.assertGreater(lost, 16 * 2)
        self.assertLess(lost, 16 * 2 + 4.5)


if __name__ == "__main__":
    unittest.main()

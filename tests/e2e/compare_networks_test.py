"""weft compare-networks: times with their spread over seeds, ties, and what isn't alike said first."""

import json
import statistics
import unittest

from weft_command import WeftTest

SPARSE = "traffic=[sparse:ranks=16,size=64KB]"


class CompareNetworks(WeftTest):
    def test_rows_are_what_weft_sim_says_seed_by_seed(self):
        slow, fast = "fat_tree:k=4,link=100Gbps", "fat_tree:k=4,link=400Gbps"
        told = json.loads(self.weft("compare-networks", SPARSE, "--topology", slow, "--topology", fast, "--seeds", "3", "--json",
                                    "--csv", "table.csv").stdout)
        self.assertEqual([row["topology"] for row in told["rows"]], [fast, slow])  # fastest first
        self.assertFalse(told["tie"])
        for row in told["rows"]:
            times = []
            for seed in "123":
                self.weft("sim", "--job", SPARSE, "--topology", row["topology"], "--seed", seed, "-q", "-o", "RUN")
                times.append(json.loads((self.folder / "RUN/summary.json").read_text())["makespan_ns"])
            self.assertAlmostEqual(row["runtime_ns"], statistics.mean(times), 2)
            # t(0.975) for 2 degrees of freedom is 4.303.
            half = 4.3027 * statistics.stdev(times) / 3**0.5
            self.assertAlmostEqual(row["high"], statistics.mean(times) + half, delta=1e-3 * half + 1e-3)
            self.assertEqual(row["bound_by"], json.loads((self.folder / "RUN/summary.json").read_text())["bound_by"])
            cost = json.loads(self.weft("topo", "cost", row["topology"], "--json", "--no-bisection").stdout)
            self.assertAlmostEqual(row["price"], cost["price"])
        self.assertEqual(told["differences"], ["not alike: rate of a host, Gb/s: 100, 400"])
        self.assertEqual(len((self.folder / "table.csv").read_text().splitlines()), 3)

    def test_a_tie_is_called_one(self):
        # Longer cables add 4 ns to the latency; seeds decide more than that.
        networks = ["--topology", "fat_tree:k=4", "--topology", "fat_tree:k=4,latency=501ns"]
        told = json.loads(self.weft("compare-networks", SPARSE, *networks, "--json").stdout)
        self.assertTrue(told["tie"])
        self.assertEqual([row["tie"] for row in told["rows"]], [True, True])
        self.assertIn("are a tie", self.weft("compare-networks", SPARSE, *networks).stdout)
        # Without any randomness the same difference is one.
        told = json.loads(self.weft("compare-networks", "traffic=[ping_pong:ranks=16,sizes=64KB]", *networks, "--json").stdout)
        self.assertFalse(told["tie"])
        self.assertEqual(told["rows"][0]["topology"], "fat_tree:k=4")

    def test_unlike_networks_are_told_first_and_files_have_prices(self):
        (self.folder / "offers.txt").write_text("# two offers\nfat_tree:k=4   prices=cheap.txtpb\n\ndragonfly:p=2\n")
        prices = self.weft("topo", "cost", "--print-prices", "modern").stdout
        (self.folder / "cheap.txtpb").write_text(prices)
        text = self.weft("compare-networks", SPARSE, "--networks", "offers.txt", "--seeds", "1", "--network", "flow").stdout
        self.assertTrue(text.startswith("not alike: endpoints: 16, "), text)
        self.assertIn("not alike: fabric: uet, lossless_hpc", text)
        alike = self.weft("compare-networks", SPARSE, "--networks", "offers.txt", "--seeds", "1", "--network", "flow", "--fabric", "uet").stdout
        self.assertNotIn("fabric", alike)

    def test_what_is_refused(self):
        self.assertIn("at least two networks", self.weft("compare-networks", SPARSE, "--topology", "fat_tree:k=4", status=2).stderr)
        (self.folder / "offers.txt").write_text("fat_tree:k=4\nfat_tree:k=4 cheap\n")
        self.assertIn("offers.txt:2: expected a topology", self.weft("compare-networks", SPARSE, "--networks", "offers.txt", status=2).stderr)
        self.weft("compare-networks", "none.goal", "--topology", "fat_tree:k=4", "--topology", "fat_tree:k=4", status=2)
        self.weft("compare-networks", SPARSE, "--topology", "fat_tree:k=4", "--topology", "nothing", status=2)


if __name__ == "__main__":
    unittest.main()

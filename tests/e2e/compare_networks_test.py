"""weft compare-networks: times with their spread over seeds, ties, and what isn't alike said first."""

import csv
import json
import re
import shutil
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

    def test_the_same_time_is_no_matter_of_seeds(self):
        # Two hosts at one switch don't see how many others it has.
        switches = ["--topology", "single_switch:hosts=4", "--topology", "single_switch:hosts=8"]
        text = self.weft("compare-networks", "--traffic", "traffic=[ping_pong:ranks=2,sizes=64KB]", *switches).stdout
        self.assertIn("the network makes no difference", text)

    def test_unlike_networks_are_told_first_and_files_have_prices(self):
        (self.folder / "offers.txt").write_text("# two offers\nfat_tree:k=4   prices=cheap.txtpb\n\ndragonfly:p=2\n")
        prices = self.weft("topo", "cost", "--print-prices", "modern").stdout
        (self.folder / "cheap.txtpb").write_text(prices)
        text = self.weft("compare-networks", SPARSE, "--networks", "offers.txt", "--seeds", "1", "--network", "flow").stdout
        self.assertTrue(text.startswith("not alike: endpoints: 16, "), text)
        self.assertIn("not alike: fabric: uet, lossless_hpc", text)
        alike = self.weft("compare-networks", SPARSE, "--networks", "offers.txt", "--seeds", "1", "--network", "flow", "--fabric", "uet").stdout
        self.assertNotIn("not alike: fabric", alike)

    def test_an_interval_begins_at_0_at_least_and_has_one_unit(self):
        # Poisson arrivals: the longest message of two seeds is another by far. t(0.975) for 1 degree of freedom is 12.706.
        command = ["compare-networks", "poisson:load=0.3,duration=100us", "--topology", "fat_tree:k=4", "--topology", "torus:dims=4x4", "--network",
                   "flow", "--seeds", "2"]
        rows = json.loads(self.weft(*command, "--json", "-o", "RUNS").stdout)["rows"]
        with open(self.folder / "RUNS/sweep.csv", newline="") as file:
            points = list(csv.DictReader(file))
        below = 0
        for row in rows:
            times = [float(point["makespan_ns"]) for point in points if point["topology"] == row["topology"]]
            half = 12.706 * statistics.stdev(times) / 2**0.5
            below += statistics.mean(times) < half
            self.assertAlmostEqual(row["low"], max(0, statistics.mean(times) - half), delta=1e-3 * half)
            self.assertAlmostEqual(row["high"], statistics.mean(times) + half, delta=1e-3 * half)
        self.assertGreater(below, 0)
        with open(self.folder / "RUNS/summary.csv", newline="") as file:
            self.assertTrue(all(float(row["makespan_ns_low"]) >= 0 for row in csv.DictReader(file)))
        text = self.weft(*command).stdout
        self.assertEqual(len(re.findall(r" 0 - [0-9.]+ [mu]?s ", text)), below, text)
        self.assertIn("An interval that begins at 0 is cut there", text)

    def test_prices_that_are_not_alike_are_told(self):
        (self.folder / "offers.txt").write_text("fat_tree:k=4,link=400Gbps\nfat_tree:k=4,link=400Gbps prices=hammingmesh_sc22\n")
        command = ["compare-networks", SPARSE, "--networks", "offers.txt", "--seeds", "1", "--network", "flow"]
        told = json.loads(self.weft(*command, "--json", "--csv", "table.csv").stdout)
        self.assertEqual(told["differences"], ["not alike: prices: modern, hammingmesh_sc22 (without NICs and power)"])
        self.assertEqual([row["prices"] for row in told["rows"]], ["modern", "hammingmesh_sc22"])
        # The paper's list has no watts: unknown is not 0.
        self.assertGreater(told["rows"][0]["power"], 0)
        self.assertIsNone(told["rows"][1]["power"])
        with open(self.folder / "table.csv", newline="") as file:
            self.assertEqual([(row["prices"], row["power"] != "") for row in csv.DictReader(file)], [("modern", True), ("hammingmesh_sc22", False)])
        text = self.weft(*command).stdout
        self.assertRegex(text, r"(?m) - +[0-9.]+ +hammingmesh_sc22 ")
        self.assertNotIn("hammingmesh_sc22", self.weft(*command[:2], "--topology", "fat_tree:k=4", "--topology", "fat_tree:k=6", *command[4:]).stdout)

    def test_a_network_is_no_rival_of_itself(self):
        for same in ("fat_tree:k=4", "fat_tree:k=4,link=400Gbps"):
            told = self.weft("compare-networks", SPARSE, "--topology", "fat_tree:k=4", "--topology", same, "-o", "C", status=2).stderr
            self.assertIn("given twice" if same == "fat_tree:k=4" else "are the same network", told)
            self.assertFalse((self.folder / "C").exists())
        # With two lists of prices it stands there twice, and the next is another.
        (self.folder / "offers.txt").write_text("fat_tree:k=4\nfat_tree:k=4 prices=hammingmesh_sc22\n")
        offers = ["compare-networks", SPARSE, "--networks", "offers.txt", "--seeds", "2"]
        self.assertIn("They are one network, with several lists of prices.\n", self.weft(*offers).stdout)
        rows = json.loads(self.weft(*offers, "--topology", "fat_tree:k=4,link=100Gbps", "--json").stdout)["rows"]
        self.assertEqual([row["tie"] for row in rows], 3 * [False])
        ahead = 100 * (rows[2]["runtime_ns"] / rows[0]["runtime_ns"] - 1)
        self.assertGreater(ahead, 10)
        self.assertIn(f"fat_tree:k=4 is the fastest, {ahead:.1f}% ahead of the next.\n",
                      self.weft(*offers, "--topology", "fat_tree:k=4,link=100Gbps").stdout)

    def test_prices_of_its_own(self):
        # Every price ten times as high, for the second of two offers of the same network.
        prices = self.weft("topo", "cost", "--print-prices", "modern").stdout
        dear = re.sub(r"((?:price|dollars)[a-z_]*: )([0-9.]+)", lambda found: found[1] + str(10 * float(found[2])), prices)
        self.assertNotEqual(prices, dear)
        (self.folder / "dear.txtpb").write_text(dear)
        (self.folder / "offers.txt").write_text("fat_tree:k=4\nfat_tree:k=4 prices=dear.txtpb\n")
        told = json.loads(self.weft("compare-networks", SPARSE, "--networks", "offers.txt", "--seeds", "2", "--json").stdout)
        costs = [json.loads(self.weft("topo", "cost", "fat_tree:k=4", "--prices", each, "--json", "--no-bisection").stdout)["price"]
                 for each in ("modern", "dear.txtpb")]
        self.assertEqual([row["price"] for row in told["rows"]], costs)
        self.assertLess(costs[0], costs[1])
        self.assertEqual(told["rows"][0]["runtime_ns"], told["rows"][1]["runtime_ns"])

    def test_each_application_is_on_its_own(self):
        networks = ["--topology", "fat_tree:k=4,link=100Gbps", "--topology", "fat_tree:k=4", "--seeds", "2..3"]
        apps = [SPARSE, "permutation:size=1MB,ranks=16"]
        command = ["compare-networks", *apps, *networks, "--json", "-o", "C"]
        both = json.loads(self.weft(*command).stdout)
        alone = [json.loads(self.weft("compare-networks", app, *networks, "--json").stdout)["rows"] for app in apps]
        self.assertEqual(both["rows"], alone[0] + alone[1])
        self.assertEqual([row["application"] for row in both["rows"]], 2 * [apps[0]] + 2 * [apps[1]])
        self.assertTrue(both["same_work"])
        with open(self.folder / "C/networks.csv", newline="") as table:
            self.assertEqual([row["application"] for row in csv.DictReader(table)], [row["application"] for row in both["rows"]])
        # The folder is that of a sweep: the same command runs only what is not there.
        runs = {file: file.stat().st_mtime_ns for file in self.folder.glob("C/points/*/summary.json")}
        self.assertEqual(len(runs), 2 * 2 * 2)
        lost = next(iter(runs))
        shutil.rmtree(lost.parent)
        self.assertEqual(json.loads(self.weft(*command).stdout), both)
        self.assertEqual([file for file in runs if file.stat().st_mtime_ns != runs[file]], [lost])

    def test_other_work_is_warned_of(self):
        # Every endpoint sends: 16 of 1 MB on the one, 54 on the other.
        networks = ["--topology", "fat_tree:k=4", "--topology", "fat_tree:k=6", "--seeds", "1", "--network", "flow"]
        done = self.weft("compare-networks", "permutation:size=1MB", *networks)
        self.assertIn("permutation:size=1MB did not do the same on all networks (ranks, messages, bytes sent)", done.stderr)
        self.assertEqual(done.stdout.splitlines()[:4], [
            "not alike: endpoints: 16, 54",
            "not alike: ranks of permutation:size=1MB: 16, 54",
            "not alike: messages of permutation:size=1MB: 16, 54",
            "not alike: bytes sent of permutation:size=1MB: 16,000,000, 54,000,000"])
        self.assertFalse(json.loads(self.weft("compare-networks", "permutation:size=1MB", *networks, "--json").stdout)["same_work"])
        self.assertEqual(self.weft("compare-networks", "permutation:size=1MB,ranks=16", *networks).stderr, "")

    def test_training_tells_what_a_token_costs_and_what_it_waits_for(self):
        app, slow, fast = "llm:model=tiny,dp=4", "single_switch:hosts=4,link=10Gbps", "single_switch:hosts=4,link=100Gbps"
        command = ["compare-networks", app, "--topology", slow, "--topology", fast, "--network", "flow", "--seeds", "2"]
        prices = ["--years", "2", "--endpoint-price", "1000"]
        told = json.loads(self.weft(*command, *prices, "--json", "--csv", "table.csv").stdout)["rows"]
        with open(self.folder / "table.csv", newline="") as table:
            written = list(csv.DictReader(table))
        self.assertEqual([row["topology"] for row in told], [fast, slow])
        for row, line in zip(told, written):
            self.weft("sim", "--traffic", app, "--topology", row["topology"], "--network", "flow", "-q", "-o", "RUN")
            summary = json.loads((self.folder / "RUN/summary.json").read_text())
            self.assertAlmostEqual(row["tokens_per_second"] / summary["tokens_per_second"], 1, 9)
            # 2 years of 365.25 days; four endpoints at 1,000 $.
            tokens = 2 * 365.25 * 86400 * row["tokens_per_second"]
            self.assertAlmostEqual(row["price_per_million_tokens"] / (1e6 * (row["price"] + 4000) / tokens), 1, 9)
            self.assertAlmostEqual(float(line["price_per_million_tokens"]) / row["price_per_million_tokens"], 1, 4)
            waits = {axis: share["share"] for axis, share in row["exposed_communication"].items()}
            self.assertEqual(waits.keys(), summary["exposed_communication"].keys())
            for axis, share in waits.items():
                self.assertAlmostEqual(share, summary["exposed_communication"][axis]["share"], 9)
                self.assertAlmostEqual(float(line["exposed_" + axis]), share, 5)
            self.assertLessEqual(row["compute_share"] + sum(waits.values()), 1 + 1e-9)
        # The same computing in a longer time, the rest of which waits for gradients.
        self.assertAlmostEqual(told[0]["compute_share"] * told[0]["runtime_ns"], told[1]["compute_share"] * told[1]["runtime_ns"], 0)
        self.assertGreater(told[1]["exposed_communication"]["dp"]["share"], told[0]["exposed_communication"]["dp"]["share"])
        text = self.weft(*command, *prices).stdout
        self.assertIn("the network's price and 1000 $ for each endpoint over 2 years", text)
        self.assertRegex(text, r"tokens/s +\$/Mtoken +compute .*dp")
        for option in ["--years", "0"], ["--endpoint-price", "-1"]:
            self.assertIn(option[0], self.weft(*command, *option, status=2).stderr)

    def test_what_has_no_tokens_has_no_price_for_them(self):
        command = ["compare-networks", SPARSE, "--topology", "fat_tree:k=4", "--topology", "torus:dims=4x4", "--network", "flow", "--seeds", "1"]
        self.assertIsNone(json.loads(self.weft(*command, "--json").stdout)["rows"][0]["price_per_million_tokens"])
        self.assertNotIn("Mtoken", self.weft(*command).stdout)

    def test_what_fails_is_told(self):
        # 10 MB there and back take 1.6 ms and more at 100 Gb/s, 0.4 ms and little more at 400 Gb/s.
        networks = ["--topology", "fat_tree:k=4,link=400Gbps", "--topology", "fat_tree:k=4,link=100Gbps"]
        done = self.weft("compare-networks", "ping_pong:sizes=10MB,iterations=1,ranks=2", *networks, "--json", "--seeds", "1",
                         "--set", "limits.time=1ms", status=3)
        self.assertEqual([row["runtime_ns"] is None for row in json.loads(done.stdout)["rows"]], [False, True])
        self.assertIn("1 of 2 runs did not come to their end", done.stderr)

    def test_what_can_not_run_is_refused_before_anything_runs(self):
        (self.folder / "cut.weft").write_bytes(b"WEFTGOAL\0\0")
        (self.folder / "wide.goal").write_text("num_ranks 3\n" + "".join(f"rank {rank} {{\nl1: calc 10\n}}\n" for rank in range(3)))
        good = "fat_tree:k=4"
        for app, bad, words in ((SPARSE, "fat_tree:k=2", "this fat_tree has 2 hosts, but the graph needs 16"),
                                (SPARSE, "fat_tree:k=5", "k"),
                                (SPARSE, "dragonfly:p=2,a=0", "a"),
                                (SPARSE, "graph_file:file=none.txt", "none.txt: "),
                                ("wide.goal", "single_switch:hosts=2", "this single_switch has 2 hosts, but the graph needs 3"),
                                ("cut.weft", "fat_tree:k=6", "cut.weft"),
                                ("alltoall:size=1kB", "fat_tree:k=4,link=0Gbps", "link")):
            with self.subTest(bad=bad, app=app):
                for more in (["-o", "C"], ["--dry-run"]):
                    done = self.weft("compare-networks", app, "--topology", good, "--topology", bad, *more, status=2)
                    self.assertIn(words, done.stderr)
                    self.assertEqual((done.stdout, done.stderr.count("\n")), ("", 1), done.stderr)
                    self.assertIn("cut.weft" if app == "cut.weft" else bad, done.stderr)
                    self.assertFalse((self.folder / "C").exists())
        # Of two applications the one that doesn't fit is named; a placement that can't be had is found, too.
        for app, words in (("alltoall:size=1kB,ranks=17", "alltoall:size=1kB,ranks=17: --topology fat_tree:k=4: this fat_tree has 16 hosts"),
                           ("traffic=[alltoall:size=1kB,ranks=4],placement=submesh", "submesh")):
            self.assertIn(words, self.weft("compare-networks", SPARSE, app, "--topology", good, "--topology", "fat_tree:k=6", status=2).stderr)

    def test_what_is_refused(self):
        command = ["compare-networks", SPARSE, "--topology", "fat_tree:k=4", "--topology", "torus:dims=4x4", "-o", "C", "--dry-run"]
        self.assertEqual(self.weft(*command).stdout, "10 runs\n")
        self.assertFalse((self.folder / "C").exists())
        self.assertIn("is given twice", self.weft("compare-networks", SPARSE, SPARSE, "--topology", "fat_tree:k=4", "--topology",
                                                  "torus:dims=4x4", status=2).stderr)
        for seeds in "0", "x":
            self.assertIn("seeds", self.weft("compare-networks", SPARSE, "--topology", "fat_tree:k=4", "--topology", "torus:dims=4x4",
                                             "--seeds", seeds, status=2).stderr)
        self.assertIn("at least two networks", self.weft("compare-networks", SPARSE, "--topology", "fat_tree:k=4", status=2).stderr)
        (self.folder / "offers.txt").write_text("fat_tree:k=4\nfat_tree:k=4 cheap\n")
        self.assertIn("offers.txt:2: expected a topology", self.weft("compare-networks", SPARSE, "--networks", "offers.txt", status=2).stderr)
        self.weft("compare-networks", "none.goal", "--topology", "fat_tree:k=4", "--topology", "fat_tree:k=4", status=2)
        self.weft("compare-networks", SPARSE, "--topology", "fat_tree:k=4", "--topology", "nothing", status=2)


if __name__ == "__main__":
    unittest.main()

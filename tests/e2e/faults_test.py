"""Faults of links, from the command line to the files of a run: how many packets bit errors lose, which links chance picks."""

import csv
import json
import math
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WEFT = str(Path(sys.argv.pop(1)).resolve())


def run(folder, *arguments, out="RUN"):
    """The summary and the links of a run, and what it printed."""
    done = subprocess.run([WEFT, "sim", *arguments, "-o", out], cwd=folder, check=True, capture_output=True, text=True,
                          timeout=100)
    results = Path(folder) / out
    with open(results / "links.csv", newline="") as file:
        links = list(csv.DictReader(file))
    return json.loads((results / "summary.json").read_text()), links, done.stdout


class Faults(unittest.TestCase):
    def test_bit_errors_lose_as_many_packets_as_they_should(self):
        arguments = ["--traffic", "incast:n=1,size=20MB,to=1,senders=first", "--topology", "single_switch:hosts=2",
                     "--congestion", "fixed_window:packets=100", "--fault", "link=host 0 / *,bit_error_rate=1e-6"]
        with tempfile.TemporaryDirectory() as folder:
            summary, links, text = run(folder, *arguments)
            lost = {f"{link['from']} -> {link['to']}": int(link["drops"]) for link in links}
            # A packet is lost if one of its bits is wrong: of 4,160 bytes with 1 - (1 - 1e-6)^33280 = 3.3%. Every
            # packet that the link carries is one trial (the last of the message, 1,456 bytes shorter, counts as full).
            trials = int(next(link["packets"] for link in links if link["from"] == "host 0"))
            p = 1 - (1 - 1e-6) ** (8 * 4160)
            self.assertLess(abs(lost["host 0 -> switch 0"] - trials * p), 4.5 * math.sqrt(trials * p * (1 - p)))
            self.assertGreater(lost["host 0 -> switch 0"], 90)
            # ACKs of 64 bytes: 5 in 10,000.
            self.assertLess(lost["switch 0 -> host 0"], 15)
            self.assertEqual(lost["switch 0 -> host 1"] + lost["host 1 -> switch 0"], 0)
            self.assertEqual(summary["signals"]["corrupt"], sum(lost.values()))
            self.assertEqual(summary["packets"]["dropped"], sum(lost.values()))
            self.assertEqual(summary["outcome"], "complete")
            self.assertEqual(summary["faults"], {"count": 1, "link_changes": 1})
            self.assertIn("1; 1 changes of links during the run", text)
            # The seed decides which ones.
            again, links_again, _ = run(folder, *arguments)
            self.assertEqual(again["digest"], summary["digest"])
            self.assertEqual(links_again, links)
            other, _, _ = run(folder, *arguments, "--seed", "2")
            self.assertNotEqual(other["digest"], summary["digest"])

    def test_what_is_broken_from_the_start_is_known(self):
        arguments = ["--traffic", "shift:size=1MB,by=4", "--topology", "leaf_spine:leaves=2,hosts_per_leaf=4,spines=2",
                     "--routing", "ecmp"]
        link = "link=leaf 0 / spine 0"
        with tempfile.TemporaryDirectory() as folder:
            for network in "packet", "flow":
                with self.subTest(network=network):
                    broken, _, _ = run(folder, *arguments, "--network", network, "--fault", link)
                    told, _, _ = run(folder, *arguments, "--network", network + ":reconvergence=0ns", "--fault", link)
                    self.assertEqual(broken["makespan_ns"], told["makespan_ns"])
                    # 4 MB over one link of 400 Gb/s take 80 us, headers come on top.
                    self.assertGreater(broken["makespan_ns"], 80_000)
                    self.assertLess(broken["makespan_ns"], 100_000)
                    # What breaks later is known a millisecond later.
                    late, _, _ = run(folder, *arguments, "--network", network, "--fault", link + ",at=1ns")
                    self.assertGreater(late["makespan_ns"], 1_000_000)

    def test_changes_count_in_a_run_in_which_no_rank_gets_on(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([WEFT, "sim", "--traffic", "shift:size=10MB,by=4", "--topology",
                                   "leaf_spine:leaves=2,hosts_per_leaf=4,spines=2", "--fault", "switch=leaf 0,at=10us",
                                   "-o", "RUN"], cwd=folder, capture_output=True, text=True, timeout=100)
            self.assertEqual(done.returncode, 3, done.stderr)
            summary = json.loads((Path(folder) / "RUN/summary.json").read_text())
            # Four cables of hosts, two to spines.
            self.assertEqual(summary["faults"], {"count": 1, "link_changes": 6})

    def test_long_links_lose_as_many_packets_as_they_should(self):
        arguments = ["--traffic", "incast:n=1,size=20MB,to=2,senders=first", "--topology",
                     "datacenters:of=[single_switch:hosts=2],long_latency=50us,loss=0.02",
                     "--congestion", "fixed_window:packets=100"]
        with tempfile.TemporaryDirectory() as folder:
            summary, links, _ = run(folder, *arguments)
            by_ends = {f"{link['from']} -> {link['to']}": link for link in links}
            # Of every size, data and ACKs alike, one in fifty, and only there.
            for ends in ("border 0.0 -> border 1.0", "border 1.0 -> border 0.0"):
                link = by_ends.pop(ends)
                trials, lost = int(link["packets"]), int(link["drops"])
                self.assertGreater(trials, 1000)
                self.assertLess(abs(lost - 0.02 * trials), 4.5 * math.sqrt(0.02 * 0.98 * trials))
            self.assertEqual(sum(int(link["drops"]) for link in by_ends.values()), 0)
            self.assertEqual(summary["signals"]["corrupt"], summary["packets"]["dropped"])
            self.assertEqual(summary["outcome"], "complete")
            # A fault of the same link comes on top, and the link's own loss stays when it is over.
            worse, links, _ = run(folder, *arguments, "--fault", "link=border 0.0 / *,bit_error_rate=1e-5,until=1ms")
            link = next(link for link in links if (link["from"], link["to"]) == ("border 0.0", "border 1.0"))
            self.assertGreater(int(link["drops"]), 0.02 * int(link["packets"]))
            self.assertEqual(worse["outcome"], "complete")
            # Without packets none can be lost, and the run says so.
            flows, _, text = run(folder, *arguments[:4], "--network", "flow")
            self.assertEqual(flows["outcome"], "complete")
            self.assertIn("network model flow has no packets", text)

    def test_links_that_chance_picks_carry_nothing(self):
        arguments = ["--traffic", "alltoall:size=20KB", "--topology", "fat_tree:k=4", "--routing", "spray",
                     "--network", "packet:reconvergence=0", "--fault", "random_links=3,between=aggregation * / core *"]

        def idle(links):
            by_cable = {}
            for link in links:
                by_cable.setdefault(int(link["link"]) // 2, []).append(link)
            found = {cable for cable, both in by_cable.items() if all(link["packets"] == "0" for link in both)}
            for cable in found:
                self.assertEqual({name.split()[0] for link in by_cable[cable] for name in (link["from"], link["to"])},
                                 {"aggregation", "core"})
            return found

        with tempfile.TemporaryDirectory() as folder:
            summary, links, _ = run(folder, *arguments)
            self.assertEqual(summary["outcome"], "complete")
            self.assertEqual(summary["faults"]["link_changes"], 3)
            self.assertEqual(len(idle(links)), 3)
            self.assertEqual(idle(run(folder, *arguments)[1]), idle(links))
            self.assertGreater(len({frozenset(idle(run(folder, *arguments, "--seed", str(seed))[1]))
                                    for seed in range(1, 7)}), 3)
            # All that was drawn is drawn again from the scenario that the run left.
            again, links_again, _ = run(folder, "RUN/scenario.txtpb", out="AGAIN")
            first, links, _ = run(folder, "AGAIN/scenario.txtpb")
            self.assertEqual((again["digest"], links_again), (first["digest"], links))

    def test_threads_change_nothing(self):
        arguments = ["--traffic", "permutation:size=200KB", "--topology", "fat_tree:k=4", "--routing", "spray",
                     "--fault", "switch=core 0,at=2us,until=3us,period=4us,times=5",
                     "--fault", "link=edge 1.* / *,bit_error_rate=1e-7", "--fault", "random_links=4,at=3us,rate=0.3",
                     "--network", "packet:reconvergence=3us"]
        with tempfile.TemporaryDirectory() as folder:
            summaries = [run(folder, *arguments, "--threads", str(threads))[0] for threads in (1, 2, 3)]
            self.assertEqual(len({summary["digest"] for summary in summaries}), 1)
            self.assertEqual(len({str(summary["signals"]) for summary in summaries}), 1)
            self.assertEqual(len({str(summary["faults"]) for summary in summaries}), 1)
            self.assertGreater(summaries[0]["signals"]["link_down_loss"], 0)
            self.assertGreater(summaries[0]["signals"]["corrupt"], 0)
            self.assertEqual(summaries[0]["faults"]["count"], 3)


if __name__ == "__main__":
    unittest.main()

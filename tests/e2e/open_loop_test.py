"""Traffic that arrives whatever becomes of it: offered and accepted load, times of the messages in a window, and no talk of waiting."""

import csv
import json
import unittest

from weft_command import WeftTest

SWITCH = ["--topology", "single_switch:hosts=8,link=400Gbps"]


def poisson(load):
    return f"poisson:load={load},sizes=hadoop,duration=2ms,warm_up=0.25"


class OpenLoop(WeftTest):
    def run_of(self, *arguments):
        text = self.weft("sim", *arguments, "-o", "RUN").stdout
        return json.loads((self.folder / "RUN/summary.json").read_text()), text

    def rows(self):
        """Of flows.csv: start, finish and bytes of each message."""
        with open(self.folder / "RUN/flows.csv", newline="") as file:
            return [(float(row["start_ns"]), float(row["finish_ns"]), int(row["bytes"])) for row in csv.DictReader(file)]

    def test_figures_are_those_of_the_rows(self):
        for network in ("packet", "flow"):
            with self.subTest(network):
                run, text = self.run_of("--traffic", poisson(0.4), *SWITCH, "--network", network)
                told = run["open_loop"]
                self.assertEqual([told["from_ns"], told["until_ns"], told["load"]], [500_000, 2_000_000, 0.4])
                rows = self.rows()
                capacity = 8 * 400e9 * 1.5e-3 / 8
                begun = [row for row in rows if 500_000 <= row[0] < 2_000_000]
                self.assertAlmostEqual(told["offered_load"], sum(row[2] for row in begun) / capacity, 9)
                moved = sum(size * max(0, min(finish, 2e6) - max(start, 5e5)) / (finish - start) for start, finish, size in rows)
                self.assertAlmostEqual(told["accepted_load"], moved / capacity, 6)
                self.assertEqual(told["count"], len(begun))
                self.assertAlmostEqual(told["completion"]["max_ns"], max(row[1] - row[0] for row in begun), 3)
                # What is drawn is near to what was asked for, and is carried.
                self.assertAlmostEqual(told["offered_load"], 0.4, delta=0.1)
                self.assertEqual([run["bound_by"], run["jobs"][0]["bound_by"]], ["arrivals", "arrivals"])
                self.assertNotIn("critical_path", run)
                self.assertIn("open-loop traffic", text)
                for word in ("waiting", "bound by", "first to finish"):
                    self.assertNotIn(word, text)

    def test_load_is_of_what_the_network_s_hosts_carry(self):
        run, _ = self.run_of("--traffic", poisson(0.4), "--topology", "single_switch:hosts=8,link=100Gbps", "--network", "flow")
        self.assertAlmostEqual(run["open_loop"]["offered_load"], 0.4, delta=0.1)
        sent = sum(row[2] for row in self.rows())
        self.assertAlmostEqual(sent * 8 / 2e-3 / (8 * 100e9), 0.4, delta=0.1)

    def test_load_of_accelerators_is_of_their_node_s_nics(self):
        # 8 accelerators share 8 NICs of 400 Gb/s; a node of the outer network has one link, which becomes 8.
        nodes = ["--topology", "scale_up:of=[single_switch:hosts=2],node=dgx_h100", "--network", "flow"]
        ours, _ = self.run_of("--traffic", poisson(0.2), *nodes)
        given, _ = self.run_of("--traffic", poisson(0.2) + ",rate=400Gbps", *nodes)
        self.assertEqual(ours["digest"], given["digest"])

    def test_a_network_that_does_not_keep_up_is_told(self):
        run, text = self.run_of("--traffic", poisson(0.8) + ",rate=400Gbps", "--topology", "single_switch:hosts=8,link=200Gbps", "--network", "flow")
        self.assertEqual(run["bound_by"], "bandwidth")
        self.assertIs(run["open_loop"]["keeps_up"], False)
        self.assertAlmostEqual(run["open_loop"]["accepted_load"], 0.5, delta=0.05)
        self.assertIn("doesn't keep up", text)
        self.weft("report", "RUN", "-o", "page.html")

    def test_rows_are_not_needed_and_packed_graphs_know_too(self):
        with_rows, _ = self.run_of("--traffic", poisson(0.4), *SWITCH)
        without, _ = self.run_of("--traffic", poisson(0.4), *SWITCH, "--no-flows")
        self.assertFalse((self.folder / "RUN/flows.csv").exists())
        self.weft("goal", "gen", poisson(0.4), "--ranks", "8", "--seed", "1", "-o", "a.weft")
        self.assertEqual([without["open_loop"], without["digest"]], [with_rows["open_loop"], with_rows["digest"]])
        packed, _ = self.run_of("--goal", "a.weft", *SWITCH, "--set", "connections=per_message")
        for key in ("from_ns", "until_ns", "load"):
            self.assertEqual(packed["open_loop"][key], with_rows["open_loop"][key])
        self.assertAlmostEqual(packed["open_loop"]["offered_load"], with_rows["open_loop"]["offered_load"], delta=0.005)
        # At twice the speed messages begin at other times.
        self.weft("goal", "scale", "a.weft", "--calc", "0.5", "-o", "b.weft")
        self.assertNotIn("open_loop", self.run_of("--goal", "b.weft", *SWITCH)[0])

    def test_explain_says_what_it_is_worth(self):
        self.run_of("--traffic", poisson(0.4), *SWITCH, "--network", "flow")
        told = json.loads(self.weft("explain", "RUN", "--json").stdout)
        self.assertEqual(told["bound_by"], "arrivals")
        self.assertIn("open_loop", told["remarks"][0])
        self.weft("explain", "RUN")

    def test_a_warm_up_that_leaves_nothing(self):
        self.assertIn("warm_up", self.weft("sim", "--traffic", "poisson:warm_up=1", *SWITCH, status=2).stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""weft explain: what it says of runs whose time is known in closed form, and what it refuses."""

import json
import unittest

from weft_command import WeftTest

TREE = ["--topology", "fat_tree:k=4,link=100Gbps"]


class Explain(WeftTest):
    def explain(self, *options, sim):
        self.weft("sim", *sim, "-q", "-o", "RUN")
        return json.loads(self.weft("explain", "RUN", "--json", *options).stdout)

    def test_shares_and_reruns_of_each_level(self):
        for network in (["--network", "flow", *TREE], TREE):
            with self.subTest(network=network):
                told = self.explain(sim=["--traffic", "stencil:dims=2d,iterations=5,compute=300us,ranks=16", *network])
                self.assertEqual(told["bound_by"], "compute")
                self.assertAlmostEqual(sum(told["critical_path"].values()), 1, 9)
                self.assertEqual(list(told["critical_path"]), ["compute", "overhead", "latency", "bandwidth", "queueing", "matching"])
                self.assertEqual(told["jobs"][0]["bound_by"], "compute")
                # Half of 1.5 ms is gained, and nothing else is worth as much.
                best = told["what_would_help"][0]
                self.assertEqual(best["change"], "compute_x2")
                self.assertAlmostEqual(best["gain"] * told["makespan_ns"], 750000, delta=20000)
                self.assertEqual(told["bounds"]["compute_ns"], 1500000)
                for bound in told["bounds"].values():
                    self.assertLessEqual(bound, told["makespan_ns"])
                self.assertEqual(told["remarks"], [])

    def test_tolerance_is_exact_where_time_is_linear(self):
        # There and back ten times: 20 (2 o + L + 999 G) = 20 (600 + 2000 + 999 / 2) ns.
        told = self.explain("--tolerance", sim=["--traffic", "ping_pong:sizes=1000B,iterations=10,ranks=2", "--network",
                                                "loggops:L=2000,o=300,g=0,G=0.5,O=0,S=1MB"])
        time = 20 * (600 + 2000 + 999 / 2)
        self.assertEqual(told["makespan_ns"], time)
        for each in told["tolerance"]["latency"]:
            self.assertAlmostEqual(each["factor"], 1 + each["slowdown"] * time / (20 * 2000), delta=0.011)
        for each in told["tolerance"]["bandwidth"]:
            self.assertAlmostEqual(each["factor"], 1 + each["slowdown"] * time / (20 * 999 / 2), delta=0.02)
        gains = {each["change"]: each["gain"] for each in told["what_would_help"]}
        self.assertAlmostEqual(gains["no_latency"], 20 * 2000 / time, 3)
        self.assertAlmostEqual(gains["no_overhead"], 20 * 600 / time, 3)
        self.assertAlmostEqual(gains["bandwidth_x4"], 0.75 * 20 * 999 / 2 / time, 3)
        self.assertEqual(gains["compute_x2"], 0)

    def test_each_job_has_its_cause(self):
        told = self.explain(sim=["--job", "traffic=[alltoall:size=1MB,ranks=8],name=busy", "--job",
                                 "traffic=[stencil:dims=2d,iterations=5,compute=300us,ranks=4],name=calm", *TREE])
        self.assertEqual([job["bound_by"] for job in told["jobs"]], ["bandwidth", "compute"])
        self.assertIn("bound_by", (self.folder / "RUN/jobs.csv").read_text().splitlines()[0])
        text = self.weft("explain", "RUN", "--no-rerun").stdout
        self.assertIn("busy is bound by bandwidth", text)
        self.assertIn("calm is bound by compute", text)

    def test_a_run_that_changed_is_told(self):
        (self.folder / "a.goal").write_text("num_ranks 2\nrank 0 {\nl1: send 1000b to 1\n}\nrank 1 {\nl1: recv 1000b from 0\n}\n")
        self.explain(sim=["--goal", "a.goal", *TREE])
        (self.folder / "a.goal").write_text("num_ranks 2\nrank 0 {\nl1: send 9000b to 1\n}\nrank 1 {\nl1: recv 9000b from 0\n}\n")
        self.assertIn("another course", json.loads(self.weft("explain", "RUN", "--json").stdout)["remarks"][0])

    def test_what_is_refused(self):
        self.assertIn("summary.json", self.weft("explain", "nowhere", status=2).stderr)
        (self.folder / "RUN").mkdir()
        for text in ("[]", "{}", '{"outcome": "complete", "digest": 5}', '{"outcome": "complete", "digest": "0", "makespan_ns": 1, '
                     '"topology": "", "network": "", "jobs": [{"name": 1}]}'):
            (self.folder / "RUN/summary.json").write_text(text)
            self.weft("explain", "RUN", status=2)


if __name__ == "__main__":
    unittest.main()

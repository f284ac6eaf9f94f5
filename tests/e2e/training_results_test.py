"""What runs of training steps tell: tokens per second, and the communication that computation waits for."""

import csv
import json
import unittest

from weft_command import WeftTest

STEP = "llm:model=tiny,tp=2,pp=2,dp=2,global_batch=8"
NODE = ["--topology", "scale_up:of=[single_switch:hosts=1],node=dgx_h100", "--network", "flow"]


class TrainingResults(WeftTest):
    def run_of(self, *arguments):
        text = self.weft("sim", *arguments, "-o", "RUN").stdout
        return json.loads((self.folder / "RUN/summary.json").read_text()), text

    def rows(self, name):
        with open(self.folder / "RUN" / name, newline="") as file:
            return list(csv.DictReader(file))

    def test_tokens(self):
        # 8 sequences of 128 tokens in each of two steps.
        generated, text = self.run_of("--traffic", STEP + ",iterations=2", *NODE)
        expected = 2 * 8 * 128 / (generated["makespan_ns"] * 1e-9)
        self.assertAlmostEqual(generated["tokens_per_second"] / expected, 1, 9)
        self.assertAlmostEqual(generated["jobs"][0]["tokens_per_second"] / expected, 1, 9)
        self.assertIn(f"tokens              {expected:,.0f} a second", text)
        self.weft("goal", "gen", STEP + ",iterations=2", "-o", "a.weft")
        packed, _ = self.run_of("--goal", "a.weft", *NODE)
        self.assertAlmostEqual(packed["tokens_per_second"] / (2048e9 / packed["makespan_ns"]), 1, 9)
        info = json.loads(self.weft("goal", "info", "a.weft", "--json").stdout)
        self.assertEqual(info["tokens"], 2048)
        self.assertEqual(info["model_flops"], float(info["metadata"]["model_flops"]))
        self.assertEqual(info["device_memory_bytes"], float(info["metadata"]["device_memory_bytes"]))
        # Half of a program has other tokens than are noted.
        self.weft("goal", "scale", "a.weft", "--calc", "0.5", "-o", "b.weft")
        self.assertNotIn("tokens_per_second", self.run_of("--goal", "b.weft", *NODE)[0])
        self.assertNotIn("tokens", json.loads(self.weft("goal", "info", "b.weft", "--json").stdout))

    def test_tokens_of_jobs(self):
        self.weft("goal", "gen", STEP, "-o", "a.weft")
        run, text = self.run_of("--job", "a.weft,at=1ms", "--job", "a.weft,repeat=3", "--job", "traffic=[alltoall:size=1KB,ranks=4]",
                                "--topology", "single_switch:hosts=32", "--network", "flow")
        first, second, other = run["jobs"]
        self.assertAlmostEqual(first["tokens_per_second"] / (1024e9 / (first["finish_ns"] - 1e6)), 1, 9)
        self.assertAlmostEqual(second["tokens_per_second"] / (3 * 1024e9 / second["finish_ns"]), 1, 9)
        self.assertNotIn("tokens_per_second", other)
        last = max(first["finish_ns"], second["finish_ns"])
        self.assertAlmostEqual(run["tokens_per_second"] / (4 * 1024e9 / last), 1, 9)
        self.assertIn("tokens              ", text)

    def test_exposed_communication(self):
        """The digest is that of one thread, and so is all that is told; shares are those of the runtime."""
        for network in (NODE, ["--network", "loggops:L=2000,o=0,g=10,G=0.08"], [*NODE[:2], "--network", "packet"]):
            told = []
            for threads in ("1", "2"):
                run, text = self.run_of("--traffic", STEP, *network, "--threads", threads)
                told.append([run[key] for key in ("digest", "exposed_communication", "hidden_communication", "first_cpu")])
            self.assertEqual(told[0], told[1])
            exposed = run["exposed_communication"]
            self.assertLessEqual({"tp", "pp", "dp"}, set(exposed))
            self.assertEqual(exposed, run["jobs"][0]["exposed_communication"])
            for one in exposed.values():
                self.assertLessEqual(one["mean_ns"], one["max_ns"])
                self.assertAlmostEqual(one["share"], one["mean_ns"] / run["makespan_ns"], 9)
                self.assertLessEqual(one["unsent_share"], one["share"])
            self.assertEqual(exposed["dp"]["unsent_share"], 0)
            self.assertGreater(exposed["pp"]["unsent_share"], 0.9 * exposed["pp"]["share"])
            # Means of ranks that end nearly together: their time is the runtime but for that.
            finish = [float(row["finish_ns"]) for row in self.rows("ranks.csv")]
            self.assertAlmostEqual(sum(run["first_cpu"].values()), sum(finish) / len(finish) / run["makespan_ns"], 6)
            self.assertAlmostEqual(sum(one["share"] for one in exposed.values()), run["first_cpu"]["exposed_share"], 6)
            self.assertRegex(text, r"exposed communication .*\btp [\d.]+%")
            self.assertIn("(first cpu of each rank)", text)

    def test_nothing_is_computed(self):
        run, text = self.run_of("--traffic", "alltoall:size=1KB,ranks=8", "--topology", "single_switch:hosts=8")
        self.assertNotIn("exposed communication", text)
        self.assertEqual(run["first_cpu"]["compute_share"], 0)

    def test_other_graphs_have_none(self):
        run, text = self.run_of("--traffic", "alltoall:size=1KB,ranks=8", "--topology", "single_switch:hosts=8")
        self.assertNotIn("tokens_per_second", run)
        self.assertNotIn("tokens", text)


if __name__ == "__main__":
    unittest.main()

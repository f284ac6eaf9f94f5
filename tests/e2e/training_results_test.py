"""What runs of training steps tell: tokens per second, and the communication that computation waits for."""

import json
import unittest

from weft_command import WeftTest

STEP = "llm:model=tiny,tp=2,pp=2,dp=2,global_batch=8"
NODE = ["--topology", "scale_up:of=[single_switch:hosts=1],node=dgx_h100", "--network", "flow"]


class TrainingResults(WeftTest):
    def run_of(self, *arguments):
        text = self.weft("sim", *arguments, "-o", "RUN").stdout
        return json.loads((self.folder / "RUN/summary.json").read_text()), text

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

    def test_other_graphs_have_none(self):
        run, text = self.run_of("--traffic", "alltoall:size=1KB,ranks=8", "--topology", "single_switch:hosts=8")
        self.assertNotIn("tokens_per_second", run)
        self.assertNotIn("tokens", text)


if __name__ == "__main__":
    unittest.main()

"""SimAI's workloads, imported and replayed: times and bytes against what one reckons by hand."""

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from weft_command import ImportTest  # noqa: E402

# As AICB writes them: two layers of a model with experts, tp=2, ep=2.
EXPERTS = """HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 1 vpp: 2 ga: 1 all_gpus: 8 checkpoints: 0 checkpoint_initiates: 0 pp_comm: 0
6
grad_gather\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tALLGATHER\t4096000\t100
grad_param_comm\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tREDUCESCATTER\t8192000\t100
moe_grad_norm1\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tALLGATHER_DP_EP\t2048000\t100
embedding_layer\t-1\t700\tALLREDUCE\t65536\t1\tNONE\t0\t900\tNONE\t0\t100
attention_column\t-1\t1750\tALLGATHER\t65536\t875\tREDUCESCATTER\t65536\t875\tNONE\t0\t100
mlp_moelayer\t-1\t7956\tALLTOALL_EP\t32768\t7956\tALLTOALL_EP\t32768\t1\tNONE\t0\t100
"""


class SimAi(ImportTest):
    def written(self, text):
        path = self.folder / "workload.txt"
        path.write_text(text)
        return path

    def runtime(self, *settings):
        network = "loggops:L=1000,o=0,g=0,G=0.01,S=1000000000"
        self.weft("sim", "--goal", "x.weft", "--network", network, "--set", "collectives.profile=default", "-o", "run", *settings)
        return json.loads((self.folder / "run/summary.json").read_text())

    def test_one_layer_takes_what_one_reckons(self):
        line = "layer -1 1000 ALLREDUCE 1000000 2000 ALLREDUCE 1000000 3000 ALLREDUCE 4000000 100"
        self.imported(self.written(f"HYBRID_TRANSFORMER model_parallel_NPU_group: 2 all_gpus: 4\n1\n{line}\n"))
        summary = self.runtime()

        def exchange(size):  # two ranks send each other the whole at once
            return 1000 + (size - 1) * 0.01

        expected = 1000 + 2000 + 3000 + 3 * 100 + 2 * exchange(1_000_000) + exchange(4_000_000)
        self.assertAlmostEqual(summary["makespan_ns"], expected, delta=1)

    def test_weights_move_beside_the_layers_below(self):
        # 4 MB between two ranks take 41 us, and layer 0 computes for 50 us when they begin.
        layers = "a -1 1000 NONE 0 20000 NONE 0 30000 NONE 0 0\nb -1 1000 NONE 0 1000 NONE 0 1000 ALLREDUCE 4000000 0\n"
        self.imported(self.written(f"HYBRID_TRANSFORMER model_parallel_NPU_group: 1 all_gpus: 2\n2\n{layers}"))
        self.assertAlmostEqual(self.runtime()["makespan_ns"], 4000 + 50000, delta=1)

    def test_found_out_by_content_and_told(self):
        said = self.imported(self.written(EXPERTS))
        self.assertIn("8 ranks", said)
        for note in ("assumed_groups", "assumed_gathered_bytes: 3", "unread_attributes: 2", "ga (1), vpp (1)"):
            self.assertIn(note, said)
        info = json.loads(self.weft("goal", "info", "x.weft", "--json"))
        self.assertEqual(info["ranks"], 8)
        self.assertEqual(self.runtime()["outcome"], "complete")

    def test_as_many_ranks_as_one_wants(self):
        self.assertIn("16 ranks", self.imported(self.written(EXPERTS), "--ranks", "16"))
        self.assertIn("10 ranks can't be divided", self.refused(self.written(EXPERTS), "--ranks", "10"))

    def test_damaged_files_end_in_one_message(self):
        lines = EXPERTS.splitlines()
        for number in range(2, len(lines)):
            words = lines[number].split("\t")
            for at in range(1, len(words)):
                with self.subTest(line=number, word=at):
                    damaged = lines.copy()
                    damaged[number] = "\t".join([*words[:at], "x" + words[at], *words[at + 1:]])
                    self.assertIn(f"workload.txt:{number + 1}:", self.refused(self.written("\n".join(damaged))))


if __name__ == "__main__":
    unittest.main()

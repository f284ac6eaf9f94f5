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
        self.assertAlmostEqual(generated["tokens_per_second_per_gpu"] * generated["jobs"][0]["ranks"] / expected, 1, 9)
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

    def test_flops_of_the_model(self):
        """FLOPs as `goal info` tells them, over the runtime of all ranks, and over an H100's dense peaks."""
        for precision, peak in (("bf16", 989.4), ("fp8", 1979), ("mxfp8", 1979), ("fp16", 989.4)):
            step = f"{STEP},iterations=2,device=h100,precision={precision}"
            run, text = self.run_of("--traffic", step, *NODE)
            self.weft("goal", "gen", step, "-o", "a.weft")
            flops = json.loads(self.weft("goal", "info", "a.weft", "--json").stdout)["model_flops"]
            expected = flops / 8 / (run["makespan_ns"] * 1e-9) / 1e12
            for told in (run, run["jobs"][0], self.run_of("--goal", "a.weft", *NODE)[0]):
                self.assertAlmostEqual(told["model_tflops_per_gpu"] / expected, 1, 5)
                self.assertAlmostEqual(told["mfu"] / (expected / peak), 1, 5)
            self.assertRegex(text, r"training +[\d.e-]+ TFLOP/s a GPU, [\d.]+% of its peak \(MFU\)")
        repeated, _ = self.run_of("--job", "a.weft,repeat=3", *NODE)
        self.assertAlmostEqual(repeated["mfu"] / (3 * flops / 8 / (repeated["makespan_ns"] * 1e-9) / 989.4e12), 1, 5)
        scaled, _ = self.run_of("--job", "a.weft,compute_scale=0.5", *NODE)
        self.assertIn("model_tflops_per_gpu", scaled)
        self.assertNotIn("mfu", scaled)
        self.weft("goal", "scale", "a.weft", "--calc", "0.5", "-o", "b.weft")
        self.assertNotIn("model_tflops_per_gpu", self.run_of("--goal", "b.weft", *NODE)[0])

    def test_aliases_of_precisions(self):
        for alias, of in (("fp16", "bf16"), ("mxfp8", "fp8")):
            runs = [self.run_of("--traffic", f"{STEP},precision={name}", *NODE)[0]["digest"] for name in (alias, of)]
            self.assertEqual(*runs)

    def test_the_device_is_that_of_the_nodes(self):
        """As if it was given: the digest is the same. A given one that the nodes don't have is told."""
        left_open = "device=... of the traffic says other"
        for traffic in (STEP, "resnet:ranks=8", "dlrm:ranks=8,tables=[1000,2000,3000,4000,5000,6000,7000,8000]"):
            for node, device, other in (("dgx_a100", "a100", "h100"), ("hgx_b200", "b200", "a100"), ("mi300x", "mi300x", "h100"),
                                        ("gb200_nvl72", "gb200", "b200")):
                nodes = ["--topology", f"scale_up:of=[single_switch:hosts=1],node={node}", "--network", "flow"]
                taken, text = self.run_of("--traffic", traffic, *nodes)
                self.assertIn(f"device {device}, as hosts are GPUs of nodes of", text)
                self.assertIn(left_open, text)
                given, text = self.run_of("--traffic", f"{traffic},device={device}", *nodes)
                self.assertEqual(taken["digest"], given["digest"])
                self.assertFalse([w for w in given["warnings"] if "computing takes the times" in w or left_open in w])
                wrong, text = self.run_of("--traffic", f"{traffic},device={other}", *nodes)
                self.assertNotEqual(wrong["digest"], given["digest"])
                self.assertIn(f"computing takes the times of {other}, as the traffic says, but GPUs of nodes of", text)
                self.assertNotIn(left_open, text)

    def test_devices_that_nodes_have_as_well(self):
        for node, device in (("dgx_h100", "h200"), ("dgx_a100", "a100_40gb")):
            run, _ = self.run_of("--traffic", f"{STEP},device={device}", "--topology", f"scale_up:of=[single_switch:hosts=1],node={node}")
            self.assertFalse([w for w in run["warnings"] if "computing takes the times" in w])

    def test_all_kinds_of_node(self):
        """Each has a device there is; boards of four GPUs have two nodes here."""
        for node, device in (("a100_100g", "a100"), ("dgx_h100", "h100"), ("gh200_nvl32", "gh200"), ("alps", "gh200"),
                             ("leonardo", "a100"), ("marenostrum5_acc", "h100")):
            _, text = self.run_of("--traffic", STEP, "--topology", f"scale_up:of=[single_switch:hosts=2],node={node}", "--network", "flow")
            self.assertIn(f"device {device}, as hosts are GPUs of nodes of {node}", text)

    def test_nodes_are_as_large_as_those_of_the_topology(self):
        """Weights are divided within a node, and experts' tokens forwarded there: as if node_ranks was given."""
        hybrid = "llm:model=tiny,seq=128,sharding=hsdp,dp=16"
        experts = "llm:model=mixtral_8x7b,seq=64,ep=8,dp=8,expert_nodes=2"
        for traffic, node, nodes, ranks in ((hybrid, "alps", 4, 4), (hybrid, "dgx_h100", 2, 8), (hybrid, "dgx_h100,accelerators=2", 8, 2),
                                            (experts, "alps", 2, 4)):
            topology = ["--topology", f"scale_up:of=[single_switch:hosts={nodes}],node={node}", "--network", "flow"]
            taken, text = self.run_of("--traffic", traffic, *topology)
            self.assertIn(f"of {ranks} ranks (node_ranks)", text)
            given, _ = self.run_of("--traffic", f"{traffic},node_ranks={ranks}", *topology)
            self.assertEqual(taken["digest"], given["digest"])
            other, _ = self.run_of("--traffic", f"{traffic},node_ranks={4 if ranks == 2 else 2}", *topology)
            self.assertNotEqual(taken["digest"], other["digest"])

    def test_where_no_node_says_what_computes(self):
        """A switch, nodes of no name, and sites of different ones: h100, and it is told."""
        usual = "device h100, as neither the traffic nor the topology says what computes"
        sites = "scale_up:of=[single_switch:hosts=1],node={}"
        for topology in ("single_switch:hosts=8", "scale_up:of=[single_switch:hosts=1]", "scale_up:of=[single_switch:hosts=1],node=pcie",
                         f"datacenters:of=[{sites.format('dgx_a100')};{sites.format('dgx_b200')}]"):
            nodes = ["--topology", topology, "--network", "flow"]
            run, text = self.run_of("--traffic", STEP, *nodes)
            self.assertIn(usual, text)
            given, text = self.run_of("--traffic", STEP + ",device=h100", *nodes)
            self.assertEqual(run["digest"], given["digest"])
            self.assertNotIn(usual, text)
        made = self.weft("goal", "gen", STEP, "-o", "a.weft")
        self.assertIn(usual, made.stdout + made.stderr)
        # The graph knows what it was made for.
        _, text = self.run_of("--goal", "a.weft", "--topology", sites.format("dgx_a100"))
        self.assertIn("computing takes the times of h100, as the graph was generated for it, but GPUs of nodes of dgx_a100 are a100", text)
        self.assertNotIn("computing takes", self.run_of("--goal", "a.weft", *NODE)[1])

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
            # Who waits in the all-reduce at the end waits for the last stage of the pipeline, or its gradients.
            self.assertGreater(exposed["allreduce"]["unsent_share"], 0.75 * exposed["allreduce"]["share"])
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

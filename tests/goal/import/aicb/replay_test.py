"""AICB's tables, imported and replayed: times and bytes against what one reckons by hand."""

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from weft_command import ImportTest  # noqa: E402

HEAD = "comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,_elapsed_time,algbw,busbw,count\n"


def collective(kind, group, size, count):
    return f"CommType.{kind},CommGroup.{group},{size},{count},forward.MegatronRowLinear,None,None,,None,None,None,1\n"


def message(kind, way, count):
    return f"CommType.{kind},CommGroup.pp_group,1,{count},forward_step,None,None,{way},None,None,None,1\n"


def computation(ns):
    return f"CommType.computation,CommGroup.all,None,((8 1 8) (8 8)),forward.l,None,None,None,{ns},None,None,1\n"


# A step of two layers as AICB writes it for tp=2 on four ranks.
STEP = ("[rank0 ~ rank3],,,,,,,,,,,\n" + HEAD + collective("all_reduce", "dp_group", 2, 8) +
        "CommType.epoch_end,None,None,0,,None,None,,None,None,None,1\n" +
        2 * (computation(1000) + collective("all_reduce", "tp_group", 2, 1_000_000)) +
        collective("reduce_scatter", "dp_group", 2, 4_000_000) + collective("all_gather", "dp_group", 2, 2_000_000) +
        "CommType.epoch_end,None,None,0,,None,None,,None,None,None,1\n")


class Aicb(ImportTest):
    def written(self, text):
        path = self.folder / "workload.csv"
        path.write_text(text)
        return path

    def summary(self):
        network = "loggops:L=1000,o=0,g=0,G=0.01,S=1000000000"
        self.weft("sim", "--goal", "x.weft", "--network", network, "--set", "collectives.profile=default", "-o", "run")
        return json.loads((self.folder / "run/summary.json").read_text())

    def test_a_step_takes_what_one_reckons(self):
        said = self.imported(self.written(STEP), "--skip-init")
        for note in ("assumed_groups: 4", "set_up_left_out: 1", "assumed_unit_of_time: 2"):
            self.assertIn(note, said)

        def exchange(size):  # two ranks send each other so much at once
            return 1000 + (size - 1) * 0.01

        # Of the last two each rank sends the other its half.
        expected = 2 * (1000 + exchange(1_000_000)) + exchange(2_000_000) + exchange(1_000_000)
        self.assertAlmostEqual(self.summary()["makespan_ns"], expected, delta=1)

    def test_a_pipeline_of_two_stages(self):
        # Forward and backward of two micro-batches, 1F1B: 1000 ns each; messages take 1000 + 9.99 ns.
        work = computation(1000)
        first = work + message("isend", "send_next", 1000) + work + message("irecv", "recv_next", 1000) + \
            message("isend", "send_next", 1000) + work + message("irecv", "recv_next", 1000) + work
        second = message("irecv", "recv_prev", 1000) + work + work + message("isend", "send_prev", 1000) + \
            message("irecv", "recv_prev", 1000) + work + work + message("isend", "send_prev", 1000)
        text = f"[ pp_stage0: [rank0] ]\n{HEAD}{first}[ pp_stage1: [rank1] ]\n{HEAD}{second}"
        self.assertIn("2 ranks", self.imported(self.written(text)))
        # F0 there and back twice: F, message, four computations of the second stage, message, B.
        summary = self.summary()
        self.assertEqual(summary["messages"], 4)
        self.assertAlmostEqual(summary["makespan_ns"], 1000 + 1009.99 + 4000 + 1009.99 + 1000, delta=1)

    def test_errors_name_the_row(self):
        damaged = STEP.replace(",8,forward", ",x8,forward", 1)
        self.assertIn("workload.csv:3:42: found 'x8'; expected bytes (msg_size)", self.refused(self.written(damaged)))

    def test_computations_on_a_device(self):
        self.imported(self.written(HEAD + computation("None") + collective("barrier", "all", 2, 0)), "--device", "h100")
        self.assertGreater(self.summary()["makespan_ns"], 1000)


if __name__ == "__main__":
    unittest.main()

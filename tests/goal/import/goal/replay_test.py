"""GOAL text and binary, imported like traces."""

import sys
import unittest
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from weft_command import ImportTest  # noqa: E402

TEXT = "// made by hand\n\nnum_ranks 2\nrank 0 {\na: calc 10\nb: send 5b to 1 tag 3\nb requires a\n}\nrank 1 {\na: recv 5b from 0 tag 3\n}\n"


class Goal(ImportTest):
    def test_text_and_binary_give_the_same_graph(self):
        (self.folder / "a").write_text(TEXT)
        self.assertIn("2 ranks, 3 operations", self.imported("a"))
        self.assertEqual(self.sends(), Counter({(0, 1): 5}))
        makespan = self.replayed()["makespan_ns"]
        self.weft("import", "a", "-o", "b.bin")
        (self.folder / "b.bin").rename(self.folder / "b")
        self.assertIn("2 ranks, 3 operations", self.imported("b"))
        self.assertEqual(self.replayed()["makespan_ns"], makespan)

    def test_messages_without_another_side_are_told(self):
        send = "num_ranks 2\nrank 0 {\nsend 5b to 1\nsend 5b to 1\n}\nrank 1 {\nrecv 5b from 0\n}\n"
        (self.folder / "a.goal").write_text(send)
        self.weft("goal", "export", "a.goal", "--chakra", "-o", "c.et")
        (self.folder / "c").mkdir()
        for rank in range(2):
            (self.folder / f"c.{rank}.et").rename(self.folder / f"c/c.{rank}.et")
        for trace in ("a.goal", "c"):
            said = self.weft("import", trace, "-o", "x.weft")
            self.assertRegex(said, "warning +unmatched_send: 1. As goal check tells: .* operation 1 of rank 0 .send 5b to 1")
        (self.folder / "a.goal").write_text(send.replace("recv 5b from 0", "recv 5b from 0\nrecv 5b from 0"))
        self.assertNotIn("unmatched", self.imported("a.goal"))

    def test_errors_say_where(self):
        (self.folder / "a").write_text(TEXT.replace("to 1", "to 7"))
        self.assertRegex(self.refused("a"), r"a:6:\d+: ")


if __name__ == "__main__":
    unittest.main()

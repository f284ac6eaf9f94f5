"""htsim's own connection matrices, imported and replayed: every connection is one message."""

import re
import sys
import unittest
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from weft_command import ImportTest  # noqa: E402

MATRICES = [Path(path).resolve() for path in sys.argv[1:]]
del sys.argv[1:]


class Connections(ImportTest):
    def test_every_connection_is_a_message(self):
        self.assertGreater(len(MATRICES), 5)
        for path in MATRICES:
            with self.subTest(path=path.name):
                text = path.read_text()
                expected = Counter()
                for source, destination, size in re.findall(r"^(\d+)->(\d+).*? size (\d+)", text, re.M):
                    expected[int(source), int(destination)] += int(size)
                self.assertIn("messages", self.imported(path))  # recognised by its content
                summary = self.replayed()
                self.assertEqual(summary["ranks"], int(re.search(r"Nodes (\d+)", text).group(1)))
                self.assertEqual(summary["bytes"], sum(expected.values()))
                self.assertEqual(Counter({k: n for k, n in self.flows()[0].items() if n}), expected)

    def test_triggers_between_ranks_are_counted(self):
        path = self.folder / "x.cm"
        path.write_text("# two\nNodes 4\nConnections 2\nTriggers 1\n0->1 start 0 size 9 recv_done_trigger 1\n"
                        "2->3 trigger 1 size 7\ntrigger id 1 oneshot\n")
        self.assertRegex(self.weft("import", "connections", path, "-o", "x.weft"), r"warning +trigger_messages: 1\.")
        self.assertEqual(self.replayed()["messages"], 3)

    def test_a_byte_order_mark_says_nothing(self):
        text = "Nodes 4\nConnections 1\n0->1 start 0 size 9\n"
        texts = []
        for mark in b"", b"\xef\xbb\xbf":
            path = self.folder / "marked.cm"
            path.write_bytes(mark + text.encode())
            self.imported(path)  # recognised by its content
            texts.append(self.text())
        self.assertEqual(*texts)

    def test_errors_say_where(self):
        path = self.folder / "x.cm"
        path.write_text("Nodes 2\nConnections 1\n0->5 start 0 size 9\n")
        self.assertRegex(self.refused(path), r"x\.cm:3:\d+: ")


if __name__ == "__main__":
    unittest.main()

"""A real OTF2 archive, imported and replayed, against what otf2-print says of it."""

import shutil
import sys
import unittest
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from weft_command import ImportTest  # noqa: E402

DATA = Path(sys.argv.pop(1)).resolve().parent

SIZES = [16384 << k for k in range(8)]


class PingPong(ImportTest):
    def test_messages_in_order(self):
        said = self.imported(DATA)
        self.assertIn("2 ranks", said)
        self.assertNotIn("warning", said)
        self.assertEqual(self.sends(), Counter({(0, 1): sum(SIZES), (1, 0): sum(SIZES)}))
        for rank, lines in enumerate(self.ranks()):
            words = [line.split(": ", 1)[1] for line in lines if ": " in line and "calc" not in line]
            send, receive = ("send", "to"), ("recv", "from")
            expected = []
            for size in SIZES:
                for (verb, side), tag in ((send, 10), (receive, 20)) if rank == 0 else ((receive, 10), (send, 20)):
                    expected.append(f"{verb} {size}b {side} {1 - rank} tag {tag}")
            self.assertEqual(words, expected)
        summary = self.replayed()
        self.assertEqual((summary["messages"], summary["bytes"]), (16, 2 * sum(SIZES)))

    def test_damaged(self):
        for name in ("traces.def", "traces/0.evt", "traces.otf2"):
            with self.subTest(name=name):
                folder = self.folder / name.replace("/", "_")
                shutil.copytree(DATA, folder)
                path = folder / name
                path.chmod(0o644)
                path.write_bytes(path.read_bytes()[:60])
                self.assertRegex(self.refused(folder), r"traces\.otf2: |no importer knows this")
                path.unlink()
                self.assertRegex(self.refused(folder), r"traces\.otf2: |no importer knows this")


if __name__ == "__main__":
    unittest.main()

"""The tutorials: their commands run as they stand there, and print what stands there."""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WEFT, *PAGES = (Path(argument).resolve() for argument in sys.argv[1:])
del sys.argv[1:]
LEFT_OUT = "…"


def blocks(page):
    """Of a page's text: ("sh" or "text", lines), in order."""
    return [(kind, body.splitlines()) for kind, body in re.findall(r"^```(\w+)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)]


def missing(lines, output):
    """The first of these lines that the output doesn't have, in order and, but for LEFT_OUT, without others between; or None."""
    place, skips = 0, False
    for line in lines:
        if line == LEFT_OUT:
            skips = True
            continue
        found = output.index(line, place) if line in output[place:] else None
        if found is None or (found > place and not skips):
            return line
        place, skips = found + 1, False
    return None


class Tutorials(unittest.TestCase):
    def test_the_comparison_sees_what_differs(self):
        output = ["a", "b", "c", "d"]
        for lines, expected in ((["a", "b"], None), ([LEFT_OUT, "c", LEFT_OUT], None), (["a", LEFT_OUT, "d"], None), (["b"], "b"), (["a", "c"], "c"),
                                ([LEFT_OUT, "c", LEFT_OUT, "b"], "b"), ([LEFT_OUT, "e"], "e")):
            self.assertEqual(missing(lines, output), expected, lines)

    def test_commands_and_what_they_print(self):
        self.assertGreaterEqual(len(PAGES), 2)
        for page in PAGES:
            with self.subTest(page=page.name), tempfile.TemporaryDirectory() as place:
                folder = Path(place)
                (folder / "path").mkdir()
                (folder / "path/weft").symlink_to(WEFT)
                environment = {**os.environ, "PATH": f"{folder / 'path'}:{os.environ['PATH']}"}
                printed, counts = [], {"sh": 0, "text": 0}
                for kind, lines in blocks(page.read_text(encoding="utf-8")):
                    counts[kind] += 1
                    if kind == "text":
                        self.assertIsNone(missing(lines, printed), "\n".join(printed))
                        continue
                    done = subprocess.run(["sh", "-e", "-c", "\n".join(lines)], cwd=folder, capture_output=True, text=True, env=environment)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    printed = done.stdout.splitlines()
                self.assertGreater(min(counts.values()), 0, counts)
                self.assertIn("</html>", (folder / "page.html").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()

"""tools/build_cost: sums of a made-up profile, counts of made-up lists of includes, and what is no profile."""

import contextlib
import gzip
import importlib.machinery
import importlib.util
import io
import json
import tempfile
import unittest
from pathlib import Path

LOADER = importlib.machinery.SourceFileLoader("build_cost", str(Path("tools/build_cost").resolve()))
SPEC = importlib.util.spec_from_loader("build_cost", LOADER)
build_cost = importlib.util.module_from_spec(SPEC)
LOADER.exec_module(build_cost)


def event(name, seconds, category="action processing"):
    return {"cat": category, "name": name, "ph": "X", "dur": seconds * 1e6}


PROFILE = {"traceEvents": [
    event("Compiling sim/packet/a.cc", 2), event("Compiling sim/packet/b.cc", 3), event("Compiling goal/text/c.cc", 4),
    event("Linking tools/weft/weft", 7), event("Compiling sim/packet/a.cc", 100, "subprocess"), {"name": "no duration"}]}


class BuildCost(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def actions(self, name, data):
        (self.folder / name).write_bytes(data)
        return list(build_cost.read_actions(self.folder / name))

    def test_sums(self):
        text = json.dumps(PROFILE).encode()
        actions = self.actions("plain.json", text)
        self.assertEqual(actions, self.actions("packed.gz", gzip.compress(text)))
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            build_cost.print_actions(actions, 2)
        rows = [line.split() for line in out.getvalue().splitlines() if line]
        self.assertIn(["9.0", "3", "Compiling"], rows)
        self.assertIn(["7.0", "1", "Linking"], rows)
        # The dearest first, by folder and by file, and no more than asked for.
        compiled = rows[rows.index(["seconds", "compiling,", "by", "folder"]):]
        self.assertEqual(compiled[1:3], [["5.0", "sim/packet"], ["4.0", "goal/text"]])
        files = rows[rows.index(["seconds", "files", "compiled"]):]
        self.assertEqual(files[1:3], [["4.0", "goal/text/c.cc"], ["3.0", "sim/packet/b.cc"]])
        self.assertEqual(files[3], ["seconds", "programs", "linked"])

    def test_headers_that_sources_include(self):
        out = "bazel-out/k8-opt/bin"
        (self.folder / "a.d").write_text(f"{out}/a.o: sim/a.cc sim/a.h \\\n sim/b.h {out}/goal/pack.pb.h /usr/include/map.h\n")
        (self.folder / "b.d").write_text("b.o: sim/b.cc sim/b.h sim/b.h \\\n  external/x/x.h\n")
        (self.folder / "b.pic.d").write_text("b.pic.o: sim/b.cc sim/b.h\n")
        self.assertEqual(build_cost.included_headers(self.folder), {"sim/a.h": 1, "sim/b.h": 2, "goal/pack.pb.h": 1})

    def test_what_is_no_profile(self):
        for name, data in (("a.json", b"{"), ("b.json", b"[]"), ("c.json", b"{}"), ("d.gz", b"plain"), ("e.json", b"\xff")):
            with self.assertRaises(SystemExit) as stopped, contextlib.redirect_stderr(io.StringIO()) as said:
                self.actions(name, data)
            self.assertEqual(stopped.exception.code, 2)
            self.assertIn(name, said.getvalue())


if __name__ == "__main__":
    unittest.main()

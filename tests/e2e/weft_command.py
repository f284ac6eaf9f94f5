"""What tests of subcommands share: a folder of their own, and the weft program run in it."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WEFT = str(Path(sys.argv.pop(1)).resolve())


class WeftTest(unittest.TestCase):
    def setUp(self):
        self.enterContext(folder := tempfile.TemporaryDirectory())
        self.folder = Path(folder.name)

    def weft(self, *arguments, status=0, cwd=".", **environment):
        run = subprocess.run([WEFT, *arguments], capture_output=True, text=True, cwd=self.folder / cwd, env={**os.environ, **environment})
        self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        return run

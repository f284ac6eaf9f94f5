"""weft trace info on programs that hang, while they run and after they were killed; and what is imported of them.

What is expected is read off programs/crash.c: 100 exchanges of 4 bytes with itself in both ranks, one message from rank 0
to rank 1 that nobody receives, and two receives that wait for ever.
"""

import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zlib
from pathlib import Path

WEFT = str(Path(sys.argv.pop(1)).resolve())
PROGRAMS = {name: str(Path(sys.argv.pop(1)).resolve()) for name in ("openmpi", "mpich")}


def weft(*arguments):
    return subprocess.run([WEFT, *arguments], capture_output=True, text=True, check=True).stdout


def pixels_of(path):
    """Width and rows of red-green-blue of a PNG without filters."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        content = data[at + 8:at + 8 + length]
        assert struct.unpack_from(">I", data, at + 8 + length)[0] == zlib.crc32(kind + content)
        chunks[kind] = content
        at += 12 + length
    assert list(chunks) == [b"IHDR", b"IDAT", b"IEND"]
    width, height, bits, colors = struct.unpack_from(">IIBB", chunks[b"IHDR"])
    assert (bits, colors) == (8, 2)
    raw = zlib.decompress(chunks[b"IDAT"])
    assert len(raw) == height * (1 + 3 * width)
    rows = [raw[y * (1 + 3 * width):(y + 1) * (1 + 3 * width)] for y in range(height)]
    assert all(row[0] == 0 for row in rows)
    return width, [[tuple(row[1 + 3 * x:4 + 3 * x]) for x in range(width)] for row in rows]


class HangingPrograms(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def hang(self, mpi):
        """Starts the program and waits until both ranks hang."""
        run = subprocess.Popen([WEFT, "trace", "-o", str(self.folder / "trace"), "--", f"mpirun.{mpi}", "-n", "2",
                                PROGRAMS[mpi], "forever"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=True)
        self.addCleanup(lambda: (os.killpg(run.pid, signal.SIGKILL) if run.poll() is None else None, run.wait()))
        for _ in range(600):
            time.sleep(0.1)
            self.assertIsNone(run.poll(), "the program has ended")
            if len(list(self.folder.glob("trace/rank-*.wtrc"))) < 2:
                continue
            try:
                info = json.loads(weft("trace", "info", str(self.folder / "trace"), "--json"))
            except subprocess.CalledProcessError:
                continue  # a file without its header yet
            if [rank["calls"] for rank in info["rank_states"]] == [102, 101]:
                if all(rank["in"] for rank in info["rank_states"]):
                    return run, info
        self.fail("the ranks do not hang")

    def check_where(self, info, state):
        first, second = info["rank_states"]
        for rank, peer, tag in ((first, 1, 9), (second, 0, 8)):
            self.assertEqual(rank["state"], state)
            self.assertEqual(len(rank["in"]), 1)
            call = rank["in"][0]
            self.assertEqual((call["function"], call["peer"], call["tag"], call["communicator"]),
                             ("MPI_Recv", peer, tag, "MPI_COMM_WORLD"))
            self.assertEqual("for_ns" in call, state == "running")
            self.assertGreaterEqual(call["enter_ns"], rank["last_call"]["leave_ns"])
        self.assertEqual((first["last_call"]["function"], first["last_call"]["peer"]), ("MPI_Send", 1))
        self.assertEqual(second["last_call"]["function"], "MPI_Sendrecv_replace")

    def test_hang(self):
        for mpi in PROGRAMS:
            if shutil.which(f"mpirun.{mpi}") is None:
                print(f"skipped: mpirun.{mpi} is not installed")
                continue
            with self.subTest(mpi):
                run, info = self.hang(mpi)
                trace = str(self.folder / "trace")
                self.check_where(info, "running")
                later = json.loads(weft("trace", "info", trace, "--json"))
                for before, after in zip(info["rank_states"], later["rank_states"]):
                    self.assertGreater(after["in"][0]["for_ns"], before["in"][0]["for_ns"])
                self.check_figures(info)
                self.assertIn("in MPI_Recv from 1, tag 9, MPI_COMM_WORLD, for ", weft("trace", "info", trace))

                os.kill(run.pid, signal.SIGTERM)
                run.wait()
                for _ in range(100):
                    info = json.loads(weft("trace", "info", trace, "--json"))
                    if info["rank_states"][0]["state"] != "running" != info["rank_states"][1]["state"]:
                        break
                    time.sleep(0.1)
                self.check_where(info, "cut")
                self.check_figures(info)
                self.assertIn("cut 2: the process is gone", weft("trace", "info", trace))
                self.check_picture(trace)
                self.check_import(trace)
                shutil.rmtree(trace)

    def check_figures(self, info):
        self.assertEqual((info["ranks"], info["world_size"], info["one_run"]), (2, 2, True))
        self.assertEqual((info["calls"], info["sent_bytes"]), (203, 804))
        self.assertEqual(info["wildcards"], {"any_source": 0, "any_tag": 0})
        functions = {use["name"]: use for use in info["functions"]}
        self.assertEqual({name: (use["calls"], use["bytes"], use["coverage"]) for name, use in functions.items()
                          if use["coverage"] != "counted"},
                         {"MPI_Init": (2, 0, "decoded"), "MPI_Send": (1, 4, "decoded"),
                          "MPI_Sendrecv_replace": (200, 800, "decoded")})
        inside = sum(use["ns"] for use in functions.values())
        self.assertEqual(inside, sum(rank["mpi_ns"] for rank in info["rank_states"]))
        self.assertAlmostEqual(info["mpi_share"], inside / sum(rank["elapsed_ns"] for rank in info["rank_states"]))
        self.assertEqual(info["communicators"],
                         [{"name": "MPI_COMM_WORLD", "ranks": 2, "inter": False, "calls": 201, "bytes": 804}])

    def check_picture(self, trace):
        picture = self.folder / "matrix.png"
        weft("trace", "info", trace, "--matrix", str(picture))
        width, rows = pixels_of(picture)
        self.assertEqual((width, len(rows)), (512, 512))
        cells = [[{rows[y][x] for y in range(256 * r, 256 * r + 256) for x in range(256 * c, 256 * c + 256)}
                  for c in range(2)] for r in range(2)]
        # 400 B to itself in both ranks, 4 B from 0 to 1, none from 1 to 0.
        self.assertEqual(cells[0][0], cells[1][1])
        self.assertEqual(cells[1][0], {(255, 255, 255)})
        self.assertEqual(len(cells[0][1]), 1)
        self.assertGreater(sum(cells[0][1].pop()), sum(cells[0][0].pop()))  # the lighter the fewer

    def check_import(self, trace):
        graph = str(self.folder / "app.weft")
        refused = subprocess.run([WEFT, "import", "mpi", trace, "-o", graph], capture_output=True, text=True)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--partial", refused.stderr)
        said = weft("import", "mpi", trace, "--partial", "-o", graph)
        self.assertIn("sends_without_partner: 1.", said)
        self.assertIn("messages     200 ", said)
        self.assertIn("sound", weft("goal", "check", graph))
        weft("sim", "--goal", graph, "--network", "loggops", "-o", str(self.folder / "run"))
        summary = json.loads((self.folder / "run/summary.json").read_text())
        self.assertEqual(summary["outcome"], "complete")
        shutil.rmtree(self.folder / "run")


if __name__ == "__main__":
    unittest.main()

"""weft bundle and weft verify: a run made again elsewhere from nothing but its bundle, and bundles that were touched."""

import hashlib
import io
import json
import shutil
import subprocess
import tarfile
import unittest
from pathlib import Path

from weft_command import WeftTest


# Three hosts at a switch, and a graph of two messages.
WIRING = "h0,s,100Gbps\nh1,s,100Gbps\nh2,s,100Gbps\n"
GRAPH = "num_ranks 3\nrank 0 {\nsend 8000b to 1\n}\nrank 1 {\na: recv 8000b from 0\nb: send 10b to 2\nb requires a\n}\nrank 2 {\nrecv 10b from 1\n}\n"


class Bundle(WeftTest):
    def setUp(self):
        super().setUp()
        (self.folder / "here").mkdir()

    def weft(self, *arguments, cwd="here", **more):
        return super().weft(*arguments, cwd=cwd, **more)

    def run_of_files(self):
        """A run of two files, in here/RUN; its bundle in run.tar.zst."""
        (self.folder / "here/wires.csv").write_text(WIRING)
        (self.folder / "here/two.goal").write_text(GRAPH)
        self.weft("sim", "--goal", "two.goal", "--topology", "graph_file:file=wires.csv,hosts=h*", "-q", "-o", "RUN")
        self.weft("bundle", "RUN", "-o", "../run.tar.zst")
        return json.loads((self.folder / "here/RUN/summary.json").read_text())

    def files(self):
        """Of the bundle: name to bytes, in its order."""
        plain = subprocess.run(["zstd", "-dc", self.folder / "run.tar.zst"], capture_output=True, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(plain)) as archive:
            return {member.name: archive.extractfile(member).read() for member in archive}

    def pack(self, files):
        plain = io.BytesIO()
        with tarfile.open(fileobj=plain, mode="w") as archive:
            for name, content in files.items():
                member = tarfile.TarInfo(name)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        subprocess.run(["zstd", "-qf", "-o", self.folder / "run.tar.zst"], input=plain.getvalue(), check=True)

    def refused(self, *words, options=()):
        done = self.weft("verify", "run.tar.zst", *options, status=2, cwd=".")
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_the_same_run_from_the_bundle_alone(self):
        summary = self.run_of_files()
        shutil.rmtree(self.folder / "here")
        temporary = self.folder / "temporary"
        temporary.mkdir()
        told = json.loads(self.weft("verify", "run.tar.zst", "--json", cwd=".", TMPDIR=str(temporary)).stdout)
        self.assertEqual([told["same"], told["digest"], told["makespan_ns"]], [True, summary["digest"], summary["makespan_ns"]])
        self.assertEqual(list(temporary.iterdir()), [])
        self.weft("verify", "run.tar.zst", "--extract", "there", cwd=".")
        self.weft("sim", "scenario.txtpb", "-q", "-o", "AGAIN", cwd="there")
        self.assertEqual(json.loads((self.folder / "there/AGAIN/summary.json").read_text())["digest"], summary["digest"])
        self.refused("empty", options=("--extract", "there"))

    def test_what_the_manifest_says(self):
        self.run_of_files()
        files = self.files()
        manifest = json.loads(files.pop("MANIFEST.json"))
        self.assertEqual([file["name"] for file in manifest["files"]], list(files))
        for file in manifest["files"]:
            self.assertEqual([file["sha256"], file["bytes"]], [hashlib.sha256(files[file["name"]]).hexdigest(), len(files[file["name"]])])
        self.assertEqual(sorted(Path(file["path"]).name for file in manifest["files"] if file["path"]), ["two.goal", "wires.csv"])
        self.assertIn(GRAPH.encode(), files.values())
        # The same run gives the same bytes.
        self.weft("bundle", "RUN", "-o", "../again.tar.zst")
        self.assertEqual((self.folder / "again.tar.zst").read_bytes(), (self.folder / "run.tar.zst").read_bytes())

    def test_what_was_touched_is_refused(self):
        self.run_of_files()
        files = self.files()
        graph = next(name for name in files if name.endswith("two.goal"))
        self.pack({**files, graph: files[graph].replace(b"8000", b"9000")})
        self.refused(graph, "SHA-256")
        self.pack({name: content for name, content in files.items() if name != graph})
        self.refused(graph)
        self.pack({**files, "more": b"1"})
        self.refused("more")
        manifest = json.loads(files["MANIFEST.json"])
        manifest["files"][0]["name"] = "../outside"
        self.pack({"MANIFEST.json": json.dumps(manifest).encode(), "../outside": files["scenario.txtpb"]})
        self.refused("../outside")
        self.assertFalse((self.folder.parent / "outside").exists())
        self.pack({"scenario.txtpb": b""})
        self.refused("MANIFEST.json")
        (self.folder / "run.tar.zst").write_bytes(b"no archive")
        self.refused("run.tar.zst")

    def altered(self, change):
        """A bundle with another scenario that its manifest agrees with."""
        files = self.files()
        files["scenario.txtpb"] = change(files["scenario.txtpb"].decode()).encode()
        manifest = json.loads(files["MANIFEST.json"])
        manifest["files"][0].update(sha256=hashlib.sha256(files["scenario.txtpb"]).hexdigest(), bytes=len(files["scenario.txtpb"]))
        self.pack({**files, "MANIFEST.json": json.dumps(manifest).encode()})

    def test_another_run_is_told(self):
        self.run_of_files()
        self.altered(lambda text: text.replace('host_delay: "0ns"', 'host_delay: "100ns"'))
        self.assertIn("ANOTHER", self.weft("verify", "run.tar.zst", status=2, cwd=".").stdout)

    def test_nothing_outside_is_read(self):
        self.run_of_files()
        secret = self.folder / "secret.goal"
        secret.write_text(GRAPH)
        graph = next(name for name in self.files() if name.endswith("two.goal"))
        self.altered(lambda text: text.replace(graph, str(secret)))
        self.refused("secret.goal")

    def test_a_file_that_has_changed_is_not_bundled(self):
        self.run_of_files()
        (self.folder / "here/two.goal").write_text(GRAPH.replace("8000", "9000"))
        self.assertIn("changed since", self.weft("bundle", "RUN", "-o", "x.tar.zst", status=2).stderr)
        self.assertFalse((self.folder / "here/x.tar.zst").exists())

    def test_generated_traffic_job_lists_and_deadlocks(self):
        (self.folder / "here/log.swf").write_text("".join(f"{job} {job} 0 1 2 -1 -1 2 5 -1 1 1 1 1 1 1 -1 -1\n" for job in range(1, 4)))
        (self.folder / "here/stuck.goal").write_text("num_ranks 2\nrank 0 {\nrecv 8b from 1\n}\nrank 1 {\n}\n")
        for name, status, arguments in (
                ("traffic", 0, ("--traffic", "alltoall:size=20KB,ranks=8", "--topology", "fat_tree:k=4", "--threads", "2")),
                ("list", 0, ("--job-list", "log.swf", "--job-model", "traffic=[stencil:iterations=3]", "--topology", "fat_tree:k=4", "--network", "flow")),
                ("stuck", 3, ("--goal", "stuck.goal", "--network", "loggops"))):
            with self.subTest(name):
                self.weft("sim", *arguments, "-q", "-o", name, status=status)
                self.weft("bundle", name, "-o", f"{name}.tar.zst")
                self.weft("verify", f"{name}.tar.zst")

    def test_runs_that_were_cut_short_have_no_bundle(self):
        self.weft("sim", "--traffic", "alltoall:size=1MB,ranks=8", "--topology", "fat_tree:k=4", "--set", "limits.time=1us", "-q", "-o", "RUN", status=4)
        self.assertIn("cut short", self.weft("bundle", "RUN", "-o", "x.tar.zst", status=2).stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)

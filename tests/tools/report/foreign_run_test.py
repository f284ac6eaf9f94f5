"""weft report, weft export and weft topo draw --load of runs that somebody else has made, or made up."""

import base64
import gzip
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

WEFT = Path(sys.argv.pop(1)).resolve()

# NaN can't be in a database: it becomes NULL.
ODD_VALUES = [None, "text", b"\xff\x00\xfe", -1, 2**31, 2**63 - 1, 1e308, ""]
EXPORTED = {"timeline", "timeline_messages", "samples", "network_samples", "jobs", "links", "scenario", "omitted", "run"}
SECRET = "not-for-pages-77"


def weft(*arguments, cwd):
    return subprocess.run([WEFT, *arguments], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)


def data_of(page):
    text = re.search(r'<script id="data"[^>]*>([^<]*)<', page.read_text()).group(1)
    return json.loads(gzip.decompress(base64.b64decode(text)))


class Foreign(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def sim(self, *arguments):
        run = weft("sim", "-q", *arguments, cwd=self.folder)
        self.assertEqual(run.returncode, 0, run.stderr)

    def small_run(self):
        self.sim("--job", "traffic=[alltoall:size=4KB,ranks=4],name=a", "--job", "traffic=[alltoall:size=4KB,ranks=4],name=b",
                 "--topology", "fat_tree:k=4", "--sample", "1us", "--interference", "-o", "RUN")

    def check_end(self, run, what):
        self.assertIn(run.returncode, (0, 2), (what, run.stderr))
        self.assertNotIn(b"internal error", run.stderr, what)
        if run.returncode == 2:
            self.assertEqual(run.stderr.count(b"\n"), 1, (what, run.stderr))
            self.assertLess(len(run.stderr), 700, what)

    def try_value(self, table, column, value):
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            copy = Path(name) / "RUN"
            shutil.copytree(self.folder / "RUN", copy)
            with sqlite3.connect(copy / "results.sqlite") as database:
                database.execute(f'UPDATE "{table}" SET "{column}" = ?', (value,))
            what = f"{table}.{column} = {value!r}"
            self.check_end(weft("report", "RUN", "-o", "/dev/null", cwd=name), what)
            if table in EXPORTED:
                self.check_end(weft("export", "perfetto", "RUN", "-o", "/dev/null", cwd=name), what)

    def test_odd_values_in_every_column(self):
        self.small_run()
        with sqlite3.connect(self.folder / "RUN/results.sqlite") as database:
            tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            columns = [(table, row[1]) for table in tables for row in database.execute(f'PRAGMA table_info("{table}")')]
        self.assertGreater(len(columns), 100)
        with ThreadPoolExecutor(2) as pool:
            for done in [pool.submit(self.try_value, *column, value) for column in columns for value in ODD_VALUES]:
                done.result()

    def test_views_and_virtual_tables_are_refused(self):
        self.small_run()
        endless = "WITH RECURSIVE n(link) AS (SELECT 0 UNION ALL SELECT link + 1 FROM n)"
        for sql in (f"DROP TABLE links; CREATE VIEW links AS {endless} SELECT link, '' \"from\", '' \"to\", 0 utilization FROM n",
                    "CREATE VIEW other AS SELECT 1", "CREATE VIRTUAL TABLE other USING fts4(a)",
                    "CREATE TRIGGER t AFTER INSERT ON links BEGIN DELETE FROM links; END"):
            shutil.copy(self.folder / "RUN/results.sqlite", self.folder / "whole")
            with sqlite3.connect(self.folder / "RUN/results.sqlite") as database:
                database.executescript(sql)
            for command in (["report"], ["export", "perfetto"]):
                run = weft(*command, "RUN", "-o", "out", cwd=self.folder)
                self.check_end(run, sql)
                self.assertIn(b"plain tables only", run.stderr)
                self.assertFalse((self.folder / "out").exists())
            shutil.copy(self.folder / "whole", self.folder / "RUN/results.sqlite")

    def test_a_file_that_the_scenario_names_is_not_read(self):
        self.small_run()
        (self.folder / "secret").write_text(SECRET + "\nanother line\n")
        scenario = f'topology {{\n  graph_file {{\n    file: "{self.folder}/secret"\n  }}\n}}\n'
        with sqlite3.connect(self.folder / "RUN/results.sqlite") as database:
            database.execute("UPDATE scenario SET text = ?", (scenario,))
        summary = json.loads((self.folder / "RUN/summary.json").read_text())
        summary["topology"] = f"graph_file:file={self.folder}/secret"
        (self.folder / "RUN/summary.json").write_text(json.dumps(summary))
        for flags in ([], ["--allow-files"]):
            run = weft("report", "RUN", "-o", "page.html", *flags, cwd=self.folder)
            self.assertEqual(run.returncode, 0, run.stderr)
            data = json.dumps(data_of(self.folder / "page.html"))
            self.assertNotIn(SECRET, data)
            self.assertIn("--allow-files", data)
            drawn = weft("topo", "draw", "--load", "RUN", *flags, cwd=self.folder)
            self.check_end(drawn, flags)
            self.assertEqual(drawn.returncode, 2)
            self.assertNotIn(SECRET.encode(), drawn.stderr)
            self.assertIn(b"--allow-files", drawn.stderr)

    def test_networks_of_files(self):
        weft("topo", "gen", "fat_tree:k=4", "-o", "net.graphml", cwd=self.folder)
        self.sim("--traffic", "permutation:size=1KB", "--topology", "graph_file:file=net.graphml", "-o", "RUN")
        for flags, drawn in (([], False), (["--allow-files"], True)):
            self.assertEqual(weft("report", "RUN", "-o", "page.html", *flags, cwd=self.folder).returncode, 0)
            run, = data_of(self.folder / "page.html")["runs"]
            self.assertEqual("drawing" in run, drawn, flags)
            self.assertEqual(weft("topo", "draw", "--load", "RUN", *flags, cwd=self.folder).returncode, 0 if drawn else 2)
        # Inside of the run's folder it is the run's own.
        shutil.move(self.folder / "net.graphml", self.folder / "RUN/net.graphml")
        summary = (self.folder / "RUN/summary.json").read_text()
        (self.folder / "RUN/summary.json").write_text(re.sub(r"file=[^\",]*net.graphml", "file=RUN/net.graphml", summary))
        self.assertEqual(weft("topo", "draw", "--load", "RUN", cwd=self.folder).returncode, 0)

    def test_names_with_commas_quotes_and_formulas(self):
        names = ["=1+2", '+a,"b"', "-c", "@d, e", "'f", "plain"]
        edges = "".join(f'<edge source="s" target="h{i}"/>' for i in range(len(names)))
        escaped = [name.replace('"', "&quot;") for name in names]
        nodes = "".join(f'<node id="h{i}"><data key="n">{name}</data><data key="t">host</data></node>' for i, name in enumerate(escaped))
        (self.folder / "net.graphml").write_text(
            '<graphml><key id="n" for="node" attr.name="name" attr.type="string"/><key id="t" for="node" attr.name="type" attr.type="string"/>'
            f'<graph edgedefault="undirected">{nodes}<node id="s"><data key="n">hub, "x"</data><data key="t">switch</data></node>{edges}</graph></graphml>')
        self.sim("--traffic", "permutation:size=1KB", "--topology", "graph_file:file=net.graphml", "-o", "RUN")
        rows = (self.folder / "RUN/links.csv").read_text()
        self.assertNotRegex(rows, r'(?m)(^|,)"?[=+@-]')
        drawn = weft("topo", "draw", "--load", "RUN", "--allow-files", cwd=self.folder)
        self.assertEqual(drawn.returncode, 0, drawn.stderr)
        with sqlite3.connect(self.folder / "RUN/results.sqlite") as database:
            found = {row[0] for row in database.execute('SELECT "from" FROM links')}
        self.assertLessEqual(set(names), found)


if __name__ == "__main__":
    os.umask(0o077)
    unittest.main()

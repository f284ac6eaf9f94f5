"""results.sqlite of real runs: against the CSV files beside it, with the queries of the documents, and of runs that are killed."""

import csv
import hashlib
import importlib.util
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

WEFT, TABLES_PAGE, SCRIPT = (Path(sys.argv.pop(1)).resolve() for _ in range(3))

NETWORK = ["--topology", "fat_tree:k=4", "--congestion", "dctcp", "--queue", "ecn:kmin=20KB,kmax=20KB", "--sample", "1us"]
TABLES = {"series.csv": "samples", "network_series.csv": "network_samples"}


def weft(*arguments, cwd, status=0):
    run = subprocess.run([WEFT, "sim", "-q", *arguments], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert run.returncode == status, run.stderr
    return run


def queries_of_the_documents():
    return [query.rstrip().rstrip(";") for query in re.findall(r"```sql\n(.*?)```", TABLES_PAGE.read_text(), re.S)]


def script():
    spec = importlib.util.spec_from_file_location("read_results", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Sqlite(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)
        subprocess.run([WEFT, "goal", "gen", "stencil:dims=[4],iterations=3", "--ranks", "4", "-o", "b.weft"], cwd=cls.folder, check=True,
                       capture_output=True)
        (cls.folder / "s.txtpb").write_text('job { goal: "b.weft" name: "a, \\"b\\"" }\n')
        weft("s.txtpb", "--job", "traffic=[incast:n=8,size=200KB],placement=random", "--interference", *NETWORK, "-o", "RUN", cwd=cls.folder)
        cls.run_folder = cls.folder / "RUN"

    def ask(self, query, folder=None):
        with sqlite3.connect(f"file:{folder or self.run_folder}/results.sqlite?mode=ro", uri=True) as database:
            return database.execute(query).fetchall()

    def check_tables(self, folder):
        """Every table against the CSV file that says the same; how many rows that were."""
        rows = 0
        for path in sorted(folder.glob("*.csv")):
            if path.name == "baseline.csv":
                continue
            with path.open(newline="") as file:
                expected = list(csv.reader(file))
            table = TABLES.get(path.name, path.stem)
            columns = [row[1] for row in self.ask(f"PRAGMA table_info({table})", folder)]
            self.assertEqual(columns, expected.pop(0), table)
            found = self.ask(f"SELECT * FROM {table} ORDER BY rowid", folder)
            self.assertEqual(len(found), len(expected), table)
            for ours, theirs in zip(found, expected):
                for column, mine, text in zip(columns, ours, theirs):
                    if mine is None:
                        self.assertEqual(text, "", (table, column))
                    elif isinstance(mine, str):
                        self.assertEqual(mine, text, (table, column))
                    else:
                        self.assertEqual(mine, float(text), (table, column))
            rows += len(found)
        return rows

    def test_tables_equal_the_files(self):
        self.assertGreater(self.check_tables(self.run_folder), 200)
        self.assertTrue(all(self.ask(f"SELECT count(*) FROM {table}")[0][0] > 0
                            for table in ("jobs", "interference", "flows", "samples", "network_samples", "histograms", "signals")))
        self.assertEqual(self.ask("SELECT * FROM omitted"), [])
        for network in ("loggops", "flow"):
            topology = [] if network == "loggops" else ["--topology", "fat_tree:k=4", "--sample", "1us"]
            weft("--goal", "b.weft", "--network", network, *topology, "-o", network, cwd=self.folder)
            self.assertGreater(self.check_tables(self.folder / network), 4)
        # No job has a slowdown without --baseline: not 0 but NULL.
        self.assertEqual(self.ask("SELECT slowdown, alone_ns FROM jobs", self.folder / "flow"), [(None, None)])

    def test_run_and_scenario_are_those_of_the_other_files(self):
        run = dict(self.ask("SELECT * FROM run"))
        summary = json.loads((self.run_folder / "summary.json").read_text())
        signals = summary.pop("signals")
        self.assertEqual(self.ask("SELECT * FROM signals"), list(signals.items()))
        self.assertEqual(self.ask("SELECT kind, text FROM warnings"), [("warning", text) for text in summary.pop("warnings")])
        for key in ("jobs", "interference", "diagnosis"):
            del summary[key]

        def flat(value, path):
            inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
            if inside is None:
                return {path: value}
            return {key: one for name, part in inside for key, one in flat(part, f"{path}.{name}" if path else str(name)).items()}

        ours = {key: run.pop(key) for key in ("version", "commit", "machine_name", "threads", "timeline.slices", "timeline.messages")}
        self.assertEqual(ours["timeline.messages"], summary["messages"])
        def known(values):  # an empty list has no value
            return {key: value for key, value in values.items() if value is not None}

        self.assertEqual(known(run), known(flat(summary, "")))
        version = subprocess.run([WEFT, "--version"], capture_output=True, text=True).stdout.splitlines()
        self.assertEqual(version[0], f"weft {ours['version']}")
        self.assertEqual(version[1].split()[1:], [ours["commit"]] if ours["commit"] else ["not", "recorded"])
        self.assertEqual((ours["machine_name"], ours["threads"]), (os.uname().nodename, 1))
        self.assertEqual(self.ask("SELECT * FROM scenario"), [((self.run_folder / "scenario.txtpb").read_text(),)])

    def test_input_files_have_their_digests(self):
        for name in ("s.txtpb", "b.weft"):
            content = (self.folder / name).read_bytes()
            self.assertEqual(self.ask(f"SELECT bytes, sha256 FROM inputs WHERE path = '{name}'"),
                             [(len(content), hashlib.sha256(content).hexdigest())])
        self.assertEqual(self.ask("SELECT count(*) FROM inputs"), [(2,)])
        subprocess.run([WEFT, "topo", "gen", "single_switch:hosts=4", "-o", "net.graphml"], cwd=self.folder, check=True, capture_output=True)
        (self.folder / "sizes.txt").write_text("1000 50\n2000 100\n")
        weft("--traffic", "poisson:sizes=./sizes.txt,duration=10us", "--topology", "datacenters:of=[graph_file:file=net.graphml],sites=2", "-o",
             "files", cwd=self.folder)
        self.assertEqual({path for path, in self.ask("SELECT path FROM inputs", self.folder / "files")}, {"./sizes.txt", "net.graphml"})

    def test_the_histograms_count_every_message(self):
        for quantity, column in (("size_bytes", "bytes"), ("completion_ns", "finish_ns - start_ns"), ("slowdown", "slowdown")):
            # Slowdowns have four digits in the table.
            within = self.ask(f"SELECT h.count, (SELECT count(*) FROM flows WHERE source <> destination AND {column} >= h.first - 0.0001 AND "
                              f"{column} <= h.last + 0.0001) FROM histograms AS h WHERE quantity = '{quantity}'")
            self.assertGreater(len(within), 1)
            for ours, theirs in within:
                self.assertLessEqual(ours, theirs) if quantity == "slowdown" else self.assertEqual(ours, theirs)
            self.assertEqual(sum(ours for ours, _ in within), self.ask("SELECT count(*) FROM flows WHERE source <> destination")[0][0])

    def test_ten_queries(self):
        queries = queries_of_the_documents()
        self.assertEqual(len(queries), 10)
        answers = [self.ask(query) for query in queries]
        self.assertTrue(all(answers), [len(answer) for answer in answers])
        summary = json.loads((self.run_folder / "summary.json").read_text())
        self.assertEqual(dict(answers[0])["makespan_ns"], summary["makespan_ns"])
        for ours, theirs in zip(answers[3][0], ("p50_ns", "p99_ns")):
            self.assertAlmostEqual(ours / summary["flows"]["completion"][theirs], 1, delta=1 / 256)
        self.assertEqual([query.strip() for query in script().QUERIES.values()], queries)

    def test_the_script_with_pandas(self):
        run = subprocess.run([sys.executable, "-B", SCRIPT, self.run_folder], capture_output=True, text=True)
        if importlib.util.find_spec("pandas") is None:
            self.assertEqual((run.returncode, run.stdout), (1, ""))
            self.assertIn("pandas is missing", run.stderr)
            print("skipped: the answers of read_results.py: pandas is missing here")
            return
        self.assertEqual(run.returncode, 0, run.stderr)
        for question in script().QUERIES:
            self.assertIn(question, run.stdout)

    def test_the_sqlite3_program_opens_it(self):
        self.assertEqual(self.ask("PRAGMA integrity_check"), [("ok",)])
        program = shutil.which("sqlite3")
        self.assertIsNotNone(program, "sqlite3 is missing: tools/setup")
        run = subprocess.run([program, "-readonly", self.run_folder / "results.sqlite", "PRAGMA integrity_check; SELECT count(*) FROM links"],
                             capture_output=True, text=True)
        self.assertEqual(run.stdout, "ok\n96\n")

    def test_it_can_be_left_out(self):
        weft("--traffic", "shift:ranks=4,size=1KB", "-o", "OFF", cwd=self.folder)
        self.assertTrue((self.folder / "OFF/results.sqlite").exists())
        weft("--traffic", "shift:ranks=4,size=1KB", "-o", "OFF", "--set", "output.sqlite=false", cwd=self.folder)
        self.assertFalse((self.folder / "OFF/results.sqlite").exists())
        weft("--traffic", "shift:ranks=4,size=1KB", "-o", "OFF", "--no-flows", cwd=self.folder)
        self.assertEqual(self.ask("SELECT table_name, rows, kept FROM omitted", self.folder / "OFF"), [("flows", 4, 0)])

    def begin_long(self, folder):
        run = subprocess.Popen([WEFT, "sim", "-q", "--traffic", "permutation:size=2GB", *NETWORK, "-o", folder], cwd=self.folder,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: (run.kill(), run.wait()))
        while not list((self.folder / folder).glob(".results.sqlite.*.part")):
            self.assertIsNone(run.poll(), "it ended before it began")
            time.sleep(0.01)
        return run

    def test_a_run_that_is_killed_leaves_none(self):
        run = self.begin_long("KILLED")
        run.send_signal(signal.SIGKILL)
        run.wait()
        self.assertFalse((self.folder / "KILLED/results.sqlite").exists())
        weft("--traffic", "shift:ranks=4,size=1KB", "-o", "KILLED", cwd=self.folder)
        self.assertEqual(self.ask("SELECT count(*) FROM samples", self.folder / "KILLED"), [(0,)])
        self.assertFalse(list((self.folder / "KILLED").glob(".*")))

    def test_a_run_that_is_interrupted_leaves_one_that_says_so(self):
        run = self.begin_long("STOPPED")
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(), 130)
        self.assertFalse(list((self.folder / "STOPPED").glob(".*")))
        self.assertEqual(self.ask("PRAGMA integrity_check", self.folder / "STOPPED"), [("ok",)])
        self.assertEqual(self.ask("SELECT value FROM run WHERE key = 'outcome'", self.folder / "STOPPED"), [("interrupted",)])
        self.assertGreater(self.check_tables(self.folder / "STOPPED"), 0)


if __name__ == "__main__":
    unittest.main()

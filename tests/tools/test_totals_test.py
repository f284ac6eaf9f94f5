"""test_totals.py against logs as Catch2 2.13 prints them and build events as Bazel writes them."""

import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import test_totals
from test_totals import Count

RULER = "=" * 79
ALL_PASSED = f"{RULER}\nAll tests passed (41 assertions in 7 test cases)\n\n"
ONE_PASSED = f"{RULER}\nAll tests passed (1 assertion in 1 test case)\n\n"
SOME_FAILED = f"{RULER}\ntest cases:  9 |  6 passed | 3 failed\nassertions: 20 | 16 passed | 4 failed\n\n"
ALL_FAILED = f"{RULER}\ntest cases: 2 | 2 failed\nassertions: 2 | 2 failed\n\n"
EXPECTED = (f"{RULER}\ntest cases: 3 | 2 passed | 1 failed as expected\n"
            "assertions: 3 | 2 passed | 1 failed as expected\n")


def configured(label, size="MEDIUM"):
    return {"id": {"targetConfigured": {"label": label}}, "configured": {"testSize": size} if size else {}}


def result(label, status, uri, shard=1, attempt=1):
    return {"id": {"testResult": {"label": label, "run": 1, "shard": shard, "attempt": attempt}},
            "testResult": {"status": status, "testActionOutput": [{"name": "test.xml", "uri": "file:///none"},
                                                                  {"name": "test.log", "uri": uri}]}}


class CountLog(unittest.TestCase):
    def test_catch_summaries(self):
        self.assertEqual(test_totals.count_log(ALL_PASSED, "PASSED"), Count(7, 0, 0))
        self.assertEqual(test_totals.count_log(ONE_PASSED, "PASSED"), Count(1, 0, 0))
        self.assertEqual(test_totals.count_log(SOME_FAILED, "FAILED"), Count(6, 3, 0))
        self.assertEqual(test_totals.count_log(ALL_FAILED, "FAILED"), Count(0, 2, 0))
        self.assertEqual(test_totals.count_log(EXPECTED, "PASSED"), Count(3, 0, 0))

    def test_another_kind_of_test_counts_as_one(self):
        self.assertEqual(test_totals.count_log("fine\n", "PASSED"), Count(1, 0, 0))
        self.assertEqual(test_totals.count_log("oops\n", "FAILED"), Count(0, 1, 0))

    def test_a_failure_after_a_good_summary_still_fails(self):
        self.assertEqual(test_totals.count_log(ALL_PASSED + "LeakSanitizer\n", "FAILED"), Count(7, 1, 0))
        self.assertEqual(test_totals.count_log("", "TIMEOUT"), Count(0, 1, 0))

    def test_a_program_that_ran_nothing_fails(self):
        self.assertEqual(test_totals.count_log("No tests ran\n", "PASSED"), Count(0, 1, 0))

    def test_skipped_cases_are_not_passed_ones(self):
        log = "skipped: no oracle folder\n  Skipped: no MPICH\nnothing skipped: here\n" + ALL_PASSED
        self.assertEqual(test_totals.count_log(log, "PASSED"), Count(5, 0, 2))
        self.assertEqual(test_totals.count_log("skipped: no mpirun\n", "PASSED"), Count(0, 0, 1))


class WholeRun(unittest.TestCase):
    def run_main(self, events, logs, *options):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in logs.items():
                (Path(folder) / name).write_text(text)
            lines = [json.dumps(e).replace("LOGS", Path(folder).as_uri()) for e in events]
            path = Path(folder) / "events.json"
            path.write_text("\n".join(lines) + "\n")
            output = io.StringIO()
            with mock.patch.object(sys, "argv", ["test_totals", str(path), *options]), \
                    contextlib.redirect_stdout(output):
                status = test_totals.main()
        return status, output.getvalue().splitlines()

    def test_sums_targets_shards_and_last_attempts(self):
        events = [configured("//a:t"), configured("//a:library", size=None), configured("//b:t"),
                  result("//a:t", "PASSED", "LOGS/a.log"),
                  result("//b:t", "FAILED", "LOGS/b1.log"),
                  result("//b:t", "PASSED", "LOGS/b2.log", attempt=2),
                  result("//b:t", "PASSED", "LOGS/one.log", shard=2)]
        logs = {"a.log": ALL_PASSED, "b1.log": ALL_FAILED, "b2.log": ONE_PASSED, "one.log": "ok\n"}
        self.assertEqual(self.run_main(events, logs), (0, ["9 passed, 0 failed"]))

    def test_failures_are_named_and_set_the_exit_status(self):
        events = [configured("//a:t"), configured("//b:unbuilt"), result("//a:t", "FAILED", "LOGS/a.log")]
        status, lines = self.run_main(events, {"a.log": SOME_FAILED}, "--bazel-status", "1", "--built", "no")
        self.assertEqual(status, 1)
        self.assertEqual(lines, ["//a:t: 3 failed (failed)", "//b:unbuilt: 1 failed (not built or not run)",
                                 "6 passed, 4 failed"])

    def test_a_broken_build_is_a_failure_even_if_all_tests_pass(self):
        events = [configured("//a:t"), result("//a:t", "PASSED", "LOGS/a.log")]
        status, lines = self.run_main(events, {"a.log": ONE_PASSED}, "--built", "no")
        self.assertEqual((status, lines[-1]), (1, "1 passed, 1 failed"))
        status, lines = self.run_main([], {}, "--bazel-status", "37")
        self.assertEqual((status, lines[-1]), (1, "0 passed, 1 failed"))

    def test_no_tests_at_all_is_no_failure(self):
        self.assertEqual(self.run_main([], {}, "--bazel-status", "4"), (0, ["0 passed, 0 failed"]))

    def test_skipped_are_shown(self):
        events = [configured("//a:t"), result("//a:t", "PASSED", "LOGS/a.log")]
        _, lines = self.run_main(events, {"a.log": "skipped: no oracle\n" + ALL_PASSED})
        self.assertEqual(lines, ["6 passed, 0 failed, 1 skipped"])


if __name__ == "__main__":
    unittest.main()

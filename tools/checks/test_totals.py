#!/usr/bin/env python3
"""Adds up a `bazel test` run in test cases and prints "N passed, N failed[, N skipped]" as its last line.

Reads the file that --build_event_json_file wrote and the test logs named there. A Catch2 program counts
with the cases it reports; any other test counts as one. A case that prints a line starting with "skipped:"
is counted as skipped. A test that could not be built, hung, crashed or ran no case counts as failed.
"""

import argparse
import json
import re
import sys
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlparse

ALL_PASSED = re.compile(r"^All tests passed \(.* in (\d+) test cases?\)$", re.MULTILINE)
SOME_FAILED = re.compile(r"^test cases:\s+\d+((?: \|\s*\d+ [a-z ]+)+)$", re.MULTILINE)
PART = re.compile(r"(\d+) ([a-z ]*[a-z])")
NO_CASE = re.compile(r"^No tests ran$|^No test cases matched ", re.MULTILINE)
SKIPPED = re.compile(r"^\s*skipped:", re.MULTILINE | re.IGNORECASE)
BAZEL_NO_TESTS = 4  # exit status of `bazel test` for targets without any test


class Count(NamedTuple):
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other):
        return Count(*(a + b for a, b in zip(self, other)))


def count_log(text, status):
    """The cases of one test program, from its log and the status Bazel gave it."""
    passed = failed = 0
    reported = False
    for match in ALL_PASSED.finditer(text):
        passed += int(match[1])
        reported = True
    for match in SOME_FAILED.finditer(text):
        parts = {word: int(number) for number, word in PART.findall(match[1])}
        # "failed as expected" is Catch2's [!shouldfail]: such a case did what it should.
        passed += parts.get("passed", 0) + parts.get("failed as expected", 0)
        failed += parts.get("failed", 0)
        reported = True
    if status != "PASSED":
        return Count(passed, max(failed, 1), 0)
    if not reported:
        return Count(0, 1, 0) if NO_CASE.search(text) else split_skipped(1, text)
    return split_skipped(passed, text) + Count(0, failed, 0)


def split_skipped(passed, text):
    skipped = min(passed, len(SKIPPED.findall(text)))
    return Count(passed - skipped, 0, skipped)


def read_events(lines):
    """From build events: every test target, and per target its last attempt of each shard and run."""
    targets, results = set(), {}
    for line in lines:
        try:
            event = json.loads(line)
        except json.JSONDecodeError:  # empty, or cut off because Bazel died: its exit status tells
            continue
        identity = event.get("id", {})
        if "targetConfigured" in identity and event.get("configured", {}).get("testSize"):
            targets.add(identity["targetConfigured"]["label"])
        if "testResult" in identity and "testResult" in event:
            key = identity["testResult"]
            result = event["testResult"]
            files = {output["name"]: output.get("uri") for output in result.get("testActionOutput", [])}
            attempt = int(key.get("attempt", 1))
            place = (key["label"], key.get("shard", 1), key.get("run", 1))
            if place not in results or results[place][0] <= attempt:
                results[place] = (attempt, result.get("status", "NO_STATUS"), files.get("test.log"))
    return targets, results


def read_log(uri):
    if not uri or urlparse(uri).scheme != "file":
        return ""
    path = Path(unquote(urlparse(uri).path))
    return path.read_text(errors="replace") if path.is_file() else ""


def totals(targets, results):
    """The sum over all tests, and the sentences about those that failed."""
    total, notes = Count(), []
    for (label, _, _), (_, status, log) in sorted(results.items()):
        count = count_log(read_log(log), status)
        total += count
        if count.failed:
            why = "ran no test case" if status == "PASSED" else status.lower().replace("_", " ")
            notes.append(f"{label}: {count.failed} failed ({why})")
    for label in sorted(targets - {place[0] for place in results}):
        total += Count(0, 1, 0)
        notes.append(f"{label}: 1 failed (not built or not run)")
    return total, notes


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("events", type=Path)
    parser.add_argument("--built", choices=["yes", "no"], default="yes", help="did the build succeed?")
    parser.add_argument("--bazel-status", type=int, default=0, help="exit status of bazel test")
    arguments = parser.parse_args()

    with arguments.events.open() as lines:
        total, notes = totals(*read_events(lines))
    if total.failed == 0:
        if arguments.built == "no":
            notes.append("the build failed")
        elif arguments.bazel_status not in (0, BAZEL_NO_TESTS):
            notes.append(f"bazel test ended with status {arguments.bazel_status}")
        total += Count(0, len(notes), 0)
    for note in notes:
        print(note)
    skipped = f", {total.skipped} skipped" if total.skipped else ""
    print(f"{total.passed} passed, {total.failed} failed{skipped}")
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())

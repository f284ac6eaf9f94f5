"""Runs golden scenarios: a small input, a command and the expected output, in one file that explains itself.

  tests/e2e/golden.py [--update-golden] WEFT FILE...

A file is prose (what is run and the arithmetic of what must come out), with blocks in it. A block starts with a
line "== KIND ARGUMENT" and ends at the next one or at a line "==":

  == file NAME            an input file with the lines that follow
  == run ARGUMENTS        runs weft with these (shell quoting), in a folder that holds the input files
  == exit STATUS          of the last run; without this block it must be 0
  == stdout / == stderr   of the last run, whole
  == columns NAME A,B     columns A and B of the CSV file NAME that the run left
  == json NAME            "key: value" lines that must hold in the JSON file NAME

--update-golden rewrites stdout, stderr, columns and json blocks with what came out; read the difference.
"""

import csv
import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path


class Failure(Exception):
    pass


def parse(text):
    """Splits a golden file into [kind, argument, lines]; prose has the kind ''."""
    blocks = [["", "", []]]
    for line in text.splitlines():
        if line.startswith("== "):
            kind, _, argument = line[3:].partition(" ")
            blocks.append([kind, argument, []])
        elif line == "==":
            blocks.append(["", "", []])
        else:
            blocks[-1][2].append(line)
    return blocks


def unparse(blocks):
    lines = []
    for i, (kind, argument, body) in enumerate(blocks):
        if kind:
            lines.append(f"== {kind} {argument}".rstrip())
        elif i > 0:
            lines.append("==")
        lines += body
    return "\n".join(lines) + "\n"


def columns(folder, argument):
    name, wanted = argument.split(" ", 1)
    with open(folder / name, newline="") as file:
        rows = list(csv.DictReader(file))
    return [",".join(row[key] for key in wanted.split(",")) for row in rows]


def json_lines(folder, name, body):
    values = json.loads((folder / name).read_text())
    lines = []
    for line in body:
        key = line.split(":", 1)[0]
        value = values
        for part in key.split("."):
            value = value[part]
        lines.append(f"{key}: {json.dumps(value)}")
    return lines


def run_file(weft, path, update):
    blocks = parse(path.read_text())
    checks = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run, expected_exit = None, 0

        def check_exit():
            if run is not None and run.returncode != expected_exit:
                raise Failure(f"exit status {run.returncode}, expected {expected_exit}\n{run.stderr}")

        for i, (kind, argument, body) in enumerate(blocks):
            if kind in ("", "exit"):
                continue
            if kind == "file":
                (folder / argument).write_text("\n".join(body) + "\n")
                continue
            if kind == "run":
                run = subprocess.run([weft] + shlex.split(argument), cwd=folder, stdin=subprocess.DEVNULL,
                                     capture_output=True, text=True)
                following = [b for b in blocks[i + 1:] if b[0]]
                expected_exit = int(following[0][1]) if following and following[0][0] == "exit" else 0
                check_exit()
                checks += 1
                continue
            if kind == "stdout":
                got = run.stdout.splitlines()
            elif kind == "stderr":
                got = run.stderr.splitlines()
            elif kind == "columns":
                got = columns(folder, argument)
            elif kind == "json":
                got = json_lines(folder, argument, body)
            else:
                raise Failure(f"unknown block '{kind}'")
            checks += 1
            # Blank lines at the end of a block belong to the prose around it.
            expected = list(body)
            trailing = []
            while expected and expected[-1] == "":
                trailing.append(expected.pop())
            if got != expected:
                if not update:
                    raise Failure(f"== {kind} {argument}\nexpected:\n  " + "\n  ".join(expected) + "\ngot:\n  " +
                                  "\n  ".join(got))
                blocks[i][2] = got + trailing
    if checks == 0:
        raise Failure("it checks nothing")
    if update:
        path.write_text(unparse(blocks))
    return checks


def main(arguments):
    update = "--update-golden" in arguments
    arguments = [a for a in arguments if a != "--update-golden"]
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    weft, failed = str(Path(arguments[0]).resolve()), 0
    for name in arguments[1:]:
        try:
            print(f"{name}: {run_file(weft, Path(name), update)} checks passed")
        except Failure as failure:
            failed += 1
            print(f"{name}: FAILED\n{failure}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

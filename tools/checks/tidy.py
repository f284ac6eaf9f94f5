#!/usr/bin/env python3
"""House rules that neither the compiler nor clang-format knows. Prints path:line: [check] what is wrong.

Checks (the name stands in brackets in a finding):
  random   a global or unseeded random generator
  clock    wall-clock time, outside the folders that may measure it (CLOCK_FOLDERS)
  exit     ending the process, outside a file with main() and outside the tracer
  defaults a default for a number of somebody else's file that is there and can't be read (READER_FOLDERS)
  kinds    what a module is, asked of its name (`name.starts_with("ring")`) and not of a field of its entry
  order    iteration over an unordered container: its order differs between machines
  build    a source file that no BUILD.bazel names
  names    a registered module that the README.md of its folder does not name
  long     a file of more than 600 lines
  function a function of more than 70 lines, of C++, Python or shell; long_functions.txt beside this script
           lists the exceptions
  class    a class of more than 600 lines over all its files: its body, and what the sources of its folder define
           of it; large_classes.txt lists those that are known, each with a number that may only shrink
  fragment a block of comments that begins with `Of` or `The same`, and so with a fragment of a sentence
  words    leftover marks, and things that mean nothing outside the place they were written in
  top      a file or folder at the top that the architecture does not know

Where breaking a rule is right, say why, on that line or the one above (for `long`: anywhere in the file):
  // tidy: order because the sum does not depend on it
"""

import argparse
import ast
import fnmatch
import re
import subprocess
import sys
from pathlib import Path, PurePosixPath
from typing import NamedTuple

CODE = {".cc", ".h", ".c"}
BUILT = CODE | {".proto", ".py", ".sh", ".f90"}
PROSE = {".md", ".bzl", ".bazel", ".txtpb"}
# burn.c reads its own processor time, which is what a test compares the tracer's with.
CLOCK_FOLDERS = ("tools/weft/", "tools/bench/", "tracer/", "tests/tracer/standin/", "tests/tracer/programs/burn.c")
# A signal ends the process wherever it is, and so does a library that gets no memory; one that is preloaded has no main().
EXIT_FOLDERS = ("tracer/", "tools/weft/cli/phases.cc", "tools/weft/cli/out_of_memory.cc", "tests/e2e/failing_system/",
                "tests/tracer/standin/")
# Where files of others are read.
READER_FOLDERS = ("goal/import/", "goal/chakra/", "topologies/import/", "topologies/slurm/", "sim/jobs/")
MOST_LINES = 600
MOST_FUNCTION_LINES = 70
EXCEPTIONS = "tools/checks/long_functions.txt"
MOST_CLASS_LINES = 600
KNOWN_CLASSES = "tools/checks/large_classes.txt"
# Where the modules of each kind that `weft list --names` knows are documented.
KIND_FOLDERS = {
    "collective": ["goal/collectives"],
    "fabric": ["sim/fabrics"],
    "device": ["goal/workload/compute"],
    "importer": ["goal/import"],
    "sink": ["sim/results"],
    "congestion": ["congestion/controls"],
    "network": ["sim/flow", "sim/loggops", "sim/packet"],
    "placement": ["sim/placement/policies"],
    "protocol": ["sim/replay"],
    "queue": ["sim/packet/queues"],
    "recovery": ["congestion/recoveries"],
    "routing": ["sim/routing/policies"],
    "scheduler": ["sim/jobs"],
    "topology": ["topologies", "topologies/families"],
    "traffic": ["goal/workload"],
}
TOP = {"WORKSPACE", "BUILD.bazel", "README.md", "LICENSE", "CHANGELOG.md",
       "tracer", "goal", "sim", "topologies", "congestion", "examples", "tests", "tools"}
# This file and its test must spell out what they look for.
ABOUT_WORDS = {"tools/checks/tidy.py", "tests/tools/tidy_test.py"}

RANDOM = re.compile(r"(?<![\w.>])(?:std::)?(s?rand|srandom|[dlm]rand48|rand_r)\s*\(|\b(random_device)\b"
                    r"|(?<!\w)(::random)\s*\(")
CLOCK = re.compile(r"\b(system_clock|steady_clock|high_resolution_clock|gettimeofday|clock_gettime)\b"
                   r"|(?<![\w.>:])((?:std::|::)?time\s*\(\s*(?:NULL|nullptr|0|&\w+)\s*\)"
                   r"|(?:std::|::)?clock\s*\(\s*\))")
EXIT = re.compile(r"(?<![\w.>])(?:std::|::)?(exit|_exit|_Exit|quick_exit|abort|terminate)\s*\(")
DEFAULTS = re.compile(r"\b((?:integer|unsigned_integer|boolean|thousandths|integer_of|whole_number|finite_number)\([^()]*"
                      r"(?:\([^()]*\)[^()]*)*\)\s*\.\s*value_or)\b")
KIND_BY_NAME = re.compile(r'(?:\.|->)name(?:\(\))?\s*\.\s*((?:starts|ends)_with)\s*\(\s*"[^."]')
MAIN = re.compile(r"\bint\s+main\s*\(")
UNORDERED = re.compile(r"\bunordered_(?:map|set|multimap|multiset)\s*<")
FOR = re.compile(r"\bfor\s*\(")
BEGIN = re.compile(r"\b(\w+)\s*(?:\(\s*\))?\s*(?:\.|->)\s*c?begin\s*\(")
MODULE_NAME = re.compile(r'\.name\s*=\s*"(\w+)"\s*,\s*\.summary'
                         r'|\bModuleInfo\b[^;"()]*\{\s*(?:\.name\s*=\s*)?"(\w+)"'
                         r'|\binfo\.name\s*=\s*"(\w+)"')
LEFTOVER = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
FRAGMENT = re.compile(r"// (Of|The same)\b")
COMMENT_LINE = re.compile(r"\s*//")
FOREIGN = re.compile(r"(?<![\w.~-])(/work/)|\b(shared/(?:facts|design))\b|\b([Ii]ssue #?\d+)"
                     r"|(?<![\w&\"'#=])(#\d+)\b(?!\s*[({])")
# What stands before the bracket of a namespace or type.
SCOPE = re.compile(r"\b(?:namespace|class|struct|union|enum)\b[^()=]*$|^\s*extern\s*$")
ALIGNED = re.compile(r"\balignas\s*\([^()]*\)")
TEMPLATE = re.compile(r"\btemplate\s*<[^()]*?>\s*(?=[a-zA-Z])")
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
FUNCTION_NAME = re.compile(r"(operator\s*[^\s\w(]+|operator\s*\(\s*\)|[~\w:]+)\s*\(")
CLASS = re.compile(r"\b(?:class|struct)\s+(\w+)\s*(?:final\s*)?(?::[^:;(){}][^;(){}]*)?\{")
SHELL_FUNCTION = re.compile(r"^(?:function\s+)?([\w-]+)\s*\(\)\s*\{[^\n]*\n(?:.*\n)*?\}", re.MULTILINE)
WAIVER = re.compile(r"(?://|#)\s*tidy: (\w+) because \S+")
TOKENS = re.compile(r'R"(?P<mark>[^\s()\\]*)\(.*?\)(?P=mark)"'
                    r'|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\''
                    r"|//[^\n]*|/\*.*?\*/", re.DOTALL)


class Finding(NamedTuple):
    path: str
    line: int
    check: str
    what: str

    def __str__(self):
        return f"{self.path}:{self.line}: [{self.check}] {self.what}"


class Source:
    """One file: its text, and for C and C++ the same text with comments and literals blanked out."""

    def __init__(self, path, text):
        self.path = path
        self.text = text
        self.lines = text.splitlines()
        self.suffix = PurePosixPath(path).suffix
        self.is_code = self.suffix in CODE
        self.code = TOKENS.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text) if self.is_code else text
        self.cpp_functions = list(cpp_functions(self.code)) if self.is_code else []

    def line_of(self, offset):
        return self.text.count("\n", 0, offset) + 1

    def waived(self, check, line):
        nearby = self.lines[max(0, line - 2):line]
        return any(m[1] == check for text in nearby for m in WAIVER.finditer(text))


def matches(source, check, pattern, what):
    for match in pattern.finditer(source.code):
        line = source.line_of(match.start())
        if not source.waived(check, line):
            yield Finding(source.path, line, check, what.format(next(g for g in match.groups() if g)))


def check_random(source):
    if source.is_code:
        what = "'{}' is a global random generator; draw from a keyed stream"
        yield from matches(source, "random", RANDOM, what)


def check_clock(source):
    if source.is_code and not source.path.startswith(CLOCK_FOLDERS):
        yield from matches(source, "clock", CLOCK, "'{}' reads the clock; results must not depend on it")


def check_exit(source):
    if source.is_code and not source.path.startswith(EXIT_FOLDERS) and not MAIN.search(source.code):
        yield from matches(source, "exit", EXIT, "'{}' outside main; throw, so that main can report it")


def check_defaults(source):
    if source.is_code and source.path.startswith(READER_FOLDERS):
        what = "'{}' takes a value that is there and can't be read for another; refuse it or count it"
        yield from matches(source, "defaults", DEFAULTS, what)


def check_kinds(source):
    if not source.is_code or source.path.startswith((*READER_FOLDERS, "tests/", "tracer/")):
        return
    for match in KIND_BY_NAME.finditer(source.text):
        line = source.line_of(match.start())
        if source.code[match.start()] != " " and not source.waived("kinds", line):
            what = f"'{match[1]}' on a name asks what a module is; give its entry a field that says so"
            yield Finding(source.path, line, "kinds", what)


def closing(code, start, pair):
    """The offset of the bracket that closes the one at `start`, or the end of `code`."""
    depth = 0
    for offset in range(start, len(code)):
        depth += {pair[0]: 1, pair[1]: -1}.get(code[offset], 0)
        if depth == 0:
            return offset
    return len(code)


def range_fors(code):
    """(offset, the expression gone over) of every range-based for."""
    for match in FOR.finditer(code):
        head = code[match.end():closing(code, match.end() - 1, "()")]
        colon = re.search(r"(?<!:):(?!:)", head.rsplit(";", 1)[-1])
        if colon and "?" not in head:
            yield match.start(), head.rsplit(";", 1)[-1][colon.end():].strip()


def unordered_names(code):
    """Names of variables, members and functions in `code` whose type is an unordered container."""
    names = set()
    for match in UNORDERED.finditer(code):
        rest = code[closing(code, match.end() - 1, "<>") + 1:]
        declared = re.match(r"\s*(?:const\b\s*)?[&*]*\s*(\w+)", rest)
        if declared:
            names.add(declared[1])
        alias = re.search(r"\busing\s+(\w+)\s*=\s*(?:std::)?$", code[:match.start()])
        if alias:
            names.update(re.findall(rf"\b{alias[1]}\b\s*(?:const\b\s*)?[&*]*\s+[&*]*(\w+)", code))
    return names


def check_order(source, header_code=""):
    """`header_code` is that of the header beside a .cc file: members are declared there."""
    if not source.is_code:
        return
    names = unordered_names(source.code) | unordered_names(header_code)
    found = {}
    for offset, expression in range_fors(source.code):
        last = re.search(r"(\w+)\s*(?:\(\s*\))?$", expression)
        if UNORDERED.search(expression) or (last and last[1] in names):
            found[source.line_of(offset)] = expression
    for match in BEGIN.finditer(source.code):
        if match[1] in names:
            found[source.line_of(match.start())] = match[1]
    for line, name in sorted(found.items()):
        if not source.waived("order", line):
            yield Finding(source.path, line, "order", f"iteration over '{name}', an unordered container")


def check_build(source, builds):
    """`builds` maps a folder to the text of its BUILD.bazel."""
    if source.suffix not in BUILT:
        return
    path = PurePosixPath(source.path)
    for folder in path.parents:
        text = builds.get(str(folder))
        if text is None:
            continue
        name = str(path.relative_to(folder))
        globs = " ".join(re.findall(r"glob\(\s*\[(.*?)\]", text, re.DOTALL))
        quoted = re.findall(r'"([^"\n]*)"', globs)
        named = re.search(rf'":?{re.escape(name)}"', text)
        if not named and not any(fnmatch.fnmatch(name, g) for g in quoted):
            yield Finding(source.path, 1, "build", f"'{name}' is not in {folder}/BUILD.bazel")
        return
    yield Finding(source.path, 1, "build", "no BUILD.bazel in its folder or above")


def names_word(readme, name):
    return re.search(rf"\b{re.escape(name)}\b", readme)


def check_names(source, readmes):
    """`readmes` maps a folder to the text of its README.md; the nearest above counts, but not the topmost."""
    if not source.is_code or source.path.startswith("tests/"):
        return
    folders = [str(folder) for folder in PurePosixPath(source.path).parents][:-1]
    folder = next((f for f in folders if f in readmes), folders[0])
    for match in MODULE_NAME.finditer(source.text):
        name = next(g for g in match.groups() if g)
        if not names_word(readmes.get(folder, ""), name):
            yield Finding(source.path, source.line_of(match.start()), "names",
                          f"module '{name}' is not in {folder}/README.md")


def check_listed(listing, readmes):
    """`listing` is what `weft list --names` prints: a kind and a name on each line."""
    for line in listing.splitlines():
        kind, name = line.split()
        if kind not in KIND_FOLDERS:
            what = f"no folder is known for modules of kind '{kind}'"
            yield Finding("tools/checks/tidy.py", 1, "names", what)
        elif not any(names_word(readmes.get(folder, ""), name) for folder in KIND_FOLDERS[kind]):
            readme = " or ".join(folder + "/README.md" for folder in KIND_FOLDERS[kind])
            yield Finding(KIND_FOLDERS[kind][0], 1, "names", f"{kind} '{name}' is not in {readme}")


def check_long(source):
    known = source.suffix in BUILT | {".bzl", ""}
    explained = any(m[1] == "long" for m in WAIVER.finditer(source.text))
    if known and len(source.lines) > MOST_LINES and not explained:
        what = f"{len(source.lines)} lines; split it, or say why not"
        yield Finding(source.path, MOST_LINES + 1, "long", what)


def cpp_functions(code):
    """(offset of the first character, offset of the closing bracket, name) of each function that `code`, without
    comments and literals, defines outside of functions. Relies on clang-format: a blank stands before the
    bracket of a body, none before that of a value."""
    code = DIRECTIVE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), code)
    start = offset = 0
    while offset < len(code):
        if code[offset] in ";}":
            start = offset + 1
        elif code[offset] == "(":
            offset = closing(code, offset, "()")
        elif code[offset] == "{":
            head = code[start:offset]
            if SCOPE.search(TEMPLATE.sub("", ALIGNED.sub("", head))):
                start = offset + 1
            else:
                end = closing(code, offset, "{}")
                name = FUNCTION_NAME.search(head)
                if name and head[-1].isspace() and not head.rstrip().endswith(("=", ",")):
                    yield start + len(head) - len(head.lstrip()), end, name[1]
                    start = end + 1
                offset = end
        offset += 1


def functions(source):
    """(first line, last line, name) of each function of C++, Python or shell; methods as Class.method or
    Class::method, tests of Catch2 by their title."""
    if source.is_code:
        for begin, end, name in source.cpp_functions:
            title = re.match(r'(?:TEST_CASE|SCENARIO)\(\s*"([^"]*)"', source.text[begin:])
            yield source.line_of(begin), source.line_of(end), title[1] if title else name
    elif source.suffix == ".py":
        nodes = [(node, "") for node in ast.parse(source.text).body]
        for node, prefix in nodes:
            if isinstance(node, ast.ClassDef):
                nodes += [(inner, f"{prefix}{node.name}.") for inner in node.body]
            elif isinstance(node, ast.FunctionDef):
                yield node.lineno, node.end_lineno, prefix + node.name
    elif source.suffix == ".sh" or source.text.startswith("#!/bin/bash"):
        for match in SHELL_FUNCTION.finditer(source.text):
            yield source.line_of(match.start()), source.line_of(match.end()), match[1]


def read_exceptions(text):
    """(path, function) -> line, from lines 'PATH FUNCTION because REASON'; no function where a line has another form."""
    exceptions = {}
    for number, line in enumerate(text.splitlines(), 1):
        if line and not line.startswith("#"):
            what, _, reason = line.rpartition(" because ")
            path, _, name = what.partition(" ")
            exceptions[(path, name) if name and reason.strip() else (line, "")] = number
    return exceptions


def check_functions(sources, text):
    """`text`: the list of exceptions. One that is not needed is a finding too."""
    exceptions = read_exceptions(text)
    used = set()
    for source in sources:
        for first, last, name in functions(source):
            if last - first + 1 <= MOST_FUNCTION_LINES:
                continue
            used.add((source.path, name))
            if (source.path, name) not in exceptions:
                what = f"{name} has {last - first + 1} lines; split it, or say in {EXCEPTIONS} why not"
                yield Finding(source.path, first, "function", what)
    for (path, name), line in exceptions.items():
        if not name:
            yield Finding(EXCEPTIONS, line, "function", f"'{path}' is not of the form PATH FUNCTION because REASON")
        elif (path, name) not in used:
            yield Finding(EXCEPTIONS, line, "function", f"{path} has no function '{name}' that is too long")


def class_lines(sources):
    """(path, name) -> lines of each class over all its files: its body, and what it has outside of it in the folder.
    A class of a .cc file is that file's own; of those with one name in one file the largest counts."""
    bodies, defined = {}, {}
    for source in sources:
        folder = str(PurePosixPath(source.path).parent)
        for match in CLASS.finditer(source.code) if source.is_code else ():
            lines = source.code.count("\n", match.start(), closing(source.code, match.end() - 1, "{}")) + 1
            place = (source.path, match[1])
            bodies[place] = max(lines, bodies.get(place, 0))
        for begin, end, name in source.cpp_functions:
            for scope in set(name.split("::")[:-1]):
                by_file = defined.setdefault((folder, scope), {})
                by_file[source.path] = by_file.get(source.path, 0) + source.code.count("\n", begin, end) + 1
    totals = {}
    for (path, name), lines in bodies.items():
        by_file = defined.get((str(PurePosixPath(path).parent), name), {})
        own = path.endswith(".cc")
        totals[(path, name)] = lines + sum(
            more for file, more in by_file.items() if file == path or not own and (file, name) not in bodies)
    return totals


def check_classes(sources, text):
    """`text`: the list of those known, in lines 'PATH CLASS LINES because REASON'. Each must be as large as it says."""
    sources = list(sources)
    large = {place: lines for place, lines in class_lines(sources).items() if lines > MOST_CLASS_LINES}
    listed = set()
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        match = re.fullmatch(r"(\S+) (\w+) (\d+) because \S.*", line)
        if not match:
            what = f"'{line}' is not of the form PATH CLASS LINES because REASON"
            yield Finding(KNOWN_CLASSES, number, "class", what)
            continue
        listed.add((match[1], match[2]))
        lines = large.get((match[1], match[2]), 0)
        if lines == 0:
            yield Finding(KNOWN_CLASSES, number, "class", f"{match[1]} has no class {match[2]} that is too large")
        elif lines != int(match[3]):
            what = f"has {lines} lines; say so here" if lines < int(match[3]) else f"has grown to {lines} lines"
            yield Finding(KNOWN_CLASSES, number, "class", f"{match[2]} {what}")
    for (path, name), lines in large.items():
        if (path, name) not in listed:
            what = f"{name} has {lines} lines over all its files; split off what has state of its own"
            yield Finding(path, 1, "class", what)


def check_words(source):
    if source.path in ABOUT_WORDS or source.suffix not in BUILT | PROSE | {""}:
        return
    for number, line in enumerate(source.lines, 1):
        for pattern in (LEFTOVER, FOREIGN):
            match = pattern.search(line)
            if match:
                word = next(g for g in match.groups() if g)
                yield Finding(source.path, number, "words", f"'{word}' does not belong here")


def check_fragment(source):
    if not source.is_code:
        return
    for token in TOKENS.finditer(source.text):
        match = FRAGMENT.match(token[0])
        if not match:
            continue
        line = source.line_of(token.start())
        alone = COMMENT_LINE.match(source.lines[line - 1])
        begins = line == 1 or not COMMENT_LINE.match(source.lines[line - 2])
        if alone and begins and not source.waived("fragment", line):
            what = f"'{match[1]} …' is a fragment; write a sentence that says what or why"
            yield Finding(source.path, line, "fragment", what)


def check_top(paths):
    for top in sorted({path.split("/")[0] for path in paths}):
        if top not in TOP and not top.startswith("."):
            yield Finding(top, 1, "top", "the architecture knows no such file or folder at the top")


def by_folder(texts, name):
    """Folder -> text of the file called `name` in it."""
    return {str(PurePosixPath(p).parent): text for p, text in texts.items() if PurePosixPath(p).name == name}


def check_all(texts):
    """Every finding in `texts` (path -> text), sorted."""
    sources = {path: Source(path, text) for path, text in texts.items()}
    builds, readmes = by_folder(texts, "BUILD.bazel"), by_folder(texts, "README.md")
    findings = list(check_top(texts))
    for path, source in sources.items():
        header = sources.get(str(PurePosixPath(path).with_suffix(".h"))) if source.suffix == ".cc" else None
        for check in (check_random, check_clock, check_exit, check_defaults, check_kinds, check_long,
                      check_fragment, check_words):
            findings += check(source)
        findings += check_order(source, header.code if header else "")
        findings += check_build(source, builds)
        findings += check_names(source, readmes)
    findings += check_functions(sources.values(), texts.get(EXCEPTIONS, ""))
    findings += check_classes(sources.values(), texts.get(KNOWN_CLASSES, ""))
    return sorted(findings)


def tracked_texts(root):
    """Path -> text of every tracked text file under `root`."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True).stdout
    texts = {}
    for name in filter(None, listed.decode().split("\0")):
        path = root / name
        if not path.is_file() or path.is_symlink():
            continue
        data = path.read_bytes()
        texts[name] = "" if b"\0" in data[:8192] else data.decode(errors="replace")
    return texts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weft", type=Path, help="the built program, to ask for its modules' names")
    arguments = parser.parse_args()

    texts = tracked_texts(Path(__file__).resolve().parents[2])
    findings = check_all(texts)
    if arguments.weft:
        run = subprocess.run([arguments.weft, "list", "--names"], capture_output=True, text=True, check=False)
        if run.returncode == 0:
            findings += check_listed(run.stdout, by_folder(texts, "README.md"))
        else:
            what = f"weft list --names failed: {run.stderr.strip()}"
            findings.append(Finding("tools/weft", 1, "names", what))
    for finding in findings:
        print(finding, file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

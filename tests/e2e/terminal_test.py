"""What people meet on a terminal: help, manual pages, completion, version, lines broken between words."""

import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import fcntl
import unittest
from html.parser import HTMLParser

WEFT = os.path.abspath(sys.argv.pop(1))


def weft(*words, **options):
    return subprocess.run([WEFT, *words], capture_output=True, text=True, **options)


def pages(folder):
    """Writes all manual pages; their full command names, "weft goal gen", with the files."""
    result = weft("manual", "-o", folder)
    assert result.returncode == 0, result.stderr
    found = {}
    for path in sorted(pathlib.Path(folder).glob("*.1")):
        synopsis = re.search(r"^\.SH SYNOPSIS\n\.B (weft[^\[\n]*?)(?: [\[A-Z].*)?$", path.read_text(), re.M)
        found[synopsis[1].replace("\\-", "-").strip()] = path
    return found


class Reference(HTMLParser):
    """Of the page: the text of each article by its id, its tables' rows, the links; and that tags are nested."""
    EMPTY = {"meta", "input"}

    def __init__(self, page):
        super().__init__()
        self.open, self.ids, self.links, self.text, self.rows, self.article = [], [], [], {}, {}, None
        self.feed(page)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag not in self.EMPTY:
            self.open.append(tag)
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.links += [attributes["href"]] if "href" in attributes else []
        if tag == "article":
            self.article = attributes["id"]
            self.text[self.article], self.rows[self.article] = "", []
        elif tag == "tr" and self.article:
            self.rows[self.article].append([])
        elif tag in ("td", "th") and self.article:
            self.rows[self.article][-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag
        self.article = None if tag == "article" else self.article

    def handle_data(self, data):
        if not self.article:
            return
        self.text[self.article] += data
        if self.open[-1] in ("td", "th"):
            self.rows[self.article][-1][-1] += data


def on_terminal(words, columns):
    """What a terminal of so many columns is sent."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([WEFT, *words], stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    text = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        text += part
    process.wait()
    os.close(master)
    return text.decode().replace("\r\n", "\n")


class Terminal(unittest.TestCase):
    def test_every_command_has_help_with_an_example_in_80_columns(self):
        with tempfile.TemporaryDirectory() as folder:
            commands = pages(folder)
        self.assertIn("weft goal gen", commands)
        self.assertGreater(len(commands), 30)
        for command in commands:
            text = weft(*command.split()[1:], "--help").stdout
            self.assertIn(f"Usage: {command}", text)
            self.assertRegex(text, "(?m)^Examples?:", command)
            for line in text.splitlines():
                if len(line) > 80:
                    self.assertEqual(len(line.split()), 1, f"{command}: {line}")

    def test_manual_pages_are_good_roff_and_tell_all_options(self):
        with tempfile.TemporaryDirectory() as folder:
            for command, path in pages(folder).items():
                result = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-Kutf8", path],
                                        capture_output=True, text=True)
                self.assertEqual(result.stderr, "", path)
                help_text = weft(*command.split()[1:], "--help").stdout
                for option in re.findall(r"(?m)^  (?:-\w, )?(--[\w-]+)", help_text):
                    self.assertIn(option.replace("-", "\\-"), path.read_text(), command)

    def test_the_reference_has_all_that_list_describe_and_help_tell(self):
        with tempfile.TemporaryDirectory() as folder:
            result = weft("manual", "--html", folder + "/page.html", "-o", folder)
            self.assertEqual(result.returncode, 0, result.stderr)
            page = Reference(pathlib.Path(folder, "page.html").read_text())
            commands = pages(folder)
        self.assertEqual(len(page.ids), len(set(page.ids)))
        self.assertLessEqual({link for link in page.links}, {"#" + each for each in page.ids})
        of_kind = {}
        for article in page.text:
            kind, _, rest = article.partition(".")
            of_kind.setdefault((kind, rest.split(".")[-1]), []).append(article)
        names = [tuple(line.split()) for line in weft("list", "--names").stdout.splitlines()]
        self.assertGreater(len(names), 200)
        for kind, name in names + [("section", name) for name in ("hosts", "collectives", "fault")]:
            described = weft("describe", name) if kind == "section" else weft("describe", kind, name)
            articles = of_kind[kind, name]
            # Lines of the description, and rows of its table.
            text = " ".join(" ".join(page.text[each].split()) for each in articles)
            rows = [row for each in articles for row in page.rows[each]]
            table = False
            for line in described.stdout.splitlines()[1:]:
                table = table and line != "" or line.startswith("  parameter ")
                if not table:
                    self.assertTrue(line.startswith(name + " (") or " ".join(line.split()) in text, (name, line))
                elif not line.startswith("  parameter "):
                    parameter = line.split()[0]
                    row, = {tuple(row) for row in rows if row[0] == parameter}
                    self.assertEqual(" ".join(" ".join(row).split()), " ".join(line.split()), name)
        for command in commands:
            article = page.text[command.replace(" ", "-")]
            for option in re.findall(r"(?m)^  (?:-\w, )?(--[\w-]+)", weft(*command.split()[1:], "--help").stdout):
                self.assertIn(option, article, command)

    def test_a_manual_of_nothing_is_refused(self):
        result = weft("manual")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--html FILE", result.stderr)

    def test_completion_knows_commands_options_and_names(self):
        def complete(*words):
            lines = weft("complete", "--", *words).stdout.splitlines()
            return [line.split("\t")[0] for line in lines]
        self.assertEqual(complete("go"), ["goal", "goodput"])
        self.assertEqual(complete("goal", "ge"), ["gen"])
        self.assertEqual(complete("sim", "--qu"), ["--queue", "--quiet"])
        routing = weft("list", "routing", "--names").stdout.split()[1::2]
        self.assertEqual(complete("sim", "--routing", ""), sorted(routing))
        self.assertIn("fat_tree", complete("topo", "info", "fat"))
        self.assertIn("mpi", complete("import", ""))
        self.assertEqual(complete("sim", "--goal", ""), [])  # the shell offers files
        self.assertNotIn("complete", complete(""))
        self.assertEqual(complete("trace", "--", "li"), [])

    def test_bash_completes_words(self):
        script = (f"PATH={os.path.dirname(WEFT)}:$PATH; source <(weft completion bash); "
                  "COMP_WORDS=(weft sim --routing flowc); COMP_CWORD=3; _weft; echo \"${COMPREPLY[@]}\"; "
                  "COMP_WORDS=(weft goal sl); COMP_CWORD=2; _weft; echo \"${COMPREPLY[@]}\"; complete -p weft")
        result = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
        self.assertEqual(result.stdout.splitlines()[:2], ["flowcut", "slice"], result.stderr)
        self.assertIn("-F _weft weft", result.stdout)

    def test_an_unknown_shell_is_refused(self):
        result = weft("completion", "fisch")
        self.assertEqual(result.returncode, 2)
        self.assertIn("'fisch' is not a shell; did you mean 'fish'?", result.stderr)

    def test_version_tells_the_build(self):
        lines = weft("--version").stdout.splitlines()
        self.assertRegex(lines[0], r"^weft \d+\.\d+\.\d+$")
        self.assertRegex(lines[1], r"^commit +\S")
        self.assertRegex(lines[2], r"^compiler +GCC \d+.*optimized")
        self.assertRegex(lines[3], r"^libraries .*Boost 1\.\d+\.\d+.*Protocol Buffers 3\.")

    def test_lines_are_broken_between_words_on_a_terminal_only(self):
        run = ["sim", "--traffic", "permutation:size=1kB", "--topology", "fat_tree:k=4"]
        for words in (["describe", "nscc"], ["list"], run, ["sim", "--routing", "bogus", *run[1:]]):
            shown = on_terminal(words, 80)
            self.assertTrue(shown)
            for line in shown.splitlines():
                self.assertLessEqual(len(line.split("\r")[-1]), 80, line)
        piped = weft("describe", "nscc").stdout
        self.assertGreater(max(len(line) for line in piped.splitlines()), 80)
        self.assertEqual(on_terminal(["describe", "nscc"], 80).split(), piped.split())

    def test_nothing_is_coloured_for_other_programs(self):
        for words in (["list"], ["describe", "fat_tree"], ["--help"], ["sim", "--nonsense"]):
            result = weft(*words)
            self.assertNotIn("\x1b", result.stdout + result.stderr)


unittest.main()

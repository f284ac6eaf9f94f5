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

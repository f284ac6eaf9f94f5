#!/usr/bin/env python3
"""Lines of prose in Markdown files that are wider than 120 columns, and table cells of more than 200 characters.

    tools/checks/markdown.py          names them; exit 1 if there is one
    tools/checks/markdown.py --fix    breaks the paragraphs with such lines anew first

Code, tables, headings and links longer than a line are left as they are, and so is a paragraph without a wide line.
What programs write, between `<!-- NAME: begin -->` and `<!-- NAME: end -->`, is not looked at.
"""

import re
import subprocess
import sys
from pathlib import Path

WIDTH = 120
CELL = 200

MARKER = re.compile(r"(\s*)((?:[-*+]|\d+[.)])\s+)")
# What would mean something else at the start of a line.
OPENING = re.compile(r"(?:[-*+]|#+|\d+[.)]|>.*|\|.*|```.*|~~~.*|=+|-+)$")
FENCE = re.compile(r"\s*(```|~~~)")


def words(text):
    """Parts between which a line may end: not within `code`, nor before what would open a list or a heading."""
    parts = []
    for word in re.findall(r"(?:[^\s`]|`+[^`]*`+|`)+", text):
        if parts and OPENING.match(word):
            parts[-1] += " " + word
        else:
            parts.append(word)
    return parts


def wrapped(text, first, rest):
    lines, line = [], first
    for word in words(text):
        empty = line in (first, rest)
        if not empty and len(line) + 1 + len(word) > WIDTH:
            lines.append(line)
            line, empty = rest, True
        line += word if empty else " " + word
    return [*lines, line]


def paragraphs(text):
    """(lines, whether they are prose) for every stretch of `text`; a list's item is a stretch of its own."""
    block, fenced, listed, before = [], False, False, ""
    for line in text.split("\n"):
        fence = FENCE.match(line)
        # Outside of a list what is indented by four is code, too.
        listed = bool(MARKER.match(line)) or listed and (not line.strip() or line.startswith(" "))
        indented = line.startswith("    ") and not listed and not block and (not before.strip() or before[:4] == "    ")
        other = fenced or fence or indented or not line.strip() or line.lstrip().startswith(("|", "#", "<", "["))
        before = line
        if (other or MARKER.match(line)) and block:
            yield block, True
            block = []
        if fence:
            fenced = not fenced
        if other:
            yield [line], False
            continue
        block.append(line)
        # Two spaces at the end are a line break that is meant.
        if line.endswith(("  ", "\\")):
            yield block, True
            block = []
    if block:
        yield block, True


def broken_anew(block):
    if all(len(line) <= WIDTH for line in block) or block[0].lstrip().startswith(">"):
        return block
    marker = MARKER.match(block[0])
    first = marker.group(0) if marker else re.match(r"\s*", block[0]).group(0)
    text = " ".join(line.strip() for line in [block[0][len(first):], *block[1:]])
    end = "  " if block[-1].endswith("  ") else ""
    lines = wrapped(text, first, " " * len(first))
    return [*lines[:-1], lines[-1] + end]


def fixed(text):
    return "\n".join(line for block, prose in paragraphs(text) for line in (broken_anew(block) if prose else block))


def cells(row):
    return re.split(r"(?<!\\)\|", row.strip().strip("|"))


def findings(text):
    """(line number, message) of everything too wide in `text`."""
    number = 0
    fenced = generated = False
    for block, prose in paragraphs(text):
        for line in block:
            number += 1
            if prose and len(line) > WIDTH and len(words(line)) > 1:
                yield number, f"a line of {len(line)} columns, but prose ends at {WIDTH}"
            fenced ^= bool(not prose and FENCE.match(line))
            generated = not line.endswith(": end -->") and (generated or line.endswith(": begin -->"))
            if not prose and not fenced and not generated and line.lstrip().startswith("|"):
                widest = max(len(cell.strip()) for cell in cells(line))
                if widest > CELL:
                    yield number, f"a table cell of {widest} characters, but {CELL} is the most; the rest is prose"


def main():
    root = Path(__file__).resolve().parents[2]
    names = subprocess.run(["git", "ls-files", "-z", "--", "*.md"], cwd=root, check=True, stdout=subprocess.PIPE,
                           text=True).stdout.split("\0")
    found = False
    for name in filter(None, names):
        file = root / name
        text = file.read_text(encoding="utf-8")
        if "--fix" in sys.argv[1:]:
            anew = fixed(text)
            if anew != text:
                file.write_text(anew, encoding="utf-8")
                text = anew
        for number, message in findings(text):
            print(f"{name}:{number}: {message}", file=sys.stderr)
            found = True
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

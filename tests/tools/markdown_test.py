"""markdown.py: what it finds too wide, and that breaking a paragraph anew changes nothing but where its lines end."""

import unittest

import markdown

LONG = "word " * 40


def numbers(text):
    return [number for number, _ in markdown.findings(text)]


class Findings(unittest.TestCase):
    def test_prose_beyond_120_columns(self):
        self.assertEqual(numbers("x " * 60 + "\n" + "x " * 60 + "x\n"), [2])

    def test_code_tables_headings_and_long_words_are_no_prose(self):
        self.assertEqual(numbers(f"```sh\n{LONG}\n```\n\n# {LONG}\n\n| {'x ' * 70}| y |\n\n{'https://' * 30}\n"), [])

    def test_a_cell_beyond_200_characters(self):
        self.assertEqual(numbers(f"| a | b |\n|---|---|\n| {'x' * 200} | y |\n| {'x' * 201} | y |\n"), [4])

    def test_a_bar_that_is_escaped_ends_no_cell(self):
        self.assertEqual(numbers("| a |\n|---|\n| " + r"x\|" * 100 + " |\n"), [3])

    def test_indented_code(self):
        self.assertEqual(numbers(f"Before:\n\n    {LONG}\n    {LONG}\n\n    {LONG}\n\nAfter.\n"), [])
        self.assertEqual(numbers(f"- an item\n\n    {LONG}\n"), [3])

    def test_what_programs_write(self):
        table = f"| {'x' * 201} |\n"
        self.assertEqual(numbers(f"<!-- all: begin -->\n{table}<!-- all: end -->\n{table}"), [4])

    def test_a_pipe_in_code_is_no_table(self):
        self.assertEqual(numbers(f"```\n| {'x' * 300} |\n```\n"), [])


class Fixed(unittest.TestCase):
    def check(self, text):
        anew = markdown.fixed(text)
        self.assertEqual(anew.split(), text.split())
        self.assertEqual(numbers(anew), [])
        self.assertEqual(markdown.fixed(anew), anew)
        return anew

    def test_a_paragraph(self):
        self.check(f"{LONG}\nthe end.\n\nAnother.\n")

    def test_lists_keep_their_items_and_indentation(self):
        anew = self.check(f"- {LONG}\n  more\n- short\n   1. {LONG}\n")
        self.assertEqual([line[:5] for line in anew.split("\n")],
                         ["- wor", "  wor", "- sho", "   1.", "     ", ""])

    def test_no_line_begins_what_was_no_list(self):
        for mark in "-", "#", "1.", "*", "|":
            for before in range(100, 125):
                anew = self.check("x" * before + f" {mark} {LONG}\n")
                self.assertFalse(any(line.startswith(mark) for line in anew.split("\n")), anew)

    def test_code_within_a_line_stays_on_one(self):
        for before in range(80, 120):
            self.assertIn("`a b c d e`", self.check("x" * before + " `a b c d e` " + LONG + "\n"))

    def test_what_is_narrow_enough_stays(self):
        text = "one\ntwo  \nthree\n\n```\n" + LONG + "\n```\n"
        self.assertEqual(markdown.fixed(text), text)


if __name__ == "__main__":
    unittest.main()

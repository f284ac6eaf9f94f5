"""example_tables.py against a README's table and figures of which it is known what is stale."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

import example_tables

README = """# An example

```sh
tools/setup && bazel build //tools/weft
examples/one/one.py        # 3 runs, 2 minutes
```

| | whole | slow (least) | ours |
|---|---|---|---|
| `ecmp`, 3 us | 1,250.5 | **2.35** (1.00) | 7 |
| `spray` | 812.0 | 4.10 (3.02) | 8 |
| loss 10⁻² | 90.25 | 17 | 9 |
"""


def told(kinds, readme=README):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        count = example_tables.check_tables(readme, kinds)
    return count, out.getvalue()


class ExampleTables(unittest.TestCase):
    WHOLE = {"whole_us": [1250.4821, 811.96, 90.2518], "slow": [2.351, 4.0988, 17.31], "least": [1.004, 3.02]}

    def test_as_told(self):
        count, text = told(self.WHOLE)
        self.assertEqual(count, 0, text)
        self.assertIn("as told: 'slow (least), figure 2', 2 figures (least)", text)
        self.assertIn("by hand: 'ours', 3 figures", text)

    def test_another_unit(self):
        count, text = told({**self.WHOLE, "whole_us": [1250482.1, 811960, 90251.8]})
        self.assertEqual(count, 0, text)

    def test_each_figure_that_moves_is_stale(self):
        for kind, values in self.WHOLE.items():
            for i in range(len(values)):
                moved = {**self.WHOLE, kind: [v * 1.02 if j == i else v for j, v in enumerate(values)]}
                count, text = told(moved)
                # 17 has no digits behind the point: 17.31 * 1.02 is 17.66, which rounds to 18.
                self.assertEqual(count, 1, f"{kind} {i}: {text}")

    def test_figures_are_none_of_names(self):
        self.assertEqual(example_tables.numbers("**1,024** 3.50% (1.5–2) 10⁻² −0.3 s"),
                         [(1024, 0), (3.5, 2), (1.5, 1), (2, 0), (-0.3, 1)])
        for name in ("`k=16`", "10 km (0.1 ms)", "a plane", "loss 10⁻²"):
            self.assertEqual(example_tables.numbers(name), [], name)

    def test_command(self):
        self.assertEqual(example_tables.commands(README), ["examples/one/one.py        # 3 runs, 2 minutes"])

    def test_fresh_figures_of_all_tables(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "table.csv").write_text("name,us\na,1.5\nb,2.5\n")
            self.assertEqual(example_tables.fresh(Path(folder), "x 3 y\n"), {"printed": [3], "us": [1.5, 2.5]})


if __name__ == "__main__":
    unittest.main()

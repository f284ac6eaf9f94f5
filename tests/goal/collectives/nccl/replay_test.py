"""What the README says the replay gives for measured allreduces is what it gives: modelled times, protocols and deviations
of its tables, for every size of at most 8 MB, and the measured times beside them."""

import re
import sys
import tempfile
import unittest
from pathlib import Path

WEFT, SCRIPT, README, MEASURED = (Path(sys.argv.pop(1)).resolve() for _ in range(4))
sys.path.insert(0, str(SCRIPT.parent))
import fit_replay  # noqa: E402  (the script's folder is known only now)

LONGEST = 8 << 20
CELL = re.compile(r"([\d.]+) / ([\d.]+) \(([+-]\d+)%, (\w+)\)")


def cells_of_readme():
    """(algorithm, bytes, nodes) → (modelled us, measured us, percent, protocol), of the section on the replay."""
    section = README.read_text(encoding="utf-8").split("## The same by replay")[1].split("\n## ")[0]
    algorithm, nodes, cells = "", [], {}
    for line in section.splitlines():
        columns = [column.strip() for column in line.strip("|").split("|")]
        if line.startswith("|") and columns[0].endswith(", bytes"):
            algorithm = columns[0].split(",")[0]
            nodes = [int(column.split()[0]) for column in columns[1:]]
        elif line.startswith("|") and columns[0].isdigit():
            for node, cell in zip(nodes, columns[1:]):
                us, measured, percent, protocol = CELL.fullmatch(cell).groups()
                cells[algorithm, int(columns[0]), node] = (float(us), float(measured), int(percent), protocol)
    return cells


class Replay(unittest.TestCase):
    def test_the_tables_hold(self):
        cells = cells_of_readme()
        measured = {row[:3]: row[3] for row in fit_replay.read(MEASURED)}
        self.assertEqual(set(cells), set(measured))
        with tempfile.TemporaryDirectory() as folder:
            machine = fit_replay.Machine(str(WEFT), folder)
            for key, (us, of_file, percent, protocol) in cells.items():
                with self.subTest(key=key):
                    self.assertAlmostEqual(of_file, measured[key], delta=0.0501)
                    self.assertAlmostEqual(percent, 100 * (us / of_file - 1), delta=0.75)
                    if key[1] <= LONGEST:
                        self.assertAlmostEqual(machine.replayed_us(*key), us, delta=0.0501)
                        self.assertEqual(machine.chosen(key[0], key[1], 4 * key[2])[0], protocol)


if __name__ == "__main__":
    unittest.main()

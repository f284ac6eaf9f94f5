"""Made-up SPC traces, imported and replayed: every byte between every host and server, by an independent count."""

import random
import sys
import unittest
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from weft_command import ImportTest  # noqa: E402


def trace(ios, seed):
    draw = random.Random(seed)
    now = 0.0
    for _ in range(ios):
        now += draw.expovariate(50_000)
        unit = draw.choice([0, 3, 4, 17, 100])
        yield unit, draw.randrange(1 << 24), 512 * draw.randint(1, 400), draw.choice("rRwW"), now


def expected_flows(ios, units, hosts, servers, stripe, command, completion):
    """Byte by byte where that is cheap enough: here stripe by stripe, counted from both ends of the I/O."""
    sums = Counter()
    requests = 0
    for unit, lba, size, opcode, _ in ios:
        number = units.index(unit)
        first, end = lba * 512, lba * 512 + size
        for piece in range(first // stripe, (end - 1) // stripe + 1):
            inside = min(end, (piece + 1) * stripe) - max(first, piece * stripe)
            host, server = number % hosts, hosts + (piece + number) % servers
            write = opcode in "wW"
            sums[host, server] += command + (inside if write else 0)
            sums[server, host] += completion + (0 if write else inside)
            requests += 1
    return sums, requests


class Spc(ImportTest):
    def written(self, ios):
        path = self.folder / "trace"
        path.write_text("".join(f"{unit},{lba},{size},{op},{time:.6f}\n" for unit, lba, size, op, time in ios))
        return path

    def test_all_bytes_of_all_pairs(self):
        ios = list(trace(3000, seed=1))
        units = sorted({io[0] for io in ios})
        for options, hosts, servers, stripe in (
                ((), len(units), 8, 1 << 20),
                (("--hosts", "2", "--servers", "3", "--stripe", "64KiB"), 2, 3, 1 << 16),
                (("--closed-loop", "--stripe", "4KiB", "--servers", "5"), len(units), 5, 4096)):
            with self.subTest(options=options):
                self.imported(self.written(ios), *options)
                summary = self.replayed()
                sums, requests = expected_flows(ios, units, hosts, servers, stripe, 64, 16)
                self.assertEqual(summary["messages"], 2 * requests)
                self.assertEqual(summary["bytes"], sum(io[2] for io in ios) + 80 * requests)
                self.assertEqual(self.flows()[0], sums)

    def test_open_loop_keeps_the_time_between_the_first_and_the_last(self):
        ios = list(trace(500, seed=2))
        self.imported(self.written(ios))
        summary = self.replayed()
        span = (round(ios[-1][4], 6) - round(ios[0][4], 6)) * 1e9
        self.assertGreaterEqual(summary["makespan_ns"], span)
        self.assertLess(summary["makespan_ns"], span + 1e8)  # no I/O here takes longer

    def test_one_write_in_closed_loop_takes_what_the_formula_says(self):
        self.imported(self.written([(0, 0, 4096, "W", 5.0)]), "--closed-loop", "--access", "10us")
        o, latency, g_byte = 1500, 2000, 0.08
        device = 10_000 + -(-4096 * 8 // 12)
        request, answer = 64 + 4096, 16
        expected = 2 * (2 * o + latency) + (request - 1) * g_byte + (answer - 1) * g_byte + device
        self.assertAlmostEqual(self.replayed()["makespan_ns"], expected, delta=1)

    def test_errors_say_where(self):
        path = self.folder / "bad"
        path.write_text("0,1,512,R,0.5\n0,1,512,X,0.6\n")
        self.assertIn(":2:9: found 'X,0.6'; expected the opcode, R or W", self.refused(path))


if __name__ == "__main__":
    unittest.main()

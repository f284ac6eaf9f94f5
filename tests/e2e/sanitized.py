"""What doesn't hold of programs that are built with a sanitizer: its runtime takes memory, and terabytes of addresses."""

import unittest
from pathlib import Path


def but_not_sanitized(program):
    """Decorates tests of how much memory a program takes."""
    code = Path(program).read_bytes()
    sanitized = any(name in code for name in (b"__asan_init", b"__tsan_init"))
    return unittest.skipIf(sanitized, "the sanitizer's memory would be counted too")

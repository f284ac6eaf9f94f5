"""Writes traces as liballprof does, for tests: made-up programs in the published form of its files."""

OPEN_MPI = {"world": 94120304, "request": 8, "any": -1, "null": -2, "in_place": 1}
MPICH = {"world": 0x44000000, "request": 4, "any": -2, "null": -1, "in_place": 2**64 - 1}
BYTE, INT, DOUBLE = "13,1,1", "2,4,4", "10,8,8"
BUFFER, STATUS, REQUESTS = 140720308486144, 140720308480000, 140720308490000


class Trace:
    """The calls of one rank, of `size`, under a library; times in microseconds."""

    def __init__(self, rank, size, library=OPEN_MPI):
        self.rank, self.size, self.library = rank, size, library
        self.now = 1_700_000_000_000_000 + rank  # clocks differ
        self.lines = ["# liballprof, made up by a test", f"# clockdiff: 0.00000{rank}", "",
                      f"MPI_Init:-:{BUFFER}:{BUFFER}:{self.now}"]

    def comm(self, handle=None, rank=None, size=None):
        handle = self.library["world"] if handle is None else handle
        return f"{handle},{self.rank if rank is None else rank},{self.size if size is None else size}"

    def request(self, i):
        return REQUESTS + i * self.library["request"]

    def call(self, name, *arguments, compute=10, inside=5):
        start = self.now + compute
        self.now = start + inside
        self.lines.append(":".join([f"MPI_{name}", f"{start}", *map(str, arguments), f"{self.now}"]))

    def finalize(self):
        self.lines += ["# Finalize clockdiff: 0.0", f"MPI_Finalize:{self.now + 10}:-"]

    def text(self):
        return "\n".join(self.lines) + "\n"


def write(folder, traces, name="trace{:02}.txt"):
    for trace in traces:
        trace.finalize()
        (folder / name.format(trace.rank)).write_text(trace.text())
    return folder

"""Writes binary DUMPI traces, for tests: an independent reading of the format of SST DUMPI 1.0."""

import struct

NUMBERS = {"Send": 0, "Recv": 1, "Isend": 8, "Irecv": 12, "Wait": 13, "Test": 14, "Waitany": 16, "Waitall": 18,
           "Waitsome": 20, "Send_init": 26, "Recv_init": 30, "Start": 31, "Sendrecv": 33, "Type_contiguous": 35,
           "Barrier": 52, "Bcast": 53, "Gather": 54, "Alltoallv": 61, "Allreduce": 65, "Comm_group": 72, "Group_incl": 76,
           "Group_range_incl": 78, "Comm_dup": 84, "Comm_create": 85, "Comm_split": 86, "Cart_create": 99, "Cart_sub": 111, "Init": 124,
           "Finalize": 125, "Put": 143, "File_write": 250}
WORLD, INT, DOUBLE, BYTE = 2, 9, 14, 5
SIZES = [0, 0, 1, 1, 1, 1, 4, 2, 2, 4, 4, 8, 8, 4, 8, 16, 8, 8, 8, 1, 0, 0, 8, 12, 16, 6, 8, 20]


def u8(value):
    return struct.pack(">B", value & 0xFF)


def u16(value):
    return struct.pack(">H", value & 0xFFFF)


def u32(value):
    return struct.pack(">I", value & 0xFFFFFFFF)


def u64(value):
    return struct.pack(">Q", value)


def array(values, item=u32):
    return u32(len(values)) + b"".join(map(item, values))


def text(value):
    return u32(len(value)) + value.encode()


def statuses(*values):
    """Each is (bytes, source, tag)."""
    return u32(len(values)) + b"".join(u32(n) + u32(source) + u8(0) + u8(0) + u32(tag) for n, source, tag in values)


class Trace:
    """The calls of one rank, a microsecond each, with given time between them."""

    def __init__(self):
        self.now = 0
        self.records = []

    def call(self, name, arguments=b"", compute_us=1):
        start = self.now + compute_us * 1000
        self.now = start + 1000
        times = u16(start // 10**9) + u32(start % 10**9) + u16(self.now // 10**9) + u32(self.now % 10**9)
        self.records.append(u16(NUMBERS[name]) + u8(0x4B) + u16(0) + times + arguments)

    def bytes(self, sizes=SIZES):
        magic = b"\xff\xaa\xdd\x44UMPI"
        body = u32(0) + u32(0) + b"".join(self.records) + u16(293)
        header_at = len(magic) + len(body)
        header = bytes([1, 0, 0]) + u64(0) + u16(1) + b"h" + u16(1) + b"u" + u32(0) + u32(0)
        footer_at = header_at + len(header)
        footer = u64(0xF007FEE7) + bytes(4 * 291 * 2)
        sizes_at = footer_at + len(footer)
        index = magic + u64(sizes_at) + u64(0) + u64(0) + u64(header_at) + u64(len(magic)) + u64(footer_at) + u64(0)
        return magic + body + header + footer + array(sizes) + index


def write(folder, traces):
    (folder / "run.meta").write_text(f"hostname=here\nnumprocs={len(traces)}\nfileprefix=run\nversion=1\n")
    for rank, trace in enumerate(traces):
        (folder / f"run-{rank:04}.bin").write_bytes(trace.bytes())
    return folder

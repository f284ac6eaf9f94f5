"""A program of four ranks with what a DUMPI trace may hold: tests/data/dumpi/made_up is what dumpi2ascii prints of it."""

import sys
from pathlib import Path

from dumpi_writer import BYTE, DOUBLE, INT, WORLD, Trace, array, statuses, text, u8, u16, u32, write


def message(count, datatype, peer, tag, comm=WORLD):
    return u32(count) + u16(datatype) + u32(peer) + u32(tag) + u16(comm)


def requests(rank, trace):
    """The first rank sends with requests; the others receive from anywhere, one by one or together."""
    trace.call("Type_contiguous", u32(5) + u16(DOUBLE) + u16(28))
    if rank == 0:
        for request, peer in ((2, 1), (3, 2), (4, 1)):
            trace.call("Isend", message(10 * request, 28, peer, 7) + u32(request))
        trace.call("Waitsome", u32(3) + array([2, 3, 4]) + u32(2) + array([2, 0]) + statuses())
        trace.call("Wait", u32(3) + statuses((0x5FC005F8, 9, 9)))
    elif rank == 1:
        trace.call("Irecv", message(100, 28, -1, -1) + u32(2))
        trace.call("Irecv", message(100, 28, -1, -1) + u32(3))
        trace.call("Waitany", u32(2) + array([2, 3]) + u32(1) + statuses((1600, 0, 7)))
        trace.call("Waitall", u32(2) + array([2, 1]) + statuses((800, 0, 7), (0, 0, 0)))
    elif rank == 2:
        trace.call("Recv", message(2000, BYTE, -1, 7) + statuses((1200, 0, 7)))


def communicators(rank, trace):
    """A grid of 2 by 2, its rows, and groups of odd ranks and of the last two."""
    column = rank % 2
    trace.call("Cart_create", u16(WORLD) + u32(2) + array([2, 2]) + array([0, 0]) + u32(0) + u16(4))
    trace.call("Cart_sub", u32(2) + u16(4) + array([0, 1]) + u16(5))
    trace.call("Comm_split", u16(WORLD) + u32(column) + u32(-rank) + u16(6))
    trace.call("Comm_group", u16(WORLD) + u16(3))
    trace.call("Group_incl", u16(3) + u32(2) + array([1, 3]) + u16(4))
    trace.call("Comm_create", u16(WORLD) + u16(4) + u16(7 if rank % 2 else 1))
    trace.call("Group_range_incl", u16(3) + u32(2) + array([[2, 2, 1], [3, 3, 1]], array) + u16(5))
    trace.call("Comm_create", u16(WORLD) + u16(5) + u16(8 if rank >= 2 else 1))
    other = 1 - column
    trace.call("Sendrecv", u32(3) + u16(INT) + u32(other) + u32(0) + u32(3) + u16(INT) + u32(other) + u32(0) + u16(5) +
               statuses((12, other, 0)))
    trace.call("Bcast", u32(8) + u16(BYTE) + u32(0) + u16(6))
    if rank % 2:
        trace.call("Allreduce", u32(1) + u16(DOUBLE) + u8(3) + u16(7))
    if rank >= 2:
        trace.call("Barrier", u16(8))
    counts = [1, 2, 3, 4]
    trace.call("Alltoallv", u32(4) + array([rank + 1] * 4) + array([0] * 4) + u16(INT) + array(counts) +
               array([0] * 4) + u16(INT) + u16(WORLD))
    trace.call("Put", u32(1) + u16(BYTE) + u32(0) + u32(0) + u32(1) + u16(BYTE) + u16(1))


def write_program(folder):
    traces = [Trace() for _ in range(4)]
    for rank, trace in enumerate(traces):
        trace.call("Init", array(["./a", "x=1"], text))
        requests(rank, trace)
        communicators(rank, trace)
        trace.call("Finalize")
    return write(folder, traces)


if __name__ == "__main__":
    write_program(Path(sys.argv[1]))

#!/usr/bin/env python3
"""Lists the functions an MPI library's header declares, for the tracer's tables.

functions.py table HEADER_DIRECTORY   X(name, class) for each function of one library, sorted by name
functions.py dispatch LIBRARY DIRECTORY...  assembly entry points for the functions of all these libraries, and for
                                     those that the tracer LIBRARY of NCCL defines
"""

import re
import subprocess
import sys

# Functions that move data between ranks, synchronize them, or start or end processes, as far as the tracer
# has no record of its own for them: a replay that lacks them is incomplete.
COMMUNICATION = re.compile(
    r"""MPIX?_(
        (Put|Get|Accumulate|Get_accumulate|Fetch_and_op|Compare_and_swap|Rput|Rget|Raccumulate|Rget_accumulate)(_c)?
      | Win_(create|create_dynamic|allocate|allocate_shared|free|fence|start|complete|post|wait|test|lock|lock_all
             |unlock|unlock_all|flush|flush_all|flush_local|flush_local_all|sync)(_c)?
      | File_(open|close|i?read\w*|i?write\w*|sync|set_size|set_view|preallocate|seek_shared)
      | Ineighbor_\w+ | Neighbor_\w+
      | \w+_init(_c)? | Psend_init | Precv_init | Pready\w* | Parrived
      | Isendrecv\w* | Comm_(spawn|spawn_multiple|accept|connect|join)
      | Comm_create_from_group | Intercomm_create_from_groups | Comm_(agree|shrink|revoke)
      | Grequest_start | Session_(init|finalize)
    )""",
    re.VERBOSE,
)
# Names that end in _init but are set-up calls of one process.
LOCAL = re.compile(r"MPI_T_\w+")


def functions(directory):
    """Names of the functions declared in DIRECTORY/mpi.h (and mpi-ext.h), by their profiling names."""
    source = "#include <mpi.h>\n#if __has_include(<mpi-ext.h>)\n#include <mpi-ext.h>\n#endif\n"
    preprocessed = subprocess.run(
        ["g++", "-E", "-P", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX", "-I" + directory, "-xc++", "-"],
        input=source, capture_output=True, text=True, check=True).stdout
    return sorted(set(re.findall(r"\bP(MPIX?_\w+)\s*\(", preprocessed)))


def call_class(name):
    communication = COMMUNICATION.fullmatch(name) and not LOCAL.fullmatch(name)
    return "kCommunication" if communication else "kLocal"


def table(directory):
    for name in functions(directory):
        print(f"X({name}, {call_class(name)})")


def defined_functions(library):
    """Names of the functions that a shared library exports."""
    symbols = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return sorted(re.findall(r" T (\w+)$", symbols, re.MULTILINE))


def dispatch(nccl_tracer, directories):
    mpi_names = sorted(set().union(*(functions(d) for d in directories)))
    names = mpi_names + ["P" + name for name in mpi_names] + defined_functions(nccl_tracer)
    print("# Every function enters here, those of MPI by their profiling names too, and goes on to where its slot points:")
    print("# first to the resolver, which then fills all slots of its kind.")
    print("  .text")
    for number, name in enumerate(names):
        print(f"  .globl {name}\n  .type {name}, @function\n{name}:\n.Lentry{number}:")
        print(f"  jmp *weft_trace_slots+{8 * number}(%rip)\n  .size {name}, .-{name}")
        print(f".Lfirst{number}:\n  pushq ${number}\n  jmp weft_trace_first_call")
    print("  .section .data.rel.local, \"aw\"\n  .balign 8")
    print("  .globl weft_trace_slots\n  .hidden weft_trace_slots\nweft_trace_slots:")
    for number in range(len(names)):
        print(f"  .quad .Lfirst{number}")
    print("  .section .data.rel.ro.local, \"aw\"\n  .balign 8")
    print("  .globl weft_trace_stubs\n  .hidden weft_trace_stubs\nweft_trace_stubs:")
    for number in range(len(names)):
        print(f"  .quad .Lfirst{number}")
    print("  .globl weft_trace_entries\n  .hidden weft_trace_entries\nweft_trace_entries:")
    for number in range(len(names)):
        print(f"  .quad .Lentry{number}")
    print("  .globl weft_trace_names\n  .hidden weft_trace_names\nweft_trace_names:")
    for number in range(len(names)):
        print(f"  .quad .Lname{number}")
    print("  .section .rodata")
    print("  .globl weft_trace_name_count\n  .hidden weft_trace_name_count\n  .balign 8")
    print(f"weft_trace_name_count: .quad {len(names)}")
    print("  .globl weft_trace_mpi_count\n  .hidden weft_trace_mpi_count")
    print(f"weft_trace_mpi_count: .quad {len(mpi_names)}")
    for number, name in enumerate(names):
        print(f'.Lname{number}: .asciz "{name}"')
    print('  .section .note.GNU-stack,"",@progbits')


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "table":
        table(sys.argv[2])
    elif len(sys.argv) >= 4 and sys.argv[1] == "dispatch":
        dispatch(sys.argv[2], sys.argv[3:])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()

"""Every command of weft, with files that it can do its work on."""

import json
import shutil
import sqlite3
import struct
import subprocess
import zlib
from dataclasses import dataclass

SWITCH = ["--topology", "single_switch:hosts=4"]
ALL_FILES = ["--sample", "1us", "--packet-log", "0-1", "--pcapng", "0"]
# Of summary.json: what depends on the machine.
OF_THE_MACHINE = {"wall_seconds", "events_per_second", "packet_hops_per_second", "peak_memory_bytes"}


@dataclass(frozen=True)
class Command:
    arguments: tuple
    files: tuple = ()  # that it writes
    folder: bool = False  # it writes RUN
    steady: bool = True  # it prints the same each time
    caught: bool = True  # its system calls can be: it starts no other programs

    def name(self):
        return " ".join(self.arguments)


def writing(text, *files, **more):
    return Command(tuple(text.split()), files, **more)


GRAPH = "../in/a.goal"
MANUAL = ["weft.1", *(f"weft-{name}.1" for name in (
    "trace", "trace-info", "import", "goal", "goal-gen", "goal-info", "goal-check", "goal-print", "goal-convert", "goal-merge",
    "goal-regroup", "goal-scale", "goal-perturb", "goal-slice", "goal-extrapolate", "goal-stats", "goal-export", "sim", "topo",
    "topo-gen", "topo-info", "topo-analyze", "topo-compare", "topo-cost", "topo-draw", "topo-export", "sweep", "sweep-status", "sweep-collect", "compare-networks", "explain", "report", "bundle", "verify", "route", "route-show",
    "route-load", "route-check", "place", "goodput", "nccl", "nccl-explain", "jobs", "list", "describe", "export", "export-perfetto", "manual", "completion"))]
COMMANDS = [
    Command(("sim", "--traffic", "shift:size=20KB", *SWITCH, "-o", "RUN", "-q", *ALL_FILES), folder=True),
    Command(("sim", "--goal", "../in/b.weft", "--network", "loggops", "--seed", "2", "-o", "RUN", "--no-flows"), folder=True, steady=False),
    Command(("sim", "--traffic", "alltoall:size=100KB", "--topology", "fat_tree:k=4", "--threads", "2", "-o", "RUN", "-q", *ALL_FILES,
             "--set", "network.packet.partitions=3"), folder=True),
    Command(("sim", "--traffic", "shift:size=20KB", *SWITCH, "--network", "flow", "-o", "RUN", "-q", "--sample", "1us"), folder=True),
    writing(f"sim --goal {GRAPH} --network loggops", steady=False),
    writing(f"sim --goal {GRAPH} --network loggops --dry-run"),
    writing("goal gen stencil:dims=[2,2],iterations=3 --ranks 4 -o out.weft", "out.weft"),
    writing("goal gen shift:ranks=4,size=8B -o -"),
    writing(f"goal convert {GRAPH} out.goal", "out.goal"),
    writing(f"goal convert {GRAPH} out.weft", "out.weft"),
    writing("goal convert ../in/large.weft out.goal", "out.goal"),
    writing("goal convert ../in/plain.goal out.bin", "out.bin"),
    writing(f"goal merge {GRAPH} {GRAPH} -o out.weft", "out.weft"),
    writing(f"goal regroup {GRAPH} --ranks-per-node 2 -o out.weft --expand", "out.weft"),
    writing(f"goal scale {GRAPH} --calc 0.5 -o out.goal", "out.goal"),
    writing(f"goal perturb {GRAPH} --noise gaussian -o out.goal", "out.goal"),
    writing(f"goal slice {GRAPH} --ranks 0-1 -o out.weft", "out.weft"),
    writing("goal extrapolate ../in/b.weft --ranks 16 -o out.weft", "out.weft"),
    writing(f"goal export {GRAPH} --expand -o out.bin", "out.bin"),
    writing(f"goal info {GRAPH}"),
    writing(f"goal check {GRAPH}"),
    writing(f"goal print {GRAPH}"),
    writing(f"goal stats {GRAPH} --json"),
    writing(f"goal stats {GRAPH} --expand --matrix out.csv --picture out.svg", "out.csv", "out.svg"),
    writing(f"goal stats {GRAPH} --expand --picture out.pgm", "out.pgm"),
    writing(f"place {GRAPH} --topology fat_tree:k=4 --placement packed --placement random -o out.txt", "out.txt"),
    writing("place --ranks 4 --topology fat_tree:k=4 --placement packed --picture out.svg", "out.svg"),
    writing("compare-networks traffic=[shift:size=20KB,ranks=4] --topology single_switch:hosts=4 --topology single_switch:hosts=5 --seeds 2 --csv out.csv "
            "-o COMPARED --dry-run"),
    writing("sweep --traffic shift:size=20KB --topology single_switch:hosts=4 --seeds 1..2 -o SWEEP --dry-run"),
    writing("sweep status ../in/SWEEP"),
    # Its tables stand beside the runs.
    Command(("sweep", "collect", "../in/SWEEP"), steady=False, caught=False),
    writing("explain ../in/RUN --json"),
    writing("goodput 3.9s --gpus 64 -o out.csv", "out.csv"),
    writing("bundle ../in/RUN -o out.tar.zst", "out.tar.zst"),
    writing("verify ../in/RUN.tar.zst"),
    writing("report ../in/RUN -o out.html", "out.html"),
    writing("export perfetto ../in/RUN -o out.perfetto", "out.perfetto"),
    writing("manual -o .", *MANUAL),
    writing("manual --html out.html", "out.html"),
    writing("completion bash"),
    writing("jobs ../in/jobs.csv --nodes 4"),
    writing("route show --topology fat_tree:k=4 --from 0 --to 15 -o out.txt", "out.txt"),
    writing("route load --topology fat_tree:k=4 --csv -o out.csv", "out.csv"),
    writing("route check --topology fat_tree:k=4 --queue pfc --json -o out.json", "out.json"),
    writing("import mpi ../in/trace -o out.weft", "out.weft"),
    writing("import ../in/trace -o out.goal", "out.goal"),
    writing("import --list"),
    writing("trace info ../in/trace --matrix out.png", "out.png"),
    writing("trace info ../in/trace --json --matrix out.svg", "out.svg"),
    writing("topo gen fat_tree:k=4 -o out.graphml", "out.graphml"),
    writing("topo info graph_file:file=../in/net.graphml"),
    writing("topo analyze fat_tree:k=4 --only distances,bisection,throughput -o out.txt", "out.txt"),
    writing("topo analyze torus:dims=4x4 --json --only distances,spectrum"),
    writing("topo analyze torus:dims=3x3 --only throughput"),
    writing("topo compare fat_tree hypercube --endpoints 16 --only distances,bisection -o out.txt", "out.txt"),
    writing("topo compare fat_tree hypercube --endpoints 16 --only distances"),
    writing("topo cost fat_tree:k=4 -o out.txt", "out.txt"),
    writing("topo cost fat_tree:k=4 --json"),
    writing("nccl explain --bytes 1MB --ranks 16"),
    writing("nccl explain --bytes 1MB --ranks 16 --json"),
    writing("topo cost --print-prices modern -o out.txtpb", "out.txtpb"),
    writing("topo draw --load ../in/RUN -o out.svg", "out.svg"),
    writing("topo draw dragonfly:p=2"),
    writing("topo export fat_tree:k=4 --format json -o out.json", "out.json"),
    writing("topo export fat_tree:k=4 --format dot"),
    writing("list"),
    writing("list topology"),
    writing("describe fat_tree"),
    writing("--help"),
    # It prints nothing, and what it runs makes the files.
    Command(("trace", "--force", "-o", "TRACE", "--", "cp", "../in/trace/rank-000000.wtrc", "TRACE/"), steady=False, caught=False),
]


def option_names(text):
    """Those of a help text that name a file to write."""
    words = {"--output": "--output ", "--matrix": "Write the communication matrix", "--picture": "Draw it", "OUT": "The file to write"}
    text = " ".join(text.split())
    return {name for name, sign in words.items() if sign in text}


def what_is_not_covered(weft):
    """Subcommands, and options of theirs that name a file to write, that no command above has."""

    def help_of(*words):
        return subprocess.run([weft, *words, "--help"], capture_output=True, text=True, check=True).stdout

    def below(text):
        lines = text[text.index("\nSubcommands:\n") + 1:].splitlines()[1:] if "\nSubcommands:\n" in text else []
        lines = [*lines, ""][:[*lines, ""].index("")]
        return [line.split()[0] for line in lines if not line.startswith("   ")]  # else the rest of one

    missing = []
    for first in below(help_of()):
        for second in below(help_of(first)) or [None]:
            words = [word for word in (first, second) if word]
            mine = [command for command in COMMANDS if list(command.arguments[:len(words)]) == words]
            if not mine:
                missing.append(" ".join(words))
            for option in option_names(help_of(*words)):
                written = {"--output": "-o", "OUT": "out.bin"}.get(option, option)
                if not any(written in command.arguments for command in mine):
                    missing.append(" ".join([*words, option]))
    return missing


def number(value):
    out = b""
    while value >= 128:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def trace_of_one_rank():
    """As tracer/format/README.md has it: a program that calls MPI_Init and MPI_Finalize."""
    header = number(0) + number(1)
    for text in (b"Open MPI v4.1.4", b"node1", b"app", b"CLOCK_MONOTONIC"):
        header += number(len(text)) + text
    header += number(0) + number(0)
    world = bytes([121]) + number(0) + number(7) + number(0) + number(0) + number(1) + number(1) + bytes([0, 2])
    chunk = number(0) + number(0) + number(1) + world
    chunk += bytes([1]) + number(0) + number(1000) + bytes([3]) + number(2 * 5000) + number(0) + bytes([124, 1])
    head = b"WEFTTRC\n" + struct.pack("<II", 1, len(header)) + header + struct.pack("<I", zlib.adler32(header))
    return head + b"WTCK" + struct.pack("<III", len(chunk), zlib.adler32(chunk), 0) + chunk


def make_inputs(weft, folder):
    """What the commands read: folder/in."""
    inputs = folder / "in"
    (inputs / "trace").mkdir(parents=True)
    (inputs / "trace/rank-000000.wtrc").write_bytes(trace_of_one_rank())
    rank = "rank {} {{\na: calc 1000\nb: allreduce 8000b elem 8\nb requires a\nc: calc 500\nc requires b\n}}\n"
    (inputs / "a.goal").write_text("num_ranks 4\n" + "".join(rank.format(r) for r in range(4)))
    (inputs / "plain.goal").write_text("num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n")
    (inputs / "jobs.csv").write_text("id,submit,ranks,runtime\na,0,3,10\nb,1,4,5\n")
    for arguments in ("goal gen stencil:dims=[8],iterations=3 --ranks 8 -o b.weft",
                      "goal gen alltoall:size=8B --ranks 40 -o large.weft",
                      "topo gen fat_tree:k=4 -o net.graphml",
                      "sim --traffic permutation:size=10KB --topology fat_tree:k=4 -q -o RUN",
                      "bundle RUN -o RUN.tar.zst",
                      "sweep --traffic shift:size=20KB --topology single_switch:hosts=4 --seeds 1..2 -o SWEEP"):
        subprocess.run([weft, *arguments.split()], cwd=inputs, check=True, capture_output=True)


def make_earlier_results(weft, folder):
    """What an earlier run left in a folder: other results than any command above makes."""
    subprocess.run([weft, "sim", "--traffic", "shift:size=77KB", *SWITCH, "-q", "-o", "RUN", *ALL_FILES], cwd=folder, check=True)


def contents(folder):
    """Every file below a folder that is not the machine's: path to bytes."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        name = str(path.relative_to(folder))
        found[name] = path.read_bytes()
        if path.name == "summary.json":
            try:
                summary = json.loads(found[name])
                found[name] = {key: value for key, value in summary.items() if key not in OF_THE_MACHINE}
            except ValueError:
                pass
        if path.name == "results.sqlite":
            found[name] = tables(path)
    return found


def tables(path):
    """Of an SQLite file: what is in it, or its bytes where that can't be read."""
    try:
        with sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True) as database:
            if database.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
                return path.read_bytes()
            names = [name for name, in database.execute("SELECT name FROM sqlite_master ORDER BY name")]
            return {name: [row for row in database.execute(f"SELECT * FROM {name} ORDER BY rowid")
                           if name != "run" or row[0] not in OF_THE_MACHINE] for name in names}
    except sqlite3.Error:
        return path.read_bytes()


def renew(folder, earlier):
    """The folder in which a command is tried, as it is before."""
    shutil.rmtree(folder, ignore_errors=True)
    if earlier is None:
        folder.mkdir()
    else:
        shutil.copytree(earlier, folder)

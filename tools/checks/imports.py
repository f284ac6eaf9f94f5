#!/usr/bin/env python3
"""Checks that folders import only what the architecture lets them, from Bazel's build graph.

ROOMS is the table of the architecture: for each folder, the folders its targets may depend on directly.
A dependency inside the same folder is always fine, and so is one on the system's libraries, except where
SYSTEM says which. Deeper folders have their own entry where their rule differs (sim/units).
"""

import re
import subprocess
import sys

# Longest prefix wins. A rule's folders cover their subfolders.
ROOMS = {
    "sim/units": [],
    "tracer": [],
    "goal": ["sim/units"],
    "topologies": ["sim/units"],
    "congestion": ["sim/units"],
    "sim": ["sim/units", "goal", "topologies", "congestion"],
    "tools": None,  # anything
    "tests": None,
    "examples": None,
}
# (importing folder, imported folder): reading our own traces takes their format's reader.
EXCEPTIONS = [("goal/import", "tracer/format")]
# Network models are entries of a list: the rest of sim/ knows nothing of them, nor they of each other. Only the
# list imports their entries, and these parts of them are for all.
MODELS = ["sim/loggops", "sim/flow", "sim/packet"]
MODEL_LIST = "//sim/run:network_models"
MODEL_ENTRY = "model"
OPEN_PARTS = ["//sim/packet:logs", "//sim/packet:observer", "//sim/packet:record"]
# The tracer lives in other people's processes: it may link nothing but libc.
SYSTEM = {"tracer": ["pthread"]}
# Repositories that hold nothing but declarations, so nothing of them is linked.
HEADERS = {"tracer": ["@mpich", "@openmpi"]}

EDGE = re.compile(r'^\s*"([^"]+)" -> "([^"]+)"')
LABEL = re.compile(r"^(@[\w.-]*)?//([^:]*)(?::(.*))?$")
QUERY = ["bazel", "query", "--noimplicit_deps", "--output=graph", "--nograph:factored",
         "--graph:node_limit=-1", "--color=no", "--curses=no", "--noshow_progress",
         "deps(kind(rule, //...), 1)"]
TOOLS_OF_BAZEL = ("@bazel_tools", "@local_config", "@rules_", "@remote_coverage_tools")


def within(folder, parent):
    return folder == parent or folder.startswith(parent + "/")


def room_of(folder):
    return max((room for room in ROOMS if within(folder, room)), key=len, default=None)


def judge(source, target):
    """A sentence about the edge source -> target (labels) if it breaks a rule, else None."""
    source_match, target_match = LABEL.match(source), LABEL.match(target)
    if not source_match or not target_match or source_match[1]:
        return None
    folder, repository, other = source_match[2], target_match[1], target_match[2]
    room = room_of(folder)
    if room is None:
        return f"{source}: folder {folder}/ is not in the architecture" if folder else None
    if repository:
        if room not in SYSTEM or repository.startswith(TOOLS_OF_BAZEL):
            return None
        if repository in HEADERS.get(room, []):
            return None
        if repository == "@system" and target_match[3] in SYSTEM[room]:
            return None
        return f"{source} imports {target}; {room}/ may use no library but {', '.join(SYSTEM[room])}"
    allowed = ROOMS[room]
    if room == "sim" and other in MODELS and not within(folder, other) and target not in OPEN_PARTS:
        if source == MODEL_LIST and target_match[3] == MODEL_ENTRY:
            return None
        return f"{source} imports {target}; a network model's entry is for {MODEL_LIST}, the rest for its own folder"
    # tools/bazel holds build rules, not code.
    if allowed is None or room_of(other) in [room, *allowed] or within(other, "tools/bazel"):
        return None
    if any(within(folder, a) and within(other, b) for a, b in EXCEPTIONS):
        return None
    may = ", ".join(a + "/" for a in allowed) if allowed else "nothing"
    return f"{source} imports {target}; {room}/ may import {may}"


def violations(graph_text):
    """Every broken rule in the text that `bazel query --output=graph` prints, in a stable order."""
    found = set()
    for line in graph_text.splitlines():
        edge = EDGE.match(line)
        if edge:
            sentence = judge(edge[1], edge[2])
            if sentence:
                found.add(sentence)
    return sorted(found)


def main():
    run = subprocess.run(QUERY, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        print(run.stderr, file=sys.stderr)
        print("imports: bazel query failed", file=sys.stderr)
        return 1
    found = violations(run.stdout)
    for sentence in found:
        print(sentence, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

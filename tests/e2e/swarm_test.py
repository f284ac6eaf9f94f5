"""Random scenarios, each run whole and divided: the same files, bytes conserved, no message faster than it could be, and
what is without effect is told.

In CI a few; by hand as many as wanted: swarm_test.py WEFT --seeds 0-1000. A seed that fails prints the command that
repeats it.
"""

import csv
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

TOPOLOGIES = ["fat_tree:k=4", "fat_tree:k=4,switch_latency=30ns,host_link=100Gbps", "leaf_spine:leaves=4,spines=3,hosts_per_leaf=4",
              "torus:dims=4x4", "dragonfly:p=2", "slim_fly:q=5,hosts=1", "hyperx:dims=3x3", "multi_plane:k=4,planes=2",
              "rail_optimized:endpoints=32", "hammingmesh:endpoints=32", "bcube:n=4,k=1", "jellyfish:n=12,r=4", "single_switch:hosts=9"]
QUEUES = ["ecn", "ecn:capacity=60KB,kmin=10KB,kmax=40KB", "droptail:capacity=40KB", "red", "phantom", "priority", "composite:capacity=20KB",
          "composite:capacity=20KB,return_to_sender=true", "pfc", "pfc:xoff=20KB", "pfc:xoff=20KB,classes=2", "credit", "credit:vcs=8,buffer=12KB",
          "shared:buffer=100KB"]
TRAFFIC = ["permutation:size={}", "random:count=3,size={}", "alltoall:size={}", "incast:n=5,size={}", "poisson:duration=20us,sizes=hadoop",
           "collective:kind=allreduce,size={}", "collective:kind=bcast,size={},algorithm=pipelined_chain", "ping_pong:size={}"]
SIZES = ["1", "4096", "5100", "60KB", "300KB"]
OF_THE_RUN = {"network", "wall_seconds", "events_per_second", "packet_hops_per_second", "peak_memory_bytes"}


def scenario(seed):
    """Arguments of weft sim."""
    draw = random.Random(seed)
    packets = draw.random() < 0.75
    network = draw.choice(["packet", "packet", "packet:switching=cut_through", "packet:ack_every=4", "packet:nic_choice=spray",
                           "packet:mtu=1500"]) if packets else draw.choice(["flow", "flow:nic_choice=spray"])
    arguments = ["--seed", str(seed), "--network", network, "--topology", draw.choice(TOPOLOGIES),
                 "--traffic", draw.choice(TRAFFIC).format(draw.choice(SIZES))]
    if packets:
        arguments += ["--queue", draw.choice(QUEUES), "--congestion", draw.choice(["dctcp", "fixed_window:packets=20", "fixed_window:packets=1"]),
                      "--routing", draw.choice(["ecmp", "spray", "bitmap", "reps"])]
    else:
        arguments += ["--routing", draw.choice(["ecmp", "spray"])]
    if draw.random() < 0.3:
        arguments += ["--connections", draw.choice(["per_pair", "per_message", "3 per_pair"])]
    if draw.random() < 0.2:
        arguments += ["--fault", f"random_links={draw.randint(1, 2)},between=*,at={draw.randint(0, 20)}us,until=60us"]
    if draw.random() < 0.3:
        arguments += ["--set", draw.choice([f"limits.time={draw.randint(1, 30)}us", f"limits.events={draw.randint(1, 20000)}"])]
    return arguments


def run(folder, arguments):
    """Exit status, standard error, what there is of results that must not depend on how it was divided, and the warnings."""
    # Each takes a fraction of a second: one that has not ended by then hangs.
    done = subprocess.run(["timeout", "60", WEFT, "sim", *arguments, "-q", "-o", "RUN"], cwd=folder, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    files = {path.name: path.read_text() for path in (Path(folder) / "RUN").glob("*.csv")}
    warnings = []
    if "summary.json" in {path.name for path in (Path(folder) / "RUN").glob("*")}:
        summary = json.loads((Path(folder) / "RUN/summary.json").read_text())
        files["summary"] = {key: value for key, value in summary.items() if key not in OF_THE_RUN}
        warnings = files["summary"]["warnings"]
        files["summary"]["warnings"] = [text for text in warnings if "thread" not in text]
    return done.returncode, done.stderr, files, warnings


def to_be_told(arguments):
    """What of a scenario is without effect: words of the warnings that must be there."""
    given = dict(zip(arguments[::2], arguments[1::2]))
    told = []
    deaf = given.get("--congestion", "").startswith("fixed_window") and given["--routing"] in ("ecmp", "spray")
    if deaf and not given["--queue"].startswith("droptail"):
        told.append("sets ECN marks, which congestion control fixed_window does not look at")
    if given["--network"].startswith("flow") and "--threads" in given:
        told.append("threads: 2 asked for")
    return told


def missing(arguments, warnings):
    return [f"no warning says '{words}'" for words in to_be_told(arguments) if not any(words in text for text in warnings)]


def complaints(seed):
    """What is wrong with a scenario, a sentence each; None: it was refused."""
    arguments = scenario(seed)
    with tempfile.TemporaryDirectory() as folder:
        status, errors, whole, warnings = run(folder, arguments)
        if status == 2:  # modules that don't go together: one line that says so
            return None if errors.count("\n") == 1 else [f"refused in {errors.count(chr(10))} lines: {errors}"]
        found = [] if status in (0, 3, 4) else [f"exit status {status}: {errors}"]
        if status != 0 and errors.count("weft: ") < 1:
            found.append(f"status {status} without a word")
        found += missing(arguments, warnings)
        ways = [["--threads", "2"]]
        if "packet" in arguments[3]:
            ways += [["--threads", "2", "--set", f"network.packet.partitions={2 + seed % 5}"]]
        for way in ways:
            other_status, _, other, warnings = run(folder, arguments + way)
            found += missing(arguments + way, warnings)
            different = sorted(name for name in whole.keys() | other.keys() if whole.get(name) != other.get(name))
            if other_status != status or different:
                found.append(f"with {' '.join(way)} other results: status {other_status} for {status}, {different}")
    summary = whole.get("summary", {})
    slowdowns = [float(row["slowdown"]) for row in csv.DictReader(whole.get("flows.csv", "").splitlines()) if row["slowdown"]]
    if slowdowns and min(slowdowns) < 1:
        found.append(f"a slowdown of {min(slowdowns)}")
    for row in csv.DictReader(whole.get("links.csv", "").splitlines()):
        if float(row["utilization"]) > 1:
            found.append(f"link {row['from']} -> {row['to']} is busy for {row['utilization']} of the time")
    if status == 0:
        hosts = list(csv.DictReader(whole["hosts.csv"].splitlines()))
        sent, received = (sum(int(row[name]) for row in hosts) for name in ("bytes_sent", "bytes_received"))
        if sent != received:
            found.append(f"{sent} bytes sent, {received} received")
        packets = summary["packets"]
        if packets["injected"] != packets["delivered"] + packets["dropped"]:
            found.append(f"packets {packets}")
    return found


def main():
    global WEFT
    WEFT = str(Path(sys.argv[1]).resolve())
    first, last = (int(word) for word in sys.argv[3].split("-")) if len(sys.argv) > 3 else (0, 49)
    refused = failed = 0
    for seed in range(first, last + 1):
        found = complaints(seed)
        refused += found is None
        if found:
            failed += 1
            print(f"seed {seed}: weft sim {' '.join(repr(word) if ' ' in word else word for word in scenario(seed))}")
            print("".join(f"  {sentence}\n" for sentence in found), end="", flush=True)
    ran = last + 1 - first - refused
    print(f"{ran} scenarios, {refused} refused, {failed} failed")
    # A swarm that is all refused would prove nothing.
    sys.exit(1 if failed or ran < refused else 0)


if __name__ == "__main__":
    main()

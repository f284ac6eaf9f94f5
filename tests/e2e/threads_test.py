"""Runs are the same to the last digit on any number of threads and in any number of partitions, whatever is chosen."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WEFT = str(Path(sys.argv.pop(1)).resolve())

# (threads, partitions); the first is what all others are compared with.
ONE = (1, 1)
DIVISIONS = [(threads, partitions) for threads in (1, 2, 3) for partitions in (1, 2, 7) if (threads, partitions) != ONE]
MOST = (3, 7)
# Six that take turns where there are many scenarios: with the three topologies and two ways below, each queue discipline
# meets each of them. What a thread without a partition does, two threads show as three do.
IN_TURN = [division for division in DIVISIONS if division not in (MOST, (2, 1))]

# Parameters under which a discipline has something to do in this traffic, and the signal that says so. A discipline
# that is not named here runs with its defaults.
QUEUES = {
    "droptail": [("droptail:capacity=20KB", "drop")],
    "ecn": [("ecn:capacity=60KB,kmin=10KB,kmax=40KB,pmax=0.5", "ecn_mark")],
    "red": [("red:capacity=60KB,kmin=10KB,kmax=40KB,pmax=0.5", "ecn_mark")],
    "phantom": [("phantom:capacity=60KB,slowdown=0.3,phantom_capacity=60KB", "ecn_mark")],
    "priority": [("priority:capacity=20KB,kmin=5KB,kmax=15KB", "drop")],
    "composite": [("composite:capacity=20KB,kmin=5KB,kmax=15KB", "trim"),
                  ("composite:capacity=9KB,high_capacity=300,return_to_sender=true,ratio=10,kmin=4KB,kmax=8KB", "return")],
    "pfc": [("pfc:xoff=20KB,kmin=5KB,kmax=15KB", "pause"), ("pfc:xoff=20KB,kmin=5KB,kmax=15KB,classes=2", "pause")],
    "credit": [("credit:buffer=9KB,kmin=5KB,kmax=15KB", "credit_stall"),
               ("credit:vcs=8,buffer=60KB,kmin=5KB,kmax=15KB", "ecn_mark"),
               ("credit:selection=by_flow,vcs=6,buffer=9KB", "credit_stall")],
    "shared": [("shared:buffer=60KB,alpha=0.5,reserve=500,kmin=5KB,kmax=15KB", "drop")],
}
TOPOLOGIES = ["fat_tree:k=4,switch_latency=30ns", "leaf_spine:leaves=4,spines=3,hosts_per_leaf=4,latency=300ns", "torus:dims=4x4"]
# Of every routing policy and control one.
HOW = [["--routing", "ecmp", "--congestion", "dctcp"], ["--routing", "spray", "--congestion", "fixed_window:packets=20"]]
# Routing policies that are for other networks than the first of TOPOLOGIES, and those that need a file: the way from
# the first leaf, or host, is by the first of the switches there are.
ONLY = {"dimension_order": "torus:dims=4x4", "hammingmesh": "hammingmesh:a=2,b=2,x=2,y=2"}
FILES = {
    "tables": "".join(f"s4 s{leaf} s6\n" for leaf in (5, 8, 9, 12, 13, 16, 17)),
    "routes": "".join(f"h0 h{host} s4 s6 s0 s{6 + 4 * (host // 4)} s{4 * (host // 4) + 4 + host // 2 % 2}\n"
                      for host in range(4, 16)),
}
TRAFFIC = "random:count=3,size=60KB"

# What a summary says of the machine, or of what was asked for.
OF_THE_RUN = {"network", "wall_seconds", "events_per_second", "packet_hops_per_second", "peak_memory_bytes"}


def run(folder, arguments, threads, partitions):
    """All files of a run that must not depend on how it was divided, by name. partitions: None where threads say it."""
    name = f"RUN{threads}-{partitions}"
    divided = ["--set", f"network.packet.partitions={partitions}"] if partitions else []
    done = subprocess.run([WEFT, "sim", *arguments, "--threads", str(threads), *divided, "-q", "-o", name],
                          cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"weft sim {' '.join(arguments)}, {threads} threads, {partitions} partitions: exit status "
                             f"{done.returncode}\n{done.stderr}")
    files = {path.name: path.read_text() for path in (Path(folder) / name).iterdir() if path.suffix not in (".txtpb", ".sqlite")}
    summary = json.loads(files.pop("summary.json"))
    files["summary"] = {key: value for key, value in summary.items() if key not in OF_THE_RUN}
    return files


class Threads(unittest.TestCase):
    maxDiff = 2000

    def check_same(self, arguments, divisions=None):
        """Runs a scenario in all divisions; returns the files of the first."""
        with tempfile.TemporaryDirectory() as folder:
            divisions = divisions or [ONE, *DIVISIONS]
            one = run(folder, arguments, *divisions[0])
            for threads, partitions in divisions[1:]:
                with self.subTest(arguments=arguments, threads=threads, partitions=partitions):
                    other = run(folder, arguments, threads, partitions)
                    self.assertEqual(other.keys(), one.keys())
                    for name in one:
                        self.assertEqual(other[name], one[name], name)
            return one

    def test_every_queue_discipline(self):
        listed = subprocess.run([WEFT, "list", "queue"], check=True, capture_output=True, text=True).stdout
        names = [line.split()[0] for line in listed.splitlines() if line.startswith("  ")]
        self.assertLessEqual(set(QUEUES), set(names))
        for name in names:
            for queue, signal in QUEUES.get(name, [(name, None)]):
                acted = 0
                turn = iter(IN_TURN)
                for topology in TOPOLOGIES:
                    for how in HOW:
                        if name == "droptail" and "dctcp" in how:
                            continue  # refused: nothing is ever marked
                        files = self.check_same(["--traffic", TRAFFIC, "--topology", topology, "--queue", queue, *how],
                                                [ONE, MOST, next(turn)])
                        summary = files["summary"]
                        self.assertEqual(summary["outcome"], "complete")
                        self.assertLessEqual({"flows.csv", "links.csv", "ranks.csv", "hosts.csv"}, files.keys())
                        self.assertGreater(summary["packet_hops"], 5000)
                        acted += summary["signals"].get(signal, 0)
                if signal is not None:
                    self.assertGreater(acted, 0, f"{queue} showed no {signal}")

    def test_every_routing_policy(self):
        listed = subprocess.run([WEFT, "list", "routing"], check=True, capture_output=True, text=True).stdout
        names = [line.split()[0] for line in listed.splitlines() if line.startswith("  ")]
        self.assertLessEqual({"ecmp", "spray", "bitmap", "reps"}, set(names))
        digests = {}
        for name in names:
            with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
                file.write(FILES.get(name, ""))
                file.flush()
                routing = f"{name}:file={file.name}" if name in FILES else name
                files = self.check_same(["--traffic", TRAFFIC, "--topology", ONLY.get(name, TOPOLOGIES[0]), "--queue",
                                         QUEUES["ecn"][0][0], "--routing", routing, "--congestion", "dctcp"])
            self.assertGreater(files["summary"]["signals"]["ecn_mark"], 0)
            digests[name] = files["summary"]["digest"]
        # A tree has no linked groups: all shortest paths are minimal.
        self.assertEqual(digests.pop("minimal"), digests["ecmp"])
        # Where all paths can carry the same, weights make no difference.
        self.assertEqual(digests.pop("wcmp"), digests["ecmp"])
        # Trees have no circles to break, so both leave the same ways in one virtual channel.
        self.assertEqual(digests.pop("lash"), digests["dfsssp"])
        self.assertEqual(len(set(digests.values())), len(digests), f"two policies do the same: {digests}")

    def test_links_that_fail_and_slow_down(self):
        faults = ["link=aggregation * / core 1,at=2us,until=9us", "random_links=3,between=edge * / aggregation *,at=1us,rate=0.25",
                  "switch=core 2,at=4us,until=6us,period=5us,times=3", "link=*,bit_error_rate=1e-7"]
        timeouts = 0
        for queue in ("ecn:capacity=60KB,kmin=10KB,kmax=40KB", QUEUES["composite"][0][0]):
            arguments = ["--traffic", TRAFFIC, "--topology", "fat_tree:k=4", "--queue", queue, *HOW[1], "--set",
                         "network.packet.reconvergence=2us"]
            for fault in faults:
                arguments += ["--fault", fault]
            signals = self.check_same(arguments)["summary"]["signals"]
            for signal in ("link_down_loss", "corrupt", "detour"):
                self.assertGreater(signals[signal], 0, signal)
            timeouts += signals["timeout"]
        self.assertGreater(timeouts, 0)

    def test_what_hosts_and_switches_can_do(self):
        for network in ("packet:switching=cut_through", "packet:ack_every=4,ack_delay=2us,receive_delay=100ns",
                        "packet:timeout_jitter=0.5,min_timeout=20us,mtu=1500"):
            for how in HOW:
                self.check_same(["--traffic", TRAFFIC, "--topology", TOPOLOGIES[0], "--network", network, "--queue",
                                 "ecn:capacity=25KB,kmin=5KB,kmax=15KB", *how])

    def test_an_application_with_samples(self):
        """Steps of a stencil code: exchange with four neighbours, compute, reduce; and a transposition now and then."""
        side, steps = 4, 6
        ranks = side * side
        text = [f"num_ranks {ranks}"]
        for rank in range(ranks):
            x, y = rank % side, rank // side
            around = [y * side + (x + 1) % side, y * side + (x - 1) % side, (y + 1) % side * side + x,
                      (y - 1) % side * side + x]
            text.append(f"rank {rank} {{")
            for step in range(steps):
                after = f"sum{step - 1}" if step else None
                exchange = []
                for way, peer in enumerate(around):
                    back = way ^ 1  # what I send to the right comes to my neighbour from the left
                    exchange += [(f"s{step}_{way}", f"send {20000 + 997 * way}b to {peer} tag {step * 4 + way}"),
                                 (f"r{step}_{way}", f"recv {20000 + 997 * back}b from {peer} tag {step * 4 + back}")]
                for label, operation in exchange:
                    text.append(f"{label}: {operation}")
                    if after:
                        text.append(f"{label} requires {after}")
                # No two ranks compute equally long.
                text.append(f"work{step}: calc {3000 + (rank * 7919 + step * 104729) % 2000}")
                text += [f"work{step} requires {label}" for label, _ in exchange]
                kind = "alltoall 5000b" if step % 3 == 2 else "allreduce 8000b"
                text += [f"sum{step}: {kind}", f"sum{step} requires work{step}"]
            text.append("}")
        with tempfile.TemporaryDirectory() as folder:
            graph = Path(folder) / "stencil.goal"
            graph.write_text("\n".join(text) + "\n")
            for how in HOW:
                files = self.check_same(["--goal", str(graph), "--topology", "fat_tree:k=4", "--queue",
                                         "ecn:capacity=60KB,kmin=10KB,kmax=40KB", "--sample", "777ns", *how])
                self.assertEqual(files["summary"]["outcome"], "complete")
                self.assertLessEqual({"series.csv", "network_series.csv"}, files.keys())
                self.assertGreater(len(files["series.csv"].splitlines()), 1000)

    def test_loggops(self):
        """Halos by rendezvous and eager, collectives of every algorithm family, wildcards, several ranks on a host."""
        programs = ["stencil:dims=[4,3,2],cells=30,iterations=4,compute=7us,allreduce=2,allreduce_size=40KB",
                    "stencil:dims=2d,exchange=collective,iterations=3,allreduce=1", "master_worker:tasks=60,task=3KB,result=9KB",
                    "collective:kind=alltoall,size=6KB,iterations=2", "collective:kind=bcast,size=200KB,algorithm=[binary_tree:segment=8KiB]",
                    "collective:kind=reduce_scatter,size=3KB,count=2", "sweep:dims=2d,blocks=3,size=5KB"]
        digests = set()
        with tempfile.TemporaryDirectory() as folder:
            for number, program in enumerate(programs):
                graph = str(Path(folder) / f"{number}.weft")
                subprocess.run([WEFT, "goal", "gen", program, "--ranks", "24", "-o", graph], check=True, capture_output=True)
                for how in (["--network", "loggops:L=700ns,o=90,g=40,G=0.7,S=4KB"],
                            ["--network", "loggops:L=1ns,o=0,g=0,G=1,O=0.3,S=100KB", "--set", "hosts.ranks_per_host=2", "--set",
                             "hosts.reduction_per_byte=0.2"]):
                    files = self.check_same(["--goal", graph, *how], [(threads, None) for threads in (1, 2, 4)])
                    self.assertEqual(files["summary"]["outcome"], "complete")
                    self.assertEqual(len(files["ranks.csv"].splitlines()), 25)
                    self.assertGreater(len(files["flows.csv"].splitlines()), 24)
                    digests.add(files["summary"]["digest"])
        self.assertEqual(len(digests), 2 * len(programs), "two runs do the same")

    def test_other_runs_differ(self):
        """What is compared does tell runs apart."""
        arguments = ["--traffic", TRAFFIC, "--topology", TOPOLOGIES[0], "--queue", "ecn"]
        with tempfile.TemporaryDirectory() as folder:
            one = run(folder, arguments, *ONE)
            other = run(folder, arguments + ["--seed", "2"], *ONE)
            for name in ("flows.csv", "links.csv", "ranks.csv", "summary"):
                self.assertNotEqual(other[name], one[name], name)
            self.assertNotEqual(other["summary"]["digest"], one["summary"]["digest"])


if __name__ == "__main__":
    unittest.main()

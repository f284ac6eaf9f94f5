"""weft topo on the command line: what its subcommands print and write, read back by other programs, and what they refuse."""

import csv
import json
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

WEFT = str(Path(sys.argv.pop(1)).resolve())

# Routers, endpoints, links between routers, degrees, diameter, and average path length between routers with endpoints
# (for HammingMesh and BCube between accelerators and servers, switches counted as hops), in closed form or as published.
KNOWN = {
    # 8 edge switches with 2 links up, 8 + 4 above; from an edge switch 1 other is 2 away, 6 are 4.
    "fat_tree:k=4": (20, 16, 32, {2: 8, 4: 12}, 4, (2 + 6 * 4) / 7),
    # 2q² routers of degree (3q - 1)/2 that reach all others in 2.
    "slim_fly:q=5": (50, 200, 175, {7: 50}, 2, (7 + 42 * 2) / 49),
    # q² + q + 1 points; the q + 1 absolute ones have a link less.
    "polarfly:q=7": (57, 57 * 4, 224, {7: 8, 8: 49}, 2, (448 + 2 * (57 * 56 - 448)) / (57 * 56)),
    # a = 2p, h = p, g = ah + 1; 3 in the group are 1 away.
    "dragonfly:p=2": (36, 72, 9 * 6 + 36, {5: 36}, 3, None),
    "dragonfly:p=2,a=4,h=2,g=9": (36, 72, 9 * 6 + 36, {5: 36}, 3, None),
    # One hop for every coordinate that differs.
    "hyperx:dims=5x7x3,hosts=1": (105, 105, 105 * 12 // 2, {12: 105}, 3, (4 / 5 + 6 / 7 + 2 / 3) * 105 / 104),
    # A ring of 4 has the distances 0, 1, 2, 1.
    "torus:dims=4x4x4": (64, 64, 192, {6: 64}, 6, 3 * 64 / 63),
    # A line of n: (n² - 1) / 3n on average, itself included.
    "mesh:dims=3x4": (12, 12, 17, {2: 4, 3: 6, 4: 2}, 5, (8 / 9 + 15 / 12) * 12 / 11),
    # 6 servers share a switch with each, 9 are a server further.
    "bcube:n=4,k=1": (24, 16, 32, {2: 16, 4: 8}, 4, (6 * 2 + 9 * 4) / 15),
    "oft:k=3": (21, 42, 42, {3: 14, 6: 7}, 2, 2),
    "mlfm:h=3": (18, 36, 36, {3: 12, 6: 6}, 2, 2),
    # 10 groups of 3 + 3 switches; every two leaves of a group are 2 apart.
    "megafly:p=3,g=1": (60, 90, 10 * 9 + 45, None, 3, None),
    "bundlefly:q1=5,q2=9": (450, 1350, 2475, {11: 450}, 3, None),
    "spectralfly:p=11,q=7": (168, 1680, 168 * 12 // 2, {12: 168}, 3, None),
    # n!/(n - k)! arrangements, each linked to k(n - k).
    "arrangement:n=5,k=2": (20, None, 60, {6: 20}, 3, None),
    # Boards of 2x2 in a grid of 4x4: the accelerators, and a switch for each line of 2·4 ports.
    "hammingmesh:a=2,b=2,x=4,y=4": (64 + 16, 64, 64 + 16 * 8, {4: 64, 8: 16}, 4, None),
    "kautz:b=3,n=2": (12, None, None, None, 2, None),
}


class Topo(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def weft(self, *arguments, status=0):
        run = subprocess.run([WEFT, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual(run.returncode, status, f"weft {' '.join(arguments)}\n{run.stderr}")
        if status == 0:
            read_back = "weft: lost in ", "weft: read back, "
            self.assertEqual([line for line in run.stderr.splitlines() if not line.startswith(read_back)], [])
        return run

    def out(self, *arguments):
        return self.weft(*arguments).stdout

    def refused(self, message, *arguments):
        """Bad input is one line that holds `message`, status 2, and nothing on the standard output."""
        with self.subTest(arguments=arguments):
            run = self.weft(*arguments, status=2)
            self.assertEqual(run.stdout, "")
            self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
            self.assertIn(message, run.stderr)

    def rows(self, text):
        """What `gen` and `info` print, by the name in front; indented rows have theirs."""
        return {line[:15].rstrip(): line[16:] for line in text.splitlines()}

    def analyze(self, topology):
        return json.loads(self.out("topo", "analyze", topology, "--json", "--only", "distances"))

    def test_analyze_known_networks(self):
        for topology, (routers, endpoints, links, degree, diameter, average) in KNOWN.items():
            with self.subTest(topology=topology):
                found = self.analyze(topology)
                self.assertEqual(found["routers"], routers)
                self.assertEqual(found["diameter"], diameter)
                if endpoints is not None:
                    self.assertEqual(found["endpoints"], endpoints)
                if links is not None:
                    self.assertEqual(found["links"], links)
                    self.assertEqual(sum(int(d) * n for d, n in found["degree"].items()), 2 * links)
                if degree is not None:
                    self.assertEqual(found["degree"], {str(d): n for d, n in degree.items()})
                self.assertEqual(sum(found["degree"].values()), routers)
                if average is not None:
                    self.assertAlmostEqual(found["average_path_length"], average, places=9)
                self.assertLessEqual(found["average_path_length"], diameter)

    def test_gen_says_what_was_chosen(self):
        rows = self.rows(self.out("topo", "gen", "slim_fly", "--endpoints", "150"))
        self.assertTrue(rows["topology"].startswith("slim_fly:q=5,"), rows)
        self.assertEqual(rows["endpoints"], "200, with 1 link each")
        self.assertEqual(rows["routers"], "50")
        self.assertEqual(rows["links"], "175 between routers, 200 to endpoints")
        self.assertNotIn("written", rows)
        self.assertEqual(list(self.folder.iterdir()), [])
        info = self.out("topo", "info", "slim_fly:q=5")
        self.assertTrue(info.startswith(self.out("topo", "gen", "slim_fly:q=5")), info)
        self.assertIn("routing, if none is given: ugal", info)

    def test_info_tells_the_defaults_of_simulations(self):
        for topology in ("fat_tree:k=4", "dragonfly:p=1", "torus:dims=3x3", "scale_up:of=[rail_optimized:units=2],accelerators=8",
                         "jellyfish:n=8,r=3", "single_switch:hosts=4"):
            with self.subTest(topology=topology):
                info = json.loads(self.out("topo", "info", topology, "--json"))
                self.weft("sim", "--traffic", "permutation:size=1KB", "--topology", topology, "-o", "run")
                ran = json.loads((self.folder / "run" / "summary.json").read_text())
                self.assertEqual((info["fabric"], info["routing"]), (ran["fabric"], ran["routing"].split(":")[0]))
                told = self.out("topo", "info", topology)
                self.assertIn(f"\nrouting, if none is given: {info['routing']}, ", told)
                self.assertIn(f"\nfabric, if none is given: {info['fabric']}, ", told)
                described = self.out("describe", topology.split(":")[0])
                if not topology.startswith("scale_up"):
                    self.assertIn(f"  Routing, if none is given: {info['routing']}, of fabric {info['fabric']}", described)

    def test_gen_writes_what_export_writes(self):
        for ending, form in [("graphml", "graphml"), ("xml", "graphml"), ("dot", "dot"), ("gv", "dot"), ("edges", "edges"),
                             ("csv", "edges"), ("json", "json"), ("topo", "topo")]:
            with self.subTest(ending=ending):
                rows = self.rows(self.out("topo", "gen", "fat_tree:k=4", "-o", f"net.{ending}"))
                self.assertEqual(rows["written"], f"net.{ending}, as {form}")
                written = (self.folder / f"net.{ending}").read_text()
                self.assertEqual(self.out("topo", "export", "fat_tree:k=4", "--format", form), written)
                self.assertEqual(self.out("topo", "export", "fat_tree:k=4", "-o", f"other.{ending}"), "")
                self.assertEqual((self.folder / f"other.{ending}").read_text(), written)
        self.weft("topo", "gen", "fat_tree:k=4", "-o", "plain", "--format", "json")
        self.assertEqual((self.folder / "plain").read_text(), (self.folder / "net.json").read_text())

    def test_exports_are_read_by_others(self):
        space = "{http://graphml.graphdrawing.org/xmlns}"
        graph = ElementTree.fromstring(self.out("topo", "export", "bcube:n=4,k=1")).find(space + "graph")
        nodes, edges = graph.findall(space + "node"), graph.findall(space + "edge")
        self.assertEqual((len(nodes), len(edges)), (16 + 16 + 8, 16 + 32))
        ids = {node.get("id") for node in nodes}
        self.assertTrue(all(edge.get("source") in ids and edge.get("target") in ids for edge in edges))
        kinds = [node.find(f"{space}data[@key='kind']").text for node in nodes]
        self.assertEqual((kinds.count("host"), kinds.count("switch")), (16, 24))

        network = json.loads(self.out("topo", "export", "bcube:n=4,k=1", "--format", "json"))
        self.assertEqual((network["hosts"], network["switches"], len(network["links"])), (16, 24, 48))
        self.assertEqual({link["rate_bps"] for link in network["links"]}, {400_000_000_000, 800_000_000_000})

        lines = self.out("topo", "export", "bcube:n=4,k=1", "--format", "edges").splitlines()
        links = [line.split() for line in lines if not line.startswith("#")]
        self.assertEqual(len(links), 48)
        self.assertEqual(sum(a.startswith("h") and not a.startswith("hr") for a, *_ in links), 16)

    def test_a_network_comes_back_from_its_file(self):
        for topology in ("dragonfly:p=2", "bcube:n=4,k=1", "hammingmesh:a=2,b=2,x=4,y=4",
                         "datacenters:of=[fat_tree:k=4],loss=0.01"):
            known = self.analyze(topology)
            for name in ("net.graphml", "net.edges"):
                with self.subTest(topology=topology, name=name):
                    self.weft("topo", "gen", topology, "-o", name)
                    found = self.analyze("graph_file:file=" + name)
                    self.assertEqual({**found, "topology": ""}, {**known, "topology": ""})
        self.weft("topo", "gen", "fat_tree:k=4", "-o", "net.topo")
        self.assertEqual({**self.analyze("graph_file:file=net.topo"), "topology": ""},
                         {**self.analyze("fat_tree:k=4"), "topology": ""})

    def test_a_run_on_a_file_is_a_run_on_its_network(self):
        def digest(run, *arguments):
            self.weft("sim", "--quiet", *arguments, "-o", run)
            return json.loads((self.folder / run / "summary.json").read_text())["digest"]

        traffic = ["--traffic", "permutation:size=64KB", "--routing", "ecmp", "--fabric", "none"]  # defaults are a family's
        for topology in ("slim_fly:q=4", "bcube:n=3,k=1", "datacenters:of=[fat_tree:k=4],loss=0.01,long_latency=20us"):
            known = digest("KNOWN", *traffic, "--topology", topology)
            for name in ("net.graphml", "net.edges"):
                with self.subTest(topology=topology, name=name):
                    self.weft("topo", "gen", topology, "-o", name)
                    self.assertEqual(digest("RUN", *traffic, "--topology", "graph_file:file=" + name), known)
                    self.assertEqual(digest("AGAIN", "RUN/scenario.txtpb"), known)
        # Routings that go by what the network is, beside its links.
        traffic = ["--traffic", "permutation:size=64KB", "--fabric", "none"]
        for topology, routing in (("dragonfly:p=2", "minimal"), ("dragonfly:p=2", "par"), ("megafly:p=2", "ugal"),
                                  ("hyperx:dims=4x4", "dimension_order"), ("torus:dims=4x4", "dimension_order"),
                                  ("hammingmesh:a=2,b=2,x=4,y=4", "hammingmesh"), ("cascade:g=2", "minimal"),
                                  ("scale_up:of=[dragonfly:p=1],node=dgx_h100", "minimal")):
            with self.subTest(topology=topology, routing=routing):
                known = digest("KNOWN", *traffic, "--topology", topology, "--routing", routing)
                self.assertNotIn("lost", self.out("topo", "gen", topology, "-o", "net.graphml"))
                self.assertEqual(digest("RUN", *traffic, "--topology", "graph_file:file=net.graphml", "--routing", routing), known)
                self.assertIn("lost in it", self.out("topo", "gen", topology, "-o", "net.edges"))
        with (self.folder / "RUN/links.csv").open(newline="") as file:
            self.assertGreater(len(list(csv.DictReader(file))), 0)
        self.weft("topo", "draw", "--load", "RUN", "--allow-files", "-o", "load.svg")
        ElementTree.parse(self.folder / "load.svg")

    def test_a_file_inside_other_families(self):
        (self.folder / "ring.csv").write_text("source,target\na,b\nb,c\nc,d\nd,a\n")
        info = self.rows(self.out("topo", "info", "scale_up:of=[graph_file:file=ring.csv,hosts=2],accelerators=4,switches=1"))
        self.assertEqual(info["endpoints"].split(",")[0], str(4 * 2 * 4))
        info = self.rows(self.out("topo", "info", "random_equivalent:of=[graph_file:file=ring.csv],link=100Gbps"))
        self.assertEqual(info["  of routers"], "4 of 100Gbps, 500ns")
        compared = json.loads(self.out("topo", "compare", "graph_file:file=ring.csv", "torus:dims=4", "--json", "--only", "distances"))
        self.assertEqual([{**one, "topology": ""} for one in compared[:1]], [{**one, "topology": ""} for one in compared[1:]])

    def test_info_tells_losses(self):
        (self.folder / "loss.csv").write_text("from,to,loss [%]\nh0,s0,0.5\nh1,s0,0\n")
        text = self.out("topo", "info", "graph_file:file=loss.csv")
        self.assertIn("1 of 400Gbps, 500ns, 0.005 of packets lost\n", text)
        self.assertIn("1 of 400Gbps, 500ns\n", text)
        cables = json.loads(self.out("topo", "info", "graph_file:file=loss.csv", "--json"))["cables"]
        self.assertEqual([cable["loss"] for cable in cables], [0, 0.005])

    def test_compare(self):
        found = json.loads(self.out("topo", "compare", "fat_tree", "slim_fly", "--endpoints", "100", "--json", "--only", "distances"))
        self.assertEqual([one["topology"].split(":")[0] for one in found], ["fat_tree", "slim_fly"])
        for one in found:
            self.assertGreaterEqual(one["endpoints"], 100)
            for key in ("routers", "links", "degree", "diameter", "average_path_length"):
                self.assertIn(key, one)

    def test_cost(self):
        network = ("topo", "cost", "slim_fly:q=5", "--json", "--no-bisection", "--switch", "16x400Gbps")  # a port for every link
        cost = json.loads(self.out(*network))
        self.assertEqual((cost["endpoints"], cost["switches"], cost["cables"]), (200, 50, 375))
        counts = {part: sum(line["count"] for line in cost["lines"] if line["part"] == part) for part in ("switch", "cable", "nic")}
        self.assertEqual(counts, {"switch": 50, "cable": 375, "nic": 200})
        self.assertAlmostEqual(cost["price"], sum(line["price"] for line in cost["lines"]))
        self.assertAlmostEqual(cost["watts"], sum(line["watts"] for line in cost["lines"]))
        self.assertAlmostEqual(cost["price_per_endpoint"], cost["price"] / 200)
        self.weft("topo", "cost", "--print-prices", "modern", "-o", "mine.txtpb")
        again = json.loads(self.out(*network, "--prices", "mine.txtpb"))
        self.assertEqual(again["price"], cost["price"])
        # 11 ports of 400 Gb/s, two to each of 800: six; 200 hosts and both ends of 175 cables at 50 switches.
        split = json.loads(self.out("topo", "cost", "slim_fly:q=5", "--json", "--no-bisection", "--switch", "8x800Gbps"))
        self.assertLess(split["cables"], cost["cables"])
        self.assertEqual(split["lines"][0]["ports"], 50 * 8)

    def test_commands_agree_on_the_bisection(self):
        for topology in ("hammingmesh:a=2,b=2,x=16,y=16", "leaf_spine:leaves=3,spines=8,hosts_per_leaf=8"):
            cost = json.loads(self.out("topo", "cost", topology, "--json"))
            compared = json.loads(self.out("topo", "compare", topology, "--json", "--only", "bisection"))[0]
            self.assertEqual(cost["bisection_bps"], compared["cost"]["bisection_bps"])
            self.assertEqual(cost["price_per_gbps_bisection"], compared["cost"]["price_per_gbps_bisection"])
        # Not blocking: half of the 24 hosts' 400 Gb/s, though the cut is of 16 against 8.
        self.assertAlmostEqual(cost["bisection_bps"], 12 * 400e9, delta=1)

    def test_files_run_as_the_family_with_the_options_that_are_told(self):
        def runtime(*words):
            self.weft("sim", "-q", "--traffic", "alltoall:size=10KB,ranks=16", *words, "-o", "RUN")
            return json.loads((self.folder / "RUN/summary.json").read_text())["makespan_ns"]

        told = r"read back, it runs as under its own name with (.*)\n"
        for topology, differs in (("torus:dims=4x4", True), ("dragonfly:p=2", True), ("fat_tree:k=4", False)):
            with self.subTest(topology=topology):
                said = self.weft("topo", "export", topology, "-o", "net.graphml").stderr
                self.assertEqual(said.count("read back"), differs)
                words = re.search(told, said)[1].split() if differs else []
                self.assertEqual(re.search(told, self.out("topo", "gen", topology, "-o", "net.graphml")) is not None, differs)
                file = ["--topology", "graph_file:file=net.graphml"]
                self.assertEqual(runtime(*file, *words), runtime("--topology", topology))
                self.assertEqual(runtime(*file) != runtime("--topology", topology), differs)
                self.assertNotIn("read back", self.weft("topo", "export", file[1], "-o", "again.graphml").stderr)
        self.assertEqual(self.weft("topo", "export", "torus:dims=4x4", "-o", "net.json").stderr, "")

    def test_pictures_are_svg(self):
        (self.folder / "odd.csv").write_text('c,<a>\n<a>,"b&"\n"b&",c\'\n')
        for topology in ("fat_tree:k=4", "slim_fly:q=5", "hammingmesh:a=2,b=2,x=4,y=4", "torus:dims=4x4", "bcube:n=4,k=1",
                         "datacenters:of=[fat_tree:k=4]", "graph_file:file=odd.csv"):
            with self.subTest(topology=topology):
                root = ElementTree.fromstring(self.out("topo", "draw", topology))
                self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
                self.assertGreater(len(list(root.iter())), 10)

        for name in "net.png", "net.pdf", "net.dot":
            self.refused(f"{name}: pictures are SVG", "topo", "draw", "fat_tree:k=4", "-o", name)
            self.assertFalse((self.folder / name).exists())

    def test_bad_input_is_one_line_and_status_2(self):
        for command in ("gen", "info", "analyze", "compare", "cost", "draw", "export"):
            self.refused("'slimfly' is not a topology; did you mean 'slim_fly'?", "topo", command, "slimfly:q=5")
            self.refused("the nearest are 27 and 29", "topo", command, "slim_fly:q=28")
            self.refused("'k' is not a parameter of slim_fly", "topo", command, "slim_fly:k=4")
            self.refused("nowhere.graphml: can't read the file: No such file", "topo", command, "graph_file:file=nowhere.graphml")
            self.refused("gives endpoints, and so does --endpoints", "topo", command, "slim_fly:endpoints=50", "--endpoints", "60")
            self.refused("its size is that of its file", "topo", command, "graph_file:file=x", "--endpoints", "60")
            self.refused("like random_equivalent:of=[slim_fly:endpoints=60]", "topo", command, "random_equivalent:of=[slim_fly]",
                         "--endpoints", "60")
            self.refused("--endpoints", "topo", command, "slim_fly", "--endpoints", "-1")
            self.refused("unknown option '--colour'", "topo", command, "slim_fly:q=5", "--colour")
        self.refused("unknown subcommand 'analyse'", "topo", "analyse", "slim_fly:q=5")
        self.refused("add -o FILE", "topo", "gen", "slim_fly:q=5", "--format", "json")
        self.refused("net.png: the name tells no format", "topo", "gen", "slim_fly:q=5", "-o", "net.png")
        self.refused("'svg' is not a format", "topo", "gen", "slim_fly:q=5", "-o", "net.svg", "--format", "svg")
        self.refused("it has one tier", "topo", "gen", "slim_fly:q=5", "-o", "net.topo")
        self.refused("no/net.json", "topo", "gen", "slim_fly:q=5", "-o", "no/net.json")
        self.assertEqual(list(self.folder.iterdir()), [])
        (self.folder / "bad.edges").write_text("h0 s0\nh1 s0 fast\n")
        self.refused("bad.edges:2: found 'fast' where a rate", "topo", "info", "graph_file:file=bad.edges")
        self.refused("bad.edges:2: found 'fast' where a rate", "sim", "--traffic", "incast:n=1,size=1KB", "--topology",
                     "graph_file:file=bad.edges")


if __name__ == "__main__":
    unittest.main()

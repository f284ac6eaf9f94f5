"""The examples of plug-ins, compiled as their READMEs say and run; and plug-ins that are refused."""

import csv
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WEFT = str(Path(sys.argv.pop(1)).resolve())
ROOT = Path.cwd()
EXAMPLES = {"my_congestion_control": "my_control", "my_routing_policy": "my_policy", "my_topology": "my_topology"}
# What plug-ins are compiled against; see interface.txt.
SEAMS = ("congestion/congestion.h", "congestion/receiver.h", "congestion/recovery.h", "congestion/telemetry.h",
         "congestion/arrivals.h", "congestion/packet_sizes.h", "sim/fabrics/fabric.h", "sim/placement/placement.h", "sim/plugins/plugin.h", "sim/routing/path_model.h",
         "sim/routing/path_selector.h", "sim/routing/routing.h", "sim/routing/switch_plan.h",
         "sim/routing/switch_policy.h", "sim/units/capabilities.h", "sim/units/module.h", "sim/units/quantity.h",
         "topologies/graph/topology.h")


def code_of(path):
    text = re.sub(r"//[^\n]*", "", path.read_text())
    return re.sub(r"\s+", " ", text)


class Plugins(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.out = Path(cls.folder.name)
        for example, file in EXAMPLES.items():
            commands = [line.strip() for line in (ROOT / "examples" / example / "README.md").read_text().splitlines()
                        if line.strip().startswith("g++")]
            assert len(commands) == 1, f"the README of {example} compiles {len(commands)} times"
            command = commands[0].replace(f"-o {file}.so", f"-o {cls.out}/{file}.so")
            subprocess.run(command, shell=True, check=True, cwd=ROOT)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def weft(self, *arguments):
        return subprocess.run([WEFT, *map(str, arguments)], cwd=self.out, capture_output=True, text=True)

    def assert_refused(self, path, *words):
        done = self.weft("list", "congestion", "--plugin", path)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def compile(self, name, code):
        source = self.out / f"{name}.cc"
        source.write_text('#include "sim/plugins/plugin.h"\n' + code)
        subprocess.run(["g++", "-std=c++20", "-fPIC", "-shared", "-I", ROOT, source, "-o", self.out / f"{name}.so"],
                       check=True)

    def test_readmes_commands(self):
        for example in EXAMPLES:
            lines = (ROOT / "examples" / example / "README.md").read_text().splitlines()
            commands = [line.strip() for line in lines if line.startswith("    weft ")]
            self.assertGreater(len(commands), 1, example)
            for command in commands:
                done = self.weft(*command.split()[1:])
                self.assertEqual(done.returncode, 0, f"{command}\n{done.stderr}")

    def test_all_three_in_one_run_that_can_be_repeated(self):
        plugins = [word for file in EXAMPLES.values() for word in ("--plugin", f"./{file}.so")]
        run = ("--topology", "petersen:p=4", "--congestion", "delay_target:target=3us", "--routing", "sticky",
               "--traffic", "permutation:size=1MB")
        done = self.weft("sim", *plugins, *run, "-o", "first")
        self.assertEqual(done.returncode, 0, done.stderr)
        first = json.loads((self.out / "first/summary.json").read_text())
        self.assertEqual(first["routing"], "sticky:patience=1us")
        # The folder's scenario names the plug-ins, from anywhere.
        again = subprocess.run([WEFT, "sim", self.out / "first/scenario.txtpb", "--threads", "2", "-o",
                                self.out / "second"], cwd="/", capture_output=True, text=True)
        self.assertEqual(again.returncode, 0, again.stderr)
        second = json.loads((self.out / "second/summary.json").read_text())
        self.assertEqual(first["digest"], second["digest"])
        # And they go with a bundle, as code that is run only where somebody says so.
        self.assertEqual(self.weft("bundle", "first", "-o", "first.tar.zst").returncode, 0)
        refused = self.weft("verify", "first.tar.zst")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--allow-plugins", refused.stderr)
        verified = self.weft("verify", "first.tar.zst", "--allow-plugins")
        self.assertEqual(verified.returncode, 0, verified.stderr)
        # Of three ways on, a flow of a tree sticks to one until it is full.
        tree = self.weft("sim", *plugins, "--topology", "fat_tree:k=4", "--routing", "sticky:patience=0s", "--traffic",
                         "permutation:size=1MB", "-o", "tree")
        self.assertEqual(tree.returncode, 0, tree.stderr)
        self.assertGreater(json.loads((self.out / "tree/summary.json").read_text())["signals"]["move"], 0)

    def test_the_petersen_graph(self):
        done = self.weft("topo", "analyze", "petersen:p=1", "--plugin", "my_topology.so", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        facts = json.loads(done.stdout)
        text = json.dumps(facts)
        self.assertIn('"diameter": 2', text)
        self.assertAlmostEqual(facts["average_path_length"], 5 / 3, places=6)

    def test_a_topology_of_two_nics_for_each_host(self):
        # Planes apart, or with a spine above both, where each NIC leads to both of another host.
        self.compile("two_nics", """
            using namespace weft::topologies;
            Topology build(const weft::Parameters& parameters) {
              Topology topology(weft::to_short_form("two_nics", parameters));
              const Link link{.rate = weft::Bandwidth::gbps(100), .latency = weft::Time::ns(500)};
              const Vertex left = topology.add_switch("left", 1, 0, weft::Time());
              const Vertex right = topology.add_switch("right", 1, 0, weft::Time());
              for (int i = 0; i < 4; ++i) {
                const Vertex host = topology.add_host("h" + std::to_string(i));
                topology.add_link(host, left, link);
                topology.add_link(host, right, link);
              }
              if (parameters.boolean("joined")) {
                const Vertex spine = topology.add_switch("spine", 2, 0, weft::Time());
                topology.add_link(left, spine, link);
                topology.add_link(right, spine, link);
              }
              topology.finish_in_parts();
              return topology;
            }
            WEFT_PLUGIN(plugin) {
              plugin.families.push_back({.info = {.name = "two_nics", .summary = "Two NICs.", .source = "",
                .parameters = {{"joined", weft::ParameterType::kBoolean, "true", "By a spine."}}}, .build = build});
            }""")
        for joined, level in (("true", "flow"), ("true", "packet"), ("false", "flow"), ("false", "packet")):
            with self.subTest(joined=joined, level=level):
                took = {}
                for choice, by_nic in (("library", [1, 1]), ("near", [2, 0])):
                    run = f"nics_{joined}_{level}_{choice}"
                    done = self.weft("sim", "--plugin", "./two_nics.so", "--topology", f"two_nics:joined={joined}",
                                     "--network", f"{level}:nic_choice={choice}", "--traffic", "shift:by=1,size=8MB",
                                     "-o", run)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    took[choice] = json.loads((self.out / run / "summary.json").read_text())["makespan_ns"]
                    with open(self.out / run / "links.csv", newline="") as file:
                        rows = list(csv.DictReader(file))
                    for host in range(4):
                        sent = [sum(int(row["bytes"]) for row in rows if (row["from"], row["to"]) == (f"h{host}", switch))
                                for switch in ("left", "right")]
                        # 8 MB as payload, and in packets what headers and answers add to it.
                        for bytes, share in zip(sent, by_nic):
                            self.assertGreaterEqual(bytes, share * 4e6)
                            self.assertLess(bytes, share * 4e6 * 1.1 + 1)
                # At 100 Gb/s 8 MB take 640 us on one NIC, and half of that on two.
                self.assertLess(abs(took["near"] / 640e3 - 1), 0.06, took)
                self.assertLess(abs(took["library"] / 320e3 - 1), 0.06, took)

    def test_a_placement(self):
        self.compile("backwards", """
            using namespace weft::placement;
            Outcome place(const Setup& setup) {
              Outcome outcome;
              const auto last = static_cast<std::uint32_t>(setup.machine.state.size()) - 1;
              const bool wrong = setup.parameters.boolean("wrong");
              for (std::uint32_t r = 0; r < setup.request.ranks; ++r) outcome.hosts.push_back(wrong ? 0 : last - r);
              return outcome;
            }
            WEFT_PLUGIN(plugin) {
              plugin.placements.push_back({.info = {.name = "backwards", .summary = "The last first.", .source = "",
                .parameters = {{"wrong", weft::ParameterType::kBoolean, "false", "Gives all ranks one host."}}},
                .place = place});
            }""")
        place = ("place", "--plugin", "./backwards.so", "--ranks", "4", "--topology", "fat_tree:k=4", "--json",
                 "--placement")
        done = self.weft(*place, "backwards")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["placements"][0]["jobs"][0]["hosts"], [15, 14, 13, 12])
        # What it gives back is checked.
        done = self.weft(*place, "backwards:wrong=true")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("backwards put more than 1 rank on host 0", done.stderr)

    def test_a_fabric(self):
        self.compile("in_house", """
            WEFT_PLUGIN(plugin) {
              plugin.fabrics.push_back({.info = {.name = "in_house", .summary = "Ours.", .source = "", .parameters = {}},
                .doubts = {"The header is a guess."},
                .routing = {{.families = {"torus"}, .policy = "dimension_order"}, {.policy = "spray:paths=16"}},
                .congestion = "dctcp:gain=0.125", .recovery = "rack", .queue = "ecn", .network = "mtu=2048,header=50"});
            }""")
        done = self.weft("describe", "in_house", "--plugin", "./in_house.so")
        self.assertIn("The header is a guess.", done.stdout)
        done = self.weft("sim", "--plugin", "./in_house.so", "--fabric", "in_house", "--topology", "fat_tree:k=4",
                         "--traffic", "permutation:size=64KB", "-o", "in_house")
        self.assertEqual(done.returncode, 0, done.stderr)
        summary = json.loads((self.out / "in_house/summary.json").read_text())
        self.assertEqual(summary["fabric"], "in_house")
        self.assertEqual(summary["routing"], "spray:paths=16")
        self.assertTrue(summary["congestion"].startswith("dctcp:gain=0.125"), summary["congestion"])
        self.assertTrue(summary["queue"].startswith("ecn:"), summary["queue"])
        self.assertIn("header=50,", summary["network"])
        self.compile("no_fabric", 'WEFT_PLUGIN(plugin) { plugin.fabrics.push_back({.info = {.name = "none"}}); }')
        self.assert_refused("no_fabric.so", "'none' can't be the name")

    def test_refusals(self):
        self.assert_refused("nowhere.so", "nowhere.so", "can't be read")
        (self.out / "text.so").write_text("hello\n")
        self.assert_refused("text.so", "is no plug-in")
        # A mark like this one is in every plug-in; here of another version.
        binary = (self.out / "my_control.so").read_bytes()
        mark = re.search(rb"weft plug-in, interface ([0-9a-f]{8})/([0-9a-f]{16})", binary)
        other = binary.replace(mark.group(0), mark.group(0)[:-1] + (b"0" if mark.group(0)[-1:] != b"0" else b"1"))
        (self.out / "other.so").write_bytes(other)
        self.assert_refused("other.so", "was compiled for interface", "compile it again")
        self.compile("taken", 'WEFT_PLUGIN(plugin) { plugin.controls.push_back({.info = {.name = "dctcp"}}); }')
        self.assert_refused("taken.so", "'dctcp' is there already")
        self.compile("odd", 'WEFT_PLUGIN(plugin) { plugin.controls.push_back({.info = {.name = "My Control"}}); }')
        self.assert_refused("odd.so", "'My Control' can't be the name")
        self.compile("lacking", "void nowhere(); WEFT_PLUGIN(plugin) { nowhere(); }")
        self.assert_refused("lacking.so", "undefined symbol")
        # A choice from a plug-in that isn't given is an unknown name.
        done = self.weft("sim", "--topology", "fat_tree:k=4", "--congestion", "delay_target", "--traffic",
                         "permutation:size=1MB")
        self.assertEqual(done.returncode, 2)
        self.assertIn("'delay_target' is not a congestion", done.stderr)

    def test_interface_is_counted_up(self):
        digest = hashlib.sha256("".join(code_of(ROOT / path) for path in SEAMS).encode()).hexdigest()[:16]
        number = re.search(r"kPluginInterface = (\d+)", (ROOT / "sim/plugins/plugin.h").read_text()).group(1)
        known = (ROOT / "sim/plugins/interface.txt").read_text().split()
        self.assertEqual(known, [number, digest],
                         "a header that plug-ins are compiled with has changed: count up kPluginInterface in "
                         "sim/plugins/plugin.h, run this again, and write what it finds into sim/plugins/interface.txt")


if __name__ == "__main__":
    os.environ.pop("TEST_TARGET", None)
    unittest.main()

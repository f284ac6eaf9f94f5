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

# Its modules go wrong as their parameters say, and the plug-in as the environment does.
WRONG = """
#include <cmath>
#include <cmath>
#include <cstdlib>
#include <stdexcept>
using namespace weft;
using namespace weft::routing;
struct Model final : PathModel {
  const PlanSetup& setup;
  const RoutingTable& table;
  const topologies::Topology& topology;
  std::string bad;
  explicit Model(const PlanSetup& s)
      : setup(s), table(s.table), topology(s.topology), bad(s.parameters.text("bad")) {}
  void starts(std::uint32_t, std::uint32_t, std::vector<PathStart>& starts) const override {
    if (bad != "no_start") starts.push_back({.share = bad == "two" ? 2.0 : 1.0});
  }
  void steps(topologies::Vertex at, PathState, std::uint32_t host, std::vector<PathStep>& steps) const override {
    if (bad == "throw") throw std::runtime_error("no idea");
    if (bad == "circle") {
      for (const std::uint32_t c : topology.out_channels(at)) {
        if (topology.node(topology.channels()[c].to).kind == topologies::NodeKind::kHost) continue;
        return steps.push_back({.channel = c});
      }
    }
    const auto candidates = table.candidates(at, host);
    const double share = 1.0 / candidates.size();
    for (const std::uint32_t c : candidates) {
      steps.push_back({.channel = bad == "channel" ? 1000000u : c,
                       .share = bad == "half" ? share / 2 : bad == "nan" ? NAN : bad == "below" ? -1 : share});
    }
  }
};
std::unique_ptr<PathModel> make_paths(const PlanSetup& setup) {
  if (setup.parameters.text("bad") == "null") return nullptr;
  return std::make_unique<Model>(setup);
}
struct Switch final : SwitchPolicy {
  std::string bad;
  explicit Switch(std::string b) : bad(std::move(b)) {}
  Output choose(const PacketView&, RouteNote&, std::span<const std::uint32_t> minimal,
                ActiveSwitch& here) override {
    if (bad == "throw") throw std::runtime_error("no choice");
    if (bad == "port") return {.port = here.ports()};
    if (here.now() > Time()) here.set_timer(Time(), 0);
    return {.port = minimal.front()};
  }
};
std::unique_ptr<SwitchPlan> make_plan(const PlanSetup& setup) {
  const std::string bad = setup.parameters.text("bad");
  if (bad == "null") return nullptr;
  return each_switch([bad](std::uint32_t, auto) {
    return bad == "no_switch" ? nullptr : std::make_unique<Switch>(bad);
  });
}
struct Sender final : congestion::Sender {
  struct Settings {
    explicit Settings(const Parameters&) {}
  };
  Sender(const congestion::FlowInfo&, const Settings&) { throw std::runtime_error("no sender"); }
  void start(Time) override {}
  void on_ack(const congestion::Ack&) override {}
  void on_loss(const congestion::Loss&) override {}
  void on_timeout(const congestion::Loss&) override {}
};
std::unique_ptr<congestion::SenderFactory> no_factory(const Parameters&) { return nullptr; }
topologies::Topology build(const Parameters& parameters) {
  const std::string bad = parameters.text("bad");
  if (bad == "throw") throw std::runtime_error("no network");
  topologies::Topology topology("pair");
  const auto a = topology.add_switch("a", 1, 0, bad == "switch" ? Time::ps(-1) : Time());
  topologies::Link link{.rate = Bandwidth::gbps(100), .latency = Time::ns(500)};
  for (int i = 0; i < 2; ++i) topology.add_link(topology.add_host("h" + std::to_string(i)), a, link);
  link.latency = Time::ns(-5);
  if (bad == "latency") topology.add_link(topology.add_host("far"), a, link);
  if (bad == "range") topology.add_link(a, 500, link);
  if (bad != "unfinished") topology.finish();
  return topology;
}
placement::Outcome place(const placement::Setup&) { throw std::runtime_error("no place"); }
fabrics::Fabric fabric(const char* name) { return {.info = {.name = name, .summary = "s", .source = "s"}}; }
WEFT_PLUGIN(plugin) {
  const char* wrong = std::getenv("WRONG");
  const std::string at_once = wrong == nullptr ? "" : wrong;
  if (at_once == "int") throw 42;
  if (at_once == "error") throw std::runtime_error("out of order");
  if (at_once == "input") throw InputError("my own message");
  const ModuleInfo info{.name = "wrong", .summary = "s", .source = "s",
                        .parameters = {{"bad", ParameterType::kText, "no", "What is wrong."}}};
  ModuleInfo odd{.name = "odd", .summary = "s", .source = "s"};
  if (at_once == "default") odd.parameters = {{"n", ParameterType::kInteger, "abc", "h"}};
  if (at_once == "twice") odd.parameters = {{"n", ParameterType::kInteger, "1", "h"}, {"n", ParameterType::kTime, "1s", "h"}};
  if (at_once == "control") plugin.controls.push_back({.info = odd});
  if (at_once == "recovery") plugin.recoveries.push_back({.info = odd});
  if (at_once == "family") plugin.families.push_back({.info = odd});
  if (at_once == "placement") plugin.placements.push_back({.info = odd});
  if (!odd.parameters.empty()) plugin.policies.push_back({.info = odd});
  plugin.policies.push_back({.info = info, .make_plan = make_plan, .make_paths = make_paths, .fluid = FluidPaths::kModel});
  ModuleInfo one = info;
  one.name = "one_way";
  plugin.policies.push_back({.info = one, .make_paths = make_paths, .fluid = FluidPaths::kOne});
  plugin.controls.push_back({.info = info, .make_factory = congestion::SenderFactoryFor<Sender>::make});
  plugin.controls.push_back({.info = {.name = "nothing", .summary = "s", .source = "s"}, .make_factory = no_factory});
  plugin.controls.push_back({.info = {.name = "queued", .summary = "s", .source = "s"},
                             .make_factory = congestion::SenderFactoryFor<Sender>::make, .queue = "droptial"});
  plugin.families.push_back({.info = info, .build = build});
  plugin.placements.push_back({.info = info, .place = place});
  for (const char* each : {"control", "queue", "recovery", "family", "routing", "network"}) {
    const std::string name = std::string("of_") + each;
    fabrics::Fabric wrong = fabric(name.c_str());
    const std::string kind = each;
    if (kind == "control") wrong.congestion = "dctpc";
    if (kind == "queue") wrong.queue = "droptial:capacity=10KB";
    if (kind == "recovery") wrong.recovery = "goback_n";
    if (kind == "family") wrong.routing = {{.families = {"fat_treee"}, .policy = "ecmp"}};
    if (kind == "routing") wrong.routing = {{.families = {"torus"}, .policy = "ecpm"}};
    if (kind == "network") wrong.network = "mtuu=1024";
    plugin.fabrics.push_back(wrong);
  }
}
"""


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

    def assert_told(self, arguments, *words):
        done = self.weft(*arguments)
        errors = [line for line in done.stderr.splitlines() if not line.startswith("weft: warning")]
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(len(errors), 1, done.stderr)
        for word in words:
            self.assertIn(word, errors[0])

    def compile_wrong(self):
        if not (self.out / "wrong.so").exists():
            self.compile("wrong", WRONG)
        return (("--plugin", "./wrong.so"),
                ("--topology", "fat_tree:k=4", "--traffic", "permutation:size=100KB", "-o", "wrong", "-q"))

    def test_what_routing_does_wrong_is_told_with_its_name(self):
        plugin, traffic = self.compile_wrong()
        shares = {"no_start": "packets don't start", "two": "make 2 together", "half": "make 0.5 together",
                  "nan": "a share is nan", "below": "a share is -1", "channel": "channel 1000000",
                  "circle": "a circle that they never leave", "throw": "no idea", "null": "gave nothing"}
        for bad, word in shares.items():
            with self.subTest(paths=bad):
                named = ("routing policy wrong", "wrong.so", word)
                routing = ("--routing", f"wrong:bad={bad}")
                self.assert_told(("sim", *plugin, "--network", "flow", *routing, *traffic), *named)
                self.assert_told(("route", "show", "--from", "0", "--to", "15", *plugin, *routing, *traffic[:2]), *named)
        self.assert_told(("sim", *plugin, "--network", "flow", "--routing", "one_way:bad=circle", *traffic),
                         "routing policy one_way", "circle")
        self.assertEqual(self.weft("sim", *plugin, "--network", "flow", "--routing", "wrong", *traffic).returncode, 0)
        for bad, words in {"null": ("make_plan() gave nothing",), "no_switch": ("gave nothing",),
                           "port": ("at edge 0.0", "it chose port 4, but ports are 0 to 3"),
                           "timer": ("at edge", "it set a timer for 0 ns, but it is")}.items():
            with self.subTest(switches=bad):
                self.assert_told(("sim", *plugin, "--routing", f"wrong:bad={bad}", *traffic),
                                 "routing policy wrong", "wrong.so", *words)
        thrown = self.weft("sim", *plugin, "--routing", "wrong:bad=throw", *traffic)
        self.assertEqual(thrown.returncode, 1)
        self.assertIn("wrong.so", thrown.stderr)

    def test_what_other_modules_do_wrong_is_told_with_their_names(self):
        plugin, traffic = self.compile_wrong()
        for name, word in (("wrong", "no sender"), ("nothing", "make_factory() gave nothing"),
                           ("queued", "droptial, which is not a queue discipline; did you mean 'droptail'?")):
            with self.subTest(control=name):
                self.assert_told(("sim", *plugin, "--congestion", name, *traffic),
                                 f"congestion control {name}", "wrong.so", word)
        for bad, words in {"latency": ("pair", "'far' and 'a' has latency -5"), "switch": ("'a' has switch latency -0.001",),
                           "range": ("nodes 0 and 500, but there are 3",), "unfinished": ("wrong.so", "finish()"),
                           "throw": ("wrong.so", "no network")}.items():
            with self.subTest(family=bad):
                self.assert_told(("topo", "info", f"wrong:bad={bad}", *plugin), *words)
        self.assert_told(("place", *plugin, "--ranks", "4", "--topology", "fat_tree:k=4", "--placement", "wrong"),
                         "placement wrong", "wrong.so", "no place")
        for kind, word in {"control": "'dctpc' is not a congestion control; did you mean 'dctcp'?",
                           "queue": "did you mean 'droptail'?", "recovery": "did you mean 'go_back_n'?",
                           "family": "did you mean 'fat_tree'?", "routing": "did you mean 'ecmp'?",
                           "network": "did you mean 'mtu'?"}.items():
            with self.subTest(fabric=kind):
                self.assert_told(("sim", *plugin, "--fabric", f"of_{kind}", *traffic), f"fabric of_{kind}", "wrong.so", word)

    def test_plugins_that_go_wrong_at_once_are_refused(self):
        self.compile_wrong()
        self.addCleanup(os.environ.pop, "WRONG", None)
        for wrong, words in {"int": ("no std::exception",), "error": ("out of order",), "input": ("my own message",),
                             "default": ("odd: n: 'abc' is not a whole number",), "twice": ("two parameters of the name 'n'",),
                             "control": ("congestion control 'odd' has no function make_factory",),
                             "recovery": ("loss recovery 'odd' has no function make_factory",),
                             "family": ("topology 'odd' has no function build",),
                             "placement": ("placement 'odd' has no function place",)}.items():
            with self.subTest(at_once=wrong):
                os.environ["WRONG"] = wrong
                self.assert_refused("wrong.so", "wrong.so", *words)

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

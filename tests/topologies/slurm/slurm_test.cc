// Networks from Slurm's files: the manual's examples, a real machine's, and what stands in for what they
// don't say.
#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/topologies/import/files.h"

namespace weft::topologies {
namespace {

using Catch::Contains;

Topology read(const std::string& text, const std::string& more = "") {
  return make("slurm:file=" + write_file("topology.conf", text) + more);
}

Vertex called(const Topology& topology, const std::string& name) {
  for (Vertex v = 0; v < topology.nodes(); ++v) {
    if (topology.node(v).name == name) return v;
  }
  FAIL("no node " << name);
  return 0;
}

std::size_t links(const Topology& topology, const std::string& a, const std::string& b) {
  const Vertex from = called(topology, a), to = called(topology, b);
  return static_cast<std::size_t>(
      std::count_if(topology.out_channels(from).begin(), topology.out_channels(from).end(),
                    [&](std::uint32_t c) { return topology.channels()[c].to == to; }));
}

std::map<int, int> switches_by_tier(const Topology& topology) {
  std::map<int, int> tiers;
  for (std::uint32_t s = 0; s < topology.switches(); ++s) ++tiers[topology.node(topology.switch_at(s)).tier];
  return tiers;
}

bool has_note(const Topology& topology, const std::string& part) {
  return std::any_of(topology.notes().begin(), topology.notes().end(),
                     [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

// Its links; without the name, which has the file's.
std::string edges_of(const Topology& topology) {
  const std::string text = text_of(topology, "edges");
  return text.substr(text.find("\n") + 1);
}

// The examples of topology.conf(5), in other words.
constexpr const char* kTree = R"(# a tree
switchname=s0 nodes=dev[0-5]
SwitchName=s1 Nodes=dev[6-11] LinkSpeed=100
SwitchName=s2 \
  Nodes="dev[12-14],dev[15-17]"   # the last
SWITCHNAME=s3 Switches=s[0-2]
)";
constexpr const char* kBlocks = R"(BlockName=block1 Nodes=node[1-32]
BlockName=block2 Nodes=node[33-64]
BlockName=block3 Nodes=node[65-96]
BlockName=block4 Nodes=node[97-128]
)";

std::filesystem::path oracle(const char* name) {
  const char* folder = std::getenv("WEFT_ORACLE_DIR");
  const std::filesystem::path path = std::filesystem::path(folder == nullptr ? "" : folder) / name;
  if (folder != nullptr && std::filesystem::exists(path)) return path;
  std::cout << "skipped: WEFT_ORACLE_DIR has no " << name << "\n";
  return {};
}

}  // namespace

TEST_CASE("slurm: a tree has its switches, hosts and names, and as much capacity up as down") {
  const Topology tree = read(kTree);
  CHECK(tree.hosts() == 18);
  CHECK(switches_by_tier(tree) == std::map<int, int>{{1, 3}, {2, 1}});
  for (std::uint32_t h = 0; h < 18; ++h) {
    CHECK(tree.node(tree.host(h)).name == fmt::format("dev{}", h));
    CHECK(links(tree, fmt::format("dev{}", h), fmt::format("s{}", h / 6)) == 1);
    CHECK(tree.node(tree.host(h)).group == h / 6);
  }
  for (const char* leaf : {"s0", "s1", "s2"}) CHECK(links(tree, leaf, "s3") == 6);
  CHECK(tree.channels().size() == 2 * (18 + 18));
  CHECK(has_note(tree, "LinkSpeed is not read"));
  CHECK(has_note(tree, "oversubscription=1"));
}

TEST_CASE("slurm: links up follow from oversubscription, rates and NICs, or are given") {
  struct Row {
    const char* more;
    std::size_t up, to_host;
  };
  for (const Row& row : {Row{",oversubscription=2", 3, 1}, Row{",oversubscription=4", 2, 1},
                         Row{",oversubscription=100", 1, 1}, Row{",link=200Gbps,host_link=100Gbps", 3, 1},
                         Row{",link=200Gbps,host_link=100Gbps,nics=4", 12, 4}, Row{",uplinks=5", 5, 1},
                         Row{",oversubscription=0.5", 12, 1}}) {
    INFO(row.more);
    const Topology tree = read(kTree, row.more);
    CHECK(links(tree, "s1", "s3") == row.up);
    CHECK(links(tree, "dev6", "s1") == row.to_host);
  }
}

TEST_CASE("slurm: several tops over the same leaves are a fat tree") {
  const std::string text =
      "SwitchName=a Nodes=n[1-7]\nSwitchName=b Nodes=n[8-14]\n"
      "SwitchName=x Switches=a,b\nSwitchName=y Switches=a,b\n";
  const Topology fat = read(text);
  CHECK(fat.switches() == 4);
  CHECK(links(fat, "a", "x") == 4);
  CHECK(links(fat, "a", "y") == 3);
  CHECK(links(fat, "b", "x") + links(fat, "b", "y") == 7);
}

TEST_CASE("slurm: what scontrol prints is the network of the file it was made from") {
  const Topology file = read(kTree);
  const Topology printed = read(
      "SwitchName=s0 Level=0 LinkSpeed=1 Nodes=dev[0-5]\nSwitchName=s1 Level=0 LinkSpeed=1 Nodes=dev[6-11]\n"
      "SwitchName=s2 Level=0 LinkSpeed=1 Nodes=dev[12-17]\n"
      "SwitchName=s3 Level=1 LinkSpeed=1 Nodes=dev[0-17] Switches=s[0-2]\n");
  CHECK(edges_of(file) == edges_of(printed));
  CHECK_FALSE(has_note(printed, "LinkSpeed"));
  const Topology blocks = read(std::string(kBlocks) + "BlockSizes=32,64\n");
  const Topology printed_blocks = read(
      "BlockName=block1 BlockIndex=0 Nodes=node[1-32] BlockSize=32\n"
      "BlockName=block2 BlockIndex=1 Nodes=node[33-64] BlockSize=32\n"
      "BlockName=block3 BlockIndex=2 Nodes=node[65-96] BlockSize=32\n"
      "BlockName=block4 BlockIndex=3 Nodes=node[97-128] BlockSize=32\n"
      "AggregatedBlock=block[1-2] BlockIndex=4 Nodes=node[1-64] BlockSize=64\n"
      "AggregatedBlock=block[3-4] BlockIndex=5 Nodes=node[65-128] BlockSize=64\n");
  CHECK(edges_of(blocks) == edges_of(printed_blocks));
}

TEST_CASE("slurm: topology.yaml is the network of the same topology.conf") {
  constexpr const char* kYaml = R"(# two topologies
- topology: first
  cluster_default: false
  block:
    block_sizes:
      - 32
      - 64
    blocks:
    - block: block1
      nodes: node[1-32]
    - block: block2
      nodes: node[33-64]
    - block: block3
      nodes: node[65-96]
    - {block: block4, nodes: "node[97-128]"}
- topology: second
  cluster_default: True
  tree:
    switches:
    - switch: s0
      nodes: dev[0-5]
      colour: red
    - switch: s1
      nodes: dev[6-11]
    - switch: s2
      nodes: dev[12-17]
    - switch: s3
      children: s[0-2]
- topology: third
  flat: true
)";
  const auto yaml = [](const std::string& text, const std::string& more = "") {
    return make("slurm:file=" + write_file("topology.yaml", text) + more);
  };
  CHECK(edges_of(yaml(kYaml)) == edges_of(read(kTree)));
  CHECK(has_note(yaml(kYaml), "topology.yaml:22: the key 'colour' is not known"));
  CHECK(edges_of(yaml(kYaml, ",topology=first")) ==
        edges_of(read(std::string(kBlocks) + "BlockSizes=32,64\n")));
  // By its content where the name doesn't tell; the first where none is the default.
  CHECK(make("slurm:file=" + write_file("printed",
                                        "---\n- topology: a\n  tree:\n    switches:\n    - switch: s\n"
                                        "      nodes: n[1-3]\n"))
            .hosts() == 3);
  const auto check = [&](const std::string& text, const std::string& message, const char* more = "") {
    INFO(text);
    CHECK_THROWS_WITH(yaml(text, more), Contains(message));
  };
  check(kYaml, "topology.yaml:30: a topology of kind 'flat' is not read", ",topology=third");
  check(kYaml, "there is no topology 'fourth'; known: first, second, third", ",topology=fourth");
  check("- topology: a\n  tree: [1\n", "topology.yaml:3: ");
  check("topology: a\n", "topology.yaml:1: topology.yaml must be a list");
  check("# nothing\n", "topology.yaml must be a list");
  check(std::string(200000, '['), "topology.yaml:1: brackets stand in each other more than 100 deep");
  check("[]\n", "topology.yaml lists no topology");
  check("- a\n", "topology.yaml:1: a topology must have keys and values");
  check("- topology: a\n", "the topology has no switch and no block");
  check("- topology: a\n  tree:\n    switches:\n    - nodes: n1\n",
        "topology.yaml:4: switch is '', but it must be one name");
  check("- topology: a\n  tree:\n    switches:\n    - switch: s\n      nodes: n[3-1]\n",
        "topology.yaml:5: the range '3-1' in 'n[3-1]' goes down");
  check("- topology: a\n  tree:\n    switches:\n    - switch: s\n      nodes: [n1]\n",
        "topology.yaml:5: nodes must be a text");
  check("- topology: a\n  block:\n    block_sizes: [x]\n    blocks: []\n",
        "block_sizes is 'x', but it must be a whole number");
  CHECK_THROWS_WITH(read(kTree, ",topology=a"), Contains("it is for topology.yaml"));
}

TEST_CASE("slurm: what topology.yaml says twice is refused, so that nothing is passed over") {
  const auto yaml = [](const std::string& text, const std::string& more = "") {
    return make("slurm:file=" + write_file("topology.yaml", text) + more);
  };
  const auto tree = [](const std::string& name, const std::string& nodes, const std::string& more = "") {
    return "- topology: " + name + "\n" + more +
           "  tree:\n    switches:\n    - switch: s\n      nodes: " + nodes + "\n";
  };
  const std::string one = tree("a", "n[1-3]");
  const auto check = [&](const std::string& text, const std::string& message, const char* more = "") {
    INFO(text);
    CHECK_THROWS_WITH(yaml(text, more), Contains(message));
  };
  check(one + "      nodes: n[4-9]\n", "topology.yaml:6: 'nodes' is given twice; the first is in line 5");
  check(one + "  tree: {switches: [{switch: t, nodes: n4}]}\n", "topology.yaml:6: 'tree' is given twice");
  check(one + "  block: {block_sizes: [3], blocks: [{block: b, nodes: n4}]}\n",
        "topology.yaml:6: a topology is of one kind, but this one has 'tree' and 'block'");
  check(one + "---\n" + tree("b", "n[1-9]"), "topology.yaml:6: more stands here, behind the first document");
  check(one + "--- {\n", "topology.yaml:7: more stands here");
  CHECK(yaml("---\n" + one + "...\n# the end\n").hosts() == 3);
  check(one + tree("a", "n[1-9]"),
        "topology.yaml:6: a second topology is called 'a'; the first is in line 1");
  const std::string is_default = "  cluster_default: true\n";
  const std::string two = tree("a", "n[1-3]", is_default) + tree("b", "n[1-9]", is_default);
  check(two, "topology.yaml:8: a second topology has cluster_default; the first is in line 1");
  CHECK(yaml(two, ",topology=b").hosts() == 9);
  for (const char* yes : {"true", "True", "YES", "on", "\"true\""}) {
    INFO(yes);
    CHECK(yaml(one + tree("b", "n[1-9]", std::string("  cluster_default: ") + yes + "\n")).hosts() == 9);
  }
  CHECK(yaml(one + tree("b", "n[1-9]", "  cluster_default: No\n")).hosts() == 3);
  check(one + tree("b", "n1", "  cluster_default: 1\n"),
        "topology.yaml:7: cluster_default is '1', but it must be true or false");
  // Patterns and braces are a shell's, and would be one node each.
  for (const char* pattern : {"n*", "n?", "n{1..3}", "n1,m*"}) {
    INFO(pattern);
    CHECK_THROWS_WITH(read(std::string("SwitchName=s Nodes=") + pattern + "\n"),
                      Contains("is no name: ranges are written like tux[0-3]"));
  }
}

TEST_CASE("slurm: blocks are joined level by level, and what is left by a top") {
  const auto tiers = [](const char* sizes) { return switches_by_tier(read(kBlocks + std::string(sizes))); };
  CHECK(tiers("") == std::map<int, int>{{1, 4}, {2, 1}});
  CHECK(tiers("BlockSizes=30\n") == std::map<int, int>{{1, 4}, {2, 1}});
  CHECK(tiers("BlockSizes=30,60\n") == std::map<int, int>{{1, 4}, {2, 2}, {3, 1}});
  CHECK(tiers("BlockSizes=30,120\n") == std::map<int, int>{{1, 4}, {2, 1}});
  CHECK(tiers("BlockSizes=30,60,120\n") == std::map<int, int>{{1, 4}, {2, 2}, {3, 1}});
  const Topology blocks = read(kBlocks + std::string("BlockSizes=30,60\n"), ",oversubscription=2");
  CHECK(links(blocks, "node33", "block2") == 1);
  CHECK(links(blocks, "block2", "block1 … block2") == 16);
  CHECK(links(blocks, "block3 … block4", "top") == 16);
}

TEST_CASE("slurm: a mesh in place of the top") {
  const Topology mesh = read(kTree, ",top=mesh,links_per_pair=2");
  CHECK(mesh.switches() == 3);
  CHECK(mesh.linked_groups());
  CHECK(links(mesh, "s0", "s1") == 2);
  CHECK(links(mesh, "s0", "s2") == 2);
  CHECK(links(mesh, "s1", "s2") == 2);
  CHECK(has_note(mesh, "'s3', the top, is not built"));
  // Shared out: 6 links up of each, over two others.
  CHECK(links(read(kTree, ",top=mesh"), "s0", "s1") == 3);
  // Tops without anything above them.
  const Topology islands = read("SwitchName=a Nodes=n[1-4]\nSwitchName=b Nodes=n[5-8]\n", ",top=mesh");
  CHECK(links(islands, "a", "b") == 4);
}

TEST_CASE("slurm: part of the nodes, with the switches above them") {
  const Topology part = read(kTree, ",hosts=[dev[0-3,17]]");
  CHECK(part.hosts() == 5);
  CHECK(part.switches() == 3);
  CHECK(links(part, "s0", "s3") == 4);
  CHECK(links(part, "s2", "s3") == 1);
  CHECK(has_note(part, "1 switch is left out"));
  // The name says what was built, so that it can be built again.
  CHECK(edges_of(make(part.name())) == edges_of(part));
  CHECK_THROWS_WITH(read(kTree, ",hosts=[dev[0-3,20-21]]"), Contains("has no node 'dev20' and 1 more"));
  CHECK_THROWS_WITH(read(kTree, ",hosts=[dev[0-]]"), Contains("it must be a hostlist"));
}

TEST_CASE("slurm: hosts are numbered as Slurm orders them, and may hang on several switches") {
  const Topology odd =
      read("SwitchName=s0 Nodes=n10,n9,n2\nSwitchName=s1 Nodes=a3,n2\nSwitchName=s2 Switches=s0,s1\n");
  const std::vector<std::string> names = {"a3", "n2", "n9", "n10"};
  REQUIRE(odd.hosts() == names.size());
  for (std::uint32_t h = 0; h < names.size(); ++h) CHECK(odd.node(odd.host(h)).name == names[h]);
  CHECK(links(odd, "n2", "s0") == 1);
  CHECK(links(odd, "n2", "s1") == 1);
  CHECK(has_note(odd, "1 host hangs on several switches"));
}

TEST_CASE("slurm: what is unknown is told, and what is wrong refused at its line") {
  CHECK(has_note(read("SwitchName=s0 Nodes=a Colour=red\nSwitchName=s1 Nodes=b Colour=blue\nSwitchName=t "
                      "Switches=s[0-1]\n"),
                 "the key 'colour' is not known and was left out (first in line 1, 2 in all)"));
  const auto check = [](const std::string& text, const std::string& message) {
    INFO(text);
    CHECK_THROWS_WITH(read(text), Contains(message));
  };
  check("", "the file is empty");
  check("SwitchName=all Nodes=ALL\n", "1: 'ALL' stands for nodes that slurm.conf lists");
  check("SwitchName=all Nodes=all\n", "1: 'all' stands for nodes that slurm.conf lists");
  check("# nothing\n\n", "there is no switch and no block");
  check("hello\n", "topology.conf:1: found 'hello', but expected SwitchName=");
  check("SwitchName=a Nodes=n1\nNodes=n2\n", "topology.conf:2: found 'Nodes=n2', but expected SwitchName=");
  check("SwitchName=a Nodes=n[1-\n", "topology.conf:1: the brackets of 'n[1-' don't close");
  check("\nSwitchName=a\n", "topology.conf:2: the switch 'a' has neither Switches= nor Nodes=");
  check("SwitchName=a[1-2] Nodes=n1\n", "topology.conf:1: switchname is 'a[1-2]', but it must be one name");
  check("SwitchName=a\x01 Nodes=n1\n", "is no name: it must be of at most 255 characters");
  check("SwitchName=a Nodes=" + std::string(300, 'n') + "\n", "topology.conf:1: 'nnn");
  check("SwitchName=a Nodes=\"n1\n", "the quotation mark of nodes is not closed");
  check("SwitchName=a Nodes=n1 Nodes=n2\n", "nodes is given twice in one line");
  check("SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n",
        "topology.conf:2: 'a' is defined again; the first is in line 1");
  check("SwitchName=a Nodes=n1\nSwitchName=n1 Switches=a\n", "'n1' is the name of a switch and of a node");
  check("SwitchName=leaf1 Nodes=n1\nSwitchName=t Switches=leaf1,leaf2\n",
        "topology.conf:2: 't' is to be above the switch 'leaf2', which the file doesn't define; did you mean "
        "'leaf1'?");
  check("SwitchName=a Nodes=n1\nSwitchName=t Switches=a,a\n", "topology.conf:2: 't' lists 'a' twice");
  check("SwitchName=a Switches=b\nSwitchName=b Switches=a\n",
        "topology.conf:1: 'a' is above or below a circle");
  check("SwitchName=a Switches=a\n", "'a' is above or below a circle");
  check("SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\n", "nothing joins 'a' and 'b'");
  check("SwitchName=a Nodes=\n", "no switch has a node");
  check("SwitchName=a Nodes=n1\nBlockName=b Nodes=n2\n", "topology.conf:2: a file has switches");
  check("RingName=r Nodes=n[1-4]\n", "topology/ring is not read");
  check(kBlocks + std::string("BlockSizes=30,90\n"),
        "topology.conf:5: a block size is 90, but it must be the one before, 30, times");
  check(kBlocks + std::string("BlockSizes=30,x\n"),
        "BlockSizes is 'x', but it must be a whole number above 0");
  check("BlockName=b\n", "topology.conf:1: the block 'b' has no Nodes=");
  check(std::string("SwitchName=a\0Nodes=n1", 21), "this is not a text file");
  check("SwitchName=a Nodes=n[0-99999999]\n", "topology.conf:1: these are more than 4194304 names");
  CHECK_THROWS_WITH(read(kTree, ",uplinks=2,oversubscription=2"), Contains("leave one of them out"));
  CHECK_THROWS_WITH(read(kTree, ",uplinks=16777216"), Contains("more than 16777216 links"));
  CHECK_THROWS_WITH(read(kTree, ",oversubscription=0"), Contains("it must be above 0"));
  CHECK_THROWS_WITH(read(kTree, ",top=ring"), Contains("it must be switch or mesh"));
  CHECK_THROWS_WITH(read(kTree, ",links_per_pair=2"), Contains("it is for top=mesh"));
}

TEST_CASE("slurm: a deep chain and a wide one end soon") {
  std::string chain = "SwitchName=s0 Nodes=n1\n";
  for (int i = 1; i < 300; ++i) chain += fmt::format("SwitchName=s{} Switches=s{}\n", i, i - 1);
  CHECK_THROWS_WITH(read(chain), Contains("stands on more than 255 levels"));
  std::string wide = "SwitchName=a Nodes=n[1-20000]\n";
  for (int i = 0; i < 100; ++i) wide += fmt::format("SwitchName=t{} Switches=a Nodes=n1\n", i);
  CHECK(read(wide, ",uplinks=1").switches() == 101);
}

TEST_CASE("slurm: Leonardo's own words, against its counts and the cell and leaf of hosts that jobs had") {
  const std::filesystem::path file = oracle("machines/leonardo_scontrol_topology.txt");
  const std::filesystem::path jobs = oracle("supercomputers/allocations.csv");
  if (file.empty() || jobs.empty()) return;
  const Topology leonardo = make("slurm:file=" + file.string() + ",top=mesh,links_per_pair=18");
  CHECK(leonardo.hosts() == 4992 + 16 + 16);
  CHECK(switches_by_tier(leonardo) == std::map<int, int>{{1, 22 * 18 - 2 * 2 + 2}, {2, 23}});
  std::map<std::string, Vertex> node;
  for (Vertex v = 0; v < leonardo.nodes(); ++v) node[leonardo.node(v).name] = v;
  const auto above = [&](Vertex v) { return leonardo.channels()[leonardo.out_channels(v)[0]].to; };

  std::ifstream lines(jobs);
  std::size_t checked = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("leonardo,")) continue;
    std::istringstream words(line.substr(line.rfind(',') + 1));
    for (std::string word; words >> word; ++checked) {  // lrdn0089:1@1/10304
      const std::string name = word.substr(0, word.find(':'));
      const std::string cell = word.substr(word.find('@') + 1, word.find('/') - word.find('@') - 1);
      REQUIRE(node.contains(name));
      const Vertex leaf = above(node[name]);
      CHECK(leonardo.node(leaf).name == "isw" + word.substr(word.find('/') + 1));
      CHECK(leonardo.node(leaf).group == leonardo.node(node["isw-L2-CELLG" + cell]).group);
      CHECK(links(leonardo, leonardo.node(leaf).name, "isw-L2-CELLG" + cell) == 10);
    }
  }
  CHECK(checked > 900);
}

}  // namespace weft::topologies

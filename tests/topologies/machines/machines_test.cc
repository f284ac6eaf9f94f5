// Presets of machines against their published counts, what their switches have ports for, and where jobs ran.
#include "topologies/machines/machines.h"

#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/topologies/import/files.h"
#include "topologies/slurm/hostlist.h"

namespace weft::topologies {
namespace {

using Pair = std::pair<std::uint32_t, std::uint32_t>;

bool is_host(const Topology& topology, Vertex v) { return topology.node(v).kind == NodeKind::kHost; }

// Published, or what published counts multiply to.
struct Machine {
  const char* name;
  std::uint32_t hosts, nics, groups, leaves, spines, cores;
  std::uint32_t ports;  // of a switch, at `port_gbps`
  double port_gbps;
  const char* names;  // of its hosts
};

const Machine kMachines[] = {
    // 40-port HDR switches; 3,456 nodes with 4 ports and 1,536 with 1.
    {"leonardo", 4992, 3456 * 4 + 1536, 22, 19 * 18 + 18 + 2 * 16, 22 * 18, 0, 40, 200, "lrdn[0001-4992]"},
    {"leonardo_booster", 3456, 3456 * 4, 20, 19 * 18 + 6, 20 * 18, 0, 40, 200, "lrdn[0001-3456]"},
    {"leonardo_dcgp", 1536, 1536, 3, 12 + 2 * 16, 3 * 18, 0, 40, 200, "lrdn[3457-4992]"},
    // 64-port Slingshot switches.
    {"lumi_c", 2048, 2048, 8, 8 * 16, 0, 0, 64, 200, "nid[001000-003047]"},
    {"lumi_g", 2978, 2978 * 4, 24, 24 * 32, 0, 0, 64, 200, "nid[005000-007977]"},
    {"alps", 2688, 10752, 24, 24 * 32, 0, 0, 64, 200, "nid[005000-007687]"},
    {"frontier", 9408, 37632, 74, 74 * 32, 0, 0, 64, 200, "frontier[00001-09408]"},
    // 64-port NDR switches.
    {"marenostrum5_gpp", 6408, 6408, 3, 89, 3 * 18, 20, 64, 400,
     "gs[01-29]r[1-3]b[01-72],gs30r[1-2]b[01-72]"},
    {"marenostrum5_acc", 1120, 4480, 7, 70, 7 * 8, 20, 64, 400, "as[01-07]r[1-5]b[01-32]"},
    {"jupiter", 6000, 24000, 25, 25 * 15, 25 * 16, 0, 64, 400, "jpbo-[001-125]-[01-48]"},
};

std::map<std::string, Vertex> by_name(const Topology& topology) {
  std::map<std::string, Vertex> node;
  for (Vertex v = 0; v < topology.nodes(); ++v) node[topology.node(v).name] = v;
  return node;
}

Vertex first_switch(const Topology& topology, Vertex host) {
  return topology.channels()[topology.out_channels(host)[0]].to;
}

// Links between switches of two groups, by their numbers.
std::map<Pair, std::uint32_t> links_between_groups(const Topology& topology) {
  std::map<Pair, std::uint32_t> count;
  for (const Edge& edge : topology.edges()) {
    const std::uint32_t a = topology.node(edge.from).group, b = topology.node(edge.to).group;
    if (a != b) ++count[std::minmax(a, b)];
  }
  return count;
}

// What switches of a tier have up and down, bit/s in all.
struct Capacity {
  double up = 0, down = 0;
};
Capacity capacity(const Topology& topology, int tier) {
  Capacity sum;
  for (const Edge& edge : topology.edges()) {
    const int a = topology.node(edge.from).tier, b = topology.node(edge.to).tier;
    const auto rate = static_cast<double>(edge.link.rate.bps());
    if (std::min(a, b) == tier && a != b) sum.up += rate;
    if (std::max(a, b) == tier && a != b) sum.down += rate;
  }
  return sum;
}

std::filesystem::path oracle(const char* name) {
  const char* folder = std::getenv("WEFT_ORACLE_DIR");
  const std::filesystem::path path = std::filesystem::path(folder == nullptr ? "" : folder) / name;
  if (folder != nullptr && std::filesystem::exists(path)) return path;
  std::cout << "skipped: WEFT_ORACLE_DIR has no " << name << "\n";
  return {};
}

// The hosts of a machine's jobs, each as "lrdn0089:1@1/10304".
std::vector<std::string> allocated(const std::filesystem::path& file, const std::string& machine) {
  std::vector<std::string> words;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(machine + ",")) continue;
    std::istringstream hosts(line.substr(line.rfind(',') + 1));
    for (std::string word; hosts >> word;) words.push_back(word);
  }
  return words;
}

}  // namespace

TEST_CASE("machines: nodes, NICs, groups and switches as published, and all in this test") {
  std::set<std::string> tested;
  for (const Machine& machine : kMachines) {
    INFO(machine.name);
    tested.insert(machine.name);
    const Topology topology = make(machine.name);
    CHECK(topology.hosts() == machine.hosts);
    std::map<int, std::uint32_t> tiers;
    std::set<std::uint32_t> groups;
    for (std::uint32_t s = 0; s < topology.switches(); ++s) {
      const Node& node = topology.node(topology.switch_at(s));
      ++tiers[node.tier];
      if (node.tier == 1) groups.insert(node.group);
    }
    CHECK(groups.size() == machine.groups);
    CHECK(tiers[1] == machine.leaves);
    CHECK(tiers[2] == machine.spines);
    CHECK(tiers[3] == machine.cores);
    const auto to_hosts = std::count_if(
        topology.edges().begin(), topology.edges().end(),
        [&](const Edge& edge) { return is_host(topology, edge.from) || is_host(topology, edge.to); });
    CHECK(static_cast<std::uint32_t>(to_hosts) == machine.nics);
    CHECK(topology.notes().size() == 1);
  }
  tested.insert("fugaku");  // in fugaku_test.cc
  for (const Family& family : machine_families()) CHECK(tested.contains(family.info.name));
}

TEST_CASE("machines: hosts have Slurm's names, in its order") {
  for (const Machine& machine : kMachines) {
    INFO(machine.name);
    const Topology topology = make(machine.name);
    const std::vector<std::string> names = expand_hostlist(machine.names, 100000);
    REQUIRE(names.size() == topology.hosts());
    std::size_t wrong = 0;
    for (std::uint32_t h = 0; h < topology.hosts(); ++h)
      wrong += topology.node(topology.host(h)).name != names[h];
    CHECK(wrong == 0);
    CHECK(by_name(topology).size() == topology.nodes());
  }
}

TEST_CASE("machines: no switch has more ports than those it is built of") {
  for (const Machine& machine : kMachines) {
    INFO(machine.name);
    const Topology topology = make(machine.name);
    double most = 0;
    for (std::uint32_t s = 0; s < topology.switches(); ++s) {
      double ports = 0;  // two slower links may share one
      for (const std::uint32_t c : topology.out_channels(topology.switch_at(s))) {
        ports += static_cast<double>(topology.channels()[c].rate.bps()) / (machine.port_gbps * 1e9);
      }
      most = std::max(most, ports);
    }
    CHECK(most <= machine.ports);
    CHECK(most >= 0.6 * machine.ports);
  }
}

TEST_CASE("machines: dragonflies have the same number of links between every two groups") {
  for (const auto& [name, links] : std::map<std::string, std::uint32_t>{{"leonardo", 18},
                                                                        {"lumi_c", 20},
                                                                        {"lumi_g", 12},
                                                                        {"alps", 12},
                                                                        {"frontier", 4},
                                                                        {"jupiter", 16}}) {
    INFO(name);
    const Topology topology = make(name);
    CHECK(topology.linked_groups());
    const auto between = links_between_groups(topology);
    const std::uint32_t groups = topology.node(topology.host(topology.hosts() - 1)).group + 1;
    CHECK(between.size() == groups * (groups - 1) / 2);
    CHECK(
        std::all_of(between.begin(), between.end(), [&](const auto& pair) { return pair.second == links; }));
  }
  CHECK(links_between_groups(make("frontier:groups=3,links_per_pair=7")).at({0, 2}) == 7);
}

TEST_CASE(
    "machines: a part of a dragonfly tells what is left of a group's links to others, by counting them") {
  const auto told = [](const char* name) {
    const Topology topology = make(name);
    std::map<std::uint32_t, std::uint32_t> leaving;
    for (const auto& [pair, links] : links_between_groups(topology)) {
      leaving[pair.first] += links;
      leaving[pair.second] += links;
    }
    return std::pair(leaving[0], topology.assumptions());
  };
  for (const auto& [name, part, all, groups] :
       {std::tuple("leonardo", "leonardo:groups=4", "22", "4"),
        std::tuple("leonardo_dcgp", "leonardo_dcgp:groups=2", "3", "2"),
        std::tuple("lumi_g", "lumi_g:groups=3", "24", "3"),
        std::tuple("jupiter", "jupiter:groups=1", "25", "1"),
        std::tuple("frontier", "frontier:groups=73", "74", "73")}) {
    INFO(part);
    const auto whole = told(name), some = told(part);
    CHECK(whole.second.empty());
    REQUIRE(some.second.size() == 1);
    CHECK(some.second[0] == fmt::format("{} of {} groups: each has {} of {} links to other groups", groups,
                                        all, some.first, whole.first));
  }
  // Trees keep theirs: each spine has as many links up.
  CHECK(make("marenostrum5_acc:groups=2").assumptions().empty());
}

TEST_CASE("machines: Slingshot groups are complete, with 16 endpoints a switch or fewer") {
  for (const char* name : {"lumi_c", "lumi_g", "alps", "frontier"}) {
    INFO(name);
    const Topology topology = make(name);
    std::map<Vertex, std::uint32_t> endpoints, inside;
    for (const Edge& edge : topology.edges()) {
      if (is_host(topology, edge.from)) ++endpoints[edge.to];
      if (is_host(topology, edge.from) || topology.node(edge.from).group != topology.node(edge.to).group)
        continue;
      ++inside[edge.from];
      ++inside[edge.to];
    }
    const std::uint32_t switches = name == std::string("lumi_c") ? 16 : 32;
    for (const auto& [v, links] : inside) CHECK(links == switches - 1);
    for (const auto& [v, hosts] : endpoints) CHECK(hosts <= 16);
  }
  // Each GPU node is on two switches, by two NICs each.
  const Topology lumi = make("lumi_g:groups=2");
  for (std::uint32_t h = 0; h < lumi.hosts(); ++h) {
    std::map<Vertex, int> on;
    for (const std::uint32_t c : lumi.out_channels(lumi.host(h))) ++on[lumi.channels()[c].to];
    CHECK(on.size() == 2);
    CHECK(on.begin()->second == 2);
  }
}

TEST_CASE("machines: Frontier's links between groups carry the published 270 TB/s") {
  const Topology frontier = make("frontier");
  double bits = 0;
  for (const Edge& edge : frontier.edges()) {
    if (frontier.node(edge.from).group != frontier.node(edge.to).group)
      bits += static_cast<double>(edge.link.rate.bps());
  }
  CHECK(bits / 8e12 == Approx(270).margin(0.5));
}

TEST_CASE("machines: what goes up and down in trees, by the published oversubscription") {
  const Topology jupiter = make("jupiter"), acc = make("marenostrum5_acc"), gpp = make("marenostrum5_gpp");
  for (const Topology* topology : {&jupiter, &acc, &gpp}) {
    const Capacity leaves = capacity(*topology, 1);
    CHECK(leaves.up == leaves.down);
  }
  CHECK(capacity(acc, 2).down == 2 * capacity(acc, 2).up);
  // 2:3; the last island lacks a rack's links down.
  const Capacity spines = capacity(gpp, 2);
  CHECK(spines.down / spines.up == Approx(1.5 * 89 / 90));
  CHECK(make("leonardo").out_channels(make("leonardo").switch_at(0)).size() == 10 * 4 + 18);
}

TEST_CASE("machines: part of one") {
  CHECK(make("leonardo_booster:groups=2").hosts() == 360);
  CHECK(make("marenostrum5_acc:groups=1").hosts() == 160);
  CHECK(make("frontier:groups=74").hosts() == 9408);
  CHECK(make("lumi_g:groups=23").hosts() == 23 * 124);
  CHECK_THROWS_WITH(make("alps:groups=25"),
                    "alps: groups is '25', but it must be from 1 to 24; the nearest is 24");
  CHECK_THROWS_WITH(make("alps:groups=0"), Catch::Contains("from 1 to 24"));
  CHECK_THROWS_WITH(make("alps:links_per_pair=0"), Catch::Contains("from 1 to 1024"));
  CHECK_THROWS_WITH(make("alps:endpoints=10"), Catch::Contains("groups=N builds a part of it"));
  CHECK_THROWS_WITH(make("marenostrum5_acc:links_per_pair=2"), Catch::Contains("links_per_pair"));
}

TEST_CASE("machines: every host of recorded jobs stands where it was, on Leonardo by cell and leaf") {
  const std::filesystem::path jobs = oracle("supercomputers/allocations.csv");
  if (jobs.empty()) return;
  const Topology leonardo = make("leonardo");
  const auto node = by_name(leonardo);
  const std::vector<std::string> words = allocated(jobs, "leonardo");
  CHECK(words.size() > 900);
  for (const std::string& word : words) {
    INFO(word);
    const auto host = node.find(word.substr(0, word.find(':')));
    REQUIRE(host != node.end());
    const Node& leaf = leonardo.node(first_switch(leonardo, host->second));
    CHECK(leaf.name == "isw" + word.substr(word.find('/') + 1));
    CHECK(std::to_string(leaf.group + 1) ==
          word.substr(word.find('@') + 1, word.find('/') - word.find('@') - 1));
  }
  // The others' are told without switches.
  for (const auto& [machine, preset] :
       {std::pair("lumi", "lumi_g"), std::pair("mare_nostrum", "marenostrum5_acc")}) {
    const auto known = by_name(make(preset));
    const std::vector<std::string> hosts = allocated(jobs, machine);
    CHECK(hosts.size() >= 64);
    for (const std::string& word : hosts) CHECK(known.contains(word.substr(0, word.find(':'))));
  }
}

TEST_CASE("machines: all of Leonardo's nodes are on the leaves and in the cells that Slurm says") {
  const std::filesystem::path file = oracle("machines/leonardo_scontrol_topology.txt");
  if (file.empty()) return;
  const Topology told = make("slurm:file=" + file.string() + ",hosts=[lrdn[0001-4992]],top=mesh");
  const Topology leonardo = make("leonardo");
  REQUIRE(told.hosts() == leonardo.hosts());
  std::map<std::uint32_t, std::uint32_t> cell;  // of the preset, by Slurm's
  std::size_t wrong = 0;
  for (std::uint32_t h = 0; h < leonardo.hosts(); ++h) {
    const Node& here = leonardo.node(first_switch(leonardo, leonardo.host(h)));
    const Node& there = told.node(first_switch(told, told.host(h)));
    wrong += here.name != there.name;
    wrong += cell.emplace(there.group, here.group).first->second != here.group;
    wrong += leonardo.node(leonardo.host(h)).name != told.node(told.host(h)).name;
  }
  CHECK(wrong == 0);
  CHECK(cell.size() == 22);
}

}  // namespace weft::topologies

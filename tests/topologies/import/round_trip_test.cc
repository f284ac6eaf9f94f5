// What is exported comes back: every family, written and read again.
#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/isomorphism.hpp>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "sim/units/input_error.h"
#include "tests/topologies/import/files.h"
#include "topologies/cost/bill.h"
#include "topologies/cost/price_list.h"

namespace weft::topologies {
namespace {

// A small network of each family, and some with attributes of all kinds.
std::vector<std::string> networks() {
  std::vector<std::string> list = {
      "random_equivalent:of=[slim_fly:q=4],seed=3",
      "scale_up:of=[leaf_spine:leaves=2,spines=2,hosts_per_leaf=3],accelerators=4,switches=2",
      "scale_up:accelerators=8,switches=0",
      "scale_up:of=[single_switch:hosts=3],node=alps,relay=false",
      "torus:dims=2x3x2,hosts=2,link=25Gbps,host_link=100Gbps,latency=1234ps,switch_latency=77ns",
      "datacenters:of=[fat_tree:k=4;slim_fly:q=4;bcube:n=3,k=1],loss=0.001",
      "cascade:g=2",
      "tofu:x=2,y=2,z=1",
      "leaf_spine:leaves=3,spines=2,hosts_per_leaf=2,links_per_pair=3,link=1.5Tbps",
      "megafly:p=2",
      "hammingmesh:a=2,b=3,x=4,y=2",
      "scale_up:of=[dragonfly:p=1],node=dgx_h100",
  };
  for (const Family& family : families()) {
    if (family.size_for != nullptr) list.push_back(family.info.name + ":endpoints=40");
  }
  return list;
}

// With attributes that families rarely set.
Topology odd_network() {
  Topology topology("odd:a=<1>&\"2\"");
  Node node;
  node.tier = 3;
  node.plane = 7;
  node.site = 2;
  node.group = 4'000'000;
  node.rack = 12;
  node.switch_latency = Time::ps(1);
  node.name = "Zürich <\"1\"> & 'more'";
  const Vertex far = topology.add_node(node);
  const Vertex near = topology.add_host_router("server 1, left", 3, 1);
  const Vertex host = topology.add_host("host 0", 3);
  const Vertex other = topology.add_host("host 1", 4'000'000);
  topology.add_link(near, far,
                    {.rate = Bandwidth::bps(123'456'789),
                     .latency = Time::ps(987'654'321'012),
                     .cable = CableKind::kLongHaul,
                     .length_m = 0.1F,
                     .loss = 1e-7});
  topology.add_link(far, near, {.rate = Bandwidth::gbps(800), .latency = {}, .cable = CableKind::kBackplane});
  topology.add_link(host, near,
                    {.rate = Bandwidth::gbps(100'000), .latency = {}, .cable = CableKind::kCopper});
  topology.add_link(
      far, other,
      {.rate = Bandwidth::gbps(1), .latency = Time::ns(3), .cable = CableKind::kOptical, .loss = 0.75});
  topology.finish();
  return topology;
}

// `turned`: from the other end, as an edge list has the second of two cables that were added in both orders.
void check_same_links(const Topology& read, const Topology& written, std::size_t turned = SIZE_MAX) {
  REQUIRE(read.channels().size() == written.channels().size());
  for (std::size_t c = 0; c < read.channels().size(); ++c) {
    const Channel& here = read.channels()[c];
    const Channel& there = written.channels()[c / 2 == turned ? c ^ 1 : c];
    for (const auto& [a, b] : {std::pair(here.from, there.from), std::pair(here.to, there.to)}) {
      REQUIRE(read.node(a).kind == written.node(b).kind);
      REQUIRE(read.node(a).index == written.node(b).index);
    }
    REQUIRE(here.rate == there.rate);
    REQUIRE(here.latency == there.latency);
    REQUIRE(here.loss == there.loss);
  }
}

// What routing and placement know beside nodes and links.
void check_same_shape(const Topology& read, const Topology& written) {
  REQUIRE(read.linked_groups() == written.linked_groups());
  REQUIRE(read.grid() == written.grid());
  const BoardGrid &here = read.boards(), &there = written.boards();
  REQUIRE(std::tuple(here.x, here.y, here.a, here.b) == std::tuple(there.x, there.y, there.a, there.b));
  REQUIRE(read.has_domains() == written.has_domains());
  REQUIRE(read.in_parts() == written.in_parts());
}

void check_same(const Topology& read, const Topology& written) {
  check_same_shape(read, written);
  REQUIRE(read.nodes() == written.nodes());
  for (Vertex v = 0; v < read.nodes(); ++v) {
    const Node &here = read.node(v), &there = written.node(v);
    INFO(there.name);
    REQUIRE(here.kind == there.kind);
    REQUIRE(here.name == there.name);
    REQUIRE(here.index == there.index);
    REQUIRE(here.tier == there.tier);
    REQUIRE(here.plane == there.plane);
    REQUIRE(here.site == there.site);
    REQUIRE(here.group == there.group);
    REQUIRE(here.rack == there.rack);
    REQUIRE(here.in_host == there.in_host);
    REQUIRE(here.domain == there.domain);
    REQUIRE(here.relays == there.relays);
    REQUIRE(here.switch_latency == there.switch_latency);
  }
  check_same_links(read, written);
  for (std::size_t e = 0; e < read.edges().size(); ++e) {
    REQUIRE(read.edges()[e].link.cable == written.edges()[e].link.cable);
    REQUIRE(read.edges()[e].link.length_m == written.edges()[e].link.length_m);
  }
}

// What names don't change: the cables between tiers, with how many each pair has, and the graph of pairs.
using Pairs = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS>;
using Cable = std::tuple<int, int, std::size_t, std::int64_t, std::int64_t>;

std::pair<Pairs, std::vector<Cable>> without_names(const Topology& topology) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<const Channel*>> between;
  for (std::size_t c = 0; c < topology.channels().size(); c += 2) {
    const Channel& channel = topology.channels()[c];
    between[std::minmax(channel.from, channel.to)].push_back(&channel);
  }
  Pairs pairs(topology.nodes());
  std::vector<Cable> cables;
  for (const auto& [ends, channels] : between) {
    boost::add_edge(ends.first, ends.second, pairs);
    const auto [low, high] =
        std::minmax({int{topology.node(ends.first).tier}, int{topology.node(ends.second).tier}});
    cables.emplace_back(low, high, channels.size(), channels[0]->rate.bps(), channels[0]->latency.ps());
  }
  std::sort(cables.begin(), cables.end());
  return {pairs, cables};
}

}  // namespace

TEST_CASE("round trip: GraphML brings back every attribute of every family") {
  std::vector<Topology> all;
  for (const std::string& name : networks()) all.push_back(make(name));
  all.push_back(odd_network());
  for (const Topology& written : all) {
    INFO(written.name());
    check_same(read_text("all.graphml", text_of(written, "graphml")), written);
  }
}

TEST_CASE("round trip: what other formats can't hold of a network is told") {
  const auto lost = [](const std::string& network, const char* format) {
    return lost_facts(make(network), find_format(format));
  };
  for (const char* format : {"graphml", "json", "dot"}) CHECK(lost("dragonfly:p=1", format) == "");
  for (const char* format : {"edges", "topo"}) {
    CHECK_THAT(lost("dragonfly:p=1", format), Catch::Contains("its groups are linked"));
    CHECK_THAT(lost("torus:dims=4x3", format), Catch::Contains("a grid of 4x3"));
    CHECK_THAT(lost("hammingmesh:a=2,b=3,x=4,y=2", format), Catch::Contains("4 by 2 boards of 2 by 3"));
    CHECK_THAT(lost("scale_up:accelerators=8", format), Catch::Contains("inside of one machine"));
    CHECK(lost("single_switch:hosts=4", format) == "");
    CHECK_THAT(lost("multi_plane:k=4,planes=2", format), Catch::Contains("which planes its nodes are in"));
  }
  CHECK_THAT(text_of(make("torus:dims=4x3"), "json"), Catch::Contains("\"grid\": [4, 3]"));
  CHECK_THAT(text_of(make("dragonfly:p=1"), "json"), Catch::Contains("\"linked_groups\": true"));
  CHECK_THAT(text_of(make("hammingmesh:a=2,b=3,x=4,y=2"), "json"),
             Catch::Contains("\"boards\": {\"x\": 4, \"y\": 2, \"a\": 2, \"b\": 3}"));
}

TEST_CASE("round trip: planes and latencies of switches that get lost are told") {
  for (const std::string& name : networks()) {
    for (const std::string& network : {name, name + ",switch_latency=300ns"}) {
      for (const char* format : {"edges", "topo"}) {
        INFO(network << " " << format);
        std::string text;
        try {
          text = text_of(make(network), format);
        } catch (const InputError&) {
          continue;  // one that the format can't hold, or without switches
        }
        const Topology written = make(network);
        const Topology read = read_text(std::string("all.") + format, text);
        const auto planes = [](const Topology& topology) {
          std::set<std::uint32_t> all;
          for (Vertex v = 0; v < topology.nodes(); ++v) all.insert(topology.node(v).plane);
          return all.size();
        };
        const auto latency = [](const Topology& topology) {
          Time sum;
          for (Vertex v = 0; v < topology.nodes(); ++v) sum += topology.node(v).switch_latency;
          return sum;
        };
        const std::string lost = lost_facts(written, find_format(format));
        CHECK((planes(written) != planes(read)) == (lost.find("which planes") != lost.npos));
        CHECK((latency(written) != latency(read)) == (lost.find("how long its switches take") != lost.npos));
      }
    }
  }
}

TEST_CASE("round trip: racks, groups and cables that a price is reckoned from are told where they get lost") {
  const PriceList prices = find_price_list("modern");
  for (const std::string& name : networks()) {
    const Topology written = make(name);
    for (const char* format : {"edges", "topo"}) {
      INFO(name << " " << format);
      double before = 0, after = 0;
      try {
        const Topology read = read_text(std::string("all.") + format, text_of(written, format));
        before = bill(written, prices).price;
        after = bill(read, prices).price;
      } catch (const InputError&) {
        continue;  // a network that the format or the list of prices can't hold
      }
      const bool told = lost_facts(written, find_format(format)).find("cost otherwise") != std::string::npos;
      if (before != after) CHECK(told);
    }
  }
  const auto lost = [](const std::string& network) {
    return lost_facts(make(network), find_format("edges"));
  };
  CHECK_THAT(lost("slim_fly:q=5"), Catch::Contains("which racks its nodes stand in"));
  CHECK_THAT(lost("hammingmesh:a=2,b=2,x=2,y=2"), Catch::Contains("cables"));
  CHECK_THAT(lost("fat_tree:k=8"), Catch::Contains("which groups its nodes are in"));
  CHECK(lost_facts(make("fat_tree:k=8"), find_format("topo")) == "");
}

TEST_CASE("a graph's grid and boards have to be those of its nodes") {
  const auto with = [](const std::string& network, const std::string& from, const std::string& to) {
    std::string text = text_of(make(network), "graphml");
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    return read_text("shape.graphml", text);
  };
  const std::string torus = "torus:dims=4x3", mesh = "hammingmesh:a=2,b=3,x=4,y=2";
  CHECK_THROWS_WITH(with(torus, ">4x3<", ">4x4<"), Catch::Contains("for 16 switches, but there are 12"));
  CHECK_THROWS_WITH(with(torus, ">4x3<", ">4 by 3<"), Catch::Contains("grid of the graph: '4 by 3'"));
  CHECK_THROWS_WITH(with(torus, ">4x3<", "><"), Catch::Contains("grid of the graph: ''"));
  CHECK_THROWS_WITH(with(torus, ">4x3<", ">4x0<"), Catch::Contains("sizes like 4x4x2"));
  CHECK_THROWS_WITH(with(torus, ">4x3<", ">4294967296x4294967296<"), Catch::Contains("sizes like 4x4x2"));
  CHECK_THROWS_WITH(with(mesh, ">4x2x2x3<", ">4x2x2x2<"), Catch::Contains("for 32 hosts, but there are 48"));
  CHECK_THROWS_WITH(with(mesh, ">4x2x2x3<", ">4x2x6<"), Catch::Contains("four sizes"));
  CHECK_THROWS_WITH(with("dragonfly:p=1", "\"linked_groups\">1<", "\"linked_groups\">maybe<"),
                    Catch::Contains("linked_groups of the graph: 'maybe'"));
  CHECK_THROWS_WITH(with(torus, "<data key=\"grid\">", "<data key=\"grid\">4x3</data><data key=\"grid\">"),
                    Catch::Contains("given twice"));
}

TEST_CASE("round trip: edge lists bring back numbers, links, and which routers are inside hosts") {
  std::vector<Topology> all;
  for (const std::string& name : networks()) all.push_back(make(name));
  all.push_back(odd_network());
  std::size_t inside = 0;
  for (const Topology& written : all) {
    INFO(written.name());
    const Topology read = read_text("all.edges", text_of(written, "edges"));
    REQUIRE(read.hosts() == written.hosts());
    REQUIRE(read.switches() == written.switches());
    for (std::uint32_t s = 0; s < read.switches(); ++s) {
      REQUIRE(read.node(read.switch_at(s)).in_host == written.node(written.switch_at(s)).in_host);
      inside += written.node(written.switch_at(s)).in_host ? 1 : 0;
    }
    check_same_links(read, written, &written == &all.back() ? 1 : SIZE_MAX);
  }
  CHECK(inside > 100);
}

TEST_CASE("round trip: the tiers of folded Clos networks follow from their links") {
  for (const char* name : {"fat_tree:k=4", "leaf_spine:leaves=3,spines=2,hosts_per_leaf=2",
                           "k_ary_n_tree:k=2,n=4", "multi_plane:k=4,planes=2", "torus:dims=3x3"}) {
    INFO(name);
    const Topology written = make(name), read = read_text("tiers.edges", text_of(written, "edges"));
    for (std::uint32_t s = 0; s < read.switches(); ++s) {
      CHECK(read.node(read.switch_at(s)).tier == written.node(written.switch_at(s)).tier);
    }
  }
}

TEST_CASE("round trip: htsim's files bring back the same graph, where they can hold it") {
  std::vector<std::string> all = networks();
  for (const char* more :
       {"fat_tree:k=4,oversubscription=3,link=100Gbps,host_link=50Gbps,switch_latency=300ns",
        "xgft:m=3x2x4,w=1x2x2", "leaf_spine:leaves=6,spines=3,hosts_per_leaf=9,links_per_pair=3",
        "xgft:m=2x3x2,w=1x3x1"}) {
    all.emplace_back(more);
  }
  std::set<std::string> held;
  for (const std::string& name : all) {
    INFO(name);
    const Topology written = make(name);
    std::string text;
    try {
      text = text_of(written, "topo");
    } catch (const InputError&) {
      continue;
    }
    held.insert(name.substr(0, name.find(':')));
    const Topology read = read_text("all.topo", text);
    REQUIRE(read.hosts() == written.hosts());
    REQUIRE(read.nodes() == written.nodes());
    const auto [here, cables] = without_names(read);
    const auto [there, cables_there] = without_names(written);
    CHECK(cables == cables_there);
    CHECK(boost::isomorphism(here, there));
  }
  for (const char* family : {"fat_tree", "fat_tree2", "leaf_spine", "xgft", "k_ary_n_tree"}) {
    INFO(family);
    CHECK(held.contains(family));
  }
}

TEST_CASE("hosts that are put on a file's switches are not called like one of its nodes") {
  const Topology network =
      read_text("taken.graphml",
                "<graphml><key id=\"k\" for=\"node\" attr.name=\"name\"/><key id=\"l\" for=\"node\" "
                "attr.name=\"kind\"/>"
                "<graph edgedefault=\"undirected\"><node id=\"a\"><data key=\"k\">host 1</data>"
                "<data key=\"l\">switch</data></node><node id=\"b\"><data key=\"l\">switch</data></node>"
                "<node id=\"c\"><data key=\"l\">switch</data></node><edge source=\"a\" target=\"b\"/>"
                "<edge source=\"b\" target=\"c\"/><edge source=\"c\" target=\"a\"/></graph></graphml>",
                ",hosts=2");
  REQUIRE(network.hosts() == 6);
  // All after its own name, which is that of the file.
  const auto nodes_of = [](const std::string& text) { return text.substr(text.find("<node")); };
  const std::string text = text_of(network, "graphml");
  const Topology again = read_text("again.graphml", text);
  CHECK(again.hosts() == 6);
  CHECK(nodes_of(text_of(again, "graphml")) == nodes_of(text));
}

}  // namespace weft::topologies

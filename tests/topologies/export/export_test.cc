#include <boost/graph/graphml.hpp>
#include <boost/graph/graphviz.hpp>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/units/input_error.h"
#include "topologies/export/formats.h"
#include "topologies/families.h"

namespace weft::topologies {
namespace {

Topology make(const std::string& short_form) { return build(parse_module_choice(short_form)); }

std::string text_of(const Topology& topology, const std::string& format) {
  std::string text;
  TextSink sink([&](std::string_view piece) { text += piece; });
  find_format(format).write(topology, sink);
  return text;
}

// What Boost's readers get of a file, all attributes as they stand there.
struct ReadNode {
  std::string id, kind, name, rack;
  int tier = -1, plane = -1;
  long group = -1, switch_latency = -1;
  bool in_host = false;
};
struct ReadLink {
  long rate = 0, latency = -1;
  std::string cable;
  double length = -1;
};
using ReadGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS, ReadNode, ReadLink>;

const char* const kNetworks[] = {"fat_tree:k=4", "slim_fly:q=5", "hammingmesh:a=2,b=2,x=3,y=2",
                                 "dragonfly:p=2", "torus:dims=2x3x4,link=25Gbps,host_link=100Gbps"};

}  // namespace

TEST_CASE("export: GraphML holds every node and link with all attributes") {
  for (const char* name : kNetworks) {
    const Topology topology = make(name);
    INFO(name);
    std::istringstream text(text_of(topology, "graphml"));
    ReadGraph read;
    boost::dynamic_properties properties(boost::ignore_other_properties);
    properties.property("kind", get(&ReadNode::kind, read));
    properties.property("name", get(&ReadNode::name, read));
    properties.property("tier", get(&ReadNode::tier, read));
    properties.property("plane", get(&ReadNode::plane, read));
    properties.property("group", get(&ReadNode::group, read));
    properties.property("in_host", get(&ReadNode::in_host, read));
    properties.property("switch_latency", get(&ReadNode::switch_latency, read));
    properties.property("rate", get(&ReadLink::rate, read));
    properties.property("latency", get(&ReadLink::latency, read));
    properties.property("cable", get(&ReadLink::cable, read));
    properties.property("length", get(&ReadLink::length, read));
    boost::read_graphml(text, read, properties);

    REQUIRE(num_vertices(read) == topology.nodes());
    for (Vertex v = 0; v < topology.nodes(); ++v) {
      const Node& node = topology.node(v);
      const bool host = node.kind == NodeKind::kHost;
      CHECK(read[v].kind == (host ? "host" : "switch"));
      CHECK(read[v].name == node.name);
      CHECK(read[v].tier == node.tier);
      CHECK(read[v].plane == node.plane);
      CHECK(read[v].group == node.group);
      CHECK(read[v].in_host == node.in_host);
      CHECK(read[v].switch_latency == (host ? -1 : node.switch_latency.ps()));
      CHECK(out_degree(v, read) == topology.out_channels(v).size());
    }
    // Both keep the order in which links were added.
    REQUIRE(2 * num_edges(read) == topology.channels().size());
    std::size_t channel = 0;
    for (const auto& edge : boost::make_iterator_range(edges(read))) {
      const Channel& known = topology.channels()[channel];
      CHECK(source(edge, read) == known.from);
      CHECK(target(edge, read) == known.to);
      CHECK(read[edge].rate == known.rate.bps());
      CHECK(read[edge].latency == known.latency.ps());
      CHECK(read[edge].length == 0);
      channel += 2;
    }
  }
}

TEST_CASE("export: DOT is read back by Boost with the same degrees and rates") {
  for (const char* name : kNetworks) {
    const Topology topology = make(name);
    INFO(name);
    ReadGraph read;
    boost::dynamic_properties properties(boost::ignore_other_properties);
    properties.property("node_id", get(&ReadNode::id, read));
    properties.property("label", get(&ReadNode::name, read));
    properties.property("kind", get(&ReadNode::kind, read));
    properties.property("tier", get(&ReadNode::tier, read));
    properties.property("rate", get(&ReadLink::rate, read));
    REQUIRE(boost::read_graphviz(text_of(topology, "dot"), read, properties));
    REQUIRE(num_vertices(read) == topology.nodes());
    CHECK(2 * num_edges(read) == topology.channels().size());
    std::map<std::string, Vertex> by_name;
    for (Vertex v = 0; v < topology.nodes(); ++v) by_name[topology.node(v).name] = v;
    std::set<std::pair<Vertex, Vertex>> links;
    for (const Channel& channel : topology.channels()) links.emplace(channel.from, channel.to);
    for (const auto& edge : boost::make_iterator_range(edges(read))) {
      CHECK(links.contains(
          {by_name.at(read[source(edge, read)].name), by_name.at(read[target(edge, read)].name)}));
      CHECK(read[edge].rate > 0);
    }
    for (Vertex v = 0; v < num_vertices(read); ++v) {
      const Vertex known = by_name.at(read[v].name);
      CHECK(out_degree(v, read) == topology.out_channels(known).size());
      CHECK(read[v].tier == topology.node(known).tier);
    }
  }
}

TEST_CASE("export: JSON and edge lists hold every link") {
  const Topology topology = make("fat_tree:k=4,link=25Gbps,latency=1us");
  const nlohmann::json json = nlohmann::json::parse(text_of(topology, "json"));
  CHECK(json["hosts"] == 16);
  CHECK(json["switches"] == 20);
  CHECK(json["nodes"].size() == 36);
  REQUIRE(json["links"].size() == 48);
  for (std::size_t i = 0; i < 48; ++i) {
    const Channel& channel = topology.channels()[2 * i];
    CHECK(json["links"][i]["from"] == channel.from);
    CHECK(json["links"][i]["to"] == channel.to);
    CHECK(json["links"][i]["rate_bps"] == 25'000'000'000);
    CHECK(json["links"][i]["latency_ps"] == 1'000'000);
  }

  std::istringstream lines(text_of(topology, "edges"));
  std::size_t links = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) continue;
    const Channel& channel = topology.channels()[2 * links++];
    const auto name = [&](std::uint32_t v) {
      const Node& node = topology.node(v);
      return (node.kind == NodeKind::kHost ? "h" : "s") + std::to_string(node.index);
    };
    CHECK(line == name(channel.from) + " " + name(channel.to) + " 25Gbps 1us");
  }
  CHECK(links == 48);
}

TEST_CASE("export: htsim's file of a full fat tree") {
  // 4-port switches: 16 hosts, pods of 4 hosts, 2 links down and 2 up, cores with 4 links down.
  const std::string text =
      text_of(make("fat_tree:k=4,link=100Gbps,latency=500ns,switch_latency=300ns"), "topo");
  CHECK(text.substr(text.find('\n') + 1) ==
        "Nodes 16\nTiers 3\nPodsize 4\n"
        "\nTier 0\nDownlink_speed_Gbps 100\nRadix_Up 2\nRadix_Down 2\nDownlink_Latency_ns 500\n"
        "Switch_Latency_ns 300\n"
        "\nTier 1\nDownlink_speed_Gbps 100\nRadix_Up 2\nRadix_Down 2\nDownlink_Latency_ns 500\n"
        "Switch_Latency_ns 300\n"
        "\nTier 2\nDownlink_speed_Gbps 100\nRadix_Down 4\nDownlink_Latency_ns 500\nSwitch_Latency_ns 300\n");
  // Twice the hosts on each edge switch.
  CHECK(text_of(make("fat_tree:k=4,oversubscription=2"), "topo").find("\nRadix_Down 4\n") !=
        std::string::npos);
  CHECK(text_of(make("fat_tree:k=4,oversubscription=2"), "topo").find("\nOversubscribed 2\n") !=
        std::string::npos);
}

TEST_CASE("export: htsim's file of a two-level tree with bundles") {
  const std::string text =
      text_of(make("leaf_spine:leaves=4,spines=2,hosts_per_leaf=4,links_per_pair=2"), "topo");
  CHECK(text.find("Nodes 16\nTiers 2\nPodsize 16\n") != std::string::npos);
  CHECK(text.find("Radix_Up 4\nRadix_Down 4\n") != std::string::npos);
  CHECK(text.find("Radix_Down 8\n") != std::string::npos);
  CHECK(text.find("Bundle 2\n") != std::string::npos);
}

TEST_CASE("export: what htsim's files can't hold is refused with the reason") {
  const auto refuses = [](const char* name, const char* why) {
    INFO(name);
    std::string text;
    TextSink sink([&](std::string_view piece) { text += piece; });
    CHECK_THROWS_WITH(write_htsim_topo(make(name), sink), Catch::Matchers::Contains(why));
    CHECK(text.empty());
  };
  refuses("torus:dims=4x4", "it has one tier");
  refuses("megafly:p=3,g=1", "not one tier apart");
  refuses("single_switch:hosts=8", "it has one tier");
  refuses("fat_tree:k=4,latency=0ns", "without latency");
  refuses("fat_tree:k=4,latency=1500ps", "no whole number of ns");
  refuses("fat_tree:k=4,link=2500Mbps", "no whole number of Gb/s");
  refuses("leaf_spine:leaves=4,spines=3,hosts_per_leaf=4", "no whole number");
}

TEST_CASE("export: the name of a file tells its format") {
  const std::pair<const char*, const char*> known[] = {
      {"a.graphml", "graphml"}, {"x/y.z.xml", "graphml"}, {"a.gv", "dot"},
      {"a.dot", "dot"},         {"a.csv", "edges"},       {"a.edges", "edges"},
      {"a.txt", "edges"},       {"a.json", "json"},       {"a.topo", "topo"}};
  for (const auto& [file, format] : known) CHECK(format_of_file(file).name == format);
  CHECK_THROWS_WITH(format_of_file("x.json/net"),
                    Catch::Matchers::StartsWith("x.json/net: the name tells no format; "
                                                "it must end in one of .graphml, "));
  CHECK_THROWS_WITH(format_of_file("net.png"), Catch::Matchers::Contains("or --format must be given"));
}

TEST_CASE("export: loss, sites and routers inside hosts") {
  Topology topology("two");
  const Vertex a = topology.add_host_router("a");
  Node far;
  far.tier = 2;
  far.site = 1;
  far.name = "b";
  const Vertex b = topology.add_node(far);
  topology.add_link(topology.add_host("host 0"), a, {.rate = Bandwidth::gbps(1), .latency = {}});
  topology.add_link(
      a, b,
      {.rate = Bandwidth::gbps(2), .latency = Time::us(1), .cable = CableKind::kLongHaul, .loss = 1e-6});
  topology.finish();
  CHECK(text_of(topology, "edges").find("\nh0 hr0 1Gbps 0ps\nhr0 s1 2Gbps 1us 1e-06\n") != std::string::npos);
  CHECK(text_of(topology, "dot").find("hr0 -- s1 [rate=2000000000, latency=1000000, loss=1e-06];") !=
        std::string::npos);
  const std::string graphml = text_of(topology, "graphml");
  CHECK(graphml.find("<data key=\"cable\">long_haul</data><data key=\"length\">0</data><data "
                     "key=\"loss\">1e-06</data>") != std::string::npos);
  CHECK(graphml.find("<data key=\"site\">1</data>") != std::string::npos);
  const nlohmann::json json = nlohmann::json::parse(text_of(topology, "json"));
  CHECK(json["links"][1]["loss"] == 1e-6);
  CHECK(json["nodes"][1]["site"] == 1);
  for (const CableKind kind : {CableKind::kUnknown, CableKind::kBackplane, CableKind::kCopper,
                               CableKind::kOptical, CableKind::kLongHaul}) {
    CHECK(parse_cable(cable_name(kind)) == kind);
  }
}

TEST_CASE("export: unknown formats and odd names") {
  CHECK_THROWS_WITH(find_format("graphxml"), Catch::Matchers::Contains("did you mean 'graphml'"));

  // GraphML is read again by names, so none may change there.
  Topology topology("odd");
  const Vertex host = topology.add_host("gr\xFC");
  topology.add_link(host, topology.add_switch("\x01", 1), {.rate = Bandwidth::gbps(1)});
  topology.finish();
  CHECK_THROWS_WITH(text_of(topology, "graphml"),
                    "a node is called 'gr\xFC', which is no text in UTF-8 that XML can hold");
  CHECK(nlohmann::json::parse(text_of(topology, "json"))["nodes"].size() == 2);
}

TEST_CASE("export: long texts arrive whole, in pieces") {
  const Topology topology = make("torus:dims=16x16x8");
  std::size_t pieces = 0, bytes = 0;
  TextSink sink([&](std::string_view piece) {
    ++pieces;
    bytes += piece.size();
  });
  write_edges(topology, sink);
  CHECK(pieces > 1);
  CHECK(bytes == text_of(topology, "edges").size());
}

}  // namespace weft::topologies

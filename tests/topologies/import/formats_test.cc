// Files that others write, and what stands in where they say nothing.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/topologies/import/files.h"

namespace weft::topologies {
namespace {

std::size_t router_links(const Topology& topology) {
  return topology.channels().size() / 2 - topology.hosts();
}

std::map<int, int> switches_by_tier(const Topology& topology) {
  std::map<int, int> tiers;
  for (std::uint32_t s = 0; s < topology.switches(); ++s) ++tiers[topology.node(topology.switch_at(s)).tier];
  return tiers;
}

// As networkx.write_graphml(networkx.cycle_graph(4)) writes it.
constexpr const char* kCycle = R"(<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
 xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
  <graph edgedefault="undirected">
    <node id="0" />
    <node id="1" />
    <node id="2" />
    <node id="3" />
    <edge source="0" target="1" />
    <edge source="0" target="3" />
    <edge source="1" target="2" />
    <edge source="2" target="3" />
  </graph>
</graphml>
)";

}  // namespace

TEST_CASE("GraphML without attributes: switches with a host each, and the defaults of all networks") {
  const Topology cycle = read_text("cycle.graphml", kCycle);
  CHECK(cycle.switches() == 4);
  CHECK(cycle.hosts() == 4);
  CHECK(router_links(cycle) == 4);
  for (std::uint32_t h = 0; h < 4; ++h) {
    const Channel& up = cycle.channels()[cycle.out_channels(cycle.host(h))[0]];
    CHECK(up.to == cycle.switch_at(h));
    CHECK(cycle.node(cycle.host(h)).name == "host " + std::to_string(h));
    CHECK(cycle.node(cycle.host(h)).group == h);
    CHECK(cycle.node(cycle.switch_at(h)).name == std::to_string(h));
    CHECK(cycle.node(cycle.switch_at(h)).tier == 1);
    CHECK(cycle.node(cycle.switch_at(h)).group == h);
  }
  for (const Channel& channel : cycle.channels()) {
    CHECK(channel.rate == Bandwidth::gbps(400));
    CHECK(channel.latency == Time::ns(500));
    CHECK(channel.loss == 0);
  }
  const Topology set = read_text("cycle.graphml", kCycle,
                                 ",hosts=3,link=100Gbps,host_link=25Gbps,latency=2us,switch_latency=300ns");
  CHECK(set.hosts() == 12);
  CHECK(between(set, "0", "3").at(0).rate == Bandwidth::gbps(100));
  CHECK(between(set, "host 11", "3").at(0).rate == Bandwidth::gbps(25));
  CHECK(between(set, "host 11", "3").at(0).latency == Time::us(2));
  CHECK(set.node(set.switch_at(2)).switch_latency == Time::ns(300));
  CHECK(read_text("cycle.graphml", kCycle, ",link=100Gbps").channels()[0].rate == Bandwidth::gbps(100));
}

TEST_CASE(
    "GraphML: values with units, defaults of keys, edges before nodes, prefixes, other programs' data") {
  const Topology topology = read_text("units.xml", R"(<!-- from elsewhere -->
<g:graphml xmlns:g="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://www.yworks.com/xml/graphml">
  <g:key id="d0" for="node" attr.name="kind" attr.type="string"><g:default>switch</g:default></g:key>
  <g:key id="d1" for="edge" attr.name="rate"><g:default>100Gbps</g:default></g:key>
  <g:key id="d2" for="edge" attr.name="latency"/>
  <g:key id="d3" for="all" attr.name="colour"/>
  <g:key id="d4" for="node" yfiles.type="nodegraphics"/>
  <g:key id="d5" for="edge" attr.name="loss" attr.type="double"/>
  <g:key id="d6" for="edge" attr.name="kind"/>
  <g:graph edgedefault="undirected">
    <g:edge source="a" target="hub"><g:data key="d2"> 1.5us </g:data><g:data key="d6">fibre</g:data></g:edge>
    <g:edge source="b" target="hub" directed="false"><g:data key="d1">10 Gb/s</g:data><g:data key="d5">1e-3</g:data>
      <g:data key="d2">2500</g:data></g:edge>
    <g:node id="a"><g:data key="d0">host</g:data><g:data key="d3">red</g:data></g:node>
    <g:node id="hub"><g:data key="d4"><y:ShapeNode><y:NodeLabel>hub &amp; spoke</y:NodeLabel></y:ShapeNode></g:data></g:node>
    <g:node id="b"><g:data key="d0">
      host
    </g:data></g:node>
  </g:graph>
</g:graphml>)");
  CHECK(topology.hosts() == 2);
  CHECK(topology.node(topology.host(0)).name == "a");
  CHECK(topology.node(topology.host(1)).name == "b");
  CHECK(between(topology, "a", "hub").at(0).rate == Bandwidth::gbps(100));
  CHECK(between(topology, "a", "hub").at(0).latency == Time::ps(1'500'000));
  CHECK(between(topology, "b", "hub").at(0).rate == Bandwidth::gbps(10));
  CHECK(between(topology, "b", "hub").at(0).loss == 1e-3);
  CHECK(between(topology, "b", "hub").at(0).latency == Time::ps(2500));
}

TEST_CASE(
    "GraphML of the Internet Topology Zoo: labels as names, LinkSpeedRaw as rates, two cables in parallel") {
  const Topology topology = read_text("zoo.graphml", R"(<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key attr.name="label" attr.type="string" for="node" id="d32" />
  <key attr.name="Latitude" attr.type="double" for="node" id="d29" />
  <key attr.name="LinkSpeedRaw" attr.type="double" for="edge" id="d35" />
  <key attr.name="Network" attr.type="string" for="graph" id="d5" />
  <graph edgedefault="undirected">
    <data key="d5">Example</data>
    <node id="0"><data key="d29">52.3</data><data key="d32">Amsterdam</data></node>
    <node id="1"><data key="d32">Paris</data></node>
    <node id="2"><data key="d32">Paris</data></node>
    <node id="3" />
    <edge source="0" target="1"><data key="d35">10000000000.0</data></edge>
    <edge source="0" target="1"><data key="d35">155000000.0</data></edge>
    <edge source="1" target="2" />
    <edge source="2" target="3" />
  </graph>
</graphml>)");
  CHECK(topology.switches() == 4);
  REQUIRE(between(topology, "Amsterdam", "Paris (1)").size() == 2);
  CHECK(between(topology, "Amsterdam", "Paris (1)")[0].rate == Bandwidth::gbps(10));
  CHECK(between(topology, "Amsterdam", "Paris (1)")[1].rate == Bandwidth::bps(155'000'000));
  CHECK(between(topology, "Paris (2)", "3").at(0).rate == Bandwidth::gbps(400));
}

TEST_CASE("edge lists: any names, any separators, comments, attributes or none") {
  const Topology topology =
      read_text("plain.txt",
                "\xEF\xBB\xBF# a ring\nseattle denver\n\ndenver\tchicago 100Gbps # fast\r\n"
                "chicago, seattle, 40Gbps, 12ms, 1e-9\nseattle;denver {}\n");
  CHECK(topology.switches() == 3);
  CHECK(topology.hosts() == 3);
  CHECK(topology.node(topology.switch_at(0)).name == "seattle");
  CHECK(between(topology, "seattle", "denver").size() == 2);
  CHECK(between(topology, "denver", "chicago").at(0).rate == Bandwidth::gbps(100));
  CHECK(between(topology, "denver", "chicago").at(0).latency == Time::ns(500));
  CHECK(between(topology, "chicago", "seattle").at(0).latency == Time::us(12'000));
  CHECK(between(topology, "chicago", "seattle").at(0).loss == 1e-9);
  CHECK(read_text("table.csv", "source,target\n0,1\n1,2\n").switches() == 3);
}

TEST_CASE("values of links go by what their names mean, else by their units") {
  const auto with = [](const std::string& attributes, const std::string& data) {
    return read_text("other.graphml", "<graphml>" + attributes +
                                          "<graph edgedefault=\"undirected\"><node id=\"s0\"/><node "
                                          "id=\"s1\"/><edge source=\"s0\" target=\"s1\">" +
                                          data + "</edge></graph></graphml>");
  };
  const auto one = [&](const std::string& name, const std::string& value) {
    return between(with("<key id=\"x\" for=\"edge\" attr.name=\"" + name + "\"/>",
                        "<data key=\"x\">" + value + "</data>"),
                   "s0", "s1")
        .at(0);
  };
  for (const auto& [name, value] : std::multimap<std::string, std::string>{{"bandwidth", "10Gbps"},
                                                                           {"Capacity", "10 Gb/s"},
                                                                           {"BW", "10G"},
                                                                           {"link_speed_gbps", "10"},
                                                                           {"Speed (Gbit)", "10"},
                                                                           {"linkRateMbps", "10000"},
                                                                           {"bandwidth (GB/s)", "1.25"},
                                                                           {"bw_MBps", "1250"},
                                                                           {"Speed [Gbit/s]", "10"},
                                                                           {"Gbps", "10"},
                                                                           {"ifHighSpeed", "10000"},
                                                                           {"speed", "10GE"},
                                                                           {"speed", "1.25 GBps"},
                                                                           {"bandwidth", "10 gbps"},
                                                                           {"LinkSpeedRaw", "10000000000.0"},
                                                                           {"annotation", "10 Gbit/s"}}) {
    INFO(name);
    CHECK(one(name, value).rate == Bandwidth::gbps(10));
    CHECK(one(name, value).latency == Time::ns(500));
  }
  for (const auto& [name, value] : std::multimap<std::string, std::string>{{"Latency", "50us"},
                                                                           {"delay", "50 us"},
                                                                           {"link_delay_us", "50"},
                                                                           {"propDelay", "50us"},
                                                                           {"Latency (\xC2\xB5s)", "50"},
                                                                           {"Delay [\xCE\xBCs]", "50"},
                                                                           {"delay", "50 \xC2\xB5s"},
                                                                           {"one_way_delay_us", "50"},
                                                                           {"lat", "50usec"},
                                                                           {"remark", "50us"},
                                                                           {"length_km", "10"},
                                                                           {"distance", "10 km"}}) {
    INFO(name);
    CHECK(one(name, value).latency == Time::us(50));
    CHECK(one(name, value).rate == Bandwidth::gbps(400));
  }
  // Ours goes before others.
  const Topology both =
      with("<key id=\"x\" for=\"edge\" attr.name=\"speed\"/><key id=\"y\" for=\"edge\" attr.name=\"rate\"/>",
           "<data key=\"x\">1Gbps</data><data key=\"y\">2Gbps</data>");
  CHECK(between(both, "s0", "s1").at(0).rate == Bandwidth::gbps(2));
  const Topology zoo = with(
      "<key id=\"x\" for=\"edge\" attr.name=\"LinkSpeed\"/><key id=\"y\" for=\"edge\" "
      "attr.name=\"LinkSpeedUnits\"/><key id=\"z\" for=\"edge\" attr.name=\"colour\"/>",
      "<data key=\"x\">155</data><data key=\"y\">M</data><data key=\"z\">red</data>");
  CHECK(between(zoo, "s0", "s1").at(0).rate == Bandwidth::bps(155'000'000));
  REQUIRE(zoo.unread().size() == 1);
  CHECK(zoo.unread()[0].find("name: colour (1)") != std::string::npos);
  REQUIRE(zoo.assumptions().size() == 2);
  CHECK(zoo.assumptions()[0].find("one was put on each of 2 switches") != std::string::npos);
  CHECK(zoo.assumptions()[1].find("1 of 1 links have no latency, which is taken to be 500ns") !=
        std::string::npos);
}

TEST_CASE("rates that InfiniBand has names for") {
  // Four lanes of 25, 50, 100 and 200 Gb/s of data, unless the name says two or the list how many.
  for (const auto& [text, gbps] : std::map<std::string, int>{{"EDR", 100},
                                                             {"4X EDR", 100},
                                                             {"hdr", 200},
                                                             {"HDR100", 100},
                                                             {"2xHDR", 100},
                                                             {"NDR", 400},
                                                             {"NDR200", 200},
                                                             {"XDR", 800},
                                                             {"QDR", 32}}) {
    INFO(text);
    const Topology table = read_text("ib.csv", "from,to,speed\nh0,s0," + text + "\nh1,s0," + text + "\n");
    CHECK(between(table, "h0", "s0").at(0).rate == Bandwidth::gbps(gbps));
  }
  CHECK(between(read_text("ib.edges", "h0 s0 NDR 1us\nh1 s0 HDR 1us\n"), "h1", "s0").at(0).rate ==
        Bandwidth::gbps(200));
}

TEST_CASE("two values for one thing: the better known counts, the other is told") {
  const auto table = [](const std::string& columns, const std::string& values) {
    return read_text("two.csv", "from,to," + columns + "\nh0,s0," + values + "\nh1,s0," + values + "\n");
  };
  const auto told = [](const std::vector<std::string>& notes, const std::string& part) {
    return std::any_of(notes.begin(), notes.end(),
                       [&](const std::string& note) { return note.find(part) != std::string::npos; });
  };
  const Topology jitter = table("jitter,remark,latency,speed", "3us,2us,1us,100G");
  CHECK(between(jitter, "h0", "s0").at(0).latency == Time::us(1));
  CHECK(told(jitter.unread(), "jitter (2), remark (2)"));
  const Topology ends = table("speed A,speed B,latency", "100G,25G,1us");
  CHECK(between(ends, "h0", "s0").at(0).rate == Bandwidth::gbps(25));
  CHECK(told(ends.assumptions(), "values of 'speed A' are taken for rates of a link's ends"));
  CHECK(ends.unread().empty());
  const Topology twice = table("speed,bandwidth,latency", "100G,25G,1us");
  CHECK(told(twice.unread(), "bandwidth (2)"));
  const Topology same = table("speed,bandwidth,latency", "100G,100 Gb/s,1us");
  CHECK(same.unread().empty());
  // A rate of 25G beside 4 lanes may be that of one: told.
  const Topology lanes = table("speed,lanes,latency", "25G,4,1us");
  CHECK(between(lanes, "h0", "s0").at(0).rate == Bandwidth::gbps(25));
  CHECK(told(lanes.unread(), "lanes (2); rates are taken as those of all lanes of a cable"));
  CHECK_FALSE(told(jitter.unread(), "all lanes"));
  const Topology both = table("capacity_ab,capacity_ba,latency", "100G,25G,1us");
  CHECK(between(both, "h0", "s0").at(0).rate == Bandwidth::gbps(100));
  CHECK(between(both, "s0", "h0").at(0).rate == Bandwidth::gbps(25));
  CHECK(told(table("speed,length", "100G,10").assumptions(),
             "values of 'length' are taken for lengths in metres"));
}

TEST_CASE("GraphML of others: units of the graph, ids as names, edges both ways, nodes that say nothing") {
  const auto graph = [](const std::string& keys, const std::string& more, const std::string& data) {
    return read_text("others.graphml", "<graphml>" + keys + "<graph edgedefault=\"undirected\">" + more +
                                           "<node id=\"s0\"/><node id=\"s1\"/><edge source=\"s0\" "
                                           "target=\"s1\">" +
                                           data + "</edge></graph></graphml>");
  };
  // As fnss writes it.
  const Topology fnss = graph(
      "<key id=\"c\" for=\"edge\" attr.name=\"capacity\"/><key id=\"d\" for=\"edge\" attr.name=\"delay\"/>"
      "<key id=\"cu\" for=\"graph\" attr.name=\"capacity_unit\"/>"
      "<key id=\"du\" for=\"graph\" attr.name=\"delay_unit\"/>",
      "<data key=\"cu\">Mbps</data><data key=\"du\">ms</data>",
      "<data key=\"c\">100</data><data key=\"d\">2</data>");
  CHECK(between(fnss, "s0", "s1").at(0).rate == Bandwidth::bps(100'000'000));
  CHECK(between(fnss, "s0", "s1").at(0).latency == Time::us(2000));
  const Topology by_id =
      graph("<key id=\"bandwidth\" for=\"edge\"/>", "", "<data key=\"bandwidth\">10Gbps</data>");
  CHECK(between(by_id, "s0", "s1").at(0).rate == Bandwidth::gbps(10));
  const Topology drawn = graph("<key id=\"d1\" for=\"edge\" yfiles.type=\"edgegraphics\"/>", "",
                               "<data key=\"d1\"><y:Line xmlns:y=\"y\">100Gbps</y:Line></data>");
  REQUIRE(drawn.unread().size() == 1);
  CHECK(drawn.unread()[0].find("edgegraphics (1)") != std::string::npos);
  const Topology ways = graph("", "<edge source=\"s1\" target=\"s0\"/>", "");
  CHECK(between(ways, "s0", "s1").size() == 2);
  CHECK(ways.assumptions()[0].find("between 1 pairs of nodes, like 's0' and 's1'") != std::string::npos);
  const Topology partly =
      graph("<key id=\"t\" for=\"node\" attr.name=\"type\"/>",
            "<node id=\"a\"><data key=\"t\">server</data></node><edge source=\"a\" target=\"s0\"/>", "");
  CHECK(partly.hosts() == 1);
  CHECK(partly.assumptions()[0].find("2 of 3 nodes don't say what they are, like 's0'") != std::string::npos);
}

TEST_CASE("cables with another rate each way") {
  for (const char* text : {"h0 s0 10Gbps\nh1 s1 10Gbps\ns0 s1 100Gbps\ns1 s0 25Gbps\n",
                           "h0 s0 10Gbps\nh1 s1 10Gbps\ns0 s1 100Gbps/25Gbps\n",
                           "h0 s0 10Gb/s\nh1 s1 10Gb/s\ns1 s0 25Gb/s/100Gb/s\n",
                           "src,dst,rate,back_rate\nh0,s0,10Gbps,\nh1,s1,10G,\ns0,s1,100G,25G\n"}) {
    INFO(text);
    const Topology topology = read_text("two_rates.edges", text);
    CHECK(topology.edges().size() == 3);
    REQUIRE(between(topology, "s0", "s1").size() == 1);
    CHECK(between(topology, "s0", "s1")[0].rate == Bandwidth::gbps(100));
    CHECK(between(topology, "s1", "s0")[0].rate == Bandwidth::gbps(25));
    for (const char* format : {"graphml", "edges"}) {
      const Topology again = read_text(std::string("again.") + format, text_of(topology, format));
      CHECK(again.edges().size() == 3);
      CHECK(between(again, "s0", "s1").at(0).rate == Bandwidth::gbps(100));
      CHECK(between(again, "s1", "s0").at(0).rate == Bandwidth::gbps(25));
    }
  }
}

TEST_CASE("what is a host: by pattern, by names, by degree, and said") {
  const std::string links = "leaf0 spine0\nleaf1 spine0\nHOST10 leaf0\nHOST2 leaf0\nHOST7 leaf1\n";
  const auto of = [&](std::string name) {
    std::string text = links;
    for (std::size_t at = text.find("HOST"); at != text.npos; at = text.find("HOST"))
      text.replace(at, 4, name);
    return text;
  };
  for (const char* name : {"h", "host", "node000", "gpu", "server-", "compute-1-", "nid", "Node"}) {
    INFO(name);
    const Topology topology = read_text("names.edges", of(name));
    CHECK(topology.hosts() == 3);
    CHECK(topology.node(topology.host(0)).name == std::string(name) + "2");
    CHECK(topology.node(topology.host(2)).name == std::string(name) + "10");
    const bool own = std::string(name) == "h";
    // The rates and the latencies of the list are two further assumptions.
    CHECK(topology.assumptions().size() == (own ? 2 : 3));
  }
  // No word tells these; three of six nodes have one link, which is not most.
  CHECK(read_text("odd.edges", of("blue")).hosts() == 6);
  // Letters are names, not a heading.
  CHECK(read_text("letters.edges", "a b\nb c\n").switches() == 3);
  const Topology most = read_text("odd.edges", of("blue") + "blue8 leaf1\n");
  CHECK(most.hosts() == 4);
  CHECK(most.assumptions()[0].find("4 nodes with a single link, like 'blue10'") != std::string::npos);
  CHECK(read_text("odd.edges", of("blue"), ",hosts=blue*").hosts() == 3);
  CHECK(read_text("odd.edges", of("blue"), ",hosts=2").hosts() == 12);
  CHECK_THROWS_WITH(read_text("odd.edges", of("blue"), ",hosts=red*"),
                    Catch::Contains("'red*' matches no node"));
  // One that is called otherwise, and hangs where the others do.
  const Topology mixed = read_text("mixed.edges", "h1 leaf0\nh2 leaf0\nstorage leaf0\n");
  CHECK(mixed.hosts() == 3);
  CHECK(mixed.assumptions()[0].find("like 'storage'") != std::string::npos);
  // The last word that tells, also in Cray's names; a switch may have a name without a number.
  for (const char* names : {"pod1-server1 pod1-leaf1 pod1-server2", "c1-0c0s1n2 r1 c1-0c0s1n3",
                            "rack1-node2 rack1-sw1 rack1-node3", "leaf#1h0 leaf#1 leaf#1h1"}) {
    INFO(names);
    const std::string all = names;
    const std::size_t one = all.find(' '), two = all.rfind(' ');
    const std::string hub = all.substr(one + 1, two - one - 1);
    CHECK(read_text("last.edges", all.substr(0, one) + " " + hub + "\n" + all.substr(two + 1) + " " + hub +
                                      "\n" + hub + " spine\n")
              .hosts() == 2);
  }
  // Where everything is called node, names tell nothing.
  const Topology mesh = read_text("mesh.edges", "node0 node1\nnode1 node2\nnode2 node0\n");
  CHECK(mesh.switches() == 3);
  CHECK(mesh.hosts() == 3);
  const Topology typed =
      read_text("typed.graphml",
                "<graphml><key id=\"t\" for=\"node\" attr.name=\"type\"/><graph "
                "edgedefault=\"undirected\"><node id=\"a\"><data key=\"t\">server</data></node><node "
                "id=\"b\"><data key=\"t\">Switch</data></node><edge source=\"a\" target=\"b\"/>"
                "</graph></graphml>");
  CHECK(typed.hosts() == 1);
  CHECK(typed.switches() == 1);
}

TEST_CASE("what is a host: the words of a node's type or role") {
  const auto hosts = [](const std::string& role) {
    std::string nodes;
    for (const char* id : {"a", "b"}) {
      nodes += std::string("<node id=\"") + id + "\"><data key=\"r\">" + role + "</data></node>";
    }
    return read_text(
        "roles.graphml",
        "<graphml><key id=\"r\" for=\"node\" attr.name=\"role\"/><graph edgedefault=\"undirected\">" + nodes +
            "<node id=\"c\"><data key=\"r\">switch</data></node><edge source=\"a\" target=\"c\"/>"
            "<edge source=\"b\" target=\"c\"/></graph></graphml>");
  };
  for (const char* role : {"server", "compute node", "GPU server", "end-host", "Endhost", "HCA", "vm",
                           "terminal", "ComputeNode", "compute_node"}) {
    INFO(role);
    CHECK(hosts(role).hosts() == 2);
    CHECK(hosts(role).switches() == 1);
    CHECK(hosts(role).unread().empty());
  }
  for (const char* role : {"ToR switch", "Leaf", "core router", "NVSwitch"}) {
    INFO(role);
    CHECK(hosts(role).switches() == 3);
    CHECK(hosts(role).unread().empty());
  }
  // Words that tell both, or nothing, are not read, which is told.
  for (const char* role : {"core node", "patch panel"}) {
    INFO(role);
    CHECK(hosts(role).switches() == 3);
    CHECK(hosts(role).unread().size() == 1);
  }
}

TEST_CASE("edge lists: numbers in names are numbers of nodes") {
  const Topology plain = read_text("numbers", "10 2\n2 1\n1 10\n");
  CHECK(plain.node(plain.switch_at(0)).name == "1");
  CHECK(plain.node(plain.switch_at(1)).name == "2");
  CHECK(plain.node(plain.switch_at(2)).name == "10");
  const Topology hosts = read_text("hosts", "h10 s1\nh2 s1\ns0 s1\nhr5 s0\nh1 hr5\n");
  CHECK(hosts.hosts() == 3);
  CHECK(hosts.node(hosts.host(0)).name == "h1");
  CHECK(hosts.node(hosts.host(2)).name == "h10");
  CHECK(hosts.node(hosts.switch_at(2)).name == "hr5");
  CHECK(hosts.node(hosts.switch_at(2)).in_host);
  // s1 and hr5 have hosts; s0 is above them.
  CHECK(hosts.node(hosts.switch_at(0)).tier == 2);
  CHECK(hosts.node(hosts.switch_at(1)).tier == 1);
  const Topology mixed = read_text("mixed", "h10 leaf2\nh9 leaf1\nleaf2 spine\nleaf1 spine\n");
  CHECK(mixed.node(mixed.host(0)).name == "h9");
  CHECK(mixed.node(mixed.switch_at(0)).name == "leaf2");
  CHECK(mixed.node(mixed.switch_at(2)).tier == 2);
  // Names of towns are only names, and a host's group is its switch's.
  const Topology towns = read_text("towns", "houston s1\nhelsinki houston\n");
  CHECK(towns.switches() == 3);
  CHECK(hosts.node(hosts.host(0)).group == hosts.node(hosts.switch_at(2)).group);
}

TEST_CASE("adjacency lists: neighbours listed by both, or once") {
  for (const char* text : {"4 4\n1 3\n0 2\n1 3\n2 0\n", "4 4\n1 3\n2\n3\n\n"}) {
    const Topology cycle = read_text("cycle.adj", text);
    CHECK(cycle.switches() == 4);
    CHECK(router_links(cycle) == 4);
    CHECK(between(cycle, "router 3", "router 0").size() == 1);
    CHECK(between(cycle, "router 0", "router 2").empty());
  }
  CHECK(between(read_text("two.adj", "2 2\n1 1\n0 0\n"), "router 0", "router 1").size() == 2);
  CHECK(read_text("cycle.txt", "4 4\n1 3\n0 2\n1 3\n2 0\n", ",format=adjacency,hosts=2").hosts() == 8);
}

TEST_CASE("htsim's .topo: a leaf-spine network of 32 hosts, oversubscribed 2:1") {
  const Topology topology = read_text("leaf_spine.topo", R"(# two tiers
Nodes 32
Tiers 2
Podsize 32

Tier 0
Downlink_speed_Gbps 100
Radix_Down 8
Radix_Up 2
Downlink_Latency_ns 1000
Switch_Latency_ns 0
Oversubscribed 2

Tier 1
Downlink_speed_Gbps 200
radix_down 4
Downlink_Latency_ns 700
)",
                                      ",switch_latency=300ns");
  CHECK(topology.hosts() == 32);
  CHECK(switches_by_tier(topology) == std::map<int, int>{{1, 4}, {2, 2}});
  CHECK(router_links(topology) == 8);
  CHECK(between(topology, "host 8", "leaf 1").at(0).rate == Bandwidth::gbps(100));
  CHECK(between(topology, "host 8", "leaf 1").at(0).latency == Time::us(1));
  CHECK(between(topology, "leaf 3", "spine 1").at(0).rate == Bandwidth::gbps(200));
  CHECK(between(topology, "leaf 3", "spine 1").at(0).latency == Time::ns(700));
  CHECK(topology.node(vertex_called(topology, "leaf 0")).switch_latency == Time());
  CHECK(topology.node(vertex_called(topology, "spine 0")).switch_latency == Time::ns(300));
}

TEST_CASE("htsim's .topo: three tiers with bundles of three to the cores") {
  // 12 pods of 36 hosts: 6 + 6 switches a pod; 6 links up from each aggregation switch make 2 bundles, so
  // 6 · 2 cores with 12 · 3 links.
  const Topology topology = read_text("bundles", R"(Nodes 432
Tiers 3
Podsize 36
Tier 0
Downlink_speed_Gbps 100
Radix_Down 6
Radix_Up 6
Downlink_Latency_ns 1000
Tier 1
Downlink_speed_Gbps 100
Radix_Down 6
Radix_Up 6
Downlink_Latency_ns 1000
Tier 2
Downlink_speed_Gbps 100
Radix_Down 36
Downlink_Latency_ns 600000
Bundle 3
)");
  CHECK(topology.hosts() == 432);
  CHECK(switches_by_tier(topology) == std::map<int, int>{{1, 72}, {2, 72}, {3, 12}});
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    const Vertex v = topology.switch_at(s);
    const int tier = topology.node(v).tier;
    REQUIRE(topology.out_channels(v).size() == (tier == 3 ? 36 : 12));
    std::map<std::uint32_t, int> up;
    for (const std::uint32_t c : topology.out_channels(v)) {
      const Channel& channel = topology.channels()[c];
      if (topology.node(channel.to).tier == tier + 1) ++up[channel.to];
      if (tier == 3) CHECK(channel.latency == Time::us(600));
    }
    CHECK(up.size() == (tier == 1 ? 6 : tier == 2 ? 2 : 0));
    for (const auto& [core, links] : up) CHECK(links == (tier == 2 ? 3 : 1));
  }
}

TEST_CASE("graph_file: formats by content, by name, and by choice") {
  CHECK(read_text("no_extension", kCycle).switches() == 4);
  CHECK(read_text("odd.txt", std::string("\xEF\xBB\xBF\n  ") + (kCycle + 38)).switches() == 4);
  CHECK(read_text("list.dat", "0 1\n", ",format=edges").switches() == 2);
  CHECK_THROWS_WITH(
      read_text("cycle.graphml", kCycle, ",format=edge"),
      "graph_file: format is 'edge', but it must be one of: auto, graphml, edges, topo, adjacency");
}

TEST_CASE("graph_file: inside other families, and with a comma in its path") {
  const std::string path = write_file("cycle.graphml", kCycle);
  const Topology scaled =
      make("scale_up:of=[graph_file:file=" + path + ",hosts=2],accelerators=4,switches=1");
  CHECK(scaled.hosts() == 4 * 2 * 4);
  const Topology random = make("random_equivalent:of=[graph_file:file=" + path + "],link=200Gbps,seed=2");
  CHECK(router_links(random) == 4);
  CHECK(between(random, "host 0", "0").at(0).rate == Bandwidth::gbps(200));
  const std::string comma = write_file("a,b.graphml", kCycle);
  const Topology listed = make("graph_file:file=[" + comma + "]");
  CHECK(make(listed.name()).channels().size() == listed.channels().size());
  ModuleChoice choice{.name = "graph_file", .given = {{"file", comma}}};
  CHECK(make(build(choice).name()).hosts() == 4);
}

}  // namespace weft::topologies

// Files by hand have slips. Each ends in one message that says where, what was found, and what was expected.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "sim/units/input_error.h"
#include "tests/topologies/import/files.h"

namespace weft::topologies {
namespace {

using Catch::Contains;

struct Case {
  const char* name;
  std::string text;
  std::string message;  // behind the folder
  std::string more = "";
};

void check(const std::vector<Case>& cases) {
  for (const Case& bad : cases) {
    INFO(bad.name << '\n' << bad.text);
    std::string found;
    try {
      read_text(bad.name, bad.text, bad.more);
    } catch (const InputError& error) {
      found = error.what();
    }
    CHECK_THAT(found, Contains(bad.message));
    CHECK_THAT(found, Contains(bad.name) || Contains("graph_file: "));
    CHECK(found.find('\n') == std::string::npos);
  }
}

// Two switches and what else stands in the graph, from line 6 on.
std::string graphml(const std::string& more) {
  return R"(<graphml>
<key id="kind" for="node" attr.name="kind"/><key id="tier" for="node" attr.name="tier"/><key id="name" for="node" attr.name="name"/><key id="in_host" for="node" attr.name="in_host"/><key id="group" for="node" attr.name="group"/>
<key id="rate" for="edge" attr.name="rate"/><key id="latency" for="edge" attr.name="latency"/><key id="loss" for="edge" attr.name="loss"/><key id="cable" for="edge" attr.name="cable"/><key id="length" for="edge" attr.name="length"/>
<graph edgedefault="undirected">
<node id="a"/><node id="b"/>
)" + more +
         "\n</graph></graphml>\n";
}

std::string edge(const std::string& key, const std::string& value) {
  return graphml("<edge source=\"a\" target=\"b\"><data key=\"" + key + "\">" + value + "</data></edge>");
}

std::string node(const std::string& key, const std::string& value) {
  return graphml(
      "<edge source=\"a\" target=\"b\"/><edge source=\"a\" target=\"c\"/>\n<node id=\"c\"><data key=\"" +
      key + "\">" + value + "</data></node>");
}

std::string topo(const std::string& header, const std::string& tier0 = "Radix_Down 4\nRadix_Up 2",
                 const std::string& tier1 = "Radix_Down 2") {
  return header + "\nTier 0\n" + tier0 + "\nTier 1\n" + tier1 + "\n";
}

constexpr const char* kHeader = "Nodes 8\nTiers 2\nPodsize 8";

}  // namespace

TEST_CASE("bad files: missing, empty, a folder, nothing named, of another kind") {
  CHECK_THROWS_WITH(make("graph_file:file=/nowhere/net.graphml"),
                    "/nowhere/net.graphml: can't read the file: No such file or directory");
  CHECK_THROWS_WITH(make("graph_file"),
                    "graph_file: file is '', but it must be the path of a file, like network.graphml");
  const std::string folder = std::filesystem::path(write_file("x", "x")).parent_path().string();
  CHECK_THROWS_WITH(make("graph_file:file=" + folder), folder + ": can't read the file: it is a folder");
  CHECK_THROWS_WITH(make("graph_file:file=x,endpoints=64"),
                    "graph_file takes no endpoints: its size is that of its file");
  CHECK_THROWS_WITH(
      make("random_equivalent:of=[slim_fly:q=5],endpoints=64"),
      "random_equivalent takes no endpoints: its size is that of the network in `of`, so give them there, "
      "like random_equivalent:of=[slim_fly:endpoints=64]");
  CHECK_THROWS_WITH(make("scale_up:endpoints=64"), Contains("like scale_up:of=[slim_fly:endpoints=64]"));
  check({
      {"empty.graphml", "", "empty.graphml: the file is empty"},
      {"empty.edges", "", "empty.edges: the file is empty"},
      {"blank.edges", "\n  \n# nothing\n", "blank.edges: the file has no link"},
      {"picture.png", std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16),
       "picture.png: this is not a text file"},
      {"net.json", "{\"nodes\": []}", "not from JSON, DOT or GML"},
      {"net.dot", "graph \"x\" {\n h0 -- s0;\n}\n", "not from JSON, DOT or GML"},
      {"net.gml", "graph [\n node [\n", "not from JSON, DOT or GML"},
  });
}

TEST_CASE("bad GraphML: not XML, not GraphML, not one undirected graph") {
  check({
      {"a.graphml", "h0 s0\n", "a.graphml:1:1: this is not the XML of a GraphML file: "},
      {"b.graphml", "<graphml>\n<graph edgedefault=\"undirected\">\n<node id=\"1\">\n</graph>",
       "b.graphml:4:3: this is not the XML of a GraphML file: mismatched tag"},
      {"c.graphml", "<graphml>\n", "c.graphml:2:1: this is not the XML of a GraphML file: no element found"},
      {"d.graphml", "<svg/>", "d.graphml:1: found <svg>, but expected <graphml>"},
      {"e.graphml", "<graphml></graphml>", "e.graphml: the file has no <graph>"},
      {"f.graphml", "<graphml><graph edgedefault=\"undirected\"/></graphml>",
       "f.graphml: the graph has no node"},
      {"g.graphml", "<graphml><graph edgedefault=\"directed\"/></graphml>",
       "g.graphml:1: edgedefault is 'directed', but expected 'undirected'"},
      {"h.graphml", "<graphml><graph/></graphml>", "h.graphml:1: <graph> has no 'edgedefault'"},
      {"i.graphml", graphml("<edge source=\"a\" target=\"b\" directed=\"true\"/>"),
       "i.graphml:6: a directed edge"},
      {"j.graphml", graphml("<hyperedge/>"), "j.graphml:6: a hyperedge"},
      {"k.graphml", graphml("<node id=\"c\"><graph edgedefault=\"undirected\"/></node>"),
       "k.graphml:6: a graph inside a node or edge"},
      {"l.graphml", graphml("</graph><graph edgedefault=\"undirected\">"), "l.graphml:6: a second graph"},
      {"m.graphml", graphml("<node/>"), "m.graphml:6: <node> has no 'id'"},
      {"n.graphml", graphml("<edge source=\"a\"/>"), "n.graphml:6: <edge> has no 'target'"},
      {"o.graphml", graphml("\n<node id=\"a\"/>"), "o.graphml:7: a second node 'a'; the first is in line 5"},
      {"p.graphml", graphml("<edge source=\"a\" target=\"z\"/>"),
       "p.graphml:6: an edge to 'z', but the graph has no such node"},
      {"q.graphml", graphml("<node id=\"c\"><data key=\"colour\">1</data></node>"),
       "q.graphml:6: data with key 'colour', which no <key> declares"},
      {"r.graphml",
       graphml("<edge source=\"a\" target=\"b\"><data key=\"rate\">1Gbps</data><data "
               "key=\"rate\">2Gbps</data></edge>"),
       "r.graphml:6: 'rate' is given twice"},
      {"s.graphml", "<graphml><key id=\"a\" for=\"node\"/><key id=\"a\" for=\"edge\"/></graphml>",
       "s.graphml:1: a second key 'a'"},
  });
}

TEST_CASE("bad GraphML: values of attributes") {
  check({
      {"a.graphml", edge("rate", "-400Gbps"), "a.graphml:6: rate: '-400Gbps' is"},
      {"b.graphml", edge("rate", "nan"), "b.graphml:6: rate: 'nan' is"},
      {"c.graphml", edge("rate", "0"), "c.graphml:6: rate: '0' is less than 1Mbps"},
      {"d.graphml", edge("rate", "400"), "d.graphml:6: rate: '400' is less than 1Mbps"},
      {"e.graphml", edge("rate", ""), "e.graphml:6: rate: '' is"},
      {"f.graphml", edge("rate", "fast"), "f.graphml:6: rate: 'fast' is"},
      {"g.graphml", edge("rate", "1e40Gbps"), "g.graphml:6: rate: "},
      {"h.graphml", edge("latency", "-1"), "h.graphml:6: latency: '-1' is"},
      {"i.graphml", edge("latency", "inf"), "i.graphml:6: latency: 'inf' is"},
      {"j.graphml", edge("latency", "9223372036854775807"), "j.graphml:6: latency: '9223372036854775807' is"},
      {"j2.graphml", edge("latency", "5"), "j2.graphml:6: latency: '5' would be picoseconds"},
      {"j3.graphml", edge("latency", "500.5"), "j3.graphml:6: latency: '500.5' would be picoseconds"},
      {"k.graphml", edge("loss", "1"), "k.graphml:6: loss: '1' is not a probability from 0 to below 1"},
      {"l.graphml", edge("loss", "-0.1"), "l.graphml:6: loss: '-0.1' is not a probability"},
      {"m.graphml", edge("loss", "nan"), "m.graphml:6: loss: 'nan' is not a probability"},
      {"n.graphml", edge("cable", "string"),
       "n.graphml:6: cable: 'string' is not one of unknown, backplane, copper, optical, long_haul"},
      {"o.graphml", edge("length", "-3"), "o.graphml:6: length: '-3' is not a length"},
      {"p.graphml", node("kind", "flower"), "p.graphml:7: kind: 'flower' is not host or switch"},
      {"q.graphml", node("tier", "256"), "q.graphml:7: tier: '256' is not a whole number from 0 to 255"},
      {"r.graphml", node("tier", "-1"), "r.graphml:7: tier: '-1' is not a whole number"},
      {"s.graphml", node("tier", "0"), "s.graphml:7: the switch 'c' is of tier 0"},
      {"t.graphml", node("in_host", "maybe"), "t.graphml:7: in_host: 'maybe' is not true or false"},
      {"u.graphml", node("group", "4294967296"), "u.graphml:7: group: '4294967296' is not a whole number"},
      {"v.graphml", node("name", "a"), "v.graphml:7: a second node is called 'a'; the first is in line 5"},
      {"w.graphml", node("name", "two\nlines"),
       "w.graphml:7: a node is called 'two', but a name must be one line"},
      {"x.graphml",
       graphml("<node id=\"c\"><data key=\"kind\">host</data><data key=\"in_host\">1</data></node>"
               "<edge source=\"a\" target=\"b\"/><edge source=\"a\" target=\"c\"/>"),
       "x.graphml:6: 'c' is a host and in_host"},
      {"y.graphml",
       graphml("<node id=\"c\"><data key=\"kind\">host</data><data key=\"tier\">2</data></node>"
               "<edge source=\"a\" target=\"b\"/><edge source=\"a\" target=\"c\"/>"),
       "y.graphml:6: the host 'c' is of tier 2"},
  });
}

TEST_CASE("bad GraphML: other programs' attributes that may be rates or times") {
  const auto other = [](const std::string& name, const std::string& value) {
    return "<graphml><key id=\"x\" for=\"edge\" attr.name=\"" + name +
           "\"/><graph edgedefault=\"undirected\"><node id=\"a\"/><node id=\"b\"/>\n<edge source=\"a\" "
           "target=\"b\"><data key=\"x\">" +
           value + "</data></edge></graph></graphml>";
  };
  check({
      {"a.graphml", other("bandwidth", "10"),
       "a.graphml:2: bandwidth: '10' has no unit; write it like 400Gbps"},
      {"b.graphml", other("Delay", "3"), "b.graphml:2: Delay: '3' has no unit; write it like 5us"},
      {"c.graphml", other("weight", "3"), "c.graphml:2: weight: '3' may be a rate, a time or nothing"},
      {"d.graphml", other("LinkSpeed", "fast"), "d.graphml:2: LinkSpeed: 'fast' is"},
      {"e.graphml", other("capacity_gbps", "-3"), "e.graphml:2: capacity_gbps: '-3Gbps' is"},
  });
  const Topology unread = read_text("f.graphml", other("weight", "3"), ",ignore=weight");
  REQUIRE(unread.unread().size() == 1);
  CHECK_THAT(unread.unread()[0], Contains("weight (1)"));
}

TEST_CASE("bad networks: self loops, parts, hosts without links, hosts that would have to forward") {
  check({
      {"a.edges", "s0 s1\ns1 s1\n", "a.edges:2: a link joins 's1' to itself"},
      {"b.edges", "h0 s0\nh1 s0\nh2 s1\n",
       "b.edges:3: 'h2' is not connected with 'h0': the network is in parts"},
      {"c.edges", "h0 s0\ns1 s2\n", "c.edges:2: 's1' is not connected with 'h0': the network is in parts"},
      {"d.edges", "h0 h1\n",
       "d.edges:1: a link joins the hosts 'h0' and 'h1', but hosts are linked to switches"},
      {"e.edges", "h0 s0\nh1 s0\nh1 s1\nh2 s1\n",
       "e.edges:4: from 'h0' to 'h2' there is no way but through hosts, and hosts don't forward"},
      {"f.graphml",
       graphml("<edge source=\"a\" target=\"b\"/>\n<node id=\"c\"><data key=\"kind\">host</data></node>"),
       "f.graphml:7: the host 'c' has no link"},
      {"g.edges", "0 1\n1 0\n1 2\n2 1\n",
       "g.edges:2: both '0 1' and '1 0' are listed; a line is a cable for both directions"},
      {"h.graphml",
       "<graphml><key id=\"tier\" for=\"node\" attr.name=\"tier\"/><graph edgedefault=\"undirected\">"
       "<node id=\"a\"><data key=\"tier\">2</data></node></graph></graphml>",
       "h.graphml: the file has no host, and no switch of tier 1 to put hosts on"},
  });
  // Hosts with several links are fine while switches connect all of them.
  CHECK(read_text("fine.edges", "h0 s0\nh0 s1\nh1 s0\nh1 s1\n").hosts() == 2);
}

TEST_CASE("bad parameters: those that can't act are refused") {
  check({
      {"a.edges", "h0 s0\nh1 s0\n", "has 2 hosts of its own; leave it out", ",hosts=4"},
      {"b.edges", "0 1\n", "has no host of its own, so it must be from 1 to 2097152; the nearest is 1",
       ",hosts=0"},
      {"c.edges", "0 1\n", "the nearest is 2097152", ",hosts=5000000"},
      {"d.edges", "h0 s0 1Gbps\nh1 s0 1Gbps\n", "graph_file: link is '400Gbps', but ", ",link=400Gbps"},
      {"e.edges", "h0 s0 1Gbps\nh1 s0 1Gbps\n", "gives that of every host's link; leave it out",
       ",host_link=400Gbps"},
      {"f.edges", "h0 s0 1Gbps 1ns\nh1 s0 1Gbps 1ns\n", "graph_file: latency is '500ns', but ",
       ",latency=500ns"},
      {"g.edges", "0 1\n", "graph_file: link is '5', but it must be at least 1Mbps", ",link=5"},
  });
  const std::string exported = text_of(make("fat_tree:k=4"), "graphml");
  CHECK_THROWS_WITH(read_text("all.graphml", exported, ",switch_latency=1ns"),
                    Contains("gives that of every switch; leave it out"));
}

TEST_CASE("bad edge lists") {
  check({
      {"a.edges", "s0 s1\ns2\n", "a.edges:2: found 's2', but expected 'from to'"},
      {"b.edges", "s0 s1 1Gbps 1ns 0.1 x\n",
       "b.edges:1: found 's0 s1 1Gbps 1ns 0.1 x', but expected 'from to'"},
      {"c.edges", "0 1 1.0\n", "c.edges:1: found '1.0' where a rate like 400Gbps is expected; weights"},
      {"c.edges", "x y rate\n0 1 1Gbps\n",
       "c.edges:1: found 'rate' where a rate like 400Gbps is expected; the heading"},
      {"d.edges", "0 1 {'weight': 3}\n", "d.edges:1: found '{'weight':' where a rate"},
      {"e.edges", "0 1 -1Gbps\n", "e.edges:1: found '-1Gbps' where a rate"},
      {"f.edges", "0 1 nan\n", "f.edges:1: found 'nan' where a rate"},
      {"g.edges", "0 1 1kbps\n", "g.edges:1: rate: '1kbps' is"},
      {"h.edges", "0 1 1Gbps 500\n", "h.edges:1: found '500' where a latency like 500ns is expected"},
      {"i.edges", "0 1 1Gbps 5parsecs\n", "i.edges:1: latency: '5parsecs' has the unit 'parsecs'"},
      {"j.edges", "0 1 1Gbps 5ns 1.5\n", "j.edges:1: loss: '1.5' is not a probability"},
      {"k.edges", "a\x01 b\n", "k.edges:1: a node is called"},
      {"l.csv", "from,to,weight\n0,1,3\n", "l.csv:2: weight: '3' may be a rate, a time or nothing"},
      {"m.csv", "from,to,bandwidth\n0,1,100\n",
       "m.csv:2: bandwidth: '100' has no unit; write it like 400Gbps"},
      {"n.csv", "from,to,rate\n0,,1Gbps\n", "n.csv:2: 'to' is empty"},
      {"o.csv", "from,to,rate\n0,1,1Gbps,x\n", "o.csv:2: found '0,1,1Gbps,x', but expected as many fields"},
      {"p.csv", "from,to,length\n0,1,far\n", "p.csv:2: length: 'far' is not a length"},
      {"q.edges", "s0 s1 1Gbps\ns1 s0 1Gbps\ns1 s2\n", "q.edges:2: both 's0 s1' and 's1 s0' are listed"},
      {"r.edges", "s0 s1 1Gbps\ns1 s0 2Gbps\ns1 s0 1Gbps\n",
       "r.edges:2: both 's0 s1' and 's1 s0' are listed"},
      {"s.edges", "s0 s1 1Gbps 1us\ns1 s0 2Gbps 2us\n",
       "s.edges:2: the link between 's1' and 's0' has another latency"},
      {"t.edges", "s0 s1 1Gbps/\n", "t.edges:1: found '1Gbps/' where a rate"},
  });
}

TEST_CASE("bad tables of cables: one cable twice, another loss or kind in the other direction") {
  const std::string heading = "A device,A port,B device,B port,Speed,Media\n";
  check({
      {"a.csv", heading + "h0,e0,s0,1,100G,DAC\nh1,e0,s0,2,100G,DAC\nh0,e0,s0,1,100G,DAC\n",
       "a.csv:4: the same cable as in line 2, at the same ports"},
      {"b.csv", heading + "h0,e0,s0,1,100G,DAC\ns0,1,h0,e0,25G,AOC\n",
       "b.csv:3: the cable between 's0' 1 and 'h0' e0 has another rate here than in line 2, at its other "
       "end"},
      {"b2.csv", heading + "h0,e0,s0,1,100G,DAC\ns0,1,h0,e0,100G,AOC\n",
       "b2.csv:3: the cable between 's0' 1 and 'h0' e0 has another kind of cable here than in line 2"},
      {"b3.csv", heading + "h0,e0,s0,1,100G,DAC\ns0,1,h0,e0,100G,DAC\ns0,1,h0,e0,100G,DAC\n",
       "b3.csv:4: the same cable as in line 3, at the same ports"},
      {"b4.csv", heading + "h0,e0,s0,1,100G,DAC\ns0,2,h0,e1,25G,DAC\n",
       "b4.csv:3: both 'h0 s0' and 's0 h0' are listed"},
      {"b5.csv", heading + "h0,e0,s0,1,100G,DAC\nh0,e0,s0,1,25G,DAC\n",
       "b5.csv:3: the same cable as in line 2, at the same ports"},
      {"c.edges", "h0 s0 100Gbps 1us 0.1\ns0 h0 25Gbps 1us 0.2\n",
       "c.edges:2: the link between 's0' and 'h0' has another loss each way"},
      {"d.edges", "h0 s0 100Gbps 1us 100%\n", "d.edges:1: loss: '100%' is not a probability"},
      {"d2.csv", "from,to,loss_ms\nh0,s0,1\nh1,s0,1\n", "d2.csv:2: loss_ms: '1ms' is not a probability"},
      {"e0.csv", "Server,Slot,Leaf,Leaf Slot,Speed,Rack,Row\nh0,e0,s0,1,100G,1,1\n",
       "e0.csv:1: found 'Server,Slot,Leaf,Leaf Slot,Speed,Rack,Row', but expected 'from to', 'from to rate', "
       "'from "
       "to rate latency' or 'from to rate latency loss'; the heading of a table calls two columns from and "
       "to"},
  });
  // Two cables, as their ports are others.
  CHECK(read_text("e.csv", heading + "h0,e0,s0,1,100G,DAC\nh0,e1,s0,2,100G,DAC\n").edges().size() == 2);
}

TEST_CASE("bad adjacency lists") {
  check({
      {"a.adj", "four\n", "a.adj:1: found 'four', but expected the numbers of routers and of links"},
      {"b.adj", "0 0\n", "b.adj:1: found '0 0', but expected the numbers of routers, 1 to"},
      {"c.adj", "4294967296 1\n", "c.adj:1: found '4294967296 1', but expected"},
      {"d.adj", "2 1\n1\n", "d.adj:2: the file ends after the lines of 1 routers; line 1 promises 2"},
      {"e.adj", "2 1\n1\n0\n0\n", "e.adj:4: found '0', but expected the end"},
      {"f.adj", "2 1\n2\n0\n", "f.adj:2: found '2', but expected a router from 0 to 1"},
      {"g.adj", "3 2\n1\n0\n\n", "g.adj:4: 'router 2' is not connected"},
      {"h.adj", "3 2\n1 2\n0\n1\n", "h.adj:2: router 0 lists 2, but 2 does not list it as often"},
      {"i.adj", "3 4\n1 2\n0 2\n0\n",
       "i.adj:4: 5 neighbours are listed, but 4 links have 8 or, listed once, 4"},
      {"j.adj", "2 1\n1 1\n0\n", "j.adj:3: more neighbours than 1 links have"},
      {"k.adj", "2 2\n1\n1\n", "k.adj:3: a link joins 'router 1' to itself"},
      {"l.adj", "2 2\n-1\n0\n", "l.adj:2: found '-1', but expected a router"},
  });
}

TEST_CASE("bad .topo files") {
  check({
      {"a.topo", topo("Nodes 4294967296\nTiers 2\nPodsize 8"),
       "a.topo:1: found 'Nodes 4294967296', but expected a number from 1 to 4194304"},
      {"b.topo", topo("Nodes 8\nTiers 4\nPodsize 8"),
       "b.topo:2: found 'Tiers 4', but expected a number from 2 to 3"},
      {"c.topo", topo("Nodes 8\nTiers 2\nPodsize 4"),
       "c.topo:3: Podsize is 4, but with two tiers it must be Nodes, 8"},
      {"d.topo", topo("Nodes 8\nTiers 2\nPodsize 3"),
       "d.topo:1: Nodes with a Podsize of 3 is 8, but it must be a multiple of 3"},
      {"e.topo", topo("Nodes 8\nTiers 2"), "e.topo: 'Podsize' is missing"},
      {"f.topo", "Nodes 8\nTier 0\n", "f.topo:2: found 'Tier 0', but expected 'Tiers 2' or 'Tiers 3' before"},
      {"g.topo", "Nodes 8\nTiers 2\nPodsize 8\nTier 0\nRadix_Down 4\nRadix_Up 2\n",
       "g.topo: 'Tier 1' is missing"},
      {"h.topo", topo(kHeader, "Radix_Down 4"), "h.topo:4: tier 0 needs 'Radix_Up'"},
      {"i.topo", topo(kHeader, "Radix_Down 3\nRadix_Up 2"),
       "i.topo:3: Podsize with a Radix_Down of 3 at tier 0 is 8, but it must be a multiple of 3"},
      {"j.topo", topo(kHeader, "Radix_Down 4\nRadix_Up 2", "Radix_Down 4"),
       "j.topo:8: Radix_Down of tier 1 is 4, but it must be 2: a pod has 2 switches of tier 0, with 1 "
       "link(s)"},
      {"k.topo", topo(kHeader, "Radix_Down 4\nRadix_Up 2", "Radix_Down 2\nRadix_Up 2"),
       "k.topo:9: the switches of the top tier have no links up"},
      {"l.topo", topo(kHeader, "Radix_Down 4\nRadix_Up 2\nBundle 2"), "l.topo:7: Bundle of tier 0 must be 1"},
      {"m.topo", topo(kHeader, "Radix_Down 4\nRadix_Up 3", "Radix_Down 2\nBundle 2"),
       "m.topo:6: Radix_Up of tier 0 with a Bundle of 2 at tier 1 is 3, but it must be a multiple of 2"},
      {"n.topo",
       topo(kHeader, "Radix_Down 4\nRadix_Up 2\nDownlink_speed_Gbps 100\nOversubscribed 1",
            "Radix_Down 2\nDownlink_speed_Gbps 100"),
       "n.topo:8: Oversubscribed of tier 0 is 1, but 4 links of 100 Gb/s come in from below for 2 of 100 "
       "Gb/s up"},
      {"o.topo", topo(kHeader, "Radix_Down 4\nRadix_up 2\nRadix_Up 2"),
       "o.topo:7: 'Radix_Up' is given twice"},
      {"p.topo", topo(kHeader, "Radix_Dwn 4\nRadix_Up 2"),
       "p.topo:5: 'Radix_Dwn' is not a setting of a tier of a "
       ".topo file; did you mean 'Radix_Down'?"},
      {"q.topo", topo("Node 8\nTiers 2"),
       "q.topo:1: 'Node' is not a setting of a .topo file's header; did you mean"},
      {"r.topo", topo(kHeader, "Radix_Down 12.5\nRadix_Up 2"),
       "r.topo:5: found 'Radix_Down 12.5', but expected a name"},
      {"s.topo", topo(kHeader, "Radix_Down 0\nRadix_Up 2"),
       "s.topo:5: found 'Radix_Down 0', but expected a number from 1"},
      {"t.topo", topo(kHeader) + "Tier 2\nRadix_Down 1\n",
       "t.topo:9: found 'Tier 2', but expected a tier from 0 to 1"},
      {"u.topo", topo(kHeader) + "Tier 0\n", "u.topo:9: tier 0 is given twice"},
      {"v.topo", topo("Nodes -8\nTiers 2\nPodsize 8"),
       "v.topo:1: found 'Nodes -8', but expected a name and a whole"},
      {"w.topo", topo(kHeader), "w.topo has 8 hosts of its own; leave it out", ",hosts=1"},
      {"z.topo", topo(kHeader, "Radix_Down 4\nRadix_Up 2\nQueue_Down 100"),
       "z.topo:7: 'Queue_Down' sets queues, which are no part of the network here"},
      // 65,536 switches of tier 0 with 65,536 links up each.
      {"x.topo",
       topo("Nodes 4194304\nTiers 2\nPodsize 4194304", "Radix_Down 64\nRadix_Up 65536", "Radix_Down 65536"),
       "x.topo: 4299161600 links are more than 67108864"},
      {"y.topo", topo(kHeader, "Radix_Down 4\nRadix_Up 2", "Radix_Down 2\nOversubscribed 2"),
       "y.topo:9: the switches of the top tier have no links up"},
  });
}

}  // namespace weft::topologies

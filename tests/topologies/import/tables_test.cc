// Tables of cables, and values as other people name and write them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tests/topologies/import/files.h"

namespace weft::topologies {

TEST_CASE("tables of cables, as vendors write them") {
  const Topology topology =
      read_text("cables.csv",
                "A device,A port,B device,B port,Speed,Media,Length (m),SKU\n"
                "node1,eth0,leaf1,1/1,200G,DAC,2,\"MCP,1\"\nnode2,eth0,leaf1,1/2,200G,DAC,2,\n"
                "leaf1,1/32,spine1,7,400G,OM4 fibre,30,X\n");
  CHECK(topology.hosts() == 2);
  const Channel up = between(topology, "node2", "leaf1").at(0);
  CHECK(up.rate == Bandwidth::gbps(200));
  CHECK(up.latency == Time::ns(10));
  CHECK(topology.edges()[0].link.cable == CableKind::kCopper);
  CHECK(topology.edges()[2].link.cable == CableKind::kOptical);
  CHECK(topology.edges()[2].link.length_m == 30);
  REQUIRE(topology.unread().size() == 1);
  CHECK(topology.unread()[0].find("A port (3), B port (3), SKU (2)") != std::string::npos);
}

TEST_CASE("losses in percent, by the name or by the value") {
  for (const char* name : {"loss [%]", "Packet loss (%)", "loss_%", "loss (%)", "loss %", "% loss",
                           "loss_percent", "loss pct", "percent_loss", "Packet Loss Rate [%]"}) {
    INFO(name);
    const std::string rows = "h0,s0,0.5\nh1,s0,0.5\n";
    CHECK(read_text("l.csv", std::string("from,to,") + name + "\n" + rows).edges()[0].link.loss == 0.005);
    const Topology graph = read_text(
        "l.graphml", std::string("<graphml><key id=\"x\" for=\"edge\" attr.name=\"") + name +
                         "\"/><graph edgedefault=\"undirected\"><node id=\"s0\"/><node id=\"s1\"/><edge "
                         "source=\"s0\" target=\"s1\"><data key=\"x\">0.5</data></edge></graph></graphml>");
    CHECK(between(graph, "s0", "s1").at(0).loss == 0.005);
  }
  for (const char* text :
       {"from,to,loss\nh0,s0,0.5%\nh1,s0,0\n", "from,to,loss\nh0,s0,0.5 %\nh1,s0,0\n",
        "from,to,loss (ppm)\nh0,s0,5000\nh1,s0,0\n", "from,to,loss\nh0,s0,0.005\nh1,s0,0\n",
        "from,to,loss [%]\nh0,s0,0.005e2\nh1,s0,0\n", "from to loss %\nh0 s0 0.5\nh1 s0 0\n",
        "from to loss [%]\nh0 s0 0.5\nh1 s0 0\n", "from,to,loss,loss_unit\nh0,s0,0.5,%\nh1,s0,0,\n",
        "h0 s0 1Gbps 1us 0.5%\nh1 s0 1Gbps\n", "h0 s0 1Gbps 1us 0.5 %\nh1 s0 1Gbps % no unit\n"}) {
    INFO(text);
    const Topology topology = read_text("loss.txt", text);
    CHECK(between(topology, "h0", "s0").at(0).loss == 0.005);
    CHECK(between(topology, "h1", "s0").at(0).loss == 0);
    CHECK(topology.unread().empty());
  }
}

TEST_CASE("lengths beside the kind of a cable") {
  const auto cable = [](const std::string& name, const std::string& value) {
    return read_text("c.csv", "from,to," + name + "\nh0,s0," + value + "\nh1,s0," + value + "\n")
        .edges()[0]
        .link;
  };
  struct Case {
    const char* text;
    CableKind kind;
    double metres;
  };
  for (const Case& one : std::vector<Case>{{"AOC 30m", CableKind::kOptical, 30},
                                           {"DAC 1.5m", CableKind::kCopper, 1.5},
                                           {"3m passive copper", CableKind::kCopper, 3},
                                           {"LC-LC OM4 10 m", CableKind::kOptical, 10},
                                           {"10ft DAC", CableKind::kCopper, 3.048},
                                           {"SMF 10km", CableKind::kOptical, 10'000},
                                           {"DAC-2m", CableKind::kCopper, 2},
                                           {"QSFP-H40G-CU3M", CableKind::kCopper, 3},
                                           {"QSFP-100G-AOC10M", CableKind::kOptical, 10},
                                           {"OM4", CableKind::kOptical, 0}}) {
    for (const char* name : {"cable", "media", "type"}) {
      INFO(name << ' ' << one.text);
      const Link link = cable(name, one.text);
      CHECK(link.cable == one.kind);
      CHECK(link.length_m == Approx(one.metres));
      CHECK(link.latency == (one.metres == 0 ? Time::ns(500) : Time::ps(std::llround(one.metres * 5000))));
    }
  }
  CHECK(cable("media", "access").cable == CableKind::kUnknown);
  CHECK(cable("media", "100G AOC 30m").rate == Bandwidth::gbps(100));
  CHECK(cable("media", "NDR DAC 2m").rate == Bandwidth::gbps(400));
  const Topology column = read_text("c.csv", "from,to,media,length\nh0,s0,AOC 30m,20m\nh1,s0,AOC 30m,\n");
  CHECK(column.edges()[0].link.length_m == 20);
  CHECK(column.edges()[1].link.length_m == 30);
  REQUIRE(column.unread().size() == 1);
  CHECK(column.unread()[0].find("lengths in 'media' (1)") != std::string::npos);
  const Topology graph = read_text(
      "c.graphml",
      "<graphml><key id=\"cable\" for=\"edge\"/><graph edgedefault=\"undirected\"><node id=\"s0\"/><node "
      "id=\"s1\"/><edge source=\"s0\" target=\"s1\"><data key=\"cable\">AOC "
      "30m</data></edge></graph></graphml>");
  CHECK(between(graph, "s0", "s1").at(0).latency == Time::ns(150));
}

TEST_CASE("units under a name of their own") {
  struct Case {
    std::string columns, values;
    double metres;
  };
  for (const Case& one : std::vector<Case>{{"Length,Length Unit", "10,ft", 3.048},
                                           {"Length,Length Unit", "10,m", 10},
                                           {"Length,Length Unit", "10,Feet", 3.048},
                                           {"length_unit,length", "150,cm", 0},
                                           {"length_unit,length", "cm,150", 1.5},
                                           {"length,length_units", "100,in", 2.54},
                                           {"length,length_units", "2,km", 2000},
                                           {"length,length_unit", "1,mi", 1609.344},
                                           {"Length [ft]", "10", 3.048},
                                           {"Length (inches)", "100", 2.54},
                                           {"Cable Length (feet)", "10", 3.048}}) {
    INFO(one.columns << ' ' << one.values);
    const std::string text =
        "from,to," + one.columns + "\nh0,s0," + one.values + "\nh1,s0," + one.values + "\n";
    if (one.metres == 0) {
      CHECK_THROWS(read_text("u.csv", text));
      continue;
    }
    const Topology topology = read_text("u.csv", text);
    CHECK(topology.edges()[0].link.length_m == Approx(one.metres));
    CHECK(topology.unread().empty());
    for (const std::string& each : topology.assumptions()) CHECK(each.find("no unit") == std::string::npos);
  }
  for (const auto& [columns, values] :
       std::multimap<std::string, std::string>{{"speed,speed_unit", "100,Gbps"},
                                               {"LinkSpeed,LinkSpeedUnits", "100,G"},
                                               {"Speed,Speed Units", "100000,Mbps"},
                                               {"Speed (Gb/s)", "100"},
                                               {"Speed (G)", "100"}}) {
    INFO(columns);
    const Topology topology =
        read_text("u.csv", "from,to," + columns + "\nh0,s0," + values + "\nh1,s0," + values + "\n");
    CHECK(topology.edges()[0].link.rate == Bandwidth::gbps(100));
    CHECK(topology.unread().empty());
  }
  // Our own names in another program's GraphML: 500 of its units are no picoseconds.
  const Topology graph = read_text(
      "u.graphml",
      "<graphml><key id=\"latency\" for=\"edge\"/><key id=\"latency_unit\" for=\"edge\"/><key id=\"length\" "
      "for=\"edge\"/><key id=\"length_unit\" for=\"edge\"/><graph edgedefault=\"undirected\"><node "
      "id=\"s0\"/><node id=\"s1\"/><edge source=\"s0\" target=\"s1\"><data key=\"latency\">500</data><data "
      "key=\"latency_unit\">us</data><data key=\"length\">10</data><data key=\"length_unit\">ft</data></edge>"
      "</graph></graphml>");
  CHECK(between(graph, "s0", "s1").at(0).latency == Time::us(500));
  CHECK(graph.edges()[0].link.length_m + graph.edges()[1].link.length_m + graph.edges()[2].link.length_m ==
        Approx(3.048));
}

TEST_CASE("headings of tables: pairs of sides, with or without ports") {
  for (const char* heading :
       {"Local Device,Local Interface,Neighbor Device,Neighbor Interface,Speed",
        "Source Device,Source Port,Dest Device,Dest Port,Speed",
        "Side A Device,Side A Name,Side B Device,Side B Name,Speed",
        "Device A,Termination A,Device B,Termination B,Speed",
        "A-Side Device,A-Side Port,Z-Side Device,Z-Side Port,Speed",
        "A Hostname,A Port,B Hostname,B Port,Speed",
        "device_a,interface_a,device_b,interface_b,Speed",
        "hostname_a,port_a,hostname_b,port_b,Speed",
        "from_node,from_port,to_node,to_port,rate",
        "Local System Name,Local Port ID,Remote System Name,Remote Port ID,Link Speed",
        "Termination A Device,Termination A,Termination B Device,Termination B,Speed",
        "termination_a_device,termination_a_name,termination_b_device,termination_b_name,speed",
        "Side A,Termination A,Side B,Termination B,Speed",
        "Device A Name,Device A Port,Device B Name,Device B Port,Speed",
        "left,left port,right,right port,speed",
        "Near Switch,Near Port,Far Switch,Far Port,Speed",
        "host1,port1,host2,port2,speed",
        "Device,Interface,Neighbor,Neighbor Interface,Speed",
        "source_name,source_interface,target_name,target_interface,bandwidth",
        "side_a_device,side_a_name,side_b_device,side_b_name,speed"}) {
    INFO(heading);
    const std::string rows = "h1,p0,s1,1,100G\nh2,p0,s1,2,100G\ns1,3,s2,1,400G\n";
    for (const char sign : {',', ';', '\t'}) {
      std::string text = std::string(heading) + "\n" + rows;
      std::replace(text.begin(), text.end(), ',', sign);
      const Topology topology = read_text("t.csv", text);
      CHECK(topology.hosts() == 2);
      CHECK(topology.switches() == 2);
      CHECK(between(topology, "s1", "s2").at(0).rate == Bandwidth::gbps(400));
    }
  }
  // Names of nodes that a heading could have too: they come again.
  CHECK(read_text("t.csv", "node1 node2\nnode2 node3\n").switches() == 3);
  CHECK(read_text("t.csv", "node-a,node-b\nnode-b,node-z\n").switches() == 3);
  CHECK(read_text("t.csv", "left right\nright middle\n").switches() == 3);
  const Topology numbered = read_text("t.csv", "node1,node2\ns0,s1\ns1,s2\n");
  CHECK(numbered.switches() == 3);
  CHECK(numbered.assumptions()[0].find("the first line, 'node1,node2', is taken for a heading") !=
        std::string::npos);
  CHECK_THROWS(read_text("t.csv", "1,2\n3,4\n"));
}

TEST_CASE("tables that list each cable from both ends: one, by its ports") {
  const std::string heading =
      "Local Device,Local Interface,Neighbor Device,Neighbor Interface,Speed,Length (m)\n";
  const Topology topology = read_text("lldp.csv", heading +
                                                      "h1,p0,s1,1,100G,2\nh2,p0,s1,2,100G,\ns1,3,s2,1,400G,\n"
                                                      "s1,4,s2,2,400G,\ns1,1,h1,p0,100G,2\ns1,2,h2,p0,,3\n"
                                                      "s2,1,s1,3,400G,\ns2,2,s1,4,400G,\n");
  CHECK(topology.edges().size() == 4);
  CHECK(between(topology, "s1", "s2").size() == 2);
  CHECK(between(topology, "h1", "s1").at(0).rate == Bandwidth::gbps(100));
  CHECK(between(topology, "h2", "s1").at(0).latency == Time::ns(15));
  CHECK(topology.assumptions()[0].find("4 cables are listed from both ends") != std::string::npos);
}

TEST_CASE("tables: a port of several cables, and names that differ in capitals only, are told") {
  const auto told = [](const std::string& rows) {
    const Topology topology = read_text("t.csv", "A Device,A Port,B Device,B Port,Speed,Length (m)\n" + rows);
    std::string text;
    for (const std::string& each : topology.assumptions()) text += each + '\n';
    return text;
  };
  const std::string breakout = "h1,p0,s1,1,100G,2\nh2,p0,s1,1,100G,2\nh3,p0,s1,2,100G,2\n";
  CHECK(told(breakout).find("1 ports are of several cables, like port 1 of 's1'") != std::string::npos);
  CHECK(told("h1,p0,s1,1,100G,2\nh2,p0,s1,3,100G,2\ns1,1,h1,p0,100G,2\n").find("several cables") ==
        std::string::npos);
  CHECK(told("h1,p0,Leaf1,1,100G,2\nh2,p0,leaf1,1,100G,2\nLeaf1,2,leaf1,2,400G,2\n")
            .find("1 names differ from others in capital letters only, like 'Leaf1' and 'leaf1'") !=
        std::string::npos);
}

TEST_CASE("tables of cables: ends of two rates run at the slower") {
  struct Case {
    const char *heading, *row;
    int gbps;
  };
  for (const Case& one :
       std::vector<Case>{{"A Speed,B Speed", "100G,25G", 25},
                         {"A Speed,B Speed", "25G,100G", 25},
                         {"A Speed,B Speed", ",50G", 50},
                         {"Termination A Speed (Gbps),Termination B Speed (Gbps)", "40,10", 10},
                         {"local_port_speed,remote_port_speed", "200G,100G", 100},
                         {"Speed,A Speed,B Speed", "10G,100G,25G", 10}}) {
    INFO(one.heading << ' ' << one.row);
    const Topology topology = read_text("ends.csv", std::string("from,to,") + one.heading + "\nh0,s0," +
                                                        one.row + "\nh1,s0," + one.row + "\n");
    CHECK(between(topology, "h0", "s0").at(0).rate == Bandwidth::gbps(one.gbps));
    CHECK(between(topology, "s0", "h0").at(0).rate == Bandwidth::gbps(one.gbps));
  }
  CHECK_THROWS_WITH(read_text("ends.csv", "from,to,A Speed,B Speed\nh0,s0,100,25\nh1,s0,100,25\n"),
                    Catch::Contains("ends.csv:2: A Speed: '100' has no unit"));
}

TEST_CASE("tables of cables: those that carry no messages are left out, and several are several") {
  const std::string text =
      "A Device,B Device,Type,Status,Qty\nh0,s0,DAC,connected,1\nh1,s0,DAC,Connected,3\nh2,s0,DAC,planned,1\n"
      "h3,s0,DAC,Decommissioning,1\ns0,pdu1,power,connected,2\nh0,s0,DAC,down,1\nh0,con1,Console cable,,\n";
  const Topology topology = read_text("inventory.csv", text);
  CHECK(topology.hosts() == 2);
  CHECK(topology.edges().size() == 4);
  CHECK(between(topology, "h0", "s0").size() == 1);
  CHECK(between(topology, "h1", "s0").size() == 3);
  CHECK(topology.unread().empty());
  const auto told =
      std::find_if(topology.assumptions().begin(), topology.assumptions().end(),
                   [](const std::string& note) { return note.find("left out") != std::string::npos; });
  REQUIRE(told != topology.assumptions().end());
  for (const char* one : {"1 whose 'Status' is 'planned'", "1 whose 'Status' is 'down'",
                          "1 whose 'Status' is 'Decommissioning'", "1 whose 'Type' is 'power'",
                          "1 whose 'Type' is 'Console cable'"}) {
    INFO(one << " in " << *told);
    CHECK(told->find(one) != std::string::npos);
  }
  CHECK(read_text("all.csv", text, ",ignore=[Status,Type]").edges().size() == 10);
  const Topology ports =
      read_text("ports.csv", "A Device,A Port,B Device,B Port,Qty\nh0,e0,s0,1,2\nh1,e0,s0,2,1\n");
  CHECK(ports.edges().size() == 2);
  REQUIRE(ports.unread().size() == 1);
  CHECK(ports.unread()[0].find("Qty beside a port at each end (1)") != std::string::npos);
  CHECK_THROWS_WITH(read_text("none.csv", "from,to,status\nh0,s0,planned\nh1,s0,planned\n"),
                    Catch::Contains("none of the file's 2 links"));
  CHECK_THROWS_WITH(read_text("zero.csv", "from,to,qty\nh0,s0,1\nh1,s0,0\n"),
                    Catch::Contains("zero.csv:3: qty: '0' is not a number of cables from 1 to 65535"));
}

TEST_CASE("GraphML: ports, unknown elements and attributes are told; status and number count") {
  const Topology topology = read_text(
      "wiring.graphml",
      "<graphml><key id=\"q\" for=\"edge\" attr.name=\"qty\"/><key id=\"s\" for=\"edge\" "
      "attr.name=\"status\"/>"
      "<graph edgedefault=\"undirected\"><node id=\"h0\"/><node id=\"h1\" kind=\"host\"/><node id=\"s0\">"
      "<port name=\"p0\"/><port name=\"p1\"/></node><edge source=\"h0\" target=\"s0\" sourceport=\"e0\" "
      "targetport=\"p0\"/><edge source=\"h1\" target=\"s0\"><data key=\"q\">2</data></edge><edge "
      "source=\"h1\" "
      "target=\"s0\"><data key=\"s\">planned</data></edge><edg source=\"h1\" "
      "target=\"s0\"/></graph></graphml>");
  CHECK(topology.edges().size() == 3);
  REQUIRE(topology.unread().size() == 1);
  for (const char* one : {"sourceport of <edge> (1)", "targetport of <edge> (1)", "<port> elements (2)",
                          "<edg> elements (1)", "kind of <node> (1)"}) {
    INFO(one << " in " << topology.unread()[0]);
    CHECK(topology.unread()[0].find(one) != std::string::npos);
  }
}

}  // namespace weft::topologies

// Strict priority: ACKs and headers before data.
#include <catch2/catch.hpp>

#include "tests/sim/packet/support.h"
#include "topologies/families.h"

namespace weft::sim::packet {
namespace {

TEST_CASE("whatever is dropped, lanes stay in order, links never rest, and all bytes are accounted for") {
  const std::string queue = GENERATE("priority:capacity=9KB", "priority:capacity=60KB,kmin=5KB,kmax=40KB",
                                     "priority:capacity=40KB,control_capacity=64");
  const auto topology =
      topologies::build(parse_module_choice("fat_tree:k=4,link=400Gbps,latency=500ns,switch_latency=100ns"));
  Simulation simulation(topology, {.control = "fixed_window:packets=30", .queue = queue, .policy = spray()});
  simulation.send_at_random(topology.hosts());
  simulation.run();
  INFO(queue);
  REQUIRE(simulation.verdict() == "");
  REQUIRE(simulation.signal("ecn_mark") == simulation.scheduled.marks());
  REQUIRE(simulation.signal("ecn_mark") > 0);
  REQUIRE(simulation.signal("drop") > 0);
}

}  // namespace
}  // namespace weft::sim::packet

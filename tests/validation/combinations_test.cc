// Every congestion control with every loss recovery, every queue discipline and some of each kind of routing:
// a small crowd of messages comes whole and once, or the run is refused and says why. And a composition that
// a paper is about: Uno.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "congestion/controls/controls.h"
#include "congestion/recoveries/recoveries.h"
#include "goal/workload/message_graph.h"
#include "sim/packet/queues/queues.h"
#include "sim/units/input_error.h"
#include "tests/validation/run.h"

namespace weft::validation {
namespace {

struct Combination {
  std::string control, recovery, queue, routing;  // queue "": not given

  std::string text() const {
    const std::string queue_text = queue.empty() ? "" : " queue { " + queue + " {} }";
    return fmt::format(
        "topology {{ leaf_spine {{ leaves: 2 spines: 2 hosts_per_leaf: 3 link: \"100Gbps\" }} }} "
        "congestion {{ {} {{}} }} recovery {{ {} {{}} }} routing {{ {} {{}} }}{} limits {{ events: 300000 }}",
        control, recovery, routing, queue_text);
  }
};

// Four to one, beside which two go to and fro: more than the least queue, 32 packets, holds.
const std::vector<goal::Message>& crowd() {
  static const std::vector<goal::Message> messages = {{0, 5, 90'000}, {1, 5, 90'001}, {2, 5, 90'000},
                                                      {3, 5, 90'000}, {4, 0, 30'000}, {5, 1, 1},
                                                      {0, 3, 20'000}, {3, 0, 0}};
  return messages;
}

enum class Fate { kCame, kRefused };

Fate fate_of(const Combination& combination) {
  static const goal::Graph graph = goal::message_graph(6, crowd());
  INFO(combination.text());
  results::Report report;
  try {
    report = run(combination.text(), graph);
  } catch (const InputError& error) {
    const std::string message = error.what();
    INFO(message);
    CHECK(message.find("choose ") != std::string::npos);  // what would do
    int named = 0;
    for (const std::string& name :
         {combination.control, combination.recovery, combination.queue, combination.routing}) {
      named += !name.empty() && message.find(" " + name + " ") != std::string::npos;
    }
    CHECK(named >= 2);
    return Fate::kRefused;
  }
  std::uint64_t bytes = 0;
  for (const goal::Message& message : crowd()) bytes += message.bytes;
  CHECK(report.outcome == results::Outcome::kComplete);
  CHECK(report.network_totals.messages == crowd().size());
  CHECK(report.network_totals.bytes == bytes);
  CHECK(report.flows.size() == crowd().size());
  CHECK(signal(report, "drop") == report.network_totals.packets_dropped);
  return Fate::kCame;
}

// Four messages to another datacenter, 0.6 ms there and back, over eight links that lose some packets.
results::Report run_afar(const std::string& modules, const std::string& more = "") {
  constexpr std::uint64_t kBytes = 20'000'000;
  const std::vector<goal::Message> messages = {
      {0, 16, kBytes}, {1, 17, kBytes}, {2, 18, kBytes}, {3, 19, kBytes}};
  return run(
      "topology { datacenters { of: \"[fat_tree:k=4,link=100Gbps]\" borders: 8 long_links: 8 "
      "long_rate: \"100Gbps\" long_latency: \"300us\" loss: 0.0005 } } congestion { uno {} } " +
          modules + more,
      goal::message_graph(32, messages));
}

}  // namespace

TEST_CASE("any control, recovery, queue and routing: all comes whole and once, or a refusal says why") {
  std::vector<std::string> queues = {""};
  for (const auto& queue : sim::packet::disciplines()) queues.push_back(queue.info.name);
  int came = 0, refused = 0;
  for (const auto& control : congestion::controls()) {
    for (const auto& recovery : congestion::recoveries()) {
      for (const std::string& queue : queues) {
        // One path, many by turns, by feedback, by load, and one path at a time.
        for (const char* routing : {"ecmp", "spray", "reps", "minimal_adaptive", "flowcut"}) {
          const Fate fate = fate_of({control.info.name, recovery.info.name, queue, routing});
          ++(fate == Fate::kCame ? came : refused);
        }
      }
    }
  }
  CHECK(came > 3000);
  CHECK(refused > 1000);
}

TEST_CASE("who needs one way for a connection's packets warns where they take several") {
  const goal::Graph graph = goal::message_graph(6, crowd());
  const auto warned = [&](const std::string& modules) {
    const auto warnings =
        run("topology { leaf_spine { leaves: 2 spines: 2 hosts_per_leaf: 3 } } " + modules, graph).warnings;
    return std::ranges::any_of(warnings, [](const std::string& text) {
      return text.find("different ways") != std::string::npos || text.find("overtake") != std::string::npos;
    });
  };
  for (const std::string control : {"hpcc {}", "powertcp {}", "bolt {}"}) {
    INFO(control);
    CHECK(warned("congestion { " + control + " } routing { spray {} }"));
    CHECK(warned("congestion { " + control + " } network { packet { nic_choice: \"spray\" } }"));
    CHECK_FALSE(warned("congestion { " + control + " } routing { ecmp {} }"));
    CHECK_FALSE(warned("congestion { " + control + " } routing { flowcut {} }"));
  }
  CHECK_FALSE(warned("congestion { powertcp { signal: \"delay\" } } routing { spray {} }"));
  CHECK_FALSE(warned("congestion { swift {} } routing { spray {} }"));
  CHECK(warned("recovery { go_back_n {} } routing { spray {} }"));
  CHECK(warned("recovery { go_back_n {} } network { packet { nic_choice: \"spray\" } }"));
  CHECK_FALSE(warned("recovery { go_back_n {} } routing { ecmp {} }"));
}

TEST_CASE("Uno's parts together: losses between datacenters cost no time but that of redundant packets") {
  const results::Report uno = run_afar("recovery { erasure_coding {} } routing { reps {} }");
  REQUIRE(uno.network_totals.messages == 4);
  CHECK(signal(uno, "corrupt") > 10);
  CHECK(signal(uno, "retransmit") == 0);
  CHECK(signal(uno, "timeout") == 0);
  CHECK(signal(uno, "recycled_path") > 0);
  // 4,883 packets, and two more for each eight; the last has 300 us of cable and nine more links before it.
  const Time packet = Bandwidth::gbps(100).serialization(4160);
  const Time least = packet * (4883 + 4883 / 8 * 2) + Time::us(300);
  CHECK(longest(uno) >= least);
  CHECK(longest(uno).seconds() <= 1.05 * least.seconds());
  const results::Report rack = run_afar("recovery { rack {} } routing { reps {} }");
  REQUIRE(rack.network_totals.messages == 4);
  CHECK(longest(rack).seconds() >= 1.3 * longest(uno).seconds());
}

TEST_CASE("Uno's parts together: with a link that loses everything, most of that is rebuilt") {
  const std::string bad =
      " fault { random_links: 1 between: \"border 0.* / border 1.*\" bit_error_rate: 0.01 }";
  const results::Report uno = run_afar("recovery { erasure_coding {} } routing { reps {} }", bad);
  REQUIRE(uno.network_totals.messages == 4);
  CHECK(signal(uno, "corrupt") > 1000);
  CHECK(signal(uno, "retransmit") * 5 < signal(uno, "corrupt"));
  const results::Report fixed =
      run_afar("recovery { selective_repeat {} } routing { spray { paths: 16 } }", bad);
  REQUIRE(fixed.network_totals.messages == 4);
  CHECK(longest(fixed).seconds() >= 1.5 * longest(uno).seconds());
}

}  // namespace weft::validation

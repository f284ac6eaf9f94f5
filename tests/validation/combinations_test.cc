// Every congestion control with every loss recovery, every queue discipline and some of each kind of routing:
// a small crowd of messages comes whole and once, or the run is refused and says why.
#include <fmt/format.h>

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

}  // namespace weft::validation

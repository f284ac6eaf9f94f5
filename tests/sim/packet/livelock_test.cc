// Networks that are busy and get nowhere.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/units/random.h"
#include "tests/sim/packet/divided.h"
#include "topologies/analysis/partition.h"

namespace weft::sim::packet {
namespace {

std::vector<Message> incast(std::uint32_t senders, std::uint64_t bytes) {
  std::vector<Message> messages;
  for (std::uint32_t host = 1; host <= senders; ++host) {
    messages.push_back(
        {.source = host, .destination = 0, .notify_sent = true, .bytes = bytes, .client = {host}});
  }
  return messages;
}

// Headers go before data, strictly. s senders with windows of w packets, each sent again as soon as the NACK
// is back, keep s * w headers going round: more than the link takes in a round trip, and no data passes.
struct Case {
  std::uint32_t senders = 0;
  const char* window = nullptr;
  bool livelock = false;
};
const Case kCases[] = {{100, "fixed_window:packets=63", true}, {3, "fixed_window:packets=8", false}};

TEST_CASE("an incast whose headers leave no room for data is a livelock, one with fewer headers is none") {
  const auto topology = star(101, Bandwidth::gbps(100), Time::us(3), Time());
  for (const Case& each : kCases) {
    INFO(each.senders);
    Engine engine(1);
    RecordingClient client(engine);
    const Options options;
    const routing::RoutingTable table(topology);
    const routing::Policy policy = one_path();
    const ModuleChoice queue_choice = parse_module_choice("composite");
    const Discipline& queue = find_module(disciplines(), queue_choice, "queue");
    const ModuleChoice control_choice = parse_module_choice(each.window);
    const congestion::Control& control = find_module(congestion::controls(), control_choice, "control");
    const congestion::RecoveryKind recovery = congestion::rack();
    PacketNetwork network(engine, client,
                          {.topology = topology,
                           .table = table,
                           .policy = policy,
                           .policy_parameters = {},
                           .control = control,
                           .control_parameters = Parameters(control.info, control_choice),
                           .recovery = recovery,
                           .recovery_parameters = {},
                           .queue = queue,
                           .queue_parameters = Parameters(queue.info, queue_choice),
                           .config = {}});
    for (const Message& message : incast(each.senders, 400'000)) network.inject(message);
    RunOn on;
    const StopReason reason = network.run(on);
    REQUIRE((reason == StopReason::kDeadlock) == each.livelock);
    REQUIRE(network.deadlock().empty() == !each.livelock);
    REQUIRE((client.deliveries == each.senders) == !each.livelock);
    if (!each.livelock) continue;
    REQUIRE(network.deadlock()[0].find("livelock") == 0);
    REQUIRE(network.deadlock()[0].find("h0") != std::string::npos);  // all that is busy is its link
  }
}

TEST_CASE("a livelock is found at the same moment however the network is divided") {
  const auto topology = star(101, Bandwidth::gbps(100), Time::us(3), Time());
  const Options options{.control = kCases[0].window, .queue = "composite"};
  const auto messages = incast(kCases[0].senders, 400'000);
  const Account whole = run_divided(topology, options, messages, {.of_vertex = {}, .parts = 1}, 1);
  REQUIRE(whole.delivered == 0);
  RandomStream random(3, 3);
  for (const std::uint32_t parts : {2, 3}) {
    const auto division = random_division(topology, parts, random);
    REQUIRE(run_divided(topology, options, messages, division, 2) == whole);
  }
}

}  // namespace
}  // namespace weft::sim::packet

// Collectives on hosts of one switch against their closed forms, and the network models against each other.
// What is said of a network with links holds for each of kNetworks.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "goal/collectives/steps.h"
#include "tests/validation/run.h"

namespace weft::validation {
namespace {

constexpr int kHosts = 16;
constexpr double kGbps = 400;
// Two cables of 500 ns and a packet once more on the second.
constexpr double kLatency_us = 1.0832;

struct NetworkUnderTest {
  const char* name;
  const char* settings;
  // What ACKs may add where links carry data both ways, and a packet more at every step: shares of the time.
  double slack;
};
// Further networks that keep connections need nothing but a line here.
const NetworkUnderTest kNetworks[] = {
    {"flow", "network { flow {} }", 0.002},
    {"packet",
     "network { packet {} } congestion { fixed_window { packets: 150 } } queue { droptail { capacity: "
     "\"1GB\" } }",
     0.045},  // ACKs 1.5% for each message the other way; two senders to one take turns packet by packet
};

// On the wire, in microseconds.
double wire_us(double bytes) { return bytes * (4096 + 64) / 4096 * 8 / (kGbps * 1000); }

double run_us(const std::string& network, const std::string& collective) {
  const sim::Registries registries = sim::builtin_registries();
  const std::string text =
      fmt::format("job {{ traffic {{ collective {{ {} }} }} }}\n{}", collective, network);
  const sim::Simulation simulation(
      sim::resolve(sim::read_scenario(registries, text, "scenario of the test"), registries));
  NeverStop control;
  const results::Report report = simulation.run(simulation.workload(), control);
  if (report.outcome != results::Outcome::kComplete) throw std::logic_error(collective + " did not end");
  return report.makespan.seconds() * 1e6;
}

double on(const NetworkUnderTest& network, const std::string& collective) {
  const std::string topology = fmt::format(
      "topology {{ single_switch {{ hosts: {} link: \"{}Gbps\" latency: \"500ns\" }} }}\n", kHosts, kGbps);
  return run_us(topology + network.settings, collective);
}

// The same link, as LogGOPS has it.
double on_loggops(const std::string& collective) {
  return run_us(
      fmt::format("network {{ loggops {{ L: \"{}ns\" o: \"0\" g: \"0\" G: {} O: 0 S: \"1000TB\" }} }}\n",
                  kLatency_us * 1000, wire_us(1) * 1000),
      fmt::format("{} ranks: {}", collective, kHosts));
}

std::string call(const std::string& kind, const std::string& size, const std::string& algorithm) {
  return fmt::format("kind: \"{}\" size: \"{}\" algorithm: \"{}\"", kind, size, algorithm);
}

}  // namespace

TEST_CASE("segments follow each other down a chain") {
  const NetworkUnderTest network = GENERATE(from_range(std::begin(kNetworks), std::end(kNetworks)));
  const double segment = 65'536, bytes = 64e6;
  // The last rank has the first segment after 15 steps, and the others come behind it at the rate of the
  // link.
  const double expected = (kHosts - 2) * wire_us(segment) + wire_us(bytes) + (kHosts - 1) * kLatency_us;
  for (const char* kind : {"bcast", "reduce"}) {
    const double found = on(network, call(kind, "64MB", "pipelined_chain"));
    CAPTURE(kind, found, expected);
    CHECK(found >= expected * 0.999);
    CHECK(found <= expected * (1.001 + network.slack));
  }
}

TEST_CASE("a binary tree takes twice its bytes: inner ranks send or get each of them twice") {
  const NetworkUnderTest network = GENERATE(from_range(std::begin(kNetworks), std::end(kNetworks)));
  const double segment = 32'768, bytes = 64e6;
  const double all = 2 * wire_us(bytes);
  // Filling it takes at most the time of two segments and a latency for each of four levels.
  const double fill = 4 * (2 * wire_us(segment) + kLatency_us);
  for (const char* kind : {"bcast", "reduce"}) {
    const double found = on(network, call(kind, "64MB", "binary_tree"));
    CAPTURE(kind, found, all, fill);
    CHECK(found >= all);
    CHECK(found <= (all + fill) * (1 + network.slack));
  }
}

// A rank goes on to the next segment when it has all of one, so each takes a latency more; with many
// segments and no latency, 2 of the vector would be left.
TEST_CASE("two trees: each rank sends and gets four segments for two of the vector, in step") {
  const NetworkUnderTest network = GENERATE(from_range(std::begin(kNetworks), std::end(kNetworks)));
  const double segment = 131'072, bytes = 64e6;
  const double all = 2 * wire_us(bytes);
  // As many steps as segments in half of the vector, and up and down at most five levels.
  const double steps = std::ceil(bytes / 2 / segment) + 2 * 5 + 1;
  const double in_step = steps * (4 * wire_us(segment) + kLatency_us);
  const double found = on(network, call("allreduce", "64MB", "double_binary_tree"));
  CAPTURE(found, all, in_step);
  CHECK(found >= all);
  CHECK(found <= in_step * (1.03 + network.slack));
}

TEST_CASE("rings: each rank sends 2 (p-1)/p of the vector, or p-1 blocks, one step after the other") {
  const NetworkUnderTest network = GENERATE(from_range(std::begin(kNetworks), std::end(kNetworks)));
  const double steps = kHosts - 1;
  const double block = 64e6 / kHosts;
  // The segmented one goes around once more for each segment of 1 MiB beyond the first.
  const double around = 2 * steps * wire_us(block), laps = 2 + std::ceil(block / (1 << 20)) - 1;
  const double allgather = steps * (wire_us(4e6) + kLatency_us);
  CHECK(on(network, call("allreduce", "64MB", "ring")) ==
        Approx(around + 2 * steps * kLatency_us).epsilon(0.002 + network.slack));
  CHECK(on(network, call("allreduce", "64MB", "segmented_ring")) ==
        Approx(around + laps * steps * kLatency_us).epsilon(0.002 + network.slack));
  CHECK(on(network, call("allgather", "4MB", "ring")) == Approx(allgather).epsilon(0.002 + network.slack));
  CHECK(on(network, call("reduce_scatter", "4MB", "ring")) ==
        Approx(allgather).epsilon(0.002 + network.slack));
}

TEST_CASE("a binomial broadcast: what LogGOPS sends in turn, connections send side by side") {
  const NetworkUnderTest network = GENERATE(from_range(std::begin(kNetworks), std::end(kNetworks)));
  const std::string collective = call("bcast", "4MB", "binomial_tree");
  const double message = wire_us(4e6);
  // One level after the other: the first child of each rank gets all of the rate.
  CHECK(on_loggops(collective) == Approx(4 * (message + kLatency_us)).epsilon(0.001));
  // Of n children all get theirs after n messages, and the first has n - 1 children then: 4 + 3 + 2 + 1.
  CHECK(on(network, collective) == Approx(10 * message + 4 * kLatency_us).epsilon(0.002 + network.slack));
}

// Those in which a rank sends to several others at once, and some of these are in more of a hurry than
// others. LogGOPS's NIC sends in turn, in the algorithm's order, the most urgent first; connections share a
// NIC.
bool shares_unequal_urgency(const std::string& kind, const std::string& algorithm) {
  const std::vector<std::pair<std::string, std::string>> all = {
      {"bcast", "binomial_tree"},          {"bcast", "knomial_tree"},
      {"bcast", "split_binary_tree"},      {"bcast", "scatter_allgather"},
      {"bcast", "scatter_ring_allgather"}, {"allreduce", "double_binary_tree"},
      {"allreduce", "reduce_bcast"},       {"allgather", "gather_bcast"},
      {"scatter", "binomial_tree"},        {"scan", "recursive_doubling"},
      {"exscan", "recursive_doubling"},
  };
  return std::find(all.begin(), all.end(), std::pair(kind, algorithm)) != all.end();
}

TEST_CASE("each collective of 1 MB takes the same time, within 3%, on LogGOPS and on links") {
  const NetworkUnderTest network = GENERATE(from_range(std::begin(kNetworks), std::end(kNetworks)));
  int compared = 0, different = 0;
  for (const goal::CollectiveAlgorithm& algorithm : goal::collective_algorithms()) {
    const std::string kind(goal::name(algorithm.kind)), name = algorithm.info.name;
    if (kind == "barrier" || name == "hierarchical")
      continue;  // no bytes; and made for several ranks on a host
    std::string collective = call(kind, "1MB", name);
    if (goal::is_of_neighbors(algorithm.kind)) collective += " dims: \"[4,4]\"";
    const double message = on_loggops(collective), links = on(network, collective);
    CAPTURE(kind, name, message, links);
    if (shares_unequal_urgency(kind, name)) {
      CHECK(std::abs(message / links - 1) > 0.03);  // else it belongs among the others
      ++different;
      continue;
    }
    CHECK(std::abs(message / links - 1) <= 0.03 + network.slack);
    ++compared;
  }
  CHECK(compared > 35);
  CHECK(different == 11);
}

}  // namespace weft::validation

// Collectives on hosts of one switch against their closed forms.
// What is said of a network with links holds for each of kNetworks.
#include <catch2/catch.hpp>
#include <cmath>
#include <iterator>
#include <string>

#include "tests/validation/one_switch.h"

namespace weft::validation {
namespace {

struct NetworkUnderTest {
  const char* name;
  std::string settings;
  // What ACKs may add where links carry data both ways, and a packet more at every step: shares of the time.
  double slack;
};
// Further networks that keep connections need nothing but a line here.
const NetworkUnderTest kNetworks[] = {
    {"flow", kFlow, 0.002},
    {"packet", packets(64), 0.045},  // ACKs 1.5% for each message the other way; the rest: levels_test.cc
};

double on(const NetworkUnderTest& network, const std::string& collective) {
  return validation::on(network.settings + kEager, collective);
}
double by_default(const NetworkUnderTest& network, const std::string& collective) {
  return validation::on(network.settings, collective);
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

// A rank's children get the vector one after the other, the one with most ranks below it first.
TEST_CASE("down a binomial tree a message takes its time once for each level") {
  const NetworkUnderTest network = GENERATE(from_range(std::begin(kNetworks), std::end(kNetworks)));
  const std::string collective = call("bcast", "4MB", "binomial_tree");
  const double message = wire_us(4e6);
  CHECK(on_loggops(collective) == Approx(4 * (message + kLatency_us)).epsilon(0.001));
  // Most are asked for first, a way there and one back, and acknowledged.
  const double found = by_default(network, collective);
  CAPTURE(found);
  CHECK(found >= 4 * (message + kLatency_us));
  CHECK(found <= 4 * (message + 4 * kLatency_us) * (1.001 + network.slack));
  // Unless all is said to be eager. Then all children get theirs at the same time: 4 + 3 + 2 + 1 messages.
  CHECK(on(network, collective) == Approx(10 * message + 4 * kLatency_us).epsilon(0.002 + network.slack));
}

// R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005, section 4.3: log2(p) + p - 1 latencies and
// 2 (p-1)/p of the vector.
TEST_CASE("a scatter and an allgather take twice the vector") {
  const NetworkUnderTest network = GENERATE(from_range(std::begin(kNetworks), std::end(kNetworks)));
  const double all = 2 * wire_us(64e6) * (kHosts - 1) / kHosts;
  // Each message is asked for and, in packets, acknowledged.
  const double round = 4 * kLatency_us;
  CHECK(by_default(network, call("bcast", "64MB", "scatter_allgather")) ==
        Approx(all + 8 * round).epsilon(0.006 + network.slack));
  CHECK(by_default(network, call("bcast", "64MB", "scatter_ring_allgather")) ==
        Approx(all + (4 + kHosts - 1) * round).epsilon(0.012 + network.slack));
}

// Eager sends would let each rank go on when it has received, and ranks would fall out of step until several
// send to one: 4.9 times the least in packets.
TEST_CASE("a pairwise all-to-all on a fat tree stays in step") {
  const int ranks = 64;
  const double least = (ranks - 1) * 1e6 * (4096 + 64) / 4096 * 8 / 100e3;
  const std::string tree = "topology { fat_tree { k: 8 link: \"100Gbps\" } } routing { spray {} }";
  const double found =
      run_us(tree + packets(64), call("alltoall", "1MB", "pairwise") + " ranks: " + std::to_string(ranks));
  CAPTURE(found, least);
  CHECK(found >= least);
  CHECK(found <= 1.5 * least);
}

}  // namespace weft::validation

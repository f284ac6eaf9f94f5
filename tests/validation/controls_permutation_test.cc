// Permutations of 128 hosts under every congestion control: over one path and over many, and where leaves
// have a fourth or an eighth of the way out that their hosts could fill (README.md: what was measured).
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/congestion/every_control.h"
#include "tests/validation/completion.h"

namespace weft::validation {
namespace {

// How long the last message may take, in µs: 2 MB take a host's link 163 of them.
struct Bounds {
  std::string control;
  double one_path, sprayed, quarter, eighth;
};

// On one path flows meet by their hashes. Over many, `bitmap` skips those that were marked or lost packets.
// 1,300, 880 and 1,760 us are published limits, of one path and of oversubscribed networks. What is beyond:
// TIMELY rises by a thousandth of the line rate for each segment, from a hundredth of it; DCQCN waits for its
// timers; Uno's window grows by a thousandth in a round trip; HPCC counts ports that it didn't see before for
// nothing, and packets over many paths see new ones all the time. EQDS's headers, NACKs and credits, eight to
// a packet that passes, take a quarter of the links (limits_test.cc has it with NDP's switches).
std::vector<Bounds> bounds() {
  return {
      {"fixed_window", 1'300, 280, 880, 1'760}, {"dctcp", 1'300, 240, 880, 1'760},
      {"timely", 3'700, 3'220, 3'720, 3'780},   {"dcqcn", 1'300, 370, 1'340, 2'360},
      {"hpcc", 1'300, 330, 1'020, 1'760},       {"powertcp", 1'300, 310, 880, 1'760},
      {"swift", 1'300, 270, 880, 1'760},        {"mprdma", 1'300, 240, 880, 1'760},
      {"ndp", 1'300, 230, 880, 1'760},          {"eqds", 1'300, 210, 880, 1'900},
      {"nscc", 1'300, 220, 880, 1'760},         {"rccc", 1'300, 210, 880, 1'760},
      {"nscc_rccc", 1'300, 210, 880, 1'760},    {"smartt", 1'300, 230, 880, 1'760},
      {"strack", 1'300, 250, 880, 1'760},       {"bolt", 1'300, 270, 880, 1'760},
      {"bbr", 1'300, 290, 880, 1'760},          {"uno", 2'500, 260, 2'060, 2'360},
      {"newreno", 1'300, 310, 880, 1'760},      {"cubic", 1'300, 310, 880, 1'760},
  };
}

std::string leaves(int spines) {
  return "topology { leaf_spine { leaves: 8 hosts_per_leaf: 16 spines: " + std::to_string(spines) +
         R"( link: "100Gbps" latency: "1us" } } )";
}

// Where each host sends and receives, ACKs wait for packets that are just being sent. What windows lose by
// that, on slow links most, for they hold few packets. Phantom queues leave a tenth of a link free, HPCC a
// twentieth.
double most_of_the_wire(const std::string& control) {
  if (control == "uno") return 1.22;
  if (control == "hpcc" || control == "bbr" || control == "powertcp") return 1.15;
  return 1.08;
}

}  // namespace

TEST_CASE(
    "a ring of messages on one switch fills its links in both directions, at any rate, under every control") {
  constexpr std::uint32_t kHosts = 16;
  constexpr std::uint64_t kBytes = 10'000'000;
  Messages ring;
  for (std::uint32_t h = 0; h < kHosts; ++h) ring.push_back({h, (h + 1) % kHosts, kBytes});
  const std::string control = GENERATE(from_range(bounds())).control;
  const int gigabits = GENERATE(1, 10, 100);
  const results::Report report = validation::run(
      R"(topology { leaf_spine { leaves: 1 spines: 1 hosts_per_leaf: 16 latency: "600ns" link: ")" +
          std::to_string(gigabits) + R"(Gbps" } } congestion { )" + control + " {} }",
      goal::message_graph(kHosts, ring));
  CAPTURE(control, gigabits);
  CHECK(microseconds(longest(report)) * gigabits / 100 / wire_us(kBytes) <= most_of_the_wire(control));
}

TEST_CASE(
    "permutations of 128 under every control: one path, many, and networks oversubscribed 4:1 and 8:1") {
  CHECK(congestion::unmatched(bounds()) == "");
  const Bounds row = GENERATE(from_range(bounds()));
  const Messages messages = permutation(128, 1);
  const auto longest = [&](const std::string& topology, const std::string& routing) {
    return complete(topology + "congestion { " + row.control + " {} } routing { " + routing + " }", 128,
                    messages)
        .longest();
  };
  const std::string many = "bitmap { paths: 128 }";
  const double one_path = longest(fat_tree(8), "ecmp {}"), sprayed = longest(fat_tree(8), many),
               quarter = longest(leaves(4), many), eighth = longest(leaves(2), many);
  CAPTURE(row.control, one_path, sprayed, quarter, eighth);
  CHECK(one_path <= row.one_path);
  CHECK(sprayed <= row.sprayed);
  CHECK(quarter <= row.quarter);
  CHECK(eighth <= row.eighth);
}

}  // namespace weft::validation

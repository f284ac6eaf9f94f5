// EQDS, NDP, Swift and DCTCP against the completion times that htsim's own validation sets (README.md: where
// from, and what we take). The setting is that of completion.h.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/validation/completion.h"

namespace weft::validation {
namespace {

struct Case {
  std::string name, topology;
  std::uint32_t hosts;
  Messages messages;
  double limit;      // of the last message, in µs
  double least = 0;  // what the network's inside makes it take
  // The message with a limit of its own is the first, if that is above 0.
  double own_limit = 0, own_least = 0;
  bool one_path = false;
};

Messages beside_incast() {
  Messages messages = {{38, 34, kMessageBytes}};
  for (goal::Rank r = 0; r < 128; ++r) {
    if (r != 33 && r != 38) messages.push_back({r, 33, kMessageBytes});
  }
  return messages;
}

Messages outcast_incast() {
  Messages messages = {{1, 0, kMessageBytes}};
  for (const goal::Rank sender : {2u, 3u}) {
    messages.push_back({sender, 0, kMessageBytes});
    for (goal::Rank i = 0; i < 9; ++i)
      messages.push_back({sender, (sender == 2 ? 4 : 13) + i, kMessageBytes});
  }
  return messages;
}

Messages permutation_of_16() {
  constexpr std::array<goal::Rank, 16> kTo = {13, 3, 10, 14, 0, 11, 7, 5, 9, 12, 6, 4, 15, 2, 8, 1};
  Messages messages;
  for (goal::Rank r = 0; r < 16; ++r) messages.push_back({r, kTo[r], kMessageBytes});
  return messages;
}

// What leaves the leaf that most of it leaves, over its links to so many spines.
double leaf_us(const Messages& messages, int spines) {
  std::array<int, 32> leaving{};
  for (const goal::Message& message : messages)
    leaving[message.from / 32] += message.from / 32 != message.to / 32;
  return *std::max_element(leaving.begin(), leaving.end()) * wire_us(kMessageBytes) / spines;
}

std::vector<Case> cases() {
  const Messages one = {{0, 13, kMessageBytes}}, both = {{0, 13, kMessageBytes}, {13, 0, kMessageBytes}},
                 overlapped = {{127, 0, kMessageBytes}, {95, 0, 250'000}, {61, 0, 250'000}},
                 few = permutation_of_16(), many = permutation(1024, 1);
  const std::string small = fat_tree(4), middle = fat_tree(8), large = fat_tree(16);
  return {
      {"one flow", small, 16, one, 180},
      {"both ways", small, 16, both, 190},
      {"incast 15", small, 16, incast(16, kMessageBytes), 2500},
      {"incast 127", middle, 128, incast(128, kMessageBytes), 23'000},
      {"incast 1023", large, 1024, incast(1024, 100'000), 8950},
      {"beside an incast", middle, 128, beside_incast(), 23'000, 0, 220},
      // 1->0 gets what the others leave, who send a tenth of what they send there.
      {"outcast", middle, 128, outcast_incast(), 2500, 0, 240, wire_us(kMessageBytes) * 10 / 8},
      {"overlapped", middle, 128, overlapped, 220},
      {"permutation 16", small, 16, few, 210},
      {"permutation 16, one path", small, 16, few, 1300, 0, 0, 0, true},
      {"permutation 1024", large, 1024, many, 220},
      {"permutation 1024, one path", large, 1024, many, 1300, 0, 0, 0, true},
      {"4:1", leaf_spine(8), 1024, many, 880, leaf_us(many, 8)},
      {"8:1", leaf_spine(4), 1024, many, 1760, leaf_us(many, 4)},
  };
}

struct Setting {
  std::string control, scenario, routing;
};

// Switches that trim, as NDP's do: ten headers, ACKs or pulls at most before each data packet that waits, and
// headers that don't fit go back.
Setting pulled(const std::string& control) {
  return {control,
          "congestion { " + control + " {} } queue { composite { ratio: 10 return_to_sender: true } } ",
          "bitmap"};
}
// Queues that have room for the first windows of all.
Setting windowed(const std::string& control, const std::string& parameters, const std::string& queue) {
  return {control,
          "congestion { " + control + " { " + parameters + " } } queue { " + queue +
              " { capacity: \"128MB\" " + (queue == "ecn" ? R"(kmin: "100KB" kmax: "100KB")" : "") + " } } ",
          "spray"};
}

// Limits that are missed, and by how much. First windows of 126 senders fill the links to the edge switch
// before anything can slow them down; and where a flow's window is one bandwidth-delay product and grows by a
// packet in a round trip, queues on its way cost throughput.
struct Miss {
  std::string control, name;
  double at_most;
};

const Miss* missed(const std::string& control, const std::string& name) {
  static const std::vector<Miss> list = {
      {"swift", "beside an incast", 750},
      {"dctcp", "beside an incast", 770},
      {"swift", "permutation 1024", 250},
      {"dctcp", "permutation 1024", 250},
  };
  const auto found = std::find_if(list.begin(), list.end(), [&](const Miss& miss) {
    return miss.control == control && miss.name == name;
  });
  return found == list.end() ? nullptr : &*found;
}

void check_all(const Setting& setting) {
  const Case each = GENERATE(from_range(cases()));
  const std::string routing = each.one_path ? "ecmp {}" : setting.routing + " { paths: 128 }";
  const Completion c =
      complete(each.topology + setting.scenario + "routing { " + routing + " }", each.hosts, each.messages);
  const double longest = c.longest(), own = c.of(each.messages[0].from, each.messages[0].to);
  CAPTURE(each.name, setting.control, longest, own);
  CHECK(longest >= each.least);
  CHECK(own >= each.own_least);
  const bool has_own = each.own_limit > 0;
  if (has_own) CHECK(longest <= each.limit);
  const double time = has_own ? own : longest, limit = has_own ? each.own_limit : each.limit;
  if (const Miss* miss = missed(setting.control, each.name)) {
    CHECK(time > limit);
    CHECK(time <= miss->at_most);
  } else {
    CHECK(time <= limit);
  }
}

}  // namespace

TEST_CASE("limits of completion times: EQDS", "[eqds]") { check_all(pulled("eqds")); }

TEST_CASE("limits of completion times: NDP", "[ndp]") { check_all(pulled("ndp")); }

// With the constants that Swift has in htsim.
TEST_CASE("limits of completion times: Swift", "[swift]") {
  check_all(windowed("swift", R"(base_target: "20us" hop_target: "3.05us")", "droptail"));
}

TEST_CASE("limits of completion times: DCTCP", "[dctcp]") { check_all(windowed("dctcp", "", "ecn")); }

}  // namespace weft::validation

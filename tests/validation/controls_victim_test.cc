// A flow beside an incast that shares no link with it but those to its edge switch, under every congestion
// control: over links that hold packets back (PFC), which make it wait for what isn't its own, and in
// networks that trim (README.md: what was measured).
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/congestion/every_control.h"
#include "tests/validation/completion.h"

namespace weft::validation {
namespace {

struct Bounds {
  std::string control;
  double least, most;  // of the flow's time, in times an idle network's
};

const std::string kLossless = "pfc {}", kTrimming = "composite {}";

// With a fixed window the incast's packets fill the way back to their senders for as long as it lasts.
std::vector<Bounds> lossless() {
  return {
      {"fixed_window", 6.5, 9.62},
      {"dctcp", 3.6, 6.3},
      {"timely", 14.9, 22.26},
      {"dcqcn", 3.9, 5.72},
      {"hpcc", 1, 1.27},
      {"powertcp", 1, 1.12},
      {"swift", 1, 1.04},
      {"mprdma", 1, 1.04},
      {"nscc", 1, 1.03},
      {"smartt", 1, 1.03},
      {"strack", 1, 1.03},
      {"bolt", 1, 1.03},
      {"bbr", 1, 1.1},
      {"uno", 1, 1.06},
      {"newreno", 1, 1.17},
      {"cubic", 1, 1.17},
  };
}
std::vector<Bounds> trimming() {
  return {
      {"ndp", 1, 1.04},   {"eqds", 1, 1.04},      {"nscc", 1, 1.03},
      {"rccc", 1, 1.04},  {"nscc_rccc", 1, 1.04}, {"smartt", 1, 1.03},
      {"swift", 1, 1.03}, {"dctcp", 1, 1.03},     {"fixed_window", 5.8, 8.54},
  };
}

// 16 hosts of other pods send 2 MB each to host 33. A millisecond later, of the 2.6 that this takes,
// 38 begins to send as much to 34, which is at the same edge switch: four links.
double beside_incast(const std::string& control, const std::string& queue) {
  Messages messages;
  for (goal::Rank i = 0; i < 16; ++i) messages.push_back({48 + 5 * i, 33, kMessageBytes});
  messages.push_back({38, 34, kMessageBytes, 1'000'000});
  const Completion c = complete(fat_tree(8) + "congestion { " + control + " {} } queue { " + queue +
                                    " } routing { spray { paths: 128 } }",
                                128, messages);
  return c.of(38, 34) / alone_us(kMessageBytes, 4);
}

void check(const std::vector<Bounds>& rows, const std::string& queue) {
  const Bounds row = GENERATE_COPY(from_range(rows));
  const double slowdown = beside_incast(row.control, queue);
  CAPTURE(row.control, slowdown);
  CHECK(slowdown >= row.least);
  CHECK(slowdown <= row.most);
}

}  // namespace

TEST_CASE("a flow beside an incast, under PFC") { check(lossless(), kLossless); }

TEST_CASE("a flow beside an incast, with trimming") { check(trimming(), kTrimming); }

TEST_CASE("a flow beside an incast: every control is in one of the tables") {
  std::vector<Bounds> all = lossless();
  for (const Bounds& row : trimming()) all.push_back(row);
  CHECK(congestion::unmatched(all) == "");
}

}  // namespace weft::validation

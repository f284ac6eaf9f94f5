// Incasts of a hundred and a thousand under every congestion control: nothing is lost for good, the last is
// there within a bound, and shares are even where that is promised (README.md: what was measured).
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/congestion/every_control.h"
#include "tests/validation/completion.h"

namespace weft::validation {
namespace {

constexpr std::uint64_t kBytes = 256'000;

struct Incast {
  double time, even;  // in times what the last link needs at least; Jain's index of the flows' goodputs
};

struct Bounds {
  std::string control, queue;  // "": what the control gets by itself
  Incast hundred, thousand;    // at most so long, at least so even
};

const std::string kAlone, kLossless = "pfc {}";

// Alone, queues hold the first windows of two senders. What the others lose is for timeouts to make good, and
// these double while nothing comes through: the last of a thousand come after the ninth of their timeouts,
// when the link has been idle for long. (V. Vasudevan et al., "Safe and effective fine-grained TCP
// retransmissions", SIGCOMM 2009.) Trimming, or links that hold packets back, leave nothing to timeouts.
// Where these do the sharing, PFC serves the ports of a switch in turn, however many senders are behind each.
std::vector<Bounds> bounds() {
  return {
      {"fixed_window", kAlone, {1.3, 0}, {3.08, 0}},
      {"dctcp", kAlone, {1.08, 0}, {2.95, 0}},
      {"timely", kAlone, {1.2, 0}, {1.72, 0}},
      {"dcqcn", kAlone, {1.4, 0}, {3.1, 0}},
      {"hpcc", kAlone, {1.23, 0}, {1.67, 0}},
      {"powertcp", kAlone, {2.29, 0}, {2.93, 0}},
      {"swift", kAlone, {1.18, 0}, {1.56, 0}},
      {"mprdma", kAlone, {1.08, 0}, {2.93, 0}},
      {"ndp", kAlone, {1.03, 0.97}, {1.02, 0.97}},
      {"eqds", kAlone, {1.04, 0.97}, {1.03, 0.97}},
      {"nscc", kAlone, {1.05, 0.95}, {1.85, 0}},
      {"rccc", kAlone, {1.04, 0.97}, {1.03, 0.97}},
      {"nscc_rccc", kAlone, {1.03, 0.97}, {1.04, 0.97}},
      {"smartt", kAlone, {1.09, 0}, {2.96, 0}},
      {"strack", kAlone, {1.12, 0}, {2.99, 0}},
      {"bolt", kAlone, {1.27, 0}, {3, 0}},
      {"bbr", kAlone, {2.26, 0}, {6, 0}},
      {"uno", kAlone, {1.32, 0.88}, {5.3, 0}},
      {"newreno", kAlone, {1.23, 0}, {2.97, 0}},
      {"cubic", kAlone, {1.27, 0}, {5.94, 0}},
      {"fixed_window", kLossless, {1.02, 0}, {1.02, 0}},
      {"dctcp", kLossless, {1.02, 0}, {1.02, 0}},
      {"timely", kLossless, {1.02, 0}, {1.02, 0}},
      {"dcqcn", kLossless, {1.02, 0}, {1.02, 0}},
      {"hpcc", kLossless, {1.07, 0.97}, {1.03, 0.97}},
      {"powertcp", kLossless, {1.03, 0.97}, {1.03, 0.97}},
      {"swift", kLossless, {1.4, 0.92}, {2.04, 0.97}},
      {"mprdma", kLossless, {1.03, 0.93}, {1.02, 0.97}},
      {"nscc", kLossless, {1.03, 0.91}, {1.02, 0.97}},
      {"smartt", kLossless, {1.03, 0.95}, {1.02, 0.97}},
      {"strack", kLossless, {1.02, 0.91}, {1.02, 0.93}},
      {"bolt", kLossless, {1.02, 0.93}, {1.02, 0.95}},
      {"bbr", kLossless, {1.02, 0}, {1.02, 0}},
      {"uno", kLossless, {1.05, 0.97}, {1.02, 0.97}},
      {"newreno", kLossless, {1.02, 0.93}, {1.02, 0.95}},
      {"cubic", kLossless, {1.02, 0}, {1.02, 0.97}},
  };
}

// Hosts 1 … `senders` send to host 0.
Incast measure(const Bounds& row, const std::string& topology, std::uint32_t hosts, std::uint32_t senders) {
  const std::string queue = row.queue.empty() ? "" : " queue { " + row.queue + " }";
  const Completion c = complete(topology + " congestion { " + row.control + " {} }" + queue, hosts,
                                incast(senders + 1, kBytes));
  if (!row.queue.empty()) CHECK(signal(c.report, "drop") == 0);
  std::vector<double> goodputs;
  for (const results::Flow& flow : c.report.flows) goodputs.push_back(1 / microseconds(flow.finish));
  return {c.longest() / (senders * wire_us(kBytes)), congestion::jain(goodputs)};
}

void check(const Incast& measured, const Incast& bound) {
  CHECK(measured.time >= 1);
  CHECK(measured.time <= bound.time);
  CHECK(measured.even >= bound.even);
}

}  // namespace

TEST_CASE("incast under every control: 100 and 1000 to one, 256 KB each") {
  CHECK(congestion::unmatched(bounds()) == "");
  const Bounds row = GENERATE(from_range(bounds()));
  const Incast hundred = measure(row, fat_tree(8), 128, 100);
  const Incast thousand = measure(row, leaf_spine(32), 1024, 1000);
  CAPTURE(row.control, row.queue, hundred.time, hundred.even, thousand.time, thousand.even);
  check(hundred, row.hundred);
  check(thousand, row.thousand);
}

}  // namespace weft::validation

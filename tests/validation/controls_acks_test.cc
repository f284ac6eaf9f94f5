// ACKs for several packets under every congestion control: hardly slower than with one for each, or warned
// of. Alone between two hosts, where a window of about what the path holds has to be told in time; and in an
// incast of eight, whose windows may be smaller than what an ACK is for.
#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "congestion/controls/controls.h"
#include "tests/validation/completion.h"

namespace weft::validation {
namespace {

struct Took {
  double us = 0;
  bool warned = false;
};

Took measure(const std::string& control, int ack_every, const Messages& messages) {
  const Completion c =
      complete(fmt::format("{} congestion {{ {} {{}} }} network {{ packet {{ ack_every: {} }} }}",
                           fat_tree(4), control, ack_every),
               16, messages);
  const auto is_told = [](const std::string& text) { return text.find("ack_every") != std::string::npos; };
  return {c.longest(), std::ranges::any_of(c.report.warnings, is_told)};
}

// Adds up the times of all runs: where packets are dropped, how long a single incast takes is chance.
Took measure(const std::string& control, int ack_every, const std::vector<Messages>& runs) {
  Took all;
  for (const Messages& messages : runs) {
    const Took one = measure(control, ack_every, messages);
    all.us += one.us;
    all.warned |= one.warned;
  }
  return all;
}

void check(const congestion::Control& control, const std::vector<Messages>& runs) {
  const Took single = measure(control.info.name, 1, runs);
  CHECK(!single.warned);
  for (const int ack_every : {4, 8, 16}) {
    const Took took = measure(control.info.name, ack_every, runs);
    INFO(control.info.name << ", an ACK for " << ack_every << ": " << single.us / took.us << " of the rate");
    CHECK(took.warned == control.wants_every_ack);
    CHECK((single.us / took.us >= 0.9 || took.warned));
  }
}

}  // namespace

TEST_CASE("ACKs for several packets under every control") {
  for (const congestion::Control& control : congestion::controls()) {
    check(control, {{{1, 0, 4'000'000}}});
    std::vector<Messages> incasts;
    for (std::uint64_t kb = 1000; kb <= 2000; kb += 125) incasts.push_back(incast(9, kb * 1000));
    check(control, incasts);
  }
}

// How much the way holds, from 14 packets to 500, decides what a window of just that loses. What is held back
// is less than an eighth of it.
TEST_CASE("ACKs for several packets, over paths of any length") {
  for (const congestion::Control& control : congestion::controls()) {
    for (const char* latency : {"1us", "3us", "10us", "40us"}) {
      const auto took = [&](int ack_every) {
        const Completion c =
            complete(fmt::format(R"(topology {{ single_switch {{ hosts: 2 link: "100Gbps" latency: "{}" }} }}
                           congestion {{ {} {{}} }} network {{ packet {{ ack_every: {} }} }})",
                                 latency, control.info.name, ack_every),
                     2, {{1, 0, 40'000'000}});
        return c.longest();
      };
      const double single = took(1);
      for (const int ack_every : {4, 16, 64}) {
        INFO(control.info.name << ", an ACK for " << ack_every << ", cables of " << latency);
        const double left = single / took(ack_every);
        CHECK(left > 7.0 / 8);
        if (control.info.name == "fixed_window") CHECK(left > 0.998);
      }
    }
  }
}

// Those that learn of a queue by its drops alone, or go by a rate that is measured from ACK to ACK: which
// packets are dropped is chance, and an incast by itself may take half as long again.
TEST_CASE("controls that want every ACK") {
  std::set<std::string> those;
  for (const congestion::Control& control : congestion::controls()) {
    if (control.wants_every_ack) those.insert(control.info.name);
  }
  CHECK(those == std::set<std::string>{"bbr", "cubic", "newreno", "timely"});
}

}  // namespace weft::validation

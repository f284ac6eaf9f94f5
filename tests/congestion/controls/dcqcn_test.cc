// DCQCN against its paper's rules, and the variant of NICs against theirs.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "sim/units/random.h"
#include "tests/congestion/controls/driven_sender.h"

namespace weft::congestion {
namespace {

// The paper's: 40 Gb/s, so that R_AI is 40 Mb/s and R_HAI 400.
constexpr double kLine = 40e9;
constexpr FlowInfo kFlow{
    .mtu_bytes = 1000, .line_rate = Bandwidth::gbps(40), .base_rtt = Time::us(10), .bdp_bytes = 50'000};
constexpr double kG = 1.0 / 256;

void at(DrivenSender& flow, std::int64_t us) { flow->on_ack({.now = Time::us(us), .bytes = 1000}); }

TEST_CASE(
    "DCQCN: line rate until the first notification, which halves it; then half the way back, five times") {
  DrivenSender flow("dcqcn", {}, kFlow);
  flow->start(Time());
  at(flow, 1000);
  REQUIRE(flow.rate() == kLine);
  flow->on_notification(Time::us(1000));
  REQUIRE(flow.rate() == kLine / 2);
  // R_T stays at the line rate: 1/2, 3/4, 7/8 … each 55 us; additive steps find it there.
  double distance = 0.5;
  for (int i = 1; i <= 7; ++i) {
    at(flow, 1000 + 55 * i - 1);
    REQUIRE(flow.rate() == near(kLine * (1 - distance)));
    at(flow, 1000 + 55 * i);
    distance /= 2;
    REQUIRE(flow.rate() == near(kLine * (1 - distance)));
  }
  // All at once comes to the same.
  DrivenSender late("dcqcn", {}, kFlow);
  late->start(Time());
  late->on_notification(Time::us(1000));
  at(late, 1000 + 55 * 7);
  REQUIRE(late.rate() == flow.rate());
  at(late, 1'000'000);
  REQUIRE(late.rate() == kLine);
}

TEST_CASE("DCQCN: alpha, additive and hyper increase by hand") {
  DrivenSender flow("dcqcn", {{"byte_counter", "100kB"}}, kFlow);
  flow->start(Time());
  // Two notifications 50 us apart: alpha is 1 for the first, and 1 again for the second, as no 55 us passed.
  flow->on_notification(Time::us(0));
  flow->on_notification(Time::us(50));
  REQUIRE(flow.rate() == near(kLine / 4));
  double target = kLine / 2, rate = kLine / 4;
  // The counter: five times half the way, then by R_AI, whatever the timer (which has not gone off yet).
  std::int64_t sends = 0;
  const auto send = [&](int packets) {
    for (int i = 0; i < packets; ++i) flow->on_send({.at = Time::us(50) + Time::ns(++sends), .bytes = 1000});
  };
  for (int i = 0; i < 5; ++i) {
    send(99);
    REQUIRE(flow.rate() == near(rate));
    send(1);
    REQUIRE(flow.rate() == near(rate = (rate + target) / 2));
  }
  for (int i = 0; i < 2; ++i) {
    send(100);
    target += 40e6;
    REQUIRE(flow.rate() == near(rate = (rate + target) / 2));
  }
  // The timer: five times by R_AI, as the counter is beyond F; then both are: hyper, i = 1 and 2.
  for (int i = 1; i <= 5; ++i) {
    at(flow, 50 + 55 * i);
    target += 40e6;
    REQUIRE(flow.rate() == near(rate = (rate + target) / 2));
  }
  for (int i = 1; i <= 2; ++i) {
    at(flow, 50 + 55 * (5 + i));
    target += 400e6 * i;
    REQUIRE(flow.rate() == near(rate = (rate + target) / 2));
  }
  // alpha has fallen seven times, and rises again by g after the cut.
  double alpha = std::pow(1 - kG, 7);
  flow->on_notification(Time::us(50 + 55 * 7 + 1));
  REQUIRE(flow.rate() == near(rate *= 1 - alpha / 2));
  alpha = (1 - kG) * alpha + kG;
  flow->on_notification(Time::us(50 + 55 * 7 + 2));
  REQUIRE(flow.rate() == near(rate * (1 - alpha / 2)));
}

// The variant of NICs as its published simulator steps through it: three timers, one for each thing. A
// microsecond at a time; cuts come just after alpha.
struct VendorSteps {
  double rate = kLine, target = kLine, alpha = 1;
  bool first = true, cnp_for_alpha = false, cnp_for_cut = false;
  std::int64_t alpha_due = 0, cut_due = 0, increase_due = 0;
  int stage = 0;
  static constexpr double kGain = 5.0 / 1024, kAi = kLine / 5000, kHai = kLine / 500, kLeast = 100e6;

  void cnp(std::int64_t us) {
    cnp_for_cut = true;
    if (!first) {
      cnp_for_alpha = true;
      return;
    }
    first = false;
    alpha_due = us + 1;
    cut_due = us + 4;
    increase_due = us + 300;
  }
  void tick(std::int64_t us) {
    if (first) return;
    if (us == alpha_due) {
      alpha = cnp_for_alpha ? (1 - kGain) * alpha + kGain : (1 - kGain) * alpha;
      cnp_for_alpha = false;
      alpha_due += 1;
    }
    if (us == increase_due) {
      ++stage;
      if (stage == 2) target += kAi;
      if (stage > 2) target += kHai;
      target = std::min(target, kLine);
      rate = (rate + target) / 2;
      increase_due += 300;
    }
    if (us == cut_due) {
      if (cnp_for_cut) {
        if (stage != 0) target = rate;
        rate = std::max(kLeast, rate * (1 - alpha / 2));
        stage = 0;
        cnp_for_cut = false;
        increase_due = us + 300;
      }
      cut_due += 4;
    }
  }
};

TEST_CASE("DCQCN of NICs follows its timers through random notifications, looked at often or not") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    RandomStream random(seed, 3);
    DrivenSender flow("dcqcn", {{"variant", "vendor"}}, kFlow);
    flow->start(Time());
    VendorSteps oracle;
    const std::uint64_t pause = seed % 2 == 0 ? 400 : 30;
    std::int64_t next_cnp = 5;
    for (std::int64_t us = 0; us < 6000; ++us) {
      oracle.tick(us);
      if (us == next_cnp) {
        oracle.cnp(us);
        flow->on_notification(Time::us(us));
        next_cnp += 4 + static_cast<std::int64_t>(random.below(pause));
      }
      if (random.below(50) == 0) {
        at(flow, us);
        REQUIRE(flow.rate() == Approx(oracle.rate).epsilon(3e-6));
      }
    }
    REQUIRE(oracle.rate < kLine);
  }
}

TEST_CASE("DCQCN: losses and timeouts change nothing, and the least rate holds") {
  DrivenSender flow("dcqcn", {{"min_rate", "1Gbps"}}, kFlow);
  flow->start(Time());
  flow->on_loss({.now = Time::us(1), .bytes = 1000});
  flow->on_timeout({.now = Time::us(2), .bytes = 1000});
  REQUIRE(flow.rate() == kLine);
  for (int i = 0; i < 10; ++i) flow->on_notification(Time::us(10 + i));
  REQUIRE(flow.rate() == 1e9);
}

class NotedActions final : public ReceiverActions {
 public:
  Time now() const override { return time; }
  void acknowledge(ConnectionId) override { FAIL("it leaves ACKs alone"); }
  void notify(ConnectionId connection) override { sent.emplace_back(time, connection); }
  void grant(ConnectionId, std::uint64_t) override { FAIL("it grants nothing"); }
  void set_timer(Time at) override { timer = at; }
  Time time, timer = Time::max();
  std::vector<std::pair<Time, ConnectionId>> sent;
};

TEST_CASE("DCQCN's receiver: one notification for a flow in 50 us, each flow for itself") {
  const Control& control = find_module(controls(), {.name = "dcqcn", .given = {}, .location = {}}, "control");
  const auto receiver = control.make_receivers(Parameters(control.info, {}))->make({});
  NotedActions actions;
  std::uint32_t words[2] = {};
  std::vector<std::pair<Time, ConnectionId>> expected;
  Time last[2] = {Time::us(-1000), Time::us(-1000)};
  RandomStream random(1, 9);
  for (int i = 0; i < 3000; ++i) {
    actions.time += Time::ns(static_cast<std::int64_t>(random.below(2000)));
    const ConnectionId flow = random.below(2);
    const bool marked = random.below(4) == 0;
    REQUIRE(receiver->on_data(
                {.now = actions.time, .connection = flow, .payload_bytes = 1000, .ecn_marked = marked},
                words[flow], actions) == AckTime::kByRule);
    if (marked && actions.time - last[flow] >= Time::us(50)) {
      last[flow] = actions.time;
      expected.emplace_back(actions.time, flow);
    }
  }
  REQUIRE(expected.size() > 50);
  REQUIRE(actions.sent == expected);
  REQUIRE(actions.timer == Time::max());
}

TEST_CASE("DCQCN's receiver: notifications take time to make, if they are said to") {
  const Control& control = find_module(controls(), {.name = "dcqcn", .given = {}, .location = {}}, "control");
  const auto receiver =
      control.make_receivers(Parameters(control.info, {{"cnp_delay", "3us"}, {"variant", "vendor"}}))
          ->make({});
  NotedActions actions;
  std::uint32_t words[2] = {};
  for (const std::int64_t us : {10, 11, 15}) {  // to flows 0, 1, and 0 again, 4 us or more later
    actions.time = Time::us(us);
    const ConnectionId flow = us == 11 ? 1 : 0;
    receiver->on_data({.now = actions.time, .connection = flow, .ecn_marked = true}, words[flow], actions);
    if (us == 11) {
      REQUIRE(actions.timer == Time::us(13));
      actions.time = Time::us(13);
      receiver->on_timer(actions);
      REQUIRE(actions.timer == Time::us(14));
      actions.time = Time::us(14);
      receiver->on_timer(actions);
    }
  }
  REQUIRE(actions.timer == Time::us(18));
  actions.time = Time::us(18);
  receiver->on_timer(actions);
  REQUIRE(actions.sent == std::vector<std::pair<Time, ConnectionId>>{
                              {Time::us(13), 0}, {Time::us(14), 1}, {Time::us(18), 0}});
}

TEST_CASE("DCQCN: impossible parameters are refused") {
  for (const auto& [name, value] : std::map<std::string, std::string>{{"variant", "other"},
                                                                      {"gain", "0"},
                                                                      {"alpha_interval", "0us"},
                                                                      {"increase_interval", "0us"},
                                                                      {"decrease_interval", "0us"},
                                                                      {"fast_recovery", "-1"},
                                                                      {"step", "0"},
                                                                      {"min_rate", "5"}}) {
    INFO(name);
    REQUIRE_THROWS_AS(DrivenSender("dcqcn", {{name, value}}, kFlow), InputError);
  }
  const Control& control = find_module(controls(), {.name = "dcqcn", .given = {}, .location = {}}, "control");
  REQUIRE_THROWS_AS(control.make_receivers(Parameters(control.info, {{"cnp_interval", "2s"}})), InputError);
}

}  // namespace
}  // namespace weft::congestion

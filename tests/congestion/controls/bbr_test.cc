// BBR against its draft, on a path that is simulated here: one bottleneck, packets and times as real numbers.
#include <algorithm>
#include <cmath>
#include <deque>

#include "tests/congestion/controls/driven_sender.h"

namespace weft::congestion {
namespace {

constexpr FlowInfo kFlow{
    .mtu_bytes = 1000, .line_rate = Bandwidth::gbps(10), .base_rtt = Time::us(100), .bdp_bytes = 125'000};

Time us(double count) { return Time::ps(std::llround(count * 1e6)); }

// Sends as the sender allows, over a link of `bottleneck` bytes per microsecond and 100 us there and back.
class Path {
 public:
  Path(DrivenSender& flow, double bottleneck, double backlog) : flow_(flow), bottleneck_(bottleneck) {
    flow_->start(Time());
    flow_->on_message(Time(), static_cast<std::uint64_t>(backlog), 0);
    left_ = backlog;
  }
  double now() const { return now_; }
  double in_flight() const { return in_flight_; }
  double queue_us() const { return std::max(0.0, free_ - now_); }
  double delivered() const { return delivered_; }

  // The next thing that happens, an ACK or a packet sent.
  void step() {
    const double next_send =
        in_flight_ + kBytes <= flow_.window() && left_ >= kBytes ? std::max(now_, send_at_) : 1e18;
    const double next_ack = acks_.empty() ? 1e18 : acks_.front().at;
    now_ = std::min(next_send, next_ack);
    if (next_send < next_ack) {
      send();
    } else {
      take_ack();
    }
  }
  void run_until(double end) {
    while (now_ < end && (left_ >= kBytes || !acks_.empty())) step();
  }
  void speed_up(double bottleneck) { bottleneck_ = bottleneck; }

 private:
  static constexpr double kBytes = 1000;
  struct Answer {
    double at, sent;
  };
  void send() {
    send_at_ = now_ + kBytes * 8 / (flow_.rate() * 1e-6);
    free_ = std::max(free_, now_) + kBytes / bottleneck_;
    acks_.push_back({free_ + 100 - kBytes / bottleneck_, now_});
    in_flight_ += kBytes;
    left_ -= kBytes;
    flow_->on_send({.at = us(now_), .bytes = 1000});
  }
  void take_ack() {
    const Answer answer = acks_.front();
    acks_.pop_front();
    in_flight_ -= kBytes;
    delivered_ += kBytes;
    flow_->on_ack({.now = us(now_),
                   .rtt = us(answer.at) - us(answer.sent),
                   .bytes = 1000,
                   .in_flight = static_cast<std::uint64_t>(in_flight_)});
  }

  DrivenSender& flow_;
  double bottleneck_, left_ = 0;
  double now_ = 0, send_at_ = 0, free_ = 0, in_flight_ = 0, delivered_ = 0;
  std::deque<Answer> acks_;
};

TEST_CASE("BBR: begins with ten packets at 2 / ln 2 times their rate, and grows by that a round trip") {
  DrivenSender flow("bbr", {}, kFlow);
  Path path(flow, 1250, 1e9);
  REQUIRE(flow.window() == 10'000);
  // 10 packets of 8000 bits in 100 us: 0.8 Gb/s.
  REQUIRE(flow.rate() == near(2.885 * 0.8e9));
  path.run_until(199);
  const double second = flow.rate();
  path.run_until(299);
  REQUIRE(flow.rate() / second > 1.5);
  REQUIRE(flow.rate() / second < 2.9);
}

TEST_CASE("BBR: finds the rate of the path, drains what that took, and cruises at 5/4, 3/4 and 1") {
  DrivenSender flow("bbr", {}, kFlow);
  const double bottleneck = GENERATE(50.0, 400.0, 1250.0);  // 0.4, 3.2, 10 Gb/s
  Path path(flow, bottleneck, 1e9);
  double longest = 0;
  while (path.now() < 2000) {
    path.step();
    longest = std::max(longest, path.queue_us());
  }
  // Start-up holds up to 2.885 products and four packets in flight; or, where that is more, twice the first
  // window.
  REQUIRE(longest <= std::max(195 + 4000 / bottleneck, 20'000 / bottleneck - 99));
  const double before = path.delivered(), began = path.now();
  double most = 0, least = 1e18, unity = 0, acks = 0;
  while (path.now() < 2000 + 16 * 130) {
    path.step();
    const double gain = flow.rate() / 8e6 / bottleneck;
    most = std::max(most, gain);
    least = std::min(least, gain);
    ++acks;
    unity += gain > 0.97 && gain < 1.03 ? 1 : 0;
    // Twice the product, and three packets.
    REQUIRE(flow.window() <= (2 * bottleneck * 100 * 1.03) + 3000 + 1000);
  }
  REQUIRE(most == Approx(1.25).epsilon(0.03));
  REQUIRE(least == Approx(0.75).epsilon(0.03));
  REQUIRE(unity / acks > 0.6);  // six phases of eight
  REQUIRE((path.delivered() - before) / (path.now() - began) > 0.97 * bottleneck);
}

TEST_CASE("BBR: a path that gets faster is found within cycles of a quarter more") {
  DrivenSender flow("bbr", {}, kFlow);
  Path path(flow, 400, 1e9);
  path.run_until(3000);
  path.speed_up(800);
  // 1.25^4 > 2: four cycles of eight round trips.
  path.run_until(3000 + 5 * 8 * 110);
  const double before = path.delivered(), began = path.now();
  path.run_until(began + 2000);
  REQUIRE((path.delivered() - before) / (path.now() - began) > 0.95 * 800);
}

TEST_CASE("BBR: a sender with little to send doesn't take that for the path's rate") {
  DrivenSender flow("bbr", {}, kFlow);
  Path path(flow, 400, 1e6);
  path.run_until(3000);
  const double rate = flow.rate();
  // Two packets every 100 us for 20 rounds, longer than the filter remembers.
  Time now = us(10'000);
  for (int i = 0; i < 20; ++i, now += us(100)) {
    flow->on_message(now, 2000, 2000);
    flow->on_send({.at = now, .bytes = 1000});
    flow->on_send({.at = now + us(1), .bytes = 1000});
    flow->on_ack({.now = now + us(98), .rtt = us(98), .bytes = 1000, .in_flight = 1000});
    flow->on_ack({.now = now + us(99), .rtt = us(98), .bytes = 1000, .in_flight = 0});
  }
  REQUIRE(flow.rate() > 0.7 * rate);
}

TEST_CASE("BBR: what is lost leaves the window, a timeout leaves one packet") {
  DrivenSender flow("bbr", {}, kFlow);
  Path path(flow, 400, 1e9);
  path.run_until(3000);
  const double window = flow.window(), rate = flow.rate();
  flow->on_loss({.now = us(path.now()), .bytes = 7000});
  REQUIRE(flow.window() == window - 7000);
  REQUIRE(flow.rate() == rate);
  flow->on_timeout({.now = us(path.now()), .bytes = 1000});
  REQUIRE(flow.window() == 1000);
}

TEST_CASE("BBR: a shortest round trip that is too old is looked for again, with four packets in flight") {
  DrivenSender flow("bbr", {{"rtt_lifetime", "5ms"}, {"probe_rtt", "400us"}}, kFlow);
  Path path(flow, 400, 1e9);
  path.run_until(4000);
  int low = 0;
  double first = 0, last = 0;
  while (path.now() < 12'000) {
    path.step();
    if (flow.window() != 4000) continue;
    if (low++ == 0) first = path.now();
    last = path.now();
  }
  REQUIRE(low > 0);
  REQUIRE(first > 5000);
  // A round trip to empty the path before, 400 us, and one that ends it, in which nothing happens for long.
  REQUIRE(last - first > 300);
  REQUIRE(last - first < 400 + 400);
  const double before = path.delivered(), began = path.now();
  path.run_until(began + 1000);
  REQUIRE((path.delivered() - before) / (path.now() - began) > 0.95 * 400);
}

TEST_CASE("BBR: flows begin in different phases, and none below the rate") {
  std::map<int, int> gains;
  for (std::uint32_t random = 0; random < 14; ++random) {
    FlowInfo info = kFlow;
    info.random = random;
    DrivenSender flow("bbr", {}, info);
    Path path(flow, 400, 1e9);
    double earlier = flow.rate();
    // Start-up ends with the drain, at 1 / 2.885; what comes after is the first phase.
    while (flow.rate() > 400 * 8e6 / 2) {
      earlier = flow.rate();
      path.step();
    }
    REQUIRE(earlier > 400 * 8e6);
    while (flow.rate() < 400 * 8e6 / 2) path.step();
    ++gains[static_cast<int>(std::lround(flow.rate() / (400 * 8e4)))];
  }
  REQUIRE(gains.size() == 2);
  REQUIRE(gains.begin()->first == Approx(100).margin(2));
  REQUIRE(gains.begin()->second == 12);
  REQUIRE(gains.rbegin()->first == Approx(125).margin(3));
  REQUIRE(gains.rbegin()->second == 2);
}

TEST_CASE("BBR: impossible parameters are refused") {
  for (const auto& [name, value] : std::map<std::string, std::string>{{"startup_gain", "1"},
                                                                      {"probe_gain", "2"},
                                                                      {"window_gain", "0.5"},
                                                                      {"full_growth", "1"},
                                                                      {"full_rounds", "0"},
                                                                      {"rate_rounds", "17"},
                                                                      {"initial_window", "0"}}) {
    INFO(name);
    REQUIRE_THROWS_AS(DrivenSender("bbr", {{name, value}}, kFlow), InputError);
  }
}

}  // namespace
}  // namespace weft::congestion

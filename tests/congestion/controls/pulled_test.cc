// Credit: what senders want and may send, what receivers grant and when, worked by hand.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <vector>

#include "congestion/controls/controls.h"
#include "congestion/controls/network_rate.h"

namespace weft::congestion {
namespace {

constexpr std::uint64_t kMtu = 1000;
constexpr FlowInfo kFlow{.mtu_bytes = kMtu,
                         .line_rate = Bandwidth::gbps(100),
                         .base_rtt = Time::us(8),
                         .longest_rtt = Time::us(8),
                         .network_rtt = Time::us(8),
                         .bdp_bytes = 100'000,
                         .hops = 4};

const Control& named(const std::string& name) {
  return find_module(controls(), {.name = name, .given = {}, .location = {}}, "control");
}

struct Flow {
  Flow(const std::string& name, const std::map<std::string, std::string>& given) {
    const Control& control = named(name);
    factory = control.make_factory(Parameters(control.info, given));
    storage.resize(factory->sender_bytes() / sizeof(double) + 2);
    sender = factory->construct(storage.data(), kFlow);
    sender->start(Time());
  }
  ~Flow() { sender->~Sender(); }
  std::uint64_t credit() const { return sender->allowed().credit_bytes; }
  std::uint64_t wanted() const { return sender->wanted_credit(); }
  void message(std::uint64_t bytes) { sender->on_message(Time(), bytes, bytes); }
  void send(int packets) {
    for (int i = 0; i < packets; ++i) sender->on_send({.at = Time::us(1), .bytes = kMtu});
  }
  std::unique_ptr<SenderFactory> factory;
  std::vector<double> storage;
  Sender* sender = nullptr;
};

TEST_CASE("RCCC's sender: a window of its own until the first answer, then what is granted") {
  Flow flow("rccc", {});
  flow.message(400 * kMtu);
  REQUIRE(flow.credit() == 150 * kMtu);
  REQUIRE(flow.wanted() == kMtu);  // min(400, 0 + 150) − 150, and a packet that brings it to tell more
  flow.send(100);
  REQUIRE(flow.wanted() == 100 * kMtu);  // min(400, 100 + 150) − 150
  // The first answer takes back the 50 packets that it had left.
  flow.sender->on_ack({.now = Time::us(8), .bytes = kMtu});
  REQUIRE(flow.credit() == 100 * kMtu);
  REQUIRE(flow.wanted() == 150 * kMtu);  // min(400, 250) − 100
  flow.sender->on_credit(Time::us(9), 4 * kMtu);
  REQUIRE(flow.credit() == 104 * kMtu);
  flow.send(4);
  REQUIRE(flow.wanted() == 154 * kMtu);
  // Near the end all that is left, and no more: 400 − 100.
  flow.sender->on_credit(Time::us(20), 250 * kMtu);
  flow.send(246);
  REQUIRE(flow.wanted() == 300 * kMtu);
  // What was trimmed has to be sent again, and asked for.
  flow.sender->on_trim({.now = Time::us(21), .bytes = 3 * kMtu});
  REQUIRE(flow.wanted() == 303 * kMtu);
  REQUIRE(flow.credit() == 350 * kMtu);
  // Grants that come late or twice don't count.
  flow.sender->on_credit(Time::us(22), 240 * kMtu);
  REQUIRE(flow.credit() == 350 * kMtu);
}

TEST_CASE(
    "a short message is not left without credit when the answer to its first packets takes back the rest") {
  Flow flow("eqds", {});
  flow.message(10 * kMtu);  // a tenth of the first window
  flow.send(3);             // and then its NIC serves others
  REQUIRE(flow.wanted() == kMtu);
  flow.sender->on_ack({.now = Time::us(8), .bytes = kMtu});
  REQUIRE(flow.credit() == 3 * kMtu);
  flow.sender->on_credit(Time::us(9), kMtu);
  flow.send(1);
  REQUIRE(flow.wanted() == 7 * kMtu);  // all of the rest
  // Sent in one go it asks for nothing with its last packet.
  Flow whole("eqds", {});
  whole.message(10 * kMtu);
  whole.send(10);
  REQUIRE(whole.wanted() == 0);
}

TEST_CASE("a sender without credit sends a packet when something was lost, or nothing is heard for long") {
  Flow flow("eqds", {{"patience", "100us"}});
  flow.message(400 * kMtu);
  REQUIRE(flow.credit() == 100 * kMtu);  // one bandwidth-delay product
  flow.send(100);
  flow.sender->on_timeout({.now = Time::us(150), .bytes = 100 * kMtu});
  REQUIRE(flow.credit() == 101 * kMtu);
  flow.send(1);
  // The timer is set once; it looks again where something was heard.
  REQUIRE(flow.sender->wake_at() == Time::us(100));
  flow.sender->on_timer(Time::us(200));
  REQUIRE(flow.credit() == 101 * kMtu);
  REQUIRE(flow.sender->wake_at() == Time::us(250));
  flow.sender->on_timer(Time::us(250));
  REQUIRE(flow.credit() == 102 * kMtu);
  REQUIRE(flow.sender->wake_at() == Time::us(450));  // twice as long
  flow.sender->on_timer(Time::us(450));
  REQUIRE(flow.credit() == 102 * kMtu);  // it wasn't used yet
}

TEST_CASE("a message after all others were acknowledged begins with a window again, and the timer rests") {
  Flow flow("rccc", {});
  flow.message(10 * kMtu);
  flow.send(10);
  flow.sender->on_ack({.now = Time::us(9), .bytes = 10 * kMtu});
  flow.sender->on_timer(flow.sender->wake_at());
  REQUIRE(flow.sender->wake_at() == Time::max());
  REQUIRE(flow.credit() == 10 * kMtu);
  flow.message(500 * kMtu);
  REQUIRE(flow.credit() == 160 * kMtu);
  // One that joins others doesn't.
  flow.message(500 * kMtu);
  REQUIRE(flow.credit() == 160 * kMtu);
}

TEST_CASE("what recovery spares need not be granted, and isn't waited for") {
  Flow flow("rccc", {});
  flow.message(400 * kMtu);  // redundant packets included
  flow.send(350);
  flow.sender->on_ack({.now = Time::us(8), .bytes = 350 * kMtu});
  REQUIRE(flow.wanted() == 250 * kMtu);  // of its own it had 150
  flow.sender->on_spared(30 * kMtu);
  REQUIRE(flow.wanted() == 220 * kMtu);
  flow.sender->on_credit(Time::us(9), 220 * kMtu);
  flow.send(20);
  flow.sender->on_ack({.now = Time::us(20), .bytes = 20 * kMtu});
  flow.sender->on_timer(Time::us(2100));
  REQUIRE(flow.sender->wake_at() == Time::max());
  flow.message(10 * kMtu);  // begins with a window of its own
  REQUIRE(flow.credit() == 370 * kMtu + 150 * kMtu);
}

TEST_CASE("with NSCC's window, no more is asked for than that can use") {
  Flow flow("nscc_rccc", {{"initial_window", "20"}});
  REQUIRE(flow.sender->allowed().window_bytes == 20 * kMtu);
  flow.message(400 * kMtu);
  flow.send(20);
  flow.sender->on_trim({.now = Time::us(8), .bytes = kMtu, .at_last_hop = true});
  REQUIRE(flow.sender->allowed().window_bytes == 20 * kMtu);  // the receiver's business
  // sent + window + a packet − own, which is what was sent.
  REQUIRE(flow.wanted() == 21 * kMtu);
  flow.sender->on_trim({.now = Time::us(8), .bytes = kMtu});
  REQUIRE(flow.sender->allowed().window_bytes == 19 * kMtu);
  REQUIRE(flow.wanted() == 20 * kMtu);
}

TEST_CASE("NDP's sender keeps its first window, and asks for all it has") {
  Flow flow("ndp", {});
  flow.message(400 * kMtu);
  REQUIRE(flow.credit() == 100 * kMtu);
  REQUIRE(flow.wanted() == 300 * kMtu);
  flow.send(10);
  flow.sender->on_ack({.now = Time::us(8), .bytes = kMtu});
  REQUIRE(flow.credit() == 100 * kMtu);
  flow.sender->on_trim({.now = Time::us(9), .bytes = kMtu});
  REQUIRE(flow.wanted() == 300 * kMtu);  // the receiver counts these
  // … but for headers that came back.
  flow.sender->on_trim({.now = Time::us(9), .bytes = kMtu, .returned = true});
  REQUIRE(flow.wanted() == 301 * kMtu);
}

TEST_CASE("NDP's first window is for what was never sent: all else waits for pulls") {
  Flow flow("ndp", {});
  flow.message(20 * kMtu);
  REQUIRE(flow.credit() == 20 * kMtu);
  flow.send(20);
  flow.sender->on_trim({.now = Time::us(8), .bytes = 5 * kMtu, .in_flight = 15 * kMtu});
  REQUIRE(flow.credit() == 20 * kMtu);
  // The window has 80 packets left for what joins.
  flow.message(100 * kMtu);
  REQUIRE(flow.credit() == 100 * kMtu);
  REQUIRE(flow.wanted() == 20 * kMtu);
}

TEST_CASE("headers that came back wait while there are answers or pulls to come, then one of them goes") {
  Flow flow("ndp", {});
  flow.message(10 * kMtu);
  flow.send(10);
  const auto comes_back = [&](int in_flight) {
    flow.sender->on_trim(
        {.now = Time::us(8), .bytes = kMtu, .in_flight = in_flight * kMtu, .returned = true});
  };
  for (int left = 9; left >= 4; --left) comes_back(left);
  REQUIRE(flow.credit() == 10 * kMtu);
  REQUIRE(flow.wanted() == 6 * kMtu);
  flow.sender->on_trim({.now = Time::us(9), .bytes = kMtu, .in_flight = 3 * kMtu});
  flow.sender->on_ack({.now = Time::us(9), .bytes = 3 * kMtu, .in_flight = 0});
  REQUIRE(flow.credit() == 10 * kMtu);  // the one that was trimmed will be pulled
  flow.sender->on_credit(Time::us(10), kMtu);
  flow.send(1);
  comes_back(0);
  REQUIRE(flow.credit() == 12 * kMtu);  // nobody knows of the rest
  REQUIRE(flow.wanted() == 6 * kMtu);
  flow.send(1);
  comes_back(0);
  REQUIRE(flow.credit() == 13 * kMtu);
}

TEST_CASE("a message that joined others, and of which no packet could tell, begins when these are there") {
  for (const char* name : {"eqds", "ndp", "rccc"}) {
    Flow flow(name, {{"window", "1"}});
    flow.message(100 * kMtu);
    flow.send(100);
    flow.message(30 * kMtu);
    REQUIRE(flow.credit() == 100 * kMtu);
    flow.sender->on_ack({.now = Time::us(8), .bytes = 60 * kMtu, .in_flight = 40 * kMtu});
    REQUIRE(flow.credit() == 100 * kMtu);
    flow.sender->on_ack({.now = Time::us(9), .bytes = 40 * kMtu, .in_flight = 0});
    INFO(name);
    REQUIRE(flow.credit() >= 130 * kMtu);
    // What was told of is granted without: 170 of 200.
    flow.message(170 * kMtu);
    flow.send(30);
    const std::uint64_t before = flow.credit();
    flow.sender->on_ack({.now = Time::us(18), .bytes = 30 * kMtu, .in_flight = 0});
    REQUIRE(flow.credit() <= std::max<std::uint64_t>(before, 130 * kMtu));
  }
}

TEST_CASE("what the first answer takes back was asked for before: the sender waits for the grant") {
  for (const char* name : {"eqds", "rccc"}) {
    Flow flow(name, {{"window", "1"}});
    flow.message(4 * kMtu);
    flow.send(2);  // the NIC was busy with others
    REQUIRE(flow.wanted() == kMtu);
    flow.sender->on_ack({.now = Time::us(8), .bytes = kMtu, .in_flight = kMtu});
    REQUIRE(flow.credit() == 2 * kMtu);
    REQUIRE(flow.wanted() == 2 * kMtu);
    flow.sender->on_ack({.now = Time::us(8), .bytes = kMtu, .in_flight = 0});
    REQUIRE(flow.credit() == 2 * kMtu);
    flow.sender->on_credit(Time::us(9), kMtu);
    REQUIRE(flow.credit() == 3 * kMtu);
  }
}

// A receiver on a 100 Gb/s NIC, and what it does.
struct Nic final : ReceiverActions {
  Nic(const std::string& name, const std::map<std::string, std::string>& given) {
    const Control& control = named(name);
    receiver = control.make_receivers(Parameters(control.info, given))
                   ->make({.line_rate = Bandwidth::gbps(100),
                           .mtu_bytes = kMtu,
                           .header_bytes = 250,
                           .longest_rtt = Time::us(8)});
  }
  Time now() const override { return at; }
  void acknowledge(ConnectionId) override {}
  void notify(ConnectionId) override {}
  std::uint64_t granted(ConnectionId connection) const override {
    return grants.contains(connection) ? grants.at(connection) : 0;
  }
  void grant(ConnectionId connection, std::uint64_t bytes) override {
    grants[connection] += bytes;
    order.push_back(connection);
  }
  void set_timer(Time when) override { timer = when; }

  struct Packet {
    std::uint64_t wanted = 0;
    bool trimmed = false, completes = false;
  };
  void arrive(ConnectionId connection, const Packet& packet) {
    const AckTime when = receiver->on_data({.now = at,
                                            .connection = connection,
                                            .payload_bytes = packet.trimmed ? 0 : kMtu,
                                            .trimmed = packet.trimmed,
                                            .completes = packet.completes,
                                            .wanted_credit = packet.wanted},
                                           words[connection], *this);
    REQUIRE(when == AckTime::kByRule);
  }
  // The timer, as often.
  void run(int pulls) {
    for (int i = 0; i < pulls && timer < Time::max(); ++i) {
      at = timer;
      timer = Time::max();
      receiver->on_timer(*this);
    }
  }

  std::unique_ptr<Receiver> receiver;
  Time at, timer = Time::max();
  std::map<ConnectionId, std::uint64_t> grants;
  std::map<ConnectionId, std::uint32_t> words;
  std::vector<ConnectionId> order;
};

TEST_CASE("RCCC's receiver grants four packets in turn, at 99 % of its link") {
  Nic nic("rccc", {{"unasked_window", "0"}});
  nic.arrive(1, {.wanted = 10 * kMtu});
  REQUIRE(nic.grants[1] == 4 * kMtu);  // at once
  nic.arrive(2, {.wanted = 6 * kMtu});
  nic.arrive(3, {.wanted = 4 * kMtu});
  REQUIRE(nic.order == std::vector<ConnectionId>{1});
  // 4 · 1250 B at 99 Gb/s take 404.04 ns.
  REQUIRE(nic.timer.ps() == Approx(404'040).margin(1));
  nic.run(5);
  REQUIRE(nic.order == std::vector<ConnectionId>{1, 1, 2, 3, 1, 2});
  REQUIRE(nic.grants == std::map<ConnectionId, std::uint64_t>{{1, 10 * kMtu}, {2, 6 * kMtu}, {3, 4 * kMtu}});
  // The last two were for two packets each; then nothing is wanted, and the timer rests.
  REQUIRE(nic.timer.ps() == Approx(4 * 404'040 + 2 * 202'020).margin(6));
  nic.run(1);
  REQUIRE(nic.timer == Time::max());
  // What is trimmed is granted again though the sender couldn't ask for it yet, and once.
  nic.arrive(2, {.wanted = 6 * kMtu, .trimmed = true});
  REQUIRE(nic.grants[2] == 7 * kMtu);
  nic.run(1);
  nic.arrive(2, {.wanted = 7 * kMtu});
  REQUIRE(nic.grants[2] == 7 * kMtu);
}

TEST_CASE("flows in the middle of a message are granted a window unasked, when nobody asks") {
  // 1.5 · 100 Gb/s · 8 us = 150 packets: 38 pulls of four begin below that.
  Nic nic("rccc", {});
  nic.arrive(1, {.wanted = 4 * kMtu});
  nic.arrive(2, {.wanted = 0});  // never asked: it is not in the list
  nic.run(1000);
  REQUIRE(nic.grants[1] == (4 + 38 * 4) * kMtu);
  REQUIRE(nic.grants[2] == 0);
  // A message that is complete is granted nothing.
  nic.arrive(3, {.wanted = 4 * kMtu, .completes = true});
  nic.run(1000);
  REQUIRE(nic.grants[3] == 4 * kMtu);
}

TEST_CASE("places of flows whose messages are complete are used again, and what was granted stands") {
  Nic nic("eqds", {{"unasked_window", "0"}});
  for (ConnectionId flow = 1; flow <= 50; ++flow) {
    nic.arrive(flow, {.wanted = 2 * kMtu});
    nic.run(3);
    nic.arrive(flow, {.wanted = 2 * kMtu, .completes = true});
  }
  REQUIRE(nic.receiver->signals()[0] == std::pair<std::string, std::uint64_t>{"most_pulled_flows", 1});
  // The next message of the first: three more.
  nic.arrive(1, {.wanted = 5 * kMtu});
  nic.run(10);
  REQUIRE(nic.grants[1] == 5 * kMtu);
}

TEST_CASE(
    "NDP's receiver pulls a packet for each that came, in turn, at the link's rate, and no more than there "
    "are") {
  Nic nic("ndp", {});
  for (int i = 0; i < 3; ++i) nic.arrive(1, {.wanted = 100 * kMtu});
  for (int i = 0; i < 3; ++i) nic.arrive(2, {.wanted = 2 * kMtu, .trimmed = i == 2});
  REQUIRE(nic.timer == Time::ns(100));  // 1250 B
  nic.run(1000);
  // Two packets of the second flow were wanted, and one was cut off.
  REQUIRE(nic.order == std::vector<ConnectionId>{1, 1, 2, 1, 2, 2});
  REQUIRE(nic.at == Time::ns(600));
}

// The law once more, by its own statement.
TEST_CASE("control of the rate in oversubscribed networks") {
  NetworkRate rate({}, Time::us(12), 7);
  const auto packets = [&](int whole, int marked, int cut, int at_last_hop) {
    for (int i = 0; i < whole; ++i) rate.arrive({.ecn_marked = i < marked});
    for (int i = 0; i < cut; ++i) rate.arrive({.trimmed = true});
    for (int i = 0; i < at_last_hop; ++i) rate.arrive({.trimmed = true, .at_last_hop = true});
  };
  REQUIRE(rate.rate() == 1);
  packets(80, 0, 20, 0);  // a fifth was cut off
  REQUIRE(rate.step());
  REQUIRE(rate.rate() == Approx(0.8));
  packets(10, 10, 0, 0);  // g = 0.5
  REQUIRE(rate.step());
  REQUIRE(rate.rate() == Approx(0.8 * (1 - 0.2 * 0.5)));
  packets(10, 0, 0, 5);  // g = 0.25: below the target; the last hop doesn't count
  REQUIRE_FALSE(rate.step());
  REQUIRE(rate.rate() == Approx(0.72 + 0.01));
  packets(10, 0, 0, 0);
  rate.step();
  REQUIRE(rate.rate() == Approx(0.73 + 0.02));
  packets(10, 1, 0, 0);  // with marks, no more than one
  rate.step();
  REQUIRE(rate.rate() == Approx(0.75 + 0.01));
  for (int i = 0; i < 10; ++i) rate.step();
  REQUIRE(rate.rate() == 1);
  for (int i = 0; i < 20; ++i) {
    packets(1, 0, 99, 0);
    rate.step();
  }
  REQUIRE(rate.rate() == 0.01);
}

TEST_CASE("control of the rate by marks alone, with even steps, as drafts had it") {
  NetworkRate rate({.increase = 0.05, .growth = 1, .decrease = 0.75, .trims_count = false}, Time::us(12), 7);
  for (int i = 0; i < 10; ++i) rate.arrive({.ecn_marked = true, .trimmed = i < 5});
  REQUIRE(rate.step());
  REQUIRE(rate.rate() == Approx(1 - 0.2 * 0.75));  // g = 0.5
  rate.arrive({.trimmed = true});
  REQUIRE_FALSE(rate.step());
  REQUIRE(rate.rate() == Approx(0.9));
  REQUIRE_FALSE(rate.step());
  REQUIRE(rate.rate() == Approx(0.95));
}

TEST_CASE("its intervals are 1.5 round trips, give or take a quarter, and different for each receiver") {
  std::vector<int> steps;
  for (std::uint32_t nic = 0; nic < 20; ++nic) {
    NetworkRate rate({.increase = 1e-9}, Time::us(12), nic);
    rate.arrive({.trimmed = true});
    rate.advance(Time::us(23));  // no interval is longer than 22.5 us
    REQUIRE(rate.rate() < 0.5);
    NetworkRate early({}, Time::us(12), nic);
    early.arrive({.trimmed = true});
    early.advance(Time::us(13));  // nor shorter than 13.5 us
    REQUIRE(early.rate() == 1);
    int count = 0;
    for (int us = 1; us <= 18'000; ++us) {
      rate.arrive({.trimmed = true});
      count += static_cast<int>(rate.advance(Time::us(us)));
    }
    REQUIRE(count == Approx(1000).epsilon(0.03));
    steps.push_back(count);
  }
  REQUIRE(std::count(steps.begin(), steps.end(), steps[0]) < 20);
}

TEST_CASE("controls that are driven by receivers refuse values that make no sense") {
  for (const auto& [name, value] : std::map<std::string, std::string>{{"window", "0"},
                                                                      {"patience", "0us"},
                                                                      {"packets_per_pull", "0"},
                                                                      {"pull_rate", "1.5"},
                                                                      {"unasked_window", "-1"},
                                                                      {"rate_increase", "0"},
                                                                      {"rate_decrease", "2"},
                                                                      {"rate_growth", "0.5"},
                                                                      {"rate_interval", "0us"},
                                                                      {"marked_weight", "0"},
                                                                      {"marked_target", "-1"},
                                                                      {"least_rate", "0"},
                                                                      {"oversubscription", "0.5"}}) {
    INFO(name);
    CHECK_THROWS_WITH(Parameters(named("rccc").info, {{name, value}}),
                      Catch::StartsWith("rccc: " + name + " is '" + value + "', but it must be "));
  }
}

}  // namespace
}  // namespace weft::congestion

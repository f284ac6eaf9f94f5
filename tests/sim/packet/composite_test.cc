// Trimming: what is cut, what goes ahead, what is returned.
#include <catch2/catch.hpp>

#include "tests/sim/packet/fake_node.h"
#include "tests/sim/packet/support.h"
#include "topologies/families.h"

namespace weft::sim::packet {
namespace {

constexpr std::uint32_t kPacket = 4160;
constexpr PortId kIn{1}, kPort{0};

std::string with_room_for(int packets, const std::string& more = "") {
  return "composite:capacity=" + std::to_string(packets * kPacket) + more;
}

// The numbers of what the port sends from now on; headers as -1 - number.
std::vector<int> drain(NodeQueues& queues, FakeNode& node) {
  std::vector<int> sent;
  for (PacketHandle packet; (packet = node.send(queues, kPort)) != NodeQueues::kNone;) {
    const int number = static_cast<int>(node.pool[packet].number);
    sent.push_back(node.pool[packet].control() ? -1 - number : number);
    node.pool.release(packet);
  }
  return sent;
}

TEST_CASE("where data does not fit, the arriving packet or the newest that waits is cut, one time in two") {
  constexpr std::uint32_t kArrivals = 10'000;
  FakeNode node;
  const auto queues = make_queues(with_room_for(8, ",high_capacity=1MB"));
  std::uint32_t arriving_cut = 0, last_kept = 7;
  for (std::uint32_t number = 0; number < kArrivals; ++number) {
    queues->arrive(kIn, kPort, node.data(number, kPacket), node);
    if (number < 8) continue;
    REQUIRE(node.trimmed.size() == number - 7);
    if (node.trimmed.back() == number) {
      ++arriving_cut;
    } else {
      REQUIRE(node.trimmed.back() == last_kept);
      last_kept = number;
    }
  }
  // Binomial: 9,992 fair draws, five standard deviations.
  REQUIRE(arriving_cut == Approx(4996).margin(250));
  REQUIRE(node.dropped.empty());
  REQUIRE(queues->backlog_bytes(kPort) == 8 * kPacket + (kArrivals - 8) * FakeNode::kHeader);
  // First the headers, in the order they were cut; then data, of which only the newest place has changed.
  std::vector<int> expected;
  for (const std::uint32_t number : node.trimmed) expected.push_back(-1 - static_cast<int>(number));
  for (const std::uint32_t number : {0u, 1u, 2u, 3u, 4u, 5u, 6u, last_kept}) {
    expected.push_back(static_cast<int>(number));
  }
  REQUIRE(drain(*queues, node) == expected);
  REQUIRE(queues->backlog_bytes(kPort) == 0);
}

TEST_CASE("a longer packet does not take the place of a shorter one where it would not fit") {
  FakeNode node;
  const auto queues = make_queues("composite:capacity=8000");
  queues->arrive(kIn, kPort, node.data(0, kPacket), node);
  queues->arrive(kIn, kPort, node.data(1, 500), node);
  for (std::uint32_t number = 2; number < 30; ++number) {
    queues->arrive(kIn, kPort, node.data(number, kPacket), node);
    REQUIRE(node.trimmed.back() == number);
  }
  REQUIRE(node.trimmed.size() == 28);
}

TEST_CASE("ACKs and headers go ahead of data, strictly or so many for one") {
  const auto order = [](const std::string& ratio) {
    FakeNode node;
    const auto queues = make_queues(with_room_for(3, ratio));
    for (std::uint32_t number = 0; number < 3; ++number) {
      queues->arrive(kIn, kPort, node.data(number, kPacket), node);
    }
    for (std::uint32_t number = 0; number < 5; ++number) queues->arrive(kIn, kPort, node.ack(number), node);
    return drain(*queues, node);
  };
  REQUIRE(order("") == std::vector{-1, -2, -3, -4, -5, 0, 1, 2});
  REQUIRE(order(",ratio=2") == std::vector{-1, -2, 0, -3, -4, 1, -5, 2});
  REQUIRE(order(",ratio=1") == std::vector{-1, 0, -2, 1, -3, 2, -4, -5});
}

TEST_CASE("ACKs sent while no data waits do not count against it") {
  FakeNode node;
  const auto queues = make_queues(with_room_for(3, ",ratio=2"));
  for (std::uint32_t number = 0; number < 5; ++number) queues->arrive(kIn, kPort, node.ack(number), node);
  REQUIRE(node.pool[node.send(*queues, kPort)].number == 0);
  REQUIRE(node.pool[node.send(*queues, kPort)].number == 1);
  queues->arrive(kIn, kPort, node.data(0, kPacket), node);
  REQUIRE(drain(*queues, node) == std::vector{-3, -4, 0, -5});
}

TEST_CASE("headers that do not fit are dropped, or go back once; ACKs are dropped") {
  const std::string room = with_room_for(1, ",high_capacity=128");
  SECTION("dropped") {
    FakeNode node;
    const auto queues = make_queues(room);
    for (std::uint32_t number = 0; number < 6; ++number) {
      queues->arrive(kIn, kPort, node.data(number, kPacket), node);
    }
    REQUIRE(node.trimmed.size() == 5);
    REQUIRE(node.dropped == std::vector(node.trimmed.begin() + 2, node.trimmed.end()));
    REQUIRE(node.returned.empty());
  }
  SECTION("returned") {
    FakeNode node;
    const auto queues = make_queues(room + ",return_to_sender=true");
    for (std::uint32_t number = 0; number < 6; ++number) {
      queues->arrive(kIn, kPort, node.data(number, kPacket), node);
    }
    REQUIRE(node.dropped.empty());
    REQUIRE(node.returned == std::vector(node.trimmed.begin() + 2, node.trimmed.end()));
    queues->arrive(kIn, kPort, node.ack(7), node);
    REQUIRE(node.dropped == std::vector<std::uint32_t>{7});
    // One that is on its way back, and one that another switch has cut.
    const PacketHandle back = node.data(8, FakeNode::kHeader), cut = node.data(9, FakeNode::kHeader);
    node.pool[back].flags = kTrimmed | kReturned;
    node.pool[cut].flags = kTrimmed;
    queues->arrive(kIn, kPort, back, node);
    queues->arrive(kIn, kPort, cut, node);
    REQUIRE(node.dropped == std::vector<std::uint32_t>{7, 8});
    REQUIRE(node.returned.back() == 9);
  }
}

TEST_CASE("without trimming, whole packets are dropped on arrival") {
  FakeNode node;
  const auto queues = make_queues(with_room_for(2, ",trim=false"));
  for (std::uint32_t number = 0; number < 5; ++number) {
    queues->arrive(kIn, kPort, node.data(number, kPacket), node);
  }
  REQUIRE(node.dropped == std::vector<std::uint32_t>{2, 3, 4});
  REQUIRE(node.trimmed.empty());
  REQUIRE(drain(*queues, node) == std::vector{0, 1});
}

TEST_CASE("data is marked by the data that waits, ACKs and headers not counted") {
  FakeNode node;
  const auto queues = make_queues(with_room_for(8, ",kmin=8320,kmax=8320"));
  for (std::uint32_t number = 0; number < 100; ++number) queues->arrive(kIn, kPort, node.ack(number), node);
  for (std::uint32_t number = 0; number < 8; ++number) {
    queues->arrive(kIn, kPort, node.data(number, kPacket), node);
  }
  REQUIRE(node.marked == std::vector<std::uint32_t>{3, 4, 5, 6, 7});  // number 2 finds 8,320: not above
}

// 15 to one, on three switches: the only link that fills is the receiver's.
TEST_CASE("ports to hosts don't mark if they are not to, others do") {
  const auto topology =
      topologies::build(parse_module_choice("leaf_spine:leaves=2,spines=1,hosts_per_leaf=4"));
  const bool marks = GENERATE(true, false);
  const std::string queue =
      with_room_for(100, std::string(",kmin=20KB,kmax=20KB,mark_to_hosts=") + (marks ? "true" : "false"));
  Simulation simulation(topology, {.control = "fixed_window:packets=20", .queue = queue});
  for (std::uint32_t host = 1; host < 4; ++host) simulation.send(host, 0, 400'000);
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  REQUIRE((simulation.signal("ecn_mark") > 0) == marks);
  // Between switches: two senders beyond the one link.
  Simulation beyond(topology, {.control = "fixed_window:packets=20", .queue = queue});
  for (std::uint32_t host = 4; host < 7; ++host) beyond.send(host, host - 4, 400'000);
  beyond.run();
  REQUIRE(beyond.verdict() == "");
  REQUIRE(beyond.signal("ecn_mark") > 0);
}

// At switches: the limits of the two queues of all ports.
ScheduledChecker::Expected limits(std::uint64_t low, std::uint64_t high) {
  ScheduledChecker::Expected expected;
  expected.most_bytes = [=](std::uint32_t, int lane) { return lane == 1 ? high : low; };
  return expected;
}

TEST_CASE("where headers fit, trimming replaces all drops, and what was cut is sent again once") {
  const std::string more = GENERATE("", ",ratio=10", ",ratio=1");
  const std::string control = GENERATE("fixed_window:packets=30", "dctcp");
  const auto topology =
      topologies::build(parse_module_choice("fat_tree:k=4,link=400Gbps,latency=500ns,switch_latency=100ns"));
  Simulation simulation(topology, {.control = control,
                                   .queue = with_room_for(8, ",high_capacity=1MB" + more),
                                   .policy = spray(),
                                   .expected = limits(8 * kPacket, 1'000'000)});
  simulation.send_at_random(topology.hosts());
  simulation.run();
  INFO(control << more);
  REQUIRE(simulation.verdict() == "");
  REQUIRE(simulation.signal("trim") > 100);
  REQUIRE(simulation.signal("trim") == simulation.scheduled.trims());
  REQUIRE(simulation.signal("nack") == simulation.signal("trim"));
  REQUIRE(simulation.signal("retransmit") == simulation.signal("trim"));
  REQUIRE(simulation.signal("ecn_mark") == simulation.scheduled.marks());
  for (const char* never : {"drop", "timeout", "duplicate"}) {
    INFO(never);
    REQUIRE(simulation.signal(never) == 0);
  }
}

TEST_CASE("an incast of trimmed packets keeps the last link busy to the end") {
  // NDP's case: 30 senders of 100 packets, room for 8. The receiver's link carries every payload once, and a
  // header for each that was cut; it rests only until the first packet has come.
  constexpr std::uint64_t kSenders = 30, kPackets = 100;
  const Bandwidth rate = Bandwidth::gbps(400);
  const auto topology = star(kSenders + 1, rate, Time::ns(500), Time());
  Simulation simulation(topology, {.control = "fixed_window:packets=26",
                                   .queue = with_room_for(8, ",high_capacity=1MB"),
                                   .expected = limits(8 * kPacket, 1'000'000)});
  for (std::uint32_t s = 0; s < kSenders; ++s) simulation.send(s, kSenders, kPackets * 4096);
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  REQUIRE(simulation.signal("drop") == 0);
  REQUIRE(simulation.signal("timeout") == 0);
  Time last;
  for (const auto& [message, time] : simulation.client.delivered) last = std::max(last, time);
  const Time busy =
      rate.serialization(kPacket) * static_cast<std::int64_t>(kSenders * kPackets) +
      rate.serialization(FakeNode::kHeader) * static_cast<std::int64_t>(simulation.signal("trim"));
  REQUIRE(last >= busy);
  REQUIRE(last.seconds() < busy.seconds() * 1.02);
}

TEST_CASE("headers without room are dropped, or returned so that nothing is") {
  const bool returns = GENERATE(false, true);
  const auto topology = star(20, Bandwidth::gbps(400), Time::ns(500), Time());
  Simulation simulation(
      topology, {.control = "fixed_window:packets=26",
                 .queue = with_room_for(
                     2, std::string(",high_capacity=640,return_to_sender=") + (returns ? "true" : "false")),
                 .expected = limits(2 * kPacket, 640)});
  for (std::uint32_t s = 0; s < 19; ++s) simulation.send(s, 19, 60 * 4096);
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  REQUIRE(simulation.signal("trim") > 0);
  if (returns) {
    REQUIRE(simulation.signal("return") == simulation.scheduled.returned());
    REQUIRE(simulation.signal("return") > 0);
    // Each payload that was cut is sent again, for a notice or for its own header.
    REQUIRE(simulation.signal("nack") + simulation.signal("return") == simulation.signal("trim"));
    REQUIRE(simulation.signal("retransmit") == simulation.signal("trim"));
    for (const char* never : {"drop", "timeout", "duplicate"}) {
      INFO(never);
      REQUIRE(simulation.signal(never) == 0);
    }
  } else {
    REQUIRE(simulation.signal("drop") > 0);
  }
}

TEST_CASE("defaults, and values that make no sense") {
  // One bandwidth-delay product of 400 Gb/s and 5 us for data, twice that for headers.
  REQUIRE(make_queues("composite")->capacity_bytes(PortId(0)) == 3 * 250'000);
  for (const char* bad : {"composite:capacity=4159", "composite:high_capacity=63", "composite:ratio=-1",
                          "composite:ratio=2000000", "composite:kmin=20KB,kmax=10KB"}) {
    INFO(bad);
    REQUIRE_THROWS_AS(make_queues(bad), InputError);
  }
}

}  // namespace
}  // namespace weft::sim::packet

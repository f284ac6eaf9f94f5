// Ports that decide packet by packet: what they cost, and that it does not matter when it is worked out.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/sim/packet/divided.h"
#include "topologies/families.h"

namespace weft::sim::packet {
namespace {

std::vector<Message> all_to_next(const topologies::Topology& topology, std::uint64_t bytes) {
  std::vector<Message> messages;
  for (std::uint32_t host = 0; host < topology.hosts(); ++host) {
    messages.push_back({.source = host,
                        .destination = (host + 5) % topology.hosts(),
                        .notify_sent = true,
                        .bytes = bytes + host * 4096,
                        .client = {host}});
  }
  return messages;
}

TEST_CASE("ports that are free cost a scheduled queue no event more than a FIFO queue") {
  // A message alone: no packet ever waits at a switch. NICs without queues of their own.
  const auto topology = chain(4, Bandwidth::gbps(100), Time::us(1), Time::ns(200));
  const std::vector<Message> messages{
      {.source = 0, .destination = 1, .notify_sent = true, .bytes = 98 * 4096, .client = {0}}};
  const auto run = [&](const char* queue) {
    return run_divided(topology, {.queue = queue}, messages, {.of_vertex = {}, .parts = 1}, 1);
  };
  const Account fifo = run("droptail");
  for (const char* queue : {"composite", "priority", "shared"}) {
    INFO(queue);
    const Account scheduled = run(queue);
    REQUIRE(scheduled.events == fifo.events);
    REQUIRE(scheduled.calls == fifo.calls);
  }
  // With queues at the NICs too, these have an event for each of the 98 packets and as many ACKs that leave.
  for (const char* queue : {"pfc", "credit"}) {
    INFO(queue);
    const Account scheduled = run(queue);
    REQUIRE(scheduled.calls == fifo.calls);
    REQUIRE(scheduled.events <= fifo.events + 4 * 98);
  }
}

TEST_CASE("an observer sees everything in the order of time, and changes nothing") {
  const auto topology =
      topologies::build(parse_module_choice("fat_tree:k=4,link=100Gbps,latency=500ns,switch_latency=100ns"));
  const auto messages = all_to_next(topology, 300'000);
  // Watches the order only; ScheduledChecker does the rest elsewhere.
  class Order final : public Observer {
   public:
    void on_inject(Time now, const Sighting&) override { note(now); }
    void on_enqueue(Time now, std::uint32_t, const Sighting&, Time) override { note(now); }
    void on_transmit(Time now, std::uint32_t, const Sighting&, Time) override { note(now); }
    void on_trim(Time now, std::uint32_t, const Sighting&) override { note(now); }
    void on_drop(Time now, std::uint32_t, const Sighting&) override { note(now); }
    void on_arrive(Time now, std::uint32_t, const Sighting&) override { note(now); }
    void on_deliver(Time now, const Sighting&) override { note(now); }
    std::uint64_t seen = 0, disorder = 0;

   private:
    void note(Time now) {
      ++seen;
      disorder += now < last_;
      last_ = now;
    }
    Time last_;
  };
  for (const char* queue : {"composite:capacity=40KB", "priority", "pfc:xoff=40KB", "credit", "red"}) {
    INFO(queue);
    const Options options{.control = "fixed_window:packets=60", .queue = queue, .policy = spray()};
    const Account alone = run_divided(topology, options, messages, {.of_vertex = {}, .parts = 1}, 1);
    Order order;
    const Account seen = run_divided(topology, options, messages, {.of_vertex = {}, .parts = 1}, 1,
                                     StopEvery::kNever, nullptr, &order);
    REQUIRE(seen == alone);
    REQUIRE(order.seen > 10'000);
    REQUIRE(order.disorder == 0);
  }
}

}  // namespace
}  // namespace weft::sim::packet

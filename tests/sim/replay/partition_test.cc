// A replay cut into partitions: the same results, digest and diagnosis as in one, on a network that reorders.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <memory>

#include "sim/replay/replay.h"
#include "tests/sim/replay/random_program.h"
#include "tests/sim/replay/replay_fixture.h"

using namespace weft;
using namespace weft::sim;

namespace {

using PartitionOfHost = std::vector<std::uint16_t>;

// Each message takes a time of its own, 1 to 20 µs, which depends on who sent how many before. Every
// partition hands its messages over here, and is called back about those that it sent or that are for it.
class Jumble {
 public:
  enum Kind : std::uint16_t { kSent, kDelivered };

  Jumble(const goal::Graph& graph, const HostConfig& hosts, Engine& engine, PartitionOfHost partition_of_host,
         std::size_t partitions, std::uint64_t seed)
      : engine_(engine),
        partition_of_host_(std::move(partition_of_host)),
        ranks_per_host_(hosts.ranks_per_host),
        seed_(seed),
        replay_(graph, hosts, std::vector<Engine*>(partitions, &engine), partition_of_host_),
        first_host_(engine.add_entities(hosts_needed(graph, hosts))),
        sent_(hosts_needed(graph, hosts)) {
    std::vector<Network*> networks;
    for (std::size_t p = 0; p < partitions; ++p) {
      ports_.push_back(std::make_unique<Port>(*this, p));
      networks.push_back(ports_.back().get());
    }
    replay_.start(networks);
  }

  const Replay& replay() const { return replay_; }
  std::uint64_t crossings() const { return crossings_; }  // messages from one partition to another

  void run() {
    NeverStop control;
    engine_.run(control, [this](const Event& event) {
      if (event.kind >= kClientKinds) {
        return replay_.client(partition_of_host_[event.source / ranks_per_host_]).on_event(event);
      }
      const Message message = messages_[event.payload];
      if (event.kind == kSent) return replay_.client(partition_of_host_[message.source]).on_sent(message);
      replay_.client(partition_of_host_[message.destination]).on_delivered(message);
    });
  }

 private:
  class Port : public Network {
   public:
    Port(Jumble& jumble, std::size_t partition) : jumble_(jumble), partition_(partition) {}
    void inject(const Message& message) override { jumble_.inject(message, partition_); }
    bool delivers_in_order() const override { return false; }
    StopReason run(RunControl&) override { return StopReason::kNone; }

   private:
    Jumble& jumble_;
    std::size_t partition_;
  };

  void inject(const Message& message, std::size_t partition) {
    if (partition_of_host_[message.source] != partition) throw std::logic_error("sent from a foreign host");
    crossings_ += partition_of_host_[message.destination] != partition;
    const auto handle = static_cast<std::uint32_t>(messages_.size());
    messages_.push_back(message);
    const EntityId host = first_host_ + message.source;
    const std::uint64_t draw = mix64(mix64(seed_ + message.source) + sent_[message.source]++);
    const auto microseconds = static_cast<std::int64_t>(1 + draw % 20);
    if (message.notify_sent) engine_.schedule(engine_.now() + Time::ns(500), host, kSent, handle);
    engine_.schedule(engine_.now() + Time::ns(1000 * microseconds), host, kDelivered, handle);
  }

  Engine& engine_;
  PartitionOfHost partition_of_host_;
  std::uint32_t ranks_per_host_;
  std::uint64_t seed_;
  Replay replay_;  // its ranks are the engine's first entities
  EntityId first_host_;
  std::vector<std::uint32_t> sent_;  // by each host
  std::vector<std::unique_ptr<Port>> ports_;
  std::vector<Message> messages_;
  std::uint64_t crossings_ = 0;
};

// All that a replay has to tell.
std::string account(const Replay& replay) {
  const ReplayTotals totals = replay.totals();
  std::string text = fmt::format(
      "digest {:x}, {}, progress {}, {} of {} ops, {} messages, {} B, {} unreceived, {} ps\n",
      replay.digest(), replay.complete() ? "complete" : "incomplete", replay.progress(), totals.executed_ops,
      totals.ops, totals.messages, totals.bytes, totals.unreceived, totals.makespan.ps());
  for (const results::Rank& r : replay.ranks()) {
    text += fmt::format(
        "rank {} on {}: finish {}, compute {}, overhead {}, waiting {}; {} B in {} sent, {} B in "
        "{} received; {} ops\n",
        r.rank, r.host, r.finish.ps(), r.compute.ps(), r.overhead.ps(), r.waiting.ps(), r.bytes_sent,
        r.messages_sent, r.bytes_received, r.messages_received, r.ops);
  }
  return text + fmt::format("{}", fmt::join(replay.diagnose(3), "\n"));
}

}  // namespace

TEST_CASE("results, digest and diagnosis are the same however the hosts are divided") {
  // A failure is shrunk; RC_PARAMS="seed=…" in the environment tries others.
  setenv("RC_PARAMS", "seed=1 max_success=1500", 0);
  std::uint64_t complete = 0, incomplete = 0, crossings = 0;
  const bool holds = rc::check("as in one partition", [&] {
    ProgramOptions options;
    options.broken = *rc::gen::arbitrary<bool>();
    options.wildcards = *rc::gen::arbitrary<bool>();
    options.nics = *rc::gen::arbitrary<bool>();
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    HostConfig hosts;
    hosts.overhead = Time::ns(*rc::gen::inRange(0, 3) * 500);
    hosts.eager_limit_bytes = *rc::gen::inRange<std::uint64_t>(0, 8000);
    hosts.ranks_per_host = *rc::gen::inRange<std::uint32_t>(1, 4);
    const auto partitions = *rc::gen::element<std::size_t>(1, 2, 3, 5);
    const goal::Graph graph = random_program(seed, options).graph();
    const auto partition_of_host = *rc::gen::container<PartitionOfHost>(
        hosts_needed(graph, hosts),
        rc::gen::inRange<std::uint16_t>(0, static_cast<std::uint16_t>(partitions)));

    Engine engine(1), engine_of_whole(1);
    Jumble parts(graph, hosts, engine, partition_of_host, partitions, seed);
    Jumble whole(graph, hosts, engine_of_whole, PartitionOfHost(partition_of_host.size(), 0), 1, seed);
    parts.run();
    whole.run();
    RC_ASSERT(account(parts.replay()) == account(whole.replay()));
    ++(whole.replay().complete() ? complete : incomplete);
    crossings += parts.crossings();
  });
  CHECK(holds);
  CHECK(complete > 500);
  CHECK(incomplete > 200);
  CHECK(crossings > 5000);
}

// A network that reorders messages, in partitions, and all that a replay on it has to tell.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/replay/replay.h"

namespace weft::sim {

using PartitionOfHost = std::vector<std::uint16_t>;

// Each message takes a time of its own, 1 to 20 µs, which depends on who sent how many before. Every
// partition has its engine and a port to hand messages over, and is called back about those that it sent or
// that are for it. The engines take turns, a window of 1 µs each: nothing in one concerns another sooner than
// that. With `most_rows` there is a timeline, of so many slices and messages at most.
class Jumble {
 public:
  enum Kind : std::uint16_t { kSent, kDelivered };

  Jumble(const goal::Program& program, const HostConfig& hosts, PartitionOfHost partition_of_host,
         std::size_t partitions, std::uint64_t seed, std::uint64_t most_rows = 0)
      : recorder_(most_rows),
        partition_of_host_(std::move(partition_of_host)),
        seed_(seed),
        sent_(hosts_needed(program, hosts)),
        scheduled_(hosts_needed(program, hosts)) {
    std::vector<Engine*> engines;
    std::vector<Network*> networks;
    for (std::size_t p = 0; p < partitions; ++p) {
      engines.push_back(engines_.emplace_back(std::make_unique<Engine>(1)).get());
      networks.push_back(ports_.emplace_back(std::make_unique<Port>(*this, p)).get());
    }
    recorder_.begin({program.ranks()}, partitions, timeline_collectives());
    replay_.emplace(program, hosts, engines, partition_of_host_,
                    ReplayPlace{.timeline = most_rows > 0 ? &recorder_ : nullptr, .keeps_path = true});
    // The ranks are the first entities of every engine, the hosts come next.
    for (Engine* engine : engines) first_host_ = engine->add_entities(hosts_needed(program, hosts));
    replay_->start(networks);
  }

  const Replay& replay() const { return *replay_; }
  // Called once, after run().
  results::Timeline timeline() {
    replay_->finish_timeline();
    return recorder_.finish();
  }
  std::uint64_t crossings() const { return crossings_; }  // messages from one partition to another

  void run() {
    for (;;) {
      Time next = Time::max();
      for (const auto& engine : engines_) next = std::min(next, engine->next_time());
      if (next == Time::max()) return;
      for (std::size_t p = 0; p < engines_.size(); ++p) {
        const auto nothing = [](const Event&) {};
        engines_[p]->run_before(
            next + kWindow, UINT32_MAX, [&](const Event& event) { take(event, replay_->client(p)); }, nothing,
            nothing, nothing);
      }
    }
  }

 private:
  class Port : public Network {
   public:
    Port(Jumble& jumble, std::size_t partition) : jumble_(jumble), partition_(partition) {}
    void inject(const Message& message) override { jumble_.inject(message, partition_); }
    bool delivers_in_order() const override { return false; }

   private:
    Jumble& jumble_;
    std::size_t partition_;
  };

  void take(const Event& event, NetworkClient& client) {
    if (event.kind >= kClientKinds) return client.on_event(event);
    const Message message = messages_[event.payload];
    event.kind == kSent ? client.on_sent(message) : client.on_delivered(message);
  }
  void inject(const Message& message, std::size_t partition) {
    const std::uint32_t host = message.source;
    if (partition_of_host_[host] != partition) throw std::logic_error("sent from a foreign host");
    crossings_ += partition_of_host_[message.destination] != partition;
    const auto handle = static_cast<std::uint32_t>(messages_.size());
    messages_.push_back(message);
    const std::uint64_t draw = mix64(mix64(seed_ + host) + sent_[host]++);
    const Time now = engines_[partition]->now();
    const auto schedule = [&](Time after, Kind kind, std::size_t where) {
      engines_[where]->schedule_counted(now + after, first_host_ + host, scheduled_[host]++, kind, handle);
    };
    if (message.notify_sent) schedule(Time::ns(500), kSent, partition);
    schedule(kWindow * static_cast<std::int64_t>(1 + draw % 20), kDelivered,
             partition_of_host_[message.destination]);
  }

  static constexpr Time kWindow = Time::ns(1000);
  results::TimelineRecorder recorder_;
  PartitionOfHost partition_of_host_;
  std::uint64_t seed_;
  EntityId first_host_ = 0;
  std::vector<std::uint32_t> sent_, scheduled_;  // messages and events of each host
  std::vector<std::unique_ptr<Engine>> engines_;
  std::vector<std::unique_ptr<Port>> ports_;
  std::optional<Replay> replay_;
  std::vector<Message> messages_;
  std::uint64_t crossings_ = 0;
};

inline std::string account(const results::CpuTimes& times) {
  std::string text = fmt::format("compute {}, overhead {}, idle {}\n", times.compute.ps(),
                                 times.overhead.ps(), times.idle.ps());
  for (const results::CommunicationTime& one : times.communication) {
    text += fmt::format("{}: exposed {}, {} at most, {} unsent; hidden {}, {} at most\n", one.name,
                        one.exposed_mean.ps(), one.exposed_most.ps(), one.unsent_mean.ps(),
                        one.hidden_mean.ps(), one.hidden_most.ps());
  }
  return text;
}

// All that a replay has to tell.
inline std::string account(const Replay& replay) {
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
  if (const auto times = replay.cpu_times()) text += account(*times);
  return text + fmt::format("{}", fmt::join(replay.diagnose(3), "\n"));
}

// All that a timeline tells.
inline std::string account(const results::Timeline& timeline) {
  std::string text = fmt::format("{} slices, {} messages, stride {}, until {}\n", timeline.all_slices,
                                 timeline.all_messages, timeline.stride, timeline.until.ps());
  for (const results::Slice& s : timeline.slices) {
    text +=
        fmt::format("{} {} {} {} {} {} {} {} {} {} {} {}\n", s.job, s.rank, s.cpu, name(s.kind), s.start.ps(),
                    s.end.ps(), s.op, timeline.collectives[s.collective], s.peer, s.bytes, s.tag, s.message);
  }
  for (const results::TimelineMessage& m : timeline.messages) {
    text += fmt::format("{} {} {} {} {} {} {} {} {}\n", m.number, m.job, m.source, m.destination, m.bytes,
                        m.tag, timeline.collectives[m.collective], m.sent.ps(), m.arrived.ps());
  }
  for (const results::TimelineBin& b : timeline.bins) {
    text += fmt::format("{} {} {} {} {}", b.job, b.first_rank, b.last_rank, b.start.ps(), b.end.ps());
    for (const Time time : b.time) text += fmt::format(" {}", time.ps());
    text += "\n";
  }
  return text;
}

}  // namespace weft::sim

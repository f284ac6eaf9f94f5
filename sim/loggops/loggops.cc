#include "sim/loggops/loggops.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "sim/core/windows.h"
#include "sim/units/module.h"

namespace weft::sim {

// One partition: its hosts' NICs, and the messages that are under way to them.
class LogGopsNetwork::Part final : public Network {
 public:
  Part(LogGopsNetwork& network, std::uint16_t number, Engine& engine, NetworkClient& client,
       std::size_t partitions)
      : network_(network),
        config_(network.config_),
        number_(number),
        engine_(engine),
        client_(client),
        records_(network.record_ != FlowRecord::kNothing),
        outbox_{std::vector<std::vector<Mail>>(partitions), std::vector<std::vector<Mail>>(partitions)} {}

  void inject(const Message& message) override;
  bool delivers_in_order() const override { return true; }

  Engine& engine() const { return engine_; }
  // Mail goes to this window's boxes from now on; those of the last window have their readers in this one.
  void open(std::uint32_t window) {
    filling_ = window & 1;
    for (std::vector<Mail>& box : outbox_[filling_]) box.clear();
    earliest_mail_ = Time::max();
  }
  void take_in(const Part& from, std::uint32_t window);
  Time earliest_mail() const { return earliest_mail_; }
  StopReason run(RunControl& control);
  void run_before(Time limit, std::uint64_t most);

  const results::NetworkTotals& totals() const { return totals_; }
  // A flow with its place among those injected in this partition.
  struct Recorded {
    results::Flow flow;
    std::uint64_t number = 0;
  };
  const std::vector<Recorded>& flows() const { return flows_; }
  const results::FlowStatistics& statistics() const { return statistics_; }

 private:
  enum EventKind : std::uint16_t { kSent, kArrived, kDelivered };
  struct alignas(64) InFlight {
    Message message;
  };
  static_assert(sizeof(InFlight) == 64);
  struct Injection {
    Time time;
    std::uint64_t number = 0;
  };
  // The arrival of a message in another partition.
  struct Mail {
    Event event;
    Message message;
    Injection injection;
  };

  Nic& nic_of(std::uint32_t host, std::uint8_t nic) const {
    return network_.nic_[network_.nic_index(host, nic)];
  }
  void schedule(Time time, Nic& nic, EventKind kind, std::uint32_t payload) {
    const auto index = static_cast<EntityId>(&nic - network_.nic_.data());
    engine_.schedule_counted(time, network_.first_entity_ + index, nic.scheduled++, kind, payload);
  }
  std::uint32_t put(const Message& message, std::uint8_t callbacks);
  void note(std::uint32_t handle, const Injection& injection) {
    if (injections_.size() < pool_.size()) injections_.resize(pool_.size());
    injections_[handle] = injection;
  }
  void execute(const Event& event) {
    if (event.kind >= kClientKinds) {
      client_.on_event(event);
    } else {
      handle(event);
    }
  }
  void handle(const Event& event);
  void deliver(std::uint32_t handle);
  void callback_done(std::uint32_t handle);
  // A guess, for fetching: where the last byte comes later, it has an event of its own.
  bool is_delivered_with(const Event& event, const Message& message) const {
    return event.kind != kArrived || message.bytes <= 1 || config_.gap_per_byte == TimePerByte();
  }
  void foresee_far(const Event& event) const;
  void foresee(const Event& event, int look) const;

  LogGopsNetwork& network_;
  const LogGopsConfig& config_;
  const std::uint16_t number_;
  Engine& engine_;
  NetworkClient& client_;
  const bool records_;  // are flows recorded in any form?
  LargeVector<InFlight> pool_;
  // Each message in pool_ has so many callbacks to come; on_sent and on_delivered may come in either order
  // when L = 0.
  std::vector<std::uint8_t> callbacks_left_;
  std::vector<Injection> injections_;  // of the messages in pool_, where flows are recorded
  std::vector<std::uint32_t> free_;
  results::NetworkTotals totals_;
  std::uint64_t injected_ = 0;
  std::vector<Recorded> flows_;
  results::FlowStatistics statistics_;
  std::array<std::vector<std::vector<Mail>>, 2> outbox_;  // by receiving partition
  std::uint32_t filling_ = 1;  // what is injected before the first window is read in it
  Time earliest_mail_ = Time::max();
};

// ---- Messages ----

inline std::uint32_t LogGopsNetwork::Part::put(const Message& message, std::uint8_t callbacks) {
  std::uint32_t handle;
  if (free_.empty()) {
    handle = static_cast<std::uint32_t>(pool_.size());
    pool_.emplace_back();
    callbacks_left_.push_back(0);
  } else {
    handle = free_.back();
    free_.pop_back();
  }
  pool_[handle].message = message;
  callbacks_left_[handle] = callbacks;
  return handle;
}

[[gnu::flatten]] void LogGopsNetwork::Part::inject(const Message& message) {
  const std::uint16_t to = network_.partition_of_host_[message.destination];
  const bool stays = to == number_;
  Nic& nic = nic_of(message.source, message.source_nic);
  const Time first_byte = std::max(engine_.now(), nic.transmit_free);
  const Time last_byte = after(first_byte, config_.gap_per_byte.after_first(message.bytes));
  nic.transmit_free = after(last_byte, config_.gap);
  const Time arrival = after(first_byte, config_.latency);
  std::uint32_t handle = 0;
  if (stays || message.notify_sent) handle = put(message, stays && message.notify_sent ? 2 : 1);
  if (message.notify_sent) schedule(last_byte, nic, kSent, handle);
  Injection injection;
  if (records_) {
    injection = {engine_.now(), injected_++};
    if (stays) note(handle, injection);
  }
  if (stays) return schedule(arrival, nic, kArrived, handle);
  const auto index = static_cast<EntityId>(&nic - network_.nic_.data());
  outbox_[filling_][to].push_back(
      {{arrival.ps(), nic.scheduled++, network_.first_entity_ + index, 0, kArrived, 0}, message, injection});
  earliest_mail_ = std::min(earliest_mail_, arrival);
}

void LogGopsNetwork::Part::take_in(const Part& from, std::uint32_t window) {
  for (const Mail& mail : from.outbox_[(window + 1) & 1][number_]) {
    Event event = mail.event;
    event.payload = put(mail.message, 1);
    if (records_) note(event.payload, mail.injection);
    engine_.insert(event);
  }
}

void LogGopsNetwork::Part::handle(const Event& event) {
  switch (event.kind) {
    case kSent: {
      const Message message = pool_[event.payload].message;
      callback_done(event.payload);
      client_.on_sent(message);
      break;
    }
    case kArrived: {
      // The first byte is here; the NIC takes messages one after another.
      const Message& message = pool_[event.payload].message;
      Nic& nic = nic_of(message.destination, message.destination_nic);
      const Time first_byte = std::max(engine_.now(), nic.receive_free);
      const Time last_byte = after(first_byte, config_.gap_per_byte.after_first(message.bytes));
      nic.receive_free = after(last_byte, config_.gap);
      // Where g = 0, the message before may have its last byte at this very moment: it comes first.
      if (last_byte == engine_.now() && nic.receiving == 0) return deliver(event.payload);
      ++nic.receiving;
      schedule(last_byte, nic, kDelivered, event.payload);
      break;
    }
    case kDelivered:
      --network_.nic_[event.source - network_.first_entity_].receiving;
      deliver(event.payload);
      break;
  }
}

void LogGopsNetwork::Part::deliver(std::uint32_t handle) {
  Message message = pool_[handle].message;
  const Time alone = after(config_.latency, config_.gap_per_byte.after_first(message.bytes));
  message.alone_ps = static_cast<float>(alone.ps());
  if (!message.control) {
    ++totals_.messages;
    totals_.bytes += message.bytes;
    if (records_) {
      const Injection& injection = injections_[handle];
      const results::Flow flow{message.source, message.destination, message.bytes, injection.time,
                               engine_.now()};
      statistics_.add(flow);
      if (network_.record_ == FlowRecord::kRows) flows_.push_back({flow, injection.number});
    }
  }
  callback_done(handle);
  client_.on_delivered(message);
}

void LogGopsNetwork::Part::callback_done(std::uint32_t handle) {
  if (--callbacks_left_[handle] == 0) free_.push_back(handle);
}

// ---- Runs ----

[[gnu::flatten]] StopReason LogGopsNetwork::Part::run(RunControl& control) {
  return engine_.run(
      control, [this](const Event& event) { execute(event); },
      [this](const Event& event) { foresee_far(event); }, [this](const Event& event) { foresee(event, 1); },
      [this](const Event& event) { foresee(event, 2); });
}

[[gnu::flatten]] void LogGopsNetwork::Part::run_before(Time limit, std::uint64_t most) {
  engine_.run_before(
      limit, most, [this](const Event& event) { execute(event); },
      [this](const Event& event) { foresee_far(event); }, [this](const Event& event) { foresee(event, 1); },
      [this](const Event& event) { foresee(event, 2); });
}

// What a message needs is found in four steps, one more than the engine shows.
void LogGopsNetwork::Part::foresee_far(const Event& event) const {
  const Event* farther = engine_.upcoming(Engine::kFar + 12);
  if (farther != nullptr && farther->kind < kClientKinds) __builtin_prefetch(&pool_[farther->payload]);
  if (event.kind >= kClientKinds) return client_.expect(event, 0);
  const Message& message = pool_[event.payload].message;
  __builtin_prefetch(&nic_of(message.destination, message.destination_nic), 1);
  if (is_delivered_with(event, message)) client_.expect(message, 0);
}

void LogGopsNetwork::Part::foresee(const Event& event, int look) const {
  if (event.kind >= kClientKinds) return client_.expect(event, look);
  const Message& message = pool_[event.payload].message;
  if (is_delivered_with(event, message)) client_.expect(message, look);
}

// The partitions in windows.
class LogGopsNetwork::Run final : public Partitioned {
 public:
  Run(LogGopsNetwork& network, RunControl& control)
      : network_(network), first_window_(network.windows_), watch_(control, events_executed()) {}

  std::uint32_t partitions() const override { return static_cast<std::uint32_t>(network_.parts_.size()); }
  Time run_window(std::uint32_t p, std::uint32_t window, Time limit) override {
    Part& part = *network_.parts_[p];
    const std::uint32_t number = first_window_ + window;
    if (p == 0) network_.windows_ = number + 1;
    part.open(number);
    for (std::uint32_t from = 0; from < partitions(); ++from) {
      if (from != p) part.take_in(*network_.parts_[from], number);
    }
    part.run_before(limit, most_);
    return std::min(part.engine().next_time(), part.earliest_mail());
  }
  std::uint64_t events_executed() const override {
    std::uint64_t events = 0;
    for (const auto& part : network_.parts_) events += part->engine().executed();
    return events;
  }
  StopReason between_windows(Time now, Time* limit) override {
    const std::uint64_t events = events_executed();
    most_ = watch_.most(events);
    return watch_.before(now, events, limit);
  }

 private:
  LogGopsNetwork& network_;
  const std::uint32_t first_window_;
  RunWatch watch_;
  std::uint64_t most_ = 0;  // events of a partition in the next window
};

LogGopsNetwork::LogGopsNetwork(const LogGopsConfig& config, std::uint32_t hosts, std::uint32_t nics,
                               FlowRecord record, Engine& engine, NetworkClient& client)
    : LogGopsNetwork(config, nics, record, std::array{&engine}, std::array{&client},
                     std::vector<std::uint16_t>(hosts)) {}

LogGopsNetwork::LogGopsNetwork(const LogGopsConfig& config, std::uint32_t nics, FlowRecord record,
                               std::span<Engine* const> engines, std::span<NetworkClient* const> clients,
                               std::span<const std::uint16_t> partition_of_host)
    : config_(config),
      nics_(nics),
      record_(record),
      partition_of_host_(partition_of_host.begin(), partition_of_host.end()),
      nic_(partition_of_host.size() * nics) {
  for (std::size_t p = 0; p < engines.size(); ++p) {
    first_entity_ = engines[p]->add_entities(static_cast<std::uint32_t>(nic_.size()));
    parts_.push_back(std::make_unique<Part>(*this, static_cast<std::uint16_t>(p), *engines[p], *clients[p],
                                            engines.size()));
  }
}

LogGopsNetwork::~LogGopsNetwork() = default;

Network& LogGopsNetwork::part(std::uint32_t partition) { return *parts_[partition]; }

StopReason LogGopsNetwork::run(RunControl& control, std::uint32_t threads) {
  if (parts_.size() == 1) return parts_.front()->run(control);
  for (const auto& part : parts_) part->engine().heed(control);
  Run run(*this, control);
  Time first = Time::max();
  for (const auto& part : parts_)
    first = std::min({first, part->engine().next_time(), part->earliest_mail()});
  return run_windows(run, first, config_.latency, threads);
}

// ---- Results ----

results::NetworkTotals LogGopsNetwork::totals() const {
  results::NetworkTotals totals;
  for (const auto& part : parts_) {
    totals.messages += part->totals().messages;
    totals.bytes += part->totals().bytes;
  }
  return totals;
}

std::vector<results::Flow> LogGopsNetwork::flows() const {
  std::vector<Part::Recorded> sorted;
  for (const auto& part : parts_) sorted.insert(sorted.end(), part->flows().begin(), part->flows().end());
  // Those of one source were injected in one partition.
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::tie(a.flow.start, a.flow.source, a.number) < std::tie(b.flow.start, b.flow.source, b.number);
  });
  std::vector<results::Flow> rows;
  rows.reserve(sorted.size());
  for (const Part::Recorded& recorded : sorted) rows.push_back(recorded.flow);
  return rows;
}

results::FlowStatistics LogGopsNetwork::flow_statistics() const {
  results::FlowStatistics statistics;
  for (const auto& part : parts_) statistics.merge(part->statistics());
  return statistics;
}

const ModuleInfo& loggops_module() {
  static const ModuleInfo info{
      .name = "loggops",
      .summary = "Message level: latency, overheads and gaps at each NIC, without a topology.",
      .source = "Hoefler, Schneider, Lumsdaine, LogGOPSim, LSAP 2010",
      .parameters = {
          {"semantics", ParameterType::kText, "weft",
           "The model done right (weft), or the exact finish times of those programs (classic, atlahs).",
           one_of({"weft", "classic", "atlahs"})},
          {"L", ParameterType::kTime, "2500", "Latency of the network; a bare number is ns."},
          {"o", ParameterType::kTime, "1500",
           "Cpu time to send or to receive a message; a bare number is ns."},
          {"g", ParameterType::kTime, "1000", "Gap between messages at a NIC; a bare number is ns."},
          {"G", ParameterType::kReal, "6", "Gap per byte at a NIC, in ns per byte: 0.08 is 100 Gb/s.",
           from_to("0", "1000000")},
          {"O", ParameterType::kReal, "0", "Cpu time per byte sent or received, in ns per byte.",
           from_to("0", "1000000")},
          {"S", ParameterType::kBytes, "65548", "Largest eager message; larger ones use rendezvous."},
      }};
  return info;
}

}  // namespace weft::sim

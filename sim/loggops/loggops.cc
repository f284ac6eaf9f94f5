#include "sim/loggops/loggops.h"

#include <algorithm>
#include <tuple>

#include "sim/units/module.h"

namespace weft::sim {

LogGopsNetwork::LogGopsNetwork(const LogGopsConfig& config, std::uint32_t hosts, std::uint32_t nics,
                               bool record_flows, Engine& engine, NetworkClient& client)
    : config_(config),
      nics_(nics),
      record_flows_(record_flows),
      engine_(engine),
      client_(client),
      first_entity_(engine.add_entities(hosts * nics)),
      nic_(std::size_t{hosts} * nics) {}

void LogGopsNetwork::inject(const Message& message) {
  std::uint32_t handle;
  if (free_.empty()) {
    handle = static_cast<std::uint32_t>(pool_.size());
    pool_.emplace_back();
  } else {
    handle = free_.back();
    free_.pop_back();
  }
  InFlight& flight = pool_[handle];
  flight.message = message;
  flight.callbacks_left = message.notify_sent ? 2 : 1;
  if (record_flows_) {
    if (injections_.size() < pool_.size()) injections_.resize(pool_.size());
    injections_[handle] = {engine_.now(), injected_++};
  }
  const std::uint32_t index = nic_index(message.source, message.source_nic);
  const Time first_byte = std::max(engine_.now(), nic_[index].transmit_free);
  const Time last_byte = after(first_byte, config_.gap_per_byte.after_first(message.bytes));
  nic_[index].transmit_free = after(last_byte, config_.gap);
  const EntityId source = first_entity_ + index;
  if (message.notify_sent) engine_.schedule(last_byte, source, kSent, handle);
  engine_.schedule(after(first_byte, config_.latency), source, kArrived, handle);
}

void LogGopsNetwork::handle(const Event& event) {
  InFlight& flight = pool_[event.payload];
  switch (event.kind) {
    case kSent: {
      const Message message = flight.message;
      callback_done(event.payload);
      client_.on_sent(message);
      break;
    }
    case kArrived: {
      // The first byte is here; the NIC takes messages one after another.
      const std::uint32_t index = nic_index(flight.message.destination, flight.message.destination_nic);
      Nic& nic = nic_[index];
      const Time first_byte = std::max(engine_.now(), nic.receive_free);
      const Time last_byte = after(first_byte, config_.gap_per_byte.after_first(flight.message.bytes));
      nic.receive_free = after(last_byte, config_.gap);
      // Where g = 0, the message before may have its last byte at this very moment: it comes first.
      if (last_byte == engine_.now() && nic.receiving == 0) return deliver(event.payload);
      ++nic.receiving;
      engine_.schedule(last_byte, first_entity_ + index, kDelivered, event.payload);
      break;
    }
    case kDelivered:
      --nic_[event.source - first_entity_].receiving;
      deliver(event.payload);
      break;
  }
}

void LogGopsNetwork::deliver(std::uint32_t handle) {
  const Message message = pool_[handle].message;
  if (!message.control) {
    ++totals_.messages;
    totals_.bytes += message.bytes;
    if (record_flows_) {
      const Injection& injection = injections_[handle];
      flows_.emplace_back(injection.number, results::Flow{message.source, message.destination, message.bytes,
                                                          injection.time, engine_.now()});
    }
  }
  callback_done(handle);
  client_.on_delivered(message);
}

void LogGopsNetwork::callback_done(std::uint32_t handle) {
  if (--pool_[handle].callbacks_left == 0) free_.push_back(handle);
}

StopReason LogGopsNetwork::run(RunControl& control) {
  return engine_.run(
      control,
      [this](const Event& event) {
        if (event.kind >= kClientKinds) {
          client_.on_event(event);
        } else {
          handle(event);
        }
      },
      [this](const Event& event) {
        if (event.kind >= kClientKinds) return client_.expect(event, 0);
        __builtin_prefetch(&pool_[event.payload]);
      },
      [this](const Event& event) {
        if (event.kind >= kClientKinds) return client_.expect(event, 1);
        const Message& message = pool_[event.payload].message;
        __builtin_prefetch(&nic_[nic_index(message.destination, message.destination_nic)], 1);
        client_.expect(message, 0);
      },
      [this](const Event& event) {
        if (event.kind >= kClientKinds) return client_.expect(event, 2);
        client_.expect(pool_[event.payload].message, 1);
      });
}

results::NetworkTotals LogGopsNetwork::totals() const { return totals_; }

std::vector<results::Flow> LogGopsNetwork::flows() const {
  auto sorted = flows_;
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::tie(a.second.start, a.second.source, a.first) <
           std::tie(b.second.start, b.second.source, b.first);
  });
  std::vector<results::Flow> rows;
  rows.reserve(sorted.size());
  for (const auto& [number, flow] : sorted) rows.push_back(flow);
  return rows;
}

const ModuleInfo& loggops_module() {
  static const ModuleInfo info{
      .name = "loggops",
      .summary = "Message level: latency, overheads and gaps at each NIC, without a topology.",
      .source = "Hoefler, Schneider, Lumsdaine, LogGOPSim, LSAP 2010",
      .parameters = {
          {"semantics", ParameterType::kText, "weft",
           "The model done right (weft), or the exact finish times of those programs (classic, atlahs)."},
          {"L", ParameterType::kTime, "2500", "Latency of the network; a bare number is ns."},
          {"o", ParameterType::kTime, "1500",
           "Cpu time to send or to receive a message; a bare number is ns."},
          {"g", ParameterType::kTime, "1000", "Gap between messages at a NIC; a bare number is ns."},
          {"G", ParameterType::kReal, "6", "Gap per byte at a NIC, in ns per byte: 0.08 is 100 Gb/s."},
          {"O", ParameterType::kReal, "0", "Cpu time per byte sent or received, in ns per byte."},
          {"S", ParameterType::kBytes, "65548", "Largest eager message; larger ones use rendezvous."},
      }};
  return info;
}

}  // namespace weft::sim

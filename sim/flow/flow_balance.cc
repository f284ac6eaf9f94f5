// Policies that weigh detours against direct ways by load: shares that follow the traffic.
#include <algorithm>
#include <map>
#include <utility>

#include "sim/flow/flow_network.h"

namespace weft::sim::flow {

// Have so many flows come and gone that shares may be others?
bool FlowNetwork::is_unbalanced() const {
  constexpr std::size_t kPart = 4;
  if (paths_.detours() == nullptr) return false;
  const std::size_t all = offers_ + came_;
  return came_ + went_ > 0 && (came_ + went_) * kPart >= all - std::min(all, went_);
}

// The slots of flows with a rate, ascending. Many more messages may wait in connections.
std::vector<std::uint32_t> FlowNetwork::flowing() const {
  std::vector<std::uint32_t> slots;
  const std::uint32_t fluids = connected_ ? connections_.end() : static_cast<std::uint32_t>(flows_.size());
  for (std::uint32_t fluid = 0; fluid < fluids; ++fluid) {
    const std::uint32_t slot = head_of(fluid);
    if (slot != Connection::kNone && flows_[slot].state == State::kFlowing) slots.push_back(slot);
  }
  std::ranges::sort(slots);
  return slots;
}

// Works out shares for the flows that are there, each of which would have its part of its NICs and of its
// destination's if these were all that limits it.
void FlowNetwork::balance(Time now) {
  if (host_rate_.empty()) find_host_rates();
  const std::vector<std::uint32_t> slots = flowing();
  std::vector<std::uint32_t> sent(routed_.hosts()), received(routed_.hosts());
  for (const std::uint32_t slot : slots) {
    const Flow& flow = flows_[slot];
    if (!is_offer(flow)) continue;
    sent[flow.trip.source] += flow.trip.nics;
    ++received[flow.trip.destination];
  }
  std::vector<Detours::Offer> offers;
  offers_ = 0;
  for (const std::uint32_t slot : slots) {
    const Flow& flow = flows_[slot];
    const std::uint32_t source = flow.trip.source, destination = flow.trip.destination;
    if (!is_offer(flow)) {
      offers.push_back({source, destination, 0});
      continue;
    }
    ++offers_;
    const auto nics = static_cast<double>(routed_.out_channels(routed_.host(source)).size());
    const double most = host_rate_[source] * flow.trip.nics / std::max<double>(nics, sent[source]);
    const double rate = std::min(most, host_rate_[destination] / received[destination]);
    const auto cap = static_cast<double>(config_.max_rate.bps() > 0 ? to_rate(config_.max_rate) : kMostRate);
    offers.push_back({source, destination, std::min(rate, cap)});
  }
  const std::vector<bool> changed = paths_.detours()->balance(offers);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (changed[i]) interrupt(slots[i], now);
  }
  adopt_balance();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (changed[i]) resume(slots[i]);
  }
  came_ = went_ = 0;
}

void FlowNetwork::find_host_rates() {
  host_rate_.resize(routed_.hosts());
  for (std::uint32_t host = 0; host < routed_.hosts(); ++host) {
    for (const std::uint32_t c : routed_.out_channels(routed_.host(host))) {
      host_rate_[host] += static_cast<double>(routed_.channels()[c].rate.bps()) * (1 << kRateBits);
    }
  }
  if (routed_.has_domains()) limit_to_nics();
}

// Of machines of several accelerators only what leaves them is offered: each has its part of the NICs.
void FlowNetwork::limit_to_nics() {
  std::map<std::uint32_t, std::pair<double, std::uint32_t>> machines;  // rate of NICs, hosts; by domain
  for (const topologies::Channel& c : routed_.channels()) {
    const topologies::Node &from = routed_.node(c.from), &to = routed_.node(c.to);
    if (from.domain == topologies::kNoDomain || to.domain == from.domain) continue;
    machines[from.domain].first += static_cast<double>(c.rate.bps()) * (1 << kRateBits);
  }
  const auto domain = [&](std::uint32_t host) { return routed_.node(routed_.host(host)).domain; };
  for (std::uint32_t host = 0; host < routed_.hosts(); ++host) ++machines[domain(host)].second;
  for (std::uint32_t host = 0; host < routed_.hosts(); ++host) {
    const auto& [rate, hosts] = machines[domain(host)];
    if (rate > 0) host_rate_[host] = std::min(host_rate_[host], rate / hosts);
  }
}

void FlowNetwork::adopt_balance() {
  paths_.adopt_balance();
  const std::span<const Rate> resources = paths_.resources();
  for (std::uint32_t i = 0; i < resources.size(); ++i) {
    if (max_min_.capacity(i) != resources[i]) max_min_.set_capacity(i, resources[i]);
  }
}

// What comes to an idle network finds it as at first.
void FlowNetwork::forget_balance() {
  if (paths_.detours() == nullptr || fluids_ > 0 || offers_ + came_ + went_ == 0) return;
  paths_.detours()->forget();
  adopt_balance();
  offers_ = came_ = went_ = 0;
}

}  // namespace weft::sim::flow

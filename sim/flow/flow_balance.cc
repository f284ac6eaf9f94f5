#include "sim/flow/flow_balance.h"

#include <algorithm>
#include <map>
#include <utility>

namespace weft::sim::flow {

bool FlowBalance::is_due() const {
  constexpr std::size_t kPart = 4;
  const std::size_t all = offers_ + came_;
  return came_ + went_ > 0 && (came_ + went_) * kPart >= all - std::min(all, went_);
}

// Each flow would have its part of its NICs and of its destination's if these were all that limits it.
std::vector<bool> FlowBalance::balance(const FlowPool& flows, std::span<const std::uint32_t> slots,
                                       Detours& detours) {
  if (host_rate_.empty()) find_host_rates();
  std::vector<std::uint32_t> sent(topology_.hosts()), received(topology_.hosts());
  for (const std::uint32_t slot : slots) {
    const Flow& flow = flows[slot];
    if (!flow.is_offer()) continue;
    sent[flow.trip.source] += flow.trip.nics;
    ++received[flow.trip.destination];
  }
  std::vector<Detours::Offer> offers;
  offers_ = 0;
  for (const std::uint32_t slot : slots) {
    const Flow& flow = flows[slot];
    const std::uint32_t source = flow.trip.source, destination = flow.trip.destination;
    if (!flow.is_offer()) {
      offers.push_back({source, destination, 0});
      continue;
    }
    ++offers_;
    const auto nics = static_cast<double>(topology_.out_channels(topology_.host(source)).size());
    const double most = host_rate_[source] * flow.trip.nics / std::max<double>(nics, sent[source]);
    const double rate = std::min(most, host_rate_[destination] / received[destination]);
    offers.push_back({source, destination, std::min(rate, static_cast<double>(most_))});
  }
  return detours.balance(offers);
}

void FlowBalance::find_host_rates() {
  host_rate_.resize(topology_.hosts());
  for (std::uint32_t host = 0; host < topology_.hosts(); ++host) {
    for (const std::uint32_t c : topology_.out_channels(topology_.host(host))) {
      host_rate_[host] += static_cast<double>(topology_.channels()[c].rate.bps()) * (1 << kRateBits);
    }
  }
  if (topology_.has_domains()) limit_to_nics();
}

// Machines of several accelerators offer only what leaves them: each accelerator has its part of the NICs.
void FlowBalance::limit_to_nics() {
  std::map<std::uint32_t, std::pair<double, std::uint32_t>> machines;  // rate of NICs, hosts; by domain
  for (const topologies::Channel& c : topology_.channels()) {
    const topologies::Node &from = topology_.node(c.from), &to = topology_.node(c.to);
    if (from.domain == topologies::kNoDomain || to.domain == from.domain) continue;
    machines[from.domain].first += static_cast<double>(c.rate.bps()) * (1 << kRateBits);
  }
  const auto domain = [&](std::uint32_t host) { return topology_.node(topology_.host(host)).domain; };
  for (std::uint32_t host = 0; host < topology_.hosts(); ++host) ++machines[domain(host)].second;
  for (std::uint32_t host = 0; host < topology_.hosts(); ++host) {
    const auto& [rate, hosts] = machines[domain(host)];
    if (rate > 0) host_rate_[host] = std::min(host_rate_[host], rate / hosts);
  }
}

bool FlowBalance::forget(Detours& detours) {
  if (offers_ + came_ + went_ == 0) return false;
  detours.forget();
  offers_ = came_ = went_ = 0;
  return true;
}

}  // namespace weft::sim::flow

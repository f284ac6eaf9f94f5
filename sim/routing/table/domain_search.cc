#include "sim/routing/table/domain_search.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace weft::routing {

using topologies::kNoDomain;
using topologies::Topology;

std::unique_ptr<const DomainCosts> DomainCosts::make(const Topology& topology) {
  if (!topology.has_domains()) return nullptr;
  auto costs = std::make_unique<DomainCosts>();
  bool relays = true;
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    const topologies::Node& node = topology.node(topology.switch_at(s));
    costs->switch_domain_.push_back(node.domain);
    relays &= node.relays;
  }
  for (std::uint32_t h = 0; h < topology.hosts(); ++h) {
    costs->host_domain_.push_back(topology.node(topology.host(h)).domain);
  }
  if (!relays) {
    costs->inside_own_ = costs->inside_other_ = 1024;
    costs->outside_ = 1;
  }
  return costs;
}

void DomainSearch::start(std::vector<std::uint32_t> domains) {
  domains_ = std::move(domains);
  members_.clear();
  for (std::size_t d = 0; d < domains_.size(); ++d) {
    if (domains_[d] != kNoDomain) members_[domains_[d]] |= std::uint64_t{1} << d;
  }
  std::fill(seen_.begin(), seen_.end(), 0);
  std::fill(cost_.begin(), cost_.end(), DomainCosts::kFar);
}

std::uint64_t DomainSearch::own_of(std::uint32_t domain) const {
  const auto found = members_.find(domain);
  return found == members_.end() ? 0 : found->second;
}

void DomainSearch::seed(std::uint32_t s, std::uint32_t destination) {
  const bool inside =
      domains_[destination] != kNoDomain && domains_[destination] == costs_.domain_of_switch(s);
  push(inside ? inside_ : queue_, inside ? costs_.inside_own() : costs_.outside(), s,
       std::uint64_t{1} << destination);
}

void DomainSearch::push(Queue& queue, std::uint32_t cost, std::uint32_t s, std::uint64_t destinations) {
  Front& front = queue[cost];
  if (front.destinations.empty()) {
    if (spare_.empty()) spare_.emplace_back().destinations.resize(links_.switches());
    front = std::move(spare_.back());
    spare_.pop_back();
  }
  if (front.destinations[s] == 0) front.switches.push_back(s);
  front.destinations[s] |= destinations;
}

template <typename Visit>
void DomainSearch::take_first(Queue& queue, Visit&& visit) {
  auto now = queue.extract(queue.begin());
  Front& front = now.mapped();
  for (const std::uint32_t s : front.switches) {
    visit(s, std::exchange(front.destinations[s], 0), now.key());
  }
  front.switches.clear();
  spare_.push_back(std::move(front));
}

// Returns those of the destinations that had not reached it.
std::uint64_t DomainSearch::settle(std::uint32_t s, std::uint64_t destinations, std::uint32_t cost) {
  const std::uint64_t fresh = destinations & ~seen_[s];
  seen_[s] |= fresh;
  for (std::uint64_t bits = fresh; bits != 0; bits &= bits - 1) {
    cost_[std::size_t{s} * kWidth + static_cast<std::uint32_t>(std::countr_zero(bits))] = cost;
  }
  return fresh;
}

// From the destinations through their own domains, which comes before every other way; what leaves them is
// put off.
void DomainSearch::settle_inside() {
  while (!inside_.empty()) {
    take_first(inside_, [this](std::uint32_t s, std::uint64_t destinations, std::uint32_t cost) {
      const std::uint64_t fresh = settle(s, destinations, cost);
      if (fresh == 0) return;
      const std::uint32_t domain = costs_.domain_of_switch(s);
      for (const SwitchLink& link : links_.of(s)) {
        const std::uint64_t further = fresh & ~seen_[link.to];
        if (further == 0 || costs_.domain_of_switch(link.to) != domain) continue;
        if (is_down(down_links_, link.channel)) continue;
        push(inside_, cost + costs_.inside_own(), link.to, further);
      }
      step(s, fresh, cost, true);
    });
  }
}

// To the neighbours of a switch; `leaves_own`: to those outside of its domain alone.
void DomainSearch::step(std::uint32_t s, std::uint64_t fresh, std::uint32_t cost, bool leaves_own) {
  const std::uint32_t domain = costs_.domain_of_switch(s);
  const std::uint64_t own = own_of(domain);
  for (const SwitchLink& link : links_.of(s)) {
    const std::uint64_t further = fresh & ~seen_[link.to];
    if (further == 0 || is_down(down_links_, link.channel)) continue;
    if (domain == kNoDomain || costs_.domain_of_switch(link.to) != domain) {
      push(queue_, cost + costs_.outside(), link.to, further);
      continue;
    }
    if (leaves_own) continue;
    if ((further & own) != 0) push(queue_, cost + costs_.inside_own(), link.to, further & own);
    if ((further & ~own) != 0) push(queue_, cost + costs_.inside_other(), link.to, further & ~own);
  }
}

void DomainSearch::run() {
  settle_inside();
  while (!queue_.empty()) {
    take_first(queue_, [this](std::uint32_t s, std::uint64_t destinations, std::uint32_t cost) {
      const std::uint64_t fresh = settle(s, destinations, cost);
      if (fresh != 0) step(s, fresh, cost, false);
    });
  }
}

std::uint64_t DomainSearch::nearer(std::uint32_t s, const SwitchLink& link) const {
  const std::uint32_t from = costs_.domain_of_switch(s), to = costs_.domain_of_switch(link.to);
  std::uint64_t word = 0;
  for (std::uint32_t d = 0; d < domains_.size(); ++d) {
    const std::uint32_t next = cost(link.to, d);
    if (next == DomainCosts::kFar) continue;
    word |= std::uint64_t{next + costs_.of_link(from, to, domains_[d]) == cost(s, d)} << d;
  }
  return word;
}

// Written byte by byte, so that it is the same on every machine.
void DomainSearch::write_columns(std::span<std::uint8_t* const> columns) const {
  for (std::uint32_t d = 0; d < columns.size(); ++d) {
    for (std::uint32_t s = 0; s < links_.switches(); ++s) {
      const std::uint32_t all = cost(s, d);
      const std::uint32_t value = all == DomainCosts::kFar ? kNoCost : all % kCostModulo;
      columns[d][2 * std::size_t{s}] = static_cast<std::uint8_t>(value);
      columns[d][2 * std::size_t{s} + 1] = static_cast<std::uint8_t>(value >> 8);
    }
  }
}

}  // namespace weft::routing

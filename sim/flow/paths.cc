#include "sim/flow/paths.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "sim/routing/checked_paths.h"
#include "sim/routing/path_draws.h"
#include "sim/units/input_error.h"

namespace weft::sim::flow {
namespace {

constexpr std::uint32_t kNone = Spread::kNone;

Rate rate_of(double bps) { return static_cast<Rate>(bps * (1 << kRateBits)); }

std::uint32_t fixed_point(double share) {
  return std::max(static_cast<std::uint32_t>(share * kWhole + 0.5), 1u);
}

// Divides whole bytes evenly; the first parts get one more where it doesn't come out.
std::uint64_t part_of_bytes(std::uint64_t bytes, std::size_t i, std::size_t count) {
  return bytes / count + (i < bytes % count ? 1 : 0);
}

}  // namespace

Paths::Paths(const topologies::Topology& topology, const routing::RoutingTable& table,
             routing::FluidPaths kind, std::uint64_t seed, PathMaker make, PathRules rules)
    : topology_(topology),
      table_(&table),
      kind_(kind),
      rules_(rules),
      salts_(topology.nodes()),
      shares_(topology.channels().size(), 1.0),
      told_shares_(shares_),
      loads_(1),
      make_(std::move(make)) {
  loads_.front().bytes.resize(topology.channels().size());
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    salts_[topology.switch_at(s)] = routing::switch_salt(seed, rules.one_salt ? 0 : s);
  }
  for (const topologies::Channel& channel : topology.channels()) {
    if (channel.rate.bps() > kMostRate >> kRateBits) {
      throw InputError(fmt::format("network model flow: a link of {} is too fast; the most is {}",
                                   to_string(channel.rate),
                                   to_string(Bandwidth::bps(kMostRate >> kRateBits))));
    }
    capacity_.push_back(channel.rate.bps() << kRateBits);
  }
  refresh();
}

void Paths::set_share(std::uint32_t link, double share, std::uint8_t directions) {
  settle();
  for (const std::uint32_t channel : {2 * link, 2 * link + 1}) {
    if (!(directions >> channel % 2 & 1)) continue;
    const auto built = static_cast<double>(topology_.channels()[channel].rate.bps());
    capacity_[channel] = rate_of(built * share);
    shares_[channel] = share;
  }
}

void Paths::refresh() {
  if (kind_ == routing::FluidPaths::kOne) {
    resources_ = capacity_;
    if (make_) model_ = make_model();
    return;
  }
  if (kind_ == routing::FluidPaths::kModel || kind_ == routing::FluidPaths::kBalanced) {
    return make_division();
  }
  settle();
  middles_.clear();
  middle_of_.clear();
  used_by_.clear();
  use_pool_.clear();
  hop_pool_.clear();
  arrival_pool_.clear();
  spread_ = std::make_unique<Spread>(topology_, *table_, capacity_);
  resource_of_ = spread_->groups();
  resources_.clear();
  only_hosts_bind_ = true;
  std::vector<std::uint32_t> of_hosts;
  for (std::uint32_t channel = 0; channel < capacity_.size(); ++channel) {
    const topologies::Channel& wire = topology_.channels()[channel];
    if (topology_.node(wire.from).kind == topologies::NodeKind::kHost ||
        topology_.node(wire.to).kind == topologies::NodeKind::kHost) {
      of_hosts.push_back(channel);
      continue;
    }
    // Where links are down, part of a flow may have no way on.
    only_hosts_bind_ = only_hosts_bind_ && resource_of_[channel] == kNone && capacity_[channel] > 0;
    const std::uint32_t group = resource_of_[channel];
    if (group == kNone) continue;
    if (group >= resources_.size()) resources_.resize(group + 1);
    resources_[group] = capacity_[channel];
  }
  for (const std::uint32_t channel : of_hosts) {
    resource_of_[channel] = static_cast<std::uint32_t>(resources_.size());
    resources_.push_back(capacity_[channel]);
  }
}

std::unique_ptr<routing::PathModel> Paths::make_model() const {
  return make_(*table_, rules_.rate_news == routing::RateNews::kAtOnce ? shares_ : told_shares_);
}

void Paths::make_division() {
  resources_ = capacity_;
  for (Load& load : loads_) {
    load.divided.resize(capacity_.size());
    if (detours_ != nullptr) detours_->add_carried(std::exchange(load.detoured, {}), load.divided);
  }
  division_ = std::make_unique<Division>(topology_, *table_, make_model(), capacity_);
  if (kind_ != routing::FluidPaths::kBalanced) return;
  detours_ = std::make_unique<Detours>(topology_, *table_, make_model(), capacity_);
  resources_.push_back(detours_->whole_pool());
}

// A source that takes all of its NICs takes each for as much as gets through there.
void Paths::find_nics(const Trip& trip) {
  const auto channels = topology_.out_channels(topology_.host(trip.source));
  nics_.clear();
  for (std::uint32_t i = 0; i < trip.nics; ++i) {
    nics_.push_back({channels[(trip.first_nic + i) % channels.size()], 1.0 / trip.nics});
  }
  if (!rules_.all_nics || !divides() || trip.nics == 1) return;
  std::vector<Division::Part> weighed = nics_;
  double sum = 0;
  for (Division::Part& nic : weighed) {
    const std::uint32_t at = topology_.channels()[nic.channel].to;
    nic.share = static_cast<double>(capacity_[nic.channel]);
    if (topology_.node(at).kind == topologies::NodeKind::kSwitch) {
      nic.share *= division_->weight_of_entry(at, trip.destination);
    } else if (at != topology_.host(trip.destination)) {
      nic.share = 0;
    }
    sum += nic.share;
  }
  if (sum == 0) return;
  nics_.clear();
  for (const Division::Part& nic : weighed) {
    if (nic.share > 0) nics_.push_back({nic.channel, nic.share / sum});
  }
}

template <typename Visit>
void Paths::each_nic(const Trip& trip, std::uint64_t bytes, Visit&& visit) {
  find_nics(trip);
  const bool alike = std::ranges::all_of(nics_, [&](const auto& nic) { return nic.share == nics_[0].share; });
  double sum = 0;
  std::uint64_t given = 0;
  for (std::size_t i = 0; i < nics_.size(); ++i) {
    sum += nics_[i].share;
    const bool last = i + 1 == nics_.size();
    const std::uint64_t up_to = last ? bytes : static_cast<std::uint64_t>(static_cast<double>(bytes) * sum);
    const std::uint64_t part = alike ? part_of_bytes(bytes, i, nics_.size()) : up_to - given;
    given += part;
    visit(nics_[i].channel, nics_[i].share, part);
  }
}

void Paths::find(const Trip& trip, Way& way) {
  way.uses.clear();
  way.hops.clear();
  way.open = true;
  if (kind_ == routing::FluidPaths::kOne) {
    find_one(trip, way);
  } else if (divides()) {
    find_divided(trip, way);
  } else {
    find_even(trip, way);
  }
  if (!way.open) way.uses.clear();
}

void Paths::use(Way& way, const Trip& trip, std::uint32_t resource, double share) {
  const std::uint32_t part = fixed_point(share);
  for (Use& known : way.uses) {
    // From one NIC, nothing is crossed twice.
    if (trip.nics == 1) break;
    if (known.resource != resource) continue;
    known.share = std::min(known.share + part, kWhole);
    return;
  }
  way.uses.push_back({resource, part});
}

// Draws as switches do, in packets too: evenly where shares are alike, else by weight
// (routing::WeightedDraw).
std::uint32_t Paths::next_by_model(std::uint32_t at, const Trip& trip) const {
  std::vector<routing::PathStep> steps;
  model_->steps(at, 0, trip.destination, steps);
  std::erase_if(steps, [&](const routing::PathStep& step) { return capacity_[step.channel] == 0; });
  if (steps.empty()) return kNone;
  const auto [least, most] = std::ranges::minmax_element(steps, {}, &routing::PathStep::share);
  constexpr double kAlike = 1 - 1e-9;  // but for rounding
  if (least->share >= most->share * kAlike) {
    return steps[routing::hash_choice(trip.entropy, salts_[at], steps.size())].channel;
  }
  double sum = 0, before = 0;
  for (const routing::PathStep& step : steps) sum += step.share;
  const double drawn = routing::hash_word(trip.entropy, salts_[at]) * 0x1p-32 * sum;
  for (const routing::PathStep& step : steps) {
    before += step.share;
    if (drawn < before) return step.channel;
  }
  return steps.back().channel;
}

// A switch knows at once that a link of its own is down, and takes another candidate if it has one. A path
// model of one state comes first; where it leads no further, shortest paths do, to the end.
bool Paths::walk(std::uint32_t channel, const Trip& trip, std::vector<std::uint32_t>& hops) const {
  const std::uint32_t end = static_cast<std::uint32_t>(topology_.host(trip.destination));
  bool by_model = model_ != nullptr;
  for (std::uint32_t c = channel;;) {
    if (capacity_[c] == 0) return false;
    hops.push_back(c);
    const std::uint32_t at = topology_.channels()[c].to;
    if (at == end) return true;
    // Each switch has one choice for this trip: who comes back to one goes round for ever.
    if (hops.size() > topology_.nodes() && by_model)
      routing::fail_endless(*model_, topology_, at, trip.destination);
    if (topology_.node(at).kind == topologies::NodeKind::kHost) return false;
    if (by_model) {
      c = next_by_model(at, trip);
      if (c != kNone) continue;
      by_model = false;
    }
    const auto candidates = table_->candidates(at, trip.destination);
    if (candidates.empty()) return false;
    c = candidates[routing::hash_choice(trip.entropy, salts_[at], candidates.size())];
    if (capacity_[c] > 0) continue;
    std::vector<std::uint32_t> left;
    for (const std::uint32_t other : candidates) {
      if (capacity_[other] > 0) left.push_back(other);
    }
    if (left.empty()) return false;
    c = left[routing::hash_choice(trip.entropy, salts_[at], left.size())];
  }
}

void Paths::find_one(const Trip& trip, Way& way) {
  each_nic(trip, 0, [&](std::uint32_t nic, double part, std::uint64_t) {
    scratch_.clear();
    way.open = walk(nic, trip, scratch_) && way.open;
    if (way.hops.empty()) way.hops = scratch_;
    for (const std::uint32_t c : scratch_) use(way, trip, c, part);
  });
}

void Paths::find_even(const Trip& trip, Way& way) {
  const std::uint32_t unit = spread_->unit_of(trip.destination);
  const auto end = static_cast<std::uint32_t>(topology_.host(trip.destination));
  each_nic(trip, 0, [&](std::uint32_t nic, double part, std::uint64_t) {
    const std::uint32_t at = topology_.channels()[nic].to;
    const bool first = way.hops.empty();
    if (capacity_[nic] == 0) {
      way.open = false;
      return;
    }
    use(way, trip, resource_of_[nic], part);
    if (first) way.hops.push_back(nic);
    if (at == end) return;
    if (topology_.node(at).kind == topologies::NodeKind::kHost) {
      way.open = false;
      return;
    }
    const Middle& between = middle(at, unit);
    way.open = way.open && between.open;
    for (std::uint32_t i = 0; i < between.use_count; ++i) {
      const Use& each = use_pool_[between.uses + i];
      use(way, trip, each.resource, part * each.share / kWhole);
    }
    if (first) {
      way.hops.insert(way.hops.end(), hop_pool_.begin() + between.hops,
                      hop_pool_.begin() + between.hops + between.hop_count);
    }
    for (std::uint32_t i = 0; i < between.arrival_count; ++i) {
      const Arrival arrival = arrival_pool_[between.arrivals + i];
      spread_->last_links(arrival.vertex, trip.destination, scratch_);
      if (scratch_.empty()) way.open = false;
      for (const std::uint32_t c : scratch_) {
        use(way, trip, resource_of_[c], part * arrival.share / static_cast<double>(scratch_.size()));
      }
      if (first && topology_.channels()[way.hops.back()].to == arrival.vertex && !scratch_.empty()) {
        way.hops.push_back(scratch_.front());
      }
    }
  });
}

void Paths::find_alone(const Trip& trip, Way& way) {
  if (detours_ != nullptr) detours_->suspend(true);
  find(trip, way);
  if (detours_ != nullptr) detours_->suspend(false);
}

// The pool, and the destination's own links.
void Paths::add_detours(const Trip& trip, double share, Way& way) const {
  way.uses.push_back(
      {static_cast<std::uint32_t>(capacity_.size()), fixed_point(share * detours_->pool_unit())});
  if (detours_->keeps_last_links()) return;
  const auto cables = topology_.out_channels(topology_.host(trip.destination));
  const std::uint32_t part = fixed_point(share / static_cast<double>(cables.size()));
  for (const std::uint32_t cable : cables) {
    const auto known = std::ranges::find(way.uses, cable ^ 1, &Use::resource);
    if (known == way.uses.end()) {
      way.uses.push_back({cable ^ 1, part});
    } else {
      known->share = std::min(known->share + part, kWhole);
    }
  }
}

void Paths::find_divided(const Trip& trip, Way& way) {
  if (division_->names_ways()) {
    way.open = division_->divide_named(trip.source, trip.destination, parts_, way.hops);
    for (const Division::Part& each : parts_) way.uses.push_back({each.channel, fixed_point(each.share)});
    return;
  }
  const double detoured = detours_ == nullptr ? 0 : detours_->share(trip.source, trip.destination);
  each_nic(trip, 0, [&](std::uint32_t nic, double part, std::uint64_t) {
    const std::uint32_t at = topology_.channels()[nic].to;
    use(way, trip, nic, part);
    const bool first = way.hops.empty();
    if (first) way.hops.push_back(nic);
    if (capacity_[nic] == 0) way.open = false;
    if (topology_.node(at).kind == topologies::NodeKind::kHost) {
      way.open = way.open && at == topology_.host(trip.destination);
      return;
    }
    const Division::Divided divided = division_->divided(trip.source, at, trip.destination);
    if (!divided.open) way.open = false;
    for (const Division::Part& each : divided.parts) {
      const bool whole = detoured == 0 || detours_->keeps(each.channel);
      use(way, trip, each.channel, part * each.share * (whole ? 1 : 1 - detoured));
    }
    if (first) way.hops.insert(way.hops.end(), divided.hops.begin(), divided.hops.end());
  });
  if (detoured > 0) add_detours(trip, detoured, way);
}

Paths::Middle& Paths::middle(std::uint32_t source, std::uint32_t unit) {
  const auto [position, fresh] =
      middle_of_.emplace(std::uint64_t{source} << 32 | unit, static_cast<std::uint32_t>(middles_.size()));
  if (!fresh) return middles_[position->second];
  Middle& made = middles_.emplace_back();
  made.source = source;
  made.unit = unit;
  made.uses = static_cast<std::uint32_t>(use_pool_.size());
  made.arrivals = static_cast<std::uint32_t>(arrival_pool_.size());
  made.hops = static_cast<std::uint32_t>(hop_pool_.size());
  std::uint32_t at = source;
  for (std::uint32_t c; (c = spread_->first_link(unit, at)) != kNone; at = topology_.channels()[c].to) {
    hop_pool_.push_back(c);
  }
  if (only_hosts_bind_ && spread_->only_last(unit, at)) {
    made.open = true;
    arrival_pool_.push_back({at, 1.0});
  } else {
    const auto number = static_cast<std::uint32_t>(middles_.size());
    used_by_.resize(resources_.size());
    made.open = spread_->divide(
        unit, source,
        [&](std::uint32_t channel, double share) {
          const std::uint32_t resource = resource_of_[channel];
          if (resource == kNone || used_by_[resource] == number) return;
          used_by_[resource] = number;  // the others of its group have the same share
          use_pool_.push_back({resource, fixed_point(share)});
        },
        [&](std::uint32_t vertex, double share) {
          arrival_pool_.push_back({vertex, share});
        });
  }
  made.use_count = static_cast<std::uint32_t>(use_pool_.size()) - made.uses;
  made.arrival_count = static_cast<std::uint32_t>(arrival_pool_.size()) - made.arrivals;
  made.hop_count = static_cast<std::uint32_t>(hop_pool_.size()) - made.hops;
  return made;
}

void Paths::carry(const Trip& trip, std::uint64_t bytes, double detoured, std::uint32_t job) {
  Load& load = loads_[job];
  const bool one = kind_ == routing::FluidPaths::kOne;
  if (divides() && division_->names_ways()) {
    division_->divide_named(trip.source, trip.destination, parts_, scratch_);
    for (const Division::Part& each : parts_) {
      load.divided[each.channel] += each.share * static_cast<double>(bytes);
    }
    return;
  }
  each_nic(trip, bytes, [&](std::uint32_t nic, double, std::uint64_t part) {
    if (one) {
      scratch_.clear();
      walk(nic, trip, scratch_);
      for (const std::uint32_t c : scratch_) load.bytes[c] += part;
      return;
    }
    load.bytes[nic] += part;
    const std::uint32_t at = topology_.channels()[nic].to;
    if (topology_.node(at).kind == topologies::NodeKind::kHost) return;
    if (divides()) return carry_divided(trip, at, static_cast<double>(part), detoured, load);
    carry_even(trip, at, part, load);
  });
}

void Paths::carry_even(const Trip& trip, std::uint32_t at, std::uint64_t bytes, Load& load) {
  const Middle& between = middle(at, spread_->unit_of(trip.destination));
  load.middles.resize(middles_.size());
  load.middles[static_cast<std::size_t>(&between - middles_.data())] += bytes;
  double sum = 0;
  std::uint64_t given = 0;
  for (std::uint32_t i = 0; i < between.arrival_count; ++i) {
    const Arrival arrival = arrival_pool_[between.arrivals + i];
    sum += arrival.share;
    const bool last = i + 1 == between.arrival_count;
    const std::uint64_t here =
        (last ? bytes : static_cast<std::uint64_t>(static_cast<double>(bytes) * sum)) - given;
    given += here;
    spread_->last_links(arrival.vertex, trip.destination, scratch_);
    for (std::size_t k = 0; k < scratch_.size(); ++k) {
      load.bytes[scratch_[k]] += part_of_bytes(here, k, scratch_.size());
    }
  }
}

void Paths::carry_divided(const Trip& trip, std::uint32_t at, double bytes, double detoured, Load& load) {
  for (const Division::Part& each : division_->divided(trip.source, at, trip.destination).parts) {
    const bool whole = detoured == 0 || detours_->keeps(each.channel);
    load.divided[each.channel] += each.share * bytes * (whole ? 1 : 1 - detoured);
  }
  if (detoured == 0) return;
  detours_->carry(trip.source, trip.destination, detoured * bytes, load.detoured);
  if (detours_->keeps_last_links()) return;
  const auto cables = topology_.out_channels(topology_.host(trip.destination));
  for (const std::uint32_t cable : cables) {
    load.divided[cable ^ 1] += detoured * bytes / static_cast<double>(cables.size());
  }
}

// While links still are as they were.
void Paths::settle() {
  for (Load& load : loads_) {
    expand(load, load.bytes);
    load.middles.clear();
  }
}

// Adds what the middles have carried, one unit at a time.
void Paths::expand(const Load& load, std::vector<std::uint64_t>& bytes) const {
  if (load.middles.empty()) return;
  std::vector<std::uint32_t> order(load.middles.size()), sources;
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return middles_[a].unit < middles_[b].unit; });
  std::vector<std::uint64_t> here(topology_.nodes());
  for (std::size_t i = 0; i < order.size();) {
    const std::uint32_t unit = middles_[order[i]].unit;
    sources.clear();
    for (; i < order.size() && middles_[order[i]].unit == unit; ++i) {
      const std::uint64_t carried = load.middles[order[i]];
      if (carried == 0) continue;
      here[middles_[order[i]].source] += carried;
      sources.push_back(middles_[order[i]].source);
    }
    for (const Spread::Stop& stop : spread_->stops(unit, sources)) {
      const std::uint64_t all = std::exchange(here[stop.vertex], 0);
      const auto links = spread_->links(stop);
      for (std::size_t k = 0; k < links.size(); ++k) {
        const std::uint64_t part = part_of_bytes(all, k, links.size());
        bytes[links[k]] += part;
        here[topology_.channels()[links[k]].to] += part;
      }
    }
  }
}

std::vector<std::uint64_t> Paths::carried_of(const Load& load) const {
  std::vector<std::uint64_t> bytes = load.bytes;
  expand(load, bytes);
  std::vector<double> divided = load.divided;
  if (detours_ != nullptr) detours_->add_carried(load.detoured, divided);
  for (std::size_t c = 0; c < divided.size(); ++c) {
    bytes[c] += static_cast<std::uint64_t>(divided[c] + 0.5);
  }
  return bytes;
}

std::vector<std::uint64_t> Paths::carried() const {
  std::vector<std::uint64_t> bytes = carried_of(loads_.front());
  for (const Load& load : std::span(loads_).subspan(1)) {
    const std::vector<std::uint64_t> others = carried_of(load);
    for (std::size_t c = 0; c < bytes.size(); ++c) bytes[c] += others[c];
  }
  return bytes;
}

std::vector<std::uint64_t> Paths::carried_by_job() const {
  std::vector<std::uint64_t> bytes(capacity_.size() * loads_.size());
  for (std::size_t job = 0; job < loads_.size(); ++job) {
    const std::vector<std::uint64_t> of_job = carried_of(loads_[job]);
    for (std::size_t c = 0; c < of_job.size(); ++c) bytes[c * loads_.size() + job] = of_job[c];
  }
  return bytes;
}

}  // namespace weft::sim::flow

#include "goal/collectives/nccl/tuner.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "goal/collectives/nccl/tuning_tables.h"
#include "sim/units/input_error.h"

namespace weft::goal::nccl {
namespace {

constexpr std::uint32_t kNvlsChannels = 16;

template <typename Table>
double at(const Table& table, Algorithm algorithm, Protocol protocol) {
  return table[static_cast<int>(algorithm)][static_cast<int>(protocol)];
}

}  // namespace

// A collective as the formulas see it.
struct Tuner::Call {
  CollectiveKind kind;
  std::uint64_t bytes;
  std::uint32_t ranks, nodes, per_node;
  Rings rings;
  const Tables* figures;
  int column;  // of tables by number of nodes
  // Trees of two nodes have the faster rate inside the nodes; around a ring there is but one.
  double bus_gbs(Algorithm algorithm) const {
    const bool is_tree = algorithm == Algorithm::kTree;
    return rings.channels * (nodes == 1 || (nodes == 2 && is_tree) ? rings.inside_gbs : rings.between_gbs);
  }
  bool is_allreduce() const { return kind == CollectiveKind::kAllreduce; }
  bool in_blocks() const {
    return kind == CollectiveKind::kAllgather || kind == CollectiveKind::kReduceScatter;
  }
  bool combines() const {
    return kind == CollectiveKind::kReduceScatter || kind == CollectiveKind::kReduce || is_allreduce();
  }
  // Steps of a ring.
  double steps() const { return is_allreduce() ? 2.0 * (ranks - 1) : in_blocks() ? ranks - 1.0 : ranks; }
  // How many of the rings found are used: a limit of channels may leave some of them, with their NICs.
  double ring_share(Algorithm algorithm) const {
    if (algorithm != Algorithm::kRing && algorithm != Algorithm::kTree) return 1;
    return std::min(1.0, static_cast<double>(rings.used_channels) / rings.channels);
  }
  double levels() const { return std::bit_width(nodes) - 1; }
};

Tuner::Tuner(const Node& node, const Settings& settings) : node_(node), settings_(settings) {
  const auto check = [](bool holds, const char* what) {
    if (!holds) throw InputError(fmt::format("a node for NCCL: {}", what));
  };
  const auto is_rate = [](double rate) { return rate >= 0 && rate <= 1e5; };
  check(node.gpus >= 1 && node.gpus <= 1024, "it must have 1 to 1024 GPUs");
  check(node.nics <= 1024, "it must have at most 1024 NICs");
  check(is_rate(node.nvlink_gbs) && is_rate(node.pcie_gbs) && is_rate(node.nic_gbs),
        "rates must be from 0 to 100000 GB/s");
  check(node.nvlink_gbs > 0 || node.pcie_gbs > 0, "it needs NVLink or PCIe between its GPUs");
  const auto channels = [&](const std::optional<std::uint32_t>& given, const char* what) {
    if (given && (*given < 1 || *given > 64)) {
      throw InputError(fmt::format("{} is {}, but it must be from 1 to 64", what, *given));
    }
  };
  channels(settings.min_channels, "the least number of channels");
  channels(settings.max_channels, "the largest number of channels");
  const auto threads = [&](const std::optional<std::uint32_t>& given, std::uint32_t most, const char* what) {
    if (given && (*given < 64 || *given > most || *given % 32 != 0)) {
      throw InputError(
          fmt::format("{} is {}, but it must be from 64 to {} in steps of 32", what, *given, most));
    }
  };
  threads(settings.threads, 512, "the number of threads");
  threads(settings.ll128_threads, 640, "the number of threads for LL128");
}

Tuner Tuner::on_nodes_of(const NodeRanks& ranks, std::uint32_t uneven) const {
  Node node = with_gpus(node_, ranks.each);
  node.first_gpus = ranks.first;
  node.uneven_nodes = uneven;
  return {node, settings_};
}

bool Tuner::tunes(CollectiveKind kind) {
  return kind == CollectiveKind::kAllreduce || kind == CollectiveKind::kAllgather ||
         kind == CollectiveKind::kReduceScatter || kind == CollectiveKind::kBcast ||
         kind == CollectiveKind::kReduce;
}

std::uint32_t Tuner::nodes(std::uint32_t ranks) const {
  return node_.uneven_nodes > 0 ? node_.uneven_nodes : node_.ranks().nodes_of(ranks);
}

Node Tuner::smallest_node(std::uint32_t ranks) const {
  const NodeRanks on = node_.ranks();
  if (node_.uneven_nodes > 0) return with_gpus(node_, on.first);
  if (on.nodes_of(ranks) < 2) return node_;
  const std::uint32_t least = std::min(on.on(0, ranks), on.on(on.nodes_of(ranks) - 1, ranks));
  return least == node_.gpus ? node_ : with_gpus(node_, least);
}

// The fastest set of rings: inside a node of up to 12, between nodes as many as the NICs can feed.
Rings Tuner::rings(std::uint32_t ranks) const {
  const bool between = ranks > node_.gpus;
  const std::uint32_t in_node = std::min(ranks, node_.gpus);
  const double inside = node_.nvlink_gbs > 0 ? node_.nvlink_among_gbs(in_node) : node_.pcie_gbs;
  const double nic = node_.nic_through_pcie_gbs();
  // All nodes have as many rings as the one that has fewest.
  const Node least = smallest_node(ranks);
  const double inside_least = node_.nvlink_gbs > 0 ? least.nvlink_gbs : least.pcie_gbs;
  constexpr std::uint32_t kMostInside = 12, kMostFound = 16;
  Rings best;
  const auto fits = [](double capacity, double rate) {
    return static_cast<std::uint32_t>(std::min(capacity / rate + 1e-9, double{kMostFound}));
  };
  for (const double rate : ring_rates(node_.compute_capability, between)) {
    std::uint32_t found = between ? std::min(fits(nic, rate) * least.nics, kMostFound)
                                  : std::min(fits(inside, rate), kMostInside);
    // Every GPU hands on each ring but its part of those that leave the node from it.
    if (between && node_.gpus > 1)
      found = std::min(found, fits(inside, rate * (node_.gpus - 1.0) / node_.gpus));
    if (between && least.gpus > 1)
      found = std::min(found, fits(inside_least, rate * (least.gpus - 1.0) / least.gpus));
    if (found * rate < best.channels * best.between_gbs || found == 0) continue;
    if (between && found * rate == best.channels * best.between_gbs) continue;
    best.channels = found;
    best.between_gbs = best.inside_gbs = rate;
  }
  if (const std::uint32_t known = node_.rings_found; known > 0 && !between && ranks == node_.gpus) {
    best.channels = known;
    best.between_gbs = best.inside_gbs = inside / known;
  }
  if (best.channels == 0)
    throw InputError("NCCL finds no ring: the node's rates are too low, or it has no NIC");
  if (between) {
    // Step by step up the list, until a tree has twice the rate inside.
    const auto rates = ring_rates(node_.compute_capability, true);
    for (auto rate = rates.rbegin(); rate != rates.rend() && *rate * best.channels <= inside; ++rate) {
      if (best.inside_gbs >= 2 * best.between_gbs) break;
      best.inside_gbs = std::max(*rate, best.between_gbs);
    }
  }
  const std::uint32_t most = tables(settings_.version).most_channels;
  std::uint32_t used = 2 * best.channels;
  if (between && node_.compute_capability >= 90 && best.between_gbs > 45 && used < 16) used *= 2;
  used = std::max(used, settings_.min_channels.value_or(1));
  best.all_channels = std::min(used, most);
  best.used_channels = std::min(best.all_channels, settings_.max_channels.value_or(most));
  return best;
}

std::uint32_t Tuner::nvls_percent() const {
  const double share = tables(settings_.version).nvls_efficiency[generation(node_.compute_capability)];
  return static_cast<std::uint32_t>(std::lround(100 * share));
}

Tuner::Call Tuner::call_of(CollectiveKind kind, std::uint64_t bytes, std::uint32_t ranks) const {
  Call call{.kind = kind,
            .bytes = bytes,
            .ranks = ranks,
            .nodes = nodes(ranks),
            .per_node = std::min(ranks, node_.gpus),
            .rings = rings(ranks),
            .figures = &tables(settings_.version),
            .column = 0};
  if (call.in_blocks() && __builtin_mul_overflow(bytes, std::uint64_t{ranks}, &call.bytes)) {
    throw InputError(fmt::format("{} ranks with {} bytes each have more than 2^64 bytes", ranks, bytes));
  }
  call.column = static_cast<int>(std::min(call.nodes, 3u)) - 1;
  return call;
}

std::string Tuner::why_not(const Call& call, Algorithm algorithm, Protocol protocol) const {
  const bool is_ring = algorithm == Algorithm::kRing, is_tree = algorithm == Algorithm::kTree;
  const bool is_nvls = algorithm == Algorithm::kNvls, is_nvls_tree = algorithm == Algorithm::kNvlsTree;
  if (algorithm == Algorithm::kCollNetDirect || algorithm == Algorithm::kCollNetChain) {
    return "needs switches that reduce (SHARP) and their plug-in";
  }
  if (!settings_.algorithms.has(call.kind, static_cast<int>(algorithm)))
    return "not among the algorithms asked for";
  if (!settings_.protocols.has(call.kind, static_cast<int>(protocol)))
    return "not among the protocols asked for";
  if ((is_tree || is_nvls_tree) && !call.is_allreduce()) return "allreduce only";
  if ((is_nvls || algorithm == Algorithm::kPat) && !call.in_blocks() && !(is_nvls && call.is_allreduce())) {
    return "not for this collective";
  }
  if (!is_ring && !is_tree && protocol != Protocol::kSimple) return "Simple only";
  if (algorithm == Algorithm::kPat) {
    if (settings_.version <= Version::k2_20) return "from NCCL 2.23 on";
    if (call.per_node > 1) return "one GPU a node only";
  }
  if (is_nvls || is_nvls_tree) {
    if (!node_.nvls || node_.compute_capability < 90) return "needs NVSwitches that reduce";
    if (is_nvls && call.nodes > 1) return "between nodes it needs switches that reduce (SHARP)";
    if (is_nvls_tree && call.nodes == 1) return "several nodes only";
    if (call.per_node < 2) return "needs several GPUs in a node";
    if (settings_.replayed && (call.ranks % call.per_node != 0 || node_.first_gpus > 0)) {
      return "replayed with as many GPUs in every node only";
    }
  }
  if (protocol == Protocol::kLl128 && !settings_.protocols.given(call.kind)) {
    constexpr PathType kMost = PathType::kSwitches;
    if (node_.compute_capability < 70 || (node_.nvlink_gbs == 0 && call.per_node > 1)) return "needs NVLink";
    if (call.nodes > 1 && node_.nic_path > kMost) {
      return fmt::format("NICs are {} from the GPUs, past PCIe switches", name(node_.nic_path));
    }
  }
  return "";
}

double Tuner::nvls_bandwidth(const Call& call, Algorithm algorithm) const {
  const int row = generation(node_.compute_capability);
  // One channel for each GPU that is a head, which has its share of the vector. What goes to all heads, and
  // to the GPU itself as one of them, passes its links (src/graph/search.cc).
  constexpr std::uint32_t kMostHeads = 32;
  const double channels = std::min(call.per_node, kMostHeads);
  double rate = 0;
  for (const double each : ring_rates(node_.compute_capability, false)) {
    if (each * (channels + 1) > node_.nvlink_gbs) continue;
    rate = each;
    break;
  }
  double bus = rate * call.figures->nvls_efficiency[row] * (channels - 1) / channels;
  bus *= call.is_allreduce() ? 2 : (call.per_node - 1.0) / call.per_node;
  if (algorithm == Algorithm::kNvlsTree) {
    bus = std::min(bus, node_.nic_through_pcie_gbs() * node_.nics / channels * (call.nodes <= 2 ? 2 : 1));
    bus = std::min(bus, call.figures->nvls_tree_per_channel[row][call.column]);
    return bus * channels * 0.5;
  }
  return bus * channels * call.ranks / call.steps();
}

double Tuner::bandwidth(const Call& call, Algorithm algorithm, Protocol protocol) const {
  const Tables& t = *call.figures;
  const int row = generation(node_.compute_capability);
  const int ll_row = call.nodes == 1 ? row : node_.cpu == CpuVendor::kAmd ? 1 : 0;
  const double ll_most = t.ll_most[ll_row][call.column], channels = call.rings.used_channels;
  double bus = call.bus_gbs(algorithm);
  if (algorithm == Algorithm::kNvls || algorithm == Algorithm::kNvlsTree)
    return nvls_bandwidth(call, algorithm);
  if (algorithm == Algorithm::kTree) {
    bus = std::min(bus * 0.92, channels * t.tree_per_channel[row][call.column]);
    if (protocol == Protocol::kLl) bus = std::min(bus / 3.8, ll_most);
    if (protocol == Protocol::kLl128) {
      bus = std::min(bus * (call.nodes == 1 ? 7.0 / 9 : 120.0 / 128),
                     channels * t.tree_ll128_per_channel[row][call.column]);
    }
    return bus * 0.5 * tree_correction(protocol, call.bytes);
  }
  if (algorithm == Algorithm::kPat) bus *= 0.75;
  if (protocol == Protocol::kLl) bus = std::min(ll_most, bus * 0.5);
  if (protocol == Protocol::kLl128) bus = std::min(bus * 0.92, channels * t.ring_ll128_per_channel[row]);
  return bus * call.ranks / call.steps();
}

double Tuner::ring_latency(const Call& call, Protocol protocol) const {
  const Tables& t = *call.figures;
  const int link = node_.nvlink_gbs > 0 ? 0 : 1;
  const double inside = at(t.link_us[link], Algorithm::kRing, protocol);
  const bool as_tree = call.per_node == 1 && settings_.version > Version::k2_20;
  const double between = at(t.link_us[2], as_tree ? Algorithm::kTree : Algorithm::kRing, protocol);
  if (call.kind == CollectiveKind::kBcast || call.kind == CollectiveKind::kReduce) {
    const Algorithm like = protocol == Protocol::kSimple ? Algorithm::kTree : Algorithm::kRing;
    return call.steps() * at(t.link_us[call.nodes > 1 ? 2 : link], like, protocol);
  }
  double overhead = call.nodes == 1 ? 0 : node_.cpu == CpuVendor::kAmd ? 2 : 1;
  if (protocol == Protocol::kSimple) overhead *= 3;
  const double crossings = (call.is_allreduce() ? 2.0 : 1.0) * (call.nodes - 1);
  return (call.steps() - crossings) * std::max(inside, overhead) + crossings * between;
}

double Tuner::latency(const Call& call, Algorithm algorithm, Protocol protocol) const {
  const Tables& t = *call.figures;
  const double base = at(t.base_us, algorithm, protocol);
  const double inside = at(t.link_us[node_.nvlink_gbs > 0 ? 0 : 1], algorithm, protocol);
  const double between = at(t.link_us[2], algorithm, protocol);
  switch (algorithm) {
    case Algorithm::kTree:
      return base + 2 * ((call.per_node - 1) * inside + call.levels() * between);
    case Algorithm::kNvls:
      return base + inside;
    case Algorithm::kNvlsTree:
      return base + inside + 2 * call.levels() * between;
    case Algorithm::kPat:
      return base + call.levels() * between / 3.5 + 2.8 * call.ranks;
    default:
      return base + ring_latency(call, protocol);
  }
}

// NCCL's estimate knows the NICs only as far as its rings do: trees on two nodes go by the rate inside them.
// Every node sends its share of the vector at least, and what the protocol adds to it.
double Tuner::wire_us(const Call& call, Algorithm algorithm, Protocol protocol) const {
  if (call.nodes == 1) return 0;
  // Around a ring every link carries the same; in trees of nodes some nodes send more than the mean.
  const bool is_ring = algorithm == Algorithm::kRing || algorithm == Algorithm::kPat;
  const double parts = is_ring ? call.ranks : call.nodes;
  double share = call.is_allreduce() || call.in_blocks() ? (parts - 1) / parts : 1;
  if (call.is_allreduce()) share *= 2;
  if (protocol == Protocol::kLl) share *= 2;
  if (protocol == Protocol::kLl128) share *= 128.0 / 120;
  const Node least = smallest_node(call.ranks);
  return share * static_cast<double>(call.bytes) /
         (1000 * least.sends_gbs(least.gpus) * call.ring_share(algorithm));
}

// What channels need to copy and combine where they were limited; NCCL's estimate takes no note of that.
double Tuner::channels_us(const Call& call, Algorithm algorithm, Protocol protocol) const {
  const ChannelCosts& channel = node_.gpu.channels[static_cast<std::size_t>(protocol)];
  if (!settings_.max_channels || channel.copy_gbs <= 0 || channel.combine_gbs <= 0) return 0;
  const double us = static_cast<double>(call.bytes) / 1000 / call.rings.used_channels;
  const double combining = us / channel.combine_gbs, copying = us / channel.copy_gbs;
  // Each GPU of a tree has its two directions on processors of their own.
  if (algorithm == Algorithm::kTree) return std::max(combining, copying);
  if (algorithm != Algorithm::kRing) return 0;
  const double of_a_rank = call.steps() / call.ranks;
  return call.is_allreduce() ? of_a_rank / 2 * (combining + copying)
                             : of_a_rank * (call.combines() ? combining : copying);
}

// What was fitted at middle sizes is drawn to NCCL's own figure, by the logarithm of the size: at length the
// links alone count, and NCCL's figures are those that its tests reach.
double Correction::moving_at(std::uint64_t bytes, double fitted) const {
  if (most_bytes == 0 || bytes <= most_bytes) return fitted;
  const double beyond = std::log2(static_cast<double>(bytes) / static_cast<double>(most_bytes));
  return 1 + (fitted - 1) * std::max(0.0, 1 - beyond / kBeyond);
}

double Tuner::corrected(const Call& call, const Candidate& candidate, double moving_us) const {
  const Correction& by = node_.correction;
  // NCCL counts the NIC's own rate, and corrects that of trees for what its authors' networks did.
  if (call.nodes > 1 && node_.nic_payload_gbs > 0)
    return by.launch_us + candidate.latency_us + candidate.wire_us;
  const bool is_ring = candidate.algorithm == Algorithm::kRing;
  const bool is_nvls = candidate.algorithm == Algorithm::kNvls;
  const bool is_other = !is_ring && !is_nvls && candidate.algorithm != Algorithm::kTree;
  if (is_other || (by.on_one_node && call.nodes > 1))
    return by.launch_us + candidate.latency_us + std::max(moving_us, candidate.wire_us);
  const int row = is_nvls ? 2 : is_ring ? 1 : 0, column = static_cast<int>(candidate.protocol);
  const bool is_short =
      is_ring && candidate.protocol == Protocol::kLl && call.bytes <= std::uint64_t{16} * call.ranks;
  const double scale = is_short ? by.short_ring_latency : by.latency[row][column];
  return by.launch_us + scale * candidate.latency_us +
         std::max(by.moving_at(call.bytes, by.moving[row][column]) * moving_us, candidate.wire_us);
}

Candidate Tuner::estimate(const Call& call, Algorithm algorithm, Protocol protocol) const {
  Candidate candidate{
      .algorithm = algorithm, .protocol = protocol, .why_not = why_not(call, algorithm, protocol)};
  if (!candidate.why_not.empty()) return candidate;
  const double gbs = bandwidth(call, algorithm, protocol);
  if (gbs <= 0) {
    candidate.why_not = "no bandwidth";
    return candidate;
  }
  const bool is_ring = algorithm == Algorithm::kRing;
  candidate.bandwidth_gbs = gbs;
  candidate.latency_us = latency(call, algorithm, protocol);
  candidate.wire_us = wire_us(call, algorithm, protocol);
  double us = candidate.latency_us;
  const double moving_us = static_cast<double>(call.bytes) / (1000 * gbs);
  // A plateau that NCCL saw with this combination.
  if (is_ring && protocol == Protocol::kSimple && call.nodes > 1 && call.is_allreduce() &&
      call.bytes / (std::uint64_t{call.rings.used_channels} * call.ranks) >= 64) {
    us *= node_.compute_capability < 80 ? 1.9 : 1.4;
  }
  candidate.estimate_us = us + moving_us;
  // A limit of channels takes from NCCL's estimate what its tables say of a channel; from the time, what
  // channels and NICs that are left can do.
  Call unlimited = call;
  unlimited.rings.used_channels = call.rings.all_channels;
  const double all_us = static_cast<double>(call.bytes) / (1000 * bandwidth(unlimited, algorithm, protocol));
  candidate.time_us = corrected(call, candidate, std::max(all_us, channels_us(call, algorithm, protocol)));
  return candidate;
}

// With few bytes for each thread, fewer channels are used, then fewer threads.
void Tuner::set_channels(const Call& call, Choice& choice) const {
  const Candidate& best = choice.best;
  const bool is_ring = best.algorithm == Algorithm::kRing, is_tree = best.algorithm == Algorithm::kTree;
  std::uint32_t most = call.rings.used_channels;
  std::uint64_t channels = most, threads = 512, least = 64;
  if (best.protocol == Protocol::kSimple && is_ring && call.bus_gbs(best.algorithm) <= 12) threads = 256;
  threads = settings_.threads.value_or(threads);
  if (best.protocol == Protocol::kLl128) threads = settings_.ll128_threads.value_or(640);
  if (best.protocol != Protocol::kSimple) least = 8;
  if (best.protocol == Protocol::kLl && is_ring) least *= call.ranks;
  if (!is_ring && !is_tree && best.algorithm != Algorithm::kPat) {
    channels = most = std::min(kNvlsChannels, settings_.max_channels.value_or(kNvlsChannels));
  } else {
    while (channels > 1 && call.bytes < channels * threads * least) --channels;
    while (threads % 128 == 0 && call.bytes < channels * threads * least) threads /= 2;
  }
  if (best.protocol == Protocol::kSimple) threads = is_tree ? 640 : threads + (is_ring ? 32 : 0);
  choice.channels =
      static_cast<std::uint32_t>(std::max<std::uint64_t>(channels, settings_.min_channels.value_or(1)));
  choice.most_channels = std::max(choice.channels, most);
  choice.threads = static_cast<std::uint32_t>(std::max<std::uint64_t>(threads, 96));
  if (!is_ring || best.protocol == Protocol::kSimple) return;
  // A line of LL for each thread; of LL128 half of the four lines for each eight (2.20: a quarter).
  const bool is_ll = best.protocol == Protocol::kLl;
  if (settings_.version == Version::k2_19) choice.least_chunk_bytes = choice.threads * (is_ll ? 8ull : 30);
  if (settings_.version == Version::k2_20) choice.chunk_grain_bytes = choice.threads * (is_ll ? 8ull : 15);
}

Choice Tuner::choose(CollectiveKind kind, std::uint64_t bytes, std::uint32_t ranks) const {
  const Call call = call_of(kind, bytes, ranks);
  Choice choice;
  choice.bytes = call.bytes;
  const Candidate* best = nullptr;
  choice.candidates.reserve(kAlgorithms * kProtocols);
  for (int a = 0; a < kAlgorithms; ++a) {
    for (int p = 0; p < kProtocols; ++p) {
      choice.candidates.push_back(estimate(call, static_cast<Algorithm>(a), static_cast<Protocol>(p)));
      const Candidate& one = choice.candidates.back();
      if (one.why_not.empty() && (best == nullptr || one.estimate_us < best->estimate_us)) best = &one;
    }
  }
  if (best == nullptr) {
    throw InputError(
        fmt::format("NCCL has nothing left for {} on {} ranks with what was asked for", name(kind), ranks));
  }
  choice.best = *best;
  set_channels(call, choice);
  return choice;
}

}  // namespace weft::goal::nccl

#include "goal/import/mpi/host_cores.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace weft::goal {
namespace {

constexpr unsigned kMostCores = 65536;

using Cores = std::set<unsigned>;

// A set of ranks can have a core each only if it may use as many as it has members (Hall's theorem). Looked
// at are those that are confined to what one rank, or all together, may use.
void find_sharing(HostCores& host, const std::map<Cores, std::size_t>& ranks_by_cores, double quota) {
  const auto look_at = [&](std::size_t ranks, double cores) {
    const bool share = static_cast<double>(ranks) > cores && cores > 0;
    if (!share || ranks <= host.sharing) return;
    host.sharing = ranks;
    host.shared_cores = cores;
  };
  look_at(host.ranks.size(), host.cores);
  for (const auto& [cores, unused] : ranks_by_cores) {
    std::size_t confined = 0;
    for (const auto& [others, count] : ranks_by_cores) {
      if (std::includes(cores.begin(), cores.end(), others.begin(), others.end())) confined += count;
    }
    const auto size = static_cast<double>(cores.size());
    look_at(confined, quota > 0 ? std::min(size, quota) : size);
  }
}

}  // namespace

std::set<unsigned> parse_cores(const std::string& text) {
  std::set<unsigned> cores;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    unsigned first = 0;
    auto [behind, error] = std::from_chars(at, end, first);
    if (error != std::errc() || first >= kMostCores) return {};
    unsigned last = first;
    if (behind != end && *behind == '-') {
      const auto range = std::from_chars(behind + 1, end, last);
      if (range.ec != std::errc() || last < first || last >= kMostCores) return {};
      behind = range.ptr;
    }
    for (unsigned core = first; core <= last; ++core) cores.insert(core);
    if (behind != end && *behind++ != ',') return {};
    at = behind;
  }
  return cores;
}

std::vector<HostCores> host_cores(const std::vector<RankTimes>& ranks) {
  struct Found {
    HostCores host;
    Cores all;
    std::map<Cores, std::size_t> ranks_by_cores;
    double quota = 0;
    std::size_t threads = 0;
  };
  std::map<std::string, Found> found;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    Found& at = found[ranks[rank].host];
    at.host.ranks.push_back(rank);
    at.threads += ranks[rank].threads;
    const TimeSplit& split = ranks[rank].split;
    at.host.compute_ns += split.gaps_ns - split.gaps_off.sum();
    const auto& facts = ranks[rank].facts;
    if (const auto quota = facts.find("cpu_quota"); quota != facts.end()) {
      at.quota = std::max(0.0, std::strtod(quota->second.c_str(), nullptr));
    }
    const auto cores = facts.find("cores");
    if (cores == facts.end()) continue;
    const Cores its = parse_cores(cores->second);
    if (its.empty()) continue;
    at.all.insert(its.begin(), its.end());
    ++at.ranks_by_cores[its];
  }
  std::vector<HostCores> hosts;
  for (auto& [name, at] : found) {
    at.host.host = name;
    at.host.cores = static_cast<double>(at.all.size());
    if (at.quota > 0 && at.host.cores > 0) at.host.cores = std::min(at.host.cores, at.quota);
    find_sharing(at.host, at.ranks_by_cores, at.quota);
    const bool share = at.host.sharing == 0 && static_cast<double>(at.threads) > at.host.cores;
    if (share && at.host.cores > 0) at.host.sharing_threads = at.threads;
    hosts.push_back(std::move(at.host));
  }
  return hosts;
}

}  // namespace weft::goal

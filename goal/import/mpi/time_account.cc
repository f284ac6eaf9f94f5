#include "goal/import/mpi/time_account.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "goal/compute_times.h"
#include "goal/import/mpi/host_cores.h"

namespace weft::goal {
namespace {

// Below these nothing is said: the noise of any machine.
constexpr double kLeastShare = 0.01;
constexpr double kLeastSlowdown = 0.95;
constexpr double kLeastOthers = 0.05;
constexpr double kLeastNs = 500'000;  // 0.000 s are not worth a word

using Of = std::uint64_t (*)(const RankTimes&);

std::uint64_t elapsed_of(const RankTimes& rank) { return rank.elapsed_ns; }
std::uint64_t on_core_of(const RankTimes& rank) { return rank.split.gaps_ns - rank.split.gaps_off.sum(); }

double seconds(double ns) { return ns * 1e-9; }
double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

double mean(const TimeAccount& account, Of of) {
  double sum = 0;
  for (const RankTimes& rank : account.ranks) sum += static_cast<double>(of(rank));
  return account.ranks.empty() ? 0 : sum / static_cast<double>(account.ranks.size());
}

Shares shares(const TimeAccount& account, Of of) {
  std::vector<std::uint64_t> parts, wholes;
  for (const RankTimes& rank : account.ranks) {
    parts.push_back(of(rank));
    wholes.push_back(rank.elapsed_ns);
  }
  return shares_of(parts, wholes);
}

std::string percent(double share) { return fmt::format("{:.1f}%", 100 * share); }
std::string range(const Shares& shares) {
  if (percent(shares.least) == percent(shares.most)) return percent(shares.mean);
  return fmt::format("{}, from {} to {}", percent(shares.mean), percent(shares.least), percent(shares.most));
}

const std::string* fact(const RankTimes& rank, const char* name) {
  const auto found = rank.facts.find(name);
  return found == rank.facts.end() ? nullptr : &found->second;
}
double number(const RankTimes& rank, const char* name) {
  const std::string* text = fact(rank, name);
  return text == nullptr ? 0 : std::max(0.0, std::strtod(text->c_str(), nullptr));
}

bool told(const TimeAccount& account) {
  return std::all_of(account.ranks.begin(), account.ranks.end(),
                     [](const RankTimes& rank) { return !rank.facts.empty(); });
}

double sharing_ranks(const std::vector<HostCores>& hosts) {
  double ranks = 0;
  for (const HostCores& host : hosts) ranks += static_cast<double>(host.sharing);
  return ranks;
}

// "1 core", "1.5 cores"
std::string cores_text(double cores) { return cores == 1 ? "1 core" : fmt::format("{:.4g} cores", cores); }

// The host on which most ranks had to share.
const HostCores& most_shared(const std::vector<HostCores>& hosts) {
  return *std::max_element(hosts.begin(), hosts.end(),
                           [](const HostCores& a, const HostCores& b) { return a.sharing < b.sharing; });
}

// The host with the most threads that had to share; null if none has any.
const HostCores* most_shared_by_threads(const std::vector<HostCores>& hosts) {
  const HostCores* most = nullptr;
  for (const HostCores& host : hosts) {
    if (host.sharing_threads > (most == nullptr ? 0 : most->sharing_threads)) most = &host;
  }
  return most;
}

// Do ranks have threads, beside the first, that used cores?
bool has_other_threads(const RankTimes& rank) {
  const double others = number(rank, "process_cpu_ns") - number(rank, "cpu_ns");
  return others > kLeastOthers * static_cast<double>(rank.elapsed_ns);
}

std::string_view waits_by(const TimeAccount& account) {
  const double calls = mean(account, [](const RankTimes& r) { return r.split.calls_ns; });
  const double asleep = mean(account, [](const RankTimes& r) { return r.split.calls_off.asleep_ns; });
  const double off = asleep + mean(account, [](const RankTimes& r) { return r.split.calls_off.waiting_ns; });
  if (asleep > 0.5 * calls) return "sleeping";
  return off > 0.5 * calls ? "giving up the core" : "spinning";
}

std::string measured_text(const TimeAccount& account, double measured) {
  const bool knows = told(account);
  std::string text =
      fmt::format("Of {:.3f} s measured, a rank on average computed for {:.3f} s ({})", seconds(measured),
                  seconds(mean(account, on_core_of)), range(shares(account, on_core_of)));
  const double waited = mean(account, [](const RankTimes& r) { return r.split.gaps_off.waiting_ns; });
  const double asleep = mean(account, [](const RankTimes& r) { return r.split.gaps_off.asleep_ns; });
  const double polled = mean(account, [](const RankTimes& r) { return r.split.polling_ns; });
  if (waited >= kLeastNs) text += fmt::format(", waited {:.3f} s for a core to compute on", seconds(waited));
  if (asleep >= kLeastNs) text += fmt::format(", slept {:.3f} s between calls", seconds(asleep));
  if (polled >= kLeastNs) text += fmt::format(", polled for {:.3f} s", seconds(polled));
  const Of calls = [](const RankTimes& r) { return r.split.calls_ns; };
  text += fmt::format(" and was in MPI for {:.3f} s ({})", seconds(mean(account, calls)),
                      range(shares(account, calls)));
  if (!knows) return text + ". The trace does not tell when ranks did not run.";
  const double call_waits = mean(account, [](const RankTimes& r) { return r.split.calls_off.waiting_ns; });
  const double call_sleeps = mean(account, [](const RankTimes& r) { return r.split.calls_off.asleep_ns; });
  if (call_waits + call_sleeps < kLeastNs) return text + ", all of it on a core.";
  text +=
      fmt::format(", of that {:.3f} s on a core", seconds(mean(account, calls) - call_waits - call_sleeps));
  if (call_waits >= kLeastNs) text += fmt::format(", {:.3f} s waiting for one", seconds(call_waits));
  if (call_sleeps >= kLeastNs) text += fmt::format(", {:.3f} s asleep", seconds(call_sleeps));
  return text + ".";
}

std::string sharing_text(const std::vector<HostCores>& hosts) {
  const HostCores& host = most_shared(hosts);
  if (host.sharing == 0) return {};
  std::string text =
      fmt::format(" {} ranks on {} shared {}", host.sharing, host.host, cores_text(host.shared_cores));
  if (host.sharing == host.ranks.size()) {
    const double together = static_cast<double>(host.compute_ns) / host.shared_cores;
    text += fmt::format(
        ": these take {:.3f} s at least for what the ranks computed, and what a rank waited for in MPI was "
        "mostly a core for another rank, not the network",
        seconds(together));
  }
  return text + "; a replay gives each rank a core of its own.";
}

std::string ideal_text(const TimeAccount& account, double measured, bool shared, bool by_threads) {
  if (!account.ideal_ns) return {};
  const auto ideal = static_cast<double>(*account.ideal_ns);
  std::string text = fmt::format(
      " Without any cost of communication, and with a core for each rank, the replay takes {:.3f} s",
      seconds(ideal));
  const double computed = mean(account, [](const RankTimes& r) { return r.split.compute_ns; });
  if (ideal > 0) text += fmt::format(" (the traced run took {:.2f} times as long)", measured / ideal);
  if (ideal > computed) {
    text += fmt::format(": {:.3f} s of computing and {:.3f} s of waiting for ranks that compute longer",
                        seconds(computed), seconds(ideal - computed));
  }
  if (shared || measured <= ideal * (1 + kLeastShare)) return text + ".";
  const double without = mean(
      account, [](const RankTimes& r) { return r.split.gaps_off.waiting_ns + r.split.calls_off.waiting_ns; });
  text += fmt::format(". The other {:.3f} s are communication, and what ranks waited for in it",
                      seconds(measured - ideal));
  if (without >= kLeastNs) {
    text += fmt::format("; for {:.3f} s of the run a rank was ready and {} had its core", seconds(without),
                        by_threads ? "other work or another of its threads" : "other work");
  }
  return text + ".";
}

void note(PackInfo& info, std::string_view name, Severity severity, double count, std::string sentence) {
  if (count < 1) return;
  info.anomalies.push_back({std::string(kComputeTimesPrefix) + std::string(name), severity,
                            std::move(sentence), static_cast<std::uint64_t>(count)});
}

void report_cores(const TimeAccount& account, const std::vector<HostCores>& hosts, PackInfo& info) {
  const bool corrected = account.policy != ComputeTimes::kWall;
  const double waited = mean(account, [](const RankTimes& r) { return r.split.gaps_off.waiting_ns; });
  const double asleep = mean(account, [](const RankTimes& r) { return r.split.gaps_off.asleep_ns; });
  const double elapsed = mean(account, elapsed_of);
  const char* what = corrected ? "is left out of the compute times" : "is part of the compute times";
  if (!told(account)) {
    note(info, "unknown", Severity::kInfo, static_cast<double>(account.ranks.size()),
         "Ranks' traces that do not tell when they had no core; should cores have been shared, waiting for "
         "one "
         "is part of the compute times.");
  }
  if (const double ranks = sharing_ranks(hosts); ranks > 0) {
    const HostCores& most = most_shared(hosts);
    note(info, "shared_cores", Severity::kWarning, ranks,
         fmt::format(
             "the program was traced with cores shared by ranks ({} ranks on {} of {}); waiting "
             "for a core ({:.1f}% of the time) {}, and the runtime measured is none of ranks with cores "
             "of their own",
             most.sharing, cores_text(most.shared_cores), most.host, 100 * ratio(waited, elapsed), what));
  } else if (const HostCores* by = most_shared_by_threads(hosts);
             by != nullptr && waited > kLeastShare * elapsed) {
    note(info, "shared_cores", Severity::kWarning, static_cast<double>(account.ranks.size()),
         fmt::format("the program was traced with cores shared by its ranks' own threads ({} threads of {} "
                     "ranks on {} of {}); waiting for a core ({:.1f}% of the time) {}, and the runtime "
                     "measured is none of threads with cores of their own",
                     by->sharing_threads, by->ranks.size(), cores_text(by->cores), by->host,
                     100 * ratio(waited, elapsed), what));
  } else if (waited > kLeastShare * elapsed) {
    const bool others = std::any_of(account.ranks.begin(), account.ranks.end(), has_other_threads);
    note(info, "busy_machine", corrected ? Severity::kInfo : Severity::kWarning,
         static_cast<double>(account.ranks.size()),
         fmt::format("other work on the machine{} took cores from the ranks while they were traced; waiting "
                     "for one ({:.1f}% of the time) {}",
                     others ? ", or other threads of the ranks," : "", 100 * ratio(waited, elapsed), what));
  }
  if (asleep > kLeastShare * elapsed) {
    note(info, "asleep", Severity::kInfo, static_cast<double>(account.ranks.size()),
         fmt::format(
             "ranks slept between their calls for {:.1f}% of the time (files, locks, other threads, GPUs), "
             "which {} compute",
             100 * ratio(asleep, elapsed),
             account.policy == ComputeTimes::kCpu ? "is left out of" : "counts as"));
  }
}

void report_frequency(const TimeAccount& account, PackInfo& info) {
  double ranks = 0, lowest = 0, highest = 0, most = 0;
  std::string governor;
  for (const RankTimes& rank : account.ranks) {
    const double first = number(rank, "mhz"), last = number(rank, "last_mhz"), max = number(rank, "max_mhz");
    if (first == 0 || max == 0) continue;
    const double low = last > 0 ? std::min(first, last) : first;
    if (low >= kLeastSlowdown * max) continue;
    lowest = ranks == 0 ? low : std::min(lowest, low);
    highest = std::max({highest, first, last});
    most = std::max(most, max);
    if (const std::string* its = fact(rank, "governor")) governor = *its;
    ++ranks;
  }
  note(info, "frequency", Severity::kWarning, ranks,
       fmt::format(
           "cores of {:.0f} ranks ran at {:.0f} to {:.0f} of {:.0f} MHz when looked at{}; compute times "
           "are those of that frequency",
           ranks, lowest, highest, most, governor.empty() ? "" : ", governor " + governor));
}

void report_machine(const TimeAccount& account, PackInfo& info) {
  double stolen = 0, other_threads = 0, others_ns = 0;
  for (const RankTimes& rank : account.ranks) {
    const double time = static_cast<double>(rank.elapsed_ns) * number(rank, "cores_online");
    if (time > 0) stolen = std::max(stolen, number(rank, "host_stolen_ns") / time);
    if (!has_other_threads(rank)) continue;
    ++other_threads;
    others_ns += number(rank, "process_cpu_ns") - number(rank, "cpu_ns");
  }
  if (stolen > kLeastShare) {
    note(info, "stolen", Severity::kWarning, 1,
         fmt::format(
             "a hypervisor gave up to {:.1f}% of the cores' time to others while the program was traced, "
             "which may be part of the compute times",
             100 * stolen));
  }
  note(info, "other_threads", Severity::kInfo, other_threads,
       fmt::format(
           "ranks whose other threads used cores for {:.3f} s in all; the first thread's compute times "
           "hold where it waited for them, but whether they had a core each is not known",
           seconds(others_ns)));
}

}  // namespace

Shares shares_of(const std::vector<std::uint64_t>& parts, const std::vector<std::uint64_t>& wholes) {
  Shares shares;
  double part = 0, whole = 0;
  bool first = true;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (wholes[i] == 0) continue;
    const double share = static_cast<double>(parts[i]) / static_cast<double>(wholes[i]);
    shares.least = first ? share : std::min(shares.least, share);
    shares.most = first ? share : std::max(shares.most, share);
    part += static_cast<double>(parts[i]);
    whole += static_cast<double>(wholes[i]);
    first = false;
  }
  shares.mean = ratio(part, whole);
  return shares;
}

std::string where_time_went(const TimeAccount& account) {
  double measured = 0;
  for (const RankTimes& rank : account.ranks) {
    measured = std::max(measured, static_cast<double>(rank.elapsed_ns));
  }
  if (measured == 0) return {};
  const std::vector<HostCores> hosts = host_cores(account.ranks);
  const bool by_threads = most_shared_by_threads(hosts) != nullptr ||
                          std::any_of(account.ranks.begin(), account.ranks.end(), has_other_threads);
  return measured_text(account, measured) + sharing_text(hosts) +
         ideal_text(account, measured, sharing_ranks(hosts) > 0, by_threads);
}

void report_times(const TimeAccount& account, PackInfo& info) {
  const char* const policies[] = {"auto: without waiting for a core", "wall: the time that passed",
                                  "cpu: time on a core"};
  info.metadata["compute_times"] = policies[static_cast<std::size_t>(account.policy)];
  const auto put = [&](const std::string& name, const Shares& shares) {
    info.metadata[name] = fmt::format("{:.4f} ({:.4f} to {:.4f})", shares.mean, shares.least, shares.most);
  };
  put("traced_compute_share", shares(account, on_core_of));
  put("traced_mpi_share", shares(account, [](const RankTimes& r) { return r.split.calls_ns; }));
  if (told(account)) info.metadata["mpi_waits_by"] = waits_by(account);
  if (account.ideal_ns) info.metadata["ideal_elapsed_ns"] = std::to_string(*account.ideal_ns);
  info.metadata["where_the_time_went"] = where_time_went(account);
  report_cores(account, host_cores(account.ranks), info);
  report_frequency(account, info);
  report_machine(account, info);
}

}  // namespace weft::goal

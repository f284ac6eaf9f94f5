#include "tools/weft/run/explain_where.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "sim/routing/paths/path_list.h"
#include "sim/units/module.h"
#include "tools/weft/route/routed_network.h"
#include "topologies/composed.h"

namespace weft::cli {
namespace {

using Json = nlohmann::ordered_json;

// Entries without their shares.
struct Shares {
  std::vector<std::pair<double, Json>> entries;  // times
  double total = 0;

  void add(double time, Json entry) {
    if (time > 0) entries.emplace_back(time, std::move(entry));
  }
  // What the entries lack of the total, is `rest`.
  Json listed(const char* rest = "") {
    constexpr std::size_t kMost = 8;
    std::ranges::stable_sort(entries, std::greater<>(), &std::pair<double, Json>::first);
    Json list = Json::array();
    double others = 0, left = total;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      left -= entries[i].first;
      if (i >= kMost) {
        others += entries[i].first;
        continue;
      }
      entries[i].second["share"] = entries[i].first / total;
      list.push_back(entries[i].second);
    }
    const auto last = [&](std::string words, double time) {
      if (time > 1e-9 * total) list.push_back({{"others", std::move(words)}, {"share", time / total}});
    };
    if (entries.size() > kMost) last(fmt::format("{} others", entries.size() - kMost), others);
    last(rest, left);
    return list;
  }
};

double ps(Time time) { return static_cast<double>(time.ps()); }

// ---- Links ----

// The network of a run, its links by how long they were busy.
class Ways {
 public:
  Ways(const results::Report& report, const topologies::Topology& topology, const sim::Scenario& scenario)
      : report_(report), network_(topology, choice_of(report, scenario)) {}

  // Tells for what share of what one host sends to another each link is the fullest of the way.
  std::map<std::uint32_t, double> fullest(std::uint32_t from, std::uint32_t to) const {
    std::map<std::uint32_t, double> shares;
    double listed = 0, taken = 0;
    const std::vector<routing::ListedPath> all = paths(from, to);
    for (const routing::ListedPath& path : all) {
      if (path.channels.empty()) continue;
      listed += path.share;
      if (may_be_taken(path)) taken += path.share;
    }
    for (const routing::ListedPath& path : all) {
      if (path.channels.empty() || (taken > 0 && !may_be_taken(path))) continue;
      shares[fullest_of(path.channels)] += taken > 0 ? path.share * listed / taken : path.share;
    }
    // Ways that aren't listed, detours among them, begin and end with the hosts' own links.
    if (1 - listed > 1e-9) shares[fullest_of(ends(from, to))] += 1 - listed;
    return shares;
  }

 private:
  static RoutedNetwork::Choice choice_of(const results::Report& report, const sim::Scenario& scenario) {
    const auto nics = scenario.network.given.find("nic_choice");
    return {.family = topologies::routed_family(scenario.topology),
            .fabric = "",
            .routing = report.routing,
            .seed = report.seed,
            .nic_choice = nics == scenario.network.given.end() ? "library" : nics->second};
  }
  std::vector<routing::ListedPath> paths(std::uint32_t from, std::uint32_t to) const {
    constexpr std::uint32_t kMost = 256;
    if (network_.rails() == nullptr) {
      return routing::list_paths(network_.topology(), network_.table(), network_.paths(), from, to, kMost)
          .paths;
    }
    std::vector<routing::ListedPath> all;
    const routing::NicNetwork& nics = *network_.rails();
    for (const routing::Rail& rail : network_.rails_between(from, to)) {
      for (routing::ListedPath& path :
           routing::list_paths(nics.topology(), nics.table(), network_.rail_paths(),
                               nics.endpoint(from, rail.source), nics.endpoint(to, rail.destination), kMost)
               .paths) {
        path.share *= rail.share;
        all.push_back(std::move(path));
      }
    }
    return all;
  }
  std::vector<std::uint32_t> ends(std::uint32_t from, std::uint32_t to) const {
    const topologies::Topology& topology = network_.topology();
    std::vector<std::uint32_t> links;
    for (const std::uint32_t channel : topology.out_channels(topology.host(from))) links.push_back(channel);
    for (const std::uint32_t channel : topology.out_channels(topology.host(to))) links.push_back(channel ^ 1);
    return links;
  }
  // Policies that keep messages to one way each take few of those that they may take.
  bool may_be_taken(const routing::ListedPath& path) const {
    return std::ranges::all_of(path.channels,
                               [&](std::uint32_t channel) { return report_.links.at(channel).bytes > 0; });
  }
  // The first of them, if several were busy as long.
  std::uint32_t fullest_of(const std::vector<std::uint32_t>& channels) const {
    return *std::ranges::max_element(channels, {},
                                     [&](std::uint32_t channel) { return report_.links.at(channel).busy; });
  }

  const results::Report& report_;
  const RoutedNetwork network_;
};

// Messages within a host, and those of the pairs beyond the first so many, are on no link of the list.
Json by_link(const results::Report& report, std::size_t job, const Ways& ways, double total) {
  constexpr std::size_t kMostPairs = 1000;
  const auto ranks = std::ranges::equal_range(report.ranks, job, {}, &results::Rank::job);
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> hosts;
  for (const auto& [ends, time] : report.jobs[job].path_shares->messages) {
    const std::uint32_t from = ranks[ends.first].host, to = ranks[ends.second].host;
    if (from != to) hosts[{from, to}] += ps(time);
  }
  std::vector<std::pair<double, std::pair<std::uint32_t, std::uint32_t>>> pairs;
  for (const auto& [ends, time] : hosts) pairs.emplace_back(-time, ends);
  std::ranges::sort(pairs);
  if (pairs.size() > kMostPairs) pairs.resize(kMostPairs);
  std::map<std::uint32_t, double> times;
  for (const auto& [less, ends] : pairs) {
    for (const auto& [link, share] : ways.fullest(ends.first, ends.second)) times[link] -= less * share;
  }
  Shares shares{.entries = {}, .total = total};
  for (const auto& [link, time] : times) {
    shares.add(time, {{"from", report.links[link].from}, {"to", report.links[link].to}});
  }
  return shares.listed("no link: work of hosts, latency");
}

std::string list_text(const char* title, const Json& list,
                      const std::function<std::string(const Json&)>& name) {
  std::string text;
  for (const Json& each : list) {
    const double share = each["share"].get<double>();
    if (share < 5e-4) continue;
    const std::string words = each.contains("others") ? each["others"].get<std::string>() : name(each);
    text += fmt::format("{}{:.1f}% {}", text.empty() ? "" : ", ", 100 * share, words);
  }
  return text.empty() ? "" : fmt::format("    {:<9} {}\n", title, text);
}

}  // namespace

Json shares_by_job(const nlohmann::json& run) {
  const nlohmann::json& jobs = run.at("jobs");
  double at = run.at("makespan_ns");
  Shares shares{.entries = {}, .total = at};
  const auto ending_at = [&](double time) {
    return std::ranges::find_if(jobs, [&](const nlohmann::json& job) {
      return job.at("finish_ns") == time && job.at("start_ns") < time;
    });
  };
  for (auto job = ending_at(at); job != jobs.end(); job = ending_at(at)) {
    const double start = job->at("start_ns");
    shares.add(at - start, {{"name", job->at("name")}});
    at = start;
    if (start <= job->at("submit_ns").get<double>()) break;
  }
  return shares.listed("before it was submitted");
}

Json where_of(const results::Report& report, std::size_t job, const topologies::Topology* topology,
              const sim::Scenario& scenario) {
  const results::PathShares& path = *report.jobs.at(job).path_shares;
  double total = 0;
  for (const auto& [rank, time] : path.ranks) total += ps(time);
  Shares ranks{.entries = {}, .total = total}, activities{.entries = {}, .total = total};
  for (const auto& [rank, time] : path.ranks) ranks.add(ps(time), {{"rank", rank}});
  for (const auto& [activity, spent] : path.activities) {
    activities.add(
        ps(spent.time),
        {{"kind", activity.kind}, {"communicator", activity.communicator}, {"count", spent.count}});
  }
  Json where = {{"ranks", ranks.listed()}, {"activities", activities.listed()}};
  if (topology == nullptr || report.links.empty() || total == 0) return where;
  where["links"] = by_link(report, job, Ways(report, *topology, scenario), total);
  return where;
}

std::string jobs_text(const Json& shares) {
  return list_text("by job", shares, [](const Json& each) { return each["name"].get<std::string>(); });
}

std::string where_text(const Json& where) {
  std::string text = list_text("by rank", where["ranks"], [](const Json& each) {
    return fmt::format("rank {}", each["rank"].get<std::uint32_t>());
  });
  text += list_text("by what", where["activities"], [](const Json& each) {
    const std::string on = each["communicator"].get<std::string>();
    return fmt::format("{}{} ({})", each["kind"].get<std::string>(), on.empty() ? "" : " on " + on,
                       each["count"].get<std::uint64_t>());
  });
  if (!where.contains("links")) return text;
  return text + list_text("by link", where["links"], [](const Json& each) {
           return fmt::format("{} -> {}", each["from"].get<std::string>(), each["to"].get<std::string>());
         });
}

}  // namespace weft::cli

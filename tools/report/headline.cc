#include "tools/report/headline.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/units/grouped.h"
#include "tools/report/database.h"

namespace weft::report {
namespace {

using Json = nlohmann::ordered_json;

// What the time of a run went into.
struct Bound {
  std::string kind;  // "compute", "overhead", "endpoint links", "network links", "losses", "contention", …
  std::string sentence;  // what bound it, in one sentence
};

// PAGE.md tells what follows from them.
constexpr double kMostly = 0.5;     // of the ranks' time
constexpr double kBusyLink = 0.7;   // of the runtime
constexpr double kContended = 1.5;  // times as long as in an empty network, on average
constexpr double kUneven = 1.2;     // most computing of a rank / mean

double number(const Json& json, const char* path) {
  const nlohmann::json::json_pointer place(path);
  const Json::json_pointer at(place.to_string());
  return json.contains(at) && json[at].is_number() ? json[at].get<double>() : 0;
}

std::string percent(double share) {
  if (share > 0 && share < 0.01) return "under 1%";
  if (share < 1 && share > 0.99) return "over 99%";
  return fmt::format("{:.0f}%", 100 * share);
}

struct Times {
  double compute = 0, overhead = 0, waiting = 0;
  double network = 0, peers = 0;  // of waiting, where that is known
  double all() const { return compute + overhead + waiting; }
};

Times times_of(const Json& columns, std::size_t row) {
  const auto at = [&](const char* name) {
    const Json& value = columns[name][row];
    return value.is_number() ? value.get<double>() : 0.0;
  };
  return {at("compute_ns"), at("overhead_ns"), at("waiting_ns"), at("wait_network_ns"), at("wait_peer_ns")};
}

// These are over all bars of ranks: the least time that the busiest needs, and how uneven computing is.
struct Extremes {
  double floor_ns = 0, uneven = 1;
};

// Calcs beside collectives took so many times as long.
double overlap_slowdown(const Json& run) { return std::max(1.0, number(run, "/summary/overlap_slowdown")); }

Extremes extremes_of(const Json& by_rank, double slowdown) {
  Extremes extremes;
  double most = 0, sum = 0;
  const std::size_t rows = by_rank["rank"].size();
  for (std::size_t i = 0; i < rows; ++i) {
    const Times times = times_of(by_rank, i);
    const double finish = by_rank["finish_ns"][i].is_number() ? by_rank["finish_ns"][i].get<double>() : 0;
    const double ranks = by_rank["ranks"][i].get<double>();
    if (times.all() <= 0) continue;
    // A rank's time is its finish × its cpus.
    const double least = times.compute / slowdown + times.overhead;
    extremes.floor_ns = std::max(extremes.floor_ns, finish * least / times.all());
    most = std::max(most, times.compute / ranks);
    sum += times.compute / ranks;
  }
  if (sum > 0) extremes.uneven = most * static_cast<double>(rows) / sum;
  return extremes;
}

// The busiest link, if any was in use.
struct BusiestLink {
  std::string name;
  double utilization = 0;
  bool endpoint = false;
};

BusiestLink busiest_of(const Json& rows) {
  if (rows["link"].empty() || !rows["utilization"][0].is_number()) return {};
  const std::string from = text_of(rows["from"][0]), to = text_of(rows["to"][0]);
  const auto is_endpoint = [](const std::string& name) { return name.starts_with("host "); };
  return {from + " → " + to, rows["utilization"][0].get<double>(), is_endpoint(from) || is_endpoint(to)};
}

// "Ranks waited for 66% of their time, mostly for the network".
std::string waiting_text(const Times& times) {
  std::string text = fmt::format("Ranks waited for {} of their time", percent(times.waiting / times.all()));
  if (times.network > kMostly * times.waiting) text += ", mostly for the network";
  if (times.peers > kMostly * times.waiting) text += ", mostly for other ranks";
  return text;
}

Bound waiting_bound(const Json& run, const Times& times, const Extremes& extremes) {
  const BusiestLink link = busiest_of(run["links"]["rows"]);
  const double lost = number(run, "/summary/packets/dropped");
  const double slowdown = number(run, "/summary/flows/slowdown/mean");
  const std::string waited = waiting_text(times);
  if (link.utilization >= kBusyLink) {
    return {link.endpoint ? "endpoint links" : "network links",
            fmt::format("{}: the busiest link, {}, was in use {} of the time, so {} set the pace", waited,
                        link.name, percent(link.utilization),
                        link.endpoint ? "the endpoints' own links" : "links inside the network")};
  }
  if (lost > 0 && number(run, "/signals_by_name/timeout") > 0) {
    return {"losses",
            fmt::format("{}: {} packets were lost, and senders had to wait before sending them again", waited,
                        grouped(lost))};
  }
  const bool for_peers = times.peers > kMostly * times.waiting;
  if (slowdown >= kContended && !for_peers) {
    return {"contention",
            fmt::format("{}: messages took {:.1f} times as long, on average, as in an empty network", waited,
                        slowdown)};
  }
  if (extremes.uneven >= kUneven) {
    return {"uneven computing",
            fmt::format("{}: the rank with most to compute had {:.1f} times the average, and "
                        "others waited for it",
                        waited, extremes.uneven)};
  }
  if (for_peers) return {"waiting for each other", waited + ": what they needed had not been sent yet"};
  return {"latency",
          waited + ", while no link was short of capacity: the way itself, and turns to wait for, took it"};
}

struct PathShare {
  const char *key, *kind, *words;
  bool is_network;
};
constexpr PathShare kPathShares[] = {{"compute_ns", "compute", "computing", false},
                                     {"overhead_ns", "overhead", "processors handing messages over", false},
                                     {"latency_ns", "latency", "latency of links, switches and NICs", true},
                                     {"bandwidth_ns", "bandwidth", "bytes at the rate of links", true},
                                     {"queueing_ns", "contention", "queues and shared links", true},
                                     {"matching_ns", "handshakes", "handshakes of large messages", true},
                                     {"start_ns", "start", "waiting for a job to begin", false}};

// Returns the parts of the critical path as shares of all, the largest first; none if the run has not
// recorded it.
std::vector<std::pair<double, const PathShare*>> path_parts(const Json& run) {
  const Json::json_pointer place("/summary/critical_path/shares");
  if (!run.contains(place) || !run[place].is_object()) return {};
  std::vector<std::pair<double, const PathShare*>> all;
  double sum = 0;
  for (const PathShare& share : kPathShares) {
    const Json value = run[place].value(share.key, Json());
    all.emplace_back(value.is_number() ? value.get<double>() : 0.0, &share);
    sum += all.back().first;
  }
  if (sum <= 0) return {};
  for (auto& [part, share] : all) part /= sum;
  std::ranges::stable_sort(all, std::greater<>(), &std::pair<double, const PathShare*>::first);
  return all;
}

// Where the run recorded its critical path: its two largest shares.
std::optional<Bound> path_bound(const Json& run) {
  const auto parts = path_parts(run);
  if (parts.empty()) return std::nullopt;
  const auto part = [&](std::size_t i) {
    return fmt::format("{} {}", percent(parts[i].first), parts[i].second->words);
  };
  std::string sentence = "The chain of work and messages that set the pace was " + part(0);
  if (parts[1].first > 0) sentence += " and " + part(1);
  return Bound{parts[0].second->kind, sentence};
}

// Several jobs, each with a cause of its own: they need not have waited for each other.
std::optional<Bound> bound_of_jobs(const Json& jobs) {
  constexpr std::size_t kNamed = 4;
  if (jobs["count"] < 2 || !jobs.contains("rows") || !jobs["rows"].contains("bound_by")) return std::nullopt;
  const Json &causes = jobs["rows"]["bound_by"], &names = jobs["rows"]["name"];
  std::string sentence, kind;
  for (std::size_t i = 0; i < causes.size(); ++i) {
    const std::string cause = causes[i].is_string() ? text_of(causes[i]) : "";
    if (cause.empty()) return std::nullopt;  // it wasn't recorded
    kind = i == 0 || kind == cause ? cause : "several";
    if (i >= kNamed) continue;
    sentence +=
        fmt::format("{}job {} was bound by {}", sentence.empty() ? "" : ", ", text_of(names[i]), cause);
  }
  if (causes.size() > kNamed) sentence += ", … (see the table of jobs)";
  if (sentence.empty()) return std::nullopt;
  sentence[0] = 'J';
  return Bound{kind, sentence};
}

// No faster network shortens what ranks do on the critical path, nor what the busiest of them has to do; but
// for computing that collectives slow down, which are over sooner then.
double most_to_gain(const Json& run, double floor_ns, double makespan) {
  double most = std::max(0.0, 1 - floor_ns / makespan);
  const auto parts = path_parts(run);
  if (parts.empty()) return most;
  const double slowed = 1 - 1 / overlap_slowdown(run);
  double network = 0;
  for (const auto& [part, share] : parts) {
    if (share->is_network) network += part;
    if (share->key == std::string_view("compute_ns")) network += part * slowed;
  }
  return std::min(most, network);
}

// Traffic that arrives whatever becomes of it: how long it lasts says nothing of the network.
bool is_open_loop(const Json& run) { return run.contains(Json::json_pointer("/summary/open_loop")); }

Bound open_loop_bound(const Json& run) {
  const double offered = number(run, "/summary/open_loop/offered_load");
  const double accepted = number(run, "/summary/open_loop/accepted_load");
  std::string sentence = fmt::format("Messages arrived at {} of the hosts' links, and {} was carried",
                                     percent(offered), percent(accepted));
  const Json::json_pointer keeping("/summary/open_loop/keeps_up");
  const bool keeps_up = !run.contains(keeping) || run[keeping] != false;
  if (!keeps_up) sentence += ": the network doesn't keep up, and times grow with the duration";
  const double median = number(run, "/summary/open_loop/completion/p50_ns");
  if (median > 0) {
    sentence += fmt::format(". Half of the messages took {} or less, 99 in 100 {}", time_text(median),
                            time_text(number(run, "/summary/open_loop/completion/p99_ns")));
  }
  const double slowdown = number(run, "/summary/open_loop/slowdown/p99");
  if (slowdown > 0) sentence += fmt::format(" ({:.1f} times as long as alone)", slowdown);
  return Bound{keeps_up ? "arrivals" : "bandwidth", sentence};
}

Bound bound_of(const Json& run, const Times& times, const Extremes& extremes) {
  if (is_open_loop(run)) return open_loop_bound(run);
  if (const std::optional<Bound> path = path_bound(run)) return *path;
  if (const std::optional<Bound> jobs = bound_of_jobs(run["jobs"])) return *jobs;
  if (times.all() <= 0) {
    return {"not known",
            "This network model knows when ranks finished, but not what they spent their time on"};
  }
  if (times.compute >= kMostly * times.all()) {
    return {"compute",
            fmt::format("Computing took {} of the ranks' time", percent(times.compute / times.all()))};
  }
  if (times.overhead >= std::max(times.compute, times.waiting)) {
    return {"overhead",
            fmt::format("Handing messages to the network and taking them from it took {} of the ranks' time",
                        percent(times.overhead / times.all()))};
  }
  return waiting_bound(run, times, extremes);
}

std::string subject(const Json& run) {
  const double ranks = number(run, "/summary/ranks");
  const std::size_t jobs = run["jobs"]["count"];
  std::string text = grouped(ranks) + (ranks == 1 ? " rank" : " ranks");
  if (jobs > 1) text += fmt::format(" in {} jobs", grouped(static_cast<double>(jobs)));
  return text;
}

}  // namespace

std::string time_text(double nanoseconds) {
  constexpr std::pair<const char*, double> kUnits[] = {
      {"h", 3.6e12}, {"min", 6e10}, {"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}};
  for (const auto& [unit, size] : kUnits) {
    if (nanoseconds >= size) return fmt::format("{:.3g} {}", nanoseconds / size, unit);
  }
  return fmt::format("{:.3g} ns", nanoseconds);
}

Json headline(const Json& run) {
  Times times;
  const Json& by_job = run["ranks"]["by_job"];
  for (std::size_t i = 0; i < by_job["job"].size(); ++i) {
    const Times job = times_of(by_job, i);
    times.compute += job.compute;
    times.overhead += job.overhead;
    times.waiting += job.waiting;
    times.network += job.network;
    times.peers += job.peers;
  }
  const Extremes extremes = extremes_of(run["ranks"]["by_rank"], overlap_slowdown(run));
  const Bound bound = bound_of(run, times, extremes);
  const double makespan = number(run, "/summary/makespan_ns");
  const std::string outcome = run["summary"].contains("outcome") ? text_of(run["summary"]["outcome"]) : "";
  const std::string title =
      outcome == "complete" ? fmt::format("{} finished after {}.", subject(run), time_text(makespan))
                            : fmt::format("{} did not finish: the run ended as '{}' after {}.", subject(run),
                                          outcome, time_text(number(run, "/summary/stopped_at_ns")));
  std::string because = bound.sentence + ".";
  if (outcome == "complete" && times.all() > 0 && makespan > 0 && run["jobs"]["count"] == 1 &&
      !is_open_loop(run)) {
    const double most = most_to_gain(run, extremes.floor_ns, makespan);
    because += fmt::format(" A better network could shorten the run by {} at most.", percent(most));
  }
  return {{"title", title},
          {"because", because},
          {"bound", bound.kind},
          {"shares",
           {{"compute_ns", times.compute}, {"overhead_ns", times.overhead}, {"waiting_ns", times.waiting}}},
          {"floor_ns", extremes.floor_ns},
          {"uneven", extremes.uneven}};
}

}  // namespace weft::report

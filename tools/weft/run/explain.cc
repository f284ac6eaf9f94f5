#include "tools/weft/run/explain.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/results/path_text.h"
#include "sim/results/report.h"
#include "sim/run/network_models.h"
#include "sim/units/input_error.h"
#include "tools/weft/cli/phases.h"
#include "tools/weft/cli/standard_output.h"
#include "tools/weft/run/explain_settings.h"
#include "tools/weft/run/explain_where.h"
#include "tools/weft/run/rerun.h"
#include "tools/weft/run/time_unit.h"
#include "tools/weft/topo/topo_output.h"
#include "topologies/analysis/bisection.h"
#include "topologies/analysis/router_graph.h"

namespace weft::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ExplainOptions {
  std::string run;
  bool json = false, no_rerun = false, tolerance = false;
};

struct Change {
  const char *name, *words;
  sim::WhatIf what_if;
};
constexpr std::array<Change, 4> kChanges = {
    {{"bandwidth_x4", "links, NICs and copies within hosts 4 times as fast", {.rates = 4}},
     {"no_latency", "no latency of links, switches, NICs and copies within hosts", {.latencies = 0}},
     {"no_overhead", "no cpu time for messages", {.overheads = 0}},
     {"compute_x2", "computation twice as fast", {.compute = 0.5}}}};

// What senders wait for their windows is gone then, and queues are as they fill.
constexpr const char *kConstantWindow = "constant_window", *kConstantControl = "fixed_window";

// Throws InputError if it doesn't come to its end.
results::Report complete(Rerun& rerun, const sim::WhatIf& what_if, const std::string& words,
                         const Rerun::Look& look = nullptr, Rerun::Keeps keeps = {}) {
  results::Report report = rerun.run(what_if, "running it again with " + words, look, keeps);
  if (report.outcome != results::Outcome::kComplete) {
    throw InputError(fmt::format("run again with {}, it ends {}", words, results::name(report.outcome)));
  }
  return report;
}

double ns(Time time) { return static_cast<double>(time.ps()) / 1000; }

// ---- Bounds: no run on these hosts and links is shorter ----

// The cpus of a rank that is busy the longest do nothing but work; nor is a job shorter than its ranks' first
// cpus compute in the mean. On another network collectives may not slow computing down.
double compute_bound(const results::Report& report) {
  double most = 0;
  for (const results::Rank& rank : report.ranks) {
    const double cpu_time = ns(rank.compute) + ns(rank.overhead) + ns(rank.waiting);
    const double cpus = rank.finish > Time() ? std::max(1.0, std::round(cpu_time / ns(rank.finish))) : 1;
    most = std::max(most, ns(rank.compute - rank.slowed) / cpus);
  }
  for (const results::Job& job : report.jobs) {
    if (job.cpu_times) most = std::max(most, ns(job.cpu_times->compute - job.cpu_times->slowed));
  }
  return most;
}

// What the links of a host need for all that it sends, or receives, at the highest rates that they had.
double host_bound(const results::Report& report, const topologies::Topology& topology) {
  const std::vector<results::HostTally::Host>& hosts = report.flow_statistics.hosts();
  double most = 0;
  for (std::uint32_t host = 0; host < std::min<std::size_t>(hosts.size(), topology.hosts()); ++host) {
    double sends = 0, receives = 0;  // the two directions of a link need not be alike
    for (const std::uint32_t channel : topology.out_channels(topology.host(host))) {
      sends += static_cast<double>(report.links[channel].highest.bps());
      receives += static_cast<double>(report.links[channel ^ 1].highest.bps());
    }
    most = std::max({most, 8e9 * static_cast<double>(hosts[host].bytes_sent) / sends,
                     8e9 * static_cast<double>(hosts[host].bytes_received) / receives});
  }
  return most;
}

constexpr std::uint64_t kMostFlows = 10'000'000;  // rows take 64 bytes each

// What crosses the narrowest cut found into two halves of the endpoints, in either direction. Any cut would
// do for a bound. Nothing where one switch has all endpoints, or where there are no rows of messages, which
// is told.
std::optional<double> bisection_bound(const results::Report& report, const topologies::Topology& topology,
                                      Json& remarks) {
  if (report.flow_statistics.bytes() == 0) return std::nullopt;
  const topologies::Bisection cut = topologies::bisection(topologies::router_graph(topology));
  if (cut.undivided()) return std::nullopt;
  if (report.flows.empty()) {
    remarks.push_back(fmt::format(
        "Of the bounds, what crosses between two halves of the hosts is left out: from whom to whom messages "
        "went is kept of up to {} million of them, and these are {:.1f} million.",
        kMostFlows / 1'000'000, static_cast<double>(report.messages) * 1e-6));
    return std::nullopt;
  }
  std::array<double, 2> bytes = {0, 0};
  for (const results::Flow& flow : report.flows) {
    if (std::max(flow.source, flow.destination) >= cut.side_of.size()) return std::nullopt;
    const bool from = cut.side_of[flow.source];
    if (from != cut.side_of[flow.destination]) bytes[from] += static_cast<double>(flow.bytes);
  }
  const std::array<double, 2> rates = {cut.rate, cut.back_rate};
  double most = 0;
  for (const int from : {0, 1}) most = std::max(most, rates[from] > 0 ? 8e9 * bytes[from] / rates[from] : 0);
  return most;
}

// What the busiest link carries once, with ACKs. A packet that is sent again crosses each link again at most;
// what a host with one link sends and receives is known, and in packets.
double link_bound(const results::Report& report, const topologies::Topology& topology,
                  const sim::Scenario& scenario) {
  constexpr std::uint64_t kMostOfControls = 1024;  // that congestion controls add to a header
  const sim::NetworkModel& model = find_module(sim::network_models(), scenario.network, "network model");
  const Parameters network(model.info, scenario.network);
  const auto mtu = static_cast<double>(network.bytes("mtu"));
  const auto header = static_cast<double>(network.bytes("header"));
  double again = 0;  // bytes
  for (const auto& [name, count] : report.network_totals.signals) {
    if (name == "retransmit" || name == "redundant")
      again += static_cast<double>(count) * (mtu + header + kMostOfControls);
  }
  double most = 0;
  const auto look = [&](double time_ns) { most = std::max(most, time_ns); };
  const auto time_of = [&](const results::Link& link, double bytes) {
    return 8e9 * bytes / static_cast<double>(link.highest.bps());
  };
  for (const results::Link& link : report.links) look(ns(link.busy) - time_of(link, again));
  const std::vector<results::HostTally::Host>& hosts = report.flow_statistics.hosts();
  for (std::uint32_t host = 0; host < std::min<std::size_t>(hosts.size(), topology.hosts()); ++host) {
    const auto channels = topology.out_channels(topology.host(host));
    if (channels.size() != 1) continue;
    const double whole = 1 + header / mtu;
    look(time_of(report.links[channels[0]], whole * static_cast<double>(hosts[host].bytes_sent)));
    look(time_of(report.links[channels[0] ^ 1], whole * static_cast<double>(hosts[host].bytes_received)));
  }
  return most;
}

Json bounds_of(const results::Report& report, const topologies::Topology* topology,
               const sim::Scenario& scenario, Json& remarks) {
  Json bounds = {{"compute_ns", compute_bound(report)}};
  if (topology == nullptr) return bounds;
  bounds["host_ns"] = host_bound(report, *topology);
  bounds["link_ns"] = link_bound(report, *topology, scenario);
  if (const auto bound = bisection_bound(report, *topology, remarks)) bounds["bisection_ns"] = *bound;
  return bounds;
}

// ---- Tolerance: how much worse a network may be until a run takes so much longer ----

// What a run bears: the largest factor found, or, where none was too much, the largest that was tried.
struct Tolerated {
  double factor = 1;
  bool at_least = false;
};

// The largest factor, to 1%, with which the run takes at most `longer` times `base`; the time grows with it.
// Source of the notion: S. Shen et al., LLAMP: Assessing Network Latency Tolerance of HPC Applications with
// Linear Programming, SC 2024.
template <typename TimeAt>
Tolerated tolerated(double base, double longer, TimeAt&& time_at) {
  constexpr double kMost = 1e6;
  double good = 1, bad = 2;
  while (time_at(bad) <= base * longer) {
    good = bad;
    bad *= 4;
    if (bad > kMost) return {good, true};
  }
  while (bad / good > 1.01) {
    const double middle = std::sqrt(good * bad);
    (time_at(middle) <= base * longer ? good : bad) = middle;
  }
  return {good, false};
}

Json tolerance_of(Rerun& rerun, double base) {
  Json tolerance;
  for (const double slower : {0.01, 0.02, 0.05}) {
    const Tolerated latency = tolerated(base, 1 + slower, [&](double factor) {
      return ns(complete(rerun, {.latencies = factor}, "more latency").makespan);
    });
    const Tolerated bandwidth = tolerated(base, 1 + slower, [&](double factor) {
      return ns(complete(rerun, {.rates = 1 / factor}, "less bandwidth").makespan);
    });
    for (const auto& [name, found] : {std::pair("latency", latency), std::pair("bandwidth", bandwidth)}) {
      tolerance[name].push_back(
          {{"slowdown", slower}, {"factor", found.factor}, {"at_least", found.at_least}});
    }
  }
  return tolerance;
}

// ---- What is told ----

std::uint64_t timeouts_of(const results::Report& report) {
  const Signals& signals = report.network_totals.signals;
  const auto found = std::ranges::find(signals, "timeout", &Signals::value_type::first);
  return found == signals.end() ? 0 : found->second;
}

std::string readable(double time_ns) {
  const TimeUnit unit = unit_of(time_ns);
  return fmt::format("{:.{}f} {}", time_ns / unit.ns, unit.is_least() ? 0 : 3, unit.name);
}

// What the run itself had that shares and bounds don't show.
void add_remarks(const results::Report& report, Json& told) {
  if (report.outages.empty()) return;
  const results::Outage& longest = report.outages.front();
  const std::size_t others = report.outages.size() - 1;
  told["remarks"].push_back(
      fmt::format("A fault kept the link {} down for {} of the run{}. What messages waited for that, until "
                  "it was back or they were sent another way, is queueing.",
                  longest.link, readable(ns(longest.down)),
                  others == 0 ? "" : fmt::format(", and {} more for less or as long", others)));
}

// What to know of reruns before they are believed: each is one draw, and queues on auto are sized anew.
void add_doubts(bool has_timeouts, const sim::Scenario& scenario, Json& told) {
  if (has_timeouts) {
    told["remarks"].push_back(
        "Some of these runs waited for timeouts, which come by chance: with another seed gains may differ "
        "much (weft sweep --seeds 1..5 tells how much).");
  }
  // A window that heeds nothing may well take longer.
  const bool longer = std::ranges::any_of(told["what_would_help"], [](const Json& each) {
    return each["change"] != kConstantWindow && each["gain"].get<double>() < -0.01;
  });
  if (longer && !has_timeouts) {
    told["remarks"].push_back(
        "What should shorten it makes it longer: each of these runs is one draw, and with another seed it "
        "may be shorter (weft sweep --seeds 1..5 tells how much).");
  }
  const auto capacity = scenario.queue.given.find("capacity");
  const bool is_automatic = capacity != scenario.queue.given.end() && capacity->second == "auto";
  if (longer && is_automatic) {
    told["remarks"].push_back(fmt::format(
        "What makes it longer may do so by its queues: queue.{}.capacity=auto and thresholds follow round "
        "trip and rate, so they are sized anew in each of these runs; a capacity that is given stays.",
        scenario.queue.name));
  }
}

Json help_by(const char* change, const std::string& words, double time, double makespan) {
  return {{"change", change},
          {"words", words},
          {"makespan_ns", time},
          {"gain", makespan > 0 ? 1 - time / makespan : 0}};
}

// The critical path can't tell a wait for a window from one in a queue; a run without windows that grow and
// shrink can. Nothing where the network has no congestion control, or needs the one that it has. Returns
// whether it waited for timeouts.
bool add_constant_window(Rerun& rerun, double makespan, std::vector<Json>& help, Json& told) {
  const std::string control = rerun.scenario().congestion.name;
  if (control.empty() || control == kConstantControl) return false;
  const std::string words = fmt::format("a constant window of a round trip, in place of {}'s", control);
  double time = 0;
  bool has_timeouts = false;
  try {
    const results::Report changed =
        rerun.run_changed([](sim::Scenario& scenario) { scenario.congestion = {.name = kConstantControl}; },
                          "running it again with " + words);
    if (changed.outcome != results::Outcome::kComplete) return false;
    time = ns(changed.makespan);
    has_timeouts = timeouts_of(changed) > 0;
  } catch (const InputError&) {
    return false;
  }
  help.push_back(help_by(kConstantWindow, words, time, makespan));
  const double gain = help.back()["gain"];
  const double queueing = told.contains("critical_path") ? told["critical_path"].value("queueing", 0.0) : 0;
  if (queueing <= 0.05 || gain < queueing / 2) return has_timeouts;
  told["remarks"].push_back(
      fmt::format("What is called queueing is mostly no wait in queues, but of senders for the congestion "
                  "window of {}: with a constant one the run takes {:.0f}% less. Other controls, or larger "
                  "first windows, may help.",
                  control, 100 * gain));
  return has_timeouts;
}

// `chose_channels`: the run chose its virtual channels.
void add_reruns(const ExplainOptions& options, bool chose_channels, Json& told) {
  Phases phases(!options.json);
  Rerun rerun(options.run + "/scenario.txtpb", phases, options.json);
  const auto look = [&](const results::Report& report, const topologies::Topology* topology) {
    told["bounds"] = bounds_of(report, topology, rerun.scenario(), told["remarks"]);
    add_remarks(report, told);
    for (std::size_t job = 0; job < report.jobs.size(); ++job) {
      if (!report.jobs[job].path_shares || !told["jobs"][job].contains("critical_path")) continue;
      told["jobs"][job]["where"] = where_of(report, job, topology, rerun.scenario());
    }
  };
  const results::Report base =
      complete(rerun, {}, "nothing changed", look,
               {.flows = told["messages"].get<std::uint64_t>() <= kMostFlows, .path_shares = true});
  if (fmt::format("{:016x}", base.digest) != told["digest"].get<std::string>()) {
    told["remarks"].push_back(
        "run again, it takes another course: a file that it reads, or weft, has changed since");
  }
  const double makespan = ns(base.makespan);
  bool has_timeouts = timeouts_of(base) > 0;
  std::vector<Json> help;
  for (const Change& change : kChanges) {
    const results::Report changed = complete(rerun, change.what_if, change.words);
    has_timeouts |= timeouts_of(changed) > 0;
    const double time = ns(changed.makespan);
    help.push_back(help_by(change.name, change.words, time, makespan));
  }
  has_timeouts |= add_constant_window(rerun, makespan, help, told);
  std::ranges::stable_sort(help, std::greater<>(),
                           [](const Json& each) { return each["gain"].get<double>(); });
  told["what_would_help"] = help;
  add_doubts(has_timeouts, rerun.scenario(), told);
  told["without_effect"] = settings_without_effect(rerun, base, chose_channels);
  if (options.tolerance) told["tolerance"] = tolerance_of(rerun, makespan);
}

// Shares of the time from the start of the job on.
Json shares_of(const nlohmann::json& path) {
  std::vector<std::pair<std::string, double>> parts;
  double sum = 0;
  for (int part = 0; part < results::kPathParts; ++part) {
    const std::string name(results::path_part_name(part));
    const auto& shares = path.at("shares");
    parts.emplace_back(name, shares.value(name + "_ns", 0.0));
    sum += parts.back().second;
  }
  Json json;
  for (const auto& [name, time] : parts) json[name] = sum > 0 ? time / sum : 0.0;
  return json;
}

void add_path(const nlohmann::json& from, Json& to) {
  if (!from.contains("bound_by")) return;
  to["bound_by"] = from["bound_by"];
  if (from.contains("critical_path")) to["critical_path"] = shares_of(from["critical_path"]);
}

Json explanation(const ExplainOptions& options) {
  const nlohmann::json run = RunFolder::summary(options.run);
  if (run.value("outcome", "") != "complete" || !run.contains("digest")) {
    throw InputError(options.run + ": this run did not come to its end; there is nothing to explain");
  }
  Json told = {{"run", options.run}};
  for (const char* key : {"digest", "makespan_ns", "messages", "topology", "network"})
    told[key] = run.at(key);
  add_path(run, told);
  told["jobs"] = Json::array();
  for (const nlohmann::json& job : run.at("jobs")) {
    Json row = {{"name", job.at("name")}, {"runtime_ns", job.at("runtime_ns")}};
    add_path(job, row);
    told["jobs"].push_back(std::move(row));
  }
  if (told["jobs"].size() > 1) told["by_job"] = shares_by_job(run);
  told["remarks"] = Json::array();
  if (run.contains("open_loop")) {
    told["remarks"].push_back(
        "its messages arrive whatever becomes of those before: a run is as long as its arrivals, and what a "
        "network is worth is told by open_loop in summary.json (loads, completion times)");
  }
  const bool chose_channels = !run.value("queue_reason", "").empty();
  if (!options.no_rerun) add_reruns(options, chose_channels, told);
  return told;
}

// A file that weft did not write, or an older one.
Json checked_explanation(const ExplainOptions& options) {
  try {
    return explanation(options);
  } catch (const nlohmann::json::exception& error) {
    throw InputError(SourceLocation{.file = options.run + "/summary.json"},
                     fmt::format("this is not what this weft leaves: {}", error.what()));
  }
}

std::string shares_text(const Json& path) {
  std::vector<std::pair<double, std::string>> shares;
  for (const auto& [part, share] : path.items()) shares.emplace_back(share.get<double>(), part);
  return results::path_text(std::move(shares));
}

std::string bounds_text(const Json& bounds, bool has_acks) {
  std::string text = "\nno run on this network is shorter than\n";
  const auto line = [&](const char* key, const char* words) {
    if (bounds.contains(key))
      text += fmt::format("  {:>12}  {}\n", readable(bounds[key].get<double>()), words);
  };
  line("compute_ns", "the computation of the rank that has most");
  line("host_ns", "the bytes of the host that sends or receives most, at the rate of its links");
  line("bisection_ns", "the bytes that cross between two halves of the hosts, by the narrowest cut found");
  line("link_ns", has_acks
                      ? "the bytes of a link, with ACKs but nothing that was sent again, by the routes taken"
                      : "the bytes of the busiest link, by the routes that were taken");
  return text;
}

std::string tolerance_text(const Json& tolerance) {
  std::string text = "\nit takes longer by at most 1%, 2%, 5% with\n";
  for (const auto& [what, words] :
       {std::pair("latency", "times the latency"), std::pair("bandwidth", "th of the bandwidth")}) {
    std::string factors;
    for (const Json& each : tolerance[what]) {
      factors += fmt::format("{}{}{:.2f}", factors.empty() ? "" : ", ",
                             each["at_least"].get<bool>() ? "at least " : "", each["factor"].get<double>());
    }
    text += fmt::format("  {}  {}\n", factors, words);
  }
  return text;
}

std::string without_effect_text(const Json& settings) {
  std::string text;
  for (const Json& each : settings) {
    text += fmt::format("{}  {}: {}\n", text.empty() ? "\nsettings that changed nothing\n" : "",
                        each["setting"].get<std::string>(), each["why"].get<std::string>());
  }
  return text;
}

std::string as_text(const Json& told) {
  std::string text =
      fmt::format("{}: {} {}\n", told["run"].get<std::string>(), readable(told["makespan_ns"].get<double>()),
                  told.value("topology", "").empty() ? "" : "on " + told["topology"].get<std::string>());
  for (const Json& job : told["jobs"]) {
    if (!job.contains("critical_path")) continue;
    const std::string name = told["jobs"].size() > 1 ? job["name"].get<std::string>() + " is " : "";
    text += fmt::format("  {}bound by {}; its critical path: {}\n", name, job["bound_by"].get<std::string>(),
                        shares_text(job["critical_path"]));
    if (job.contains("where")) text += where_text(job["where"]);
  }
  if (told.contains("by_job")) text += "  its time is that of\n" + jobs_text(told["by_job"]);
  if (told.contains("what_would_help")) {
    text += "\nrun again with one thing changed\n";
    for (const Json& each : told["what_would_help"]) {
      text += fmt::format("  {:>12}  {:>6.1f}%  {}\n", readable(each["makespan_ns"].get<double>()),
                          0.0 - 100 * each["gain"].get<double>(), each["words"].get<std::string>());
    }
  }
  if (told.contains("bounds"))
    text += bounds_text(told["bounds"], told["network"].get<std::string>().starts_with("packet"));
  if (told.contains("tolerance")) text += tolerance_text(told["tolerance"]);
  if (told.contains("without_effect")) text += without_effect_text(told["without_effect"]);
  for (const Json& remark : told["remarks"]) text += "\n" + remark.get<std::string>() + "\n";
  return text;
}

}  // namespace

void add_explain(Command& command, int& /*exit_code*/) {
  const auto options = std::make_shared<ExplainOptions>();
  command.add_option("RUN", options->run, "Folder of a run, as weft sim -o leaves it").required();
  command.add_flag("--no-rerun", options->no_rerun, "Only what the run itself has recorded");
  command.add_flag("--tolerance", options->tolerance,
                   "How much latency and bandwidth may worsen before it takes 1, 2, 5% longer: some 60 runs");
  command.add_flag("--json", options->json, "Print JSON");
  command.footer(
      "The critical path is the longest chain of work and messages from start to end; its parts add up to "
      "the runtime.\n"
      "What would help is not estimated: the run is made again with each change.\n"
      "Examples:\n"
      "  weft explain RUN\n"
      "  weft explain RUN --tolerance --json");
  command.callback([options] {
    const Json told = checked_explanation(*options);
    if (options->json) return fmt::print("{}\n", told.dump(2, ' ', false, Json::error_handler_t::replace));
    print_text(as_text(told));
  });
}

}  // namespace weft::cli

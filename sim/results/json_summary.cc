#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/results/jobs.h"
#include "sim/results/not_replayed_json.h"
#include "sim/results/report.h"

namespace weft::results {
namespace {

// A whole number of nanoseconds stays one.
nlohmann::ordered_json nanoseconds(Time time) {
  if (time.ps() % 1000 == 0) return time.ps() / 1000;
  return static_cast<double>(time.ps()) / 1000;
}

// Times in nanoseconds, or multiples of the ideal time.
nlohmann::ordered_json percentiles(const Distribution& values, double unit, const char* suffix) {
  nlohmann::ordered_json json;
  json[std::string("mean") + suffix] = values.mean() / unit;
  constexpr std::pair<const char*, std::uint32_t> kPercentiles[] = {
      {"p50", 500}, {"p90", 900}, {"p95", 950}, {"p99", 990}, {"p99_9", 999}};
  for (const auto& [name, per_mille] : kPercentiles) {
    json[std::string(name) + suffix] = static_cast<double>(values.percentile(per_mille)) / unit;
  }
  json[std::string("max") + suffix] = static_cast<double>(values.largest()) / unit;
  return json;
}

void add_times(const FlowStatistics::Times& times, nlohmann::ordered_json& json) {
  json["count"] = times.completion.count();
  if (times.completion.count() > 0) json["completion"] = percentiles(times.completion, 1000, "_ns");
  if (times.slowdown.count() > 0) {
    json["slowdown"] = percentiles(times.slowdown, FlowStatistics::kSlowdownUnit, "");
  }
}

void add_flows(const Report& report, nlohmann::ordered_json& json) {
  const FlowStatistics& flows = report.flow_statistics;
  nlohmann::ordered_json& all = json["flows"] = nlohmann::ordered_json::object();
  add_times(flows.all(), all);
  all["by_size"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < FlowStatistics::kClassBytes.size(); ++i) {
    if (flows.of_class(i).completion.count() == 0) continue;
    nlohmann::ordered_json entry;
    const bool last = i + 1 == FlowStatistics::kClassBytes.size();
    entry["up_to_bytes"] =
        last ? nlohmann::ordered_json() : nlohmann::ordered_json(FlowStatistics::kClassBytes[i]);
    add_times(flows.of_class(i), entry);
    all["by_size"].push_back(std::move(entry));
  }
  const HostGoodput hosts = host_goodput(flows, span_of_jobs(report));
  json["goodput"] = {{"total_bps", std::llround(goodput_bps(flows.bytes(), span_of_jobs(report)))},
                     {"receivers", hosts.receivers},
                     {"receiver_mean_bps", std::llround(hosts.mean_bps)},
                     {"receiver_min_bps", std::llround(hosts.least_bps)},
                     {"receiver_max_bps", std::llround(hosts.most_bps)}};
}

// The time until the job's end, which it leads through.
nlohmann::ordered_json path_json(const Job& job) {
  nlohmann::ordered_json shares;
  for (int part = 0; part < kPathParts; ++part) {
    shares[std::string(path_part_name(part)) + "_ns"] = nanoseconds(path_part(*job.path, part));
  }
  shares["start_ns"] = nanoseconds(job.start);
  return {{"runtime_ns", nanoseconds(job.start + job.path->total())}, {"shares", std::move(shares)}};
}

void add_path(const Report& report, const Job& job, nlohmann::ordered_json& json) {
  if (!job.path || job.path->total() == Time()) return;
  json["bound_by"] = bound_by(report, job);
  // Between arrivals nothing is computed.
  if (!report.open_loop) json["critical_path"] = path_json(job);
}

// Shares of the job's runtime. Between arrivals nothing is computed.
void add_communication(const Report& report, const Job& job, nlohmann::ordered_json& json) {
  if (!job.cpu_times || report.open_loop || job.status != JobStatus::kComplete) return;
  const auto times = [&](Time mean, Time most) {
    return nlohmann::ordered_json{{"mean_ns", nanoseconds(mean)},
                                  {"max_ns", nanoseconds(most)},
                                  {"share", share_of_runtime(job, mean)}};
  };
  nlohmann::ordered_json exposed = nlohmann::ordered_json::object(), hidden = exposed;
  for (const CommunicationTime& one : job.cpu_times->communication) {
    exposed[one.name] = times(one.exposed_mean, one.exposed_most);
    exposed[one.name]["unsent_share"] = share_of_runtime(job, one.unsent_mean);
    if (one.has_collectives) hidden[one.name] = times(one.hidden_mean, one.hidden_most);
  }
  if (job.overlap_slowdown > 1) json["overlap_slowdown"] = job.overlap_slowdown;
  json["exposed_communication"] = std::move(exposed);
  json["hidden_communication"] = std::move(hidden);
  json["first_cpu"] = {{"compute_share", share_of_runtime(job, job.cpu_times->compute)},
                       {"overhead_share", share_of_runtime(job, job.cpu_times->overhead)},
                       {"exposed_share", share_of_runtime(job, job.cpu_times->exposed())},
                       {"idle_share", share_of_runtime(job, job.cpu_times->idle)}};
}

void add_open_loop(const OpenLoop& figures, nlohmann::ordered_json& json) {
  json = {{"from_ns", nanoseconds(figures.window.from)},
          {"until_ns", nanoseconds(figures.window.until)},
          {"load", figures.window.load},
          {"offered_load", figures.offered},
          {"accepted_load", figures.accepted},
          {"keeps_up", figures.keeps_up}};
  add_times(figures.times, json);
}

void add_training(const Job& job, nlohmann::ordered_json& json) {
  constexpr double kTera = 1e12;
  if (const auto tokens = tokens_per_second(job); tokens && job.ranks > 0) {
    json["tokens_per_second_per_gpu"] = *tokens / job.ranks;
  }
  if (const auto flops = model_flops_per_second(job)) json["model_tflops_per_gpu"] = *flops / kTera;
  if (const auto share = model_flops_utilization(job)) json["mfu"] = *share;
}

// What is said of a job alone, and of all jobs that train.
void add_whole(const Report& report, nlohmann::ordered_json& json) {
  if (report.jobs.size() == 1) {
    add_path(report, report.jobs[0], json);
    add_communication(report, report.jobs[0], json);
    add_training(report.jobs[0], json);
  }
  if (const std::optional<double> tokens = tokens_per_second(report)) json["tokens_per_second"] = *tokens;
}

nlohmann::ordered_json job_json(const Report& report, std::size_t index) {
  const Job& job = report.jobs[index];
  nlohmann::ordered_json json = {{"name", job.name},
                                 {"status", name(job.status)},
                                 {"ranks", job.ranks},
                                 {"nodes", job.nodes},
                                 {"hosts", interval_set(job.hosts)},
                                 {"submit_ns", nanoseconds(job.submit)},
                                 {"start_ns", nanoseconds(job.start)},
                                 {"finish_ns", nanoseconds(job.finish)},
                                 {"runtime_ns", nanoseconds(runtime(job))},
                                 {"waiting_ns", nanoseconds(waiting(job))},
                                 {"turnaround_ns", nanoseconds(turnaround(job))},
                                 {"stretch", stretch(job)},
                                 {"runs", job.runs},
                                 {"messages", job.messages},
                                 {"bytes", job.bytes}};
  add_path(report, job, json);
  add_communication(report, job, json);
  if (const std::optional<double> tokens = tokens_per_second(job)) json["tokens_per_second"] = *tokens;
  add_training(job, json);
  if (const std::optional<double> slow = bounded_slowdown(report, job)) json["bounded_slowdown"] = *slow;
  if (job.alone > Time()) json["alone_ns"] = nanoseconds(job.alone);
  if (const std::optional<double> slow = slowdown(job)) json["slowdown"] = *slow;
  if (const std::optional<double> crossed = hops(report, index)) json["hops"] = *crossed;
  if (job.not_replayed.counted()) json["not_replayed"] = not_replayed_json(job.not_replayed);
  return json;
}

nlohmann::ordered_json machine_json(const Report& report) {
  const MachineFigures all = machine_figures(report);
  nlohmann::ordered_json json = {{"hosts", report.hosts},
                                 {"failed", report.failed_hosts},
                                 {"nb_jobs", all.jobs},
                                 {"nb_jobs_finished", all.finished},
                                 {"utilization", all.utilization},
                                 {"mean_waiting_time_ns", nanoseconds(all.mean_waiting)},
                                 {"max_waiting_time_ns", nanoseconds(all.max_waiting)},
                                 {"mean_turnaround_time_ns", nanoseconds(all.mean_turnaround)},
                                 {"max_turnaround_time_ns", nanoseconds(all.max_turnaround)},
                                 {"mean_stretch", all.mean_stretch},
                                 {"max_stretch", all.max_stretch}};
  if (report.fragmentation) {
    json["fragmentation"] = *report.fragmentation;
    json["nb_jobs_without_place"] = report.jobs_without_place;
  }
  if (all.mean_slowdown > 0) {
    json["mean_slowdown"] = all.mean_slowdown;
    json["max_slowdown"] = all.max_slowdown;
    json["fairness"] = all.fairness;
  }
  return json;
}

void add_nics(const Report& report, nlohmann::ordered_json& json) {
  for (const NicUse& use : report.nics_used) {
    json["nics_used"].push_back({{"nics", use.nics},
                                 {"hosts", use.hosts},
                                 {"min", use.least},
                                 {"mean", use.mean},
                                 {"max", use.most}});
  }
}

// What the network is made of.
void add_settings(const Report& report, nlohmann::ordered_json& json) {
  json["network"] = report.network;
  json["topology"] = report.topology;
  json["routing"] = report.routing;
  json["routing_reason"] = report.routing_reason;
  json["fabric"] = report.fabric;
  json["fabric_reason"] = report.fabric_reason;
  json["fabric_changes"] = report.fabric_changes;
  json["congestion"] = report.congestion;
  json["recovery"] = report.recovery;
  json["queue"] = report.queue;
  json["queue_choice"] = report.queue_choice;
  json["queue_reason"] = report.queue_reason;
}

}  // namespace

std::string json_summary(const Report& report) {
  const NetworkTotals& net = report.network_totals;
  const double wall = report.wall_seconds;
  nlohmann::ordered_json json;
  json["schema_version"] = 1;
  json["outcome"] = name(report.outcome);
  json["makespan_ns"] = nanoseconds(report.makespan);
  if (report.outcome != Outcome::kComplete) json["stopped_at_ns"] = nanoseconds(report.stopped_at);
  json["digest"] = fmt::format("{:016x}", report.digest);
  json["seed"] = report.seed;
  add_settings(report, json);
  json["connections"] = report.connections;
  json["protocol"] = report.protocol;
  json["events"] = report.events;
  json["events_per_second"] = wall > 0 ? static_cast<double>(report.events) / wall : 0.0;
  json["packet_hops"] = net.packet_hops;
  json["packet_hops_per_second"] = wall > 0 ? static_cast<double>(net.packet_hops) / wall : 0.0;
  json["wall_seconds"] = wall;
  json["peak_memory_bytes"] = report.peak_memory_bytes;
  json["ranks"] = report.ranks.size();
  json["ops"] = report.ops;
  json["executed_ops"] = report.executed_ops;
  json["messages"] = report.messages;
  json["bytes"] = report.bytes;
  Time compute, overhead, waiting;
  for (const Rank& rank : report.ranks) {
    compute += rank.compute;
    overhead += rank.overhead;
    waiting += rank.waiting;
  }
  json["compute_ns"] = nanoseconds(compute);
  json["overhead_ns"] = nanoseconds(overhead);
  json["waiting_ns"] = nanoseconds(waiting);
  json["packets"] = {{"injected", net.packets_injected},
                     {"delivered", net.packets_delivered},
                     {"dropped", net.packets_dropped}};
  json["wire_bytes"] = {{"injected", net.bytes_injected},
                        {"delivered", net.bytes_delivered},
                        {"dropped", net.bytes_dropped},
                        {"trimmed", net.bytes_trimmed}};
  json["out_of_order_packets"] = net.out_of_order_packets;
  json["overtaken_packets"] = net.overtaken_packets;
  json["out_of_order_flows"] = net.out_of_order_flows;
  json["max_reorder_distance"] = net.max_reorder_distance;
  add_flows(report, json);
  if (report.open_loop) add_open_loop(*report.open_loop, json["open_loop"]);
  json["signals"] = nlohmann::ordered_json::object();
  for (const auto& [signal, count] : net.signals) json["signals"][signal] = count;
  json["faults"] = {{"count", report.faults}, {"link_changes", report.link_changes}};
  add_nics(report, json);
  add_whole(report, json);
  json["jobs"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < report.jobs.size(); ++i) json["jobs"].push_back(job_json(report, i));
  json["machine"] = machine_json(report);
  if (!report.interference.empty()) {
    json["interference"] = nlohmann::ordered_json::array();
    for (const Interference& pair : report.interference) {
      json["interference"].push_back(
          {{"job", pair.job}, {"beside", pair.beside}, {"slowdown", pair.slowdown}});
    }
  }
  if (report.not_replayed.counted()) json["not_replayed"] = not_replayed_json(report.not_replayed);
  json["warnings"] = report.warnings;
  json["diagnosis"] = report.diagnosis;
  // Names of files need not be UTF-8, as JSON must be.
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace weft::results

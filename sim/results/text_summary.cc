#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/results/jobs.h"
#include "sim/results/path_text.h"
#include "sim/results/report.h"

namespace weft::results {
namespace {

// Three significant decimals in the unit that keeps the number between 1 and 1,000.
std::string readable_time(Time time) {
  const double ps = static_cast<double>(time.ps());
  constexpr std::pair<double, const char*> kUnits[] = {{1e12, "s"}, {1e9, "ms"}, {1e6, "us"}, {1e3, "ns"}};
  for (const auto& [factor, unit] : kUnits) {
    if (ps >= factor) return fmt::format("{:.3f} {}", ps / factor, unit);
  }
  return fmt::format("{} ps", time.ps());
}

std::string readable_bytes(std::uint64_t bytes) {
  constexpr std::pair<double, const char*> kUnits[] = {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}};
  for (const auto& [factor, unit] : kUnits) {
    if (static_cast<double>(bytes) >= factor)
      return fmt::format("{:.2f} {}", static_cast<double>(bytes) / factor, unit);
  }
  return fmt::format("{} B", bytes);
}

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (int i = static_cast<int>(digits.size()) - 3; i > 0; i -= 3)
    digits.insert(static_cast<std::size_t>(i), ",");
  return digits;
}

class Lines {
 public:
  template <typename... Args>
  void add(std::string_view label, fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format("  {:<19} {}\n", label, fmt::format(format, std::forward<Args>(args)...));
  }
  std::string& text() { return text_; }

 private:
  std::string text_;
};

// Where ranks have several cpus, as a rule one that computes and others beside it that communicate: of the
// first, which is what people ask for. False where ranks have one.
bool add_first_cpus(const Report& report, double all_cpus, Lines& lines) {
  if (report.jobs.size() != 1 || !report.jobs[0].cpu_times) return false;
  const CpuTimes& times = *report.jobs[0].cpu_times;
  const double all = times.all().seconds();
  if (all <= 0 || all_cpus < 1.01 * all * static_cast<double>(report.ranks.size())) return false;
  lines.add("cpu time", "{:.1f}% compute, {:.1f}% communication, {:.1f}% waiting (first cpu of each rank)",
            100 * times.compute.seconds() / all, 100 * times.overhead.seconds() / all,
            100 * (times.idle + times.exposed()).seconds() / all);
  return true;
}

void add_ranks(const Report& report, Lines& lines) {
  if (report.ranks.empty() || report.open_loop) return;
  const auto by_finish = [](const Rank& a, const Rank& b) { return a.finish < b.finish; };
  const auto [first, last] = std::minmax_element(report.ranks.begin(), report.ranks.end(), by_finish);
  if (report.jobs.size() < 2) {
    lines.add("ranks", "{}; first to finish: {} ({}), last: {} ({})", report.ranks.size(), first->rank,
              readable_time(first->finish), last->rank, readable_time(last->finish));
  }
  if (report.ranks.size() <= 16 && report.jobs.size() < 2) {
    for (const Rank& rank : report.ranks)
      lines.add(fmt::format("  rank {}", rank.rank), "{}", readable_time(rank.finish));
  }
  double compute = 0, overhead = 0, waiting = 0;
  for (const Rank& rank : report.ranks) {
    if (rank.finish_only) return;
    compute += rank.compute.seconds();
    overhead += rank.overhead.seconds();
    waiting += rank.waiting.seconds();
  }
  const double total = compute + overhead + waiting;
  if (total <= 0) return;
  if (add_first_cpus(report, total, lines)) return;
  lines.add("cpu time", "{:.1f}% compute, {:.1f}% communication, {:.1f}% waiting", 100 * compute / total,
            100 * overhead / total, 100 * waiting / total);
}

// "tp 12.1% (2.0% for late members), pp 5.2% (4.0% until it was sent)": by axis or kind, from a thousandth of
// the runtime on.
void add_exposed(const Job& job, Lines& lines) {
  if (!job.cpu_times || job.cpu_times->compute == Time()) return;
  std::string text;
  for (const CommunicationTime& one : job.cpu_times->communication) {
    const double share = share_of_runtime(job, one.exposed_mean),
                 unsent = share_of_runtime(job, one.unsent_mean);
    if (share < 1e-3) continue;
    text += fmt::format("{}{} {:.1f}%", text.empty() ? "" : ", ", one.name, 100 * share);
    if (unsent < 1e-3) continue;
    text += fmt::format(" ({:.1f}% {})", 100 * unsent,
                        one.has_collectives ? "for late members" : "until it was sent");
  }
  lines.add("exposed communication", "{}", text.empty() ? "none: it is hidden behind computation" : text);
}

void add_links(const Report& report, Lines& lines) {
  std::vector<const Link*> busiest;
  for (const Link& link : report.links) busiest.push_back(&link);
  const std::size_t shown = std::min<std::size_t>(5, busiest.size());
  const Time span = std::max(report.makespan, report.stopped_at);
  std::partial_sort(
      busiest.begin(), busiest.begin() + static_cast<std::ptrdiff_t>(shown), busiest.end(),
      [](const Link* a, const Link* b) { return a->busy != b->busy ? a->busy > b->busy : a < b; });
  for (std::size_t i = 0; i < shown; ++i) {
    const Link& link = *busiest[i];
    if (link.bytes == 0) break;
    lines.add(i == 0 ? "busiest links" : "", "{} -> {}: {:.1f}% busy, {}, queue up to {}{}", link.from,
              link.to, span > Time() ? 100 * link.busy.seconds() / span.seconds() : 0.0,
              readable_bytes(link.bytes), readable_bytes(link.max_queue_bytes),
              link.drops > 0 ? fmt::format(", {} drops", grouped(link.drops)) : "");
  }
}

void add_path(const Job& job, Lines& lines) {
  if (!job.path || job.path->total() == Time()) return;
  std::vector<std::pair<double, std::string>> shares;
  for (int part = 0; part < kPathParts; ++part) {
    shares.emplace_back(path_part(*job.path, part).seconds() / job.path->total().seconds(),
                        path_part_name(part));
  }
  lines.add("bound by", "{}; critical path: {}", bound_by(*job.path), path_text(std::move(shares)));
}

std::string token_rate(double tokens) {
  return tokens >= 1000 ? grouped(static_cast<std::uint64_t>(std::min(tokens, 9e18) + 0.5))
                        : fmt::format("{:.4g}", tokens);
}

// "1,234,568 a second, 9,645 of each GPU", the latter of a job alone.
void add_tokens(const Report& report, Lines& lines) {
  const std::optional<double> tokens = tokens_per_second(report);
  if (!tokens) return;
  std::string each;
  if (report.jobs.size() == 1 && report.jobs[0].ranks > 1) {
    each = fmt::format(", {} of each GPU", token_rate(*tokens / report.jobs[0].ranks));
  }
  lines.add("tokens", "{} a second{}", token_rate(*tokens), each);
}

// "412.3 TFLOP/s a GPU, 41.7% of its peak (MFU)", of a job alone.
void add_training(const Report& report, Lines& lines) {
  if (report.jobs.size() != 1) return;
  const std::optional<double> flops = model_flops_per_second(report.jobs[0]);
  if (!flops) return;
  const std::optional<double> share = model_flops_utilization(report.jobs[0]);
  lines.add("training", "{:.4g} TFLOP/s a GPU{}", *flops * 1e-12,
            share ? fmt::format(", {:.1f}% of its peak (MFU)", 100 * *share) : "");
}

std::string outcome_of(const Job& job) {
  if (job.status == JobStatus::kComplete) return readable_time(runtime(job));
  return std::string(name(job.status));
}

// A line for a job alone, else a table of the first thirty.
void add_jobs(const Report& report, Lines& lines) {
  if (report.jobs.size() == 1) {
    const Job& job = report.jobs[0];
    lines.add("job", "{}: {} ranks, {}{}{}", job.name, job.ranks, readable_time(runtime(job)),
              job.start > Time() ? fmt::format(" from {} on", readable_time(job.start)) : "",
              job.runs > 1 ? fmt::format(", {} runs", grouped(job.runs)) : "");
    if (!report.open_loop) add_path(job, lines);
    return;
  }
  constexpr std::size_t kShown = 30;
  lines.add("jobs", "{:<20} {:>6} {:>6} {:>12} {:>12} {:>6} {:>8} {:>9}", "name", "ranks", "nodes", "start",
            "runtime", "runs", "slowdown", "bound by");
  for (std::size_t i = 0; i < std::min(kShown, report.jobs.size()); ++i) {
    const Job& job = report.jobs[i];
    const std::optional<double> slow = slowdown(job);
    lines.add("", "{:<20} {:>6} {:>6} {:>12} {:>12} {:>6} {:>8} {:>9}", job.name.substr(0, 20), job.ranks,
              job.nodes, job.status == JobStatus::kNotStarted ? "" : readable_time(job.start),
              outcome_of(job), job.runs, slow ? fmt::format("{:.3f}", *slow) : "", bound_by(report, job));
  }
  if (report.jobs.size() > kShown) lines.add("", "… and {} more, in jobs.csv", report.jobs.size() - kShown);
  const MachineFigures all = machine_figures(report);
  lines.add("machine", "{:.1f}% of {} hosts in use; stretch mean {:.2f}, worst {:.2f}{}",
            100 * all.utilization, grouped(report.hosts - report.failed_hosts.size()), all.mean_stretch,
            all.max_stretch,
            all.mean_slowdown > 0 ? fmt::format("; slowdown mean {:.3f}, worst {:.3f}, fairness {:.3f}",
                                                all.mean_slowdown, all.max_slowdown, all.fairness)
                                  : "");
}

void add_free_hosts(const Report& report, Lines& lines) {
  if (!report.failed_hosts.empty()) {
    lines.add("failed hosts", "{} of {}: no job gets them", grouped(report.failed_hosts.size()),
              grouped(report.hosts));
  }
  if (!report.fragmentation) return;
  lines.add("fragmentation", "{:.1f}% of free hosts, on average, are outside of their longest row{}",
            100 * *report.fragmentation,
            report.jobs_without_place == 0
                ? ""
                : fmt::format("; {} jobs had no place though enough were free", report.jobs_without_place));
}

std::string readable_rate(double bps) {
  constexpr std::pair<double, const char*> kUnits[] = {
      {1e15, "Pb/s"}, {1e12, "Tb/s"}, {1e9, "Gb/s"}, {1e6, "Mb/s"}};
  for (const auto& [factor, unit] : kUnits) {
    if (bps >= factor) return fmt::format("{:.2f} {}", bps / factor, unit);
  }
  return fmt::format("{:.0f} b/s", bps);
}

std::string completion_text(const Distribution& times) {
  const auto time = [](std::uint64_t ps) { return readable_time(Time::ps(static_cast<std::int64_t>(ps))); };
  return fmt::format("median {}, p99 {}, longest {}", time(times.percentile(500)),
                     time(times.percentile(990)), time(times.largest()));
}

std::string slowdown_text(const Distribution& slowdown) {
  constexpr double kUnit = FlowStatistics::kSlowdownUnit;
  return fmt::format(
      "median {:.2f}, p99 {:.2f}, most {:.2f}", static_cast<double>(slowdown.percentile(500)) / kUnit,
      static_cast<double>(slowdown.percentile(990)) / kUnit, static_cast<double>(slowdown.largest()) / kUnit);
}

// Offered and accepted load, and times of the messages that began in the window.
void add_open_loop(const OpenLoop& figures, Lines& lines) {
  lines.add("open-loop traffic", "load {:.3f}: {:.3f} offered, {:.3f} accepted{}", figures.window.load,
            figures.offered, figures.accepted,
            figures.keeps_up ? "" : "; the network doesn't keep up: times grow with the duration");
  lines.add("  measured", "{} messages that began from {} to {}", grouped(figures.times.completion.count()),
            readable_time(figures.window.from), readable_time(figures.window.until));
  if (figures.times.completion.count() == 0) return;
  lines.add("  completion times", "{}", completion_text(figures.times.completion));
  if (figures.times.slowdown.count() == 0) return;
  lines.add("  slowdown", "{} times the ideal", slowdown_text(figures.times.slowdown));
}

void add_flows(const Report& report, Lines& lines) {
  const FlowStatistics& flows = report.flow_statistics;
  const FlowStatistics::Times& all = flows.all();
  const std::uint64_t count = all.completion.count();
  if (count == 0) return;
  lines.add("completion times", "{}", completion_text(all.completion));
  if (all.slowdown.count() > 0) lines.add("slowdown", "{} times the ideal", slowdown_text(all.slowdown));
  for (std::size_t i = 0; i < FlowStatistics::kClassBytes.size(); ++i) {
    const FlowStatistics::Times& some = flows.of_class(i);
    // One class alone would say the same again.
    if (some.completion.count() == 0 || some.completion.count() == count) continue;
    const bool last = i + 1 == FlowStatistics::kClassBytes.size();
    lines.add(fmt::format("  {} {}", last ? "above" : "up to",
                          bytes_to_string(FlowStatistics::kClassBytes[last ? i - 1 : i])),
              "{}: {}{}", grouped(some.completion.count()), completion_text(some.completion),
              some.slowdown.count() > 0
                  ? fmt::format("; slowdown p99 {:.2f}", static_cast<double>(some.slowdown.percentile(990)) /
                                                             FlowStatistics::kSlowdownUnit)
                  : "");
  }
  const HostGoodput hosts = host_goodput(flows, span_of_jobs(report));
  lines.add("goodput", "{}; {} receivers: {} to {}, mean {}",
            readable_rate(goodput_bps(flows.bytes(), span_of_jobs(report))), grouped(hosts.receivers),
            readable_rate(hosts.least_bps), readable_rate(hosts.most_bps), readable_rate(hosts.mean_bps));
}

void add_fabric(const Report& report, Lines& lines) {
  if (report.fabric.empty()) return;
  std::string text = report.fabric;
  if (!report.fabric_reason.empty()) text += fmt::format(" ({})", report.fabric_reason);
  const char* before = ", but ";
  for (const std::string& change : report.fabric_changes) {
    text += std::exchange(before, ", ") + change;
  }
  lines.add("fabric", "{}", text);
}

// "nscc" of "nscc:target=auto,…": all parameters are in scenario.txtpb.
std::string name_in(const std::string& short_form) { return short_form.substr(0, short_form.find(':')); }

void add_transport(const Report& report, Lines& lines) {
  if (report.congestion.empty()) return;
  lines.add("congestion", "{}, recovery {}", name_in(report.congestion), name_in(report.recovery));
  std::string why = report.queue_choice;
  if (!report.queue_reason.empty()) why += (why.empty() ? "" : "; ") + report.queue_reason;
  lines.add("queue", "{}{}", name_in(report.queue), why.empty() ? "" : " (" + why + ")");
}

}  // namespace

std::string_view name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kComplete:
      return "complete";
    case Outcome::kIncomplete:
      return "incomplete";
    case Outcome::kInterrupted:
      return "interrupted";
    case Outcome::kTimeLimit:
      return "time limit";
    case Outcome::kEventLimit:
      return "event limit";
    case Outcome::kMemoryLimit:
      return "memory limit";
  }
  return "";
}

std::string_view name(JobStatus status) {
  switch (status) {
    case JobStatus::kComplete:
      return "complete";
    case JobStatus::kIncomplete:
      return "incomplete";
    case JobStatus::kStopped:
      return "stopped";
    case JobStatus::kNotStarted:
      return "not started";
  }
  return "";
}

std::string text_summary(const Report& report, const std::string& directory) {
  Lines lines;
  lines.add("network", "{}", report.network);
  if (!report.topology.empty()) lines.add("topology", "{}", report.topology);
  add_fabric(report, lines);
  if (!report.routing.empty()) {
    const bool chosen = report.routing_reason.empty();
    lines.add("routing", "{}{}{}{}", report.routing, chosen ? "" : " (", report.routing_reason,
              chosen ? "" : ")");
  }
  add_transport(report, lines);
  if (report.outcome != Outcome::kComplete) {
    lines.add("outcome", "{} after {} of {} operations; the figures below are of the part that ran",
              name(report.outcome), grouped(report.executed_ops), grouped(report.ops));
  }
  if (report.outcome == Outcome::kComplete) {
    lines.add("simulated runtime", "{}", readable_time(report.makespan));
  } else {
    lines.add("simulated time", "{} when it stopped; last operation of a rank at {}",
              readable_time(report.stopped_at), readable_time(report.makespan));
  }
  add_tokens(report, lines);
  add_training(report, lines);
  add_jobs(report, lines);
  add_free_hosts(report, lines);
  add_ranks(report, lines);
  if (report.jobs.size() == 1 && !report.open_loop) add_exposed(report.jobs[0], lines);
  lines.add("messages", "{} with {}", grouped(report.messages), readable_bytes(report.bytes));
  if (report.open_loop) add_open_loop(*report.open_loop, lines);
  add_flows(report, lines);
  const NetworkTotals& net = report.network_totals;
  if (net.packets_injected > 0) {
    lines.add("packets", "{} sent, {} delivered, {} dropped; {} hops", grouped(net.packets_injected),
              grouped(net.packets_delivered), grouped(net.packets_dropped), grouped(net.packet_hops));
    if (net.out_of_order_packets > 0) {
      lines.add("out of order", "{} packets of {} messages, late by up to {}",
                grouped(net.out_of_order_packets), grouped(net.out_of_order_flows),
                grouped(net.max_reorder_distance));
    }
    std::string signals;
    for (const auto& [signal, count] : net.signals) {
      signals += fmt::format("{}{} {}", signals.empty() ? "" : ", ", signal, grouped(count));
    }
    if (!signals.empty()) lines.add("signals", "{}", signals);
  }
  if (report.faults > 0) {
    lines.add("faults", "{}; {} changes of links during the run", grouped(report.faults),
              grouped(report.link_changes));
  }
  add_links(report, lines);
  const double wall = std::max(report.wall_seconds, 1e-9);
  lines.add("simulation", "{} events in {:.3f} s ({:.2f} million/s{}), peak memory {}",
            grouped(report.events), report.wall_seconds, static_cast<double>(report.events) / wall / 1e6,
            net.packet_hops > 0 ? fmt::format(", {:.2f} million packet-hops/s",
                                              static_cast<double>(net.packet_hops) / wall / 1e6)
                                : "",
            readable_bytes(report.peak_memory_bytes));
  lines.add("digest", "{:016x}", report.digest);
  for (const std::string& warning : report.warnings) lines.add("warning", "{}", warning);
  if (!directory.empty()) lines.add("results", "{}/summary.json, ranks.csv, links.csv, …", directory);
  return lines.text();
}

}  // namespace weft::results

#include "sim/results/jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace weft::results {
namespace {

double ratio(Time a, Time b) { return static_cast<double>(a.ps()) / static_cast<double>(b.ps()); }

// Counts the tokens of all its runs; 0: they are not known.
double tokens(const Job& job) {
  return job.status == JobStatus::kComplete ? job.tokens * static_cast<double>(job.runs) : 0;
}

std::optional<double> rate(double tokens, Time time) {
  if (tokens == 0 || time <= Time()) return std::nullopt;
  return tokens / time.seconds();
}

}  // namespace

Time runtime(const Job& job) { return std::max(job.finish - job.start, Time()); }
Time waiting(const Job& job) { return std::max(job.start - job.submit, Time()); }
Time turnaround(const Job& job) { return waiting(job) + runtime(job); }

double stretch(const Job& job) { return runtime(job) == Time() ? 1 : ratio(turnaround(job), runtime(job)); }

std::optional<double> bounded_slowdown(const Report& report, const Job& job) {
  const Time least = Time::ns(10'000'000'000);
  if (report.longest_job < least) return std::nullopt;
  return std::max(1.0, ratio(turnaround(job), std::max(runtime(job), least)));
}

void find_spans(Report& report) {
  Time first = Time::max();
  for (const Job& job : report.jobs) {
    if (job.status == JobStatus::kNotStarted) continue;
    first = std::min(first, job.start);
    report.longest_job = std::max(report.longest_job, runtime(job));
  }
  report.first_start = first == Time::max() ? Time() : first;
}

Time span_of_jobs(const Report& report) { return std::max(report.makespan - report.first_start, Time()); }

std::optional<double> slowdown(const Job& job) {
  if (job.alone == Time() || job.runs == 0 || job.status != JobStatus::kComplete) return std::nullopt;
  return ratio(runtime(job), job.alone) / static_cast<double>(job.runs);
}

double share_of_runtime(const Job& job, Time time) {
  return runtime(job) == Time() ? 0 : ratio(time, runtime(job));
}

std::optional<double> tokens_per_second(const Job& job) { return rate(tokens(job), runtime(job)); }

std::optional<double> tokens_per_second(const Report& report) {
  double all = 0;
  Time start = Time::max(), finish;
  for (const Job& job : report.jobs) {
    if (tokens(job) == 0) continue;
    all += tokens(job);
    start = std::min(start, job.start);
    finish = std::max(finish, job.finish);
  }
  return rate(all, finish > start ? finish - start : Time());
}

std::optional<double> model_flops_per_second(const Job& job) {
  if (job.status != JobStatus::kComplete || job.ranks == 0) return std::nullopt;
  return rate(job.model_flops * static_cast<double>(job.runs) / job.ranks, runtime(job));
}

std::optional<double> model_flops_utilization(const Job& job) {
  const std::optional<double> flops = model_flops_per_second(job);
  if (!flops || job.device_flops <= 0) return std::nullopt;
  return *flops / job.device_flops;
}

std::string_view bound_by(const Report& report, const Job& job) {
  if (report.open_loop) return report.open_loop->keeps_up ? "arrivals" : "bandwidth";
  return job.path ? bound_by(*job.path) : std::string_view();
}

std::optional<double> hops(const Report& report, std::size_t job) {
  if (report.job_bytes.empty()) return std::nullopt;
  const std::size_t jobs = report.jobs.size();
  double all = 0, first = 0;
  for (std::size_t link = 0; link < report.links.size(); ++link) {
    const auto bytes = static_cast<double>(report.job_bytes[link * jobs + job]);
    all += bytes;
    if (report.links[link].leaves_host) first += bytes;
  }
  if (first == 0) return std::nullopt;
  return all / first;
}

double jain_index(std::span<const double> values) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  const double squares = std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
  return squares == 0 ? 1 : sum * sum / (static_cast<double>(values.size()) * squares);
}

MachineFigures machine_figures(const Report& report) {
  MachineFigures all;
  double used = 0, waited = 0, turned = 0, slowed = 0;
  std::vector<double> shares;
  for (const Job& job : report.jobs) {
    ++all.jobs;
    used += job.nodes * static_cast<double>(runtime(job).ps());
    if (job.status != JobStatus::kComplete) continue;
    ++all.finished;
    waited += static_cast<double>(waiting(job).ps());
    turned += static_cast<double>(turnaround(job).ps());
    all.max_waiting = std::max(all.max_waiting, waiting(job));
    all.max_turnaround = std::max(all.max_turnaround, turnaround(job));
    all.mean_stretch += stretch(job);
    all.max_stretch = std::max(all.max_stretch, stretch(job));
    const std::optional<double> slow = slowdown(job);
    if (!slow) continue;
    slowed += *slow;
    all.max_slowdown = std::max(all.max_slowdown, *slow);
    shares.push_back(1 / *slow);
  }
  const double hosts = static_cast<double>(report.hosts) - static_cast<double>(report.failed_hosts.size());
  const double there = hosts * static_cast<double>(report.makespan.ps());
  if (there > 0) all.utilization = used / there;
  if (!shares.empty()) {
    all.mean_slowdown = slowed / static_cast<double>(shares.size());
    all.fairness = jain_index(shares);
  }
  if (all.finished == 0) return all;
  all.mean_stretch /= all.finished;
  all.mean_waiting = Time::ps(static_cast<std::int64_t>(waited / all.finished));
  all.mean_turnaround = Time::ps(static_cast<std::int64_t>(turned / all.finished));
  return all;
}

std::string interval_set(std::span<const std::uint32_t> numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += text.empty() ? "" : " ";
    text += last == i ? std::to_string(numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[last]);
    i = last + 1;
  }
  return text;
}

std::vector<JobLink> job_links(const Report& report) {
  std::vector<JobLink> rows;
  if (report.job_bytes.empty()) return rows;
  std::vector<std::size_t> busiest(report.links.size());
  std::iota(busiest.begin(), busiest.end(), std::size_t{0});
  if (busiest.size() > kMostJobLinks) {
    std::stable_sort(busiest.begin(), busiest.end(), [&](std::size_t a, std::size_t b) {
      return report.links[a].busy > report.links[b].busy;
    });
    busiest.resize(kMostJobLinks);
    std::sort(busiest.begin(), busiest.end());
  }
  const std::size_t jobs = report.jobs.size();
  for (const std::size_t i : busiest) {
    const std::span of_jobs = std::span(report.job_bytes).subspan(i * jobs, jobs);
    const std::uint64_t all = std::accumulate(of_jobs.begin(), of_jobs.end(), std::uint64_t{0});
    for (std::size_t j = 0; j < jobs; ++j) {
      if (of_jobs[j] == 0) continue;
      rows.push_back({.link = static_cast<std::uint32_t>(i),
                      .job = static_cast<std::uint32_t>(j),
                      .bytes = of_jobs[j],
                      .share = static_cast<double>(of_jobs[j]) / static_cast<double>(all)});
    }
  }
  return rows;
}

void fill_job_link(const Report& report, std::size_t index, Row& row) {
  const JobLink& part = report.job_links[index];
  const Link& link = report.links[part.link];
  const double span = static_cast<double>(std::max(report.makespan, report.stopped_at).ps());
  row.add(part.link, link.from, link.to, Fixed{span > 0 ? static_cast<double>(link.busy.ps()) / span : 0.0},
          part.job, report.jobs[part.job].name, part.bytes, Fixed{part.share});
}

void fill_job(const Report& report, std::size_t index, Row& row) {
  const Job& job = report.jobs[index];
  const bool started = job.status != JobStatus::kNotStarted;
  const auto if_started = [started](auto value) { return started ? std::optional(value) : std::nullopt; };
  const auto fixed = [](std::optional<double> value) {
    return value ? std::optional(Fixed{*value}) : std::nullopt;
  };
  row.add(index, job.name, job.submit, if_started(job.start), if_started(job.finish),
          if_started(runtime(job)), if_started(waiting(job)), fixed(slowdown(job)),
          if_started(turnaround(job)), if_started(Fixed{stretch(job)}),
          started ? fixed(bounded_slowdown(report, job)) : std::nullopt, name(job.status), job.runs,
          job.alone > Time() ? std::optional(job.alone) : std::nullopt, job.ranks, job.nodes, job.messages,
          job.bytes);
  row.add_kept(interval_set(job.hosts));
  const std::string_view cause = bound_by(report, job);
  row.add(fixed(hops(report, index)), cause.empty() ? std::nullopt : std::optional(cause));
}

void fill_interference(const Report& report, std::size_t index, Row& row) {
  const Interference& pair = report.interference[index];
  row.add(pair.job, report.jobs[pair.job].name, pair.beside, report.jobs[pair.beside].name,
          Fixed{pair.slowdown});
}

}  // namespace weft::results

#include "tools/weft/run/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "sim/core/random.h"
#include "sim/results/jobs.h"
#include "sim/results/output_file.h"

namespace weft::cli {
namespace {

constexpr const char* kFile = "/baseline.csv";
constexpr const char* kColumns = "key,durations_ps";
constexpr std::uintmax_t kMostBytes = 16 << 20;  // of a file of times

std::string digest(const std::string& text) {
  std::uint64_t a = 1, b = 2;
  for (const char c : text) {
    a = mix64(a ^ static_cast<unsigned char>(c));
    b = mix64(b + static_cast<unsigned char>(c) * 0x9E3779B97F4A7C15ULL);
  }
  return fmt::format("{:016x}{:016x}", a, b);
}

// A file with this name and other content is another one.
std::string version_of(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) return "";
  return fmt::format("{} {} {}", path, size,
                     std::filesystem::last_write_time(path, error).time_since_epoch().count());
}

Time duration(const results::Job& job) {
  if (job.status != results::JobStatus::kComplete || job.runs == 0) return Time();
  return Time::ps(results::runtime(job).ps() / static_cast<std::int64_t>(job.runs));
}

bool has_run(const results::Job& job) { return job.status != results::JobStatus::kNotStarted; }

// Did they run at the same time? If not, they may even have had the same hosts.
bool met(const results::Job& a, const results::Job& b) {
  return has_run(a) && has_run(b) && a.start < b.finish && b.start < a.finish;
}

}  // namespace

Baseline::Baseline(const sim::Simulation& simulation, std::span<const goal::Program> programs,
                   const sim::Scenario& decided, const sim::Registries& registries, std::string directory,
                   MakeControl make_control)
    : simulation_(simulation),
      programs_(programs),
      decided_(decided),
      registries_(registries),
      directory_(std::move(directory)),
      make_control_(std::move(make_control)) {
  if (!directory_.empty()) load();
}

// All that decides the run: its scenario, the content of its files, and the hosts.
std::string Baseline::key(const results::Report& report, const std::vector<std::uint32_t>& only) const {
  sim::Draft part = sim::repeatable(sim::draft_of(decided_), registries_);
  part.output = {};
  part.limits = {};
  part.threads = 1;
  const bool waits = !part.scheduler.empty();
  part.scheduler = {};
  std::string text;
  std::vector<sim::Job> jobs;
  for (const std::uint32_t job : only) {
    jobs.push_back(part.jobs[job]);
    jobs.back().estimate = Time();
    text += fmt::format("{} {} {}\n", version_of(part.jobs[job].goal), job,
                        results::interval_set(report.jobs[job].hosts));
    if (!waits) continue;
    // Where and when it was decided in the run.
    text += fmt::format("{} {}", report.jobs[job].start.ps(), report.jobs[job].first_channel);
    for (const results::Rank& rank : std::ranges::equal_range(report.ranks, job, {}, &results::Rank::job)) {
      text += fmt::format(" {}", rank.host);
    }
  }
  part.jobs = std::move(jobs);
  return digest(text + sim::to_text(part, registries_));
}

std::vector<Time> Baseline::durations(const results::Report& report, const std::vector<std::uint32_t>& only) {
  const std::string name = key(report, only);
  if (const auto found = known_.find(name); found != known_.end() && found->second.size() == only.size()) {
    return found->second;
  }
  std::string what = "job " + report.jobs[only[0]].name;
  what += only.size() > 1 ? " beside job " + report.jobs[only[1]].name : " alone";
  const std::unique_ptr<sim::RunControl> control = make_control_(what);
  const results::Report part = simulation_.run(programs_, *control, only, &report);
  std::vector<Time> times;
  for (const results::Job& job : part.jobs) times.push_back(duration(job));
  using results::Outcome;
  if (part.outcome == Outcome::kComplete || part.outcome == Outcome::kIncomplete) known_[name] = times;
  return times;
}

void Baseline::measure(results::Report& report) {
  const auto jobs = static_cast<std::uint32_t>(report.jobs.size());
  for (std::uint32_t job = 0; job < jobs; ++job) {
    if (has_run(report.jobs[job])) report.jobs[job].alone = durations(report, {job})[0];
    if (report.jobs[job].alone > Time()) continue;
    report.warnings.push_back(fmt::format(
        "job {}: no baseline, as it does not complete alone, or takes no time", report.jobs[job].name));
  }
  if (!decided_.output.interference) return;
  const bool waits = !decided_.scheduler.empty();
  for (std::uint32_t a = 0; a < jobs; ++a) {
    for (std::uint32_t b = a + 1; b < jobs; ++b) {
      if (waits && !met(report.jobs[a], report.jobs[b])) continue;
      const std::vector<Time> times = durations(report, {a, b});
      const auto add = [&](std::uint32_t job, std::uint32_t beside, Time time) {
        const Time alone = report.jobs[job].alone;
        if (time == Time() || alone == Time()) return;
        report.interference.push_back(
            {job, beside, static_cast<double>(time.ps()) / static_cast<double>(alone.ps())});
      };
      add(a, b, times[0]);
      add(b, a, times[1]);
    }
  }
}

// A line that is not as it was written counts as none: the runs are made again.
void Baseline::load() {
  std::error_code error;
  if (!std::filesystem::is_regular_file(directory_ + kFile, error)) return;
  if (const auto size = std::filesystem::file_size(directory_ + kFile, error); error || size > kMostBytes)
    return;
  std::ifstream file(directory_ + kFile);
  std::string line;
  if (!std::getline(file, line) || line != kColumns) return;
  while (std::getline(file, line)) {
    const std::size_t comma = line.find(',');
    if (comma == std::string::npos) continue;
    std::istringstream values(line.substr(comma + 1));
    std::vector<Time> times;
    std::int64_t ps = 0;
    while (values >> ps) times.push_back(Time::ps(ps));
    if (values.eof() && !times.empty()) known_[line.substr(0, comma)] = times;
  }
}

void Baseline::save() const {
  if (directory_.empty()) return;
  results::OutputFile file(directory_ + kFile);
  file.print("{}\n", kColumns);
  for (const auto& [key, times] : known_) {
    std::string values;
    for (const Time time : times) values += fmt::format("{}{}", values.empty() ? "" : " ", time.ps());
    file.print("{},{}\n", key, values);
  }
  file.close();
}

}  // namespace weft::cli

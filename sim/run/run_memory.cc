#include "sim/run/run_memory.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>

#include "sim/units/grouped.h"
#include "sim/units/memory.h"

namespace weft::sim {
namespace {

constexpr double kOfRank = 192, kOfRankRow = 200, kOfMessageRow = 220;
constexpr std::size_t kMostJobs = 64;  // to look at

double all_ranks(const ModelRun& run) {
  double ranks = 0;
  for (const ReplayJob& job : run.jobs) ranks += job.program.ranks();
  return ranks;
}

// Tells `look` what some jobs send, who stand for all, and returns for how many times as many ranks.
template <typename Look>
double look_at_jobs(const ModelRun& run, const PacketRule& rule, Look look) {
  const std::size_t step = std::max<std::size_t>(run.jobs.size() / kMostJobs, 1);
  double looked_at = 0;
  for (std::size_t i = 0; i < run.jobs.size(); i += step) {
    const double ranks = run.jobs[i].program.ranks();
    look(reckon_messages(run.jobs[i], rule), ranks);
    looked_at += ranks;
  }
  return looked_at > 0 ? all_ranks(run) / looked_at : 0;
}

// In a run with limits few of many messages may come to their rows.
double most_rows(const ModelRun& run, double messages) {
  const RunControl::Bounds &bounds = run.control.bounds(), none;
  if (bounds.time != none.time) return 0;
  return std::min(messages, static_cast<double>(bounds.events));
}

}  // namespace

MessageSizes sizes_of(double of_message, double of_pair) {
  return {.rule = {},
          .at_start = [=](const UnderWay& sends) { return sends.messages * of_message; },
          .in_collectives =
              [=](const UnderWay& sends, double /*ranks*/) {
                return sends.messages * of_message + sends.other_pairs * of_pair;
              }};
}

void add_jobs(const ModelRun& run, const MessageSizes& sizes, bool keeps_rows, MemoryForecast& forecast) {
  double messages = 0, under_way = 0;
  const double times = look_at_jobs(run, sizes.rule, [&](const ProgramMessages& sends, double ranks) {
    // A collective comes before the sends at the start, or after them.
    under_way += std::max(sizes.at_start(sends.at_start), sizes.in_collectives(sends.in_collectives, ranks));
    messages += sends.messages;
  });
  const double ranks = all_ranks(run);
  const double at_once = run.starter == nullptr ? 1 : std::min(run.hosts / std::max(ranks, 1.0), 1.0);
  forecast.network += ranks * kOfRank;
  forecast.under_way += times * at_once * under_way;
  forecast.results +=
      ranks * kOfRankRow + (keeps_rows ? most_rows(run, times * messages) * kOfMessageRow : 0);
}

double reckoned_messages(const ModelRun& run) {
  double messages = 0;
  const double times = look_at_jobs(
      run, {}, [&](const ProgramMessages& sends, double /*ranks*/) { messages += sends.messages; });
  return most_rows(run, times * messages);
}

void expect_run(const ModelRun& run, const std::string& what, const MemoryForecast& forecast) {
  std::string links;
  if (run.fabric != nullptr) {
    const auto cables = static_cast<double>(run.fabric->topology.channels().size() / 2);
    links = fmt::format("{} links and ", grouped(cables));
  }
  expect_memory(forecast.sum(), fmt::format("{} of {}{} hosts", what, links, grouped(run.hosts)),
                static_cast<double>(held_memory()));
}

}  // namespace weft::sim

#include "tools/sweep/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include "sim/results/row.h"
#include "sim/units/grouped.h"
#include "tools/sweep/groups.h"
#include "tools/sweep/plot.h"

namespace weft::sweep {
namespace {

std::string cell(const std::optional<double>& value) { return value ? fmt::format("{}", *value) : ""; }

// A number in decimals, with its sign: what a spreadsheet takes for no formula.
bool is_number(std::string_view text) {
  if (text.find_first_not_of("+-.0123456789eE") != std::string_view::npos) return false;
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return end == text.data() + text.size() && error != std::errc::invalid_argument && !text.empty();
}

std::string line(const std::vector<std::string>& cells) {
  std::string text;
  for (const std::string& each : cells) {
    text += (&each == cells.data() ? "" : ",") + (is_number(each) ? each : results::csv_field(each));
  }
  return text + "\n";
}

std::optional<double> figure(const Result& result, const Figure& wanted) {
  const nlohmann::ordered_json::json_pointer place(wanted.place);
  if (!result.summary.contains(place) || !result.summary[place].is_number()) return std::nullopt;
  return result.summary[place].get<double>();
}

bool any_price(const Folder& folder) {
  for (const Point& point : folder.points()) {
    if (point.price) return true;
  }
  return false;
}

// A row for each point that is done.
std::string sweep_csv(const Folder& folder, const Outcomes& outcomes) {
  const bool priced = any_price(folder);
  std::vector<std::string> head = folder.fields();
  for (const char* name : {"seed", "outcome", "digest"}) head.emplace_back(name);
  for (const Figure& each : figures()) head.emplace_back(each.column);
  if (priced) head.insert(head.end(), {"price", "watts"});
  head.emplace_back("folder");
  std::string text = line(head);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const std::optional<Outcome>& result = outcomes[i];
    if (!result) continue;
    const Point& point = folder.points()[i];
    std::vector<std::string> cells = point.values;
    cells.insert(cells.end(), {std::to_string(point.seed), result->outcome, result->digest});
    for (const std::optional<double>& each : result->figures) cells.push_back(cell(each));
    if (priced) cells.insert(cells.end(), {cell(point.price), cell(point.watts)});
    cells.push_back("points/" + point.name);
    text += line(cells);
  }
  return text;
}

// A row for each combination of values: means over seeds, and their intervals.
std::string summary_csv(const Folder& folder, const std::vector<Group>& groups) {
  const bool priced = any_price(folder);
  std::vector<std::string> head = folder.fields();
  head.insert(head.end(), {"seeds", "complete"});
  for (const Figure& each : figures()) {
    for (const char* end : {"mean", "low", "high"}) head.push_back(fmt::format("{}_{}", each.column, end));
  }
  if (priced) head.insert(head.end(), {"price", "watts"});
  if (folder.until_ci() > 0) head.emplace_back("until_ci");
  std::string text = line(head);
  for (const Group& group : groups) {
    std::vector<std::string> cells = group.values;
    cells.insert(cells.end(), {std::to_string(group.seeds), std::to_string(group.complete)});
    for (const std::optional<Estimate>& each : group.estimates) {
      if (each) {
        cells.insert(cells.end(), {cell(each->mean), cell(each->low), cell(each->high)});
      } else {
        cells.insert(cells.end(), 3, "");
      }
    }
    if (priced) cells.insert(cells.end(), {cell(group.price), cell(group.watts)});
    if (folder.until_ci() > 0)
      cells.emplace_back(group.narrow(folder.until_ci()) ? "reached" : "not reached");
    text += line(cells);
  }
  return text;
}

}  // namespace

const std::vector<Figure>& figures() {
  static const std::vector<Figure> kFigures = {{"makespan_ns", "/makespan_ns"},
                                               {"messages", "/messages"},
                                               {"bytes", "/bytes"},
                                               {"waiting_ns", "/waiting_ns"},
                                               {"completion_mean_ns", "/flows/completion/mean_ns"},
                                               {"completion_p99_ns", "/flows/completion/p99_ns"},
                                               {"slowdown_mean", "/flows/slowdown/mean"},
                                               {"slowdown_p99", "/flows/slowdown/p99"},
                                               {"goodput_bps", "/goodput/total_bps"},
                                               {"packets_dropped", "/packets/dropped"},
                                               {"ecn_marks", "/signals/ecn_mark"},
                                               {"retransmits", "/signals/retransmit"},
                                               {"timeouts", "/signals/timeout"},
                                               {"job_waiting_ns", "/machine/mean_waiting_time_ns"},
                                               {"job_turnaround_ns", "/machine/mean_turnaround_time_ns"},
                                               {"job_stretch", "/machine/mean_stretch"},
                                               {"job_slowdown", "/machine/mean_slowdown"},
                                               {"job_fairness", "/machine/fairness"},
                                               {"utilization", "/machine/utilization"}};
  return kFigures;
}

Outcomes outcomes_of(const Folder& folder, Outcomes known) {
  Outcomes outcomes = std::move(known);
  outcomes.resize(folder.points().size());
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const Point& point = folder.points()[i];
    std::optional<Outcome>& outcome = outcomes[i];
    // Taken first: a result that is replaced while it is read is read again.
    std::string stamp = folder.stamp(point);
    if (outcome && outcome->stamp == stamp) continue;
    outcome.reset();
    const std::optional<Result> result = folder.result(point);
    if (!result) continue;
    outcome = {.outcome = result->outcome,
               .digest = result->digest,
               .figures = {},
               .warnings = {},
               .stamp = std::move(stamp)};
    for (const Figure& each : figures()) outcome->figures.push_back(figure(*result, each));
    for (const auto& each : result->summary.value("warnings", nlohmann::ordered_json::array())) {
      if (each.is_string()) outcome->warnings.push_back(each.get<std::string>());
    }
  }
  return outcomes;
}

bool Group::narrow(double share) const {
  return estimates[0] && estimates[0]->relative_width() && *estimates[0]->relative_width() <= share;
}

std::vector<Group> groups_of(const Folder& folder, const Outcomes& outcomes) {
  std::vector<Group> groups;
  std::vector<std::vector<std::vector<double>>> values;  // by group and figure
  std::map<std::vector<std::string>, std::size_t> numbers;
  for (std::size_t p = 0; p < outcomes.size(); ++p) {
    const Point& point = folder.points()[p];
    const auto [place, added] = numbers.try_emplace(point.values, groups.size());
    if (added) {
      groups.push_back({.values = point.values, .price = point.price, .watts = point.watts, .estimates = {}});
      values.emplace_back(figures().size());
    }
    Group& group = groups[place->second];
    ++group.seeds;
    const std::optional<Outcome>& result = outcomes[p];
    if (!result || !result->complete()) continue;
    ++group.complete;
    for (std::size_t i = 0; i < figures().size(); ++i) {
      if (const std::optional<double>& value = result->figures[i]) values[place->second][i].push_back(*value);
    }
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const std::vector<double>& each : values[g]) {
      std::optional<Estimate>& last =
          groups[g].estimates.emplace_back(each.empty() ? std::nullopt : std::optional(estimate(each)));
      // Student's interval of few values that differ much begins below 0; none of the figures is ever there.
      if (last && last->low) last->low = std::max(0.0, *last->low);
    }
  }
  return groups;
}

Progress progress_of(const Folder& folder) {
  Progress progress{.points = folder.points().size()};
  for (const Point& point : folder.points()) {
    const std::optional<Result> result = folder.result(point);
    progress.done += result ? 1 : 0;
    if (const std::string changed = folder.changed_input(point); !changed.empty()) {
      progress.changed_input = changed;
      ++progress.outdated;
    }
    progress.complete += result && result->complete() ? 1 : 0;
  }
  return progress;
}

void write_tables(const Folder& folder, const Outcomes& outcomes, const std::vector<Group>& groups) {
  write_file(folder.path() + "/sweep.csv", sweep_csv(folder, outcomes));
  write_file(folder.path() + "/summary.csv", summary_csv(folder, groups));
  write_file(folder.path() + "/plot.svg", makespan_plot(folder.fields(), groups));
  if (any_price(folder)) write_file(folder.path() + "/pareto.svg", price_plot(groups));
}

namespace {

std::string name_of(const Folder& folder, const Group& group) {
  std::string name;
  for (std::size_t i = 0; i < group.values.size(); ++i) {
    name += fmt::format("{}{}={}", i == 0 ? "" : " ", folder.fields()[i], group.values[i]);
  }
  return name;
}

}  // namespace

std::string wide_text(const Folder& folder, const std::vector<Group>& groups) {
  if (folder.until_ci() <= 0) return "";
  constexpr std::size_t kMostNamed = 5;
  std::size_t wide = 0, most_seeds = 0;
  std::string named;
  for (const Group& group : groups) {
    if (group.narrow(folder.until_ci())) continue;
    most_seeds = std::max(most_seeds, group.seeds);
    if (++wide <= kMostNamed && !group.values.empty()) {
      named += (named.empty() ? ": " : ", ") + name_of(folder, group);
    }
  }
  if (wide == 0) return "";
  return fmt::format(
      "until_ci {:g}% is not reached by {} of {} combinations of values, after up to {} seeds{}{}",
      100 * folder.until_ci(), wide, groups.size(), most_seeds, named,
      wide > kMostNamed ? " and others" : "");
}

std::string summary_text(const Folder& folder, const std::vector<Group>& groups) {
  std::string text;
  for (const Group& group : groups) {
    const std::string name = name_of(folder, group);
    std::string time = "not known";
    if (const std::optional<Estimate>& makespan = group.estimates[0]) {
      time = short_time(makespan->mean);
      if (makespan->low && *makespan->relative_width() == 0) {
        time += " with each seed";
      } else if (makespan->low) {
        time += fmt::format(" +- {:.2g}%", 100 * *makespan->relative_width());
      }
    }
    text += fmt::format("  {}{}{} of {} runs\n", name.empty() ? "" : name + ": ",
                        time + (group.complete == group.seeds ? ", " : ", complete: "), group.complete,
                        group.seeds);
  }
  return text;
}

}  // namespace weft::sweep

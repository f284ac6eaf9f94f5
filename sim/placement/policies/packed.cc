#include <fmt/core.h>

#include <algorithm>

#include "sim/placement/policies/built_in.h"
#include "sim/placement/policies/nodes.h"

namespace weft::placement {
namespace {

// Free hosts whose numbers follow each other.
struct FreeRun {
  std::uint32_t first = 0, length = 0;
};

std::vector<FreeRun> free_runs(const Machine& machine) {
  std::vector<FreeRun> runs;
  for (const std::uint32_t h : list_free(machine)) {
    if (runs.empty() || runs.back().first + runs.back().length != h) runs.push_back({h, 0});
    ++runs.back().length;
  }
  return runs;
}

std::vector<std::uint32_t> numbers_from(std::uint32_t first, std::uint32_t count) {
  std::vector<std::uint32_t> list(count);
  for (std::uint32_t i = 0; i < count; ++i) list[i] = first + i;
  return list;
}

Outcome place_packed(const Setup& setup) {
  const std::size_t fit = choose_word(setup.parameters, "fit", {"first", "best", "any"});
  const bool strict = setup.parameters.boolean("strict");
  const std::uint32_t needed = setup.request.nodes();
  std::vector<std::uint32_t> free = list_free(setup.machine);
  if (free.size() < needed) return too_few(needed, static_cast<std::uint32_t>(free.size()));
  if (fit != 2 || strict) {
    std::vector<FreeRun> runs = free_runs(setup.machine);
    std::uint32_t longest = 0;
    for (const FreeRun& run : runs) longest = std::max(longest, run.length);
    std::erase_if(runs, [needed](const FreeRun& run) { return run.length < needed; });
    if (!runs.empty()) {
      const auto shorter = [](const FreeRun& a, const FreeRun& b) { return a.length < b.length; };
      const FreeRun run = fit == 1 ? *std::min_element(runs.begin(), runs.end(), shorter) : runs.front();
      return deal_ranks(setup, numbers_from(run.first, needed));
    }
    if (strict) {
      return {{}, fmt::format("{} hosts in a row are needed, and at most {} are free", needed, longest)};
    }
  }
  free.resize(needed);
  return deal_ranks(setup, free);
}

}  // namespace

Policy packed() {
  return {
      .info =
          {.name = "packed",
           .summary = "Hosts whose numbers follow each other; where too few do, the lowest that are free.",
           .source = "",
           .parameters = with_distribution(
               {{"fit", ParameterType::kText, "first",
                 "first: the first gap that is long enough; best: the shortest such; any: the lowest free "
                 "hosts, in gaps too short as well.",
                 one_of({"first", "best", "any"})},
                {"strict", ParameterType::kBoolean, "false",
                 "Wait for a gap that is long enough rather than use several."}}),
           .about = "Families number their hosts by switch, board and group, so hosts next to each other "
                    "share switches. Little traffic leaves them, and few others are disturbed; what does "
                    "leave finds few links. As jobs come and go, gaps become short."},
      .place = place_packed};
}

}  // namespace weft::placement

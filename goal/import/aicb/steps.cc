#include "goal/import/aicb/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "goal/import/training_steps/rank_steps.h"
#include "goal/workload/compute/device.h"
#include "sim/units/input_error.h"
#include "sim/units/memory.h"

namespace weft::goal {
namespace {

[[noreturn]] void refuse(const std::string& file_name, const std::string& message) {
  throw InputError({file_name}, message);
}

std::uint32_t size_in(const AicbTrace& trace, TrainingAxis axis) {
  return trace.sizes[static_cast<std::size_t>(axis)];
}

// How many ranks an axis has, as asked for or as the file says. Throws InputError if it's used and nobody
// says.
std::uint32_t size_of(const AicbTrace& trace, TrainingAxis axis, std::uint32_t asked, const char* option,
                      const std::string& file_name) {
  if (asked != 0) return asked;
  if (const std::uint32_t size = size_in(trace, axis)) return size;
  if (trace.used[static_cast<std::size_t>(axis)]) {
    refuse(file_name, fmt::format("uses groups {}, and does not say how many ranks they have; --{} tells",
                                  name(axis), option));
  }
  return 1;
}

std::uint64_t ranks_of(const AicbTrace& trace, const AicbOptions& options, const TrainingLayout& layout,
                       const std::string& file_name) {
  if (options.ranks != 0) return options.ranks;
  std::uint64_t ranks = 0;
  for (const AicbSection& section : trace.sections) {
    for (const Rank rank : section.ranks) ranks = std::max<std::uint64_t>(ranks, std::uint64_t{rank} + 1);
  }
  if (ranks != 0) return ranks;
  if (size_in(trace, TrainingAxis::kWorld) != 0) return size_in(trace, TrainingAxis::kWorld);
  const std::uint64_t data = size_in(trace, TrainingAxis::kData);
  if (data == 0) refuse(file_name, "does not say how many ranks there are; --ranks tells");
  return data * layout.tensor * layout.pipeline;
}

// Each section's ranks must be those of a stage, in their order, and all of them.
void check_sections(const AicbTrace& trace, const TrainingLayout& layout, const std::string& file_name) {
  const std::size_t count = trace.sections.size();
  if (count > 1 && count != layout.pipeline) {
    refuse(file_name, fmt::format("has {} lists of ranks, and {} stages (pp)", count, layout.pipeline));
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<Rank> ranks = trace.sections[i].ranks;
    if (ranks.empty()) continue;
    std::sort(ranks.begin(), ranks.end());
    const std::size_t each = layout.ranks() / count;
    bool fits = ranks.size() == each;
    for (std::size_t at = 0; fits && at < each; ++at) fits = ranks[at] == i * each + at;
    if (fits) continue;
    throw InputError({file_name, trace.sections[i].line, 1},
                     fmt::format("expected the {} ranks from {} on, those of stage {}", each, i * each, i));
  }
}

TrainingLayout layout_of(const AicbTrace& trace, const AicbOptions& options, const std::string& file_name) {
  TrainingLayout layout;
  layout.tensor = size_of(trace, TrainingAxis::kTensor, options.tensor, "tp", file_name);
  const bool stages =
      trace.sections.size() > 1 && options.pipeline == 0 && size_in(trace, TrainingAxis::kPipeline) == 0;
  layout.pipeline = stages ? static_cast<std::uint32_t>(trace.sections.size())
                           : size_of(trace, TrainingAxis::kPipeline, options.pipeline, "pp", file_name);
  if (layout.pipeline == 1 && options.pipeline == 0 && trace.first_message != 0) {
    throw InputError(
        {file_name, trace.first_message},
        "is a message between stages of a pipeline, of which the file does not say how many there "
        "are; --pp tells");
  }
  layout.expert = size_of(trace, TrainingAxis::kExpert, options.expert, "ep", file_name);
  const std::uint64_t ranks = ranks_of(trace, options, layout, file_name);
  const std::uint64_t model = std::uint64_t{layout.tensor} * layout.pipeline;
  if (ranks > (1u << 24) || ranks % model != 0 || ranks / model % layout.expert != 0) {
    refuse(file_name, fmt::format("{} ranks can't be divided by tp {}, pp {} and ep {}", ranks, layout.tensor,
                                  layout.pipeline, layout.expert));
  }
  layout.data = static_cast<std::uint32_t>(ranks / model);
  for (int a = 0; a < kTrainingAxes && options.ranks == 0; ++a) {
    const auto axis = static_cast<TrainingAxis>(a);
    const bool asked = (axis == TrainingAxis::kTensor && options.tensor != 0) ||
                       (axis == TrainingAxis::kPipeline && options.pipeline != 0) ||
                       (axis == TrainingAxis::kExpert && options.expert != 0);
    if (asked || size_in(trace, axis) == 0 || size_in(trace, axis) == layout.size(axis)) continue;
    refuse(file_name,
           fmt::format("says that groups {} have {} ranks; {} ranks with tp {}, pp {} and ep {} make {}",
                       name(axis), size_in(trace, axis), ranks, layout.tensor, layout.pipeline, layout.expert,
                       layout.size(axis)));
  }
  if (options.ranks == 0) check_sections(trace, layout, file_name);
  return layout;
}

// Messages between stages, by what they do: [send][to the next stage].
using Traffic = std::array<std::array<std::uint64_t, 2>, 2>;

Traffic count_messages(const AicbSection& section) {
  Traffic counts{};
  for (const AicbRow& row : section.rows) {
    if (row.kind == AicbKind::kMessage) ++counts[row.send][row.to_next];
  }
  return counts;
}

const AicbSection& section_of(const AicbTrace& trace, std::uint32_t stage) {
  return trace.sections[trace.sections.size() > 1 ? stage : 0];
}

// Does every message between neighboring stages have both ends? Throws InputError where stages have rows of
// their own and don't fit.
bool messages_fit(const AicbTrace& trace, const TrainingLayout& layout, const std::string& file_name) {
  if (layout.pipeline == 1) return false;
  for (std::uint32_t stage = 0; stage + 1 < layout.pipeline; ++stage) {
    const Traffic here = count_messages(section_of(trace, stage)),
                  next = count_messages(section_of(trace, stage + 1));
    if (here[1][1] == next[0][0] && here[0][1] == next[1][0]) continue;
    if (trace.sections.size() == 1) return false;
    refuse(file_name,
           fmt::format("stage {} sends {} messages to the next, which receives {}, and receives {} of {}",
                       stage, here[1][1], next[0][0], here[0][1], next[1][0]));
  }
  return true;
}

class Program {
 public:
  Program(const AicbTrace& trace, const AicbOptions& options, const TrainingGroups& groups, bool messages,
          Rank rank, GraphBuilder& builder)
      : trace_(trace), options_(options), groups_(groups), messages_(messages), rank_(rank), steps_(builder) {
    const bool ms =
        options.time == AicbTime::kAuto ? trace.measured : options.time == AicbTime::kMilliseconds;
    unit_ = ms ? 1e6 : 1;
  }

  // How many operations it has.
  std::uint64_t run() {
    const TrainingLayout& layout = groups_.layout();
    bool skipping = options_.skip_init;
    for (const AicbRow& row : section_of(trace_, layout.stage(rank_)).rows) {
      if (row.kind != AicbKind::kMessage) wait_for_received();
      if (row.kind == AicbKind::kEpochEnd) skipping = false;
      if (skipping) continue;
      if (row.kind == AicbKind::kComputation) steps_.compute(computation(row));
      if (row.kind == AicbKind::kCollective) collective(row);
      if (row.kind == AicbKind::kMessage && messages_) message(row);
    }
    wait_for_received();
    return steps_.end();
  }

 private:
  std::uint64_t computation(const AicbRow& row) const {
    double ns = 0;
    if (row.elapsed) {
      ns = *row.elapsed * unit_;
    } else if (row.shape && options_.device != nullptr) {
      ns = options_.device->gemm_ns({.m = row.shape->m, .n = row.shape->n, .k = row.shape->k});
    }
    return static_cast<std::uint64_t>(std::llround(std::min(ns, 1e18)));
  }

  void collective(const AicbRow& row) {
    const TrainingLayout& layout = groups_.layout();
    const std::uint32_t size = layout.size(row.axis);
    if (size < 2 || !layout.in_group(row.axis, rank_)) return;
    Collective made{
        .kind = row.collective, .comm = groups_.communicator(row.axis, rank_), .bytes = row.bytes};
    const bool divided = row.collective == CollectiveKind::kAllgather ||
                         row.collective == CollectiveKind::kReduceScatter ||
                         row.collective == CollectiveKind::kAlltoall;
    if (divided) made.bytes = (row.bytes + size - 1) / size;
    steps_.wait(steps_.collective(row.axis, made));
  }

  // Sends don't hold up the rank. Messages that follow each other begin together.
  void message(const AicbRow& row) {
    const TrainingLayout& layout = groups_.layout();
    const std::uint32_t stage = layout.stage(rank_), of_stage = layout.tensor * layout.data;
    if (row.to_next ? stage + 1 == layout.pipeline : stage == 0) return;
    const Rank peer = row.to_next ? rank_ + of_stage : rank_ - of_stage;
    const auto event = steps_.message(row.send ? OpKind::kSend : OpKind::kRecv, row.bytes, peer, 0);
    if (!row.send) received_.push_back(event);
  }
  void wait_for_received() {
    for (const RankSteps::Event event : received_) steps_.wait(event);
    received_.clear();
  }

  const AicbTrace& trace_;
  const AicbOptions& options_;
  const TrainingGroups& groups_;
  const bool messages_;
  const Rank rank_;
  double unit_ = 1;
  RankSteps steps_;
  std::vector<RankSteps::Event> received_;
};

struct Counts {
  std::uint64_t messages = 0, alone = 0, set_up = 0, timed = 0, reckoned = 0, untimed = 0;
};

Counts count(const AicbTrace& trace, const AicbOptions& options, const TrainingLayout& layout) {
  Counts counts;
  for (const AicbSection& section : trace.sections) {
    std::uint64_t before = 0;  // rows before the first epoch's end
    bool ended = false;
    for (const AicbRow& row : section.rows) {
      before += !ended && row.kind != AicbKind::kEpochEnd;
      ended = ended || row.kind == AicbKind::kEpochEnd;
      if (options.skip_init && !ended) continue;
      counts.messages += row.kind == AicbKind::kMessage;
      counts.alone += row.kind == AicbKind::kCollective && layout.size(row.axis) < 2;
      if (row.kind != AicbKind::kComputation) continue;
      ++(row.elapsed                              ? counts.timed
         : row.shape && options.device != nullptr ? counts.reckoned
                                                  : counts.untimed);
    }
    if (ended) counts.set_up += before;
  }
  return counts;
}

void tell(const AicbTrace& trace, const AicbOptions& options, const TrainingGroups& groups, bool messages,
          std::vector<Anomaly>& anomalies) {
  const auto note = [&](const char* name, Severity severity, const char* sentence, std::uint64_t count) {
    if (count > 0) anomalies.push_back({name, severity, sentence, count});
  };
  const Counts counts = count(trace, options, groups.layout());
  note("assumed_groups", Severity::kInfo,
       "Groups of ranks, of which the file tells the sizes only: ranks count through tp, then dp, then pp, "
       "and "
       "groups of experts are neighbors in dp.",
       groups.count());
  note("compute_without_time", Severity::kWarning,
       "Computations without a time; they take none (--device reckons those of which the file has the "
       "shapes).",
       counts.untimed);
  note("no_computations", Severity::kWarning,
       "The file has no computations: what runs take is the time of communication alone.",
       counts.timed + counts.reckoned + counts.untimed == 0 ? 1 : 0);
  note("reckoned_computations", Severity::kInfo,
       "Computations without a time, reckoned as matrix multiplications in bf16 on the device.",
       counts.reckoned);
  if (options.time == AicbTime::kAuto) {
    note("assumed_unit_of_time", Severity::kInfo,
         trace.measured ? "Times of computations, taken for milliseconds, as in the log of a run (--time ns)."
                        : "Times of computations, taken for nanoseconds, as AICB reads them (--time ms).",
         counts.timed);
  }
  note("messages_without_partner", Severity::kWarning,
       groups.layout().pipeline == 1
           ? "Sends and receives between stages of a pipeline, left out: there is one stage (--pp 1)."
           : "Sends and receives between stages of a pipeline, left out: the file has the rows of one stage, "
             "which don't fit those of its neighbors.",
       messages ? 0 : counts.messages);
  note("collectives_of_one_rank", Severity::kInfo, "Collectives of groups of one rank; they move nothing.",
       counts.alone);
  note(options.skip_init ? "set_up_left_out" : "set_up", Severity::kInfo,
       options.skip_init
           ? "Rows before the first epoch's end, left out."
           : "Rows before the first epoch's end: setting up, which no step does again (--skip-init "
             "leaves them out).",
       counts.set_up);
  note("assumed_roots", Severity::kInfo,
       "Broadcasts and reductions whose root was taken for the group's first rank.", trace.assumed_roots);
}

}  // namespace

Graph aicb_graph(const AicbTrace& trace, const AicbOptions& options, const std::string& file_name,
                 std::vector<Anomaly>& anomalies) {
  const TrainingLayout layout = layout_of(trace, options, file_name);
  if (options.ranks != 0 && trace.sections.size() > 1 && trace.sections.size() != layout.pipeline) {
    refuse(file_name,
           fmt::format("has {} lists of ranks, and {} stages (pp)", trace.sections.size(), layout.pipeline));
  }
  constexpr double kBytesOfRank = 64;
  expect_memory(layout.ranks() * kBytesOfRank, fmt::format("a graph of {} ranks", layout.ranks()));
  const bool messages = messages_fit(trace, layout, file_name);
  GraphBuilder builder;
  TrainingGroups groups(layout, builder);
  for (int axis = 0; axis < kTrainingAxes; ++axis) {
    if (trace.used[static_cast<std::size_t>(axis)]) groups.add(static_cast<TrainingAxis>(axis));
  }
  for (Rank rank = 0; rank < layout.ranks(); ++rank) {
    const std::uint64_t ops = Program(trace, options, groups, messages, rank, builder).run();
    if (rank == 0) GraphBuilder::expect_graph(ops * layout.ranks(), ops * layout.ranks());
  }
  tell(trace, options, groups, messages, anomalies);
  return builder.finish();
}

}  // namespace weft::goal

#include "goal/import/simai/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "goal/import/training_steps/groups.h"
#include "goal/import/training_steps/rank_steps.h"
#include "sim/units/input_error.h"
#include "sim/units/memory.h"

namespace weft::goal {
namespace {

enum class Pass : std::uint8_t { kForward, kInput, kWeights };

// What the loop over layers does, by the file's first word.
struct Rules {
  bool forward = true;         // issues collectives of forward
  bool input = true;           // and of input gradients
  bool input_waits = false;    // computation waits for these at once, not after the weight gradients
  bool weights = true;         // and of weight gradients
  bool weights_first = false;  // weight gradients are computed before input gradients
  bool backward = true;
};

Rules rules_of(SimaiLoop loop) {
  switch (loop) {
    case SimaiLoop::kData:
      return {.forward = false, .input = false, .weights_first = true};
    case SimaiLoop::kModel:
      return {.weights = false};
    case SimaiLoop::kTransformer:
    case SimaiLoop::kTransformerForwardInBackward:
      return {.input_waits = true};
    case SimaiLoop::kInference:
      return {.input = false, .weights = false, .backward = false};
    case SimaiLoop::kMicro:
      return {.forward = false, .input = false};
    default:
      return {};
  }
}

bool is_dlrm(SimaiLoop loop) { return loop == SimaiLoop::kDlrm || loop == SimaiLoop::kDlrmEnhanced; }
bool is_transformer(SimaiLoop loop) {
  return loop == SimaiLoop::kTransformer || loop == SimaiLoop::kTransformerForwardInBackward;
}
// Is its parallelism told in dimensions of a machine?
bool by_dimension(SimaiLoop loop) {
  return loop == SimaiLoop::kDataModel || loop == SimaiLoop::kModelData || loop == SimaiLoop::kCustomized;
}

const SimaiPass& pass_of(const SimaiLayer& layer, Pass pass) {
  return pass == Pass::kForward ? layer.forward
         : pass == Pass::kInput ? layer.input_gradients
                                : layer.weight_gradients;
}

// Who takes part in a collective that names no group; nothing where ASTRA-sim has nobody do.
std::optional<TrainingAxis> axis_of_pass(SimaiLoop loop, Pass pass) {
  const bool weights = pass == Pass::kWeights;
  switch (loop) {
    case SimaiLoop::kTransformer:
    case SimaiLoop::kTransformerForwardInBackward:
      return weights ? TrainingAxis::kData : TrainingAxis::kTensor;
    case SimaiLoop::kDataModel:
      return weights ? TrainingAxis::kOtherDimensions : TrainingAxis::kFirstDimension;
    case SimaiLoop::kModelData:
      return weights ? TrainingAxis::kFirstDimension : TrainingAxis::kOtherDimensions;
    case SimaiLoop::kModel:
    case SimaiLoop::kInference:
      return weights ? std::nullopt : std::optional(TrainingAxis::kWorld);
    default:
      return weights ? std::optional(TrainingAxis::kWorld) : std::nullopt;
  }
}

std::optional<TrainingAxis> axis_of(const SimaiWorkload& workload, std::size_t layer, Pass pass) {
  const SimaiCollective& collective = pass_of(workload.layers[layer], pass).collective;
  if (collective.group == SimaiGroup::kExpert) return TrainingAxis::kExpert;
  if (collective.group == SimaiGroup::kExpertData) return TrainingAxis::kExpertData;
  // The embedding tables of a recommendation model, the first layer, are divided among all.
  if (is_dlrm(workload.loop) && layer == 0) return TrainingAxis::kWorld;
  return axis_of_pass(workload.layers[layer].loop, pass);
}

// Does the loop come to issue that layer's collective?
bool issued(const SimaiWorkload& workload, std::size_t layer, Pass pass) {
  const Rules rules = rules_of(workload.loop);
  const SimaiLayer& of = workload.layers[layer];
  if (pass_of(of, pass).collective.empty() || !axis_of(workload, layer, pass)) return false;
  if (pass == Pass::kWeights) return rules.weights;
  if (is_dlrm(workload.loop)) {
    const bool exchange = of.forward.collective.kind == CollectiveKind::kAlltoall;
    return pass == Pass::kForward ? exchange
                                  : layer == 0 && workload.last_bottom_layer + 1 < workload.layers.size();
  }
  if (pass == Pass::kForward) return rules.forward;
  return rules.input && (rules.input_waits || layer > 0);
}

// One rank's program.
class Program {
 public:
  Program(const SimaiWorkload& workload, const TrainingGroups& groups, bool gathered_total, Rank rank,
          GraphBuilder& builder)
      : workload_(workload),
        rules_(rules_of(workload.loop)),
        groups_(groups),
        gathered_total_(gathered_total),
        rank_(rank),
        steps_(builder),
        weights_(workload.layers.size(), RankSteps::kNothing) {}

  // Throws NotEnoughMemory if there is no room for as many passes of all ranks.
  void run(std::uint32_t passes) {
    for (std::uint32_t i = 0; i < passes; ++i) {
      if (workload_.loop == SimaiLoop::kMicro) {
        micro();
      } else if (is_dlrm(workload_.loop)) {
        forward_dlrm();
        backward_dlrm();
      } else {
        for (std::size_t layer = 0; layer < layers(); ++layer) forward(layer);
        if (rules_.backward) backward();
      }
      if (i == 0 && rank_ == 0) expect(passes);
    }
    steps_.end();
  }

 private:
  using Event = RankSteps::Event;
  // One pass of the first rank is there.
  void expect(std::uint32_t passes) const {
    const std::uint64_t ops = std::uint64_t{steps_.ops()} * groups_.layout().ranks();
    const auto most = static_cast<double>(std::numeric_limits<std::int64_t>::max());
    const auto all = static_cast<std::uint64_t>(std::min(static_cast<double>(ops) * passes, most));
    GraphBuilder::expect_graph(all, all);
  }
  std::size_t layers() const { return workload_.layers.size(); }

  Event collective(std::size_t layer, Pass pass) {
    if (!issued(workload_, layer, pass)) return RankSteps::kNothing;
    const SimaiCollective& of = pass_of(workload_.layers[layer], pass).collective;
    const TrainingAxis axis = *axis_of(workload_, layer, pass);
    const std::uint32_t size = groups_.layout().size(axis);
    if (size < 2 || of.bytes == 0) return RankSteps::kNothing;
    Collective made{.kind = of.kind, .comm = groups_.communicator(axis, rank_), .bytes = of.bytes};
    const bool divided = of.kind == CollectiveKind::kReduceScatter || of.kind == CollectiveKind::kAlltoall ||
                         (of.kind == CollectiveKind::kAllgather && gathered_total_);
    if (divided) made.bytes = (of.bytes + size - 1) / size;
    return steps_.collective(axis, made);
  }

  // Computation waits for the layer's collective, and for the update behind it.
  void wait(std::size_t layer, Event event) {
    if (event == RankSteps::kNothing) return;
    steps_.wait(event);
    steps_.compute(workload_.layers[layer].update_ns);
  }
  // The update goes on beside computation.
  Event updated(std::size_t layer, Event event) {
    return steps_.after(event, workload_.layers[layer].update_ns);
  }

  void forward(std::size_t layer) {
    steps_.wait(weights_[layer]);
    steps_.compute(workload_.layers[layer].forward.ns);
    wait(layer, collective(layer, Pass::kForward));
  }

  void input_gradients(std::size_t layer) {
    steps_.compute(workload_.layers[layer].input_gradients.ns);
    const Event event = collective(layer, Pass::kInput);
    if (rules_.input_waits) return wait(layer, event);
    pending_ = updated(layer, event);
  }

  void weight_gradients(std::size_t layer) {
    steps_.compute(workload_.layers[layer].weight_gradients.ns);
    weights_[layer] = updated(layer, collective(layer, Pass::kWeights));
    steps_.wait(pending_);
    pending_ = RankSteps::kNothing;
  }

  void backward() {
    for (std::size_t layer = layers(); layer-- > 0;) {
      if (workload_.layers[layer].recomputes) recompute(layer);
      if (rules_.weights_first) {
        weight_gradients(layer);
        if (layer > 0) input_gradients(layer);
      } else {
        input_gradients(layer);
        weight_gradients(layer);
      }
    }
  }

  // Forward again, from the last checkpoint on.
  void recompute(std::size_t layer) {
    std::size_t from = layer;
    while (!workload_.layers[from].checkpoint) --from;
    for (; from < layer; ++from) forward(from);
  }

  void forward_dlrm() {
    Event embedding = RankSteps::kNothing;
    for (std::size_t layer = 0; layer < layers(); ++layer) {
      steps_.wait(weights_[layer]);
      steps_.compute(workload_.layers[layer].forward.ns);
      const Event exchange = updated(layer, collective(layer, Pass::kForward));
      if (layer == 0) embedding = exchange;
      if (layer == workload_.last_bottom_layer && !is_exchange(layer)) steps_.wait(embedding);
    }
  }
  bool is_exchange(std::size_t layer) const {
    return workload_.layers[layer].forward.collective.kind == CollectiveKind::kAlltoall;
  }

  void backward_dlrm() {
    Event embedding = RankSteps::kNothing;
    for (std::size_t layer = layers(); layer-- > 0;) {
      steps_.compute(workload_.layers[layer].weight_gradients.ns);
      weights_[layer] = updated(layer, collective(layer, Pass::kWeights));
      if (layer == 0) break;
      steps_.compute(workload_.layers[layer].input_gradients.ns);
      if (layer == workload_.last_bottom_layer + 1) embedding = updated(0, collective(0, Pass::kInput));
    }
    if (workload_.loop == SimaiLoop::kDlrm) steps_.wait(embedding);
  }

  // One after the other, so that each is timed by itself.
  void micro() {
    for (std::size_t layer = 0; layer < layers(); ++layer) wait(layer, collective(layer, Pass::kWeights));
  }

  const SimaiWorkload& workload_;
  const Rules rules_;
  const TrainingGroups& groups_;
  const bool gathered_total_;
  const Rank rank_;
  RankSteps steps_;
  std::vector<Event> weights_;  // the last collective of each layer's weight gradients
  Event pending_ = RankSteps::kNothing;
};

[[noreturn]] void refuse(const std::string& file_name, const std::string& message) {
  throw InputError({file_name}, message);
}

TrainingLayout layout_of(const SimaiWorkload& workload, const SimaiOptions& options,
                         const std::string& file_name) {
  const std::uint64_t ranks = options.ranks > 0 ? options.ranks : workload.gpus;
  if (ranks == 0)
    refuse(file_name, "does not say how many GPUs there are (all_gpus: in line 1); --ranks tells");
  TrainingLayout layout{.tensor = 1, .data = static_cast<std::uint32_t>(ranks)};
  if (by_dimension(workload.loop)) {
    layout.first_dimension = options.first_dimension;
    if (layout.first_dimension == 0) {
      refuse(
          file_name,
          "is for a machine with dimensions, which it does not tell; --first-dimension tells how many ranks "
          "the first has");
    }
    if (ranks % layout.first_dimension != 0) {
      refuse(file_name, fmt::format("{} ranks can't be divided into first dimensions of {}", ranks,
                                    layout.first_dimension));
    }
  }
  if (!is_transformer(workload.loop)) return layout;
  const std::uint64_t tensor = std::max<std::uint64_t>(workload.tensor, 1),
                      pipeline = std::max<std::uint64_t>(workload.pipeline, 1),
                      expert = std::max<std::uint64_t>(workload.expert, 1);
  if (ranks % (tensor * pipeline) != 0 || ranks / (tensor * pipeline) % expert != 0) {
    refuse(file_name,
           fmt::format("{} ranks can't be divided by {} of model_parallel_NPU_group, pp {} and ep {}", ranks,
                       tensor, pipeline, expert));
  }
  layout.tensor = static_cast<std::uint32_t>(tensor);
  layout.pipeline = static_cast<std::uint32_t>(pipeline);
  layout.data = static_cast<std::uint32_t>(ranks / (tensor * pipeline));
  layout.expert = static_cast<std::uint32_t>(expert);
  return layout;
}

// What users have to know of a file's collectives, counted once for all ranks.
struct Counts {
  std::uint64_t unissued = 0, alone = 0, empty = 0, gathers = 0, roots = 0;
};

Counts count(const SimaiWorkload& workload, const TrainingLayout& layout) {
  Counts counts;
  for (std::size_t layer = 0; layer < workload.layers.size(); ++layer) {
    for (const Pass pass : {Pass::kForward, Pass::kInput, Pass::kWeights}) {
      const SimaiCollective& of = pass_of(workload.layers[layer], pass).collective;
      if (of.empty()) continue;
      if (!issued(workload, layer, pass)) {
        ++counts.unissued;
      } else if (layout.size(*axis_of(workload, layer, pass)) < 2) {
        ++counts.alone;
      } else if (of.bytes == 0) {
        ++counts.empty;
      } else {
        counts.gathers += of.kind == CollectiveKind::kAllgather;
        counts.roots += of.kind == CollectiveKind::kBcast;
      }
    }
  }
  return counts;
}

bool is_total(const SimaiWorkload& workload, GatheredBytes gathered) {
  if (gathered != GatheredBytes::kAuto) return gathered == GatheredBytes::kTotal;
  // AICB writes these two.
  return workload.loop == SimaiLoop::kTransformerForwardInBackward || workload.loop == SimaiLoop::kMicro;
}

void tell(const SimaiWorkload& workload, const SimaiOptions& options, const TrainingGroups& groups,
          std::vector<Anomaly>& anomalies) {
  const auto note = [&](const char* name, Severity severity, const char* sentence, std::uint64_t count) {
    if (count > 0) anomalies.push_back({name, severity, sentence, count});
  };
  const Counts counts = count(workload, groups.layout());
  note("stages_not_told_apart", Severity::kWarning,
       "Stages of a pipeline, of which the file has one: all ranks do its layers, and neither messages "
       "between "
       "stages (pp_comm) nor the bubble are replayed.",
       groups.layout().pipeline > 1 ? groups.layout().pipeline : 0);
  note("assumed_groups", Severity::kInfo,
       "Groups of ranks, of which the file tells the sizes only: ranks count through tp, then dp, then pp, "
       "and "
       "groups of experts are neighbors in dp (or, with dim0, ranks that follow each other).",
       groups.count());
  if (options.gathered == GatheredBytes::kAuto) {
    note("assumed_gathered_bytes", Severity::kInfo,
         is_total(workload, options.gathered) ? "Collectives ALLGATHER, whose bytes are taken for all that a "
                                                "rank has in the end, as AICB writes "
                                                "them (--gathered block: for what each puts in)."
                                              : "Collectives ALLGATHER, whose bytes are taken for what each "
                                                "rank puts in, as ASTRA-sim 1.0 does "
                                                "(--gathered total: for all that it has in the end).",
         counts.gathers);
  }
  note("unissued_collectives", Severity::kWarning,
       "Collectives of the file that ASTRA-sim's loop for this kind of parallelism never issues; they are "
       "left "
       "out.",
       counts.unissued);
  note("collectives_of_one_rank", Severity::kInfo, "Collectives of groups of one rank; they move nothing.",
       counts.alone);
  note("collectives_without_bytes", Severity::kInfo, "Collectives of 0 bytes; they are left out.",
       counts.empty);
  note("assumed_roots", Severity::kInfo,
       "Collectives BROADCAST, which SimAI does not carry out; here the first rank of the group sends.",
       counts.roots);
  note(
      "consecutive_collectives", Severity::kInfo,
      "Collectives of a MICRO file that are carried out one after the other (ASTRA-sim runs the first only).",
      workload.loop == SimaiLoop::kMicro && workload.layers.size() > 1 ? workload.layers.size() : 0);
}

}  // namespace

Graph simai_graph(const SimaiWorkload& workload, const SimaiOptions& options, const std::string& file_name,
                  std::vector<Anomaly>& anomalies) {
  const TrainingLayout layout = layout_of(workload, options, file_name);
  if (is_dlrm(workload.loop) && workload.last_bottom_layer >= workload.layers.size()) {
    refuse(file_name, fmt::format("the last bottom layer is {}, and there are {} layers",
                                  workload.last_bottom_layer, workload.layers.size()));
  }
  constexpr double kBytesOfRank = 64;
  expect_memory(layout.ranks() * kBytesOfRank, fmt::format("a graph of {} ranks", layout.ranks()));
  GraphBuilder builder;
  TrainingGroups groups(layout, builder);
  for (std::size_t layer = 0; layer < workload.layers.size(); ++layer) {
    for (const Pass pass : {Pass::kForward, Pass::kInput, Pass::kWeights}) {
      if (issued(workload, layer, pass)) groups.add(*axis_of(workload, layer, pass));
    }
  }
  const bool total = is_total(workload, options.gathered);
  for (Rank rank = 0; rank < layout.ranks(); ++rank) {
    Program(workload, groups, total, rank, builder).run(options.passes);
  }
  tell(workload, options, groups, anomalies);
  return builder.finish();
}

}  // namespace weft::goal

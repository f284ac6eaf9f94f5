#include "goal/workload/data_parallel/dlrm.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "goal/workload/compute/device_choice.h"
#include "goal/workload/compute/efficiency.h"
#include "goal/workload/compute/overlap.h"
#include "goal/workload/data_parallel/replica.h"
#include "goal/workload/data_parallel/tables.h"
#include "goal/workload/grid.h"
#include "goal/workload/message_graph.h"
#include "goal/workload/phases.h"

namespace weft::goal {
namespace {

std::vector<DenseLayer> layers_of(const Parameters& parameters, const char* name, std::uint32_t inputs) {
  std::vector<DenseLayer> layers;
  for (const std::uint32_t out : numbers_of(parameters, name)) {
    if (out > 1u << 20) parameters.fail(name, "a layer may have 1048576 outputs at most");
    layers.push_back({inputs, out});
    inputs = out;
  }
  return layers;
}

// Says how many nanoseconds one rank takes for its share of the batch, backward for each layer.
struct DenseTimes {
  double forward = 0;
  std::vector<double> backward;
};
DenseTimes times_of(const std::vector<DenseLayer>& layers, const Processor& processor, std::uint64_t samples,
                    bool first) {
  DenseTimes times;
  for (const DenseLayer& layer : layers) {
    const double outputs = static_cast<double>(samples) * layer.out;
    times.forward +=
        processor.product_ns(samples, layer.out, layer.in) + processor.activations_ns(2 * outputs);
    times.backward.push_back(
        processor.product_backward_ns(samples, layer.out, layer.in, first && times.backward.empty()) +
        processor.activations_ns(3 * outputs));
  }
  return times;
}

struct InteractionTimes {
  double forward = 0, backward = 0;
};
// Each sample's features times their transpose, of which a triangle is kept; backward its gradient times the
// features.
InteractionTimes interaction_times(const DlrmShape& shape, const Processor& processor,
                                   std::uint64_t samples) {
  const double moved = static_cast<double>(samples) * (shape.features * shape.dim + shape.top_inputs());
  return {processor.product_ns(shape.features, shape.features, shape.dim, samples) +
              processor.activations_ns(moved),
          processor.product_ns(shape.features, shape.dim, shape.features, samples) +
              processor.activations_ns(moved)};
}

class DlrmProgram {
 public:
  DlrmProgram(const Parameters& parameters, std::uint32_t ranks)
      : processor_(parameters),
        buckets_(parameters, ranks),
        tables_(parameters, ranks),
        shape_(parameters, static_cast<std::uint32_t>(tables_.tables.size()), tables_.dim),
        batch_(parameters.whole("batch")),
        iterations_(parameters.whole("iterations")) {
    if (batch_ < ranks) parameters.fail("batch", fmt::format("it must be {} at least, one a rank", ranks));
    tables_.check_memory(parameters, processor_.device().memory_bytes());
  }

  void operator()(Rank rank, llm::Emitter& emitter) const {
    const RankWork work = work_of(rank);
    for (std::uint32_t i = 0; i < iterations_; ++i) step(work, emitter);
  }

 private:
  struct RankWork {
    double look_up_ns = 0, update_ns = 0;
    DenseTimes bottom, top;
    InteractionTimes interaction;
    Collective forward, backward;  // all-to-all
  };

  // The first ranks have a sample more where they don't divide evenly.
  std::uint64_t samples(Rank rank) const {
    return batch_ / buckets_.ranks + (rank < batch_ % buckets_.ranks ? 1 : 0);
  }

  RankWork work_of(Rank rank) const {
    const TableRank& mine = tables_.ranks[rank];
    const double touched = static_cast<double>(mine.touched(batch_)) * sizeof(float);
    const double pooled = static_cast<double>(batch_ * mine.columns * processor_.activation_bytes());
    RankWork work;
    work.look_up_ns = processor_.memory_ns(touched + pooled);
    work.update_ns = processor_.memory_ns(2 * touched + pooled);
    work.bottom = times_of(shape_.bottom, processor_, samples(rank), true);
    work.top = times_of(shape_.top, processor_, samples(rank), false);
    work.interaction = interaction_times(shape_, processor_, samples(rank));
    exchange(rank, work);
    return work;
  }

  bool is_even() const {
    const std::uint64_t columns = tables_.ranks.front().columns;
    return batch_ % buckets_.ranks == 0 &&
           std::all_of(tables_.ranks.begin(), tables_.ranks.end(),
                       [columns](const TableRank& rank) { return rank.columns == columns; });
  }

  // Forward each rank sends of its tables what the others' samples need, backward the gradients return.
  void exchange(Rank rank, RankWork& work) const {
    const std::uint64_t bytes = processor_.activation_bytes();
    const auto to_other = [&](Rank owner, Rank user) {
      return samples(user) * tables_.ranks[owner].columns * bytes;
    };
    Collective& forward = work.forward;
    forward.kind = CollectiveKind::kAlltoall;
    forward.comm = kTables;
    forward.element_bytes = static_cast<std::uint32_t>(bytes);
    if (is_even()) {
      forward.bytes = to_other(rank, rank);
      work.backward = forward;
      return;
    }
    for (Rank other = 0; other < buckets_.ranks; ++other) {
      forward.counts.push_back(to_other(rank, other));
      forward.receive_counts.push_back(to_other(other, rank));
    }
    work.backward = forward;
    std::swap(work.backward.counts, work.backward.receive_counts);
  }

  llm::Event send(const Collective& alltoall, llm::Emitter& emitter) const {
    if (buckets_.ranks == 1) return emitter.computed();
    return emitter.collective(llm::Chain::kExpert, alltoall, emitter.computed());
  }

  void step(const RankWork& work, llm::Emitter& emitter) const {
    emitter.compute(work.look_up_ns);
    const llm::Event embeddings = send(work.forward, emitter);
    emitter.compute(work.bottom.forward);
    if (buckets_.ranks > 1) emitter.wait(embeddings);
    emitter.compute(work.interaction.forward + work.top.forward);
    Reducer reducer(emitter, buckets_);
    backward(shape_.top, work.top, emitter, reducer);
    emitter.compute(work.interaction.backward);
    const llm::Event gradients = send(work.backward, emitter);
    backward(shape_.bottom, work.bottom, emitter, reducer);
    reducer.flush();
    if (buckets_.ranks > 1) emitter.wait(gradients);
    emitter.compute(work.update_ns);
    reducer.finish();
    emitter.compute(processor_.memory_ns(kSgdBytes * static_cast<double>(shape_.parameters())));
    emitter.computed();
  }

  static void backward(const std::vector<DenseLayer>& layers, const DenseTimes& times, llm::Emitter& emitter,
                       Reducer& reducer) {
    for (std::size_t i = layers.size(); i-- > 0;) {
      emitter.compute(times.backward[i]);
      reducer.gradient(layers[i].out);
      reducer.gradient(layers[i].weights());
    }
  }

  const Processor processor_;
  const Buckets buckets_;
  const EmbeddingTables tables_;
  const DlrmShape shape_;
  const std::uint64_t batch_;
  const std::uint32_t iterations_;
};

Graph generate_dlrm(const Parameters& parameters, std::uint32_t ranks, std::uint64_t) {
  require_ranks(parameters, ranks, 1);
  static constexpr const char* kCommunicators[] = {"dp 0", "tables 0"};
  return replica_graph(ranks, kCommunicators, DlrmProgram(parameters, ranks));
}

std::vector<std::string> remarks(const Parameters& parameters, std::uint32_t ranks) {
  const EmbeddingTables tables(parameters, ranks);
  std::vector<std::string> sentences;
  if (tables.parts > 1 && parameters.integer("columns") == 0) {
    sentences.push_back(
        fmt::format("{} tables are divided in {} by columns, so that {} ranks have some: columns=1 if yours "
                    "are whole",
                    tables.tables.size(), tables.parts, ranks));
  }
  const auto without = std::count_if(tables.ranks.begin(), tables.ranks.end(),
                                     [](const TableRank& rank) { return rank.parts.empty(); });
  if (without > 0) sentences.push_back(fmt::format("{} of {} ranks have no table", without, ranks));
  remark_usual_device(parameters, sentences);
  return sentences;
}

// Backward has twice the FLOPs of forward.
WorkloadFacts dlrm_facts(const Parameters& parameters, std::uint32_t ranks) {
  const EmbeddingTables tables(parameters, ranks);
  const DlrmShape shape(parameters, static_cast<std::uint32_t>(tables.tables.size()), tables.dim);
  const auto steps = static_cast<double>(parameters.integer("batch") * parameters.integer("iterations"));
  WorkloadFacts facts = {
      {"parameters", fmt::format("{}", tables.weights() + shape.parameters())},
      {"dense_parameters", fmt::format("{}", shape.parameters())},
      overlap_slowdown_fact(overlap_slowdown(parameters)),
      {"global_batch", parameters.text("batch")},
      {"model_flops", fmt::format("{:.6e}", 6 * static_cast<double>(shape.multiply_adds()) * steps)},
      {"device_table_bytes", fmt::format("{}", tables.most_bytes())}};
  const Processor processor(parameters);
  for (auto& fact : device_facts(processor.device(), processor.precision())) facts.push_back(std::move(fact));
  return facts;
}

std::vector<ParameterSpec> parameters_of_dlrm() {
  std::vector<ParameterSpec> all = EmbeddingTables::parameters();
  const std::vector<ParameterSpec> own = {
      {"dense", ParameterType::kInteger, "13", "Numbers of a sample that go into the bottom layers.",
       from_to("1", "1048576")},
      {"bottom", ParameterType::kText, "[512,256,128]",
       "Outputs of the bottom layers; the last are dim of the tables."},
      {"top", ParameterType::kText, "[1024,1024,512,256,1]", "Outputs of the top layers."},
      {"batch", ParameterType::kInteger, "65536", "Samples of a step over all ranks.",
       from_to("1", "1073741824")}};
  all.insert(all.end(), own.begin(), own.end());
  return with_replica_parameters(
      std::move(all),
      efficiency_parameter(
          "0.55",
          "Steps are many small kernels, and what was published of A100s reached about half of "
          "the times of the products and tables; 1: all of them."));
}

}  // namespace

DlrmShape::DlrmShape(const Parameters& parameters, std::uint32_t number_of_tables,
                     std::uint32_t dim_of_tables)
    : features(number_of_tables + 1),
      dim(dim_of_tables),
      bottom(layers_of(parameters, "bottom", parameters.whole("dense"))),
      top(layers_of(parameters, "top", top_inputs())) {
  if (bottom.back().out != dim)
    parameters.fail("bottom", fmt::format("its last layer must have dim outputs, {}", dim));
}

std::uint64_t DlrmShape::parameters() const {
  std::uint64_t sum = 0;
  for (const auto* layers : {&bottom, &top}) {
    for (const DenseLayer& layer : *layers) sum += layer.weights() + layer.out;
  }
  return sum;
}

std::uint64_t DlrmShape::multiply_adds() const {
  std::uint64_t sum = std::uint64_t{features} * features * dim;
  for (const auto* layers : {&bottom, &top}) {
    for (const DenseLayer& layer : *layers) sum += layer.weights();
  }
  return sum;
}

Workload dlrm_workload() {
  Workload workload;
  workload.info = {"dlrm",
                   "Steps of training a recommendation model: tables of embeddings divided among ranks, with "
                   "all-to-all, and layers as replicas, with all-reduce.",
                   "M. Naumov et al., Deep Learning Recommendation Model, 2019; MLPerf Training",
                   parameters_of_dlrm()};
  workload.generate = generate_dlrm;
  workload.remarks = remarks;
  workload.facts = dlrm_facts;
  workload.device = kDeviceParameter;
  workload.calls_nccl = true;
  return workload;
}

}  // namespace weft::goal

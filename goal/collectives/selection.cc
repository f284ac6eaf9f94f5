#include "goal/collectives/selection.h"

#include <fmt/core.h>

#include <charconv>

#include "goal/collectives/nccl/algorithms.h"
#include "goal/collectives/nccl/bundle.h"
#include "goal/collectives/nccl/choice.h"
#include "goal/collectives/nccl/coarse.h"
#include "goal/collectives/selection_profiles.h"
#include "goal/file.h"

namespace weft::goal {
namespace {

std::vector<std::uint32_t> torus_dims(const Parameters& parameters) {
  const std::string& text = parameters.text("dims");
  std::vector<std::uint32_t> dims;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    std::uint32_t size = 0;
    const auto [stop, error] = std::from_chars(at, end, size);
    if (error != std::errc() || (stop != end && *stop != 'x')) {
      parameters.fail("dims", "it must be sizes written like 8x8x4, 0 for one that follows from the ranks");
    }
    dims.push_back(size);
    if (stop == end) return dims;
    at = stop + 1;
  }
}

CollectiveOptions read_options(const ModuleInfo& info, const Parameters& parameters) {
  CollectiveOptions options;
  for (const ParameterSpec& spec : info.parameters) {
    if (spec.name == "segment") {
      options.segment_bytes = parameters.bytes("segment");
    } else if (spec.name == "radix") {
      options.radix = parameters.whole("radix");
    } else if (spec.name == "parallel") {
      options.parallel = parameters.whole("parallel");
    } else if (spec.name == "ranks_per_node") {
      options.ranks_per_node = parameters.whole("ranks_per_node");
    } else if (spec.name == "first_node") {
      options.first_node = parameters.whole("first_node");
      if (options.first_node > options.ranks_per_node)
        parameters.fail("first_node", "it must be ranks_per_node at most");
    } else if (spec.name == "dims") {
      options.dims = torus_dims(parameters);
    } else if (spec.name == "protocol") {
      options.format = nccl::parse_protocol(parameters.text("protocol")).value();
    } else if (spec.name == "efficiency") {
      options.efficiency = parameters.whole("efficiency");
    } else if (spec.name == "channels") {
      options.channels = parameters.whole("channels");
    } else if (spec.name == "rings") {
      options.rings = parameters.whole("rings");
    } else if (spec.name == "in_pairs") {
      options.in_pairs = parameters.boolean("in_pairs");
    } else if (spec.name == "least_chunk") {
      options.least_chunk_bytes = parameters.bytes("least_chunk");
    } else if (spec.name == "chunk_grain") {
      options.chunk_grain_bytes = parameters.bytes("chunk_grain");
    } else if (spec.name == "chunk") {
      options.chunk_bytes = parameters.bytes("chunk");
    } else {
      throw std::logic_error("collective algorithm " + info.name + " has a parameter without an option");
    }
  }
  return options;
}

const CollectiveAlgorithm& find_algorithm(CollectiveKind kind, const ModuleChoice& choice) {
  std::vector<std::string> known;
  for (const CollectiveAlgorithm& algorithm : collective_algorithms()) {
    if (algorithm.kind != kind) continue;
    if (choice.empty() || algorithm.info.name == choice.name) return algorithm;
    known.push_back(algorithm.info.name);
  }
  const std::string why = nccl::why_no_entry(choice.name);
  if (!why.empty()) throw InputError(choice.location, choice.name + ": " + why);
  fail_unknown_name(fmt::format("known {} algorithm", name(kind)), choice.name, known, choice.location);
}

}  // namespace

ChosenAlgorithm choose_collective_algorithm(CollectiveKind kind, std::string_view text,
                                            const SourceLocation& location) {
  ModuleChoice choice;
  try {
    if (!text.empty()) choice = parse_module_choice(text);
  } catch (const InputError& error) {
    throw InputError(location, error.what());
  }
  choice.location = location;
  const CollectiveAlgorithm& algorithm = find_algorithm(kind, choice);
  return {&algorithm, read_options(algorithm.info, Parameters(algorithm.info, choice))};
}

CollectiveSelection::CollectiveSelection(const CollectiveChoices& choices) {
  for (int kind = 0; kind < kCollectiveKinds; ++kind) {
    fixed_[kind] = choose_collective_algorithm(static_cast<CollectiveKind>(kind), choices.forced[kind]);
    forced_[kind] = !choices.forced[kind].empty();
  }
  if (!choices.table.empty()) table_ = SelectionTable(FileView(choices.table).bytes(), choices.table);
  if (!choices.profile.empty()) {
    const ModuleChoice choice = parse_module_choice(choices.profile);
    const SelectionProfile& profile = find_module(selection_profiles(), choice, "collectives profile");
    const Parameters parameters(profile.info, choice);
    if (profile.info.name == kNcclProfile) {
      nccl_ = nccl::tuner_of(parameters);
      bundle_ = nccl::parse_bundle(parameters);
      for (ChosenAlgorithm& chosen : fixed_) set_gpu(chosen);
      table_.change_each([this](ChosenAlgorithm& chosen) { set_gpu(chosen); });
    } else {
      profile_ = SelectionTable(profile.table, "profile " + profile.info.name);
    }
  }
}

void CollectiveSelection::set_gpu(ChosenAlgorithm& chosen) const {
  if (!nccl_ || chosen.algorithm->kernels == GpuKernels::kNone) return;
  CollectiveOptions& options = chosen.options;
  const nccl::GpuCosts& gpu = nccl_->node().gpu;
  const bool is_exchange = chosen.algorithm->kind == CollectiveKind::kAlltoall && options.chunk_bytes > 0;
  options.lane_costs =
      is_exchange ? nccl::divided_lane_costs(gpu, options.format, options.channels, options.chunk_bytes)
                  : nccl::lane_costs(gpu, options.format);
}

void CollectiveSelection::know_groups(const ProgramFacts& facts, std::span<const std::uint32_t> nodes) {
  if (!nccl_) return;
  const std::uint32_t all = nccl_->node().gpus;
  groups_.clear();
  for (const Communicator& communicator : facts.communicators) {
    const nccl::GroupNodes& group =
        groups_.emplace_back(nccl::nodes_of_group(communicator.ranks, all, nodes));
    if (group.on != NodeRanks{all})
      sparse_.try_emplace(group.key(), nccl_->on_nodes_of(group.on, group.uneven));
  }
}

const nccl::Tuner& CollectiveSelection::tuner_of(std::uint32_t comm) const {
  if (comm >= groups_.size()) return *nccl_;
  const auto found = sparse_.find(groups_[comm].key());
  return found == sparse_.end() ? *nccl_ : found->second;
}

const ChosenAlgorithm& CollectiveSelection::named(CollectiveKind kind, const std::string& algorithm,
                                                  const NodeRanks& on) const {
  const auto [place, is_new] = asked_.try_emplace({kind, algorithm, on});
  if (is_new) {
    place->second = choose_collective_algorithm(kind, algorithm);
    set_gpu(place->second);
    // A recorded choice does not tell how many GPUs share a node, and how they are linked.
    CollectiveOptions& options = place->second.options;
    if (on.each > 0 && algorithm.find("ranks_per_node") == std::string::npos) {
      options.ranks_per_node = on.each;
      options.first_node = on.first;
    }
    if (on.each > 0 && algorithm.find("in_pairs") == std::string::npos)
      options.in_pairs = nccl_->node().in_pairs;
  }
  return place->second;
}

const ChosenAlgorithm& CollectiveSelection::find(const Collective& collective, std::uint32_t ranks) const {
  const auto kind = static_cast<std::size_t>(collective.kind);
  if (forced_[kind]) return fixed_[kind];
  const nccl::Tuner* const tuner = nccl_ ? &tuner_of(collective.comm) : nullptr;
  const NodeRanks on = tuner != nullptr ? tuner->node().ranks() : NodeRanks{};
  if (!collective.algorithm.empty()) return named(collective.kind, collective.algorithm, on);
  if (const ChosenAlgorithm* chosen = table_.find(collective, ranks)) return *chosen;
  if (tuner != nullptr) {
    const auto algorithm = nccl::algorithm_for(*tuner, collective, ranks);
    if (algorithm) return named(collective.kind, *algorithm, on);
  }
  if (const ChosenAlgorithm* chosen = profile_.find(collective, ranks)) return *chosen;
  return fixed_[kind];
}

const ChosenAlgorithm& CollectiveSelection::choose(const Collective& collective, std::uint32_t ranks) const {
  const ChosenAlgorithm& chosen = ordered(find(collective, ranks), collective.comm);
  if (chosen.algorithm->objection != nullptr) {
    const std::string objection = chosen.algorithm->objection(chosen.options, ranks);
    if (!objection.empty()) {
      throw InputError(fmt::format("{} algorithm {} can't be used on a communicator of {} ranks: {}",
                                   name(collective.kind), chosen.algorithm->info.name, ranks, objection));
    }
  }
  const std::uint32_t bundle = bundle_of(chosen, collective, ranks);
  return coarse(bundle > 1 ? bundled(chosen, bundle) : chosen, collective, ranks);
}

const ChosenAlgorithm& CollectiveSelection::ordered(const ChosenAlgorithm& chosen, std::uint32_t comm) const {
  if (comm >= groups_.size() || groups_[comm].order == nullptr) return chosen;
  const nccl::GroupNodes& group = groups_[comm];
  if (chosen.algorithm->kernels == GpuKernels::kNone || chosen.options.on_nodes() != group.on) return chosen;
  CollectiveOptions options = chosen.options;
  options.order = group.order;
  return with_options(chosen, options);
}

std::uint32_t CollectiveSelection::bundle_of(const ChosenAlgorithm& chosen, const Collective& collective,
                                             std::uint32_t ranks) const {
  if (!nccl_ || ranks < 2 || bundle_ == 1 || (bundle_ == 0 && !may_bundle_)) return 1;
  const CollectiveCall call{&collective, ranks, 0, &chosen.options};
  return nccl::bundle_of(*chosen.algorithm, call, tuner_of(collective.comm).node(), bundle_, rank_gbs_);
}

const ChosenAlgorithm& CollectiveSelection::bundled(const ChosenAlgorithm& chosen,
                                                    std::uint32_t bundle) const {
  CollectiveOptions options = chosen.options;
  options.channels /= bundle;
  options.bundle = bundle;
  options.lane_costs = nccl::lane_costs(nccl_->node().gpu, options.format, bundle);
  return with_options(chosen, options);
}

const ChosenAlgorithm& CollectiveSelection::coarse(const ChosenAlgorithm& chosen,
                                                   const Collective& collective, std::uint32_t ranks) const {
  if (!nccl_ || ranks < 2 || !may_bundle_ || bundle_ != 0) return chosen;
  const CollectiveCall call{&collective, ranks, 0, &chosen.options};
  const std::uint32_t rounds = nccl::coarse_rounds(*chosen.algorithm, call);
  if (rounds == 0) return chosen;
  CollectiveOptions options = chosen.options;
  options.coarse_rounds = rounds;
  options.lane_costs = nccl::coarse_costs(options.lane_costs, call, rounds, latency_);
  return with_options(chosen, options);
}

const ChosenAlgorithm& CollectiveSelection::with_options(const ChosenAlgorithm& chosen,
                                                         const CollectiveOptions& options) const {
  std::deque<ChosenAlgorithm>& all = variants_[{chosen.algorithm, options.order.get()}];
  for (const ChosenAlgorithm& met : all) {
    if (met.options == options) return met;
  }
  return all.emplace_back(ChosenAlgorithm{chosen.algorithm, options});
}

}  // namespace weft::goal

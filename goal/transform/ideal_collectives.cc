#include "goal/transform/ideal_collectives.h"

#include <algorithm>
#include <string>

#include "sim/units/input_error.h"

namespace weft::goal {

bool IdealCollectives::over(const Instance& instance, std::uint32_t position) const {
  switch (instance.kind) {
    case CollectiveKind::kBcast:
    case CollectiveKind::kScatter:
      return instance.ops[instance.root] != kNoOp;
    case CollectiveKind::kReduce:
    case CollectiveKind::kGather:
      return position != instance.root || instance.called == instance.ops.size();
    case CollectiveKind::kScan:
    case CollectiveKind::kExscan:
      return instance.before > position;  // itself included
    default:
      return instance.called == instance.ops.size();
  }
}

bool IdealCollectives::frees_others(const Instance& instance, std::uint32_t position) const {
  switch (instance.kind) {
    case CollectiveKind::kBcast:
    case CollectiveKind::kScatter:
      return position == instance.root;
    case CollectiveKind::kScan:
    case CollectiveKind::kExscan:
      return instance.before > position;
    default:
      return instance.called == instance.ops.size();
  }
}

void IdealCollectives::call_neighbors(Instance& instance, const Collective& collective,
                                      std::uint32_t position, const Finish& finish) {
  instance.missing.resize(instance.ops.size(), 0);
  for (const std::uint32_t source : collective.sources) {
    instance.missing[position] += instance.ops[source] == kNoOp;
  }
  const GlobalOp op = instance.ops[position];
  if (instance.missing[position] == 0) finish(op, op);
  for (const std::uint32_t destination : collective.destinations) {
    const GlobalOp other = instance.ops[destination];
    if (other == kNoOp || other == op || instance.missing[destination] == 0) continue;
    if (--instance.missing[destination] == 0) finish(other, op);
  }
}

void IdealCollectives::call(Rank rank, OpIndex i, GlobalOp op, const Finish& finish) {
  const RankView view = graph_.rank(rank);
  const Collective& collective = view.collective(i);
  const std::uint32_t position = places_.position(collective.comm, rank);
  const std::uint64_t key = std::uint64_t{collective.comm} << 32 | view.tag(i);
  Instance& instance = open_[key];
  if (instance.ops.empty()) {
    instance.ops.assign(graph_.communicator_size(collective.comm), kNoOp);
    instance.kind = collective.kind;
    instance.root = collective.root;
  }
  const auto require = [&](bool sound) {
    if (sound) return;
    throw InputError(
        "operation " + std::to_string(i) + " of rank " + std::to_string(rank) +
        ": the members of its communicator disagree on the collective; 'weft goal check' says how");
  };
  require(position != kAny && instance.kind == collective.kind && instance.root == collective.root &&
          collective.root < instance.ops.size() && instance.ops[position] == kNoOp);
  instance.ops[position] = op;
  ++instance.called;
  while (instance.before < instance.ops.size() && instance.ops[instance.before] != kNoOp) ++instance.before;
  if (is_of_neighbors(collective.kind)) {
    for (const std::vector<std::uint32_t>* list : {&collective.sources, &collective.destinations}) {
      for (const std::uint32_t other : *list) require(other < instance.ops.size());
    }
    call_neighbors(instance, collective, position, finish);
    if (instance.called == instance.ops.size()) open_.erase(key);
    return;
  }
  instance.waiting.push_back(position);
  std::vector<std::pair<std::uint32_t, GlobalOp>> done;
  const auto is_over = [&](std::uint32_t at) {
    if (!over(instance, at)) return false;
    done.emplace_back(at, instance.ops[at]);
    return true;
  };
  if (frees_others(instance, position)) {
    std::erase_if(instance.waiting, is_over);
  } else if (is_over(position)) {
    instance.waiting.pop_back();
  }
  if (instance.called == instance.ops.size()) open_.erase(key);
  std::sort(done.begin(), done.end());
  for (const auto& [at, finished] : done) finish(finished, op);
}

}  // namespace weft::goal

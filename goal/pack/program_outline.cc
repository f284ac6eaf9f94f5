#include "goal/pack/program_outline.h"

#include <algorithm>

namespace weft::goal {
namespace {

// Gates are numbered from 1 on here; 0: none.
class Outliner {
 public:
  explicit Outliner(ProgramOutline& outline) : out_(outline), gates_(outline.block) {}

  void add(const OpBlock& ops) {
    const OpIndex begin = ops.first, end = begin + static_cast<OpIndex>(ops.ops.size());
    if (!gates_.take(begin / out_.block, here_)) here_.assign(out_.block, 0);
    OpIndex least = kAny;
    for (OpIndex i = begin; i < end; ++i) {
      const OpIndex gate = here_[i - begin];
      least = std::min(least, gate);
      look_at(ops.ops[i - begin]);
      for (const Edge edge : ops.dependents(i - begin)) {
        const OpIndex dependent = edge.dependent();
        if (dependent >= end) {
          gates_.at(dependent) = i + 1;  // operations ascend, so the last one stays
        } else if (dependent < begin) {
          out_.wait_for_later.push_back(dependent);
        } else if (dependent > i) {
          here_[dependent - begin] = std::max(here_[dependent - begin], gate);
        }
      }
    }
    out_.gates.push_back(least);
  }

  void finish() {
    OpIndex least = kAny;
    for (std::size_t b = out_.gates.size(); b-- > 0;) out_.gates[b] = least = std::min(least, out_.gates[b]);
    const auto first =
        std::find_if(out_.gates.begin(), out_.gates.end(), [](OpIndex gate) { return gate > 0; });
    out_.blocks_at_start = static_cast<std::uint32_t>(first - out_.gates.begin());
    out_.gates.erase(out_.gates.begin(), first);
    for (OpIndex& gate : out_.gates) --gate;
    out_.gates.shrink_to_fit();
    std::sort(out_.wait_for_later.begin(), out_.wait_for_later.end());
    out_.wait_for_later.shrink_to_fit();
    for (std::size_t cpu = 0; cpu < names_cpu_.size(); ++cpu) {
      if (names_cpu_[cpu]) out_.cpus.push_back(static_cast<std::uint16_t>(cpu));
    }
  }

 private:
  void look_at(const Op& op) {
    if (op.cpu >= names_cpu_.size()) names_cpu_.resize(op.cpu + 1u);
    names_cpu_[op.cpu] = true;
    out_.max_nic = std::max(out_.max_nic, op.nic);
    if (op.kind == OpKind::kSend || op.kind == OpKind::kRecv) {
      out_.has_wildcards |= op.peer == kAny || op.tag == kAny;
    }
  }

  ProgramOutline& out_;
  BlockedNumbers gates_;             // of operations in blocks to come
  std::vector<std::uint32_t> here_;  // of this block's
  std::vector<bool> names_cpu_;
};

}  // namespace

std::uint32_t ProgramOutline::waits_for_later(OpIndex op) const {
  const auto [first, last] = std::equal_range(wait_for_later.begin(), wait_for_later.end(), op);
  return static_cast<std::uint32_t>(last - first);
}

std::uint64_t ProgramOutline::memory_bytes() const {
  return sizeof *this + 4 * (gates.capacity() + wait_for_later.capacity()) + 2 * cpus.capacity();
}

ProgramOutline outline_of(RankReader& reader, OpIndex ops, OpIndex block) {
  ProgramOutline outline{.ops = ops, .block = block};
  Outliner outliner(outline);
  OpBlock here;
  while (reader.next(here, block)) outliner.add(here);
  outliner.finish();
  return outline;
}

}  // namespace weft::goal

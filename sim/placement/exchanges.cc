#include "sim/placement/exchanges.h"

#include <fmt/core.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>

#include "goal/graph/communicator_places.h"
#include "sim/units/input_error.h"

namespace weft::placement {
namespace {

constexpr std::uint32_t kOpsAtOnce = 4096;

// One rank's messages after the other's.
class Exchanges {
 public:
  Exchanges(const goal::Program& program, const goal::CollectiveSelection& selection)
      : program_(program),
        selection_(selection),
        places_(program.ranks(), program.facts().communicators),
        calls_(program.facts().collectives.size()) {}

  std::vector<Exchange> run() {
    const std::unique_ptr<goal::PackedFile> file =
        program_.packed() == nullptr ? nullptr : program_.packed()->open(1);
    goal::OpBlock block;
    std::vector<Exchange> list;
    for (goal::Rank r = 0; r < program_.ranks(); ++r) {
      if (file == nullptr) {
        const goal::RankView view = program_.graph()->rank(r);
        for (goal::OpIndex i = 0; i < view.ops(); ++i) count(r, {&view.op(i), 1});
      } else {
        goal::RankReader reader = file->rank(r, {.labels = false});
        while (reader.next(block, kOpsAtOnce)) count(r, block.ops);
      }
      add_collectives(r);
      for (const auto& [to, bytes] : sent_) list.push_back({r, to, bytes});
      sent_.clear();
    }
    return list;
  }

 private:
  void count(goal::Rank rank, std::span<const goal::Op> ops) {
    for (const goal::Op& op : ops) {
      if (op.kind == goal::OpKind::kSend) add(rank, op.peer, op.value, 1);
      if (op.kind == goal::OpKind::kCollective && calls_[op.peer]++ == 0) called_.push_back(op.peer);
    }
  }

  void add(goal::Rank rank, goal::Rank to, std::uint64_t bytes, std::uint64_t times) {
    if (bytes > 0 && to != rank) sent_[to] += static_cast<double>(bytes) * static_cast<double>(times);
  }

  // Those that the rank has called. Alike ones are spelled out once.
  void add_collectives(goal::Rank rank) {
    for (const std::uint32_t index : called_) {
      const goal::Collective& collective = program_.facts().collectives[index];
      const std::uint32_t size = program_.facts().communicator_size(collective.comm);
      const std::uint32_t me = places_.position(collective.comm, rank);
      if (me == goal::kAny) {
        throw InputError(fmt::format("rank {} calls a collective on communicator {}, and is not in it", rank,
                                     program_.facts().communicators[collective.comm].name));
      }
      if (size >= 2) spell_out(rank, collective, size, me, calls_[index]);
      calls_[index] = 0;
    }
    called_.clear();
  }

  void spell_out(goal::Rank rank, const goal::Collective& collective, std::uint32_t size, std::uint32_t me,
                 std::uint64_t times) {
    const goal::ChosenAlgorithm& chosen = selection_.choose(collective, size);
    const goal::CollectiveCall call{&collective, size, me, &chosen.options};
    for (std::uint32_t lane = 0, lanes = chosen.lanes(call); lane < lanes; ++lane) {
      for (std::uint32_t index = 0;; ++index) {
        group_.clear();
        if (!chosen.algorithm->expand(call, lane, index, group_)) break;
        for (const goal::Step& step : group_.steps()) {
          if (step.kind != goal::StepKind::kSend) continue;
          for (std::uint32_t k = 0; k < step.count; ++k) {
            const std::uint32_t peer = step.peer_at(k, size);
            add(rank, program_.facts().world_rank(collective.comm, peer), call.wire_bytes(step, peer), times);
          }
        }
      }
    }
  }

  const goal::Program& program_;
  const goal::CollectiveSelection& selection_;
  const goal::CommunicatorPlaces places_;
  std::vector<std::uint64_t> calls_;  // of each collective, by the rank in work
  std::vector<std::uint32_t> called_;
  std::map<goal::Rank, double> sent_;  // by the rank in work
  goal::Group group_;
};

}  // namespace

std::vector<Exchange> exchanges_of(const goal::Program& program, const goal::CollectiveSelection& selection) {
  return Exchanges(program, selection).run();
}

}  // namespace weft::placement

// The chains of Trails step by step, for who asks where the time of a run went.
#pragma once

#include <cstdint>
#include <vector>

#include "goal/graph/graph.h"
#include "sim/results/critical_path.h"
#include "sim/results/path_shares.h"

namespace weft::sim {

// Keeps the chains of a replay in one share. A step is work of a rank, or a message; it knows the step that
// it follows, and is dropped when no chain under way leads through it: what is held is what these have in
// common, and their ends. 88 bytes each.
class PathSteps {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;

  // Where chains are kept that Trails keeps beside: by cpu, lane, held message, message under way, task.
  enum class Place : std::uint8_t { kCpu, kLane, kHeld, kMessage, kTask };
  static constexpr int kPlaces = 5;

  // The event at hand is the start of a rank; is of the chain that is kept here.
  void at_start() { set_now(kNone); }
  void at(Place place, std::uint32_t index) { set_now(slot(place, index)); }
  // It is a message from one rank to another that has left with the chain kept here, `path` included.
  void at_message(Place place, std::uint32_t index, const results::CriticalPath& path, std::uint32_t from,
                  std::uint32_t to, bool is_handshake);
  // What the message is of, if that was not known.
  void settle(const goal::Op& op);

  // The chain of the event at hand goes on here: as it is, or by work of this rank, `path` included.
  void keep(Place place, std::uint32_t index) { set(slot(place, index), now_); }
  void work(Place place, std::uint32_t index, const results::CriticalPath& path, std::uint32_t rank,
            const goal::Op& op);
  // It is the longest.
  void keep_last() { set(last_, now_); }

  results::PathShares shares(const goal::ProgramFacts& program) const;

 private:
  struct Step {
    results::CriticalPath path;  // up to its end
    std::uint32_t before = kNone;
    std::uint32_t uses = 0;  // by steps that follow it, and by places
    std::uint32_t rank = 0, from = kNone;
    bool is_known = false;  // what it is of
    bool is_handshake = false;
    goal::OpKind kind = goal::OpKind::kCalc;
    std::uint32_t peer = 0, comm = 0, tag = 0;  // as in goal::Op
  };

  std::uint32_t& slot(Place place, std::uint32_t index);
  std::uint32_t make(const results::CriticalPath& path, std::uint32_t rank);
  void set_now(std::uint32_t step) { set(now_, step); }
  void set(std::uint32_t& place, std::uint32_t step);
  void drop(std::uint32_t step);
  static void learn(Step& step, const goal::Op& op);
  static results::PathShares::Activity activity_of(const goal::ProgramFacts& program, const Step& step);

  std::vector<Step> steps_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> places_[kPlaces];
  std::uint32_t now_ = kNone, last_ = kNone;
};

}  // namespace weft::sim

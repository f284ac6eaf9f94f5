#include "sim/replay/communication_classes.h"

#include <algorithm>

#include "goal/graph/axis.h"

namespace weft::sim {

CommunicationClasses::CommunicationClasses(const goal::ProgramFacts& facts) : names_{""} {
  constexpr std::size_t kMostAxes = 64;
  std::vector<bool> is_axis;
  for (const goal::Communicator& communicator : facts.communicators) {
    const std::string axis = goal::axis_of(communicator.name);
    is_axis.push_back(!axis.empty() && (names_.size() <= kMostAxes || std::ranges::count(names_, axis) > 0));
    of_messages_.push_back(number(is_axis.back() ? axis : "point to point"));
  }
  for (const goal::Collective& collective : facts.collectives) {
    of_collective_.push_back(is_axis[collective.comm] ? of_messages_[collective.comm]
                                                      : number(std::string(goal::name(collective.kind))));
  }
  of_collectives_.resize(of_messages_.size(), kNone);
  for (std::size_t i = 0; i < of_collective_.size(); ++i) {
    std::uint8_t& all = of_collectives_[facts.collectives[i].comm];
    all = all == kNone || all == of_collective_[i] ? of_collective_[i] : kSeveral;
  }
  has_collectives_.resize(names_.size());
  for (const std::uint8_t one : of_collective_) has_collectives_[one] = true;
}

std::uint8_t CommunicationClasses::number(const std::string& name) {
  const auto known = std::ranges::find(names_, name);
  if (known == names_.end()) names_.push_back(name);
  return static_cast<std::uint8_t>(std::ranges::find(names_, name) - names_.begin());
}

}  // namespace weft::sim

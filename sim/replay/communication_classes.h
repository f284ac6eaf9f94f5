// Which class of communication the operations of a program are of, for what is said of exposed communication.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "goal/graph/graph.h"

namespace weft::sim {

// The axis of its communicator ("tp 3" is of "tp"), else its kind: "allreduce", "point to point".
class CommunicationClasses {
 public:
  static constexpr std::uint8_t kNone = 0;  // of calcs
  // Reads communicators and collectives. Axes beyond the first 64 go by kind, too.
  explicit CommunicationClasses(const goal::ProgramFacts& facts);

  std::uint8_t of(const goal::Op& op) const {
    if (op.kind == goal::OpKind::kCalc) return kNone;
    return op.kind == goal::OpKind::kCollective ? of_collective_[op.peer] : of_messages_[op.comm];
  }
  // Sends and receives on a communicator are of one class; its collectives may be of several.
  static constexpr std::uint8_t kSeveral = 0xFF;
  std::uint8_t of_messages(std::uint32_t comm) const { return of_messages_[comm]; }
  std::uint8_t of_collectives(std::uint32_t comm) const { return of_collectives_[comm]; }
  // By class; that of kNone is "".
  const std::vector<std::string>& names() const { return names_; }
  // Are there any collectives of the class?
  bool has_collectives(std::uint8_t of) const { return has_collectives_[of]; }

 private:
  std::uint8_t number(const std::string& name);

  std::vector<std::string> names_;
  std::vector<std::uint8_t> of_messages_, of_collectives_;  // by communicator
  std::vector<std::uint8_t> of_collective_;                 // by collective of the program
  std::vector<bool> has_collectives_;
};

}  // namespace weft::sim

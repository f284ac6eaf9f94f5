// Where the time of a critical path went: on which ranks, in which operations, between which ranks.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "sim/units/quantity.h"

namespace weft::results {

// Divides the critical path of one job, of all its runs: `ranks` and `activities` each add up to it.
struct PathShares {
  // What is done: "computation", "point to point", or a collective's kind; on the axis of its communicator
  // ("tp 3" is of "tp"), or on its name, "" for computation and for all ranks.
  struct Activity {
    std::string kind, communicator;
    auto operator<=>(const Activity&) const = default;
  };
  struct Spent {
    Time time;
    std::uint64_t count = 0;  // calcs, messages; without handshakes; of collectives the calls, each once
                              // however often it is met
  };
  std::map<std::uint32_t, Time> ranks;  // what a rank does, and messages on their way to it
  std::map<Activity, Spent> activities;
  // By sender and receiver: bandwidth and queueing of their messages.
  std::map<std::pair<std::uint32_t, std::uint32_t>, Time> messages;

  PathShares& operator+=(const PathShares& other) {
    for (const auto& [rank, time] : other.ranks) ranks[rank] += time;
    for (const auto& [ends, time] : other.messages) messages[ends] += time;
    for (const auto& [activity, spent] : other.activities) {
      activities[activity].time += spent.time;
      activities[activity].count += spent.count;
    }
    return *this;
  }
};

}  // namespace weft::results

// Who waits for whom in a job that hangs, as its ranks' dumps tell.
#pragma once

#include <string>
#include <vector>

#include "goal/import/flight_recorder/dump.h"

namespace weft::goal {

// A collective that some ranks of a group have asked for and that is not over on all of them.
struct StuckCall {
  std::string group, name;     // "all_reduce"
  std::uint64_t sequence = 0;  // in the group
  std::uint64_t bytes = 0;     // of a rank's input
  std::vector<Rank> waiting;   // they asked for it, and it isn't over there
  std::vector<Rank> missing;   // ranks of the group with a dump that never asked for it
  std::vector<Rank> others;    // ranks that asked for another collective, or other sizes, in its place
  std::vector<Rank> dropped;   // ranks whose recorder dropped calls, and kept none of that place or before
  std::vector<Rank> no_dump;   // ranks of the group whose dump isn't here
};

// The first such call of each group, by group.
std::vector<StuckCall> stuck_calls(const std::vector<RankDump>& dumps);

// A send or receive that its rank has asked for and that is not over.
struct StuckMessage {
  std::string group, name;  // "nccl:recv 1<-0": ranks of the group
  Rank rank = 0;
  std::uint64_t sequence = 0, bytes = 0;
};

// By rank, in the order in which they were asked for.
std::vector<StuckMessage> stuck_messages(const std::vector<RankDump>& dumps);

// Where each rank and group is, in words: a text of several lines.
std::string progress_text(const std::vector<RankDump>& dumps);

}  // namespace weft::goal

#include "goal/import/flight_recorder/stuck.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

namespace weft::goal {
namespace {

// What the dumps tell of a group.
struct Group {
  std::set<Rank> members;                                                    // as listed, or as they call
  std::map<std::uint64_t, std::map<Rank, const RecordedCall*>> collectives;  // by sequence, the last of each
  std::map<Rank, std::uint64_t> first;                                       // sequence that the dump has
};

std::map<std::string, Group> groups_of(const std::vector<RankDump>& dumps) {
  std::map<std::string, Group> groups;
  for (const RankDump& dump : dumps) {
    for (const GroupName& group : dump.groups) {
      groups[group.name].members.insert(group.ranks.begin(), group.ranks.end());
    }
    for (const RecordedCall& call : dump.calls) {
      if (call.message || call.call.kind != CommKind::kCollective) continue;
      Group& group = groups[call.call.group.name];
      group.members.insert(static_cast<Rank>(dump.rank));
      group.collectives[call.sequence][static_cast<Rank>(dump.rank)] = &call;
      const auto [first, added] = group.first.try_emplace(static_cast<Rank>(dump.rank), call.sequence);
      if (!added) first->second = std::min(first->second, call.sequence);
    }
  }
  return groups;
}

bool same(const RecordedCall& a, const RecordedCall& b) {
  return a.call.collective == b.call.collective && a.call.in_bytes == b.call.in_bytes;
}

// Recorders keep the last calls only: may the rank have asked for that collective, and its dump no longer
// tell?
bool may_be_dropped(const Group& group, Rank rank, std::uint64_t sequence) {
  const auto first = group.first.find(rank);
  return first == group.first.end() || first->second > sequence;
}

// "0 to 3, 7"
std::string rank_list(const std::vector<Rank>& ranks) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    parts.push_back(end - i > 2 ? fmt::format("{} to {}", ranks[i], ranks[end - 1])
                                : std::to_string(ranks[i]));
    i = end - i > 2 ? end : i + 1;
  }
  constexpr std::size_t kMost = 16;
  const bool more = parts.size() > kMost;
  if (more) parts.resize(kMost);
  return fmt::format("{}{}", fmt::join(parts, ", "), more ? " …" : "");
}

std::string ranks_text(const char* what, const std::vector<Rank>& ranks) {
  if (ranks.empty()) return "";
  return fmt::format("  {} of {}: {}\n", what,
                     ranks.size() == 1 ? "rank" : fmt::format("{} ranks", ranks.size()), rank_list(ranks));
}

}  // namespace

std::vector<StuckCall> stuck_calls(const std::vector<RankDump>& dumps) {
  std::set<Rank> present, dropped;
  for (const RankDump& dump : dumps) {
    present.insert(static_cast<Rank>(dump.rank));
    if (!dump.calls.empty() && dump.calls.front().record > 0) dropped.insert(static_cast<Rank>(dump.rank));
  }
  std::vector<StuckCall> stuck;
  for (const auto& [name, group] : groups_of(dumps)) {
    for (const auto& [sequence, callers] : group.collectives) {
      const RecordedCall& first = *callers.begin()->second;
      StuckCall made{
          .group = name, .name = first.call.name, .sequence = sequence, .bytes = first.call.in_bytes};
      for (const Rank rank : group.members) {
        const auto found = callers.find(rank);
        if (!present.contains(rank)) {
          made.no_dump.push_back(rank);
        } else if (found == callers.end()) {
          const bool unknown = dropped.contains(rank) && may_be_dropped(group, rank, sequence);
          (unknown ? made.dropped : made.missing).push_back(rank);
        } else if (!same(*found->second, first)) {
          made.others.push_back(rank);
        } else if (found->second->state != RecordState::kCompleted) {
          made.waiting.push_back(rank);
        }
      }
      if (made.waiting.empty() && made.others.empty()) continue;
      stuck.push_back(std::move(made));
      break;
    }
  }
  return stuck;
}

std::vector<StuckMessage> stuck_messages(const std::vector<RankDump>& dumps) {
  std::vector<StuckMessage> stuck;
  for (const RankDump& dump : dumps) {
    for (const RecordedCall& call : dump.calls) {
      const bool message = call.call.kind == CommKind::kSend || call.call.kind == CommKind::kRecv;
      if (!message || call.state == RecordState::kCompleted) continue;
      stuck.push_back({.group = call.call.group.name,
                       .name = call.call.name,
                       .rank = static_cast<Rank>(dump.rank),
                       .sequence = call.sequence,
                       .bytes = call.call.in_bytes});
    }
  }
  return stuck;
}

std::string progress_text(const std::vector<RankDump>& dumps) {
  std::string text;
  for (const auto& [name, group] : groups_of(dumps)) {
    if (group.collectives.empty()) continue;
    text +=
        fmt::format("group '{}': {} ranks, collectives {} to {} in the dumps\n", name, group.members.size(),
                    group.collectives.begin()->first, group.collectives.rbegin()->first);
  }
  const std::vector<StuckCall> stuck = stuck_calls(dumps);
  for (const StuckCall& call : stuck) {
    text += fmt::format("\ncollective {} of group '{}' ({}, {} bytes) is not over\n", call.sequence,
                        call.group, call.name, call.bytes);
    text += ranks_text("waiting in it", call.waiting);
    text += ranks_text("never called it", call.missing);
    text += ranks_text("called something else in its place", call.others);
    text += ranks_text("no longer in the dump, which keeps later calls only,", call.dropped);
    text += ranks_text("no dump here", call.no_dump);
  }
  if (stuck.empty()) text += "\nevery collective that was kept is over\n";
  const std::vector<StuckMessage> messages = stuck_messages(dumps);
  if (!messages.empty()) text += fmt::format("\nmessages that are not over: {}\n", messages.size());
  constexpr std::size_t kMost = 16;
  for (std::size_t i = 0; i < std::min(kMost, messages.size()); ++i) {
    const StuckMessage& each = messages[i];
    text += fmt::format("  rank {}: {} of group '{}', {} bytes, number {}\n", each.rank, each.name,
                        each.group, each.bytes, each.sequence);
  }
  if (messages.size() > kMost) text += "  …\n";
  return text;
}

}  // namespace weft::goal

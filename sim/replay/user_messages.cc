#include "sim/replay/user_messages.h"

#include <algorithm>
#include <tuple>

namespace weft::sim {
namespace {

// Lists what waits at a rank, oldest first.
template <typename Queues, typename ValueOf>
UserMessages::Waiting of_rank(const Queues& queues, std::uint32_t local, ValueOf&& value) {
  UserMessages::Waiting waiting;
  for (std::uint32_t i = queues.first_of_rank(local); i != Queues::kNone; i = queues.entry(i).rank_next) {
    waiting.emplace_back(queues.entry(i).key, value(queues.entry(i)));
  }
  return waiting;
}

}  // namespace

// With their handles, by key.
template <typename Link>
UserMessages::Waiting UserMessages::in_table(std::uint32_t local, bool of_messages, Link&& link) const {
  Waiting waiting;
  tables_[local].for_each([&](const MatchTable::Entry& entry) {
    if (entry.of_messages != of_messages) return;
    std::uint32_t handle = entry.last;
    do {
      handle = link(handle);
      waiting.emplace_back(MatchKey{local, entry.source, entry.tag, entry.communicator}, handle);
    } while (handle != entry.last);
  });
  std::stable_sort(waiting.begin(), waiting.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first.source, a.first.tag, a.first.context) <
           std::tie(b.first.source, b.first.tag, b.first.context);
  });
  return waiting;
}

UserMessages::Waiting UserMessages::messages(std::uint32_t local) const {
  if (has_wildcards_) {
    return of_rank(matching_.messages(), local, [](const auto& entry) { return entry.key.source; });
  }
  Waiting waiting = in_table(local, true, [this](std::uint32_t slot) { return parked_[slot].next; });
  for (auto& [key, source] : waiting) source = key.source;
  return waiting;
}

UserMessages::Waiting UserMessages::receives(std::uint32_t local, const std::uint32_t* words) const {
  if (has_wildcards_) {
    return of_rank(matching_.receives(), local, [](const auto& entry) { return entry.value; });
  }
  return in_table(local, false, [words](std::uint32_t op) { return words[op]; });
}

}  // namespace weft::sim

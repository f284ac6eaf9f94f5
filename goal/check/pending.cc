#include "goal/check/pending.h"

#include <algorithm>

namespace weft::goal::checks {
namespace {

std::uint64_t hash_of(const MessageKey& key) {
  std::uint64_t hash = (std::uint64_t{key.receiver} << 32 | key.sender) * 0x9E3779B97F4A7C15ULL;
  hash ^= hash >> 32;
  hash = (hash + (std::uint64_t{key.comm} << 32 | key.tag)) * 0xBF58476D1CE4E5B9ULL;
  return hash ^ hash >> 29;
}

}  // namespace

PendingMessages::PendingMessages() : entries_(1024) {}

bool PendingMessages::Run::append(const Side& side) {
  if (side.bytes != bytes || side.op <= op || count == kAny) return false;
  if (count == 1) {
    stride = side.op - op;
  } else if (side.op - op != std::uint64_t{stride} * count) {
    return false;
  }
  ++count;
  return true;
}

std::size_t PendingMessages::slot_of(const MessageKey& key) const {
  std::size_t slot = hash_of(key) & (entries_.size() - 1);
  while (entries_[slot].first.count != 0 && entries_[slot].key != key) {
    slot = (slot + 1) & (entries_.size() - 1);
  }
  return slot;
}

std::optional<Side> PendingMessages::meet(const MessageKey& key, bool is_send, const Side& side) {
  const std::size_t slot = slot_of(key);
  Entry& entry = entries_[slot];
  if (entry.first.count == 0) {
    entry.key = key;
    entry.is_send = is_send;
    entry.first = {.bytes = side.bytes, .op = side.op, .count = 1};
    if (++used_ * 2 > entries_.size()) grow();
    return std::nullopt;
  }
  if (entry.is_send == is_send) {
    wait(entry, side);
    return std::nullopt;
  }
  Run& run = entry.first;
  const Side other{run.op, run.bytes};
  run.op += run.stride;
  if (--run.count > 0) return other;
  if (run.next == kAny) {
    remove(slot);
    return other;
  }
  const std::uint32_t next = run.next;
  run = runs_[next];
  if (run.next == kAny) entry.last = kAny;
  runs_[next].next = free_run_;
  free_run_ = next;
  return other;
}

void PendingMessages::wait(Entry& entry, const Side& side) {
  Run& last = entry.last == kAny ? entry.first : runs_[entry.last];
  if (last.append(side)) return;
  std::uint32_t added = free_run_;
  if (added == kAny) {
    added = static_cast<std::uint32_t>(runs_.size());
    runs_.emplace_back();
  } else {
    free_run_ = runs_[added].next;
  }
  runs_[added] = {.bytes = side.bytes, .op = side.op, .count = 1};
  (entry.last == kAny ? entry.first : runs_[entry.last]).next = added;
  entry.last = added;
}

// Moves those behind up, so that no search ends at the gap (D. E. Knuth, TAOCP vol. 3, 6.4, algorithm R).
void PendingMessages::remove(std::size_t slot) {
  const std::size_t mask = entries_.size() - 1;
  --used_;
  std::size_t gap = slot;
  entries_[gap] = Entry();
  for (std::size_t at = (gap + 1) & mask; entries_[at].first.count != 0; at = (at + 1) & mask) {
    const std::size_t home = hash_of(entries_[at].key) & mask;
    if (((at - home) & mask) < ((at - gap) & mask)) continue;
    entries_[gap] = entries_[at];
    entries_[at] = Entry();
    gap = at;
  }
}

void PendingMessages::grow() {
  std::vector<Entry> old(entries_.size() * 2);
  old.swap(entries_);
  for (const Entry& entry : old) {
    if (entry.first.count != 0) entries_[slot_of(entry.key)] = entry;
  }
}

std::vector<PendingMessages::Left> PendingMessages::left() const {
  std::vector<Left> all;
  for (const Entry& entry : entries_) {
    if (entry.first.count == 0) continue;
    Left left{entry.key, entry.is_send, entry.first.count, entry.first.op};
    for (std::uint32_t run = entry.first.next; run != kAny; run = runs_[run].next)
      left.count += runs_[run].count;
    all.push_back(left);
  }
  std::sort(all.begin(), all.end(), [](const Left& a, const Left& b) { return a.key < b.key; });
  return all;
}

}  // namespace weft::goal::checks

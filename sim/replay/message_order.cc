#include "sim/replay/message_order.h"

#include "sim/core/random.h"

namespace weft::sim {

std::size_t StreamCounters::find(const MessageStream& stream) const {
  const std::uint64_t pair = static_cast<std::uint64_t>(stream.source) << 32 | stream.destination;
  const std::size_t mask = entries_.size() - 1;
  std::size_t index = mix64(pair + stream.communicator * 0x9E3779B97F4A7C15ULL) & mask;
  while (entries_[index].count != 0 && entries_[index].stream != stream) index = (index + 1) & mask;
  return index;
}

std::uint32_t StreamCounters::add_to(std::size_t index, const MessageStream& stream) {
  const std::uint32_t count = entries_[index].count;
  if (count == 0 && ++used_ * 4 > entries_.size() * 3) {
    grow();
    index = find(stream);
  }
  entries_[index] = {stream, count + 1};
  return count;
}

bool StreamCounters::advance(const MessageStream& stream, std::uint32_t expected) {
  const std::size_t index = find(stream);
  if (entries_[index].count != expected) return false;
  add_to(index, stream);
  return true;
}

void StreamCounters::grow() {
  std::vector<Entry> old(entries_.size() * 2);
  old.swap(entries_);
  for (const Entry& entry : old) {
    if (entry.count != 0) entries_[find(entry.stream)] = entry;
  }
}

}  // namespace weft::sim

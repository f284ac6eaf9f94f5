#include "sim/replay/message_order.h"

#include "sim/core/random.h"

namespace weft::sim {

std::size_t StreamCounters::find(const MessageStream& stream) const {
  const std::uint64_t group = static_cast<std::uint64_t>(stream.rank) << 32 | stream.peer / kLine;
  const std::size_t mask = lines_.size() * kLine - 1;
  std::size_t index =
      (mix64(group + stream.communicator * 0x9E3779B97F4A7C15ULL) * kLine + stream.peer % kLine) & mask;
  while (at(index).count != 0 && at(index).stream != stream) index = (index + 1) & mask;
  return index;
}

std::uint32_t StreamCounters::add_to(std::size_t index, const MessageStream& stream) {
  const std::uint32_t count = at(index).count;
  if (count == 0 && ++used_ * 4 > lines_.size() * kLine * 3) {
    grow();
    index = find(stream);
  }
  at(index) = {stream, count + 1};
  return count;
}

bool StreamCounters::advance(const MessageStream& stream, std::uint32_t expected) {
  const std::size_t index = find(stream);
  if (at(index).count != expected) return false;
  add_to(index, stream);
  return true;
}

void StreamCounters::grow() {
  std::vector<Line> old(lines_.size() * 2);
  old.swap(lines_);
  for (const Line& line : old) {
    for (const Entry& entry : line.entries) {
      if (entry.count != 0) at(find(entry.stream)) = entry;
    }
  }
}

}  // namespace weft::sim

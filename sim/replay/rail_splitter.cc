#include "sim/replay/rail_splitter.h"

#include <algorithm>

#include "sim/replay/wire.h"
#include "sim/units/random.h"

namespace weft::sim {

std::size_t RailSplitter::Hash::operator()(const Key& key) const {
  std::uint64_t hash = key.pieces;
  for (const std::uint32_t word : key.client) hash = mix64(hash + word);
  return hash;
}

std::uint32_t RailSplitter::pieces_of(const Message& message) const {
  if (message.rails == 1 || message.source == message.destination) return 1;
  const std::uint64_t most = std::min<std::uint64_t>(message.rails, message.bytes / plan_.rails.least_bytes);
  if (most < 2) return 1;
  const wire::Ends ends = wire::ends_of(message);
  const PlacedRank &from = plan_.placed[ends.source], &to = plan_.placed[ends.destination];
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(most, plan_.nics_of(from, to, 0).own));
}

void RailSplitter::inject(const Message& message) {
  Message piece = message;
  const std::uint32_t pieces = pieces_of(message);
  piece.rails = static_cast<std::uint8_t>(pieces);
  if (pieces == 1) return network_->inject(piece);
  const wire::Ends ends = wire::ends_of(message);
  const PlacedRank &from = plan_.placed[ends.source], &to = plan_.placed[ends.destination];
  for (std::uint32_t i = 0; i < pieces; ++i) {
    const NicPair pair = plan_.nics_of(from, to, i);
    piece.source_nic = pair.source;
    piece.destination_nic = pair.destination;
    piece.bytes = message.bytes / pieces + (i < message.bytes % pieces ? 1 : 0);
    network_->inject(piece);
  }
}

// Is this the last piece of a message? Then it becomes the message.
bool RailSplitter::join(Joins& joins, Message& piece) {
  const auto found = joins.try_emplace({piece.client, piece.rails}).first;
  Joined& joined = found->second;
  joined.bytes += piece.bytes;
  if (++joined.pieces < piece.rails) return false;
  piece.bytes = joined.bytes;
  piece.rails = 1;
  joins.erase(found);
  return true;
}

void RailSplitter::on_sent(const Message& message) {
  if (message.rails == 1) return client_.on_sent(message);
  const std::uint8_t rails = message.rails;
  Message whole = message;
  if (!join(sent_, whole)) return;
  // What is sent next is a message like this one.
  whole.rails = rails;
  client_.on_sent(whole);
}

void RailSplitter::on_delivered(const Message& message) {
  if (message.rails == 1) return client_.on_delivered(message);
  Message whole = message;
  if (join(arrived_, whole)) client_.on_delivered(whole);
}

}  // namespace weft::sim

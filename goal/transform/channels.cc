#include "goal/transform/channels.h"

#include <algorithm>

#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

const std::vector<std::uint64_t>& list(
    const std::unordered_map<std::uint32_t, std::vector<std::uint64_t>>& sizes, std::uint32_t channel) {
  static const std::vector<std::uint64_t> none;
  const auto found = sizes.find(channel);
  return found == sizes.end() ? none : found->second;
}

}  // namespace

Channels::Channels(const Graph& graph, const Layout& layout)
    : graph_(graph),
      layout_(layout),
      sent_(graph.ranks()),
      received_(graph.ranks()),
      channels_(graph.ranks()) {
  for (Rank r = 0; r < graph.ranks(); ++r) {
    const RankView rank = graph.rank(r);
    channels_[r].resize(rank.ops());
    for (OpIndex i = 0; i < rank.ops(); ++i) {
      if (rank.kind(i) != OpKind::kSend && rank.kind(i) != OpKind::kRecv) continue;
      RankGrid::Place offset{};
      layout.grid.offset(r, rank.peer(i), offset);
      const std::uint32_t channel = number_of(offset, layout.shapes->number(rank.comm(i)), rank.tag(i));
      channels_[r][i] = channel;
      (rank.kind(i) == OpKind::kSend ? sent_ : received_)[r][channel].push_back(rank.value(i));
    }
  }
}

std::uint32_t Channels::number_of(const RankGrid::Place& offset, std::uint32_t shape, std::uint32_t tag) {
  const auto add = [&](const RankGrid::Place& place) {
    const auto next = static_cast<std::uint32_t>(offsets_.size());
    const auto [found, added] = numbers_.try_emplace({place[0], place[1], place[2], shape, tag}, next);
    if (added) offsets_.push_back(place);
    return found->second;
  };
  const std::uint32_t there = add(offset), back = add({-offset[0], -offset[1], -offset[2]});
  reverse_.resize(offsets_.size());
  reverse_[there] = back;
  reverse_[back] = there;
  return there;
}

void Channels::require_balance(const RankGrid& larger) const {
  const RankGrid& grid = layout_.grid;
  const auto require = [&](Rank r, std::uint32_t channel, std::size_t count, bool sends) {
    const Rank partner = larger.neighbour(r, offsets_[channel]);
    const Rank as = partner == kAny ? kAny : grid.model(larger, partner);
    const std::size_t other =
        as == kAny ? 0 : list((sends ? received_ : sent_)[as], reverse_[channel]).size();
    if (count == other) return;
    throw InputError("extrapolate: on a " + larger.text() + ", rank " + std::to_string(r) +
                     (sends ? " would send " : " would wait for ") + std::to_string(count) +
                     (sends ? " messages to rank " : " messages from rank ") + std::to_string(partner) +
                     ", as rank " + std::to_string(grid.model(larger, r)) + " does, but that one would " +
                     (sends ? "receive " : "send ") + std::to_string(other) + ", as rank " +
                     std::to_string(as) + " does; a trace of more ranks could tell which is right");
  };
  for (Rank r = 0; r < larger.ranks(); ++r) {
    const Rank model = grid.model(larger, r);
    for (const auto& [channel, sizes] : sent_[model]) require(r, channel, sizes.size(), true);
    for (const auto& [channel, sizes] : received_[model]) require(r, channel, sizes.size(), false);
  }
}

std::uint64_t Channels::Receiver::bytes(OpIndex i) {
  const Channels& all = channels_;
  const std::uint32_t channel = all.channels_[model_][i], back = all.reverse_[channel];
  const auto [found, added] = lists_.try_emplace(channel);
  Lists& lists = found->second;
  if (added) {
    const Rank from = larger_.neighbour(to_, all.offsets_[channel]);
    lists.expected = &list(all.received_[model_], channel);
    lists.sent_to_model = &list(all.sent_[all.graph_.rank(model_).peer(i)], back);
    lists.sent = &list(all.sent_[all.layout_.grid.model(larger_, from)], back);
  }
  const std::size_t k = lists.next++;
  const std::uint64_t expected = (*lists.expected)[k], sent = (*lists.sent)[k];
  const bool has_model = k < lists.sent_to_model->size();
  return has_model && expected == (*lists.sent_to_model)[k] ? sent : std::max(expected, sent);
}

}  // namespace weft::goal

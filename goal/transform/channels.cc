#include "goal/transform/channels.h"

#include <algorithm>

#include "sim/units/input_error.h"

namespace weft::goal {
Channels::Channels(const Graph& graph, const Layout& layout)
    : graph_(graph),
      layout_(layout),
      sent_(graph.ranks()),
      received_(graph.ranks()),
      channels_(graph.ranks()) {
  for (Rank r = 0; r < graph.ranks(); ++r) {
    const RankView rank = graph.rank(r);
    channels_[r].resize(rank.ops());
    std::uint32_t segment = 0;
    for (OpIndex i = 0; i < rank.ops(); ++i) {
      const bool of_all =
          rank.kind(i) == OpKind::kCollective && graph.communicator_size(rank.comm(i)) == graph.ranks();
      if (layout.loose && of_all) ++segment;
      if (rank.kind(i) != OpKind::kSend && rank.kind(i) != OpKind::kRecv) continue;
      RankGrid::Place offset{};
      layout.grid.offset(r, rank.peer(i), offset);
      const std::uint32_t channel = number_of(offset, layout.shapes->number(rank.comm(i)), rank.tag(i));
      channels_[r][i] = channel;
      (rank.kind(i) == OpKind::kSend ? sent_ : received_)[r][channel].push_back({segment, rank.value(i)});
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

const Channels::List& Channels::list(const Lists& lists, std::uint32_t channel) {
  static const List none;
  const auto found = lists.find(channel);
  return found == lists.end() ? none : found->second;
}

const Channels::Message* Channels::same(const List& list, const List& other, std::size_t k) {
  const auto begin = [](const List& of, std::uint32_t segment) {
    return static_cast<std::size_t>(std::lower_bound(of.begin(), of.end(), segment,
                                                     [](const Message& message, std::uint32_t number) {
                                                       return message.segment < number;
                                                     }) -
                                    of.begin());
  };
  const std::uint32_t segment = other[k].segment;
  const std::size_t at = begin(list, segment) + (k - begin(other, segment));
  return at < list.size() && list[at].segment == segment ? &list[at] : nullptr;
}

void Channels::refuse(const RankGrid& larger, Rank r, Rank partner, bool sends, std::size_t count,
                      std::size_t other) const {
  const auto model = [&](Rank rank) { return std::to_string(layout_.grid.model(larger, rank)); };
  throw InputError("extrapolate: on a " + larger.text() + ", rank " + std::to_string(r) +
                   (sends ? " would send " : " would wait for ") + std::to_string(count) +
                   (sends ? " messages to rank " : " messages from rank ") + std::to_string(partner) +
                   ", as rank " + model(r) + " does, but that one would " + (sends ? "receive " : "send ") +
                   std::to_string(other) + ", as rank " + model(partner) +
                   " does; a trace of more ranks could tell which is right");
}

Channels::Balance Channels::balance(const RankGrid& larger) const {
  const RankGrid& grid = layout_.grid;
  Balance result;
  for (Rank r = 0; r < larger.ranks(); ++r) {
    const Rank model = grid.model(larger, r);
    for (const bool sends : {true, false}) {
      for (const auto& [channel, own] : (sends ? sent_ : received_)[model]) {
        const Rank partner = larger.neighbour(r, offsets_[channel]);
        const Rank as = grid.model(larger, partner);
        const List& others = list((sends ? received_ : sent_)[as], reverse_[channel]);
        if (!layout_.loose && own.size() != others.size()) {
          refuse(larger, r, partner, sends, own.size(), others.size());
        }
        if (!sends) continue;
        result.sent += own.size();
        for (std::size_t k = 0; layout_.loose && k < own.size(); ++k) {
          result.left_out += same(others, own, k) == nullptr ? 1 : 0;
        }
      }
    }
  }
  return result;
}

std::optional<std::uint64_t> Channels::OfRank::bytes(OpIndex i) {
  const Channels& all = channels_;
  const RankView model = all.graph_.rank(model_);
  const bool sends = model.kind(i) == OpKind::kSend;
  const std::uint32_t channel = all.channels_[model_][i], back = all.reverse_[channel];
  const auto [found, added] = flows_.try_emplace(std::uint64_t{channel} << 1 | (sends ? 1 : 0));
  Flow& flow = found->second;
  if (added) {
    const Rank partner = larger_.neighbour(rank_, all.offsets_[channel]);
    const std::vector<Lists>& others = sends ? all.received_ : all.sent_;
    flow.own = &list((sends ? all.sent_ : all.received_)[model_], channel);
    flow.of_partner = &list(others[all.layout_.grid.model(larger_, partner)], back);
    flow.of_models_partner = &list(others[model.peer(i)], back);
  }
  const std::size_t k = flow.next++;
  const Message* partner = same(*flow.of_partner, *flow.own, k);
  if (partner == nullptr) return std::nullopt;
  const std::uint64_t own = (*flow.own)[k].bytes;
  if (sends) return own;
  const Message* before = same(*flow.of_models_partner, *flow.own, k);
  return before != nullptr && own == before->bytes ? partner->bytes : std::max(own, partner->bytes);
}

}  // namespace weft::goal

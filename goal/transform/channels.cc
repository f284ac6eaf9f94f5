#include "goal/transform/channels.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

// Longer stretches are not searched for what is alike.
constexpr std::size_t kMostCompared = 1u << 20;

// Pairs of two lists' places, ascending in both: those of a longest common subsequence, and what lies between
// two of them in its order. All places of the shorter list where the lengths are equal.
Pairs pair_up(std::size_t n, std::size_t m, const std::function<bool(std::size_t, std::size_t)>& equal) {
  Pairs anchors;
  if (n != m && n * m <= kMostCompared) {
    std::vector<std::uint32_t> longest((n + 1) * (m + 1), 0);  // of what begins at i and j
    const auto at = [&](std::size_t i, std::size_t j) -> std::uint32_t& { return longest[i * (m + 1) + j]; };
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t j = m; j-- > 0;) {
        at(i, j) = equal(i, j) ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
      }
    }
    for (std::size_t i = 0, j = 0; i < n && j < m;) {
      if (equal(i, j)) {
        anchors.emplace_back(i++, j++);
      } else if (at(i + 1, j) >= at(i, j + 1)) {
        ++i;
      } else {
        ++j;
      }
    }
  }
  anchors.emplace_back(n, m);
  Pairs pairs;
  std::size_t i = 0, j = 0;
  for (const auto& [next_i, next_j] : anchors) {
    while (i < next_i && j < next_j) pairs.emplace_back(i++, j++);
    if (next_i < n) pairs.emplace_back(next_i, next_j);
    i = next_i + 1;
    j = next_j + 1;
  }
  return pairs;
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

std::vector<const Channels::Message*> Channels::partners(const List& own, const List& others,
                                                         bool own_sends) {
  std::vector<const Message*> result(own.size(), nullptr);
  const List &sent = own_sends ? own : others, &received = own_sends ? others : own;
  const auto end_of = [](const List& list, std::size_t begin, std::uint32_t segment) {
    while (begin < list.size() && list[begin].segment == segment) ++begin;
    return begin;
  };
  for (std::size_t s = 0, r = 0; s < sent.size() && r < received.size();) {
    const std::uint32_t segment = std::min(sent[s].segment, received[r].segment);
    const std::size_t sent_end = end_of(sent, s, segment), received_end = end_of(received, r, segment);
    const auto pairs = pair_up(sent_end - s, received_end - r, [&](std::size_t i, std::size_t j) {
      return sent[s + i].bytes == received[r + j].bytes;
    });
    for (const auto& [i, j] : pairs) {
      (own_sends ? result[s + i] : result[r + j]) = own_sends ? &received[r + j] : &sent[s + i];
    }
    s = sent_end;
    r = received_end;
  }
  return result;
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
        if (!layout_.loose) continue;
        const std::vector<const Message*> met = partners(own, others, true);
        result.left_out += static_cast<std::uint64_t>(std::count(met.begin(), met.end(), nullptr));
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
    const Rank as = all.layout_.grid.model(larger_, partner);
    flow.partners = partners(*flow.own, list(others[as], back), sends);
    flow.of_model = partners(*flow.own, list(others[model.peer(i)], back), sends);
  }
  const std::size_t k = flow.next++;
  const Message *partner = flow.partners[k], *before = flow.of_model[k];
  if (partner == nullptr) return std::nullopt;
  const std::uint64_t own = (*flow.own)[k].bytes;
  if (sends) return own;
  return before != nullptr && own == before->bytes ? partner->bytes : std::max(own, partner->bytes);
}

}  // namespace weft::goal

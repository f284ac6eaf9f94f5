#include "sim/routing/parts/channel_order.h"

#include <algorithm>
#include <numeric>

namespace weft::routing {

ChannelOrder::ChannelOrder(const ChannelGraph& graph, const std::vector<std::uint16_t>& present,
                           std::uint32_t bit)
    : graph_(graph), present_(present), bit_(bit), order_(graph.channels()), seen_(graph.channels()) {
  std::iota(order_.begin(), order_.end(), 0u);
}

bool ChannelOrder::admit(std::uint32_t from, std::uint32_t to, std::uint32_t most_steps) {
  if (order_[from] < order_[to]) return true;
  ahead_.clear();
  behind_.clear();
  const bool fits = look_ahead(to, order_[from], most_steps);
  if (fits) look_behind(from, order_[to]);
  for (const std::uint32_t c : ahead_) seen_[c] = false;
  for (const std::uint32_t c : behind_) seen_[c] = false;
  if (fits) reorder();
  return fits;
}

bool ChannelOrder::look_ahead(std::uint32_t from, std::uint32_t last, std::uint32_t most_steps) {
  std::uint32_t steps = 0;
  seen_[from] = true;
  ahead_.push_back(from);
  for (std::size_t i = 0; i < ahead_.size(); ++i) {
    std::uint32_t step = graph_.first_step(ahead_[i]);
    for (const std::uint32_t c : graph_.after(ahead_[i])) {
      if (!is_there(step++) || order_[c] > last || seen_[c]) continue;
      if (order_[c] == last) return false;
      seen_[c] = true;
      ahead_.push_back(c);
    }
    steps += static_cast<std::uint32_t>(graph_.after(ahead_[i]).size());
    if (steps > most_steps) return false;
  }
  return true;
}

void ChannelOrder::look_behind(std::uint32_t to, std::uint32_t first) {
  seen_[to] = true;
  behind_.push_back(to);
  for (std::size_t i = 0; i < behind_.size(); ++i) {
    graph_.each_before(behind_[i], [&](std::uint32_t c, std::uint32_t step) {
      if (!is_there(step) || order_[c] < first || seen_[c]) return;
      seen_[c] = true;
      behind_.push_back(c);
    });
  }
}

void ChannelOrder::reorder() {
  const auto earlier = [&](std::uint32_t a, std::uint32_t b) { return order_[a] < order_[b]; };
  std::ranges::sort(behind_, earlier);
  std::ranges::sort(ahead_, earlier);
  places_.clear();
  for (const std::uint32_t c : behind_) places_.push_back(order_[c]);
  for (const std::uint32_t c : ahead_) places_.push_back(order_[c]);
  std::ranges::sort(places_);
  std::size_t next = 0;
  for (const std::uint32_t c : behind_) order_[c] = places_[next++];
  for (const std::uint32_t c : ahead_) order_[c] = places_[next++];
}

}  // namespace weft::routing

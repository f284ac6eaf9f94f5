#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "sim/units/input_error.h"
#include "topologies/draw/plan.h"

namespace weft::topologies {
namespace {

// The value of a whole-number parameter in a short form, or 0.
std::uint32_t parameter(const std::string& short_form, const std::string& name) {
  for (const char before : {':', ','}) {
    const std::size_t at = short_form.find(before + name + '=');
    if (at == std::string::npos) continue;
    std::uint32_t value = 0;
    const char* text = short_form.data() + at + name.size() + 2;
    std::from_chars(text, short_form.data() + short_form.size(), value);
    return value;
  }
  return 0;
}

std::uint32_t near_square_columns(std::size_t count) {
  std::uint32_t columns = 1;
  while (columns * columns < count) ++columns;
  return columns;
}

// Boards in a grid of their own, accelerators in a grid on each; the switches of a row of accelerators at the
// right end of it, those of a column below it, and the switches above them further out.
class Boards {
 public:
  Boards(const Plan& plan, const Area& area)
      : plan_(plan), area_(area), layout_(empty_layout(plan, Arrangement::kBoards)) {
    for (const Vertex v : plan.routers) {
      if (!plan.node(v).in_host && !plan.hosts_of[v].empty()) fail();
    }
    for (const auto& [group, members] : plan_.groups) {
      Board board;
      for (const Vertex v : members) {
        const Node& node = plan_.node(v);
        if (!node.in_host) continue;
        planes_ = std::max<std::size_t>(planes_, node.plane + 1);
        board.resize(planes_);
        board[node.plane].push_back(v);
      }
      if (!board.empty()) boards_.push_back(std::move(board));
    }
    std::size_t most = 1;
    for (const auto& board : boards_) most = std::max(most, board[0].size());
    board_columns_ = columns("x", "y", boards_.size());
    accelerator_columns_ = columns("a", "b", most);
    board_rows_ = rows(boards_.size(), board_columns_);
    accelerator_rows_ = rows(most, accelerator_columns_);
  }

  Layout run() {
    place_boards();
    place_switches();
    straighten(plan_, layout_);
    layout_.flat = true;
    layout_.kinds = {"to endpoints", "on a board", "rows", "columns", "between switches"};
    for (std::size_t i = 0; i < plan_.links.size(); ++i) bend(i);
    layout_.draws_hosts = layout_.draws_hosts && layout_.switch_radius >= 4;
    return std::move(layout_);
  }

 private:
  [[noreturn]] void fail() const {
    throw InputError(fmt::format(
        "{} has no boards: they are accelerators that forward, and every switch leads down to some",
        plan_.topology.name()));
  }

  static std::uint32_t rows(std::size_t count, std::uint32_t columns) {
    return static_cast<std::uint32_t>((count + columns - 1) / columns);
  }
  // By the family's parameters, if they are what the network has; else near a square.
  std::uint32_t columns(const char* across, const char* down, std::size_t count) const {
    const std::uint32_t x = parameter(plan_.topology.name(), across),
                        y = parameter(plan_.topology.name(), down);
    return std::size_t{x} * y == count ? x : near_square_columns(count);
  }

  void place_boards() {
    constexpr float kGap = 0.9F;  // between boards, in steps of accelerators
    const float margin = 90;      // for switches, right and below
    const float wide = static_cast<float>(accelerator_columns_) + kGap;
    const float high = static_cast<float>(accelerator_rows_) + kGap;
    step_ = std::min({(area_.width() - margin) / (wide * static_cast<float>(board_columns_)),
                      (area_.height() - margin) / (high * static_cast<float>(board_rows_)), 80.0F});
    const float width = step_ * wide * static_cast<float>(board_columns_);
    const float height = step_ * high * static_cast<float>(board_rows_);
    left_ = area_.centre().x - (width + margin) / 2;
    top_ = area_.centre().y - (height + margin) / 2;
    right_ = left_ + width;
    bottom_ = top_ + height;
    layout_.switch_radius = std::clamp(step_ * (planes_ > 1 ? 0.16F : 0.3F), 1.2F, 11.0F);
    layout_.host_radius = std::clamp(layout_.switch_radius * 0.3F, 0.8F, 3.0F);
    for (std::size_t i = 0; i < boards_.size(); ++i) {
      const float x = left_ + step_ * (wide * static_cast<float>(i / board_rows_) + kGap / 2 + 0.5F);
      const float y = top_ + step_ * (high * static_cast<float>(i % board_rows_) + kGap / 2 + 0.5F);
      for (std::size_t plane = 0; plane < boards_[i].size(); ++plane)
        place_board(boards_[i][plane], plane, {x, y});
      const float out = std::max(step_ * 0.5F, layout_.switch_radius + 3);
      layout_.boxes.push_back(
          {{x - out, y - out, x + step_ * static_cast<float>(accelerator_columns_ - 1) + out,
            y + step_ * static_cast<float>(accelerator_rows_ - 1) + out},
           false,
           "",
           {}});
    }
  }

  // `first`: its accelerator at the upper left, in plane 0. Other planes lie a little behind.
  void place_board(const std::vector<Vertex>& board, std::size_t plane, Point first) {
    const float back = 0.5F * step_ * static_cast<float>(plane) / static_cast<float>(planes_);
    for (std::size_t k = 0; k < board.size(); ++k) {
      const Point at{first.x + back + step_ * static_cast<float>(k / accelerator_rows_),
                     first.y - back + step_ * static_cast<float>(k % accelerator_rows_)};
      layout_.at[board[k]] = at;
      const float away = (layout_.switch_radius + 2 * layout_.host_radius + 2) * 0.7071F;
      for (const Vertex host : plan_.hosts_of[board[k]]) layout_.at[host] = {at.x + away, at.y + away};
    }
  }

  // Tier by tier: each where what is below it leads.
  void place_switches() {
    std::vector<Vertex> order;
    for (const Vertex v : plan_.routers) {
      if (!plan_.node(v).in_host) order.push_back(v);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](Vertex a, Vertex b) { return plan_.node(a).tier < plan_.node(b).tier; });
    std::vector<bool> placed(plan_.topology.nodes(), false);
    for (const auto& board : boards_) {
      for (const auto& plane : board) {
        for (const Vertex v : plane) placed[v] = true;
      }
    }
    std::map<std::pair<int, int>, std::vector<Vertex>> in_place;  // those that would lie on each other
    for (const Vertex v : order) {
      Point low{HUGE_VALF, HUGE_VALF}, high{-HUGE_VALF, -HUGE_VALF};
      bool above_row = false, above_column = false;
      for (const std::uint32_t c : plan_.topology.out_channels(v)) {
        const Vertex to = plan_.topology.channels()[c].to;
        if (!placed[to] || (plan_.node(to).tier == plan_.node(v).tier && !plan_.node(to).in_host)) continue;
        const Point at = layout_.at[to];
        low = {std::min(low.x, at.x), std::min(low.y, at.y)};
        high = {std::max(high.x, at.x), std::max(high.y, at.y)};
        above_row = above_row || row_.contains(to);
        above_column = above_column || column_.contains(to);
      }
      if (low.x > high.x) fail();
      const bool row = above_row || (!above_column && high.y - low.y <= high.x - low.x);
      const float out = 30 + 30 * static_cast<float>(above_row || above_column);
      const Point middle{(low.x + high.x) / 2, (low.y + high.y) / 2};
      layout_.at[v] = row ? Point{right_ + out, middle.y} : Point{middle.x, bottom_ + out};
      (row ? row_ : column_).insert(v);
      placed[v] = true;
      in_place[{static_cast<int>(layout_.at[v].x * 4), static_cast<int>(layout_.at[v].y * 4)}].push_back(v);
    }
    for (const auto& [place, switches] : in_place) {
      for (std::size_t i = 0; i < switches.size(); ++i) {
        const float offset = (static_cast<float>(i) + 0.5F) / static_cast<float>(switches.size()) - 0.5F;
        float& line = row_.contains(switches[i]) ? layout_.at[switches[i]].y : layout_.at[switches[i]].x;
        line += offset * step_ * 0.9F;
      }
    }
  }

  void bend(std::size_t i) {
    const auto& [a, b] = plan_.links[i];
    if (plan_.is_host(a) || plan_.is_host(b)) return;
    if (plan_.node(a).in_host && plan_.node(b).in_host) return;
    const Vertex line = plan_.node(a).in_host ? b : a;
    if (!plan_.node(a).in_host && !plan_.node(b).in_host) {
      layout_.kind[i] = 4;
      return;
    }
    const bool row = row_.contains(line);
    layout_.kind[i] = row ? 2 : 3;
    // In the gap between rows of accelerators rather than through them.
    Point& control = layout_.control[i];
    (row ? control.y : control.x) -= step_ * 0.75F;
  }

  const Plan& plan_;
  const Area area_;
  Layout layout_;
  using Board = std::vector<std::vector<Vertex>>;  // by plane, column by column
  std::vector<Board> boards_;
  std::size_t planes_ = 1;
  std::uint32_t board_columns_ = 1, board_rows_ = 1, accelerator_columns_ = 1, accelerator_rows_ = 1;
  float step_ = 1, left_ = 0, top_ = 0, right_ = 0, bottom_ = 0;
  std::set<Vertex> row_, column_;
};

}  // namespace

Layout boards_layout(const Plan& plan, const Area& area) { return Boards(plan, area).run(); }

}  // namespace weft::topologies

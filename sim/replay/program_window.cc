#include "sim/replay/program_window.h"

#include <fmt/core.h>

#include <algorithm>

#include "goal/transform/scale.h"
#include "sim/units/graph_error.h"

namespace weft::sim {
namespace {

// Where number 0 would be, if number `begin` is at `data`.
template <typename T>
T* shifted(T* data, goal::OpIndex begin) {
  return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(data) - begin * sizeof(T));
}

void scale_calcs(goal::OpBlock& block, double factor) {
  for (goal::Op& op : block.ops) {
    if (op.kind == goal::OpKind::kCalc) op.value = goal::scaled_ns(op.value, factor);
  }
}

}  // namespace

ProgramWindow::ProgramWindow(goal::RankReader reader, const goal::ProgramOutline& outline,
                             double compute_scale)
    : reader_(std::move(reader)),
      outline_(&outline),
      compute_scale_(compute_scale),
      waits_to_come_(outline.block) {}

goal::OpView ProgramWindow::view() const {
  return {reader_.rank(), outline_->ops, shifted(records_.data(), begin_), edges_.data()};
}

std::uint32_t* ProgramWindow::words() { return shifted(words_.data(), begin_); }

void ProgramWindow::load(goal::OpIndex keep, goal::OpBlock& scratch) {
  make_room(keep);
  reader_.next(scratch, outline_->block);
  if (compute_scale_ != 1) scale_calcs(scratch, compute_scale_);
  const goal::OpIndex first = end_;
  end_ += static_cast<goal::OpIndex>(scratch.ops.size());
  add_words(end_ - first);
  for (goal::OpIndex i = first; i < end_; ++i) {
    const std::span<const goal::Edge> edges = scratch.dependents(i - first);
    if (edges.size() > goal::OpRecord::kMaxEdges - edges_.size()) {
      throw GraphError(fmt::format(
          "rank {}, operation {}: more than 2^30 - 1 dependencies are under way here", reader_.rank(), i));
    }
    goal::OpRecord& record = records_.emplace_back();
    record.op = scratch.ops[i - first];
    record.edge_begin = static_cast<std::uint32_t>(edges_.size());
    record.edge_count = static_cast<std::uint32_t>(edges.size());
    for (const goal::Edge edge : edges) {
      const goal::OpIndex dependent = edge.dependent();
      record.has_start_edges |= edge.on_start();
      if (dependent >= end_) {
        record.has_far_edges = 1;
        ++waits_to_come_.at(dependent);
      } else if (dependent >= first) {
        ++words_[dependent - begin_];
      }  // else it has been counted: see ProgramOutline::wait_for_later
    }
    edges_.insert(edges_.end(), edges.begin(), edges.end());
  }
}

// The words of the `count` operations before end_: what they wait for outside their block.
void ProgramWindow::add_words(goal::OpIndex count) {
  const std::size_t before = words_.size();
  words_.resize(before + count);
  std::vector<std::uint32_t> waits;
  if (waits_to_come_.take((end_ - count) / outline_->block, waits)) {
    std::copy_n(waits.begin(), count, words_.begin() + static_cast<std::ptrdiff_t>(before));
  }
  if (outline_->wait_for_later.empty()) return;
  for (goal::OpIndex i = 0; i < count; ++i) {
    words_[before + i] += outline_->waits_for_later(end_ - count + i);
  }
}

// Room for a block. What is moved is no more than twice what is loaded until it is moved again.
void ProgramWindow::make_room(goal::OpIndex keep) {
  const std::size_t more = std::min(outline_->block, outline_->ops - end_);
  if (records_.size() + more <= records_.capacity()) return;
  std::size_t gone = 0;
  while (gone < records_.size() && begin_ + gone < keep && words_[gone] == kFinished) ++gone;
  const std::size_t left = records_.size() - gone;
  move_to(gone, left + std::max(more, left / 2));
}

void ProgramWindow::move_to(std::size_t gone, std::size_t capacity) {
  const std::uint32_t edges_gone =
      gone < records_.size() ? records_[gone].edge_begin : static_cast<std::uint32_t>(edges_.size());
  const bool stays = records_.capacity() >= capacity && records_.capacity() / 4 <= capacity;
  const auto keep_rest = [stays](auto& all, std::size_t from, std::size_t room) {
    const auto rest = all.begin() + static_cast<std::ptrdiff_t>(from);
    if (stays) {
      all.erase(all.begin(), rest);
      return;
    }
    std::remove_reference_t<decltype(all)> moved;
    moved.reserve(room);
    moved.insert(moved.end(), rest, all.end());
    all = std::move(moved);
  };
  keep_rest(records_, gone, capacity);
  keep_rest(words_, gone, capacity);
  keep_rest(edges_, edges_gone, 0);
  for (goal::OpRecord& record : records_) record.edge_begin -= edges_gone;
  begin_ += static_cast<goal::OpIndex>(gone);
}

goal::OpIndex ProgramWindow::first_unfinished() const {
  const auto found =
      std::find_if(words_.begin(), words_.end(), [](std::uint32_t word) { return word != kFinished; });
  return begin_ + static_cast<goal::OpIndex>(found - words_.begin());
}

std::uint64_t ProgramWindow::memory_bytes() const {
  return sizeof *this + records_.capacity() * sizeof(goal::OpRecord) +
         edges_.capacity() * sizeof(goal::Edge) + words_.capacity() * sizeof(std::uint32_t) +
         waits_to_come_.memory_bytes();
}

}  // namespace weft::sim

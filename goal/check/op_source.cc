#include "goal/check/op_source.h"

#include <algorithm>

namespace weft::goal::checks {
namespace {

class GraphCursor : public OpCursor {
 public:
  explicit GraphCursor(const RankView& view) : view_(view) {}

  bool next(OpBlock& block, std::uint32_t most) override {
    const OpIndex end = position_ + std::min(most, view_.ops() - position_);
    block.first = position_;
    block.ops.clear();
    block.edges.clear();
    block.edge_begin.assign(1, 0);
    block.labels.clear();
    for (OpIndex i = position_; i < end; ++i) {
      block.ops.push_back(view_.op(i));
      const auto edges = view_.dependents(i);
      block.edges.insert(block.edges.end(), edges.begin(), edges.end());
      block.edge_begin.push_back(static_cast<std::uint32_t>(block.edges.size()));
      const std::string_view label = view_.label(i);
      if (label.empty()) continue;
      block.labels.resize(end - position_);
      block.labels[i - position_] = label;
    }
    position_ = end;
    return !block.ops.empty();
  }

 private:
  RankView view_;
  OpIndex position_ = 0;
};

class GraphSource : public OpSource {
 public:
  explicit GraphSource(const Graph& graph) : graph_(graph) {}
  Rank ranks() const override { return graph_.ranks(); }
  std::uint64_t ops() const override { return graph_.ops(); }
  OpIndex ops(Rank rank) const override { return graph_.rank(rank).ops(); }
  bool has_labels(Rank) const override { return true; }
  std::uint32_t program(Rank) const override { return kAny; }
  const std::vector<Communicator>& communicators() const override { return graph_.communicators(); }
  const std::vector<Collective>& collectives() const override { return graph_.collectives(); }
  std::unique_ptr<OpCursor> open(Rank rank) override {
    return std::make_unique<GraphCursor>(graph_.rank(rank));
  }

 private:
  const Graph& graph_;
};

class PackedCursor : public OpCursor {
 public:
  explicit PackedCursor(RankReader reader) : reader_(std::move(reader)) {}
  bool next(OpBlock& block, std::uint32_t most) override { return reader_.next(block, most); }

 private:
  RankReader reader_;
};

class PackedSource : public OpSource {
 public:
  explicit PackedSource(PackedFile& file) : file_(file) {}
  Rank ranks() const override { return file_.ranks(); }
  std::uint64_t ops() const override { return file_.ops(); }
  OpIndex ops(Rank rank) const override { return file_.ops(rank); }
  bool has_labels(Rank rank) const override { return file_.has_labels(rank); }
  std::uint32_t program(Rank rank) const override {
    return file_.ops(rank) == 0 ? kAny : file_.program(rank);
  }
  const std::vector<Communicator>& communicators() const override { return file_.communicators(); }
  const std::vector<Collective>& collectives() const override { return file_.collectives(); }
  std::unique_ptr<OpCursor> open(Rank rank) override {
    return std::make_unique<PackedCursor>(file_.rank(rank));
  }

 private:
  PackedFile& file_;
};

}  // namespace

std::unique_ptr<OpSource> source_of(const Graph& graph) { return std::make_unique<GraphSource>(graph); }
std::unique_ptr<OpSource> source_of(PackedFile& file) { return std::make_unique<PackedSource>(file); }

}  // namespace weft::goal::checks
